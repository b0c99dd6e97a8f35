"""Compares the schema of a database with the one that the migrations build.

A trigger, a view, or an expression in a table or an index is code that SQLite runs when rows
are read or written, and a database from somebody else may contain any. Therefore each statement
of the schema is compared before anything else is read.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from nfh_db import connection
from nfh_db.connection import Connection

# As bytes: names may be invalid UTF-8.
READ = """
SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)
FROM sqlite_schema ORDER BY type, name"""

OF_SQLITE = frozenset(
    (
        "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
        "CREATE TABLE sqlite_sequence(name,seq)",
    )
)
"""Tables that SQLite creates itself, for example in ANALYZE."""

MIGRATIONS = "table _sqlite_migrations"
UNQUOTED = str.maketrans("", "", ' "[]')
PLAIN = re.compile(
    r"CREATETABLE_sqlite_migrations\("
    r"(,?(idINTEGERPRIMARYKEY|migration_setTEXT|nameTEXT|applied_atTEXT"
    r"|PRIMARYKEY\(migration_set,name\)))+\)"
)
"""The migrations table as any version of sqlite-utils creates it, without quotes and spaces.

The same columns in some order, and nothing that SQLite could run.
"""

IN_PACKAGE = connection.SCHEMA_VERSION
"""The version of `schema.sql`."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """An entry of `sqlite_schema`."""

    type: str
    """table, index, view or trigger."""

    name: str
    table: str
    """The table to which it belongs."""

    sql: str
    """The statement that creates it, with each run of white space as one space."""

    @property
    def key(self) -> str:
        """Type and name: a trigger may have the name of a table."""
        return f"{self.type} {self.name}"


def parts(reader: Connection) -> Iterator[Part]:
    """Yield all parts except those that SQLite creates itself, such as indexes of keys."""
    for row in reader.execute(READ):
        part = _part(row)
        if part is not None:
            yield part


# Each opening of a database reads the same hundred rows.
@lru_cache(maxsize=1024)
def _part(row: tuple[bytes | None, ...]) -> Part | None:
    type_, name, table, sql = (str(one or b"", "utf-8", "surrogateescape") for one in row)
    if (type_ == "index" and row[3] is None) or sql in OF_SQLITE:
        return None
    return Part(type_, name, table, " ".join(sql.split()))


def foreign(reader: Connection, version: int) -> tuple[Part, ...]:
    """Return the parts that the schema of a version does not have, or has differently."""
    wanted = expected(version)
    return tuple(
        part
        for part in parts(reader)
        if part != wanted.get(part.key)
        and not (part.key == MIGRATIONS and PLAIN.fullmatch(part.sql.translate(UNQUOTED)))
    )


def missing(reader: Connection, version: int) -> tuple[Part, ...]:
    """Return the parts of a version's schema whose type and name are missing."""
    there = {part.key for part in parts(reader)}
    return tuple(part for key, part in expected(version).items() if key not in there)


@cache
def expected(version: int) -> dict[str, Part]:
    """Return the parts that the migrations up to a version build, by `Part.key`.

    The current version is built from `schema.sql`, which is faster.
    """
    with closing(Connection(":memory:")) as built:
        if version == IN_PACKAGE:
            build(built)
        else:
            _migrated(built, version)
        return {part.key: part for part in parts(built)}


def build(empty: Connection) -> None:
    """Build the current schema and its first rows in an empty database.

    Statement by statement, since `executescript` would commit the transaction of the caller.
    """
    text = Path(__file__).with_name("schema.sql").read_text("utf-8")
    for statement in text.split(";\n\n"):
        empty.execute(statement)


def _migrated(empty: Connection, version: int) -> None:
    from sqlite_utils import Database

    from nfh_db.schema import migrations

    database = Database(empty, execute_plugins=False)
    later = [one.name for one in migrations.pending(database)][version:]
    migrations.apply(database, stop_before=later[0] if later else None)
