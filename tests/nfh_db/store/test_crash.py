"""Killed processes, many processes, many threads: nothing half done is ever seen."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nfh_db import batches, system
from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingPassage, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

IMPORT_AND_WAIT = """
import sys
from pathlib import Path
from nfh_db.import_run import IncomingFile
from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Role, Rule, Vote
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Passage, Token, Turn, class_answer

def rows():
    for number in range(400):
        text = f"one {number}"
        tokens = (Token(0, 3, "one"), Token(4, len(text), "n"))
        said = class_answer(Kind.YEAR)
        yield IncomingPassage(Passage(text, tokens, (Turn(0, "Ann", 0, 2),)), "test 1", (
            IncomingAnchor(number, Anchor(0, 1), gold=Gold(said, Rule.IMPORTED),
                           votes=(Vote("new", Role.ANNOTATOR, said, "2026"),)),))
    if WAIT == "loading":
        print("ready", flush=True)
        sys.stdin.read()

WAIT = sys.argv[2]
if WAIT == "settling":
    from nfh_db import bulk_run
    def stop(*_):
        print("ready", flush=True)
        sys.stdin.read()
    bulk_run.run_settlement = stop
Store.open(Path(sys.argv[1])).imports.load(
    IncomingFile("killed.jsonl", "sha", "gold"), rows(), replace_gold=True)
"""

ANSWER_OFTEN = """
import sys
from pathlib import Path
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

store = Store.open(Path(sys.argv[1]))
me = store.people.ensure(sys.argv[2])
for anchor in range(1, 41):
    store.edits.commit_answer(anchor, me, Role.ANNOTATOR, class_answer(Kind.AGE))
    if anchor % 4 == 0:
        store.edits.undo(me)
