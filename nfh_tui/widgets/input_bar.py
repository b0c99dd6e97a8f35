"""The input bar: one line for a query, a search, a comment or a name."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from rich.highlighter import Highlighter
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from nfh_tui.textual_support import Tolerant, Typed, one_line, type_into


class Wrong(NamedTuple):
    """Why a text is not accepted."""

    words: str
    at: int | None = None
    """Where the fault begins in the text, in code points; None if that is not known."""


class WordMark(Highlighter):
    """Marks a part of the text in the bar."""

    part = (0, 0)

    def highlight(self, text: Text) -> None:
        """Underline the part."""
        text.stylize("bold underline reverse", *self.part)


class BarInput(Tolerant, Input):
    """The input of the bar; the bar passes its keys to it."""

    def __init__(self) -> None:
        self.mark = WordMark()
        super().__init__(compact=True, select_on_focus=False, highlighter=self.mark)
        self.cursor_blink = False


ENDS = {"enter": True, "escape": False}
"""Keys that close the bar, and whether they accept the text."""

NOT_OURS = frozenset({"ctrl+c", "super+c"})
"""Keys of an input that have a meaning for the app, too."""


class InputBar(Tolerant, Horizontal):
    """An input with a prompt and a note, hidden until `ask` opens it."""

    DEFAULT_CSS = """
    InputBar {
        display: none;
        height: 1;
        background: $boost;
        & #bar-prompt { width: auto; color: $text-accent; text-style: bold; padding: 0 1; }
        & BarInput { width: 1fr; background: $boost; }
        & #bar-note { width: auto; max-width: 60%; color: $text-muted; padding: 0 1; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._prompt = Static("", id="bar-prompt", markup=False)
        self._input = BarInput()
        self._note = Static("", id="bar-note", markup=False)
        self._answer: asyncio.Future[str | None] | None = None
        self._changed: Callable[[str], None] | None = None
        self._told: str | None = None
        self._complete: Callable[[str, int], tuple[str, int] | None] | None = None

    def compose(self) -> ComposeResult:
        yield self._prompt
        yield self._input
        yield self._note

    @property
    def is_open(self) -> bool:
        """True while the bar is open."""
        return self._answer is not None and not self._answer.done()

    @property
    def text(self) -> str:
        """The current text."""
        return self._input.value

    @property
    def cursor(self) -> int:
        """The cursor's position in the text."""
        return self._input.cursor_position

    @property
    def note(self) -> str:
        """The note at the right end."""
        return str(self._note.content)

    @note.setter
    def note(self, words: str) -> None:
        self._note.update(one_line(words))

    async def ask(
        self,
        prompt: str,
        text: str = "",
        *,
        changed: Callable[[str], None] | None = None,
        complete: Callable[[str, int], tuple[str, int] | None] | None = None,
        selected: bool = False,
        early: Callable[[], Typed | None] | None = None,
        check: Callable[[str], Awaitable[Wrong | None]] | None = None,
    ) -> str | None:
        """Open the bar; returns the text on enter, None on escape.

        changed: called with the text after each change. complete: returns the new text and
        cursor, or None if nothing matches. selected: `text` is selected, so that typing
        replaces it. early: returns the keys that arrived together with the key that opened the
        bar, one per call. check: called with the text on enter; while it returns a fault, the
        bar stays open.
        """
        self._answer = asyncio.get_running_loop().create_future()
        self._changed, self._complete, self._told = None, complete, None
        self._prompt.update(prompt)
        self.note = ""
        self._input.value = text
        self._input.cursor_position = len(text)
        if selected:
            self._input.select_all()
        self._changed = changed
        self.display = True
        self._input.focus(scroll_visible=False)
        try:
            while True:
                # Keys that arrive during a check are early, too: they follow its result.
                while early is not None and self.is_open and (event := early()) is not None:
                    await self.take(event)
                answer = await self._answer
                wrong = None if answer is None or check is None else await check(answer)
                if wrong is None:
                    return answer
                self._answer = asyncio.get_running_loop().create_future()
                self._show_fault(wrong)
        finally:
            self._answer = None
            self.display = False
            self._input.mark.part = (0, 0)
            self.screen.set_focus(None)

    def _show_fault(self, wrong: Wrong) -> None:
        """Mark the word at the fault, put the cursor after it, and note the reason."""
        self.note, text = wrong.words, self._input.value
        if wrong.at is None or not text:
            return
        start = min(wrong.at, len(text) - 1)
        end = next((at for at in range(start + 1, len(text)) if text[at].isspace()), len(text))
        self._input.mark.part = (start, end)
        self._input.cursor_position = end
        self._input.refresh()

    def finish(self, *, accepted: bool) -> None:
        """Close the bar and return the text, or None, to the caller of `ask`."""
        # Messages about the last changes may still be queued.
        self._tell(self._input.value)
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(self._input.value if accepted else None)

    def complete(self) -> None:
        """Insert the next completion, if there is one."""
        if self._complete is None:
            return
        made = self._complete(self._input.value, self._input.cursor_position)
        if made is not None:
            self._input.value, self._input.cursor_position = made

    async def take(self, event: Typed) -> bool:
        """Handle a key or a paste at once; returns False if the bar does not use it."""
        if isinstance(event, events.Key) and event.key in ENDS:
            self.finish(accepted=ENDS[event.key])
            return True
        if isinstance(event, events.Key) and event.key == "tab":
            self.complete()
            return True
        return await type_into(self._input, event)

    def edits(self, key: str) -> bool:
        """Return True for a key that edits or moves without typing a character."""
        bound = self._input._bindings  # noqa: SLF001
        return key in bound.key_to_bindings and key not in NOT_OURS

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the text to `changed`."""
        event.stop()
        # The current text, because the message may arrive after another change.
        self._tell(self._input.value)

    def _tell(self, text: str) -> None:
        if self._changed is not None and self.is_open and text != self._told:
            self._told = text
            self._input.mark.part = (0, 0)
            self._changed(text)
