"""`nfh-tui export`: what leaves, where it goes, and what stays whole when it cannot."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Mention, Origin, class_answer, reference_answer

Call = Callable[..., Result]
Make = Callable[..., Path]
Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def database(call: Call, nfh_file: Make, home: Path, once: Callable[..., None]) -> Path:
    """Three imported rows: heads [1], and classes AGE and YEAR."""

    def make() -> None:
        for name, head in (("a_dev", [1]), ("b_train", ["AGE"]), ("c", ["YEAR"])):
            file = nfh_file(1, f"{name}.jsonl", head=head, line_indices=[len(name)] * 7)
            assert call("import", file, "--db", "x.db").exit_code == 0

    once(make)
    return home / "x.db"


def lines(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_without_out_the_rows_and_nothing_else_go_to_standard_output(
    call: Call, database: Path
) -> None:
    for out in ([], ["--out", "-"]):
        result = call("export", "--format", "nfh", "--db", database, "--json", *out)
        assert result.exit_code == 0
        assert [line["head"] for line in lines(result)] == [[1], ["AGE"], ["YEAR"]]
        said = result.stderr.splitlines()
        assert said[0].startswith("nfh cannot hold: relations; ")
        assert said[1].startswith("nfh: UNKNOWN is written as OTHER; ")
        assert said[2:] == [
            "nfh: items that lost data: how gold came to count of 3; splits of 2"
        ]


def test_with_out_a_file_is_written_and_a_summary_is_printed(
    call: Call, database: Path, home: Path
) -> None:
    result = call("export", "--format", "gold", "--db", database, "--out", "g.jsonl", "--json")
    assert json.loads(result.stdout) == {
        "format": "gold",
        "out": "g.jsonl",
        "rows": 3,
        "left_out": {},
        "undecided": 0,
        "lost": {},
        "stale_gold": 0,
        "repeated": 1.0,
    }
    assert len((home / "g.jsonl").read_text().splitlines()) == 3
    result = call("export", "--format", "gold", "--db", database, "--out", "h.jsonl")
    assert (result.stdout, result.stderr) == ("h.jsonl: 3 rows written\n", "")


def test_gold_of_a_span_that_was_replaced_is_counted(
    call: Call, database: Path, home: Path
) -> None:
    with Store.open(database) as store:
        eva = store.people.ensure("eva")
        anchor = store.items.read(1, eva, Role.ADJUDICATOR).anchor
        wider = Anchor(anchor.start - 1, anchor.end)
        store.edits.replace_anchor(
            1, eva, Role.ADJUDICATOR, wider, store.edits.stale_labels(1, eva)
        )
    words = (
        "1 item of the database has stale gold, which no file has: its span was replaced "
        "after it was decided, and nobody has decided it again"
    )
    for format_ in ("gold", "nfh"):
        asked = ("export", "state:decided", "--format", format_, "--db", database, "--out", "g")
        told = call(*asked, "--json")
        assert json.loads(told.stdout)["stale_gold"] == 1
        assert words in told.stderr
    told = call("release", "r", "--db", database, "--json")
    assert json.loads(told.stdout)["stale_gold"] == 1
    assert "Gold of 1 number of the database whose span was replaced later" in " ".join(
        (home / "r" / "DATASHEET.md").read_text("utf-8").split()
    )
    assert words in " ".join(call("release", "s", "--db", database).stdout.split())


def test_what_an_export_replaces_is_said(call: Call, database: Path, home: Path) -> None:
    (home / "g.jsonl").write_text("old\n", encoding="utf-8")
    result = call("export", "--format", "gold", "--db", database, "--out", "g.jsonl", "--json")
    assert json.loads(result.stdout)["rows"] == 3
    assert result.stderr == "g.jsonl: replaced the file that was there\n"


@pytest.mark.parametrize(
    ("query", "heads"),
    [
        (["class:AGE"], [["AGE"]]),
        (["-class:AGE"], [[1], ["YEAR"]]),
        (["split:dev"], [[1]]),
        (["state:decided", "-class:AGE", "-class:YEAR"], [[1]]),
        (["--", "-class:AGE"], [[1], ["YEAR"]]),
        (['text:"No , three"', "-split:dev"], [["AGE"], ["YEAR"]]),
    ],
)
def test_a_query_says_what_leaves(
    call: Call, database: Path, query: list[str], heads: list[list[object]]
) -> None:
    result = call("export", "--format", "nfh", "--db", database, *query)
    assert result.exit_code == 0, result.stderr
    assert [line["head"] for line in lines(result)] == heads


@pytest.mark.parametrize("query", ["kind:", "state:nowhere", 'text:"open'])
def test_a_wrong_query_is_a_wrong_call(call: Call, database: Path, query: str) -> None:
    result = call("export", "--format", "nfh", "--db", database, query)
    assert result.exit_code == 2
    assert "(at character " in result.stderr
    assert result.stdout == ""


def test_a_format_that_does_not_go_out_is_a_wrong_call(call: Call, database: Path) -> None:
    for wrong in ("nfh-ident", "dialog"):
        result = call("export", "--format", wrong, "--db", database)
        assert result.exit_code == 2
        assert "is not one of 'nfh', 'gold'" in result.stderr
    assert call("export", "--db", database).exit_code == 2


def test_what_has_no_release_form_is_counted(call: Call, home: Path) -> None:
    (home / "i.tsv").write_text(
        "text\tind_s\tind_e\ty\nOne_SEP_!\t0\t1\t1\n5_SEP_cups\t0\t1\t0\n6_SEP_cups\t0\t1\t0\n"
    )
    (home / "d.txt").write_text("Ann: two\n")
    assert call("import", "i.tsv", "d.txt", "--db", "x.db").exit_code == 0
    result = call("export", "--format", "nfh", "--db", "x.db", "--out", "n.jsonl", "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert (report["rows"], report["left_out"]) == (0, {"NFH": 1, "NOT_NFH": 2, "open": 1})
    assert "2 items left out: not NFHs; nfh cannot hold them" in result.stderr
    assert "1 item left out: undecided; nfh cannot hold them" in result.stderr
    assert (home / "n.jsonl").read_text() == ""


def test_a_decision_leaves_with_the_mentions_asked_for(call: Call, home: Path) -> None:
    (home / "d.txt").write_text("Ann: Six cups, cups and mugs?\nBen: No, three, cups.\n")
    assert call("import", "d.txt", "--db", "x.db").exit_code == 0
    with Store.open(home / "x.db") as store:
        eva = store.people.ensure("eva")
        six, three = [
            id_ for chunk in store.queue.ids(parse("sort:order"), eva) for id_ in chunk
        ]
        head = [
            Mention(1, 2, 1),
            Mention(3, 4, 3, Origin.ADDED),
            Mention(11, 12, 11, Origin.ADDED),
        ]
        store.edits.commit_answer(three, eva, Role.ADJUDICATOR, reference_answer([head]))
        store.edits.commit_answer(six, eva, Role.ADJUDICATOR, class_answer(Kind.UNKNOWN))
    expected = {"all": [1, 3, 11], "marked": [1], "nearest": [11]}
    for mentions, indices in expected.items():
        result = call("export", "--format", "nfh", "--db", "x.db", "--mentions", mentions)
        assert [line["head"] for line in lines(result)] == [["OTHER"], indices]
    default = call("export", "--format", "nfh", "--db", "x.db")
    assert lines(default)[1]["head"] == expected["all"]


def test_the_database_itself_is_never_overwritten(
    call: Call, database: Path, home: Path
) -> None:
    (home / "link").symlink_to(database)
    before = database.read_bytes()
    for out in (database, home / "link", "x.db", "x.db-wal", "x.db-shm"):
        result = call("export", "--format", "nfh", "--db", database, "--out", out)
        assert result.exit_code == 1
        assert "is the database itself; name another file" in result.stderr
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    ("out", "message"),
    [(".", "is a folder; wanted the name of a file"), ("no/x", "there is no such folder")],
)
def test_a_place_that_cannot_be_written_is_named(
    call: Call, database: Path, out: str, message: str
) -> None:
    result = call("export", "--format", "nfh", "--db", database, "--out", out, "--json")
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


def test_a_reader_that_goes_away_is_no_error_to_read_about(
    home: Path, call: Call, nfh_file: Make
) -> None:
    assert call("import", nfh_file(600), "--db", "x.db").exit_code == 0
    command = [sys.executable, "-P", "-m", "nfh_tui", "export", "--format", "gold"]
    with subprocess.Popen(
        [*command, "--db", "x.db"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=300) == 1


def test_a_full_standard_output_is_a_sentence(program: Program, database: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("w") as full:
        done = program(
            "export", "--format", "gold", "--db", database, capture_output=False, stdout=full,
            stderr=subprocess.PIPE,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "nfh-tui: standard output: No space left on device\n"


def test_undecided_rows_of_a_gold_file_are_said(call: Call, home: Path) -> None:
    (home / "d.txt").write_text("Ann: two or three\n", encoding="utf-8")
    assert call("import", "d.txt", "--db", "x.db").exit_code == 0
    result = call("export", "--format", "gold", "--db", "x.db", "--out", "g.jsonl")
    assert "2 items of the query without a decision (kind null)" in result.stderr
    result = call(
        "export", "state:decided", "--format", "gold", "--db", "x.db", "--out", "h.jsonl"
    )
    assert result.stderr == ""


@pytest.mark.parametrize("call", ["--help", "--version", "formats", "keys"])
def test_what_cannot_be_printed_is_a_sentence(program: Program, call: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = program(
            call, capture_output=False, stdout=full, stderr=subprocess.PIPE, env=environment
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_output_is_utf8_whatever_the_terminal_says(program: Program, home: Path) -> None:
    (home / "d.txt").write_text("Ann: né 小明 two\n", encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    assert program("import", "d.txt", "--db", "x.db", env=environment).returncode == 0
    done = program("export", "--format", "gold", "--db", "x.db", env=environment, text=False)
    assert "né 小明 two" in done.stdout.decode("utf-8")  # type: ignore[attr-defined]


def closed(stream: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The program as a shell runs it that closes one of its streams: ">&-" or "2>&-"."""
    command = [sys.executable, "-P", "-m", "nfh_tui", *map(str, arguments)]
    shell = ["sh", "-c", f'exec "$@" {stream}', "sh", *command]
    return subprocess.run(shell, capture_output=True, text=True, timeout=300)


