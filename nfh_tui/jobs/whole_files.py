"""Files that are there whole or not at all, whenever the process is killed."""

import os
from contextlib import suppress
from pathlib import Path

from nfh_db.beside import path_beside


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, have it on the disk, and rename it. Raises OSError."""
    beside = path_beside(path, "tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
