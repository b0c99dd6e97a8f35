"""What runs in the process of one visit: the workbench, drawn for a browser.

`python -m nfh_tui.serving.child --db=PATH --as=NAME --mode=MODE [--admin] [--query=QUERY]`,
started by the server with Textual's web driver. It differs from the workbench of a terminal in
five things: the visitor changes what they were invited to change and no more, files go to
their browser, predictions are asked of the server, trainings that are due are left to it, and
the workbench ends when the server has.
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

from nfh_db.errors import StoreError
from nfh_db.messages import lines_visible
from nfh_db.records import Annotator
from nfh_db.store import Store
from nfh_tui.actions import Access, Mode
from nfh_tui.app import TOUR_VARIABLE, WorkbenchApp
from nfh_tui.client import StoreClient
from nfh_tui.config import READ_ONLY_VARIABLE
from nfh_tui.services.predictor_client import PredictorClient
from nfh_tui.serving.guest_client import ACCESS_OF, GuestClient
from nfh_tui.textual_support import PredictorChanged, start
from nfh_tui.widgets.status_bar import Tone
from nfh_tui.workbench.host import PREDICTOR_VARIABLE, Host
from nfh_tui.workbench.screen import Workbench

WANTED = "nfh_predict"
"""The type of the packet in which predictions are asked for; the server knows it, too."""

LAST_WISHES = 2.5
"""Seconds for keys under way to be done when the page is gone, and as many to save it all."""

LAST_KEYS = 0.05

LOOK_FOR_SERVER = 2.0

TO_READ = "you were invited to read"

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


class BrowserHost(Host):
    """The session of somebody who was invited, in a browser."""

    queues_trainings = False

    def __init__(self, access: Access) -> None:
        self.access = access

    async def deliver(self, bench: Workbench, name: str, text: str) -> None:
        """Have the browser save a file: the folder beside the database is not theirs."""
        bench.app.deliver_text(io.StringIO(text), save_filename=name)
        bench.ui.notify(f"{name} goes to your browser, which asks or saves it", Tone.DONE)

    async def start_predictor(self, bench: Workbench) -> PredictorClient | None:
        """Have predictions asked of the server."""
        if os.environ.get(PREDICTOR_VARIABLE) == "off" or not bench.state.keeps_own:
            return None

        def ask(anchors: Sequence[int]) -> None:
            driver = bench.app._driver  # noqa: SLF001 - Textual has no other way to its driver
            if isinstance(driver, WebDriver):
                driver.write_meta({"type": WANTED, "anchors": list(anchors)})

        bench.post_message(PredictorChanged("model of the server", "", off=False))
        return FarPredictor(bench.client.store.path, ask)


class VisitorApp(WorkbenchApp):
    """The workbench of one visitor, who may be gone at any moment."""

    CSS_PATH = str(files("nfh_tui.screens").joinpath("workbench.tcss"))
    _parting = False

    def __init__(
        self,
        store_path: Path,
        me: str,
        mode: str,
        query: str | None = None,
        *,
        tour: bool = False,
        admin: bool = False,
    ) -> None:
        self.may = Access.ADMIN if admin else ACCESS_OF[Mode(mode)]
        super().__init__(store_path, me, mode, query, tour=tour)

    def open_store(self, path: Path) -> Store:
        """The database; for who only reads, such that SQLite writes nothing to it."""
        reads = self.may is Access.READER
        return Store.open_read_only(path, TO_READ) if reads else super().open_store(path)

    def client_of(self, store: Store, me: Annotator) -> StoreClient:
        """What this visitor's screens may ask of the store."""
        return GuestClient(store, me, self.may)

    @property
    def host(self) -> Host:
        """The visitor's."""
        return BrowserHost(self.may)

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
            self.call_later(desk.call_later, desk.enqueue, finish)
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), LAST_WISHES)
            with suppress(TimeoutError):
                await asyncio.wait_for(kept(desk), LAST_WISHES)
        finally:
            self.post_message(messages.ExitApp())


async def kept(desk: Workbench) -> None:
    """Return when drafts, place and answers are on disk, or have failed to get there."""
    desk.queue.keep_position()
    await desk.answers.draft_writer.flush()
    await desk.queue.position_writer.flush()
    await desk.client.settled()


def main() -> int:
    """Open the workbench for the server and give the exit status: 0 done, 1 failed."""
    parser = argparse.ArgumentParser(prog="nfh_tui.serving.child")
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--as", dest="me", required=True)
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], required=True)
    parser.add_argument("--admin", action="store_true")
    parser.add_argument("--query")
    given = parser.parse_args()
    tour = os.environ.get(TOUR_VARIABLE) != "off"
    try:
        who = (given.db, given.me, given.mode, given.query)
        app = VisitorApp(*who, tour=tour, admin=given.admin)
    except StoreError as error:
        sys.stderr.write(f"{lines_visible(str(error))}\n")
        return 1
    if app.may is Access.READER:
        # The figures of some screens come of commands of ours.
        os.environ[READ_ONLY_VARIABLE] = TO_READ
    app.endures = True
    try:
        app.run(mouse=app.config.options.mouse)
    finally:
        app.close()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
