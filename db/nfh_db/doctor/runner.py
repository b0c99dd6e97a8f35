"""The examination and the repair of a database, and the registry of all checks with the
promise that each is about.
"""

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nfh_db import answers, assignments, bulk_run, database, schema_parts
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
    HOW,
    Check,
    DoctorFinding,
    Fault,
    PassageRange,
    Patient,
    Repair,
    Where,
)
from nfh_db.doctor.rows import UNREADABLE as UNREADABLE_ERRORS
from nfh_db.errors import StoreError
from nfh_db.serialization import json_of
from nfh_models.domain import Anchor, anchor_id

BACKUP = "go back to a copy made by `nfh-tui backup`"
COPY = f"copy the file away and {BACKUP}"
AGAIN = "decide the item again in the workbench"
BY_HAND = f"a program other than nfh-tui wrote this: {BACKUP}"

CHECKS: tuple[Check, ...] = (
    Check(
        "sqlite",
        "SQLite is a version that does not damage a file which several programs write.",
        "install pysqlite3 0.6.1 or newer",
        file_checks.sqlite,
        of_file=True,
    ),
    Check(
        "file",
        "The file is a database of this nfh-tui's, in write-ahead-log mode.",
        COPY,
        file_checks.header,
    ),
    Check(
        "pages",
        "Every page can be read, and indexes agree with tables.",
        COPY,
        file_checks.integrity,
        of_file=True,
    ),
    Check(
        "schema",
        "Tables and indexes are those that the migrations build, and there is nothing else.",
        BY_HAND,
        file_checks.schema,
        of_file=True,
    ),
    Check(
        "values",
        "Columns hold only what their table allows.",
        BY_HAND,
        file_checks.values,
    ),
    Check(
        "references",
        "No row refers to a row that is missing.",
        BY_HAND,
        file_checks.references,
    ),
    Check(
        "passages",
        "Words lie inside the text, in order and apart, each with a lemma and in one turn.",
        BY_HAND,
        each=content_checks.passages,
    ),
    Check(
        "digests",
        "A passage is what it was when it was imported.",
        BY_HAND,
        each=content_checks.digests,
    ),
    Check(
        "anchors",
        "An anchor is one or more words of its passage, and says where and which.",
        BY_HAND,
        each=content_checks.spans,
    ),
    Check(
        "replaced",
        "A corrected anchor leads to the one that stands in its place now.",
        BY_HAND,
        each=content_checks.links,
    ),
    Check(
        "answers",
        "Each answer holds together, and its heads lie in the passage and not in the number.",
        f"answer the item again; if it is only this one, that mends it; else {BACKUP}",
        each=content_checks.answers,
    ),
    Check(
        "gold",
        "Each gold holds together, and its heads lie in the passage and not in the number.",
        AGAIN,
        each=content_checks.golds,
    ),
    Check(
        "rules",
        "Gold has what it counts by: its import, the expert's answer, or the votes.",
        AGAIN,
        each=content_checks.rules,
    ),
    Check(
        "flags",
        "A span that somebody proposes lies in the passage, and is not the number's own.",
        BY_HAND,
        each=content_checks.proposals,
    ),
    Check(
        "summaries",
        "What an item's line says is what its answers and its gold say.",
        BY_HAND,
        each=content_checks.summaries,
    ),
    Check(
        "differences",
        "The differences of two answers that are kept are those that there are.",
        BY_HAND,
        each=content_checks.differences,
    ),
    Check(
        "assignments",
        "An assignment is done exactly if its person has answered.",
        BY_HAND,
        content_checks.assignments,
    ),
    Check(
        "events",
        "Everything that the log says can be read.",
        BY_HAND,
        content_checks.events,
    ),
    Check(
        "log",
        "The log, replayed from its beginning, gives the present state.",
        BY_HAND,
        content_checks.replayed,
    ),
    Check(
        "acts",
        "Undo and redo are of acts that there are, and did just the opposite, or the same.",
        BY_HAND,
        content_checks.acts,
    ),
    Check(
        "imports",
        "An import, or an act on many items, is there wholly or not at all.",
        BY_HAND,
        file_checks.imports,
    ),
    Check(
        "sources",
        "The rows that a file came with are kept.",
        BY_HAND,
        file_checks.sources,
    ),
    Check(
        "drafts",
        "What somebody began can be gone on with, and kept queries can be asked.",
        "open the item: the workbench says what it cannot use, and you begin afresh",
        file_checks.drafts,
    ),
    Check(
        "predictions",
        "A prediction has a score for each class and each word.",
        "have the model predict the item again",
        file_checks.predictions,
    ),
    Check(
        "identifications",
        "Each decision of identification names its rule, and its score says the same.",
        "run `nfh-tui identify --again`",
        file_checks.identifications,
    ),
    Check(
        "jobs",
        "What jobs say of themselves can be read and holds together, and none waits for ever.",
        BY_HAND,
        file_checks.jobs,
    ),
    Check(
        "settings",
        "What models, imports and assignments note can be read.",
        BY_HAND,
        file_checks.notes,
    ),
    Check(
        "leftovers",
        "Nothing is left over of what was taken away.",
        BY_HAND,
        file_checks.leftovers,
    ),
)


