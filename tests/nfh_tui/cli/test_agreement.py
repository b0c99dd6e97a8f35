"""`nfh-tui agreement`: what it prints, for people and for programs."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Exposure, Role
from nfh_db.store import Store
from nfh_models.agreement.measure import Measure
from nfh_models.domain import Kind, class_answer
from nfh_tui.demo import ensure_demo

Call = Callable[..., Result]
Make = Callable[..., Path]
Built = Callable[[Callable[[Path], object], Path], Path]
Program = Callable[..., subprocess.CompletedProcess[str]]
Json = dict[str, object]


@pytest.fixture
def demo(home: Path, built: Built) -> Path:
    """The sample corpus: 174 anchors, three annotators, an editor who decided some."""
    return built(ensure_demo, home / "demo.db")


@pytest.fixture
def rows(call: Call, nfh_file: Make, home: Path) -> Path:
    """Four imported rows that nobody answered."""
    assert call("import", nfh_file(4), "--db", "x.db").exit_code == 0
    return home / "x.db"


def answer(path: Path, name: str, *kinds: Kind | None, role: Role = Role.ANNOTATOR) -> None:
    """Somebody's answers to anchors 1, 2, …; None for none."""
    with Store.open(path) as store:
        me = store.people.ensure(name)
        for anchor_id, kind in enumerate(kinds, 1):
            if kind is not None:
                store.edits.commit_answer(anchor_id, me, role, class_answer(kind), Exposure())


def report(call: Call, path: Path, *more: object) -> dict[str, object]:
    result = call("agreement", "--db", path, "--json", "--no-skill", "--resamples", 20, *more)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    found: dict[str, object] = json.loads(result.stdout)
    return found


def cells(value: object) -> Iterator[tuple[str, bool, int]]:
    """Query, whether it is exact, and number of items, of each cell that has all of them."""
    if isinstance(value, dict):
        items = value.get("items", value.get("n"))
        if value.get("find") and isinstance(items, int):
            yield value["find"], value["exact"], items
        for one in value.values():
            yield from cells(one)
    elif isinstance(value, list):
        for one in value:
            yield from cells(one)


def test_each_cells_query_finds_its_items(call: Call, demo: Path) -> None:
    found = list(cells(report(call, demo)))
    assert sum(exact for _, exact, _ in found) > 100
    with Store.open(demo) as store:
        me = store.people.ensure("editor")
        for query, exact, items in found:
            count = store.queue.count(parse(query), me)
            if exact:
                assert count == items, query
            else:
                assert count >= items, query


def test_queries_of_cells_are_within_the_query_of_the_report(call: Call, demo: Path) -> None:
    found = report(call, demo, "class:REFERENCE", "-text:zzz")
    asked = str(found["query"])
    assert sorted(asked.split()) == ["-text:zzz", "class:REFERENCE"]
    with Store.open(demo) as store:
        me = store.people.ensure("editor")
        wanted = store.queue.count(parse("class:REFERENCE -text:zzz"), me)
        assert found["coverage"]["items"] == wanted  # type: ignore[index]
        for query, exact, items in cells(found):
            assert query.startswith(f"{asked} ")
            count = store.queue.count(parse(query), me)
            assert count == items if exact else count >= items, query


def test_names_that_need_quotes_are_found_too(call: Call, rows: Path) -> None:
    awkward = 'o"ne~two/3, me'
    answer(rows, awkward, Kind.AGE, Kind.AGE)
    answer(rows, "me", Kind.YEAR, Kind.AGE)
    found = report(call, rows)
    with Store.open(rows) as store:
        me = store.people.ensure("somebody")
        checked = 0
        for query, exact, items in cells(found):
            count = store.queue.count(parse(query), me)
            assert count == items if exact else count >= items, query
            checked += awkward.split('"', maxsplit=1)[0] in query
    assert checked


def test_the_sample_corpus_has_its_caveat(call: Call, demo: Path, rows: Path) -> None:
    assert "agreement on them is evidence of nothing" in str(report(call, demo)["caveat"])
    assert report(call, rows)["caveat"] is None
    result = call("agreement", "--db", demo, "--no-skill", "--resamples", 0)
    assert "agreement on them is evidence of nothing" in " ".join(result.stdout.split())


def test_without_answers_there_is_a_sentence(call: Call, home: Path, rows: Path) -> None:
    call("init", "--db", "empty.db")
    result = call("agreement", "--db", home / "empty.db")
    assert result.exit_code == 0
    assert "The query finds no item." in result.stdout
    result = call("agreement", "--db", rows)
    assert "Nobody has answered these items as an annotator." in result.stdout
    alpha = report(call, rows)["alpha"]
    assert alpha == {
        "value": None,
        "low": None,
        "high": None,
        "n": 0,
        "why": "Nobody has answered these items as an annotator.",
    }


def test_one_annotator_and_two_who_never_meet(call: Call, rows: Path) -> None:
    answer(rows, "ann", Kind.AGE, Kind.AGE)
    assert "Only ann answered these items" in call("agreement", "--db", rows).stdout
    answer(rows, "bob", None, None, Kind.AGE, Kind.AGE)
    result = call("agreement", "--db", rows)
    assert "No two annotators answered the same item." in result.stdout
    assert report(call, rows)["fleiss"]["kappa"]["value"] is None  # type: ignore[index]


