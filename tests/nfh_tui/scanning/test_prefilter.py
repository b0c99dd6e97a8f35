"""What the quick search lets through: everything that the number grammar would find."""

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.identification.base import TextCase, cases_of_sentences, sentences_of_text
from nfh_models.text import numbers
from nfh_models.text.numbers import find_numbers, may_hold_number
from nfh_models.text.tokens import spans

WORDS = sorted(numbers._WORDS)
DIGITS = "0579٣४０߅"
OTHERS = ["oh", "o", "and", "point", "a", "half", "k", "no", "some", "phone", "th", "'s", "$"]
JOINTS = [
    "",
    " ",
    "-",
    "‐",
    "‑",
    "–",
    "—",
    "'",
    "’",
    ".",
    ",",
    "/",
    ":",
    "_",
    "(",
    '"',
    "\x1b[31m",
    "<",
    "\u2060",
    "\n",
    "é",
]


def spelled(word: str) -> st.SearchStrategy[str]:
    cases = st.lists(st.booleans(), min_size=len(word), max_size=len(word))
    return st.one_of(
        st.just(word),
        st.just(word.upper()),
        st.just(word.replace("k", "\u212a")),  # whose small letter is k
        cases.map(
            lambda upper: "".join(
                letter.upper() if up else letter for letter, up in zip(word, upper, strict=True)
            )
        ),
    )


PIECE = st.one_of(
    st.sampled_from(WORDS).flatmap(spelled),
    st.sampled_from(OTHERS).flatmap(spelled),
    st.text(DIGITS, min_size=1, max_size=3),
    st.text(max_size=3),
)
TEXT = st.lists(st.tuples(PIECE, st.sampled_from(JOINTS)), max_size=6).map(
    lambda pairs: "".join(piece + joint for piece, joint in pairs)
)


def test_every_word_of_the_lexicon_in_any_case() -> None:
    for word in WORDS:
        for written in (word, word.upper(), word.capitalize(), f"({word})", f"_{word}_"):
            assert may_hold_number(written), written


@settings(deadline=None, max_examples=150)
@given(text=TEXT)
def test_never_no_where_a_number_is_found(text: str) -> None:
    words = [text[start:end] for start, end in spans(text)]
    if find_numbers(words) or any(numbers.parts_of(word) for word in words):
        assert may_hold_number(text)


@settings(deadline=None, max_examples=150)
@given(pieces=st.lists(PIECE, min_size=1, max_size=4), joint=st.sampled_from(JOINTS))
def test_never_no_for_one_token_that_is_a_number(pieces: list[str], joint: str) -> None:
    token = joint.join(pieces)
    if numbers.parts_of(token):
        assert may_hold_number(token)


def test_codes_for_a_terminal_end_with_a_letter() -> None:
    for text in ("\x1b[31mtwo left", "\x9bmtwo left", "gone\x1b[0Kone"):
        assert may_hold_number(text)


def test_most_words_that_only_look_like_numbers_are_left_out() -> None:
    text = "Someone often phoned a tender wonderful weight about fortune; none atone for it."
    assert not may_hold_number(text)


def cases_of_text(text: str, *, per_line: bool = False) -> Iterator[TextCase]:
    return cases_of_sentences(text, sentences_of_text(text, per_line=per_line))


def test_where_numbers_stand_in_the_text() -> None:
    text = "A long one.\n\nHe had twenty-four, she\nonly two or\tthree! Someone left."
    found = [(text[case.start : case.end]) for case in cases_of_text(text)]
    assert found == ["one", "twenty-four", "two", "three"]
    by_words = [
        case.word_span.words[case.start : case.end]
        for case in (found.case for found in cases_of_text(text))
    ]
    assert by_words == [["one"], ["twenty", "-", "four"], ["two"], ["three"]]


def test_a_line_break_is_white_space_unless_lines_are_texts() -> None:
    text = "Give me two\nor the three hundred\n\nfive of them"
    free = [case.case.word_span.words for case in cases_of_text(text)]
    lines = [case.case.word_span.words for case in cases_of_text(text, per_line=True)]
    assert free[0] == ["Give", "me", "two", "or", "the", "three", "hundred"]
    assert free[1] is free[0]
    assert [words[0] for words in lines] == ["Give", "or", "five"]


def test_what_is_known_of_white_space_is_used() -> None:
    glued = list(cases_of_text("a two-bedroom flat"))
    spaced = list(cases_of_text("a two - bedroom flat"))
    assert not glued
    assert [one.case.word_span.spaces for one in spaced] == [[True, True, True, True, False]]
