"""Models: their registration, and which one is active."""

from nfh_db import clock
from nfh_db.connection import Connection
from nfh_db.errors import StoreError

TASKS = ("identification", "resolution", "both")

FIND = "SELECT id, task, recipe, version FROM model WHERE name = :name"
ACTIVE = """
SELECT id, name FROM model
WHERE task IN (:task, 'both') AND state = 'active' ORDER BY id DESC LIMIT 1"""
ANY_ACTIVE = """
SELECT 1 FROM model
WHERE state = 'active' AND (task IN (:task, 'both') OR :task = 'both') LIMIT 1"""
INSERT = """
INSERT INTO model (name, task, recipe, version, state, created_at)
VALUES (:name, :task, :recipe, :version, :state, :at) RETURNING id"""
SET_VERSION = "UPDATE model SET recipe = :recipe, version = :version WHERE id = :id"


def active(connection: Connection, task: str) -> tuple[int, str] | None:
    """Id and name of the active model of a task."""
    row: tuple[int, str] | None = connection.execute(ACTIVE, {"task": task}).fetchone()
    return row


def find(connection: Connection, name: str) -> tuple[int, str, str, str] | None:
    """Id, task, recipe and version of a model by name."""
    row: tuple[int, str, str, str] | None = connection.execute(FIND, {"name": name}).fetchone()
    return row


def ensure(connection: Connection, name: str, task: str, recipe: str, version: str) -> int:
    """A model's id; a new one is registered, as the active one if its task has none."""
    known = find(connection, name)
    if known is not None:
        return known[0]
    if task not in TASKS:
        raise StoreError(f"{task!r} is no task of a model: use one of {', '.join(TASKS)}")
    taken = connection.execute(ANY_ACTIVE, {"task": task}).fetchone()
    state = "candidate" if taken else "active"
    model_id: int = connection.execute(
        INSERT,
        {
            "name": name,
            "task": task,
            "recipe": recipe,
            "version": version,
            "state": state,
            "at": clock.now(),
        },
    ).fetchone()[0]
    return model_id


def set_version(connection: Connection, model_id: int, recipe: str, version: str) -> None:
    """Say that a model of this name is now another version."""
    connection.execute(SET_VERSION, {"id": model_id, "recipe": recipe, "version": version})
