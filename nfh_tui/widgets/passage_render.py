"""Rendering of a passage: its lines as runs of text with roles, from marks, annotators' lanes,
the heat map and hints, and the lines below it. No widget is used here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from itertools import groupby
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
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
)
from nfh_tui.actions import BY_ID
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
from nfh_tui.editor.state import EditState, Pending, in_anchor, live
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

# The heat map: scores in fixed steps, and differences between two models.
#
# Scores are between 0 and 1: probabilities over all candidates with the sum 1, or reciprocal
# ranks (1, 1/2, 1/3 …) of a recipe without probabilities. A step means the same on every item.

LEAST = (0.01, 0.05, 0.10, 0.20, 0.35, 0.50, 0.70, 0.90)
"""The least score of each step. Lower scores are not shown."""

STEPS = len(LEAST)
"""Steps of a heat map, 0 the lowest score shown and STEPS - 1 the highest."""

SIGNS = "▁▂▃▄▅▆▇█"
"""The sign of each step, for terminals without colour."""

PLUS, MINUS = "+", "−"
"""Precede the step of a difference: the first or the second model has the higher score."""


class Heat(StrEnum):
    """The heat map: none, the active model's scores, or the differences of two models."""

    OFF = ""
    SCORES = "scores"
    DIFFERENCE = "difference"

    @property
    def after(self) -> "Heat":
        """The next value, cyclically."""
        every = list(Heat)
        return every[(every.index(self) + 1) % len(every)]


Scores = tuple[float | None, ...]


def shares(scores: Sequence[float | None]) -> Scores:
    """Scores between 0 and 1; None for a missing or non-finite score.

    If any score is outside, all are logits, and become probabilities by softmax.
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
    """The step of a score; None below the first."""
    if share is None or share < LEAST[0]:
        return None
    return max(place for place, least in enumerate(LEAST) if share >= least)


def other_of(item: AnchorItem, name: str | None) -> Prediction | None:
    """The prediction of the named model, else the newest of the inactive ones."""
    named = (one for one in item.others if one.model == name)
    return next(named, item.others[0] if item.others else None)


def differences(one: Prediction, other: Prediction) -> Scores:
    """The first model's score minus the second's, for each candidate.

    A score that only one model lacks counts as 0. () where the numbers of candidates differ.
    """
    if len(one.scores) != len(other.scores):
        return ()
    return tuple(
        None if a is None and b is None else (a or 0.0) - (b or 0.0)
        for a, b in zip(shares(one.scores), shares(other.scores), strict=True)
    )


def candidates_of(item: AnchorItem, heat: Heat, other: str | None = None) -> Scores:
    """The value of each candidate in the heat map: the classes, then the tokens; () for none.

    A score, or for DIFFERENCE the active model's score minus the other's.
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
    """The value of each token in the heat map; () for none."""
    return candidates_of(item, heat, other)[len(IMPLICIT_KINDS) :]


# Marks of annotators: their lanes, differences, and the turns that they were shown.
#
# A lane has the number of the key that adopts the annotator's answer, which its sign and
# colour share. A blinded item comes with mixed lanes.

KEYS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""Signs of lanes, by number."""

MOST_LANES = len(KEYS) - 1
FURTHER = "⁺"
"""The sign of all annotators without a key."""

TURNS_BEFORE, TURNS_AFTER = 2, 1
"""Turns around the number's own that voters were shown."""

VOTERS_SAW, ON, OFF = "voters-saw", "on", "off"
"""The database's setting that votes were collected with this window, and its values."""

LETTERS = {
    kind.value: BY_ID[f"kind.{kind.lower()}"].shown for kind in Kind if kind is not Kind.NFH
}
"""The key of each kind, shown after the sign of a decided number."""


class LaneMention(NamedTuple):
    """A mention marked by an annotator. lane: 1 to MOST_LANES, 0 for all further ones."""

    lane: int
    mention: Mention


def judging(state: EditState | None) -> bool:
    """Whether others' answers may be shown: in reading mode and to an adjudicator."""
    return state is None or state.role is Role.ADJUDICATOR


