"""The logs of two copies compared: what hangs together in a passage, where two chains of
events parted, what becomes of each, and the report of it.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from itertools import takewhile
from typing import NamedTuple

from nfh_db.errors import StoreError
from nfh_db.merge.source import DamagedError, Logged, Maps, MergedAnchor, decoded
from nfh_db.records import Role, Rule
from nfh_db.serialization import AnchorValue, AnswerValue, FlagValue, GoldValue, Value, encode

# The log of one thing in two copies: where the two parted, and what becomes of it.
#
# A thing is somebody's answer in a role, the gold, somebody's flag, or an anchor itself. Its
# chain is its events, oldest first. Everything here is in the terms of this copy: ids of the
# other one were mapped before.

BEGIN = "begin"
"""The kind of the step that an import makes by bringing an anchor: it is in no log."""


@dataclass(frozen=True, slots=True)
class ChainEvent:
    """One event of a thing. by, at, kind, batch: of its act. raw: `after` as its copy says."""

    event: int
    act: int
    kind: str
    by: str | None
    at: str
    batch: int | None
    raw: str | None
    value: Value | None


Chain = Sequence[ChainEvent]


class MergeOutcome(Enum):
    """What becomes of a thing."""

    NOTHING = auto()
    """The other copy has nothing more of it."""
    TAKE = auto()
    """What the other copy has more comes in."""
    AGREED = auto()
    """Both changed it, to the same."""
    REVERTED = auto()
    """The other copy changed it and changed it back."""
    CONFLICT = auto()
    """Both changed it, each otherwise."""


@dataclass(frozen=True, slots=True)
class ThingOutcome:
    """What becomes of a thing.

    tail: what the other copy has more. rebased: it is to follow what is here now, and not what
    it followed there. found: by what events of the common past found and left there, what
    they found and left here. alike: values that both hold, spelt otherwise, there and here.
    pairs: acts that are the same, there and here. skipped: acts there of the common past that
    this copy did not take.
    """

    fate: MergeOutcome
    tail: Chain = ()
    rebased: bool = False
    found: dict[str | None, str | None] = field(default_factory=dict)
    alike: tuple[tuple[Value | None, Value | None], ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    skipped: frozenset[int] = frozenset()


def content(value: Value | None) -> tuple[object, ...]:
    """What a value says, without who, when and how."""
    if isinstance(value, (AnswerValue, GoldValue)):
        return (
            value.kind,
            value.heads,
            value.relation,
            value.sort,
            value.noun,
            value.comment,
        )
    if isinstance(value, AnchorValue):
        return value.passage, value.start, value.stop, value.replaces, value.replaced_by
    return ("set", value.span) if isinstance(value, FlagValue) else ()


def _whole(value: Value | None) -> tuple[object, ...]:
    """What a value says and whose it is, without times: imports of one file differ there."""
    if isinstance(value, GoldValue):
        return *content(value), value.rule, value.by
    return content(value)


def _identity(step: ChainEvent) -> tuple[object, ...]:
    """Equal for one event that both copies hold."""
    if step.kind == "import":
        return "import", step.batch, _whole(step.value)
    return step.kind, step.by, step.at, _whole(step.value)


def compare(here: Chain, there: Chain) -> ThingOutcome:
    """What becomes of a thing with these chains."""
    past = _past(here, there)
    mine, theirs = here[past.here :], there[past.there :]
    fate, rebased = _fate(_last(here[: past.here]), mine, there[: past.there], theirs)
    found = _found(here, there, past.pairs)
    alike = tuple((there[other].value, here[one].value) for one, other in past.pairs)
    pairs = tuple(
        (there[other].act, here[one].act)
        for one, other in past.pairs
        if here[one].kind != BEGIN
    )
    paired = {other for _, other in past.pairs}
    skipped = {there[place].act for place in range(past.there) if place not in paired}
    return ThingOutcome(fate, theirs, rebased, found, alike, pairs, frozenset(skipped))


def _found(
    here: Chain, there: Chain, pairs: Sequence[tuple[int, int]]
) -> dict[str | None, str | None]:
    """What an event that both hold found and left, as either copy spells it.

    Its time may differ, where one file was imported to each, and what it found altogether.
    """
    found: dict[str | None, str | None] = {}
    for one, other in pairs:
        found[there[other - 1].raw if other else None] = here[one - 1].raw if one else None
        found[there[other].raw] = here[one].raw
    return found


def _last(chain: Chain) -> Value | None:
    return chain[-1].value if chain else None


# --- where the two parted ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Past:
    """How many steps of each chain are common past, and which of them are the same."""

    here: int
    there: int
    pairs: list[tuple[int, int]]


def _past(here: Chain, there: Chain) -> _Past:
    """The past that both have in common.

    It ends with the last event that both hold: what came before that in only one of them
    was settled when they were merged before.
    """
    mine, theirs = [_identity(step) for step in here], [_identity(step) for step in there]
    both = set(mine) & set(theirs)
    one = _up_to(mine, both)
    other = _up_to(theirs, both)
    if both and mine[one - 1] != theirs[other - 1]:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False))
        one = other = len(list(same))
    pairs = list(_pairs(mine[:one], theirs[:other]))
    return _Past(one, other, pairs)


def _up_to(keys: Sequence[tuple[object, ...]], both: set[tuple[object, ...]]) -> int:
    return max((place for place, key in enumerate(keys, 1) if key in both), default=0)


def _pairs(
    mine: Sequence[tuple[object, ...]], theirs: Sequence[tuple[object, ...]]
) -> Iterator[tuple[int, int]]:
    waiting: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for place, key in enumerate(mine):
        waiting[key].append(place)
    for place, key in enumerate(theirs):
        if waiting[key]:
            yield waiting[key].popleft(), place


# --- what becomes of it -----------------------------------------------------------------


def _fate(
    base: Value | None, mine: Chain, past_there: Chain, theirs: Chain
) -> tuple[MergeOutcome, bool]:
    """The fate, and whether what comes in follows what is here now."""
    if not theirs:
        return MergeOutcome.NOTHING, False
    if not mine:
        return MergeOutcome.TAKE, False
    now, then = _last(mine), _last(theirs)
    if _whole(now) == _whole(then):
        return MergeOutcome.AGREED, False
    if encode(now) == encode(base) and (theirs[0].kind != BEGIN or theirs[0].act):
        return MergeOutcome.TAKE, False
    if theirs[-1].raw == (past_there[-1].raw if past_there else None):
        return MergeOutcome.REVERTED, False
    if BEGIN in (mine[0].kind, theirs[0].kind):
        # A file brought the span to one copy, and a person made it in the other.
        return MergeOutcome.CONFLICT, False
    if _outranks(then, now):
        return MergeOutcome.TAKE, True
    same = content(now) == content(then) or _outranks(now, then)
    return (MergeOutcome.AGREED if same else MergeOutcome.CONFLICT), False


def _outranks(one: Value | None, other: Value | None) -> bool:
    """True if one gold is an expert's and the other is not: in one copy it would have won."""
    return (
        isinstance(one, GoldValue)
        and isinstance(other, GoldValue)
        and one.rule == Rule.EXPERT
        and other.rule != Rule.EXPERT
    )