def test_a_closed_standard_output_is_a_sentence(database: Path) -> None:
    done = closed(">&-", "export", "--format", "gold", "--db", database)
    assert done.returncode == 1
    assert done.stderr == "nfh-tui: Standard output is closed: name a file with --out\n"


def test_a_closed_standard_error_hinders_nothing(database: Path, nfh_file: Make) -> None:
    done = closed("2>&-", "import", nfh_file(4, "more.jsonl"), "--db", database, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["files"][0]["rows"] == 4


def test_a_link_that_leads_to_itself_is_refused(call: Call, database: Path, home: Path) -> None:
    (home / "loop").symlink_to("loop")
    result = call("export", "--format", "nfh", "--db", database, "--out", "loop")
    assert result.exit_code == 1
    assert "is a link that leads to itself; name a file" in result.stderr
    assert (home / "loop").readlink() == Path("loop")


# --- nothing to write -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "format_", "words"),
    [
        ("class:TIME", "nfh", "the query finds nothing"),
        ("class:TIME", "gold", "the query finds nothing"),
        ("class:TIME", "brat", "the query finds nothing"),
        ("class:TIME", "label-studio", "the query finds nothing"),
        ("class:TIME", "docbin", "the query finds nothing"),
        ("state:open", "nfh", "nfh has no form for what the query finds"),
    ],
)
def test_nothing_takes_the_place_of_no_file(
    call: Call, database: Path, home: Path, query: str, format_: str, words: str
) -> None:
    (home / "talk.txt").write_text("Ann: I have two.\n")
    assert call("import", "talk.txt", "--db", database).exit_code == 0
    kept = home / ("keep.zip" if format_ in ("brat", "docbin") else "keep.out")
    kept.write_text("precious\n")
    asked = ("export", query, "--format", format_, "--db", database, "--out", kept)
    result = call(*asked)
    assert result.exit_code == 1
    assert f"the existing file is unchanged, because {words}" in result.stderr
    assert "replaced the file" not in result.stderr
    assert kept.read_text() == "precious\n"
    assert [path.name for path in home.glob(".*")] == []
    assert call(*asked, "--allow-empty").exit_code == 0
    assert "precious" not in kept.read_text("latin-1")
    kept.unlink()
    assert call(*asked).exit_code == 0
    assert kept.is_file()


