"""The file: SQLite, the header, the pages, the schema, and rows that refer to others."""

import re
from collections.abc import Iterator

from nfh_db import schema_parts
from nfh_db.connection import OLDEST_SQLITE, SCHEMA_VERSION, sqlite3
from nfh_db.doctor.finding import Fault, Repair, Where
from nfh_db.doctor.patient import Patient

INTEGRITY = "PRAGMA integrity_check(1000)"
INTEGRITY_OF = "SELECT integrity_check FROM pragma_integrity_check(:table)"
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
REFERENCES = "PRAGMA foreign_key_check"
COMPILE_OPTIONS = "PRAGMA compile_options"
JOURNAL_MODE = "PRAGMA journal_mode"
ENCODING = "PRAGMA encoding"
KEYS_OF = (
    "SELECT id, group_concat(\"from\", ', ') FROM pragma_foreign_key_list(:table) GROUP BY id"
)
ROOTS = "SELECT rootpage, type, name, tbl_name FROM sqlite_schema WHERE rootpage > 0"
MIGRATIONS = "SELECT count(*) FROM _sqlite_migrations WHERE migration_set = 'nfh'"

WRITE_VERSION, READ_VERSION = 18, 19
"""Where the header says how the file is written and read: 2 is with a write-ahead log."""

IN_INDEX = re.compile(
    r"(?:row \d+ missing from|entries in|entry in|out of order in) index (\S+)"
)
IN_TREE = re.compile(r"^Tree (\d+) ")
HEADING = "*** in database main ***"


def sqlite(patient: Patient) -> Iterator[Fault]:
    """SQLite's version, and whether it was built with what sharing a file needs."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        yield Fault(f"SQLite {sqlite3.sqlite_version} is in use; {wanted} or newer is wanted")
    options = {row[0] for row in patient.connection.execute(COMPILE_OPTIONS)}
    if "THREADSAFE=0" in options:
        yield Fault("SQLite was built without THREADSAFE: threads would damage the file")
    for missing in sorted(option for option in options if option in LEFT_OUT):
        yield Fault(f"SQLite was built with {missing}: what nfh-tui relies on is left out")


LEFT_OUT = {"OMIT_WAL", "OMIT_FOREIGN_KEY", "OMIT_CHECK", "OMIT_AUTOINIT", "OMIT_JSON"}


def header(patient: Patient) -> Iterator[Fault]:
    """The header's marks. That the file is ours was found when it was opened."""
    if not _has_log(patient):
        yield Fault("the file is not in write-ahead-log mode", repair=Repair.WAL)
    encoding = patient.connection.execute(ENCODING).fetchone()[0]
    if encoding != "UTF-8":
        yield Fault(f"the file keeps text as {encoding}, not as UTF-8")
    applied = patient.counted(MIGRATIONS)
    if applied != SCHEMA_VERSION:
        yield Fault(
            f"the header says schema {SCHEMA_VERSION}, but {applied} migrations are noted",
            Where("_sqlite_migrations"),
        )


def _has_log(patient: Patient) -> bool:
    """True for a file that is written with a write-ahead log."""
    if patient.mode == "ro":
        # Not read from the file: closing it would drop the locks that this process has on it.
        return bool(patient.connection.execute(JOURNAL_MODE).fetchone()[0] == "wal")
    with patient.path.open("rb") as file:
        start = file.read(READ_VERSION + 1)
    return (start[WRITE_VERSION], start[READ_VERSION]) == (2, 2)


def integrity(patient: Patient) -> Iterator[Fault]:
    """What SQLite finds wrong with pages, tables and indexes."""
    roots = {row[0]: row[1:] for row in patient.connection.execute(ROOTS)}
    try:
        found = patient.connection.execute(INTEGRITY).fetchall()
    except sqlite3.DatabaseError as error:
        if patient.late:
            raise
        # A page that makes no sense at all ends the check: ask table by table.
        broken = list(_unreadable(patient))
        yield from broken or [Fault(f"pages of the file cannot be read ({error})")]
        return
    for (text,) in found:
        for line in text.splitlines():
            if line not in ("ok", HEADING):
                yield _page_fault(line, roots)


def _unreadable(patient: Patient) -> Iterator[Fault]:
    """The tables with pages that cannot be read, their own or those of their indexes."""
    for (table,) in patient.connection.execute(TABLES).fetchall():
        try:
            found = patient.connection.execute(INTEGRITY_OF, {"table": table}).fetchall()
        except sqlite3.DatabaseError as error:
            if patient.late:
                raise
            yield Fault(
                f"pages of it, or of its indexes, cannot be read ({error})", Where(table)
            )
        else:
            lines = [line for (text,) in found for line in text.splitlines()]
            yield from (
                Fault(line, Where(table)) for line in lines if line not in ("ok", HEADING)
            )


def _page_fault(line: str, roots: dict[int, tuple[str, str, str]]) -> Fault:
    """A line of SQLite's own check, with the table or index it is about."""
    index = IN_INDEX.search(line)
    if index is not None:
        return Fault(line, Where(index[1]), Repair.INDEXES, index[1])
    tree = IN_TREE.match(line)
    found = roots.get(int(tree[1])) if tree else None
    if found is None:
        return Fault(line)
    type_, name, _ = found
    return Fault(f"{line} ({type_} {name})", Where(name))


def references(patient: Patient) -> Iterator[Fault]:
    """Rows that refer to a row that is not there."""
    columns: dict[str, dict[int, str]] = {}
    for table, row, parent, key in patient.connection.execute(REFERENCES):
        if table not in columns:
            columns[table] = dict(patient.connection.execute(KEYS_OF, {"table": table}))
        column = columns[table].get(key, "")
        # What a job's row refers to is a note.
        repair, target = (Repair.JOBS, str(row)) if table == "job" else (None, "")
        what = f"{column} refers to a row of {parent} that is missing"
        yield Fault(what, Where(table, row), repair, target)


def schema(patient: Patient) -> Iterator[Fault]:
    """Tables and indexes against those that the migrations build."""
    # Of an older file nothing is taken for foreign that a later version has.
    wanted = schema_parts.expected(patient.version) | schema_parts.expected(SCHEMA_VERSION)
    for part in schema_parts.missing(patient.connection, patient.version):
        repair = Repair.INDEXES if part.type == "index" else None
        yield Fault(f"the {part.key} is missing", Where(part.name), repair, part.name)
    for part in patient.foreign:
        if part.key not in wanted:
            what = f"the {part.key} is none of nfh-tui's"
            yield Fault(what, Where(part.name), Repair.PARTS, part.key)
            continue
        repair = Repair.PARTS if part.type == "index" else None
        what = f"the {part.key} is not built as it should be"
        yield Fault(what, Where(part.name), repair, part.key)