class Why(StrEnum):
    """Why something that was done in the other copy is left to a person."""

    BOTH = "both"
    """It was changed here as well, otherwise."""
    SPAN = "span"
    """It is about a span that the number does not have here."""
    ANSWERED = "answered"
    """The span was taken back there, and somebody answered it here."""
    DECIDED = "decided"
    """The span was replaced there by somebody who did not know the gold that it has here."""
    REPLACED = "replaced"
    """The span was replaced here by somebody who did not know the gold that it has there."""
    TOGETHER = "together"
    """It belongs to something else that is left to a person."""
    MEANWHILE = "meanwhile"
    """Somebody changed it here while the merge was at work."""


REASONS = {
    Why.BOTH: "changed in both copies",
    Why.SPAN: "about a span that the number does not have here",
    Why.ANSWERED: "the span was taken back there and answered here",
    Why.DECIDED: "the span was replaced there and decided here",
    Why.REPLACED: "the span was replaced here and decided there",
    Why.TOGETHER: "belongs to another change that is left to you",
    Why.MEANWHILE: "changed here while the merge was at work",
}


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """What one copy says: in words, by whom and when it was said last. rule: of a gold."""

    said: str
    by: str | None
    at: str | None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that was left as it is here, for a person to decide.

    anchor_id: here, None where the span is none here. public_id: the same in every copy.
    what: answer, decision, gold, flag or span. whose: of an answer, a decision or a flag.
    query: what opens the item in the workbench.
    """

    anchor_id: int | None
    public_id: str
    word: str
    query: str
    what: str
    whose: str | None
    here: ConflictSide
    there: ConflictSide
    why: Why


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What came in.

    other: the file. acts: those of people and rules that came in, with `events` changes of
    `items` anchors. agreed: things that both copies changed, to the same or to what an expert
    decided here, or that were decided here with both in view. taken_back: things that the
    other copy changed and changed back, and this one changed. conflicts: what is left to a
    person. left: what else stayed in the other copy, in sentences. backup: the copy made
    before anything was written.
    """

    other: str
    people_new: tuple[str, ...] = ()
    imports_new: tuple[str, ...] = ()
    passages_new: int = 0
    anchors_new: int = 0
    acts: int = 0
    events: int = 0
    items: int = 0
    agreed: int = 0
    taken_back: int = 0
    assignments_new: int = 0
    drafts_new: int = 0
    places_new: int = 0
    views_new: int = 0
    guidelines_new: int = 0
    conflicts: tuple[Conflict, ...] = ()
    left: tuple[str, ...] = ()
    backup: str | None = None
    dry_run: bool = False

    @property
    def changes(self) -> bool:
        """True if anything came in, or would."""
        return bool(
            self.people_new
            or self.imports_new
            or self.passages_new
            or self.anchors_new
            or self.events
            or self.assignments_new
            or self.drafts_new
            or self.places_new
            or self.views_new
            or self.guidelines_new
        )


