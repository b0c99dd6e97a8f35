"""Two streams of items paired by their keys, on the disk, so that neither is held in memory."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from nfh_db.connection import Connection, connect, translated

SIDES = ("a", "b")

PRAGMAS = ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA temp_store = FILE")
"""The file is nobody else's, and of no use once this is over."""

MAKE = """
CREATE TABLE {side} (
    key BLOB NOT NULL, copy INTEGER NOT NULL, position INTEGER NOT NULL,
    passage BLOB NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, spot BLOB NOT NULL,
    body BLOB NOT NULL, look BLOB NOT NULL,
    PRIMARY KEY (key, copy)
) WITHOUT ROWID"""
INDEXES = (
    "CREATE INDEX {side}_passage ON {side}(passage)",
    "CREATE INDEX {side}_spot ON {side}(spot)",
)
ADD = """
INSERT OR IGNORE INTO {side} (key, copy, position, passage, start, stop, spot, body, look)
VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?)"""
ADD_COPY = """
INSERT INTO {side} (key, copy, position, passage, start, stop, spot, body, look)
VALUES (?1, (SELECT max(copy) + 1 FROM {side} WHERE key = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)"""
COUNT = "SELECT count(*), coalesce(sum(copy > 0), 0) FROM {side}"
SAME = """
SELECT count(*) FROM a JOIN b ON a.key = b.key AND a.copy = b.copy WHERE a.body = b.body"""
DIFFERENT = """
SELECT b.key, a.body, a.look, b.body, b.look FROM b
LEFT JOIN a ON a.key = b.key AND a.copy = b.copy
WHERE a.key IS NULL OR a.body <> b.body ORDER BY b.position"""
GONE = """
SELECT a.key, a.body, a.look, NULL, NULL FROM a
LEFT JOIN b ON b.key = a.key AND b.copy = a.copy
WHERE b.key IS NULL ORDER BY a.position"""
MOVED = """
SELECT a.key, b.key FROM a JOIN b
ON a.passage = b.passage AND a.start < b.stop AND b.start < a.stop
WHERE NOT EXISTS (SELECT 1 FROM b AS o WHERE o.key = a.key)
    AND NOT EXISTS (SELECT 1 FROM a AS o WHERE o.key = b.key)
ORDER BY b.position, a.position"""
RECUT = """
SELECT a.key, b.key FROM a JOIN b ON a.spot = b.spot
WHERE NOT EXISTS (SELECT 1 FROM b AS o WHERE o.key = a.key)
    AND NOT EXISTS (SELECT 1 FROM a AS o WHERE o.key = b.key)
ORDER BY b.position, a.position"""
FIRST = "SELECT body, look FROM a WHERE key = ? AND copy = 0"


@dataclass(frozen=True, slots=True)
class Entry:
    """One item. body: all that is compared. look: what is shown of it, and not compared.

    spot: the same for the same characters of the same text, whatever tokens it is cut into.
    """

    key: bytes
    passage: bytes
    start: int
    stop: int
    spot: bytes
    body: bytes
    look: bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """An item that is not the same on both sides; the side that lacks it has None."""

    key: bytes
    left: tuple[bytes, bytes] | None
    right: tuple[bytes, bytes] | None


class Pairing:
    """Both sides, filled one after the other and then asked."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        for side in SIDES:
            connection.execute(MAKE.format(side=side))

    def fill(self, side: str, entries: Iterable[Entry]) -> None:
        """Take in a side, a or b. A key that comes again is the next copy of it."""
        add, add_copy = ADD.format(side=side), ADD_COPY.format(side=side)
        self._connection.execute("BEGIN")
        for position, one in enumerate(entries):
            span = (one.passage, one.start, one.stop, one.spot)
            row = (one.key, position, *span, one.body, one.look)
            if not self._connection.execute(add, row).rowcount:
                self._connection.execute(add_copy, row)
        for index in INDEXES:
            self._connection.execute(index.format(side=side))
        self._connection.execute("COMMIT")

    def count(self, side: str) -> tuple[int, int]:
        """How many items a side has, and how many of them come again."""
        row: tuple[int, int] = self._connection.execute(COUNT.format(side=side)).fetchone()
        return row

    def same(self) -> int:
        """How many items are the same on both sides."""
        return int(self._connection.execute(SAME).fetchone()[0])

    def different(self) -> Iterator[Pair]:
        """What is not the same: in the order of b, then what only a has, in the order of a."""
        for statement in (DIFFERENT, GONE):
            for key, body, look, other, other_look in self._connection.execute(statement):
                yield Pair(
                    key,
                    None if body is None else (body, look),
                    None if other is None else (other, other_look),
                )

    def moved(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys of what only a has and only b has where both overlap in one passage."""
        yield from self._connection.execute(MOVED)

    def recut(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys of what only a has and only b has where both are the same characters."""
        yield from self._connection.execute(RECUT)

    def of_a(self, key: bytes) -> tuple[bytes, bytes]:
        """Body and look of an item of a."""
        row: tuple[bytes, bytes] = self._connection.execute(FIRST, (key,)).fetchone()
        return row


@contextmanager
def pairing() -> Iterator[Pairing]:
    """An empty pairing, on a file of its own that is gone at the end.

    Raises StoreError where the folder for passing files has no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="nfh-tui-") as folder:
        path = Path(folder) / "pairing.db"
        with translated(path), closing(connect(path, "rwc")) as connection:
            for pragma in PRAGMAS:
                connection.execute(pragma)
            yield Pairing(connection)
