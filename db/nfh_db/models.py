"""Models: their registration, and which one is active."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nfh_db import clock, settings
from nfh_db.activations import SINGLE_TASKS, Because, active, noted
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.values import object_of

__all__ = [
    "SINGLE_TASKS",
    "TASKS",
    "Model",
    "NewModel",
    "activate",
    "active",
    "ensure",
    "find",
    "put_back",
    "read",
    "read_all",
    "read_named",
    "register",
    "set_state",
    "set_version",
    "stand_down",
    "stand_in",
    "standing_in",
    "tasks_of",
]

TASKS = ("identification", "resolution", "both")

FIND = "SELECT id, task, recipe, version FROM model WHERE name = :name"
INSERT = """
INSERT INTO model (name, task, recipe, version, state, created_at)
VALUES (:name, :task, :recipe, :version, :state, :at) RETURNING id"""
SET_VERSION = "UPDATE model SET recipe = :recipe, version = :version WHERE id = :id"
COLUMNS = """
SELECT id, name, task, recipe, version, state, path, digest, config, metrics, snapshot,
    created_at, verdict FROM model"""
READ_ALL = f"{COLUMNS} ORDER BY id"
READ_NAMED = f"{COLUMNS} WHERE name = :name"
READ_ONE = f"{COLUMNS} WHERE id = :id"
FILL = """
UPDATE model SET path = :path, digest = :digest, config = :config, metrics = :metrics,
    snapshot = :snapshot, verdict = :verdict
