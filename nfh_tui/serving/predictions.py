"""One predictor for all visitors: it takes several hundred megabytes, their screens do not."""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path

from nfh_tui.predictor_client import PredictorClient, PredictorState

log = logging.getLogger("nfh_tui.serving")

OFF_VARIABLE = "NFH_TUI_PREDICTOR"
MOST = 64
"""Anchors that wait at most; what was asked for longest ago is forgotten first."""

Make = Callable[
    [Path, Callable[[int], object], Callable[[PredictorState], object]], PredictorClient
]


class Predictions:
    """Asks one predictor child for what all visitors want, the latest first.

    It is started when the first of them asks. It writes into the database; their workbenches
    see there what has come, as they see what other people wrote.
    """

    def __init__(self, database: Path, make: Make = PredictorClient) -> None:
        self._client = make(database, self._done, self._changed)
        self._waiting: list[int] = []
        self._task: asyncio.Task[None] | None = None
        self._off = os.environ.get(OFF_VARIABLE) == "off"

    def want(self, anchors: list[int]) -> None:
        """Have these predicted before all that was asked for earlier. Never blocks."""
        if self._off:
            return
        kept = [one for one in self._waiting if one not in anchors]
        self._waiting = [*anchors, *kept][:MOST]
        self._client.ask(self._waiting)
        if self._task is None:
            self._task = asyncio.create_task(self._client.start(), name="predictions")

    async def stop(self) -> None:
        """End the child."""
        self._off = True
        if self._task is not None:
            await self._task
            await self._client.stop()

    def _done(self, anchor: int) -> None:
        if anchor in self._waiting:
            self._waiting.remove(anchor)

    def _changed(self, state: PredictorState) -> None:
        level = logging.INFO if state.status in {"ready", "starting"} else logging.WARNING
        log.log(level, "predictor: %s", state.sentence)
