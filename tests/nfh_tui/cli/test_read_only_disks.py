"""Databases on real disks where nothing can be written: what reads works, the rest says why."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db import connection, database
from nfh_db.connection import connect
from nfh_db.doctor import examine, rows
from nfh_db.errors import FullError, ReadOnlyError, StoreError
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

Call = Callable[..., Result]

READING = (
    ("stats",),
    ("agreement", "--no-skill", "--resamples", 0),
    ("annotators", "--no-nouns"),
    ("export", "--format", "gold", "--out", "out.jsonl"),
    ("export", "--format", "nfh"),
    ("history",),
    ("doctor",),
    ("doctor", "--corpus"),
    ("backup", "copy.db"),
    ("jobs",),
    ("models",),
    ("guidelines",),
    ("guidelines", "versions"),
    ("audit",),
    ("assign",),
    ("settle", "--rule", "majority", "--dry-run"),
    ("merge", "other.db", "--dry-run"),
    ("import", "talk.txt", "--dry-run"),
    ("evaluate", "identification", "--model", "rules", "--resamples", 0),
    ("diff", "other.db", "DB"),
    ("release", "frozen"),
)
WRITING = (
    ("import", "new.txt"),
    ("settle", "--rule", "majority"),
    ("assign", "--to", "ben"),
    ("merge", "newer.db"),
    ("guidelines", "set", "rules.md"),
    ("audit", "--draw", 1),
)


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs leave to mount a disk in memory: {done.stderr.strip()}")


@pytest.fixture
def disk(home: Path) -> Iterator[Path]:
    """A small disk in memory; tests run as root, whom permissions do not stop."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a disk in memory")
    place = home / "disk"
    place.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place))
    yield place
    # Also what is mounted on a file in it.
    subprocess.run(["umount", "--lazy", "--recursive", str(place)], check=True)


