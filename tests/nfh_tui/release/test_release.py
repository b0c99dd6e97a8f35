"""`nfh-tui release`: what is in the folder, that it is whole, and the same each time."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import ExportError
from nfh_db.store import Store
from nfh_db.system import path_beside
from nfh_tui.services.release import FileNames, new_folder
from tests.nfh_tui.release.conftest import gold_lines


def everything(folder: Path) -> dict[str, bytes]:
    """Each file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_it_holds_what_an_export_of_the_decided_writes(
    sample: Path, call: Callable[..., Result], frozen: Callable[..., Path], home: Path
) -> None:
    folder = frozen("one", sample)
    for format_ in ("gold", "nfh"):
        out = home / f"{format_}.jsonl"
        assert (
            call("export", "state:decided", "--format", format_, "--out", out, "--db", sample)
        ).exit_code == 0
        assert (folder / f"unsplit.{format_}.jsonl").read_bytes() == out.read_bytes()
    assert sorted(everything(folder)) == [
        "DATASHEET.md",
        "SHA256SUMS",
        "guidelines-v1.md",
        "unsplit.gold.jsonl",
        "unsplit.nfh.jsonl",
    ]


def test_the_same_database_gives_the_same_bytes(
    hostile: Path, frozen: Callable[..., Path], home: Path
) -> None:
    copy = home / "copy.db"
    shutil.copyfile(hostile, copy)
    first = everything(frozen("one", hostile))
    assert first == everything(frozen("another name", hostile)) == everything(frozen("c", copy))


def test_the_sums_are_those_that_sha256sum_checks(
    hostile: Path, frozen: Callable[..., Path]
) -> None:
    folder = frozen("one", hostile)
    wanted = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in everything(folder).items()
        if name != "SHA256SUMS"
    ]
    assert (folder / "SHA256SUMS").read_text("ascii") == "".join(wanted)
    program = shutil.which("sha256sum")
    if program is None:
        pytest.skip("needs the program sha256sum")
    done = subprocess.run([program, "-c", "SHA256SUMS"], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_each_split_has_files_of_its_own(hostile: Path, frozen: Callable[..., Path]) -> None:
    folder = frozen("one", hostile)
    splits = {line["split"] for line in gold_lines(folder)}
    assert {"train", "dev", "test", None} <= splits
    for name in ("train", "dev", "test"):
        lines = (folder / f"{name}.gold.jsonl").read_text("utf-8").split("\n")[:-1]
        assert {json.loads(line)["split"] for line in lines} == {name}
    assert all(line["kind"] is not None for line in gold_lines(folder))


def test_a_query_says_what_is_frozen(sample: Path, frozen: Callable[..., Path]) -> None:
    folder = frozen("one", sample, "class:AGE", "-rule:majority")
    found = gold_lines(folder)
    assert {line["kind"] for line in found} == {"AGE"}
    assert "majority" not in {line["rule"] for line in found}
    assert "\n    class:AGE -rule:majority\n" in (folder / "DATASHEET.md").read_text("utf-8")


def test_a_folder_that_is_there_is_left_alone(
    sample: Path, call: Callable[..., Result], home: Path
) -> None:
    for name in ("folder", "file"):
        place = home / name
        place.mkdir() if name == "folder" else place.write_text("mine", "utf-8")
        result = call("release", place, "--db", sample)
        assert result.exit_code == 1
        assert "already exists" in result.output
    assert (home / "file").read_text("utf-8") == "mine"
    assert not any((home / "folder").iterdir())


def test_a_place_that_cannot_be_is_refused(
    sample: Path, call: Callable[..., Result], home: Path
) -> None:
    result = call("release", home / "no" / "one", "--db", sample)
    assert result.exit_code == 1
    assert "there is no such folder" in result.output


def test_where_nothing_is_decided_nothing_is_left_behind(
    sample: Path, call: Callable[..., Result], home: Path
) -> None:
    before = set(home.iterdir())
    result = call("release", home / "one", "class:AGE", "state:open", "--db", sample)
    assert result.exit_code == 1
    assert "is decided, so there is nothing" in result.output
    assert set(home.iterdir()) == before


def test_a_failure_on_the_way_leaves_nothing(home: Path) -> None:
    with pytest.raises(KeyboardInterrupt), new_folder(home / "one") as folder:
        folder.append("a", b"x\n")
        raise KeyboardInterrupt
    with pytest.raises(ExportError, match="disk is full"), new_folder(home / "one") as folder:
        folder.append("a", b"x\n")
        raise OSError(28, "No space left on device")
    assert not any(home.iterdir())


def test_what_a_killed_release_left_is_swept_away(home: Path) -> None:
    left = path_beside(home / "one", "tmp")
    parts = left.name.split("-")
    parts[3] = "999999999"
    dead = home / "-".join(parts)
    dead.mkdir()
    (dead / "train.gold.jsonl").write_text("half", "utf-8")
    with new_folder(home / "one") as folder:
        folder.append("a", b"x\n")
    assert [path.name for path in home.iterdir()] == ["one"]


def test_more_splits_than_files_can_be_open(home: Path) -> None:
    with new_folder(home / "one") as folder:
        for _ in range(2):
            for split in range(100):
                folder.append(f"s{split}.gold.jsonl", b"line\n")
    assert all(path.read_bytes() == b"line\n" * 2 for path in (home / "one").iterdir())


def test_names_of_splits_never_leave_the_folder() -> None:
    names = FileNames()
    assert names.stem("dev") == "dev"
    assert names.stem("../x") == "%2E.%2Fx"
    assert names.stem("a b\n") == "a%20b%0A"
    assert names.stem(None) == "unsplit"
    for split in ("unsplit", "DEV", "x" * 201):
        with pytest.raises(ExportError):
            names.stem(split)


def test_it_is_of_one_moment(sample: Path) -> None:
    """What somebody decides meanwhile is in no part of it."""
    from nfh_db.query import parse
    from nfh_db.records import Role
    from nfh_models.domain import Kind, class_answer

    with Store.open(sample) as store, store.items.frozen() as held:
        decided = sum(one.gold is not None for one in held.ballots(parse("")))
        me = store.people.ensure("eva")
        for chunk in store.queue.ids(parse("state:disagree"), me):
            store.edits.commit_answer(chunk[0], me, Role.ADJUDICATOR, class_answer(Kind.AGE))
        assert sum(one.gold is not None for one in held.ballots(parse(""))) == decided
        with store.items.frozen() as now:
            assert sum(one.gold is not None for one in now.ballots(parse(""))) > decided


def test_the_report_for_programs(sample: Path, call: Callable[..., Result], home: Path) -> None:
    result = call("release", home / "one", "--db", sample, "--json")
    assert json.loads(result.stdout) == {
        "folder": str(home / "one"),
        "items": 124,
        "passages": 108,
        "splits": {"": 124},
        "files": {"unsplit.gold.jsonl": 124, "unsplit.nfh.jsonl": 112},
        "left_out": {"answered": 10, "disagree": 40},
        "pseudonyms": False,
        "stale_gold": 0,
    }
