"""What runs in the process of one visit: the workbench, drawn for a browser.

`python -m nfh_tui.serving.child --db=PATH --as=NAME --mode=MODE [--query=QUERY]`, started by
the server with Textual's web driver. It differs from the workbench of a terminal in five
things: the mode is the one invited for, only who may decide edits the guidelines, files go to
the visitor's browser, predictions are asked of the server, and it ends when the server has.
"""

import argparse
import asyncio
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from textual import messages
from textual.drivers.web_driver import WebDriver
from textual.screen import Screen

from nfh_db.errors import StoreError
from nfh_db.formats.wording import lines_visible
from nfh_tui.actions import Mode
from nfh_tui.app import TOUR_VARIABLE, WorkbenchApp
from nfh_tui.desk.work import start
from nfh_tui.messages import PredictorChanged
from nfh_tui.predictor_client import PredictorClient
from nfh_tui.screens.side import SideScreen
from nfh_tui.screens.workbench import PREDICTOR_VARIABLE, Workbench

WANTED = "nfh_predict"
"""The type of the packet in which predictions are asked for; the server knows it, too."""

LAST_WISHES = 2.5
"""Seconds for keys under way to be done when the page is gone, and as many to save it all."""

LAST_KEYS = 0.05

LOOK_FOR_SERVER = 2.0

EDITS = "do_side_edit"
"""The act of a screen that changes what holds for everybody."""

INVITED = {
    Mode.ANNOTATE: "You were invited to annotate; whoever sent the link can do so otherwise.",
    Mode.BROWSE: "You were invited to read; whoever sent the link can do so otherwise.",
}

Ask = Callable[[Sequence[int]], None]


class FarPredictor(PredictorClient):
    """A predictor that runs elsewhere: all it does here is to be asked."""

    def __init__(self, database: Path, ask: Ask) -> None:
        super().__init__(database, lambda _: None, lambda _: None)
        self._pass_on = ask

    async def start(self) -> None:
        """The server starts it."""

    def ask(self, anchor_ids: Sequence[int]) -> None:
        """Want predictions of these; they come through the database."""
        self._pass_on(anchor_ids)

    async def stop(self) -> None:
        """The server stops it."""


class VisitorWorkbench(Workbench):
    """The workbench of somebody who was invited."""

    invited_for = Mode.BROWSE

    async def set_mode(self, mode: Mode) -> None:
        """Change the mode, where the invitation allows: whoever may decide may do all."""
        why = INVITED.get(self.invited_for)
        if why is not None and mode is not self.invited_for:
            self.refuse(why)
            return
        await super().set_mode(mode)

    async def visit(self, screen: type[SideScreen]) -> None:
        """Show a screen; the guidelines, which hold for all, are not everybody's to edit."""
        why = INVITED.get(self.invited_for)
        if why is not None and hasattr(screen, EDITS):
            # Under the name of the screen itself: what it remembers is kept by that.
            refusing = {EDITS: lambda shown: shown.refuse(why)}
            screen = type(screen.__name__, (screen,), refusing)
        await super().visit(screen)

    async def hand_over(self, name: str, text: str) -> None:
        """Have the browser save a file: the folder beside the database is not theirs."""
        self.app.deliver_text(io.StringIO(text), save_filename=name)
        self.announce(f"{name} goes to your browser, which asks or saves it")

    async def _start_predictor(self) -> None:
        if os.environ.get(PREDICTOR_VARIABLE) == "off":
            return
        self._predictor = FarPredictor(self.client.store.path, self._ask_server)
        self.post_message(PredictorChanged("model of the server", "", off=False))
        self.want_predictions()

    def _ask_server(self, anchors: Sequence[int]) -> None:
        driver = self.app._driver  # noqa: SLF001 - Textual has no other way to its driver
        if isinstance(driver, WebDriver):
            driver.write_meta({"type": WANTED, "anchors": list(anchors)})


class VisitorApp(WorkbenchApp):
    """The workbench of one visitor, who may be gone at any moment."""

    CSS_PATH = str(files("nfh_tui.screens").joinpath("workbench.tcss"))
    DESK = VisitorWorkbench
    _parting = False

    def get_default_screen(self) -> Screen[None]:
        """The visitor's workbench."""
        desk = super().get_default_screen()
        if isinstance(desk, VisitorWorkbench):
            desk.invited_for = self._mode
        return desk

    def on_mount(self) -> None:
        """Look from time to time whether the server is still there."""
        self._server = os.getppid()
        self.set_interval(LOOK_FOR_SERVER, self._end_without_server)

    def _end_without_server(self) -> None:
        if os.getppid() != self._server:
            self.exit(0)

    def on_exit_app(self, event: messages.ExitApp) -> None:
        """Put the end off until what was typed before is done and saved."""
        if self._parting:
            return
        self._parting = True
        event.prevent_default()
        start(self, self._part, group="parting", description="saving what was typed last")

    async def _part(self) -> None:
        # Keys come to this loop by a longer way than the wish to end that was sent after them.
        await asyncio.sleep(LAST_KEYS)
        done = asyncio.Event()

        async def finish() -> None:
            done.set()

        desk = self.desk
        try:
            # Behind the keys that app and screen were given, then behind what they ask for.
            self.call_later(desk.call_later, desk.in_turn, finish)
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), LAST_WISHES)
            with suppress(TimeoutError):
                await asyncio.wait_for(kept(desk), LAST_WISHES)
        finally:
            self.post_message(messages.ExitApp())


async def kept(desk: Workbench) -> None:
    """Return when drafts, place and answers are on disk, or have failed to get there."""
    desk.keep_place()
    await desk.drafts.flush()
    await desk.places.flush()
    await desk.client.settled()


def main() -> int:
    """Open the workbench for the server and give the exit status: 0 done, 1 failed."""
    parser = argparse.ArgumentParser(prog="nfh_tui.serving.child")
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--as", dest="me", required=True)
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], required=True)
    parser.add_argument("--query")
    given = parser.parse_args()
    tour = os.environ.get(TOUR_VARIABLE) != "off"
    try:
        app = VisitorApp(given.db, given.me, given.mode, given.query, tour=tour)
    except StoreError as error:
        sys.stderr.write(f"{lines_visible(str(error))}\n")
        return 1
    app.endures = True
    try:
        app.run(mouse=app.config.options.mouse)
    finally:
        app.close()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
