"""Figures that add up, and the interval of a share."""

import pytest

from nfh_tui.scanning import blocks
from nfh_tui.scanning.blocks import Z95, Count, TextFigures, wilson


def one(*words: str) -> TextFigures:
    tally = TextFigures(words=len(words))
    for word in words:
        tally.count(word, "rule", nfh=word.lower() == "one")
    return tally


def test_figures_of_two_texts_are_those_of_both() -> None:
    together = one("One", "two", "two")
    together.add(one("one", "three"))
    assert together == one("One", "two", "two", "one", "three")
    assert together.total == Count(5, 2)
    assert together.anchors == {"one": Count(2, 2), "two": Count(2, 0), "three": Count(1, 0)}


def test_common_are_those_with_most_fused_heads() -> None:
    tally = TextFigures()
    for words, nfh in [("two", True), ("one", True), ("one", True), ("six", False)]:
        tally.count(words, "rule", nfh=nfh)
    assert [words for words, _ in tally.common(5)] == ["one", "two"]
    assert [words for words, _ in tally.common(1)] == ["one"]


def test_numbers_without_end_take_no_memory_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "ANCHORS_KEPT", 3)
    tally = one("one", "two", "three", "four", "one", "five")
    assert set(tally.anchors) == {"one", "two", "three"}
    assert tally.rest == Count(2, 0)
    assert tally.total == Count(6, 2)
    more = TextFigures()
    more.add(tally)
    assert more == TextFigures(
        total=tally.total, rest=tally.rest, anchors=tally.anchors, rules=tally.rules, words=6
    )


def test_a_number_of_any_length_is_cut() -> None:
    tally = one("9 " * 500)
    assert [len(words) for words in tally.anchors] == [blocks.LONGEST_ANCHOR]


@pytest.mark.parametrize(
    ("numbers", "nfh"), [(10, 0), (10, 5), (10, 10), (1, 1), (1_000, 355), (10**9, 3)]
)
def test_the_interval_is_wilsons(numbers: int, nfh: int) -> None:
    """At its bounds the observed share is just as far away as chance allows there."""
    found = wilson(Count(numbers, nfh))
    assert found is not None
    assert 0 <= found[0] <= nfh / numbers <= found[1] <= 1
    for bound in found:
        away = (nfh / numbers - bound) ** 2
        assert away == pytest.approx(Z95**2 * bound * (1 - bound) / numbers, abs=1e-12)


def test_no_number_has_no_share() -> None:
    assert wilson(Count()) is None
