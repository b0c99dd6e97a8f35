"""Lines as doccano writes them, read; the judge of offsets is text in UTF-16."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.doccano import DOCCANO, file_name, who_of
from nfh_db.formats.files import Folder, Source
from nfh_db.formats.registry import opened, reading
from nfh_db.formats.rows import DialogBlock, GoldRow, LabelMap, Row
from nfh_models.domain import Kind, Relation, Sort

TEXT = "Ann: Two red tickets, or cards?\nBen: No, three."
WIDE = "Ann: 😀 Two tickets?\nBen: No, three."

Line = dict[str, Any]
Read = Callable[..., tuple[list[Row], list[str]]]


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    """Reads lines of one file; gives rows and warnings."""

    def run(*lines: Line | str, **settings: Any) -> tuple[list[Row], list[str]]:
        spelled = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        source = Source(write("".join(f"{line}\n" for line in spelled)))
        rows = list(DOCCANO.read(source, reading(**settings)))
        return rows, source.warnings

    return run


def units(text: str, word: str) -> tuple[int, int]:
    """Where a word stands, as a browser counts."""
    start = len(text[: text.index(word)].encode("utf-16-le")) // 2
    return start, start + len(word.encode("utf-16-le")) // 2


def entity(id_: int, word: str, label: str, text: str = TEXT) -> Line:
    start, end = units(text, word)
    return {"id": id_, "label": label, "start_offset": start, "end_offset": end}


def triple(word: str, label: str, text: str = TEXT) -> list[Any]:
    return [*units(text, word), label]


def relation(one: int, other: int, label: str) -> Line:
    return {"id": 100 + one, "from_id": one, "to_id": other, "type": label}


ENTITIES = [
    entity(7, "three", "REFERENCE"),
    entity(9, "red tickets", "HEAD"),
    entity(12, "cards", "HEAD"),
]
RELATIONS = [relation(7, 9, "HEAD"), relation(12, 7, "HEAD"), relation(9, 12, "OR")]


def only(rows: list[Row]) -> GoldRow:
    (row,) = rows
    assert isinstance(row, GoldRow)
    return row


def heads(row: GoldRow) -> list[list[str]]:
    assert row.gold is not None
    return [list(row.passage.words[m.start : m.end]) for m in row.gold.answer.mentions()]


def test_entities_and_relations_are_gold(read: Read) -> None:
    line = {"id": 3, "text": TEXT, "entities": ENTITIES, "relations": RELATIONS}
    rows, warnings = read(
        line | {"Comments": [{"id": 1, "comment": "sure?"}, {"comment": "yes"}]}
    )
    row = only(rows)
    assert row.gold is not None
    assert heads(row) == [["red", "tickets"], ["cards"]]
    assert row.gold.answer.relation is Relation.OR
    assert row.gold.answer.comment == "sure?\nyes"
    assert warnings == []


@pytest.mark.parametrize("key", ["label", "labels"])
@pytest.mark.parametrize("text", ["text", "data"])
def test_triples_need_no_relations_where_one_number_is_marked(
    read: Read, key: str, text: str
) -> None:
    spans = [triple("red tickets", "HEAD"), triple("three", "ANCHOR")]
    assert heads(only(read({text: TEXT, key: spans})[0])) == [["red", "tickets"]]


def test_a_class_of_the_text_is_that_of_its_number(read: Read) -> None:
    line = {"text": TEXT, "entities": [entity(1, "three", "ANCHOR")], "cats": ["OTHER_CODE"]}
    gold = only(read(line)[0]).gold
    assert gold is not None
    assert (gold.answer.kind, gold.answer.sort) == (Kind.OTHER, Sort.CODE)
    rows, warnings = read({"text": TEXT, "label": ["AGE"], "Comments": []})
    assert isinstance(rows[0], DialogBlock)
    assert warnings == [
        "1 text without a number marked: numbers were found by rule",
        "1 text with a class, but no number marked to have it: the class was left out",
    ]


def test_how_a_file_counts_is_asked_where_it_matters(read: Read) -> None:
    line = {"text": WIDE, "label": [triple("three", "AGE", WIDE)]}
    with pytest.raises(FormatError) as refusal:
        read(line)
    assert 'line 1: the text holds "😀", which some programs' in str(refusal.value)
    assert "--offsets utf16" in str(refusal.value)
    row = only(read(line, offsets="utf16")[0])
    assert row.passage.words[row.anchor.start] == "three"
    start = WIDE.index("three")
    points = line | {"label": [[start, start + 5, "AGE"]]}
    assert only(read(points, offsets="codepoint")[0]).anchor == row.anchor
    # Where nothing is marked there is nothing to count.
    assert isinstance(read({"text": WIDE, "label": []})[0][0], DialogBlock)


def test_overlapping_spans_are_kept(read: Read) -> None:
    spans = [
        triple("three", "ANCHOR"),
        triple("red tickets", "HEAD"),
        triple("tickets", "HEAD"),
    ]
    assert heads(only(read({"text": TEXT, "label": spans})[0])) == [
        ["red", "tickets"],
        ["tickets"],
    ]


def test_names_are_translated_and_metadata_is_carried(read: Read) -> None:
    how = LabelMap({"NUM": "AGE", "PER": "ignore"})
    spans = [triple("three", "NUM"), triple("Ben", "PER")]
    rows, warnings = read({"text": TEXT, "label": spans, "shelf": 3, "id": 9}, labels=how)
    assert only(rows).labels == '{"doccano":{"shelf":3}}'
    assert warnings == ["1 mark left out, by the map"]


def test_a_line_that_stands_twice_counts_once(read: Read) -> None:
    line = {"id": 3, "text": TEXT, "label": [triple("three", "AGE")]}
    assert len(read(line, line)[0]) == 1
    with pytest.raises(FormatError, match='line 2: key "id": found 3, the id of another line'):
        read(line, line | {"label": [triple("three", "TIME")]})


def test_a_line_may_be_laid_out_over_several(write: Callable[..., Path]) -> None:
    """As doccano's own example of relations is."""
    line = {"text": TEXT, "entities": ENTITIES, "relations": RELATIONS}
    found = opened(write(json.dumps(line, indent=4), "example.jsonl"))
    assert found.format is DOCCANO
    row = only(list(DOCCANO.read(found.source, reading())))
    assert heads(row) == [["red", "tickets"], ["cards"]]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('{"text": "No, three."', "the line is not JSON"),
        ({"label": [[0, 1, "AGE"]]}, 'key "text" is missing; wanted a line with a text'),
        ({"text": TEXT, "label": [[40, 90, "AGE"]]}, "outside a text of 47 characters"),
        ({"text": TEXT, "label": [[9, 9, "AGE"]]}, "the span 9 to 9"),
        ({"text": TEXT, "label": [[1, 2]]}, "wanted [start, end, label], or the name"),
        ({"text": TEXT, "label": [[True, 2, "AGE"]]}, "wanted [start, end, label]"),
        (
            {"text": TEXT, "entities": [{"id": 1, "label": "AGE"}]},
            'the key "start_offset" is missing',
        ),
        (
            {"text": TEXT, "entities": ENTITIES, "relations": [relation(7, 8, "HEAD")]},
            "found the entity 8, which is not in the line",
        ),
        (
            {"text": TEXT, "entities": [*ENTITIES, ENTITIES[0]], "relations": RELATIONS},
            "wanted an id on each, and none twice",
        ),
        ({"text": TEXT, "label": [triple("three", "AGE")], "Comments": [3]}, "found 3; wanted"),
    ],
)
def test_what_does_not_hold_is_refused_with_its_line(
    read: Read, line: Line | str, wanted: str
) -> None:
    with pytest.raises(FormatError) as refusal:
        read({"text": TEXT, "label": [triple("three", "AGE")]}, line)
    assert "line 2: " in str(refusal.value)
    assert wanted in str(refusal.value)


