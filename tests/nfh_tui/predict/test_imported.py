"""Predictions that were imported: a model's answers, there to be seen and counted nowhere."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.doctor import examine
from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.editor.votes import annotators_votes, proposal
from nfh_tui.services.predict import PredictionCounts, PredictionLines, predict
from nfh_tui.services.predict_sources import passages
from nfh_tui.widgets.evidence_rows import evidence
from tests.nfh_tui.predict.conftest import tools
from tests.nfh_tui.predict.test_passages import stream

Call = Callable[..., Result]

AT = "2025-01-31T12:00:00.000Z"
TEXT = "Ann: Two tickets?\nBen: No, three. No one came.\n\nShe: I am 6.\n"
ME = Annotator(0, "me")


@pytest.fixture
def database(home: Path, call: Call) -> Path:
    """Four numbers, of each what the model `stub` says; a person's answers to the first two."""
    found = predict(
        passages(stream(TEXT.encode()), "dialog", "given"), tools(), PredictionCounts()
    )
    lines = PredictionLines(tools(), AT, scores=False)
    (home / "p.jsonl").write_text("".join(map(lines.line, found)), "utf-8")
    assert call("import", "--db", "n.db", "p.jsonl").exit_code == 0
    with Store.open(home / "n.db") as store:
        ann = store.people.ensure("ann")
        for anchor in (1, 2):
            store.edits.commit_answer(anchor, ann, Role.ANNOTATOR, class_answer(Kind.AGE))
    return home / "n.db"


def types(path: Path) -> dict[str, str]:
    with Store.open_to_read(path) as store:
        return {one.name: one.type for one in store.people.all()}


def test_the_model_is_no_person(database: Path) -> None:
    assert types(database) == {"ann": "person", "stub": "model"}
    with Store.open_to_read(database) as store:
        for query, count in (
            ("by:stub", 4), ("votes:0", 2), ("votes:1", 2), ("state:open", 2),
            ("state:answered", 2), ("state:disagree", 0), ("differs:stub", 0),
            ("said:NOT_NFH", 0), ("said:stub/NOT_NFH", 1),
        ):  # fmt: skip
            assert store.queue.count(parse(query), ME) == count, query
        for anchor, reason in ((1, "1 of 1"), (3, None)):
            item = store.items.read(anchor, ME, Role.ADJUDICATOR)
            assert item is not None
            assert [vote.annotator for vote in annotators_votes(item)][-1] == "stub"
            made = proposal(item)
            assert (made and made.reason) == reason
            told = "\n".join(
                "".join(run.text for run in row) for row in evidence(item, None, 80)
            )
            assert "a model: not counted" in told
    assert examine(database).findings == ()


def test_gold_is_made_of_what_people_say_alone(database: Path, call: Call) -> None:
    told = call(
        "settle",
        "--rule",
        "majority",
        "--least",
        "1",
        "--as",
        "eva",
        "--db",
        database,
        "--json",
    )
    assert told.exit_code == 0, told.output
    report = json.loads(told.stdout)
    assert (report["new"], report["classes"]) == (2, {"AGE": 2})
    with Store.open_to_read(database) as store:
        golds = [one.gold for one in store.items.records(parse("state:decided"), ME, "gold")]
        assert [[name for name, _ in gold.votes] for gold in golds if gold] == [["ann"]] * 2
    assert examine(database).findings == ()


def test_agreement_and_assignment_count_people_alone(database: Path, call: Call) -> None:
    with Store.open(database) as store:
        bob = store.people.ensure("bob")
        for anchor in (1, 3):
            store.edits.commit_answer(anchor, bob, Role.ANNOTATOR, class_answer(Kind.AGE))
    found = json.loads(call("agreement", "--db", database, "--json").stdout)
    assert "stub" not in json.dumps(found)
    assert "stub" not in call("annotators", "--db", database, "--json").stdout
    given = call("assign", "--to", "cat", "--to", "dan", "--each", "2", "--db", database)
    assert given.exit_code == 0, given.output
    with Store.open_to_read(database) as store:
        # One has two answers already, two have one each, one has none.
        assert (
            store.queue.count(parse("todo:cat"), ME) + store.queue.count(parse("todo:dan"), ME)
            == 0 + 1 + 1 + 2
        )


def test_it_stays_a_model_in_an_export_and_a_merge(
    database: Path, call: Call, home: Path
) -> None:
    out = call("export", "--format", "gold", "--db", database).stdout
    votes = [vote for line in out.splitlines() for vote in json.loads(line)["votes"]]
    assert {vote["annotator"]: vote.get("type") for vote in votes} == {
        "ann": None,
        "stub": "model",
    }
    (home / "out.jsonl").write_text(out, "utf-8")
    assert call("import", "out.jsonl", "--db", "again.db").exit_code == 0
    assert types(home / "again.db") == {"ann": "person", "stub": "model"}
    assert call("export", "--format", "gold", "--db", "again.db").stdout == out
    call("init", "--db", "third.db")
    assert call("merge", database, "--db", "third.db").exit_code == 0
    assert types(home / "third.db")["stub"] == "model"
    assert examine(home / "third.db").findings == ()


def test_a_persons_name_is_no_models(database: Path, call: Call, home: Path) -> None:
    with Store.open(database) as store, pytest.raises(StoreError, match="name of a model here"):
        store.people.ensure("stub")
    refused = call("assign", "--to", "stub", "--db", database)
    assert (refused.exit_code, "take another name" in refused.stderr) == (1, True)
    with Store.open(home / "other.db", create=True) as store:
        store.people.ensure("stub")
    for more in ((), ("--dry-run",)):
        refused = call("import", "p.jsonl", "--db", "other.db", *more)
        assert refused.exit_code == 1
        assert "'stub' is the name of a person here, and cannot be that of a model" in (
            refused.stderr
        )
    with Store.open_to_read(home / "other.db") as store:
        assert store.queue.count(parse(""), ME) == 0
