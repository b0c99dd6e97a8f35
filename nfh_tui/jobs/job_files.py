"""Where a job keeps its files: beside the database, `nfh.db` has `nfh-jobs/7/` for job 7."""

import os
import shutil
from pathlib import Path

LOG = "log.txt"


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


def tidy(database: Path, job_id: int) -> None:
    """Remove what a job kept but its log: nothing goes on from it any more."""
    folder = jobs_folder(database) / str(job_id)
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name == LOG:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
