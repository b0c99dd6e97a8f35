"""New databases without the migrations, which take ten times as long as all else about them.

The first database that a process makes goes through them; the next ones get its schema and its
rows. Databases of an earlier version are migrated as ever.
"""

from nfh_db import database
from nfh_db.connection import Connection

SCHEMA = (
    "SELECT type, name, sql FROM sqlite_master "
    "WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
    "AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') "
    "ORDER BY type <> 'table', rowid"
)

NEW_ID = "UPDATE setting SET value = lower(hex(randomblob(16))) WHERE name = 'database id'"
"""The only row that differs between new databases."""

_migrate = database._migrate
_made: list[tuple[str, tuple[object, ...]]] = []


def _filled(writer: Connection) -> None:
    """Fill an empty database as the first one was, and migrate any other."""
    if writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        _migrate(writer)
    elif _made:
        for statement, values in _made:
            writer.execute(statement, values)
    else:
        _migrate(writer)
        _made.extend(_contents(writer))


def _contents(writer: Connection) -> list[tuple[str, tuple[object, ...]]]:
    parts = writer.execute(SCHEMA).fetchall()
    contents: list[tuple[str, tuple[object, ...]]] = [(sql, ()) for _, _, sql in parts]
    for table in (name for type_, name, _ in parts if type_ == "table"):
        for row in writer.execute(f'SELECT * FROM "{table}"').fetchall():
            places = ", ".join("?" * len(row))
            contents.append((f'INSERT INTO "{table}" VALUES ({places})', tuple(row)))
    return [*contents, (NEW_ID, ())]


def install() -> None:
    """Let the store make databases so."""
    database._migrate = _filled
