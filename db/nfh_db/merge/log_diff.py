"""Comparison of two event logs: the common past of each thing, what becomes of its later
events, the dependencies within a passage, and the types of the report.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from itertools import takewhile
from typing import NamedTuple

from nfh_db.errors import StoreError
from nfh_db.merge.source import DamagedError, IdMaps, LoggedEvent, MergedAnchor, decoded
from nfh_db.records import Role, Rule
from nfh_db.serialization import (
    AnchorValue,
    AnswerValue,
    FlagValue,
    GoldValue,
    Value,
    content_of,
    encode,
)

# A thing is somebody's answer in a role, the gold, somebody's flag, or an anchor itself. Its
# chain is its events, oldest first. Ids are those of this copy.

IMPORT_STEP = "begin"
"""Kind of the first step of an imported anchor, which is in no log."""


@dataclass(frozen=True, slots=True)
class ChainEvent:
    """One event of a thing, with the kind, annotator, time and batch of its act."""

    event: int
    act: int
    kind: str
    by: str | None
    at: str
    batch: int | None
    raw: str | None
    """`after` as the copy's own log spells it."""
    value: Value | None


Chain = Sequence[ChainEvent]


class MergeOutcome(Enum):
    """What becomes of a thing."""

    NOTHING = auto()
    """The other copy has no further event."""
    TAKE = auto()
    """The further events of the other copy come in."""
    AGREED = auto()
    """Both changed it to the same value."""
    REVERTED = auto()
    """The other copy changed it and changed it back."""
    CONFLICT = auto()
    """Both changed it, to different values."""


@dataclass(frozen=True, slots=True)
class ThingComparison:
    """Two chains of a thing compared. Pairs are of the other copy first, then of this one."""

    outcome: MergeOutcome
    tail: Chain = ()
    """Further events of the other copy."""
    rebased: bool = False
    """The tail follows the present value here instead of the one that it followed there."""
    past_values: dict[str | None, str | None] = field(default_factory=dict)
    """Texts of the common past, from the other copy's spelling to this copy's."""
    equal_values: tuple[tuple[Value | None, Value | None], ...] = ()
    """Values of the shared events."""
    shared_acts: tuple[tuple[int, int], ...] = ()
    skipped_acts: frozenset[int] = frozenset()
    """Acts there of the common past that this copy does not have."""


def content(value: Value | None) -> tuple[object, ...]:
    """A value without annotator, time and circumstances."""
    if isinstance(value, (AnswerValue, GoldValue)):
        return (*content_of(value), value.comment)
    if isinstance(value, AnchorValue):
        return value.passage, value.start, value.stop, value.replaces, value.replaced_by
    return ("set", value.span) if isinstance(value, FlagValue) else ()


def _content_and_owner(value: Value | None) -> tuple[object, ...]:
    """A value without times, in which two imports of one file differ."""
    if isinstance(value, GoldValue):
        return *content(value), value.rule, value.by
    return content(value)


def _identity(step: ChainEvent) -> tuple[object, ...]:
    """Equal for the same event in both copies."""
    if step.kind == "import":
        return "import", step.batch, _content_and_owner(step.value)
    return step.kind, step.by, step.at, _content_and_owner(step.value)


def compare(here: Chain, there: Chain) -> ThingComparison:
    """Compare the chains of a thing."""
    past_here, past_there, pairs = _past(here, there)
    mine, theirs = here[past_here:], there[past_there:]
    outcome, rebased = _outcome(_last(here[:past_here]), mine, there[:past_there], theirs)
    past_values = _past_values(here, there, pairs)
    equal_values = tuple((there[other].value, here[one].value) for one, other in pairs)
    shared_acts = tuple(
        (there[other].act, here[one].act)
        for one, other in pairs
        if here[one].kind != IMPORT_STEP
    )
    paired = {other for _, other in pairs}
    skipped = frozenset(there[place].act for place in range(past_there) if place not in paired)
    return ThingComparison(
        outcome, theirs, rebased, past_values, equal_values, shared_acts, skipped
    )


def _past_values(
    here: Chain, there: Chain, pairs: Sequence[tuple[int, int]]
) -> dict[str | None, str | None]:
    """Texts before and after each shared event, from the other copy's to this copy's.

    They may differ: in time, if a file was imported to each copy, or in the value before.
    """
    found: dict[str | None, str | None] = {}
    for one, other in pairs:
        found[there[other - 1].raw if other else None] = here[one - 1].raw if one else None
        found[there[other].raw] = here[one].raw
    return found


