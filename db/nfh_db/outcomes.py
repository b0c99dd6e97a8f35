"""What becomes of a model that a training made: put to use, kept, or rejected.

The verdict was given before, beside the models that were in use then. Where others are now,
it says nothing of them, and the model is kept as a candidate.
"""

from collections.abc import Mapping
from dataclasses import replace

from nfh_db import activations, models
from nfh_db.activations import Because
from nfh_db.connection import Connection
from nfh_db.models import NewModel

PROMOTED = "promoted"
CANDIDATE = "candidate"
REJECTED = "rejected"
FIRST = "first"
VERDICTS = (PROMOTED, CANDIDATE, REJECTED, FIRST)

HELD_BACK = "It was not to take over by itself."
OTHERS = "Meanwhile {names} came into use, beside which it was not judged."


def settled(
    connection: Connection, verdict: Mapping[str, object] | None, *, promote: bool
) -> dict[str, object]:
    """The verdict as it holds now: one that cannot be followed makes a candidate."""
    found = dict(verdict or {})
    if found.get("verdict") not in (PROMOTED, FIRST):
        return found
    others = _others(connection, found)
    if others:
        return _kept(found, OTHERS.format(names=" and ".join(others)))
    held_back = found["verdict"] == PROMOTED and not promote
    return _kept(found, HELD_BACK) if held_back else found


def _kept(verdict: Mapping[str, object], why: str) -> dict[str, object]:
    return {**verdict, "verdict": CANDIDATE, "reason": f"{verdict.get('reason', '')} {why}"}


def _others(connection: Connection, verdict: Mapping[str, object]) -> list[str]:
    """Models in use that are not those beside which it was judged."""
    trials = verdict.get("trials")
    others = []
    for one in trials if isinstance(trials, list) else []:
        found = activations.active(connection, str(one.get("task")))
        if found is not None and found[0] != one.get("active_id"):
            others.append(found[1])
    return list(dict.fromkeys(others))


def register(
    connection: Connection, new: NewModel, verdict: Mapping[str, object], job_id: int
) -> int:
    """The number of a trained model, which is in use where the verdict says so."""
    because = Because(reason=str(verdict.get("reason", "")), job=job_id)
    model_id = models.register(connection, replace(new, verdict=verdict), because)
    made = models.read(connection, model_id)
    if made is None:
        return model_id
    if verdict.get("verdict") == PROMOTED:
        models.activate(connection, made, because)
    elif verdict.get("verdict") == REJECTED:
        models.set_state(connection, model_id, REJECTED)
    return model_id


def in_use(connection: Connection, model_id: int) -> bool:
    """Whether some task uses a model."""
    found = (activations.active(connection, task) for task in activations.SINGLE_TASKS)
    return any(one is not None and one[0] == model_id for one in found)
