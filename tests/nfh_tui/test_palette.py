"""Colours in a palette of 256: the greys of a theme are greys, and told apart."""

import pytest
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.color import BLACK

from nfh_tui.app import shows_signs
from nfh_tui.theme import THEMES, PaletteFilter, in_palette

GROUNDS = ("background", "surface", "panel", "boost")


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_grounds_are_four_greys(theme):
    numbers = [in_palette(Color.parse(getattr(theme, name))).number for name in GROUNDS]
    assert all(232 <= number <= 255 for number in numbers)
    assert len(set(numbers)) == len(GROUNDS)
    assert numbers == sorted(numbers, reverse=not theme.dark)
    assert 232 <= in_palette(Color.parse(theme.foreground)).number <= 255


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_hues_stay_hues_and_text_keeps_its_style(theme):
    style = Style.parse(f"bold underline {theme.accent} on {theme.surface}")
    (drawn,) = PaletteFilter().apply([Segment("one", style)], BLACK)
    assert drawn.text == "one"
    assert drawn.style.bold and drawn.style.underline
    assert 16 <= drawn.style.color.number < 232 <= drawn.style.bgcolor.number
    assert PaletteFilter().apply([Segment("x", None)], BLACK) == [Segment("x", None)]


def test_an_encoding_without_signs_is_known():
    assert shows_signs("utf-8") and shows_signs(None) and shows_signs("UTF-16")
    assert not shows_signs("latin-1") and not shows_signs("ascii") and not shows_signs("none")