def _last(chain: Chain) -> Value | None:
    return chain[-1].value if chain else None


# --- common past ------------------------------------------------------------------------


def _past(here: Chain, there: Chain) -> tuple[int, int, list[tuple[int, int]]]:
    """The common past, which ends with the last shared event: its steps here and there, and
    the positions of the shared ones.

    An earlier event that only one copy has was resolved by an earlier merge.
    """
    mine, theirs = [_identity(step) for step in here], [_identity(step) for step in there]
    both = set(mine) & set(theirs)
    one = _last_shared(mine, both)
    other = _last_shared(theirs, both)
    if both and mine[one - 1] != theirs[other - 1]:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False))
        one = other = len(list(same))
    return one, other, list(_pairs(mine[:one], theirs[:other]))


def _last_shared(keys: Sequence[tuple[object, ...]], both: set[tuple[object, ...]]) -> int:
    return max((place for place, key in enumerate(keys, 1) if key in both), default=0)


def _pairs(
    mine: Sequence[tuple[object, ...]], theirs: Sequence[tuple[object, ...]]
) -> Iterator[tuple[int, int]]:
    pending: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for place, key in enumerate(mine):
        pending[key].append(place)
    for place, key in enumerate(theirs):
        if pending[key]:
            yield pending[key].popleft(), place


# --- outcome ----------------------------------------------------------------------------


def _outcome(
    base: Value | None, mine: Chain, past_there: Chain, theirs: Chain
) -> tuple[MergeOutcome, bool]:
    """The outcome, and whether the tail is rebased."""
    if not theirs:
        return MergeOutcome.NOTHING, False
    if not mine:
        return MergeOutcome.TAKE, False
    value_here, value_there = _last(mine), _last(theirs)
    if _content_and_owner(value_here) == _content_and_owner(value_there):
        return MergeOutcome.AGREED, False
    if encode(value_here) == encode(base) and (theirs[0].kind != IMPORT_STEP or theirs[0].act):
        return MergeOutcome.TAKE, False
    if theirs[-1].raw == (past_there[-1].raw if past_there else None):
        return MergeOutcome.REVERTED, False
    if IMPORT_STEP in (mine[0].kind, theirs[0].kind):
        # A file brought the span to one copy, and a person made it in the other.
        return MergeOutcome.CONFLICT, False
    if _outranks(value_there, value_here):
        return MergeOutcome.TAKE, True
    same = content(value_here) == content(value_there) or _outranks(value_here, value_there)
    return (MergeOutcome.AGREED if same else MergeOutcome.CONFLICT), False


def _outranks(one: Value | None, other: Value | None) -> bool:
    """True if only the first gold is an expert's. In one database it would have won."""
    return (
        isinstance(one, GoldValue)
        and isinstance(other, GoldValue)
        and one.rule == Rule.EXPERT
        and other.rule != Rule.EXPERT
    )


class ConflictReason(StrEnum):
    """Why a change of the other copy is left to a person."""

    BOTH = "both"
    """It was changed here too, to another value."""
    SPAN = "span"
    """Its span does not exist here."""
    ANSWERED = "answered"
    """The span was removed there and answered here."""
    DECIDED = "decided"
    """The span was replaced there without knowledge of the gold that it has here."""
    REPLACED = "replaced"
    """The span was replaced here without knowledge of the gold that it has there."""
    TOGETHER = "together"
    """It depends on another change that is left to a person."""
    MEANWHILE = "meanwhile"
    """Somebody changed it here during the merge."""


