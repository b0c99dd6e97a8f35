"""Full disks and folders that cannot be written, on small disks in memory."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.errors import BusyError, FullError
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Makes small disks; tests run as root, whom permissions do not stop."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("needs the command `mount`")
        if done.returncode != 0:
            pytest.skip(f"needs leave to mount a disk in memory: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def make_read_only(place: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)


def fill(place: Path) -> Path:
    """Leave no room at all."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    return filler


def test_a_full_disk_refuses_an_answer_and_keeps_the_rest(disk, kit) -> None:
    place = disk("size=3m")
    with Store.open(place / "nfh.db", create=True) as store:
        kit.load(store, kit.one("one", 0))
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        filler = fill(place)
        long = class_answer(Kind.YEAR, comment="long " * 20_000)
        with pytest.raises(FullError, match="is full"):
            for _ in range(100):
                store.edits.commit_answer(1, eva, Role.ANNOTATOR, long)
        before = store.history.of_anchor(1)
        item = store.items.read(1, eva, Role.ANNOTATOR)
        assert item is not None
        with pytest.raises(FullError, match=r"nfh\.db.*is full.*make room and try again"):
            store.edits.commit_answer(1, eva, Role.ANNOTATOR, long)
        assert store.history.of_anchor(1) == before
        assert store.items.read(1, eva, Role.ANNOTATOR) == item
        filler.unlink()
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.TIME))
    with Store.open(place / "nfh.db") as store:
        item = store.items.read(1, eva, Role.ANNOTATOR)
        assert item is not None
        assert item.votes[0].answer.kind is Kind.TIME


def test_an_import_that_does_not_fit_leaves_nothing(disk, kit) -> None:
    place = disk("size=3m")
    with Store.open(place / "nfh.db", create=True) as store:
        kit.load(store, kit.one("one", 0))
        rows = [kit.one(f"one {i} " + "word " * 300, 0, line=i) for i in range(3_000)]
        with pytest.raises(FullError, match="is full"):
            kit.load(store, *rows)
        eva = store.people.all()
        assert eva == ()
        assert len(list(store.items.records(parse(""), None, "gold"))) == 1
    with Store.open(place / "nfh.db") as store:
        assert len(list(store.items.records(parse(""), None, "gold"))) == 1
        report = kit.load(store, kit.one("one two", 0))
        assert report.anchors_new == 1


def test_no_room_for_a_new_database(disk) -> None:
    place = disk("size=64k")
    fill(place)
    with pytest.raises(FullError, match="is full"):
        Store.open(place / "nfh.db", create=True)
    assert [entry.name for entry in place.iterdir()] == ["filler"]


def test_a_read_only_disk(disk) -> None:
    place = disk("size=3m")
    Store.open(place / "nfh.db", create=True).close()
    make_read_only(place)
    with pytest.raises(FullError, match=r"nfh\.db cannot be written.*read-only"):
        Store.open(place / "nfh.db")
    with pytest.raises(FullError, match=r"new\.db cannot be written.*read-only"):
        Store.open(place / "new.db", create=True)
    assert [entry.name for entry in place.iterdir()] == ["nfh.db"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and read everything")
def test_a_file_that_is_not_ones_own(path: Path) -> None:
    Store.open(path, create=True).close()
    path.chmod(0o400)
    with pytest.raises(FullError, match="cannot be written"):
        Store.open(path)
    path.chmod(0)
    with pytest.raises(FullError, match="cannot be read"):
        Store.open(path)


def test_a_database_that_somebody_holds(
    path: Path, store: Store, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nfh_db import connection

    kit.load(store, kit.one("one", 0))
    eva = store.people.ensure("eva")
    monkeypatch.setattr(connection, "WAIT_SECONDS", 0.05)
    holder = connection.connect(path, "rw")
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match=r"nfh\.db is locked by another program"):
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    assert store.items.read(1, eva, Role.ANNOTATOR) is not None
    holder.execute("ROLLBACK")
    holder.close()
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
