"""The sentence of an item in lists: cut to the width, and turned by nothing in its text."""

import pytest

from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_tui.display_text import END_ISOLATE, ISOLATE, width_of
from nfh_tui.widgets.substitution import sentence

ARABIC = "\u0645\u0631\u0641\u0642"


def passage(words: list[str]) -> Passage:
    """One turn."""
    tokens, place = [], 0
    for word in words:
        tokens.append(Token(place, place + len(word), word))
        place += len(word) + 1
    return Passage(" ".join(words), tuple(tokens), (Turn(0, "Ann", 0, len(words)),))


@pytest.mark.parametrize("width", [8, 12, 20, 40, 200])
@pytest.mark.parametrize("around", [ARABIC, "word"])
def test_what_is_cut_keeps_both_ends_of_its_isolation(around: str, width: int) -> None:
    words = [around] * 6 + ["two"] + [around] * 6
    shown = sentence(passage(words), Anchor(6, 7), width).plain
    assert "[two]" in shown
    assert "U+" not in shown
    assert width_of(shown) <= width
    pieces = shown.split("[two]")
    for piece in pieces:
        inner = piece.removeprefix(ISOLATE).removesuffix(END_ISOLATE)
        assert ISOLATE not in inner
        assert END_ISOLATE not in inner
        assert (
            piece.startswith(ISOLATE)
            == piece.endswith(END_ISOLATE)
            == any(letter in piece for letter in ARABIC)
        )
