"""Trainings that come round, queued by the server: no job is a guest's to start."""

import asyncio
import logging
from pathlib import Path

from nfh_db.errors import StoreError
from nfh_db.store import Store
from nfh_tui.jobs.every import queue_due
from nfh_tui.jobs.starting import ensure_runner

log = logging.getLogger("nfh_tui.serving")

LOOK = 10.0
"""Seconds between two looks at whether a training is due."""


class Retraining:
    """Looks now and then whether a training is due, and sees that somebody runs it."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._too_few_at: tuple[int, int] | None = None

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                queued = await asyncio.to_thread(self.look)
            except (StoreError, OSError) as error:
                log.warning("trainings that come round: %s", error)
            else:
                if queued:
                    log.info("queued trainings that were due: %s", ", ".join(map(str, queued)))
            await asyncio.sleep(LOOK)

    def look(self) -> tuple[int, ...]:
        """Queue what is due; the numbers of the jobs. Raises StoreError, OSError.

        What had too little to learn from is looked at again once somebody has written.
        """
        with Store.open(self._database) as store:
            version = store.answers_version()
            queued: tuple[int, ...] = ()
            if version != self._too_few_at and store.retraining().to_do:
                queued = queue_due(store)
                self._too_few_at = None if queued else version
            ensure_runner(store)
        return queued
