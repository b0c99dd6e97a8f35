"""docs/words.md has every stored name of a kind, a disagreement, a state, a flag and a rule."""

import re
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

from nfh_db.records import AnchorState, FlagName, Role, Rule
from nfh_models.domain import Blocking, DifferenceNote, Kind, Relation, Sort
from nfh_tui.config import DISAGREEMENTS
from tools.sentences import sentences

PAGE = (Path(__file__).parents[2] / "docs" / "words.md").read_text("utf-8")


@cache
def texts() -> frozenset[str]:
    return frozenset(one.text for one in sentences())


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_each_kind_of_disagreement_has_the_name_that_people_read() -> None:
    rows = re.findall(
        r"^\| ([^|`]+) \| `(\w+)` \|", section("Kinds of disagreement"), re.MULTILINE
    )
    assert rows == [(words, kind.value) for kind, (_, words) in DISAGREEMENTS.items()]
    assert list(DISAGREEMENTS) == list(Blocking)


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Kinds of answer", Kind),
        ("Kinds of answer", Sort),
        ("Kinds of disagreement", DifferenceNote),
        ("Where an item stands", AnchorState),
        ("Where an item stands", FlagName),
        ("Where an item stands", Rule),
        ("Where an item stands", Role),
    ],
)
def test_every_stored_name_is_told(title: str, names: type[StrEnum]) -> None:
    told = set(re.findall(r"`(\w+)`", section(title)))
    assert {one.value for one in names} <= told


def test_relations_are_told() -> None:
    assert all(one.value in section("What is annotated") for one in Relation)


def test_no_word_is_told_twice() -> None:
    words = re.findall(r"^\| ([^|`]+) \|", PAGE, re.MULTILINE)
    told = [word for word in words if word not in ("word", "people read")]
    assert len(told) == len(set(told))


def test_no_sentence_of_the_program_has_a_retired_phrase() -> None:
    table = section("Phrases of screens, help and errors")
    retired = re.findall(r"^\| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)
    phrases = [one for cell in retired if cell != "not" for one in cell.split(", ")]
    assert len(phrases) > 20
    found = re.compile(
        rf"(?<!\w)(?:{'|'.join(phrases)}|(?<!here )is no (?!longer))(?!\w)", re.IGNORECASE
    )
    assert sorted(filter(found.search, texts())) == []


def test_the_list_of_sentences_has_help_notices_and_errors() -> None:
    listed = texts()
    assert (
        "Undo the last change of this draft, else your last saved act, on any item." in listed
    )
    assert "Add a person." in listed
    assert "{…} cannot be read: {…}" in listed
    assert "This release has no answers of individual people." in listed