def test_nor_do_lines_about_a_text_without_numbers(
    call: Call, database: Path, home: Path
) -> None:
    kept = home / "keep.jsonl"
    kept.write_text("precious\n")
    (home / "talk.txt").write_text("Ann: I have none.\n")
    for asked in (
        ("identify", "--file", "talk.txt"),
        ("predict", "--file", "talk.txt"),
        ("guidelines", "discuss", "--db", database),
    ):
        result = call(*asked, "--out", kept)
        assert (result.exit_code, kept.read_text()) == (1, "precious\n")
        assert "keep.jsonl: the existing file is unchanged" in result.stderr
        assert call(*asked, "--out", kept, "--allow-empty").exit_code == 0
        assert kept.read_text() != "precious\n"
        kept.write_text("precious\n")


# --- names that begin with a dash -----------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("export", "--format", "gold"),
        ("export", "-class:TIME", "--format", "gold", "-class:OTHER"),
        ("stats",),
        ("doctor",),
        ("history",),
        ("agreement",),
        ("settle", "--rule", "majority"),
        ("assign",),
        ("release", "away"),
        ("evaluate", "resolution", "--resamples", "0"),
        ("jobs",),
        ("models",),
        ("guidelines",),
        ("identify",),
    ],
)
def test_a_database_whose_name_begins_with_a_dash(
    call: Call, database: Path, command: tuple[str, ...]
) -> None:
    database.rename(database.with_name("-x.db"))
    result = call(*command, "--db", "-x.db")
    assert result.exit_code == 0, result.output


