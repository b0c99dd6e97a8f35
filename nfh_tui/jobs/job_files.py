"""Where a job keeps its files: beside the database, `nfh.db` has `nfh-jobs/7/` for job 7.

The log stays. The rest, what a job can go on from, goes when the job is done, and after a
while where it failed or was cancelled and nobody tried it again.
"""

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LOG = "log.txt"

STAMP = "asked-at"
"""The file that says whose folder it is: numbers are given again in a new database that takes
the place of an older one, and nothing may go on from another job's files."""

ROOM = "room"
"""A file that takes up room while a job runs, so that there is some on a disk that is full."""

ROOM_BYTES = 1 << 18
"""More than the database takes to note how a job ended."""

KEPT_SECONDS = 30 * 24 * 3600.0
"""How long the files of a job that did not end well are kept, from when it last wrote one."""


def jobs_folder(database: Path) -> Path:
    """The folder for the jobs of a database, beside it; not made yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-jobs"


def job_folder(database: Path, job_id: int) -> Path:
    """The folder of a job, made where it is missing. Raises OSError."""
    folder = jobs_folder(database) / str(job_id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def log_of(database: Path, job_id: int) -> Path:
    """A job's log; it may be there or not."""
    return jobs_folder(database) / str(job_id) / LOG


def own_folder(database: Path, job_id: int, asked_at: str) -> None:
    """Make sure that a job's folder is its own, empty unless it was. Raises OSError.

    asked_at: when the job was asked for, as its row has it.
    """
    folder = job_folder(database, job_id)
    stamp = folder / STAMP
    with suppress(FileNotFoundError, UnicodeDecodeError):
        if stamp.read_text("utf-8") == asked_at:
            return
    _remove(folder.iterdir())
    stamp.write_text(asked_at, "utf-8")


def keep_room(database: Path, job_id: int) -> None:
    """Set some room aside. Raises OSError."""
    (job_folder(database, job_id) / ROOM).write_bytes(bytes(ROOM_BYTES))


def give_room(database: Path, job_id: int) -> None:
    """Give back what was set aside. Raises OSError."""
    (jobs_folder(database) / str(job_id) / ROOM).unlink(missing_ok=True)


def tidy(database: Path, job_id: int) -> None:
    """Remove what a job kept but its log: nothing goes on from it any more. Raises OSError."""
    _remove(_kept(jobs_folder(database) / str(job_id), LOG))


def forget(database: Path, ended: Iterable[int]) -> None:
    """Tidy up behind ended jobs that nobody went on with for long. Raises OSError."""
    oldest = time.time() - KEPT_SECONDS
    for job_id in ended:
        folder = jobs_folder(database) / str(job_id)
        kept = _kept(folder, LOG, STAMP)
        if kept and max(_written(path) for path in (folder, *kept)) < oldest:
            _remove(kept)


def _kept(folder: Path, *but: str) -> list[Path]:
    """All that lies in a job's folder, but these."""
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.name not in but]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _written(path: Path) -> float:
    """When a file, or a folder's list of files, last changed; in seconds."""
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0
