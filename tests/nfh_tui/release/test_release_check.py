"""`nfh-tui release --check`: what was done to a release since is found."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the release of the module's first test is kept."""
    return tmp_path_factory.mktemp("first") / "one"


@pytest.fixture
def folder(first: Path, hostile: Path, frozen: Callable[..., Path]) -> Path:
    """A release, to be changed."""
    if not first.exists():
        shutil.copytree(frozen("one", hostile), first)
    return Path(shutil.copytree(first, hostile.with_name("one"), dirs_exist_ok=True))


def signed(folder: Path) -> None:
    """Write the sums anew, as somebody does who changes a release on purpose."""
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), "ascii")


def test_a_release_is_whole(folder: Path, call: Callable[..., Result]) -> None:
    result = call("release", folder, "--check")
    assert result.exit_code == 0, result.output
    assert result.output.endswith("whole\n")
    found = json.loads(call("release", folder, "--check", "--json").stdout)
    assert found["ok"]
    assert found["items"] == sum(
        len(path.read_bytes().split(b"\n")[:-1]) for path in folder.glob("*.gold.jsonl")
    )


@pytest.mark.parametrize("name", ["DATASHEET.md", "train.gold.jsonl", "dev.nfh.jsonl"])
def test_a_changed_file_is_found(folder: Path, call: Callable[..., Result], name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"e", b"E", 1))
    result = call("release", folder, "--check")
    assert result.exit_code == 1
    assert f"{name}: has changed" in result.output


def test_missing_and_further_files_are_found(folder: Path, call: Callable[..., Result]) -> None:
    (folder / "DATASHEET.md").unlink()
    (folder / "notes.txt").write_text("mine", "utf-8")
    result = call("release", folder, "--check")
    assert result.exit_code == 1
    assert "DATASHEET.md: is missing" in result.output
    assert "notes.txt: is not a file of this release" in result.output


def test_a_line_changed_under_new_sums_is_found(
    folder: Path, call: Callable[..., Result]
) -> None:
    path = folder / "train.gold.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"seconds":12.25', b'"seconds":13.25'))
    signed(folder)
    result = call("release", folder, "--check")
    assert result.exit_code == 1
    assert "digest" in result.output


def test_a_number_in_two_files_is_found(folder: Path, call: Callable[..., Result]) -> None:
    (folder / "again.gold.jsonl").write_bytes((folder / "dev.gold.jsonl").read_bytes())
    signed(folder)
    result = call("release", folder, "--check")
    assert result.exit_code == 1
    assert "is also in" in result.output


@pytest.mark.parametrize(
    "line", ["nonsense", f"{'0' * 64}  ../../etc/passwd", f"{'0' * 63}  DATASHEET.md"]
)
def test_sums_that_are_none_are_refused(
    folder: Path, call: Callable[..., Result], line: str
) -> None:
    (folder / "SHA256SUMS").write_text(f"{line}\n", "utf-8")
    result = call("release", folder, "--check")
    assert result.exit_code == 1
    assert "SHA256SUMS, line 1" in result.output


def test_what_is_no_release_is_refused(home: Path, call: Callable[..., Result]) -> None:
    for place in (home, home / "nothing"):
        result = call("release", place, "--check")
        assert result.exit_code == 1
        assert "is not a release" in result.output
    assert call("release", home, "class:AGE", "--check").exit_code == 2
