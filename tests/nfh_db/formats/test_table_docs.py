"""A table and a corpus are read; docs/formats-dialogs.md has every name of a column."""

import json
from pathlib import Path

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import ReadOptions
from nfh_db.formats.tables import NAMES

DOCS = Path(__file__).parents[3] / "docs" / "formats-dialogs.md"


def section(name: str) -> str:
    return DOCS.read_text("utf-8").split(f"\n## {name}\n")[1].split("\n## ")[0]


TABLE = """scene,turn,speaker,text
kitchen,1,Ann,"Two ""big"" cups, please?"
kitchen,2,Ben,"No,
three."
garden,7,,And when?
garden,9,Ann,At four.
"""

SAID = [
    ("k3", "u1", "k2", "Three, then."),
    ("k2", "u2", "k1", "Two tickets?"),
    ("k1", "u1", None, "Hello."),
]
CORPUS = "".join(
    json.dumps(
        {"id": id_, "speaker": who, "conversation_id": "k1", "reply-to": to, "text": text}
    )
    + "\n"
    for id_, who, to, text in SAID
)


def speeches(source: Source, name: str) -> list[list[tuple[int, str | None, str]]]:
    return [
        [(t.line, t.speaker, block.text[t.start : t.end]) for t in block.turns]
        for block in by_name(name).read(source, ReadOptions())
    ]


def test_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text(TABLE)
    kitchen, garden = speeches(Source(tmp_path / "k.csv"), "table")
    assert kitchen == [(2, "Ann", 'Two "big" cups, please?'), (3, "Ben", "No, three.")]
    assert garden == [(5, None, "And when?"), (6, "Ann", "At four.")]


@pytest.mark.parametrize("column", NAMES)
def test_every_name_of_a_column_is_told(column: str) -> None:
    (row,) = [line for line in section("table").splitlines() if f"| {column} |" in line]
    assert [name.strip("` ") for name in row.split("|")[2].split(",")] == list(NAMES[column])


def test_the_corpus_is_read(tmp_path: Path) -> None:
    (tmp_path / "utterances.jsonl").write_text(CORPUS)
    (conversation,) = speeches(Source(tmp_path / "utterances.jsonl"), "convokit")
    assert conversation == [
        (3, "u1", "Hello."),
        (2, "u2", "Two tickets?"),
        (1, "u1", "Three, then."),
    ]
