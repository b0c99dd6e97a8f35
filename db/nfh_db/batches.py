"""Batches: one imported file or one bulk operation each, invisible until all rows are written.

States: loading: rows are being written, invisible. settling: visible; its changes to existing
anchors are being applied from its events. ready: complete. A settlement, and its undo and redo,
are batches with a format of `BULK_FORMATS` that consist of such events only.

Also here: retries for batches that a failed write left incomplete.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from nfh_db import system
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.records import ImportReport, Rule
from nfh_db.serialization import json_of

# Retries of the crash recovery within this process.
#
# On a full disk a bulk act can be neither shown nor removed. Once there is room, no user should
# have to do anything else.

EVERY_SECONDS = 2.0


class _Attempts:
    """A thread that retries every EVERY_SECONDS until it succeeds, and once when stopped."""

    def __init__(self, attempt: Callable[[], bool], over: Callable[[], None]) -> None:
        self._attempt = attempt
        self._over = over
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nfh-finishing", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Try a last time, and wait for the thread."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            stopped = False
            while not stopped:
                stopped = self._stopped.wait(EVERY_SECONDS)
                if self._attempt():
                    return
        finally:
            self._over()


_under_way: dict[str, _Attempts] = {}
_lock = threading.Lock()


def retry_in_thread(path: Path, attempt: Callable[[], bool]) -> None:
    """Call `attempt` in a thread, repeatedly, until it returns True."""
    key = os.path.realpath(path)
    with _lock:
        if key not in _under_way:
            _under_way[key] = _Attempts(attempt, lambda: _forget(key))


def stop(path: Path) -> None:
    """Run a last attempt for a database that is being closed, and wait for it."""
    with _lock:
        attempts = _under_way.get(os.path.realpath(path))
    if attempts is not None:
        attempts.stop()


def _forget(key: str) -> None:
    with _lock:
        _under_way.pop(key, None)


@dataclass(frozen=True, slots=True)
class SettleReport:
    """The counts of a settlement, or of a dry run of one."""

    rule: Rule
    least: int
    """Votes that an anchor needs."""

    at: str
    anchors: int = 0
    """All that the query found."""

    new: int = 0
    same: int = 0
    """Golds that the run would make just as they are."""

    replaced: int = 0
    taken_back: int = 0
    """Golds removed since the votes settle nothing any more."""

    changed: int = 0
    """Anchors left as they are, since their gold, votes or span changed during the run."""

    skipped: Mapping[str, int] = field(default_factory=dict)
    """By reason, in words."""

    classes: Mapping[str, int] = field(default_factory=dict)
    """New, same and replaced golds by kind."""

    patterns: Mapping[str, int] = field(default_factory=dict)
    """New, same and replaced golds by the pattern of the votes."""

    strata: Mapping[str, int] = field(default_factory=dict)
    """New, same and replaced golds by `stratum`."""

    act_id: int | None = None
    """None if nothing was written."""

    dry_run: bool = False


def stratum(rule: str, kind: str, pattern: str) -> str:
    """The name of golds that rules made alike: "AGE, 2-1".

    Where unanimous and majority settle, they give one answer; weighted may give another.
    """
    return f"{kind}, {pattern}" + (f", {rule}" if rule == Rule.WEIGHTED else "")


CAME_OTHERWISE = """
SELECT 1 FROM batch
WHERE state <> 'loading' AND substr(sha256, 1, length(:file)) = :file AND sha256 <> :sha256
    AND sha256 NOT GLOB '* run *' AND :sha256 NOT GLOB '* run *'
LIMIT 1"""
BROUGHT_AS = """
SELECT DISTINCT m.name FROM batch AS b JOIN annotator AS n ON n.id = b.annotator_id
JOIN annotator AS m ON m.id = coalesce(n.merged_into, n.id)
WHERE b.state <> 'loading' AND substr(b.sha256, 1, length(:file)) = :file AND m.name <> :name
ORDER BY 1"""
FIND_SHOWN = """
SELECT b.id, b.rows FROM batch AS b LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.sha256 = :sha256 AND b.format = :format AND n.name IS :annotator
    AND b.state <> 'loading'"""
# The imports that acts took out, but for those that were imported again since.
OUT = """
    SELECT j.value FROM batch AS r
    JOIN act AS c ON c.batch_id = r.id AND c.kind = 'settle' AND c.undone = 0
    JOIN json_each(
        CASE WHEN json_valid(r.report) THEN r.report ELSE 'null' END, '$.retires') AS j
    JOIN batch AS o ON o.id = j.value
    WHERE r.format = 'retire' AND r.state <> 'loading' AND NOT EXISTS (
        SELECT 1 FROM batch AS n
        WHERE n.id > r.id AND n.state <> 'loading' AND n.format = o.format
            AND n.annotator_id IS o.annotator_id
            AND substr(n.sha256, 1, length(o.sha256) + 5) = o.sha256 || ' run ')"""
EVER_RETIRED = "SELECT 1 FROM batch WHERE format = 'retire' AND state <> 'loading' LIMIT 1"
COUNT_RUNS = "SELECT count(*) FROM batch WHERE sha256 = :sha256 OR sha256 GLOB :later"
UNFINISHED = """
SELECT id, name, state, pid, report, format FROM batch WHERE state <> 'ready' ORDER BY id"""
INSERT = """
INSERT INTO batch (name, sha256, format, split, annotator_id, state, pid, report, created_at)
VALUES (:name, :sha256, :format, :split,
    (SELECT id FROM annotator WHERE name = :annotator), 'loading', :pid, :report, :at)
