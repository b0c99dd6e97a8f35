"""The log of a job, printed; no terminal obeys what libraries wrote into it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import visible
from nfh_tui.cli.common import Failure
from nfh_tui.cli.following import read
from nfh_tui.jobs.job_files import log_of

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store

BETWEEN = 0.2
"""Seconds between two looks at the file."""

LONGEST = 4_000
"""Code points of a line that are printed."""


def written(store: "Store", job: "Job") -> Iterator[str]:
    """The lines there are. Raises Failure where there is no log (yet)."""
    path = log_of(store.path, job)
    try:
        with path.open("rb") as file:
            yield from map(_line, file)
    except FileNotFoundError as error:
        raise Failure(_no_log(job, path)) from error


def followed(store: "Store", job: "Job", db: Path | None) -> Iterator[str]:
    """The lines there are, and those that come until the job has ended. db: as `read`."""
    place = 0
    while True:
        job = read(store, job.id, db)
        ended, path = job.state.ended, log_of(store.path, job)
        if path.is_file():
            with path.open("rb") as file:
                file.seek(place)
                for line in file:
                    if not line.endswith(b"\n") and not ended:
                        break  # the rest of it comes
                    place += len(line)
                    yield _line(line)
        if ended:
            return
        time.sleep(BETWEEN)


def _line(raw: bytes) -> str:
    return visible(raw.decode("utf-8", "replace").rstrip("\r\n"), LONGEST)


def _no_log(job: "Job", path: Path) -> str:
    if job.attempts == 0 and not job.state.ended:
        return f"job {job.id} has not begun, and so has no log yet"
    return f"job {job.id} has no log: there is no {visible(str(path), 200)}"
