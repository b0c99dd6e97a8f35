"""The figures of a network on examples that it does not learn from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nfh_models.domain.classes import paper_class
from nfh_models.encoder.lessons import allowed
from nfh_models.encoder.rows import Featuriser, Row
from nfh_models.encoder.settings import Candidates
from nfh_models.identification.example import Example
from nfh_models.identification.scores import count
from nfh_models.resolution.item import Choice, ResolutionExample
from nfh_models.resolution.scoring.figures import figures as scored
from nfh_models.resolution.scoring.figures import share
from nfh_models.resolution.scoring.judging import judge_one
from nfh_models.training.learner import SCORE

Scores = NDArray[np.float32]

COUNTED = ("accuracy", "accuracy_inclusive", "binary", "reference", "implicit")
"""Those of the figures of resolution that a training tells."""


@dataclass(frozen=True, slots=True)
class Question:
    """An example to be judged on. lost: gold heads that stand outside the row."""

    row: Row
    example: ResolutionExample
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
    """One example made ready."""
    row = featuriser.row(example.item.passage, example.item.anchor)
    lost = sum(
        all(row.candidate(mention.head) is None for mention in head.live)
        for head in example.gold.heads
    )
    return Question(row, example, lost)


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
    """The figures of resolution (paper section 6.3), as they are counted of any recipe."""
    judged = [
        judge_one(one.example, Choice(one.row.name(int(own.argmax())), None, None, ()))
        for one, own in zip(questions, scores, strict=True)
    ]
    found = scored(judged)
    heads = sum(len(one.example.gold.heads) for one in questions)
    lost = share(sum(one.lost for one in questions), heads)
    return {name: getattr(found, name) or 0.0 for name in COUNTED} | {"lost": lost or 0.0}
