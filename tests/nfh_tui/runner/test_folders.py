"""A job's files lie in a folder that it made. What was there before stays as it is."""

import os
import shutil
import stat
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nfh_db.database import back_up
from nfh_db.jobs import Job, JobState
from nfh_db.store import Store
from nfh_tui.jobs import descriptions
from nfh_tui.jobs.descriptions import (
    LOG,
    ROOM,
    STAMP,
    JobFolderError,
    copy_along,
    find_folder,
    inner_folder,
    job_folder,
    jobs_folder,
    log_of,
)
from nfh_tui.jobs.runner import work

from .conftest import Queue

Tree = Mapping[str, str]


def tree(folder: Path) -> Tree:
    """All that lies in a folder: what is in each file, where each link leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = "folder" if path.is_dir() else path.read_text("utf-8")
    return found


def fill(folder: Path) -> Tree:
    """Files of a person's, some under the names of a job's; what there is."""
    (folder / "work").mkdir(parents=True)
    for name in ("notes.txt", "work/chapter.txt", LOG, ROOM, "made.json", "snapshot.json"):
        (folder / name).write_text(f"mine: {name}", "utf-8")
    return tree(folder)


def nobody(phase: str, done: int, total: int) -> None:
    """Nobody watches."""


def run(queue: Queue, **more: object) -> Job:
    """A job that has been run."""
    job_id = queue.add(**more)  # type: ignore[arg-type]
    work(queue.store, nobody)
    return queue.job(job_id)


def test_a_persons_folder_of_that_name_stays_and_the_job_has_another(queue: Queue) -> None:
    theirs = jobs_folder(queue.store.path) / "1"
    before = fill(theirs)
    job = run(queue)
    assert (job.id, job.state) == (1, JobState.DONE)
    assert tree(theirs) == before
    own = theirs.with_name("1-2")
    assert find_folder(queue.store.path, job) == own
    assert sorted(path.name for path in own.iterdir()) == [STAMP, LOG]
    assert job.log == str(own / LOG) == str(log_of(queue.store.path, job))


def test_a_link_of_that_name_is_not_followed(queue: Queue, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    before = fill(elsewhere)
    link = jobs_folder(queue.store.path) / "1"
    link.parent.mkdir()
    link.symlink_to(elsewhere)
    job = run(queue)
    assert job.state is JobState.DONE
    assert tree(elsewhere) == before
    assert link.is_symlink()
    assert find_folder(queue.store.path, job) == link.with_name("1-2")


@pytest.mark.parametrize("what", ["a link", "a link to nothing", "a file"])
def test_nothing_is_done_where_the_folder_of_all_jobs_is_none(
    queue: Queue, tmp_path: Path, what: str
) -> None:
    elsewhere, above = tmp_path / "elsewhere", jobs_folder(queue.store.path)
    before = fill(elsewhere / "1")
    if what == "a file":
        above.write_text("mine", "utf-8")
    else:
        above.symlink_to(elsewhere if what == "a link" else tmp_path / "nothing")
    job = run(queue)  # it keeps files
    said = "no folder" if what == "a file" else "a link"
    assert (job.state, job.error) == (
        JobState.FAILED,
        f"{above} is {said}, but jobs need a folder of that name for their files. Move it "
        "away, then retry the job",
    )
    assert tree(elsewhere / "1") == before
    assert not (tmp_path / "nothing").exists()
    assert above.is_symlink() or above.read_text("utf-8") == "mine"
    above.unlink()
    assert queue.store.jobs.retry(job.id)
    work(queue.store, nobody)
    assert queue.job(job.id).state is JobState.DONE


def test_a_job_without_files_is_run_without_a_folder(queue: Queue, tmp_path: Path) -> None:
    jobs_folder(queue.store.path).symlink_to(tmp_path)
    job = run(queue, do="nothing")
    assert (job.state, job.log) == (JobState.DONE, None)
    assert not (tmp_path / "1").exists()


def interrupted(queue: Queue) -> Job:
    """A job that was stopped after its first step."""
    job_id = queue.add(steps=3)

    def stop(phase: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(queue.store, stop)
    return queue.job(job_id)


@pytest.mark.parametrize("theirs", [False, True])
def test_it_goes_on_in_its_own_folder(queue: Queue, *, theirs: bool) -> None:
    if theirs:
        fill(jobs_folder(queue.store.path) / "1")
    job = interrupted(queue)
    folder = find_folder(queue.store.path, job)
    assert folder is not None and folder.name == ("1-2" if theirs else "1")
    if theirs:
        shutil.rmtree(folder.with_name("1"))
    work(queue.store, nobody)
    assert queue.job(job.id).state is JobState.DONE
    assert [line[3] for line in queue.traced("step")] == ["0", "1", "2"]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_database_that_was_moved_finds_its_jobs_folders(queue: Queue, tmp_path: Path) -> None:
    fill(jobs_folder(queue.store.path) / "1")
    job = interrupted(queue)
    there = tmp_path / "there"
    there.mkdir()
    for name in ("q.db", "q.db-wal", "q.db-shm", "q-jobs"):
        if (tmp_path / name).exists():
            (shutil.copytree if name == "q-jobs" else shutil.copy)(
                tmp_path / name, there / name
            )
    with Store.open(there / "q.db") as store:
        work(store, nobody)
        found = store.jobs.read(job.id)
        assert found is not None and found.state is JobState.DONE
        assert find_folder(store.path, found) == there / "q-jobs" / "1-2"
    assert [line[3] for line in queue.traced("step")] == ["0", "1", "2"]


def test_only_what_jobs_make_is_tidied_away(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, failed = interrupted(queue), None
    folder = queue.folder(done.id)
    elsewhere = tmp_path / "elsewhere"
    before = fill(elsewhere)
    (folder / "notes.txt").write_text("mine")
    (folder / "model").symlink_to(elsewhere)
    (folder / "sub").mkdir()
    work(queue.store, nobody)
    assert sorted(path.name for path in folder.iterdir()) == [STAMP, LOG, "notes.txt", "sub"]
    assert tree(elsewhere) == before
    failed = run(queue, do="breaks")
    other = queue.folder(failed.id)
    (other / "notes.txt").write_text("mine")
    (other / "work").mkdir()
    theirs = jobs_folder(queue.store.path) / "3"
    kept = fill(theirs)
    cancelled = queue.add()
    queue.store.jobs.end(cancelled, JobState.CANCELLED)
    monkeypatch.setattr(descriptions, "KEPT_SECONDS", -1.0)
    descriptions.remove_old(queue.store.path, queue.store.jobs.all())
    assert sorted(path.name for path in other.iterdir()) == [STAMP, LOG, "notes.txt"]
    assert tree(theirs) == kept


def test_a_copy_beside_the_database_has_folders_of_its_own(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = interrupted(queue)
    folder = find_folder(queue.store.path, job)
    assert folder is not None
    before = tree(folder)
    back_up(queue.store.path, tmp_path / "q.bak")
    with Store.open(tmp_path / "q.bak") as copy:
        assert find_folder(copy.path, job) is None
        work(copy, nobody)
        assert find_folder(copy.path, job) == folder.with_name("1-2")
        monkeypatch.setattr(descriptions, "KEPT_SECONDS", -1.0)
        descriptions.remove_old(copy.path, copy.jobs.all())
    assert tree(folder) == before


def test_a_folder_that_an_older_version_marked_is_the_jobs(queue: Queue) -> None:
    job = interrupted(queue)
    folder = queue.folder(job.id)
    (folder / STAMP).write_text(job.created_at)
    assert find_folder(queue.store.path, job) == folder


def test_a_persons_copy_of_a_jobs_folder_is_not_tidied(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run(queue, do="breaks")
    folder = queue.folder(job.id)
    (folder / "work").mkdir()
    theirs = folder.with_name("1-2")
    shutil.copytree(folder, theirs)
    monkeypatch.setattr(descriptions, "KEPT_SECONDS", -1.0)
    descriptions.remove_old(queue.store.path, queue.store.jobs.all())
    assert not (folder / "work").exists()
    assert (theirs / "work").is_dir()


def test_links_in_a_jobs_folder_are_not_written_through(queue: Queue, tmp_path: Path) -> None:
    job = interrupted(queue)
    folder = queue.folder(job.id)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    for name in (LOG, ROOM):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(mine)
    (folder / "work").symlink_to(tmp_path)
    with pytest.raises(JobFolderError, match="is a link"):
        inner_folder(folder / "work")
    work(queue.store, nobody)
    assert mine.read_text() == "mine"


def test_a_folder_that_was_made_and_not_marked_is_nobodys(queue: Queue) -> None:
    job = queue.job(queue.add())
    jobs_folder(queue.store.path).mkdir()
    left = jobs_folder(queue.store.path) / "1"
    left.mkdir()
    (left / STAMP).touch()
    assert find_folder(queue.store.path, job) is None
    assert job_folder(queue.store.path, job) == left.with_name("1-2")
    assert job_folder(queue.store.path, job) == left.with_name("1-2")


def test_one_that_cannot_be_marked_does_not_stay(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue.job(queue.add())
    opened = Path.open

    def fails(path: Path, mode: str = "r", *args: Any, **more: Any) -> Any:
        if path.name == STAMP and mode == "x":
            raise OSError(28, os.strerror(28), str(path))
        return opened(path, mode, *args, **more)

    monkeypatch.setattr(Path, "open", fails)
    with pytest.raises(OSError, match="No space"):
        job_folder(queue.store.path, job)
    assert list(jobs_folder(queue.store.path).iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_nobody_else_may_read_it(queue: Queue) -> None:
    folder = queue.folder(queue.add())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


def test_the_log_of_a_version_that_took_the_mark_away_is_found(queue: Queue) -> None:
    job = run(queue)
    folder = queue.folder(job.id)
    (folder / STAMP).unlink()
    assert find_folder(queue.store.path, job) is None
    assert log_of(queue.store.path, job) == folder / LOG


def test_a_backup_takes_the_files_of_jobs_along_but_of_those_that_run(
    queue: Queue, tmp_path: Path
) -> None:
    source = queue.store.path
    done = run(queue)
    running = queue.store.jobs.begin("identification", {})
    for job in (done, queue.job(running)):
        (job_folder(source, job) / LOG).write_text(f"of {job.id}", "utf-8")
    fill(jobs_folder(source) / "99")
    (jobs_folder(source) / str(done.id) / "link").symlink_to(source)
    place = tmp_path / "copy.sqlite"
    copied = back_up(source, place, take_along=partial(copy_along, source))
    assert copied.along.folders == (jobs_folder(place),)
    assert (copied.along.models, copied.along.jobs) == (0, 1)
    assert copied.along.left_out == (
        f"the folder of job {running} is left out: it runs, and its files change",
    )
    assert [path.name for path in jobs_folder(place).iterdir()] == [str(done.id)]
    assert log_of(place, done).read_text("utf-8") == f"of {done.id}"
    assert find_folder(place, done) == jobs_folder(place) / str(done.id)
    assert not (jobs_folder(place) / str(done.id) / "link").exists()
    assert [path.name for path in tmp_path.glob(".*")] == []
