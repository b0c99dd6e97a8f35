"""A kind against the number itself, its size, and the signs beside it."""

import re
from collections.abc import Callable, Iterator

from nfh_models.domain import Anchor, Kind
from nfh_models.text.cardinals import cardinals
from nfh_models.text.lexicon import Shape
from nfh_models.text.runs import Atom, Line, read_run
from nfh_models.trouble.beside import CLOCK_WORDS, MONEY_SIGNS
from nfh_models.trouble.scene import Case, Check, Finding, Said, Scene, Severity

_DECIMAL = re.compile(r"\d+\.\d+")
_COMPUTED = re.compile(r"\d+\.\d{8,}|\d+(?:\.\d+)?e[-+]?\d+")
_CALIBRE = re.compile(r"0\.(?:22|25|32|38|40|44|45|50|357)")
"""Calibres that are written without the nought."""

_CHAIN = re.compile(r"\d+(?:[-\u2010\u2011\u2013]\d+){2,}")


def value(scene: Scene, anchor: Anchor) -> float | None:
    """What an anchor counts, if it is one plain number; None for chains, times and codes."""
    words = scene.words[anchor.start : anchor.end]
    line = Line(words, None)
    if not line.parts(0):
        return None
    run = read_run(line, 0)
    found = cardinals(run, between=False)
    if len(found) != 1 or run[-1].end != len(words):
        return None
    return _sum(run)


def _sum(run: list[Atom]) -> float | None:
    whole = part = 0.0
    for atom in run:
        shape, size = atom.part.shape, atom.part.value
        if shape is Shape.AND:
            continue
        if shape in (Shape.CODE, Shape.POINT, Shape.FRACTION):
            return None
        if shape is Shape.HUNDRED:
            part = max(part, 1.0) * size
        elif shape is Shape.SCALE:
            whole, part = whole + max(part, 1.0) * size, 0.0
        else:
            part += size
    return whole + part


def _is_chain(scene: Scene, anchor: Anchor) -> bool:
    """Three numbers and more joined by hyphens: 36-24-36, in one token or in several."""
    words = scene.words[anchor.start : anchor.end]
    if len(words) == 1:
        return _CHAIN.fullmatch(words[0]) is not None
    return _CHAIN.fullmatch("".join(words)) is not None


# --- the ways in which a kind does not fit; each says what it found, or "" ---------------


def _clock(scene: Scene, anchor: Anchor, kind: Kind) -> str:
    behind = scene.following(anchor)
    if kind is Kind.TIME or behind not in CLOCK_WORDS:
        return ""
    if behind == "am" and _speaks_of_itself(scene, anchor):
        return ""
    return f"\u201c{scene.text(anchor.start, anchor.end + 1)}\u201d is a time of day"


def _speaks_of_itself(scene: Scene, anchor: Anchor) -> bool:
    """Whether *am* is the verb: "I for one am fed up"."""
    before = {scene.word(anchor.start - i) for i in (1, 2, 3, 4)}
    return "i" in before or scene.tag(anchor.end) in ("AUX", "VERB")


def _age_words(scene: Scene, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.AGE:
        return ""
    before = (scene.word(anchor.start - 2), scene.preceding(anchor))
    behind = (scene.following(anchor), scene.word(anchor.end + 1))
    aged = before in (("age", "of"), ("ages", "of")) or before[1] in ("aged", "age")
    old = behind[0] in ("years", "year") and behind[1] == "old"
    if not aged and not old:
        return ""
    return f"\u201c{scene.text(anchor.start - 2, anchor.end + 2)}\u201d speaks of an age"


def _money(scene: Scene, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.CURRENCY:
        return ""
    before, behind = scene.preceding(anchor), scene.following(anchor)
    inside = scene.word(anchor.start)[:1]
    if not MONEY_SIGNS & {before, behind, inside}:
        return ""
    start = anchor.start - (before in MONEY_SIGNS)
    shown = scene.text(start, anchor.end + (behind in MONEY_SIGNS))
    return f"\u201c{shown}\u201d has a sign for money"


def _no_hour(scene: Scene, anchor: Anchor, kind: Kind) -> str:
    if kind is not Kind.TIME:
        return ""
    size = value(scene, anchor)
    if size is None or size <= 24 or 100 <= size <= 2400:
        return ""
    return f"{_figure(size)} is no hour of the day"


def _mangled(scene: Scene, anchor: Anchor, kind: Kind) -> str:
    """Digits that no person writes so: 8.3 for 8:30, 0.44 for .44, 4E-05."""
    word = scene.word(anchor.start)
    if anchor.end - anchor.start > 1:
        return ""
    clock = kind is Kind.TIME and _DECIMAL.fullmatch(word)
    gun = _CALIBRE.fullmatch(word) and scene.preceding(anchor) == "a"
    if not (clock or gun or _COMPUTED.fullmatch(word)):
        return ""
    return f"\u201c{word}\u201d reads as if a program had rewritten it"


def _chain(scene: Scene, anchor: Anchor, kind: Kind) -> str:
    if kind in (Kind.OTHER, Kind.NFH) or not _is_chain(scene, anchor):
        return ""
    return f"\u201c{scene.text(anchor.start, anchor.end)}\u201d is a chain of numbers"


def _figure(size: float) -> str:
    return f"{size:,.15g}"


Misfit = Callable[[Scene, Anchor, Kind], str]


def _looking(name: str, misfit: Misfit) -> Callable[[Scene], Iterator[Finding]]:
    def look(scene: Scene) -> Iterator[Finding]:
        for case, said in scene.said():
            kind = said.answer.kind
            if kind is Kind.NFH:
                continue
            found = misfit(scene, case.anchor, kind)
            if found:
                yield _finding(name, case, said, found)

    return look


def _finding(name: str, case: Case, said: Said, found: str) -> Finding:
    return Finding(name, (case.key,), f"{found}, and is {said.answer.kind}", said.who)


def _check(name: str, severity: Severity, sentence: str, misfit: Misfit, rule: int) -> Check:
    return Check(name, severity, sentence, _looking(name, misfit), rule)


CHECKS = (
    _check(
        "clock-word",
        Severity.DOUBT,
        "O'clock, a.m. or p.m. follows a number not TIME.",
        _clock,
        5,
    ),
    _check(
        "money-sign",
        Severity.DOUBT,
        "A sign for money beside a number that is an NFH and not CURRENCY.",
        _money,
        3,
    ),
    _check("age-words", Severity.DOUBT, "An age by its words that is not AGE.", _age_words, 5),
    _check("no-hour", Severity.DOUBT, "TIME of a number that is no hour.", _no_hour, 5),
    _check(
        "mangled-digits",
        Severity.DOUBT,
        "The digits read as if a program had rewritten them.",
        _mangled,
        1,
    ),
    _check("chain-kind", Severity.NOTE, "A chain as 36-24-36 that is not OTHER.", _chain, 18),
)