# What hangs together in one passage: spans that replace one another, and what is said of them.
#
# A correction of a span is two changes, of the old anchor and of the new one; an expert's
# decision is an answer and the gold. Where one half has to be left to a person, so has the
# other. An answer is nothing without its span.

Key = tuple[str, int, str | None, str]
"""Entity, anchor, whose (of an answer or a flag), and role or flag's name."""


GOES_BACK = frozenset({"undo", "redo"})


class Text(NamedTuple):
    """A value as a log spells it: this copy's, or the other one's."""

    here: bool
    text: str | None


@dataclass(slots=True)
class Thing:
    """A thing with its chains, and what becomes of it.

    tail: what the other copy has more, less what led nowhere. why: of a conflict.
    """

    key: Key
    here: Chain
    there: Chain
    verdict: ThingOutcome
    fate: MergeOutcome
    tail: list[ChainEvent]
    why: Why = Why.BOTH

    @property
    def entity(self) -> str:
        return self.key[0]

    @property
    def anchor(self) -> int:
        return self.key[1]

    @property
    def now(self) -> Value | None:
        """What it is here."""
        return self.here[-1].value if self.here else None

    @property
    def then(self) -> Value | None:
        """What it is there."""
        return self.there[-1].value if self.there else None

    @property
    def final(self) -> Value | None:
        """What it will be here."""
        return self.then if self.fate is MergeOutcome.TAKE else self.now

    def rebase(self) -> None:
        """Take what the other copy has more, to follow what is here now."""
        self.verdict = replace(self.verdict, rebased=True)
        self.fate = MergeOutcome.TAKE

    @property
    def states(self) -> list[str | None]:
        """What it was there before the first step of the tail, and after each."""
        past = len(self.there) - len(self.verdict.tail)
        before = self.there[past - 1].raw if past else None
        return [before, *(step.raw for step in self.tail)]

    @property
    def times(self) -> dict[str, str]:
        """When this copy has an answer that the other one has at another time.

        One file was imported to each, or one person said the same in both.
        """
        pairs = [*self.verdict.alike]
        if self.fate is MergeOutcome.AGREED:
            pairs.append((self.then, self.now))
        return {
            was.at: now.at
            for was, now in pairs
            if isinstance(was, AnswerValue)
            and isinstance(now, AnswerValue)
            and was.at != now.at
            and content(was) == content(now)
        }

    def changes(self) -> Iterator[tuple[ChainEvent, Text, Text]]:
        """Each step that comes in, with what it changes from and to.

        One follows the other, and the first what is here now. An undo goes back to what the
        act that it takes back found here, be that something else than there.
        """
        # What is new has no id here yet.
        new = self.anchor < 0
        before = self.states[0]
        last = Text(here=False, text=before) if new else Text(here=True, text=encode(self.now))
        found = {} if new else self.verdict.found
        seen = {raw: Text(here=True, text=text) for raw, text in found.items()}
        seen[before] = last
        for step in self.tail:
            after = Text(here=False, text=step.raw)
            if step.kind in GOES_BACK:
                after = seen.get(step.raw, after)
            yield step, last, after
            seen[step.raw] = last = after

    def leave(self, why: Why) -> None:
        """Do not take what the other copy has more: it comes to nothing, or is a conflict."""
        same = encode(self.then) == encode(self.now)
        self.fate = (
            MergeOutcome.REVERTED if same or self.then is None else MergeOutcome.CONFLICT
        )
        self.why = why


