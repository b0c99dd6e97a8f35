"""Fixed patterns off their usual answer, and classes where a noun would do."""

from collections.abc import Callable

import pytest

from nfh_models.domain import Kind

Found = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("check", "line", "wrong", "right"),
    [
        ("no-one", "No *one* came", Kind.OTHER, Kind.PEOPLE),
        ("no-one", "No *one* came", Kind.AGE, Kind.NFH),
        ("number-of-us", "The *three* of us left", Kind.OTHER, Kind.PEOPLE),
        ("number-of-us", "*Two* of them limped", Kind.OTHER, Kind.PEOPLE),
        ("one-another", "They love *one* another", Kind.OTHER, Kind.PEOPLE),
        ("one-and-only", "He is the *one* and only", Kind.PEOPLE, Kind.NOT_NFH),
        ("i-for-one", "I , for *one* , am glad", Kind.OTHER, Kind.PEOPLE),
    ],
)
def test_patterns(found: Found, check: str, line: str, wrong: Kind, right: Kind) -> None:
    assert check in found(line, wrong)
    assert check not in found(line, right)


@pytest.mark.parametrize(
    "line",
    [
        "I gave you *three* .",
        "Are you *two* done ?",
        "Petra is the *one* who locked it",
        "*One* of|ADP my|PRON best|ADJ favourites|NOUN .",
        "You *one* .",
        "We looked for *one* there",
        "The *one* I saw",
        "Take *three* of the cake",
    ],
)
def test_what_only_looks_like_a_pattern(found: Found, line: str) -> None:
    assert found(line, Kind.OTHER) == {}


def test_a_pronoun_is_no_noun_of_us(found: Found) -> None:
    assert "number-of-us" in found("God made *two* of _you_ .", Kind.REFERENCE)
    line = "You _penguins_ ! / *Four* of you ?"
    assert "number-of-us" not in found(line, Kind.REFERENCE)


@pytest.mark.parametrize(
    ("check", "line", "kind"),
    [
        ("class-noun-there", "Ten dollars ? / I paid *twelve* .", Kind.CURRENCY),
        ("class-noun-there", "Forty years|NOUN ! / She is *nine* .", Kind.AGE),
        ("people-noun-there", "Five people here . / Only *one* did it .", Kind.PEOPLE),
    ],
)
def test_class_and_noun(found: Found, check: str, line: str, kind: Kind) -> None:
    assert check in found(line, kind)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Buck|PROPN plays . / I see your *two* .", Kind.CURRENCY),
        ("Ask the man inside . / *One* gets used to it .", Kind.PEOPLE),
    ],
)
def test_class_and_noun_that_may_be_so(found: Found, line: str, kind: Kind) -> None:
    named = {"class-noun-there", "people-noun-there"}
    assert not named & set(found(line, kind))


def test_a_free_noun_that_stands_in_the_passage(found: Found) -> None:
    line = "A joke|NOUN ? / Heard the *one* about the parrot ?"
    assert found(line, Kind.OTHER, noun="jokes")["other-noun-there"] == (
        "it is OTHER \u201cjokes\u201d, and \u201cjoke\u201d is there"
    )
    assert "other-noun-there" not in found(line, Kind.OTHER, noun="story")
    assert "other-noun-there" not in found(line, Kind.OTHER)


def test_a_vote_is_told_with_its_name(kit: object) -> None:
    findings = kit.findings("No *one* came", Kind.OTHER, who="ann2")  # type: ignore[attr-defined]
    assert [(one.check, one.who) for one in findings] == [("no-one", "ann2")]
