"""Which passages are kept out of learning: planned here, without a database.

A unit is what stays together: a document where it holds but a small part of the labels, else
the passages that have a long turn in common, since one scene is often cut into several. What
was dealt once stays where it is; what is new and belongs to a unit that was dealt follows it.
Of the units that nobody knew, so many are kept out that the share of each kind of answer comes
right again.
"""

import hashlib
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nfh_db.sides import Side
from nfh_models.domain import Passage

LONG_TURN = 8
"""Words, from which on a turn stands in two passages by no chance."""

FORMULA = 20
"""Passages; a turn that stands in more of them is a formula, and ties none together."""

SMALL_DOCUMENT = 0.1
"""The largest part of all labels that a document may hold to be a unit."""

FEW = 200
"""Labels of a kind up to which a larger share is kept out, to judge by more than a few."""

SHARE_OF_FEW = 0.2
SHARE = 0.1

SEED = "kept out"


@dataclass(frozen=True, slots=True)
class Found:
    """A passage with gold. digest: its own. kinds: of its labels, so many of each."""

    passage_id: int
    digest: str
    document: int
    kinds: Mapping[str, int]
    turns: frozenset[str] = frozenset()

    @property
    def labels(self) -> int:
        """How many it has."""
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class Plan:
    """new: passages to be dealt. units: of each passage that was found. both: passages that
    belong to units on both sides, and so to none."""

    new: tuple[Side, ...]
    units: Mapping[int, str]
    both: frozenset[int]


