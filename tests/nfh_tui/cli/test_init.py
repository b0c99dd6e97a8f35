"""`nfh-tui init` and which database a command works on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect

Call = Callable[..., Result]


def test_init_makes_an_empty_database_here(call: Call, home: Path) -> None:
    result = call("init")
    assert (result.exit_code, result.output) == (0, "Made nfh.db\n")
    connection = connect(home / "nfh.db", "ro")
    assert connection.execute("SELECT count(*) FROM anchor").fetchone() == (0,)
    connection.close()


def test_init_again_leaves_what_is_there(
    call: Call, home: Path, nfh_file: Callable[..., Path], dump: Callable[[Path], object]
) -> None:
    assert call("import", nfh_file(), "--db", "nfh.db").exit_code == 0
    before = dump(home / "nfh.db")
    result = call("init", "--json")
    assert json.loads(result.output) == {"db": "nfh.db", "created": False}
    assert dump(home / "nfh.db") == before


def test_init_follows_option_and_variable(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NFH_TUI_DB", "variable.db")
    assert json.loads(call("init", "--json").output) == {"db": "variable.db", "created": True}
    assert call("init", "--db", "given.db").exit_code == 0
    assert sorted(path.name for path in home.glob("*.db")) == ["given.db", "variable.db"]


@pytest.mark.parametrize("command", ["init", "import", "export"])
def test_a_file_that_is_no_database_is_refused_and_left(
    call: Call, home: Path, nfh_file: Callable[..., Path], command: str
) -> None:
    other = home / "letter.db"
    other.write_text("Dear Eva, this is a letter and no database.\n" * 50)
    arguments = {"init": [], "import": [nfh_file()], "export": ["--format", "gold"]}[command]
    result = call(command, *arguments, "--db", other)
    assert result.exit_code == 1
    assert "is not a database" in result.stderr
    assert result.stdout == ""
    assert other.read_text().startswith("Dear Eva")
    assert [path.name for path in home.glob("letter.db*")] == ["letter.db"]


def test_a_database_of_a_newer_version_is_refused_and_left(
    call: Call, home: Path, nfh_file: Callable[..., Path]
) -> None:
    assert call("init").exit_code == 0
    connection = connect(home / "nfh.db", "rw")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = (home / "nfh.db").read_bytes()
    for arguments in (["init"], ["import", nfh_file()], ["export", "--format", "nfh"]):
        result = call(*arguments)
        assert result.exit_code == 1
        assert "was written by a newer nfh-tui" in result.stderr
    assert (home / "nfh.db").read_bytes() == before


def test_a_missing_database_is_a_sentence_not_a_new_file(call: Call, home: Path) -> None:
    result = call("export", "--format", "gold", "--db", "none.db")
    assert result.exit_code == 1
    assert "none.db" in result.stderr
    assert result.stdout == ""
    assert not (home / "none.db").exists()


def test_without_a_database_the_users_own_is_made(
    call: Call, tmp_path: Path, nfh_file: Callable[..., Path]
) -> None:
    assert call("import", nfh_file()).exit_code == 0
    assert (tmp_path / "data" / "nfh-tui" / "nfh.db").exists()


def test_a_folder_is_no_database(call: Call, home: Path) -> None:
    result = call("init", "--db", home)
    assert result.exit_code == 1
    assert str(home) in result.stderr
    assert "Traceback" not in result.stderr
