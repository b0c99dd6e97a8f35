"""The one line in which a query, a search, a comment or a name is typed."""

import asyncio
from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from nfh_tui.widgets.enduring import Enduring
from nfh_tui.widgets.plain import one_line


class BarInput(Enduring, Input):
    """The input of the bar. Keys that arrive after enter or escape go on to the screen.

    passing: the last key it did not take and let bubble up to its own bindings.
    """

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self.cursor_blink = False
        self.open = False
        self.passing: events.Key | None = None

    async def _on_key(self, event: events.Key) -> None:
        bar = self.query_ancestor(InputBar)
        ends = {"enter": True, "escape": False}
        if not self.open:
            self.screen.post_message(events.Key(event.key, event.character))
        elif event.key in ends:
            bar.finish(accepted=ends[event.key])
        elif event.key == "tab":
            bar.complete()
        else:
            self.passing = event
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()


class InputBar(Enduring, Horizontal):
    """Hidden until `ask` opens it."""

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
        """Prompt, input, note."""
        yield self._prompt
        yield self._input
        yield self._note

    @property
    def is_open(self) -> bool:
        """True while something is asked."""
        return self._answer is not None and not self._answer.done()

    @property
    def text(self) -> str:
        """What stands in the bar."""
        return self._input.value

    @property
    def cursor(self) -> int:
        """Where the cursor stands in the text."""
        return self._input.cursor_position

    @property
    def note(self) -> str:
        """The words at the right end."""
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
    ) -> str | None:
        """Open the bar and wait for enter (the text) or escape (None).

        selected: all of `text` is, so that typing replaces it and arrows keep it.

        changed: called with the text after each change. complete: given text and cursor,
        returns both as they should become, or None where nothing fits.
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
        self._input.open = True
        self.display = True
        self._input.focus(scroll_visible=False)
        try:
            return await self._answer
        finally:
            self._answer = None
            self._input.open = False
            self.display = False
            self.screen.set_focus(None)

    def finish(self, *, accepted: bool) -> None:
        """Answer who asked: with the text, or with None."""
        self._input.open = False
        # Messages of what was typed last may still be on their way.
        self._tell(self._input.value)
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(self._input.value if accepted else None)

    def complete(self) -> None:
        """Put the next completion into the text, if there is one."""
        if self._complete is None:
            return
        made = self._complete(self._input.value, self._input.cursor_position)
        if made is not None:
            self._input.value, self._input.cursor_position = made

    def press(self, key: str, character: str | None) -> None:
        """Give a key to the input that was typed before the bar stood open."""
        self._input.post_message(events.Key(key, character))

    def passed(self, event: events.Key) -> bool:
        """True for a key that the input had and left to its bindings."""
        return event is self._input.passing

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the text on to who asked."""
        event.stop()
        # What stands there by now: a message may come after the next change was made.
        self._tell(self._input.value)

    def _tell(self, text: str) -> None:
        if self._changed is not None and self.is_open and text != self._told:
            self._told = text
            self._changed(text)