def test_what_is_said_of_few_items(call: Call, rows: Path) -> None:
    answer(rows, "ann", Kind.AGE, Kind.AGE, Kind.AGE, Kind.AGE)
    answer(rows, "bob", Kind.AGE, Kind.AGE, Kind.AGE)
    answer(rows, "cyd", Kind.AGE, Kind.AGE)
    said = " ".join(call("agreement", "--db", rows, "--no-skill").stdout.split())
    assert "left out: 1 item with fewer than two answers: votes<2" in said
    assert "With fewer than 30 passages, intervals are rough." in said
    assert "share: among items with the same number of answers" in said
    assert "the passages do not differ in this" in said
    # The path may be broken over two lines where it has a dot.
    assert f"nfh-tui browse --db {rows} 'FIND'".replace(" ", "") in said.replace(" ", "")


def test_an_expert_is_no_annotator(call: Call, rows: Path) -> None:
    answer(rows, "ann", Kind.AGE, Kind.AGE)
    answer(rows, "eva", Kind.AGE, Kind.YEAR, role=Role.ADJUDICATOR)
    result = call("agreement", "--db", rows, "--resamples", 50)
    assert "Only ann answered these items" in result.stdout
    assert "Annotators against what an adjudicator decided" in result.stdout
    found = report(call, rows)
    assert found["pairs"]["pairs"] == 0  # type: ignore[index]
    (two,) = found["against_expert"]["annotators"]  # type: ignore[index]
    assert (two["left"], two["items"], two["equal"]["value"]) == ("ann", 2, 0.5)


def test_the_same_call_gives_the_same_report(call: Call, demo: Path) -> None:
    first = call("agreement", "--db", demo, "--json", "--seed", 3, "--resamples", 50)
    second = call("agreement", "--db", demo, "--json", "--seed", 3, "--resamples", 50)
    assert first.stdout == second.stdout
    other = call("agreement", "--db", demo, "--json", "--seed", 4, "--resamples", 50)
    assert json.loads(other.stdout)["alpha"] != json.loads(first.stdout)["alpha"]


@pytest.mark.long
def test_on_a_pipe_it_is_plain_and_at_most_80_wide(program: Program, demo: Path) -> None:
    result = program("agreement", "--db", demo, "--matrix", "--resamples", 50)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    for words in ("Krippendorff's alpha", "Majority (rows)", "differs:ann1~ann2", "skill"):
        assert words in result.stdout


def test_no_number_is_cut_off_where_there_is_little_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from nfh_tui.cli import report

    monkeypatch.setattr(report, "WIDTH", 40)
    page = report.CommandReport()
    measure = Measure(0.5, 0.25, 0.75, 8, None)
    names = ("people", "items:", "whole", "kappa", "find")
    brief = report.Brief(measure, interval=True)
    page.table(names, [("ann1, ann2", "184,507", measure, brief, "differs:ann1~ann2")])
    for words in ("184,507", "0.500 [0.250, 0.750]", "0.50 [0.25, 0.75]"):
        assert words in page.text()


def test_the_matrix_is_shown_when_it_is_asked_for(call: Call, demo: Path) -> None:
    plain = call("agreement", "--db", demo, "--no-skill", "--resamples", 0)
    assert "Majority" not in plain.stdout
    with_matrix = call("agreement", "--db", demo, "--no-skill", "--resamples", 0, "--matrix")
    assert "Majority" in with_matrix.stdout
    assert "said:ann2/REFERENCE said:ann3/OTHER" in with_matrix.stdout


def test_calls_that_are_wrong_say_so(call: Call, rows: Path, home: Path) -> None:
    assert call("agreement", "--db", rows, "clas:AGE").exit_code == 2
    assert call("agreement", "--db", rows, "--resamples", -1).exit_code == 2
    result = call("agreement", "--db", home / "none.db")
    assert result.exit_code == 1
    assert "none.db" in result.stderr


def test_a_report_makes_nobody(call: Call, rows: Path) -> None:
    assert call("agreement", "--db", rows, "--as", "stranger", "todo:me").exit_code == 0
    with Store.open(rows) as store:
        assert "stranger" not in {one.name for one in store.people.all()}


def test_names_cannot_steer_the_terminal(call: Call, rows: Path) -> None:
    answer(rows, "a[red]b", Kind.AGE, Kind.AGE)
    answer(rows, "b", Kind.AGE, Kind.YEAR)
    assert "a[red]b, b" in call("agreement", "--db", rows, "--resamples", 0).stdout


def test_the_command_imports_no_library_before_it_is_called() -> None:
    code = "import sys, nfh_tui.cli.agreement; print(*sys.modules)"
    listed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    loaded = {module.split(".")[0] for module in listed}
    assert loaded.isdisjoint(
        {"numpy", "sklearn", "statsmodels", "krippendorff", "rich", "spacy"}
    )


def test_two_experts_on_one_item_are_compared(call: Call, rows: Path) -> None:
    answer(rows, "eva", Kind.AGE, Kind.YEAR, Kind.AGE, role=Role.ADJUDICATOR)
    answer(rows, "tom", Kind.AGE, Kind.AGE, role=Role.ADJUDICATOR)
    found = report(call, rows)
    (two,) = found["experts"]["twos"]  # type: ignore[index]
    assert (two["left"], two["right"], two["items"]) == ("eva", "tom", 2)
    assert two["equal"]["value"] == 0.5
    assert two["differences"] == [{"difference": "class", "items": 1}]
    assert found["pairs"]["pairs"] == 0  # type: ignore[index]
    assert "eva, tom" in call("agreement", "--db", rows, "--resamples", 0).stdout
