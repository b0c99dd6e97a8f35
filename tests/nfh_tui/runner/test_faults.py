"""What goes wrong in a job, or is done to it: a sentence, nothing lost, nothing stuck."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfh_db.errors import FullError
from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_tui.jobs import descriptions
from nfh_tui.jobs.descriptions import claimable
from nfh_tui.jobs.runner import ensure_runner, sentence, work

from . import probe
from .conftest import Queue, until


def nobody(phase: str, done: int, total: int) -> None:
    """Nobody watches."""


def test_a_cancelled_job_stops_and_the_next_one_begins(queue: Queue) -> None:
    first, second = queue.add(steps=10_000, each=0.01), queue.add()
    runner = queue.start()
    until(lambda: queue.traced("step"))
    assert queue.store.jobs.end(first, JobState.CANCELLED, "by eva")
    assert runner.wait(300) == 0
    job = queue.job(first)
    assert (job.state, job.error) == (JobState.CANCELLED, "by eva")
    assert queue.job(second).state is JobState.DONE
    assert "ended: the job was cancelled" in log_of(queue, first)


def test_what_cannot_be_interrupted_ends_with_its_process_and_a_new_runner_comes(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRACE", "0.5")
    first, second = queue.add("far away"), queue.add()
    runner = queue.start()
    until(lambda: queue.traced("begin"))
    assert queue.store.jobs.end(first, JobState.CANCELLED, "by eva")
    assert runner.wait(300) == 75
    until(lambda: queue.job(second).state is JobState.DONE)
    assert queue.job(first).state is JobState.CANCELLED
    assert queue.job(second).pid != runner.pid
    assert "could not be interrupted" in log_of(queue, first)


def test_faults_of_a_body_end_its_job_and_say_where(queue: Queue) -> None:
    broken, leaving, good = queue.add("breaks"), queue.add("leaves"), queue.add()
    queue.work()
    assert queue.states() == [JobState.FAILED, JobState.FAILED, JobState.DONE]
    job = queue.job(broken)
    assert job.error == (
        f"an error in the program: KeyError: 'nothing'. `nfh-tui jobs log {broken}` says where"
    )
    assert f"{probe.MODULE}.py" in log_of(queue, broken)
    assert "I am off" in str(queue.job(leaving).error)
    assert log_of(queue, good).rstrip().endswith("done")


def test_jobs_of_a_newer_program_wait_for_it_and_hold_nothing_up(queue: Queue) -> None:
    dream, newer = queue.add(kind="dream"), queue.add(version=3)
    assert queue.store.jobs.find_next(claimable()) is None
    assert not ensure_runner(queue.store)
    mine = queue.add()
    queue.work()
    assert queue.job(mine).state is JobState.DONE
    assert [queue.job(one).state for one in (dream, newer)] == [JobState.QUEUED] * 2


def test_files_stay_until_a_job_is_done_or_nobody_goes_on_for_long(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, cancelled = queue.add(), queue.add(steps=3, each=10.0)
    runner = queue.start()
    until(lambda: len(queue.traced("begin")) == 2)
    queue.store.jobs.end(cancelled, JobState.CANCELLED)
    runner.wait(300)
    folders = [queue.folder(one) for one in (done, cancelled)]
    (folders[1] / "made.json").write_text("2")
    queue.work()
    files = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert files == [["asked-at", "log.txt"], ["asked-at", "log.txt", "made.json"]]
    monkeypatch.setattr(descriptions, "KEPT_SECONDS", -1.0)
    descriptions.remove_old(queue.store.path, queue.store.jobs.all())
    assert sorted(path.name for path in folders[1].iterdir()) == ["asked-at", "log.txt"]


def test_a_new_database_of_the_same_name_goes_on_from_nobodys_files(queue: Queue) -> None:
    folder = queue.folder(queue.add(steps=3))
    (folder / "made.json").write_text("2")
    (folder / "asked-at").write_text("long ago")
    queue.work()
    assert [line[3] for line in queue.traced("step")] == ["0", "1", "2"]
    assert (folder / "made.json").read_text() == "2"


def test_a_grown_runner_begins_anew_for_the_next_job(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROWN", "1")
    for _ in range(2):
        queue.add()
    queue.work()
    (_, first, _, begun, _), (_, second, _, again, _) = queue.traced("begin")
    assert first == second == str(queue.runners[0].pid)
    assert begun != again  # the module was loaded anew


def test_it_ends_where_it_cannot_say_how_a_job_ended(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = queue.add("breaks")
    queue.add()

    def full(*_: object, **__: object) -> bool:
        raise FullError("the disk is full")

    monkeypatch.setattr(queue.store.jobs, "end", full)
    with pytest.raises(FullError):
        work(queue.store, nobody)
    assert [line[0] for line in queue.traced("begin")] == [str(job_id)]


def test_each_trouble_has_a_sentence(tmp_path: Path) -> None:
    def told(error: BaseException) -> str:
        return sentence(error, 7, tmp_path)

    full = OSError(errno.ENOSPC, "No space left on device", "/disk/file")
    wrapped = RuntimeError("cannot write")
    wrapped.__cause__ = full
    assert told(full).startswith("the disk that holds /disk/file is full. Make room")
    assert str(tmp_path) in told(wrapped) or "/disk/file" in told(wrapped)
    assert "is full" in told(RuntimeError("I/O error: No space left on device (os error 28)"))
    assert "jobs retry 7" in told(full)
    assert "too little free memory" in told(MemoryError())
    assert "too little free memory" in told(
        RuntimeError("DefaultCPUAllocator: can't allocate memory")
    )
    assert "“No such file or directory” (/x)" in told(
        FileNotFoundError(2, os.strerror(2), "/x")
    )
    assert told(FullError("The disk is full.")) == "The disk is full."


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs the command `mount`")
    if done.returncode != 0:
        pytest.skip(f"needs leave to mount a disk in memory: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_disk_that_fills_fails_the_job_and_it_goes_on_when_there_is_room(
    queue: Queue, small_disk: Path
) -> None:
    with Store.open(small_disk / "d.db", create=True) as store:
        there = Queue(store, queue.trace, queue.runners)
        job_id = there.add("fills", blocks=2_000)
        there.work()
        job = there.job(job_id)
        folder = there.folder(job_id)
        assert job.state is JobState.FAILED
        assert job.error == (
            f"the disk that holds {folder} is full. Make room, then `nfh-tui jobs retry 1`: "
            "it continues from what was saved"
        )
        assert sorted(path.name for path in folder.iterdir()) == [
            *("asked-at", "log.txt", "snapshot.json", "spec.json")
        ]
        assert (folder / "snapshot.json").read_bytes() == b"1"
        (folder / "spec.json").unlink()
        store.jobs.retry(job_id)
        there.change("UPDATE job SET arguments = json_set(arguments, '$.blocks', 1)")
        assert store.jobs.accept(there.job(job_id))  # Edited by hand, it counts as foreign.
        there.work()
        assert there.job(job_id).result == {"said": 1}  # it found what it had kept


def log_of(queue: Queue, job_id: int) -> str:
    """What a job's log says."""
    return descriptions.log_of(queue.store.path, queue.job(job_id)).read_text("utf-8")
