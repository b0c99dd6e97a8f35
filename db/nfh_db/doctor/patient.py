"""The database that is looked at: opened for reading only, as it is at one moment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nfh_db.connection import SCHEMA_VERSION, Connection, identify
from nfh_db.errors import StoreError
from nfh_db.moment import at_one_moment
from nfh_db.upgrade import check_place

COUNT_ANCHORS = "SELECT count(*) FROM anchor"
COUNT_EVENTS = "SELECT count(*) FROM event"


@dataclass(slots=True)
class Patient:
    """An open database. connection: in a read transaction, so that nothing moves.

    mode: how it is opened, see `moment`. read_draft: raises ValueError for a draft that
    the editor cannot read. tell: is given how many of the anchors a check has gone through.
    notes: what is worth knowing and no fault.
    """

    path: Path
    connection: Connection
    mode: str = "ro"
    read_draft: Callable[[str], object] | None = None
    tell: Callable[[int], None] = lambda _: None
    notes: list[str] = field(default_factory=list)

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
        version = identify(connection, path)
        if version == 0:
            raise StoreError(f"{path} is empty: there is nothing to check")
        if version < SCHEMA_VERSION:
            raise StoreError(
                f"{path} has the schema of an older nfh-tui (version {version}; this program "
                f"knows {SCHEMA_VERSION}). Open it once, as with `nfh-tui browse`: it is "
                "upgraded after a copy was made beside it. Then run doctor again"
            )
        yield Patient(path, connection, mode)