def lane_mentions(item: AnchorItem) -> Iterator[LaneMention]:
    """All mentions of annotators by lane; of mentions with the same end the first."""
    seen: set[tuple[int, int]] = set()
    for number, vote in enumerate(annotators_votes(item), 1):
        lane = number if number <= MOST_LANES else 0
        for mention in (m for head in vote.answer.heads for m in head.live):
            if (lane, mention.end) not in seen:
                seen.add((lane, mention.end))
                yield LaneMention(lane, mention)


class Ground:
    """The answer with which lanes are compared: the edited one, else the gold."""

    def __init__(self, item: AnchorItem, state: EditState | None) -> None:
        self._item = item
        edited = state is not None and state.kind is not None
        self.nothing = not edited and item.gold is None  # no answer to compare with
        self.tokens: frozenset[int] = frozenset()
        if edited:
            self.tokens = picked(state)
        elif item.gold is not None:
            self.tokens = frozenset(
                m.head for head in item.gold.answer.heads for m in head.live
            )
        self._lemmas = {self._lemma(token) for token in self.tokens}

    def _lemma(self, token: int) -> str:
        return fold(self._item.passage.tokens[token].lemma)

    def differs(self, mention: Mention) -> bool:
        """Whether the answer lacks the noun; other mentions of one lemma are no difference."""
        if self.nothing:
            return False
        return mention.head not in self.tokens and self._lemma(mention.head) not in self._lemmas


def sibling_sign(sibling: Sibling) -> str:
    """The sign after another number of the passage; "" unless it is decided."""
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
    letters: Mapping[int, int] | None = None,
) -> Rooms:
    """Cells for the signs before and after words, independent of the edited answer.

    votes: whether those of annotators and of the gold are shown. heat: tokens with a sign of
    the heat map, `cells` wide. begun: heads of the editor's first state. letters: cells of
    hints, by token.
    """
    behind: dict[int, int] = dict.fromkeys(heat, cells)

    def need(token: int, more: int = 1) -> None:
        behind[token] = behind.get(token, 0) + more

    heads = [*begun]
    if votes:
        further: set[int] = set()
        for lane, mention in lane_mentions(item):
            if lane or mention.end not in further:
                need(mention.end - 1)
            if not lane:
                further.add(mention.end)
        heads += [head.live for head in item.gold.answer.heads] if item.gold else []
    for sibling in item.siblings:
        sign = sibling_sign(sibling)
        if sign and sibling.anchor != item.anchor:
            need(sibling.anchor.end - 1, len(sign))
    before = {mention.start: 1 for mentions in heads for mention in mentions}
    spans = (item.anchor, *proposals(item))
    before |= dict.fromkeys((span.start for span in spans), 1)
    for span in spans:
        need(span.end - 1)
    for token, size in (letters or {}).items():
        before[token] = before.get(token, 0) + size
    return Rooms(before, behind)


def window(item: AnchorItem) -> TurnWindow | None:
    """The turns that voters were shown; None for the whole passage.

    None, too, where the votes contradict it: there are none, one was given in this program,
    which shows the whole passage, or one has a head outside these turns.
    """
    here, last = item.passage.turn_of(item.anchor.start), len(item.passage.turns) - 1
    first, end = max(0, here - TURNS_BEFORE), min(last, here + TURNS_AFTER)
    votes = [vote for vote in item.votes if vote.counts]
    if (first == 0 and end == last) or not votes or not all(one.imported for one in votes):
        return None
    # Mentions that the program added may be anywhere.
    marked = (m for one in votes for m in one.answer.mentions() if m.origin is Origin.MARKED)
    if not all(first <= item.passage.turn_of(mention.head) <= end for mention in marked):
        return None
    return TurnWindow(first, end, "annotators saw from here", "annotators saw to here")


# All answers to an item in a fixed order: annotators with the keys that adopt their answers,
# the model, the gold, and adjudicators whose answer is not the gold's.

GOLD = "◆"
MODEL = "m"
NO_KEY = "·"


@dataclass(frozen=True, slots=True)
class Lane:
    """An answer with its key, role and name."""

    key: str
    """What adopts it: a key, or a number in the list of `#`; or a sign."""

    role: str
    name: str
    """"" where hidden."""

    answer: Answer
    vote: Vote | None = None
    """None for the model, and for gold that was not made from a vote."""


