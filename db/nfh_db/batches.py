"""Batches: one imported file or one bulk operation each, seen by nobody until its rows are
there. Also what a failed write left behind, and the record of a settlement.

loading: being written, invisible. settling: visible; what it changes of anchors that were
there before is being applied from its events. ready: done. A settlement, and its undo and
redo, are batches of the formats of `BULK_FORMATS` that hold nothing but such events.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from nfh_db import system
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.records import ImportReport, Rule
from nfh_db.serialization import json_of

# What a failed write left behind, tried again until it is cleared away or finished.
#
# A disk that is full lets a bulk act neither be shown nor be cleared away. Nobody should have
# to do anything about that but make room.

EVERY_SECONDS = 2.0


class _Attempts:
    """A thread that tries until it succeeds, or for a last time when it is stopped."""

    def __init__(self, attempt: Callable[[], bool], over: Callable[[], None]) -> None:
        self._attempt = attempt
        self._over = over
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nfh-finishing", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Try once more, and wait for that."""
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


def later(path: Path, attempt: Callable[[], bool]) -> None:
    """Call `attempt` in a thread, again and again, until it says that nothing is left."""
    key = os.path.realpath(path)
    with _lock:
        if key not in _under_way:
            _under_way[key] = _Attempts(attempt, lambda: _forget(key))


def stop(path: Path) -> None:
    """Try a last time what waits for a database, which is being closed."""
    with _lock:
        attempts = _under_way.get(os.path.realpath(path))
    if attempts is not None:
        attempts.stop()


def _forget(key: str) -> None:
    with _lock:
        _under_way.pop(key, None)


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What a settlement did, or would do, to the anchors that it looked at.

    new, same, replaced, taken_back: golds made, found as they would be made, made otherwise,
    and removed since the votes settle nothing any more. changed: those of which somebody
    changed gold, votes or span meanwhile, and which so were left. skipped: by reason, in
    words. classes, patterns: of new, same and replaced golds, by kind and by the pattern of
    the votes. act_id: None where nothing was written.
    """

    rule: Rule
    least: int
    at: str
    anchors: int = 0
    new: int = 0
    same: int = 0
    replaced: int = 0
    taken_back: int = 0
    changed: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, int] = field(default_factory=dict)
    patterns: Mapping[str, int] = field(default_factory=dict)
    act_id: int | None = None
    dry_run: bool = False


CAME_OTHERWISE = """
SELECT 1 FROM batch
WHERE state <> 'loading' AND substr(sha256, 1, length(:file)) = :file AND sha256 <> :sha256
    AND sha256 NOT GLOB '* run *' AND :sha256 NOT GLOB '* run *'
LIMIT 1"""
FIND_SHOWN = """
SELECT b.id, b.rows FROM batch AS b LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.sha256 = :sha256 AND b.format = :format AND n.name IS :annotator
    AND b.state <> 'loading'"""
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
"""Format of the batch of a merge, whose note `nfh_db.merge.apply` writes."""

BULK_FORMATS = {
    "settle": "A settlement is being written by",
    "bulk": "Many items are being changed by",
    "undo": "A settlement is being taken back by",
    "redo": "A settlement is being made again by",
    MERGE: "Another copy is being merged by",
}
"""Formats of batches that are no files, and how one under way is told of."""

FOUND = "identify"
"""Format of a batch of numbers that no file named, found in passages that are there."""

UNDER_WAY = BULK_FORMATS | {FOUND: "Numbers that were found are being added by"}


class Work(msgspec.Struct):
    """What the report column holds until a batch is ready.

    started: when its process started. annotators: those that this batch made. deferred: first
    and last id of events that settling has still to apply. bulk: they are all of golds.
    by_votes: those hold only while the votes are the ones they name. items: they change
    items, each wholly or not at all. changed: how many were left out, since somebody was
    faster. report, settled: the final one.
    """

    started: str | None = None
    act: int = 0
    annotators: list[int] = msgspec.field(default_factory=list)
    deferred: list[tuple[int, int]] = msgspec.field(default_factory=list)
    bulk: bool = False
    by_votes: bool = False
    items: bool = False
    changed: int = 0
    report: ImportReport | None = None
    settled: SettleReport | None = None

    def defer(self, first: int, last: int) -> None:
        """Add events that are to be applied, behind those that are there."""
        if self.deferred and self.deferred[-1][1] + 1 == first:
            first = self.deferred.pop()[0]
        self.deferred.append((first, last))


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A batch that is not ready: somebody works on it, or its process is gone."""

    id: int
    name: str
    state: str
    pid: int | None
    raw: str
    work: Work
    format: str = ""

    @property
    def is_loading(self) -> bool:
        """True if nobody sees it yet."""
        return self.state == "loading"


