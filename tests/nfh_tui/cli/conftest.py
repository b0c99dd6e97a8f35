"""The command line in a folder of its own, and ways to look at what it stored."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.formats.registry import NFH

Dump = dict[str, list[tuple[object, ...]]]


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test works in its own folder; a command that waits for its job does it itself."""
    monkeypatch.setenv("XDG_STATE_HOME", str(home.parent / "state"))
    monkeypatch.setenv("NFH_TUI_RUNNER", "here")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stood in the folder of a module's first test when the test began."""
    return tmp_path_factory.mktemp("begun") / "here"


@pytest.fixture
def once(home: Path, begun: Path) -> Callable[[Callable[[], object]], None]:
    """Fills the folder of each test with what a function made in that of the module's first."""

    def fill(make: Callable[[], object]) -> None:
        if begun.exists():
            shutil.copytree(begun, home, dirs_exist_ok=True)
        else:
            make()
            shutil.copytree(home, begun)

    return fill


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program as a process of its own."""

    def run(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "nfh_tui", *map(str, arguments)]
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            command, **({"capture_output": True, "text": True, "timeout": 120} | more)
        )

    return run


@pytest.fixture
def dump() -> Callable[[Path], Dump]:
    """Everything that a database holds, table by table."""

    def read(path: Path) -> Dump:
        connection = connect(path, "ro")
        try:
            tables = connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            ).fetchall()
            return {
                name: connection.execute(f'SELECT * FROM "{name}"').fetchall()
                for (name,) in tables
            }
        finally:
            connection.close()

    return read


@pytest.fixture
def nfh_file(home: Path) -> Callable[..., Path]:
    """Makes an `nfh` file of as many lines as asked, each of another passage."""

    def make(lines: int = 3, name: str = "rows.jsonl", **changes: object) -> Path:
        values = json.loads(NFH.example) | changes
        with (home / name).open("w", encoding="utf-8") as file:
            for index in range(lines):
                values["tokens"][-1] = f"!{index}"
                file.write(json.dumps(values) + "\n")
        return home / name

    return make


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a file system in memory with its own size; the test is skipped where it may not."""
    folder = tmp_path / "disk"
    mounted = False

    def mount(options: str) -> Path:
        nonlocal mounted
        program = shutil.which("mount")
        if program is None or os.geteuid() != 0:
            pytest.skip("needs to mount a small file system: not permitted here")
        if not mounted:
            folder.mkdir()
        action = ["-o", f"remount,{options}"] if mounted else ["-t", "tmpfs", "-o", options]
        made = subprocess.run(
            [program, *action, "tmpfs", str(folder)], capture_output=True, text=True
        )
        if made.returncode:
            pytest.skip(f"needs to mount a small file system: {made.stderr.strip()}")
        mounted = True
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