@dataclass(slots=True)
class Family:
    """All that either copy's log says of one passage."""

    things: dict[Key, Thing] = field(default_factory=dict)

    def resolve(self) -> None:
        """Go on until no half of anything is taken without the other."""
        steps: Sequence[Callable[[], bool]] = (
            self._without_detours,
            self._spans_together,
            self._nothing_vanishes,
            self._no_gold_goes_stale,
            self._no_gold_comes_stale,
            self._only_of_spans_here,
            self._gold_with_decision,
            self._gold_with_votes,
            self._decision_with_gold,
        )
        while any(step() for step in steps):
            pass

    def _taken(self, entity: str) -> list[Thing]:
        return [
            thing
            for thing in self.things.values()
            if thing.fate is MergeOutcome.TAKE and thing.entity == entity
        ]

    def _without_detours(self) -> bool:
        """Forget corrections of spans that were taken back there, where all of it can be."""
        spans = [thing for thing in self.things.values() if thing.entity == "anchor"]
        for thing in spans:
            if thing.fate is not MergeOutcome.REVERTED or not thing.tail:
                continue
            acts = _acts([thing])
            while more := set[int]().union(*(_between(one, acts) for one in spans)) - acts:
                acts |= more
            touched = [one for one in spans if _acts([one]) & acts]
            if all(_leads_nowhere(one, acts) for one in touched):
                for one in touched:
                    one.tail = [step for step in one.tail if step.act not in acts]
                    if not one.tail and one.fate is MergeOutcome.TAKE:
                        one.fate = MergeOutcome.REVERTED
                return True
        return False

    def _spans_together(self) -> bool:
        """An act on several anchors comes in whole or not at all."""
        spans = [thing for thing in self.things.values() if thing.entity == "anchor"]
        left = _acts(
            thing
            for thing in spans
            if thing.fate in (MergeOutcome.CONFLICT, MergeOutcome.REVERTED)
        )
        left |= {act for thing in spans for act in thing.verdict.skipped}
        return _leave([t for t in self._taken("anchor") if _acts([t]) & left], Why.TOGETHER)

    def _nothing_vanishes(self) -> bool:
        """A span that was taken back there stays if it is answered here."""
        answered = {
            thing.anchor
            for thing in self.things.values()
            if thing.entity in ("answer", "gold") and thing.final is not None
        }
        kept = [t for t in self._taken("anchor") if t.then is None and t.anchor in answered]
        for thing in kept:
            thing.fate, thing.why = MergeOutcome.CONFLICT, Why.ANSWERED
        return bool(kept)

    def _no_gold_goes_stale(self) -> bool:
        """A span that was replaced there stays if it has gold here that nobody knew there.

        Answers that become stale by it are still shown with the span that comes in.
        """
        unseen = {
            thing.anchor
            for thing in self.things.values()
            if thing.entity == "gold"
            and thing.final is not None
            and content(thing.final) != content(thing.then)
        }
        kept = [
            thing
            for thing in self._taken("anchor")
            if thing.anchor in unseen and _is_live(thing.now) and _is_replaced(thing.then)
        ]
        for thing in kept:
            thing.fate, thing.why = MergeOutcome.CONFLICT, Why.DECIDED
        return bool(kept)

    def _no_gold_comes_stale(self) -> bool:
        """Gold of a span that was replaced here, and not there, is left: no export has it here.

        Also gold that a rule made. Answers come in, as those that a replacement makes stale.
        """
        stale = [
            thing
            for thing in self._taken("gold")
            if thing.then is not None
            and (span := self.things.get(("anchor", thing.anchor, None, ""))) is not None
            and span.fate is not MergeOutcome.TAKE
            and _is_replaced(span.now)
            and _is_live(span.then)
        ]
        return _leave(stale, Why.REPLACED)

    def _only_of_spans_here(self) -> bool:
        """What is said of a span that will not be here has nowhere to go."""
        gone = [
            thing
            for entity in ("answer", "gold", "flag")
            for thing in self._taken(entity)
            if not self._has_place(thing)
        ]
        return _leave(gone, Why.SPAN)

    def _has_place(self, thing: Thing) -> bool:
        span = self.things.get(("anchor", thing.anchor, None, ""))
        if span is None:
            return False
        if span.fate is MergeOutcome.TAKE or span.now is not None:
            return True
        # A flag may be set on what is out of sight, if it ever was a span here.
        return thing.entity == "flag" and bool(span.here)

    def _gold_with_decision(self) -> bool:
        """Gold that an expert's answer made does not come in without that answer."""
        left: dict[int, set[int]] = {}
        for thing in self.things.values():
            decision = thing.entity == "answer" and thing.key[3] == Role.ADJUDICATOR
            if decision and thing.fate is MergeOutcome.CONFLICT:
                left.setdefault(thing.anchor, set()).update(_acts([thing]))
        apart = [t for t in self._taken("gold") if _acts([t]) & left.get(t.anchor, set())]
        return _leave(apart, Why.TOGETHER)

    def _gold_with_votes(self) -> bool:
        """Gold that a rule made of votes does not come in without those."""
        apart = [t for t in self._taken("gold") if not all(map(self._was_given, _votes(t)))]
        return _leave(apart, Why.TOGETHER)

    def _decision_with_gold(self) -> bool:
        """An expert whose decision is the gold here does not get another one beside it."""
        changed = False
        for thing in self._taken("answer"):
            gold = self.things.get(("gold", thing.anchor, None, ""))
            if thing.key[3] != Role.ADJUDICATOR or gold is None:
                continue
            if not _made_by(gold.final, thing.key[2]) or content(gold.final) == content(
                thing.then
            ):
                continue
            if gold.fate is MergeOutcome.AGREED and not _made_by(gold.then, thing.key[2]):
                # Somebody else decided the same there: that decision can stand in for it.
                gold.rebase()
            else:
                thing.fate, thing.why = MergeOutcome.CONFLICT, Why.TOGETHER
            changed = True
        return changed

    def _was_given(self, vote: tuple[int, str, str]) -> bool:
        """True if an answer is, or is going to be, in this copy's log."""
        anchor, name, at = vote
        thing = self.things.get(("answer", anchor, name, Role.ANNOTATOR))
        if thing is None:
            return False
        steps = [*thing.here, *(thing.there if thing.fate is MergeOutcome.TAKE else ())]
        times = {step.value.at for step in steps if isinstance(step.value, AnswerValue)}
        return thing.times.get(at, at) in times


