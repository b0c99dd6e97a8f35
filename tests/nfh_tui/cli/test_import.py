"""`nfh-tui import`: what comes in, what is refused, and that a refused file leaves nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.formats.registry import NFH
from nfh_db.store import Store

Call = Callable[..., Result]
Dump = dict[str, list[tuple[object, ...]]]
Make = Callable[..., Path]


def report(result: Result) -> dict[str, object]:
    return json.loads(result.stdout)["files"][0]


def test_an_nfh_file_comes_in_and_says_what_it_brought(call: Call, nfh_file: Make) -> None:
    result = call("import", nfh_file(3, "nfh_dev.jsonl"), "--db", "x.db")
    assert result.exit_code == 0
    assert "nfh_dev.jsonl: 3 rows: 3 passages, 3 items new; gold 3 new" in result.stdout
    assert "nfh_dev.jsonl: read as nfh: its first line is a JSON object" in result.stderr


def test_json_is_one_object_and_nothing_else(call: Call, nfh_file: Make) -> None:
    result = call("import", nfh_file(), nfh_file(2, "b.jsonl"), "--db", "x.db", "--json")
    answer = json.loads(result.stdout)
    assert answer["ok"] is True
    assert [one["rows"] for one in answer["files"]] == [3, 2]


def test_importing_again_changes_nothing(
    call: Call, home: Path, nfh_file: Make, dump: Callable[[Path], Dump]
) -> None:
    file = nfh_file(5)
    assert call("import", file, "--db", "x.db").exit_code == 0
    before = dump(home / "x.db")
    result = call("import", file, "--db", "x.db")
    assert result.exit_code == 0
    assert "imported before; nothing changed" in result.stdout
    file.rename(home / "other name.jsonl")
    assert call("import", "other name.jsonl", "--db", "x.db").exit_code == 0
    assert dump(home / "x.db") == before
    assert len(before["anchor"]) == 5


def test_a_dry_run_reports_and_stores_nothing(
    call: Call, home: Path, nfh_file: Make, dump: Callable[[Path], Dump]
) -> None:
    file = nfh_file(4)
    result = call("import", file, "--db", "x.db", "--dry-run", "--json")
    assert (report(result)["anchors_new"], report(result)["dry_run"]) == (4, True)
    assert not (home / "x.db").exists()
    call("init", "--db", "x.db")
    before = dump(home / "x.db")
    result = call("import", file, "--db", "x.db", "--dry-run")
    assert "4 items new" in result.stdout
    assert "Nothing was stored" in result.stdout
    assert dump(home / "x.db") == before


def test_with_an_annotator_the_labels_are_answers(
    call: Call, nfh_file: Make, home: Path, dump: Callable[[Path], Dump]
) -> None:
    result = call("import", nfh_file(), "--db", "x.db", "--annotator", " Eva Ö. ", "--json")
    assert (report(result)["votes_new"], report(result)["gold_new"]) == (3, 0)
    stored = dump(home / "x.db")
    assert stored["gold"] == []
    assert [row[1] for row in stored["annotator"]] == ["Eva Ö."]


@pytest.mark.parametrize(
    ("name", "option", "expected"),
    [
        ("nfh_dev.jsonl", [], "dev"),
        ("dev-train.jsonl", [], None),
        ("rows.jsonl", [], None),
        ("development.jsonl", [], None),
        ("My.TRAIN.jsonl", [], "train"),
        ("nfh_dev.jsonl", ["--split", "held-out"], "held-out"),
    ],
)
def test_the_split_is_asked_for_or_in_the_name(
    call: Call,
    nfh_file: Make,
    home: Path,
    name: str,
    option: list[str],
    expected: str | None,
    dump: Callable[[Path], Dump],
) -> None:
    assert call("import", nfh_file(1, name), "--db", "x.db", *option).exit_code == 0
    (row,) = dump(home / "x.db")["source_row"]
    assert row[4] == expected


def test_heads_of_one_lemma_are_one_head(
    call: Call, nfh_file: Make, home: Path, dump: Callable[[Path], Dump]
) -> None:
    words = ["Ticket", ",", "tickets", "and", "spoons", "?", "No", ",", "three", "!"]
    file = nfh_file(
        1,
        tokens=words,
        line_indices=[0] * 10,
        speakers=["A"] * 10,
        anchors_indices=[8],
        head=[0, 2, 4],
    )
    assert call("import", file, "--db", "x.db").exit_code == 0
    stored = dump(home / "x.db")
    assert [row[1:] for row in stored["mention"]] == [
        (0, 0, 1, 0, "marked"),
        (1, 2, 3, 2, "marked"),
        (0, 4, 5, 4, "marked"),
    ]
    assert [(row[1], row[2]) for row in stored["gold"]] == [("REFERENCE", "UNSTATED")]


def test_a_nan_speaker_is_accepted_with_a_warning(call: Call, nfh_file: Make) -> None:
    file = nfh_file(2, speakers=[float("nan")] * 7)
    assert "NaN" in file.read_text()
    result = call("import", file, "--db", "x.db", "--json")
    assert result.exit_code == 0
    assert report(result)["warnings"] == ["NaN was given for speakers on 2 lines; read as null"]
    assert "rows.jsonl: warning: NaN was given for speakers on 2 lines" in result.stderr


def test_an_identification_file_comes_in_as_nfh_and_not_nfh(
    call: Call, home: Path, dump: Callable[[Path], Dump]
) -> None:
    file = home / "dev.tsv"
    file.write_text("text\tind_s\tind_e\ty\nOne_SEP_!\t0\t1\t1\n5_SEP_cups\t0\t1\t0\n")
    assert call("import", file, "--db", "x.db").exit_code == 0
    stored = dump(home / "x.db")
    assert [row[1] for row in stored["gold"]] == ["NFH", "NOT_NFH"]
    assert [row[4:] for row in stored["source_row"]] == [("dev", "1"), ("dev", "0")]


DIALOG = "Ann: Two tickets?\r\nBen: No,\tthree [red] \x1b[1mé\u0301 小明.\r\n\r\nAnn: None.\r\n"


def test_numbers_of_a_dialog_become_open_anchors(
    call: Call, home: Path, dump: Callable[[Path], Dump]
) -> None:
    (home / "talk.txt").write_bytes(b"\xef\xbb\xbf" + DIALOG.encode())
    result = call("import", "talk.txt", "--db", "x.db", "--json", "--annotator", "eva")
    assert result.exit_code == 0
    assert report(result)["warnings"] == [
        "dialog files hold no answers: no answer of eva",
        "1 passage without a number left out",
    ]
    stored = dump(home / "x.db")
    assert stored["gold"] == stored["answer"] == stored["annotator"] == []
    ((_, _, _, _, text),) = stored["passage"]
    assert text == "Ann: Two tickets?\nBen: No,\tthree [red] \x1b[1mé\u0301 小明."
    assert [row[6] for row in stored["anchor"]] == ["Two", "three"]
    ((_, _, _, turns, tokenizer),) = stored["passage_token"]
    assert [(number, speaker) for number, speaker, _, _ in json.loads(str(turns))] == [
        (0, "Ann"),
        (1, "Ben"),
    ]
    assert str(tokenizer).startswith("spacy-blank-en ")


# --- refusals -----------------------------------------------------------------------------

GOOD = json.loads(NFH.example)


def changed(**changes: object) -> str:
    return json.dumps(GOOD | changes)


def without(key: str) -> str:
    return json.dumps({name: value for name, value in GOOD.items() if name != key})


GOOD_LINE = NFH.example + "\n"
REFUSED: dict[str, tuple[bytes | str, str]] = {
    "not JSON": (GOOD_LINE + "not json\n", "line 2: the line is not JSON"),
    "cut off": (GOOD_LINE + NFH.example[:50], "line 2: the line is not JSON"),
    "missing key": (GOOD_LINE + without("head"), 'line 2: key "head" is missing'),
    "extra key": (GOOD_LINE + changed(id=1), 'line 2: key "id" is not known'),
    "wrong type": (GOOD_LINE + changed(tokens="Two"), 'key "tokens": found "Two", wanted a'),
    "bool index": (GOOD_LINE + changed(anchors_indices=[True]), "item 0 is true, wanted a"),
    "out of range": (GOOD_LINE + changed(anchors_indices=[7]), "wanted token indices"),
    "negative": (GOOD_LINE + changed(head=[-1]), "wanted token indices from 0 to 6"),
    "gap": (GOOD_LINE + changed(anchors_indices=[3, 5]), "ascending indices without a gap"),
    "head in anchor": (GOOD_LINE + changed(head=[5]), "wanted no index inside the anchor"),
    "unknown class": (GOOD_LINE + changed(head=["PLACE"]), 'found "PLACE", wanted one class'),
    "lower case": (GOOD_LINE + changed(head=["age"]), 'found "age", wanted AGE in capital'),
    "lengths": (GOOD_LINE + changed(speakers=["A"]), "found 1 items, wanted 7"),
    "infinity": (GOOD_LINE + changed(head=[float("inf")]), "holds Infinity, which is not JSON"),
    "surrogate": (GOOD_LINE + changed(speakers=["\ud800"] * 7), "wanted text without unpair"),
    "empty line": (GOOD_LINE + "\n" + GOOD_LINE, "line 2: the line is empty"),
    "empty": (b"", "is empty"),
    "only a mark": (b"\xef\xbb\xbf", "is empty"),
    "blank": (b"\n\n", "nothing but white space"),
    "binary": (b"\x7fELF\x02\x01\x01\0\0\0", "is a binary file (NUL at byte 8)"),
    "UTF-16": (GOOD_LINE.encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    "UTF-16 without a mark": (GOOD_LINE.encode("utf-16-le"), "is UTF-16 text"),
    "Latin 1": (GOOD_LINE.encode() + b'{"\xe9"}', "line 2: byte 3 of the line (0xE9) is not"),
    "long line": (GOOD_LINE.encode() + b"x" * 50_000_000, "the line is 50,000,000 bytes long"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_file_leaves_nothing(
    call: Call, home: Path, nfh_file: Make, dump: Callable[[Path], Dump], case: str
) -> None:
    content, message = REFUSED[case]
    bad = home / "bad.jsonl"
    bad.write_bytes(
        content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    )
    assert call("import", nfh_file(2, head=["AGE"]), "--db", "x.db").exit_code == 0
    before = dump(home / "x.db")
    result = call("import", bad, "--db", "x.db", "--format", "nfh")
    assert result.exit_code == 1
    assert f"nfh-tui: {bad}" in result.stderr
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert dump(home / "x.db") == before


def test_a_file_refused_late_leaves_nothing(
    call: Call, home: Path, nfh_file: Make, dump: Callable[[Path], Dump]
) -> None:
    call("init", "--db", "x.db")
    before = dump(home / "x.db")
    file = nfh_file(4000)
    with file.open("a") as end:
        end.write("{}\n")
    result = call("import", file, "--db", "x.db")
    assert result.exit_code == 1
    assert 'line 4001: key "tokens" is missing' in result.stderr
    assert dump(home / "x.db") == before


def test_a_wrong_format_is_a_sentence(call: Call, home: Path, nfh_file: Make) -> None:
    file = nfh_file()
    for wrong, message in {
        "gold": 'key "format" is missing',
        "nfh-ident": "wanted the header text, ind_s, ind_e, y with tabs between",
    }.items():
        result = call("import", file, "--db", "x.db", "--format", wrong)
        assert result.exit_code == 1
        assert f"{file}, line 1: " in result.stderr
        assert message in result.stderr
    tsv = home / "ident.txt"
    tsv.write_text("text\tind_s\tind_e\ty\nOne_SEP_!\t0\t1\t1\n")
    for rows in (file, tsv):
        result = call("import", rows, "--db", "x.db", "--format", "dialog")
        assert result.exit_code == 1
        assert f"{rows}: found rows of another format (" in result.stderr


def test_each_file_stands_for_itself(call: Call, home: Path, nfh_file: Make) -> None:
    (home / "bad.jsonl").write_text("not json\n")
    files = [nfh_file(1, "a.jsonl"), "bad.jsonl", "missing.jsonl", nfh_file(2, "b.jsonl")]
    result = call("import", *files, "--db", "x.db", "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["ok"] is False
    assert [one.get("rows") for one in answer["files"]] == [1, None, None, 2]
    assert "is not JSON" in answer["files"][1]["error"]
    assert answer["files"][2] == {
        "name": "missing.jsonl",
        "error": "missing.jsonl: there is no such file",
    }


def test_if_no_file_can_be_read_no_database_is_made(call: Call, home: Path) -> None:
    assert call("import", "missing.jsonl", "--db", "x.db").exit_code == 1
    assert not (home / "x.db").exists()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--format",
            "amt2",
            "'amt2' is not one of 'auto', 'nfh', 'nfh-ident', 'dialog', 'gold'",
        ),
        ("--split", "two words", "wanted one word without white space"),
        ("--split", "", "wanted one word without white space"),
        ("--annotator", " ", "wanted a name"),
        ("--annotator", "a\x1b[31m", "wanted a name"),
    ],
)
def test_a_wrong_option_is_a_wrong_call(
    call: Call, nfh_file: Make, home: Path, option: str, value: str, message: str
) -> None:
    result = call("import", nfh_file(), "--db", "x.db", option, value)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (home / "x.db").exists()


def test_no_file_is_a_wrong_call(call: Call) -> None:
    assert call("import").exit_code == 2


def test_nothing_of_a_file_reaches_the_terminal_as_it_is(call: Call, home: Path) -> None:
    (home / "bad.jsonl").write_text('{"\\u001b[2J[red]\\u202e": "\x1b[31m"}\n')
    result = call("import", "bad.jsonl", "--db", "x.db")
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output


# --- gold that is there already -----------------------------------------------------------


def test_gold_is_kept_unless_it_may_be_replaced(call: Call, nfh_file: Make, home: Path) -> None:
    assert call("import", nfh_file(2, "a.jsonl"), "--db", "x.db").exit_code == 0
    other = nfh_file(2, "b.jsonl", head=["AGE"])
    result = call("import", other, "--db", "x.db")
    assert result.exit_code == 0
    assert "gold 0 new, 0 the same, 0 replaced" in result.stdout
    assert (
        "b.jsonl: line 1: gold REFERENCE to token 1 was kept; the file says AGE"
        in result.stderr
    )
    result = call("import", other, "--db", "x.db", "--replace-gold")
    assert "gold 0 new, 0 the same, 2 replaced" in result.stdout
    with Store.open(home / "x.db") as store:
        me = store.people.ensure("eva")
        from nfh_db.query import parse

        assert store.queue.count(parse("class:AGE"), me) == 2


# --- the process --------------------------------------------------------------------------


def test_a_pipe_sees_no_progress(
    call: Callable[..., Result], nfh_file: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nfh_tui.cli import report

    monkeypatch.setattr(report, "SECONDS_BETWEEN", 0.0)
    done = call("import", nfh_file(300), "--db", "x.db", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["ok"]
    assert done.stderr.count("\n") == 1
    assert "\r" not in done.stderr


def test_a_terminal_sees_progress_and_a_clean_line_after_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nfh_tui.cli import report

    monkeypatch.setattr(report, "on_terminal", lambda: True)
    monkeypatch.setattr(report, "SECONDS_BETWEEN", 0.0)
    with report.RowCounter("talk.txt") as told:
        told(1_000)
        told(2_000)
    assert capsys.readouterr().err == (
        "\r\x1b[Ktalk.txt: 1,000 rows\r\x1b[Ktalk.txt: 2,000 rows\r\x1b[K"
    )


def test_a_dialog_that_comes_twice_cut_otherwise_is_told(call: Call, home: Path) -> None:
    lines = ["Ann: Hello.", "Ben: Two tickets.", "Ann: Here.", "Ben: Thanks.", "Ann: Bye."]
    (home / "d.txt").write_text("\n".join(lines), encoding="utf-8")
    said = "imported before with other settings"
    assert said not in call("import", "d.txt").stderr
    assert said not in call("import", "d.txt").stderr
    assert said in call("import", "--window", "0,0", "d.txt").stderr
    assert said not in call("import", "--window", "0,0", "d.txt").stderr


def test_a_map_of_unknown_labels_can_be_saved_from_what_is_printed(
    call: Call, home: Path
) -> None:
    line = {
        "text": "Ann saw two dogs in Rome.",
        "label": [[0, 3, "PER"], [20, 24, "L\u202eOC"]],
    }
    (home / "a.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    result = call("import", "a.jsonl", "--db", "x.db")
    assert result.exit_code == 1
    said, _, mapping = result.stderr.partition("\n# To be saved for --map, ")
    assert said.endswith('a file for --map that says what each means ("ignore" leaves it out)')
    assert '"PER" = "ignore"  # 1, the first "Ann" in line 1' in mapping.splitlines()
    (home / "map.toml").write_text(f"# {mapping}", "utf-8")
    result = call("import", "a.jsonl", "--db", "x.db", "--map", "map.toml")
    assert "2 marks left out, by the map" in result.stderr
    assert result.exit_code == 0


def test_gold_on_words_without_a_number_is_named_by_the_doctor(call: Call, home: Path) -> None:
    line = {"text": "We met again the same day.", "label": [[13, 25, "TIME"]]}
    (home / "a.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    (home / "map.toml").write_text('[labels]\nTIME = "TIME"\n', "utf-8")
    assert call("import", "a.jsonl", "--db", "x.db").exit_code == 1
    assert call("import", "a.jsonl", "--db", "x.db", "--map", "map.toml").exit_code == 0
    result = call("doctor", "--corpus", "--db", "x.db")
    assert "a.jsonl line 1: \u201cthe same day\u201d is not a number" in result.stdout
