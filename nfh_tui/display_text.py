"""Text of a corpus for display: every character is visible, every cell counted.

Control, format and unassigned characters become visible pictures, so that nothing in a
text moves the cursor, turns the writing direction, or joins characters into a sign whose
width differs from terminal to terminal.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rich.cells import cell_len, get_character_cell_size

MOST_MARKS = 4
"""Accents shown on one letter; further ones are shown as codes after it."""

NO_BASE = "\u25cc"
"""Base of an accent without a letter."""

NOTHING = "\u27e8U+FE0F\u27e9"
"""Drawn for a text that holds nothing but variation selectors."""

ISOLATE, END_ISOLATE = "\u2066", "\u2069"
"""Around right-to-left words: terminals reorder only what is between them."""

_NAMES = {0x00AD: "SHY", 0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0xFEFF: "BOM"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMBINES = -1
_JOINS_HANGUL = -2
_DROPPED = -3

Glyph = tuple[str, int]
"""What is drawn in one place, and its width in cells."""


def _code(character: str) -> str:
    code = ord(character)
    return f"\u27e8{_NAMES.get(code) or f'U+{code:04X}'}\u27e9"


@lru_cache(maxsize=8192)
def _shown(character: str) -> Glyph:
    """The glyph of a character; a negative width says how it combines with the one before."""
    code = ord(character)
    if code in {0xFE0E, 0xFE0F}:
        return "", _DROPPED
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "\u2421", 1
    if 0x1F1E6 <= code <= 0x1F1FF:
        return f"\u27e8{chr(code - 0x1F1E6 + 0x41)}\u27e9", 3
    if _needs_a_code(character, code):
        shown = _code(character)
        return shown, len(shown)
    width = get_character_cell_size(character)
    return _zero_width(character, code) if width == 0 else (character, width)


def _needs_a_code(character: str, code: int) -> bool:
    """True for hidden characters and for those that change the width of a neighbour."""
    selects = 0xFE00 <= code <= 0xFE0D or 0xE0100 <= code <= 0xE01EF
    modifies = 0x1F3FB <= code <= 0x1F3FF or code == 0x20E3
    return selects or modifies or unicodedata.category(character) in _HIDDEN


def _zero_width(character: str, code: int) -> Glyph:
    if unicodedata.category(character).startswith("M") and code != 0x034F:
        return character, _COMBINES
    if 0x1161 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FB:
        return character, _JOINS_HANGUL
    shown = _code(character)
    return shown, len(shown)


def is_plain(text: str) -> bool:
    """True for text whose characters are displayed unchanged, one cell each."""
    return text.isascii() and text.isprintable()


def glyphs(text: str) -> Iterator[Glyph]:
    """The glyphs of a text; accents stay with their letter."""
    base, width, marks = "", 0, 0
    drawn = False
    for character in text:
        shown, hangs = _shown(character)
        if hangs == _DROPPED:
            continue
        if hangs < 0 and _may_hang(hangs, base, marks):
            base, width, marks = (base or NO_BASE) + shown, width or 1, marks + 1
            continue
        if base:
            drawn = True
            yield base, width
        if hangs < 0:
            shown = _code(character)
            base, width, marks = shown, len(shown), MOST_MARKS
        else:
            base, width, marks = shown, hangs, 0
    if base:
        yield base, width
    elif text and not drawn:
        yield NOTHING, len(NOTHING)


def _may_hang(how: int, base: str, marks: int) -> bool:
    if how == _JOINS_HANGUL:
        return "\u1100" <= base[:1] <= "\u115e" and marks < 2
    return marks < MOST_MARKS


def visible(text: str) -> str:
    """The text as it is displayed."""
    return text if is_plain(text) else "".join(glyph for glyph, _ in glyphs(text))


def width_of(shown: str) -> int:
    """Cells of a text that `visible` gave."""
    return len(shown) if shown.isascii() else cell_len(shown)


def clip(text: str, width: int) -> str:
    """The drawn text in at most `width` cells, its end replaced by … where it is longer."""
    if width <= 0:
        return ""
    if is_plain(text):
        return text if len(text) <= width else text[: width - 1] + "…"
    kept: list[str] = []
    taken = roomy = 0
    for glyph, cells in glyphs(text):
        if taken + cells > width:
            return "".join(kept[:roomy]) + "…"
        kept.append(glyph)
        taken += cells
        if taken < width:
            roomy = len(kept)
    return "".join(kept)


def cut_left(text: str, width: int) -> str:
    """Return the end of a drawn text in at most `width` cells, with "…" before it if it is
    cut.
    """
    if width <= 0:
        return ""
    if is_plain(text):
        return text if len(text) <= width else "…" + text[len(text) - width + 1 :]
    if width_of(text) <= width:
        return text
    kept: list[str] = []
    room = width - 1
    for glyph, cells in reversed(list(glyphs(text))):
        room -= cells
        if room < 0:
            break
        kept.append(glyph)
    return "…" + "".join(reversed(kept))


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """The drawn names in at most `width` cells: their ends where their beginnings are alike,
    and what is between where their ends are, too.
    """
    different = len(set(names))
    for cut in (clip, cut_left):
        short = [cut(name, width) for name in names]
        if len(set(short)) == different or width <= 1:
            return short
    # Of those that are alike the common beginning is left out.
    short = [clip(name, width) for name in names]
    for form in set(short):
        alike = [name for name, one in zip(names, short, strict=True) if one == form]
        if len(set(alike)) > 1:
            places = enumerate(zip(*alike, strict=False))
            begin = next(
                (at for at, some in places if len(set(some)) > 1), min(map(len, alike))
            )
            rest = told_apart([name[begin:] for name in alike], width - 1)
            made = dict(zip(alike, rest, strict=True))
            short = [
                f"…{made[name]}" if one == form else one
                for name, one in zip(names, short, strict=True)
            ]
    return short


def broken(text: str, most: int) -> Iterator[Glyph]:
    """A text as it is displayed, in parts of at most `most` cells with their widths.

    Accents stay with their letter; a glyph that is wider is a part of its own.
    """
    kept: list[str] = []
    taken = 0
    for glyph, width in glyphs(text):
        if kept and taken + width > most:
            yield "".join(kept), taken
            kept, taken = [], 0
        kept.append(glyph)
        taken += width
    if kept:
        yield "".join(kept), taken


@lru_cache(maxsize=4096)
def is_right_to_left(glyph: str) -> bool:
    """True for letters and digits that some terminals draw from right to left."""
    return any(unicodedata.bidirectional(c) in {"R", "AL", "AN"} for c in glyph)


def isolate(shown: str) -> str:
    """A displayed text, isolated where it is right-to-left."""
    if shown.isascii() or not any(map(is_right_to_left, shown)):
        return shown
    return f"{ISOLATE}{shown}{END_ISOLATE}"
