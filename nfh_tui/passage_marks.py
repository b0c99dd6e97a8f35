"""What is to be seen on each word of a passage: roles for its looks, signs beside it.

Pure: no screen. A role is the name of a look; several roles of one word lie on each other
in the order given. Signs tell the same without colour, in the cells before and behind words.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from nfh_db.records import Item, State
from nfh_models.domain import Mention, Origin
from nfh_tui.editing import EditState, Pending, open_hints
from nfh_tui.editing.mentions import phrase_start
from nfh_tui.editing.state import in_anchor, live
from nfh_tui.passage_lanes import (
    MOST_LANES,
    Ground,
    judging,
    laned,
    sibling_sign,
    sign_of,
)
from nfh_tui.proposed_spans import proposals

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
class Marks:
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
    item: Item, state: EditState | None, heat: Mapping[int, Warmth] | None = None
) -> Marks:
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
    return Marks(
        {token: tuple(roles) for token, roles in made.roles.items()},
        {token: tuple(roles) for token, roles in made.between.items()},
        {token: tuple(sorted(s, key=lambda x: x.rank)) for token, s in made.signs.items()},
        hints,
    )


def _heat(made: _Maker, heat: Mapping[int, Warmth]) -> None:
    for token, warmth in heat.items():
        made.roles[token].append(f"{warmth.hue}-{warmth.step}")
        made.sign(token, Rank.HEAT, warmth.sign, f"{warmth.hue}-sign", left=False, fixed=True)


def _siblings(made: _Maker, item: Item) -> None:
    for sibling in item.siblings:
        if sibling.anchor == item.anchor:
            continue
        start, end = sibling.anchor.start, sibling.anchor.end
        made.span(start, end, "decided" if sibling.state is State.DECIDED else "undecided")
        sign = sibling_sign(sibling)
        if sign:
            made.sign(end - 1, Rank.DECIDED, sign, "decided-sign", left=False, fixed=True)


def picked(state: EditState | None) -> frozenset[int]:
    """Head tokens of the mentions in the answer edited."""
    heads = () if state is None else state.heads
    return frozenset(m.head for mentions in heads for m in live(mentions))


def _gold(made: _Maker, item: Item, already: frozenset[int]) -> None:
    """Gold heads; the sign stands only where the answer edited has not the same one.

    It takes the cell in which the number of the head would stand.
    """
    for head in item.gold.answer.heads if item.gold is not None else ():
        for mention in head.live:
            made.span(mention.start, mention.end, "gold")
            if mention.head not in already:
                made.sign(mention.start, Rank.GOLD, "◆", "gold-sign", left=True)


def _votes(made: _Maker, item: Item, ground: Ground) -> None:
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


def _edited(made: _Maker, item: Item, state: EditState) -> None:
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


def _hush(made: _Maker, item: Item, hints: Mapping[int, str]) -> None:
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


def head_list(state: EditState | None) -> tuple[tuple[int, Mention], ...]:
    """The mention in front of each head, with the head's number."""
    heads = () if state is None else state.heads
    return tuple((number, live(mentions)[0]) for number, mentions in enumerate(heads, 1))


def changed(before: Marks, now: Marks) -> set[int]:
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
