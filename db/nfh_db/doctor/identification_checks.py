"""What models say of missing nouns: that it can be read, and holds together."""

from collections.abc import Iterator
from math import isfinite

import msgspec

from nfh_db.doctor.finding import Fault, Where
from nfh_db.doctor.patient import Patient
from nfh_db.identifications import decode_weights

# Whether the anchor and the model are there is among the references.
ODD = """
SELECT i.anchor_id, i.model_id, i.nfh, i.rule, i.score, i.weights, coalesce(m.task, '')
FROM identification AS i LEFT JOIN model AS m ON m.id = i.model_id
WHERE trim(i.rule) = '' OR i.score IS NOT NULL OR i.weights <> ''
    OR m.task NOT IN ('identification', 'both')"""


def identifications(patient: Patient) -> Iterator[Fault]:
    """A rule's name, a score that says the same as the decision, and weights that are read."""
    for anchor, model, nfh, rule, score, weights, task in patient.connection.execute(ODD):
        what = _trouble(bool(nfh), rule, score, weights, task)
        if what:
            yield Fault(what, Where("identification", f"{anchor}, {model}", anchor))


def _trouble(nfh: bool, rule: str, score: float | None, weights: str, task: str) -> str:
    if not rule.strip():
        return "the rule that decided has no name"
    if task not in ("identification", "both", ""):
        return f"it is of a model whose task is {task}"
    if score is not None and not isfinite(score):
        return "its score is infinite"
    if score is not None and (score > 0) is not nfh:
        return f"its score {score:g} says otherwise than the decision"
    try:
        read = decode_weights(weights)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return f"its weights cannot be read: {error}"
    finite = all(isfinite(weight) for _, weight in read)
    return "" if finite else "one of its weights is infinite"
