"""Columns: each value is one that its table's CHECK allows.

SQLite's own check leaves this out for a file that is opened for reading only.
"""

from collections.abc import Iterator, Sequence

from nfh_db import schema_parts
from nfh_db.connection import SCHEMA_VERSION
from nfh_db.doctor.finding import Fault, Where
from nfh_db.doctor.patient import Patient

COLUMNS = "SELECT name, pk FROM pragma_table_info(:table) ORDER BY pk, cid"
CHECK = "CHECK ("


def values(patient: Patient) -> Iterator[Fault]:
    """Rows that a table would not take now."""
    for part in schema_parts.expected(SCHEMA_VERSION).values():
        if part.type != "table":
            continue
        table = part.name
        columns = patient.connection.execute(COLUMNS, {"table": table}).fetchall()
        for condition in conditions(part.sql) if columns else ():
            statement = _statement(table, columns, condition)
            for key, item in patient.connection.execute(statement):
                yield Fault(f"it does not hold that {condition}", Where(table, key, item))


def conditions(sql: str) -> Iterator[str]:
    """What each CHECK of a table's statement asks for."""
    start = sql.find(CHECK)
    while start >= 0:
        start += len(CHECK)
        depth, end = 1, start
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        yield " ".join(sql[start : end - 1].split())
        start = sql.find(CHECK, end)


def _statement(table: str, columns: Sequence[tuple[str, int]], condition: str) -> str:
    """Key and anchor of the rows that do not meet a condition; all names are our schema's."""
    names = [name for name, _ in columns]
    key = [f'"{name}"' for name, place in columns if place]
    row = key[0] if len(key) == 1 else " || ', ' || ".join(key)
    item = "anchor_id" if "anchor_id" in names else "id" if table == "anchor" else "NULL"
    return f'SELECT {row}, {item} FROM "{table}" WHERE NOT ({condition})'  # noqa: S608
