"""Whose order a job is: a mark on its row that only this user's installation can make.

A database may have been sent by somebody, with jobs in its queue that write and read files. So
a row counts as this user's own only with a mark made of the database's own id, of the row's
number and of all that is asked for in it, with a secret that lies in the user's data folder.
The path is no part of it: a file that was moved, or restored, keeps its jobs. Whoever changes
what is asked for, or puts the row into another database, makes it foreign.
"""

import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nfh_db import passages
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.system import data_folder

DATABASE_ID = "database id"
"""The setting that holds it: 32 hexadecimal digits, made with the database or an upgrade."""

ID_BYTES = 16
KEY_NAME = "jobs.key"
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one database. key: the secret; None where there is none, or no id."""

    key: bytes | None
    database: str

    @classmethod
    def to_read(cls, connection: Connection) -> Self:
        """To tell own marks from others; without a secret no mark is an own one."""
        database = passages.read_setting(connection, DATABASE_ID) or ""
        return cls(_key() if database else None, database)

    @classmethod
    def to_make(cls, connection: Connection) -> Self:
        """To make marks, in the transaction there is; the secret is made where it is missing.

        Raises StoreError where it can be neither read nor made.
        """
        database = passages.read_setting(connection, DATABASE_ID) or ""
        if not database:
            database = os.urandom(ID_BYTES).hex()
            passages.write_setting(connection, DATABASE_ID, database)
        return cls(_key_made(), database)

    def mark(self, what: str, *asked: object) -> str:
        """The mark of an order. what: the sort of order. asked: all that it says."""
        if self.key is None:
            return ""
        told = json.dumps([what, self.database, *asked])
        return hmac.new(self.key, told.encode("ascii"), hashlib.sha256).hexdigest()

    def knows(self, mark: str, what: str, *asked: object) -> bool:
        """Whether a mark is this installation's own of exactly this order."""
        own = self.mark(what, *asked)
        return bool(own) and hmac.compare_digest(own.encode(), mark.encode("utf-8", "replace"))


def _key() -> bytes | None:
    try:
        key = (data_folder() / KEY_NAME).read_bytes()
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def _key_made() -> bytes:
    try:
        path = data_folder() / KEY_NAME
        if not path.exists():
            _make(path)
        key = path.read_bytes()
    except OSError as error:
        where = f" {error.filename}:" if error.filename else ""
        raise StoreError(
            f"No job can be queued:{where} {error.strerror}. A secret of 32 bytes, by which "
            "your jobs are told from others', is kept in your data folder. Make that folder "
            "writable, or set XDG_DATA_HOME to one that is"
        ) from error
    if len(key) != KEY_BYTES:
        raise StoreError(
            f"No job can be queued: {path}, by which your jobs are told from others', "
            f"holds {len(key)} bytes, wanted {KEY_BYTES}. Delete it, and a new one is made; "
            "jobs that wait are foreign then"
        )
    return key


def _make(path: Path) -> None:
    """Make the secret, for this user alone; of two who do so at one time one is kept."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    passing = path.with_name(f".{KEY_NAME}-{os.urandom(8).hex()}")
    descriptor = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(passing, path)
        except FileExistsError:
            return
        except OSError:
            os.replace(passing, path)  # noqa: PTH105 - a file system without links
    finally:
        passing.unlink(missing_ok=True)
