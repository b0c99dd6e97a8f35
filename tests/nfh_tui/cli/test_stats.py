"""`nfh-tui stats`: what it counts, prints and draws."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Exposure, Identified, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.demo import ensure_demo

Call = Callable[..., Result]
Make = Callable[..., Path]
Built = Callable[[Callable[[Path], object], Path], Path]
Program = Callable[..., subprocess.CompletedProcess[str]]

IDENTIFICATION = (
    "text\tind_s\tind_e\ty\n"
    "No_SEP_one_SEP_was_SEP_there_SEP_.\t1\t2\t1\n"
    "She_SEP_ate_SEP_two_SEP_apples_SEP_.\t2\t3\t0\n"
    "He_SEP_turned_SEP_50_SEP_.\t2\t3\t1\n"
)


@pytest.fixture
def demo(home: Path, built: Built) -> Path:
    """The sample corpus, part of which has gold."""
    return built(ensure_demo, home / "demo.db")


@pytest.fixture
def sentences(call: Call, home: Path) -> Path:
    """Three rows of an identification file, of which two are NFHs."""
    (home / "rows_dev.tsv").write_text(IDENTIFICATION, encoding="utf-8")
    assert call("import", "rows_dev.tsv", "--db", "s.db").exit_code == 0
    return home / "s.db"


def report(call: Call, path: Path, *more: object) -> dict[str, object]:
    result = call("stats", "--db", path, "--json", *more)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    found: dict[str, object] = json.loads(result.stdout, parse_constant=pytest.fail)
    return found


def words(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


@pytest.mark.long
def test_the_real_files_give_the_figures_known_of_them(
    call: Call, home: Path, data_dir: Path
) -> None:
    file = data_dir / "resolution" / "nfh_dev.jsonl"
    assert call("import", file, "--db", "dev.db").exit_code == 0
    found = report(call, home / "dev.db")
    classes, heads = found["classes"], found["heads"]
    assert [classes[kind]["count"] for kind in found["paper"]["resolution"]["classes"]] == [  # type: ignore[index]
        464, 46, 108, 40, 93, 32, 217,
    ]  # fmt: skip
    assert heads["sides"]["before"] == {"count": 386, "share": 386 / 464}  # type: ignore[index]
    assert heads["turns_off"]["3+"]["count"] == 3  # type: ignore[index]
    assert heads["distance"]["median"] == 8  # type: ignore[index]
    assert heads["by_noun"]["histogram"] == [[1, 453], [2, 10], [3, 1]]  # type: ignore[index]
    assert found["numbers"]["share"] is None  # type: ignore[index]
    assert "hold only NFHs" in found["numbers"]["why"]  # type: ignore[index]
    assert found["numbers"]["from_resolution_files"] == 1_000  # type: ignore[index]
    printed = call("stats", "--db", home / "dev.db", "--plot").stdout
    page = (Path(__file__).resolve().parents[3] / "docs" / "statistics.md").read_text("utf-8")
    blocks = [block for block in page.split("```") if "--db resolution.db" in block]
    lines = [
        line for block in blocks for line in block.splitlines()[2:] if line not in ("", "…")
    ]
    assert len(lines) > 12
    assert set(lines) <= set(printed.splitlines())


def test_it_says_of_which_numbers_shares_are(call: Call, sentences: Path) -> None:
    found = report(call, sentences)
    numbers = found["numbers"]
    assert numbers["share"] == 2 / 3  # type: ignore[index]
    assert numbers["from_identification_files"] == 3  # type: ignore[index]
    shown = words(call("stats", "--db", sentences))
    assert "Shares of NFHs are of the 3 numbers said to be one or none." in shown
    assert "label one number a sentence" in shown
    assert "NFH 2 66.7 %" in shown
    assert "its test file (table 2) 41.2 %" in shown
    assert "Classes" not in shown
    assert found["classes"]["n"] == 0  # type: ignore[index]
    assert found["classes"]["AGE"] == {"count": 0, "share": None}  # type: ignore[index]


def test_what_people_decide_is_counted_and_what_nobody_did_is_said(
    call: Call, nfh_file: Make, home: Path
) -> None:
    call("import", nfh_file(5), "--annotator", "ann", "--db", "x.db")
    with Store.open(home / "x.db") as store:
        eva = store.people.ensure("eva")
        for at, kind in enumerate((Kind.AGE, Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN), 1):
            answer = class_answer(kind)
            store.edits.commit_answer(at, eva, Role.ADJUDICATOR, answer, Exposure())
    numbers = report(call, home / "x.db")["numbers"]
    wanted = {"found": 5, "unsaid": 1, "nfh": 2, "not_nfh": 1, "broken": 1, "share": 2 / 3}
    assert wanted.items() <= numbers.items()  # type: ignore[attr-defined]
    shown = words(call("stats", "--db", home / "x.db"))
    assert "In no share: 1 without gold and 1 BROKEN." in shown
    assert "OTHER holds 1 UNKNOWN" in shown


def test_what_a_model_says_is_counted_where_it_is_asked_for(
    call: Call, sentences: Path
) -> None:
    result = call("stats", "--db", sentences, "--of", "identified")
    assert result.exit_code == 1
    assert "no active model of identification" in result.stderr
    with Store.open(sentences) as store:
        model = store.models.ensure("rules", "identification", "rules", "rules 1")
        said = [(1, Identified("rules", True, "no-one")), (2, Identified("rules", True, "x"))]
        store.identifications.save(model, "rules 1", said)
    found = report(call, sentences, "--of", "identified")
    assert (found["of"], found["model"]) == ("identified", "rules")
    wanted = {"found": 3, "unsaid": 1, "nfh": 2, "share": 1.0, "why": None, "with_gold": 2}
    assert wanted.items() <= found["numbers"].items()  # type: ignore[attr-defined]
    shown = words(call("stats", "--db", sentences, "--of", "identified"))
    assert "counted by what the model rules says" in shown
    assert "1 that the model has not decided" in shown
    assert "2 have gold, too" in shown
    nothing = words(call("stats", "--db", sentences, "--of", "identified", "anchor:50"))
    assert "has decided none of them" in nothing


def test_a_query_chooses_the_numbers(call: Call, demo: Path) -> None:
    query = "class:AGE,YEAR"
    found = report(call, demo, query, "-class:YEAR")
    with Store.open(demo) as store:
        wanted = store.queue.count(parse("class:AGE"), store.people.ensure("editor"))
    assert wanted
    assert found["numbers"]["found"] == wanted  # type: ignore[index]
    assert found["classes"]["AGE"] == {"count": wanted, "share": 1.0}  # type: ignore[index]
    assert call("stats", "--db", demo, "clas:AGE").exit_code == 2


def test_groups_add_up_to_the_whole(call: Call, demo: Path, sentences: Path) -> None:
    for path in (demo, sentences):
        for by in ("split", "doc"):
            found = report(call, path, "--by", by)
            groups, whole = found["groups"], found["numbers"]
            for figure in ("nfh", "not_nfh", "broken"):
                assert sum(one["numbers"][figure] for one in groups) == whole[figure]  # type: ignore[index, attr-defined]
    assert "By split split numbers NFH share" in words(
        call("stats", "--db", sentences, "--by", "split")
    )
    assert "rows_dev.tsv" in words(call("stats", "--db", sentences, "--by", "doc"))


def test_nothing_to_count_is_said(call: Call, home: Path, sentences: Path) -> None:
    call("init", "--db", "empty.db")
    assert "There is no number here." in words(call("stats", "--db", "empty.db", "--plot"))
    assert "The query finds no number." in words(call("stats", "--db", sentences, "zebra"))
    assert report(call, home / "empty.db")["anchors"]["longest"] is None  # type: ignore[index]
    (home / "talk.txt").write_text("Ann: I want two .\n", encoding="utf-8")
    call("import", "talk.txt", "--format", "dialog", "--db", "talk.db")
    assert "None of them has gold." in words(call("stats", "--db", "talk.db"))


def test_top_limits_what_is_listed(call: Call, demo: Path) -> None:
    whole = report(call, demo, "--top", 10_000)["anchors"]
    assert len(whole["top"]) == whole["distinct"]["count"]  # type: ignore[index]
    two = report(call, demo, "--top", 2)["anchors"]
    assert two["top"] == whole["top"][:2]  # type: ignore[index]
    assert f"{len(whole['top']) - 2} further anchors" in words(  # type: ignore[index]
        call("stats", "--db", demo, "--top", 2)
    )
    assert call("stats", "--db", demo, "--top", 0).exit_code == 2


def test_on_a_pipe_it_is_plain_and_at_most_80_wide(call: Call, demo: Path) -> None:
    result = call("stats", "--db", demo, "--plot", "--by", "doc")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    for title in ("Classes\n", "Anchors\n", "Tokens to the nearest head\n"):
        assert title in result.stdout
    assert "█" in result.stdout


def test_where_the_terminal_has_no_blocks_bars_are_ascii(
    program: Program, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = program("stats", "--db", demo, "--plot")
    assert result.returncode == 0, result.stderr
    assert result.stdout.isascii()
    assert "#####" in result.stdout


def test_words_of_files_cannot_steer_the_terminal(call: Call, home: Path) -> None:
    rows = IDENTIFICATION + "a_SEP_[red]\x1b[31m9_SEP_.\t1\t2\t1\n"
    (home / "[b]\x1b[2J.tsv").write_text(rows, encoding="utf-8")
    assert call("import", "[b]\x1b[2J.tsv", "--db", "e.db").exit_code == 0
    result = call("stats", "--db", "e.db", "--by", "doc", "--plot")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "[red]␛[31m9" in result.stdout
    assert "[b]␛[2J" in result.stdout


def test_plot_and_json_exclude_each_other(call: Call, demo: Path) -> None:
    result = call("stats", "--db", demo, "--plot", "--json")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


def test_a_report_makes_nobody_and_changes_nothing(
    call: Call, demo: Path, dump: Callable[[Path], object]
) -> None:
    before = dump(demo)
    assert call("stats", "--db", demo, "--as", "stranger", "--plot").exit_code == 0
    assert dump(demo) == before


def test_the_report_needs_no_framework() -> None:
    listing = (
        "import sys, nfh_tui.cli.stats; print(*{name.split('.')[0] for name in sys.modules})"
    )
    listed = subprocess.run(
        [sys.executable, "-c", listing], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "nfh_tui" in listed
    assert {"numpy", "spacy", "sklearn", "textual"}.isdisjoint(listed)
