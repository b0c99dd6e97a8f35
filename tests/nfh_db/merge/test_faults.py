"""Merges that are killed, overtaken, or meet a full disk: nothing half done is ever seen."""

import errno
import os
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db import database
from nfh_db.connection import connect, sqlite3
from nfh_db.errors import StoreError
from nfh_db.merge import apply, run
from nfh_db.merge.log_diff import ConflictReason
from nfh_db.query import parse
from nfh_db.records import Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

MERGE_AND_DIE = """
import os, signal, sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from nfh_db.merge import apply, source
from nfh_db import connection
from nfh_db.store import Store

source.WRITE_SIZE = replace(source.WRITE_SIZE, first=6, largest=6)
left = int(sys.argv[3])
original = connection.transaction

def die():
    os.kill(os.getpid(), signal.SIGKILL)

@contextmanager
def counted(connection):
    global left
    with original(connection):
        yield connection
        left -= 1
        if left == 0 and sys.argv[4] == "inside":
            die()
    if left == 0:
        die()

source.transaction = apply.transaction = apply.transaction = counted
with Store.open(Path(sys.argv[1])) as store:
    store.merge.run(Path(sys.argv[2]), "merger")
print("done", flush=True)
"""

NUMBERS = 12


@pytest.fixture
def parted(copies):
    """Two copies; in the second much was done: of every kind of thing something."""
    kit = copies.kit
    copies.made("home", *(kit.one(f"one {n} dogs", 0, line=n) for n in range(1, NUMBERS + 1)))
    copies.copy("home", "train")
    copies.answer("home", "eva", Kind.AGE)
    with copies.open("train") as store:
        bob, zoe = store.people.ensure("bob"), store.people.ensure("zoe")
        for anchor in range(1, NUMBERS + 1):
            for person in (bob, zoe):
                store.edits.commit_answer(
                    anchor, person, Role.ANNOTATOR, class_answer(Kind.TIME)
                )
        store.settlement.run(parse(""), Rule.UNANIMOUS, zoe)
        store.edits.replace_anchor(
            3, bob, Role.ADJUDICATOR, Anchor(0, 2), store.edits.stale_labels(3, bob)
        )
        store.edits.commit_answer(4, bob, Role.ADJUDICATOR, class_answer(Kind.YEAR))
        store.edits.undo(bob)
        rows = [
            kit.one(f"two {n} cats", 0, gold=kit.gold(2), votes=[kit.vote("ann", 2)], line=n)
            for n in range(1, NUMBERS + 1)
        ]
        kit.load(store, *rows, kit.one("one 5 dogs", 0, votes=[kit.vote("ann", 2)], line=99))
    return copies


def killed(copies, write: int, place: str) -> bool:
    """Merge in a process that is killed at a write; False if it was done before."""
    paths = [str(copies.path(name)) for name in ("home", "train")]
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MERGE_AND_DIE), *paths, str(write), place],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.stderr == ""
    return process.stdout != "done\n"


@pytest.mark.long
@pytest.mark.parametrize("place", ["inside", "behind"])
def test_a_merge_that_is_killed_comes_in_wholly_or_not_at_all(
    parted, saying, sound, place: str
) -> None:
    before = saying(parted.path("home"))
    parted.copy("home", "kept")
    parted.copy("home", "whole")
    parted.merge("whole", "train")
    after = saying(parted.path("whole"))
    assert before != after
    outcomes = set()
    for write in (1, 3, 8, 15, 26, 34, 60):
        parted.copy("kept", "home")
        dead = killed(parted, write, place)
        # Whoever opens it next clears it away, or finishes it.
        Store.open(parted.path("home")).close()
        sound(parted.path("home"))
        found = saying(parted.path("home"))
        assert found in (before, after)
        outcomes.add((dead, found == after))
        report = parted.merge("home", "train")
        assert saying(parted.path("home")) == after
        assert report.changes == (found == before)
    assert {(True, False), (True, True), (False, True)} <= outcomes


