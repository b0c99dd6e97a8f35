"""A sentence in capitals is parsed as if it were not, and looked at as it stands."""

from collections.abc import Iterable, Iterator

import pytest

from nfh_models.identification.base import in_small_letters, parse_cases
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan

from .conftest import marked


class Echo:
    """A parser that notes what it was given."""

    name = "echo 1"
    layers: frozenset[ParseLayer] = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

    def __init__(self) -> None:
        self.given: list[list[str]] = []

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        for word_span in word_spans:
            size = len(word_span.words)
            self.given.append(list(word_span.words))
            yield Parsed(
                word_span.words, ["X"] * size, (), (), list(range(size)), ["root"] * size
            )


@pytest.mark.parametrize(
    ("words", "small"),
    [
        ("NO ONE MOVE !", "no one move !"),
        ("I 'LL TAKE TWO", "i 'll take two"),
        ("ΕΧΩ ΔΥΟ", "εχω δυο"),
        ("I", None),
        ("OK , 5 .", None),
        ("1 2 3 !", None),
        ("日本 5", None),
        ("The FBI has TWO", None),
        ("Two Dogs", None),
        ("", None),
    ],
)
def test_what_is_in_capitals_throughout(words: str, small: str | None) -> None:
    word_span = WordSpan(words.split(), [True] * len(words.split()))
    found = in_small_letters(word_span)
    if small is None:
        assert found is word_span
    else:
        assert list(found.words) == small.split()
        assert found.spaces == word_span.spaces


def test_cases_keep_their_words() -> None:
    parser = Echo()
    cases = [marked("GIVE [ ONE ] BACK"), marked("Give [ two ] back")]
    parsed = parse_cases(cases, parser)
    assert parser.given == [["give", "one", "back"], ["Give", "two", "back"]]
    for case in parsed:
        assert case.parsed is not None
        assert case.parsed.words == case.word_span.words
    assert parsed[0].word_span is cases[0].word_span
