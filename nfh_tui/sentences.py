"""The sentence an item stands in, as lists of items show it."""

from rich.text import Text

from nfh_models.domain import Anchor, Passage
from nfh_tui.visible import clip, isolated, visible, width_of

ELLIPSIS = "…"


def sentence(passage: Passage, anchor: Anchor, width: int) -> Text:
    """The turn around a number in at most `width` cells, the number bold in brackets."""
    before, word, after = parts(passage, anchor)
    word = f"[{word}]"
    room = max(0, width - width_of(word))
    right = min(width_of(after), max(room // 2, room - width_of(before)))
    # Isolated last: what is cut would lose one end of its isolation.
    shown = Text(isolated(_cut_left(before, room - right)))
    shown.append(isolated(word), "bold")
    shown.append(isolated(clip(after, right)))
    return shown


def parts(passage: Passage, anchor: Anchor) -> tuple[str, str, str]:
    """The turn before a number, the number, and the turn after it, as they are drawn."""
    turn = passage.turns[passage.turn_of(anchor.start)]
    tokens, text = passage.tokens, passage.text
    first, last = tokens[turn.start].start, tokens[turn.end - 1].end
    start, stop = tokens[anchor.start].start, tokens[anchor.end - 1].end
    return _drawn(text[first:start]), _drawn(text[start:stop]), _drawn(text[stop:last])


def _drawn(text: str) -> str:
    """Text in one line, each gap one space, those at its ends too."""
    ends = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    middle = " ".join(text.split())
    return f"{ends[0]}{visible(middle)}{ends[1]}" if middle else ends[0]


def _cut_left(text: str, width: int) -> str:
    """The end of a text, … before it where it is cut."""
    if width_of(text) <= width:
        return text
    if width <= 0:
        return ""
    kept = text[-(width - 1) :] if width > 1 else ""
    while kept and width_of(kept) >= width:
        kept = kept[1:]
    return ELLIPSIS + kept
