"""A process that works on a database until it dies, and writes down what it was told is saved.

Its notes are lines of JSON: an act before it is done, and its number once the store's method
has returned. Each line is on the disk before the worker goes on.
"""

import json
import os
import random
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfh_db import connection
from nfh_db.errors import StoreError
from nfh_db.store import Store
from soak import deaths
from soak.acts import Act, Model
from soak.bulk import Chooser
from soak.state import read_ids


@dataclass(frozen=True)
class Task:
    """What one worker is to do. own: the texts that are its alone begin so.

    death: how it is to die by itself, "" for not at all: after so many `steps` of SQLite's
    machine, at a file's `size` in bytes, or in a system call, as in `call fsync`, after so
    many acts. measure: that number. careless: it is not to wait for the disk, so that one
    sees that such a loss is noticed.
    """

    database: Path
    notes: Path
    own: str
    seed: int
    model: Model
    death: str = ""
    measure: int = 0
    careless: bool = False


class Notes:
    """The side file."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, **values: object) -> None:
        """Add a line and wait until the disk has it."""
        os.write(self._file, json.dumps(values, ensure_ascii=False).encode() + b"\n")
        # Not fsync(): a worker that is to die in one is to die in the database's.
        os.fdatasync(self._file)


def read_notes(path: Path) -> list[dict[str, object]]:
    """The whole lines of a side file; the last one may have been cut off."""
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    return [json.loads(line) for line in whole.split(b"\n") if line]


def work(task: Task) -> None:
    """Open the database and work until killed; for `multiprocessing`."""
    notes = Notes(task.notes)
    try:
        if task.death == "steps":
            deaths.after_steps(task.measure)
        elif task.death == "size":
            deaths.beyond_size(task.measure)
        _work(task, notes)
    except BaseException:
        notes.write(fault=traceback.format_exc())
        raise


def _work(task: Task, notes: Notes) -> None:
    if task.careless:
        _stop_waiting()
    source = random.Random(task.seed)
    store = Store.open(task.database)
    chooser = Chooser(source, task.own, task.model, task.database)
    chooser.ids = read_ids(task.database)
    notes.write(ready=True)
    number = 0
    while True:
        number += 1
        if task.death.startswith("call ") and number == task.measure:
            deaths.at_call(task.death.removeprefix("call "))
        do(store, chooser, chooser.next(), number, notes)


def _stop_waiting() -> None:
    """Let this process' store not wait until the disk has what is saved."""
    connection.SYNCHRONOUS_FULL = connection.SYNCHRONOUS_NORMAL
    pragmas = (*connection.WRITER_PRAGMAS, connection.SYNCHRONOUS_NORMAL)
    connection.WRITER_PRAGMAS = pragmas  # type: ignore[assignment]  # one more


def do(store: Store, chooser: Chooser, act: Act, number: int, notes: Notes) -> None:
    """Do an act, noted before and after; where it is refused, that is noted instead."""
    notes.write(begin=number, act=act.plain(), count=chooser.model.count)
    try:
        act.do(store)
    except StoreError as error:
        notes.write(refused=number, what=act.what, why=str(error))
        return
    notes.write(saved=number)
    chooser.model.apply(json.loads(json.dumps(act.plain())))
    if act.what in ("import", "merge"):
        chooser.ids = read_ids(chooser.database)


def outcome(
    notes: Sequence[Mapping[str, object]], model: Model
) -> tuple[Mapping[str, object] | None, list[str]]:
    """Let all reported acts have happened in the model; the one that was under way, if any.

    Also gives why acts were refused, and the faults of the worker itself.
    """
    open_act: Mapping[str, object] | None = None
    said: list[str] = []
    for line in notes:
        if "begin" in line:
            assert isinstance(line["act"], dict) and isinstance(line["count"], int)
            open_act, model.count = line["act"], line["count"]
        elif "saved" in line:
            assert open_act is not None
            model.apply(open_act)
            open_act = None
        elif "refused" in line:
            open_act = None
            said.append(f"{line['what']} refused: {line['why']}")
        elif "fault" in line:
            said.append(f"fault: {line['fault']}")
    return open_act, said
