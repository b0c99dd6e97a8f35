"""Models: registration, activation and its log, promotion of trained models, training
provenance; also the stored competence weights.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from nfh_db import passages as db_passages
from nfh_db import system
from nfh_db.connection import Connection, Repository, reads, writes_durably, writes_fast
from nfh_db.errors import StoreError
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import CompetenceWeight, StoredWeights, Vote
from nfh_db.serialization import json_of, object_of
from nfh_db.system import now

# The activation log: one row for each task and change of its active model.
#
# A rollback follows this log: each task has a stack of the models that it used, the active one
# on top. A rollback pops, every other change pushes. So two rollbacks go back by two models.

BACK = "went back"
"""The reason of a rollback, which identifies its rows."""

SINGLE_TASKS = ("identification", "resolution")

# A model of one task takes precedence over one of both, which may be active for the other task.
ACTIVE = """
SELECT id, name FROM model
WHERE task IN (:task, 'both') AND state = 'active' ORDER BY task = 'both', id DESC LIMIT 1"""
INSERT_ACTIVATION = """
INSERT INTO activation (task, model_id, before_id, who, reason, job_id, at)
VALUES (:task, :model, :before, :who, :reason, :job, :at)"""
READ = """
SELECT a.id, a.task, a.model_id, m.name, a.before_id, b.name, a.who, a.reason, a.job_id, a.at
FROM activation AS a JOIN model AS m ON m.id = a.model_id
LEFT JOIN model AS b ON b.id = a.before_id
ORDER BY a.id"""


@dataclass(frozen=True, slots=True)
class ActivationReason:
    """Who changed the active model, and why. job: the training that did, if one did."""

    who: str = ""
    reason: str = ""
    job: int | None = None


@dataclass(frozen=True, slots=True)
class Activation:
    """A change of the active model of a task. before: None if there was none."""

    id: int
    task: str
    model_id: int
    model: str
    before_id: int | None
    before: str | None
    who: str
    reason: str
    job: int | None
    at: str


def active(connection: Connection, task: str) -> tuple[int, str] | None:
    """Id and name of the active model of a task."""
    row: tuple[int, str] | None = connection.execute(ACTIVE, {"task": task}).fetchone()
    return row


@contextmanager
def record_activations(
    connection: Connection, because: ActivationReason | None = None
) -> Iterator[None]:
    """Log the tasks whose active model the block changes, within the transaction."""
    before = _in_use(connection)
    yield
    after = _in_use(connection)
    why, at = because or ActivationReason(), system.now()
    rows = [
        {
            "task": task,
            "model": after[task],
            "before": before[task],
            "who": why.who,
            "reason": why.reason,
            "job": why.job,
            "at": at,
        }
        for task in SINGLE_TASKS
        if after[task] is not None and after[task] != before[task]
    ]
    connection.executemany(INSERT_ACTIVATION, rows)


def _in_use(connection: Connection) -> dict[str, int | None]:
    found = {task: active(connection, task) for task in SINGLE_TASKS}
    return {task: None if one is None else one[0] for task, one in found.items()}


def read_activations(connection: Connection) -> tuple[Activation, ...]:
    """All activations, oldest first."""
    return tuple(Activation(*row) for row in connection.execute(READ))


# --- rollback ---------------------------------------------------------------------------------


def stacks(told: Iterable[Activation]) -> Mapping[str, Sequence[Activation]]:
    """The stack of each task: its changes that were not rolled back, oldest first."""
    found: dict[str, list[Activation]] = {task: [] for task in SINGLE_TASKS}
    for one in told:
        pile = found.get(one.task)
        if pile is None:  # a row that somebody edited
            continue
        if one.reason != BACK:
            pile.append(one)
            continue
        while pile and pile[-1].model_id != one.model_id:
            pile.pop()
    return found


def last_changed(told: Iterable[Activation]) -> tuple[str, ...]:
    """The tasks of the last change that can be rolled back: both, if both changed together."""
    tops = [pile[-1] for pile in stacks(told).values() if pile]
    from_another = [one for one in tops if one.before_id is not None]
    if not from_another:
        return ()
    last = max(from_another, key=lambda one: one.id)
    # Two changes may have the same time, to the millisecond; one change has one model.
    same = ((one.task, (one.model_id, one.at)) for one in from_another)
    return tuple(task for task, change in same if change == (last.model_id, last.at))


def former(pile: Sequence[Activation]) -> Iterator[int]:
    """The ids of the former models of a stack, the last one first."""
    for one in reversed(pile):
        if one.before_id is not None:
            yield one.before_id


# Competence weights: the measured accuracy of each annotator.
#
# They are one setting, so that reading an item takes a single further look-up.

SETTING = "competence"
"""Name of the setting. Its value is JSON, "" for none."""


def remember(connection: Connection, source: str, people: Sequence[CompetenceWeight]) -> None:
    """Store these weights in place of all earlier ones. source: the measure, in words.

    Raises ValueError for an accuracy that is not between 0 and 1.
    """
    for one in people:
        if not 0.0 <= one.accuracy <= 1.0:
            raise ValueError(f"an accuracy of {one.accuracy} is not between 0 and 1")
    told = {
        "source": source,
        "at": now(),
        "people": {one.annotator: [one.accuracy, one.answers] for one in people},
    }
    db_passages.write_setting(connection, SETTING, json.dumps(told))


def delete_weights(connection: Connection) -> bool:
    """Delete the weights; False if there were none."""
    if read_weights(connection) is None:
        return False
    db_passages.write_setting(connection, SETTING, "")
    return True


def join_weights(connection: Connection, of: int, to: int) -> str | None:
    """Give the weight of an annotator to another, each as many answers as it rests on.

    Returns the setting before; None if it is unchanged.
    """
    names = dict(connection.execute("SELECT id, name FROM annotator").fetchall())
    before, found = db_passages.read_setting(connection, SETTING), read_weights(connection)
    both = (
        [one for one in found.people if one.annotator in (names[of], names[to])]
        if found
        else []
    )
    if found is None or not any(one.annotator == names[of] for one in both):
        return None
    count = sum(one.answers for one in both)
    right = sum(one.accuracy * one.answers for one in both)
    joined = CompetenceWeight(names[to], right / count if count else 0.0, count)
    remember(
        connection, found.source, [*(one for one in found.people if one not in both), joined]
    )
    return before


def read_weights(connection: Connection) -> StoredWeights | None:
    """The stored weights; None if there are none, or the value is invalid."""
    return _read(db_passages.read_setting(connection, SETTING) or "")


def of_votes(connection: Connection, votes: Sequence[Vote]) -> tuple[CompetenceWeight, ...]:
    """The weights of the annotators of these votes, as far as there are any."""
    found = read_weights(connection) if votes else None
    if found is None:
        return ()
    names = {vote.annotator for vote in votes if vote.counts}
    return tuple(one for one in found.people if one.annotator in names)


@lru_cache(maxsize=4)
def _read(text: str) -> StoredWeights | None:
    if not text:
        return None
    try:
        told = json.loads(text)
        people = tuple(
            CompetenceWeight(str(name), float(accuracy), int(answers))
            for name, (accuracy, answers) in sorted(told["people"].items())
            if 0.0 <= float(accuracy) <= 1.0
        )
        return StoredWeights(str(told["source"]), str(told["at"]), people)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


# Imported gold counts from the import, not from its decision. sides: whether the held-out side
# was excluded. A passage that was put on that side after the training may have been used.
PASSAGES = """
SELECT DISTINCT lower(hex(q.digest))
FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
JOIN passage AS q ON q.id = a.passage_id LEFT JOIN batch AS c ON c.id = g.batch_id
WHERE {where} AND coalesce(c.created_at, g.decided_at, '') <= :made_at
    AND NOT (:sides AND EXISTS (
        SELECT 1 FROM side AS d
        WHERE d.passage_id = q.id AND d.side = 'dev' AND d.dealt_at <= :made_at))
    AND q.id NOT IN (
        SELECT o.passage_id FROM source_row AS r JOIN anchor AS o ON o.id = r.anchor_id
        JOIN batch AS b ON b.id = r.batch_id AND b.state <> 'loading'
        WHERE r.split IN (SELECT value FROM json_each(:splits)))"""


def passages(
    connection: Connection, query: Query, made_at: str, splits: Sequence[str], *, sides: bool
) -> frozenset[str]:
    """The digests of the passages of a query that had gold at a time.

    splits: passages in one of these were excluded. sides: so was the held-out side.
    """
    compiled = compile_query(query, 0)
    row = {"made_at": made_at, "splits": json_of(list(splits)), "sides": sides}
    found = connection.execute(PASSAGES.format(where=compiled.where), compiled.parameters | row)
    return frozenset(digest for (digest,) in found)


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
STAND_IN = """
UPDATE model SET state = iif(name = :name, 'active', 'retired')
WHERE (name = :name AND task IN (:task, 'both')) OR (state = 'active' AND task = :task)"""
STOOD_IN_FOR = """
SELECT before_id FROM activation WHERE task = :task AND reason = :reason
ORDER BY id DESC LIMIT 1"""
# Without what the program did while the model in use could not be used.
LAST_CHANGE = """
SELECT reason FROM activation WHERE task = :task AND reason NOT IN (:stood_in, :again)
ORDER BY id DESC LIMIT 1"""

STANDS_IN = "model that stands in for {task}"
"""Setting: the model of the program that answers while the active one of it cannot."""

FIRST = "no other model was in use"
TAKES_OVER = "it comes with the program, and nobody chose the model before it"
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
    places: tuple[str, ...] = ()
    """Folders of models that this user's trainings for the database wrote to, newest first."""


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
    """Id, task, recipe and version of a model by name; None if it is unknown."""
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
    because: ActivationReason | None = None,
) -> int:
    """The id of a model. A new one is registered, as active if its task has no active one.

    in_place_of: models that come with the program, which a new one replaces where they are
    active and nobody chose them. because: for the activation log. Raises StoreError for an
    unknown task.
    """
    known = find(connection, name)
    if known is not None:
        return known[0]
    if task not in TASKS:
        raise StoreError(f"{task!r} is not a task of models: use one of {', '.join(TASKS)}")
    used = {one: active(connection, one) for one in tasks_of(task)}
    replaced = {
        one: found[1]
        for one, found in used.items()
        if found is not None and found[1] in in_place_of and not _chosen(connection, one)
    }
    reason = TAKES_OVER if replaced else FIRST
    with record_activations(connection, because or ActivationReason(reason=reason)):
        for one, built_in in replaced.items():
            connection.execute(RETIRE_BUILT_IN, {"name": built_in, "task": one})
        wanted = replaced or None in used.values()
        row = {
            "name": name,
            "task": task,
            "recipe": recipe,
            "version": version,
            "state": "active" if wanted else "candidate",
            "at": system.now(),
        }
        model_id: int = connection.execute(INSERT, row).fetchone()[0]
        connection.execute(RETIRE_UNUSED)
    return model_id


