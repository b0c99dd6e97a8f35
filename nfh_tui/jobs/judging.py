"""Is a new model better than the one in use? Both answer what was kept out of learning.

A new model takes over where it is better by more than chance would explain, and in no task
that it does worse. Where it is worse by more than chance it is rejected. All else makes a
candidate, which a person may put to use.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nfh_db.outcomes import CANDIDATE, FIRST, PROMOTED, REJECTED
from nfh_models.errors import ModelsError
from nfh_models.parsing.parsed import ParserError
from nfh_tui.choosing_models import IDENTIFICATION, Choosing, Loaded
from nfh_tui.choosing_resolvers import RESOLUTION
from nfh_tui.jobs.judging_trials import (
    FIGURES,
    Bench,
    Score,
    identification_bench,
    needed,
    resolution_bench,
)
from nfh_tui.learnt import passages_learnt_from
from nfh_tui.training_jobs import Phase, Step

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.parsing.parsed import Parser
    from nfh_tui.jobs.judging_trials import Model as Answering
    from nfh_tui.jobs.snapshot import Snapshot

ALPHA = 0.05
"""A difference that chance alone makes less often than this is one."""

TOLERATED = 0.01
"""By so much a model that is better in one task may seem worse in the other."""

Tell = Callable[[Step], None]

TASKS: Mapping[str, tuple[str, ...]] = {
    "resolution": ("resolution",),
    "identification": ("identification",),
    "both": ("resolution", "identification"),
}
"""The tasks in which a model of a task is judged, the one first whose figure it is known by."""


class Outcome(StrEnum):
    """How a new model did in one task."""

    FIRST = "first"
    BETTER = "better"
    EVEN = "even"
    WORSE = "worse"
    TOO_FEW = "too few"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Trial:
    """A new model in one task, beside the one in use.

    active, active_id: the model in use; None where there is none. against: beside whom it was
    judged, "" for nobody; against_id: its number, None of one that has none. broken: why the
    model in use cannot be used; untried: why it could not be tried here; both "" where it
    could. learnt_with: the parser that it learnt with, where it was given another's words.
    saw_model: examples whose gold was given with a model's answer in view; blind: the
    score on the others, where there are both. left_out: examples more, which the model in use
    learnt from.
    """

    task: str
    outcome: Outcome
    score: Score
    active: str | None = None
    active_id: int | None = None
    against: str = ""
    against_id: int | None = None
    broken: str = ""
    untried: str = ""
    learnt_with: str = ""
    saw_model: int = 0
    blind: Score | None = None
    left_out: int = 0

    @property
    def figure(self) -> str:
        """By which it is judged."""
        return FIGURES[self.task]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a new model, and why.

    verdict: promoted, candidate, rejected, or first where there is no other. reason: in
    sentences, with the figures. on: what it was judged on, in words. learnt_saw_model: labels
    that it learnt from and that were given with a model's answer in view. trials: one a task,
    the one first whose figures stand in the JSON's own fields.
    """

    verdict: str
    reason: str
    on: str = ""
    learnt_saw_model: int = 0
    trials: tuple[Trial, ...] = field(default_factory=tuple)

    @property
    def promotes(self) -> bool:
        """Whether the model is to take over."""
        return self.verdict == PROMOTED

    def to_json(self) -> dict[str, object]:
        """As the model's row and the job's result have it; fractions."""
        own = {} if not self.trials else _trial_json(self.trials[0])
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "on": self.on,
            "learnt_saw_model": self.learnt_saw_model,
            **own,
            "trials": [_trial_json(one) for one in self.trials],
        }


def _trial_json(trial: Trial) -> dict[str, object]:
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
) -> Verdict:
    """Judge a model that is finished and not yet registered.

    snapshot: the labels of its training. folder: the model's. tell: told how far it is; what
    it raises ends the judging. parser: as --parser has it. Nothing is written. Raises
    ModelsError where the new model itself cannot be used, StoreError.
    """
    from nfh_tui.jobs.judging_words import reason_of

    court = _Court(store, snapshot, folder, tell, parser)
    trials = tuple(court.trial(task) for task in TASKS[snapshot.task])
    labels = [it for sheet in snapshot.sheets if not sheet.dev for it in sheet.labels]
    return Verdict(
        verdict_of(trials),
        reason_of(trials),
        snapshot.judged_on,
        sum(one.saw_model for one in labels),
        trials,
    )


def verdict_of(trials: tuple[Trial, ...]) -> str:
    """What becomes of a model that did so."""
    outcomes = {one.outcome for one in trials}
    if Outcome.FIRST in outcomes:
        return FIRST
    if Outcome.WORSE in outcomes:
        return CANDIDATE if Outcome.BETTER in outcomes else REJECTED
    better = Outcome.BETTER in outcomes or any(one.broken for one in trials)
    return PROMOTED if better and all(map(_no_worse, trials)) else CANDIDATE


