"""Features of `linear` that describe the anchor; their weights are one for each class.

A feature is a string, "labels:lemma-1=be": its group, what it is and where, its value.
Labels, structure, match and other are those of the paper's table 8. It took entities and
expressions of money and time from a recogniser; here a name is a proper noun, and the
expressions are words of `cue_words`.
"""

from collections.abc import Callable, Iterator

from nfh_models.resolution import cue_words as known
from nfh_models.resolution.cue_table import CUES
from nfh_models.resolution.linear_groups import Group
from nfh_models.resolution.linear_view import View

WINDOW = 2
NOTHING = "-"
"""Stands for the word beyond the ends of the turn, and for the head of a root."""

LENGTHS = (5, 10)
MAGNITUDES = (1, 10, 100, 1600, 2100)
BEFORE, BEHIND = 10, 5
"""Words on either side that `words` takes as a bag."""

_TIMES = known.CLOCK | known.HOURS | known.DAY_PARTS


def anchor_features(view: View, groups: tuple[Group, ...]) -> list[str]:
    """The features of an anchor, each once."""
    found = (
        f"{group}:{feature}"
        for group in groups
        if group in TELL
        for feature in TELL[group](view)
    )
    return list(dict.fromkeys(found))


def number_kind(view: View) -> str:
    """What the anchor looks like: "one", "letters" or "digits"."""
    if view.place.is_one:
        return "one"
    return "digits" if any(c.isdigit() for c in view.words[view.start]) else "letters"


def magnitude(view: View) -> str:
    """The least of MAGNITUDES that the anchor's value is below; "more", or "none"."""
    value = view.place.value
    if value is None:
        return "none"
    return next((f"<{bound}" for bound in MAGNITUDES if value < bound), "more")


def around(view: View, start: int, end: int) -> Iterator[tuple[str, int | None]]:
    """Places up to WINDOW before and behind a span, named by their distance; None beyond the
    ends of its turn."""
    turn = view.turns[start]
    for step in range(1, WINDOW + 1):
        for name, at in ((f"-{step}", start - step), (f"+{step}", end - 1 + step)):
            inside = 0 <= at < len(view) and view.turns[at] == turn
            yield name, at if inside else None


# --- the paper's ----------------------------------------------------------------------------


def _labels(view: View) -> Iterator[str]:
    yield f"lemma={' '.join(view.lemmas[view.start : view.end])}"
    for name, at in around(view, view.start, view.end):
        yield f"lemma{name}={NOTHING if at is None else view.lemmas[at]}"
        yield f"pos{name}={NOTHING if at is None else view.pos[at]}"
    yield f"relation={view.relations[view.top]}"
    head = view.heads[view.top]
    yield f"head-pos={NOTHING if head is None else view.pos[head]}"
    yield f"head-lemma={NOTHING if head is None else view.lemmas[head]}"
    if head is not None:
        children = view.children[head]
        yield f"head-leftmost={view.lemmas[children[0]]}"
        yield from (f"head-child={view.lemmas[at]}" for at in children if at != view.top)


def _structure(view: View) -> Iterator[str]:
    if "?" in view.words[: view.start]:
        yield "question-before"
    if "?" in view.words[view.end :]:
        yield "question-behind"
    begin, end = view.sentence
    yield f"sentence-length={_bin(end - begin)}"
    yield f"span-length={min(view.end - view.start, 3)}"
    span = "".join(view.words[view.start : view.end])
    if "-" in span:
        yield "hyphen"
    if "/" in span:
        yield "slash"
    before, after = view.place.before(), view.place.after()
    if before in known.APOSTROPHES or span[0] in known.APOSTROPHES:
        yield "apostrophe-before"
    if after[:1] in known.APOSTROPHES:
        yield "apostrophe-behind"
    if after in ("'s", "\u2019s"):
        yield "s-behind"
    if not any(word[0].isalnum() for word in view.words[view.end : end]):
        yield "ends-sentence"


def _bin(length: int) -> str:
    return next((f"<{bound}" for bound in LENGTHS if length < bound), "more")


def _match(view: View) -> Iterator[str]:
    if not known.MONEY.isdisjoint(view.words):
        yield "money"
    if not _TIMES.isdisjoint(view.words):
        yield "time"
    if "PROPN" in view.pos[view.sentence[0] : view.start]:
        yield "name-before"


def _other(view: View) -> Iterator[str]:
    yield f"magnitude={magnitude(view)}"
    first = view.words[view.start]
    yield "digits" if any(c.isdigit() for c in first) else "letters"


# --- our own --------------------------------------------------------------------------------


def _cues(view: View) -> Iterator[str]:
    holding = [cue.name for cue in CUES if cue.test(view.place)]
    if holding:
        yield f"first={holding[0]}"
    yield from holding


def _words(view: View) -> Iterator[str]:
    shape = number_kind(view) if view.place.is_one else magnitude(view)
    place = view.place
    yield f"shape={shape}"
    yield f"shape-1={shape} {place.before() or NOTHING}"
    yield f"shape+1={shape} {place.after() or NOTHING}"
    yield f"between={place.before() or NOTHING} {place.after() or NOTHING}"
    yield f"two-before={place.before(2) or NOTHING} {place.before() or NOTHING}"
    for lemma in view.lemmas[max(0, view.start - BEFORE) : view.start]:
        yield f"before={lemma}"
    for lemma in view.lemmas[view.end : view.end + BEHIND]:
        yield f"behind={lemma}"
    turn = view.turns[view.start]
    for at in range(view.start - 1, -1, -1):
        if view.turns[at] < turn - 1:
            break
        if view.turns[at] == turn - 1:
            yield f"turn-before={view.lemmas[at]}"


TELL: dict[Group, Callable[[View], Iterator[str]]] = {
    Group.LABELS: _labels,
    Group.STRUCTURE: _structure,
    Group.MATCH: _match,
    Group.OTHER: _other,
    Group.CUES: _cues,
    Group.WORDS: _words,
}
"""The groups that say something of the anchor."""
