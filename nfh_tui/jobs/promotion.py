"""Promotion: whether a new model is better than the active one on held-out gold, and the
reasons.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nfh_db.messages import counted
from nfh_db.models import CANDIDATE, FIRST_VERDICT, PROMOTED, REJECTED
from nfh_models import ModelsError
from nfh_models.identification.base import BATCH, Decision, Example, Identifier, decide
from nfh_models.parsing.base import ParseLayer, ParserError
from nfh_models.resolution.base import (
    Choice,
    ResolutionExample,
    Resolver,
    batches,
    check_layers,
    parse_items,
)
from nfh_tui.display_figures import percent
from nfh_tui.jobs.reporting import Phase, Tell, seen_by
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.services.evaluate import parse_examples
from nfh_tui.services.models import IDENTIFICATION as IDENTIFIERS
from nfh_tui.services.models import RESOLUTION as RESOLVERS
from nfh_tui.services.models import Loaded, ModelSelector, files_of

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.identification.evaluation import IdentifierComparison
    from nfh_models.parsing.base import Parser
    from nfh_models.resolution.evaluation import Paired


# Scores of a new model and the active one on the same examples of one task.
#
# The tests are those of `nfh-tui evaluate`: whole passages are resampled, the same ones for
# both models (see `nfh_models.resolution.evaluation`).

IDENTIFICATION = "identification"
RESOLUTION = "resolution"

FIGURES = {RESOLUTION: "accuracy_inclusive", IDENTIFICATION: "f1"}
"""The metric by which the models of a task are compared."""

LEAST = 30
"""Examples; fewer do not show which of two models is better."""

LEAST_PASSAGES = 10
"""Passages, the units of resampling; fewer do not show which of two models is better."""

Done = Callable[[int, int], None]
"""Called with the examples answered so far and their total."""


@dataclass(frozen=True, slots=True)
class Score:
    """Two models on the same examples. All figures are fractions."""

    n: int
    passages: int
    ours: float | None
    """The metric of the new model."""
    theirs: float | None = None
    """The metric of the other model; None if there is no other model."""
    difference: float | None = None
    """`ours` minus `theirs`; None if there is no other model, or no interval."""
    low: float | None = None
    """Lower bound of the 95 % interval of `difference`; `high` is the upper one."""
    high: float | None = None
    p: float | None = None
    """Two-sided p-value; None if there is none."""
    only_ours: int = 0
    """Examples that only the new model answers correctly."""
    only_theirs: int = 0
    """Examples that only the other model answers correctly."""

    @property
    def enough(self) -> bool:
        """True if there are enough examples to tell which model is better."""
        return self.n >= LEAST and self.passages >= LEAST_PASSAGES


TrialModel = Resolver | Identifier
One = TypeVar("One", bound=ResolutionExample | Example)
Made = TypeVar("Made", bound=TrialModel)
Said = TypeVar("Said")


class Benchmark(Generic[One, Made, Said]):
    """The held-out examples of a task, and the answers of models to them."""

    def __init__(self, examples: Iterable[One]) -> None:
        self.examples = tuple(examples)

    def without(self, passages: frozenset[str]) -> "Benchmark[One, Made, Said]":
        """Return the bench without the examples of these passages, given by digest."""
        return type(self)(one for one in self.examples if one.group not in passages)

    @property
    def passages(self) -> int:
        """Number of passages."""
        return len({one.group for one in self.examples})

    @property
    def saw_model(self) -> int:
        """Number of examples whose gold was given with a model's answer in view."""
        return sum(one.saw_model for one in self.examples)

    def answers(
        self, models: Sequence[Made], parser: "Parser | None", done: Done
    ) -> list[list[Said]]:
        """Return each model's answers to all examples. Raises ParserError."""
        raise NotImplementedError

    def score(self, ours: Sequence[Said], theirs: Sequence[Said] | None) -> Score:
        """Return the score of both models. theirs: None if there is no other model."""
        raise NotImplementedError

    def compared(
        self,
        found: "Paired | IdentifierComparison",
        ours: float | None,
        theirs: float | None,
    ) -> Score:
        """Return the score of two models that were compared on these examples."""
        it = found.difference
        beside = found.p, found.only_first, found.only_second
        return Score(it.n, self.passages, ours, theirs, it.value, it.low, it.high, *beside)

    def blind_score(self, ours: Sequence[Said], theirs: Sequence[Said]) -> Score:
        """Return the score on the examples whose gold was given without a model's answer in
        view.
        """
        kept = [place for place, one in enumerate(self.examples) if not one.saw_model]
        bench = type(self)(self.examples[place] for place in kept)
        return bench.score([ours[it] for it in kept], [theirs[it] for it in kept])


