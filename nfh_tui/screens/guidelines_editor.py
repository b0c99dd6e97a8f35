"""A text of the guidelines to type in, where no editor of one's own can be opened."""

import re
from collections import deque
from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.screen import Screen
from textual.widgets import TextArea

from nfh_tui.widgets.in_order import Typed, type_into
from nfh_tui.widgets.plain_area import PlainArea
from nfh_tui.widgets.status_line import (
    Foot,
    KeyLine,
    PaneTitle,
    Status,
    StatusLine,
    Title,
    Tone,
)

DONE = frozenset({"escape", "ctrl+s"})
"""Keys that leave, with the text."""

_PLACE = re.compile(r"\bline (?P<line>[0-9]+)\b")


class GuidelinesEditor(Screen[str | None]):
    """Gives back the text as it stands when it is left; `typed` gets it as it changes.

    trouble: what is wrong with the text, as a sentence, "" if nothing is. line: where the
    cursor begins, from 1, unless the trouble names another one. early: gives the keys, one a
    call, that came before this was opened, and are meant for it.
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

    def __init__(
        self,
        text: str,
        title: str,
        typed: Callable[[str], None],
        trouble: str = "",
        line: int = 1,
        early: Callable[[], Typed | None] | None = None,
    ) -> None:
        super().__init__()
        self._typed = typed
        self._trouble = trouble
        self._heading = PaneTitle(id="editor-title")
        self._note = title
        self._line = line
        self._early = early
        self._waiting: deque[Typed] | None = deque()
        self._area = PlainArea(
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

    async def on_mount(self) -> None:
        """Say what is wrong, with the cursor there; then type what was typed meanwhile."""
        self._heading.title = Title("Guidelines", self._note, active=True)
        tone = Tone.REFUSED if self._trouble else Tone.PLAIN
        words = self._trouble or "kept as you type; ## R7 Title begins a rule"
        self._state.status = Status(mode="EDIT", say=words, tone=tone)
        self._keys.foot = Foot("", (("esc", "done: save it or not"),))
        found = _PLACE.search(self._trouble)
        line = self._line if found is None else int(found["line"])
        self._area.move_cursor((line - 1, 0), center=True)
        waiting, self._waiting = self._waiting or deque(), None
        while self._early is not None and (event := self._early()) is not None:
            await self.take(event)
        while waiting:
            await self.take(waiting.popleft())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Pass on what is typed."""
        event.stop()
        self._typed(self._area.text)

    async def take(self, event: Typed) -> bool:
        """Do what a key or a paste does to the text; False where it does nothing to it."""
        if self._waiting is not None:
            self._waiting.append(event)
            return True
        if isinstance(event, events.Key) and event.key in DONE:
            self.dismiss(self._area.text)
            return True
        return await type_into(self._area, event)

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close once, however many keys that close it were on their way."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
