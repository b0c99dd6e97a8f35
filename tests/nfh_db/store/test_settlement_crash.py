"""Settlements, and their undo, of processes that are killed: nothing is half done for long."""

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nfh_db import batches, bulk_run
from nfh_db.connection import connect
from nfh_db.event_log import present_state, replay
from nfh_db.query import parse
from nfh_db.records import Rule
from nfh_db.store import Store
from nfh_models.domain import Kind

COUNT = 120

WORK = """
import sys
from pathlib import Path
from nfh_db import bulk_run
from nfh_db.query import parse
from nfh_db.records import Rule
from nfh_db.store import Store

path, act, when = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def stop(*_, **__):
    print("ready", flush=True)
    sys.stdin.read()

if when == "unseen":
    bulk_run.BulkAct.show = stop
elif when == "shown":
    bulk_run.run_settlement = stop
else:
    bulk_run.time.sleep = stop
store = Store.open(path)
me = store.people.ensure("settler")
if act == "settle":
    store.settlement.run(parse(""), Rule.UNANIMOUS, me)
elif act == "undo":
    store.edits.undo(me)
else:
    store.edits.redo(me)
"""

Killed = Callable[[str, str], None]


@pytest.fixture
def voted(path: Path, kit) -> None:
    """A database in which two people agree on each number."""
    votes = [kit.vote(name, Kind.AGE) for name in ("ann1", "ann2")]
    with Store.open(path, create=True) as store:
        kit.load(store, *(kit.one(f"one {i}", 0, line=i, votes=votes) for i in range(COUNT)))


@pytest.fixture
def killed(path: Path, voted) -> Killed:
    """Kills a process that does something, at some point."""

    def kill(act: str, when: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WORK), str(path), act, when],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()

    return kill


def golds(path: Path) -> int:
    reader = connect(path, "ro")
    found = reader.execute("SELECT count(*) FROM gold WHERE removed = 0").fetchone()[0]
    reader.close()
    return found


def check(path: Path) -> None:
    """Nothing is left to do, and the tables are what the log says."""
    reader = connect(path, "ro")
    assert (
        reader.execute("SELECT count(*) FROM batch WHERE state <> 'ready'").fetchone()[0] == 0
    )
    replayed = replay(reader)
    assert (replayed.broken, replayed.state == present_state(reader)) == ([], True)
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
    decided = reader.execute("SELECT count(*) FROM anchor WHERE state = 'decided'").fetchone()
    assert decided[0] == golds(path)
    reader.close()


@pytest.mark.parametrize(
    ("when", "there", "after"), [("unseen", 0, 0), ("shown", 0, COUNT), ("partly", 50, COUNT)]
)
def test_a_settlement(path: Path, killed: Killed, when: str, there: int, after: int) -> None:
    killed("settle", when)
    assert golds(path) == there
    with Store.open(path) as store:
        assert golds(path) == after
        check(path)
        me = store.people.ensure("settler")
        undone = store.edits.undo(me)
        assert (undone.anchors if undone else 0) == after
        assert store.settlement.run(parse(""), Rule.UNANIMOUS, me).new == COUNT
        check(path)


@pytest.mark.parametrize(
    ("when", "there", "after"),
    [("unseen", COUNT, COUNT), ("shown", COUNT, 0), ("partly", COUNT - 50, 0)],
)
def test_its_undo(path: Path, killed: Killed, when: str, there: int, after: int) -> None:
    with Store.open(path) as store:
        me = store.people.ensure("settler")
        store.settlement.run(parse(""), Rule.UNANIMOUS, me)
    killed("undo", when)
    assert golds(path) == there
    with Store.open(path) as store:
        assert golds(path) == after
        check(path)
        next_ = store.edits.redo(me) if after == 0 else store.edits.undo(me)
        assert (next_.anchors, next_.skipped) == (COUNT, 0)
        check(path)


@pytest.mark.parametrize(("when", "after"), [("unseen", 0), ("shown", COUNT)])
def test_its_redo(path: Path, killed: Killed, when: str, after: int) -> None:
    with Store.open(path) as store:
        me = store.people.ensure("settler")
        store.settlement.run(parse(""), Rule.UNANIMOUS, me)
        store.edits.undo(me)
    killed("redo", when)
    with Store.open(path) as store:
        assert golds(path) == after
        check(path)
        next_ = store.edits.redo(me) if after == 0 else store.edits.undo(me)
        assert (next_.anchors, next_.skipped) == (COUNT, 0)


def test_what_was_applied_is_not_applied_again(path: Path, killed: Killed) -> None:
    """Somebody takes a gold away that the killed process had made: it stays away."""
    killed("settle", "partly")
    writer = connect(path, "rw")
    # As an expert's decision, withdrawn, would leave it.
    row = writer.execute("SELECT min(anchor_id) FROM gold WHERE removed = 0").fetchone()
    writer.execute("UPDATE gold SET removed = 1 WHERE anchor_id = ?", row)
    writer.close()
    Store.open(path).close()
    assert golds(path) == COUNT - 1
    reader = connect(path, "ro")
    report = reader.execute("SELECT report FROM batch WHERE format = 'settle'").fetchone()[0]
    reader.close()
    assert f'"new":{COUNT}' in report


def test_two_that_finish_it_at_once_do_no_harm(
    path: Path, killed: Killed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two containers that do not see each other's processes both take it for left behind."""
    killed("settle", "shown")
    run, other = bulk_run.run_settlement, msgspec.json.Decoder(batches.Work)

    def twice(connection, batch_id, work, *more):
        same = other.decode(msgspec.json.encode(work))
        run(connection, batch_id, work)
        monkeypatch.setattr(batches, "applies_here", lambda *_: True)
        return run(connection, batch_id, same, *more)

    monkeypatch.setattr(bulk_run, "run_settlement", twice)
    Store.open(path).close()
    assert golds(path) == COUNT
    check(path)
