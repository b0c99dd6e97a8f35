"""What parsers get to see: cut and cleaned words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.parsing.base import (
    LONGEST_WORD,
    STAND_IN,
    WordSpan,
    batches,
    cut,
    groups,
    printable,
)


@pytest.mark.parametrize("word", ["two", "n't", ".", "twenty-four", "Élan", "数", "1,000", "_"])
def test_ordinary_words_are_shown_as_they_are(word: str) -> None:
    assert printable(word) is word


@pytest.mark.parametrize(
    ("word", "seen"),
    [
        ("", STAND_IN),
        (" ", STAND_IN),
        ("\n\t", STAND_IN),
        ("\x00", STAND_IN),
        ("\u200b", STAND_IN),
        ("\ud800", STAND_IN),
        ("fi\x00ve", "five"),
        ("\ttwo\n", "two"),
        ("18\xa0000", "18000"),
        ("x" * 5_000_000, "x" * LONGEST_WORD),
    ],
)
def test_others_are_cleaned(word: str, seen: str) -> None:
    assert printable(word) == seen


@given(st.text())
def test_what_is_shown_has_something_to_see(word: str) -> None:
    seen = printable(word)
    assert seen.isprintable()
    assert seen.strip()
    assert len(seen) <= LONGEST_WORD


@given(st.lists(st.sampled_from(["a", ".", ",", ";"]), max_size=60), st.integers(1, 12))
def test_pieces_cover_the_words_in_order(words: list[str], longest: int) -> None:
    spans = list(cut(words, longest))
    assert [place for start, end in spans for place in range(start, end)] == [
        *range(len(words))
    ]
    assert all(0 < end - start <= longest for start, end in spans)
    assert all(first[1] == second[0] for first, second in pairwise(spans))


def test_a_cut_is_made_behind_a_sentence_rather_than_a_comma() -> None:
    words = "a a a a a . b , b b b b".split()
    assert list(cut(words, 9)) == [(0, 6), (6, 12)]
    assert list(cut("a a a a a a , b b b".split(), 9)) == [(0, 7), (7, 10)]
    assert list(cut(["a"] * 10, 9)) == [(0, 9), (9, 10)]


def stretches_of(*lengths: int) -> list[WordSpan]:
    return [WordSpan(["a"] * length, [True] * length) for length in lengths]


def test_batches_keep_order_and_end_where_they_are_full() -> None:
    given_ = stretches_of(3, 0, 9, 2, 4)
    found = list(batches(given_, longest=4, size=8))
    assert [one for waiting, _ in found for one in waiting] == given_
    assert [len(waiting) for waiting, _ in found] == [3, 2]
    pieces = found[0][1]
    assert [(one.span, one.start, one.end) for one in pieces] == [
        (0, 0, 3),
        (2, 0, 4),
        (2, 4, 8),
        (2, 8, 9),
    ]


def test_a_group_is_never_larger_than_asked() -> None:
    [(_, pieces)] = batches(stretches_of(3, 9, 2), longest=4, size=100)
    sizes = [[len(one.words) for one in group] for group in groups(pieces, 7)]
    assert sizes == [[3, 4], [4, 1, 2]]
    assert [[len(one.words) for one in group] for group in groups(pieces, 1)] == [
        [3],
        [4],
        [4],
        [1],
        [2],
    ]


def test_batches_draw_no_more_than_they_need() -> None:
    drawn = []

    def source():
        for word_span in stretches_of(*[5] * 100):
            drawn.append(word_span)
            yield word_span

    next(batches(source(), longest=10, size=12))
    assert len(drawn) == 2
