"""The map that docs/formats.md shows is one, and the short examples of two formats say Age."""

import re
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name, opened, reading
from nfh_db.formats.rows import GoldRow, LabelMap
from nfh_models.domain import Kind

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


@pytest.mark.parametrize("name", ["prodigy", "doccano"])
def test_an_example_is_of_its_format_and_says_age(tmp_path: Path, name: str) -> None:
    path = tmp_path / "example.jsonl"
    path.write_text(by_name(name).example + "\n", "utf-8")
    found = opened(path)
    assert found.format.name == name
    (row,) = found.format.read(found.source, reading())
    assert isinstance(row, GoldRow)
    answers = [vote.answer for vote in row.votes] or [row.gold.answer if row.gold else None]
    assert [answer and answer.kind for answer in answers] == [Kind.AGE]


def test_the_map_is_one(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path / "names.toml"
    path.write_text(shown, "utf-8")
    read = LabelMap.of_file(path)
    assert (read.labels["Zahl"], read.relations["meint"]) == ("ANCHOR", "HEAD")