class ResolutionBenchmark(Benchmark[ResolutionExample, Resolver, Choice | None]):
    """Resolution: any word with the form of a gold head is correct, or the gold class."""

    def answers(
        self, models: Sequence[Resolver], parser: "Parser | None", done: Done
    ) -> list[list[Choice | None]]:
        """Return each model's choices; each passage is parsed once for all models."""
        needs = needed(models)
        check_layers(needs, parser)
        said: list[list[Choice | None]] = [[] for _ in models]
        answered = 0
        for plain in batches(one.item for one in self.examples):
            parsed = parse_items(plain, needs, parser)
            for place, model in enumerate(models):
                done(answered, len(self.examples))  # a batch takes a network seconds
                said[place] += model.resolve(parsed if model.needs else plain)
            answered += len(plain)
            done(answered, len(self.examples))
        return said

    def score(
        self, ours: Sequence[Choice | None], theirs: Sequence[Choice | None] | None
    ) -> Score:
        """Return the inclusive accuracy of both models."""
        from nfh_models.resolution.evaluation import compare
        from nfh_models.resolution.scoring import figures, judge

        mine, figure = judge(self.examples, ours), FIGURES[RESOLUTION]
        if theirs is None or not mine:
            value = getattr(figures(mine), figure) if mine else None
            return Score(len(mine), self.passages, value)
        found = compare(mine, judge(self.examples, theirs), None, figure)
        return self.compared(found, found.first, found.second)


class IdentificationBenchmark(Benchmark[Example, Identifier, Decision]):
    """Identification."""

    def answers(
        self, models: Sequence[Identifier], parser: "Parser | None", done: Done
    ) -> list[list[Decision]]:
        """Return each model's decisions; each sentence is parsed once for all models."""
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
        """Return the F1 of both models."""
        from nfh_models.identification.evaluation import compare

        f1 = self._f1(ours)
        if theirs is None or not self.examples:
            return Score(len(self.examples), self.passages, f1)
        mine, other = ([one.nfh for one in said] for said in (ours, theirs))
        return self.compared(compare(self.examples, mine, other), f1, self._f1(theirs))

    def _f1(self, said: Sequence[Decision]) -> float | None:
        from nfh_models.identification.scores import count

        pairs = zip(self.examples, said, strict=True)
        return count((one.nfh, decision.nfh) for one, decision in pairs).f1


def needed(models: Iterable[TrialModel]) -> frozenset[ParseLayer]:
    """Return the parse layers that all models together need; empty if none needs a parser."""
    return frozenset[ParseLayer]().union(*(model.needs for model in models))


# The decision on a new model: both models answer the held-out gold.
#
# The new model is promoted if it is significantly better in one task, or the active one is
# broken, and if it loses at most TOLERATED in the other task. It is rejected if it is
# significantly worse in one task and better in none. Otherwise it is a candidate, which a
# person may activate.

ALPHA = 0.05
"""Significance level: a smaller p-value counts as a difference."""

TOLERATED = 0.01
"""Largest tolerated loss in one task, not significant, of a model that is better in the other.
"""

TASKS: Mapping[str, tuple[str, ...]] = {
    "resolution": ("resolution",),
    "identification": ("identification",),
    "both": ("resolution", "identification"),
}
"""The tasks in which a model of a task is judged; the first one gives its main metric."""


