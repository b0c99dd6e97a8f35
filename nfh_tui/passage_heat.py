"""The heat map on a passage: what lies on each word, and the lines that explain it.

Pure: no screen.
"""

from collections.abc import Callable, Sequence

from nfh_db.records import Item, Prediction
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_tui.editing.describe import KIND_WORDS
from nfh_tui.editing.votes import choice_answer
from nfh_tui.heat import (
    LEAST,
    MINUS,
    PLUS,
    SIGNS,
    Heat,
    candidates_of,
    other_of,
    shares,
    step,
    token_shares,
)
from nfh_tui.passage_marks import Warmth
from nfh_tui.passage_paint import Run
from nfh_tui.visible import clip, visible, width_of

NO_MODEL = "No model has answered this item yet."
HIDDEN = "What the model says is hidden until you have answered."
NO_OTHER = "No other model has answered this item: nfh-tui predict --model NAME lets one."
NOT_ALIKE = "What the two models said is not of the same words."

BAR = 8
"""Cells of the bar of a class, if its share is 1."""

MOST_NAME, SHORT_NAME, MOST_WORD = 16, 7, 14
"""Most cells for the name of a model, where it has to be short, and for a word it chose."""

PARTS = " ▏▎▍▌▋▊▉█"


def warmth(item: Item, heat: Heat, other: str | None = None) -> dict[int, Warmth]:
    """What lies on each token that has something; {} with the heat map off."""
    found: dict[int, Warmth] = {}
    difference = heat is Heat.DIFFERENCE
    for token, share in enumerate(token_shares(item, heat, other)):
        level = None if share is None else step(abs(share))
        if share is None or level is None:
            continue
        sign = SIGNS[level]
        if difference:
            sign = (PLUS if share > 0 else MINUS) + sign
        found[token] = Warmth(level, sign, "cool" if share < 0 else "heat")
    return found


def heat_words(item: Item | None, heat: Heat, other: str | None) -> str:
    """What is on the words now, or why nothing is, in a sentence."""
    if heat is Heat.OFF:
        return "heat map off"
    if item is not None and item.prediction is None:
        return f"heat map: nothing to show. {_none(item)}"
    if heat is Heat.SCORES or item is None or item.prediction is None:
        return "heat map on; H again: the difference of two models"
    two = other_of(item, other)
    if two is None:
        return NO_OTHER
    return f"{item.prediction.model} against {two.model}; H again: off"


def _none(item: Item) -> str:
    return HIDDEN if item.model_hidden else NO_MODEL


def sign_cells(heat: Heat) -> int:
    """Cells of the sign behind a word."""
    return 2 if heat is Heat.DIFFERENCE else 1


def heat_foot(
    item: Item, heat: Heat, other: str | None, width: int
) -> tuple[tuple[Run, ...], ...]:
    """The lines under a heat map: what was chosen, the classes, what the signs mean."""
    if heat is Heat.OFF:
        return ()
    parts: list[list[Run]]
    if item.prediction is None:
        parts = [[_said(_none(item))]]
    elif heat is Heat.SCORES:
        parts = [
            _fitting(width, *_choices(item.prediction, item)),
            _classes(item, heat, other),
            [_faint(_scale("%"))],
        ]
    else:
        parts = _difference(item, item.prediction, other, width)
    return tuple(_filled(line, width) for line in parts)


def _difference(item: Item, one: Prediction, name: str | None, width: int) -> list[list[Run]]:
    two = other_of(item, name)
    if two is None:
        return [[_said(NO_OTHER)]]
    if not candidates_of(item, Heat.DIFFERENCE, name):
        return [[_said(NOT_ALIKE)]]
    sides = [
        [
            *_side(PLUS, one, item, "heat", most),
            _faint(" · "),
            *_side(MINUS, two, item, "cool", most),
        ]
        for most in (MOST_NAME, SHORT_NAME)
    ]
    return [
        _fitting(width, *sides),
        _classes(item, Heat.DIFFERENCE, name),
        [_faint(_scale("points"))],
    ]


def _side(sign: str, said: Prediction, item: Item, hue: str, most: int) -> list[Run]:
    """A model as a side of a difference: its sign, its name, and what it chose."""
    name = clip(visible(said.model), most)
    return [
        Run(f"{sign} {name}", ("foot", f"{hue}-{len(LEAST) // 2}")),
        _said(f": {_chosen(said, said.choice, item)}"),
    ]


