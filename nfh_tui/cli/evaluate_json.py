"""An evaluation of identification as one JSON object: fractions, null where there is none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nfh_models.agreement.measure import Measure
from nfh_models.identification.evaluating import LABELS, Error, Evaluation, Part
from nfh_models.identification.intervals import Comparison
from nfh_models.identification.scores import Counts
from nfh_tui.evaluating import Entrant, Judged, Trial

Json = dict[str, object]

TASK = "identification"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the report was asked for. query, split, file: what it is about, as typed."""

    query: str
    split: str | None
    file: str | None
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Versus:
    """Two of the entrants compared, by name."""

    first: str
    second: str
    comparison: Comparison


def as_json(
    trial: Trial, found: Sequence[Evaluation], versus: Sequence[Versus], asked: Asked
) -> Json:
    """The whole report: of one entrant its own keys, of several a list of such objects."""
    judged = [
        _entrant(trial, one, evaluation)
        for one, evaluation in zip(trial.judged, found, strict=True)
    ]
    told = about(trial, asked)
    if len(judged) == 1:
        return told | judged[0]
    return told | {"models": judged, "comparisons": [_versus(one) for one in versus]}


class Held(Protocol):
    """What the trials of both tasks say of what they were held on."""

    @property
    def source(self) -> str: ...
    @property
    def format(self) -> str | None: ...
    @property
    def parser(self) -> str | None: ...
    @property
    def left_out(self) -> Mapping[str, int]: ...
    @property
    def warnings(self) -> Sequence[str]: ...


def about(trial: Trial, asked: Asked) -> Json:
    """What was measured on, and what was left out of it."""
    return held_on(TASK, trial, asked) | {
        "no_number": trial.no_number,
        "saw_model": sum(example.saw_model for example in trial.examples),
    }


def held_on(task: str, trial: Held, asked: Asked) -> Json:
    """The keys that both tasks have."""
    return {
        "task": task,
        "query": asked.query,
        "split": asked.split,
        "file": asked.file,
        "source": trial.source,
        "format": trial.format,
        "parser": trial.parser,
        "interval": {"coverage": 0.95, "resamples": asked.resamples, "seed": asked.seed},
        "left_out": dict(trial.left_out),
        "warnings": list(trial.warnings),
    }


def _entrant(trial: Trial, judged: Judged, found: Evaluation) -> Json:
    entrant = judged.entrant
    parsing = trial.parsing if entrant.needs else 0.0
    return {
        "model": entrant.name,
        "recipe": entrant.recipe,
        "version": entrant.version,
        "model_id": entrant.model_id,
        "folds": entrant.folds,
        "trained_on": trained_on(entrant),
        **figures(found.counts),
        "groups": found.groups,
        "ci95": {
            "precision": interval(found.precision),
            "recall": interval(found.recall),
            "f1": interval(found.f1),
            "accuracy": interval(found.accuracy),
        },
        "confusion": {"labels": list(LABELS), "rows": [list(row) for row in found.counts.rows]},
        "seconds": round(parsing + judged.seconds, 3),
        "seconds_parsing": round(parsing, 3),
        "per_rule": [_rule(part) for part in found.by_rule],
        "per_word": _parts("word", found.by_word),
        "per_kind": _parts("kind", found.by_kind),
        "per_length": _parts("length", found.by_length),
        "errors": [error(one) for one in found.errors],
    }


def trained_on(entrant: Entrant) -> Json | None:
    """What an entrant was fitted on, for the trial."""
    lesson = entrant.lesson
    if lesson is None:
        return None
    return {"file": lesson.name, "examples": lesson.size, "left_out": lesson.dropped}


def figures(counts: Counts) -> Json:
    """The figures that follow from counts."""
    return {
        "n": counts.n,
        "nfh": counts.nfh,
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "accuracy": counts.accuracy,
    }


def interval(measure: Measure) -> list[float] | None:
    """The ends of a measure's interval; None where it has none."""
    if measure.low is None or measure.high is None:
        return None
    return [measure.low, measure.high]


def _rule(part: Part) -> Json:
    counts = part.counts
    return {
        "rule": part.name,
        "n": counts.n,
        "called_nfh": counts.hit + counts.false,
        "right": counts.right,
        "wrong": counts.wrong,
        "accuracy": counts.accuracy,
    }


def _parts(key: str, parts: Iterable[Part]) -> list[Json]:
    return [
        {key: part.name, **figures(part.counts), "wrong": part.counts.wrong} for part in parts
    ]


def error(one: Error) -> Json:
    """An error: start and end are code points of its text, end-exclusive."""
    text, start, end = spelled(one)
    decision = one.decision
    return {
        "where": one.example.where,
        "text": text,
        "start": start,
        "end": end,
        "label": LABELS[not one.example.nfh],
        "decision": LABELS[not decision.nfh],
        "rule": decision.rule,
        "score": decision.score,
        "weights": [[name, weight] for name, weight in decision.weights],
    }


def spelled(one: Error) -> tuple[str, int, int]:
    """The sentence of an error, and the code points [start, end) of its number."""
    case = one.example.case
    words, spaces = case.stretch.words, case.stretch.spaces
    starts = []
    text = ""
    for word, space in zip(words, spaces, strict=True):
        starts.append(len(text))
        text += word + " " * space
    end = starts[case.end - 1] + len(words[case.end - 1])
    return text.rstrip(), starts[case.start], end


def _versus(one: Versus) -> Json:
    comparison = one.comparison
    return {
        "first": one.first,
        "second": one.second,
        "f1_difference": comparison.difference.value,
        "ci95": interval(comparison.difference),
        "p": comparison.p,
        "only_first_right": comparison.only_first,
        "only_second_right": comparison.only_second,
        "why": comparison.difference.why,
    }
