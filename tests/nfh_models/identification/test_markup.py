"""Numbers that stand against markup, or against characters that nobody sees, are found."""

import pytest

from nfh_models.identification.base import cases_of_sentences, sentences_of_text
from nfh_models.text.numbers import may_hold_number
from nfh_models.text.tokens import spans


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("<i>I have two.</i>", ["two"]),
        ('- <font color="#fff">Two?</font>', ["Two"]),
        ("I saw five.[2] Then I saw six[3].", ["five", "2", "six", "3"]),
        ("{\\i1}Two{\\i0} came", ["Two"]),
        ("[red]I have two[/red] and three[/] dogs", ["two", "three"]),
        ("I have \u202etwo\u202c, \u2066three\u2069", ["two", "three"]),
        ("two\u200b dogs, three\ufeff", ["two", "three"]),
        ("two\0three", ["two", "three"]),
        ("\x1b[31mtwo\x1b[0m dogs and \x9b1mone\x9b0m", ["two", "one"]),
        ("\x1b[1m Ben: hello", []),
        ("I <3 you :3 8) >:(", []),
        ("a B-52 and a two-bedroom flat", []),
    ],
)
def test_they_are_found_where_they_stand(text: str, numbers: list[str]) -> None:
    found = cases_of_sentences(text, sentences_of_text(text))
    assert [text[one.start : one.end] for one in found] == numbers
    assert may_hold_number(text) or not numbers


@pytest.mark.parametrize("text", ["<3", ":3", "8)", "x's", "e.g.", "don't", "3.5", "U.S."])
def test_what_needs_no_cut_is_one_or_two_tokens_as_before(text: str) -> None:
    assert len(spans(text)) <= 2


@pytest.mark.parametrize("piece", ["<a b ", "a[b ", "]two[ ", "\0 ", "\x1b[", "<>", "{two} "])
def test_a_long_line_of_markup_takes_no_longer_than_its_length(piece: str) -> None:
    text = piece * (15_000 // len(piece))
    found = spans(text)
    assert "".join(text[start:end] for start, end in found) == "".join(text.split())
