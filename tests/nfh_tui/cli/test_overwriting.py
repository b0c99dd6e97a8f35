"""What is read is never written over: texts, labels, and the database least of all."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_tui.cli.options import is_database

Call = Callable[..., Result]
ROWS = "text\tind_s\tind_e\ty\nI_SEP_saw_SEP_two\t2\t3\t1\n"


@pytest.fixture
def db(call: Call, home: Path) -> Path:
    (home / "rows.tsv").write_text(ROWS, encoding="utf-8")
    assert call("import", "rows.tsv", "--db", "my.db").exit_code == 0
    return home / "my.db"


@pytest.mark.parametrize(
    "name", ["my.db", "my.db-wal", "my.db-shm", "link.db", "./../here/my.db"]
)
@pytest.mark.parametrize(
    "command",
    [
        ("identify", "--file", "rows.tsv", "--out"),
        ("evaluate", "identification", "--report"),
        ("evaluate", "identification", "--file", "rows.tsv", "--report"),
    ],
)
def test_the_database_stays(
    db: Path, call: Call, home: Path, name: str, command: tuple[str, ...]
) -> None:
    (home / "link.db").symlink_to(db)
    before = db.read_bytes()
    result = call(*command, name, "--db", "my.db")
    assert result.exit_code == 2
    assert "would overwrite" in result.stderr
    assert db.read_bytes() == before


def test_also_one_that_is_found_without_being_named(
    db: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NFH_TUI_DB", str(db))
    result = call("identify", "--file", "rows.tsv", "--out", "my.db")
    assert (result.exit_code, db.read_bytes()[:6]) == (2, b"SQLite")


@pytest.mark.parametrize("name", ["rows.tsv", "link.tsv"])
def test_the_text_stays(db: Path, call: Call, home: Path, name: str) -> None:
    (home / "link.tsv").symlink_to("rows.tsv")
    result = call("identify", "--file", "rows.tsv", "--out", name)
    assert result.exit_code == 2
    assert f"--out would overwrite {name}, which is an input" in result.stderr
    assert (home / "rows.tsv").read_text(encoding="utf-8") == ROWS


def test_a_link_that_leads_to_itself_is_nobody(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert not is_database(loop, tmp_path / "my.db")