class TaskComparison(StrEnum):
    """The outcome of a comparison in one task."""

    FIRST = "first"
    BETTER = "better"
    EVEN = "even"
    WORSE = "worse"
    TOO_FEW = "too few"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class PromotionTrial:
    """A new model in one task, compared with the active one."""

    task: str
    outcome: TaskComparison
    score: Score
    active: str | None = None
    """Name of the active model; None if there is none."""
    active_id: int | None = None
    against: str = ""
    """Name of the model with which it was compared; empty for none.

    This is the built-in model if the active one is broken.
    """
    against_id: int | None = None
    """None for a built-in model, which has no row."""
    broken: str = ""
    """Why the active model cannot be loaded; empty if it can."""
    untried: str = ""
    """Why the active model could not be run here; empty if it could."""
    learnt_with: str = ""
    """The parser with which the other model learnt, if it was given another parser's output."""
    saw_model: int = 0
    """Examples whose gold was given with a model's answer in view."""
    blind: Score | None = None
    """The score without these examples; None if there are none."""
    left_out: int = 0
    """Examples that were excluded because one of the two models has seen their passages."""

    @property
    def figure(self) -> str:
        """Name of the metric by which models of the task are compared."""
        return FIGURES[self.task]


@dataclass(frozen=True, slots=True)
class PromotionDecision:
    """The decision on a new model, with its reasons."""

    verdict: str
    """One of "promoted", "candidate", "rejected"; "first" if there is no active model."""
    reason: str
    """Sentences with the figures."""
    on: str = ""
    """Description of the examples on which it was judged."""
    learnt_saw_model: int = 0
    """Labels that it learnt from and that were given with a model's answer in view."""
    trials: tuple[PromotionTrial, ...] = field(default_factory=tuple)
    """One per task; the figures of the first one are the top-level fields of the JSON."""

    def to_json(self) -> dict[str, object]:
        """Return the decision as the model's row and the job's result store it; figures are
        fractions.
        """
        own = {} if not self.trials else _trial_json(self.trials[0])
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "on": self.on,
            "learnt_saw_model": self.learnt_saw_model,
            **own,
            "trials": [_trial_json(one) for one in self.trials],
        }


def _trial_json(trial: PromotionTrial) -> dict[str, object]:
    named = asdict(trial)
    score = named.pop("score")
    return {
        **named,
        "outcome": trial.outcome.value,
        "figure": trial.figure,
        "against": trial.against or None,
        "broken": trial.broken or None,
        "untried": trial.untried or None,
        "learnt_with": trial.learnt_with or None,
        **score,
    }


def judge(
    store: "Store", snapshot: "Snapshot", folder: Path, tell: Tell, *, parser: str | None = None
) -> PromotionDecision:
    """Judge a finished model that is not registered yet. Writes nothing.

    snapshot: the labels of its training. folder: the model's. tell: called with each phase; an
    exception that it raises ends the judging. parser: as for --parser. Raises ModelsError if
    the new model cannot be used, StoreError.
    """

    court = _Court(store, snapshot, folder, tell, parser)
    trials = tuple(court.trial(task) for task in TASKS[snapshot.task])
    labels = [it for sheet in snapshot.sheets if not sheet.dev for it in sheet.labels]
    return PromotionDecision(
        verdict_of(trials),
        reason_of(trials),
        snapshot.judged_on,
        sum(one.saw_model for one in labels),
        trials,
    )


def verdict_of(trials: tuple[PromotionTrial, ...]) -> str:
    """Return the verdict for the outcomes of all tasks."""
    outcomes = {one.outcome for one in trials}
    if TaskComparison.FIRST in outcomes:
        return FIRST_VERDICT
    if TaskComparison.WORSE in outcomes:
        return CANDIDATE if TaskComparison.BETTER in outcomes else REJECTED
    better = TaskComparison.BETTER in outcomes or any(one.broken for one in trials)
    return PROMOTED if better and all(map(_no_worse, trials)) else CANDIDATE


def _no_worse(trial: PromotionTrial) -> bool:
    """Return True if the model is better, or its loss is tolerated."""
    if trial.outcome is TaskComparison.BETTER:
        return True
    difference = trial.score.difference
    return (
        trial.outcome is TaskComparison.EVEN
        and difference is not None
        and difference >= -TOLERATED
    )


def outcome_of(score: Score, blind: Score | None) -> TaskComparison:
    """Classify the difference between two models.

    blind: the score on gold that was given without a model's answer in view, if there is other
    gold too. Gold given with an answer in view favours the older model.
    """
    if not score.enough:
        return TaskComparison.TOO_FEW
    if score.difference is None:
        return TaskComparison.NOT_TRIED
    if score.p is None or score.p >= ALPHA:
        return TaskComparison.EVEN
    if score.difference > 0:
        return TaskComparison.EVEN if _against(blind, better=True) else TaskComparison.BETTER
    unsure = blind is not None and not blind.enough
    return (
        TaskComparison.EVEN if unsure or _against(blind, better=False) else TaskComparison.WORSE
    )