WHERE id = :id"""
SET_STATE = "UPDATE model SET state = :state WHERE id = :id"
RETIRE_OTHERS = """
UPDATE model SET state = 'retired'
WHERE state = 'active' AND id <> :id AND (task = :task OR :task = 'both')"""
RETIRE_BUILT_IN = """
UPDATE model SET state = 'retired'
WHERE name = :name AND recipe = :name AND (task = :task OR :task = 'both')
    AND state = 'active' AND path IS NULL"""
RETIRE_UNUSED = """
UPDATE model SET state = 'retired'
WHERE state = 'active' AND task = 'both'
    AND EXISTS (SELECT 1 FROM model WHERE state = 'active' AND task = 'identification')
    AND EXISTS (SELECT 1 FROM model WHERE state = 'active' AND task = 'resolution')"""
# In one task alone. whole: the model is one of both, of which only one can be in use.
RETIRE_IN_TASK = """
UPDATE model SET state = 'retired'
WHERE state = 'active' AND id <> :id AND (task = :task OR (task = 'both' AND :whole))"""
ACTIVATE = "UPDATE model SET state = 'active' WHERE id = :id"
STAND_IN = "UPDATE model SET state = 'active' WHERE name = :name AND task = :task"

STANDS_IN = "model that stands in for {task}"
"""Setting: the built-in model that answers while the active one of both tasks cannot."""

FIRST = "no other model was in use"
TAKES_OVER = "it comes with the program, and nobody had chosen the one before"
STOOD_IN = "stands in: the model that is active cannot be used"
CAN_AGAIN = "can be used again"


@dataclass(frozen=True, slots=True)
class Model:
    """A registered model.

    state: candidate, active (the one that its task uses), retired (was active) or rejected.
    One of both tasks that is active gives way, in a task, to one of that task alone.
    path: its folder, relative to the database's own where it lies in that; None of one that
    is no more than a name. digest: of the folder, as it was when it was registered.
    snapshot: hash of the labels that it learnt from. verdict: how it did beside the model that
    was active when it was made; empty of one that was not judged.
    """

    id: int
    name: str
    task: str
    recipe: str
    version: str
    state: str
    path: str | None
    digest: str | None
    config: Mapping[str, object]
    metrics: Mapping[str, object]
    snapshot: str | None
    created_at: str
    verdict: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewModel:
    """A trained model to be registered; see Model."""

    name: str
    task: str
    recipe: str
    version: str
    path: str
    digest: str
    config: Mapping[str, object] = field(default_factory=dict)
    metrics: Mapping[str, object] = field(default_factory=dict)
    snapshot: str | None = None
    verdict: Mapping[str, object] = field(default_factory=dict)


def find(connection: Connection, name: str) -> tuple[int, str, str, str] | None:
    """Id, task, recipe and version of a model by name."""
    row: tuple[int, str, str, str] | None = connection.execute(FIND, {"name": name}).fetchone()
    return row


def ensure(
    connection: Connection,
    name: str,
    task: str,
    recipe: str,
    version: str,
    *,
    in_place_of: Sequence[str] = (),
    because: Because | None = None,
) -> int:
    """A model's id; a new one is registered, as the active one if its task has none.

    in_place_of: built-in recipes. A new model takes over where those are active. because:
    noted where it becomes the active one.
    """
    known = find(connection, name)
    if known is not None:
        return known[0]
    if task not in TASKS:
        raise StoreError(f"{task!r} is no task of a model: use one of {', '.join(TASKS)}")
    used = any(active(connection, one) is not None for one in tasks_of(task))
    reason = TAKES_OVER if in_place_of and used else FIRST
    with noted(connection, because or Because(reason=reason)):
        for built_in in in_place_of:
            connection.execute(RETIRE_BUILT_IN, {"name": built_in, "task": task})
        wanted = any(active(connection, one) is None for one in tasks_of(task))
        row = {
            "name": name,
            "task": task,
            "recipe": recipe,
            "version": version,
            "state": "active" if wanted else "candidate",
            "at": clock.now(),
        }
        model_id: int = connection.execute(INSERT, row).fetchone()[0]
    return model_id


def tasks_of(task: str) -> tuple[str, ...]:
    """The tasks, each of which uses one model, that a model of `task` does."""
    return SINGLE_TASKS if task == "both" else (task,)


def set_version(connection: Connection, model_id: int, recipe: str, version: str) -> None:
    """Say that a model of this name is now another version."""
    connection.execute(SET_VERSION, {"id": model_id, "recipe": recipe, "version": version})


def register(connection: Connection, new: NewModel, because: Because | None = None) -> int:
    """A trained model's id; it is active if its task has no active model yet.

    because: noted if it is. Raises StoreError if its name is taken.
    """
    if find(connection, new.name) is not None:
        raise StoreError(f"there is a model {new.name} already")
    model_id = ensure(connection, new.name, new.task, new.recipe, new.version, because=because)
    connection.execute(
        FILL,
        {
            "id": model_id,
            "path": new.path,
            "digest": new.digest,
            "config": json.dumps(new.config, allow_nan=False),
            "metrics": json.dumps(new.metrics, allow_nan=False),
            "snapshot": new.snapshot,
            "verdict": json.dumps(new.verdict, allow_nan=False) if new.verdict else "",
        },
    )
    return model_id


def set_state(connection: Connection, model_id: int, state: str) -> None:
    """Say where a model stands that is not in use."""
    connection.execute(SET_STATE, {"id": model_id, "state": state})


def activate(connection: Connection, model: Model, because: Because | None = None) -> None:
    """Make a model the one that its task uses; the one before is retired."""
    with noted(connection, because):
        connection.execute(RETIRE_OTHERS, {"id": model.id, "task": model.task})
        connection.execute(ACTIVATE, {"id": model.id})
        connection.execute(RETIRE_UNUSED)
        _nobody_stands_in(connection, tasks_of(model.task))


def put_back(
    connection: Connection, models: Mapping[str, Model], because: Because | None = None
) -> None:
    """Let tasks use models again that they used before, by the task, and others stay as is.

    Where one of these is a model of both tasks and another such is in use, both tasks change.
    """
    with noted(connection, because):
        # One of both first: it is in use in a task only where no other takes that task.
        for task, model in sorted(models.items(), key=lambda one: one[1].task != "both"):
            row = {"id": model.id, "task": task, "whole": model.task == "both"}
            connection.execute(RETIRE_IN_TASK, row)
            connection.execute(ACTIVATE, {"id": model.id})
        connection.execute(RETIRE_UNUSED)
        _nobody_stands_in(connection, models)


def _nobody_stands_in(connection: Connection, tasks: Iterable[str]) -> None:
    for task in tasks:
        if standing_in(connection, task) is not None:
            settings.write(connection, STANDS_IN.format(task=task), "")


def standing_in(connection: Connection, task: str) -> str | None:
    """The built-in model that stands in for a task; None if none does."""
    return settings.read(connection, STANDS_IN.format(task=task)) or None


def stand_in(connection: Connection, task: str, name: str) -> None:
    """Let a built-in model answer in place of the active one of both tasks, until that can."""
    with noted(connection, Because(reason=STOOD_IN)):
        connection.execute(STAND_IN, {"name": name, "task": task})
    settings.write(connection, STANDS_IN.format(task=task), name)


def stand_down(connection: Connection, task: str) -> None:
    """Let the model of both tasks answer again that another stood in for."""
    name = standing_in(connection, task)
    if name is not None:
        with noted(connection, Because(reason=CAN_AGAIN)):
            connection.execute(RETIRE_BUILT_IN, {"name": name, "task": task})
        settings.write(connection, STANDS_IN.format(task=task), "")


def read(connection: Connection, model_id: int) -> Model | None:
    """A model by its id."""
    row = connection.execute(READ_ONE, {"id": model_id}).fetchone()
    return None if row is None else _model(*row)


def read_named(connection: Connection, name: str) -> Model | None:
    """A model by its name."""
    row = connection.execute(READ_NAMED, {"name": name}).fetchone()
    return None if row is None else _model(*row)


def read_all(connection: Connection) -> tuple[Model, ...]:
    """All models, in the order of their registration."""
    return tuple(_model(*row) for row in connection.execute(READ_ALL))


def _model(
    id_: int,
    name: str,
    task: str,
    recipe: str,
    version: str,
    state: str,
    path: str | None,
    digest: str | None,
    config: str,
    metrics: str,
    snapshot: str | None,
    created_at: str,
    verdict: str,
) -> Model:
    return Model(
        id_,
        name,
        task,
        recipe,
        version,
        state,
        path,
        digest,
        object_of(config),
        object_of(metrics),
        snapshot,
        created_at,
        object_of(verdict),
    )
