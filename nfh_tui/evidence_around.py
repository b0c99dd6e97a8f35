"""Around the number: spans proposed for it, words beside it, nouns, the other numbers."""

from collections.abc import Iterable, Sequence

from nfh_db.records import Item, Sibling, State
from nfh_models.domain import Anchor, Answer, Kind, Origin, Passage
from nfh_tui.editing import EditState
from nfh_tui.editing.describe import KIND_WORDS
from nfh_tui.editing.state import in_anchor
from nfh_tui.editing.words import fold
from nfh_tui.lanes import Lane
from nfh_tui.number_words import beside
from nfh_tui.passage_marks import DIGITS
from nfh_tui.phrases import phrase_start, sense
from nfh_tui.proposed_spans import proposals
from nfh_tui.rows import Part, Rows

MOST_PLACES = 8
MOST_NUMBERS = 6
MOST_SIGNS = 4
"""Signs before a place: the answer edited, and the first of those who marked it."""
STATE_SIGNS = {
    State.OPEN: "○",
    State.ANSWERED: "◐",
    State.DISAGREE: "≠",
    State.DECIDED: "✓",
    State.STALE: "↺",
}


# --- other spans for the anchor -----------------------------------------------------------


def add_proposals(rows: Rows, item: Item, *, named: bool, key: str = "") -> None:
    """Say who proposes which span. named: False says it to the only one who does.

    key: what takes a span over, "" where nothing does.
    """
    for span, people in proposals(item).items():
        who, verb = "you", "propose"
        if named:
            names = [name for name in people if name]
            who = ", ".join(names) if names else f"{len(people)} of the annotators"
            verb = "proposes" if len(names) == 1 else "propose"
            if not names and len(people) == 1:
                who, verb = "somebody", "proposes"
        words = " ".join(item.passage.words(span.start, span.end).split())
        said: list[Part] = [
            ("▸ ", "asks"),
            (who, "name"),
            (f" {verb} the span ", "note"),
            (f"“{words}”", "said"),
        ]
        if key:
            said += [(" · ", "note"), (key, "key"), (" takes it", "note")]
        rows.text(said, indent=1, hang=3)


# --- number words beside the anchor --------------------------------------------------------


def add_beside(rows: Rows, item: Item, span: Anchor | None = None) -> None:
    """Say which number words stand beside the anchor, and how they would be taken in.

    span: what the keys move in its place.
    """
    for left, key in ((True, "<"), (False, "+")):
        found = beside(item.passage, span or item.anchor, left=left)
        if found is None:
            continue
        said: list[Part] = [
            ("▸ ", "asks"),
            ("beside it ", "note"),
            (f"“{found.words}”", "said"),
        ]
        if found.whole and not _is_own(item, found.token):
            said += [(": part of the number? ", "asks"), (key, "key"), (" widens", "note")]
        rows.text(said, indent=1, hang=3)


def _is_own(item: Item, token: int) -> bool:
    """True if a number word is an item of its own."""
    return any(one.anchor.start <= token < one.anchor.end for one in item.siblings)


# --- the nouns offered ---------------------------------------------------------------------


def add_places(rows: Rows, item: Item, lanes: Sequence[Lane], state: EditState | None) -> None:
    """Every place of each noun that was answered, with its modifiers and what it seems to be.

    A place of the answer edited has the number of its head, × where it was taken away; others
    have the keys of those who marked them; a place that nobody marked is offered by `*`.
    """
    answers = [lane.answer for lane in lanes]
    nouns = _nouns(item, state, answers)
    if not nouns:
        return
    tokens = [token for noun in nouns for token in noun]
    rows.heading("Nouns", "* offers their places" if len(tokens) > len(nouns) else "")
    for token in tokens[:MOST_PLACES]:
        rows.text(_place(item, token, lanes, state), indent=1, hang=6)
    if len(tokens) > MOST_PLACES:
        rows.text([(f"and {len(tokens) - MOST_PLACES} more places", "note")], indent=6)


