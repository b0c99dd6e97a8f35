"""The dialogs: a text, a question, a list to choose from. Nothing in them is markup."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from nfh_tui.visible import visible
from nfh_tui.widgets.enduring import Enduring

FRAME_ROWS = 8
"""Rows of a dialog that are no text: border, title, hint, margins, and air around it."""

LIST_FRAME = 5
"""Rows of a dialog with a list that are neither: border, hint, margins."""

BOX = """
    align: center middle;
    & .box {
        width: 90%;
        max-width: 96;
        height: auto;
        max-height: 100%;
        background: $surface;
        color: $foreground;
        border: round $primary;
        padding: 0 1;
    }
    & .title { color: $text-accent; text-style: bold; height: auto; margin-bottom: 1; }
    & .hint { text-style: dim; height: 1; margin-top: 1; }
"""


def shown(text: str) -> str:
    """A text of several lines as it is drawn."""
    return "\n".join(visible(line) for line in text.splitlines())


def indented(text: str) -> Group:
    """A text of several lines; one that does not fit goes on below where it begins."""
    lines = shown(text).split("\n")
    return Group(
        *(
            Padding(Text(line.lstrip(" ")), (0, 0, 0, len(line) - len(line.lstrip(" "))))
            for line in lines
        )
    )


class Dialog(Enduring, ModalScreen[ScreenResultType]):
    """A dialog that closes once, however many keys that close it were on their way.

    Textual would take the screen below away with the second one, and end with an error.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close and give back a result, if it is still open."""
        return super().dismiss(result) if self.is_current else AwaitComplete()


class TextDialog(Dialog[None]):
    """A text to read; enter, escape or q closes it. end: it opens at its last lines."""

    DEFAULT_CSS = f"""
    TextDialog {{
        {BOX}
        & VerticalScroll {{ height: auto; scrollbar-size-vertical: 1; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,question_mark,f1", "close", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup,b", "page(-1)", show=False),
        Binding("g,home", "edge(0)", show=False),
        Binding("G,end", "edge(1)", show=False),
    ]

    def __init__(
        self, title: str, body: str | Table, *, trouble: bool = False, end: bool = False
    ) -> None:
        super().__init__()
        self._at_end = end
        self._title = title
        self._body = indented(body) if isinstance(body, str) else body
        self._trouble = trouble

    def compose(self) -> ComposeResult:
        """Title, text, hint."""
        with Vertical(classes="box"):
            sign = "✗ " if self._trouble else ""
            yield Static(visible(sign + self._title), classes="title", markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(self._body, id="body", markup=False)
            yield Static("j k scroll · esc closes", classes="hint", markup=False)

    def on_mount(self) -> None:
        """Show the end of the text, where that is what one wants to see first."""
        if self._at_end:
            self.call_after_refresh(self.action_edge, 1)

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def on_resize(self) -> None:
        """Give the text all the rows that the frame leaves."""
        self._scroll.styles.max_height = max(3, self.app.size.height - FRAME_ROWS)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self._scroll.scroll_relative(y=pages * self._scroll.size.height, animate=False)

    def action_edge(self, end: int) -> None:
        """Scroll to the start (0) or the end (1)."""
        self._scroll.scroll_to(y=self._scroll.max_scroll_y if end else 0, animate=False)


class ChooseDialog(Dialog[str | None]):
    """A list of which one is chosen; None on escape.

    options: the words, the fainter words behind, and what is given back.
    moved: called with what would be given back while one moves through the list.
    """

    DEFAULT_CSS = f"""
    ChooseDialog {{
        {BOX}
        & OptionList {{ height: auto; border: none; background: $surface; }}
        & OptionList:focus {{ border: none; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("j", "step(1)", show=False),
        Binding("k", "step(-1)", show=False),
    ]

    def __init__(
        self,
        title: str,
        options: Sequence[tuple[str, str, str]],
        *,
        start: str | None = None,
        moved: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._options = options
        self._start = start
        self._moved = moved

    def compose(self) -> ComposeResult:
        """Title, list, hint."""
        made = []
        for words, faint, _ in self._options:
            text = Text(visible(words))
            text.append(f"  {visible(faint)}", "dim")
            made.append(Option(text))
        with Vertical(classes="box"):
            yield Static(visible(self._title), classes="title", markup=False)
            yield OptionList(*made, markup=False)
            yield Static("j k move · enter chooses · esc closes", classes="hint", markup=False)

    def on_mount(self) -> None:
        """Stand on the option in use."""
        results = [result for _, _, result in self._options]
        choices = self.query_one(OptionList)
        choices.highlighted = results.index(self._start) if self._start in results else 0
        choices.focus()

    def on_resize(self) -> None:
        """Give the list all the rows that the frame and the title leave."""
        height, width = self.app.size.height, min(96, self.app.size.width * 9 // 10) - 4
        title = max(1, -(-len(self._title) // max(1, width)))
        self.query_one(OptionList).styles.max_height = max(3, height - LIST_FRAME - title)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Tell where one stands."""
        if self._moved is not None:
            self._moved(self._options[event.option_index][2])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back what is chosen."""
        self.dismiss(self._options[event.option_index][2])

    def action_close(self) -> None:
        """Close without choosing."""
        self.dismiss(None)

    def action_step(self, by: int) -> None:
        """Move by one."""
        choices = self.query_one(OptionList)
        if by > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()
