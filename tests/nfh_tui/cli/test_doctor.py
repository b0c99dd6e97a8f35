"""`nfh-tui doctor`: what it says, how it ends, and what it leaves alone."""

import json
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.doctor import CHECKS
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.cli import report as cli_progress
from nfh_tui.editor.commands import dump
from nfh_tui.editor.state import EditState

Call = Callable[..., Result]
Make = Callable[..., Path]
Program = Callable[..., subprocess.CompletedProcess[str]]
Disk = Callable[[str], Path]


@pytest.fixture
def database(call: Call, nfh_file: Make, home: Path) -> Path:
    """Three imported rows, and an answer."""
    assert call("import", nfh_file(3), "--db", "x.db").exit_code == 0
    with Store.open(home / "x.db") as store:
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        store.workspace.save_draft(2, eva, Role.ANNOTATOR, dump(EditState(kind=Kind.AGE)))
    return home / "x.db"


def break_it(path: Path, *statements: str) -> None:
    with closing(connect(path, "rw")) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_clean_database(call: Call, database: Path) -> None:
    result = call("doctor", "--db", database)
    assert (result.exit_code, result.stderr) == (0, "")
    first, *lines, last = result.stdout.splitlines()
    assert first.startswith(f"{database}: 3 items, 4 events in the log; SQLite 3.")
    assert [line.split()[:2] for line in lines] == [["ok", check.name] for check in CHECKS]
    assert last == "Nothing is broken."


