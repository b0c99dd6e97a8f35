"""Cutting the power: what was not synced may be gone, and what was called saved may not."""

import shutil
import time
from pathlib import Path

from nfh_db.store import Store
from soak.acts import Model
from soak.disks import MoodyDisk
from soak.killing import OWN, Soak
from soak.state import State
from soak.worker import Task, work

LONGEST_SECONDS = 0.6
"""From the workers' readiness until the power is cut, at most."""

FORGETFUL = "soak.forgetful"


class PowerSoak(Soak):
    """As `Soak`, on a disk that loses what was not synced; both workers die at once.

    A draft need not have outlived a power cut: it is kept for a crash of the program.
    careless: see `Task`.
    """

    def __init__(self, folder: Path, seed: int = 1, *, careless: bool = False) -> None:
        super().__init__(folder, seed)
        self._careless = careless
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._disk = MoodyDisk(folder / "disk", FORGETFUL)

    @property
    def database(self) -> Path:
        """The present life's database, on the disk."""
        return self._disk.folder / "nfh.db"

    def close(self) -> None:
        """Unmount the disk."""
        self._disk.close()

    def _begin_life(self) -> None:
        for path in self._disk.folder.iterdir():
            path.unlink()
        self._models = {own: Model() for own in OWN}
        Store.open(self.database, create=True).close()

    def _one_round(self) -> None:
        tasks = [self._task(own) for own in OWN]
        running = [self._start(work, task) for task in tasks]
        deadline = time.monotonic() + 300
        while not all(task.notes.exists() and task.notes.stat().st_size for task in tasks):
            if time.monotonic() > deadline:
                break
            time.sleep(0.002)
        time.sleep(self.source.uniform(0, LONGEST_SECONDS))
        self._disk.mood("cut")
        for process in running:
            process.kill()
        # Whoever waits for the disk waits until it is gone.
        self._disk.close()
        for process in running:
            process.join()
        self._disk = MoodyDisk(self.folder / "disk", FORGETFUL)
        self.tally.kills += 1
        self.tally.by["power cut"] += 1
        self.look(tasks)

    def _task(self, own: str) -> Task:
        notes = self.folder / f"notes-{own}-{self._round}"
        return Task(
            self.database,
            notes,
            own,
            self.source.getrandbits(32),
            self._models[own],
            careless=self._careless,
        )

    def _forgive(self, model: Model, own: State) -> None:
        drafts = {key: said for key, said in own.items() if key[0] == "draft"}
        kept = {key: said for key, said in model.state.items() if key[0] != "draft"}
        model.state = kept | drafts
