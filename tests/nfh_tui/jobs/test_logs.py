"""Where child processes write what they have to say."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from nfh_tui.jobs import logs
from nfh_tui.jobs.logs import log_folder, log_path


def test_the_folder_of_each_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    local = Path("/home/me/.local/state/nfh-tui")
    assert log_folder({}, "linux") == local
    assert log_folder({"XDG_STATE_HOME": "relative"}, "linux") == local
    assert log_folder({"XDG_STATE_HOME": "/states"}, "darwin") == Path("/states/nfh-tui")
    assert log_folder({}, "darwin") == Path("/home/me/Library/Logs/nfh-tui")
    assert log_folder({}, "win32") == Path("/home/me/AppData/Local/nfh-tui")
    assert log_folder({"LOCALAPPDATA": "/appdata"}, "win32") == Path("/appdata/nfh-tui")


def test_a_log_is_kept_until_it_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = log_path("a.log")
    assert path == tmp_path / "nfh-tui" / "a.log"
    path.write_bytes(b"x" * logs.LARGEST)
    assert log_path("a.log").stat().st_size == logs.LARGEST
    path.write_bytes(b"x" * (logs.LARGEST + 1))
    assert log_path("a.log").stat().st_size == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_nobody_else_may_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = os.umask(0o022)
    try:
        path = log_path("a.log")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.chmod(0o644)
        assert stat.S_IMODE(log_path("a.log").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tmp_path / "file"
    taken.touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(taken))
    path = log_path("a.log")
    assert path.name == "a.log"
    assert path.parent.parent == Path(tempfile.gettempdir())
    assert log_path("a.log") == path
