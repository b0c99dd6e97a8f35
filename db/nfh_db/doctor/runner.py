"""Registry of all checks, and the functions that run them and repair a database."""

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nfh_db import answers, assignments, bulk_run, database, passages, schema_parts
from nfh_db.connection import (
    SCHEMA_VERSION,
    Connection,
    WriteSize,
    connect,
    prepare_writer,
    sqlite3,
    transaction,
    translated,
    write_in_steps,
)
from nfh_db.database import at_one_moment
from nfh_db.doctor import content_checks, file_checks, rows
from nfh_db.doctor.rows import (
    BACKUP,
    READ_ERRORS,
    REPAIR_WORDS,
    Check,
    DatabaseSnapshot,
    DoctorFinding,
    Fault,
    PassageChunk,
    Place,
    Repair,
)
from nfh_db.errors import DamagedFileError, StoreError
from nfh_db.serialization import json_of
from nfh_models.domain import Anchor, anchor_id

COPY = f"copy the file away and {BACKUP}"
AGAIN = "decide the item again in the workbench"

CHECKS: tuple[Check, ...] = (
    Check(
        "sqlite",
        "SQLite has a version that is safe when several programs write one file.",
        file_checks.sqlite,
        remedy="install pysqlite3 0.6.1 or newer",
        reads_no_tables=True,
    ),
    Check(
        "file",
        "The file is a database of this nfh-tui, in write-ahead-log mode, with its log.",
        file_checks.header,
        remedy=COPY,
    ),
    Check(
        "pages",
        "Every page can be read, and indexes agree with tables.",
        file_checks.integrity,
        remedy=COPY,
        reads_no_tables=True,
    ),
    Check(
        "schema",
        "The file has the tables and indexes that the migrations build, and nothing else.",
        file_checks.schema,
        reads_no_tables=True,
    ),
    Check("values", "Each column holds only what its table allows.", file_checks.values),
    Check("references", "No row refers to a row that is missing.", file_checks.references),
    Check(
        "passages",
        "Words lie inside the text, in order, without overlap, each with a lemma and in one "
        "turn.",
        check_chunk=content_checks.passages,
    ),
    Check(
        "digests",
        "A passage is unchanged since its import.",
        check_chunk=content_checks.digests,
    ),
    Check(
        "anchors",
        "An anchor is one or more words of its passage, with the right place and text.",
        check_chunk=content_checks.spans,
    ),
    Check(
        "replaced",
        "A corrected anchor leads to the one that replaced it.",
        check_chunk=content_checks.links,
    ),
    Check(
        "answers",
        "Each answer is consistent, and its heads lie in the passage and outside the number.",
        check_chunk=content_checks.answers,
        remedy=f"answer the item again if it is the only one; else {BACKUP}",
    ),
    Check(
        "gold",
        "Each gold is consistent, and its heads lie in the passage and outside the number.",
        check_chunk=content_checks.golds,
        remedy=AGAIN,
    ),
    Check(
        "rules",
        "Each gold has its source: its import, the adjudicator's answer, or the votes.",
        check_chunk=content_checks.rules,
        remedy=AGAIN,
    ),
    Check(
        "flags",
        "A proposed span lies in the passage, and differs from the number's own.",
        check_chunk=content_checks.proposals,
    ),
    Check(
        "summaries",
        "The summary of an item agrees with its answers and its gold.",
        check_chunk=content_checks.summaries,
    ),
    Check(
        "differences",
        "The stored differences of two answers are right.",
        check_chunk=content_checks.differences,
    ),
    Check(
        "assignments",
        "An assignment is done if its person has answered, and only then.",
        content_checks.assignments,
    ),
    Check("events", "Every event of the log can be read.", content_checks.events),
    Check(
        "log",
        "The log, replayed from its beginning, gives the present state.",
        content_checks.replayed,
    ),
    Check(
        "acts",
        "Each undo and redo names an existing act, and did its opposite, or the same.",
        content_checks.acts,
    ),
    Check(
        "imports",
        "An import or a bulk action is complete, or is not there.",
        file_checks.imports,
    ),
    Check("sources", "The rows of each imported file are kept.", file_checks.sources),
    Check(
        "drafts",
        "Drafts can be continued, and saved views can be opened.",
        file_checks.drafts,
        remedy="open the item: the workbench says what it cannot use, and you start again",
    ),
    Check(
        "predictions",
        "A prediction has a score for each class and each word.",
        file_checks.predictions,
        remedy="have the model predict the item again",
    ),
    Check(
        "identifications",
        "Each decision of identification names its rule, and its score says the same.",
        file_checks.identifications,
        remedy="run `nfh-tui identify --again`",
    ),
    Check(
        "jobs",
        "The data of each job can be read and are consistent, and no job waits for ever.",
        file_checks.jobs,
    ),
    Check(
        "settings",
        "The data of models, imports and assignments can be read.",
        file_checks.notes,
    ),
    Check("leftovers", "Nothing is left of what was removed.", file_checks.leftovers),
)