REASONS = {
    ConflictReason.BOTH: "changed in both copies",
    ConflictReason.SPAN: "about a span that the number does not have here",
    ConflictReason.ANSWERED: "the span was withdrawn there and answered here",
    ConflictReason.DECIDED: "the span was replaced there and decided here",
    ConflictReason.REPLACED: "the span was replaced here and decided there",
    ConflictReason.TOGETHER: "belongs to another change that you must decide",
    ConflictReason.MEANWHILE: "changed here while the merge ran",
}


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """The value of one copy in words, with the annotator and time of its last change."""

    said: str
    by: str | None
    at: str | None
    rule: str | None = None
    """Rule of a gold."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that stays as it is here, for a person to decide."""

    anchor_id: int | None
    """None if the span does not exist here."""
    public_id: str
    """The same in every copy."""
    word: str
    query: str
    """Finds the item in the workbench."""
    what: str
    """answer, decision, gold, flag or span"""
    whose: str | None
    """Annotator of an answer, a decision or a flag."""
    here: ConflictSide
    there: ConflictSide
    why: ConflictReason


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What came in."""

    other: str
    """The file of the other copy."""
    people_new: tuple[str, ...] = ()
    imports_new: tuple[str, ...] = ()
    passages_new: int = 0
    anchors_new: int = 0
    acts: int = 0
    events: int = 0
    items: int = 0
    """Number of anchors with events."""
    agreed: int = 0
    """Things with equal changes, or decided here with both values known."""
    taken_back: int = 0
    """Things that the other copy changed and changed back."""
    assignments_new: int = 0
    drafts_new: int = 0
    places_new: int = 0
    views_new: int = 0
    guidelines_new: int = 0
    conflicts: tuple[Conflict, ...] = ()
    left: tuple[str, ...] = ()
    """Sentences about what else did not come in."""
    backup: str | None = None
    """Copy of the database from before the merge."""
    dry_run: bool = False

    @property
    def changes(self) -> bool:
        """True if anything came in, or would."""
        new = (self.assignments_new, self.drafts_new, self.places_new, self.views_new)
        brought = (self.people_new, self.imports_new, self.passages_new, self.anchors_new)
        return any((*brought, self.events, *new, self.guidelines_new))


# Things of a passage depend on one another. A correction of a span changes the old anchor and
# the new one; an expert's decision is an answer and gold. If one half is left to a person, so
# is the other. An answer needs its span.

ThingKey = tuple[str, int, str | None, str]
"""Entity, anchor, annotator (of an answer or flag), and role or name of the flag."""


REVERSALS = frozenset({"undo", "redo"})


class LoggedText(NamedTuple):
    """A value as this copy's log (`here`) or the other's spells it."""

    here: bool
    text: str | None


@dataclass(slots=True)
class Thing:
    """A thing with its chains and outcome."""

    key: ThingKey
    here: Chain
    there: Chain
    comparison: ThingComparison
    outcome: MergeOutcome
    tail: list[ChainEvent]
    """Further events of the other copy, without round trips."""
    why: ConflictReason = ConflictReason.BOTH
    """Why it is a conflict."""

    @property
    def entity(self) -> str:
        return self.key[0]

    @property
    def anchor(self) -> int:
        return self.key[1]

    @property
    def value_here(self) -> Value | None:
        return self.here[-1].value if self.here else None

    @property
    def value_there(self) -> Value | None:
        return self.there[-1].value if self.there else None

    @property
    def value_after(self) -> Value | None:
        """The value here after the merge."""
        return self.value_there if self.outcome is MergeOutcome.TAKE else self.value_here

    def rebase(self) -> None:
        """Take the tail, to follow the present value here."""
        self.comparison = replace(self.comparison, rebased=True)
        self.outcome = MergeOutcome.TAKE

    @property
    def states(self) -> list[str | None]:
        """Texts there before the tail and after each of its steps."""
        past = len(self.there) - len(self.comparison.tail)
        before = self.there[past - 1].raw if past else None
        return [before, *(step.raw for step in self.tail)]

    @property
    def times(self) -> dict[str, str]:
        """Times of equal answers, from the other copy's to this copy's, where they differ.

        A file was imported to each copy, or a person gave the same answer in both.
        """
        pairs = [*self.comparison.equal_values]
        if self.outcome is MergeOutcome.AGREED:
            pairs.append((self.value_there, self.value_here))
        return {
            was.at: value_here.at
            for was, value_here in pairs
            if isinstance(was, AnswerValue)
            and isinstance(value_here, AnswerValue)
            and was.at != value_here.at
            and content(was) == content(value_here)
        }

    def changes(self) -> Iterator[tuple[ChainEvent, LoggedText, LoggedText]]:
        """Each step that comes in, with the texts before and after it.

        The first starts from the present value here. An undo restores what its act found
        here, which may differ from what it found there.
        """
        # A new anchor has no id here yet.
        new = self.anchor < 0
        before = self.states[0]
        last = LoggedText(not new, before if new else encode(self.value_here))
        found = {} if new else self.comparison.past_values
        by_text = {raw: LoggedText(here=True, text=text) for raw, text in found.items()}
        by_text[before] = last
        for step in self.tail:
            after = LoggedText(here=False, text=step.raw)
            if step.kind in REVERSALS:
                after = by_text.get(step.raw, after)
            yield step, last, after
            by_text[step.raw] = last = after

    def leave(self, why: ConflictReason) -> None:
        """Do not take the tail: it is reverted or a conflict."""
        same = encode(self.value_there) == encode(self.value_here)
        self.outcome = (
            MergeOutcome.REVERTED if same or self.value_there is None else MergeOutcome.CONFLICT
        )
        self.why = why


@dataclass(slots=True)
class PassageGroup:
    """All things of one passage in either log."""

    things: dict[ThingKey, Thing] = field(default_factory=dict)

    def resolve(self) -> None:
        """Apply the dependency rules until none changes an outcome."""
        steps: Sequence[Callable[[], bool]] = (
            self._drop_round_trips,
            self._keep_span_acts_whole,
            self._keep_answered_spans,
            self._keep_spans_with_new_gold,
            self._leave_gold_of_replaced_spans,
            self._leave_without_span,
            self._leave_gold_without_decision,
            self._leave_gold_without_votes,
            self._keep_one_decision,
        )
        while any(step() for step in steps):
            pass

    def _taken(self, entity: str) -> list[Thing]:
        return [
            thing
            for thing in self.things.values()
            if thing.outcome is MergeOutcome.TAKE and thing.entity == entity
        ]

    def _drop_round_trips(self) -> bool:
        """Drop corrections of spans that were undone there, all acts of one or none."""
        spans = [thing for thing in self.things.values() if thing.entity == "anchor"]
        for thing in spans:
            if thing.outcome is not MergeOutcome.REVERTED or not thing.tail:
                continue
            acts = _acts([thing])
            while more := set[int]().union(*(_acts_between(one, acts) for one in spans)) - acts:
                acts |= more
            touched = [one for one in spans if _acts([one]) & acts]
            if all(_is_round_trip(one, acts) for one in touched):
                for one in touched:
                    one.tail = [step for step in one.tail if step.act not in acts]
                    if not one.tail and one.outcome is MergeOutcome.TAKE:
                        one.outcome = MergeOutcome.REVERTED
                return True
        return False

    def _keep_span_acts_whole(self) -> bool:
        """Take an act on several anchors completely or not at all."""
        spans = [thing for thing in self.things.values() if thing.entity == "anchor"]
        left = _acts(
            thing
            for thing in spans
            if thing.outcome in (MergeOutcome.CONFLICT, MergeOutcome.REVERTED)
        )
        left |= {act for thing in spans for act in thing.comparison.skipped_acts}
        return _leave(
            [t for t in self._taken("anchor") if _acts([t]) & left], ConflictReason.TOGETHER
        )

    def _keep_answered_spans(self) -> bool:
        """Keep a span that was removed there and is answered here."""
        answered = {
            thing.anchor
            for thing in self.things.values()
            if thing.entity in ("answer", "gold") and thing.value_after is not None
        }
        kept_spans = [
            t for t in self._taken("anchor") if t.value_there is None and t.anchor in answered
        ]
        return _contradict(kept_spans, ConflictReason.ANSWERED)

    def _keep_spans_with_new_gold(self) -> bool:
        """Keep a span that was replaced there and has gold here that was unknown there.

        Answers do not keep a span: they are shown with the span that replaces it.
        """
        unseen = {
            thing.anchor
            for thing in self.things.values()
            if thing.entity == "gold"
            and thing.value_after is not None
            and content(thing.value_after) != content(thing.value_there)
        }
        kept_spans = [
            thing
            for thing in self._taken("anchor")
            if thing.anchor in unseen
            and _is_live(thing.value_here)
            and _is_replaced(thing.value_there)
        ]
        return _contradict(kept_spans, ConflictReason.DECIDED)

    def _leave_gold_of_replaced_spans(self) -> bool:
        """Leave gold of a span that was replaced here only, since no export would have it.

        Answers of such a span come in.
        """
        stale = [
            thing
            for thing in self._taken("gold")
            if thing.value_there is not None
            and (span := self.things.get(("anchor", thing.anchor, None, ""))) is not None
            and span.outcome is not MergeOutcome.TAKE
            and _is_replaced(span.value_here)
            and _is_live(span.value_there)
        ]
        return _leave(stale, ConflictReason.REPLACED)

    def _leave_without_span(self) -> bool:
        """Leave what belongs to a span that will not exist here."""
        gone = [
            thing
            for entity in ("answer", "gold", "flag")
            for thing in self._taken(entity)
            if not self._has_span(thing)
        ]
        return _leave(gone, ConflictReason.SPAN)

    def _has_span(self, thing: Thing) -> bool:
        span = self.things.get(("anchor", thing.anchor, None, ""))
        if span is None:
            return False
        if span.outcome is MergeOutcome.TAKE or span.value_here is not None:
            return True
        # A flag needs no live span, but one that once existed here.
        return thing.entity == "flag" and bool(span.here)

    def _leave_gold_without_decision(self) -> bool:
        """Leave an expert's gold if the answer that made it is a conflict."""
        left: dict[int, set[int]] = {}
        for thing in self.things.values():
            decision = thing.entity == "answer" and thing.key[3] == Role.ADJUDICATOR
            if decision and thing.outcome is MergeOutcome.CONFLICT:
                left.setdefault(thing.anchor, set()).update(_acts([thing]))
        apart = [t for t in self._taken("gold") if _acts([t]) & left.get(t.anchor, set())]
        return _leave(apart, ConflictReason.TOGETHER)

    def _leave_gold_without_votes(self) -> bool:
        """Leave gold that a rule made of votes that do not come in."""
        apart = [t for t in self._taken("gold") if not all(map(self._is_logged, _votes(t)))]
        return _leave(apart, ConflictReason.TOGETHER)

    def _keep_one_decision(self) -> bool:
        """Leave an expert's decision that contradicts the gold the same expert made here."""
        changed = False
        for thing in self._taken("answer"):
            gold = self.things.get(("gold", thing.anchor, None, ""))
            if thing.key[3] != Role.ADJUDICATOR or gold is None:
                continue
            by, after = thing.key[2], gold.value_after
            if not _made_by(after, by) or content(after) == content(thing.value_there):
                continue
            if gold.outcome is MergeOutcome.AGREED and not _made_by(gold.value_there, by):
                # Somebody else decided the same there, and that decision replaces it.
                gold.rebase()
            else:
                thing.outcome, thing.why = MergeOutcome.CONFLICT, ConflictReason.TOGETHER
            changed = True
        return changed

    def _is_logged(self, vote: tuple[int, str, str]) -> bool:
        """True if the answer is in this copy's log or comes in."""
        anchor, name, at = vote
        thing = self.things.get(("answer", anchor, name, Role.ANNOTATOR))
        if thing is None:
            return False
        steps = [*thing.here, *(thing.there if thing.outcome is MergeOutcome.TAKE else ())]
        times = {step.value.at for step in steps if isinstance(step.value, AnswerValue)}
        return thing.times.get(at, at) in times


