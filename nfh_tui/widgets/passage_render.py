"""A passage's lines as runs of text with their roles: marks, annotators' lanes, the heat
map, hints, and the lines below it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from math import exp, isfinite
from typing import NamedTuple

from nfh_db.records import (
    PERSON,
    AnchorItem,
    AnchorState,
    Prediction,
    Role,
    Rule,
    Sibling,
    Vote,
)
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
)
from nfh_tui.display_figures import bar
from nfh_tui.display_text import (
    END_ISOLATE,
    ISOLATE,
    clip,
    glyphs,
    is_right_to_left,
    visible,
    width_of,
)
from nfh_tui.editor.commands import fold, open_hints, phrase_start
from nfh_tui.editor.state import EditState, Pending, in_anchor, letter, live
from nfh_tui.editor.votes import (
    KIND_WORDS,
    annotators_votes,
    choice_answer,
    model_answer,
    proposals,
)
from nfh_tui.widgets.passage_layout import (
    NO_TOKEN,
    PassageLayout,
    Rooms,
    TokenPiece,
    TurnWindow,
    VisualLine,
)

# The heat map as numbers: scores in fixed steps, and how two models differ.
#
# Pure, standard library only. Every recipe gives scores between 0 and 1: probabilities over
# all candidates whose sum is 1, or, of a recipe without probabilities, ranks made visible (1,
# 1/2, 1/3 …). So a step means the same on every item.

LEAST = (0.01, 0.05, 0.10, 0.20, 0.35, 0.50, 0.70, 0.90)
"""The least score of each step. What has less is left as it is: it is not worth a look."""

STEPS = len(LEAST)
"""Steps of a heat map, 0 the lowest score shown and STEPS - 1 the highest."""

SIGNS = "▁▂▃▄▅▆▇█"
"""The sign of each step: what tells it where no colour does."""

PLUS, MINUS = "+", "−"
"""Before the step of a difference: which of two models has the higher score."""


class Heat(StrEnum):
    """What lies on the words: nothing, the active model's scores, or how two models differ."""

    OFF = ""
    SCORES = "scores"
    DIFFERENCE = "difference"

    @property
    def after(self) -> "Heat":
        """What the key goes on to."""
        every = list(Heat)
        return every[(every.index(self) + 1) % len(every)]


Scores = tuple[float | None, ...]
Steps = tuple[int | None, ...]


def shares(scores: Sequence[float | None]) -> Scores:
    """Scores between 0 and 1, None where there is none.

    Where some score lies outside, all of them are taken for logits, and become the
    probabilities that they stand for. What is no finite number counts as none.
    """
    known = [s for s in scores if s is not None and isfinite(s)]
    if all(0.0 <= s <= 1.0 for s in known):
        return tuple(s if s is not None and isfinite(s) else None for s in scores)
    top = max(known)
    total = sum(exp(s - top) for s in known)
    return tuple(
        exp(s - top) / total if s is not None and isfinite(s) else None for s in scores
    )


def step(share: float | None) -> int | None:
    """The step of one score, None below the first."""
    if share is None or share < LEAST[0]:
        return None
    return max(place for place, least in enumerate(LEAST) if share >= least)


def steps(scores: Sequence[float | None]) -> Steps:
    """The step of each score, None where there is none worth showing."""
    return tuple(step(share) for share in shares(scores))


def other_of(item: AnchorItem, name: str | None) -> Prediction | None:
    """What the model of that name says of the item, else the newest of the others."""
    for said in item.others:
        if said.model == name:
            return said
    return item.others[0] if item.others else None


def differences(one: Prediction, other: Prediction) -> Scores:
    """By how much the first model's scores are higher than the second's, for each candidate.

    A candidate that only one of them scored counts as 0 for the other. () where the two are
    not of one passage.
    """
    if len(one.scores) != len(other.scores):
        return ()
    return tuple(
        None if a is None and b is None else (a or 0.0) - (b or 0.0)
        for a, b in zip(shares(one.scores), shares(other.scores), strict=True)
    )


def candidates_of(item: AnchorItem, heat: Heat, other: str | None = None) -> Scores:
    """What the heat map shows of each candidate: the classes, then the tokens; () for nothing.

    A score, or with two models by how much the active one's is higher.
    """
    prediction = item.prediction
    wanted = len(IMPLICIT_KINDS) + len(item.passage.tokens)
    if heat is Heat.OFF or prediction is None or len(prediction.scores) != wanted:
        return ()
    if heat is Heat.SCORES:
        return shares(prediction.scores)
    second = other_of(item, other)
    return () if second is None else differences(prediction, second)


