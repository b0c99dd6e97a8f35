"""Bringing a file in: wholly or not at all, in short writes, seen by nobody until the end."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nfh_db import annotators, batches
from nfh_db.bulk import bulk_connection, finish_leftovers
from nfh_db.connection import Connection
from nfh_db.incoming import Planner
from nfh_db.known import Known
from nfh_db.loading import (
    LARGEST_STRETCH,
    IncomingFile,
    Loading,
    report_of,
    stretches,
    types_in,
)
from nfh_db.plan import Counts, Ids, Purpose
from nfh_db.records import Annotator, ImportReport, IncomingPassage

__all__ = ["IncomingFile", "load"]

# Passages come in the order of the file, their digests in none: without room for that index
# its pages are read and written over and over.
ROOM_FOR_DIGESTS = "PRAGMA cache_size = -65536"


def load(
    path: Path,
    source: IncomingFile,
    stretch: Iterable[IncomingPassage],
    *,
    replace_gold: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import one file; see `Store.load`."""
    with bulk_connection(path, read_only=dry_run) as connection:
        if not dry_run:
            connection.execute(ROOM_FOR_DIGESTS)
            finish_leftovers(connection)
        known = batches.find_shown(connection, source.sha256, source.format, source.annotator)
        again = replace_gold and source.annotator is None
        if known is not None and not again:
            return report_of(source, Counts(rows=known[1]), (), already=True, dry_run=dry_run)
        if known is None and source.raw and batches.came_otherwise(connection, source.sha256):
            source = replace(source, warnings=partial(_with_warning, source))
        origin = None if known is None else known[0]
        tell = progress or (lambda _: None)
        if dry_run:
            return _rehearse(connection, source, stretch, replace_gold, tell, origin)
        return Loading(connection, source, replace_gold, tell, origin).run(stretch)


def _with_warning(source: IncomingFile) -> Sequence[str]:
    return (
        *source.warnings(),
        "the same file was imported before with other settings: what stands in a passage of "
        "either is to be decided twice",
    )


def _rehearse(
    connection: Connection,
    source: IncomingFile,
    incoming: Iterable[IncomingPassage],
    replace_gold: bool,
    tell: Callable[[int], None],
    origin: int | None,
) -> ImportReport:
    """What an import would do, found out without writing anything."""
    known, counts, conflicts = Known(), Counts(), list[str]()
    people = {person.name: person for person in annotators.everybody(connection)}
    for stretch in stretches(incoming, lambda: LARGEST_STRETCH):
        for name, type_ in types_in(stretch).items():
            annotators.check_name(name)
            annotators.check_type(people.setdefault(name, Annotator(0, name, type_)), type_)
        known.look_up(connection, [one.passage.digest for one in stretch])
        purpose = Purpose(
            source.name,
            -1,
            -1 if origin is None else origin,
            0,
            0,
            replace_gold,
            {name: one.id for name, one in people.items()},
            {name: one.type for name, one in people.items()},
            source.newer_answers,
        )
        plan = Planner(purpose, known, Ids(1, 1, 1, 1)).run(stretch)
        counts.add(plan.counts)
        conflicts += plan.conflicts
        tell(counts.rows)
    already = origin is not None and not counts.changes
    return report_of(source, counts, conflicts, already=already, dry_run=True)