def _choices(said: Prediction, item: Item) -> list[list[Run]]:
    """What a model chose, what it would have chosen then, and by how much that lost.

    With the model's name, and shorter.
    """
    runs = [_said(_chosen(said, said.choice, item))]
    if said.second is not None:
        runs.append(_faint(f" · then {_chosen(said, said.second, item)}"))
    if said.margin is not None:
        runs.append(_faint(f" · margin {said.margin * 100:.0f}"))
    return [
        [_faint(f"{clip(visible(said.model), most)}: "), *runs]
        for most in (MOST_NAME, SHORT_NAME)
    ] + [runs]


def _fitting(width: int, *lines: list[Run]) -> list[Run]:
    """The first of the lines that fits, else the last."""
    for line in lines:
        if sum(width_of(run.text) for run in line) < width:
            return line
    return lines[-1]


def _chosen(said: Prediction, choice: str, item: Item) -> str:
    """A choice with its score: "tents t1 71 %"."""
    given = choice_answer(choice, item)
    if given is None:
        return clip(visible(choice), MOST_WORD)
    place = given.heads[0].mentions[0].head if given.heads else None
    if place is None:
        words, at = KIND_WORDS[given.kind], IMPLICIT_KINDS.index(given.kind)
    else:
        word = visible(" ".join(item.passage.word(place).split()))
        words = f"{clip(word, MOST_WORD)} t{item.passage.turn_of(place) + 1}"
        at = len(IMPLICIT_KINDS) + place
    share = shares(said.scores)[at] if at < len(said.scores) else None
    if share is None:
        return words
    return f"{words} under 1 %" if share < LEAST[0] else f"{words} {share * 100:.0f} %"


def _classes(item: Item, heat: Heat, other: str | None) -> list[Run]:
    """The classes that are worth a look, each with a bar, the greatest first."""
    candidates = candidates_of(item, heat, other)[: len(IMPLICIT_KINDS)]
    scored = [
        (kind, share)
        for kind, share in zip(IMPLICIT_KINDS, candidates, strict=False)
        if share is not None and step(abs(share)) is not None
    ]
    if not scored:
        words = "are alike" if heat is Heat.DIFFERENCE else "each under 1 %"
        return [_faint(f"classes: {words}")]
    runs = [_faint("classes: ")]
    draw = _signed if heat is Heat.DIFFERENCE else _plain
    for kind, share in sorted(scored, key=lambda entry: -abs(entry[1])):
        runs.extend(_class_bar(kind, share, draw))
    return runs


def _class_bar(kind: Kind, share: float, draw: Callable[[float], str]) -> list[Run]:
    hue = "cool" if share < 0 else "heat"
    level = step(abs(share)) or 0
    bar = _bar(abs(share))
    return [
        _said(f"{KIND_WORDS[kind]} "),
        Run(bar, ("foot", f"{hue}-sign")),
        Run(f" {draw(share)}", ("foot", f"{hue}-{level}")),
        _faint("  "),
    ]


def _plain(share: float) -> str:
    return f"{share * 100:.0f}"


def _signed(share: float) -> str:
    return f"{PLUS if share > 0 else MINUS}{abs(share) * 100:.0f}"


def _bar(share: float) -> str:
    eighths = max(1, round(min(share, 1.0) * BAR * 8))
    return "█" * (eighths // 8) + (PARTS[eighths % 8] if eighths % 8 else "")


def _scale(unit: str) -> str:
    """What the signs mean: the least score of each step."""
    steps = " ".join(
        f"{sign}{least * 100:.0f}" for sign, least in zip(SIGNS, LEAST, strict=True)
    )
    return f"from {steps} {unit}"


def _said(text: str) -> Run:
    return Run(text, ("foot",))


def _faint(text: str) -> Run:
    return Run(text, ("foot", "foot-faint"))


def _filled(runs: Sequence[Run], width: int) -> tuple[Run, ...]:
    """A line of runs, exactly as wide; what does not fit is cut."""
    made: list[Run] = [Run(" ", ("foot",))] if width else []
    room = width - 1
    for run in runs:
        text = clip(run.text, room)
        if not text:
            break
        made.append(Run(text, run.roles))
        room -= width_of(text)
        if text != run.text:
            break
    return (*made, Run(" " * max(0, room), ("foot",)))