def token_shares(item: AnchorItem, heat: Heat, other: str | None = None) -> Scores:
    """What the heat map shows of each token; () for nothing."""
    return candidates_of(item, heat, other)[len(IMPLICIT_KINDS) :]


# What others marked in a passage: each annotator's lane, what differs, what they were shown.
#
# Pure: no screen. A lane is the number of the key that adopts the annotator's answer, so that
# sign, colour and key go together; in blind mode the item comes with its lanes mixed.

KEYS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""Numbers of annotators: the keys that adopt their answers."""

MOST_LANES = len(KEYS) - 1
FURTHER = "⁺"
"""The sign of all annotators for whom there is no key."""

TURNS_BEFORE, TURNS_AFTER = 2, 1
"""Turns around the number's own that voters were shown."""

VOTERS_SAW, ON, OFF = "voters-saw", "on", "off"
"""The setting of a database that says whether its votes were collected so, and its values."""

LETTERS = {
    Kind.REFERENCE: "r",
    Kind.YEAR: "y",
    Kind.AGE: "a",
    Kind.CURRENCY: "c",
    Kind.PEOPLE: "p",
    Kind.TIME: "t",
    Kind.OTHER: "o",
    Kind.UNKNOWN: "n",
    Kind.NOT_NFH: "x",
    Kind.BROKEN: "d",
}
"""The letter of a kind, behind the sign of a decided number: the key that chooses it."""


class Laned(NamedTuple):
    """A mention that an annotator marked. lane: 1 to MOST_LANES, 0 for the ones after."""

    lane: int
    mention: Mention


def judging(state: EditState | None) -> bool:
    """True where others' answers may be seen: by whoever reads, and by an adjudicator."""
    return state is None or state.role is Role.ADJUDICATOR


def laned(item: AnchorItem) -> Iterator[Laned]:
    """All that annotators marked, lane by lane; each word of a lane once."""
    seen: set[tuple[int, int]] = set()
    for number, vote in enumerate(annotators_votes(item), 1):
        lane = number if number <= MOST_LANES else 0
        for mention in (m for head in vote.answer.heads for m in head.live):
            if (lane, mention.end) not in seen:
                seen.add((lane, mention.end))
                yield Laned(lane, mention)


def sign_of(lane: int) -> str:
    """The sign of a lane."""
    return KEYS[lane] if lane else FURTHER


class Ground:
    """The answer that lanes are held against: the one edited, else the gold.

    nothing: there is none, so nothing differs from it.
    """

    def __init__(self, item: AnchorItem, state: EditState | None) -> None:
        self._item = item
        edited = state is not None and state.kind is not None
        self.nothing = not edited and item.gold is None
        self.tokens: frozenset[int] = frozenset()
        if edited and state is not None:
            self.tokens = frozenset(m.head for head in state.heads for m in live(head))
        elif item.gold is not None:
            self.tokens = _tokens(item.gold.answer.heads)
        self._lemmas = {self._lemma(token) for token in self.tokens}

    def _lemma(self, token: int) -> str:
        return fold(self._item.passage.tokens[token].lemma)

    def differs(self, mention: Mention) -> bool:
        """True for a noun that this answer has not: another mention of one it has is none."""
        if self.nothing:
            return False
        return mention.head not in self.tokens and self._lemma(mention.head) not in self._lemmas


def _tokens(heads: Iterable[Head]) -> frozenset[int]:
    return frozenset(m.head for head in heads for m in head.live)


def sibling_sign(sibling: Sibling) -> str:
    """Behind another number of the passage: that it is decided, and how."""
    if sibling.state is not AnchorState.DECIDED:
        return ""
    return "✓" if sibling.kind is None else "✓" + LETTERS.get(sibling.kind, "")


def rooms(
    item: AnchorItem,
    *,
    votes: bool,
    heat: Iterable[int] = (),
    cells: int = 1,
    begun: Iterable[Iterable[Mention]] = (),
) -> Rooms:
    """Cells for the signs beside words, whatever the answer that is edited.

    votes: those of annotators and of the gold are shown. heat: tokens with a sign of the heat
    map, of so many cells. begun: heads of the answer that the editor opened with.
    """
    behind: dict[int, int] = dict.fromkeys(heat, cells)

    def need(token: int, more: int = 1) -> None:
        behind[token] = behind.get(token, 0) + more

    heads = [*begun]
    if votes:
        further: set[int] = set()
        for lane, mention in laned(item):
            if lane or mention.end not in further:
                need(mention.end - 1)
            if not lane:
                further.add(mention.end)
        heads += [head.live for head in item.gold.answer.heads] if item.gold else []
    for sibling in item.siblings:
        sign = sibling_sign(sibling)
        if sign and sibling.anchor != item.anchor:
            need(sibling.anchor.end - 1, len(sign))
    need(item.anchor.end - 1)
    before = {mention.start: 1 for mentions in heads for mention in mentions}
    return Rooms({**before, item.anchor.start: 1}, behind)