CHUNK_SIZE = 500
"""Passages read at once."""

UNCHECKED = "this was not checked: tables of the file are not what they should be"
OUT_OF_TIME = f"this was not checked completely: it took over {rows.TIME_LIMIT:.0f} seconds"
"""In a file with foreign parts."""

MAX_LISTED = 100
"""Findings of one check that are listed; all are counted."""

NEXT_PASSAGE = "SELECT min(id) FROM passage WHERE id > :after"
COUNT_PASSAGES = "SELECT count(*) FROM passage"
ANCHOR_IDENTITY = """
SELECT lower(hex(p.digest)), a.start, a.stop, a.removed = 0 AND a.replaced_by IS NULL
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id WHERE a.id = :id"""

CHECK_ERRORS = (sqlite3.Error, *READ_ERRORS)
"""What a check may raise in a damaged file."""


@dataclass(slots=True)
class CheckResult:
    """What one check found."""

    check: Check
    broken: int = 0
    repairable: int = 0
    faults: list[Fault] = field(default_factory=list)
    """The first MAX_LISTED of them."""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What an examination found."""

    path: Path
    sqlite: str
    schema: int
    anchors: int
    events: int
    seconds: float
    outcomes: tuple[CheckResult, ...]
    findings: tuple[DoctorFinding, ...]
    """Those that are listed, in the order of the checks."""
    notes: tuple[str, ...]
    items_to_repair: "dict[Repair, array[int]]"
    """All anchors that need each repair."""
    names_to_repair: dict[Repair, tuple[str, ...]]
    """The targets of each repair, see `Fault.target`."""

    @property
    def broken(self) -> int:
        """Number of faults."""
        return sum(outcome.broken for outcome in self.outcomes)

    @property
    def repairable(self) -> int:
        """Number of faults that can be repaired."""
        return sum(outcome.repairable for outcome in self.outcomes)


Progress = Callable[[str, int, int], None]
"""Called with the name of the check, what is done and the total."""


def examine(
    path: Path,
    *,
    progress: Progress = lambda _name, _done, _total: None,
    read_draft: Callable[[str], object] | None = None,
    checks: Sequence[Check] = CHECKS,
) -> DoctorReport:
    """Run the checks on a snapshot of a database. Writes nothing.

    read_draft: raises ValueError for the body of a draft that the editor cannot read.
    Raises a StoreError where the file cannot be checked.
    """
    started = time.monotonic()
    try:
        with rows.open_snapshot(path) as snapshot:
            snapshot.read_draft = read_draft
            examination = _Examination(snapshot, checks, progress)
            examination.run()
            report = examination.report(time.monotonic() - started)
    except DamagedFileError as error:
        notes = file_checks.about_log(path, ["pages"])
        raise DamagedFileError(". ".join([str(error), *notes])) from error
    broken = [outcome.check.name for outcome in report.outcomes if outcome.broken]
    return replace(report, notes=(*report.notes, *file_checks.about_log(path, broken)))


class _Examination:
    def __init__(
        self, snapshot: DatabaseSnapshot, checks: Sequence[Check], progress: Progress
    ) -> None:
        self._snapshot = snapshot
        self._progress = progress
        self._outcomes = [CheckResult(check) for check in checks]
        self._items: dict[Repair, array[int]] = {}
        self._targets: dict[Repair, dict[str, None]] = {}
        self._tables_usable = snapshot.tables_are_ours
        self._anchors = self._count(rows.COUNT_ANCHORS)
        self._events = self._count(rows.COUNT_EVENTS)

    def _count(self, sql: str) -> int:
        if not self._tables_usable:
            return 0
        try:
            with self._snapshot.time_limit():
                return self._snapshot.count(sql)
        except sqlite3.Error:
            return 0

    def run(self) -> None:
        """Run the checks of the whole database first, then those by passage."""
        for outcome in self._outcomes:
            check_database = outcome.check.check_database
            if not self._tables_usable and not outcome.check.reads_no_tables:
                self._add(outcome, Fault(UNCHECKED))
            elif check_database is not None:
                name = outcome.check.name
                self._progress(name, 0, self._anchors)
                self._snapshot.on_progress = partial(self._report_progress, name)
                with self._snapshot.time_limit():
                    self._collect(outcome, check_database(self._snapshot), Place())
        by_passage = [
            outcome for outcome in self._outcomes if outcome.check.check_chunk is not None
        ]
        if by_passage and self._tables_usable:
            with self._snapshot.time_limit():
                self._check_passages(by_passage)

    def _report_progress(self, name: str, done: int) -> None:
        self._progress(name, done, self._anchors)

    def _collect(self, outcome: CheckResult, faults: Iterator[Fault], where: Place) -> None:
        try:
            for fault in faults:
                self._add(outcome, fault)
                if self._snapshot.timed_out:
                    self._add(outcome, Fault(OUT_OF_TIME, where))
                    return
        except CHECK_ERRORS as error:
            timed_out = self._snapshot.timed_out
            what = (
                OUT_OF_TIME
                if timed_out
                else f"this could not be checked completely: {_words(error)}"
            )
            self._add(outcome, Fault(what, where))

    def _add(self, outcome: CheckResult, fault: Fault) -> None:
        outcome.broken += 1
        if fault.repair is not None:
            outcome.repairable += 1
            if fault.where.item is not None:
                self._items.setdefault(fault.repair, array("q")).append(fault.where.item)
            self._targets.setdefault(fault.repair, {})[fault.target] = None
        if len(outcome.faults) < MAX_LISTED:
            outcome.faults.append(fault)

    def _check_passages(self, outcomes: Sequence[CheckResult]) -> None:
        total = self._count(COUNT_PASSAGES)
        after: int | None = 0
        done = 0
        limit = CHUNK_SIZE
        while after is not None:
            if self._snapshot.timed_out:
                self._add(outcomes[0], Fault(OUT_OF_TIME, Place("passage", after)))
                return
            try:
                chunk, last = rows.read(self._snapshot.connection, after, limit)
            except CHECK_ERRORS as error:
                if limit > 1:
                    limit = 1
                    continue
                after = self._skip_unreadable(outcomes[0], after, error)
                continue
            for outcome in outcomes:
                self._check_chunk(outcome, chunk)
            done += len(chunk.passages)
            self._progress("passages", done, total)
            after, limit = last, CHUNK_SIZE if limit == CHUNK_SIZE else limit + 1

    def _check_chunk(self, outcome: CheckResult, chunk: PassageChunk) -> None:
        if outcome.check.check_chunk is not None and chunk.passages:
            first = next(iter(chunk.passages))
            self._collect(outcome, outcome.check.check_chunk(chunk), Place("passage", first))

    def _skip_unreadable(
        self, outcome: CheckResult, after: int, error: Exception
    ) -> int | None:
        """The id of the unreadable passage after `after`; None if no later one can be read."""
        key = {"after": after}
        try:
            broken: int | None = self._snapshot.connection.execute(
                NEXT_PASSAGE, key
            ).fetchone()[0]
        except sqlite3.Error:
            broken = None
        if broken is not None and broken <= after:
            broken = None
        what = f"it, or its description, cannot be read: {_words(error)}"
        if isinstance(error, sqlite3.Error) and _is_missing_column(error):
            broken = None
        if broken is None:
            what = f"it and the rows after it cannot be read: {_words(error)}"
        self._add(outcome, Fault(what, Place("passage", broken or after + 1)))
        return broken

    def report(self, seconds: float) -> DoctorReport:
        with translated(self._snapshot.path):
            findings = tuple(
                _finding(outcome.check, fault, self._snapshot.connection)
                for outcome in self._outcomes
                for fault in outcome.faults
            )
        return DoctorReport(
            path=self._snapshot.path,
            sqlite=sqlite3.sqlite_version,
            schema=self._snapshot.version,
            anchors=self._anchors,
            events=self._events,
            seconds=seconds,
            outcomes=tuple(self._outcomes),
            findings=findings,
            notes=tuple(self._snapshot.notes),
            items_to_repair=self._items,
            names_to_repair={kind: tuple(names) for kind, names in self._targets.items()},
        )


def _is_missing_column(error: sqlite3.Error) -> bool:
    """True if a table or column is missing, which the next passage lacks too."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _finding(check: Check, fault: Fault, connection: Connection) -> DoctorFinding:
    public_id, query = _anchor_names(connection, fault.where.item)
    return DoctorFinding(
        check.name,
        fault.what,
        fault.where,
        fault.repair is not None,
        check.remedy if fault.repair is None else REPAIR_WORDS[fault.repair],
        public_id,
        query,
    )