def test_a_span_that_halves_a_character_is_refused(read: Read) -> None:
    line = {"text": WIDE, "label": [[6, 9, "AGE"]]}
    with pytest.raises(FormatError, match="offset 6 is inside a character of two units"):
        read(line, offsets="utf16")


# --- folders --------------------------------------------------------------------------------


def project(path: Path, **files: list[Line]) -> Path:
    """A zip file as doccano makes it."""
    with zipfile.ZipFile(path, "w") as packed:
        for name, lines in files.items():
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            packed.writestr(f"{name}.jsonl", text)
    return path


AGE = {"id": 3, "text": TEXT, "label": [triple("three", "AGE")], "Comments": []}
TIME = AGE | {"label": [triple("three", "TIME")]}


def test_files_of_a_project_are_called_after_annotators(tmp_path: Path) -> None:
    path = project(tmp_path / "p.zip", eva=[AGE], ben=[TIME], all=[AGE])
    found = opened(path)
    assert found.format is DOCCANO
    assert found.reason == (
        "it holds .jsonl files of JSON objects with a text and spans as [start, end, label] "
        'under "label"'
    )
    rows = [row for row in DOCCANO.read(found.source, reading()) if isinstance(row, GoldRow)]
    gold, *others = rows
    assert gold.gold is not None
    assert gold.gold.answer.kind is Kind.AGE
    assert [(row.votes[0].annotator, row.votes[0].answer.kind) for row in others] == [
        ("ben", Kind.TIME),
        ("eva", Kind.AGE),
    ]
    assert len({row.line for row in rows}) == 3


