"""The parts of a database's schema, and which of them nfh-tui did not make.

A trigger, a view, or an expression in a table or an index is a program that SQLite runs when
rows are read or written. A database that somebody sent may hold any. So the whole schema, each
statement of it, is compared with what the migrations build, before anything else is read.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nfh_db import connection
from nfh_db.connection import Connection

# As bytes: names may be no UTF-8.
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
"""What SQLite makes itself, as when somebody has it look at the tables."""

MIGRATIONS = "table _sqlite_migrations"
UNQUOTED = str.maketrans("", "", ' "[]')
PLAIN = re.compile(
    r"CREATETABLE_sqlite_migrations\("
    r"(,?(idINTEGERPRIMARYKEY|migration_setTEXT|nameTEXT|applied_atTEXT"
    r"|PRIMARYKEY\(migration_set,name\)))+\)"
)
"""The table of migrations as any version of the library that keeps it builds it, without its
quotes and spaces: the same columns in some order, and nothing that could run."""

IN_PACKAGE = connection.SCHEMA_VERSION
"""The version of `schema.sql`."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A table, an index, a view or a trigger. table: which it belongs to.

    sql: the statement that makes it, with its white space as single spaces.
    """

    type: str
    name: str
    table: str
    sql: str

    @property
    def key(self) -> str:
        """What names it: a trigger may have the name of a table."""
        return f"{self.type} {self.name}"


def parts(reader: Connection) -> Iterator[Part]:
    """All parts but the indexes that SQLite makes for a key."""
    for row in reader.execute(READ):
        type_, name, table, sql = (str(one or b"", "utf-8", "surrogateescape") for one in row)
        if (type_ == "index" and row[3] is None) or sql in OF_SQLITE:
            continue
        yield Part(type_, name, table, " ".join(sql.split()))


def foreign(reader: Connection, version: int) -> tuple[Part, ...]:
    """The parts that are none of a version's, or were changed."""
    wanted = expected(version)
    return tuple(
        part
        for part in parts(reader)
        if part != wanted.get(part.key)
        and not (part.key == MIGRATIONS and PLAIN.fullmatch(part.sql.translate(UNQUOTED)))
    )


def missing(reader: Connection, version: int) -> tuple[Part, ...]:
    """The parts of a version that are not there, under their names."""
    there = {part.key for part in parts(reader)}
    return tuple(part for key, part in expected(version).items() if key not in there)


@cache
def expected(version: int) -> dict[str, Part]:
    """What the migrations up to a version build, by what names it."""
    with closing(Connection(":memory:")) as built:
        if version == IN_PACKAGE:
            text = Path(__file__).with_name("schema.sql").read_text("utf-8")
            built.executescript(f"BEGIN;{text}COMMIT;")
        else:
            _migrated(built, version)
        return {part.key: part for part in parts(built)}


def _migrated(empty: Connection, version: int) -> None:
    from sqlite_utils import Database

    from nfh_db.schema import migrations

    database = Database(empty, execute_plugins=False)
    later = [one.name for one in migrations.pending(database)][version:]
    migrations.apply(database, stop_before=later[0] if later else None)
