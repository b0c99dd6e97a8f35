"""What a database exports comes back into it as what is there already, in every format."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from nfh_db.connection import connect
from nfh_db.doctor import examine
from nfh_db.formats.registry import by_name, formats
from nfh_db.query import parse
from nfh_db.records import ImportReport, Role
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, Mention, class_answer, reference_answer
from nfh_tui.services.imports import ImportOptions, export_file
from tests.nfh_db.formats.round_trip import gold_lines, imported

# Signs stand against words, lines have tabs, and are not all of one turn each: the text that
# tokens alone suggest is another one.
TALK = (
    "Ann: Six cups, né [red] cups\tand mugs? It's 1985, or 5 o'clock.\n Ben: No, three 小明 👍."
    "\n\nשלום: one or two\n\n\nCarl: I have two.\n\nDo you want four?\nNo, five.\n\n\n"
    "Two tickets? No, three.\n"
)
DECIDED: tuple[Answer, ...] = (
    class_answer(Kind.YEAR),
    class_answer(Kind.NOT_NFH),
    class_answer(Kind.AGE),
    reference_answer([[Mention(1, 2, 1)]]),
    class_answer(Kind.OTHER),
)
NEW = (
    "passages_new anchors_new gold_new gold_replaced votes_new votes_replaced flags_new "
    "conflicts"
).split()


@pytest.fixture
def database(tmp_path: Path, built: Callable[..., Path]) -> Path:
    """A talk; five of its numbers are decided, another one is answered."""
    return built(talk, tmp_path / "nfh.db")


def talk(path: Path) -> None:
    file = path.with_name("talk.txt")
    file.write_text(TALK, encoding="utf-8")
    with Store.open(path, create=True) as store:
        imported(store, file)
        ann, eva = store.people.ensure("ann"), store.people.ensure("eva")
        ids = [id_ for chunk in store.queue.ids(parse("sort:order"), ann) for id_ in chunk]
        for id_, answer in zip(ids, DECIDED, strict=False):
            store.edits.commit_answer(id_, ann, Role.ANNOTATOR, answer)
            store.edits.commit_answer(id_, eva, Role.ADJUDICATOR, answer)
        store.edits.commit_answer(ids[6], ann, Role.ANNOTATOR, class_answer(Kind.TIME))


def ways() -> list[tuple[str, str]]:
    """Every format that is written, with the suffixes of one file, and "" for a folder."""
    return [
        (one.name, suffix)
        for one in formats()
        if one.writable
        for suffix in (
            *(one.extensions if one.writer or one.chunks else []),
            *(["", ".zip"] if one.members else []),
        )
    ]


def exported(path: Path, format_name: str, out: Path) -> Path:
    with Store.open(path) as store:
        export_file(store, parse(""), by_name(format_name), out)
    return out


def back(path: Path, format_name: str, file: Path, *, dry_run: bool = False) -> ImportReport:
    with Store.open(path) as store:
        return imported(store, file, format_name, ImportOptions(dry_run=dry_run))


@pytest.mark.parametrize(("format_name", "suffix"), ways())
def test_nothing_is_new(database: Path, tmp_path: Path, format_name: str, suffix: str) -> None:
    with Store.open(database) as store:
        before = gold_lines(store, tmp_path / "before.jsonl")
    file = exported(database, format_name, tmp_path / f"out{suffix}")
    for dry_run in (True, False):
        report = back(database, format_name, file, dry_run=dry_run)
        assert report.rows > 0
        assert not any(getattr(report, name) for name in NEW), report
    with Store.open(database) as store:
        assert gold_lines(store, tmp_path / "after.jsonl") == before
    assert examine(database).findings == ()


def test_an_nfh_file_is_the_same_after_it_came_back(database: Path, tmp_path: Path) -> None:
    one = exported(database, "nfh", tmp_path / "one.jsonl")
    assert back(database, "nfh", one).gold_same == 4
    two = exported(database, "nfh", tmp_path / "two.jsonl")
    assert two.read_bytes() == one.read_bytes()


@pytest.mark.parametrize("rows", ["resolution", "identification"])
def test_a_parquet_file_alone_finds_its_passages(
    database: Path, tmp_path: Path, rows: str
) -> None:
    """`identification` states neither turns nor speakers."""
    (part,) = exported(database, "hf-parquet", tmp_path / "hub").rglob(f"{rows}/*.parquet")
    with Store.open(database) as store:
        report = imported(store, part)
    assert report.rows == report.passages_known == report.anchors_known
    assert (report.passages_new, report.gold_new) == (0, 0)


@pytest.mark.parametrize("replace_gold", [False, True])
def test_rows_that_say_only_that_a_noun_is_missing_leave_the_noun(
    database: Path, tmp_path: Path, replace_gold: bool
) -> None:
    hub = exported(database, "hf-parquet", tmp_path / "hub")
    options = ImportOptions(replace_gold=replace_gold)
    with Store.open(database) as store:
        before = gold_lines(store, tmp_path / "before.jsonl")
        report = imported(store, hub / "identification" / "unsplit.parquet", options=options)
        assert gold_lines(store, tmp_path / "after.jsonl") == before
    assert (report.rows, report.gold_same, report.gold_replaced, report.conflicts) == (
        5,
        5,
        0,
        (),
    )


@pytest.mark.parametrize("order", ["a whole folder", "file by file"])
def test_an_edited_row_of_the_hub_meets_its_own_number_and_no_other(
    database: Path, tmp_path: Path, order: str
) -> None:
    hub = exported(database, "hf-parquet", tmp_path / "hub")
    (hub / "gold.jsonl").unlink()
    part = hub / "resolution" / "unsplit.parquet"
    table = parquet.read_table(part)
    rows = table.to_pylist()
    rows[0]["head"] = ["CURRENCY"]
    parquet.write_table(pyarrow.Table.from_pylist(rows, table.schema), part)
    files = [hub] if order == "a whole folder" else [part, *hub.glob("identification/*")]
    for path, known in ((database, True), (tmp_path / "new.db", False)):
        with Store.open(path, create=True) as store:
            found = [imported(store, file) for file in files]
        assert sum(report.rows for report in found) == 9
        assert sum(report.anchors_new for report in found) == (0 if known else 5)
        conflicts = [one for report in found for one in report.conflicts]
        words = "line 1: an adjudicator's gold YEAR was kept; the file says CURRENCY"
        assert conflicts == ([words] if known else [])


def line(tokens: str, number: int, *, speaker: str = "A", head: str = "AGE") -> str:
    words = tokens.split()
    row = {
        "tokens": words,
        "line_indices": [0] * len(words),
        "head": [head],
        "speakers": [speaker] * len(words),
        "anchors_indices": [number],
    }
    return json.dumps(row) + "\n"


def stored(path: Path) -> list[tuple[str, int, int, str]]:
    connection = connect(path, "ro")
    try:
        return connection.execute(
            "SELECT p.text, a.text_start, a.text_stop, a.word FROM anchor AS a "
            "JOIN passage AS p ON p.id = a.passage_id ORDER BY a.id"
        ).fetchall()
    finally:
        connection.close()


def test_a_new_number_of_a_known_passage_has_its_place_in_the_text_that_is_here(
    tmp_path: Path,
) -> None:
    path, file = tmp_path / "nfh.db", tmp_path / "more.jsonl"
    (tmp_path / "talk.txt").write_text("A: No,  three dogs!\n", encoding="utf-8")
    file.write_text(line("No , three dogs !", 3), encoding="utf-8")
    with Store.open(path, create=True) as store:
        imported(store, tmp_path / "talk.txt")
        report = imported(store, file)
    assert (report.passages_known, report.anchors_new, report.gold_new) == (1, 1, 1)
    assert stored(path) == [
        ("A: No,  three dogs!", 8, 13, "three"),
        ("A: No,  three dogs!", 14, 18, "dogs"),
    ]
    assert examine(path).findings == ()


def test_other_turns_or_speakers_are_another_passage(tmp_path: Path) -> None:
    path, file = tmp_path / "nfh.db", tmp_path / "rows.jsonl"
    (tmp_path / "talk.txt").write_text("A: No, three!\n", encoding="utf-8")
    file.write_text(line("No , three !", 2, speaker="B"), encoding="utf-8")
    with Store.open(path, create=True) as store:
        imported(store, tmp_path / "talk.txt")
        report = imported(store, file)
    assert (report.passages_known, report.passages_new) == (0, 1)


def test_of_several_passages_the_one_with_the_decision_is_meant(tmp_path: Path) -> None:
    path, file = tmp_path / "nfh.db", tmp_path / "rows.jsonl"
    with Store.open(path, create=True) as store:
        for text in ("A: No, three!", "A: No,  three!", "A: No,   three!"):
            (tmp_path / "talk.txt").write_text(f"{text}\n", encoding="utf-8")
            imported(store, tmp_path / "talk.txt")
        eva = store.people.ensure("eva")
        ids = [id_ for chunk in store.queue.ids(parse("sort:order"), eva) for id_ in chunk]
        store.edits.commit_answer(ids[1], eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
        file.write_text(line("No , three !", 2), encoding="utf-8")
        report = imported(store, file)
    assert (report.passages_new, report.gold_same, report.conflicts) == (0, 1, ())
