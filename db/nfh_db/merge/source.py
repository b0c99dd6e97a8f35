"""Access to the two copies: opening the other one read-only, reading rows of either, mapping
ids, and short transactions for this one.
"""

import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from nfh_db import batches as db_batches
from nfh_db import database
from nfh_db.connection import (
    INDEX,
    LOG,
    PASSIVE,
    SCHEMA_VERSION,
    STILL,
    WRITES_BETWEEN,
    Connection,
    WriteSize,
    connect,
    file_identity,
    identify,
    pages,
    sidecar,
    transaction,
    translated,
)
from nfh_db.errors import NotOurFileError, StoreError
from nfh_db.event_log import DECODERS
from nfh_db.messages import reason_of
from nfh_db.serialization import AnchorValue, AnswerValue, FlagValue, GoldValue, Value, json_of

# Ids of the other copy are mapped to ids of this one. A new row has no id here while a merge is
# planned: it is mapped to its id there with a minus sign.

BATCH = re.compile(r'"batch":(\d+)')
"""The import in a value of the log. Quotes inside its strings are escaped."""

AnswerTimes = Mapping[tuple[str, str], str]
"""Time of an answer in this copy, by annotator and by time in the other copy."""


class DamagedError(StoreError):
    """The other copy is damaged."""


@dataclass(slots=True)
class IdMaps:
    """Ids here by ids there. names: what annotators there are called here, by id there.
    renamed: those of these names that are others there, by the name there.
    """

    names: dict[int, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    people: dict[int, int] = field(default_factory=dict)
    batches: dict[int, int] = field(default_factory=dict)
    passages: dict[int, int] = field(default_factory=dict)
    anchors: dict[int, int] = field(default_factory=dict)

    def value(
        self, entity: str, text: str | None, times: AnswerTimes | None = None
    ) -> Value | None:
        """Decode a value of the other copy's log with ids of this one. Raises DamagedError."""
        try:
            found = decoded(entity, text)
            if isinstance(found, AnchorValue):
                return self._anchor(found)
            return found and self._of_batch(found, times or {})
        except KeyError as error:
            raise DamagedError(
                f"a change in its log names row {error} that is not there: {text}"
            ) from error

    def _anchor(self, value: AnchorValue) -> AnchorValue:
        return AnchorValue(
            self.passages[value.passage],
            value.start,
            value.stop,
            value.replaces and self.anchors[value.replaces],
            value.replaced_by and self.anchors[value.replaced_by],
        )

    def _of_batch(
        self, value: AnswerValue | GoldValue | FlagValue, times: AnswerTimes
    ) -> AnswerValue | GoldValue | FlagValue:
        changed: dict[str, object] = {}
        if value.batch is not None:
            changed["batch"] = self.batches[value.batch]
        if isinstance(value, GoldValue) and value.by in self.renamed:
            changed["by"] = self.renamed[value.by]
        if isinstance(value, GoldValue) and value.votes and (times or self.renamed):
            votes = [(self.renamed.get(name, name), at) for name, at in value.votes]
            votes = [(name, times.get((name, at), at)) for name, at in votes]
            changed["votes"] = tuple(sorted(votes))
        return msgspec.structs.replace(value, **changed) if changed else value

    def same_text(self, text: str | None) -> bool:
        """True if a value without passage or anchor has the same text here."""
        if self.renamed:
            return False
        if text is None or '"batch":' not in text:
            return True
        found = BATCH.search(text)
        return found is not None and self.batches.get(int(found[1])) == int(found[1])


def decoded(entity: str, text: str | None) -> Value | None:
    """Decode a value of the log. Raises DamagedError."""
    try:
        return DECODERS[entity](text)
    except msgspec.DecodeError as error:
        raise DamagedError(
            f"a change in its log cannot be read ({reason_of(error)})"
        ) from error


# The other copy is read in one transaction and never changed. If it has an older schema or an
# unfinished import, a temporary copy of it is upgraded and read instead.


@dataclass(slots=True)
class OtherCopy:
    """The other copy, open in a read transaction."""

    path: Path
    connection: Connection
    _state: tuple[int, ...] | None = None
    """Size, time and inode of a file that is read without a lock."""

    def check_unchanged(self) -> None:
        """Raise StoreError if a file that is read without a lock was changed."""
        if self._state is not None and _state(self.path) != self._state:
            raise StoreError(
                f"{self.path} was changed while it was read. Nothing was merged; try again"
            )


@contextmanager
def open_copy(path: Path, here: Path) -> Iterator[OtherCopy]:
    """Open the other copy of `here`. Raises a StoreError for a file that cannot be merged."""
    database.check_place(path, create=False)
    if file_identity(path) == file_identity(here):
        raise StoreError(f"{path} is this database itself: name another copy of it")
    with TemporaryDirectory(prefix="nfh-tui-") as folder:
        temporary = Path(folder) / "other.db"
        with translated(path):
            found = _copy(path, temporary) if _has_orphan_log(path) else _open(path)
            if _is_old_or_unfinished(found.connection, path):
                found = _upgraded(found, temporary.with_name("new.db"))
            _check_integrity(found.connection, path)
        try:
            with translated(path):
                yield found
        finally:
            found.connection.close()


def _has_orphan_log(path: Path) -> bool:
    """True if a write-ahead log exists and nobody has the file open.

    It was copied along, or its process was killed. To read it in place SQLite would create a
    file beside it, which fails on a read-only medium.
    """
    log = sidecar(path, LOG)
    return log.exists() and log.stat().st_size > 0 and not sidecar(path, INDEX).exists()


def _open(path: Path) -> OtherCopy:
    """Begin to read, without a lock if nobody has the file open."""
    state = _state(path)
    alone = not sidecar(path, INDEX).exists()
    connection = _begin_read(connect(path, STILL if alone else "ro"), path)
    return OtherCopy(path, connection, state if alone else None)


def _begin_read(connection: Connection, path: Path) -> Connection:
    try:
        connection.execute("BEGIN")
        identify(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_integrity(connection: Connection, path: Path) -> None:
    found = connection.execute(database.QUICK_CHECK).fetchone()[0]
    if found != "ok":
        raise StoreError(
            f"{path} is damaged ({found}). Nothing was merged; run `nfh-tui doctor` on it"
        )


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino, sidecar(path, INDEX).exists()


def _copy(path: Path, target: Path) -> OtherCopy:
    shutil.copyfile(path, target)
    shutil.copyfile(sidecar(path, LOG), sidecar(target, LOG))
    return OtherCopy(path, _begin_read(connect(target, "ro"), path))


def _is_old_or_unfinished(connection: Connection, path: Path) -> bool:
    version = identify(connection, path)
    if version == 0:
        raise NotOurFileError(f"{path} is empty, and so not a database")
    return version < SCHEMA_VERSION or bool(db_batches.unfinished(connection))


def _upgraded(found: OtherCopy, target: Path) -> OtherCopy:
    """A temporary copy with the current schema, after crash recovery."""
    from nfh_db import bulk_run

    with closing(found.connection), translated(target):
        with closing(connect(target, "rwc")) as copy:
            found.connection.backup(copy)
        database.open_writer(target, create=False).close()
    bulk_run.recover(target)
    new = _open(target)
    for batch in db_batches.unfinished(new.connection):
        new.connection.close()
        raise StoreError(
            f"{batch.name} is being brought into {found.path}: wait until that is done, then "
            "merge. Nothing was merged"
        )
    return OtherCopy(found.path, new.connection)


# The same statements read both copies. They skip what an unfinished import wrote.

PEOPLE = "SELECT id, name, type, created_at FROM annotator ORDER BY id"
BATCHES = """
SELECT b.id, b.name, b.sha256, b.format, b.split, n.name, b.rows, b.report, b.created_at,
    b.finished_at
FROM batch AS b LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.state <> 'loading' AND b.format <> 'merge' ORDER BY b.id"""
PASSAGES = """
SELECT p.id, lower(hex(p.digest)), p.document_id, p.batch_id
FROM passage AS p LEFT JOIN batch AS b ON b.id = p.batch_id
WHERE p.id > :after AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY p.id LIMIT :limit"""
ANCHORS = """
SELECT a.id, a.passage_id, a.start, a.stop, a.text_start, a.text_stop, a.word, a.batch_id
FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.passage_id IN (SELECT value FROM json_each(:ids))
    AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY a.id"""
EVENTS = """
SELECT e.id, e.act_id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after,
    c.kind, c.annotator_id, c.acted_at, c.batch_id
FROM event AS e JOIN act AS c ON c.id = e.act_id
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids))
    AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY e.anchor_id, e.id"""
ACTS = """
SELECT id, annotator_id, kind, summary, target, batch_id, acted_at
FROM act WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id"""
IMPORT_ACTS = "SELECT batch_id, id FROM act WHERE kind = 'import' AND batch_id IS NOT NULL"
DOCUMENTS = "SELECT id, name FROM document"


class MergedAnnotator(NamedTuple):
    """A person or a program that answers."""

    id: int
    name: str
    type: str
    created_at: str


class MergedBatch(NamedTuple):
    """An imported file or a run of a rule."""

    id: int
    name: str
    sha256: str
    format: str
    split: str | None
    annotator: str | None
    rows: int
    report: str
    created_at: str
    finished_at: str | None

    @property
    def content(self) -> tuple[str, str, str | None]:
        """Equal for the same batch in both copies."""
        return self.sha256, self.format, self.annotator


class MergedPassage(NamedTuple):
    """A passage, without its text. digest: hex."""

    id: int
    digest: str
    document: int
    batch: int | None


class MergedAnchor(NamedTuple):
    """An anchor. batch: None if a person made it."""

    id: int
    passage: int
    start: int
    stop: int
    text_start: int
    text_stop: int
    word: str
    batch: int | None


class LoggedEvent(NamedTuple):
    """An event and its act. owner: annotator of the answer or flag. by: of the act."""

    id: int
    act: int
    entity: str
    anchor: int
    owner: int | None
    name: str
    before: str | None
    after: str | None
    kind: str
    by: int | None
    at: str
    batch: int | None


class MergedAct(NamedTuple):
    """An act of the log. by: id of its annotator."""

    id: int
    by: int | None
    kind: str
    summary: str
    target: int | None
    batch: int | None
    at: str


def people(connection: Connection) -> list[MergedAnnotator]:
    """All annotators, by id."""
    return [MergedAnnotator(*row) for row in connection.execute(PEOPLE)]


def batches(connection: Connection) -> list[MergedBatch]:
    """All finished batches except merges."""
    return [MergedBatch(*row) for row in connection.execute(BATCHES)]


def passages(connection: Connection, at_once: int) -> Iterator[list[MergedPassage]]:
    """All passages by id, in lists of up to `at_once`."""
    for rows in pages(connection, PASSAGES, at_once):
        yield [MergedPassage(*row) for row in rows]


def anchors(connection: Connection, passage_ids: Sequence[int]) -> list[MergedAnchor]:
    """The anchors of some passages, including replaced and removed ones."""
    rows = connection.execute(ANCHORS, {"ids": json_of(list(passage_ids))})
    return [MergedAnchor(*row) for row in rows]


def log(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[LoggedEvent]]:
    """The events of some anchors, by anchor, each list oldest first."""
    found: dict[int, list[LoggedEvent]] = {}
    for row in connection.execute(EVENTS, {"ids": json_of(list(anchor_ids))}):
        found.setdefault(row[3], []).append(LoggedEvent(*row))
    return found


def acts(connection: Connection, ids: Sequence[int]) -> list[MergedAct]:
    return [MergedAct(*row) for row in connection.execute(ACTS, {"ids": json_of(list(ids))})]


WRITE_SIZE = WriteSize(first=50, smallest=5, largest=1_000, seconds=0.02)
"""Rows of one kind."""

NO_CHECKPOINTS = "PRAGMA wal_autocheckpoint = 0"


class Writes:
    """Short transactions of a merge. size: number of rows for the next one."""

    def __init__(self, connection: Connection) -> None:
        self.size = WRITE_SIZE.first
        self._connection = connection
        self._count = 0
        # A checkpoint takes longer than a transaction may; `one` runs passive ones.
        connection.execute(NO_CHECKPOINTS)

    @contextmanager
    def one(self) -> Iterator[None]:
        """A transaction of up to `size` rows. Adapts `size` to its duration."""
        with transaction(self._connection):
            begun = time.perf_counter()
            yield
        self.size = WRITE_SIZE.next(self.size, time.perf_counter() - begun)
        self._count += 1
        if self._count % WRITES_BETWEEN == 0:
            self._connection.execute(PASSIVE)
        time.sleep(WRITE_SIZE.pause)

    def reset_size(self) -> None:
        """Start again with small transactions, for rows of another kind."""
        self.size = WRITE_SIZE.first