def test_json_of_a_clean_database(call: Call, database: Path) -> None:
    result = call("doctor", "--db", database, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert (report["ok"], report["broken"], report["findings"]) == (True, 0, [])
    assert (report["anchors"], report["events"]) == (3, 4)
    assert report["repaired"] is None
    assert [check["name"] for check in report["checks"]] == [check.name for check in CHECKS]


def test_what_is_broken_is_named_and_can_be_mended(call: Call, database: Path) -> None:
    break_it(
        database,
        "UPDATE anchor SET state = 'open' WHERE id = 1",
        "UPDATE anchor SET word = 'two' WHERE id = 2",
    )
    result = call("doctor", "--db", database)
    assert result.exit_code == 1
    rows = result.stdout.splitlines()
    place = next(i for i, row in enumerate(rows) if row.startswith("BROKEN  summaries"))
    with Store.open(database) as store:
        public = store.history.of_item("1").public_id
    assert rows[place + 1 : place + 3] == [
        f"        anchor 1 (item {public}, id:1): state is open, should be decided",
        "        What to do: --repair computes it from the answers and the gold",
    ]
    assert rows[-1] == "2 things broken; `nfh-tui doctor --repair` repairs 1 of them."
    report = json.loads(call("doctor", "--db", database, "--json").stdout)
    assert (report["ok"], report["broken"], report["repairable"]) == (False, 2, 1)
    assert [one["check"] for one in report["findings"]] == ["anchors", "summaries"]
    assert report["findings"][1] == {
        "check": "summaries",
        "what": "state is open, should be decided",
        "where": {"table": "anchor", "row": 1, "item": 1},
        "repairable": True,
        "how": "--repair computes it from the answers and the gold",
        "public_id": public,
        "query": "id:1",
    }

    result = call("doctor", "--db", database, "--repair", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [one["check"] for one in report["findings"]] == ["anchors"]
    assert report["repaired"]["kinds"] == ["summaries"]
    kept = Path(report["repaired"]["backup"])
    assert kept.parent == database.parent
    assert kept.name.startswith("x-before-repair-")
    with closing(connect(kept, "ro")) as connection:
        assert connection.execute("SELECT state FROM anchor WHERE id = 1").fetchone() == (
            "open",
        )


def test_a_repair_says_where_the_copy_is(call: Call, database: Path) -> None:
    break_it(database, "UPDATE anchor SET state = 'open' WHERE id = 1")
    result = call("doctor", "--db", database, "--repair")
    assert result.exit_code == 0
    *_, told, last = result.stdout.splitlines()
    assert told.startswith("Repaired: summaries. The database as it was before is in ")
    assert Path(told.rpartition(" ")[2]).is_file()
    assert last == "Nothing is broken."
    before = sorted(database.parent.iterdir())
    assert call("doctor", "--db", database, "--repair").exit_code == 0
    assert sorted(database.parent.iterdir()) == before


def test_many_findings_are_counted_and_some_are_shown(call: Call, nfh_file: Make) -> None:
    assert call("import", nfh_file(150), "--db", "x.db").exit_code == 0
    break_it(Path("x.db"), "UPDATE anchor SET votes = 9")
    result = call("doctor", "--db", "x.db")
    assert result.stdout.count("votes is 9, should be 0") == 10
    assert "and 140 more; --json lists 100 of a check" in result.stdout
    report = json.loads(call("doctor", "--db", "x.db", "--json").stdout)
    assert (report["broken"], report["repairable"], len(report["findings"])) == (150, 150, 100)
    report = json.loads(call("doctor", "--db", "x.db", "--json", "--repair").stdout)
    assert report["broken"] == 0


def test_a_draft_that_the_editor_cannot_read(call: Call, database: Path) -> None:
    break_it(database, 'UPDATE draft SET body = \'{"kind": "MONTH"}\'')
    result = call("doctor", "--db", database)
    assert result.exit_code == 1
    assert "it cannot be read: found 'MONTH', which is not allowed there" in result.stdout


def test_hostile_text_is_shown_and_steers_nothing(call: Call, database: Path) -> None:
    break_it(database, "UPDATE batch SET rows = 7, name = '\x1b[31m[red]\u202e'")
    result = call("doctor", "--db", database)
    assert "␛[31m[red]\\u202e came with 7 rows, 3 are kept" in result.stdout


@pytest.mark.long
def test_a_damaged_file_is_a_sentence_or_a_report(
    program: Program, database: Path, home: Path
) -> None:
    whole = database.read_bytes()
    (home / "cut.db").write_bytes(whole[:30_000])
    damaged = bytearray(whole)
    damaged[100:4096] = bytes(3996)
    (home / "zero.db").write_bytes(damaged)
    (home / "text.db").write_text("no database\n")
    for name in ("cut.db", "zero.db", "text.db", "nowhere.db"):
        done = program("doctor", "--db", name)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr + done.stdout
        assert name in done.stderr + done.stdout
        done = program("doctor", "--db", name, "--json")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        if done.stdout:
            assert json.loads(done.stdout)["ok"] is False
    assert not (home / "nowhere.db").exists()


def test_a_repair_of_a_damaged_file_is_refused(call: Call, database: Path) -> None:
    break_it(database, "UPDATE anchor SET state = 'open' WHERE id = 1")
    with closing(connect(database, "rw")) as connection:
        root = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'draft'"
        ).fetchone()[0]
    damaged = bytearray(database.read_bytes())
    damaged[(root - 1) * 4096 : root * 4096] = bytes(4096)
    database.write_bytes(damaged)
    result = call("doctor", "--db", database, "--repair")
    assert result.exit_code == 1
    assert f"nfh-tui: {database} is damaged, and was not changed" in result.stderr


def test_a_database_on_a_disk_that_cannot_be_written(
    call: Call, database: Path, small_disk: Disk
) -> None:
    disk = small_disk("size=8m")
    (disk / "x.db").write_bytes(database.read_bytes())
    small_disk("ro")
    result = call("doctor", "--db", disk / "x.db")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [path.name for path in disk.iterdir()] == ["x.db"]
    result = call("backup", "copy.db", "--db", disk / "x.db")
    assert result.exit_code == 0, result.stderr


def test_a_query_belongs_to_the_corpus_and_a_repair_does_not(
    call: Call, database: Path
) -> None:
    for arguments, words in (
        (("state:open",), "a QUERY belongs to --corpus"),
        (("--corpus", "--repair"), "which --repair cannot repair"),
        (("--limit", "3"), "--limit belongs to --corpus"),
    ):
        result = call("doctor", *arguments, "--db", database)
        assert result.exit_code == 2
        assert words in result.stderr


def test_the_corpus_is_looked_at_by_query(call: Call, database: Path) -> None:
    result = call("doctor", "--corpus", "-votes:1", "--limit", "1", "--db", database)
    assert result.exit_code == 0
    assert result.stdout.startswith("Labels of 2 items in 2 passages")


def test_progress_is_for_terminals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for watched in (True, False):
        monkeypatch.setattr("nfh_tui.cli.report.on_terminal", lambda watched=watched: watched)
        with cli_progress.Steps("x.db") as progress:
            progress.step("log", 1_000, 3_000)
            progress.step("log", 2_000, 3_000)
        shown = capsys.readouterr().err
        assert shown == ("\r\x1b[Kx.db: log: 1,000 of 3,000\r\x1b[K" if watched else "")
