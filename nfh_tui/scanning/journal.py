"""What is known of a file that was scanned, in part or whole, so that nothing is done twice.

A journal belongs to what stands in a file, not to its name: its size, its time of change, and
what it begins and ends with. A file that has changed has none. Blocks are counted in their
order, so that a journal is the figures up to one place. It is written beside and renamed: a
process that is killed leaves the last one whole.
"""

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from nfh_db.clock import now
from nfh_tui import places
from nfh_tui.scanning.blocks import SIZE
from nfh_tui.scanning.engine import Hello
from nfh_tui.scanning.tally import Tally

FORMAT = 1
ENDING = ".scan.json"
KEPT = 500
"""Journals in the folder; of more, those not written for the longest time are removed."""

_ENDS = 1 << 16
"""Bytes at each end of a file that tell it from another of the same size and time."""


@dataclass(slots=True)
class State:
    """How far a file is done: all before byte `start`, where block `index` begins.

    read: bytes of the file itself, packed as it is. seconds: what it took. at: when written.
    """

    index: int = 0
    start: int = 0
    read: int = 0
    seconds: float = 0.0
    done: bool = False
    at: str = ""
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class _Stored:
    format: int
    file: str
    state: State


def folder() -> Path:
    """Where journals are, not made yet. Raises OSError for a user without a folder."""
    return places.data_folder() / "scans"


def identity(path: Path) -> str | None:
    """What tells a file's content from another's; None for what is no regular file.

    Raises OSError.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe can be opened once only
        return None
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        ends = hashlib.sha256(file.read(_ENDS))
        file.seek(max(0, status.st_size - _ENDS))
        ends.update(file.read(_ENDS))
    return f"{status.st_size} {status.st_mtime_ns} {ends.hexdigest()}"


class Journal:
    """The journal of one file under one task."""

    def __init__(self, home: Path, name: str, content: str, per_line: bool, by: Hello) -> None:
        said = msgspec.json.encode([FORMAT, SIZE, content, per_line, by])
        self._name = name
        self.path = home / f"{hashlib.sha256(said).hexdigest()[:32]}{ENDING}"

    def load(self) -> State | None:
        """What is known; None if nothing, or nothing that can be read."""
        try:
            stored = msgspec.json.decode(self.path.read_bytes(), type=_Stored)
        except (OSError, msgspec.DecodeError):
            return None
        return stored.state if stored.format == FORMAT else None

    def save(self, state: State) -> None:
        """Keep it. Raises OSError."""
        state.at = now()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            with beside.open("wb") as file:
                _write(file, msgspec.json.encode(_Stored(FORMAT, self._name, state)))
            beside.replace(self.path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Forget it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def tidy(home: Path, kept: int = KEPT) -> None:
    """Remove all but the newest journals, and what killed processes left beside them."""
    try:
        found = sorted(home.glob(f"*{ENDING}*"), key=lambda path: -path.stat().st_mtime)
    except OSError:
        return
    for path in found[kept:]:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _write(file: BinaryIO, text: bytes) -> None:
    file.write(text)
    file.flush()
    os.fsync(file.fileno())
