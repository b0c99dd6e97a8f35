"""Files written beside their place: their names, and what dead processes left of them.

A name tells the machine and the process, so that whoever writes in the folder next can
remove what a killed one left, and nobody removes what somebody is writing.
"""

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
from pathlib import Path

from nfh_db import processes

NAME = re.compile(
    r"\.nfh-tui-(?P<machine>[0-9a-f]{8})-(?P<pid>[0-9]{1,10})-(?P<started>[0-9]{1,20})"
    r"-[0-9a-f]{16}\.(tmp|partial)(-wal|-shm|-journal)?"
)
UNKNOWN = "0"
"""When a process started, where the system does not say."""


def path_beside(place: Path, ending: str) -> Path:
    """A new hidden name in the folder of `place`. ending: "tmp" or "partial"."""
    started = processes.started(os.getpid()) or UNKNOWN
    name = f".nfh-tui-{_machine()}-{os.getpid()}-{started}-{secrets.token_hex(8)}.{ending}"
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
    return not processes.alive(int(found["pid"]), started)


def _machine() -> str:
    """This machine, in a few characters: folders are shared, process numbers are not."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]
