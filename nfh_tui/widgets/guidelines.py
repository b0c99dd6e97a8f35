"""The guidelines pane: text in rows, drawn line by line."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nfh_models.domain import Kind
from nfh_tui.services.guidelines import Guide, GuidelineRule
from nfh_tui.textual_support import Painter, TolerantPane
from nfh_tui.widgets.evidence_rows import Part, Row, RowBuilder

# The guidelines as rows of text. No screen is needed.
#
# A subset of Markdown is supported: headings, paragraphs, lists, tables, *emphasis* and `code`.
# Everything else is shown as it is written.

_MARKED = re.compile(r"(\*\*[^*\n]+\*\*|\*[^*\s][^*\n]*\*|`[^`\n]+`)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,3}[.)])[ \t]+(.*)")
_RULER = re.compile(r"\|?[\s:|-]*-[\s:|-]*\|?")

Block = tuple[str, str]
"""The kind of a block ("heading", "item", "quote", "row" or "text"), and its text."""


@lru_cache(maxsize=8)
def guide_rows(text: str, width: int) -> tuple[Row, ...]:
    """Return the text in rows of at most `width` cells."""
    rows = RowBuilder(width)
    before = ""
    for kind, words in _blocks(text.splitlines()):
        # A paragraph follows its heading at once; blocks of other kinds follow their own kind.
        if kind == "heading" or before != ("heading" if kind == "text" else kind):
            rows.blank()
        if kind == "heading":
            rows.text([(words, "title")], hang=0)
        elif kind == "item":
            sign, said = words.split("\t", 1)
            rows.text([(f"{sign} ", "key"), *_parts(said)], indent=1, hang=2 + len(sign))
        elif kind == "quote":
            rows.text(_parts(words), indent=2, hang=4)
        elif kind == "row":
            rows.text(_cells(words), indent=1, hang=3)
        else:
            rows.text(_parts(words))
        before = kind
    return tuple(rows.made)


MOST_RULES = 4


def rule_rows(guide: Guide, kind: Kind | None, tag: str | None, width: int) -> tuple[Row, ...]:
    """The rules that bear on an answer: that of its tag, then those that name its class most
    often. While there is none, the whole text.
    """
    tagged = None if tag is None else guide.rule(tag)
    named = [] if kind is None else _naming(guide.rules, kind)
    chosen = dict.fromkeys([*([tagged] if tagged else []), *named])
    if not chosen and (kind is not None or not guide.body):
        return ()
    rows = RowBuilder(width)
    rows.heading("Guidelines", "F5 opens the guidelines")
    if not chosen:
        return ((), *rows.made, *guide_rows(guide.body, width))
    made = [row for rule in list(chosen)[:MOST_RULES] for row in _rule(rule, width)]
    return ((), *rows.made, *made[1:])


@lru_cache(maxsize=32)
def _naming(rules: tuple[GuidelineRule, ...], kind: Kind) -> list[GuidelineRule]:
    found = {rule: f"{rule.title} {rule.body}".count(kind.value) for rule in rules}
    return sorted((rule for rule in rules if found[rule]), key=lambda rule: -found[rule])


@lru_cache(maxsize=64)
def _rule(rule: GuidelineRule, width: int) -> tuple[Row, ...]:
    title = RowBuilder(width)
    title.text([(f"{rule.id} {rule.title}", "kind")])
    return (), *title.made, *guide_rows(rule.body, width)


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks in order; the lines of a paragraph or a list item are joined."""
    kind, words = "", ""
    # A backslash at the end of a line only ends the line.
    for line in (*(line.removesuffix("\\") for line in lines), ""):
        opened = _opens(line)
        if opened is None and line.strip() and kind in {"text", "item"}:
            words += f" {line.strip()}"
            continue
        if kind:
            yield kind, words
        kind, words = opened or ("text", line.strip()) if line.strip() else ("", "")
        if kind == "heading" or (kind == "row" and not words):
            if words:
                yield kind, words
            kind, words = "", ""


def _opens(line: str) -> Block | None:
    """Return the block that a line starts; None if it starts none."""
    if heading := _HEADING.fullmatch(line):
        return "heading", heading[2]
    if item := _ITEM.fullmatch(line):
        return "item", f"{'–' if item[2] in '-*+' else item[2]}\t{item[3]}"
    if line.lstrip().startswith(">"):
        return "quote", line.strip().lstrip("> ")
    if line.lstrip().startswith("|"):
        return "row", "" if _RULER.fullmatch(line.strip()) else line.strip().strip("|")
    return None


def _cells(words: str) -> list[Part]:
    """Format a table row; its first cell is highlighted."""
    first, *others = (cell.strip() for cell in words.split("|"))
    parts: list[Part] = [(first, "name")]
    for cell in filter(None, others):
        parts += [(" · ", "note"), *_parts(cell)]
    return parts


def _parts(words: str) -> list[Part]:
    """Split a text at its emphasis and code."""
    parts: list[Part] = []
    for piece in _MARKED.split(words):
        if _MARKED.fullmatch(piece):
            parts.append((piece.strip("*`"), "kind" if piece[0] != "`" else "name"))
        elif piece:
            parts.append((piece, ""))
    return parts


ROLES = ("title", "key", "name", "kind", "note")
"""Text roles; the style of each is that of the class `guide--NAME`."""


class GuideView(TolerantPane, ScrollView, can_focus=False, inherit_bindings=False):
    """Shows the guidelines. The scroll position is independent of the item."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    GuideView {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .guide--title { color: $text-primary; text-style: bold; }
        & > .guide--key { color: $text-accent; text-style: bold; }
        & > .guide--name { text-style: bold; }
        & > .guide--kind { text-style: italic; }
        & > .guide--note { text-style: dim; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._text = ""
        self._rows: tuple[Row, ...] = ()
        self._rows_width = 0
        self._painter = Painter(self, "guide", ROLES)

    def show(self, text: str) -> None:
        """Show a text; a new text is shown from its top."""
        if text != self._text:
            self._text = text
            self._fill()
            self.scroll_to(y=0, animate=False, force=True)

    def _fill(self) -> None:
        width = self._rows_width = self.scrollable_content_region.width
        self._rows = guide_rows(self._text, width) if width > 0 else ()
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        return self._painter.row(self._rows, round(self.scroll_offset.y) + y, width)

    def on_resize(self) -> None:
        """Break the rows for the new width."""
        if self.scrollable_content_region.width != self._rows_width:
            self._fill()
