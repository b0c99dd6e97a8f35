"""Checkpoints of a training elsewhere, brought home: should its machine be lost, it goes on."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from nfh_db.beside import path_beside
from nfh_tui.jobs.cluster import Machines
from nfh_tui.jobs.cluster_work import Offer, offer, part
from nfh_tui.scanning.crew import CrewError

LEAST_SECONDS = 20.0
"""Between two fetches."""

SHARE = 0.05
"""Of the time, spent on fetching at most."""

LARGEST = 2_000_000_000
"""Bytes of a run's checkpoints; larger ones stay where they are."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.safetensors")
"""What a checkpoint is called."""

PART = 8_000_000
"""Bytes that are fetched together: all pass the scheduler, which holds them meanwhile."""


class Checkpoints:
    """Brings the checkpoints of a run home, into the work folder of its training here."""

    def __init__(
        self,
        machines: Machines,
        run: str,
        work: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._machines = machines
        self._run = run
        self._work = work
        self._clock = clock
        self._stamp = ""
        self._next = clock() + LEAST_SECONDS
        self.fetched = 0
        """How often they came home."""

    def look(self, worker: str) -> None:
        """Fetch them if it is time, and if there are others than last time.

        What goes wrong on the way leaves those that are at home as they are. Raises OSError
        where they cannot be kept.
        """
        began = self._clock()
        if began < self._next:
            return
        try:
            self._fetch(worker)
        except CrewError:
            pass  # whoever waits for the result will say what is wrong
        finally:
            now = self._clock()
            self._next = now + max(LEAST_SECONDS, (now - began) / SHARE)

    def _fetch(self, worker: str) -> None:
        offered = msgspec.json.decode(self._machines.ask(worker, offer, self._run), type=Offer)
        if not offered.sizes or offered.stamp == self._stamp:
            return
        if sum(offered.sizes.values()) > LARGEST:
            return
        # The names are another machine's words: none leads out of the folder.
        if not all(NAME.fullmatch(name) for name in offered.sizes):
            return
        beside = {name: path_beside(self._work / name, "tmp") for name in offered.sizes}
        try:
            for name, path in beside.items():
                self._receive(worker, name, offered.sizes[name], path)
            # The best weights first: a last state names those, and never newer ones.
            for name in sorted(beside):
                beside[name].replace(self._work / name)
        finally:
            for path in beside.values():
                path.unlink(missing_ok=True)
        self._stamp = offered.stamp
        self.fetched += 1

    def _receive(self, worker: str, name: str, size: int, path: Path) -> None:
        """Write an offered file here. Raises CrewError where it does not come whole."""
        with path.open("xb") as file:
            for start in range(0, size, PART):
                file.write(self._machines.ask(worker, part, self._run, name, start, PART))
            if file.tell() != size:
                raise CrewError(f"the checkpoint {name} of {worker} did not come whole")
            file.flush()
            os.fsync(file.fileno())