def _is_live(span: Value | None) -> bool:
    """True for a span that exists and is not replaced."""
    return isinstance(span, AnchorValue) and span.replaced_by is None


def _is_replaced(span: Value | None) -> bool:
    return isinstance(span, AnchorValue) and span.replaced_by is not None


def _made_by(gold: Value | None, name: str | None) -> bool:
    """True for gold that this expert decided."""
    return isinstance(gold, GoldValue) and gold.rule == Rule.EXPERT and gold.by == name


def _votes(thing: Thing) -> list[tuple[int, str, str]]:
    """The votes of incoming gold: anchor, annotator, time there."""
    return [
        (thing.anchor, *vote)
        for step in thing.tail
        if isinstance(step.value, GoldValue)
        for vote in step.value.votes
    ]


def _acts(things: Iterable[Thing]) -> set[int]:
    return {step.act for thing in things for step in thing.tail}


def _acts_between(thing: Thing, acts: set[int]) -> set[int]:
    """The acts that changed a thing between the first and the last of `acts`."""
    places = [place for place, step in enumerate(thing.tail) if step.act in acts]
    return {step.act for step in thing.tail[places[0] : places[-1] + 1]} if places else set()


def _is_round_trip(thing: Thing, acts: set[int]) -> bool:
    """True if these acts together leave a thing unchanged."""
    places = [place for place, step in enumerate(thing.tail) if step.act in acts]
    return thing.states[places[0]] == thing.states[places[-1] + 1]


