"""The application: opens the database and shows the workbench."""

import sys
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen

from nfh_db.errors import StoreError
from nfh_db.store import Store
from nfh_tui.actions import Mode
from nfh_tui.client import StoreClient
from nfh_tui.keymap import keys_file, load
from nfh_tui.screens.workbench import Workbench
from nfh_tui.theme import DEFAULT, SETTING, THEMES


class WorkbenchApp(App[int], inherit_bindings=False):
    """The workbench of one person over one database.

    Raises StoreError if the database cannot be opened. Closing is the caller's: `close`.
    """

    TITLE = "nfh-tui"
    CSS_PATH = "screens/workbench.tcss"
    ENABLE_COMMAND_PALETTE = False
    COMMANDS: ClassVar = set()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+c", "hint", show=False),
    ]

    def __init__(self, store_path: Path, me: str, mode: str, query: str | None = None) -> None:
        super().__init__()
        self.animation_level = "none"
        store = Store.open(store_path)
        self.client = StoreClient(store)
        self._me = store.annotator(me)
        self._mode = Mode(mode)
        self._query = query
        self._keys = load(keys_file())
        for theme in THEMES:
            self.register_theme(theme)
        chosen = store.setting(f"{SETTING}.{self._me.name}", DEFAULT) or DEFAULT
        self.theme = chosen if chosen in self.available_themes else DEFAULT

    def get_default_screen(self) -> Screen[None]:
        """The workbench is the first screen, so that no other is drawn before it."""
        return Workbench(self.client, self._me, self._mode, self._query, self._keys)

    def on_mount(self) -> None:
        """Let Textual know a person's own keys too."""
        self.set_keymap(self._keys.own)

    @property
    def desk(self) -> Workbench:
        """The workbench, also while a dialog stands over it."""
        return next(screen for screen in self.screen_stack if isinstance(screen, Workbench))

    def close(self) -> None:
        """Wait for writes under way and close the database."""
        self.client.close()

    async def action_leave(self) -> None:
        """Quit from wherever one is: what is open is closed first."""
        while isinstance(self.screen, ModalScreen):
            await self.screen.dismiss(None)
        self.desk.bar.finish(accepted=False)
        self.desk.call_later(self.desk.action_act, "quit")

    def action_hint(self) -> None:
        """ctrl+c is too easily pressed to quit: say what does."""
        self.desk.say("q quits; ctrl+q does too, from anywhere.")


def run_workbench(path: Path, me: str, mode: str, query: str | None) -> int:
    """Open the workbench on a terminal and give the exit status: 0 done, 1 failed."""
    try:
        app = WorkbenchApp(path, me, mode, query)
    except StoreError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    try:
        app.run()
    finally:
        app.close()
    return app.return_code or 0
