"""Base of the controllers of the workbench, and the questions that they ask."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rich.table import Table
from textual import events

from nfh_tui.textual_support import start
from nfh_tui.widgets.status_bar import Foot
from nfh_tui.workbench.command_queue import Callback, KeyPress

if TYPE_CHECKING:
    from nfh_tui.workbench.display import Display
    from nfh_tui.workbench.screen import Workbench


Choice = tuple[str, str, str]
"""A key, what it is for, and what it gives."""
NOT_DONE = "That did not work"
"""Over what went wrong, where nothing says it better."""

Work = Callable[[], Coroutine[object, object, None]]
Handler = Callable[[], Awaitable[None] | None]
"""Does an action."""


class RefusedError(Exception):
    """An action cannot be done; the sentence says why. The command loop shows it."""


class KeyInterceptor(Protocol):
    """What may take a key before the keymap is asked what it stands for."""

    def intercept(self, press: KeyPress) -> bool:
        """Take the key; False where it goes on to the next."""
        ...


class Controller:
    """A part of the workbench: it does the actions of `handlers` and shares the state."""

    def __init__(self, bench: "Workbench") -> None:
        self.bench = bench
        self.state = bench.state
        self.client = bench.client
        self.store = bench.client.store
        bench.handlers |= self.handlers()

    @property
    def ui(self) -> "Display":
        """What draws the state."""
        return self.bench.ui

    def run_latest(self, work: Work, group: str, description: str) -> None:
        """Run work in the background; a newer run of its group ends it."""
        start(self.bench, work, group=group, description=description, exclusive=True)

    def handlers(self) -> Mapping[str, Handler]:
        """What does each action of this part, by the action's id."""
        return {}


class Prompts(Controller):
    """Questions at the foot, in the bar and in dialogs; each waits until it is answered."""

    async def choose(self, question: str, choices: Sequence[Choice]) -> str | None:
        """Ask for one key at the foot; None when another key is pressed.

        A key that is none of the choices and not escape is done as usual.
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

    async def ask(
        self,
        prompt: str,
        text: str = "",
        *,
        changed: Callable[[str], None] | None = None,
        complete: Callable[[str, int], tuple[str, int] | None] | None = None,
        selected: bool = False,
    ) -> str | None:
        """Ask for a text in the bar; None on escape. selected: typing replaces `text`."""

        def touched(typed: str) -> None:
            self.bench.clock.touch()
            if changed is not None:
                changed(typed)

        answer = self.bench.bar.ask(
            prompt, text, changed=touched, complete=complete, selected=selected,
            early=self._early_key,
        )  # fmt: skip
        tab = (("tab", "complete"),) if complete is not None else ()
        self.bench.key_line.foot = Foot("", (("enter", "done"), *tab, ("esc", "as it was")))
        try:
            return await answer
        finally:
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
        """Ask for one of a list; None on escape. options: words, fainter words, result."""
        from nfh_tui.screens.dialogs import ChooseDialog

        dialog = ChooseDialog(title, options, start=start, moved=moved)
        return await self.bench.app.push_screen_wait(dialog)

    async def show_text(self, title: str, body: str | Table) -> None:
        """Show a text until it is closed."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.bench.app.push_screen_wait(TextDialog(title, body))

    async def show_error(self, sentence: str, title: str = NOT_DONE) -> None:
        """Show what went wrong until it is read."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.bench.app.push_screen_wait(TextDialog(title, sentence, trouble=True))