def lanes(item: AnchorItem) -> tuple[Lane, ...]:
    """All answers to the item that are shown."""
    made = []
    for number, vote in enumerate(annotators_votes(item), 1):
        lane = number if number <= MOST_LANES else 0
        made.append(Lane(f"{number}", f"lane-{lane}", vote.annotator, vote.answer, vote))
    predicted = model_answer(item)
    if predicted is not None and item.prediction is not None:
        made.append(Lane(MODEL, "key", item.prediction.model, predicted))
    decided = [vote for vote in item.votes if vote.role is Role.ADJUDICATOR]
    if item.gold is not None:
        by = _deciding(item, decided)
        made.append(Lane(GOLD, "gold", "gold", item.gold.answer, by))
        decided = [vote for vote in decided if vote is not by]
    made += [Lane(NO_KEY, "name", vote.annotator, vote.answer, vote) for vote in decided]
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
    """False for the lane of an annotator who is no person: it can be adopted only."""
    return lane.vote is None or lane.vote.type == PERSON


# Marks: the roles of each word, and signs before and after words. A role is the name of a
# style; styles of several roles are combined in order. Signs are for terminals without colour.

DIGITS = "₀₁₂₃₄₅₆₇₈₉"


def head_sign(number: int) -> str:
    """The sign of a head of the edited answer."""
    return DIGITS[number] if number < len(DIGITS) else "₊"


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
"""Every role except for the steps of the heat map, "heat-0", "cool-0" and so on.

"lane-0" is the role of annotators without a key.
"""


class Rank(IntEnum):
    """Precedence of signs for the same cell; the lowest first."""

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
    """Characters before a word if `left`, else after it.

    Without a free cell there, it moves to the other side unless it is `fixed`, or is left out.
    """

    rank: Rank
    text: str
    role: str
    left: bool = False
    fixed: bool = False
    look: str = ""


@dataclass(frozen=True, slots=True)
class PassageMarks:
    """Roles, signs and hints of a passage, by token."""

    roles: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """In the order in which styles are combined."""

    between: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Roles of the gap after a token."""

    signs: dict[int, tuple[Sign, ...]] = field(default_factory=dict)
    hints: dict[int, str] = field(default_factory=dict)
    """Letters still to be typed, while hints are shown."""


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

    def before(self, token: int, rank: Rank, text: str, role: str) -> None:
        """Add a sign before a word, or after it where there is no cell before it."""
        self.signs[token].append(Sign(rank, text, role, left=True))

    def behind(self, token: int, rank: Rank, text: str, role: str, look: str = "") -> None:
        """Add a sign after a word and nowhere else."""
        self.signs[token].append(Sign(rank, text, role, fixed=True, look=look))

    def brackets(self, start: int, end: int, rank: Rank, pair: str, role: str) -> None:
        """Add a sign at each end of a span."""
        self.signs[start].append(Sign(rank, pair[0], role, left=True, fixed=True))
        self.behind(end - 1, rank, pair[1], role)


@dataclass(frozen=True, slots=True)
class Warmth:
    """The heat of a token. hue: "heat", or "cool" where the other model scores higher."""

    step: int
    sign: str
    hue: str = "heat"


def marks(
    item: AnchorItem, state: EditState | None, heat: Mapping[int, Warmth] | None = None
) -> PassageMarks:
    """The marks of an item's passage. state: None in reading mode.

    heat: by token. An annotator is shown neither gold nor votes.
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
            for token in range(len(item.passage.tokens)):
                if token not in hints and not in_anchor(item, token):
                    made.roles[token].append("hushed")
    return PassageMarks(
        {token: tuple(roles) for token, roles in made.roles.items()},
        {token: tuple(roles) for token, roles in made.between.items()},
        {token: tuple(sorted(s, key=lambda x: x.rank)) for token, s in made.signs.items()},
        hints,
    )


def _heat(made: _Maker, heat: Mapping[int, Warmth]) -> None:
    for token, warmth in heat.items():
        made.roles[token].append(f"{warmth.hue}-{warmth.step}")
        made.behind(token, Rank.HEAT, warmth.sign, f"{warmth.hue}-sign")


