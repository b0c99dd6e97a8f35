"""Text on a screen: nothing hidden, every cell counted."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nfh_tui.display_text import clip, glyphs, is_plain, isolate, visible, width_of

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("[red]a[/]", "[red]a[/]"),
        ("\x1b[31m", "␛[31m"),
        ("a\tb\nc\x00\x7f", "a␉b␊c␀␡"),
        ("\x85", "⟨U+0085⟩"),
        ("\u202eabc\u2066", "⟨U+202E⟩abc⟨U+2066⟩"),
        ("a\u200db\u200c\ufeff\xad", "a⟨ZWJ⟩b⟨ZWNJ⟩⟨BOM⟩⟨SHY⟩"),
        ("cafe\u0301", "cafe\u0301"),
        ("\u0301x", "◌\u0301x"),
        ("❤\ufe0f", "❤"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("🇩🇪", "⟨D⟩⟨E⟩"),
        ("👍🏽", "👍⟨U+1F3FD⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\u3164\u034f", "⟨U+3164⟩⟨U+034F⟩"),
        ("\u1112\u1161\u11ab", "\u1112\u1161\u11ab"),
        ("\u1161", "⟨U+1161⟩"),
        ("\U000e0101", "⟨U+E0101⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "⟨U+0301⟩" * 2),
    ],
)
def test_what_is_drawn(text, drawn):
    assert visible(text) == drawn


@given(ANY_TEXT)
def test_glyph_widths_are_the_cells_of_the_whole(text):
    drawn = visible(text)
    assert sum(width for _, width in glyphs(text)) == cell_len(drawn) == width_of(drawn)


@given(ANY_TEXT)
def test_nothing_hidden_is_left_and_drawing_twice_changes_nothing(text):
    drawn = visible(text)
    hidden = {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
    assert not {unicodedata.category(character) for character in drawn} & hidden
    assert visible(drawn) == drawn
    assert bool(drawn) == bool(text)


@given(ANY_TEXT, st.integers(-1, 40))
def test_clipped_text_fits_and_says_so(text, width):
    clipped = clip(text, width)
    assert width_of(clipped) <= max(0, width)
    if width_of(visible(text)) <= width:
        assert clipped == visible(text)
    elif width > 0:
        assert clipped.endswith("…")
        assert visible(text).startswith(clipped[:-1])


def test_clipping_never_halves_a_wide_sign_or_parts_an_accent():
    assert clip("日本語", 4) == "日…"
    assert clip("日本語", 5) == "日本…"
    assert clip("cafe\u0301s", 5) == "cafe\u0301s"
    assert clip("cafe\u0301ss", 5) == "cafe\u0301…"


def test_right_to_left_words_are_isolated_and_others_left_alone():
    assert isolate("plain é 日本") == "plain é 日本"
    assert isolate("שלום") == "\u2066שלום\u2069"
    assert cell_len(isolate("שלום")) == 4


def test_plain_text_is_recognised():
    assert is_plain("One, two [3].")
    assert not is_plain("tab\t")
    assert not is_plain("é")