AT_ONCE = 500
"""Passages looked at at once, with all their anchors."""

UNCHECKED = "this was not checked: tables of the file are not what they should be"
TOO_LONG = f"this was not checked to the end: it took over {rows.LIMIT:.0f} seconds"
"""In a file with foreign parts."""

LISTED = 100
"""Findings of one check that are listed; all are counted."""

NEXT_PASSAGE = "SELECT min(id) FROM passage WHERE id > :after"
COUNT_PASSAGES = "SELECT count(*) FROM passage"
PUBLIC = """
SELECT lower(hex(p.digest)), a.start, a.stop, a.removed = 0 AND a.replaced_by IS NULL
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id WHERE a.id = :id"""

TROUBLE = (sqlite3.Error, *UNREADABLE_ERRORS)
"""What a check may raise in a file whose bytes were damaged."""


@dataclass(slots=True)
class CheckResult:
    """What one check found. faults: the first of them, up to LISTED."""

    check: Check
    broken: int = 0
    repairable: int = 0
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What an examination found.

    findings: listed ones, in the order of the checks. to_repair: for each kind of repair the
    anchors, or names, that need it, all of them.
    """

    path: Path
    sqlite: str
    schema: int
    anchors: int
    events: int
    seconds: float
    outcomes: tuple[CheckResult, ...]
    findings: tuple[DoctorFinding, ...]
    notes: tuple[str, ...]
    items_to_repair: "dict[Repair, array[int]]"
    names_to_repair: dict[Repair, tuple[str, ...]]

    @property
    def broken(self) -> int:
        """How many things are broken."""
        return sum(outcome.broken for outcome in self.outcomes)

    @property
    def repairable(self) -> int:
        """How many of them can be repaired."""
        return sum(outcome.repairable for outcome in self.outcomes)


Progress = Callable[[str, int, int], None]
"""Told the name of what is checked, how much of it is done, and how much there is."""


def examine(
    path: Path,
    *,
    progress: Progress = lambda _name, _done, _total: None,
    read_draft: Callable[[str], object] | None = None,
    checks: Sequence[Check] = CHECKS,
) -> Report:
    """Make all checks on a database as it is at one moment; nothing is written.

    read_draft: raises ValueError for the body of a draft that the editor cannot read.
    Raises StoreError and its kinds, with a sentence, where there is nothing to check.
    """
    begun = time.monotonic()
    with rows.opened(path) as patient:
        patient.read_draft = read_draft
        examination = _Examination(patient, checks, progress)
        examination.run()
        return examination.report(time.monotonic() - begun)


class _Examination:
    def __init__(self, patient: Patient, checks: Sequence[Check], progress: Progress) -> None:
        self._patient = patient
        self._progress = progress
        self._outcomes = [CheckResult(check) for check in checks]
        self._items: dict[Repair, array[int]] = {}
        self._names: dict[Repair, dict[str, None]] = {}
        self._sound = patient.tables_are_ours
        self._anchors = self._count(rows.COUNT_ANCHORS)
        self._events = self._count(rows.COUNT_EVENTS)

    def _count(self, sql: str) -> int:
        if not self._sound:
            return 0
        try:
            with self._patient.limited():
                return self._patient.counted(sql)
        except sqlite3.Error:
            return 0

    def run(self) -> None:
        """Make the checks: those of the whole first, then those that go by passages."""
        for outcome in self._outcomes:
            whole = outcome.check.whole
            if not self._sound and not outcome.check.of_file:
                self._add(outcome, Fault(UNCHECKED))
            elif whole is not None:
                name = outcome.check.name
                self._progress(name, 0, self._anchors)
                self._patient.tell = partial(self._tell, name)
                with self._patient.limited():
                    self._collect(outcome, whole(self._patient), Where())
        walking = [outcome for outcome in self._outcomes if outcome.check.each is not None]
        if walking and self._sound:
            with self._patient.limited():
                self._walk(walking)

    def _tell(self, name: str, done: int) -> None:
        self._progress(name, done, self._anchors)

    def _collect(self, outcome: CheckResult, faults: Iterator[Fault], where: Where) -> None:
        try:
            for fault in faults:
                self._add(outcome, fault)
                if self._patient.late:
                    self._add(outcome, Fault(TOO_LONG, where))
                    return
        except TROUBLE as error:
            late = self._patient.late
            what = (
                TOO_LONG if late else f"this could not be checked to the end: {_words(error)}"
            )
            self._add(outcome, Fault(what, where))

    def _add(self, outcome: CheckResult, fault: Fault) -> None:
        outcome.broken += 1
        if fault.repair is not None:
            outcome.repairable += 1
            if fault.where.item is not None:
                self._items.setdefault(fault.repair, array("q")).append(fault.where.item)
            self._names.setdefault(fault.repair, {})[fault.target] = None
        if len(outcome.faults) < LISTED:
            outcome.faults.append(fault)

    def _walk(self, outcomes: Sequence[CheckResult]) -> None:
        total = self._count(COUNT_PASSAGES)
        after: int | None = 0
        done = 0
        limit = AT_ONCE
        while after is not None:
            if self._patient.late:
                self._add(outcomes[0], Fault(TOO_LONG, Where("passage", after)))
                return
            try:
                stretch, last = rows.read(self._patient.connection, after, limit)
            except TROUBLE as error:
                if limit > 1:
                    limit = 1
                    continue
                after = self._step_over(outcomes[0], after, error)
                continue
            for outcome in outcomes:
                self._look(outcome, stretch)
            done += len(stretch.passages)
            self._progress("passages", done, total)
            after, limit = last, AT_ONCE if limit == AT_ONCE else limit + 1

    def _look(self, outcome: CheckResult, stretch: PassageRange) -> None:
        if outcome.check.each is not None and stretch.passages:
            first = next(iter(stretch.passages))
            self._collect(outcome, outcome.check.each(stretch), Where("passage", first))

    def _step_over(self, outcome: CheckResult, after: int, error: Exception) -> int | None:
        """Go on behind a passage that cannot be read at all; None if there is no way on."""
        key = {"after": after}
        try:
            broken: int | None = self._patient.connection.execute(NEXT_PASSAGE, key).fetchone()[
                0
            ]
        except sqlite3.Error:
            broken = None
        what = f"it, or what is said of it, cannot be read: {_words(error)}"
        if isinstance(error, sqlite3.Error) and _is_no_damage(error):
            broken = None
        if broken is None:
            what = f"it and what follows cannot be read: {_words(error)}"
        self._add(outcome, Fault(what, Where("passage", broken or after + 1)))
        return broken

    def report(self, seconds: float) -> Report:
        """What was found, in words for people and for programs."""
        with translated(self._patient.path):
            findings = tuple(
                _finding(outcome.check, fault, self._patient.connection)
                for outcome in self._outcomes
                for fault in outcome.faults
            )
        return Report(
            path=self._patient.path,
            sqlite=sqlite3.sqlite_version,
            schema=self._patient.version,
            anchors=self._anchors,
            events=self._events,
            seconds=seconds,
            outcomes=tuple(self._outcomes),
            findings=findings,
            notes=tuple(self._patient.notes),
            items_to_repair=self._items,
            names_to_repair={kind: tuple(names) for kind, names in self._names.items()},
        )


def _is_no_damage(error: sqlite3.Error) -> bool:
    """True if a table or a column is missing: the next passage has none either."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _finding(check: Check, fault: Fault, connection: Connection) -> DoctorFinding:
    public_id, query = _names(connection, fault.where.item)
    return DoctorFinding(
        check.name,
        fault.what,
        fault.where,
        fault.repair is not None,
        check.remedy if fault.repair is None else HOW[fault.repair],
        public_id,
        query,
    )


