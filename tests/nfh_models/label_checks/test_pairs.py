"""Numbers said in one breath."""

from collections.abc import Callable

import pytest

from nfh_models.domain import Kind

Found = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("He was gone *thirty* , perhaps forty|NUM years|NOUN .", Kind.YEAR),
        ("I called *five* , six|NUM times|NOUN", Kind.OTHER),
        ("Plant *six* or seven|NUM bulbs|NOUN .", Kind.PEOPLE),
        ("That was *two* , three|NUM -|PUNCT hundred|NUM years|NOUN ago", Kind.OTHER),
        ("It is *30* , 31st|ADJ century|NOUN .", Kind.YEAR),
        ("I live *ninety* to a|DET hundred|NUM", Kind.AGE),
    ],
)
def test_the_first_number_is_the_noun_behind_the_second(
    found: Found, line: str, kind: Kind
) -> None:
    noun = "NOUN" in line
    assert ("pair-noun" in found(line, kind)) is noun


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Plant *six* or seven|NUM _bulbs_|NOUN .", Kind.REFERENCE),
        ("It cost *six* or seven|NUM dollars|NOUN .", Kind.CURRENCY),
        ("She is *six* or seven|NUM years|NOUN old|ADJ .", Kind.AGE),
        ("In *2015* , sixty|NUM doctors|NOUN came", Kind.YEAR),
        ("Plant *six* or seven|NUM bulbs|NOUN .", Kind.NFH),
        ("Plant *six* or seven|NUM . / Bulbs|NOUN ?", Kind.OTHER),
        ("*One* , one|NUM more|ADJ thing|NOUN .", Kind.OTHER),
    ],
)
def test_pairs_that_are_as_they_should_be(found: Found, line: str, kind: Kind) -> None:
    assert "pair-noun" not in found(line, kind)


def test_linked_anchors_with_different_answers(found: Found) -> None:
    line = "My _weight_ is about *175* , *180* ."
    note = found(line, Kind.OTHER, Kind.REFERENCE)["pair-differs"]
    assert note == "\u201c175 , 180\u201d is OTHER, REFERENCE to \u201cweight\u201d"
    assert "pair-differs" not in found(line, Kind.OTHER, Kind.OTHER)


def test_a_chain_is_one_finding_with_all_its_anchors(kit: object) -> None:
    line = "Say *one* , *two* or *three* ."
    findings = kit.findings(line, Kind.OTHER, Kind.OTHER, Kind.AGE)  # type: ignore[attr-defined]
    (chain,) = (one for one in findings if one.check == "pair-differs")
    assert len(chain.keys) == 3


def test_with_a_noun_behind_the_last_they_have_to_differ(found: Found) -> None:
    line = "Plant *six* or *seven* _bulbs_|NOUN ."
    assert "pair-differs" not in found(line, Kind.REFERENCE, Kind.NOT_NFH)


def test_anchors_of_two_turns_are_not_linked(found: Found) -> None:
    assert "pair-differs" not in found("Say *one* , / *two* .", Kind.OTHER, Kind.AGE)
