"""Killing workers at random points, and looking each time whether anything was lost."""

import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

from nfh_db.store import Store
from soak import deaths
from soak.acts import Model
from soak.bulk import COPY, OTHER
from soak.checks import faults
from soak.state import State, difference, read_state
from soak.worker import Task, outcome, read_notes, work

OWN = ("w0", "w1")
"""Prefixes of the two workers' texts and names."""

ROUNDS_OF_A_LIFE = 12
"""Rounds that one database has to live through."""

LONGEST_SECONDS = 0.25
"""From a worker's readiness until it is killed, at most."""

OPENING_SECONDS = 0.06
"""The same for those that are killed while they open the database."""

PRELOADED = ["soak.worker", "nfh_tui.services.imports", "nfh_db.merge.run"]
"""What workers need, loaded once and forked."""


@dataclass
class Tally:
    """What a soak did.

    kills: by SIGKILL; others: deaths by other signals. by: deaths by way; under_way: by the
    act that was cut off; happened: of those, the acts that were there afterwards.
    """

    kills: int = 0
    others: int = 0
    reported: int = 0
    by: Counter[str] = field(default_factory=Counter)
    under_way: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)


class Soak:
    """Databases that workers write to and are killed over. Everything is seeded but time."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.folder = folder
        self.source = random.Random(seed)
        self.tally = Tally()
        self._context = multiprocessing.get_context("forkserver")
        _serve_forks()
        self._models: dict[str, Model] = {}
        self._round = 0

    @property
    def database(self) -> Path:
        """The present life's database."""
        return self.folder / "nfh.db"

    def run(self, kills: int) -> Tally:
        """Kill so many times; each round kills both workers, one after the other."""
        while self.tally.kills < kills and not self.tally.lost:
            if self._round % ROUNDS_OF_A_LIFE == 0:
                self._begin_life()
            self._one_round()
            self._round += 1
        return self.tally

    # --- a round --------------------------------------------------------------------------

    def _begin_life(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._models = {own: Model() for own in OWN}
        process = self._start(_create, self.database)
        time.sleep(self.source.uniform(0, 0.1))
        self._kill(process, "clock, making the file")
        Store.open(self.database, create=True).close()

    def _one_round(self) -> None:
        tasks = [self._task(own) for own in OWN]
        running = [(task, self._start(work, task)) for task in tasks]
        self.source.shuffle(running)
        for task, process in running:
            self._end(task, process)
        self.look(tasks)

    def _task(self, own: str) -> Task:
        draw = self.source.random()
        death, measure = "", 0
        if draw < 0.15:
            death, measure = "steps", int(10 ** self.source.uniform(2, 5.7))
        elif draw < 0.25:
            death, measure = "size", self.source.randrange(100_000, 4_000_000)
        elif draw < 0.35 and deaths.can_filter():
            calls = ("pwrite", "fsync", "ftruncate", "rename", "unlink")
            death, measure = f"call {self.source.choice(calls)}", self.source.randint(1, 60)
        notes = self.folder / f"notes-{own}-{self._round}"
        seed = self.source.getrandbits(32)
        return Task(self.database, notes, own, seed, self._models[own], death, measure)

    def _start(self, target: object, argument: object) -> BaseProcess:
        process = self._context.Process(target=target, args=(argument,), daemon=True)  # type: ignore[arg-type]  # a function of this module's
        process.start()
        return process

    def _end(self, task: Task, process: BaseProcess) -> None:
        """Let a worker die: by itself within a while, else by SIGKILL."""
        if not task.death and self.source.random() < 0.1:
            time.sleep(self.source.uniform(0, OPENING_SECONDS))
            self._kill(process, "clock, opening")
            return
        deadline = time.monotonic() + 300
        while not task.notes.exists() or b"ready" not in task.notes.read_bytes()[:20]:
            if not process.is_alive() or time.monotonic() > deadline:
                break
            time.sleep(0.001)
        process.join(self.source.uniform(0, LONGEST_SECONDS) + 2 * bool(task.death))
        self._kill(process, task.death or "clock")

    def _kill(self, process: BaseProcess, way: str) -> None:
        by_itself = not process.is_alive()
        process.kill()
        process.join()
        sent = -(process.exitcode or 0)
        if by_itself and sent not in (signal.SIGKILL, signal.SIGXFSZ, signal.SIGSYS):
            if not way.startswith("clock, making"):
                self.tally.lost.append(f"a worker ended by itself ({process.exitcode}): {way}")
            return
        if sent == signal.SIGKILL:
            self.tally.kills += 1
        else:
            self.tally.others += 1
        self.tally.by[way if by_itself else "clock"] += 1

    # --- what is left ---------------------------------------------------------------------

    def look(self, tasks: list[Task]) -> None:
        """Open the database as the next start does, and compare it with what was reported."""
        Store.open(self.database).close()
        found = read_state(self.database)
        for task in tasks:
            self._compare(task, found)
        for fault in faults(self.database):
            self.tally.lost.append(f"round {self._round}: {fault}")
        for path in list(self.database.parent.iterdir()):
            self._check_file(path)

    def _compare(self, task: Task, found: State) -> None:
        model = task.model
        notes = read_notes(task.notes)
        under_way, said = outcome(notes, model)
        self.tally.reported += sum("saved" in line for line in notes)
        for sentence in said:
            self.tally.refused[re.sub(r"\d+|“.*”", "…", sentence)[:120]] += 1
            if sentence.startswith("fault"):
                self.tally.lost.append(f"round {self._round}: {sentence}")
        own = {key: said for key, said in found.items() if str(key[1]).startswith(task.own)}
        self._forgive(model, own)
        after = model.after(under_way) if under_way else model.state
        if under_way:
            self.tally.under_way[str(under_way["what"])] += 1
        if under_way and own == after != model.state:
            self.tally.happened[str(under_way["what"])] += 1
            model.apply(under_way)
        elif own != model.state:
            words = difference(model.state, own)
            what = under_way["what"] if under_way else "nothing"
            self.tally.lost.append(
                f"round {self._round}, {task.own}, {task.death or 'clock'}, with {what} under "
                f"way: against what was reported:\n{words}\nagainst that with the act under "
                f"way:\n{difference(after, own)}"
            )

    def _forgive(self, model: Model, own: State) -> None:
        """Let the model forget what need not have outlived this death: nothing."""

    def _check_file(self, path: Path) -> None:
        """An export that was cut off leaves the file of the one before; a copy, nothing."""
        from nfh_db.formats.files import Source
        from nfh_db.formats.gold import read

        if path.suffix == ".jsonl" and path.stat().st_size:
            for _ in read(Source(path)):
                pass
        elif path.suffix == COPY:
            # It may hold an import that was under way: its first opening clears that away.
            Store.open(path).close()
            self.tally.lost += [f"{path.name}: {fault}" for fault in faults(path)]
        if path.suffix in (COPY, OTHER, ".partial") or ".backup-merge-" in path.name:
            for name in path.parent.glob(f"{path.name}*"):
                name.unlink()


def _serve_forks() -> None:
    """Start the process that forks the workers, with what they need loaded.

    It looks for modules in PYTHONPATH only, and passes over in silence what it cannot find.
    """
    former = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
    try:
        forkserver.set_forkserver_preload(PRELOADED)
        forkserver.ensure_running()
    finally:
        os.environ.pop("PYTHONPATH")
        if former is not None:
            os.environ["PYTHONPATH"] = former


def _create(path: Path) -> None:
    Store.open(path, create=True).close()


def shown(counts: Mapping[str, int]) -> str:
    """Counts on one line, the largest first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{what} {number:,}" for what, number in ranked) or "none"
