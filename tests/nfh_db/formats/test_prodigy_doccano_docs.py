"""The examples of the documentation are read as it says."""

from pathlib import Path

import pytest

from nfh_db.formats.registry import opened, reading
from nfh_db.formats.rows import GoldRow, LabelMap
from nfh_models.domain import Kind

DOCS = Path(__file__).parents[3] / "docs" / "formats-prodigy-doccano.md"


def blocks() -> list[str]:
    return [block.strip("\n") + "\n" for block in DOCS.read_text("utf-8").split("```")[1::2]]


@pytest.mark.parametrize("name", ["prodigy", "doccano"])
def test_an_example_is_of_its_format_and_says_age(tmp_path: Path, name: str) -> None:
    section = DOCS.read_text("utf-8").split(f"\n## {name}\n")[1]
    path = tmp_path / "example.jsonl"
    path.write_text(section.split("```")[1].lstrip("\n"), "utf-8")
    found = opened(path)
    assert found.format.name == name
    (row,) = found.format.read(found.source, reading())
    assert isinstance(row, GoldRow)
    answers = [vote.answer for vote in row.votes] or [row.gold.answer if row.gold else None]
    assert [answer and answer.kind for answer in answers] == [Kind.AGE]


def test_the_map_is_one(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(next(block for block in blocks() if block.startswith("[labels]")), "utf-8")
    assert LabelMap.of_file(path).labels["NUM"] == "ANCHOR"