def _anchor_names(connection: Connection, item: int | None) -> tuple[str | None, str | None]:
    """The public id of an anchor, and a query that finds it if it is live."""
    if item is None:
        return None, None
    try:
        row = connection.execute(ANCHOR_IDENTITY, {"id": item}).fetchone()
    except sqlite3.Error:
        row = None
    if row is None:
        return None, None
    return anchor_id(row[0], Anchor(row[1], row[2])), f"id:{item}" if row[3] else None


# A repair writes only what can be computed again, after a backup. It never writes answers,
# gold, flags, anchors or the log.

REINDEX = "REINDEX"
FOREIGN_KEYS_OFF = "PRAGMA foreign_keys = OFF"
# SQLite itself quotes the name.
DROP = "SELECT format('DROP %s \"%w\"', :type, :name)"
DROP_ORDER = ("trigger", "view", "index", "table")
"""Types of schema parts, in the order in which foreign ones are dropped."""
INDEX_EXISTS = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = :name"
ANCHOR_EXISTS = "SELECT 1 FROM anchor WHERE id = :id"
ASSIGNED = """
SELECT anchor_id, annotator_id, role FROM assignment
WHERE anchor_id IN (SELECT value FROM json_each(:ids))"""
NOT_FINISHED = """
UPDATE assignment SET finished_at = NULL, verdict = NULL
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND state <> 'done'"""