def _chosen(connection: Connection, task: str) -> bool:
    """Whether a person or a training chose the model that a task uses."""
    row = {"task": task, "stood_in": STOOD_IN, "again": CAN_AGAIN}
    found = connection.execute(LAST_CHANGE, row).fetchone()
    return found is not None and found[0] not in (FIRST, TAKES_OVER)


def tasks_of(task: str) -> tuple[str, ...]:
    """The single tasks of a model's task."""
    return SINGLE_TASKS if task == "both" else (task,)


def set_version(connection: Connection, model_id: int, recipe: str, version: str) -> None:
    connection.execute(SET_VERSION, {"id": model_id, "recipe": recipe, "version": version})


def register(
    connection: Connection, new: NewModel, because: ActivationReason | None = None
) -> int:
    """Register a trained model, as active if its task has no active one; its id.

    because: for the activation log. Raises StoreError if the name is taken.
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
    """Set the state of a model that is not active."""
    connection.execute(SET_STATE, {"id": model_id, "state": state})


def activate(
    connection: Connection, model: Model, because: ActivationReason | None = None
) -> None:
    """Activate a model for its task, and retire the former one."""
    with record_activations(connection, because):
        connection.execute(RETIRE_OTHERS, {"id": model.id, "task": model.task})
        connection.execute(ACTIVATE, {"id": model.id})
        connection.execute(RETIRE_UNUSED)
        _nobody_stands_in(connection, tasks_of(model.task))


def put_back(
    connection: Connection, models: Mapping[str, Model], because: ActivationReason | None = None
) -> None:
    """Reactivate former models, by task. Other tasks keep theirs.

    Both tasks change if one of the models is of both and replaces another such model.
    """
    with record_activations(connection, because):
        # Models of both tasks first: models of a single task take precedence over them.
        for task, model in sorted(models.items(), key=lambda one: one[1].task != "both"):
            row = {"id": model.id, "task": task, "whole": model.task == "both"}
            connection.execute(RETIRE_IN_TASK, row)
            connection.execute(ACTIVATE, {"id": model.id})
        connection.execute(RETIRE_UNUSED)
        _nobody_stands_in(connection, models)


def _nobody_stands_in(connection: Connection, tasks: Iterable[str]) -> None:
    for task in tasks:
        if standing_in(connection, task) is not None:
            db_passages.write_setting(connection, STANDS_IN.format(task=task), "")


def standing_in(connection: Connection, task: str) -> str | None:
    """The built-in model that stands in for a task; None if none does."""
    return db_passages.read_setting(connection, STANDS_IN.format(task=task)) or None


def stood_in_for(connection: Connection, task: str) -> "Model | None":
    """The model that another stands in for; None if none does."""
    if standing_in(connection, task) is None:
        return None
    row = {"task": task, "reason": STOOD_IN}
    before = connection.execute(STOOD_IN_FOR, row).fetchone()
    return None if before is None or before[0] is None else read(connection, before[0])


def stand_down(connection: Connection, task: str) -> None:
    """Let the model answer again that another stood in for."""
    name = standing_in(connection, task)
    if name is not None:
        before = stood_in_for(connection, task)
        with record_activations(connection, ActivationReason(reason=CAN_AGAIN)):
            connection.execute(RETIRE_BUILT_IN, {"name": name, "task": task})
            if before is not None:
                connection.execute(ACTIVATE, {"id": before.id})
            connection.execute(RETIRE_UNUSED)
        db_passages.write_setting(connection, STANDS_IN.format(task=task), "")


def stand_in(connection: Connection, task: str, name: str) -> None:
    """Let a model of the program answer in place of the active one of it, until that can."""
    stand_down(connection, task)
    with record_activations(connection, ActivationReason(reason=STOOD_IN)):
        connection.execute(STAND_IN, {"name": name, "task": task})
    db_passages.write_setting(connection, STANDS_IN.format(task=task), name)


def read(connection: Connection, model_id: int) -> Model | None:
    """A model by its id."""
    row = connection.execute(READ_ONE, {"id": model_id}).fetchone()
    return None if row is None else _model(row, read_places(connection))


def read_named(connection: Connection, name: str) -> Model | None:
    """A model by its name."""
    row = connection.execute(READ_NAMED, {"name": name}).fetchone()
    return None if row is None else _model(row, read_places(connection))


def read_all(connection: Connection) -> tuple[Model, ...]:
    """All models, in the order of their registration."""
    places = read_places(connection)
    return tuple(_model(row, places) for row in connection.execute(READ_ALL))


def _model(row: tuple[Any, ...], places: tuple[str, ...]) -> Model:
    told = dict(zip((one.name for one in fields(Model)), (*row, places), strict=True))
    objects = {name: object_of(told[name]) for name in ("config", "metrics", "verdict")}
    return Model(**told | objects)


# A database finds its models in the folder beside it that is called after it. Renamed or moved
# without that folder it looks where they were written; each such place has a mark, since the
# database may come from somebody else.

PLACES = "folders of models"
"""The setting: for each folder the mark of the user who trained there, as JSON."""


def note_place(connection: Connection, folder: str) -> None:
    """Remember a folder of models, within a transaction."""
    from nfh_db.jobs import Marks  # it reads models

    known = dict(object_of(db_passages.read_setting(connection, PLACES) or "{}"))
    known.pop(folder, None)
    with suppress(StoreError):  # no secret can be kept: the folder has to stay where it is
        known[folder] = Marks.to_make(connection).mark(PLACES, folder)
        db_passages.write_setting(connection, PLACES, json_of(known))


def read_places(connection: Connection) -> tuple[str, ...]:
    """The folders of models that this user's trainings wrote to, newest first."""
    from nfh_db.jobs import Marks

    noted = db_passages.read_setting(connection, PLACES)
    if not noted:
        return ()
    marks = Marks.to_read(connection)
    known = [
        place
        for place, mark in object_of(noted).items()
        if marks.knows(str(mark), PLACES, place)
    ]
    return tuple(reversed(known))