def test_words_that_begin_with_a_dash_stay_in_order(
    call: Call, database: Path, home: Path
) -> None:
    database.rename(home / "-x.db")
    assert call("backup", "-y.db", "--db", "-x.db").exit_code == 0
    assert call("import", "b_train.jsonl", "--split", "test", "--db", "-y.db").exit_code == 0
    assert call("merge", "-y.db", "--db", "-x.db", "--dry-run").exit_code == 0
    told = json.loads(call("diff", "-x.db", "-y.db", "--json").stdout)
    assert (told["a"]["path"], told["b"]["path"]) == ("-x.db", "-y.db")


def test_a_passage_with_many_numbers_is_written_once_if_asked(call: Call, home: Path) -> None:
    text = "Ann: " + " , ".join(["two"] * 11)
    (home / "many.txt").write_text(text, encoding="utf-8")
    assert call("import", "many.txt", "--db", "m.db").exit_code == 0
    plain = call("export", "--format", "gold", "--db", "m.db", "--out", "plain.jsonl")
    assert "passages are written 11 times; --compact writes each once" in plain.stderr
    options = ("--format", "gold", "--compact", "--db", "m.db", "--out", "compact.jsonl")
    assert "--compact" not in call("export", *options).stderr
    first, *others = (home / "compact.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(others) == 10
    assert "two , two" in first
    assert not any("two , two" in line for line in others)
    again = call("import", "compact.jsonl", "--db", "m.db", "--json")
    (told,) = json.loads(again.stdout)["files"]
    assert (told["rows"], told["passages_new"], told["anchors_new"]) == (11, 0, 0)
    refused = call("export", "--format", "nfh", "--compact", "--db", "m.db")
    assert refused.exit_code == 1
    assert "nfh has no compact form; leave --compact out" in refused.stderr
