"""What is known of a file that was scanned, in part or whole, so that nothing is done twice.

A journal belongs to what stands in a file, not to its name: its size, its time of change, and
what it begins and ends with. A file that has changed has none. Blocks are counted in their
order, so that a journal is the figures up to one place. It is written beside and renamed: a
process that is killed leaves the last one whole. One that is damaged all the same, by a
machine that lost its power or by hand, does not fit its own digest and is not used.
"""

import hashlib
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from nfh_db.beside import path_beside, sweep
from nfh_db.clock import now
from nfh_tui import places
from nfh_tui.scanning.blocks import SIZE
from nfh_tui.scanning.engine import Hello
from nfh_tui.scanning.tally import Tally

FORMAT = 2
ENDING = ".scan.json"
KEPT = 20_000
BYTES_KEPT = 1 << 28
"""Journals in the folder, and bytes of them; of more, those that were neither written nor
used for the longest time are removed."""

SURE_AFTER = 1.0
"""Seconds of work that are worth waiting for the disk."""

NAME = re.compile(rf"[0-9a-f]{{32}}{re.escape(ENDING)}")
"""What a journal is called. Nothing else in the folder is removed."""

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
    """A journal as it is written. file: for a person who looks. digest: of the state."""

    format: int
    file: str
    digest: str
    state: msgspec.Raw


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
        """What is known; None if nothing, or nothing that can be trusted."""
        try:
            stored = msgspec.json.decode(self.path.read_bytes(), type=_Stored)
            if stored.format != FORMAT or stored.digest != _digest(stored.state):
                return None
            state = msgspec.json.decode(stored.state, type=State)
        except (OSError, ValueError, RecursionError):  # a decoder's error is a ValueError
            return None
        with suppress(OSError):
            os.utime(self.path)
        return state

    def save(self, state: State) -> None:
        """Keep it. Raises OSError."""
        sure = state.seconds > SURE_AFTER
        state.at = now()
        written = msgspec.Raw(msgspec.json.encode(state))
        name = self._name.encode("utf-8", "backslashreplace").decode("utf-8")
        stored = _Stored(FORMAT, name, _digest(written), written)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = path_beside(self.path, "tmp")
        try:
            with beside.open("xb") as file:
                _write(file, msgspec.json.encode(stored), sure=sure)
            beside.replace(self.path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def tidy(home: Path, kept: int = KEPT, kept_bytes: int = BYTES_KEPT) -> None:
    """Remove all but the newest journals, and what killed processes left beside them."""
    sweep(home)
    found = []
    with suppress(OSError):
        for path in home.iterdir():
            if NAME.fullmatch(path.name):
                with suppress(OSError):  # another scan may have removed it
                    status = path.lstat()
                    found.append((-status.st_mtime_ns, status.st_size, path))
    size = 0
    for place, (_, length, path) in enumerate(sorted(found)):
        size += length
        if place >= kept or size > kept_bytes:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _digest(text: msgspec.Raw) -> str:
    return hashlib.sha256(text).hexdigest()


def _write(file: BinaryIO, text: bytes, *, sure: bool) -> None:
    file.write(text)
    if sure:
        file.flush()
        os.fsync(file.fileno())
