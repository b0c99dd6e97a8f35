"""The folder of a training's checkpoints, which the same training asked for again goes on from.

It stays when a training is stopped, fails or is killed, if there is something in it to go on
from; one that holds nothing of use is removed.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from nfh_db import processes
from nfh_models.errors import ModelsError
from nfh_models.training.plan import DivergedError
from nfh_tui.model_folders import models_folder

KEPT_SECONDS = 30 * 24 * 3600.0
"""How long a job's work folder is kept that nobody went on with."""

STARTING_SECONDS = 600.0
"""How long a work folder may be without a process and without a checkpoint: it is new."""

RUNNING = "running"
"""The file in a work folder that names the process at work there."""

CHECKPOINTS = "*.safetensors"

GOES_ON = "What it had learnt is saved: the same command on the same gold goes on from there."


class BusyError(ModelsError):
    """Another process is at the same training."""


@contextmanager
def work_folder(database: Path, asked: Mapping[str, object]) -> Iterator[Path]:
    """The folder for the checkpoints of a training, the same for whoever asks for the same.

    asked: all that decides what comes out, the labels' hash among it. The folder is removed
    when the training is done, and stays when it is stopped, fails or is killed, unless nobody
    could go on with what is in it. Raises BusyError where another process is at the same
    training.
    """
    models = models_folder(database)
    _forget(models)
    spelled = json.dumps(asked, sort_keys=True, default=str).encode("ascii")
    folder = models / f".work-{hashlib.sha256(spelled).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder)
    try:
        yield folder
    except BaseException as error:
        # What went astray would do so again: nothing in it is left to chance.
        if isinstance(error, DivergedError) or not _can_go_on(folder):
            _remove(folder)
        else:
            (folder / RUNNING).unlink(missing_ok=True)
            if isinstance(error, KeyboardInterrupt):
                error.add_note(GOES_ON)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _can_go_on(folder: Path) -> bool:
    return any(folder.glob(CHECKPOINTS))


def _remove(folder: Path) -> None:
    """Remove a work folder, and the one for models where nothing else is in that."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


def _claim(folder: Path) -> None:
    pid = _at_work(folder)
    if pid is not None and pid != os.getpid():
        raise BusyError(f"process {pid} is at this very training; wait for it, or stop it")
    started = processes.started(os.getpid()) or ""
    (folder / RUNNING).write_text(f"{os.getpid()} {started}", "ascii")


def _at_work(folder: Path) -> int | None:
    """The process that is at a training; None if none is."""
    with suppress(OSError, ValueError):
        pid, _, started = (folder / RUNNING).read_text("ascii").strip().partition(" ")
        if processes.alive(int(pid), started or None):
            return int(pid)
    return None


def _forget(models: Path) -> None:
    """Remove what nobody went on with for long, and what nobody can go on with."""
    for folder in models.glob(".work-*"):
        with suppress(OSError):
            age = time.time() - folder.stat().st_mtime
            empty = _at_work(folder) is None and not _can_go_on(folder)
            killed = (folder / RUNNING).exists() or age > STARTING_SECONDS
            if age > KEPT_SECONDS or (empty and killed):
                shutil.rmtree(folder, ignore_errors=True)