def _names(connection: Connection, item: int | None) -> tuple[str | None, str | None]:
    """The id by which files name an item, and a query that finds it; None for what is not."""
    if item is None:
        return None, None
    try:
        row = connection.execute(PUBLIC, {"id": item}).fetchone()
    except sqlite3.Error:
        row = None
    if row is None:
        return None, None
    return anchor_id(row[0], Anchor(row[1], row[2])), f"id:{item}" if row[3] else None


# Repairing: only what follows from something else is written, after a copy was made.
#
# Answers, gold, flags, anchors and the log are never touched.

REINDEX = "REINDEX"
FOREIGN_KEYS_OFF = "PRAGMA foreign_keys = OFF"
# SQLite itself quotes the name.
DROP = "SELECT format('DROP %s \"%w\"', :type, :name)"
DROPPED = ("trigger", "view", "index", "table")
"""Types of parts, in the order in which foreign ones are taken out."""
INDEX_THERE = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = :name"
LIVE = "SELECT 1 FROM anchor WHERE id = :id"
ASSIGNED = """
SELECT anchor_id, annotator_id, role FROM assignment
WHERE anchor_id IN (SELECT value FROM json_each(:ids))"""
NOT_FINISHED = """
UPDATE assignment SET finished_at = NULL, verdict = NULL
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND state <> 'done'"""