RETURNING id"""
CLAIM = """
UPDATE batch SET pid = :pid, report = :report
WHERE id = :id AND state = :state AND pid IS :former AND report = :former_report"""
STILL_MINE = """
SELECT 1 FROM batch
WHERE id = :id AND state = 'loading' AND pid = :pid AND report = :report"""
GIVE_UP = "UPDATE batch SET pid = NULL WHERE id = :id AND pid = :pid AND state <> 'ready'"
WHO = """
SELECT n.name FROM act AS c JOIN annotator AS n ON n.id = c.annotator_id
WHERE c.batch_id = :batch ORDER BY c.id LIMIT 1"""
SETTLES = "SELECT 1 FROM batch WHERE id = :id AND state = 'settling' AND pid = :pid"
SET_REPORT = "UPDATE batch SET report = :report WHERE id = :id"
SET_STATE = """
UPDATE batch SET state = :state, rows = :rows, report = :report, finished_at = :at
WHERE id = :id"""


MERGE = "merge"
"""Format of the batch of a merge. `nfh_db.merge.apply` writes its note."""

RETIRE = "retire"
"""Format of the batch of an act that takes imports out."""

BULK_FORMATS = {
    "settle": "A settlement is being written by",
    "bulk": "Many items are being changed by",
    "undo": "A settlement is being undone by",
    "redo": "A settlement is being redone by",
    RETIRE: "Imported passages are being retired by",
    MERGE: "Another copy is being merged by",
}
"""Formats of batches that are no files, each with the start of the message about one."""

FOUND = "identify"
"""Format of a batch of anchors that identification found in stored passages."""

UNDER_WAY = BULK_FORMATS | {FOUND: "Numbers that were found are being added by"}


class Work(msgspec.Struct):
    """The content of a batch's report column until the batch is ready."""

    started: str | None = None
    """Start time of its process, see `system.started`."""

    act: int = 0
    annotators: list[int] = msgspec.field(default_factory=list)
    """Annotators that this batch created."""

    deferred: list[tuple[int, int]] = msgspec.field(default_factory=list)
    """First and last ids of the events that are still to be applied, in order."""

    bulk: bool = False
    """Whether all of these events are of golds."""

    by_votes: bool = False
    """Whether a gold is applied only if the votes that it names are unchanged."""

    items: bool = False
    """Whether the events of an anchor are applied together or not at all."""

    changed: int = 0
    """Anchors left out, since somebody else changed them first."""

    retires: list[int] = msgspec.field(default_factory=list)
    """Imports that it takes out."""

    report: ImportReport | None = None
    settled: SettleReport | None = None

    def defer(self, first: int, last: int) -> None:
        """Append a range of events to `deferred`."""
        if self.deferred and self.deferred[-1][1] + 1 == first:
            first = self.deferred.pop()[0]
        self.deferred.append((first, last))


W = TypeVar("W", bound=msgspec.Struct)
"""The work of a batch; it has a field `started`."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A batch that is not ready: a process works on it, or its process is dead."""

    id: int
    name: str
    state: str
    pid: int | None
    raw: str
    work: Work
    format: str = ""

    @property
    def is_loading(self) -> bool:
        """True if it is still invisible."""
        return self.state == "loading"


_running: set[int] = set()
_finishing: set[int] = set()
_running_lock = threading.Lock()
_work = msgspec.json.Decoder(Work)


@contextmanager
def running(batch_id: int) -> Iterator[None]:
    """Mark a batch as in progress in this process, for `is_alive`."""
    with _running_lock:
        _running.add(batch_id)
    try:
        yield
    finally:
        with _running_lock:
            _running.discard(batch_id)


@contextmanager
def finishing(batch_id: int) -> Iterator[bool]:
    """Reserve a batch for crash recovery; False if another thread has reserved it."""
    with _running_lock:
        mine = batch_id not in _finishing
        _finishing.add(batch_id)
    try:
        if mine:
            with running(batch_id):
                yield True
        else:
            yield False
    finally:
        if mine:
            with _running_lock:
                _finishing.discard(batch_id)


def is_alive(batch: Unfinished) -> bool:
    """True if a process works on a batch."""
    if batch.pid is None:
        return False
    if batch.pid == os.getpid():
        with _running_lock:
            return batch.id in _running
    return system.is_running(batch.pid, batch.work.started)


