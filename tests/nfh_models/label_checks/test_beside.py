"""The rest of a number, a noun of its own, and anchors that are none."""

from collections.abc import Callable

import pytest

from nfh_models.domain import Kind

Found = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("It cost *four* hundred , tax and all .", "four hundred"),
        ("We left at seven *thirty* .", "seven thirty"),
        ("I had *thirty* - seven of them", "thirty - seven"),
        ("It was *1.5* billion .", "1.5 billion"),
        ("I paid $ 1 , *100* .", "1 , 100"),
        ("I owe him $ 300 , *0* .", "300 , 0"),
        ("She sold 18 , *000* .", "18 , 000"),
        ("Give me *twenty* *-* *two* fifty .", "twenty - two fifty"),
    ],
)
def test_a_number_word_beside_the_anchor(found: Found, line: str, whole: str) -> None:
    assert f"is part of \u201c{whole}\u201d" in found(line, Kind.OTHER)["number-beside"]


@pytest.mark.parametrize(
    "line",
    [
        "It cost *four* *hundred* .",
        "About 175 , *180* .",
        "Five or *six* .",
        "We have *three* / hundred are left",
        "He left in *1985* .",
    ],
)
def test_whole_numbers_and_numbers_apart(found: Found, line: str) -> None:
    assert "number-beside" not in found(line, Kind.OTHER)


def test_a_cut_anchor_is_told_whatever_its_answer(found: Found) -> None:
    assert "number-beside" in found("*Four* hundred .", Kind.NOT_NFH)


def test_two_numbers_in_one_anchor(found: Found) -> None:
    note = found("From *eighteen* *to* *twenty* , Captain .", Kind.AGE)["two-numbers"]
    assert note == "it holds \u201ceighteen\u201d and \u201ctwenty\u201d"


@pytest.mark.parametrize("line", ["She came in *third* .", "On the *4* th of May"])
def test_ordinals(found: Found, line: str) -> None:
    assert "is an ordinal, and OTHER" in found(line, Kind.OTHER)["no-number"]
    assert "no-number" not in found(line, Kind.NOT_NFH)


def test_anchors_that_are_no_number(found: Found) -> None:
    for kind in (Kind.OTHER, Kind.NOT_NFH):
        found_here = found("Here we are , *scene* 1 .", kind)
        assert found_here == {"no-number": "\u201cscene\u201d is not a number"}


def test_a_noun_right_behind(found: Found) -> None:
    line = "She bred *three* goats|NOUN ."
    assert found(line, Kind.OTHER)["noun-after"] == (
        "\u201cthree goats\u201d has its own noun, and is OTHER"
    )
    assert found(line, Kind.NFH)["noun-after"]
    assert "noun-after" not in found(line, Kind.NOT_NFH)
    assert "noun-after" in found("Humidity was *99* %|X .|PUNCT", Kind.OTHER)


@pytest.mark.parametrize(
    "line",
    [
        "I called *one* yesterday|NOUN",
        "It starts at *six* o'clock|NOUN",
        "The only *one* marching|NOUN",
        "I want *three* . / Goats|NOUN , please",
        "I saw *three* run|VERB",
        "No *one* fools|NOUN him",
    ],
)
def test_nouns_that_are_not_its_own(found: Found, line: str) -> None:
    assert "noun-after" not in found(line, Kind.OTHER)


def test_a_name_behind_is_no_noun_of_it(found: Found) -> None:
    assert found("This makes *thirty-one* Charlie|PROPN !", Kind.OTHER) == {}


def test_a_noun_behind_adjectives(found: Found) -> None:
    line = "She bred *three* stubborn|ADJ , flea-bitten|ADJ goats|NOUN ."
    assert "three stubborn , flea-bitten goats" in found(line, Kind.OTHER)["noun-near"]
    assert "noun-near" not in found("I hired *one* last|ADJ week|NOUN", Kind.OTHER)
    assert "noun-near" not in found("The only *one* left|ADJ Petra|PROPN", Kind.OTHER)


def test_without_a_parser_nouns_are_not_looked_for(found: Found) -> None:
    assert found("She bred *three* goats .", Kind.OTHER) == {}
