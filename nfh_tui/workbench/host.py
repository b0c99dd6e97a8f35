"""What the workbench leaves to its host: file output, the predictor, scheduled trainings."""

import asyncio
import errno
import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.records import Annotator
from nfh_db.store import Store
from nfh_tui.actions import Access
from nfh_tui.client import StoreClient
from nfh_tui.textual_support import PredictionReady, PredictorChanged
from nfh_tui.widgets.status_bar import Level

if TYPE_CHECKING:
    from nfh_tui.app import WorkbenchApp
    from nfh_tui.services.predictor_client import PredictorClient, PredictorState
    from nfh_tui.workbench.screen import Workbench

PREDICTOR_VARIABLE = "NFH_TUI_PREDICTOR"
"""An environment variable; "off" disables the predictor."""


class Host:
    """The host of a workbench on a terminal; browser sessions have another one."""

    access = Access.ADMIN
    """What the person may change."""
    queues_trainings = True
    """The workbench queues scheduled trainings that are due."""
    is_local = True
    """The person's own files, such as the data folder, are on this machine."""

    def open_store(self, path: Path) -> Store:
        """Open the database for reading and, if possible, writing. Raises StoreError."""
        return Store.open_to_read(path)

    def client(self, store: Store, me: Annotator) -> StoreClient:
        """Return the client through which the screens use the store."""
        del me
        return StoreClient(store)

    def attach(self, app: "WorkbenchApp") -> None:
        """Called when the app has started."""

    def defers_exit(self, app: "WorkbenchApp") -> bool:
        """Return True to postpone the exit; the host ends the app later."""
        del app
        return False

    async def deliver(self, bench: "Workbench", name: str, text: str) -> None:
        """Write a text file beside the database and report its path, or the error."""
        path = bench.client.store.path.parent / name
        try:
            path = await asyncio.to_thread(_write, path, text)
        except OSError as error:
            await bench.prompts.show_error(_not_written(path, error))
            return
        bench.ui.notify(f"written to {path}", Level.DONE)

    async def start_predictor(self, bench: "Workbench") -> "PredictorClient | None":
        """Start the predictor process; None if it is disabled or fails to start."""
        if os.environ.get(PREDICTOR_VARIABLE) == "off" or bench.client.read_only:
            return None
        from nfh_tui.services.predictor_client import PredictorClient

        def report(state: "PredictorState") -> None:
            words = f"model {state.status}" if state.model is None else f"model {state.model}"
            off = state.status == "off"
            bench.post_message(PredictorChanged(words, state.sentence, off, state.aside))

        predictor = PredictorClient(
            bench.client.store.path,
            lambda anchor_id: bench.post_message(PredictionReady(anchor_id)),
            report,
        )
        try:
            await predictor.start()
        except OSError as error:
            bench.post_message(PredictorChanged("no model", f"No predictor: {error}", off=True))
            return None
        return predictor


def _write(wanted: Path, text: str) -> Path:
    """Write a new file completely or not at all; returns its path.

    An existing file is kept; the new one then gets a number.
    """
    for number in count(1):
        path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
        with suppress(FileExistsError):
            file = path.open("x", encoding="utf-8")
            break
    try:
        with file:
            file.write(text)
    except OSError:
        with suppress(OSError):
            # A partial file would be mistaken for a complete one.
            path.unlink()
        raise
    return path


def _not_written(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {path} was not written. Make room, and press Y f again."
    return f"{path} was not written: {error.strerror or error}."
