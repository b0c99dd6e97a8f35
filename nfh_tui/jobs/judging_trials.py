"""A new model and the one in use on the same examples of one task, and the figures of both.

The tests are those of `nfh-tui evaluate`: whole passages are drawn anew, the same ones for
both models (see `nfh_models.resolution.scoring.comparing`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nfh_models.identification.case import Decision, Identifier
from nfh_models.identification.deciding import BATCH, decide
from nfh_models.identification.example import Example
from nfh_models.parsing.parsed import Layer
from nfh_models.resolution.item import Choice, ResolutionExample, Resolver
from nfh_models.resolution.parsing_items import batches_of, check_layers, parse_items
from nfh_tui.evaluating import parse_examples
from nfh_tui.jobs.snapshot import Snapshot

if TYPE_CHECKING:
    from nfh_models.agreement.measure import Measure
    from nfh_models.parsing.parsed import Parser

IDENTIFICATION = "identification"
RESOLUTION = "resolution"

FIGURES = {RESOLUTION: "accuracy_inclusive", IDENTIFICATION: "f1"}
"""By which the models of a task are judged."""

LEAST = 30
"""Examples, fewer of which do not show which of two models is better."""

LEAST_PASSAGES = 10
"""The same of passages, which are what is drawn."""

Done = Callable[[int, int], None]
"""Told how many examples are answered, of how many."""


@dataclass(frozen=True, slots=True)
class Score:
    """Two models on some examples.

    ours, theirs: the figure of the new model and of the other, fractions. difference: ours
    less theirs, with its 95 % interval; None where there is no other, or no interval. p:
    two-sided, None where none can be drawn. only_ours, only_theirs: examples that one alone
    has right.
    """

    n: int
    passages: int
    ours: float | None
    theirs: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    only_ours: int = 0
    only_theirs: int = 0

    @property
    def enough(self) -> bool:
        """Whether there are examples enough to say which model is better."""
        return self.n >= LEAST and self.passages >= LEAST_PASSAGES


class Model(Protocol):
    """What either task's models have."""

    @property
    def needs(self) -> frozenset[Layer]:
        """The layers that it is to be given."""
        ...


class Labelled(Protocol):
    """What either task's examples have; see ResolutionExample and Example."""

    @property
    def group(self) -> str:
        """The digest of its passage."""
        ...

    @property
    def saw_model(self) -> bool:
        """Whether its gold was given with a model's answer in view."""
        ...


One = TypeVar("One", bound=Labelled)
Made = TypeVar("Made", bound=Model)
Said = TypeVar("Said")


class Bench(Generic[One, Made, Said]):
    """The examples of a task that judge, and what models say of them."""

    task: str

    def __init__(self, examples: Iterable[One]) -> None:
        self.examples = tuple(examples)

    def without(self, passages: frozenset[str]) -> "Bench[One, Made, Said]":
        """The examples that are of none of these passages, by digest."""
        return type(self)(one for one in self.examples if one.group not in passages)

    @property
    def passages(self) -> int:
        """Of the examples."""
        return len({one.group for one in self.examples})

    @property
    def saw_model(self) -> int:
        """Examples whose gold was given with a model's answer in view."""
        return sum(one.saw_model for one in self.examples)

    def answers(
        self, models: Sequence[Made], parser: "Parser | None", done: Done
    ) -> list[list[Said]]:
        """What each model says of each example. Raises ParserError."""
        raise NotImplementedError

    def score(self, ours: Sequence[Said], theirs: Sequence[Said] | None) -> Score:
        """The figures; theirs: None where nobody stood beside it."""
        raise NotImplementedError

    def blind_score(self, ours: Sequence[Said], theirs: Sequence[Said]) -> Score:
        """The same of those alone whose gold was given without a model's answer in view."""
        kept = [place for place, one in enumerate(self.examples) if not one.saw_model]
        bench = type(self)(self.examples[place] for place in kept)
        return bench.score([ours[it] for it in kept], [theirs[it] for it in kept])


