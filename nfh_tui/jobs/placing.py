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
from nfh_models.model_files import CARD, CONFIG, Config, digest_of, read_config
from nfh_tui.jobs.whole_files import write_whole
from nfh_tui.model_folders import models_folder

if TYPE_CHECKING:
    from nfh_db.store import Store

PLACED = "placed"
"""The file in a job's folder that holds the name under which its model was put in place."""


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
    with suppress(FileNotFoundError):
        name = (home / PLACED).read_text("ascii")
        if re.fullmatch(r"[a-z-]+-[0-9]+", name) and store.model(name) is None:
            shutil.rmtree(models_folder(store.path) / name, ignore_errors=True)


def _put(store: "Store", home: Path, made: Path, recipe: str) -> tuple[Path, str]:
    models = models_folder(store.path)
    models.mkdir(parents=True, exist_ok=True)
    _sweep(models)
    while True:
        folder = models / _free_name(store, recipe)
        beside = folder.with_name(f".{folder.name}.{os.getpid()}.new")
        try:
            shutil.copytree(made, beside)
            _christen(beside, folder.name)
            digest = digest_of(beside)
            write_whole(home / PLACED, folder.name.encode("ascii"))
            if not os.path.lexists(folder):
                beside.rename(folder)
                return folder, digest
        finally:
            shutil.rmtree(beside, ignore_errors=True)


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


def _sweep(models: Path) -> None:
    """Remove what processes left that were killed while they put a model in place."""
    for path in models.glob(".*.new"):
        pid = path.name.removesuffix(".new").rpartition(".")[2]
        if pid.isdigit() and not processes.alive(int(pid), None):
            shutil.rmtree(path, ignore_errors=True)