def window(item: AnchorItem) -> TurnWindow | None:
    """The turns that voters were shown; None where they were shown the whole passage.

    None, too, where what is known of the votes denies it: none of them came with a file, one
    was given here, where people see the whole passage, or one has a head that they cannot
    have seen.
    """
    here, last = item.passage.turn_of(item.anchor.start), len(item.passage.turns) - 1
    first, end = max(0, here - TURNS_BEFORE), min(last, here + TURNS_AFTER)
    votes = [vote for vote in item.votes if vote.counts]
    if (first == 0 and end == last) or not votes or not all(one.imported for one in votes):
        return None
    # What the tool added stands anywhere.
    marked = (m for one in votes for m in one.answer.mentions() if m.origin is Origin.MARKED)
    if not all(first <= item.passage.turn_of(mention.head) <= end for mention in marked):
        return None
    return TurnWindow(first, end, "voters saw from here", "voters saw to here")


# The lanes of an item: each answer with its key, its sign and its name, in a fixed order.
#
# Pure: no screen. Annotators come first, with the keys that adopt their answers; then the
# model, the gold, and adjudicators whose answer is not the gold's.

GOLD = "◆"
MODEL = "m"
NO_KEY = "·"


@dataclass(frozen=True, slots=True)
class Lane:
    """One answer. key: what adopts it, or its sign. role: its look. name: "" where hidden.

    vote: what it came with; None for the model, and for gold that nobody's answer made.
    """

    key: str
    role: str
    name: str
    answer: Answer
    vote: Vote | None = None


def lane_role(number: int) -> str:
    """The look of annotator `number`, from 1: the same as on the text."""
    return f"lane-{number if number <= MOST_LANES else 0}"


def lanes(item: AnchorItem, *, blind: bool) -> tuple[Lane, ...]:
    """All answers to the item that count or are to be seen; blind: letters for names."""
    made = [
        Lane(
            f"{number}" if number <= MOST_LANES else NO_KEY,
            lane_role(number),
            letter(number - 1) if blind else vote.annotator,
            vote.answer,
            vote,
        )
        for number, vote in enumerate(annotators_votes(item), 1)
    ]
    said = model_answer(item)
    if said is not None and item.prediction is not None:
        made.append(Lane(MODEL, "key", item.prediction.model, said))
    decided = [vote for vote in item.votes if vote.role is Role.ADJUDICATOR]
    if item.gold is not None:
        by = _deciding(item, decided)
        made.append(Lane(GOLD, "gold", "gold", item.gold.answer, by))
        decided = [vote for vote in decided if vote is not by]
    made += [
        Lane(NO_KEY, "name", "" if blind else vote.annotator, vote.answer, vote)
        for vote in decided
    ]
    return tuple(made)


def _deciding(item: AnchorItem, decided: Sequence[Vote]) -> Vote | None:
    """The adjudicator's answer that is the gold; None where a rule or a file made it."""
    gold = item.gold
    if gold is None or gold.rule is not Rule.EXPERT:
        return None
    named = [vote for vote in decided if vote.annotator == (gold.adjudicator or "")]
    for vote in named or decided:
        if vote.answer.without_comment() == gold.answer.without_comment():
            return vote
    return None


def is_counted(lane: Lane) -> bool:
    """False for an annotator's lane that is no person's: it is shown and adopted only."""
    return lane.vote is None or lane.vote.type == PERSON


# What is to be seen on each word of a passage: roles for its looks, signs beside it.
#
# Pure: no screen. A role is the name of a look; several roles of one word lie on each other
# in the order given. Signs tell the same without colour, in the cells before and behind words.

DIGITS = "₀₁₂₃₄₅₆₇₈₉"
"""Numbers of heads in the answer edited."""

ROLES = (
    *("gutter", "gutter-here", "rule", "foot", "foot-faint", "hint", "hushed"),
    *("heat-sign", "cool-sign"),
    *("undecided", "decided", "decided-sign", "gold", "gold-sign"),
    *(f"lane-{number}" for number in range(MOST_LANES + 1)),
    *("differs", "differs-sign"),
    *("proposed", "anchor", "proposed-sign", "anchor-sign"),
    *("head", "head-sign", "noun", "added"),
    *("removed", "removed-sign", "offered", "span", "span-sign", "cursor", "cursor-sign"),
)
"""Every role but the steps of the heat map, which are "heat-0" and "cool-0" and so on.

"lane-0" is the look of the annotators for whom there is no key.
"""


