"""A text of the guidelines as Markdown, of which nothing can be clicked or is hidden."""

from functools import partial

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from nfh_tui.desk.work import start
from nfh_tui.visible import visible

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
