"""The database that is looked at: opened for reading only, as it is at one moment."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from nfh_db import schema_parts
from nfh_db.connection import SCHEMA_VERSION, Connection, identify
from nfh_db.errors import StoreError
from nfh_db.moment import at_one_moment
from nfh_db.schema_parts import Part
from nfh_db.upgrade import check_place

COUNT_ANCHORS = "SELECT count(*) FROM anchor"
COUNT_EVENTS = "SELECT count(*) FROM event"

LIMIT = 10.0
"""Seconds that a check may take in a file with foreign parts: what they do may have no end."""

COMPUTES = re.compile(r"^(?!CREATE TABLE )|\bAS\b|--|/\*", re.IGNORECASE)
"""What a table's statement holds where reading a column may run something."""

BETWEEN = 1_000
"""Steps of SQLite's machine between two looks at the clock."""


@dataclass(slots=True)
class Patient:
    """An open database. connection: in a read transaction, so that nothing moves.

    mode: how it is opened, see `moment`. read_draft: raises ValueError for a draft that
    the editor cannot read. tell: is given how many of the anchors a check has gone through.
    notes: what is worth knowing and no fault. foreign: the parts of its schema that nfh-tui did
    not make. version: of its schema; an older one only where there are foreign parts.
    """

    path: Path
    connection: Connection
    mode: str = "ro"
    read_draft: Callable[[str], object] | None = None
    tell: Callable[[int], None] = lambda _: None
    notes: list[str] = field(default_factory=list)
    foreign: tuple[Part, ...] = ()
    version: int = SCHEMA_VERSION
    _until: float = 0.0

    @property
    def tables_are_ours(self) -> bool:
        """Whether what checks read is there, and runs nothing: no view, no computed column."""
        if self.version < SCHEMA_VERSION:
            return False
        wanted = schema_parts.expected(self.version)
        ours = {part.name.casefold() for part in wanted.values() if part.type == "table"}
        return not any(
            part.name.casefold() in ours
            and (part.type == "view" or (part.type == "table" and COMPUTES.search(part.sql)))
            for part in self.foreign
        )

    @property
    def late(self) -> bool:
        """Whether a check in a file with foreign parts has taken longer than it may."""
        return bool(self._until) and monotonic() > self._until

    @contextmanager
    def limited(self) -> Iterator[None]:
        """A check: where there are foreign parts SQLite ends what takes longer than LIMIT."""
        if not self.foreign:
            yield
            return
        self._until = monotonic() + LIMIT
        self.connection.set_progress_handler(lambda: self.late, BETWEEN)
        try:
            yield
        finally:
            self.connection.set_progress_handler(None, 0)
            self._until = 0.0

    def counted(self, sql: str) -> int:
        """The one number that a statement gives."""
        number: int = self.connection.execute(sql).fetchone()[0]
        return number


@contextmanager
def opened(path: Path) -> Iterator[Patient]:
    """Open a database without changing it, not even an older one, nor a read-only one.

    Raises StoreError and its kinds, with a sentence, for what is no database of this version.
    """
    check_place(path, create=False)
    with at_one_moment(path, any_text=True) as (connection, mode):
        version = identify(connection, path, any_parts=True)
        if version == 0:
            raise StoreError(f"{path} is empty: there is nothing to check")
        foreign = schema_parts.foreign(connection, version)
        ours = schema_parts.expected(SCHEMA_VERSION)
        if version < SCHEMA_VERSION and all(part.key in ours for part in foreign):
            raise StoreError(
                f"{path} has the schema of an older nfh-tui (version {version}; this program "
                f"knows {SCHEMA_VERSION}). Open it once, as with `nfh-tui browse`: it is "
                "upgraded after a copy was made beside it. Then run doctor again"
            )
        yield Patient(path, connection, mode, foreign=foreign, version=version)
