"""Whether a process that left its number behind is still there."""

import os
import sys
from pathlib import Path

START_FIELD = 19
"""Where /proc/PID/stat has the start time, counted after the command's closing bracket."""


def started(pid: int) -> str | None:
    """When a process started, in the system's own ticks; None where that is not known.

    Numbers are used again, in containers at once: the two together name a process.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return fields[START_FIELD] if len(fields) > START_FIELD else None


def alive(pid: int, since: str | None) -> bool:
    """True if process `pid` runs and, where that can be told, is the one started `since`."""
    if sys.platform == "win32":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    now = started(pid)
    return since is None or now is None or now == since


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
