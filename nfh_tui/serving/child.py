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
from functools import partial
from pathlib import Path
from typing import Any

from textual import messages
from textual.app import App
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
from nfh_tui.widgets.status_bar import Level
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
    """The session of somebody who was invited, in a browser, who may be gone at any moment."""

    queues_trainings = False

    def __init__(self, access: Access) -> None:
        self.access = access
        self._parting = False

    def open_store(self, path: Path) -> Store:
        """The database; for who only reads, such that SQLite writes nothing to it."""
        if self.access is Access.READER:
            return Store.open_read_only(path, TO_READ)
        return super().open_store(path)

    def client(self, store: Store, me: Annotator) -> StoreClient:
        """What this visitor's screens may ask of the store."""
        return GuestClient(store, me, self.access)

    async def deliver(self, bench: Workbench, name: str, text: str) -> None:
        """Have the browser save a file: the folder beside the database is not theirs."""
        bench.app.deliver_text(io.StringIO(text), save_filename=name)
        bench.ui.notify(f"{name} goes to your browser, which asks or saves it", Level.DONE)

    async def start_predictor(self, bench: Workbench) -> PredictorClient | None:
        """Have predictions asked of the server."""
        if os.environ.get(PREDICTOR_VARIABLE) == "off" or not bench.state.keeps_own:
            return None
        bench.post_message(PredictorChanged("model of the server", "", off=False))
        return FarPredictor(bench.client.store.path, partial(ask_server, bench.app))

    def attach(self, app: WorkbenchApp) -> None:
        """Look from time to time whether the server is still there."""
        server = os.getppid()

        def end_without_server() -> None:
            if os.getppid() != server:
                app.exit(0)

        app.set_interval(LOOK_FOR_SERVER, end_without_server)

    def defers_exit(self, app: WorkbenchApp) -> bool:
        """Put the end off, once, until what was typed before is done and saved."""
        if self._parting:
            return False
        self._parting = True
        part = partial(_part, app)
        start(app, part, group="parting", description="saving what was typed last")
        return True


def ask_server(app: App[Any], anchors: Sequence[int]) -> None:
    """Ask the server for predictions, by way of the driver that draws."""
    driver = app._driver  # noqa: SLF001 - Textual has no other way to its driver
    if isinstance(driver, WebDriver):
        driver.write_meta({"type": WANTED, "anchors": list(anchors)})


async def _part(app: WorkbenchApp) -> None:
    # Keys come to this loop by a longer way than the wish to end that was sent after them.
    await asyncio.sleep(LAST_KEYS)
    done = asyncio.Event()

    async def finish() -> None:
        done.set()

    bench = app.bench
    try:
        # Behind the keys that app and screen were given, then behind what they ask for.
        app.call_later(bench.call_later, bench.enqueue, finish)
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), LAST_WISHES)
        with suppress(TimeoutError):
            await asyncio.wait_for(bench.write_all(), LAST_WISHES)
    finally:
        app.post_message(messages.ExitApp())


def visitor_app(
    path: Path,
    me: str,
    mode: str,
    query: str | None = None,
    *,
    tour: bool = False,
    admin: bool = False,
) -> WorkbenchApp:
    """The workbench of one visitor. Raises StoreError if the database cannot be opened."""
    access = Access.ADMIN if admin else ACCESS_OF[Mode(mode)]
    return WorkbenchApp(path, me, mode, query, tour=tour, host=BrowserHost(access))


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
        app = visitor_app(*who, tour=tour, admin=given.admin)
    except StoreError as error:
        sys.stderr.write(f"{lines_visible(str(error))}\n")
        return 1
    if app.host.access is Access.READER:
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