_running: set[int] = set()
_finishing: set[int] = set()
_running_lock = threading.Lock()
_work = msgspec.json.Decoder(Work)


@contextmanager
def running(batch_id: int) -> Iterator[None]:
    """Say that this process is at work on a batch."""
    with _running_lock:
        _running.add(batch_id)
    try:
        yield
    finally:
        with _running_lock:
            _running.discard(batch_id)


@contextmanager
def finishing(batch_id: int) -> Iterator[bool]:
    """Take what was left behind, to finish it; False if another thread has taken it."""
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
    """True if somebody is at work on a batch."""
    if batch.pid is None:
        return False
    if batch.pid == os.getpid():
        with _running_lock:
            return batch.id in _running
    return system.alive(batch.pid, batch.work.started)


def find_shown(
    connection: Connection, sha256: str, format_: str, annotator: str | None
) -> tuple[int, int] | None:
    """Id and number of rows of an import of just this content that is there to be seen."""
    row: tuple[int, int] | None = connection.execute(
        FIND_SHOWN, {"sha256": sha256, "format": format_, "annotator": annotator}
    ).fetchone()
    return row


def came_otherwise(connection: Connection, sha256: str) -> bool:
    """True if the same file came in, read with other settings; see `IncomingFile.sha256`."""
    key = {"sha256": sha256, "file": sha256.partition(" ")[0]}
    return connection.execute(CAME_OTHERWISE, key).fetchone() is not None


def name_of_next_run(connection: Connection, sha256: str) -> str:
    """What stands for a file's hash when the file is gone through once more.

    The hash itself names the one import that brought the file's rows.
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
    """Raise StoreError if a batch is under way. wanted: what to do when that is done."""
    for other in unfinished(connection):
        what = UNDER_WAY.get(other.format, f"{other.name} is being imported by")
        doer = who_works(connection, other)
        raise StoreError(f"{what} {doer}: wait until that is done, then {wanted}")


def who_works(connection: Connection, batch: Unfinished) -> str:
    """The person and the process that a batch is of, as far as they are known."""
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
    """A new batch's id, of this process."""
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
    """True if there is a batch at which nobody is at work any more."""
    return not all(is_alive(batch) for batch in unfinished(connection))


def claim(connection: Connection, batch: Unfinished) -> Work | None:
    """Make a dead process' batch this one's; its work, None if another process was faster."""
    mine = msgspec.structs.replace(batch.work, started=system.started(os.getpid()))
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
    """Say that this process works no more on a batch: whoever comes next may take it."""
    connection.execute(GIVE_UP, {"id": batch_id, "pid": os.getpid()})


def set_work(connection: Connection, batch_id: int, work: Work) -> str:
    """Note what sweeping a batch needs to know; the text of the note."""
    note = json_of(work)
    connection.execute(SET_REPORT, {"id": batch_id, "report": note})
    return note


def still_mine(connection: Connection, batch_id: int, note: str) -> bool:
    """True unless another process took this one for dead and claimed its batch."""
    key = {"id": batch_id, "pid": os.getpid(), "report": note}
    return connection.execute(STILL_MINE, key).fetchone() is not None


def settles(connection: Connection, batch_id: int) -> bool:
    """True if this process is to apply what waits of a batch."""
    key = {"id": batch_id, "pid": os.getpid()}
    return connection.execute(SETTLES, key).fetchone() is not None


def set_report(connection: Connection, batch_id: int, report: object) -> None:
    """Write the report of a batch that is ready anew."""
    connection.execute(SET_REPORT, {"id": batch_id, "report": json_of(report)})


def set_state(
    connection: Connection, batch_id: int, state: str, rows: int, report: object
) -> None:
    """Move a batch on."""
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
