"""The shortest keys that bring the editor to the right answer, found by the editor itself.

Every key is tried on `nfh_tui.editor`, the pure part of the workbench, so that a plan holds
only keys that do what it says. Right is by noun, as answers are compared everywhere.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush
from itertools import count

from nfh_db.records import AnchorItem, Role
from nfh_models.domain import Answer, Head, Kind, Relation, Sort, compare
from nfh_tui.actions import BY_ID
from nfh_tui.editor.commands import act, first_state, key
from nfh_tui.editor.state import EditState, Pending, live
from nfh_tui.editor.state import answer as finished
from nfh_tui.editor.votes import annotators_votes

Keys = tuple[str, ...]
Step = tuple[Keys, EditState]

FARTHEST = 40
"""Moves of the cursor at most on the way to a word that has no letter."""

LONGEST = 400
"""Keys at most: no answer asks for more, but an arrow may be pressed once a word."""

SORT_KEYS = {Sort.NUMBER: "n", Sort.CODE: "c", Sort.MEASURE: "m"}
"""For OTHER; a sort that asks for a noun is left unstated, as the comparison leaves it out."""

KINDS = {
    Kind.YEAR: "kind.year",
    Kind.AGE: "kind.age",
    Kind.CURRENCY: "kind.currency",
    Kind.PEOPLE: "kind.people",
    Kind.TIME: "kind.time",
    Kind.OTHER: "kind.other",
    Kind.UNKNOWN: "kind.unknown",
    Kind.NOT_NFH: "kind.not_nfh",
    Kind.BROKEN: "kind.broken",
}
JOINT = ("adopt.model", "adopt.union", "adopt.intersection", "adopt.nobody")
MOVES = (
    "cursor.left",
    "cursor.right",
    "cursor.next_noun",
    "cursor.previous_noun",
    "cursor.next_turn",
    "cursor.previous_turn",
)


class Means(Enum):
    """What may be pressed. ALL: everything. NOUNS, ARROWS: nothing is preselected, taken over
    or lettered; the cursor goes noun by noun, or word by word, and space marks.
    """

    ALL = "all"
    NOUNS = "nouns"
    ARROWS = "arrows"


MOVES_OF = {
    Means.ALL: MOVES,
    Means.NOUNS: MOVES[2:4],
    Means.ARROWS: MOVES[:2],
}


def pressed(action_id: str) -> str:
    """The key of an act."""
    return BY_ID[action_id].keys[0]


def is_right(given: Answer, gold: Answer, item: AnchorItem) -> bool:
    """True if the two do not differ in anything that blocks."""
    return compare(given, gold, item.passage.lemmas).blocking is None


@dataclass(frozen=True, slots=True)
class Planner:
    """Finds the keys for one item. me: whose screen it is; proposals are withheld by name."""

    item: AnchorItem
    gold: Answer
    me: str
    means: Means = Means.ALL

    @property
    def view(self) -> range:
        """The tokens in view, by which letters are given: passages of releases fit the pane."""
        return range(len(self.item.passage.tokens))

    def shortest(self) -> Keys | None:
        """The keys, enter included; None where none were found."""
        first = self._first()
        order = count()
        waiting: list[tuple[int, int, Keys, EditState]] = [(0, next(order), (), first)]
        done: set[object] = set()
        while waiting:
            cost, _, keys, state = heappop(waiting)
            if self._right(state):
                return (*keys, pressed("accept"))
            sign = (state.content, state.cursor)
            if sign in done or cost > LONGEST:
                continue
            done.add(sign)
            for more, after in self._steps(state, at_first=not keys):
                heappush(waiting, (cost + len(more), next(order), (*keys, *more), after))
        return None

    def _first(self) -> EditState:
        if self.means is Means.ALL:
            return first_state(self.item, self.me, Role.ADJUDICATOR)
        return EditState(cursor=self.item.anchor.start, role=Role.ADJUDICATOR)

    def _right(self, state: EditState) -> bool:
        if state.pending not in {None, Pending.SORT}:
            return False
        made = finished(state, self.item)
        return isinstance(made, Answer) and is_right(made, self.gold, self.item)

    def _steps(self, state: EditState, *, at_first: bool) -> Iterator[Step]:
        if at_first and self.means is Means.ALL:
            yield from self._adopted(state)
        if self.gold.kind is Kind.REFERENCE:
            yield from self._marked(state)
        else:
            yield from self._classed(state)

    def _done(self, state: EditState, action_id: str) -> Iterator[Step]:
        outcome = act(state, self.item, action_id)
        if not outcome.refused:
            yield (pressed(action_id),), outcome.state

    def _adopted(self, state: EditState) -> Iterator[Step]:
        for number in range(1, min(9, len(annotators_votes(self.item))) + 1):
            yield from self._done(state, f"adopt.{number}")
        for action_id in JOINT:
            yield from self._done(state, action_id)

    def _classed(self, state: EditState) -> Iterator[Step]:
        for keys, after in self._done(state, KINDS[self.gold.kind]):
            sort = SORT_KEYS.get(self.gold.sort) if self.gold.sort else None
            if after.pending is not Pending.SORT or sort is None:
                yield keys, after
                continue
            outcome = key(after, self.item, sort, sort)
            if outcome is not None:
                yield (*keys, sort), outcome.state

    # --- heads ----------------------------------------------------------------------------

    def _marked(self, state: EditState) -> Iterator[Step]:
        """Mark a head of the gold that is not there yet, drop one that is too much, relate."""
        letters = self._letters(state) if self.means is Means.ALL else {}
        here = {m.head for mentions in state.heads for m in live(mentions)}
        for head in self.gold.heads:
            tokens = [m.head for m in head.live]
            if not here.intersection(tokens):
                yield from self._reached(state, tokens, letters)
        wrong = [token for token in here if token not in _tokens(self.gold.heads)]
        for token in wrong:
            if token in letters:
                yield from self._lettered(state, letters[token])
        if state.heads:
            yield from self._done(state, "head.drop_last")
        if len(state.heads) > 1:
            name = "relation.or" if self.gold.relation is Relation.OR else "relation.and"
            yield from self._done(state, name)

    def _letters(self, state: EditState) -> dict[int, str]:
        return dict(act(state, self.item, "hint.start", view=self.view).state.hints)

    def _reached(
        self, state: EditState, tokens: list[int], letters: dict[int, str]
    ) -> Iterator[Step]:
        """By its letters, or by moving to it where that is shorter."""
        labels = [letters[token] for token in tokens if token in letters]
        label = min(labels, key=len, default="")
        if label:
            yield from self._lettered(state, label)
        moves = len(label) - 1 if label else FARTHEST
        found = self._moved(state, set(tokens), moves)
        if found is not None:
            keys, there = found
            yield from (
                ((*keys, *more), after) for more, after in self._done(there, "head.toggle")
            )

    def _lettered(self, state: EditState, label: str) -> Iterator[Step]:
        asked = act(state, self.item, "hint.start", view=self.view)
        after = asked.state
        for letter in label:
            outcome = key(after, self.item, letter, letter, self.view)
            if outcome is None or outcome.refused:
                return
            after = outcome.state
        yield (pressed("hint.start"), *label), after

    def _moved(self, state: EditState, targets: set[int], most: int) -> Step | None:
        if self.means is Means.ARROWS:
            return self._arrowed(state, targets)
        waiting: deque[Step] = deque([((), state)])
        known = {state.cursor}
        while waiting:
            keys, here = waiting.popleft()
            if here.cursor in targets:
                return keys, here
            if len(keys) >= most:
                continue
            for action_id in MOVES_OF[self.means]:
                for more, there in self._done(here, action_id):
                    if there.cursor not in known:
                        known.add(there.cursor)
                        waiting.append(((*keys, *more), there))
        return self._arrowed(state, targets) if self.means is Means.NOUNS else None

    def _arrowed(self, state: EditState, targets: set[int]) -> Step:
        """Word by word to the nearest."""
        target = min(targets, key=lambda token: abs(token - state.cursor))
        by = target - state.cursor
        action_id = "cursor.right" if by > 0 else "cursor.left"
        there = act(state, self.item, action_id, abs(by)).state if by else state
        return (pressed(action_id),) * abs(by), there


def _tokens(heads: tuple[Head, ...]) -> set[int]:
    return {m.head for head in heads for m in head.live}