@pytest.fixture(params=["mount", "full", "log", "file"])
def shut(home: Path, disk: Path, call: Call, request: pytest.FixtureRequest) -> Path:
    """A database with an answer, on a disk that is read-only or full, or a file that is."""
    (home / "talk.txt").write_text("Ann: I have two.\n", "utf-8")
    (home / "new.txt").write_text("Ann: I have three.\n", "utf-8")
    (home / "rules.md").write_text("# Rules\n\n## R1 None\n\nNone.\n", "utf-8")
    assert call("import", "talk.txt", "--db", "my.db").exit_code == 0
    mine, there = home / "my.db", disk / "my.db"
    with Store.open(mine) as store:
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        store.edits.commit_answer(1, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
        if request.param == "log":
            shutil.copy(mine, there)
            shutil.copy(home / "my.db-wal", disk / "my.db-wal")
    shutil.copy(mine, home / "other.db")
    shutil.copy(mine, home / "newer.db")
    answer(home / "newer.db", Kind.YEAR)
    if request.param != "log":
        shutil.copy(mine, there)
    if request.param == "full":
        run("fallocate", "-l", "1m", str(disk / "filler"))
        with (disk / "filler").open("ab", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                pass
    elif request.param == "file":
        run("mount", "--bind", str(there), str(there))
        run("mount", "-o", "remount,ro,bind", str(there))
    else:
        run("mount", "-o", "remount,ro", str(disk))
    return there


def test_what_only_reads_works(shut: Path, home: Path, call: Call) -> None:
    before = shut.read_bytes()
    for command in READING:
        words = [str(shut) if word == "DB" else word for word in command]
        result = call(*words, *([] if "DB" in command else ["--db", shut]))
        assert result.exit_code == 0, (command, result.output)
    assert shut.read_bytes() == before
    # The answer that may lie in the log only is in all of it.
    shown = [json.loads(line) for line in (home / "out.jsonl").read_text("utf-8").splitlines()]
    assert "AGE" in json.dumps(shown)
    with Store.open(home / "copy.db") as copy:
        (ballot,) = copy.items.ballots(parse(""))
        assert {vote.answer.kind for vote in ballot.votes} == {Kind.AGE}


def test_what_writes_says_why_it_cannot(shut: Path, call: Call) -> None:
    before = shut.read_bytes()
    for command in WRITING:
        result = call(*command, "--db", shut)
        assert result.exit_code == 1, (command, result.output)
        assert result.stderr.count("nfh-tui: ") == 1, (command, result.stderr)
        assert "read-only" in result.stderr or "is full" in result.stderr, command
        assert str(shut) in result.stderr
    assert shut.read_bytes() == before


def test_a_store_says_why_it_is_read_only(shut: Path, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["shut"]
    reasons = {"full": "its disk is full", "file": "the file or its folder"}
    with Store.open_to_read(shut) as store:
        assert store.read_only.startswith(reasons.get(kind, "its disk is read-only"))
        assert (store.unseen, store.lost()) == ("", "")
        with pytest.raises(ReadOnlyError, match=r"my\.db can only be read: .*Nothing was"):
            store.people.ensure("ben")


def test_an_older_one_there_says_what_to_do(
    shut: Path, home: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:

    later = connection.SCHEMA_VERSION + 1
    for module in (connection, database):
        monkeypatch.setattr(module, "SCHEMA_VERSION", later)
    with pytest.raises(FullError, match=r"older nfh-tui.*`nfh-tui backup FOLDER`"):
        Store.open_to_read(shut)
    monkeypatch.setattr(rows, "SCHEMA_VERSION", later)
    with pytest.raises(StoreError, match=r"older nfh-tui.*`nfh-tui backup FOLDER`"):
        examine(shut)
    # The way that it names is one.
    database.back_up(shut, home / "copy.db")


def test_a_log_that_cannot_be_read_is_named(
    disk: Path, home: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the log is somebody else's: what it holds is not shown, and that is said."""
    (home / "talk.txt").write_text("Ann: I have two.\n", "utf-8")
    assert call("import", "talk.txt", "--db", "my.db").exit_code == 0
    shutil.copy(home / "my.db", disk)
    (disk / "my.db-wal").mkdir()
    (disk / "my.db-wal" / "x").touch()
    run("mount", "-o", "remount,ro", str(disk))
    result = call("stats", "--db", disk / "my.db")
    assert result.exit_code == 0
    assert "my.db-wal holds changes that " in result.stderr
    assert "cannot be read: they are not shown. Copy both files to a" in result.stderr
    # A copy without them would be taken for a whole one.
    refused = call("backup", "copy.db", "--db", disk / "my.db")
    assert (refused.exit_code, (home / "copy.db").exists()) == (1, False)


@pytest.fixture
def still(home: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A database that is read without locks, as where no log can be made, and can be written
    by somebody else."""
    (home / "talk.txt").write_text("Ann: I have two.\n", "utf-8")
    assert call("import", "talk.txt", "--db", "my.db").exit_code == 0
    path = home / "my.db"
    access = database.ReadAccess(connection.STILL, database.read_access(path).version)
    with Store(path, connect(path, access.mode), access, "its disk is read-only") as store:
        yield store


def answer(path: Path, kind: Kind) -> None:
    with Store.open(path) as other:
        other.edits.commit_answer(
            1, other.people.ensure("eva"), Role.ANNOTATOR, class_answer(kind)
        )


def test_what_somebody_else_writes_is_noticed(still: Store) -> None:
    for kind in (Kind.AGE, Kind.YEAR):
        before = still.others_version()
        answer(still.path, kind)
        assert still.others_version() != before
        (ballot,) = still.items.ballots(parse(""))
        assert [vote.answer.kind for vote in ballot.votes] == [kind]


def test_what_is_written_while_it_is_read_is_not_shown_as_read(still: Store) -> None:
    with pytest.raises(StoreError, match="was written by another program while it was read"):
        for _ in still.items.ballots(parse("")):
            answer(still.path, Kind.AGE)
    (ballot,) = still.items.ballots(parse(""))
    assert [vote.answer.kind for vote in ballot.votes] == [Kind.AGE]
