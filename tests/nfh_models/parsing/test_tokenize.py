"""Tokens of any text: exact offsets, nothing lost, and no text that takes for ever."""

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.text import tokens
from nfh_models.text.tokens import spans, tokenizer_name
from tests.conftest import LONG


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


def assert_covers(text: str) -> None:
    """Tokens are in order and apart, and hold what is no white space, and only that."""
    found = spans(text)
    last = 0
    for start, end in found:
        assert last <= start < end <= len(text)
        last = end
    assert "".join(text[start:end] for start, end in found) == "".join(text.split())


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text(text: str) -> None:
    assert_covers(text)


@given(st.text(alphabet="ab1.,-'\"() \n\t\0é́😀中١", min_size=1), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_long_texts(piece: str, times: int) -> None:
    assert_covers(piece * times)


def test_english() -> None:
    assert words("I haven't got twenty-four.") == "I have n't got twenty - four .".split()


def test_offsets_are_code_points() -> None:
    text = "😀 e\u0301té \u05d0\u05d7\u05d3 one\0two"
    assert_covers(text)
    assert text.index("one") in [start for start, _ in spans(text)]


def test_empty_and_blank() -> None:
    assert spans("") == []
    assert spans(" \n\t\u00a0\u3000 ") == []


def test_name_says_the_version() -> None:
    assert tokenizer_name() == f"spacy-blank-en {spacy.__version__} nfh 2"


def test_it_does_not_remember_every_word_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    words("two")
    monkeypatch.setattr(tokens, "WORDS_KEPT", len(tokens._blank().vocab.strings) + 20)
    for number in range(200):
        assert words(f"qz{number}x took {number}771.") == [
            f"qz{number}x",
            "took",
            f"{number}771",
            ".",
        ]
    assert len(tokens._blank().vocab.strings) < tokens.WORDS_KEPT + 10


def test_cutting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "It's 3.5, isn't it?  (No!)\n\nU.S. or e.g. twenty-four; don't. " * 60
    whole = spans(text)
    monkeypatch.setattr(tokens, "PIECE", 50)
    assert spans(text) == whole


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "'s",
        "word ",
        "e\u0301",
        *(pytest.param(one, marks=pytest.mark.long) for one in ("😀", "a", "1,", "a-", "\0")),
    ],
)
def test_a_line_of_a_million_characters(piece: str) -> None:
    """spaCy alone would take hours for most of these lines; the short form has a quarter."""
    text = piece * ((1_000_000 if LONG else 250_000) // len(piece))
    found = spans(text)
    assert found[0][0] == 0
    assert found[-1][1] == len(text.rstrip())


def test_a_long_run_keeps_letters_and_marks_together() -> None:
    run = "e\u0301te\u0301" * 200 + "(" + "x1" * 10
    assert words(f"one {run} two") == ["one", "e\u0301te\u0301" * 200, "(", "x1" * 10, "two"]
