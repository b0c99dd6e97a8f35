"""Where a job keeps its files: beside the database, `nfh.db` has `nfh-jobs/7/` for job 7.

A job makes its folder and marks it at once. What has that name and not the mark is somebody
else's: it stays as it is, and the job's folder is called `7-2`. No link is followed below the
database's folder, and only files of the names that jobs give are removed, in a marked folder.

The log stays. The rest, what a job can go on from, goes when the job is done, and after a
while where it failed or was cancelled and nobody tried it again.
"""

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path

from nfh_db.beside import sweep
from nfh_db.jobs import Job
from nfh_models.errors import ModelsError

LOG = "log.txt"

STAMP = "asked-at"
"""The mark: a file that says when the job was asked for, and how the database's name ends.
Numbers are given again in a new database that takes the place of an older one, and a copy
called nfh.bak has nfh-jobs, too: nothing goes on from another job's files."""

LONGEST_STAMP = 400
"""Bytes; a file that is longer is no mark."""

ROOM = "room"
"""A file that takes up room while a job runs, so that there is some on a disk that is full."""

ROOM_BYTES = 1 << 18
"""More than the database takes to note how a job ended."""

KEPT_SECONDS = 30 * 24 * 3600.0
"""How long the files of a job that did not end well are kept, from when it last wrote one."""

_FOLDERS = r"work(-[0-9]+)?|model"
_FILES = r"room|(snapshot|spec|made|part-[0-9]+|placed-[0-9]+)\.json"
KEPT = re.compile(
    rf"{_FILES}|{_FOLDERS}|\.({_FILES}|{_FOLDERS})\.[0-9]+(\.[0-9a-f]{{16}})?\.new"
)
"""The names of what jobs keep to go on from, and of what a killed one leaves half written."""

_NUMBERED = re.compile(r"([0-9]+)(-[0-9]+)?")


class JobFolderError(ModelsError, OSError):
    """No place for a job's files, since something of somebody else's stands there.

    An OSError, too: a job that can do without files does without them.
    """


def jobs_folder(database: Path) -> Path:
    """The folder for the jobs of a database, beside it; not made yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-jobs"


def find_folder(database: Path, job: Job) -> Path | None:
    """The folder that a job has made; None if it has none. Raises OSError."""
    above = jobs_folder(database)
    usual = above / str(job.id)
    if not _is_folder(above):
        return None
    mark = _mark(database, job)
    if _is_marked(usual, mark):
        return usual
    others = (path for path in sorted(above.iterdir()) if _number(path) == job.id)
    return next((path for path in others if _is_marked(path, mark)), None)


def job_folder(database: Path, job: Job) -> Path:
    """The folder of a job, made where it is missing. Raises OSError, JobFolderError."""
    found = find_folder(database, job)
    if found is not None:
        return found
    above = inner_folder(jobs_folder(database))
    for place in count(1):
        folder = above / (f"{job.id}-{place}" if place > 1 else str(job.id))
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            break
    try:
        with (folder / STAMP).open("x", encoding="utf-8") as stamp:
            stamp.write(_mark(database, job))
    except OSError:
        with suppress(OSError):
            (folder / STAMP).unlink(missing_ok=True)
            folder.rmdir()
        raise
    return folder


def inner_folder(path: Path) -> Path:
    """A folder of the program's, made where it is missing. Raises OSError, JobFolderError."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError as error:
        if not _is_folder(path):
            what = "a link" if path.is_symlink() else "no folder"
            raise JobFolderError(
                f"{path} is {what}, and jobs keep their files in a folder of that name. Move "
                "it away, then try the job again"
            ) from error
    return path


def log_of(database: Path, job: Job) -> Path:
    """A job's log; it may be there or not. Raises OSError."""
    above = jobs_folder(database)
    usual = above / str(job.id)
    found = find_folder(database, job)
    if found is None and job.log is not None and Path(job.log).parent.name == usual.name:
        # Versions before this one took the mark away from a job that was done.
        found = usual if _is_folder(above) and _is_folder(usual) else None
    return (found or usual) / LOG


def keep_room(database: Path, job: Job) -> None:
    """Set some room aside. Raises OSError."""
    path = job_folder(database, job) / ROOM
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(bytes(ROOM_BYTES))


def give_room(database: Path, job: Job) -> None:
    """Give back what was set aside. Raises OSError."""
    folder = find_folder(database, job)
    if folder is not None:
        (folder / ROOM).unlink(missing_ok=True)


def tidy(database: Path, job: Job) -> None:
    """Remove what a job kept but its log: nothing goes on from it any more. Raises OSError."""
    folder = find_folder(database, job)
    if folder is not None:
        remove(*_kept(folder))
        sweep(folder)


def forget(database: Path, ended: Iterable[Job]) -> None:
    """Tidy up behind ended jobs that nobody went on with for long. Raises OSError."""
    oldest = time.time() - KEPT_SECONDS
    above = jobs_folder(database)
    numbers = {_number(folder) for folder in above.iterdir()} if _is_folder(above) else set()
    for job in ended:
        if job.id not in numbers:
            continue
        # A copy that a person made of the folder has the mark, too, and is theirs.
        folder = find_folder(database, job)
        kept = [] if folder is None else _kept(folder)
        if (
            folder is not None
            and kept
            and max(_written(path) for path in (folder, *kept)) < oldest
        ):
            remove(*kept)
            sweep(folder)


def remove(*paths: Path) -> None:
    """Remove files and folders that jobs have made; of a link, the link. Raises OSError."""
    for path in paths:
        if _is_folder(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _kept(folder: Path) -> list[Path]:
    """What a job has put into its folder, but its log and mark."""
    return [path for path in folder.iterdir() if KEPT.fullmatch(path.name)]


def _number(folder: Path) -> int:
    """Of the job that a folder's name is for; -1 of another name."""
    found = _NUMBERED.fullmatch(folder.name)
    return -1 if found is None else int(found[1])


def _mark(database: Path, job: Job) -> str:
    return f"{job.created_at} {Path(os.path.realpath(database)).suffix}"


def _is_marked(folder: Path, mark: str) -> bool:
    """Whether a job has made this folder. Older versions marked with the time alone."""
    stamp = folder / STAMP
    with suppress(FileNotFoundError, UnicodeDecodeError):
        if _is_folder(folder) and stat.S_ISREG(stamp.lstat().st_mode):
            with stamp.open("rb") as file:
                return file.read(LONGEST_STAMP).decode("utf-8") in (
                    mark,
                    mark.partition(" ")[0],
                )
    return False


def _is_folder(path: Path) -> bool:
    """Whether this is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise


def _written(path: Path) -> float:
    """When a file, or a folder's list of files, last changed; in seconds."""
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0
