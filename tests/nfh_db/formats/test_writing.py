"""Files are written whole or not at all. Full and read-only disks: see tests/nfh_tui/cli."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfh_db.errors import ExportError
from nfh_db.formats.files import write_lines, write_members
from nfh_db.system import path_beside


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_the_lines_are_written_and_counted(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert write_lines(out, ["é\n", "two\r\n"]) == 2
    assert out.read_bytes() == "é\ntwo\r\n".encode()
    assert names(tmp_path) == ["out.jsonl"]


def failing() -> Iterator[str]:
    yield "new\n" * 1_000_000
    raise RuntimeError("the reader broke")


def test_the_old_file_stands_until_the_new_one_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old\n")
    with pytest.raises(RuntimeError, match="the reader broke"):
        write_lines(out, failing())
    assert out.read_text() == "old\n"
    assert names(tmp_path) == ["out.jsonl"]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_failure_at_the_very_end_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old\n")

    def fail(*args: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, moment, fail)
    with pytest.raises(
        ExportError,
        match=r"cannot be written: Input/output error\. The file that was there is unch",
    ):
        write_lines(out, ["new\n"])
    monkeypatch.undo()
    assert out.read_text() == "old\n"
    assert names(tmp_path) == ["out.jsonl"]


def test_the_mode_of_the_old_file_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old\n")
    out.chmod(0o640)
    write_lines(out, ["new\n"])
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_that_files_have_here(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_lines(tmp_path / "out.jsonl", ["new\n"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o640


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "out.jsonl"
    target.write_text("old\n")
    link = tmp_path / "link.jsonl"
    link.symlink_to(target)
    write_lines(link, ["new\n"])
    assert link.is_symlink()
    assert target.read_text() == "new\n"


@pytest.mark.parametrize("name", ["loop", "loop.zip"])
def test_a_link_that_leads_to_itself_stays(tmp_path: Path, name: str) -> None:
    loop = tmp_path / name
    loop.symlink_to(name)
    with pytest.raises(ExportError, match=f"{name}: is a link that leads to itself; name a"):
        write_lines(loop, ["new\n"])
    with pytest.raises(ExportError, match=f"{name}: is a link"):
        write_members(loop, [("a", b"new")])
    assert loop.is_symlink()
    assert names(tmp_path) == [name]


def test_a_folder_is_not_written_in_the_place_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for to in ("empty", "nothing"):
        link = tmp_path / f"to {to}"
        link.symlink_to(to)
        with pytest.raises(ExportError, match=f"{link.name}: is a link; name the folder"):
            write_members(link, [("a", b"new")])
    assert names(tmp_path / "empty") == []
    assert sorted(names(tmp_path)) == ["empty", "to empty", "to nothing"]


def test_a_longest_possible_name_can_be_written(tmp_path: Path) -> None:
    out = tmp_path / ("x" * 255)
    assert write_lines(out, ["new\n"]) == 1
    assert out.read_text() == "new\n"


def test_what_is_no_regular_file_is_written_to_as_it_is() -> None:
    assert write_lines(Path(os.devnull), ["gone\n"]) == 1
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is a folder; wanted the name of a file"),
        (
            "none/out.jsonl",
            "cannot be written: there is no such folder; make it first. Not",
        ),
        ("file/out.jsonl", "cannot be written: there is no such folder; make it first"),
    ],
)
def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "file").write_text("a file, no folder")
    with pytest.raises(ExportError, match=message):
        write_lines(tmp_path / name, ["new\n"])
    assert names(tmp_path) == ["file"]


LEAVE = """
import sys
from pathlib import Path
from nfh_db.system import path_beside
for ending in ("tmp", "partial"):
    path_beside(Path(sys.argv[1]) / "x", ending).touch()
"""


def test_what_a_killed_process_left_beside_is_removed_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-P", "-c", LEAVE, str(tmp_path)], check=True)
    at_work = path_beside(tmp_path / "x", "tmp")
    of_others = tmp_path / ".nfh-tui-notes.tmp"
    for path in (at_work, of_others):
        path.touch()
    assert len(names(tmp_path)) == 4
    write_lines(tmp_path / "out.jsonl", ["new\n"])
    assert sorted(names(tmp_path)) == sorted([at_work.name, of_others.name, "out.jsonl"])


def test_another_machines_files_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("platform.node", lambda: "elsewhere")
        elsewhere.setattr(os, "getpid", lambda: 2**22 + 1)  # no process has such a number
        there = path_beside(tmp_path / "x", "tmp")
    there.touch()
    write_lines(tmp_path / "out.jsonl", ["new\n"])
    assert there.exists()