def test_what_somebody_does_while_it_is_applied_stays(parted, monkeypatch) -> None:
    """And what they had seen before that is not lost either: it is listed."""
    show = apply.MergeWriter._show

    def slow(self: apply.MergeWriter) -> None:
        show(self)
        with parted.open("home") as store:
            eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
            store.edits.commit_answer(2, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
            store.edits.commit_answer(5, bob, Role.ANNOTATOR, class_answer(Kind.AGE))
            assert store.edits.undo(bob).summary == "answer AGE"
            assert store.edits.undo(bob) is None
            store.edits.commit_answer(6, bob, Role.ANNOTATOR, class_answer(Kind.AGE))
            store.edits.replace_anchor(
                3, eva, Role.ADJUDICATOR, Anchor(0, 3), store.edits.stale_labels(3, eva)
            )

    monkeypatch.setattr(apply.MergeWriter, "_show", slow)
    report = parted.merge("home", "train")
    missed = {(one.what, one.whose, one.anchor_id): one for one in report.conflicts}
    assert {one.why for one in report.conflicts} == {ConflictReason.MEANWHILE}
    assert [(what, whose) for what, whose, _ in missed].count(("span", None)) == 2
    assert {("gold", None, 2), ("answer", "bob", 6), ("span", None, 3)} < set(missed)
    # A rule made that of bob's vote, which is not the one that is here.
    assert missed["gold", None, 6].there.rule == "unanimous"
    assert len(missed) == 5
    one = missed["gold", None, 2]
    assert (one.here.said, one.here.by) == ("AGE (rule expert)", "eva")
    assert (one.there.said, one.there.by) == ("TIME (rule unanimous)", "zoe")
    assert parted.said("home", 2)["gold"] == "AGE"
    assert parted.said("home", 5)["bob"] == "TIME"
    assert parted.said("home", 6)["bob"] == "AGE"


def test_no_gold_goes_stale_by_what_somebody_does_while_it_is_applied(
    parted, monkeypatch
) -> None:
    """Gold of a span that they replace is left, and so is another span for what they decide."""
    show = apply.MergeWriter._show

    def slow(self: apply.MergeWriter) -> None:
        show(self)
        with parted.open("home") as store:
            eva = store.people.ensure("eva")
            store.edits.commit_answer(3, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
            span, stale = Anchor(0, 2), store.edits.stale_labels(5, eva)
            store.edits.replace_anchor(5, eva, Role.ADJUDICATOR, span, stale)

    monkeypatch.setattr(apply.MergeWriter, "_show", slow)
    report = parted.merge("home", "train")
    assert {one.why for one in report.conflicts} == {ConflictReason.MEANWHILE}
    listed = [(one.what, one.anchor_id) for one in report.conflicts]
    assert len(set(listed)) == len(listed)
    assert {("gold", 5), ("gold", 3), ("span", 3)} < set(listed)
    assert parted.said("home", 3)["gold"] == "AGE"
    with parted.open("home") as store:
        assert store.items.count_stale_gold() == 0


def test_nobody_undoes_what_is_not_there_yet(parted, monkeypatch) -> None:
    show = apply.MergeWriter._show
    seen: list[object] = []

    def slow(self: apply.MergeWriter) -> None:
        with parted.open("home") as store:
            seen.append(store.edits.undo(store.people.ensure("bob")))
            seen.append(store.history.of_anchor(2))
            seen.append(store.queue.count(parse(""), store.people.ensure("eva")))
        show(self)

    monkeypatch.setattr(apply.MergeWriter, "_show", slow)
    parted.merge("home", "train")
    assert seen == [None, (), NUMBERS]


def test_an_import_that_comes_in_between_is_taken_into_account(parted, monkeypatch) -> None:
    kit = parted.kit
    back_up = run._back_up
    done: list[Path] = []

    def slow(*arguments) -> Path:
        if not done:
            with parted.open("home") as store:
                kit.load(store, kit.one("two 1 cats", 0, gold=kit.gold(2)), name="between")
        done.append(back_up(*arguments))
        return done[-1]

    monkeypatch.setattr(run, "_back_up", slow)
    report = parted.merge("home", "train")
    assert report.passages_new == NUMBERS - 1
    assert [path.exists() for path in done] == [False, True]
    assert not parted.merge("home", "train").changes


@pytest.mark.parametrize("span", [Anchor(0, 2), Anchor(1, 3)])
def test_a_span_that_somebody_makes_in_between(parted, monkeypatch, span: Anchor) -> None:
    """Be it the one that a person made there, or one that a file brought there."""
    with parted.open("train") as store:
        row = parted.kit.one("one 6 dogs", 1, stop=3, gold=parted.kit.gold(Kind.AGE))
        parted.kit.load(store, row, name="other spans")
    back_up = run._back_up
    done: list[Path] = []

    def slow(*arguments) -> Path:
        if not done:
            with parted.open("home") as store:
                anchor = 3 if span == Anchor(0, 2) else 6
                store.edits.replace_anchor(
                    anchor,
                    store.people.ensure("eva"),
                    Role.ADJUDICATOR,
                    span,
                    store.edits.stale_labels(anchor, store.people.ensure("eva")),
                )
        done.append(back_up(*arguments))
        return done[-1]

    monkeypatch.setattr(run, "_back_up", slow)
    report = parted.merge("home", "train")
    listed = [(one.what, one.whose, one.word) for one in report.conflicts]
    assert len(set(listed)) == len(listed)
    # What a rule made of the votes on the sixth number there is in no export here.
    golds = [(one.word, one.why) for one in report.conflicts if one.what == "gold"]
    assert golds == ([] if span == Anchor(0, 2) else [("one", ConflictReason.REPLACED)])
    assert {one.what for one in report.conflicts} - {"gold"} == {"span"}
    assert not parted.merge("home", "train").changes


def test_one_at_a_time(parted, monkeypatch) -> None:
    said: list[str] = []

    def try_both(self: apply.MergeWriter, *_: object) -> None:
        with parted.open("home") as store:
            for act in (
                lambda: store.merge.run(parted.path("train"), "merger"),
                lambda: parted.kit.load(store, parted.kit.one("x 1", 1)),
            ):
                with pytest.raises(StoreError) as refusal:
                    act()
                said.append(str(refusal.value))

    original = apply.MergeWriter._show

    def show(self: apply.MergeWriter) -> None:
        try_both(self)
        original(self)

    monkeypatch.setattr(apply.MergeWriter, "_show", show)
    parted.merge("home", "train")
    assert all("Another copy is being merged by merger" in words for words in said)
    assert len(said) == 2


@pytest.mark.parametrize("stage", ["_add_passage", "_add_stand_in", "_show"])
def test_what_breaks_off_leaves_nothing(parted, monkeypatch, whole, stage: str) -> None:
    before = whole(parted.path("home"))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(apply.MergeWriter, stage, stop)
    with parted.open("home") as store, pytest.raises(KeyboardInterrupt):
        store.merge.run(parted.path("train"), "merger")
    assert whole(parted.path("home")) == before
    assert not list(parted.folder.glob("*backup*"))


def test_a_disk_that_fills_up_while_it_is_applied(parted, monkeypatch, saying) -> None:

    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(apply, "run", full)
    with parted.open("home") as store, pytest.raises(StoreError, match="Nothing is lost"):
        store.merge.run(parted.path("train"), "merger")
    monkeypatch.undo()
    parted.copy("train", "other")
    Store.open(parted.path("home")).close()
    parted.merge("other", "home")
    assert saying(parted.path("home")) == saying(parted.path("other"))


def test_a_full_disk_before_anything_is_written(parted, monkeypatch, whole) -> None:
    from nfh_db.errors import FullError

    before = whole(parted.path("home"))

    def full(*_: object) -> None:
        raise FullError("No copy was made: the disk is full")

    monkeypatch.setattr(database, "back_up", full)
    with parted.open("home") as store, pytest.raises(FullError):
        store.merge.run(parted.path("train"), "merger")
    assert whole(parted.path("home")) == before


def test_a_backup_that_cannot_be_deleted_hides_no_error(parted, monkeypatch) -> None:
    stuck = []

    def fail(self: Path, *, missing_ok: bool = False) -> None:
        if "backup-merge" not in self.name:
            return unlink(self, missing_ok=missing_ok)
        stuck.append(self)
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))

    def stop(*_: object) -> None:
        raise StoreError("The database cannot be read or written")

    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", fail)
    monkeypatch.setattr(apply.MergeWriter, "_show", stop)
    with parted.open("home") as store, pytest.raises(StoreError, match="read or written"):
        store.merge.run(parted.path("train"), "merger")
    assert stuck


def test_foreign_keys_hold_after_a_sweep(parted) -> None:
    killed(parted, 9, "behind")
    Store.open(parted.path("home")).close()
    with closing(connect(parted.path("home"), "ro")) as reader:
        assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
        batches = reader.execute("SELECT count(*) FROM batch").fetchone()[0]
        merges = reader.execute("SELECT count(*) FROM act WHERE kind = 'merge'").fetchone()[0]
    assert (batches, merges) == (1, 0)
