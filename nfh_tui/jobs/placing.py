"""The way of a finished model from its job's folder to the other models of the database.

A model is made without a name, and gets one when it is put in its place: so two trainings at
one time do not want the same. The name is noted in the job's folder first, and a job that was
killed between takes away what it had put there.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db import processes
from nfh_db.beside import path_beside, sweep
from nfh_models.model_files import (
    CARD,
    CONFIG,
    Config,
    ModelFileError,
    digest_of,
    read_config,
)
from nfh_tui.jobs.whole_files import write_whole
from nfh_tui.model_folders import models_folder

if TYPE_CHECKING:
    from nfh_db.store import Store

NOTE = "placed-{pid}.json"
"""The file in a job's folder that says what its process puts in place. Each has its own: one
that was stopped, and wakes while another has the job, is not to take that one's model away."""

NOTES = NOTE.format(pid="*")


class _Note(msgspec.Struct, frozen=True):
    """name: of the model's folder. digest: of it. The rest names the process."""

    name: str
    digest: str
    pid: int
    started: str | None
    place: str


@contextmanager
def placed(store: "Store", home: Path, made: Path, recipe: str) -> Iterator[tuple[Path, str]]:
    """A finished model under the next free name, with its digest; gone again if the block
    fails before the model is registered.

    home: the job's folder. made: the model's folder in it, which stays. Raises OSError,
    ModelFileError.
    """
    _take_back(store, home)
    folder, digest = _put(store, home, made, recipe)
    try:
        yield folder, digest
    except BaseException:
        # Stopped after its last write, a model is registered all the same.
        if store.model(folder.name) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _take_back(store: "Store", home: Path) -> None:
    """Remove what this job put in place before it was killed."""
    for path in home.glob(NOTES):
        note = None
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            note = msgspec.json.decode(path.read_bytes(), type=_Note)
        if note is None or _left(note):
            if note is not None:
                _remove(store, note)
            path.unlink(missing_ok=True)


def _left(note: _Note) -> bool:
    """Whether nobody is at it any more: its process is gone, or is this one."""
    if note.place != processes.place():
        return True
    return note.pid == os.getpid() or not processes.alive(note.pid, note.started)


def _remove(store: "Store", note: _Note) -> None:
    """Remove a folder, unless it has become a model, or is another one of that name."""
    if not re.fullmatch(r"[a-z-]+-[0-9]+", note.name) or store.model(note.name) is not None:
        return
    folder = models_folder(store.path) / note.name
    with suppress(OSError, ModelFileError):
        if digest_of(folder) == note.digest:
            shutil.rmtree(folder, ignore_errors=True)


def _put(store: "Store", home: Path, made: Path, recipe: str) -> tuple[Path, str]:
    models = models_folder(store.path)
    models.mkdir(parents=True, exist_ok=True)
    sweep(models)
    while True:
        folder = models / _free_name(store, recipe)
        beside = path_beside(folder, "tmp")
        beside.mkdir()
        try:
            shutil.copytree(made, beside, dirs_exist_ok=True)
            _christen(beside, folder.name)
            digest = digest_of(beside)
            _note(home, folder.name, digest)
            if not os.path.lexists(folder):
                beside.rename(folder)
                return folder, digest
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _note(home: Path, name: str, digest: str) -> None:
    pid = os.getpid()
    note = _Note(name, digest, pid, processes.started(pid), processes.place())
    write_whole(home / NOTE.format(pid=pid), msgspec.json.encode(note))


def _christen(folder: Path, name: str) -> None:
    """Give a model its name, in what it says of itself and at the head of its card."""
    config = read_config(folder)
    named: Config = msgspec.structs.replace(config, name=name)
    spelled = msgspec.json.format(msgspec.json.encode(named), indent=2)
    write_whole(folder / CONFIG, spelled + b"\n")
    card = (folder / CARD).read_text("utf-8")
    start, *rest = card.split("\n", 1)
    if start == f"# {config.name}":
        write_whole(folder / CARD, "\n".join([f"# {name}", *rest]).encode("utf-8"))


def _free_name(store: "Store", recipe: str) -> str:
    """The next name that neither a model of the database nor a folder has."""
    names = {model.name for model in store.models()}
    names |= {path.name for path in models_folder(store.path).iterdir()}
    taken = (re.fullmatch(rf"{re.escape(recipe)}-([0-9]{{1,8}})", name) for name in names)
    return f"{recipe}-{max((int(one[1]) for one in taken if one), default=0) + 1}"