@dataclass(slots=True)
class _Unit:
    """Passages that stay together. side: the one that they are on, None for none yet."""

    name: str
    side: bool | None
    members: list[Found] = field(default_factory=list)

    def kinds(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for one in self.members:
            total.update(one.kinds)
        return total


def long_turns(passage: Passage) -> frozenset[str]:
    """A hash of each long turn of a passage, whoever says it."""
    return frozenset(_long_turns(passage))


def _long_turns(passage: Passage) -> Iterator[str]:
    for turn in passage.turns:
        if turn.end - turn.start >= LONG_TURN:
            said = " ".join(passage.word(place) for place in range(turn.start, turn.end))
            hashed = hashlib.sha256(said.casefold().encode("utf-8", "surrogatepass"))
            yield hashed.hexdigest()[:24]


def wanted_out(labels: int, share: float | None) -> float:
    """How many of so many labels of a kind are to be kept out. share: None for the usual."""
    if share is not None:
        return share * labels
    return max(SHARE_OF_FEW * min(labels, FEW), SHARE * labels)


def plan(
    found: Sequence[Found],
    dealt: Sequence[Side],
    known_turns: Mapping[int, frozenset[str]],
    labels: Mapping[bool, Counter[str]],
    share: float | None,
) -> Plan:
    """Deal what was not dealt yet.

    known_turns: long turns of passages that were dealt. labels: the gold of each kind there is
    now in what was dealt, kept out (True) and not. share: of the labels, to be kept out; 0
    deals nothing, and only tells the units.
    """
    sides = {one.passage_id: one for one in dealt}
    units, both = _units(found, sides, known_turns)
    names = {one.passage_id: unit.name for unit in units for one in unit.members}
    if share == 0:
        return Plan((), names, frozenset())
    fresh = [unit for unit in units if unit.side is None]
    out = _kept_out(fresh, labels, share)
    new = [
        Side(one.passage_id, unit.name in out if unit.side is None else unit.side, unit.name)
        for unit in units
        for one in unit.members
        if one.passage_id not in sides and one.passage_id not in both
    ]
    return Plan(tuple(new), names, both)


# --- units ----------------------------------------------------------------------------------


def _units(
    found: Sequence[Found],
    sides: Mapping[int, Side],
    known_turns: Mapping[int, frozenset[str]],
) -> tuple[list[_Unit], frozenset[int]]:
    """What stays together, in the order of the passages, and what belongs to both sides."""
    formulas = _formulas(found, known_turns)
    whole = _whole_documents(found, sides)
    ties = _Ties()
    names: dict[str, str] = {}
    torn: set[str] = set()
    for side in sides.values():
        turns = known_turns.get(side.passage_id, frozenset()) - formulas
        own = f"passage {side.passage_id}"
        ties.tie(own, [f"unit {side.unit}"], side.dev)
        torn |= {turn for turn in turns if not ties.tie(f"turn {turn}", [own], side.dev)}
    both = set()
    for one in found:
        own, turns = f"passage {one.passage_id}", one.turns - formulas
        others = [f"turn {turn}" for turn in sorted(turns)]
        if one.document in whole:
            others.append(f"unit document {one.document}")
        if one.passage_id in sides:
            continue
        if torn & turns or not ties.tie(own, others):
            both.add(one.passage_id)
    for side in sides.values():
        names.setdefault(ties.root(f"passage {side.passage_id}"), side.unit)
    made: dict[str, _Unit] = {}
    for one in found:
        root = ties.root(f"passage {one.passage_id}")
        by_document = one.document in whole and one.passage_id not in both
        fresh = f"document {one.document}" if by_document else f"passage {one.digest[:16]}"
        unit = made.setdefault(root, _Unit(names.get(root, fresh), ties.side(root)))
        unit.members.append(one)
    return list(made.values()), frozenset(both)


def _whole_documents(found: Sequence[Found], sides: Mapping[int, Side]) -> set[int]:
    """Documents that are units: small ones among several, and those that were units before."""
    labels: Counter[int] = Counter()
    begun: set[int] = set()
    for one in found:
        labels[one.document] += one.labels
        if one.passage_id in sides:
            begun.add(one.document)
    most = SMALL_DOCUMENT * labels.total()
    small = {document for document, count in labels.items() if count <= most}
    before = {side.unit for side in sides.values()}
    known = {document for document in labels if f"document {document}" in before}
    return known | (small - begun)


def _formulas(
    found: Iterable[Found], known_turns: Mapping[int, frozenset[str]]
) -> frozenset[str]:
    turns = dict(known_turns) | {one.passage_id: one.turns for one in found}
    stands = Counter(turn for some in turns.values() for turn in some)
    return frozenset(turn for turn, passages in stands.items() if passages > FORMULA)


class _Ties:
    """Names that belong together (union-find), each group with the side that it is on."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}
        self._sides: dict[str, bool] = {}

    def root(self, name: str) -> str:
        """The name that stands for its group."""
        self._above.setdefault(name, name)
        while self._above[name] != name:
            self._above[name] = name = self._above[self._above[name]]
        return name

    def side(self, name: str) -> bool | None:
        """The side of its group; None for one that is on none."""
        return self._sides.get(self.root(name))

    def tie(self, name: str, others: Iterable[str], dev: bool | None = None) -> bool:
        """Put a name and others into one group; False, and nothing is done, where they are on
        both sides. dev: the side of the name."""
        roots = {self.root(one) for one in (name, *others)}
        sides = {self._sides[root] for root in roots if root in self._sides}
        sides |= set() if dev is None else {dev}
        if len(sides) > 1:
            return False
        top = self.root(name)
        for root in roots:
            self._above[root] = top
        if sides:
            self._sides[top] = sides.pop()
        return True


# --- dealing --------------------------------------------------------------------------------


def _kept_out(
    fresh: Sequence[_Unit], labels: Mapping[bool, Counter[str]], share: float | None
) -> set[str]:
    """The names of the units that are to be kept out: of each kind so many as it is to have,
    and where the kinds are too few for that, so many as all of them."""
    out, every = Counter(labels[True]), labels[True] + labels[False]
    waiting: dict[str, deque[_Unit]] = defaultdict(deque)
    for unit in sorted(fresh, key=_drawn):
        kinds = unit.kinds()
        every += kinds
        waiting[max(kinds, key=lambda kind: (kinds[kind], kind))].append(unit)
    wanted = {kind: wanted_out(count, share) for kind, count in every.items()}
    chosen: set[str] = set()

    def lacking(kind: str) -> float:
        return wanted[kind] - out[kind]

    while True:
        open_ = [kind for kind in waiting if waiting[kind] and wanted[kind] >= 1]
        kind = max(open_, key=lambda one: (lacking(one), one), default="")
        if not kind or lacking(kind) <= 0:
            break
        unit = waiting[kind].popleft()
        kinds = unit.kinds()
        # What it brings of other kinds may be more than is wanted of those.
        if sum(count * (lacking(one) - count / 2) for one, count in kinds.items()) >= 0:
            chosen.add(unit.name)
            out += kinds
    total = sum(wanted.values())
    rare = out.total() < total / 2
    while rare and any(waiting.values()):
        there = (kind for kind in waiting if waiting[kind])
        unit = waiting[max(there, key=lambda one: (lacking(one), one))].popleft()
        if out.total() + unit.kinds().total() / 2 <= total:
            chosen.add(unit.name)
            out += unit.kinds()
    return chosen


def _drawn(unit: _Unit) -> float:
    """A draw that is the same for the same unit."""
    return random.Random(f"{SEED} {unit.name}").random()  # noqa: S311 - no secret