def _against(blind: Score | None, *, better: bool) -> bool:
    """Return True if the score on blind gold contradicts the difference."""
    if blind is None or blind.difference is None or not blind.enough:
        return False
    return blind.difference < 0 if better else blind.difference > 0


# --- one task -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Other:
    """The model for comparison: the active one, or the built-in one if that is broken."""

    model: "Model | None" = None
    """The row of the active model; None if there is none."""
    made: "TrialModel | None" = None
    """The model that answers; None for none."""
    name: str = ""
    model_id: int | None = None
    broken: str = ""
    """Why the active model cannot be loaded; empty if it can."""
    folder: Path | None = None
    """Of the files of the model that answers; None for rules."""


@dataclass(frozen=True, slots=True)
class _Court:
    """The arguments of `judge`, shared by all tasks."""

    store: "Store"
    snapshot: "Snapshot"
    folder: Path
    tell: Tell
    parser: str | None
    loaded: Loaded = field(default_factory=dict)

    def trial(self, task: str) -> PromotionTrial:
        choosing: ModelSelector[Any] = IDENTIFIERS
        bench: Benchmark[Any, Any, Any] = IdentificationBenchmark(self.snapshot.dev_numbers)
        if task == RESOLVERS.task:
            choosing, bench = RESOLVERS, ResolutionBenchmark(self.snapshot.dev)
        kept_out = len(bench.examples)
        ours = choosing.find(None, str(self.folder), loaded=self.loaded).model
        other = self._other(choosing)
        bench = bench.without(self._seen(other))
        parser, untried = self._parser(ours, other)
        models = [ours] if untried or other.made is None else [ours, other.made]

        def done(answered: int, total: int) -> None:
            self.tell(Phase(f"judging {task}", answered, total))

        said = bench.answers(models, parser, done)
        beside = said[1] if len(said) > 1 else None
        score, blind, outcome = bench.score(said[0], beside), None, TaskComparison.NOT_TRIED
        if beside is not None:
            if bench.saw_model:
                blind = bench.blind_score(said[0], beside)
            outcome = outcome_of(score, blind)
        return PromotionTrial(
            task,
            TaskComparison.FIRST if other.model is None else outcome,
            score,
            None if other.model is None else other.model.name,
            None if other.model is None else other.model.id,
            other.name,
            other.model_id,
            other.broken,
            untried,
            "" if beside is None else _other_parser(other.made, parser),
            bench.saw_model,
            blind,
            kept_out - len(bench.examples),
        )

    def _other(self, choosing: ModelSelector[Any]) -> _Other:
        if (model := choosing.named(self.store, None)) is None:
            return _Other()
        try:
            made = choosing.load(self.store, model, register=False, loaded=self.loaded)
        except (ModelsError, ImportError, OSError) as error:
            instead = choosing.find(None, loaded=self.loaded)
            return _Other(model, instead.model, instead.name, None, str(error), instead.folder)
        folder = files_of(self.store.path, model)
        return _Other(model, made, model.name, model.id, folder=folder)

    def _seen(self, other: _Other) -> frozenset[str]:
        """Return the held-out passages that either model has seen, by digest."""
        active = None if other.broken else other.model
        tests = seen_by(None, None, self.folder), seen_by(self.store, active, other.folder)
        return frozenset(
            one.passage.digest
            for one in self.snapshot.sheets
            if one.dev and any(test(one.passage) for test in tests)
        )

    def _parser(self, ours: "TrialModel", other: _Other) -> "tuple[Parser | None, str]":
        """Return a parser for both models; if the other one has none, a parser for ours and the
        reason.
        """
        if other.made is None:
            return _parser_for([ours], self.parser), ""
        try:
            return _parser_for([ours, other.made], self.parser), ""
        except ParserError as error:
            return _parser_for([ours], self.parser), str(error)


def _parser_for(models: "Sequence[TrialModel]", spec: str | None) -> "Parser | None":
    """Return a parser for all models; None if none needs one. Raises ParserError."""
    if not (needs := needed(models)):
        return None
    from nfh_models.parsing.base import load_parser

    return load_parser(spec, needs)


