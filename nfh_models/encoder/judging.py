"""The figures of a network on examples that it does not learn from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.domain.classes import paper_class
from nfh_models.encoder.lessons import allowed
from nfh_models.encoder.rows import CLASSES, Featuriser, Row
from nfh_models.encoder.settings import Candidates
from nfh_models.identification.example import Example
from nfh_models.identification.scores import count
from nfh_models.resolution.item import ResolutionExample
from nfh_models.training.learner import SCORE

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Question:
    """An example to be judged on. right: the candidates that are gold. inclusive: those and
    the words of the same form, in lower case. lost: gold heads that stand outside the row."""

    row: Row
    right: frozenset[int]
    inclusive: frozenset[int]
    reference: bool
    heads: int = 1
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """Dev examples. nfh: the labels of the numbers in `rows`."""

    questions: Sequence[Question] = ()
    rows: Sequence[Row] = ()
    nfh: Sequence[bool] = ()


def asked(
    featuriser: Featuriser,
    resolution: Iterable[ResolutionExample] = (),
    identification: Iterable[Example] = (),
    candidates: Candidates = Candidates.ALL,
) -> Asked:
    """Dev examples made ready, once."""
    questions = [
        question(one, featuriser)
        for one in resolution
        if (kind := paper_class(one.gold.kind)) is not None and allowed(kind, candidates)
    ]
    labelled = list(identification)
    rows = [featuriser.case_row(one.case) for one in labelled]
    return Asked(questions, rows, [one.nfh for one in labelled])


def question(example: ResolutionExample, featuriser: Featuriser) -> Question:
    """One example. ValueError for gold that is no class of the paper's."""
    item, gold = example.item, example.gold
    row = featuriser.row(item.passage, item.anchor)
    kind = paper_class(gold.kind)
    if kind is None:
        raise ValueError(f"{gold.kind} is no class that a head can have")
    if kind is not Kind.REFERENCE:
        place = frozenset({IMPLICIT_KINDS.index(kind)})
        return Question(row, place, place, reference=False)
    passage = item.passage
    forms = {passage.word(token).lower() for token in gold.head_tokens()}
    right = frozenset(_inside(row, gold.head_tokens()))
    same = (
        token
        for token in range(row.offset, row.offset + row.words)
        if passage.word(token).lower() in forms
    )
    lost = sum(not any(_inside(row, (m.head for m in one.live))) for one in gold.heads)
    return Question(
        row, right, right | frozenset(_inside(row, same)), True, len(gold.heads), lost
    )


def _inside(row: Row, tokens: Iterable[int]) -> list[int]:
    return [place for token in tokens if (place := row.candidate(token)) is not None]


def figures(
    asked: Asked, scores: Sequence[Scores], nfh: Sequence[float], threshold: float = 0.0
) -> dict[str, float]:
    """Fractions, SCORE among them: of all that there are examples for.

    scores: of the candidates of each question. nfh: a logit a row. SCORE: accuracy_inclusive,
    or identification's F1, or the mean of both. lost: the share of gold heads outside windows.
    """
    found = choices(asked.questions, scores) if asked.questions else {}
    main = [found["accuracy_inclusive"]] if found else []
    if asked.rows:
        counts = count(zip(asked.nfh, (logit > threshold for logit in nfh), strict=True))
        found |= {
            "identification_precision": counts.precision or 0.0,
            "identification_recall": counts.recall or 0.0,
            "identification_f1": counts.f1 or 0.0,
        }
        main.append(found["identification_f1"])
    return found | {SCORE: sum(main) / len(main) if main else 0.0}


def choices(questions: Sequence[Question], scores: Sequence[Scores]) -> dict[str, float]:
    """The figures of resolution (paper section 6.3)."""
    best = [int(one.argmax()) for one in scores]
    pairs = list(zip(questions, best, strict=True))
    of_reference = [(one, place) for one, place in pairs if one.reference]
    of_classes = [(one, place) for one, place in pairs if not one.reference]
    heads = sum(one.heads for one, _ in of_reference)
    return {
        "accuracy": _share([place in one.right for one, place in pairs]),
        "accuracy_inclusive": _share([place in one.inclusive for one, place in pairs]),
        "binary": _share([one.reference == (place >= CLASSES) for one, place in pairs]),
        "reference": _share([place in one.right for one, place in of_reference]),
        "implicit": _share([place in one.right for one, place in of_classes]),
        "lost": sum(one.lost for one in questions) / heads if heads else 0.0,
    }


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0


def without_lost(figures: Mapping[str, float]) -> bool:
    """Whether no gold head stands outside the windows."""
    return not figures.get("lost", 0.0)