def _is_live(span: Value | None) -> bool:
    """True for a span that no other stands in place of."""
    return isinstance(span, AnchorValue) and span.replaced_by is None


def _is_replaced(span: Value | None) -> bool:
    """True for a span that another stands in place of."""
    return isinstance(span, AnchorValue) and span.replaced_by is not None


def _made_by(gold: Value | None, name: str | None) -> bool:
    """True for a gold that is this expert's decision."""
    return isinstance(gold, GoldValue) and gold.rule == Rule.EXPERT and gold.by == name


def _votes(thing: Thing) -> list[tuple[int, str, str]]:
    """The votes that golds of the other copy were made of: anchor, annotator, time."""
    return [
        (thing.anchor, *vote)
        for step in thing.tail
        if isinstance(step.value, GoldValue)
        for vote in step.value.votes
    ]


def _acts(things: Iterable[Thing]) -> set[int]:
    """The acts of the other copy that made what it has more of these."""
    return {step.act for thing in things for step in thing.tail}


def _between(thing: Thing, acts: set[int]) -> set[int]:
    """The acts that changed a thing from the first to the last of some acts."""
    places = [place for place, step in enumerate(thing.tail) if step.act in acts]
    return {step.act for step in thing.tail[places[0] : places[-1] + 1]} if places else set()


