"""brat projects of other people: lines and offsets of all sorts, and what is wrong."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.base import First
from nfh_db.formats.brat import BRAT
from nfh_db.formats.brat_document import CarriedDocument, CarriedLine, lines_of
from nfh_db.formats.files import Folder
from nfh_db.formats.registry import reading
from nfh_db.formats.rows import DialogBlock, GoldRow, LabelMap
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, Relation, Sort
from nfh_tui.services.imports import ImportOptions, export_file
from tests.nfh_db.formats.round_trip import gold_lines, imported

TEXT = "Ann: Two red and blue tickets, tickets?\nBen: No, three, or four.\n"
THREE = TEXT.index("three")
FOUR = TEXT.index("four")


def span(rank: int, label: str, words: str, nth: int = 0) -> str:
    """The line of a span."""
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(words, start + 1)
    return f"T{rank}\t{label} {start} {start + len(words)}\t{words}\n"


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., SimpleNamespace]:
    """Reads a project of files by name; their rows and the warnings."""

    def read(files: Mapping[str, str | bytes] | str, **how: object) -> SimpleNamespace:
        if isinstance(files, str):
            files = {"doc.txt": TEXT, "doc.ann": files}
        for name, content in files.items():
            path = tmp_path / "project" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        source = Folder(tmp_path / "project")
        rows = list(BRAT.read(source, reading(**how)))  # type: ignore[arg-type]
        return SimpleNamespace(rows=rows, warnings=source.warnings)

    return read


def answers(rows: list[GoldRow]) -> list[Answer | None]:
    """The gold of each row."""
    return [row.gold.answer if row.gold else None for row in rows]


def words(row: GoldRow, answer: Answer) -> list[list[str]]:
    """The words of each mention, by head."""
    raw = row.passage
    return [
        [raw.text[raw.starts[m.start] : raw.ends[m.end - 1]] for m in head.mentions]
        for head in answer.heads
    ]


def test_relations_equivalents_notes_and_attributes(
    project: Callable[..., SimpleNamespace],
) -> None:
    found = project(
        span(7, "REFERENCE", "three")
        + span(2, "HEAD", "tickets")
        + span(3, "HEAD", "tickets", 1)
        + span(4, "HEAD", "red")
        + "R1\tHEAD Arg1:T7 Arg2:T2\nR4\tHEAD Arg1:T3 Arg2:T7\t\nR3\tHEAD Arg1:T7 Arg2:T4\n"
        + "*\tEquiv T2 T3\nR9\tOR Arg1:T4 Arg2:T2\n#1\tAnnotatorNotes T7\ttickets of both\n"
        + span(5, "OTHER_CODE", "four")
        + "#2\tNoun T5\tdoor number\nA1\tSkip T5\n"
    )
    one, two = found.rows
    answer = one.gold.answer
    assert words(one, answer) == [["tickets", "tickets"], ["red"]]
    assert (answer.relation, answer.comment) == (Relation.OR, "tickets of both")
    assert two.gold.answer == Answer(Kind.OTHER, sort=Sort.CODE, noun="door number")
    assert [turn.speaker for turn in one.passage.turns] == ["Ann", "Ben"]
    assert found.warnings == ["1 flag left out: nobody's folder holds them"]


def test_events_are_numbers_with_arguments(project: Callable[..., SimpleNamespace]) -> None:
    found = project(
        span(1, "NUM", "three")
        + span(2, "Thing", "tickets")
        + span(3, "Thing", "red")
        + "E1\tNUM:T1 Of:T2 Of2:T3\nA1\tClass E1 REFERENCE\n",
        labels=LabelMap({"NUM": "ANCHOR", "Thing": "HEAD"}, {"Of": "HEAD"}),
    )
    (row,) = found.rows
    assert words(row, row.gold.answer) == [["tickets"], ["red"]]


def test_a_class_may_be_an_attribute(project: Callable[..., SimpleNamespace]) -> None:
    found = project(span(1, "ANCHOR", "three") + "A1\tClass T1 AGE\nM2\tSure T1\n")
    assert answers(found.rows) == [Answer(Kind.AGE)]
    assert found.warnings == ["1 line of other things carried along as they are"]


def test_fragments_are_read_as_one_span(project: Callable[..., SimpleNamespace]) -> None:
    red, tickets = TEXT.index("red"), TEXT.index("tickets")
    found = project(
        span(1, "REFERENCE", "three")
        + f"T2\tHEAD {red} {red + 3};{tickets} {tickets + 7}\tred tickets\n"
    )
    (row,) = found.rows
    assert words(row, row.gold.answer) == [["red and blue tickets"]]
    assert row.passage.words[row.gold.answer.heads[0].mentions[0].head] == "tickets"
    assert found.warnings == [
        "1 span of several fragments read as one, from the first fragment to the last"
    ]


def test_a_span_over_lines_is_one(project: Callable[..., SimpleNamespace]) -> None:
    start, line = TEXT.rindex("tickets"), TEXT.index("\n")
    found = project(
        span(1, "REFERENCE", "three")
        + f"T2\tHEAD {start} {line};{line + 1} {line + 4}\ttickets? Ben\n"
    )
    (row,) = found.rows
    assert words(row, row.gold.answer) == [["tickets?\nBen"]]
    assert not found.warnings


def test_folders_are_people_and_gold(project: Callable[..., SimpleNamespace]) -> None:
    found = project(
        {
            "all/gold/a.txt": TEXT,
            "all/gold/a.ann": span(1, "AGE", "three"),
            "all/eva/a.txt": TEXT,
            "all/eva/a.ann": span(1, "YEAR", "three")
            + "A1\tSkip T1\n"
            + span(2, "TIME", "four"),
            "all/ben/a.txt": TEXT,
            "all/ben/a.ann": "",
            "all/ben/raw.txt": "Cy: Five?\n\nDee: Six.",
        }
    )
    gold, eva, more, raw = found.rows
    assert answers([gold]) == [Answer(Kind.AGE)]
    assert [(vote.annotator, vote.answer.kind) for vote in eva.votes] == [("eva", Kind.YEAR)]
    assert [flag.annotator for flag in eva.flags] == ["eva"]
    assert (gold.anchor, gold.passage) == (eva.anchor, eva.passage)
    assert more.votes[0].answer.kind is Kind.TIME
    assert isinstance(raw, DialogBlock)
    assert [turn.speaker for turn in raw.turns] == ["Cy", None, "Dee"]
    assert found.warnings == ["folders read as answers of eva"]


def test_texts_that_differ_between_folders_are_said(
    project: Callable[..., SimpleNamespace],
) -> None:
    found = project(
        {
            "gold/a.txt": TEXT,
            "gold/a.ann": span(1, "AGE", "three"),
            "eva/a.txt": TEXT + "Yes.",
            "eva/a.ann": span(1, "AGE", "three"),
        }
    )
    assert len({row.passage.text for row in found.rows}) == 2
    assert "the first is gold/a" in found.warnings[-1]


def test_line_ends_of_windows_counted_either_way(
    project: Callable[..., SimpleNamespace],
) -> None:
    text = TEXT.replace("\n", "\r\n")
    exact = f"T1\tAGE {THREE + 1} {THREE + 6}\tthree\r\n"
    as_one = f"T1\tAGE {THREE} {THREE + 5}\tthree\r\n"
    for ann in (exact, as_one):
        (row,) = project({"doc.txt": text, "doc.ann": ann}).rows
        assert row.passage.text == text
        assert row.passage.words[row.anchor.start] == "three"


def test_utf16_offsets_are_asked_for(project: Callable[..., SimpleNamespace]) -> None:
    text = "\U0001f600 three"
    files = {"doc.txt": text, "doc.ann": "T1\tAGE 3 8\tthree\n"}
    with pytest.raises(FormatError, match="add --offsets utf16"):
        project(files)
    (row,) = project(files, offsets="utf16").rows
    assert row.passage.words[row.anchor.start] == "three"
    points = {"doc.txt": text, "doc.ann": "T1\tAGE 2 7\tthree\n"}
    with pytest.raises(FormatError, match="leave out --offsets"):
        project(points, offsets="utf16")
    inside = {"doc.txt": text, "doc.ann": "T1\tAGE 1 8\tthree\n"}
    with pytest.raises(FormatError, match="is inside a character of two units"):
        project(inside, offsets="utf16")


@pytest.mark.parametrize(
    ("ann", "message"),
    [
        ("three\n", r"doc\.ann, line 1: found .three., wanted an id such as T1 and a tab"),
        ("T1\tAGE 45\tthree\n", "line 1: .*wanted a type and offsets such as HEAD 12 18"),
        ("T1\tAGE 45 " + "9" * 5000 + "\tno\n", "line 1: .*wanted a type and offsets"),
        ("T1\tAGE 45 48;\tno\n", "line 1: .*wanted a type and offsets"),
        (span(1, "AGE", "three") + "T1\tYEAR 0 3\tAnn\n", "line 2: the id T1 occurs twice"),
        ("T1\tAGE 45 50\tthree\n", r'line 1: at 45 50: expected "three", found "No, t"'),
        (
            "T1\tAGE 60 900\tthree\n",
            "line 1: the span 60 900 is outside a text of 65 characters",
        ),
        ("T1\tAGE 60 60\t\n", "the span 60 60 is outside .* or holds none"),
        (span(1, "NUM", "three"), r'found 1 span "NUM" of .* "three" in doc\.ann.*--map'),
        (span(1, "AGE", "three") + "R1\tof Arg1:T1 Arg2:T1\n", 'found 1 relation "of" of no'),
        (span(1, "AGE", "three") + "R1\tHEAD Arg1:T1\n", "line 2: .*wanted a relation such"),
        (span(1, "AGE", "three") + "R1\tHEAD Arg1:T1 Arg2:T8\n", 'line 2: names "T8"'),
        (span(1, "AGE", "three") + "*\tEquiv T1\n", "line 2: .*wanted two ids"),
        (span(1, "AGE", "three") + "E1\tAGE\n", "line 2: .*wanted an event such as"),
        (span(1, "AGE", "three") + "A1\tSkip\n", "line 2: .*wanted an attribute such as"),
        (
            f"T1\tAGE {THREE} {THREE + 5};{FOUR} {FOUR + 4}\tthree four\n",
            "line 1: the number AGE has fragments with other words between",
        ),
        (
            span(1, "AGE", "three") + span(2, "YEAR", "three"),
            "a number is marked twice at 49 to 54, with different answers",
        ),
        (
            span(1, "AGE", "three") + span(2, "HEAD", "tickets"),
            'the number "three" at 49 to 54: AGE has no head in the passage',
        ),
    ],
)
def test_what_means_nothing_is_refused(
    project: Callable[..., SimpleNamespace], ann: str, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        project(ann)


def test_marks_without_a_text_are_refused(project: Callable[..., SimpleNamespace]) -> None:
    with pytest.raises(FormatError, match=r"b\.ann: has no text; wanted b\.txt beside it"):
        project({"a.txt": "two", "a.ann": "", "b.ann": "T1\tAGE 0 3\ttwo\n"})
    with pytest.raises(FormatError, match="byte 1 is not UTF-8"):
        project({"a.txt": b"\xfftwo", "a.ann": "", "b.txt": "two"})


def test_the_same_line_twice_counts_once(project: Callable[..., SimpleNamespace]) -> None:
    line = span(1, "AGE", "three")
    assert len(project(line + line).rows) == 1
    assert len(project(line + line.replace("T1", "T2")).rows) == 1


def test_side_files_that_are_none_are_refused(project: Callable[..., SimpleNamespace]) -> None:
    files = {"a.txt": "two", "a.ann": "T1\tAGE 0 3\ttwo\n"}
    for content in ("{", "[]", '{"format": "nfh-brat/2"}', "[" * 10_000):
        with pytest.raises(
            FormatError,
            match=(
                r"a\.nfh\.json: is not a side file of this "
                r"version"
            ),
        ):
            project(files | {"a.nfh.json": content})


def test_only_pairs_of_files_are_a_project(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("two")
    assert BRAT.sniff(First.of_folder(Folder(folder))) is None
    (folder / "a.ann").write_text("")
    assert BRAT.sniff(First.of_folder(Folder(folder)))


OTHERS = (
    span(1, "REFERENCE", "three")
    + f"T2\tHEAD {TEXT.index('red')} {TEXT.index('red') + 3}"
    + f";{TEXT.index('tickets')} {TEXT.index('tickets') + 7}\tred tickets\n"
    + span(3, "Person", "Ann")
    + span(4, "Say", "No")
    + "R1\tHEAD Arg1:T1 Arg2:T2\nE1\tSay:T4 Who:T3\nA1\tSure T1\nA2\tLoud E1 very\n"
    + "N1\tReference T3 wiki:12\tAnn of Cleves\n#1\tAnnotatorNotes T3\tspeaks first\n"
    + "#2\tAnnotatorNotes T1\tmine\n"
)


def test_lines_of_other_types_leave_as_they_came(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "doc.txt").write_text(TEXT)
    (folder / "doc.ann").write_text(OTHERS)
    options = ImportOptions(labels=LabelMap({"Person": "ignore", "Say": "ignore"}))
    with Store.open(tmp_path / "a.db", create=True) as store:
        report = imported(store, folder, "brat", options)
        export_file(store, parse(""), BRAT, tmp_path / "out")
    assert "7 lines of other things carried along as they are" in report.warnings
    lines = (tmp_path / "out/gold/0000001.ann").read_text().splitlines(keepends=True)
    assert sorted(lines) == sorted(
        OTHERS.replace("#1\t", "#9\t")
        .replace("#2\t", "#1\t")
        .replace("#9\t", "#2\t")
        .splitlines(keepends=True)
    )


def test_lines_on_what_is_gone_are_left_out() -> None:
    part = CarriedDocument(
        None,
        (
            CarriedLine("A", "Sure @0-3"),
            CarriedLine("A", "Sure @5-8"),
            CarriedLine("T", "Person 0 3", "Ann"),
            CarriedLine("N", "Reference @1 a:b", "c"),
            CarriedLine("N", "Reference @2 a:b", "c"),
        ),
    )
    assert lines_of(part, Counter(T=4), {(0, 3): "T1"}) == [
        "A1\tSure T1\n",
        "T5\tPerson 0 3\tAnn\n",
        "N2\tReference T5 a:b\tc\n",
    ]


def test_a_flat_project_may_be_somebodys_answers(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "doc.txt").write_text(TEXT)
    (folder / "doc.ann").write_text(span(1, "AGE", "three"))
    with Store.open(tmp_path / "a.db", create=True) as store:
        imported(store, folder, "brat", ImportOptions(annotator="eva"))
        (line,) = gold_lines(store, tmp_path / "a.jsonl")
    value = json.loads(line)
    assert value["kind"] is None
    assert [(vote["annotator"], vote["kind"]) for vote in value["votes"]] == [("eva", "AGE")]


def test_what_is_carried_counts_code_points(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "doc.txt").write_bytes(b"Ann:\r\n\r\nthree of us\r\n")
    (folder / "doc.ann").write_bytes(b"T1\tAGE 6 11\tthree\r\nT2\tPerson 15 17\tus\r\n")
    with Store.open(tmp_path / "a.db", create=True) as store:
        options = ImportOptions(labels=LabelMap({"Person": "ignore"}))
        imported(store, folder, "brat", options)
        export_file(store, parse(""), BRAT, tmp_path / "out")
    text = (tmp_path / "out/gold/0000001.txt").read_bytes()
    ann = (tmp_path / "out/gold/0000001.ann").read_bytes()
    assert text == b"Ann: \n \nthree of us \n"
    assert ann == b"T1\tAGE 8 13\tthree\nT2\tPerson 17 19\tus\n"


def test_the_lines_run_for_a_document_grow_as_its_numbers_do(
    project: Callable[..., SimpleNamespace],
) -> None:
    def lines(numbers: int) -> int:
        text = "two tickets\n" * numbers
        ann = "".join(
            f"T{2 * i + 1}\tREFERENCE {12 * i} {12 * i + 3}\ttwo\n"
            f"T{2 * i + 2}\tHEAD {12 * i + 4} {12 * i + 11}\ttickets\n"
            f"R{i + 1}\tHEAD Arg1:T{2 * i + 1} Arg2:T{2 * i + 2}\n"
            for i in range(numbers)
        )
        found = 0

        def trace(frame: FrameType, event: str, _arg: object) -> Callable[..., Any] | None:
            nonlocal found
            found += event == "line"
            return trace if "nfh_db" in frame.f_code.co_filename else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            assert len(project({"doc.txt": text, "doc.ann": ann}).rows) == numbers
        finally:
            sys.settrace(before)
        return found

    lines(10)
    assert lines(200) < 2.2 * lines(100)
