"""A folder's disk: a new name put on it, and what is wrong with it, found by trying.

SQLite only says "disk I/O error".
"""

import contextlib
import errno
import mmap
import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from nfh_db.beside import path_beside

TRIED = 1 << 16
"""Bytes of the file that is written to find out: a disk with less room counts as full."""


class Trouble(StrEnum):
    """Why a database cannot live in a folder.

    UNSHARED: no memory can be mapped from a file there for several processes, which
    SQLite's write-ahead log needs.
    """

    FULL = "full"
    READ_ONLY = "read-only"
    UNSHARED = "unshared"


REASONS = {
    errno.ENOSPC: Trouble.FULL,
    errno.EDQUOT: Trouble.FULL,
    errno.EROFS: Trouble.READ_ONLY,
}


def trouble(folder: Path) -> Trouble | None:
    """Try a small file in a folder; None where it can be written and shared, or where
    something else is wrong.

    The database itself is left alone: closing any handle of it would drop the locks that
    this process' connections hold on it.
    """
    try:
        with _passing_file(folder) as handle:
            os.write(handle, bytes(TRIED))
            os.fsync(handle)
            try:
                mmap.mmap(handle, mmap.PAGESIZE).close()
            except OSError:
                return Trouble.UNSHARED
    except OSError as error:
        return REASONS.get(error.errno or 0)
    return None


@contextlib.contextmanager
def _passing_file(folder: Path) -> Iterator[int]:
    path = path_beside(folder / "tried", "tmp")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            yield handle
        finally:
            os.close(handle)
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def sync_folder(folder: Path) -> None:
    """Put a new name in a folder on the disk, where the system can (Windows cannot)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