WRITE_SIZE = WriteSize(first=20, smallest=5, largest=1_000, seconds=0.03)
"""Anchors."""

UNREADABLE = ("pages", "schema")
"""Checks whose faults, where they cannot be repaired, leave no ground to write on."""


STAGES: tuple[tuple[Repair, ...], ...] = (
    (Repair.PARTS,),
    (Repair.WAL, Repair.INDEXES),
    (Repair.IMPORTS,),
    (Repair.ASSIGNMENTS, Repair.SUMMARIES, Repair.JOBS),
)
"""What is mended first may show more, or less, of the rest: each stage sees a new report."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did. backup: the copy of the database as it was before.

    kinds: what was mended. failed: sentences. report: of the examination afterwards.
    """

    backup: Path
    kinds: tuple[Repair, ...]
    failed: tuple[str, ...]
    report: Report


def repair(path: Path, report: Report, again: Callable[[], Report]) -> Repaired | None:
    """Mend what a report names as repairable; None where there is nothing of the kind.

    again: examines the database anew. Raises StoreError where the file is damaged in a way
    that forbids writing into it, and where no copy of it can be made.
    """
    if not report.names_to_repair:
        return None
    _refuse_damage(path, report)
    kept = keep_copy(path)
    done: list[Repair] = []
    failed: list[str] = []
    for stage in STAGES:
        kinds = [kind for kind in stage if kind in report.names_to_repair]
        if kinds:
            failed += _mend(path, report, kinds)
            if report.schema < SCHEMA_VERSION:
                # Without what did not belong there it is opened as any older file is.
                database.open_writer(path, create=False).close()
            done += kinds
            report = again()
    return Repaired(kept, tuple(done), tuple(failed), report)