def _other_parser(made: "TrialModel | None", parser: "Parser | None") -> str:
    """Return the parser with which a model learnt, if it now gets another parser's output."""
    learnt_with = getattr(made, "parser", None)
    if made is None or parser is None or not made.needs or not isinstance(learnt_with, str):
        return ""
    return "" if learnt_with == parser.name else learnt_with


MINUS = "\N{MINUS SIGN}"


def reason_of(trials: "Sequence[PromotionTrial]") -> str:
    """Explain a verdict in sentences."""
    if len(trials) == 1:
        return " ".join(_sentences(trials[0]))
    return " ".join(f"{one.task.capitalize()}: {' '.join(_sentences(one))}" for one in trials)


def _sentences(trial: "PromotionTrial") -> Iterator[str]:
    if trial.active is None:
        yield _alone(trial, "There was no other model to compare it with")
        return
    if trial.broken:
        yield f"{trial.active}, which is in use, cannot be used ({trial.broken.rstrip('.')})."
    if trial.untried:
        why = trial.untried.rstrip(".")
        yield _alone(trial, f"{trial.against} could not be compared with it ({why})")
        return
    yield _compared(trial)
    yield from _asides(trial)


def _alone(trial: "PromotionTrial", why: str) -> str:
    if trial.score.ours is None:
        return f"{why}."
    return f"{why}: {_figure(trial, trial.score.ours)}."


def _compared(trial: "PromotionTrial") -> str:
    score = trial.score
    if not score.n and trial.left_out:
        return f"{trial.against} or the new model has seen everything that was kept out."
    if not score.n:
        return f"Nothing was kept out on which it can be compared with {trial.against}."
    if score.ours is None or score.theirs is None or score.difference is None:
        return f"The {_things(trial)} kept out do not show which of the two is better."
    theirs = _share(trial, score.theirs)
    figures = f"{_figure(trial, score.ours)}, {trial.against} {theirs}"
    if not score.enough:
        return (
            f"{figures}: too few to say which is better "
            f"(wanted {LEAST} in {LEAST_PASSAGES} passages)."
        )
    return f"{figures}: {_difference_words(score)}."


def _difference_words(score: Score) -> str:
    difference = score.difference or 0.0
    if not round(abs(difference), 4):
        return "no difference"
    points = f"{100 * abs(difference):.1f}"
    more = "more" if difference > 0 else "less"
    return f"{points} points {more}{_chance(score)}"


def _chance(score: Score) -> str:
    if score.p is None or score.low is None or score.high is None:
        return ""
    between = f"{signed(score.low)} to {signed(score.high)}"
    return f" (95 %: {between}; p {_p(score.p)})"


def _asides(trial: "PromotionTrial") -> Iterator[str]:
    if trial.learnt_with:
        yield (
            f"{trial.against} learnt with the parser {trial.learnt_with} and was tested with "
            "another, which may have lowered its figures."
        )
    if trial.left_out and trial.score.n:
        yield (
            f"{counted(trial.left_out, 'example')} more were left out: {trial.against} or the "
            "new model has seen their passages."
        )
    if trial.saw_model:
        have = "has" if trial.saw_model == 1 else "have"
        told = (
            f"{trial.saw_model:,} of them {have} gold that was decided with a model's answer "
            "in view, which favours the older model"
        )
        blind = trial.blind
        if blind is not None and blind.difference is not None and blind.enough:
            told += f"; on the other {blind.n:,}: {_difference_words(blind)}"
        yield f"{told}."


def _figure(trial: "PromotionTrial", value: float) -> str:
    if trial.task == IDENTIFICATION:
        return f"F1 {percent(value)} on {_things(trial)}"
    return f"{percent(value)} % of {_things(trial)} right"


def _share(trial: "PromotionTrial", value: float) -> str:
    return percent(value) if trial.task == IDENTIFICATION else f"{percent(value)} %"


def _things(trial: "PromotionTrial") -> str:
    return counted(trial.score.n, "number" if trial.task == IDENTIFICATION else "example")


def signed(value: float) -> str:
    """Format percentage points with their sign."""
    return f"{'+' if value > 0 else MINUS if value < 0 else ''}{100 * abs(value):.1f}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
