"""Users' text cut to one line of so many cells; what it may do there, `visible` decides."""

from nfh_tui.visible import clip, glyphs, is_plain, visible, width_of


def one_line(text: str) -> str:
    """The text as it is drawn, with line ends as a slash between spaces."""
    return visible(text.replace("\r\n", "\n").replace("\n", " / "))


def cut_left(text: str, width: int) -> str:
    """The end of a drawn text in at most `width` cells, "…" before it where it is longer."""
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


def pad(text: str, width: int) -> str:
    """The drawn text cut, or filled with spaces on the right, to exactly `width` cells."""
    text = clip(text, width)
    return text + " " * (width - width_of(text))
