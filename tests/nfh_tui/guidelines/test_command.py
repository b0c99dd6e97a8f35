"""`nfh-tui guidelines`: the text, its use, a new version, and a page of items to discuss."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import Exposure, FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind
from nfh_tui.cli.main import commands
from nfh_tui.services.guidelines import first_text
from nfh_tui.services.guidelines_report import escape
from tests.nfh_tui.workbench.conftest import PASSAGES


@pytest.fixture
def call(tmp_path: Path):
    """Runs `nfh-tui guidelines …` on a database of its own."""
    path = tmp_path / "nfh.db"

    def run(*arguments: object, **more: object) -> Result:
        words = ["guidelines", *map(str, arguments), "--db", str(path)]
        return CliRunner().invoke(commands, words, **more)

    run.path = path
    assert CliRunner().invoke(commands, ["init", "--db", str(path)]).exit_code == 0
    return run


def told(result: Result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_new_database_begins_with_the_first_text(call) -> None:
    assert call().stdout == first_text()
    found = told(call("--json"))
    assert (found["version"], found["holds"], found["by"]) == (1, True, None)
    assert found["text"] == first_text()
    assert [rule["id"] for rule in found["rules"]][:3] == ["R1", "R2", "R3"]


def test_set_makes_versions_and_diff_tells_them_apart(call, tmp_path, text) -> None:
    file = tmp_path / "own.md"
    file.write_text(text)
    made = call("set", file, "--as", "eva")
    assert made.stdout.startswith("Version 2 is now in force:")
    assert "nothing changed" in call("set", file, "--as", "bob").stdout
    changed = text.replace("Widen it.", "Widen it, always.")
    found = told(call("set", "-", "--as", "bob", "--json", input=changed))
    assert (found["version"], found["new"], found["rules"]["changed"]) == (3, True, ["R1"])
    rows = call("versions").stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["3", "2", "1"]
    assert "bob" in rows[0]
    assert "R1 changed" in rows[0]
    assert "came with the program" in rows[2]
    assert told(call("versions", "--json"))["versions"][1]["by"] == "eva"
    assert "+Widen it, always." in call("diff", 2).stdout
    assert "+Widen it." in call("diff", 3, 2).stdout
    assert told(call("diff", 2, 3, "--json"))["changes"][0]["id"] == "R1"
    assert "say the same" in call("diff", 3).stdout
    assert call("--version", 2).stdout == text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"no rules", "hold no rule"),
        (b"## R1 A\n## R1 B\n", "own.md, line 2"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_guidelines_is_refused(call, tmp_path, body, words) -> None:
    file = tmp_path / "own.md"
    file.write_bytes(body)
    result = call("set", file)
    assert result.exit_code == 1
    assert words in result.stderr
    assert len(told(call("versions", "--json"))["versions"]) == 1


def test_what_is_not_there_is_said(call, tmp_path) -> None:
    assert "there is no version 7: there are 1 to 1" in call("--version", 7).stderr
    assert call("diff", 1, 9).exit_code == 1
    assert call("set", tmp_path / "none.md").exit_code == 1
    assert call("diff").exit_code == 2
    bare = tmp_path / "bare.db"
    Store.open(bare, create=True).close()
    result = CliRunner().invoke(commands, ["guidelines", "--db", str(bare)])
    assert result.exit_code == 1
    assert "no guidelines yet" in result.stderr


def test_rules_are_counted(call) -> None:
    fill(call.path)
    rows = call("--rules").stdout.splitlines()
    assert "R5          1        1         0  Age, clock and money" in rows
    assert any(row.startswith("§9") and "no such rule" in row for row in rows)
    found = told(call("--json"))
    r5 = next(rule for rule in found["rules"] if rule["id"] == "R5")
    assert (r5["items"], r5["decisions"], r5["older"]) == (1, 1, 0)
    assert found["other_tags"] == ["§9"]
    changed = first_text().replace("## R5 Age", "## R5 An age")
    assert told(call("set", "-", "--json", input=changed))["outdated"] == 1


# --- the page to discuss ----------------------------------------------------------------


def fill(path: Path) -> None:
    """The small database; eva decides and flags the hostile item, bob tags another one."""
    with Store.open(path) as store:
        store.imports.load(IncomingFile("shell.gold.jsonl", "0" * 64, "gold"), PASSAGES)
        eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
        anchors = next(store.queue.ids(parse(""), eva))
        answer = Answer(Kind.AGE, comment="see <script>x</script> [a](http://b) \x1b[1m")
        store.edits.commit_answer(
            anchors[3], eva, Role.ADJUDICATOR, answer, Exposure(rule_tag="5")
        )
        store.edits.set_flag(anchors[3], eva, FlagName.GUIDELINE, True)
        store.edits.set_flag(anchors[3], bob, FlagName.SKIP, True)
        store.edits.commit_answer(
            anchors[0], bob, Role.ANNOTATOR, answer, Exposure(rule_tag="§9")
        )


def test_flagged_items_make_a_page(call, tmp_path) -> None:
    fill(call.path)
    out = tmp_path / "sheet.md"
    assert call("discuss", "--out", out).stdout == f"1 item written to {out}\n"
    page = out.read_text()
    assert page.startswith("# Items to discuss\n\n1 item. Found by flag\\:guideline in nfh.db")
    assert "by rule R5 Age, clock and money (version 1)" in page
    assert "* **eva** (adjudicator): Age" in page
    assert "**Take**" not in page
    assert "**one**" in page.casefold()
    assert "* flag guideline: eva\n" in page
    assert "bob" not in page
    assert page == call("discuss").stdout


def test_nothing_on_the_page_runs_or_links(call) -> None:
    fill(call.path)
    page = call("discuss").stdout
    assert not {"\x1b", "\t", "\u202e"} & set(page)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(page)
    assert "<script" not in html
    assert "<a " not in html
    assert "&lt;script&gt;x&lt;/script&gt; [a](http://b) ␛[1m" in html
    assert "[red]Ann[/]" in html


def test_a_blind_page_names_nobody(call) -> None:
    fill(call.path)
    page = call("discuss", "id:1,4", "--blind").stdout
    for name in ("eva", "bob", "ann1", "ann2", "ann3"):
        assert name not in page
    assert "annotator 4" in page
    assert "an adjudicator" in page


def test_a_query_chooses_the_items(call) -> None:
    fill(call.path)
    found = told(call("discuss", "id:1", "--json"))
    assert (found["query"], found["count"], found["out"]) == ("id:1", 1, None)
    item = found["items"][0]
    assert item["word"] == "two"
    assert item["answers"][-1]["rule"] == "§9 (no such rule now)"
    assert "".join(item["turns"][1][part] for part in ("before", "word", "after")) == (
        "Then take two of mine ."
    )
    assert call("discuss", "class:NONSENSE").exit_code == 2
    assert call("discuss", "--out", call.path).exit_code == 2


@pytest.mark.parametrize(
    "text",
    ["a*b*c _d_", "# head", "1. one", "- item", "www.evil.com http://x a@b.c", ":smile: $x$",
     "`code` <b> &amp; &#27;", "a | b", "~~x~~ ![i](u) [^1]", "\\", "=== ---"],
)  # fmt: skip
def test_harmless_text_reads_as_it_is(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(escape(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} == {"text"}
    assert "".join(child.content for child in children) == text


def test_reading_needs_no_writing(call, monkeypatch) -> None:
    fill(call.path)
    call.path.chmod(0o444)
    call.path.parent.chmod(0o555)
    try:
        assert call().exit_code == 0
        assert call("discuss").exit_code == 0
        assert call("versions").exit_code == 0
    finally:
        call.path.parent.chmod(0o755)
        call.path.chmod(0o644)


@pytest.mark.parametrize("number", [99999999999999999999, 2**63 - 1, 0])
def test_a_version_that_cannot_be(call, number) -> None:
    for result in (call("--version", number), call("diff", 1, number)):
        assert result.exit_code == 1
        assert f"there is no version {number}: there are 1 to 1" in result.output


def test_a_title_is_printed_visibly(call, tmp_path) -> None:
    file = tmp_path / "own.md"
    file.write_text("# About \u202e\n\nwords\n\n## R1 One\n\nwords\n", "utf-8")
    result = call("set", file)
    assert "\u202e" not in result.output
