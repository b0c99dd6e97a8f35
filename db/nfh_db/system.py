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
"""Indexes of the fields in /proc/PID/stat, counted after the closing bracket of the command."""

LARGEST = 2**31 - 1
"""The largest process id. `os.kill` takes 0 and negative ids for process groups."""

DEAD = ("Z", "X")
"""States of a process that has ended. If its parent never waits for it, as the first process of
some containers does not, the id stays taken until the parent ends."""


def started(pid: int) -> str | None:
    """The start time of a process in clock ticks since boot; None where it is unknown.

    Process ids are reused: only the id and the start time together identify a process.
    """
    fields = _stat(pid)
    return fields[START_FIELD] if len(fields) > START_FIELD else None


def place() -> str:
    """The scope of this process' id: the boot of the machine, and the PID namespace.

    An id of another scope (another container, an earlier boot) means nothing here.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return platform.node()
    return f"{boot} {namespace}"


def _stat(pid: int) -> list[str]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def is_running(pid: int, since: str | None) -> bool:
    """True if process `pid` runs and, where start times are known, was started at `since`."""
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
    # On Windows os.kill would send a signal instead of testing for the process.
    import ctypes

    query_limited_information = 0x1000
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    handle = kernel.OpenProcess(query_limited_information, False, pid)
    if not handle:
        return False
    kernel.CloseHandle(handle)
    return True


# Temporary sibling files: their names, and the removal of those that dead processes left.
#
# The name holds the machine and the process. So the next writer in the folder can remove the
# files of a killed process, and never removes one that is being written.

NAME = re.compile(
    r"\.nfh-tui-(?P<machine>[0-9a-f]{8})-(?P<pid>[0-9]{1,10})-(?P<started>[0-9]{1,20})"
    r"-[0-9a-f]{16}\.(tmp|partial)(-wal|-shm|-journal)?"
)
UNKNOWN = "0"
"""Stands for the start time where the system does not report it."""


def path_beside(place: Path, ending: str) -> Path:
    """A new hidden name in the folder of `place`. ending: "tmp" or "partial"."""
    since = started(os.getpid()) or UNKNOWN
    name = f".nfh-tui-{_machine()}-{os.getpid()}-{since}-{secrets.token_hex(8)}.{ending}"
    return place.with_name(name)


def sweep(folder: Path) -> None:
    """Remove the partial files of this machine's dead processes from a folder."""
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
    """True for the name of a temporary file, or of its SQLite sidecar, of a dead process."""
    found = NAME.fullmatch(name)
    if found is None or found["machine"] != _machine():
        return False
    started = None if found["started"] == UNKNOWN else found["started"]
    return not is_running(int(found["pid"]), started)


def _machine() -> str:
    """A short hash of the host name: folders may be shared between machines, ids are not."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]


# The state of a folder's disk, found by writing a file: SQLite reports only "disk I/O error".

TRIED = 1 << 16
"""Bytes of the probe file: a disk with less room counts as full."""


class FolderProblem(StrEnum):
    """Why a database cannot be used in a folder."""

    FULL = "full"
    READ_ONLY = "read-only"
    UNSHARED = "unshared"
    """Files there cannot be mapped into shared memory, which SQLite's write-ahead log needs."""


REASONS = {
    errno.ENOSPC: FolderProblem.FULL,
    errno.EDQUOT: FolderProblem.FULL,
    errno.EROFS: FolderProblem.READ_ONLY,
}


def probe(folder: Path) -> FolderProblem | None:
    """Probe a folder with a small file.

    None where it can be written and shared, and for every other problem. The database itself
    is not opened: closing any handle of it would drop the locks of this process' connections.
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
    """Sync a folder, and so the names in it, to the disk. Does nothing on Windows."""
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
    """The folder for this user's data. It may not exist yet.

    $XDG_DATA_HOME where that is an absolute path, on every system; else the default of the
    system. Raises OSError for a user without a home folder.
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
