"""Worker processes and a cluster: the same figures, whoever dies on the way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import LocalCluster

from nfh_models.errors import ModelsError
from nfh_tui.scanning import cluster as cluster_module
from nfh_tui.scanning.cluster import Cluster
from nfh_tui.scanning.crew import CrewError, Piece
from nfh_tui.scanning.engine import Engine, Task
from nfh_tui.scanning.scan import Call, Progress, Scan
from nfh_tui.scanning.workers import Workers

from .conftest import RULES, Inline, figures, scanned


@pytest.fixture
def workers() -> Iterator[Workers]:
    crew = Workers(RULES, 2)
    yield crew
    crew.close()
    assert not crew.pids or not any(Path(f"/proc/{pid}/cmdline").exists() for pid in crew.pids)


def test_processes_find_the_same_though_one_is_killed(
    story: Path, engine: Engine, workers: Workers, small_blocks: int
) -> None:
    job = Scan(Call([str(story)], False, None), workers)
    killed: list[int] = []

    def kill_once(_: Progress) -> None:
        if not killed:
            killed.extend(workers.pids)
            os.kill(killed[0], signal.SIGKILL)

    job.run(kill_once)
    assert killed[0] not in workers.pids
    assert figures(job) == figures(scanned(Inline(engine), None, story))


def test_what_a_worker_cannot_load_is_a_sentence() -> None:
    crew = Workers(Task("svm", "/no/such/folder", None, per_line=False), 1)
    try:
        with pytest.raises(CrewError, match="/no/such/folder"):
            crew.hello()
    finally:
        crew.close()


def test_a_block_that_ends_every_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfh_tui.scanning.workers.MODULE", "nfh_tui.no_such_module")
    crew = Workers(RULES, 1)
    try:
        with pytest.raises(CrewError, match="3 times"):
            crew.submit(Piece(b"one", "here")).result()
        with pytest.raises(CrewError, match="while it started, 3 times"):
            crew.hello()
    finally:
        crew.close()


@pytest.fixture(scope="module")
def two_workers() -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local:
        yield local


def test_a_cluster_finds_the_same_though_a_worker_is_killed(
    story: Path, engine: Engine, two_workers: LocalCluster, small_blocks: int
) -> None:
    crew = Cluster(two_workers.scheduler_address, RULES)
    job = Scan(Call([str(story)], False, None), crew)
    pids = sorted(crew._client.run(os.getpid).values())
    killed: list[int] = []

    def kill_once(_: Progress) -> None:
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    try:
        job.run(kill_once)
        assert len(pids) == 2
        assert crew.warnings == []
    finally:
        crew.close()
    assert figures(job) == figures(scanned(Inline(engine), None, story))


def test_a_cluster_says_what_it_cannot_load(two_workers: LocalCluster) -> None:
    crew = Cluster(two_workers.scheduler_address, Task("svm", "/no/such/folder", None, False))
    try:
        with pytest.raises(ModelsError, match="/no/such/folder"):
            crew.hello()
    finally:
        crew.close()


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(CrewError, match="no scheduler answers at tcp"):
        Cluster("tcp://127.0.0.1:9", RULES)
    with pytest.raises(CrewError, match="no scheduler answers at"):
        Cluster("nonsense://x", RULES)
    assert time.monotonic() - began < 60


def test_versions_that_differ_are_said() -> None:
    class Client:
        def get_versions(self) -> dict[str, object]:
            ours, theirs = ({"packages": {"dask": found}} for found in ("1", "2"))
            return {"client": ours, "scheduler": ours, "workers": {"tcp://a": theirs}}

    assert cluster_module._differences(Client()) == [
        "dask is not the same everywhere: 1 here, 2 on tcp://a"
    ]


def test_without_dask_the_command_that_gets_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CrewError, match=r"pip install 'nfh-tui\[cluster\]'"):
        Cluster("tcp://127.0.0.1:8786", RULES)


def test_a_worker_loads_no_torch_for_spacy_and_can_later() -> None:
    code = (
        "import sys; from nfh_tui.scanning.engine import Engine, Task;"
        "engine = Engine(Task('rules', None, None, False));"
        "print(engine.scan(b'She has only one.').total.nfh, 'torch' in sys.modules);"
        "import importlib.util; print(bool(importlib.util.find_spec('torch')))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.split() == ["1", "False", "True"], found.stderr
