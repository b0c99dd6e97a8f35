"""A prediction as a line of JSON: the `gold` format's, with the model's answer as its vote."""

import math

from nfh_db.formats.fields import NAME_LENGTH
from nfh_db.formats.gold_form import prediction_line
from nfh_db.records import ExportRecord, Role, Vote
from nfh_models.domain import anchor_id
from nfh_tui.predicting import Predicted, Tools

DIGITS = 6
"""Of scores, significant; two machines may differ in what stands behind those."""


class Lines:
    """Makes the lines of predictions. at: when, as the format has it; one for a whole run."""

    def __init__(self, tools: Tools, at: str, *, scores: bool) -> None:
        self._tools = tools
        self._name = annotator_of(tools.resolver.name)
        self._at = at
        self._scores = scores

    def line(self, one: Predicted) -> str:
        """A prediction's line, with its end."""
        passage = one.numbers.passage
        vote = Vote(self._name, Role.ANNOTATOR, one.answer, self._at)
        record = ExportRecord(
            anchor_id(passage.digest, one.anchor),
            passage,
            one.anchor,
            one.numbers.split,
            None,
            (vote,),
            (),
        )
        choice = one.choice
        scores = None if choice is None else [_short(score) for score in choice.scores]
        return prediction_line(record, self._model(one), scores if self._scores else None)

    def _model(self, one: Predicted) -> dict[str, object]:
        identifier, resolver = self._tools.identifier, self._tools.resolver
        decision, choice = one.decision, one.choice
        several = None if choice is None else choice.several
        return {
            "name": self._name,
            "recipe": resolver.model.recipe,
            "version": resolver.model.version,
            "identifier": None if identifier is None else identifier.name,
            "rule": None if decision is None else decision.rule,
            "score": None if decision is None else _short(decision.score),
            "pattern": one.pattern,
            "second": None if choice is None else choice.second,
            "margin": None if choice is None else _short(choice.margin),
            "several": None
            if several is None
            else [_short(several.one), _short(several.both), _short(several.either)],
        }


def annotator_of(model: str) -> str:
    """A model's name as that of an annotator, whose names are printable and not long."""
    shown = "".join(sign for sign in model if sign.isprintable()).strip()
    return shown[:NAME_LENGTH].strip() or "model"


def _short(score: float | None) -> float | None:
    if score is None or not math.isfinite(score):
        return None
    return float(f"{score:.{DIGITS}g}")