WRITE_SIZE = WriteSize(first=20, smallest=5, largest=1_000, seconds=0.03)
"""Anchors."""

UNREADABLE_CHECKS = ("pages", "schema")
"""Checks after whose faults, if they cannot be repaired, nothing may be written."""


STAGES: tuple[tuple[Repair, ...], ...] = (
    (Repair.PARTS,),
    (Repair.WAL, Repair.INDEXES),
    (Repair.IMPORTS,),
    (Repair.ASSIGNMENTS, Repair.SUMMARIES, Repair.JOBS),
)
"""Order of repairs. Each stage works from a new report, since the former changes it."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did."""

    backup: Path
    """Copy of the database from before the repair."""
    kinds: tuple[Repair, ...]
    failed: tuple[str, ...]
    """Sentences about what could not be repaired."""
    report: DoctorReport
    """Of the examination afterwards."""


def repair(
    path: Path, report: DoctorReport, examine_again: Callable[[], DoctorReport]
) -> Repaired | None:
    """Repair what a report names as repairable; None if that is nothing.

    Makes a backup first. A repair that is interrupted can be run again. examine_again: returns
    a new report. Raises StoreError where the damage forbids writing, and where no backup can
    be made.
    """
    if not report.names_to_repair:
        return None
    _refuse_damage(path, report)
    backup = keep_copy(path)
    done: list[Repair] = []
    failed: list[str] = []
    for stage in STAGES:
        kinds = [kind for kind in stage if kind in report.names_to_repair]
        if kinds:
            failed += _repair_stage(path, report, kinds)
            if report.schema < SCHEMA_VERSION:
                # Foreign parts had kept the older file from being upgraded.
                database.open_writer(path, create=False).close()
            done += kinds
            report = examine_again()
    return Repaired(backup, tuple(done), tuple(failed), report)


