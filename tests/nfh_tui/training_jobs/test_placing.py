"""The way of a model to its place, of two processes that each take the job for theirs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from nfh_db import system
from nfh_db.store import Store
from nfh_models.model_files import CONFIG, digest_of
from nfh_tui.jobs.training import NOTE, place
from nfh_tui.services.models import models_folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Another process."""
    found = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield found
    found.kill()
    found.wait()


def by(home: Path, pid: int, started: str | None) -> None:
    """Let a note be another process'."""
    own = home / NOTE.format(pid=os.getpid())
    note = msgspec.json.decode(own.read_bytes()) | {"pid": pid, "started": started}
    own.unlink()
    (home / NOTE.format(pid=pid)).write_bytes(msgspec.json.encode(note))


def test_what_a_living_process_is_about_to_register_stays_and_a_dead_ones_goes(
    store: Store, base: Path, home: Path, other: subprocess.Popen[bytes]
) -> None:
    with place(store, home, base, "encoder") as (theirs, _):
        by(home, other.pid, system.started(other.pid))
        with place(store, home, base, "encoder") as (mine, _):
            assert theirs.name != mine.name
            assert theirs.is_dir()
        assert theirs.is_dir()
        other.kill()
        other.wait()
        with place(store, home, base, "encoder") as (third, _):
            # This process has come back to its own, too.
            assert list(models_folder(store.path).iterdir()) == [third]


def test_a_folder_of_that_name_that_is_another_model_stays(
    store: Store, base: Path, home: Path
) -> None:
    with place(store, home, base, "encoder") as (folder, digest):
        assert digest_of(folder) == digest
        config = (folder / CONFIG).read_text("utf-8")
        (folder / CONFIG).write_text(config.replace('"recipe"', '"recipe" '), "utf-8")
        changed = digest_of(folder)
        by(home, 2**31 - 1, "gone")
        with place(store, home, base, "encoder") as (mine, _):
            assert mine != folder
            assert digest_of(folder) == changed != digest
    assert sorted(path.name for path in models_folder(store.path).iterdir()) == sorted(
        [folder.name, mine.name]
    )
