"""A database in which everything that can happen has happened, to be damaged."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nfh_db.connection import connect
from nfh_db.doctor import DoctorReport, examine, repair
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import (
    FlagMark,
    FlagName,
    Gold,
    Identified,
    IncomingAnchor,
    IncomingPassage,
    Prediction,
    Role,
    Rule,
    Vote,
)
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
    reference_answer,
)

AT = "2026-01-02T03:04:05.678Z"
WORDS = "the dogs saw one , then more dogs and cats"
ONE = 3
"""Where the number stands in WORDS."""

AGE, YEAR, TIME = (class_answer(kind) for kind in (Kind.AGE, Kind.YEAR, Kind.TIME))
DOGS = reference_answer([[Mention(1, 2, 1), Mention(7, 8, 7, Origin.ADDED)]])
CATS = reference_answer([[Mention(9, 10, 9)]])
BOTH = reference_answer([[Mention(1, 2, 1)], [Mention(9, 10, 9)]], Relation.AND)


def passage(number: int) -> Passage:
    """WORDS with a number after them, in two turns."""
    text = f"{WORDS} !{number}"
    tokens, place = [], 0
    for word in text.split():
        lemma = {"dogs": "dog", "cats": "cat"}.get(word, word)
        tokens.append(Token(place, place + len(word), lemma))
        place += len(word) + 1
    return Passage(text, tuple(tokens), (Turn(0, "Ann", 0, 5), Turn(3, None, 5, len(tokens))))


def row(number: int, gold: Gold | None = None, *votes: Vote) -> IncomingPassage:
    """A passage with its one number, of line `number`."""
    flags = (FlagMark(FlagName.GUIDELINE, "ann1", AT),) if number == 1 else ()
    anchor = IncomingAnchor(number, Anchor(ONE, ONE + 1), '["AGE"]', "dev", gold, votes, flags)
    return IncomingPassage(passage(number), "test 1", (anchor,))


def voted(*answers: Answer) -> tuple[Vote, ...]:
    """Answers of ann1, ann2 and so on."""
    return tuple(
        Vote(f"ann{number}", Role.ANNOTATOR, answer, AT, 1.5)
        for number, answer in enumerate(answers, 1)
    )


def fill(store: Store) -> None:
    """Anchors 1 to 9, with all that the log, and the doctor, know."""
    rows = [
        row(1, Gold(DOGS, Rule.IMPORTED)),
        row(2, None, *voted(AGE, YEAR, TIME)),
        row(3, None, *voted(DOGS, CATS, BOTH)),
        row(4, None, *voted(DOGS, DOGS, CATS)),
        row(5, None, *voted(AGE, AGE, AGE)),
        row(6),
        row(7, Gold(AGE, Rule.EXPERT, "zoe", AT)),
        row(8),
        row(9, None, *voted(DOGS, DOGS)),
    ]
    store.imports.load(IncomingFile("some.jsonl", "a" * 64, "gold"), rows)
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    store.settlement.run(parse("votes>1"), Rule.MAJORITY, eva)
    store.edits.commit_answer(2, eva, Role.ADJUDICATOR, YEAR)
    store.edits.commit_answer(2, bob, Role.ADJUDICATOR, AGE)
    store.edits.commit_answer(3, eva, Role.ADJUDICATOR, BOTH)
    store.edits.commit_answer(6, bob, Role.ANNOTATOR, DOGS)
    store.edits.commit_answer(6, bob, Role.ANNOTATOR, CATS)
    store.edits.undo(bob)
    store.edits.commit_answer(6, eva, Role.ANNOTATOR, TIME)
    store.edits.undo(eva)
    store.edits.redo(eva)
    store.edits.set_flag(6, bob, FlagName.SKIP, True)
    store.edits.propose_span(9, eva, Anchor(ONE, ONE + 2))
    store.edits.commit_answer(8, bob, Role.ANNOTATOR, AGE)
    new = store.edits.replace_anchor(
        8, bob, Role.ADJUDICATOR, Anchor(2, 4), store.edits.stale_labels(8, bob)
    )
    store.workspace.save_draft(new.anchor_id, bob, Role.ANNOTATOR, '{"kind": "AGE"}')
    store.workspace.save_view(bob, "mine", "by:bob -class:OTHER")
    model = store.models.ensure("nearest", "resolution", "nearest-noun", "1")
    scores = (0.5,) * 6 + (None,) * 11
    store.predictions.save(model, [(6, Prediction("nearest", "1", "AGE", 0.1, scores))])
    rules = store.models.ensure("rules", "identification", "rules", "1")
    said = Identified("rules", True, "svm", 0.5, (("window:-1=saw", 0.25),))
    version = store.identifications.decide_with(rules, "parser 1")
    store.identifications.save(rules, version, [(6, said), (1, Identified("", False, "x"))])


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database, made once."""
    path = tmp_path_factory.mktemp("template") / "nfh.db"
    with Store.open(path, create=True) as store:
        fill(store)
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copy(template, tmp_path / "nfh.db"))


@pytest.fixture
def sql(path: Path) -> Callable[..., None]:
    """Changes the database by hand, with nothing checked."""

    def run(*statements: str) -> None:
        connection = connect(path, "rw")
        try:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA writable_schema = ON")
            for statement in statements:
                connection.execute(statement)
        finally:
            connection.close()

    return run


@pytest.fixture
def assess(path: Path, sql: Callable[..., None]) -> Callable[[dict[str, Any]], None]:
    """Breaks the database, and looks at what the doctor finds, and mends if it said so."""

    def run(damage: dict[str, Any]) -> None:
        sql(*damage["statements"])
        report = examine(path)
        told = [
            f"{one.check}: {one.where.table} {one.where.row} {one.where.item}: {one.what}"
            for one in report.findings
        ]
        found = {out.check.name: out.broken for out in report.outcomes if out.broken}
        assert found == damage["found"], told
        assert any(damage["words"] in one for one in told), told
        assert all(one.how for one in report.findings)
        if damage["mended"]:
            assert report.repairable == report.broken
            mended(path, report)

    return run


def content(path: Path) -> list[list[tuple[object, ...]]]:
    """What people did: answers, golds, flags, anchors' spans, and the log."""
    statements = (
        "SELECT * FROM answer ORDER BY id",
        "SELECT * FROM gold ORDER BY anchor_id",
        "SELECT * FROM head ORDER BY id",
        "SELECT * FROM mention ORDER BY head_id, position",
        "SELECT * FROM flag ORDER BY anchor_id, annotator_id, name",
        "SELECT id, start, stop, replaces, replaced_by, removed FROM anchor ORDER BY id",
        "SELECT * FROM act ORDER BY id",
        "SELECT * FROM event ORDER BY id",
        "SELECT * FROM draft",
    )
    connection = connect(path, "ro")
    try:
        return [connection.execute(statement).fetchall() for statement in statements]
    finally:
        connection.close()


def mended(path: Path, report: DoctorReport) -> None:
    """The repair mends it all, keeps a copy, and touches nothing that people did."""
    before = content(path)
    done = repair(path, report, lambda: examine(path))
    assert done is not None
    assert done.report.broken == 0, done.report.findings
    assert done.failed == ()
    assert content(path) == before
    assert content(done.backup) == before
    assert examine(done.backup).broken == report.broken
