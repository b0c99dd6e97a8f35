"""The number's sentence read again with each different answer put in."""

from collections.abc import Sequence

from nfh_db.records import Item
from nfh_models.domain import Answer, Kind
from nfh_tui.lanes import Lane
from nfh_tui.reading_again import Placed, Reading, is_leading, put_in, reading
from nfh_tui.rows import Part, Rows
from nfh_tui.visible import width_of

NARROW = 48
"""In a pane that is narrower a sentence may take a line more."""

MOST_KEYS = 6
"""Cells for the signs before a sentence; those of more answers go on a line of their own."""

ROOM = 96
"""Cells of a sentence, at most: more is in the passage."""

STEP = 3


def add_readings(rows: Rows, item: Item, lanes: Sequence[Lane], edited: Answer | None) -> None:
    """Each reading once, that of the answer edited first, marked as what is the same."""
    said: list[tuple[Part, Answer]] = []
    if edited is not None:
        said.append((("=", "same"), edited))
    said += [((lane.key, lane.role), lane.answer) for lane in lanes]
    readings: dict[tuple[str, bool], tuple[Answer, list[Part]]] = {}
    for sign, answer in said:
        if answer.kind not in {Kind.BROKEN, Kind.NFH}:
            key = (put_in(item, answer), is_leading(answer))
            readings.setdefault(key, (answer, []))[1].append(sign)
    if not readings:
        return
    rows.heading("Read again")
    width = max(_width(signs) for _, signs in readings.values())
    hang = 2 + min(width, MOST_KEYS)
    for answer, signs in readings.values():
        _add_reading(rows, item, answer, signs, hang)


def _width(signs: Sequence[Part]) -> int:
    return sum(width_of(text) for text, _ in signs)


def _add_reading(
    rows: Rows, item: Item, answer: Answer, signs: Sequence[Part], hang: int
) -> None:
    gap = "\u00a0" * (hang - 1 - _width(signs))
    lines = 3 if rows.width < NARROW else 2
    made = fitted(item, answer, rows.width, hang, lines)
    if made is None:
        return
    sentence = sentence_parts(made)
    if gap:
        rows.text([*signs, (gap, ""), *sentence], indent=1, hang=hang)
    else:
        rows.text(signs, indent=1)
        rows.text(sentence, indent=hang)


def fitted(
    item: Placed, answer: Answer, width: int, hang: int, lines: int, more: Sequence[Part] = ()
) -> Reading | None:
    """The longest reading that takes at most so many lines of a pane, each `hang` cells in.

    more: what stands behind it. Where even the shortest takes more lines, the shortest.
    """
    room = min(ROOM, max(0, width - hang) * lines)
    while True:
        made = reading(item, answer, room)
        if made is None or room <= 0:
            return made
        trial = Rows(width)
        trial.text([*sentence_parts(made), *more], indent=hang)
        if len(trial.made) <= lines:
            return made
        room -= STEP


def sentence_parts(made: Reading) -> list[Part]:
    """A reading with its number and what is put in told apart."""
    number: list[Part] = [(made.number, "number")]
    if made.between:
        number.append((f" {made.between}", ""))
    put: list[Part] = [(f"[{made.put}]", "put")] if made.put else []
    spaced: list[Part] = [(" ", "")] if put else []
    middle = [*put, *spaced, *number] if made.leading else [*number, *spaced, *put]
    before: list[Part] = [(f"{made.before}{made.gap}", "")] if made.before else []
    return [*before, *middle, (made.after, "")]