class Rank(IntEnum):
    """Which sign gets a cell that two want; the lowest first."""

    ANCHOR = 1
    PROPOSED = 2
    VOTE = 3
    GOLD = 4
    DECIDED = 5
    SPAN = 6
    HEAD = 7
    ASKED = 8
    HEAT = 9


@dataclass(frozen=True, slots=True)
class Sign:
    """Characters beside a word: before it if `left`, else behind it.

    Where there is no cell it goes to the other side unless it is `fixed`; where there is none
    at all it is left out.
    """

    rank: Rank
    text: str
    role: str
    left: bool
    fixed: bool
    look: str = ""


@dataclass(frozen=True, slots=True)
class PassageMarks:
    """Everything drawn over the words of one passage.

    roles: of a token, lowest first. between: of the gap behind a token. signs: of a token.
    hints: letters still to be typed for a token, while hints are shown.
    """

    roles: dict[int, tuple[str, ...]] = field(default_factory=dict)
    between: dict[int, tuple[str, ...]] = field(default_factory=dict)
    signs: dict[int, tuple[Sign, ...]] = field(default_factory=dict)
    hints: dict[int, str] = field(default_factory=dict)


class _Maker:
    def __init__(self) -> None:
        self.roles: defaultdict[int, list[str]] = defaultdict(list)
        self.between: defaultdict[int, list[str]] = defaultdict(list)
        self.signs: defaultdict[int, list[Sign]] = defaultdict(list)

    def span(self, start: int, end: int, role: str) -> None:
        """Give a role to tokens [start, end) and to the gaps between them."""
        for token in range(start, end):
            self.roles[token].append(role)
            if token + 1 < end:
                self.between[token].append(role)

    def sign(
        self,
        token: int,
        rank: Rank,
        text: str,
        role: str,
        *,
        left: bool,
        fixed: bool = False,
        look: str = "",
    ) -> None:
        """Want a sign beside a token."""
        self.signs[token].append(Sign(rank, text, role, left, fixed, look))

    def brackets(self, start: int, end: int, rank: Rank, pair: str, role: str) -> None:
        """Want a sign at each end of a span."""
        self.sign(start, rank, pair[0], role, left=True, fixed=True)
        self.sign(end - 1, rank, pair[1], role, left=False, fixed=True)


@dataclass(frozen=True, slots=True)
class Warmth:
    """The heat map on one token. hue: "heat", or "cool" where another model scores higher."""

    step: int
    sign: str
    hue: str = "heat"


def marks(
    item: AnchorItem, state: EditState | None, heat: Mapping[int, Warmth] | None = None
) -> PassageMarks:
    """What is drawn over the passage of an item while an answer is edited.

    heat: of the tokens that have some. An annotator is shown no gold and no votes.
    """
    made = _Maker()
    _heat(made, heat or {})
    _siblings(made, item)
    if judging(state):
        ground = Ground(item, state)
        _gold(made, item, picked(state))
        _votes(made, item, ground)
    for proposal in proposals(item):
        made.span(proposal.start, proposal.end, "proposed")
        made.brackets(proposal.start, proposal.end, Rank.PROPOSED, "‹›", "proposed-sign")
    made.span(item.anchor.start, item.anchor.end, "anchor")
    made.brackets(item.anchor.start, item.anchor.end, Rank.ANCHOR, "▸◂", "anchor-sign")
    hints: dict[int, str] = {}
    if state is not None:
        _edited(made, item, state)
        if state.pending is Pending.HINT:
            hints = dict(open_hints(state))
            _hush(made, item, hints)
    return PassageMarks(
        {token: tuple(roles) for token, roles in made.roles.items()},
        {token: tuple(roles) for token, roles in made.between.items()},
        {token: tuple(sorted(s, key=lambda x: x.rank)) for token, s in made.signs.items()},
        hints,
    )


def _heat(made: _Maker, heat: Mapping[int, Warmth]) -> None:
    for token, warmth in heat.items():
        made.roles[token].append(f"{warmth.hue}-{warmth.step}")
        made.sign(token, Rank.HEAT, warmth.sign, f"{warmth.hue}-sign", left=False, fixed=True)


def _siblings(made: _Maker, item: AnchorItem) -> None:
    for sibling in item.siblings:
        if sibling.anchor == item.anchor:
            continue
        start, end = sibling.anchor.start, sibling.anchor.end
        made.span(
            start, end, "decided" if sibling.state is AnchorState.DECIDED else "undecided"
        )
        sign = sibling_sign(sibling)
        if sign:
            made.sign(end - 1, Rank.DECIDED, sign, "decided-sign", left=False, fixed=True)


