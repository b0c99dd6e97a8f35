"""A check of the gold: what is asked for, and what comes of it for each anchor."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from nfh_db.query import parse
from nfh_models.domain import Answer, identified
from nfh_models.errors import ModelsError
from nfh_tui.jobs.snapshot import Label
from nfh_tui.jobs.taking import Which
from nfh_tui.jobs.words import text_of, texts_of, words_of
from nfh_tui.resolution_examples import resolution_gold
from nfh_tui.training_base import General, general_of

LINEAR = "linear"
FOLDS = 5
LEAST_PARTS, MOST_PARTS = 2, 50


class TrialError(ModelsError):
    """A check that was asked for wrongly, or of too little; the sentence says what can be."""


class Opinion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model that had not seen it says of an anchor's gold.

    likely: the probability that it gives to gold; None where it could not have chosen that.
    """

    anchor_id: int
    choice: str
    likely: float | None
    margin: float
    right: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What the row of a check asks for."""

    recipe: str
    general: General
    which: Which
    folds: int
    parser: str | None


def asked_of(task: str, given: Mapping[str, object]) -> Asked:
    """The arguments of a job. Raises QueryError, ModelsError."""
    general = general_of(texts_of(given, "words"))
    if general.dev_split is not None or general.dev is not None:
        raise TrialError("the parts of the gold judge each other: leave dev and dev_split out")
    folds = given.get("folds", FOLDS)
    if not isinstance(folds, int) or not LEAST_PARTS <= folds <= MOST_PARTS:
        raise TrialError(f"{folds} parts: wanted {LEAST_PARTS} to {MOST_PARTS}")
    which = Which(task, parse(words_of(given, "query")), dev=0)
    recipe = words_of(given, "recipe") or LINEAR
    return Asked(recipe, general, which, folds, text_of(given, "parser"))


def anchor_of(label: Label) -> int:
    """The id of a label's anchor."""
    return id_of(label.where)


def id_of(where: str) -> int:
    """The id of an anchor, out of the words of its place."""
    return int(where.removeprefix("anchor "))


def same_gold(label: Label, answer: Answer) -> bool:
    """Whether gold still is what a label was made of."""
    if label.gold is not None:
        return resolution_gold(answer) == label.gold
    return identified(answer.kind) == label.nfh
