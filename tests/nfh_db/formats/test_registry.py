"""The list of formats: each example is read, and a file's content says what it is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import amt, nfh
from nfh_db.formats.base import Format
from nfh_db.formats.files import Source
from nfh_db.formats.registry import FORMATS, GOLD, NFH, by_name, recognise
from nfh_db.formats.rows import Row

Write = Callable[..., Path]


@pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.name)
def test_the_example_line_is_one_of_the_format(
    format_: Format, rows: Callable[[str, str], list[Row]]
) -> None:
    name, example = format_.name, format_.example
    assert "\n" not in example
    headers = {"nfh-ident": nfh.HEADER + "\n", "amt": amt.HEADER + "\n"}
    assert len(rows(name, headers.get(name, "") + example)) == 1


def test_directions_are_as_documented() -> None:
    assert tuple(one.name for one in FORMATS) == ("nfh", "nfh-ident", "dialog", "gold", "amt")
    assert [one.name for one in FORMATS if one.writable] == ["nfh", "gold"]
    assert by_name("nfh-ident").direction == by_name("amt").direction == "import only"
    assert by_name("gold").direction == "import and export"


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (NFH.example, "x.jsonl", "nfh"),
        (NFH.example, "x.txt", "nfh"),
        (GOLD.example, "x.jsonl", "gold"),
        (GOLD.example, "x", "gold"),
        ("\n" + GOLD.example, "x", "gold"),
        (json.dumps({"format": "nfh-gold/9"}), "x.jsonl", "gold"),
        ('{"tokens": [', "x.txt", "nfh"),
        ("{", "x.txt", "nfh"),
        ("not json at all", "x.jsonl", "nfh"),
        ("text\tind_s\tind_e\ty\nOne\t0\t1\t1\n", "x.txt", "nfh-ident"),
        ("text ind_s\n", "x.tsv", "nfh-ident"),
        ("Ann: two", "x.txt", "dialog"),
        ("Ann: two", "x", "dialog"),
        ("[red]Ann: {two}", "x.txt", "dialog"),
        ("{laughs} Ann: two", "x.txt", "dialog"),
        (amt.HEADER + "\n", "x.csv", "amt"),
        (amt.HEADER + "\n", "x.jsonl", "amt"),
    ],
)
def test_content_first_then_the_name_decides(
    write: Write, content: str, name: str, expected: str
) -> None:
    format_, reason = recognise(Source(write(content, name)))
    assert format_.name == expected
    assert reason


def test_what_fits_no_format_is_refused_with_what_there_is(write: Write) -> None:
    with pytest.raises(
        FormatError,
        match=r"its format is not known: it starts with \"a,b␛\"; name one with --format: nfh",
    ):
        recognise(Source(write("a,b\x1b\n1,2\n", "table.csv")))