def _repair_stage(path: Path, report: DoctorReport, kinds: Sequence[Repair]) -> list[str]:
    if Repair.IMPORTS in kinds:
        bulk_run.recover(path)
        return []
    failed: list[str] = []
    with translated(path), closing(connect(path, "rw")) as connection:
        prepare_writer(connection, path)
        if Repair.PARTS in kinds:
            failed += _drop_parts(connection, report.names_to_repair[Repair.PARTS])
        if Repair.INDEXES in kinds:
            failed += _rebuild_indexes(connection, report.names_to_repair[Repair.INDEXES])
        for name in report.names_to_repair.get(Repair.JOBS, ()) if Repair.JOBS in kinds else ():
            with transaction(connection):
                file_checks.repair_job(connection, int(name))
        for kind, write in (
            (Repair.ASSIGNMENTS, _repair_assignments),
            (Repair.SUMMARIES, _repair_summaries),
        ):
            if kind in kinds:
                _repair_in_batches(connection, report.items_to_repair.get(kind, ()), write)
    return failed


def _refuse_damage(path: Path, report: DoctorReport) -> None:
    damaged = [
        finding for finding in report.findings
        if finding.check in UNREADABLE_CHECKS and not finding.repairable
    ]  # fmt: skip
    if damaged:
        raise StoreError(
            f"{path} is damaged, and was not changed, because writing into it could lose more. "
            "Copy it, and go back to a copy made by `nfh-tui backup`"
        )


def keep_copy(path: Path) -> Path:
    """Copy the database, damaged or not, to a new file beside it."""
    place = path.with_name(database.dated_name(path, "before-repair"))
    with at_one_moment(path) as (reader, _), database.atomic_file(place) as partial:
        database.copy_pages(reader, partial, place)
    return place


def _drop_parts(connection: Connection, keys: Sequence[str]) -> Iterator[str]:
    """Drop foreign parts, named “TYPE NAME”. Yields a sentence for each failure."""
    # Rows that refer to a dropped table stay.
    connection.execute(FOREIGN_KEYS_OFF)
    named = [key.partition(" ") for key in keys]
    for type_, _, name in sorted(named, key=lambda one: DROP_ORDER.index(one[0])):
        try:
            asked = {"type": type_, "name": name}
            statement = connection.execute(DROP, asked).fetchone()[0]
            with transaction(connection):
                connection.execute(statement)
        except (sqlite3.Error, UnicodeError) as error:
            yield f"the {type_} {name} could not be taken out: {error}"


def _rebuild_indexes(connection: Connection, names: Sequence[str]) -> Iterator[str]:
    """Rebuild all indexes and create missing ones. Yields a sentence for each failure.

    Blocks other writers for as long as SQLite builds an index.
    """
    wanted = schema_parts.expected(SCHEMA_VERSION)
    statements = [
        wanted[f"index {name}"].sql
        for name in names
        if f"index {name}" in wanted
        and not connection.execute(INDEX_EXISTS, {"name": name}).fetchone()
    ]
    for statement in (REINDEX, *statements, passages.DROP_TEXTS):
        try:
            with transaction(connection):
                connection.execute(statement)
        except sqlite3.Error as error:
            yield f"“{statement}” failed: {error}"
    passages.index_texts(connection)


def _repair_in_batches(
    connection: Connection,
    items: "Sequence[int] | array[int]",
    write: Callable[[Connection, Sequence[int]], None],
) -> None:
    """Repair anchors in short transactions, between which others can write."""
    write_in_steps(lambda: transaction(connection), sorted(set(items)), write, WRITE_SIZE)


def _repair_summaries(connection: Connection, ids: Sequence[int]) -> None:
    there = [id_ for id_ in ids if connection.execute(ANCHOR_EXISTS, {"id": id_}).fetchone()]
    answers.recompute_with_successors(connection, there)


def _repair_assignments(connection: Connection, ids: Sequence[int]) -> None:
    key = {"ids": json_of(list(ids))}
    connection.execute(NOT_FINISHED, key)
    rows = connection.execute(ASSIGNED, key).fetchall()
    for anchor, annotator_id, role in rows:
        value = answers.read(connection, anchor, annotator_id, role)
        assignments.keep_in_step(connection, anchor, annotator_id, role, value)
