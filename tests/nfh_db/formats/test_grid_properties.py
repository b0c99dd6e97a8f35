"""Texts with marks and tokens, and offsets in units of UTF-16: nothing moves or is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_db.formats.fields import sound_digest
from nfh_db.formats.rows import RawPassage, ReadOptions
from nfh_db.formats.spans import (
    MarkError,
    SplitPairError,
    TokenAlignment,
    Units,
    based,
    checked,
)
from nfh_models.domain import Passage, PassageError, Token, Turn
from nfh_models.text.tokens import spans

HOW = ReadOptions(tokenize=spans, tokenizer=lambda: "test")

signs = st.sampled_from(
    [*"aé3 .:\t", "\r\n", "\n", "\n\n", "😀", "\u0301", "Ann: ", "\u2028", "𝒳"]
)
texts = st.lists(signs, min_size=1, max_size=40).map("".join)


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text, and spans of it that hold more than white space."""
    text = draw(texts) + "\n7"  # a word at least
    place = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(place, place), max_size=6))
    return text, [(a, b) for a, b in pairs if a < b and text[a:b].strip()]


@given(marked_texts())
def test_marks_lie_on_bounds_of_tokens(given_: tuple[str, list[tuple[int, int]]]) -> None:
    text, marks = given_
    passage = based(text, marks, HOW).alignment.passage
    alignment = TokenAlignment(passage)
    assert sound_digest(passage)
    for start, end in marks:
        first, stop = alignment.tokens(start, end)
        inner = text[passage.starts[first] : passage.ends[stop - 1]]
        assert inner == text[start:end].strip()


@given(marked_texts())
def test_every_character_is_in_a_token_a_name_or_white_space(
    given_: tuple[str, list[tuple[int, int]]],
) -> None:
    text, marks = given_
    passage = based(text, marks, HOW).alignment.passage
    assert passage.text == text
    held = {i for a, b in zip(passage.starts, passage.ends, strict=True) for i in range(a, b)}
    for line_end in ("\r", "\n"):
        assert all(line_end not in word for word in passage.words)
    if ":" not in text:  # so that no line names who speaks
        assert "".join(text[i] for i in sorted(held)) == "".join(text.split())


@given(marked_texts())
def test_tokens_that_came_are_cut_and_never_moved(
    given_: tuple[str, list[tuple[int, int]]],
) -> None:
    text, marks = given_
    tokens = spans(text)
    turns = (Turn(4, "Ann", 0, len(tokens), 5, 6),)
    base = based(text, marks, HOW, tokens, turns)
    passage = base.alignment.passage
    assert base.tokenizer is None
    assert {start for start, _ in tokens} <= set(passage.starts)
    assert {end for _, end in tokens} <= set(passage.ends)
    assert len(passage.words) == len(tokens) + base.cut
    assert passage.turns == (Turn(4, "Ann", 0, len(passage.words)),)
    assert (passage.turns[0].begin, passage.turns[0].until) == (5, 6)


@pytest.mark.parametrize("mark", [(-1, 2), (2, 2), (3, 2), (0, 99), (98, 99)])
def test_marks_outside_are_refused(mark: tuple[int, int]) -> None:
    with pytest.raises(MarkError, match="outside a text of 9 characters"):
        based("one, two!", [mark], HOW)
    with pytest.raises(MarkError, match="outside a text of 9 characters"):
        checked("one, two!", mark, "one")
    alignment = based("one, two!", [], HOW).alignment
    with pytest.raises(MarkError, match="outside a text of 9 characters"):
        alignment.tokens(*mark)


@pytest.mark.parametrize(
    "tokens", [[(0, 0)], [(0, 3), (2, 4)], [(3, 4), (0, 1)], [(0, 10)], [(-1, 2)]]
)
def test_tokens_that_are_none_are_refused(tokens: list[tuple[int, int]]) -> None:
    with pytest.raises(MarkError, match="is stated at"):
        based("one, two!", [], HOW, tokens)


@pytest.mark.parametrize("turns", [[(0, 1)], [(0, 1), (0, 2)], [(1, 2)], [(0, 3)], []])
def test_turns_that_hold_other_tokens_are_refused(turns: list[tuple[int, int]]) -> None:
    given_ = [Turn(rank, None, *turn) for rank, turn in enumerate(turns)]
    with pytest.raises(MarkError, match="the turns do not fit"):
        based("one, two!", [], HOW, [(0, 3), (5, 8)], given_)


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(MarkError, match="half a surrogate pair"):
        based("one \ud83d two", [], HOW)


def test_a_surface_that_is_not_there_is_told() -> None:
    checked("😀 two", (2, 5), "two")
    with pytest.raises(MarkError, match='expected "two", found "wo"'):
        checked("😀 two", (3, 5), "two")


def test_white_space_may_be_a_token_where_the_file_says_so() -> None:
    alignment = based("a\u2028b", [], HOW, [(0, 1), (1, 2), (2, 3)]).alignment
    assert alignment.tokens(1, 2) == (1, 2)
    assert alignment.tokens(0, 3) == (0, 3)


# --- digests without objects ----------------------------------------------------------------


@given(
    texts,
    st.lists(st.tuples(st.integers(-1, 9), st.integers(-1, 9)), max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=2),
)
def test_a_digest_is_that_of_the_passage_or_the_same_refusal(
    text: str, pairs: list[tuple[int, int]], rows: list[tuple[int, int, int]]
) -> None:
    turns = tuple(Turn(number, None, start, end) for number, start, end in rows)
    raw = RawPassage(text, [], [a for a, _ in pairs], [b for _, b in pairs], turns)
    try:
        want = Passage(text, tuple(Token(a, b, "") for a, b in pairs), turns).digest
    except PassageError as error:
        with pytest.raises(PassageError) as found:
            sound_digest(raw)
        assert str(found.value) == str(error)
    else:
        assert sound_digest(raw) == want


# --- units of UTF-16 ------------------------------------------------------------------------


@given(texts)
def test_units_are_those_of_utf_16(text: str) -> None:
    units = Units(text)
    places = [len(text[:place].encode("utf-16-le")) // 2 for place in range(len(text) + 1)]
    assert [units.to_units(place) for place in range(len(text) + 1)] == places
    assert [units.to_points(place) for place in places] == list(range(len(text) + 1))
    assert units.length == places[-1]
    assert units.to_points(units.length + 7) == len(text) + 7


@given(texts)
def test_a_place_inside_a_character_is_none(text: str) -> None:
    units = Units(text)
    places = {len(text[:place].encode("utf-16-le")) // 2 for place in range(len(text) + 1)}
    for inside in set(range(units.length)) - places:
        with pytest.raises(SplitPairError, match=f"offset {inside} is inside"):
            units.to_points(inside)
