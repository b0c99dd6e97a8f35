"""`nfh-tui assign`: what is given to whom, what is told, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

Call = Callable[..., Result]
Make = Callable[..., Path]
DB = ("--db", "x.db")


@pytest.fixture
def database(call: Call, nfh_file: Make, home: Path) -> Path:
    """Ten anchors with gold from a file, and ten that one person has answered."""
    call("import", nfh_file(10, "known.jsonl", head=["AGE"]), *DB)
    tokens = ["It", "was", "still", "five", "yesterday", "."]
    rows = nfh_file(
        10,
        "open.jsonl",
        tokens=tokens,
        line_indices=[0] * 6,
        speakers=["Ann"] * 6,
        head=["TIME"],
        anchors_indices=[3],
    )
    assert call("import", rows, *DB, "--annotator", "ann 1").exit_code == 0
    return home / "x.db"


def report(result: Result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def ids(path: Path, query: str, name: str) -> list[int]:
    with Store.open(path) as store:
        who = store.people.ensure(name)
        return [id_ for chunk in store.queue.ids(parse(query), who) for id_ in chunk]


def test_items_are_given_out_and_the_same_call_again_gives_nothing(
    call: Call, database: Path
) -> None:
    args = ("assign", "class:none", "--to", "eva m", "--to", "bob", "--each", "2", *DB)
    result = call(*args)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "10 items to have 2 answers each, open assignments included; 10 had fewer.\n"
    )
    assert "  eva m: 5 items\n  bob: 5 items\n" in result.stdout
    assert "nfh-tui annotate --as NAME" in result.stdout
    again = call(*args).stdout
    assert again == (
        "10 items to have 2 answers each, open assignments included; 0 had fewer.\n"
        "There is nothing to assign.\n"
    )
    assert len(ids(database, "todo:me", "eva m")) == 5
    assert ids(database, 'todo:"eva m",bob', "x") == ids(database, "class:none", "x")


def test_json_is_one_object_and_nothing_else(call: Call, database: Path) -> None:
    args = ("assign", "class:none", "--to", "eva", "--each", "2", "--json", *DB)
    trial = report(call(*args, "--dry-run"))
    assert trial["dry_run"] is True
    assert report(call("assign", "--json", *DB)) == {"people": []}
    done = report(call(*args))
    for key in ("items", "filled", "given", "doubles", "short", "checks_short", "returned"):
        assert done[key] == trial[key]
    assert done["given"] == {"eva": {"work": 10, "check": 0, "audit": 0, "double": 0}}
    assert (done["items"], done["filled"], done["short"]) == (10, 0, 0)


def test_a_trial_makes_nobody(call: Call, database: Path) -> None:
    before = database.read_bytes()
    call("assign", "--to", "eva", "--each", "2", "--dry-run", "--as", "new", *DB)
    call("assign", "--as", "new", *DB)
    with Store.open(database) as store:
        assert [person.name for person in store.people.all()] == ["ann 1"]
    assert database.read_bytes() == before


def test_progress_is_told_with_how_the_checks_went(call: Call, database: Path) -> None:
    args = ("assign", "class:none", "--to", "eva", "--to", "bob", "--each", "3", *DB)
    assert "eva: 10 items, 2 hidden checks" in call(*args, "--check", "20%").stdout
    with Store.open(database) as store:
        eva = store.people.ensure("eva")
        checks = list(next(store.queue.ids(parse("todo:me class:AGE"), eva)))
        for check, kind in zip(checks, (Kind.AGE, Kind.YEAR), strict=True):
            store.edits.commit_answer(check, eva, Role.ANNOTATOR, class_answer(kind))
    table = call("assign", *DB).stdout.splitlines()
    assert table[0].split("  ")[0] == "person"
    assert [line.split()[:6] for line in table[1:]] == [
        ["bob", "annotator", "12", "0", "12", "0"],
        ["eva", "annotator", "12", "2", "10", "0"],
    ]
    assert "1 of 2" in table[2]
    people = report(call("assign", "--json", *DB))["people"]
    assert people[1] | {"last": None} == {
        "person": "eva",
        "role": "annotator",
        "assigned": 12,
        "done": 2,
        "open": 10,
        "returned": 0,
        "checks": {"right": 1, "done": 2, "given": 2},
        "last": None,
        "abandoned": 0,
    }
    assert people[1]["last"].endswith("Z")
    of_these = report(call("assign", "by:eva", "--json", *DB))["people"]
    assert [one["assigned"] for one in of_these if one["person"] == "eva"] == [2]


def test_what_is_open_is_taken_back(call: Call, database: Path) -> None:
    call("assign", "--to", "eva", "--to", "bob", "--each", "1", *DB)
    assert "nobody was idle for 14 days" in call("assign", "--take-back", *DB).stdout
    result = call("assign", "--take-back", "eva", "--abandoned-after", "0", *DB)
    assert result.stdout == "eva: 5 items taken back.\n"
    assert ids(database, "todo:me", "eva") == []
    again = report(
        call("assign", "--take-back", "--abandoned-after", "0", "--to", "ida", "--json", *DB)
    )
    assert again["taken_back"] == {"bob": 5}
    assert again["given"]["ida"]["work"] == 10
    assert call("assign", "--take-back", "zoe", *DB).exit_code == 1


def test_a_term_after_take_back_is_no_name(call: Call, database: Path) -> None:
    call("assign", "--to", "eva", "--each", "1", *DB)
    args = ("assign", "--take-back", "class:AGE", "--abandoned-after", "0", "--json", *DB)
    assert report(call(*args)) == {"taken_back": {"eva": 10}}


def test_decisions_by_two(call: Call, database: Path) -> None:
    args = ("assign", "class:none", "--role", "adjudicator", "--to", "eva", "--to", "bob", *DB)
    result = call(*args, "--double", "50%", "--seed", "7")
    assert "items to be decided by two" in result.stdout
    assert "nfh-tui adjudicate --as NAME" in result.stdout
    shared = set(ids(database, "todo:eva", "x")) & set(ids(database, "todo:bob", "x"))
    assert len(shared) == 5
    assert report(call(*args, "--double", "5", "--json"))["doubles"] == 5


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--each", "2"], "--each needs people to assign to: name them with --to NAME"),
        (["--seed", "2"], "--seed needs people to assign to"),
        (["--to", " "], "wanted a name"),
        (["--to", "a", "--double", "2"], "--double is for adjudicators"),
        (["--to", "a", "--role", "adjudicator", "--double", "2"], "name two with --to"),
        (["--to", "a", "--role", "adjudicator", "--check", "2"], "--check is for annotators"),
        (["--to", "a", "--check=-1"], "wanted a number, as 20, or a share, as 5%"),
        (["--to", "a", "--check", "101%"], "wanted a number"),
        (["--to", "a", "--check", "nan%"], "wanted a number"),
        (["--to", "a", "--check", "2.5"], "wanted a number"),
        (["--to", "a", "--each", "0"], "0 is not in the range"),
        (["--to", "a", "nokey:x"], "no such key"),
        (["--abandoned-after=-1"], "-1.0 is not in the range"),
        (["--abandoned-after=nan"], "is not a number of days"),
    ],
)
def test_what_does_not_go_together_is_refused(
    call: Call, database: Path, args: list[str], told: str
) -> None:
    result = call("assign", *args, *DB)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert report(call("assign", "--json", *DB)) == {"people": []}


def test_without_a_database_it_says_so(call: Call) -> None:
    result = call("assign", "--to", "eva", "--db", "none.db")
    assert result.exit_code == 1
    assert "There is no database at none.db" in result.stderr


def test_names_from_elsewhere_are_shown_safely(call: Call, database: Path) -> None:
    call("assign", "--to", "[red]é三", "--each", "1", *DB)
    assert "[red]é三" in call("assign", *DB).stdout
    assert call("assign", "--to", "\x1b[31m", *DB).exit_code == 2


@pytest.mark.parametrize("option", ["--each", "--limit"])
def test_a_number_beyond_all_bounds_is_refused(call: Call, database: Path, option: str) -> None:
    result = call("assign", "--to", "kim", option, "9" * 20, *DB)
    assert result.exit_code == 2
    assert "is not in the range" in result.output
