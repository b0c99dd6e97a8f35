"""`nfh-tui backup`: whole, of one moment, while others write, and never over anything."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db import connection
from nfh_db import database as backups
from nfh_db.doctor import examine
from nfh_db.errors import StoreError
from nfh_db.jobs import NewJob
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

Call = Callable[..., Result]
Make = Callable[..., Path]
Disk = Callable[[str], Path]
Dump = Callable[[Path], dict[str, list[tuple[object, ...]]]]

ANSWER_AND_SAY = """
import sys
from pathlib import Path
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

with Store.open(Path(sys.argv[1])) as store:
    me = store.people.ensure("eva")
    for number in range(1, 10**9):
        kind = (Kind.AGE, Kind.YEAR)[number % 2]
        store.edits.commit_answer(number % 400 + 1, me, Role.ANNOTATOR, class_answer(kind))
        print(number, flush=True)
"""


@pytest.fixture
def database(call: Call, nfh_file: Make, home: Path, once: Callable[..., None]) -> Path:
    """400 imported rows, an answer and a draft."""

    def make() -> None:
        assert call("import", nfh_file(400), "--db", "x.db").exit_code == 0
        with Store.open(home / "x.db") as store:
            bob = store.people.ensure("bob")
            store.edits.commit_answer(1, bob, Role.ANNOTATOR, class_answer(Kind.AGE))
            store.workspace.save_draft(2, bob, Role.ANNOTATOR, '{"kind": "AGE"}')

    once(make)
    return home / "x.db"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_holds_everything_drafts_too(call: Call, database: Path, dump: Dump) -> None:
    result = call("backup", "copy.db", "--db", database, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report == {
        "db": str(database),
        "path": "copy.db",
        "bytes": Path("copy.db").stat().st_size,
        "passages": 400,
        "anchors": 400,
        "answers": 1,
        "golds": 400,
        "events": 401,
        "drafts": 1,
        "folders": [],
        "models": 0,
        "jobs": 0,
        "left_out": [],
    }
    assert dump(Path("copy.db")) == dump(database)
    assert call("doctor", "--db", "copy.db").exit_code == 0
    with Store.open(Path("copy.db")) as store:
        assert store.queue.count(parse("votes:1"), store.people.ensure("bob")) == 1


def test_in_a_folder_it_is_named_after_the_database_and_the_time(
    call: Call, database: Path, home: Path
) -> None:
    (home / "kept").mkdir()
    for dest in ("kept", "kept/"):
        result = call("backup", dest, "--db", database)
        assert result.exit_code == 0
        assert "400 items, 1 answer, 400 golds, 1 draft;" in result.stdout
        time.sleep(0.002)
    made = names(home / "kept")
    assert len(made) == 2
    assert all(name.startswith("x-backup-20") and name.endswith("Z.db") for name in made)


def test_nothing_is_ever_replaced(call: Call, database: Path, home: Path) -> None:
    (home / "there.db").write_text("mine")
    (home / "link.db").symlink_to("nowhere.db")
    (home / "same.db").symlink_to("x.db")
    before = database.read_bytes()
    for dest, words in (
        ("there.db", "already exists, and a backup never replaces a file"),
        ("link.db", "already exists, and a backup never replaces a file"),
        ("x.db", "is the database itself"),
        ("same.db", "is the database itself"),
        ("x.db-wal", "is the database itself"),
        ("nowhere/", "There is no folder nowhere/"),
        ("nowhere/copy.db", "There is no folder nowhere"),
    ):
        result = call("backup", dest, "--db", database)
        assert result.exit_code == 1
        assert words in result.stderr
    assert (home / "there.db").read_text() == "mine"
    assert database.read_bytes() == before
    assert names(home) == ["link.db", "rows.jsonl", "same.db", "there.db", "x.db"]


def test_an_empty_name_is_no_place(call: Call, database: Path, home: Path) -> None:
    before = sorted(home.iterdir())
    result = call("backup", "", "--db", database)
    assert result.exit_code == 2
    assert "DEST is empty" in result.stderr
    assert sorted(home.iterdir()) == before


def test_a_name_that_is_taken_meanwhile_stays(database: Path, home: Path) -> None:
    def take(done: int, total: int) -> None:
        (home / "copy.db").write_text("faster")

    with pytest.raises(StoreError, match=r"copy.db already exists; it was made just now"):
        backups.back_up(database, home / "copy.db", take)
    assert (home / "copy.db").read_text() == "faster"
    assert names(home) == ["copy.db", "rows.jsonl", "x.db"]


def test_what_is_written_after_it_began_is_not_in_it(database: Path, home: Path) -> None:
    store = Store.open(database)
    bob = store.people.ensure("bob")
    seen = []

    def write(done: int, total: int) -> None:
        seen.append((done, total))
        store.edits.commit_answer(3, bob, Role.ANNOTATOR, class_answer(Kind.AGE))

    copied = backups.back_up(database, home / "copy.db", write)
    assert seen
    assert seen[-1][0] == seen[-1][1]
    assert copied.answers == 1
    assert store.queue.count(parse("by:bob"), bob) == 2
    store.close()
    assert examine(home / "copy.db").broken == 0


@pytest.mark.long
def test_each_copy_is_whole_while_somebody_writes_all_the_time(
    database: Path, home: Path
) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", ANSWER_AND_SAY, str(database)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    said = 0
    try:
        for number in range(8):
            # All that was reported as saved before the copy begins.
            for _ in range(25):
                said = int(worker.stdout.readline())
            copy = home / f"{number}.db"
            copied = backups.back_up(database, copy)
            assert examine(copy).broken == 0
            # Every answer is an event more; the first was bob's.
            assert copied.events - 401 >= said
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()
    assert said == 200


def test_a_full_disk_is_a_sentence_and_leaves_nothing(
    call: Call, database: Path, small_disk: Disk
) -> None:
    disk = small_disk("size=128k")
    for dest in (disk, disk / "copy.db"):
        result = call("backup", dest, "--db", database, "--json")
        assert result.exit_code == 1
        assert result.stdout == ""
        assert f"nfh-tui: No copy was made at {disk}" in result.stderr
        assert "the disk is full; make room or name another folder" in result.stderr
        assert names(disk) == []


def test_an_upgrade_whose_copy_finds_no_room_is_a_sentence_and_changes_nothing(
    call: Call, database: Path, small_disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = small_disk("size=1m")
    full = disk / "x.db"
    full.write_bytes(database.read_bytes())
    before = full.read_bytes()
    later = connection.SCHEMA_VERSION + 1
    for module in (connection, backups):
        monkeypatch.setattr(module, "SCHEMA_VERSION", later)
    result = call("history", "--db", full)
    assert result.exit_code == 1
    assert "an older nfh-tui and must be upgraded" in result.stderr
    assert f"No copy was made at {full}.backup-v" in result.stderr
    assert "the disk is full" in result.stderr
    assert full.read_bytes() == before
    assert names(disk) == ["x.db"]


def test_a_disk_that_cannot_be_written_is_a_sentence(
    call: Call, database: Path, small_disk: Disk
) -> None:
    disk = small_disk("size=8m")
    small_disk("ro")
    result = call("backup", disk / "copy.db", "--db", database)
    assert result.exit_code == 1
    assert "permission denied; name a folder that you may write to" in result.stderr
    assert names(disk) == []


def test_a_damaged_database_is_not_copied_in_silence(
    call: Call, database: Path, home: Path
) -> None:
    whole = bytearray(database.read_bytes())
    for start in range(4 * 4096, len(whole), 4096):
        whole[start : start + 4096] = bytes(4096)
    database.write_bytes(whole)
    result = call("backup", "copy.db", "--db", database)
    assert result.exit_code == 1
    assert "damaged" in result.stderr
    assert "Traceback" not in result.stderr
    assert names(home) == ["rows.jsonl", "x.db", *names_beside(home)]


def names_beside(home: Path) -> list[str]:
    return [name for name in names(home) if name in ("x.db-shm", "x.db-wal")]


def test_what_is_no_database_of_ours_is_not_copied(call: Call, home: Path) -> None:
    (home / "text.db").write_text("no database")
    for name, words in (("text.db", "is not a database"), ("none.db", "no database at")):
        result = call("backup", "copy.db", "--db", name)
        assert result.exit_code == 1
        assert words in result.stderr
    assert names(home) == ["text.db"]


def test_a_job_that_cannot_be_read_is_a_sentence(
    call: Call, database: Path, home: Path
) -> None:
    with Store.open(database) as store:
        store.jobs.add(NewJob("predict", 2, "resolution", {}))
    with closing(sqlite3.connect(database)) as writer, writer:
        writer.execute("PRAGMA ignore_check_constraints = on")
        writer.execute("UPDATE job SET state = 'a' || char(0)")
    result = call("backup", "copy.db", "--db", database)
    assert result.exit_code == 1
    assert "holds a row that cannot be read" in result.stderr
    assert "copy.db" not in names(home)
    assert call("backup", "copy.db", "--data-only", "--db", database).exit_code == 0
