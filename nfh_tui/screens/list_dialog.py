"""A dialog with a list whose entries may have several lines."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ScreenResultType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from nfh_tui.screens.dialogs import BOX, FRAME_ROWS, Dialog
from nfh_tui.visible import visible

SIDES = 7
"""Cells of a dialog's width that are no text: its border, its padding, the list's own."""


class ListDialog(Dialog[ScreenResultType]):
    """Title, a head of a few lines, the list, a hint. What it does is said by who uses it."""

    DEFAULT_CSS = f"""
    ListDialog {{
        {BOX}
        & .head {{ height: auto; margin-bottom: 1; }}
        & OptionList {{
            height: auto; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1;
            &:focus {{ border: none; background-tint: $surface 0%; }}
        }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("j", "step(1)", show=False),
        Binding("k", "step(-1)", show=False),
        Binding("g", "edge(0)", show=False),
        Binding("G", "edge(1)", show=False),
    ]

    def __init__(self, title: str, head: Text | None, hint: str) -> None:
        super().__init__()
        self._title = title
        self._head = head
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Title, head, list, hint."""
        with Vertical(classes="box"):
            yield Static(visible(self._title), classes="title", markup=False)
            if self._head is not None:
                yield Static(self._head, classes="head", id="head", markup=False)
            yield OptionList(markup=False)
            yield Static(self._hint, classes="hint", id="hint", markup=False)

    def on_mount(self) -> None:
        """Fill the list."""
        self.fill()
        self.list.focus()

    def on_resize(self) -> None:
        """Give the list the rows that the frame leaves, and write its lines anew."""
        head = 0 if self._head is None else self._rows_of(self._head) + 1
        self.list.styles.max_height = max(3, self.app.size.height - FRAME_ROWS - head)
        self.fill()

    def _rows_of(self, text: Text) -> int:
        """Rows that a text takes here, wrapped lines counted."""
        return sum(max(1, -(-len(line) // self.room)) for line in text.plain.split("\n"))

    @property
    def list(self) -> OptionList:
        """The list."""
        return self.query_one(OptionList)

    @property
    def room(self) -> int:
        """Cells of a line of the list."""
        return max(20, min(96, self.app.size.width * 9 // 10) - SIDES)

    def entries(self) -> Sequence[Text]:
        """What the list shows now."""
        raise NotImplementedError

    def fill(self, at: int | None = None) -> None:
        """Write the list anew; the mark stays where it is, or goes to a place."""
        place = self.list.highlighted if at is None else at
        self.list.set_options([Option(text) for text in self.entries()])
        if self.list.option_count:
            self.list.highlighted = min(place or 0, self.list.option_count - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter on an entry."""
        event.stop()
        self.chosen(event.option_index)

    def chosen(self, place: int) -> None:
        """What enter does on the entry in a place."""
        raise NotImplementedError

    def action_close(self) -> None:
        """Close without choosing."""
        self.dismiss(None)

    def action_step(self, by: int) -> None:
        """Move by one."""
        if by > 0:
            self.list.action_cursor_down()
        else:
            self.list.action_cursor_up()

    def action_edge(self, end: int) -> None:
        """Go to the start (0) or the end (1)."""
        if end:
            self.list.action_last()
        else:
            self.list.action_first()
