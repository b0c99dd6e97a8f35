"""A real training beside what is measured: a command of its own, at the usual priority."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, import_file

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = (("resolution/nfh_train.jsonl", "train"), ("resolution/nfh_dev.jsonl", "dev"))
WARMING_UP = 15.0
"""Seconds until the training has loaded its libraries and is at work."""


@contextmanager
def training(folder: Path, recipe: str) -> Iterator[None]:
    """Train on the release's files until left; it must still be at work then.

    Raises SystemExit where the files are missing, or the training ended too early.
    """
    database = folder / "training.db"
    data = Path(os.environ.get("NFH_DATA", BESIDE))
    with Store.open(database, create=True) as store:
        for name, split in FILES:
            if not (data / name).is_file():
                raise SystemExit(f"training needs {data / name} (set NFH_DATA)")
            import_file(store, Source(data / name), by_name("nfh"), ImportOptions(split))
    command = [sys.executable, "-m", "nfh_tui", "retrain", "resolution", "--recipe", recipe]
    command.append("--wait")
    here = {**os.environ, "NFH_TUI_RUNNER": "here"}  # in the process that is measured
    log = (folder / "training.log").open("wb")
    job = subprocess.Popen([*command, "--db", str(database)], stdout=log, stderr=log, env=here)
    try:
        time.sleep(WARMING_UP)
        _must_run(job, folder)
        began = _processor_seconds(job.pid)
        yield
        _must_run(job, folder)
        took = _processor_seconds(job.pid) - began
        print(f"the training of {recipe} took {took:.0f} s of processor time meanwhile")
    finally:
        job.kill()
        job.wait()
        log.close()


def _must_run(job: subprocess.Popen[bytes], folder: Path) -> None:
    if job.poll() is not None:
        said = (folder / "training.log").read_text("utf-8", "replace")[-500:]
        raise SystemExit(f"the training ended while it was needed:\n{said}")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
