"""What a cluster is asked and told: parcels, versions, and how far a training is."""

from pathlib import Path

import msgspec
import pytest
from distributed import LocalCluster

from nfh_models.domain import Anchor
from nfh_models.resolution.base import Item
from nfh_tui.jobs import cluster as machines
from nfh_tui.jobs.cluster import TransferError, Versions, own_versions, pack, unpack
from nfh_tui.jobs.cluster_work import (
    Reporter,
    UnwantedError,
    pack_items,
    train_model_at,
    unpack_items,
)
from nfh_tui.jobs.reporting import Phase
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.scanning.worker import WorkerPoolError
from tests.nfh_models.encoder.handmade import item

from .conftest import Told, slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    (made / "below").mkdir(parents=True)
    (made / "a.bin").write_bytes(bytes(range(256)))
    (made / "below" / "b.json").write_text("{}")
    (made / ".hidden").write_text("no")
    return made


def test_a_folder_comes_as_it_went(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    unpack(pack(folder), other)
    files = {path.relative_to(other).as_posix() for path in other.rglob("*") if path.is_file()}
    assert files == {"a.bin", "below/b.json"}
    assert (other / "a.bin").read_bytes() == bytes(range(256))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "other"]


def test_a_parcel_that_was_changed_on_the_way_is_refused(folder: Path, tmp_path: Path) -> None:
    parcel = pack(folder)
    place = parcel.index(bytes(range(256))) + 7
    for damaged in (parcel[:-1], b"", parcel[:place] + b"?" + parcel[place + 1 :]):
        with pytest.raises(TransferError, match="arrived damaged"):
            unpack(damaged, tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "", ".", "a\\b", "c:a", ".a"])
def test_a_parcel_writes_nowhere_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfh_tui.jobs.cluster._digest", lambda _: "0")
    parcel = msgspec.msgpack.encode({"files": {name: b"x"}, "digest": "0"})
    with pytest.raises(TransferError, match="cannot be the name"):
        unpack(parcel, tmp_path / "other")
    assert not list(tmp_path.iterdir())


def test_a_link_is_not_sent(folder: Path) -> None:
    (folder / "link").symlink_to("a.bin")
    with pytest.raises(TransferError, match="is a link"):
        pack(folder)


def test_items_come_as_they_went() -> None:
    one, other = item("A: I have [ two ] dogs .", "B: six ."), item("C: [ six ] ?")
    sent = [one, Item(one.passage, Anchor(5, 6)), other]
    assert unpack_items(pack_items(sent)) == sent


def test_another_version_of_the_program_is_not_used(
    cluster: LocalCluster,
    snapshot: Snapshot,
    work: Path,
    out: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machines, "own_versions", lambda: Versions("9.9", {}))
    with pytest.raises(WorkerPoolError, match=r"no worker of tcp.* has nfh-tui .*, not 9\.9"):
        train_model_at(cluster.scheduler_address, snapshot, slow(), work, out, told.append)
    assert not told.losses


def test_another_version_of_a_library_is_said(
    cluster: LocalCluster,
    snapshot: Snapshot,
    work: Path,
    out: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = own_versions()
    other = Versions(ours.program, ours.libraries | {"numpy": "0.1"})
    monkeypatch.setattr(machines, "own_versions", lambda: other)
    made = train_model_at(cluster.scheduler_address, snapshot, slow(), work, out, told.append)
    assert any("numpy is " in note and "0.1 here" in note for note in made.notes)
    assert any(phase.startswith("warning: numpy is") for phase in told.phases)


def test_steps_are_thinned_but_for_those_that_make_a_curve() -> None:
    sent: list[dict[str, object]] = []
    tell = Reporter(lambda: True, sent.append, clock=lambda: 0.0)
    for step in range(3000):
        tell(Phase("training", step, 3000, {"loss": 1.0}))
    tell(Phase("judging", 3000, 3000, {"loss": 1.0, "accuracy": 0.5}))
    assert 250 < len(sent) < 350
    assert sent[-1]["metrics"] == {"loss": 1.0, "accuracy": 0.5}


def test_a_step_that_nobody_waits_for_is_the_last() -> None:
    with pytest.raises(UnwantedError):
        Reporter(lambda: False, lambda _: None)(Phase("training"))
