"""Where the database and the data folder are."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db import system
from nfh_tui import config


@pytest.fixture
def me(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    return Path("/home/me")


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", "/home/me/.local/share/nfh-tui"),
        ({"XDG_DATA_HOME": "/data"}, "linux", "/data/nfh-tui"),
        ({"XDG_DATA_HOME": ""}, "linux", "/home/me/.local/share/nfh-tui"),
        ({"XDG_DATA_HOME": "relative"}, "linux", "/home/me/.local/share/nfh-tui"),
        ({}, "darwin", "/home/me/Library/Application Support/nfh-tui"),
        ({"XDG_DATA_HOME": "/data"}, "darwin", "/data/nfh-tui"),
        ({}, "win32", "/home/me/AppData/Local/nfh-tui"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/nfh-tui"),
    ],
)
def test_the_data_folder_is_the_systems_own(
    me: Path, environment: dict[str, str], platform: str, expected: str
) -> None:
    assert system.data_folder(environment, platform) == Path(expected)


def test_option_then_variable_then_here_then_the_users_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "data" / "nfh-tui" / "nfh.db"
    assert config.database(None) == own
    (home / "nfh.db").touch()
    assert config.database(None).resolve() == home / "nfh.db"
    monkeypatch.setenv("NFH_TUI_DB", "/variable.db")
    assert config.database(None) == Path("/variable.db")
    assert config.database(Path("given.db")) == Path("given.db")
    monkeypatch.setenv("NFH_TUI_DB", "")
    assert config.database(None).resolve() == home / "nfh.db"


def test_only_the_users_own_folder_is_made(home: Path, tmp_path: Path) -> None:
    config.make_folder_for(config.database(None))
    assert (tmp_path / "data" / "nfh-tui").is_dir()
    config.make_folder_for(home / "other" / "x.db")
    assert not (home / "other").exists()


def test_a_user_without_a_home_is_told_what_to_do(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.delenv("XDG_DATA_HOME")
    result = call("export", "--format", "gold")
    assert result.exit_code == 1
    assert result.stderr.startswith("nfh-tui: you have no home folder")
    assert "--db" in result.stderr
