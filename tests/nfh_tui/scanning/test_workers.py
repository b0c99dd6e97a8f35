"""Worker processes of this machine, with a quick stand-in for model and parser."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from nfh_models import ModelsError
from nfh_tui.scanning import worker as worker_module
from nfh_tui.scanning.scan import Scan, ScanProgress, ScanRequest
from nfh_tui.scanning.worker import (
    BlockBytes,
    BlockProcessor,
    BlockTask,
    WorkerPoolError,
    read_text,
)
from nfh_tui.scanning.workers import Workers

from .conftest import RULES

QUICK = """
import sys
from pathlib import Path
from nfh_tui.scanning import worker
from nfh_tui.scanning.worker import ScanHandshake, read_text
class Quick:
    "Counts words and loads nothing; what it works with stands in a file."
    def __init__(self, task):
        self.version = Path(task.folder).read_text()
    def handshake(self):
        return ScanHandshake("quick", self.version, None, None, "none", "test")
    def scan(self, data):
        return read_text(data)[0]
worker.BlockProcessor = Quick
worker.main()
"""


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Workers that start at once; the file says what they work with."""
    (tmp_path / "quick_worker.py").write_text(QUICK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr("nfh_tui.scanning.workers.MODULE", "quick_worker")
    file = tmp_path / "version"
    file.write_text("1")
    return file


@pytest.fixture
def workers(version: Path) -> Iterator[Workers]:
    pool = Workers(BlockTask("quick", str(version), None, per_line=False), 2)
    yield pool
    pool.close()
    assert not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids_of(pool))


def pids_of(workers: Workers) -> list[int]:
    """The ids of the processes that run now."""
    with workers._lock:
        return [worker.pid for worker in workers._all]


def test_a_worker_that_is_killed_is_replaced(
    story: Path, workers: Workers, small_blocks: int
) -> None:
    job = Scan(ScanRequest([str(story)], False, None), workers)
    killed: list[int] = []

    def kill_all_once(_: ScanProgress) -> None:
        if not killed:
            killed.extend(pids_of(workers))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    job.run(kill_all_once)
    assert killed
    assert not set(killed) & set(pids_of(workers))
    assert msgspec.to_builtins(job.total) == msgspec.to_builtins(
        read_text(story.read_bytes())[0]
    )


def test_a_worker_that_finds_another_model_stops_the_scan(
    version: Path, workers: Workers
) -> None:
    assert workers.handshake().version == "1"
    assert workers.submit(BlockBytes(b"one", "here"))().words == 1
    version.write_text("2")
    os.kill(pids_of(workers)[0], signal.SIGKILL)
    with pytest.raises(
        WorkerPoolError,
        match=(
            r"was changed during the scan: .*quick, 1, "
            r".*quick, 2"
        ),
    ):
        workers.submit(BlockBytes(b"one", "here"))()


def test_what_nobody_provided_for_is_a_sentence(
    engine: BlockProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr("nfh_models.identification.base.decide", fail)
    with pytest.raises(ModelsError, match=r"rules fails on a text .IndexError: list index"):
        engine.scan(b"She has one.")
    monkeypatch.setattr("nfh_models.identification.base.check_layers", fail)
    with pytest.raises(ModelsError, match=r"cannot be loaded .IndexError"):
        worker_module.BlockProcessor(RULES)


@pytest.mark.parametrize(("folder", "parser"), [("a\udcff", None), (None, "spacy:\udcff")])
def test_a_name_that_workers_cannot_be_told(folder: str | None, parser: str | None) -> None:
    with pytest.raises(ModelsError, match="not UTF-8"):
        Workers(BlockTask("svm", folder, parser, per_line=False), 1)


def test_what_a_worker_cannot_load_is_a_sentence() -> None:
    pool = Workers(BlockTask("svm", "/no/such/folder", None, per_line=False), 1)
    try:
        with pytest.raises(WorkerPoolError, match="/no/such/folder"):
            pool.handshake()
    finally:
        pool.close()


def test_a_block_that_ends_every_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfh_tui.scanning.workers.MODULE", "nfh_tui.no_such_module")
    pool = Workers(RULES, 1)
    try:
        with pytest.raises(WorkerPoolError, match="3 times"):
            pool.submit(BlockBytes(b"one", "here"))()
        with pytest.raises(WorkerPoolError, match="while it started, 3 times"):
            pool.handshake()
    finally:
        pool.close()