def _no_worse(trial: Trial) -> bool:
    """Whether it is known to be better, or as good as one may ask."""
    if trial.outcome is Outcome.BETTER:
        return True
    difference = trial.score.difference
    return trial.outcome is Outcome.EVEN and difference is not None and difference >= -TOLERATED


def outcome_of(score: Score, blind: Score | None) -> Outcome:
    """How one did beside another. blind: the score on gold that was given without a model's
    answer in view, where other gold is among the examples; it favours the older model."""
    if not score.enough:
        return Outcome.TOO_FEW
    if score.difference is None:
        return Outcome.NOT_TRIED
    if score.p is None or score.p >= ALPHA:
        return Outcome.EVEN
    if score.difference > 0:
        return Outcome.EVEN if _against(blind, better=True) else Outcome.BETTER
    unsure = blind is not None and not blind.enough
    return Outcome.EVEN if unsure or _against(blind, better=False) else Outcome.WORSE


def _against(blind: Score | None, *, better: bool) -> bool:
    """Whether the gold given blind says the contrary."""
    if blind is None or blind.difference is None or not blind.enough:
        return False
    return blind.difference < 0 if better else blind.difference > 0


# --- one task -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Other:
    """Beside whom a model is judged: the one in use, or a built-in one where that is broken.

    model: the row of the one in use. made: who answers; None for nobody.
    """

    model: "Model | None" = None
    made: "Answering | None" = None
    name: str = ""
    model_id: int | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class _Court:
    """What is needed in every task; as the arguments of `judge`."""

    store: "Store"
    snapshot: "Snapshot"
    folder: Path
    tell: Tell
    parser: str | None
    loaded: Loaded = field(default_factory=dict)

    def trial(self, task: str) -> Trial:
        """The two models in one task."""
        choosing: Choosing[Any] = IDENTIFICATION
        bench: Bench[Any, Any, Any] = identification_bench(self.snapshot)
        if task == RESOLUTION.task:
            choosing, bench = RESOLUTION, resolution_bench(self.snapshot)
        kept_out = len(bench.examples)
        ours = choosing.find(None, str(self.folder), loaded=self.loaded).model
        other = self._other(choosing)
        if other.model is not None and not other.broken:
            bench = bench.without(passages_learnt_from(self.store, other.model))
        parser, untried = self._parser(ours, other)
        said = self._answers(bench, [ours] if untried else [ours, other.made], parser)
        beside = said[1] if len(said) > 1 else None
        score, blind, outcome = bench.score(said[0], beside), None, Outcome.NOT_TRIED
        if beside is not None:
            if bench.saw_model:
                blind = bench.blind_score(said[0], beside)
            outcome = outcome_of(score, blind)
        return Trial(
            task,
            Outcome.FIRST if other.model is None else outcome,
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

    def _other(self, choosing: Choosing[Any]) -> _Other:
        model = choosing.named(self.store, None)
        if model is None:
            return _Other()
        try:
            made = choosing.load(self.store, model, register=False, loaded=self.loaded)
        except (ModelsError, ImportError, OSError) as error:
            instead = choosing.find(None, loaded=self.loaded)
            return _Other(model, instead.model, instead.name, None, str(error))
        return _Other(model, made, model.name, model.id)

    def _parser(self, ours: "Answering", other: _Other) -> "tuple[Parser | None, str]":
        """What serves both; ours alone, and why, where the other cannot be served."""
        if other.made is None:
            return _parser_for([ours], self.parser), ""
        try:
            return _parser_for([ours, other.made], self.parser), ""
        except ParserError as error:
            return _parser_for([ours], self.parser), str(error)

    def _answers(
        self,
        bench: Bench[Any, Any, Any],
        models: "Sequence[Answering | None]",
        parser: "Parser | None",
    ) -> list[list[Any]]:
        """What those say of the examples that are there."""

        def done(answered: int, total: int) -> None:
            self.tell(Phase(f"judging {bench.task}", answered, total))

        return bench.answers([one for one in models if one is not None], parser, done)


def _parser_for(models: "Sequence[Answering]", spec: str | None) -> "Parser | None":
    """What serves them all; None where none needs any. Raises ParserError."""
    needs = needed(models)
    if not needs:
        return None
    from nfh_models.parsing import load_parser

    return load_parser(spec, needs)


def _other_parser(made: "Answering | None", parser: "Parser | None") -> str:
    """The parser that a model learnt with, where it is given another's words."""
    learnt_with = getattr(made, "parser", None)
    if made is None or parser is None or not made.needs or not isinstance(learnt_with, str):
        return ""
    return "" if learnt_with == parser.name else learnt_with
