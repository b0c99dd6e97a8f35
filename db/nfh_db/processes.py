"""Whether a process that left its number behind is still there."""

import os
import platform
import sys
from pathlib import Path

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
