"""`nfh-tui annotators`, on the sample corpus and on made-up votes."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nfh_db.assignment_plan import Amount, AssignmentRequest
from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.agreement import competence as agreement_competence
from nfh_models.agreement.competence import KindConfusion
from nfh_models.agreement.report import competence
from nfh_models.domain import Kind, class_answer
from nfh_tui.cli.annotators import as_text
from nfh_tui.cli.main import commands
from nfh_tui.demo import ensure_demo
from nfh_tui.sample import corpus_path
from nfh_tui.services.annotators import CompetenceResult

Call = Callable[..., Result]


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """One start of MACE, and a short one: its figures are tested elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement_competence, "SEEDS", 1)
        patch.setattr(agreement_competence, "MACE_ROUNDS", 5)
        yield


@pytest.fixture(scope="module")
def call() -> Call:
    def run(*arguments: object) -> Result:
        texts = [str(argument) for argument in arguments]
        return CliRunner().invoke(commands, texts, prog_name="nfh-tui", catch_exceptions=False)

    return run


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, built: Callable[..., Path]) -> Path:
    """The sample corpus, imported."""
    return built(ensure_demo, tmp_path_factory.mktemp("annotators") / "x.db")


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} in JSON")


@pytest.fixture(scope="module")
def report(call: Call, database: Path) -> dict[str, Any]:
    result = call("annotators", "--db", database, "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    found: dict[str, Any] = json.loads(result.stdout, parse_constant=no_constant)
    return found


def test_json_holds_every_part(report: dict[str, Any]) -> None:
    assert "invented for demonstration" in report["caveat"]
    assert (report["items"], report["decided_by_experts"]) == (174, 45)
    assert sum(report["models"]["priors"].values()) == pytest.approx(1)
    assert [person["name"] for person in report["people"]] == ["ann1", "ann2", "ann3"]
    for person in report["people"]:
        kind = person["against_expert"]["kind"]
        assert 0 <= kind["low"] <= kind["value"] <= kind["high"] <= 1
        assert person["models"]["accuracy"]["value"] is not None
        assert sum(map(sum, person["against_expert"]["confusion"]["rows"])) == 45
        assert len(person["drift"]["blocks"]) == 10
        assert person["check_items"]["kind"]["why"].startswith("They have answered no check")
    tested = [trend for person in report["people"] for trend in person["drift"]["trends"]]
    assert report["trends_tested"] == len(tested) > 0
    assert report["remembered"] is None


def test_the_text_fits_eighty_columns_and_says_the_same(
    call: Call, database: Path, report: dict[str, Any]
) -> None:
    result = call("annotators", "--db", database, "--matrix", "--no-nouns")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    first = report["people"][0]["against_expert"]
    line = next(row for row in result.stdout.splitlines() if row.strip().startswith("ann1 "))
    assert f"{first['equal']['value']:.2f} [{first['equal']['low']:.2f}" in line


def test_only_some_people_and_nobody(call: Call, database: Path) -> None:
    result = call("annotators", "--only", "ann2", "--db", database, "--json", "--no-nouns")
    assert [person["name"] for person in json.loads(result.stdout)["people"]] == ["ann2"]
    result = call("annotators", "--only", "zoe", "--db", database, "--no-nouns")
    assert result.exit_code == 1
    assert result.stderr == ("nfh-tui: zoe answered none of these items as an annotator\n")


def test_a_query_that_finds_nothing(call: Call, database: Path) -> None:
    result = call("annotators", "text:zzzz", "--db", database)
    assert result.exit_code == 0
    assert "Nobody has answered these items as an annotator." in result.stdout
    found = json.loads(call("annotators", "text:zzzz", "--db", database, "--json").stdout)
    assert (found["items"], found["people"]) == (0, [])


def test_too_few_items_and_no_crowd_kit_are_sentences(
    call: Call, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = call("annotators", "class:AGE", "--db", database, "--no-nouns")
    assert "need 30 items with two votes" in result.stdout
    monkeypatch.setattr(agreement_competence, "find_spec", lambda name: None)
    result = call("annotators", "--db", database, "--no-nouns")
    assert result.exit_code == 0
    assert "nfh-tui[agreement]" in result.stdout
    assert "all the same, both REFERENCE" in result.stdout


def test_a_wrong_query_is_called_wrongly(call: Call, database: Path) -> None:
    assert call("annotators", "class:NOTHING", "--db", database).exit_code == 2
    assert call("annotators", "--blocks", "years", "--db", database).exit_code == 2


def test_weeks(call: Call, database: Path) -> None:
    rows = [json.loads(line) for line in corpus_path().read_text("utf-8").splitlines()]
    times = [v["at"] for row in rows for v in row["votes"] if v["annotator"] == "ann1"]
    monday = sum(time < "2025-03-10" for time in times)
    result = call("annotators", "--blocks", "weeks", "--db", database, "--json", "--no-nouns")
    blocks = json.loads(result.stdout)["people"][0]["drift"]["blocks"]
    assert [block["answers"] for block in blocks] == [monday, len(times) - monday]


def test_check_items_that_were_given_out(
    call: Call, tmp_path: Path, built: Callable[..., Path]
) -> None:
    """Hidden checks with known gold, two of three answered as it says."""
    path = built(ensure_demo, tmp_path / "y.db")
    with Store.open(path) as store:
        wanted = AssignmentRequest(each=4, checks=Amount(3))
        store.assignments.assign(parse("state:open,disagree"), None, ["zoe"], wanted, limit=9)
        zoe = store.people.ensure("zoe")
        checks = given_as_checks(path)
        assert len(checks) == 3
        for number, (anchor, kind) in enumerate(checks):
            said = Kind(kind) if number and kind != "REFERENCE" else Kind.BROKEN
            store.edits.commit_answer(anchor, zoe, Role.ANNOTATOR, class_answer(said))
        right = sum(
            number > 0 and kind != "REFERENCE" for number, (_, kind) in enumerate(checks)
        )
    found = json.loads(call("annotators", "--only", "zoe", "--db", path, "--json").stdout)
    measure = found["people"][0]["check_items"]["kind"]
    assert (measure["n"], measure["value"]) == (3, pytest.approx(right / 3))
    text = call("annotators", "--only", "zoe", "--db", path, "--no-nouns").stdout
    assert "Check items, whose answer was known and hidden" in text


def given_as_checks(path: Path) -> list[tuple[int, str]]:
    """The anchors given as checks, and the kinds of the gold that was known."""
    connection = connect(path, "ro")
    try:
        rows = connection.execute(
            "SELECT anchor_id, json_extract(expected, '$.kind') FROM assignment "
            "WHERE purpose = 'check' ORDER BY anchor_id"
        ).fetchall()
    finally:
        connection.close()
    return [(int(anchor), str(kind)) for anchor, kind in rows]


def test_large_counts_fit_too(kit: Any) -> None:
    kinds = tuple(kind for kind in Kind if kind is not Kind.NFH)
    rows = tuple(tuple(12_345.0 + 10_000_000 * (a is b) for b in kinds) for a in kinds)
    report = competence(kit.marks({"a name that is longer than a table": [kit.mark()]}))
    (person,) = report.people
    large = replace(person.expert, confusion=KindConfusion(kinds, rows, (1.0,) * len(kinds)))
    report = replace(report, people=(replace(person, expert=large, others=large.confusion),))
    text = as_text(CompetenceResult(report, sample_corpus=False, tagger=None))
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines()]
    assert ["YEAR", "12k", "10m", *["12k"] * 8] in lines
