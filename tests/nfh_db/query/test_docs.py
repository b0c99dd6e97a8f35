"""The page about queries says what the registry says."""

import re
from pathlib import Path

import pytest

from nfh_db.query import KEYS, SORTS, Key, KeyArgument, parse
from nfh_db.query.parser import MAX_LENGTH, MAX_VALUES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "queries.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_each_key_has_its_row(page: str, key: Key) -> None:
    examples = " ".join(f"`{example}`" for example in key.examples)
    assert f"| `{key.name}` | {key.summary} | {examples} |" in page


def test_no_key_is_documented_that_is_none(page: str) -> None:
    keys = page.partition("## Keys")[2].partition("## Orders")[0]
    assert re.findall(r"^\| `(\w+)` \|", keys, re.MULTILINE) == [key.name for key in KEYS]


@pytest.mark.parametrize(
    "key",
    [key for key in KEYS if key.takes is KeyArgument.CHOICE and len(key.values) > 1],
    ids=lambda key: key.name,
)
def test_each_value_of_a_closed_list_is_named(page: str, key: Key) -> None:
    words = (PAGE.parent / "words.md").read_text(encoding="utf-8")
    assert set(key.values) <= set(re.findall(r"`(\w+)`", page + words))


def test_each_order_has_its_row(page: str) -> None:
    for name, meaning in SORTS.items():
        assert f"| `sort:{name}` | {meaning} |" in page
    assert tuple(SORTS) == next(key.values for key in KEYS if key.name == "sort")


def test_the_examples_outside_the_tables_are_understood(page: str) -> None:
    (block,) = re.findall(r"```\n(.*?)```", page, re.DOTALL)
    assert parse(block.strip()).sorts
    for quoted in re.findall(r'`(-?\w+(?:[:<>=]|!=)[^`"\s]+)`', page):
        parse(quoted)


def test_the_limits_are_those_of_the_parser(page: str) -> None:
    assert f"at most {MAX_LENGTH:,} characters and {MAX_VALUES} words" in page
