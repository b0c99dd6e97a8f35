"""The examples that docs/formats-tables.md shows are read as it says."""

from pathlib import Path

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import ReadOptions
from nfh_db.formats.tables import NAMES

DOCS = Path(__file__).parents[3] / "docs" / "formats-tables.md"


def section(name: str) -> str:
    return DOCS.read_text("utf-8").split(f"\n## {name}\n")[1].split("\n## ")[0]


def example(name: str) -> str:
    """The example of a format's section, in its code fence."""
    return section(name).split("```\n")[1]


def speeches(source: Source, name: str) -> list[list[tuple[int, str | None, str]]]:
    return [
        [(t.line, t.speaker, block.text[t.start : t.end]) for t in block.turns]
        for block in by_name(name).read(source, ReadOptions())
    ]


def test_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text(example("table"))
    kitchen, garden = speeches(Source(tmp_path / "k.csv"), "table")
    assert kitchen == [(2, "Ann", 'Two "big" cups, please?'), (3, "Ben", "No, three.")]
    assert garden == [(5, None, "And when?"), (6, "Ann", "At four.")]


@pytest.mark.parametrize("column", NAMES)
def test_every_name_of_a_column_is_told(column: str) -> None:
    (row,) = [line for line in section("table").splitlines() if f"| {column} |" in line]
    assert [name.strip("` ") for name in row.split("|")[2].split(",")] == list(NAMES[column])


def test_the_corpus_is_read(tmp_path: Path) -> None:
    (tmp_path / "utterances.jsonl").write_text(example("convokit"))
    (conversation,) = speeches(Source(tmp_path / "utterances.jsonl"), "convokit")
    assert conversation == [
        (3, "u1", "Hello."),
        (2, "u2", "Two tickets?"),
        (1, "u1", "Three, then."),
    ]
