"""What a person has stays: whatever is written beside it, whatever leads to it, by any name."""

import errno
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from nfh_db import database
from nfh_db.errors import ExportError, FullError, StoreError
from nfh_db.formats.files import write_lines, write_members
from nfh_db.store import Store
from nfh_db.system import data_folder
from nfh_models.model_files import CONFIG, ModelConfig, ModelFileError, ModelFiles, write_model
from nfh_models.spacy_component.files import (
    IDENTIFIER,
    ComponentSettings,
    ComponentState,
    write_state,
)
from nfh_models.training import checkpoints
from nfh_tui.demo import demo_database, set_aside
from nfh_tui.jobs import logs
from nfh_tui.jobs.cluster import pack, unpack
from nfh_tui.jobs.cluster_work import CheckpointOffer, Checkpoints
from nfh_tui.jobs.runner import write_whole
from nfh_tui.jobs.training import place
from nfh_tui.scanning.scan import ScanCheckpoint, ScanState
from nfh_tui.scanning.worker import ScanHandshake
from nfh_tui.services.models import models_folder
from nfh_tui.services.release import new_folder
from nfh_tui.textual_support import FILE_NAME, MOST_BYTES, note_fault
from nfh_tui.workbench import host
from tests.nfh_models.parsing.tiny_small import write_small
from tools.small_model.data import _read as read_labels

PID = os.getpid()
MINE = "a person's own"
SETTINGS = ComponentSettings(identifier="rules", resolver="cues")


def model() -> ModelFiles:
    config = ModelConfig(
        format_version=1,
        name="m",
        task="resolution",
        recipe="linear",
        version="1",
        created_at="2026-01-01",
        parser=None,
        settings={},
    )
    return ModelFiles(config, {"a": np.ones(3)}, None, {}, "# m\n")


def parcel(folder: Path) -> bytes:
    folder.mkdir()
    (folder / "a.bin").write_bytes(b"a")
    return pack(folder)


def checkpoint() -> checkpoints.Checkpoint:
    about = checkpoints.Identity({}, "digest")
    return checkpoints.Checkpoint(about, checkpoints.TrainingProgress(), {"a": torch.zeros(2)})


def keep(folder: Path) -> None:
    with new_folder(folder / "out"):
        pass


WRITERS: Mapping[str, Callable[[Path], object]] = {
    "a job's file": lambda at: write_whole(at / "out", b"new"),
    "a model": lambda at: write_model(at / "out", model()),
    "a parcel": lambda at: unpack(parcel(at.parent / "sent"), at / "out"),
    "a checkpoint": lambda at: checkpoints.write(at / "out", checkpoint()),
    "a file": lambda at: write_lines(at / "out", ["new\n"]),
    "a folder": lambda at: write_members(at / "out", [("a", b"new")]),
    "a release": keep,
    "a copied item": lambda at: host._write(at / "out", "new"),
}
IN_THE_WAY = (f".out.{PID}.new", f"out.{PID}.new", ".out.new", "out.part", "out.tmp", "out.new")