def picked(state: EditState | None) -> frozenset[int]:
    """Head tokens of the mentions in the answer edited."""
    heads = () if state is None else state.heads
    return frozenset(m.head for mentions in heads for m in live(mentions))


def _gold(made: _Maker, item: AnchorItem, already: frozenset[int]) -> None:
    """Gold heads; the sign stands only where the answer edited has not the same one.

    It takes the cell in which the number of the head would stand.
    """
    for head in item.gold.answer.heads if item.gold is not None else ():
        for mention in head.live:
            made.span(mention.start, mention.end, "gold")
            if mention.head not in already:
                made.sign(mention.start, Rank.GOLD, "◆", "gold-sign", left=True)


def _votes(made: _Maker, item: AnchorItem, ground: Ground) -> None:
    """Behind each word the signs of all who marked it, and what the answer has not."""
    further: set[int] = set()
    differing: dict[tuple[int, int], list[int]] = {}
    for lane, mention in laned(item):
        if not lane and mention.end in further:
            continue
        further.update(() if lane else (mention.end,))
        differs = ground.differs(mention)
        if differs:
            differing.setdefault((mention.start, mention.end), []).append(lane)
        made.sign(
            mention.end - 1,
            Rank.VOTE,
            sign_of(lane),
            f"lane-{lane}",
            left=False,
            fixed=True,
            look="differs-sign" if differs else "",
        )
    for (start, end), lanes in differing.items():
        if len(lanes) == 1:
            made.span(start, end, f"lane-{lanes[0]}")
        made.span(start, end, "differs")


def _edited(made: _Maker, item: AnchorItem, state: EditState) -> None:
    for number, mentions in enumerate(state.heads, 1):
        for mention in mentions:
            _mention(made, mention, number)
    if state.review is not None:
        asked = state.review.tokens[0]
        made.sign(asked, Rank.ASKED, "?", "cursor-sign", left=False)
        made.span(phrase_start(item, asked), asked, "offered")
        for token in state.review.tokens[1:]:
            made.roles[token].append("offered")
    if state.span is not None:
        start, end = state.span
        made.span(start, end, "span")
        made.brackets(start, end, Rank.SPAN, "[]", "span-sign")
    if state.pending is not Pending.HINT:
        made.roles[state.cursor].append("cursor")


def _hush(made: _Maker, item: AnchorItem, hints: Mapping[int, str]) -> None:
    """Let the words step back that have no letter."""
    for token in range(len(item.passage.tokens)):
        if token not in hints and not in_anchor(item, token):
            made.roles[token].append("hushed")


def _mention(made: _Maker, mention: Mention, number: int) -> None:
    if mention.origin is Origin.REMOVED:
        made.span(mention.start, mention.end, "removed")
        made.sign(mention.start, Rank.HEAD, "×", "removed-sign", left=True)
        return
    added = mention.origin is Origin.ADDED
    made.span(mention.start, mention.end, "added" if added else "head")
    if mention.end - mention.start > 1:
        made.roles[mention.head].append("noun")
    digit = DIGITS[number] if number < len(DIGITS) else "₊"
    made.sign(mention.start, Rank.HEAD, digit, "head-sign", left=True)


def changed(before: PassageMarks, now: PassageMarks) -> set[int]:
    """Tokens on or beside which something else is drawn than before."""
    tokens: set[int] = set()
    for old, new in (
        (before.roles, now.roles),
        (before.between, now.between),
        (before.signs, now.signs),
        (before.hints, now.hints),
    ):
        tokens.update(t for t in old.keys() | new.keys() if old.get(t) != new.get(t))
    return tokens


# The lines under a passage that is longer than its pane: where one is, and every picked head.
#
# Pure: no screen. How many lines there are depends on the answer and the width alone, so that
# scrolling never moves anything.

MOST_HEAD_WORD = 18
"""Most cells for the words of a head."""

MOST_LINES = 3
"""Most lines for the heads; how many are left out then is said."""

UP, DOWN = "↑", "↓"


