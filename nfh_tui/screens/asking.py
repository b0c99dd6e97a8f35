"""Dialogs over the workbench: a list to choose from, a text, what went wrong."""

from collections.abc import Callable, Sequence

from rich.table import Table
from textual.screen import Screen

Choice = tuple[str, str, str]
"""A key, what it is for, and what it gives."""

NOT_DONE = "That did not work"
"""Over what went wrong, where nothing says it better."""


class Asking(Screen[None]):
    """What is asked and shown in dialogs; each waits until its dialog is closed."""

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
        return await self.app.push_screen_wait(dialog)

    async def show_text(self, title: str, body: str | Table) -> None:
        """Show a text until it is closed."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.app.push_screen_wait(TextDialog(title, body))

    async def show_error(self, sentence: str, title: str = NOT_DONE) -> None:
        """Show what went wrong until it is read."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.app.push_screen_wait(TextDialog(title, sentence, trouble=True))