def find_shown(
    connection: Connection, sha256: str, format_: str, annotator: str | None
) -> tuple[int, int] | None:
    """Id and number of rows of a visible import of exactly this content."""
    row: tuple[int, int] | None = connection.execute(
        FIND_SHOWN, {"sha256": sha256, "format": format_, "annotator": annotator}
    ).fetchone()
    return row


def came_otherwise(connection: Connection, sha256: str) -> bool:
    """True if the same file was imported with other settings; see `IncomingFile.sha256`."""
    key = {"sha256": sha256, "file": sha256.partition(" ")[0]}
    return connection.execute(CAME_OTHERWISE, key).fetchone() is not None


def are_out(connection: Connection) -> set[int]:
    """The imports that were taken out and not imported again since."""
    return {row[0] for row in connection.execute(OUT)}


def ever_retired(connection: Connection) -> bool:
    """True if any import was ever taken out."""
    return connection.execute(EVER_RETIRED).fetchone() is not None


def brought_as(connection: Connection, sha256: str, annotator: str) -> list[str]:
    """The other people as whose answers a file was imported; see `IncomingFile.sha256`."""
    key = {"file": sha256.partition(" ")[0], "name": annotator}
    return [name for (name,) in connection.execute(BROUGHT_AS, key)]


def name_of_next_run(connection: Connection, sha256: str) -> str:
    """The value of `sha256` for a further run over the same file.

    The hash itself is that of the import that brought the rows.
    """
    key = {"sha256": sha256, "later": f"{sha256} run *"}
    return f"{sha256} run {connection.execute(COUNT_RUNS, key).fetchone()[0] + 1}"


def unfinished(connection: Connection) -> Sequence[Unfinished]:
    """The batches that are not ready."""
    return [
        Unfinished(id_, name, state, pid, raw, _work.decode(raw), format_)
        for id_, name, state, pid, raw, format_ in connection.execute(UNFINISHED)
    ]


def refuse_beside_another(connection: Connection, wanted: str) -> None:
    """Raise StoreError if a batch is unfinished. wanted: what to do later, for the message."""
    for other in unfinished(connection):
        what = UNDER_WAY.get(other.format, f"{other.name} is being imported by")
        doer = who_works(connection, other)
        raise StoreError(f"{what} {doer}: wait until that is done, then {wanted}")


def who_works(connection: Connection, batch: Unfinished) -> str:
    """The person and the process of a batch, as far as they are known, in words."""
    row = connection.execute(WHO, {"batch": batch.id}).fetchone()
    process = "a process that gave it up" if batch.pid is None else f"process {batch.pid}"
    return process if row is None else f"{row[0]} ({process})"


def add(
    connection: Connection,
    name: str,
    sha256: str,
    format_: str,
    split: str | None,
    annotator: str | None,
    work: Work,
) -> int:
    """Insert a batch of this process, in the state loading; its id."""
    batch_id: int = connection.execute(
        INSERT,
        {
            "name": name,
            "sha256": sha256,
            "format": format_,
            "split": split,
            "annotator": annotator,
            "pid": os.getpid(),
            "report": json_of(work),
            "at": system.now(),
        },
    ).fetchone()[0]
    return batch_id


def left_behind(connection: Connection) -> bool:
    """True if there is an unfinished batch on which no process works."""
    return not all(is_alive(batch) for batch in unfinished(connection))


def claim(connection: Connection, batch: Unfinished, work: W) -> W | None:
    """Take over the batch of a dead process; its work, None if another process did first."""
    mine = msgspec.structs.replace(work, started=system.started(os.getpid()))
    changed = connection.execute(
        CLAIM,
        {
            "id": batch.id,
            "state": batch.state,
            "pid": os.getpid(),
            "report": json_of(mine),
            "former": batch.pid,
            "former_report": batch.raw,
        },
    ).rowcount
    return mine if changed == 1 else None


def give_up(connection: Connection, batch_id: int) -> None:
    """Release a batch of this process, so that any process may claim it."""
    connection.execute(GIVE_UP, {"id": batch_id, "pid": os.getpid()})


def still_mine(connection: Connection, batch_id: int, note: str) -> bool:
    """False if another process took this one for dead and claimed its batch."""
    key = {"id": batch_id, "pid": os.getpid(), "report": note}
    return connection.execute(STILL_MINE, key).fetchone() is not None


def applies_here(connection: Connection, batch_id: int) -> bool:
    """True if this process is to apply the deferred events of a batch."""
    key = {"id": batch_id, "pid": os.getpid()}
    return connection.execute(SETTLES, key).fetchone() is not None


def set_report(connection: Connection, batch_id: int, report: object) -> str:
    """Store a report, or what the recovery of a batch needs; the stored text."""
    text = json_of(report)
    connection.execute(SET_REPORT, {"id": batch_id, "report": text})
    return text


def set_state(
    connection: Connection, batch_id: int, state: str, rows: int, report: object
) -> None:
    connection.execute(
        SET_STATE,
        {
            "id": batch_id,
            "state": state,
            "rows": rows,
            "report": json_of(report),
            "at": system.now(),
        },
    )