def _leads_nowhere(thing: Thing, acts: set[int]) -> bool:
    """True if these acts, one after the other, left a thing as they found it."""
    places = [place for place, step in enumerate(thing.tail) if step.act in acts]
    return thing.states[places[0]] == thing.states[places[-1] + 1]


def _leave(things: Sequence[Thing], why: Why) -> bool:
    for thing in things:
        thing.leave(why)
    return bool(things)


def family(
    here: Mapping[Key, Chain],
    there: Mapping[Key, Chain],
    decided_there: Callable[[Thing], bool] = lambda _: False,
) -> Family:
    """What becomes of everything that the log says of one passage.

    decided_there: whether somebody decided a conflict in the other copy, with what is here
    in view.
    """
    found = Family()
    for key in here.keys() | there.keys():
        mine, theirs = here.get(key, ()), there.get(key, ())
        verdict = compare(mine, theirs)
        thing = Thing(key, mine, theirs, verdict, verdict.fate, list(verdict.tail))
        if (
            thing.fate is MergeOutcome.CONFLICT
            and thing.entity != "anchor"
            and decided_there(thing)
        ):
            thing.rebase()
        found.things[key] = thing
    found.resolve()
    return found


class Histories:
    """Makes chains of one copy's log. Raises DamagedError for a log that does not hold.

    names: of everybody there, by id. imports: acts by batch. maps: of the other copy; None
    for this one, whose terms they are.
    """

    def __init__(
        self, names: Mapping[int, str], imports: Mapping[int, int], maps: Maps | None = None
    ) -> None:
        self._names = names
        self._imports = imports
        self._maps = maps

    def chains(
        self, anchors: Sequence[MergedAnchor], log: Mapping[int, Sequence[Logged]]
    ) -> dict[Key, list[ChainEvent]]:
        """The chains of everything that the log says of some anchors."""
        found: dict[Key, list[ChainEvent]] = {}
        for anchor in anchors:
            if anchor.batch is not None:
                found[span_key(self._anchor(anchor.id))] = [self.begin(anchor)]
            for event in log.get(anchor.id, ()):
                owner = None if event.owner is None else self._names[event.owner]
                key = (event.entity, self._anchor(event.anchor), owner, event.name)
                chain = found.setdefault(key, [])
                self._check(chain, event)
                chain.append(self._step(event))
        return found

    def begin(self, anchor: MergedAnchor) -> ChainEvent:
        """How an anchor begins that an import brought."""
        maps, span = self._maps, (anchor.start, anchor.stop)
        raw = encode(AnchorValue(anchor.passage, *span))
        passage = anchor.passage if maps is None else maps.passages[anchor.passage]
        act = self._imports.get(anchor.batch or 0, 0)
        return ChainEvent(0, act, BEGIN, None, "", None, raw, AnchorValue(passage, *span))

    def _anchor(self, id_: int) -> int:
        return id_ if self._maps is None else self._maps.anchors[id_]

    def _step(self, event: Logged) -> ChainEvent:
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

    def _check(self, chain: Sequence[ChainEvent], event: Logged) -> None:
        if event.before != (chain[-1].raw if chain else None):
            here = self._maps is None
            raise (StoreError if here else DamagedError)(
                f"{'The' if here else 'its'} log does not hold together at change {event.id} "
                f"(anchor {event.anchor}): run `nfh-tui doctor`. Nothing was merged"
            )


def span_key(anchor: int) -> Key:
    """The key of an anchor itself."""
    return "anchor", anchor, None, ""