def _siblings(made: _Maker, item: AnchorItem) -> None:
    for sibling in item.siblings:
        if sibling.anchor == item.anchor:
            continue
        start, end = sibling.anchor.start, sibling.anchor.end
        made.span(
            start, end, "decided" if sibling.state is AnchorState.DECIDED else "undecided"
        )
        if sign := sibling_sign(sibling):
            made.behind(end - 1, Rank.DECIDED, sign, "decided-sign")


def picked(state: EditState | None) -> frozenset[int]:
    """Head tokens of the live mentions of the edited answer."""
    heads = () if state is None else state.heads
    return frozenset(m.head for mentions in heads for m in live(mentions))


def _gold(made: _Maker, item: AnchorItem, already: frozenset[int]) -> None:
    """Gold heads; signs only where the edited answer has no head, whose sign has that cell."""
    for head in item.gold.answer.heads if item.gold is not None else ():
        for mention in head.live:
            made.span(mention.start, mention.end, "gold")
            if mention.head not in already:
                made.before(mention.start, Rank.GOLD, "◆", "gold-sign")


def _votes(made: _Maker, item: AnchorItem, ground: Ground) -> None:
    """Signs of all annotators after each marked word, and roles of differing ones."""
    further: set[int] = set()
    differing: dict[tuple[int, int], list[int]] = {}
    for lane, mention in lane_mentions(item):
        if not lane and mention.end in further:
            continue
        further.update(() if lane else (mention.end,))
        if differs := ground.differs(mention):
            differing.setdefault((mention.start, mention.end), []).append(lane)
        look = "differs-sign" if differs else ""
        sign = KEYS[lane] if lane else FURTHER
        made.behind(mention.end - 1, Rank.VOTE, sign, f"lane-{lane}", look)
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
        made.signs[asked].append(Sign(Rank.ASKED, "?", "cursor-sign"))
        made.span(phrase_start(item, asked), asked, "offered")
        for token in state.review.tokens[1:]:
            made.roles[token].append("offered")
    if state.span is not None:
        start, end = state.span
        made.span(start, end, "span")
        made.brackets(start, end, Rank.SPAN, "[]", "span-sign")
    if state.pending is not Pending.HINT:
        made.roles[state.cursor].append("cursor")


def _mention(made: _Maker, mention: Mention, number: int) -> None:
    if mention.origin is Origin.REMOVED:
        made.span(mention.start, mention.end, "removed")
        made.before(mention.start, Rank.HEAD, "×", "removed-sign")
        return
    added = mention.origin is Origin.ADDED
    made.span(mention.start, mention.end, "added" if added else "head")
    if mention.end - mention.start > 1:
        made.roles[mention.head].append("noun")
    made.before(mention.start, Rank.HEAD, head_sign(number), "head-sign")


def changed(before: PassageMarks, now: PassageMarks) -> set[int]:
    """Tokens whose roles, gap, signs or hints differ."""
    tokens: set[int] = set()
    for part in fields(PassageMarks):
        old, new = getattr(before, part.name), getattr(now, part.name)
        tokens.update(t for t in old.keys() | new.keys() if old.get(t) != new.get(t))
    return tokens


# The lines under a passage that is longer than its pane: the turns in view and all heads. Their
# number depends on the answer and the width alone, so that scrolling moves nothing.

MOST_HEAD_WORD = 18
"""Most cells for the words of a head."""

MOST_LINES = 3
"""Most lines for the heads; then the number of others is shown."""

UP, DOWN = "↑", "↓"


