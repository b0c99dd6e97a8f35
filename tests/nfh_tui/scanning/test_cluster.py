"""A Dask cluster: the same figures, whoever dies; sentences for what is wrong."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import LocalCluster

from nfh_models import ModelsError
from nfh_tui.scanning import cluster
from nfh_tui.scanning.cluster import Cluster, differences, quiet_logs
from nfh_tui.scanning.scan import Scan, ScanProgress, ScanRequest
from nfh_tui.scanning.worker import BlockProcessor, BlockTask, WorkerPoolError, loaded_processor
from tests.conftest import LONG

from .conftest import RULES, Inline, figures, scanned


@pytest.fixture(scope="module")
def two_workers() -> Iterator[LocalCluster]:
    """Processes only for the test that kills one, which is long."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=LONG,
        protocol="tcp",
        dashboard_address=None,
    ) as local:
        yield local


@pytest.mark.long
def test_a_cluster_finds_the_same_though_a_worker_is_killed(
    story: Path, engine: BlockProcessor, two_workers: LocalCluster, small_blocks: int
) -> None:
    pool = Cluster(two_workers.scheduler_address, RULES)
    job = Scan(ScanRequest([str(story)], False, None), pool)
    pids = sorted(pool._client.run(os.getpid).values())
    killed: list[int] = []

    def kill_once(_: ScanProgress) -> None:
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    try:
        job.run(kill_once)
        assert len(pids) == 2
        assert pool.warnings == []
    finally:
        pool.close()
    assert figures(job) == figures(scanned(Inline(engine), None, story))


def test_a_cluster_says_what_it_cannot_load(two_workers: LocalCluster) -> None:
    pool = Cluster(
        two_workers.scheduler_address, BlockTask("svm", "/no/such/folder", None, False)
    )
    try:
        with pytest.raises(ModelsError, match="/no/such/folder"):
            pool.handshake()
    finally:
        pool.close()


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    with pytest.raises(WorkerPoolError, match="no scheduler answers at tcp"):
        Cluster("tcp://127.0.0.1:9", RULES)
    with pytest.raises(WorkerPoolError, match="no scheduler answers at nonsense"):
        Cluster("nonsense://x", RULES)


@pytest.mark.parametrize(
    "address", ["", "tcp://", "tcp://host", "host", "tcp://host:99999", "tls://:x", "\x1b[31m"]
)
def test_what_is_no_address_is_said_at_once(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "Thread", None)  # nobody is asked
    with pytest.raises(WorkerPoolError, match=r"is not an address \(.*tcp://HOST:8786"):
        Cluster(address, RULES)


def test_what_answers_but_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask waits for it without end."""
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "tcp://{}:{}".format(*server.getsockname())
        with pytest.raises(WorkerPoolError, match="does not answer like a scheduler"):
            Cluster(address, RULES)


def test_what_dask_logs_is_not_seen(caplog: pytest.LogCaptureFixture) -> None:
    import logging

    logger = logging.getLogger("distributed.client")
    with quiet_logs():
        logger.error("a traceback")
    logger.error("seen")
    assert [record.message for record in caplog.records] == ["seen"]


def test_another_scan_loads_the_model_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been trained since, into the same folder."""
    monkeypatch.setattr("nfh_tui.scanning.worker.BlockProcessor", lambda task: object())
    loaded_processor.cache_clear()
    first, again, other = (loaded_processor(RULES, run) for run in ("1", "1", "2"))
    loaded_processor.cache_clear()
    assert first is again is not other


def test_versions_that_differ_are_said() -> None:
    class Client:
        def get_versions(self) -> dict[str, object]:
            ours, theirs = ({"packages": {"dask": found}} for found in ("1", "2"))
            return {"client": ours, "scheduler": ours, "workers": {"tcp://a": theirs}}

    assert differences(Client()) == ["dask differs between machines: 1 here, 2 on tcp://a"]


def test_without_dask_the_command_that_gets_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(WorkerPoolError, match=r"pip install 'nfh-tui\[cluster\]'"):
        Cluster("tcp://127.0.0.1:8786", RULES)
