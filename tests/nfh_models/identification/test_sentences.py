"""Sentences from the characters alone: every character in one, whatever the text."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.text import sentences
from nfh_models.text.sentences import LONGEST, REACH, sentence_spans

AWKWARD = st.lists(
    st.sampled_from(
        [*"aB1.!?…\"'”’“‘()[]`- \n\r\t\x00é七\u0301\u200b\u2029\u00a0🙂", "''", "``"]
    ),
    max_size=60,
).map("".join)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def assert_covers(text: str, spans: list[tuple[int, int]]) -> None:
    place = 0
    for start, end in spans:
        assert place <= start < end <= len(text)
        assert not text[place:start].strip()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        assert end - start <= LONGEST
        place = end
    assert not text[place:].strip()


@given(st.one_of(st.text(), AWKWARD))
def test_every_character_lies_in_exactly_one_sentence(text: str) -> None:
    assert_covers(text, list(sentence_spans(text)))


@given(AWKWARD, st.integers(0, 60), st.integers(0, 60))
def test_a_part_of_a_text_is_cut_as_if_it_stood_alone(text: str, one: int, two: int) -> None:
    start, end = sorted((min(one, len(text)), min(two, len(text))))
    inside = [(a + start, b + start) for a, b in sentence_spans(text[start:end])]
    assert list(sentence_spans(text, start, end)) == inside


@settings(max_examples=20)
@given(st.integers(1, 5_000), st.sampled_from(["a", "1", "七", "e\u0301", ",x", "\x00", "🙂"]))
def test_a_line_without_white_space_is_cut_all_the_same(times: int, unit: str) -> None:
    text = unit * times
    spans = list(sentence_spans(text))
    assert_covers(text, spans)
    assert not any(text[start] == "\u0301" for start, _ in spans[1:])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("He left. She stayed.", ["He left.", "She stayed."]),
        (
            "He left! Why? Nobody knows…  Nobody.",
            ["He left!", "Why?", "Nobody knows…", "Nobody."],
        ),
        ("He left . '' She stayed .", ["He left . ''", "She stayed ."]),
        ('He left. "She stayed."', ["He left.", '"She stayed."']),
        ('"He left." She stayed.', ['"He left."', "She stayed."]),
        ("(He left.) [She stayed.] So.", ["(He left.)", "[She stayed.]", "So."]),
        ("Dr. Brand and Mr. Lee paid No. 5.", ["Dr. Brand and Mr. Lee paid No. 5."]),
        ("At 5 p.m. Lee left. At 6 J. Roe did.", ["At 5 p.m. Lee left.", "At 6 J. Roe did."]),
        ("It cost 3.50 in all. 12 came.", ["It cost 3.50 in all.", "12 came."]),
        ('"What?" he said. "Two."', ['"What?" he said.', '"Two."']),
        ("no capital. here either", ["no capital. here either"]),
        ("first line\nsecond line", ["first line\nsecond line"]),
        ("a title\n\nThe text", ["a title", "The text"]),
        ("a title\r\n\r\nthe text", ["a title", "the text"]),
        ("a title \n \t \n the text", ["a title", "the text"]),
        ("mark.\n\nsmall letter", ["mark.", "small letter"]),
        ("one\u2029two", ["one", "two"]),
        ("one. \u2029 two", ["one.", "two"]),
        ("who? -\n\n(and why", ["who?", "-", "(and why"]),
        ("Mr. -\n\nand", ["Mr. -", "and"]),
        ("", []),
        ("\n\n\n", []),
        (" \t ", []),
        ("\x00", ["\x00"]),
    ],
)
def test_where_sentences_end(text: str, wanted: list[str]) -> None:
    assert cut(text) == wanted


def test_an_abbreviation_begins_a_part_of_a_text() -> None:
    text = "Ann: Mr. Lee left."
    assert list(sentence_spans(text, 5)) == [(5, len(text))]


def test_an_empty_line_ends_a_sentence_between_others() -> None:
    assert cut("the owl\n\nsaw two\n\n\n\n") == ["the owl", "saw two"]


def test_a_long_sentence_is_cut_at_white_space() -> None:
    words = "owls " * 2_000
    pieces = cut(words)
    assert len(pieces) > 1
    assert " ".join(pieces).split() == words.split()


def test_a_long_word_is_not_torn_where_a_sign_stands() -> None:
    pieces = cut("12345," * 1_000)
    assert all(piece.endswith(",") for piece in pieces)


HOSTILE = {
    "marks": "!" * 20_000,
    "dots and spaces": ". " * 10_000,
    "a mark and white space": "end." + " " * 20_000,
    "lines": "\n" * 20_000,
    "lines and blanks": "\n \t" * 7_000,
    "quotes": "end." + "' " * 10_000,
    "closing": "end" + ")" * 20_000 + " X",
    "opening": "end. " + "(" * 20_000 + "X",
    "carriage returns": "\n" + "\r" * 20_000,
    "nothing": "\x00" * 20_000,
    "no white space": "x1." * 7_000,
    "words": "One owl. " * 2_500,
    "other language": "七羽のふくろう。" * 2_500,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_looked_at_grows_with_the_text_only(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Each place is found once, and little is looked at around it."""
    patterns = CountedPattern(sentences._PLACES)
    monkeypatch.setattr(sentences, "_PLACES", patterns)
    counted = CountedText(text)
    assert_covers(text, list(sentence_spans(counted)))
    assert patterns.found <= len(text)
    assert patterns.code_points <= len(text)
    assert counted.looks <= (REACH + 6) * len(text)


class CountedPattern:
    """The pattern of places; counts its finds and what they hold."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.found = self.code_points = 0

    def finditer(self, *where: object) -> Iterator[re.Match[str]]:
        for one in self._pattern.finditer(*where):  # type: ignore[call-overload]
            self.found += 1
            self.code_points += len(one.group())
            yield one


class CountedText(str):
    """Text that counts how often one of its characters is looked at."""

    __slots__ = ("looks",)

    def __init__(self, _: str) -> None:
        self.looks = 0

    def __getitem__(self, place: object) -> str:
        self.looks += 1
        return super().__getitem__(place)  # type: ignore[index]
