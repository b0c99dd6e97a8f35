"""Full and read-only disks: a sentence, and everything as it was."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]
Make = Callable[..., Path]
Dump = Callable[[Path], dict[str, list[tuple[object, ...]]]]
Disk = Callable[[str], Path]


@pytest.fixture
def source(call: Call, nfh_file: Make, home: Path) -> Path:
    """A database with 1,200 rows, more than half a megabyte of them."""
    assert call("import", nfh_file(1200), "--db", "source.db").exit_code == 0
    return home / "source.db"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_export_to_a_full_disk_leaves_the_old_file(
    call: Call, source: Path, small_disk: Disk
) -> None:
    disk = small_disk("size=256k")
    out = disk / "out.jsonl"
    out.write_text("old\n")
    result = call("export", "--format", "gold", "--db", source, "--out", out, "--json")
    assert result.exit_code == 1
    assert f"nfh-tui: {out}: cannot be written: the disk is full; make room" in result.stderr
    assert "The file that was there is unchanged." in result.stderr
    assert result.stdout == ""
    assert out.read_text() == "old\n"
    assert names(disk) == ["out.jsonl"]


@pytest.mark.long
def test_an_export_to_a_read_only_disk_leaves_the_old_file(
    call: Call, source: Path, small_disk: Disk
) -> None:
    disk = small_disk("size=256k")
    out = disk / "out.jsonl"
    out.write_text("old\n")
    small_disk("ro")
    result = call("export", "--format", "nfh", "--db", source, "--out", out)
    assert result.exit_code == 1
    assert "cannot be written: the file system is read-only; name another" in result.stderr
    assert out.read_text() == "old\n"
    assert names(disk) == ["out.jsonl"]


@pytest.mark.long
def test_an_import_on_a_full_disk_leaves_nothing_and_works_once_there_is_room(
    call: Call, nfh_file: Make, small_disk: Disk, dump: Dump
) -> None:
    disk = small_disk("size=2m")
    database = disk / "x.db"
    assert call("import", nfh_file(5, "small.jsonl"), "--db", database).exit_code == 0
    before = dump(database)
    large = nfh_file(6000, "large.jsonl")
    result = call("import", large, "--db", database, "--json")
    assert result.exit_code == 1
    assert "is full" in result.stderr
    assert json.loads(result.stdout)["ok"] is False
    small_disk("size=64m")
    exported = call("export", "--format", "nfh", "--db", database)
    assert exported.exit_code == 0
    assert len(exported.stdout.splitlines()) == 5
    assert dump(database) == before
    result = call("import", large, "--db", database, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["files"][0]["rows"] == 6000


def test_an_import_on_a_read_only_disk_changes_nothing(
    call: Call, nfh_file: Make, small_disk: Disk, dump: Dump
) -> None:
    disk = small_disk("size=8m")
    database = disk / "x.db"
    assert call("import", nfh_file(5, "small.jsonl"), "--db", database).exit_code == 0
    before = database.read_bytes()
    small_disk("ro")
    result = call("import", nfh_file(2, "more.jsonl"), "--db", database)
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
    assert database.read_bytes() == before


@pytest.mark.parametrize("command", ["init", "import"])
def test_a_new_database_in_a_read_only_folder_is_a_sentence(
    call: Call, nfh_file: Make, small_disk: Disk, command: str
) -> None:
    disk = small_disk("size=1m")
    small_disk("ro")
    files = [nfh_file(1)] if command == "import" else []
    result = call(command, *files, "--db", disk / "x.db")
    assert result.exit_code == 1
    assert str(disk / "x.db") in result.stderr
    assert "Traceback" not in result.stderr
    assert names(disk) == []


def test_a_new_database_on_a_full_disk_is_a_sentence(call: Call, small_disk: Disk) -> None:
    disk = small_disk("size=16k")
    result = call("init", "--db", disk / "x.db")
    assert result.exit_code == 1
    assert "nfh-tui: " in result.stderr
    assert str(disk / "x.db") in result.stderr
    assert result.stderr.count("\n") == 1
