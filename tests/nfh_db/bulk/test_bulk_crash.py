"""Bulk acts, and their undo, of processes that are killed between two writes."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.store import Store
from tests.nfh_db.bulk.conftest import check, one

COUNT = 120

WORK = """
import sys
from dataclasses import replace
from pathlib import Path
from nfh_db import bulk_run
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_db.bulk_plan import OperationKind, BulkOperation
from nfh_models.domain import Kind, class_answer

path, act, when = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def stop(*_, **__):
    print("ready", flush=True)
    sys.stdin.read()

bulk_run.BULK_SIZE = replace(bulk_run.BULK_SIZE, first=40)
if when == "unseen":
    bulk_run.BulkAct.show = stop
elif when == "shown":
    bulk_run.run_settlement = stop
else:
    bulk_run.time.sleep = stop
store = Store.open(path)
me = store.people.ensure("edith")
if act == "do":
    wish = BulkOperation(OperationKind.CLASS, answer=class_answer(Kind.AGE))
    store.bulk.run(store.bulk.preview(parse(""), wish, me).ids, wish, me)
else:
    store.edits.undo(me)
"""


def kill(path: Path, act: str, when: str) -> None:
    """Do something in a process of its own, and kill it there."""
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


@pytest.fixture
def many(path: Path) -> None:
    """Items that nobody has decided."""
    with Store.open(path, create=True) as store:
        passages = (one(i, f"one {i}", 0) for i in range(COUNT))
        store.imports.load(IncomingFile("many", "1" * 64, "gold"), passages)


@pytest.mark.parametrize(
    ("when", "after"), [("unseen", 0), ("shown", COUNT), ("partly", COUNT)]
)
def test_all_or_nothing(path: Path, many: None, when: str, after: int) -> None:
    kill(path, "do", when)
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        assert store.queue.count(parse("class:AGE rule:expert"), me) == after
        assert store.queue.count(parse("by:edith"), me) == after
        check(path)
        undone = store.edits.undo(me)
        assert (undone.anchors if undone else 0) == after
        assert store.queue.count(parse("by:edith"), me) == 0
        check(path)


@pytest.mark.parametrize(("when", "after"), [("unseen", COUNT), ("partly", 0)])
def test_its_undo(path: Path, many: None, when: str, after: int) -> None:
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        from nfh_db.bulk_plan import BulkOperation, OperationKind
        from nfh_models.domain import Kind, class_answer

        wish = BulkOperation(OperationKind.CLASS, answer=class_answer(Kind.AGE))
        store.bulk.run(store.bulk.preview(parse(""), wish, me).ids, wish, me)
    kill(path, "undo", when)
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        assert store.queue.count(parse("class:AGE by:edith"), me) == after
        check(path)
        turned = store.edits.undo(me) if after else store.edits.redo(me)
        assert turned is not None
        assert (turned.anchors, turned.skipped) == (COUNT, 0)
        check(path)
