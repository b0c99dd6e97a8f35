"""What a person waits for beside a training in the background, and how soon that reports.

    python benchmarks/jobs.py [--recipe linear] [--keys 120] [--commits 1000]

On the release's files (NFH_DATA names their folder). In one run, on one database: answers
committed, and the key for the next item until the screen is drawn anew, first with nothing
beside them, then while a runner trains a model from that very database. Before that, the time
from the command `nfh-tui retrain` to the first thing that its job says of itself, and to the
first point of its curve. An empty Textual screen and one-row commits are the yardsticks.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from commit import BUDGET_ALONE, BUDGET_BESIDE, bare, show, timed
from next_item import BUDGET_MS, quantile, workbench, yardstick
from training_job import BESIDE, FILES
from workbench_data import predict

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.jobs import Job, JobState
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.services.imports import ImportOptions, import_file

PATIENCE = 600.0
"""Seconds in which a job must have come as far as it is to come."""

LOOKS = 0.02
"""Seconds between two looks at the job."""


def filled(folder: Path) -> Path:
    """A database of the release's training and development files, with predictions."""
    database = folder / "jobs.db"
    data = Path(os.environ.get("NFH_DATA", BESIDE))
    with Store.open(database, create=True) as store:
        for name, split in FILES:
            if not (data / name).is_file():
                raise SystemExit(f"this needs {data / name} (set NFH_DATA)")
            import_file(store, Source(data / name), by_name("nfh"), ImportOptions(split))
        predict(store, 3)
    return database


def until(happened: Callable[[], object]) -> None:
    """Wait for something. Raises SystemExit where it does not come."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > limit:
            raise SystemExit(f"it did not happen in {PATIENCE:.0f} s")
        time.sleep(LOOKS)


def newest(store: Store) -> Job | None:
    """The job that was asked for last."""
    return next(iter(store.jobs.all()), None)


@contextmanager
def training(database: Path, recipe: str) -> Iterator[None]:
    """A job of this recipe, at its training when this is entered, and still when it is left.

    Prints how long it took to report. Raises SystemExit where it ended too early.
    """
    command = [sys.executable, "-m", "nfh_tui", "retrain", "resolution", "--recipe", recipe]
    with Store.open(database) as store:
        begun = time.monotonic()
        subprocess.run([*command, "--split", "train", "--db", str(database)], check=True)
        queued = time.monotonic() - begun
        until(lambda: (job := newest(store)) and job.phase)
        first = time.monotonic() - begun
        print(f"`retrain` returned after {queued:.2f} s; its job's first report: {first:.2f} s")
        until(lambda: (job := newest(store)) and at_it(store, job))
        print(f"its first step of training: {time.monotonic() - begun:.1f} s")
        job = newest(store)
        assert job is not None
        assert job.pid is not None
        used = processor_seconds(job.pid)
        try:
            yield
            after = store.jobs.read(job.id)
            if after is None or after.state is not JobState.RUNNING:
                raise SystemExit(f"the job ended while it was needed: {after and after.error}")
            used = processor_seconds(job.pid) - used
            print(
                f"the job took {used:.0f} s of processor time meanwhile; it was {after.phase}"
            )
        finally:
            store.jobs.end(job.id, JobState.CANCELLED, "the benchmark is done")
            until(lambda: not Path(f"/proc/{job.pid}").exists())


def at_it(store: Store, job: Job) -> bool:
    """Whether a job works hard by now: it counts what it does. SystemExit if it ended."""
    if job.state.ended:
        raise SystemExit(f"the job ended: {job.error}")
    return bool(job.total and job.done) or bool(store.jobs.points(job.id))


def processor_seconds(pid: int) -> float:
    """Of a process, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def commits(database: Path, count: int, who: str) -> list[float]:
    """Seconds of each commit of an answer, ascending."""
    with Store.open(database) as store:
        me: Annotator = store.people.ensure(who)
        given = (class_answer(Kind.YEAR), class_answer(Kind.AGE, comment="as before"))

        def commit(number: int) -> object:
            return store.edits.commit_answer(1 + number, me, Role.ANNOTATOR, given[number % 2])

        return timed(count, commit)


def measure(database: Path, what: str, keys: int, count: int, budget: float) -> None:
    """Print how long answers and keys take now."""
    show(f"answer, {what}", commits(database, count, what), budget)
    drawn = asyncio.run(workbench(database, keys))
    print(
        f"next item, {what}: p50 {quantile(drawn, 0.5):.1f} ms, "
        f"p95 {quantile(drawn, 0.95):.1f} ms (budget {BUDGET_MS:.0f} ms), "
        f"worst {max(drawn):.1f} ms over {len(drawn)} keys"
    )


def main() -> None:
    """Make the database, measure, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--recipe", default="linear", help="linear, encoder, small, bilstm")
    options.add_argument("--keys", type=int, default=120)
    options.add_argument("--commits", type=int, default=1_000)
    chosen = options.parse_args()
    os.environ["NFH_TUI_PREDICTOR"] = "off"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        database = filled(folder)
        show("bare one-row commit", timed(chosen.commits, bare(folder / "bare.db")))
        empty = asyncio.run(yardstick(chosen.keys))
        print(f"empty screen: p95 {quantile(empty, 0.95):.1f} ms")
        measure(database, "alone", chosen.keys, chosen.commits, BUDGET_ALONE)
        with training(database, chosen.recipe):
            measure(database, "beside", chosen.keys, chosen.commits, BUDGET_BESIDE)


if __name__ == "__main__":
    main()