store.close()
"""


def start(code: str, *arguments: str) -> "subprocess.Popen[str]":
    """A Python of one's own."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def kill(process: "subprocess.Popen[str]") -> None:
    """As if the power went."""
    process.send_signal(signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()


@pytest.fixture
def halfway(
    path: Path, kit, request: pytest.FixtureRequest
) -> Iterator["subprocess.Popen[str]"]:
    """An importing process that stands still in the state that the test is marked with."""
    with Store.open(path, create=True) as store:
        kit.load(store, kit.one("one 7", 0, gold=kit.gold(Kind.AGE)), name="first.jsonl")
    process = start(IMPORT_AND_WAIT, str(path), request.param)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    if process.poll() is None:
        kill(process)


def tables(path: Path) -> dict[str, int]:
    """How many rows each table holds."""
    reader = connect(path, "ro")
    names = reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    found = {
        name: reader.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
        for (name,) in names
        if not name.startswith("sqlite")
    }
    reader.close()
    return found


@pytest.mark.parametrize("halfway", ["loading"], indirect=True)
def test_an_import_under_way_is_seen_by_nobody(path: Path, halfway, kit) -> None:
    assert tables(path)["anchor"] > 100
    with Store.open(path) as store:
        eva = store.people.ensure("eva")
        assert store.queue.count(parse(""), eva) == 1
        assert store.items.read(1, eva, Role.ANNOTATOR).gold.answer.kind is Kind.AGE
        assert store.items.read(2, eva, Role.ANNOTATOR) is None
        assert store.items.passages([1, 2, 3]).keys() == {1}
        assert len(list(store.items.records(parse(""), eva, "gold"))) == 1
        assert len(store.history.of_anchor(1)) == 1
        with pytest.raises(StoreError, match="no item 2"):
            store.edits.commit_answer(2, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        with pytest.raises(StoreError, match=r"killed\.jsonl is being imported by process"):
            kit.load(store, kit.one("two 1", 0))


@pytest.mark.parametrize("halfway", ["loading"], indirect=True)
def test_a_killed_import_leaves_nothing(path: Path, halfway, kit) -> None:
    kill(halfway)
    with Store.open(path) as store:
        counts = tables(path)
        assert [person.name for person in store.people.all()] == []
        assert {name: counts[name] for name in ("anchor", "passage", "gold", "event")} == {
            "anchor": 1,
            "passage": 1,
            "gold": 1,
            "event": 1,
        }
        assert (counts["batch"], counts["act"], counts["document"]) == (1, 1, 1)
        assert counts["source_row"] == counts["passage_token"] == 1
        assert counts["answer"] == counts["head"] == counts["mention"] == 0
        report = kit.load(store, kit.one("two 1", 0))
        assert report.anchors_new == 1


@pytest.mark.parametrize("halfway", ["settling"], indirect=True)
def test_a_killed_settling_is_finished_by_the_next_start(path: Path, halfway, kit) -> None:
    with Store.open(path) as store:
        eva = store.people.ensure("eva")
        assert store.queue.count(parse(""), eva) == 400
        assert store.items.read(1, eva, Role.ANNOTATOR).gold.answer.kind is Kind.AGE
    kill(halfway)
    with Store.open(path) as store:
        item = store.items.read(1, eva, Role.ANNOTATOR)
        assert item.gold.answer.kind is Kind.YEAR
        assert [vote.annotator for vote in item.votes] == ["new"]
        report = store.imports.load(IncomingFile("k", "sha", "gold"), [kit.one("x", 0)])
        assert (report.already, report.rows) == (True, 400)


@pytest.mark.parametrize("halfway", ["settling"], indirect=True)
def test_somebody_faster_than_the_settling_keeps_the_decision(path: Path, halfway) -> None:
    with Store.open(path) as store:
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
    kill(halfway)
    with Store.open(path) as store:
        item = store.items.read(1, eva, Role.ANNOTATOR)
        assert item.gold.answer.kind is Kind.TIME
        golds = [line.act for line in store.history.of_anchor(1) if line.entity == "gold"]
        assert golds == ["import of first.jsonl", "gold TIME"]


def test_a_process_is_known_by_number_and_start() -> None:
    since = system.started(os.getpid())
    assert system.is_running(os.getpid(), since)
    if since is not None:
        assert not system.is_running(os.getpid(), "1")
    gone = start("pass")
    gone.wait()
    assert not system.is_running(gone.pid, None)
    for pipe in (gone.stdin, gone.stdout):
        assert pipe is not None
        pipe.close()


def test_an_import_broken_off_in_this_process_is_swept(path: Path, store: Store, kit) -> None:
    def rows() -> Iterator[IncomingPassage]:
        for number in range(300):
            yield kit.one(f"one {number}", 0, line=number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.imports.load(kit.file(), rows())
    assert tables(path)["anchor"] == 0
    with store.connections.reading() as connection:
        assert batches.unfinished(connection) == []


def test_several_processes_write_at_once(path: Path, store: Store, kit) -> None:
    kit.load(store, *(kit.one(f"one {number}", 0, line=number) for number in range(40)))
    names = ["ann1", "ann2", "ann3"]
    writers = [start(ANSWER_OFTEN, str(path), name) for name in names]
    others = [kit.one(f"two {number}", 0, gold=kit.gold(Kind.AGE)) for number in range(400)]
    kit.load(store, *others)
    for writer in writers:
        out, _ = writer.communicate(timeout=300)
        assert (writer.returncode, out) == (0, "")
    eva = store.people.ensure("eva")
    for anchor in range(1, 41):
        item = store.items.read(anchor, eva, Role.ANNOTATOR)
        assert [vote.annotator for vote in item.votes] == ([] if anchor % 4 == 0 else names)
    assert store.queue.count(parse("state:decided"), eva) == 400
    reader = connect(path, "ro")
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
    reader.close()


def test_threads_share_a_store(store: Store, kit) -> None:
    kit.load(store, *(kit.one(f"one {number}", 0, line=number) for number in range(40)))
    people = [store.people.ensure(f"ann{number}") for number in range(6)]
    started = threading.Barrier(len(people))

    def work(index: int) -> int:
        started.wait()
        for anchor in range(1, 41):
            store.edits.commit_answer(
                anchor, people[index], Role.ANNOTATOR, class_answer(Kind.AGE)
            )
            item = store.items.read(anchor, people[index], Role.ANNOTATOR)
            assert item is not None
            assert people[index].name in [vote.annotator for vote in item.votes]
        return store.queue.count(parse("state:answered"), people[index])

    with ThreadPoolExecutor(len(people)) as pool:
        counts = list(pool.map(work, range(len(people))))
    assert counts == [40] * len(people)
    assert all(len(store.history.of_anchor(anchor)) == len(people) for anchor in range(1, 41))


def test_an_import_that_was_taken_for_dead_stops(
    path: Path, store: Store, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> Iterator[IncomingPassage]:
        for number in range(300):
            yield kit.one(f"one {number}", 0, line=number)
        # As another container sees it: a number that is no process there.
        monkeypatch.setattr(batches, "is_alive", lambda batch: False)
        Store.open(path).close()
        monkeypatch.undo()
        yield kit.one("one more", 0, line=300)

    with pytest.raises(StoreError, match="removed by a program that could not see"):
        store.imports.load(kit.file(), rows())
    counts = tables(path)
    assert counts["anchor"] == counts["batch"] == counts["event"] == counts["source_row"] == 0
    assert kit.load(store, kit.one("one", 0)).anchors_new == 1
