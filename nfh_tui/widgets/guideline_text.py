"""Widgets of the guidelines' screen: a text as Markdown of which nothing can be clicked, the
list of rules, and a text area in which no character controls the terminal.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial

from markdown_it import MarkdownIt
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, OptionList, TextArea
from textual.widgets.markdown import MarkdownBlock
from textual.widgets.option_list import Option

from nfh_tui.display_text import clip, visible
from nfh_tui.services.guidelines import GuidelineSection, RuleCount
from nfh_tui.textual_support import start

TAB = 4
"""Columns of a tab in the text, which has no picture of its own here."""


def parser() -> MarkdownIt:
    """Markdown of which everything written can be seen.

    HTML, links, pictures and character codes stand there as they were typed: a link that
    cannot be followed, and a tag that is left out, would hide what the text says.
    """
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return made.disable(["link", "image", "autolink", "reference", "entity", "html_inline"])


def drawable(text: str) -> str:
    """The text with pictures for what would steer a terminal; its lines stay."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(visible(line.expandtabs(TAB)) for line in lines)


class GuidelineText(VerticalScroll, can_focus=False):
    """Shows one text at a time, from its top."""

    DEFAULT_CSS = """
    GuidelineText {
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        background: $background;
        & Markdown { padding: 0 1; background: $background; }
        & Markdown MarkdownBlock > .em { text-style: bold underline; }
        & Markdown MarkdownBlock > .strong { text-style: bold; color: $text-accent; }
        & Markdown MarkdownBlock:light > .code_inline,
        & Markdown MarkdownBlock:dark > .code_inline {
            color: $foreground;
            background: $boost;
            text-style: bold;
        }
        & MarkdownH1, & MarkdownH2 {
            content-align: left middle;
            color: $text-primary;
            text-style: bold;
            background: $background;
            border: none;
            margin: 0 0 1 0;
            padding: 0;
        }
        & MarkdownBlockQuote {
            background: $surface;
            border-left: outer $primary;
            margin: 0 0 1 0;
            padding: 0 1;
        }
        & MarkdownBlockQuote > MarkdownParagraph { margin: 0; }
        & MarkdownFence { background: $surface; color: $foreground; }
        & .-found { border-left: thick $accent; padding-left: 1; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._markdown = Markdown(parser_factory=parser, open_links=False)
        self._wanted: tuple[str, str] = ("", "")
        self._drawn: tuple[str, str] = ("", "")
        self._drawing = False

    def compose(self) -> ComposeResult:
        """The text."""
        yield self._markdown

    @property
    def settled(self) -> bool:
        """True once what was asked for last is drawn."""
        return self._drawn == self._wanted

    def show(self, text: str, words: str = "") -> None:
        """Show a text; the first paragraph with these words is marked and brought into view."""
        self._wanted = (text, words.casefold())
        if not self._drawing:
            self._drawing = True
            start(self, self._draw, group="guidelines", description="drawing the guidelines")

    async def _draw(self) -> None:
        # One after another: a drawing broken off would leave parts of two texts.
        try:
            while not self.settled:
                text, words = self._wanted
                await self._markdown.update(drawable(text))
                self._drawn = (text, words)
            self.call_after_refresh(partial(self._bring, self._drawn[1]))
        finally:
            self._drawing = False

    def _bring(self, words: str) -> None:
        for block in self._markdown.query(MarkdownBlock):
            plain = str(block.content).casefold()
            if words and words in plain and not list(block.query(MarkdownBlock)):
                block.add_class("-found")
                self.scroll_to_widget(block, animate=False)
                return
        self.scroll_home(animate=False)


PICTURE = "\ufffd"
"""Drawn for a character that cannot be seen and has no picture of its own."""

_CONTROL_PICTURES = 0x2400


class PlainArea(TextArea):
    """Draws each control and format character as one that is seen; the text stays as it is."""

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn, as long as it is."""
        line = super().get_line(line_index)
        if not line.plain.isprintable():
            line.plain = "".join(map(_drawn, line.plain))
        return line


def _drawn(character: str) -> str:
    if character == "\t" or character.isprintable():
        return character
    if ord(character) < 0x20:
        return chr(_CONTROL_PICTURES + ord(character))
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return PICTURE if hidden else character


HERE = "▸"
WIDEST = 48
OLDER = "↺"
"""After the number of items of which some were decided while the rule read otherwise."""


class RuleList(OptionList, can_focus=False, inherit_bindings=False):
    """Shows parts. Where one stands, a sign stands too."""

    DEFAULT_CSS = """
    RuleList {
        width: 34;
        height: 1fr;
        border: none;
        padding: 0;
        background: $surface;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .option-list--option { padding: 0 1 0 0; }
        & > .option-list--option-highlighted {
            background: $boost;
            color: $foreground;
            text-style: bold;
        }
        &:focus > .option-list--option-highlighted { background: $boost; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id, markup=False)
        self._parts: Sequence[GuidelineSection] = ()
        self._counts: Mapping[str, RuleCount] = {}
        self._marked: int | None = None

    def show(
        self, parts: Sequence[GuidelineSection], counts: Mapping[str, RuleCount], place: int = 0
    ) -> None:
        """Show parts with the counts of their ids, and stand on one of them."""
        self._parts, self._counts = parts, counts
        self._marked = place if parts else None
        self.clear_options()
        self.add_options(Option(self._line(n)) for n in range(len(parts)))
        if parts:
            self.highlighted = place

    @property
    def place(self) -> int:
        """Where one stands."""
        return self.highlighted or 0

    def go(self, place: int) -> None:
        """Stand on a part; outside the list, on its end."""
        if self._parts:
            self.highlighted = max(0, min(place, len(self._parts) - 1))

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Move the sign along."""
        super().watch_highlighted(highlighted)
        before, self._marked = self._marked, highlighted
        for place in {before, highlighted} - {None}:
            if place is not None and place < self.option_count:
                self.replace_option_prompt_at_index(place, self._line(place))

    def _line(self, place: int) -> Text:
        part = self._parts[place]
        sign = HERE if place == self._marked else " "
        # Before the first layout nothing is known of the width, and nothing is seen either.
        width = (self.scrollable_content_region.width or WIDEST) - 1
        text = Text(f"{sign} ")
        if not part.id:
            text.append(clip(part.title, width - 2), "italic")
            return text
        count = self._counts.get(part.id, RuleCount())
        items = f"{count.items:,}" if count.items else "·"
        text.append(f"{part.id:<4}", "bold")
        text.append(f"{items:>4}", "" if count.items else "dim")
        text.append(f"{OLDER if count.older else ' '} ")
        text.append(clip(part.title, width - text.cell_len))
        return text

    def on_resize(self) -> None:
        """Another width cuts titles elsewhere."""
        for place in range(self.option_count):
            self.replace_option_prompt_at_index(place, self._line(place))
