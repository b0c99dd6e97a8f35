"""What hangs together in one passage: spans that replace one another, and what is said of them.

A correction of a span is two changes, of the old anchor and of the new one; an expert's
decision is an answer and the gold. Where one half has to be left to a person, so has the
other. An answer is nothing without its span.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from nfh_db.merge.chains import Chain, Fate, Step, Verdict, compare, content
from nfh_db.merge.report import Why
from nfh_db.records import Role, Rule
from nfh_db.values import AnchorValue, AnswerValue, GoldValue, Value, encode

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
    verdict: Verdict
    fate: Fate
    tail: list[Step]
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
        return self.then if self.fate is Fate.TAKE else self.now

    def rebase(self) -> None:
        """Take what the other copy has more, to follow what is here now."""
        self.verdict = replace(self.verdict, rebased=True)
        self.fate = Fate.TAKE

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
        if self.fate is Fate.AGREED:
            pairs.append((self.then, self.now))
        return {
            was.at: now.at
            for was, now in pairs
            if isinstance(was, AnswerValue)
            and isinstance(now, AnswerValue)
            and was.at != now.at
            and content(was) == content(now)
        }

    def changes(self) -> Iterator[tuple[Step, Text, Text]]:
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
        self.fate = Fate.MOOT if same or self.then is None else Fate.CONFLICT
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
            if thing.fate is Fate.TAKE and thing.entity == entity
        ]

    def _without_detours(self) -> bool:
        """Forget corrections of spans that were taken back there, where all of it can be."""
        spans = [thing for thing in self.things.values() if thing.entity == "anchor"]
        for thing in spans:
            if thing.fate is not Fate.MOOT or not thing.tail:
                continue
            acts = _acts([thing])
            while more := set[int]().union(*(_between(one, acts) for one in spans)) - acts:
                acts |= more
            touched = [one for one in spans if _acts([one]) & acts]
            if all(_leads_nowhere(one, acts) for one in touched):
                for one in touched:
                    one.tail = [step for step in one.tail if step.act not in acts]
                    if not one.tail and one.fate is Fate.TAKE:
                        one.fate = Fate.MOOT
                return True
        return False

    def _spans_together(self) -> bool:
        """An act on several anchors comes in whole or not at all."""
        spans = [thing for thing in self.things.values() if thing.entity == "anchor"]
        left = _acts(thing for thing in spans if thing.fate in (Fate.CONFLICT, Fate.MOOT))
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
            thing.fate, thing.why = Fate.CONFLICT, Why.ANSWERED
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
        kept = [t for t in self._taken("anchor") if t.anchor in unseen and _is_replaced(t)]
        for thing in kept:
            thing.fate, thing.why = Fate.CONFLICT, Why.DECIDED
        return bool(kept)

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
        if span.fate is Fate.TAKE or span.now is not None:
            return True
        # A flag may be set on what is out of sight, if it ever was a span here.
        return thing.entity == "flag" and bool(span.here)

    def _gold_with_decision(self) -> bool:
        """Gold that an expert's answer made does not come in without that answer."""
        left: dict[int, set[int]] = {}
        for thing in self.things.values():
            decision = thing.entity == "answer" and thing.key[3] == Role.ADJUDICATOR
            if decision and thing.fate is Fate.CONFLICT:
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
            if gold.fate is Fate.AGREED and not _made_by(gold.then, thing.key[2]):
                # Somebody else decided the same there: that decision can stand in for it.
                gold.rebase()
            else:
                thing.fate, thing.why = Fate.CONFLICT, Why.TOGETHER
            changed = True
        return changed

    def _was_given(self, vote: tuple[int, str, str]) -> bool:
        """True if an answer is, or is going to be, in this copy's log."""
        anchor, name, at = vote
        thing = self.things.get(("answer", anchor, name, Role.ANNOTATOR))
        if thing is None:
            return False
        steps = [*thing.here, *(thing.there if thing.fate is Fate.TAKE else ())]
        times = {step.value.at for step in steps if isinstance(step.value, AnswerValue)}
        return thing.times.get(at, at) in times


def _is_replaced(thing: Thing) -> bool:
    """True for a span that everybody sees here, and that another stands in place of there."""
    return (
        isinstance(thing.now, AnchorValue)
        and thing.now.replaced_by is None
        and isinstance(thing.then, AnchorValue)
        and thing.then.replaced_by is not None
    )


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
        if thing.fate is Fate.CONFLICT and thing.entity != "anchor" and decided_there(thing):
            thing.rebase()
        found.things[key] = thing
    found.resolve()
    return found
