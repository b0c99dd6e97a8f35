"""The sample corpus in the user's data folder: copied once, worked on, set aside whole."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import LOG_HEADER
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.demo import demo_database, ensure_demo, set_aside

pytestmark = pytest.mark.filterwarnings("error::DeprecationWarning")


def decided_by(path: Path, name: str) -> int:
    with Store.open(path) as store:
        return store.queue.count(parse(f"by:{name}"), store.people.ensure(name))


def decide_one(path: Path) -> None:
    with Store.open(path) as store:
        eva = store.people.ensure("eva")
        (first, *_) = next(store.queue.ids(parse("-state:decided"), eva))
        store.edits.commit_answer(first, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))


def test_the_demo_is_made_in_the_data_folder_and_keeps_what_was_decided(tmp_path: Path) -> None:
    path = demo_database()
    assert path == tmp_path / "data" / "nfh-tui" / "demo.db"
    ensure_demo(path)
    decide_one(path)
    ensure_demo(path)
    assert decided_by(path, "eva") == 1


def test_a_copy_that_was_broken_off_is_made_again() -> None:
    path = demo_database()
    path.parent.mkdir(parents=True)
    Store.open(path, create=True).close()
    ensure_demo(path)
    assert decided_by(path, "ann1") > 100


def test_every_copy_set_aside_is_kept_even_two_in_one_second(
    monkeypatch: pytest.MonkeyPatch, built: Callable[..., Path]
) -> None:
    class Stopped:
        @staticmethod
        def now(_: object) -> "Stopped":
            return Stopped()

        @staticmethod
        def strftime(_: str) -> str:
            return "20260102T030405"

    monkeypatch.setattr("nfh_tui.demo.datetime", Stopped)
    path = demo_database()
    assert set_aside(path) is None
    path.parent.mkdir(parents=True)
    kept = []
    for _ in range(3):
        built(ensure_demo, path)
        decide_one(path)
        kept.append(set_aside(path))
    assert [copy and copy.name for copy in kept] == [
        "demo-20260102T030405.db",
        "demo-20260102T030405-2.db",
        "demo-20260102T030405-3.db",
    ]
    assert [decided_by(copy, "eva") for copy in kept if copy] == [1, 1, 1]
    assert not path.exists()


DECIDE_AND_END = """
import os, sys
from pathlib import Path
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

store = Store.open(Path(sys.argv[1]))
eva = store.people.ensure("eva")
(first, *_) = next(store.queue.ids(parse("-state:decided"), eva))
store.edits.commit_answer(first, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
os._exit(0)
"""


def test_what_is_only_in_the_log_is_set_aside_with_the_file(built: Callable[..., Path]) -> None:
    path = demo_database()
    path.parent.mkdir(parents=True)
    built(ensure_demo, path)
    # Another process has it open, and is killed: in one that still writes into a file which was
    # renamed, no second connection to it is made.
    subprocess.run([sys.executable, "-c", DECIDE_AND_END, str(path)], check=True)
    assert path.with_name("demo.db-wal").stat().st_size > LOG_HEADER
    kept = set_aside(path)
    assert kept is not None
    assert not path.with_name("demo.db-wal").exists()
    assert decided_by(kept, "eva") == 1


def test_whoever_has_only_the_demo_is_told_where_it_lies(
    call: Callable[..., Result], home: Path
) -> None:
    del home
    missing = call("stats").stderr
    assert "There is no database at" in missing and "demo.db" not in missing
    demo_database().parent.mkdir(parents=True)
    demo_database().touch()
    assert call("stats").stderr.rstrip().endswith(f"--db {demo_database()}")
    assert "demo.db" not in call("stats", "--db", "other.db").stderr
