"""The number's sentence read again with each different answer put in."""

from collections.abc import Sequence

from nfh_db.records import Item
from nfh_models.domain import Answer
from nfh_tui.lanes import Lane
from nfh_tui.reading_again import Reading, reading
from nfh_tui.rows import Part, Rows
from nfh_tui.visible import width_of

LINES = 2
"""Lines that a sentence may take, about."""

MOST_KEYS = 6
"""Cells for the signs before a sentence; those of more answers go on a line of their own."""

ROOM = 96
"""Cells of a sentence, at most: more is in the passage."""


def add_readings(rows: Rows, item: Item, lanes: Sequence[Lane], edited: Answer | None) -> None:
    """Each reading once, that of the answer edited first, marked as what is the same."""
    said: list[tuple[Part, Answer]] = []
    if edited is not None:
        said.append((("=", "same"), edited))
    said += [((lane.key, lane.role), lane.answer) for lane in lanes]
    room = min(ROOM, (rows.width - 1 - MOST_KEYS) * LINES)
    readings: dict[tuple[str, bool], tuple[Reading, list[Part]]] = {}
    for sign, answer in said:
        made = reading(item, answer, room)
        if made is not None:
            _, signs = readings.setdefault((made.put, made.leading), (made, []))
            signs.append(sign)
    if not readings:
        return
    rows.heading("Read again")
    width = max(_width(signs) for _, signs in readings.values())
    hang = 2 + min(width, MOST_KEYS)
    for made, signs in readings.values():
        _add_reading(rows, made, signs, hang)


def _width(signs: Sequence[Part]) -> int:
    return sum(width_of(text) for text, _ in signs)


def _add_reading(rows: Rows, made: Reading, signs: Sequence[Part], hang: int) -> None:
    gap = "\u00a0" * (hang - 1 - _width(signs))
    sentence = sentence_parts(made)
    if gap:
        rows.text([*signs, (gap, ""), *sentence], indent=1, hang=hang)
    else:
        rows.text(signs, indent=1)
        rows.text(sentence, indent=hang)


def sentence_parts(made: Reading) -> list[Part]:
    """A reading with its number and what is put in told apart."""
    number: Part = (made.number, "number")
    put: list[Part] = [(f"[{made.put}]", "put")] if made.put else []
    spaced: list[Part] = [(" ", "")] if put else []
    middle = [*put, *spaced, number] if made.leading else [number, *spaced, *put]
    before: list[Part] = [(f"{made.before} ", "")] if made.before else []
    return [*before, *middle, (made.after, "")]