def foot(
    layout: PassageLayout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> tuple[str, ...]:
    """The lines, exactly as wide as the layout.

    Every head of the answer with its turn, and an arrow where it is above line `top` or at
    line `bottom` or below; at the right of the first line the turns in view.
    """
    place = _place(layout, passage, top, bottom)
    rooms = [max(0, layout.width - width_of(place))] + [layout.width] * (MOST_LINES - 1)
    lines = _broken(_entries(layout, passage, state, top, bottom), rooms)
    # As if every head had an arrow, so that the number of lines is independent of scrolling.
    most = len(_broken(_entries(layout, passage, state, len(layout.lines), 0), rooms))
    lines += [""] * (most - len(lines))
    shown = [clip(line, room) for line, room in zip(lines, rooms, strict=False)]
    return tuple(
        line + " " * (room - width_of(line)) + ("" if at else clip(place, layout.width))
        for at, (line, room) in enumerate(zip(shown, rooms, strict=False))
    )


def _broken(entries: Sequence[str], rooms: Sequence[int]) -> list[str]:
    """Entries in lines of these widths; the number of those that do not fit."""
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
    """The turns in view, right-aligned in the greatest possible width."""
    bottom = min(bottom, len(layout.lines))
    first, last = layout.lines[top].turn + 1, layout.lines[max(top, bottom - 1)].turn + 1
    turns = f"turn {first}" if first == last else f"turns {first}–{last}"
    last_turn = len(passage.turns)
    width = len(f" turns {last_turn}–{last_turn} of {last_turn} ")
    return f" {turns} of {last_turn} ".rjust(width)


def _entries(
    layout: PassageLayout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> list[str]:
    """Each head: its relation to the one before, sign, words, mentions, turn and arrow."""
    if state is None:
        return []
    stated = state.relation in {Relation.AND, Relation.OR}
    joint = f" {state.relation}" if stated else " ·"
    made = []
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        parts = [
            f"{joint if number > 1 else ''} {head_sign(number)}{_words(passage, first)}",
            f"+{len(more)}" if more else "",
            f"t{passage.turn_of(first.head) + 1}",
            _arrow(layout, first, top, bottom),
        ]
        made.append(" ".join(filter(None, parts)))
    return made


def _words(passage: Passage, mention: Mention) -> str:
    return clip(" ".join(passage.words(mention.start, mention.end).split()), MOST_HEAD_WORD)


def _arrow(layout: PassageLayout, mention: Mention, top: int, bottom: int) -> str:
    line = layout.spot(mention.head).line
    return UP if line < top else DOWN if line >= bottom else ""


# One visual line as runs, exactly as wide as in the layout. Signs and hint letters are drawn in
# cells before and after words; the layout has reserved those of hint letters.

Roles = tuple[str, ...]


class Run(NamedTuple):
    """Text drawn in one look."""

    text: str
    roles: Roles


class _Grid:
    """The cells of a line. The cell after a wide character is ""."""

    def __init__(self, width: int) -> None:
        self.texts = [" "] * width
        self.roles: list[Roles] = [()] * width
        self._taken = bytearray(width)

    def draw(self, x: int, text: str, roles: Roles) -> None:
        """Draw a text from cell x on, and mark its cells as taken."""
        for glyph, width in [(c, 1) for c in text] if text.isascii() else glyphs(text):
            self.texts[x] = glyph
            self.roles[x] = roles
            for cell in range(x, x + width):
                self._taken[cell] = 1
            for cell in range(x + 1, x + width):
                self.texts[cell], self.roles[cell] = "", roles
            x += width

    def fill(self, start: int, end: int, roles: Roles) -> None:
        """Set the roles of cells [start, end)."""
        self.roles[start:end] = [roles] * (end - start)

    def is_free(self, x: int) -> bool:
        return 0 <= x < len(self.texts) and not self._taken[x]

    def put(self, x: int, text: str, roles: Roles) -> None:
        """Fill a free cell."""
        self.texts[x], self.roles[x], self._taken[x] = text, roles, 1

    def runs(self) -> list[Run]:
        """Adjacent cells with the same roles; right-to-left text is isolated."""
        cells = (
            (text, roles, not text.isascii() and is_right_to_left(text))
            for text, roles in zip(self.texts, self.roles, strict=True)
            if text
        )
        made: list[Run] = []
        for (roles, right_to_left), group in groupby(cells, key=lambda cell: cell[1:]):
            text = "".join(cell[0] for cell in group)
            made.append(Run(f"{ISOLATE}{text}{END_ISOLATE}" if right_to_left else text, roles))
        return made


def paint(
    layout: PassageLayout, number: int, marks: PassageMarks, current_turn: int
) -> list[Run]:
    """Line `number` of a passage. current_turn: index of the turn with a highlighted gutter."""
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
    _draw_hints(grid, layout, number, line, marks)
    _draw_signs(grid, layout, number, line, marks)
    return grid.runs()


RULE = "┄"
"""The character of a thin line between turns."""


def _rule(layout: PassageLayout, line: VisualLine) -> list[Run]:
    """A thin line with its words at the right, clipped to the room."""
    words = clip(f" {line.rule} ", max(0, layout.width - layout.gutter))
    drawn = RULE * (layout.width - layout.gutter - width_of(words))
    return [Run(" " * layout.gutter + drawn + words, ("rule",))]


def _end(line: VisualLine) -> int:
    last = line.pieces[-1]
    return last.x + last.width


def _fill_between(grid: _Grid, line: VisualLine, marks: PassageMarks) -> None:
    for piece, after in zip(line.pieces, line.pieces[1:], strict=False):
        if (between := marks.between.get(piece.token)) is not None:
            grid.fill(piece.x + piece.width, after.x, between)


def _starts(layout: PassageLayout, number: int, piece: TokenPiece) -> bool:
    """Whether a piece is the beginning of its token."""
    return piece.token != NO_TOKEN and layout.spot(piece.token)[:2] == (number, piece.x)


def _goes_on(layout: PassageLayout, number: int, piece: TokenPiece) -> bool:
    """Whether the token of a piece continues in the next line."""
    return piece is layout.lines[number].pieces[-1] and layout.goes_on(number, piece.token)


def _draw_hints(
    grid: _Grid, layout: PassageLayout, number: int, line: VisualLine, marks: PassageMarks
) -> None:
    """Draw hint letters into the cells right before their words."""
    if not marks.hints:
        return
    for piece in line.pieces:
        label = marks.hints.get(piece.token)
        if label is not None and _starts(layout, number, piece):
            for x, letter in enumerate(label, piece.x - len(label)):
                grid.put(x, letter, ("hint",))


def _draw_signs(
    grid: _Grid, layout: PassageLayout, number: int, line: VisualLine, marks: PassageMarks
) -> None:
    """Draw signs into free cells, by rank; the layout has reserved cells for most of them."""
    if not marks.signs:
        return
    wanted = [
        (sign, number_of, piece)
        for number_of, piece in enumerate(line.pieces)
        for sign in marks.signs.get(piece.token, ())
    ]
    for sign, number_of, piece in sorted(wanted, key=lambda entry: entry[0].rank):
        left = piece.x - 1 - len(marks.hints.get(piece.token, ""))
        for cells in _cells(grid, layout, number, number_of, sign, left):
            if cells:
                roles = (sign.role, sign.look) if sign.look else (sign.role,)
                for x, character in enumerate(sign.text, cells.start):
                    under = grid.roles[x] if x >= layout.gutter else ()
                    grid.put(x, character, (*under, *roles))
                break


def _cells(
    grid: _Grid,
    layout: PassageLayout,
    number: int,
    number_of: int,
    sign: Sign,
    left: int,
) -> tuple[range, ...]:
    """The free cells for a sign before and after a word, preferred ones first.

    left: the cell before the word and its hint letters.
    """
    pieces = layout.lines[number].pieces
    piece, size = pieces[number_of], len(sign.text)
    before = range(0)
    if _starts(layout, number, piece) and grid.is_free(left) and size == 1:
        before = range(left, left + 1)
    behind = range(0)
    if not _goes_on(layout, number, piece):
        after = number_of + 1
        end = pieces[after].x if after < len(pieces) else len(grid.texts)
        behind = _free(grid, piece.x + piece.width, end, size)
    sides = (before, behind) if sign.left else (behind, before)
    return sides[:1] if sign.fixed else sides


def _free(grid: _Grid, start: int, end: int, size: int) -> range:
    """The first `size` adjacent free cells in [start, end); empty where there are none."""
    for x in range(start, end - size + 1):
        if all(grid.is_free(cell) for cell in range(x, x + size)):
            return range(x, x + size)
    return range(0)


# The heat map of a passage: the heat of each word, and the lines that explain it.

NO_MODEL = "No model has answered this item yet."
HIDDEN = "The model's answer is hidden until you have answered."
NO_OTHER = "No other model has answered this item: nfh-tui predict --model NAME adds one."
NOT_ALIKE = "The two models answered for different words."

BAR = 8
"""Cells of a class's bar for the share 1."""

MOST_NAME, SHORT_NAME, MOST_CHOSEN_WORD = 16, 7, 14
"""Most cells for a model's name, for its short form, and for a chosen word."""


def warmth(item: AnchorItem, heat: Heat, other: str | None = None) -> dict[int, Warmth]:
    """The heat of each token above the first step; {} with the heat map off."""
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
    """A sentence about what the heat map shows, or why it shows nothing."""
    if heat is Heat.OFF:
        return "heat map off"
    if item is not None and item.prediction is None:
        return f"heat map: nothing to show. {_none(item)}"
    if heat is Heat.SCORES or item is None or item.prediction is None:
        return "heat map on; H again: the difference of two models"
    if (two := other_of(item, other)) is None:
        return NO_OTHER
    return f"{item.prediction.model} against {two.model}; H again: off"


def _none(item: AnchorItem) -> str:
    return HIDDEN if item.model_hidden else NO_MODEL


def sign_cells(heat: Heat) -> int:
    return 2 if heat is Heat.DIFFERENCE else 1


def heat_foot(
    item: AnchorItem, heat: Heat, other: str | None, width: int
) -> tuple[tuple[Run, ...], ...]:
    """The lines under a heat map: choices, classes, and the legend."""
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
    if (two := other_of(item, name)) is None:
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
    """One model of a difference: its sign, name and choice."""
    name = clip(visible(said.model), most)
    return [
        Run(f"{sign} {name}", ("foot", f"{hue}-{len(LEAST) // 2}")),
        _said(f": {_chosen(said, said.choice, item)}"),
    ]


def _choices(said: Prediction, item: AnchorItem) -> list[list[Run]]:
    """A model's choice, second choice and margin: with its name, short name, and without."""
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
    """The first line that fits, else the last."""
    for line in lines:
        if sum(width_of(run.text) for run in line) < width:
            return line
    return lines[-1]


def _chosen(said: Prediction, choice: str, item: AnchorItem) -> str:
    """A choice with its score: "tents t1 71 %"."""
    if (given := choice_answer(choice, item)) is None:
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
    """The classes above the first step, each with a bar, highest first."""
    candidates = candidates_of(item, heat, other)[: len(IMPLICIT_KINDS)]
    scored = [
        (kind, share)
        for kind, share in zip(IMPLICIT_KINDS, candidates, strict=False)
        if share is not None and step(abs(share)) is not None
    ]
    if not scored:
        words = "are similar" if heat is Heat.DIFFERENCE else "each under 1 %"
        return [_faint(f"classes: {words}")]
    runs = [_faint("classes: ")]
    for kind, share in sorted(scored, key=lambda entry: -abs(entry[1])):
        hue = "cool" if share < 0 else "heat"
        sign = (PLUS if share > 0 else MINUS) if heat is Heat.DIFFERENCE else ""
        runs += [
            _said(f"{KIND_WORDS[kind]} "),
            Run(bar(abs(share), BAR), ("foot", f"{hue}-sign")),
            Run(f" {sign}{abs(share) * 100:.0f}", ("foot", f"{hue}-{step(abs(share)) or 0}")),
            _faint("  "),
        ]
    return runs


def _scale(unit: str) -> str:
    """The legend: the least score of each step."""
    steps = " ".join(
        f"{sign}{least * 100:.0f}" for sign, least in zip(SIGNS, LEAST, strict=True)
    )
    return f"from {steps} {unit}"


def _said(text: str) -> Run:
    return Run(text, ("foot",))


def _faint(text: str) -> Run:
    return Run(text, ("foot", "foot-faint"))


def _filled_line(runs: Sequence[Run], width: int) -> tuple[Run, ...]:
    """A line of runs, padded or clipped to the width."""
    made: list[Run] = [Run(" ", ("foot",))] if width else []
    room = width - 1
    for run in runs:
        if not (text := clip(run.text, room)):
            break
        made.append(Run(text, run.roles))
        room -= width_of(text)
        if text != run.text:
            break
    return (*made, Run(" " * max(0, room), ("foot",)))