def _nouns(
    item: Item, state: EditState | None, answers: Iterable[Answer]
) -> list[tuple[int, ...]]:
    """Tokens of each noun: those of the answer edited first, none twice."""
    heads = list(state.heads) if state is not None else []
    heads += [head.mentions for answer in answers for head in answer.heads]
    if not heads:
        return []
    places = _places_by_lemma(item.passage)
    taken: set[int] = set()
    found = []
    for mentions in heads:
        words = {fold(item.passage.tokens[m.head].lemma) for m in mentions}
        same = sorted(place for word in words for place in places.get(word, ()))
        tokens = tuple(t for t in same if t not in taken and not in_anchor(item, t))
        taken.update(tokens)
        if tokens:
            found.append(tokens)
    return found


def _places_by_lemma(passage: Passage) -> dict[str, list[int]]:
    """Where each lemma stands; each is folded once, since passages are long."""
    spelled: dict[str, list[int]] = {}
    for place, token in enumerate(passage.tokens):
        spelled.setdefault(token.lemma, []).append(place)
    folded: dict[str, list[int]] = {}
    for lemma, places in spelled.items():
        folded.setdefault(fold(lemma), []).extend(places)
    return folded


def _place(
    item: Item, token: int, lanes: Sequence[Lane], state: EditState | None
) -> list[Part]:
    passage = item.passage
    signs = [_own_sign(token, state), *_lane_signs(token, lanes)]
    shown = [sign for sign in signs if sign[0]][:MOST_SIGNS]
    gap = "\u00a0" * max(0, MOST_SIGNS - sum(len(text) for text, _ in shown))
    start = phrase_start(passage, token)
    before = " ".join(passage.words(start, token).split())
    word = " ".join(passage.word(token).split())
    mine = bool(signs[0][0]) and signs[0][0] != "×"
    what = sense(item, token)
    parts: list[Part] = [
        *shown,
        (f"{gap}\u00a0", ""),
        (f"t{passage.turn_of(token) + 1} ", "note"),
    ]
    parts += [(f"{before} ", "")] if before else []
    parts.append((word, "head" if mine else "noun"))
    if what:
        parts.append((f" · {what}", "asks" if what.endswith("?") else "note"))
    return parts


def _own_sign(token: int, state: EditState | None) -> Part:
    for number, mentions in enumerate(state.heads if state is not None else (), 1):
        for mention in mentions:
            if mention.head == token:
                digit = DIGITS[number] if number < len(DIGITS) else "₊"
                removed = mention.origin is Origin.REMOVED
                return ("×" if removed else digit, "head-sign")
    return "", ""


def _lane_signs(token: int, lanes: Sequence[Lane]) -> list[Part]:
    return [(lane.key, lane.role) for lane in lanes if token in lane.answer.head_tokens()]


# --- the other numbers ---------------------------------------------------------------------


def add_numbers(rows: Rows, item: Item, *, nouns: bool = True) -> None:
    """The passage's other anchors, the nearest ones if there are many, with what they are.

    nouns: with what is missing there by the gold.
    """
    others = [one for one in item.siblings if one.anchor != item.anchor]
    if not others:
        return
    rows.heading("Other numbers here", f"{len(others)}")
    near = sorted(others, key=lambda one: abs(one.anchor.start - item.anchor.start))
    for one in sorted(near[:MOST_NUMBERS], key=lambda one: one.anchor.start):
        said = _number(item, one)
        if nouns and one.nouns:
            missing = ", ".join(_noun(item.passage, noun) for noun in one.nouns)
            said += [(" ", ""), (f"[{missing}]", "put")]
        rows.text(said, indent=1, hang=3)


def _noun(passage: Passage, noun: int | str) -> str:
    return " ".join((passage.word(noun) if isinstance(noun, int) else noun).split())


def _number(item: Item, one: Sibling) -> list[Part]:
    passage = item.passage
    words = " ".join(passage.words(one.anchor.start, one.anchor.end).split())
    decided = one.state is State.DECIDED
    kind = KIND_WORDS[Kind(one.kind)] if one.kind is not None else one.state.value
    return [
        (f"{STATE_SIGNS[one.state]} ", "same" if decided else "note"),
        (words, "kind"),
        (f" t{passage.turn_of(one.anchor.start) + 1}  ", "note"),
        (kind, "said" if decided else "note"),
    ]
