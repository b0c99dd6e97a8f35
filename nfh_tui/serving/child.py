"""The process of one visit: the workbench, drawn for a browser.

`python -m nfh_tui.serving.child --db=PATH --as=NAME --mode=MODE [--admin] [--query=QUERY]`,
started by the server with Textual's web driver. It differs from the workbench in a terminal in
five points: guests change only what they were invited to change, files go to the browser,
predictions are requested from the server, due trainings are left to it, and the workbench ends
when the server does.
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
"""The type of the packet that requests predictions, as in `visit`."""

EXIT_SECONDS = 2.5
"""Seconds, after the page has closed, to process pending keys, and as many to save."""

LAST_KEYS_SECONDS = 0.05

SERVER_CHECK_SECONDS = 2.0

TO_READ = "you were invited to read"

Ask = Callable[[Sequence[int]], None]


class RemotePredictor(PredictorClient):
    """Forwards requests to the predictor of the server."""

    def __init__(self, database: Path, ask: Ask) -> None:
        super().__init__(database, lambda _: None, lambda _: None)
        self._pass_on = ask

    async def start(self) -> None:
        """The server starts it."""

    def ask(self, anchor_ids: Sequence[int]) -> None:
        """Request predictions; they arrive through the database."""
        self._pass_on(anchor_ids)

    async def stop(self) -> None:
        """The server stops it."""


class BrowserHost(Host):
    """The host of a guest's workbench in a browser, which may disconnect at any time."""

    queues_trainings = False
    is_local = False

    def __init__(self, access: Access) -> None:
        self.access = access
        self._exiting = False

    def open_store(self, path: Path) -> Store:
        """Open the database, for readers such that SQLite writes nothing to it."""
        if self.access is Access.READER:
            return Store.open_read_only(path, TO_READ)
        return super().open_store(path)

    def client(self, store: Store, me: Annotator) -> StoreClient:
        """A client that enforces the guest's access."""
        return GuestClient(store, me, self.access)

    async def deliver(self, bench: Workbench, name: str, text: str) -> None:
        """Send a file to the browser."""
        bench.app.deliver_text(io.StringIO(text), save_filename=name)
        bench.ui.notify(f"{name} goes to your browser, which asks or saves it", Level.DONE)

    async def start_predictor(self, bench: Workbench) -> PredictorClient | None:
        """Use the predictor of the server, unless switched off."""
        if os.environ.get(PREDICTOR_VARIABLE) == "off" or not bench.state.keeps_own:
            return None
        bench.post_message(PredictorChanged("model of the server", "", off=False))
        return RemotePredictor(bench.client.store.path, partial(ask_server, bench.app))

    def attach(self, app: WorkbenchApp) -> None:
        """Exit when the server process has ended; checked every SERVER_CHECK_SECONDS."""
        server = os.getppid()

        def end_without_server() -> None:
            if os.getppid() != server:
                app.exit(0)

        app.set_interval(SERVER_CHECK_SECONDS, end_without_server)

    def defers_exit(self, app: WorkbenchApp) -> bool:
        """Defer the first exit until pending keys are processed and saved."""
        if self._exiting:
            return False
        self._exiting = True
        save = partial(_save_and_exit, app)
        start(app, save, group="parting", description="saving what was typed last")
        return True


def ask_server(app: App[Any], anchors: Sequence[int]) -> None:
    """Request predictions from the server, by a packet of the web driver."""
    driver = app._driver  # noqa: SLF001 - Textual has no other way to its driver
    if isinstance(driver, WebDriver):
        driver.write_meta({"type": WANTED, "anchors": list(anchors)})


async def _save_and_exit(app: WorkbenchApp) -> None:
    # Keys take longer to reach this loop than the request to exit that was sent after them.
    await asyncio.sleep(LAST_KEYS_SECONDS)
    done = asyncio.Event()

    async def finish() -> None:
        done.set()

    bench = app.bench
    try:
        # Queued after the keys of app and screen, then after the commands they enqueue.
        app.call_later(bench.call_later, bench.enqueue, finish)
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), EXIT_SECONDS)
        with suppress(TimeoutError):
            await asyncio.wait_for(bench.write_all(), EXIT_SECONDS)
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
    """The workbench of one guest. Raises StoreError if the database cannot be opened."""
    access = Access.ADMIN if admin else ACCESS_OF[Mode(mode)]
    return WorkbenchApp(path, me, mode, query, tour=tour, host=BrowserHost(access))


def main() -> int:
    """Run the workbench; exit status 1 if the database cannot be opened."""
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
        # Some screens get their figures from commands of ours, which must not write, either.
        os.environ[READ_ONLY_VARIABLE] = TO_READ
    app.endures = True
    try:
        app.run(mouse=app.config.options.mouse)
    finally:
        app.close()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
