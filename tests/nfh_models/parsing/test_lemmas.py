"""Lemmas of single words."""

import pytest

from nfh_models.text.tokens import lemmas


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("tents", "tent"),
        ("Tents", "tent"),
        ("TENTS", "tent"),
        ("women", "woman"),
        ("knives", "knife"),
        ("children", "child"),
        ("feet", "foot"),
        ("dollars", "dollar"),
        ("tent", "tent"),
        ("is", "be"),
        ("one", "one"),
    ],
)
def test_words(word: str, lemma: str) -> None:
    assert lemmas([word]) == [lemma]


@pytest.mark.parametrize(
    "word", ["1,000", "12th", "1960s", "3.5", "...", "--", "$", "9/11", "v8", "😀", "\0"]
)
def test_what_is_no_word_stays(word: str) -> None:
    assert lemmas([word]) == [word]


def test_one_a_word_in_order() -> None:
    assert lemmas("Two owls saw 2 mice !".split()) == ["two", "owl", "see", "2", "mouse", "!"]
    assert lemmas([]) == []


def test_lower_case_whatever_the_table_says() -> None:
    words = "Paris I Mr. Americans NASA ÉTÉ".split()
    assert all(lemma == lemma.lower() for lemma in lemmas(words))


def test_absurd_words_stay() -> None:
    word = "Tents" * 100_000
    assert lemmas([word]) == [word.lower()]