def _mend(path: Path, report: Report, kinds: Sequence[Repair]) -> list[str]:
    if Repair.IMPORTS in kinds:
        bulk_run.recover(path)
        return []
    failed: list[str] = []
    with translated(path), closing(connect(path, "rw")) as connection:
        prepare_writer(connection, path)
        if Repair.PARTS in kinds:
            failed += _take_out(connection, report.names_to_repair[Repair.PARTS])
        if Repair.INDEXES in kinds:
            failed += _indexes(connection, report.names_to_repair[Repair.INDEXES])
        for name in report.names_to_repair.get(Repair.JOBS, ()) if Repair.JOBS in kinds else ():
            with transaction(connection):
                file_checks.mend(connection, int(name))
        for kind, mend in ((Repair.ASSIGNMENTS, _assignments), (Repair.SUMMARIES, _summaries)):
            if kind in kinds:
                _each(connection, report.items_to_repair.get(kind, ()), mend)
    return failed


def _refuse_damage(path: Path, report: Report) -> None:
    damaged = [
        finding for finding in report.findings
        if finding.check in UNREADABLE and not finding.repairable
    ]  # fmt: skip
    if damaged:
        raise StoreError(
            f"{path} is damaged itself, and was left as it is: writing into it could lose "
            "more. Copy it away, and go back to a copy made by `nfh-tui backup`"
        )


def keep_copy(path: Path) -> Path:
    """A copy beside the database, as it is, broken or not."""
    place = path.with_name(database.dated_name(path, "before-repair"))
    with at_one_moment(path) as (reader, _), database.written(place) as partial:
        database.copy_pages(reader, partial, place)
    return place


def _take_out(connection: Connection, keys: Sequence[str]) -> Iterator[str]:
    """Take out foreign parts, each by its type and name; a sentence for a failure."""
    # What refers to a table that goes stays as it is.
    connection.execute(FOREIGN_KEYS_OFF)
    named = [key.partition(" ") for key in keys]
    for type_, _, name in sorted(named, key=lambda one: DROPPED.index(one[0])):
        try:
            asked = {"type": type_, "name": name}
            statement = connection.execute(DROP, asked).fetchone()[0]
            with transaction(connection):
                connection.execute(statement)
        except (sqlite3.Error, UnicodeError) as error:
            yield f"the {type_} {name} could not be taken out: {error}"


def _indexes(connection: Connection, names: Sequence[str]) -> Iterator[str]:
    """Build all indexes from their tables, and make missing ones; a sentence for a failure.

    Others wait meanwhile: SQLite builds an index in one go.
    """
    wanted = schema_parts.expected(SCHEMA_VERSION)
    statements = [
        wanted[f"index {name}"].sql
        for name in names
        if f"index {name}" in wanted
        and not connection.execute(INDEX_THERE, {"name": name}).fetchone()
    ]
    for statement in (REINDEX, *statements):
        try:
            with transaction(connection):
                connection.execute(statement)
        except sqlite3.Error as error:
            yield f"“{statement}” failed: {error}"


def _each(
    connection: Connection,
    items: "Sequence[int] | array[int]",
    mend: Callable[[Connection, Sequence[int]], None],
) -> None:
    """Mend anchors in short writes, so that others get in between."""
    write_in_steps(lambda: transaction(connection), sorted(set(items)), mend, WRITE_SIZE)


def _summaries(connection: Connection, ids: Sequence[int]) -> None:
    there = [id_ for id_ in ids if connection.execute(LIVE, {"id": id_}).fetchone()]
    answers.recompute_with_successors(connection, there)


def _assignments(connection: Connection, ids: Sequence[int]) -> None:
    key = {"ids": json_of(list(ids))}
    connection.execute(NOT_FINISHED, key)
    rows = connection.execute(ASSIGNED, key).fetchall()
    for anchor, annotator_id, role in rows:
        value = answers.read(connection, anchor, annotator_id, role)
        assignments.keep_in_step(connection, anchor, annotator_id, role, value)