def foot(
    layout: PassageLayout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> tuple[str, ...]:
    """The lines, exactly as wide as the layout.

    Every head of the answer with its turn, an arrow where it stands above line `top` or from
    line `bottom` on; at the right of the first line the turns in view.
    """
    place = _place(layout, passage, top, bottom)
    rooms = [max(0, layout.width - width_of(place))] + [layout.width] * (MOST_LINES - 1)
    lines = _broken(_entries(layout, passage, state, top, bottom), rooms)
    # As if every head had an arrow: as many lines wherever one has scrolled to.
    most = len(_broken(_entries(layout, passage, state, len(layout.lines), 0), rooms))
    lines += [""] * (most - len(lines))
    return tuple(
        _filled_text(clip(line, room), room) + ("" if at else clip(place, layout.width))
        for at, (line, room) in enumerate(zip(lines, rooms, strict=False))
    )


def _filled_text(said: str, room: int) -> str:
    return said + " " * (room - width_of(said))


def _broken(entries: Sequence[str], rooms: Sequence[int]) -> list[str]:
    """Entries in lines; of more than there is room for it is said how many are left out."""
    lines = [""]
    for number, entry in enumerate(entries):
        room = rooms[len(lines) - 1]
        first_is_narrow = len(lines) == 1 and room < width_of(entry)
        if width_of(lines[-1]) + width_of(entry) > room and (lines[-1] or first_is_narrow):
            if len(lines) == len(rooms):
                rest = f" … {len(entries) - number} more"
                lines[-1] = clip(lines[-1], max(0, room - len(rest))) + rest
                break
            lines.append("")
        lines[-1] += entry
    return lines


def _place(layout: PassageLayout, passage: Passage, top: int, bottom: int) -> str:
    """The turns in view, as wide as that may become: what stands beside it keeps its place."""
    bottom = min(bottom, len(layout.lines))
    first, last = layout.lines[top].turn + 1, layout.lines[max(top, bottom - 1)].turn + 1
    turns = f"turn {first}" if first == last else f"turns {first}–{last}"
    said = f" {turns} of {len(passage.turns)} "
    last_turn = len(passage.turns)
    return said.rjust(len(f" turns {last_turn}–{last_turn} of {last_turn} "))


def _entries(
    layout: PassageLayout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> list[str]:
    """Each head: what joins it to the one before, its sign, words, mentions, turn and arrow."""
    if state is None:
        return []
    stated = state.relation in {Relation.AND, Relation.OR}
    joint = f" {state.relation}" if stated else " ·"
    made = []
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        sign = DIGITS[number] if number < len(DIGITS) else "₊"
        parts = [
            f"{joint if number > 1 else ''} {sign}{_words(passage, first)}",
            f"+{len(more)}" if more else "",
            f"t{passage.turn_of(first.head) + 1}",
            _arrow(layout, first, top, bottom),
        ]
        made.append(" ".join(filter(None, parts)))
    return made


def _words(passage: Passage, mention: Mention) -> str:
    return clip(" ".join(passage.words(mention.start, mention.end).split()), MOST_HEAD_WORD)


def _arrow(layout: PassageLayout, mention: Mention, top: int, bottom: int) -> str:
    line = layout.spots[mention.head].line
    return UP if line < top else DOWN if line >= bottom else ""


# One visual line of a passage as runs of text with their roles, exactly as wide as planned.
#
# Pure: no screen. Signs and hint letters go to cells beside words; where there is none, hint
# letters lie over the beginning of the word.

Roles = tuple[str, ...]


class Run(NamedTuple):
    """Text drawn in one look."""

    text: str
    roles: Roles


class _Grid:
    """The cells of a line. A wide sign takes its cell and leaves the next one empty."""

    def __init__(self, width: int) -> None:
        self.texts = [" "] * width
        self.roles: list[Roles] = [()] * width
        self._taken = bytearray(width)

    def draw(self, x: int, text: str, roles: Roles) -> None:
        """Draw a text from cell x on, and take its cells."""
        for glyph, width in [(c, 1) for c in text] if text.isascii() else glyphs(text):
            self.texts[x] = glyph
            self.roles[x] = roles
            for cell in range(x, x + width):
                self._taken[cell] = 1
            for cell in range(x + 1, x + width):
                self._follow(cell, roles)
            x += width

    def _follow(self, cell: int, roles: Roles) -> None:
        self.texts[cell] = ""
        self.roles[cell] = roles

    def fill(self, start: int, end: int, roles: Roles) -> None:
        """Give cells between words a look."""
        for cell in range(start, end):
            self.roles[cell] = roles

    def is_free(self, x: int) -> bool:
        """True for a cell that holds nothing yet."""
        return 0 <= x < len(self.texts) and not self._taken[x]

    def put(self, x: int, text: str, roles: Roles) -> None:
        """Put one character into a cell, over whatever stands there."""
        if not 0 <= x < len(self.texts):
            return
        if self.texts[x] == "":
            self.texts[x - 1] = " "
        after = x + 1
        while after < len(self.texts) and self.texts[after] == "":
            self.texts[after] = " "
            after += 1
        self.texts[x], self.roles[x], self._taken[x] = text, roles, 1

    def runs(self) -> list[Run]:
        """Neighbouring cells of one look together; right-to-left words each isolated."""
        made: list[Run] = []
        kept: list[str] = []
        look: tuple[Roles, bool] = ((), False)
        for text, roles in zip(self.texts, self.roles, strict=True):
            if text == "":
                continue
            now = (roles, not text.isascii() and is_right_to_left(text))
            if now != look and kept:
                made.append(_run(kept, look))
                kept = []
            look = now
            kept.append(text)
        if kept:
            made.append(_run(kept, look))
        return made


def _run(texts: list[str], look: tuple[Roles, bool]) -> Run:
    roles, right_to_left = look
    text = "".join(texts)
    return Run(f"{ISOLATE}{text}{END_ISOLATE}" if right_to_left else text, roles)


def paint(
    layout: PassageLayout, number: int, marks: PassageMarks, current_turn: int
) -> list[Run]:
    """Line `number` of a passage. current_turn: rank of the turn whose gutter stands out."""
    line = layout.lines[number]
    if line.rule:
        return _rule(layout, line)
    width = max(layout.width, layout.gutter + 1, _end(line) + 1)
    grid = _Grid(width)
    gutter = "gutter-here" if line.turn == current_turn else "gutter"
    grid.fill(0, layout.gutter, (gutter,))
    label = line.label.rstrip(" ")
    grid.draw(0, label, (gutter,))
    for piece in line.pieces:
        grid.draw(piece.x, piece.text, marks.roles.get(piece.token, ()))
    _fill_between(grid, line, marks)
    _letters(grid, layout, number, line, marks)
    _signs(grid, layout, number, line, marks)
    return grid.runs()


RULE = "┄"
"""What a thin line between turns is made of."""


def _rule(layout: PassageLayout, line: VisualLine) -> list[Run]:
    """A thin line with its words at the right, as far as there is room for them."""
    words = clip(f" {line.rule} ", max(0, layout.width - layout.gutter))
    drawn = RULE * (layout.width - layout.gutter - width_of(words))
    return [Run(" " * layout.gutter + drawn + words, ("rule",))]


def _end(line: VisualLine) -> int:
    last = line.pieces[-1]
    return last.x + last.width


def _fill_between(grid: _Grid, line: VisualLine, marks: PassageMarks) -> None:
    for piece, after in zip(line.pieces, line.pieces[1:], strict=False):
        between = marks.between.get(piece.token)
        if between is not None:
            grid.fill(piece.x + piece.width, after.x, between)


def _starts(layout: PassageLayout, number: int, piece: TokenPiece) -> bool:
    """True if the token of a piece begins with it."""
    return piece.token != NO_TOKEN and layout.spots[piece.token][:2] == (number, piece.x)


def _goes_on(layout: PassageLayout, number: int, piece: TokenPiece) -> bool:
    """True if the token of a piece goes on in the next line."""
    return piece is layout.lines[number].pieces[-1] and layout.goes_on(number, piece.token)


def _letters(
    grid: _Grid, layout: PassageLayout, number: int, line: VisualLine, marks: PassageMarks
) -> None:
    """Hint letters: the first into the cell before the word if that is free."""
    if not marks.hints:
        return
    for piece in line.pieces:
        label = marks.hints.get(piece.token)
        if label is None or not _starts(layout, number, piece):
            continue
        x = piece.x - 1 if grid.is_free(piece.x - 1) else piece.x
        for offset, sign in enumerate(label):
            grid.put(x + offset, sign, ("hint",))


def _signs(
    grid: _Grid, layout: PassageLayout, number: int, line: VisualLine, marks: PassageMarks
) -> None:
    """Put signs into free cells, by rank; the layout has made room for those that need it."""
    if not marks.signs:
        return
    wanted = [
        (sign, number_of, piece)
        for number_of, piece in enumerate(line.pieces)
        for sign in marks.signs.get(piece.token, ())
    ]
    for sign, number_of, piece in sorted(wanted, key=lambda entry: entry[0].rank):
        for cells in _cells(grid, layout, number, number_of, piece, sign):
            if cells:
                _put_sign(grid, layout, cells.start, sign)
                break


def _put_sign(grid: _Grid, layout: PassageLayout, x: int, sign: Sign) -> None:
    looks = (sign.role, sign.look) if sign.look else (sign.role,)
    for offset, character in enumerate(sign.text):
        under = grid.roles[x + offset] if x + offset >= layout.gutter else ()
        grid.put(x + offset, character, (*under, *looks))


def _cells(
    grid: _Grid,
    layout: PassageLayout,
    number: int,
    number_of: int,
    piece: TokenPiece,
    sign: Sign,
) -> tuple[range, ...]:
    """The free cells beside a word for a sign, those it likes best first; none where none."""
    pieces = layout.lines[number].pieces
    size = len(sign.text)
    before = range(0)
    if _starts(layout, number, piece) and grid.is_free(piece.x - 1) and size == 1:
        before = range(piece.x - 1, piece.x)
    behind = range(0)
    if not _goes_on(layout, number, piece):
        after = number_of + 1
        end = pieces[after].x if after < len(pieces) else len(grid.texts)
        behind = _free(grid, piece.x + piece.width, end, size)
    sides = (before, behind) if sign.left else (behind, before)
    return sides[:1] if sign.fixed else sides


def _free(grid: _Grid, start: int, end: int, size: int) -> range:
    """The first `size` free cells in a row, none where there are no such."""
    for x in range(start, end - size + 1):
        if all(grid.is_free(cell) for cell in range(x, x + size)):
            return range(x, x + size)
    return range(0)


# The heat map on a passage: what lies on each word, and the lines that explain it.
#
# Pure: no screen.

NO_MODEL = "No model has answered this item yet."
HIDDEN = "What the model says is hidden until you have answered."
NO_OTHER = "No other model has answered this item: nfh-tui predict --model NAME lets one."
NOT_ALIKE = "What the two models said is not of the same words."

BAR = 8
"""Cells of the bar of a class, if its share is 1."""

MOST_NAME, SHORT_NAME, MOST_CHOSEN_WORD = 16, 7, 14
"""Most cells for the name of a model, where it has to be short, and for a word it chose."""


def warmth(item: AnchorItem, heat: Heat, other: str | None = None) -> dict[int, Warmth]:
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


def heat_words(item: AnchorItem | None, heat: Heat, other: str | None) -> str:
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


def _none(item: AnchorItem) -> str:
    return HIDDEN if item.model_hidden else NO_MODEL


def sign_cells(heat: Heat) -> int:
    """Cells of the sign behind a word."""
    return 2 if heat is Heat.DIFFERENCE else 1


def heat_foot(
    item: AnchorItem, heat: Heat, other: str | None, width: int
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
    return tuple(_filled_line(line, width) for line in parts)


def _difference(
    item: AnchorItem, one: Prediction, name: str | None, width: int
) -> list[list[Run]]:
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


def _side(sign: str, said: Prediction, item: AnchorItem, hue: str, most: int) -> list[Run]:
    """A model as a side of a difference: its sign, its name, and what it chose."""
    name = clip(visible(said.model), most)
    return [
        Run(f"{sign} {name}", ("foot", f"{hue}-{len(LEAST) // 2}")),
        _said(f": {_chosen(said, said.choice, item)}"),
    ]


def _choices(said: Prediction, item: AnchorItem) -> list[list[Run]]:
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


def _chosen(said: Prediction, choice: str, item: AnchorItem) -> str:
    """A choice with its score: "tents t1 71 %"."""
    given = choice_answer(choice, item)
    if given is None:
        return clip(visible(choice), MOST_CHOSEN_WORD)
    place = given.heads[0].mentions[0].head if given.heads else None
    if place is None:
        words, at = KIND_WORDS[given.kind], IMPLICIT_KINDS.index(given.kind)
    else:
        word = visible(" ".join(item.passage.word(place).split()))
        words = f"{clip(word, MOST_CHOSEN_WORD)} t{item.passage.turn_of(place) + 1}"
        at = len(IMPLICIT_KINDS) + place
    share = shares(said.scores)[at] if at < len(said.scores) else None
    if share is None:
        return words
    return f"{words} under 1 %" if share < LEAST[0] else f"{words} {share * 100:.0f} %"


def _classes(item: AnchorItem, heat: Heat, other: str | None) -> list[Run]:
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
    return [
        _said(f"{KIND_WORDS[kind]} "),
        Run(bar(abs(share), BAR), ("foot", f"{hue}-sign")),
        Run(f" {draw(share)}", ("foot", f"{hue}-{level}")),
        _faint("  "),
    ]


def _plain(share: float) -> str:
    return f"{share * 100:.0f}"


def _signed(share: float) -> str:
    return f"{PLUS if share > 0 else MINUS}{abs(share) * 100:.0f}"


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


def _filled_line(runs: Sequence[Run], width: int) -> tuple[Run, ...]:
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
