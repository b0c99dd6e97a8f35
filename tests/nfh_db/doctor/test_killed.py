"""What a killed process leaves half done: named, nothing else taken for broken, and mended."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.database import back_up
from nfh_db.doctor import Repair, examine, repair
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

START = """
import os, sys
from pathlib import Path
from nfh_db import bulk_run
from nfh_db.import_run import IncomingFile
from nfh_db.merge import apply
from nfh_db.query import parse
from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Role, Rule, Vote
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Passage, Token, Turn, class_answer

def die(*_, **__):
    os._exit(9)

def rows(last):
    for number in range(300):
        text = f"one {number}"
        tokens = (Token(0, 3, "one"), Token(4, len(text), "n"))
        said = class_answer(Kind.YEAR)
        yield IncomingPassage(Passage(text, tokens, (Turn(0, "Ann", 0, 2),)), "test 1", (
            IncomingAnchor(number + 1, Anchor(0, 1), gold=Gold(said, Rule.IMPORTED),
                           votes=(Vote("new", Role.ANNOTATOR, said, "2026"),)),))
    last()

def load(last=lambda: None, name="killed.jsonl"):
    file = IncomingFile(name, "sha of " + name, "gold")
    store.imports.load(file, rows(last), replace_gold=True)

store = Store.open(Path(sys.argv[1]))
me = store.people.ensure("eva")
"""

KILLED = {
    "an import that nobody saw": "load(last=die)",
    "an import that is seen": "load(name='first'); bulk_run.run_settlement = die; "
    "store.edits.commit_answer(20, me, Role.ANNOTATOR, class_answer(Kind.AGE)); "
    "store.imports.load(IncomingFile('again', 'c' * 64, 'gold'), (IncomingPassage(one.passage, "
    "one.tokenizer, (IncomingAnchor(7, Anchor(0, 1), gold=Gold(class_answer(Kind.AGE), "
    "Rule.IMPORTED)),)) for one in rows(lambda: None)), replace_gold=True)",
    "a settlement that nobody saw": "bulk_run.BulkAct.show = die; "
    "store.settlement.run(parse(''), Rule.UNANIMOUS, me)",
    "a settlement that is seen": "bulk_run.run_settlement = die; "
    "store.settlement.run(parse('-rule:majority'), Rule.UNANIMOUS, me)",
    "a settlement that is being taken back": "store.settlement.run(parse(''), Rule.UNANIMOUS, "
    "me); bulk_run.run_settlement = die; store.edits.undo(me)",
}


def killed(path: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START + code, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 9, done.stderr


def check(path: Path) -> None:
    """One import is named and nothing else; after the repair nothing is."""
    report = examine(path)
    assert [(finding.check, finding.repairable) for finding in report.findings] == [
        ("imports", True)
    ], report.findings
    done = repair(path, report, lambda: examine(path))
    assert done is not None
    assert done.kinds == (Repair.IMPORTS,)
    assert done.report.findings == ()


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_process(path: Path, name: str) -> None:
    with Store.open(path) as store:
        for person in ("eva", "kim"):
            me = store.people.ensure(person)
            store.edits.commit_answer(1, me, Role.ANNOTATOR, class_answer(Kind.AGE))
            store.edits.commit_answer(8 + 2, me, Role.ANNOTATOR, class_answer(Kind.TIME))
    killed(path, KILLED[name])
    check(path)


def test_a_merge_that_was_killed(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    back_up(path, other)
    with Store.open(other) as store:
        kim = store.people.ensure("kim")
        for anchor in (1, 2, 6):
            store.edits.commit_answer(anchor, kim, Role.ANNOTATOR, class_answer(Kind.AGE))
    killed(path, f"apply.run = die; store.merge.run(Path({str(other)!r}), 'eva')")
    check(path)
    with Store.open(path) as store:
        assert store.queue.count(parse("by:kim"), store.people.ensure("eva")) == 3


def test_while_it_is_half_done_the_rest_is_checked(
    path: Path, sql: Callable[..., None]
) -> None:
    killed(path, KILLED["an import that nobody saw"])
    sql("UPDATE anchor SET word = 'two' WHERE id = 6")
    assert [finding.check for finding in examine(path).findings] == ["anchors", "imports"]