# Promotion of a trained model: active, candidate or rejected.
#
# The verdict compares it with the models that were active then. If others are active now, the
# verdict does not apply, and the model becomes a candidate.

PROMOTED = "promoted"
CANDIDATE = "candidate"
REJECTED = "rejected"
FIRST_VERDICT = "first"
VERDICTS = (PROMOTED, CANDIDATE, REJECTED, FIRST_VERDICT)

HELD_BACK = "You asked that it does not take over by itself."
OTHERS = "Since then {names} came into use, with which it was not compared."


def valid_verdict(
    connection: Connection, verdict: Mapping[str, object] | None, *, promote: bool
) -> dict[str, object]:
    """The verdict to apply: "candidate" if the given one does not apply any more."""
    found = dict(verdict or {})
    if found.get("verdict") not in (PROMOTED, FIRST_VERDICT):
        return found
    others = _others(connection, found)
    if others:
        return _kept(found, OTHERS.format(names=" and ".join(others)))
    held_back = found["verdict"] == PROMOTED and not promote
    return _kept(found, HELD_BACK) if held_back else found


def _kept(verdict: Mapping[str, object], why: str) -> dict[str, object]:
    return {**verdict, "verdict": CANDIDATE, "reason": f"{verdict.get('reason', '')} {why}"}