def test_a_refusal_names_the_file_of_a_project(tmp_path: Path) -> None:
    bad = AGE | {"id": 4, "label": [[0, 999, "AGE"]]}
    path = project(tmp_path / "p.zip", eva=[AGE, bad])
    with pytest.raises(FormatError, match=r"p\.zip: eva\.jsonl, line 2: the span 0 to 999"):
        list(DOCCANO.read(Folder(path), reading()))


def test_files_that_are_no_lines_are_counted(tmp_path: Path) -> None:
    project(tmp_path / "p.zip", eva=[AGE])
    with zipfile.ZipFile(tmp_path / "p.zip", "a") as packed:
        packed.writestr("README.md", "hello")
    folder = Folder(tmp_path / "p.zip")
    assert len(list(DOCCANO.read(folder, reading()))) == 1
    assert folder.warnings == ["1 file left out that is not .jsonl"]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("eva", "eva"),
        ("Eva Ö.", "Eva Ö%2E"),
        ("a/b: ..\\c", "a%2Fb%3A ..%5Cc"),
        ("100%", "100%25"),
        ("all", "%61ll"),
        ("ALL", "%41LL"),
        (".eva", "%2Eeva"),
    ],
)
def test_a_name_makes_the_name_of_a_file_and_comes_back(name: str, stem: str) -> None:
    assert file_name(name) == stem
    assert who_of(stem) == name


def test_long_names_stay_apart() -> None:
    one, other = "é" * 99 + "a", "é" * 99 + "b"
    assert file_name(one) != file_name(other)
    assert len(file_name(one).encode("utf-8")) < 140


def test_a_part_of_a_word_that_one_marks_parts_it_for_all(tmp_path: Path) -> None:
    """Else the answers of those who marked whole words would be to another passage."""
    part = triple("ticket", "HEAD")
    lines = {
        name: [{"text": TEXT, "label": [triple("three", "ANCHOR"), *spans]}]
        for name, spans in (
            ("ben", [triple("red tickets", "HEAD")]),
            ("eva", [part]),
            ("kim", []),
        )
    }
    folder = Folder(project(tmp_path / "p.zip", **lines))
    rows = [row for row in DOCCANO.read(folder, reading()) if isinstance(row, GoldRow)]
    assert len(rows) == 3
    assert {tuple(row.passage.words) for row in rows} == {tuple(rows[0].passage.words)}
    assert {"ticket", "s"} <= set(rows[0].passage.words)
