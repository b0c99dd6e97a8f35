"""An evaluation of resolution as one JSON object: fractions, null where there is none."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nfh_models.resolution.scoring import (
    COLUMNS,
    Calibration,
    ClassPart,
    Evaluation,
    Figures,
    HeadFigures,
    Judged,
    Mistaken,
    Paired,
    Part,
    Reliability,
)
from nfh_models.resolution.scoring import Entrant as Scored
from nfh_models.resolution.scoring.judging import score_of
from nfh_tui.cli.evaluate_call import RESOLUTION
from nfh_tui.cli.evaluate_json import Asked, Json, held_on, interval
from nfh_tui.resolution_trial import Judged as Said
from nfh_tui.resolution_trial import Trial

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import Found, Versus

AROUND = 300
"""Code points of a passage on either side of an anchor that an error quotes."""


def as_json(found: "Found", asked: Asked) -> Json:
    """The whole report: of one entrant its own keys, of several a list of such objects."""
    trial = found.trial
    told = held_on(RESOLUTION, trial, asked) | {
        "unknown": trial.unknown,
        "saw_model": trial.saw_model,
        "saw_model_share": _share(trial.saw_model, len(trial.examples)),
    }
    if found.baselines:
        told["baselines"] = [_baseline(one) for one in found.baselines]
    judged = [
        _entrant(trial, one, evaluation)
        for one, evaluation in zip(trial.judged, found.evaluations, strict=True)
    ]
    if len(judged) == 1:
        return told | judged[0]
    return told | {"models": judged, "comparisons": [_versus(one) for one in found.versus]}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _entrant(trial: Trial, said: Said, found: Evaluation) -> Json:
    entrant = said.entrant
    parsing = trial.parsing if entrant.needs else 0.0
    calibration = found.calibration
    return {
        "model": entrant.name,
        "recipe": entrant.resolver.recipe,
        "version": entrant.resolver.version,
        "model_id": entrant.model_id,
        **figures(found.figures),
        "groups": found.groups,
        "lost": found.lost,
        "heads": heads(found.heads),
        "heads_several": heads(found.heads_several),
        "mentions": mentions(found.heads),
        "ci95": {name: interval(measure) for name, measure in found.ci95.items()},
        "confusion": {
            "labels": list(COLUMNS),
            "rows": [list(row) for row in found.confusion.rows],
            "unanswered": list(found.confusion.unanswered),
        },
        "ece": None if calibration is None else calibration.before.ece,
        "calibration": _calibration(calibration),
        "noun_calibration": _calibration(found.noun_calibration),
        "oracle": None if found.oracle is None else figures(found.oracle),
        "seconds": round(parsing + said.seconds, 3),
        "seconds_parsing": round(parsing, 3),
        "per_class": [_class(one) for one in found.by_class],
        "per_word": _parts("word", found.by_word),
        "per_shape": _parts("shape", found.by_shape),
        "per_distance": _parts("distance", found.by_distance),
        "per_turns": _parts("turns", found.by_turns),
        "per_side": _parts("side", found.by_side),
        "per_error": [
            {"kind": one.mistake.value, "n": one.n, "share": one.share}
            for one in found.by_mistake
        ],
        "errors": [error(one) for one in found.mistakes],
    }


def figures(one: Figures) -> Json:
    """The figures that follow from counts; they are those of all examples."""
    return {
        "n": one.n,
        "answered": one.answered_n,
        "accuracy": one.accuracy,
        "accuracy_inclusive": one.accuracy_inclusive,
        "accuracy_nearest": one.accuracy_nearest,
        "binary": one.binary,
        "class_accuracy": one.class_accuracy,
        "references": one.reference_n,
        "reference": one.reference,
        "reference_inclusive": one.reference_inclusive,
        "reference_nearest": one.reference_nearest,
        "implicit": one.implicit,
    }


def heads(one: HeadFigures | None) -> Json | None:
    """How well heads are found as nouns; None without answers."""
    if one is None:
        return None
    return {
        "n": one.n,
        "exact": one.exact,
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "relations": one.relation_n,
        "relation": one.relation,
    }


def mentions(one: HeadFigures | None) -> Json | None:
    """How well heads are found as tokens; None without answers."""
    if one is None:
        return None
    return {
        "exact": one.exact_mentions,
        "precision": one.mentions.precision,
        "recall": one.mentions.recall,
        "f1": one.mentions.f1,
    }


def _calibration(one: Calibration | None) -> Json | None:
    if one is None:
        return None
    return {
        "n": one.n,
        "temperature": one.temperature,
        "temperature_halves": None if one.halves is None else list(one.halves),
        "before": _reliability(one.before),
        "after": _reliability(one.after),
    }


def _reliability(one: Reliability | None) -> Json | None:
    if one is None:
        return None
    return {
        "ece": one.ece,
        "nll": one.nll,
        "bins": [
            {
                "low": part.low,
                "high": part.high,
                "n": part.n,
                "confidence": part.confidence,
                "accuracy": part.accuracy,
            }
            for part in one.bins
        ],
    }


def _class(one: ClassPart) -> Json:
    return {
        "class": one.label,
        "n": one.n,
        "predicted": one.predicted,
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "accuracy": one.accuracy,
    }


def _parts(key: str, parts: Iterable[Part]) -> list[Json]:
    return [{key: part.name, **figures(part.figures)} for part in parts]


def _baseline(one: Scored) -> Json:
    return {
        "model": one.name,
        "n": one.figures.reference_n,
        "reference": one.figures.reference,
        "reference_inclusive": one.figures.reference_inclusive,
        "reference_nearest": one.figures.reference_nearest,
    }


def _versus(one: "Versus") -> Json:
    return {
        "first": one.first,
        "second": one.second,
        "tests": [_test(test) for test in one.tests],
    }


def _test(one: Paired) -> Json:
    return {
        "figure": one.measure,
        "first": one.first,
        "second": one.second,
        "difference": one.difference.value,
        "ci95": interval(one.difference),
        "p": one.p,
        "sign_flips": one.sign_flips,
        "mcnemar_p": one.mcnemar_p,
        "both_right": one.both,
        "only_first_right": one.only_first,
        "only_second_right": one.only_second,
        "neither_right": one.neither,
        "why": one.difference.why,
    }


# --- errors ---------------------------------------------------------------------------------


def error(one: Mistaken) -> Json:
    """An error: start and end are code points of its text, end-exclusive; tokens are those
    of the whole passage."""
    judged = one.judged
    item, choice = judged.example.item, judged.choice
    text, start, end = quoted(judged)
    return {
        "where": judged.example.where,
        "kind": one.mistake.value,
        "text": text,
        "start": start,
        "end": end,
        "anchor": [item.anchor.start, item.anchor.end],
        "label": judged.gold,
        "heads": [_token(judged, at) for at in judged.example.gold.head_tokens()],
        "answer": judged.predicted,
        "token": None if judged.token is None else _token(judged, judged.token),
        "score": confidence(judged),
        "second": None if choice is None else choice.second,
        "margin": None if choice is None else choice.margin,
    }


def _token(judged: Judged, at: int) -> Json:
    return {"token": at, "word": judged.example.item.passage.word(at)}


def confidence(judged: Judged) -> float | None:
    """The score of what was chosen; None where it has none."""
    choice = judged.choice
    return None if choice is None else score_of(choice, choice.choice)


def quoted(judged: Judged) -> tuple[str, int, int]:
    """Text around an anchor, and the code points [start, end) in it that are the anchor."""
    passage, anchor = judged.example.item.passage, judged.example.item.anchor
    first, last = passage.tokens[anchor.start].start, passage.tokens[anchor.end - 1].end
    start = max(0, first - AROUND)
    return passage.text[start : last + AROUND], first - start, last - start


def worst(mistakes: Sequence[Mistaken], *, probabilities: bool) -> list[Mistaken]:
    """The surest first where scores say how sure a model is, else as they come."""
    if not probabilities:
        return list(mistakes)
    return sorted(mistakes, key=lambda one: -(confidence(one.judged) or 0.0))
