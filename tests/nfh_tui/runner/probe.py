"""A runner that knows kinds of jobs made for tests, beside the real ones.

`probe` is light, `heavy` heavy. Each line of their trace, a file, is one whole write.
"""

import hashlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from nfh_tui.jobs import runner
from nfh_tui.jobs.descriptions import KINDS, JobKind, job_folder
from nfh_tui.jobs.reporting import Phase

MODULE = "nfh_probe_runner"
BEGUN = time.monotonic()


def trace(job: Any, *words: object) -> None:
    """A line: the job, this process, and the words."""
    line = " ".join(map(str, (job.id, os.getpid(), *words))) + "\n"
    handle = os.open(job.arguments["trace"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode())
    os.close(handle)


def run(store: Any, job: Any, report: Any) -> Mapping[str, object] | None:
    """What the job's arguments name under `do`."""
    trace(job, "begin", BEGUN, time.monotonic())
    try:
        return {"said": DO[job.arguments.get("do", "count")](store, job, report)}
    finally:
        trace(job, "end", time.monotonic())


def count(store: Any, job: Any, report: Any) -> int:
    """Steps, each kept in the job's folder when it is done, as a training keeps its own."""
    kept = job_folder(store.path, job) / "made.json"
    at = int(kept.read_text()) if kept.exists() else 0
    steps = int(job.arguments.get("steps", 3))
    while at < steps:
        report.step(Phase("counting", at, steps, {"loss": 1 / (at + 1)}))
        time.sleep(float(job.arguments.get("each", 0.0)))
        trace(job, "step", at)
        at += 1
        new = kept.with_name(".made.json.1.new")
        new.write_text(str(at))
        new.replace(kept)
    return at


def far_away(store: Any, job: Any, report: Any) -> None:
    """A computation of a library that cannot be interrupted; other threads go on."""
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2**31 - 1)


def loads(store: Any, job: Any, report: Any) -> str:
    """Load a module that takes a while to load, as numpy does, and use it."""
    folder = job_folder(store.path, job)
    slow = "import time\nhalf = 1\nfor _ in range(20):\n    time.sleep(0.01)\nwhole = 2\n"
    (folder / "nfh_slow.py").write_text(slow)
    sys.path.insert(0, str(folder))
    try:
        trace(job, "loading")
        import nfh_slow  # type: ignore[import-not-found]
    finally:
        found = sys.modules.get("nfh_slow")
        trace(job, "loaded", getattr(found, "whole", 0))
        sys.path.remove(str(folder))
    for _ in range(500):
        time.sleep(0.01)
    return str(nfh_slow.whole)


def dies(store: Any, job: Any, report: Any) -> None:
    """As a fault in a library's own code does."""
    report.step(Phase("dying"))
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(store: Any, job: Any, report: Any) -> None:
    """What no job should do."""
    sys.exit("I am off")


def fills(store: Any, job: Any, report: Any) -> int:
    """Write a checkpoint, then a larger one."""
    folder = job_folder(store.path, job)
    first = folder / "snapshot.json"
    again = first.exists()
    first.write_bytes(b"1")
    with (folder / "spec.json").open("wb", buffering=0) as file:
        for _ in range(int(job.arguments["blocks"])):
            if file.write(bytes(4096)) < 4096:
                file.write(bytes(4096))  # says why
    return int(again)


DO = {
    "count": count,
    "far away": far_away,
    "dies": dies,
    "leaves": leaves,
    "loads": loads,
    "fills": fills,
    "nothing": lambda store, job, report: None,
    "breaks": lambda store, job, report: {}["nothing"],
}


def learn() -> None:
    """Teach this process the kinds."""
    module = ModuleType("nfh_tui.jobs.probe")
    module.run = run  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    KINDS["probe"] = JobKind("probe", 2, "count", "probe")
    KINDS["heavy"] = JobKind("heavy", 2, "count", "probe", heavy=True)
    runner.MODULE = MODULE


if __name__ == "__main__":
    learn()
    if "GROWN" in os.environ:
        runner.GROWN = int(os.environ["GROWN"])
    runner.BETWEEN_BEATS = 0.05
    if "GRACE" in os.environ:
        runner.GRACE = float(os.environ["GRACE"])
    sys.exit(runner.main())