def _contradict(things: Sequence[Thing], why: ConflictReason) -> bool:
    for thing in things:
        thing.outcome, thing.why = MergeOutcome.CONFLICT, why
    return bool(things)


def _leave(things: Sequence[Thing], why: ConflictReason) -> bool:
    for thing in things:
        thing.leave(why)
    return bool(things)


def compare_passage(
    here: Mapping[ThingKey, Chain],
    there: Mapping[ThingKey, Chain],
    decided_there: Callable[[Thing], bool] = lambda _: False,
) -> PassageGroup:
    """Compare all things of a passage.

    decided_there: whether somebody resolved a conflict in the other copy, knowing the value
    that this copy has.
    """
    found = PassageGroup()
    for key in here.keys() | there.keys():
        mine, theirs = here.get(key, ()), there.get(key, ())
        comparison = compare(mine, theirs)
        thing = Thing(key, mine, theirs, comparison, comparison.outcome, list(comparison.tail))
        if (
            thing.outcome is MergeOutcome.CONFLICT
            and thing.entity != "anchor"
            and decided_there(thing)
        ):
            thing.rebase()
        found.things[key] = thing
    found.resolve()
    return found


class ChainBuilder:
    """Builds chains from the log of one copy.

    names: annotators by id. imports: acts by batch. maps: None for this copy. Raises
    DamagedError, or StoreError for this copy, if an event does not follow the one before it.
    """

    def __init__(
        self, names: Mapping[int, str], imports: Mapping[int, int], maps: IdMaps | None = None
    ) -> None:
        self._names = names
        self._imports = imports
        self._maps = maps

    def chains(
        self, anchors: Sequence[MergedAnchor], log: Mapping[int, Sequence[LoggedEvent]]
    ) -> dict[ThingKey, list[ChainEvent]]:
        """The chains of all things of some anchors."""
        found: dict[ThingKey, list[ChainEvent]] = {}
        for anchor in anchors:
            if anchor.batch is not None:
                found[span_key(self._anchor(anchor.id))] = [self.import_step(anchor)]
            for event in log.get(anchor.id, ()):
                owner = None if event.owner is None else self._names[event.owner]
                key = (event.entity, self._anchor(event.anchor), owner, event.name)
                chain = found.setdefault(key, [])
                self._check(chain, event)
                chain.append(self._step(event))
        return found

    def import_step(self, anchor: MergedAnchor) -> ChainEvent:
        """The first step of an imported anchor."""
        maps, span = self._maps, (anchor.start, anchor.stop)
        raw = encode(AnchorValue(anchor.passage, *span))
        passage = anchor.passage if maps is None else maps.passages[anchor.passage]
        act = self._imports.get(anchor.batch or 0, 0)
        return ChainEvent(0, act, IMPORT_STEP, None, "", None, raw, AnchorValue(passage, *span))

    def _anchor(self, id_: int) -> int:
        return id_ if self._maps is None else self._maps.anchors[id_]

    def _step(self, event: LoggedEvent) -> ChainEvent:
        by = None if event.by is None else self._names[event.by]
        maps, batch = self._maps, event.batch
        if maps is None:
            value = decoded(event.entity, event.after)
        else:
            batch = None if batch is None else maps.batches.get(batch)
            value = maps.value(event.entity, event.after)
        return ChainEvent(
            event.id, event.act, event.kind, by, event.at, batch, event.after, value
        )

    def _check(self, chain: Sequence[ChainEvent], event: LoggedEvent) -> None:
        if event.before != (chain[-1].raw if chain else None):
            here = self._maps is None
            raise (StoreError if here else DamagedError)(
                f"{'The' if here else 'its'} log is inconsistent at change {event.id} (anchor "
                f"{event.anchor}): run `nfh-tui doctor`. Nothing was merged"
            )


def span_key(anchor: int) -> ThingKey:
    """The key of an anchor itself."""
    return "anchor", anchor, None, ""