def _others(connection: Connection, verdict: Mapping[str, object]) -> list[str]:
    """Names of active models that the verdict did not compare with."""
    trials = verdict.get("trials")
    others = []
    for one in trials if isinstance(trials, list) else []:
        found = active(connection, str(one.get("task")))
        if found is not None and found[0] != one.get("active_id"):
            others.append(found[1])
    return list(dict.fromkeys(others))


def register_trained(
    connection: Connection, new: NewModel, verdict: Mapping[str, object], job_id: int
) -> int:
    """Register a trained model and apply its verdict; its id."""
    because = ActivationReason(reason=str(verdict.get("reason", "")), job=job_id)
    model_id = register(connection, replace(new, verdict=verdict), because)
    made = read(connection, model_id)
    if made is None:
        return model_id
    if verdict.get("verdict") == PROMOTED:
        activate(connection, made, because)
    elif verdict.get("verdict") == REJECTED:
        set_state(connection, model_id, REJECTED)
    return model_id


def in_use(connection: Connection, model_id: int) -> bool:
    """Whether some task uses a model."""
    found = (active(connection, task) for task in SINGLE_TASKS)
    return any(one is not None and one[0] == model_id for one in found)


def read_active(connection: Connection, task: str) -> Model | None:
    """The model that a task uses; None if it has none yet."""
    found = active(connection, task)
    return None if found is None else read(connection, found[0])