class ResolutionBench(Bench[ResolutionExample, Resolver, Choice | None]):
    """Examples of resolution; right is any word of a head's form, or the class."""

    task = RESOLUTION

    def answers(
        self, models: Sequence[Resolver], parser: "Parser | None", done: Done
    ) -> list[list[Choice | None]]:
        """What each model chooses; each passage is parsed once for all of them."""
        needs = needed(models)
        check_layers(needs, parser)
        said: list[list[Choice | None]] = [[] for _ in models]
        answered = 0
        for plain in batches_of((one.item for one in self.examples), lambda it: it.passage):
            parsed = parse_items(plain, needs, parser)
            for place, model in enumerate(models):
                done(answered, len(self.examples))  # a batch of a network takes seconds
                said[place] += model.resolve(parsed if model.needs else plain)
            answered += len(plain)
            done(answered, len(self.examples))
        return said

    def score(
        self, ours: Sequence[Choice | None], theirs: Sequence[Choice | None] | None
    ) -> Score:
        """Accuracy, the inclusive one, of both."""
        from nfh_models.resolution.scoring import compare, figures, judge

        mine, figure = judge(self.examples, ours), FIGURES[RESOLUTION]
        if theirs is None or not mine:
            value = getattr(figures(mine), figure) if mine else None
            return Score(len(mine), self.passages, value)
        found = compare(mine, judge(self.examples, theirs), None, figure)
        return replace(
            _difference(found.difference),
            passages=self.passages,
            ours=found.first,
            theirs=found.second,
            p=found.p,
            only_ours=found.only_first,
            only_theirs=found.only_second,
        )


class IdentificationBench(Bench[Example, Identifier, Decision]):
    """Examples of identification."""

    task = IDENTIFICATION

    def answers(
        self, models: Sequence[Identifier], parser: "Parser | None", done: Done
    ) -> list[list[Decision]]:
        """What each model decides; each sentence is parsed once for all of them."""
        needs = needed(models)
        check_layers(needs, parser)
        said: list[list[Decision]] = [[] for _ in models]
        for start in range(0, len(self.examples), BATCH):
            some = self.examples[start : start + BATCH]
            parsed = parse_examples(some, parser) if needs and parser is not None else some
            for place, model in enumerate(models):
                done(start, len(self.examples))
                cases = [one.case for one in (parsed if model.needs else some)]
                said[place] += [decision for _, decision in decide(cases, model, parser)]
            done(start + len(some), len(self.examples))
        return said

    def score(self, ours: Sequence[Decision], theirs: Sequence[Decision] | None) -> Score:
        """F1 of both."""
        from nfh_models.identification.intervals import compare

        f1 = self._f1(ours)
        if theirs is None or not self.examples:
            return Score(len(self.examples), self.passages, f1)
        mine, other = ([one.nfh for one in said] for said in (ours, theirs))
        found = compare(self.examples, mine, other)
        return replace(
            _difference(found.difference),
            passages=self.passages,
            ours=f1,
            theirs=self._f1(theirs),
            p=found.p,
            only_ours=found.only_first,
            only_theirs=found.only_second,
        )

    def _f1(self, said: Sequence[Decision]) -> float | None:
        from nfh_models.identification.scores import count

        pairs = zip(self.examples, said, strict=True)
        return count((one.nfh, decision.nfh) for one, decision in pairs).f1


def needed(models: Iterable[Model]) -> frozenset[Layer]:
    """The layers that a parser has to give to serve them all; empty if none needs one."""
    return frozenset[Layer]().union(*(model.needs for model in models))


def _difference(found: "Measure") -> Score:
    return Score(found.n, 0, None, difference=found.value, low=found.low, high=found.high)


def resolution_bench(snapshot: Snapshot) -> ResolutionBench:
    """The examples of resolution that judge, grouped by passage as `evaluate` groups them."""
    dev = (sheet for sheet in snapshot.sheets if sheet.dev)
    groups = [it.passage.digest for it in dev for one in it.labels if one.gold is not None]
    pairs = zip(snapshot.dev, groups, strict=True)
    return ResolutionBench(replace(one, group=group) for one, group in pairs)


def identification_bench(snapshot: Snapshot) -> IdentificationBench:
    """The same of identification."""
    dev = (sheet for sheet in snapshot.sheets if sheet.dev)
    groups = [it.passage.digest for it in dev for one in it.labels if one.nfh is not None]
    pairs = zip(snapshot.dev_numbers, groups, strict=True)
    return IdentificationBench(replace(one, group=group) for one, group in pairs)