@pytest.mark.parametrize("what", ["file", "folder", "link"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_has_a_passing_name_stays(writer: str, what: str, tmp_path: Path) -> None:
    at, other = tmp_path / "at", tmp_path / "other"
    at.mkdir()
    other.write_text(MINE)
    for name in IN_THE_WAY:
        if what == "file":
            (at / name).write_text(MINE)
        elif what == "folder":
            (at / name).mkdir()
            (at / name / "notes").write_text(MINE)
        else:
            (at / name).symlink_to(other)
    WRITERS[writer](at)
    assert (at / "out").exists()
    assert sorted(path.name for path in at.iterdir()) == sorted([*IN_THE_WAY, "out"])
    for name in IN_THE_WAY:
        held = at / name / "notes" if what == "folder" else at / name
        assert held.read_text() == MINE
        assert held.is_symlink() is (what == "link")
    assert other.read_text() == MINE


NEVER_OVER = {name: WRITERS[name] for name in ("a model", "a parcel", "a folder", "a release")}


@pytest.mark.parametrize("writer", NEVER_OVER)
def test_what_has_the_name_itself_stays(writer: str, tmp_path: Path) -> None:
    at, other = tmp_path / "at", tmp_path / "other"
    for folder in (at / "out", other):
        folder.mkdir(parents=True)
        (folder / "notes").write_text(MINE)
    with pytest.raises((ModelFileError, ExportError, OSError)):
        NEVER_OVER[writer](at)
    assert [path.name for path in at.iterdir()] == ["out"]
    assert (at / "out" / "notes").read_text() == MINE


def test_a_copied_item_has_a_name_of_its_own(tmp_path: Path) -> None:
    wanted, other = tmp_path / "item.txt", tmp_path / "other"
    wanted.write_text(MINE)
    other.write_text(MINE)
    (tmp_path / "item-2.txt").symlink_to(other)
    (tmp_path / "item-3.txt").symlink_to(tmp_path / "nothing")
    assert host._write(wanted, "new") == tmp_path / "item-4.txt"
    assert (tmp_path / "item-4.txt").read_text() == "new"
    assert (wanted.read_text(), other.read_text()) == (MINE, MINE)
    assert not (tmp_path / "nothing").exists()


def test_a_file_that_a_link_leads_to_is_replaced_as_asked_and_the_link_stays(
    tmp_path: Path,
) -> None:
    """The one case in which a link is followed: a file that the command names."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write_lines(link, ["new\n"])
    assert link.is_symlink()
    assert real.read_text() == "new\n"


# --- models ---------------------------------------------------------------------------------


def test_a_model_is_put_in_place_beside_what_a_person_has_there(tmp_path: Path) -> None:
    made, home = write_small(tmp_path / "made", recipe="encoder"), tmp_path / "home"
    home.mkdir()
    with Store.open(tmp_path / "w.db", create=True) as store:
        theirs = [
            models_folder(store.path) / name
            for name in (f".encoder-1.{PID}.new", ".thesis.4194305.new", "encoder-7")
        ]
        for folder in theirs:
            folder.mkdir(parents=True)
            (folder / "notes").write_text(MINE)
        with place(store, home, made, "encoder") as (folder, _):
            assert folder.name == "encoder-8"
        assert sorted(models_folder(store.path).iterdir()) == sorted([*theirs, folder])
    assert [(folder / "notes").read_text() for folder in theirs] == [MINE] * 3


@pytest.mark.parametrize("name", ["../mine", "/../mine", "./../mine", "a/../../mine", ".mine"])
def test_another_machine_names_no_file_outside_a_trainings_folder(
    name: str, tmp_path: Path
) -> None:
    work, mine = tmp_path / "work", tmp_path / "mine"
    for folder in (work, work / ".a"):
        folder.mkdir()
    mine.write_text(MINE)

    class Worker:
        def ask(self, _worker: str, what: Callable[..., bytes], *_: object) -> bytes:
            offered = what.__name__ == "offer"
            return msgspec.json.encode(CheckpointOffer("1", {name: 3})) if offered else b"new"

    found = Checkpoints(Worker(), "run", work)  # type: ignore[arg-type]
    found._fetch("worker")
    assert found.fetched == 0
    assert mine.read_text() == MINE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "work"]
    assert [path.name for path in work.iterdir()] == [".a"]


def test_a_component_takes_the_place_of_a_component_only(tmp_path: Path) -> None:
    folder = tmp_path / "nfh"
    write_state(folder, ComponentState(SETTINGS, {CONFIG: b"old", "card.md": b"old"}, {}))
    write_state(folder, ComponentState(SETTINGS, {CONFIG: b"new"}, {}))
    assert [path.name for path in (folder / IDENTIFIER).iterdir()] == [CONFIG]
    (folder / IDENTIFIER / "notes.txt").write_text(MINE)
    with pytest.raises(ModelFileError, match=r"holds notes\.txt, which is not of a model"):
        write_state(folder, ComponentState(SETTINGS, {}, {}))
    assert (folder / IDENTIFIER / CONFIG).read_bytes() == b"new"
    assert (folder / IDENTIFIER / "notes.txt").read_text() == MINE


def test_a_component_is_written_through_no_link(tmp_path: Path) -> None:
    folder, mine, theirs = tmp_path / "nfh", tmp_path / "mine", tmp_path / "theirs"
    mine.write_text(MINE)
    theirs.mkdir()
    (theirs / CONFIG).write_text(MINE)
    folder.mkdir()
    (folder / "cfg").symlink_to(mine)
    (folder / "resolver").symlink_to(theirs)
    with pytest.raises(ModelFileError, match="resolver is a link"):
        write_state(folder, ComponentState(SETTINGS, {}, {"card.md": b"new"}))
    (folder / "resolver").unlink()
    (folder / IDENTIFIER).mkdir()
    (folder / IDENTIFIER / CONFIG).symlink_to(mine)
    write_state(folder, ComponentState(SETTINGS, {CONFIG: b"new"}, {}))
    assert mine.read_text() == (theirs / CONFIG).read_text() == MINE
    assert (folder / IDENTIFIER / CONFIG).read_bytes() == b"new"


def test_a_file_that_is_no_label_stays_among_labels(tmp_path: Path) -> None:
    mine = tmp_path / "mine.npz"
    mine.write_text(MINE)
    assert not read_labels(tmp_path, {}).soft
    assert mine.read_text() == MINE


# --- databases ------------------------------------------------------------------------------


def test_a_backup_takes_no_name_where_there_are_no_second_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on FAT: the name is looked at, and somebody takes it before it is given."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    source, place = tmp_path / "w.db", tmp_path / "copy.db"
    Store.open(source, create=True).close()
    monkeypatch.setattr(os, "link", no_links)
    database.back_up(source, tmp_path / "first.db")
    place.write_text(MINE)
    monkeypatch.setattr(os.path, "lexists", lambda _: False)
    with pytest.raises(StoreError, match="already exists"):
        database.back_up(source, place)
    assert place.read_text() == MINE
    assert sorted(one.name for one in tmp_path.glob("*.db")) == [
        *("copy.db", "first.db", "w.db")
    ]


@pytest.mark.parametrize("end", ["-wal", "-journal"])
@pytest.mark.parametrize("linked", [False, True])
def test_the_log_of_a_database_that_is_gone_is_not_dropped_for_a_new_one(
    tmp_path: Path, end: str, *, linked: bool
) -> None:
    real = tmp_path / "w.db"
    path = tmp_path / "link.db" if linked else real
    if linked:
        path.symlink_to(real)
    log = tmp_path / f"w.db{end}"
    log.write_text(MINE)
    with pytest.raises(StoreError, match="may hold the last changes"):
        Store.open(path, create=True)
    assert log.read_text() == MINE
    assert not real.exists()
    log.unlink()
    Store.open(path, create=True).close()
    assert real.is_file()


def test_a_link_to_no_database_stays_where_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "w.db")

    def fails(*_: object) -> None:
        raise FullError("it cannot be made")

    monkeypatch.setattr("nfh_db.database._upgrade", fails)
    with pytest.raises(StoreError, match="cannot be made"):
        Store.open(link, create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["link.db"]


def test_a_demo_is_set_aside_under_a_name_that_nothing_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Stopped":
            return cls(2026, 1, 2, 3, 4, 5, tzinfo=tz)

    monkeypatch.setattr("nfh_tui.demo.datetime", Stopped)
    path = demo_database()
    path.parent.mkdir(parents=True)
    path.write_text("a demo")
    path.with_name("demo.db-wal").write_text("its log")
    first = path.with_name("demo-20260102T030405.db")
    log = first.with_name(f"{first.name}-wal")
    log.write_text(MINE)
    (link := path.with_name("demo-20260102T030405-2.db")).symlink_to("nothing")
    kept = set_aside(path)
    assert kept == path.with_name("demo-20260102T030405-3.db")
    assert log.read_text() == MINE
    assert link.is_symlink()
    assert kept.with_name(f"{kept.name}-wal").read_text() == "its log"


# --- the program's own folders --------------------------------------------------------------


def test_logs_are_written_through_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    mine = tmp_path / "mine"
    mine.write_text(MINE)
    log = logs.log_folder() / "runner.log"
    log.parent.mkdir(parents=True)
    log.symlink_to(mine)
    monkeypatch.setattr(logs, "LARGEST", 1)
    path = logs.log_path(log.name)
    os.close(logs.open_private(path))
    assert path != log
    (data_folder()).mkdir(parents=True)
    faults = data_folder() / FILE_NAME
    faults.symlink_to(mine)
    mine.write_text(MINE * MOST_BYTES)
    note_fault(RuntimeError("a fault"))
    assert mine.read_text() == MINE * MOST_BYTES
    faults.unlink()
    note_fault(RuntimeError("a fault"))
    assert "a fault" in faults.read_text()


def test_a_journal_is_written_over_nothing_else(tmp_path: Path) -> None:
    by = ScanHandshake("rules", "1", None, None, "words", "1")
    journal = ScanCheckpoint(tmp_path, "a.txt", "content", per_line=False, handshake=by)
    mine = journal.path.with_name(f"{journal.path.name}.{PID}.new")
    mine.write_text(MINE)
    journal.save(ScanState(index=3))
    assert mine.read_text() == MINE
    found = journal.load()
    assert found is not None and found.index == 3
