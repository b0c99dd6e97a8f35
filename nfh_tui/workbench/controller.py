"""Base class of the workbench's controllers, and prompts."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from textual import events

from nfh_tui.textual_support import start
from nfh_tui.widgets.input_bar import Wrong
from nfh_tui.widgets.status_bar import Foot, Level
from nfh_tui.workbench.command_queue import Callback, KeyPress

if TYPE_CHECKING:
    from nfh_tui.workbench.display import Display
    from nfh_tui.workbench.screen import Workbench


Choice = tuple[str, str, str]
"""Key, label, and the value that is returned."""
NOT_DONE = "That did not work"
"""Default title of error dialogs."""

Work = Callable[[], Coroutine[object, object, None]]
Handler = Callable[[], Awaitable[None] | None]
"""Runs an action."""


class RefusedError(Exception):
    """An action is refused; the command loop shows the message."""


class Controller:
    """Implements the actions of `handlers` on the shared state."""

    def __init__(self, bench: "Workbench") -> None:
        self.bench = bench
        self.state = bench.state
        self.client = bench.client
        self.store = bench.client.store
        bench.handlers |= self.handlers()

    @property
    def ui(self) -> "Display":
        """Draws the state."""
        return self.bench.ui

    def run_latest(self, work: Work, group: str, description: str) -> None:
        """Run work in the background; cancels a running one of the same group."""
        start(self.bench, work, group=group, description=description, exclusive=True)

    def handlers(self) -> Mapping[str, Handler]:
        """Return the action handlers by action id."""
        return {}


class Prompts(Controller):
    """Prompts in the footer, the input bar and dialogs. Each call returns when it is
    answered.
    """

    async def choose(self, question: str, choices: Sequence[Choice]) -> str | None:
        """Ask for one key in the footer; None if it is not one of the choices.

        Keys other than the choices and escape then run their usual command.
        """
        bench = self.bench
        bench.key_line.foot = Foot(question, tuple((key, word) for key, word, _ in choices))
        self.state.question_open = True
        try:
            command = await bench.commands.get()
            while isinstance(command, Callback):
                await command.run()
                command = await bench.commands.get()
            bench.clock.touch()
        finally:
            self.state.question_open = False
            self.ui.refresh_keys()
        pressed = command.key if isinstance(command, KeyPress) else ""
        character = command.character if isinstance(command, KeyPress) else None
        for key_name, _, result in choices:
            if key_name in {pressed, character}:
                return result
        if pressed != "escape":
            bench.commands.put_back(command)
        return None

    async def confirm(self, question: str, yes: str, no: str) -> bool:
        """Ask a question in the footer; True if y is pressed. yes, no: labels of y and n."""
        return await self.choose(question, (("y", yes, "y"), ("n", no, "n"))) == "y"

    async def ask(
        self,
        prompt: str,
        text: str = "",
        *,
        changed: Callable[[str], None] | None = None,
        complete: Callable[[str, int], tuple[str, int] | None] | None = None,
        selected: bool = False,
        check: Callable[[str], Awaitable[Wrong | None]] | None = None,
    ) -> str | None:
        """Ask for a text in the input bar; None on escape.

        changed: called with the text after each change. complete: completes text and cursor.
        selected: `text` is selected, so that typing replaces it. check: the bar stays open
        while it returns a fault.
        """

        def touched(typed: str) -> None:
            self.bench.clock.touch()
            if self.bench.status_line.status.level is Level.REFUSED:
                self.ui.notify("")
            if changed is not None:
                changed(typed)

        async def checked(typed: str) -> Wrong | None:
            wrong = None if check is None else await check(typed)
            if wrong is not None:
                self.ui.notify(wrong.words, Level.REFUSED)
            return wrong

        answer = self.bench.bar.ask(
            prompt, text, changed=touched, complete=complete, selected=selected,
            early=self._early_key, check=checked,
        )  # fmt: skip
        tab = (("tab", "complete"),) if complete is not None else ()
        self.bench.key_line.foot = Foot("", (("enter", "done"), *tab, ("esc", "as it was")))
        try:
            return await answer
        finally:
            # The enter that ends the line, held, is not to accept the item as well.
            self.bench.item.await_drawing()
            self.ui.refresh_keys()

    def _early_key(self) -> events.Key | None:
        press = self.bench.commands.take_press()
        return None if press is None else events.Key(press.key, press.character)

    async def choose_from(
        self,
        title: str,
        options: Sequence[Choice],
        *,
        start: str | None = None,
        moved: Callable[[str], None] | None = None,
    ) -> str | None:
        """Ask for an item of a list; None on escape.

        options: label, secondary text, value. moved: called with the value of the highlighted
        item.
        """
        from nfh_tui.screens.dialogs import ChooseDialog

        dialog = ChooseDialog(title, options, start=start, moved=moved)
        return await self.bench.app.push_screen_wait(dialog)

    async def show_text(self, title: str, body: str | Table) -> None:
        """Show a text; returns when it is closed."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.bench.app.push_screen_wait(TextDialog(title, body))

    async def show_error(self, sentence: str, title: str = NOT_DONE) -> None:
        """Show an error; returns when it is closed."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.bench.app.push_screen_wait(TextDialog(title, sentence, trouble=True))
