"""What comes in leaves again: the releases' files, gold, hostile text, through the store."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Exposure, FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import (
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    class_answer,
    reference_answer,
)
from tests.conftest import LONG

Call = Callable[..., Result]
Make = Callable[..., Path]
Dump = Callable[[Path], dict[str, list[tuple[object, ...]]]]


def export(call: Call, database: object, layout: str = "gold") -> str:
    result = call("export", "--format", layout, "--db", database)
    assert result.exit_code == 0, result.output
    return result.stdout


# --- the releases' files ------------------------------------------------------------------


def same_values(one: str, other: str) -> bool:
    first, second = one.splitlines(), other.splitlines()
    return len(first) == len(second) and all(
        json.loads(a) == json.loads(b) for a, b in zip(first, second, strict=True)
    )


@pytest.mark.parametrize(
    "names",
    [
        ["dev"],
        pytest.param(["dev", "train"], marks=pytest.mark.long),
        pytest.param(["train", "dev"], marks=pytest.mark.long),
    ],
)
def test_release_files_leave_line_for_line(
    call: Call, home: Path, data_dir: Path, dump: Dump, names: list[str]
) -> None:
    files = [data_dir / "resolution" / f"nfh_{name}.jsonl" for name in names]
    if not LONG:
        lines = files[0].read_bytes().splitlines(keepends=True)
        files = [home / files[0].name]
        files[0].write_bytes(b"".join(lines[:250]))
    assert call("import", *files, "--db", "x.db").exit_code == 0
    came = "".join(file.read_text("utf-8") for file in files)
    assert same_values(export(call, "x.db", "nfh"), came)
    before = dump(home / "x.db")
    assert call("import", *files, "--db", "x.db").exit_code == 0
    assert dump(home / "x.db") == before
    gold = export(call, "x.db")
    assert export(call, "x.db") == gold
    (home / "gold.jsonl").write_text(gold, "utf-8")
    assert call("import", "gold.jsonl", "--db", "y.db").exit_code == 0
    assert export(call, "y.db") == gold


@pytest.mark.long
@pytest.mark.parametrize("rows", [3_000, 18_401])
def test_the_identification_file_comes_in_and_its_gold_leaves(
    call: Call, home: Path, data_dir: Path, rows: int
) -> None:
    lines = (data_dir / "identification" / "dev.tsv").read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 18_401
    (home / "dev.tsv").write_bytes(b"".join(lines[: 1 + rows]))
    result = call("import", "dev.tsv", "--db", "x.db", "--json")
    assert json.loads(result.stdout)["files"][0]["rows"] == rows
    gold = export(call, "x.db")
    (home / "gold.jsonl").write_text(gold, "utf-8")
    assert call("import", "gold.jsonl", "--db", "y.db").exit_code == 0
    assert export(call, "y.db") == gold


# --- repeats ------------------------------------------------------------------------------


def test_repeats_and_shared_passages_leave_as_they_came(
    call: Call, home: Path, nfh_file: Make
) -> None:
    one = nfh_file(3, "nfh_dev.jsonl")
    lines = one.read_text().splitlines(keepends=True)
    other_anchor = json.loads(lines[0]) | {"anchors_indices": [0], "head": ["AGE"]}
    second_label = json.loads(lines[1]) | {"head": ["YEAR"]}
    one.write_text("".join([lines[2], lines[0], lines[2], json.dumps(other_anchor) + "\n"]))
    two = home / "nfh_train.jsonl"
    two.write_text("".join([lines[0], lines[1], json.dumps(second_label) + "\n", lines[2]]))
    result = call("import", one, two, "--db", "x.db")
    assert result.exit_code == 0
    assert "line 3: gold REFERENCE to token 1 was kept; the file says YEAR" in result.stderr
    assert export(call, "x.db", "nfh") == one.read_text() + two.read_text()
    assert len(export(call, "x.db").splitlines()) == 4


def test_a_row_somebody_decided_otherwise_leaves_with_the_decision(
    call: Call, home: Path, nfh_file: Make
) -> None:
    assert call("import", nfh_file(2), "--db", "x.db").exit_code == 0
    with Store.open(home / "x.db") as store:
        eva = store.people.ensure("eva")
        first = next(store.queue.ids(parse("sort:order"), eva))[0]
        store.edits.commit_answer(first, eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
    rows = [json.loads(line) for line in export(call, "x.db", "nfh").splitlines()]
    assert [row["head"] for row in rows] == [["TIME"], [1]]


# --- gold ---------------------------------------------------------------------------------

TALK = (
    "Ann: Six cups, né [red] cups\tand mugs?\n\x1b[1m Ben: No, three 小明 👍.\n"
    "\nשלום: one or two\n"
)


@pytest.fixture
def worked_on(call: Call, home: Path) -> Path:
    """A database in which people answered, flagged, decided and changed their minds."""
    (home / "talk.txt").write_text(TALK, "utf-8")
    assert call("import", "talk.txt", "--db", "x.db", "--split", "mine").exit_code == 0
    with Store.open(home / "x.db") as store:
        ann, eva = store.people.ensure("ann"), store.people.ensure("eva")
        ids = [id_ for chunk in store.queue.ids(parse("sort:order"), ann) for id_ in chunk]
        assert len(ids) == 4
        heads = [[Mention(0, 2, 1), Mention(6, 7, 6, Origin.ADDED)], [Mention(8, 9, 8)]]
        seen = Exposure(
            saw_model=True, saw_votes=True, seconds=1.5, rule_tag="r1", in_sheet=True
        )
        reference = reference_answer(heads, Relation.OR, 'she "said"\n[/b]')
        store.edits.commit_answer(ids[1], ann, Role.ANNOTATOR, reference, seen)
        store.edits.commit_answer(ids[1], eva, Role.ADJUDICATOR, reference)
        other = class_answer(Kind.OTHER, Sort.NOUN, "spoon 小", "why\x1b")
        store.edits.commit_answer(ids[0], ann, Role.ANNOTATOR, other)
        store.edits.commit_answer(ids[2], eva, Role.ADJUDICATOR, class_answer(Kind.BROKEN))
        store.edits.commit_answer(ids[2], eva, Role.ADJUDICATOR, class_answer(Kind.NOT_NFH))
        store.edits.set_flag(ids[3], ann, FlagName.SKIP, on=True)
        store.edits.set_flag(ids[0], eva, FlagName.GUIDELINE, on=True)
        store.edits.set_flag(ids[0], ann, FlagName.AMBIGUOUS, on=True)
    return home / "x.db"


def test_gold_comes_back_as_the_same_bytes(
    call: Call, home: Path, worked_on: Path, dump: Dump
) -> None:
    gold = export(call, worked_on)
    assert export(call, worked_on) == gold
    rows = [json.loads(line) for line in gold.splitlines()]
    assert [row["kind"] for row in rows] == [None, "REFERENCE", "NOT_NFH", None]
    assert [len(row["votes"]) for row in rows] == [1, 2, 1, 0]
    assert [len(row["flags"]) for row in rows] == [2, 0, 0, 1]
    assert {row["split"] for row in rows} == {"mine"}
    (home / "gold.jsonl").write_text(gold, "utf-8")
    assert call("import", "gold.jsonl", "--db", "y.db").exit_code == 0
    assert export(call, "y.db") == gold
    before = dump(home / "y.db")
    assert call("import", "gold.jsonl", "--db", "y.db").exit_code == 0
    assert dump(home / "y.db") == before


def test_gold_imported_where_it_came_from_changes_no_answer(
    call: Call, home: Path, worked_on: Path
) -> None:
    gold = export(call, worked_on)
    (home / "gold.jsonl").write_text(gold, "utf-8")
    result = call("import", "gold.jsonl", "--db", worked_on, "--json")
    (report,) = json.loads(result.stdout)["files"]
    assert [
        report[key] for key in ("passages_new", "anchors_new", "gold_new", "votes_new")
    ] == [0] * 4
    assert report["conflicts"] == []
    assert export(call, worked_on) == gold


def test_gold_read_as_a_persons_answers_leaves_the_votes_out(
    call: Call, home: Path, worked_on: Path
) -> None:
    (home / "gold.jsonl").write_text(export(call, worked_on), "utf-8")
    result = call("import", "gold.jsonl", "--db", "y.db", "--annotator", "zed", "--json")
    (report,) = json.loads(result.stdout)["files"]
    assert (report["gold_new"], report["votes_new"]) == (0, 2)
    assert report["warnings"] == [
        "4 answers of the file left out: with --annotator, only the file's gold is imported, "
        "as that person's answers"
    ]
    rows = [json.loads(line) for line in export(call, "y.db").splitlines()]
    assert [[vote["annotator"] for vote in row["votes"]] for row in rows] == [
        [],
        ["zed"],
        ["zed"],
        [],
    ]
    assert rows[1]["votes"][0]["comment"] == 'she "said"\n[/b]'


def test_a_split_asked_for_wins_over_the_rows_own(
    call: Call, home: Path, worked_on: Path
) -> None:
    (home / "gold_dev.jsonl").write_text(export(call, worked_on), "utf-8")
    assert call("import", "gold_dev.jsonl", "--db", "y.db").exit_code == 0
    assert call("import", "gold_dev.jsonl", "--db", "z.db", "--split", "new").exit_code == 0
    for database, split in (("y.db", "mine"), ("z.db", "new")):
        rows = [json.loads(line) for line in export(call, database).splitlines()]
        assert {row["split"] for row in rows} == {split}


# --- hostile text -------------------------------------------------------------------------

HOSTILE = [
    "\x00", "\x1b[2J", "\t", "\n", "\r\n", "\u2028", "\x85", "[red]", "[/]", '"', "\\",
    "\\u0000", "e\u0301", "👩\u200d🔬", "小明", "שלום", "\u202e", "\ufeff", "_SEP_", "NaN", " ",
    "a b", "one",
]  # fmt: skip


def test_hostile_tokens_and_speakers_pass_through_unchanged(
    call: Call, home: Path, nfh_file: Make
) -> None:
    count = len(HOSTILE)
    file = nfh_file(
        1,
        tokens=[*HOSTILE, "x"],
        line_indices=[*range(count), 99],
        speakers=[*HOSTILE, None],
        anchors_indices=[count - 1],
        head=[0, 5, count],
    )
    (row,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert call("import", file, "--db", "x.db").exit_code == 0
    (left,) = [json.loads(line) for line in export(call, "x.db", "nfh").splitlines()]
    assert left == row
    gold = export(call, "x.db")
    assert json.loads(gold)["tokens"] == row["tokens"]
    (home / "gold.jsonl").write_bytes(gold.encode())
    assert call("import", "gold.jsonl", "--db", "y.db").exit_code == 0
    assert export(call, "y.db") == gold


def test_dialog_text_is_exported_as_it_came(call: Call, home: Path) -> None:
    first = "Ann: [red] two [/]\t\x1b[31m e\u0301 👩\u200d🔬 小明"
    text = f"{first}\nשלום: \u202e one\u2028\x85 or three."
    (home / "talk.txt").write_text(text, "utf-8")
    assert call("import", "talk.txt", "--db", "x.db").exit_code == 0
    rows = [json.loads(line) for line in export(call, "x.db").split("\n") if line]
    assert {row["text"] for row in rows} == {text}
    for row in rows:
        assert [text[start:end] for start, end in row["offsets"]] == row["tokens"]
    assert [row["tokens"][row["anchors_indices"][0]] for row in rows] == ["two", "one", "three"]
