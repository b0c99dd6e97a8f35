"""Label snapshots: the gold that a training or a check uses, the held-out split, and the test
whether there is enough.

A snapshot is taken from the database once and stored in the job's folder. So later answers do
not affect a running job, a job that was killed resumes with the same labels, and a job on
another machine needs no database.
"""

import hashlib
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.holdout import SplitSide
from nfh_db.messages import counted
from nfh_db.query import Match, Query
from nfh_db.records import Ballot
from nfh_models import ModelsError
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Anchor,
    Answer,
    Kind,
    Passage,
    Token,
    Turn,
)
from nfh_models.identification.base import Example, cases_of
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_tui.jobs.reporting import Phase, held_out_splits
from nfh_tui.jobs.runner import write_whole
from nfh_tui.services.examples import BROKEN, NO_HEAD, NOT_NFH, LabelledNumber, resolution_gold
from nfh_tui.services.models import BOTH
from nfh_tui.services.training import TrainingSets

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter


# The held-out split, planned without a database.
#
# A unit is a set of passages that must be on the same side: a document, if it has only a small
# part of the labels, else the passages that share a long turn, since one scene is often cut
# into several passages. Passages keep the side they were assigned to once; new passages of an
# assigned unit follow it. Of the other units, as many are held out as restore the share of
# each kind of answer.

LONG_TURN = 8
"""Least number of words of a turn that is not in two passages by chance."""

FORMULA = 20
"""A turn in more passages than this is a formula and does not join them."""

SMALL_DOCUMENT = 0.1
"""Largest share of all labels in a document that is a unit."""

FEW_LABELS = 200
"""Number of labels of a kind of which SHARE_OF_FEW is held out, in place of SHARE, so that the
evaluation has enough of them."""

SHARE_OF_FEW = 0.2
SHARE = 0.1

SEED = "kept out"


@dataclass(frozen=True, slots=True)
class LabelledPassage:
    """A passage with gold."""

    passage_id: int
    digest: str
    document: int
    kinds: Mapping[str, int]
    """Number of labels of each kind."""
    turns: frozenset[str] = frozenset()
    """Hashes of its long turns."""

    @property
    def labels(self) -> int:
        """Number of labels."""
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """A plan of the held-out split."""

    new: tuple[SplitSide, ...]
    """Sides to store for passages that have none."""
    units: Mapping[int, str]
    """The unit of each passage."""
    both: frozenset[int]
    """Passages that share turns with units on both sides, and so can be used on neither."""


@dataclass(slots=True)
class _Unit:
    """Passages that stay on one side."""

    name: str
    side: bool | None
    """True: held out; None: not assigned yet."""
    members: list[LabelledPassage] = field(default_factory=list)

    def kinds(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for one in self.members:
            total.update(one.kinds)
        return total


def long_turns(passage: Passage) -> frozenset[str]:
    """A hash of the text of each long turn of a passage, whoever the speaker is."""
    long = (turn for turn in passage.turns if turn.end - turn.start >= LONG_TURN)
    said = (" ".join(map(passage.word, range(turn.start, turn.end))) for turn in long)
    coded = (text.casefold().encode("utf-8", "surrogatepass") for text in said)
    return frozenset(hashlib.sha256(code).hexdigest()[:24] for code in coded)


def wanted_out(labels: int, share: float | None) -> float:
    """The number to hold out of `labels` labels of a kind. share: None for the default."""
    if share is not None:
        return share * labels
    return max(SHARE_OF_FEW * min(labels, FEW_LABELS), SHARE * labels)


def plan(
    found: Sequence[LabelledPassage],
    dealt: Sequence[SplitSide],
    known_turns: Mapping[int, frozenset[str]],
    labels: Mapping[bool, Counter[str]],
    share: float | None,
) -> SplitPlan:
    """Assign a side to passages that have none.

    dealt: existing sides. known_turns: long turns of the passages in `dealt`. labels: current
    counts of gold by kind in `dealt`, held out (True) or not. share: to be held out; with 0 no
    side is assigned and only the units are computed.
    """
    sides = {one.passage_id: one for one in dealt}
    units, both = _units(found, sides, known_turns)
    names = {one.passage_id: unit.name for unit in units for one in unit.members}
    if share == 0:
        return SplitPlan((), names, frozenset())
    fresh = [unit for unit in units if unit.side is None]
    out = _kept_out(fresh, labels, share)
    new = [
        SplitSide(
            one.passage_id, unit.name in out if unit.side is None else unit.side, unit.name
        )
        for unit in units
        for one in unit.members
        if one.passage_id not in sides and one.passage_id not in both
    ]
    return SplitPlan(tuple(new), names, both)


# --- units ----------------------------------------------------------------------------------


def _units(
    found: Sequence[LabelledPassage],
    sides: Mapping[int, SplitSide],
    known_turns: Mapping[int, frozenset[str]],
) -> tuple[list[_Unit], frozenset[int]]:
    """The units, in the order of their passages, and the passages that belong to both sides."""
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


def _whole_documents(
    found: Sequence[LabelledPassage], sides: Mapping[int, SplitSide]
) -> set[int]:
    """Documents that are units: those that were before, and small ones without assigned
    passages."""
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
    found: Iterable[LabelledPassage], known_turns: Mapping[int, frozenset[str]]
) -> frozenset[str]:
    turns = dict(known_turns) | {one.passage_id: one.turns for one in found}
    stands = Counter(turn for some in turns.values() for turn in some)
    return frozenset(turn for turn, passages in stands.items() if passages > FORMULA)


