"""Repairing: only what follows from something else is written, after a copy was made.

Answers, gold, flags, anchors and the log are never touched.
"""

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from nfh_db import answers, assignments, backup, bulk, schema_parts, summary, upgrade
from nfh_db.connection import (
    SCHEMA_VERSION,
    Connection,
    connect,
    prepare_writer,
    sqlite3,
    transaction,
    translated,
)
from nfh_db.doctor import job_checks
from nfh_db.doctor.examine import Report
from nfh_db.doctor.finding import Repair
from nfh_db.errors import StoreError
from nfh_db.moment import at_one_moment
from nfh_db.pace import next_stretch
from nfh_db.values import json_of

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

FIRST_STRETCH = 20
SMALLEST_STRETCH = 5
LARGEST_STRETCH = 1_000
WRITE_SECONDS = 0.03
"""What one write should take: somebody's answer may have to wait for it."""

PAUSE_SECONDS = 0.001
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
                upgrade.open_writer(path, create=False).close()
            done += kinds
            report = again()
    return Repaired(kept, tuple(done), tuple(failed), report)


def _mend(path: Path, report: Report, kinds: Sequence[Repair]) -> list[str]:
    if Repair.IMPORTS in kinds:
        bulk.recover(path)
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
                job_checks.mend(connection, int(name))
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
    place = path.with_name(backup.dated_name(path, "before-repair"))
    with at_one_moment(path) as (reader, _), backup.written(place) as partial:
        backup.copy_pages(reader, partial, place)
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
    ids = sorted(set(items))
    place, size = 0, FIRST_STRETCH
    while place < len(ids):
        some = ids[place : place + size]
        with transaction(connection):
            begun = time.perf_counter()
            mend(connection, some)
        seconds = time.perf_counter() - begun
        place += len(some)
        size = next_stretch(
            size,
            seconds,
            wanted=WRITE_SECONDS,
            smallest=SMALLEST_STRETCH,
            largest=LARGEST_STRETCH,
        )
        time.sleep(PAUSE_SECONDS)


def _summaries(connection: Connection, ids: Sequence[int]) -> None:
    there = [id_ for id_ in ids if connection.execute(LIVE, {"id": id_}).fetchone()]
    summary.recompute_with_successors(connection, there)


def _assignments(connection: Connection, ids: Sequence[int]) -> None:
    key = {"ids": json_of(list(ids))}
    connection.execute(NOT_FINISHED, key)
    rows = connection.execute(ASSIGNED, key).fetchall()
    for anchor_id, annotator_id, role in rows:
        value = answers.read(connection, anchor_id, annotator_id, role)
        assignments.keep_in_step(connection, anchor_id, annotator_id, role, value)
