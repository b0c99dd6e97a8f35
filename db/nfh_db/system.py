"""What the store needs of the operating system: the present time, whether a process still
runs, temporary files beside a file, the state of a disk, and the folder for a user's data.
"""

import contextlib
import errno
import hashlib
import mmap
import os
import platform
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path


def now() -> str:
    """The present time in UTC, ISO 8601 with milliseconds and "Z".

    The store takes every time from here, so a test can replace this one function.
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


STATE_FIELD, START_FIELD = 0, 19
"""Where /proc/PID/stat has them, counted after the command's closing bracket."""

LARGEST = 2**31 - 1
"""Number that a process may have. 0 and those below mean groups of processes."""

DEAD = ("Z", "X")
"""States of a process that has ended. Where nobody asks how it ended, as in a container whose
first process never does, its number stays taken for as long as that one runs."""


def started(pid: int) -> str | None:
    """When a process started, in the system's own ticks; None where that is not known.

    Numbers are used again, in containers at once: the two together name a process.
    """
    fields = _stat(pid)
    return fields[START_FIELD] if len(fields) > START_FIELD else None


def place() -> str:
    """Where this process' number holds: the machine, while it is up, and the namespace.

    A number of elsewhere (another container, the machine before it was started anew) says
    nothing here.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return platform.node()
    return f"{boot} {namespace}"


def _stat(pid: int) -> list[str]:
    """What the system says of a process; nothing where it says nothing."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def alive(pid: int, since: str | None) -> bool:
    """True if process `pid` runs and, where that can be told, is the one started `since`."""
    if not 0 < pid <= LARGEST:
        return False
    if sys.platform == "win32":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    fields = _stat(pid)
    if len(fields) <= START_FIELD:
        return True
    return fields[STATE_FIELD] not in DEAD and since in (None, fields[START_FIELD])


def _alive_on_windows(pid: int) -> bool:
    """os.kill would send a signal there instead of asking."""
    import ctypes

    query_limited_information = 0x1000
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    handle = kernel.OpenProcess(query_limited_information, False, pid)
    if not handle:
        return False
    kernel.CloseHandle(handle)
    return True


# Files written beside their place: their names, and what dead processes left of them.
#
# A name tells the machine and the process, so that whoever writes in the folder next can
# remove what a killed one left, and nobody removes what somebody is writing.

NAME = re.compile(
    r"\.nfh-tui-(?P<machine>[0-9a-f]{8})-(?P<pid>[0-9]{1,10})-(?P<started>[0-9]{1,20})"
    r"-[0-9a-f]{16}\.(tmp|partial)(-wal|-shm|-journal)?"
)
UNKNOWN = "0"
"""When a process started, where the system does not say."""


def path_beside(place: Path, ending: str) -> Path:
    """A new hidden name in the folder of `place`. ending: "tmp" or "partial"."""
    since = started(os.getpid()) or UNKNOWN
    name = f".nfh-tui-{_machine()}-{os.getpid()}-{since}-{secrets.token_hex(8)}.{ending}"
    return place.with_name(name)


def sweep(folder: Path) -> None:
    """Remove what processes of this machine that are gone left in a folder half written."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _left(path.name):
                with contextlib.suppress(OSError):
                    _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _left(name: str) -> bool:
    """True if a dead process of this machine gave a file this name, or SQLite did beside it."""
    found = NAME.fullmatch(name)
    if found is None or found["machine"] != _machine():
        return False
    started = None if found["started"] == UNKNOWN else found["started"]
    return not alive(int(found["pid"]), started)


def _machine() -> str:
    """This machine, in a few characters: folders are shared, process numbers are not."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]


# A folder's disk: a new name put on it, and what is wrong with it, found by trying.
#
# SQLite only says "disk I/O error".

TRIED = 1 << 16
"""Bytes of the file that is written to find out: a disk with less room counts as full."""


class FolderProblem(StrEnum):
    """Why a database cannot live in a folder.

    UNSHARED: no memory can be mapped from a file there for several processes, which
    SQLite's write-ahead log needs.
    """

    FULL = "full"
    READ_ONLY = "read-only"
    UNSHARED = "unshared"


REASONS = {
    errno.ENOSPC: FolderProblem.FULL,
    errno.EDQUOT: FolderProblem.FULL,
    errno.EROFS: FolderProblem.READ_ONLY,
}


def trouble(folder: Path) -> FolderProblem | None:
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
                return FolderProblem.UNSHARED
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


APPLICATION = "nfh-tui"


def data_folder(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """The folder for this user's data, not made yet.

    $XDG_DATA_HOME where it is set to an absolute path, on every system; else the system's
    own place. Raises OSError for a user who has no folder of their own.
    """
    chosen = environment.get("XDG_DATA_HOME", "")
    if chosen and Path(chosen).is_absolute():
        return Path(chosen) / APPLICATION
    if platform == "win32":
        local = environment.get("LOCALAPPDATA", "")
        return (Path(local) if local else _home() / "AppData" / "Local") / APPLICATION
    if platform == "darwin":
        return _home() / "Library" / "Application Support" / APPLICATION
    return _home() / ".local" / "share" / APPLICATION


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise FileNotFoundError(
            errno.ENOENT,
            "you have no home folder to keep the database in; name one with --db, or set HOME",
        ) from error
