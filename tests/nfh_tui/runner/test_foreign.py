"""Jobs that somebody else put into the database: no runner of this user starts them."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.jobs import JobState, NewJob
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import claimable
from tests.nfh_db.store.older_database import older_database

from .conftest import Queue

PUT = """
INSERT INTO job (task, kind, version, arguments, asked_by, created_at, mark)
VALUES ('', 'probe', 2, :arguments, '', '2026-01-01T00:00:00.000Z', :mark)"""


def put(queue: Queue, number: int = 1, mark: str = "") -> None:
    """Rows that another program writes into the queue."""
    row = {"arguments": json.dumps({"do": "count", "trace": str(queue.trace)}), "mark": mark}
    connection = connect(queue.store.path, "rw")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(PUT, [row] * number)
    connection.execute("COMMIT")
    connection.close()


def mark_of(path: Path, number: int) -> str:
    connection = connect(path, "ro")
    found: str = connection.execute("SELECT mark FROM job WHERE id = ?", (number,)).fetchone()[
        0
    ]
    connection.close()
    return found


def test_a_job_that_was_put_there_is_not_run(queue: Queue) -> None:
    put(queue)
    queue.work()
    assert queue.traced() == []
    job = queue.job(1)
    assert (job.state, job.own, job.held) == (JobState.QUEUED, False, True)


@pytest.mark.parametrize("mark", ["", "0" * 64, "é"])
def test_own_jobs_are_run_however_many_foreign_ones_wait(queue: Queue, mark: str) -> None:
    put(queue, 2_000, mark)
    own = queue.add()
    queue.work()
    assert queue.job(own).state is JobState.DONE
    assert set(queue.states()[:-1]) == {JobState.QUEUED}


@pytest.mark.parametrize(
    "change",
    [
        "arguments = json_set(arguments, '$.do', 'other')",
        "arguments = arguments || ' '",
        "kind = 'import'",
        "version = 3",
        "task = 'resolution'",
        "asked_by = 'eva'",
        "created_at = '2027-01-01T00:00:00.000Z'",
        "id = 7",
        "mark = upper(mark)",
    ],
)
def test_a_job_whose_order_was_changed_is_foreign(queue: Queue, change: str) -> None:
    queue.add()
    assert queue.job(1).own
    queue.change(f"UPDATE job SET {change}")
    assert [job.own for job in queue.store.jobs.all()] == [False]
    assert queue.store.jobs.find_next(claimable()) is None
    assert queue.store.jobs.claim(claimable()) is None


def test_what_a_runner_notes_leaves_a_job_its_owner(queue: Queue) -> None:
    queue.add()
    queue.work()
    assert queue.job(1).state is JobState.DONE
    assert queue.job(1).own


def test_a_file_that_was_moved_or_restored_keeps_its_jobs(queue: Queue, tmp_path: Path) -> None:
    queue.add()
    with Store.open(queue.store.path) as store:
        store.close()
    shutil.copy(queue.store.path, tmp_path / "copy.db")
    wal = queue.store.path.with_name("q.db-wal")
    if wal.exists():
        shutil.copy(wal, tmp_path / "copy.db-wal")
    with Store.open(tmp_path / "copy.db") as store:
        assert [job.own for job in store.jobs.all()] == [True]
        assert store.jobs.find_next(claimable()) == 1


def test_a_row_of_another_database_is_foreign(queue: Queue, tmp_path: Path) -> None:
    queue.add()
    mark = mark_of(queue.store.path, 1)
    with Store.open(tmp_path / "other.db", create=True) as store:
        store.jobs.add(NewJob("probe", 2, "", {}))
    connection = connect(tmp_path / "other.db", "rw")
    connection.execute("ATTACH ? AS q", (str(queue.store.path),))
    connection.execute("DELETE FROM job")
    connection.execute("INSERT INTO job SELECT * FROM q.job")
    connection.close()
    assert mark_of(tmp_path / "other.db", 1) == mark
    with Store.open(tmp_path / "other.db") as store:
        assert [job.own for job in store.jobs.all()] == [False]


def test_a_colleagues_job_is_foreign_until_it_is_accepted(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "colleague"))
    shown = queue.job(1)
    assert shown.held
    assert queue.store.jobs.claim(claimable()) is None
    assert not queue.store.jobs.retry(1)
    queue.change("UPDATE job SET arguments = '{}'")
    assert not queue.store.jobs.accept(shown)  # not what was shown
    assert queue.store.jobs.accept(queue.job(1))
    assert queue.job(1).own
    assert queue.store.jobs.find_next(claimable()) == 1


def test_a_foreign_job_can_be_cancelled_and_not_tried_again(queue: Queue) -> None:
    put(queue)
    assert queue.store.jobs.end(1, JobState.CANCELLED, "by eva")
    assert not queue.store.jobs.retry(1)
    assert queue.job(1).state is JobState.CANCELLED


def test_a_colleagues_job_that_runs_is_left_to_them(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add()
    assert queue.store.jobs.claim(claimable()) is not None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "colleague"))
    assert [job.id for job in queue.store.jobs.background_state(0).jobs] == [1]
    put(queue)
    assert [job.id for job in queue.store.jobs.background_state(0).jobs] == [1]


def test_jobs_of_older_files_are_foreign(tmp_path: Path) -> None:
    with older_database(tmp_path / "older.db", 6) as made:
        made.execute(
            "INSERT INTO job (kind, version, task, arguments, created_at) "
            "VALUES ('probe', 2, '', '{}', '')"
        )
    with Store.open(tmp_path / "older.db") as store:
        assert [job.held for job in store.jobs.all()] == [True]
        assert len(store.settings.read("database id") or "") == 32


# --- the secret -----------------------------------------------------------------------------


def test_the_secret_is_for_this_user_alone(queue: Queue, data_home: Path) -> None:
    queue.add()
    key = data_home / "nfh-tui" / "jobs.key"
    assert len(key.read_bytes()) == 32
    if os.name != "nt":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [path.name for path in key.parent.iterdir() if path.name.endswith(".key")] == [
        key.name
    ]


MAKE = "from nfh_db.jobs import _key_made; print(_key_made().hex())"


def test_two_who_make_the_secret_at_one_time_have_one(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path / "new")}
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = {maker.communicate()[0] for maker in makers}
    assert len(said) == 1
    assert [path.name for path in (tmp_path / "new" / "nfh-tui").iterdir()] == ["jobs.key"]


def test_without_a_data_folder_nothing_is_queued_and_it_is_said(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match=r"No job can be queued: .*XDG_DATA_HOME"):
        queue.add()
    assert queue.store.jobs.all() == ()


def test_a_damaged_secret_is_named(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "data" / "nfh-tui" / "jobs.key"
    key.parent.mkdir(parents=True)
    key.write_bytes(b"short")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with pytest.raises(StoreError, match=r"jobs\.key.* holds 5 bytes, wanted 32"):
        queue.add()


# --- trainings that come round --------------------------------------------------------------


def test_a_training_that_somebody_else_set_does_not_come_round(queue: Queue) -> None:
    store = queue.store
    store.retraining.set_schedule(
        "resolution", 1, NewJob("train", 2, "resolution", {"recipe": "linear"})
    )
    assert [one.own for one in store.retraining.all()] == [True]
    queue.change("UPDATE setting SET value = replace(value, 'linear', 'encoder')")
    (found,) = store.retraining.all()
    assert (found.own, found.due, found.arguments["recipe"]) == (False, False, "encoder")
    assert not store.retraining.schedule().to_do
    assert store.retraining.queue_due() == ()
    assert store.jobs.all() == ()


def test_a_foreign_training_that_waits_holds_none_back(queue: Queue) -> None:
    put(queue)
    queue.change("UPDATE job SET kind = 'train', task = 'resolution'")
    queue.store.retraining.set_schedule("resolution", 1, NewJob("train", 2, "resolution", {}))
    assert [one.held_by for one in queue.store.retraining.all()] == [0]
