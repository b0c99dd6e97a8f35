"""A text of the guidelines to type in, where no editor of one's own can be opened."""

import re
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import TextArea

from nfh_tui.widgets.status_line import (
    Foot,
    KeyLine,
    PaneTitle,
    Status,
    StatusLine,
    Title,
    Tone,
)

_PLACE = re.compile(r"\bline (?P<line>[0-9]+)\b")


class GuidelinesEditor(Screen[str | None]):
    """Gives back the text as it stands when it is left; `typed` gets it as it changes.

    trouble: what is wrong with the text, as a sentence, "" if nothing is. line: where the
    cursor begins, from 1, unless the trouble names another one.
    """

    AUTO_FOCUS = "#guidelines-area"
    DEFAULT_CSS = """
    GuidelinesEditor {
        background: $background;
        & TextArea, & TextArea:focus {
            height: 1fr;
            border: none;
            padding: 0;
            background: $background;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+s", "done", show=False, priority=True),
    ]

    def __init__(
        self,
        text: str,
        title: str,
        typed: Callable[[str], None],
        trouble: str = "",
        line: int = 1,
    ) -> None:
        super().__init__()
        self._typed = typed
        self._trouble = trouble
        self._heading = PaneTitle(id="editor-title")
        self._note = title
        self._line = line
        self._area = TextArea(
            text, id="guidelines-area", soft_wrap=True, show_line_numbers=True,
            tab_behavior="indent",
        )  # fmt: skip
        self._state = StatusLine()
        self._keys = KeyLine()

    def compose(self) -> ComposeResult:
        """Title, the text, a line of state, keys."""
        yield self._heading
        yield self._area
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Say what is wrong, with the cursor there."""
        self._heading.title = Title("Guidelines", self._note, active=True)
        tone = Tone.REFUSED if self._trouble else Tone.PLAIN
        words = self._trouble or "kept as you type; ## R7 Title begins a rule"
        self._state.status = Status(mode="EDIT", say=words, tone=tone)
        self._keys.foot = Foot("", (("esc", "done: save it or not"),))
        found = _PLACE.search(self._trouble)
        line = self._line if found is None else int(found["line"])
        self._area.move_cursor((line - 1, 0), center=True)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Pass on what is typed."""
        event.stop()
        self._typed(self._area.text)

    def action_done(self) -> None:
        """Leave, with the text."""
        self.dismiss(self._area.text)

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close once, however many keys that close it were on their way."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
