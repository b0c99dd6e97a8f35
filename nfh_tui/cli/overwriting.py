"""What a command writes is never put in the place of what it reads."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from nfh_db.formats.wording import visible

NAME_SHOWN = 200
BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of what SQLite keeps beside a database."""


def is_database(out: Path, database: Path) -> bool:
    """True if writing to `out` would overwrite the database or what SQLite keeps beside it."""
    target, kept = _real(out), _real(database)
    return target in {kept, *(f"{kept}{end}" for end in BESIDE)}


def check_out(out: Path, read: Iterable[Path], database: Path, option: str = "--out") -> None:
    """Raise UsageError where `out` is one of the files that are read, or the database."""
    name = visible(str(out), NAME_SHOWN)
    if is_database(out, database):
        raise click.UsageError(f"{option} would overwrite the database: {name}")
    if _real(out) in map(_real, read):
        raise click.UsageError(f"{option} would overwrite {name}, which is read")


def _real(path: Path) -> str:
    # Not Path.resolve(): that one fails for a link that leads to itself.
    return os.path.realpath(path)