class _Ties:
    """A union-find structure of names, whose groups have at most one side."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}
        self._sides: dict[str, bool] = {}

    def root(self, name: str) -> str:
        """The representative of a group."""
        self._above.setdefault(name, name)
        while self._above[name] != name:
            self._above[name] = name = self._above[self._above[name]]
        return name

    def side(self, name: str) -> bool | None:
        """The side of the group; None if it has none."""
        return self._sides.get(self.root(name))

    def tie(self, name: str, others: Iterable[str], dev: bool | None = None) -> bool:
        """Join the groups of some names; False, without effect, if they are on both sides.
        dev: the side of `name`."""
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


# --- choosing units to hold out -------------------------------------------------------------


def _kept_out(
    fresh: Sequence[_Unit], labels: Mapping[bool, Counter[str]], share: float | None
) -> set[str]:
    """The names of the units to hold out: enough labels of each kind, and if the kinds are too
    small for that, enough labels in total."""
    out, every = Counter(labels[True]), labels[True] + labels[False]
    waiting: dict[str, deque[_Unit]] = defaultdict(deque)
    for unit in sorted(fresh, key=_drawn):
        kinds = unit.kinds()
        every += kinds
        waiting[max(kinds, key=lambda kind: (kinds[kind], kind))].append(unit)
    wanted = {kind: wanted_out(count, share) for kind, count in every.items()}
    chosen: set[str] = set()

    def deficit(kind: str) -> float:
        return wanted[kind] - out[kind]

    while True:
        open_ = [kind for kind in waiting if waiting[kind] and wanted[kind] >= 1]
        kind = max(open_, key=lambda one: (deficit(one), one), default="")
        if not kind or deficit(kind) <= 0:
            break
        unit = waiting[kind].popleft()
        kinds = unit.kinds()
        # Chosen only if it reduces the squared deficits: it may bring too many of other kinds.
        if sum(count * (deficit(one) - count / 2) for one, count in kinds.items()) >= 0:
            chosen.add(unit.name)
            out += kinds
    total = sum(wanted.values())
    rare = out.total() < total / 2
    while rare and any(waiting.values()):
        kinds_left = (kind for kind in waiting if waiting[kind])
        unit = waiting[max(kinds_left, key=lambda one: (deficit(one), one))].popleft()
        if out.total() + unit.kinds().total() / 2 <= total:
            chosen.add(unit.name)
            out += unit.kinds()
    return chosen


def _drawn(unit: _Unit) -> float:
    """A pseudo-random number that depends on the name of the unit only."""
    return random.Random(f"{SEED} {unit.name}").random()  # noqa: S311 - no secret


LEAST = 10
"""Least number of examples to train a model."""

TOO_FEW = 5
"""With fewer examples of a class there is a warning that it is learnt badly."""

ROUGH = 30
"""With fewer held-out examples there is a warning that figures are unreliable."""


NO_HEADS = (
    "no number here has gold that names its noun. Settle or decide some first, or use "
    "another query"
)


class TooLittleGoldError(ModelsError):
    """There is not enough gold to train on; the message says what there is."""


def check_resolution(snapshot: "Snapshot", *, kept_out: bool) -> None:
    """Raise TooLittleGoldError if the tasks of a snapshot with resolution cannot be learnt.

    kept_out: whether the recipe needs held-out examples.
    """
    train, found = snapshot.train, len(snapshot.train)
    if not found and not snapshot.dev:
        raise TooLittleGoldError(f"there is nothing to learn resolution from: {_why(snapshot)}")
    if found < LEAST:
        raise TooLittleGoldError(
            f"too few examples to learn resolution from: {found:,} "
            f"{'is' if found == 1 else 'are'} left to learn from, wanted {LEAST} or more"
        )
    kinds = {one.gold.kind for one in train}
    if len(kinds) < 2:
        raise TooLittleGoldError(
            f"there is nothing to distinguish: all {found:,} examples are {kinds.pop()}"
        )
    if kept_out and not snapshot.dev:
        raise TooLittleGoldError(
            f"nothing is left to judge the training: {counted(found, 'example')} in "
            f"{counted(snapshot.passages, 'passage')}, and none is kept out. Use more "
            "examples, a larger --set dev=SHARE, or --set dev_split=SPLIT"
        )
    labels = {one.nfh for one in snapshot.numbers}
    if snapshot.task == BOTH and len(labels) < 2:
        raise TooLittleGoldError(alike(len(snapshot.numbers), fused=True in labels, alone=True))


def alike(numbers: int, *, fused: bool, alone: bool) -> str:
    """The message that identification cannot be learnt since all numbers have one label.

    fused: the label. alone: suggest training resolution without identification.
    """
    which, wanted = ("fused heads", "not") if fused else ("no fused heads", "fused heads")
    instead = "; or train resolution alone: nfh-tui retrain resolution" if alone else ""
    return (
        f"identification has nothing to distinguish: of {counted(numbers, 'number')} with "
        f"gold all are {which}. Decide some that are {wanted} (nfh-tui identify adds the "
        f"numbers of your texts){instead}"
    )


def _why(snapshot: "Snapshot") -> str:
    dropped = sum(n for why, n in snapshot.left_out.items() if why.startswith("in a "))
    if dropped:
        return (
            f"the {counted(dropped, 'example')} found are in passages that are kept out of "
            "training"
        )
    return NO_HEADS


def remarks(snapshot: "Snapshot") -> Iterator[str]:
    """Warnings about classes with few examples and a small held-out part."""
    yield from snapshot.notes
    if snapshot.train:
        yield from _classes(snapshot)
    judging = max(len(snapshot.dev), len(snapshot.dev_numbers))
    if 0 < judging < ROUGH:
        yield (
            f"only {counted(judging, 'example')} {'is' if judging == 1 else 'are'} kept out "
            "to judge it, so its figures say almost nothing"
        )


def _classes(snapshot: "Snapshot") -> Iterator[str]:
    kinds = Counter(one.gold.kind for one in snapshot.train)
    every = (Kind.REFERENCE, *IMPLICIT_KINDS)
    few = [f"{kind} ({kinds[kind]})" for kind in every if 0 < kinds[kind] < TOO_FEW]
    none = [str(kind) for kind in every if not kinds[kind]]
    if few:
        yield f"too few examples to learn well: {', '.join(few)}; {TOO_FEW} or more are wanted"
    if none:
        yield f"no example at all: {', '.join(none)}; it learns nothing about these"


FORMAT_VERSION = 2


class SnapshotError(ModelsError):
    """A file is not a snapshot, or is damaged."""


@dataclass(frozen=True, slots=True)
class SnapshotLabel:
    """An anchor with its gold."""

    start: int
    end: int
    where: str
    """Names the anchor in messages."""
    gold: Answer | None = None
    """The gold of resolution; None if it names no head or the task is not learnt."""
    nfh: bool | None = None
    """The gold of identification; None if the task is not learnt."""
    saw_model: bool = False
    """Whether a vote for it was given after a prediction was shown."""


@dataclass(frozen=True, slots=True)
class SnapshotPassage:
    """A passage with its labels, in the order of their spans."""

    passage: Passage
    labels: tuple[SnapshotLabel, ...]
    unit: str
    """Passages of a unit stay on one side."""
    dev: bool = False
    """Whether it is held out."""


@dataclass(frozen=True)
class Snapshot:
    """The labels at one point in time. The digest of its passage is an example's group."""

    task: str
    sheets: tuple[SnapshotPassage, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Numbers of anchors that are not examples, by reason."""
    judged_on: str = ""
    """Describes what is held out; "" for nothing."""
    notes: tuple[str, ...] = ()
    """Sentences for the report."""

    # --- examples, trained on or held out -------------------------------------------------

    @cached_property
    def train(self) -> tuple[ResolutionExample, ...]:
        """Examples of resolution to train on."""
        return tuple(_resolution(self._side(dev=False)))

    @cached_property
    def dev(self) -> tuple[ResolutionExample, ...]:
        """Held-out examples of resolution."""
        return tuple(_resolution(self._side(dev=True)))

    @cached_property
    def numbers(self) -> tuple[Example, ...]:
        """Examples of identification to train on."""
        return tuple(_numbers(self._side(dev=False)))

    @cached_property
    def dev_numbers(self) -> tuple[Example, ...]:
        """Held-out examples of identification."""
        return tuple(_numbers(self._side(dev=True)))

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The unit of each passage, by its digest."""
        return {sheet.passage.digest: sheet.unit for sheet in self.sheets}

    @property
    def training_sets(self) -> TrainingSets:
        """All four sets. Here the group of each example is its unit, so that no unit is on both
        sides of a fold."""
        units = self.units
        return TrainingSets(
            [replace(one, group=units[one.group]) for one in self.train],
            [replace(one, group=units[one.group]) for one in self.dev],
            [replace(one, group=units[one.group]) for one in self.numbers],
            [replace(one, group=units[one.group]) for one in self.dev_numbers],
        )

    @cached_property
    def choosing(self) -> "Snapshot":
        """The snapshot with about a third of the held-out passages, by unit: those that choose
        a network's epoch, so that the others can judge it. All of them choose where that third
        has no example of resolution.
        """
        kept = (
            sheet
            for sheet in self.sheets
            if not sheet.dev or hashlib.sha256(sheet.unit.encode()).digest()[0] % 3 == 0
        )
        found = replace(self, sheets=tuple(kept))
        return found if found.dev else self

    @property
    def passages(self) -> int:
        """Number of passages to train on."""
        return len(self._side(dev=False))

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the labels to train on, independent of their order.

        It hashes the sorted SHA-256 of each label, written as a tuple: digest of the passage,
        span, answer, and whether the number is a fused head.
        """
        each = sorted(
            hashlib.sha256(
                repr(
                    (sheet.passage.digest, one.start, one.end, repr(one.gold), one.nfh)
                ).encode("utf-8", "surrogatepass")
            ).digest()
            for sheet in self._side(dev=False)
            for one in sheet.labels
        )
        return hashlib.sha256(b"".join(each)).hexdigest()

    def _side(self, *, dev: bool) -> list[SnapshotPassage]:
        return [sheet for sheet in self.sheets if sheet.dev is dev]

    # --- as a file ------------------------------------------------------------------------

    def write(self, path: Path) -> None:
        """Write the snapshot atomically. Raises OSError."""
        stored = _Stored(
            format_version=FORMAT_VERSION,
            digest=self.digest,
            whole="",
            task=self.task,
            left_out=dict(self.left_out),
            judged_on=self.judged_on,
            notes=self.notes,
            sheets=[
                _StoredSheet(*StoredPassage.fields_of(it.passage), it.labels, it.unit, it.dev)
                for it in self.sheets
            ],
        )
        whole = stored.hashed()
        write_whole(path, msgspec.json.encode(msgspec.structs.replace(stored, whole=whole)))

    @classmethod
    def read(cls, path: Path) -> "Snapshot":
        """Read a file of `write`. Raises OSError, SnapshotError."""
        content = path.read_bytes()
        try:
            stored = msgspec.json.decode(content, type=_Stored)
            if stored.format_version != FORMAT_VERSION:
                raise ValueError(f"its format is {stored.format_version}")
            if stored.whole != stored.hashed():
                raise ValueError("it is damaged")
            found = cls(
                stored.task,
                tuple(
                    SnapshotPassage(one.passage(), one.labels, one.unit, one.dev)
                    for one in stored.sheets
                ),
                stored.left_out,
                stored.judged_on,
                stored.notes,
            )
        except (msgspec.MsgspecError, ValueError) as error:
            raise SnapshotError(f"{path} is not a file of labels of a job: {error}") from error
        if found.digest != stored.digest:
            raise SnapshotError(f"{path} is damaged: its labels have changed")
        return found


def _resolution(sheets: Iterable[SnapshotPassage]) -> Iterable[ResolutionExample]:
    for sheet in sheets:
        for one in sheet.labels:
            if one.gold is not None:
                item = Item(sheet.passage, Anchor(one.start, one.end))
                group = sheet.passage.digest
                yield ResolutionExample(item, one.gold, one.where, group, one.saw_model)


def _numbers(sheets: Iterable[SnapshotPassage]) -> Iterable[Example]:
    for sheet in sheets:
        labelled = [one for one in sheet.labels if one.nfh is not None]
        cases = cases_of(sheet.passage, [Anchor(one.start, one.end) for one in labelled])
        for case, one in zip(cases, labelled, strict=True):
            nfh, group = bool(one.nfh), sheet.passage.digest
            yield Example(case, nfh, one.where, group, one.saw_model, sheet.passage)


# --- as a file ------------------------------------------------------------------------------


StoredTurn = tuple[int, str | None, int, int]


class StoredPassage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passage in the files of a job and on the way to another machine."""

    text: str
    offsets: list[int]
    """Start and end of each token, alternating."""
    lemmas: list[str]
    turns: list[StoredTurn]

    @staticmethod
    def fields_of(
        passage: Passage,
    ) -> tuple[str, list[int], list[str], list[StoredTurn]]:
        """Return the values of the fields, in their order."""
        return (
            passage.text,
            [place for token in passage.tokens for place in (token.start, token.end)],
            [token.lemma for token in passage.tokens],
            [(turn.number, turn.speaker, turn.start, turn.end) for turn in passage.turns],
        )

    def passage(self) -> Passage:
        """Raises ValueError for an invalid passage."""
        starts, ends = self.offsets[::2], self.offsets[1::2]
        tokens = tuple(Token(*one) for one in zip(starts, ends, self.lemmas, strict=True))
        return Passage(self.text, tokens, tuple(Turn(*turn) for turn in self.turns))


class _StoredSheet(StoredPassage, frozen=True, forbid_unknown_fields=True):
    labels: tuple[SnapshotLabel, ...]
    unit: str
    dev: bool


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    format_version: int
    digest: str
    """Of the snapshot."""
    whole: str
    """Of this object, see `hashed`."""
    task: str
    left_out: dict[str, int]
    judged_on: str
    notes: tuple[str, ...]
    sheets: list[_StoredSheet]

    def hashed(self) -> str:
        """SHA-256 (hex) of this object in JSON with an empty `whole`."""
        content = msgspec.json.encode(msgspec.structs.replace(self, whole=""))
        return hashlib.sha256(content).hexdigest()


IDENTIFICATION, RESOLUTION = "identification", "resolution"

BOTH_SIDES = "in a passage that shares long turns with both sides"

REPORT_EVERY = 500
"""Passages between two progress reports."""


class SplitError(ModelsError):
    """A split cannot be trained or evaluated on; the message says why."""


@dataclass(frozen=True, slots=True)
class SnapshotSpec:
    """Which gold a snapshot holds."""

    task: str
    """Identification, resolution or both."""
    query: Query = field(default_factory=Query)
    split: str | None = None
    """Only anchors that an imported row assigned to this split."""
    dev_split: str | None = None
    """The split to hold out, in place of what the database holds out."""
    dev: float | None = None
    """Share of the labels to hold out; None for the default, 0 for none."""


@dataclass(slots=True)
class _Read:
    """A passage with its labels, and the kinds of all its gold."""

    passage_id: int
    passage: Passage
    labels: list[SnapshotLabel]
    kinds: Counter[str]


def take(store: "Store", which: SnapshotSpec, report: "JobReporter") -> Snapshot:
    """Take a snapshot of the current gold, and assign sides to passages that have none.

    All labels are as of one point in time. Raises SplitError, StoreError, and what `report`
    raises.
    """
    if which.dev_split is not None and which.dev_split == which.split:
        raise SplitError(
            f"the split {which.split} cannot be both learnt from and used to judge the model: "
            "name another with --set dev_split=…"
        )
    judging = () if which.dev_split is None else (which.dev_split,)
    held_out = store.holdout.passages_of_splits(
        tuple(dict.fromkeys((*held_out_splits(which.split), *judging)))
    )
    left_out: Counter[str] = Counter()
    read = _read(store, which, in_split(which.query, which.split), left_out, report)
    if which.split is not None and not any(one.kinds for one in read):
        raise SplitError(
            f"the split {which.split} has no number with gold to learn from. Name another "
            "with --split, or leave it out"
        )
    learnt = []
    for one in read:
        if one.passage_id in held_out:
            left_out[f"in a passage of the split {held_out[one.passage_id]}"] += len(one.labels)
        elif one.labels:
            learnt.append(one)
    if which.dev_split is not None:
        return _by_split(store, which, learnt, left_out, report)
    return _by_side(store, which, learnt, left_out, report)


def in_split(query: Query, split: str | None) -> Query:
    """A query restricted to the anchors of a split, unless that is None."""
    if split is None:
        return query
    return replace(query, terms=(*query.terms, Match("split", (split,))))


# --- reading --------------------------------------------------------------------------------


def _read(
    store: "Store",
    which: SnapshotSpec,
    query: Query,
    left_out: Counter[str],
    report: "JobReporter",
) -> list[_Read]:
    found: list[_Read] = []
    for ballot in store.holdout.labelled(query):
        if not found or found[-1].passage_id != ballot.passage_id:
            if not len(found) % REPORT_EVERY:
                report.step(Phase("reading", len(found)))
            found.append(_Read(ballot.passage_id, ballot.passage, [], Counter()))
        if (gold := ballot.gold) is None:
            continue
        found[-1].kinds[gold.answer.kind.value] += 1
        label = _label(ballot, which.task)
        if isinstance(label, SnapshotLabel):
            found[-1].labels.append(label)
        else:
            left_out[label] += 1
    report.step(Phase("reading", len(found), len(found)))
    return found


def _label(ballot: Ballot, task: str) -> SnapshotLabel | str:
    """The label of an anchor for a task, or the reason why there is none."""
    assert ballot.gold is not None  # noqa: S101 - checked by the caller
    answer = ballot.gold.answer
    where = f"anchor {ballot.anchor_id}"
    heads = None if task == IDENTIFICATION else resolution_gold(answer)
    nfh = None if task == RESOLUTION else answer.kind.identification
    if heads is None and nfh is None:
        if answer.kind is Kind.BROKEN:
            return BROKEN
        return NOT_NFH if answer.kind is Kind.NOT_NFH else NO_HEAD
    saw_model = LabelledNumber(ballot.anchor, ballot.gold, ballot.votes, where).saw_model
    return SnapshotLabel(ballot.anchor.start, ballot.anchor.end, where, heads, nfh, saw_model)


# --- sides ----------------------------------------------------------------------------------


def _by_side(
    store: "Store",
    which: SnapshotSpec,
    learnt: list[_Read],
    left_out: Counter[str],
    report: "JobReporter",
) -> Snapshot:
    """Hold out what the database holds out of every training."""
    report.step(Phase("dealing", 0, len(learnt)))
    dealt = _dealt(store, learnt, which.dev)
    sides = {one.passage_id: one.dev for one in store.holdout.sides()} if which.dev != 0 else {}
    sheets = []
    for one in learnt:
        if one.passage_id in dealt.both:
            left_out[BOTH_SIDES] += len(one.labels)
            continue
        dev = sides.get(one.passage_id, False)
        unit = dealt.units[one.passage_id]
        sheets.append(SnapshotPassage(one.passage, tuple(one.labels), unit, dev))
    return Snapshot(which.task, tuple(sheets), dict(left_out), _said(sheets))


def _said(sheets: Iterable[SnapshotPassage]) -> str:
    """Describes what is held out; "" for nothing."""
    counts = Counter({True: 0, False: 0})
    for sheet in sheets:
        counts[sheet.dev] += len(sheet.labels)
    if not counts[True]:
        return ""
    share = 100 * counts[True] / counts.total()
    return f"{share:.0f} % of the labels, in passages that are kept out of every training"


def _dealt(store: "Store", learnt: list[_Read], share: float | None) -> SplitPlan:
    """The split of `learnt`; sides of new passages are stored."""
    documents = _documents(store, learnt)
    found = [
        LabelledPassage(
            one.passage_id,
            one.passage.digest,
            documents[one.passage_id],
            one.kinds,
            long_turns(one.passage),
        )
        for one in learnt
    ]
    there = {one.passage_id for one in found}
    while True:
        dealt = store.holdout.sides()
        elsewhere: dict[int, frozenset[str]] = {}
        if there - {one.passage_id for one in dealt}:
            others = [one.passage_id for one in dealt if one.passage_id not in there]
            elsewhere = {key: long_turns(text) for key, text in store.holdout.passages(others)}
        known = elsewhere | {one.passage_id: one.turns for one in found}
        planned = plan(found, dealt, known, store.holdout.labels(), share)
        if store.holdout.write_sides(planned.new, len(dealt)):
            return planned


def _documents(store: "Store", learnt: list[_Read]) -> dict[int, int]:
    found: dict[int, int] = {}
    for start in range(0, len(learnt), REPORT_EVERY):
        some = [one.passage_id for one in learnt[start : start + REPORT_EVERY]]
        found.update(store.holdout.documents_of(some))
    return found


# --- a split that judges --------------------------------------------------------------------


def _by_split(
    store: "Store",
    which: SnapshotSpec,
    learnt: list[_Read],
    left_out: Counter[str],
    report: "JobReporter",
) -> Snapshot:
    """Hold out a split; passages without a side get theirs by it, for later trainings."""
    nothing: Counter[str] = Counter()
    judging = _read(store, which, in_split(Query(), which.dev_split), nothing, report)
    dev = [one for one in judging if one.labels]
    if not dev:
        raise SplitError(
            f"the split {which.dev_split} has no gold to judge a model: name another with "
            "--set dev_split=…, or leave it out to keep out a part of the passages"
        )
    both = [*learnt, *dev]
    units = _dealt(store, both, 0.0).units
    out = {one.passage_id for one in dev}
    kept_out = _note(store, units, {one.passage_id: one.passage_id in out for one in both})
    notes = []
    if kept_out:
        notes.append(
            f"{counted(kept_out, 'passage')} that other trainings keep out "
            f"{'was' if kept_out == 1 else 'were'} learnt from, because the split "
            f"{which.dev_split} judges"
        )
    sheets = tuple(
        SnapshotPassage(
            one.passage, tuple(one.labels), units[one.passage_id], one.passage_id in out
        )
        for one in both
    )
    said = f"split {which.dev_split}"
    return Snapshot(which.task, sheets, dict(left_out), said, tuple(notes))


def _note(store: "Store", units: Mapping[int, str], dev: Mapping[int, bool]) -> int:
    """Assign missing sides; returns how many passages to train on were held out before."""

    while True:
        dealt = {one.passage_id: one.dev for one in store.holdout.sides()}
        new = [SplitSide(key, out, units[key]) for key, out in dev.items() if key not in dealt]
        if store.holdout.write_sides(new, len(dealt)):
            return sum(dealt.get(key, False) and not out for key, out in dev.items())