class Models(Repository):
    """Registered models: which are in use, were in use, and what they learnt from."""

    all = reads(read_all)
    active = reads(read_active)
    named = reads(read_named)
    standing_in = reads(standing_in)
    stood_in_for = reads(stood_in_for)
    stand_in = writes_fast(stand_in)
    stand_down = writes_fast(stand_down)
    activations = reads(read_activations)
    passages_with_gold = reads(passages)

    def activate(self, model_id: int, because: ActivationReason | None = None) -> Model:
        """Make a model the one that its task uses. StoreError if there is none."""
        with self.connections.durable_write() as connection:
            activate(connection, _need(connection, model_id), because)
            return _need(connection, model_id)

    def put_back(
        self, wanted: Mapping[str, int], because: ActivationReason | None = None
    ) -> Mapping[str, Model]:
        """Let tasks use models again, by number; what each task uses now.

        Other tasks keep theirs, unless both use one model and cannot. StoreError if there is
        no such model.
        """
        with self.connections.durable_write() as connection:
            found = {task: _need(connection, model_id) for task, model_id in wanted.items()}
            put_back(connection, found, because)
            in_use = {task: read_active(connection, task) for task in SINGLE_TASKS}
            return {task: model for task, model in in_use.items() if model is not None}

    def ensure(
        self, name: str, task: str, recipe: str, version: str, in_place_of: Sequence[str] = ()
    ) -> int:
        """A model's id, registered if unknown, as the active one if its task has none.

        in_place_of: as of the function `ensure`; what these said stays. What another version
        under this name predicted and identified is forgotten.
        """
        with self.connections.reading() as connection:
            found = find(connection, name)
        if found is None:
            with self.connections.fast_write() as connection:
                return ensure(connection, name, task, recipe, version, in_place_of=in_place_of)
        if found[2:] != (recipe, version):
            from nfh_db import predictions

            predictions.forget_in_steps(self.connections, "prediction", found[0])
            predictions.forget_in_steps(self.connections, "identification", found[0])
            with self.connections.fast_write() as connection:
                # What another process may have saved since.
                predictions.forget_some(connection, "identification", found[0])
                set_version(connection, found[0], recipe, version)
        return found[0]


def _need(connection: Connection, model_id: int) -> Model:
    found = read(connection, model_id)
    if found is None:
        raise StoreError(f"there is no model {model_id}")
    return found


class Competences(Repository):
    """Figures by which votes weigh more or less in what is proposed."""

    read = reads(read_weights)
    remember = writes_durably(remember)
    delete = writes_durably(delete_weights)
