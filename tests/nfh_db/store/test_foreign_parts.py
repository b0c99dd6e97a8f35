"""Triggers, views and other programs in a database that nfh-tui did not make."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db import schema_parts
from nfh_db.connection import SCHEMA_VERSION, connect
from nfh_db.database import back_up, read_access
from nfh_db.doctor import Repair, examine, repair, rows
from nfh_db.errors import ForeignPartsError, StoreError
from nfh_db.merge import source
from nfh_db.store import Store
from tests.nfh_db.store.older_database import older_database

ENDLESS = (
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS id FROM r"
)

PARTS = {
    "trigger sneaky": "CREATE TRIGGER sneaky AFTER INSERT ON annotator BEGIN "
    "UPDATE annotator SET name = 'mallory'; END",
    "view slow": f"CREATE VIEW slow AS {ENDLESS}",
    "table more": "CREATE TABLE more (id INTEGER, size AS (length(hex(zeroblob(id)))))",
    "index odd": "CREATE INDEX odd ON annotator(length(hex(zeroblob(id))))",
    "table found": "CREATE VIRTUAL TABLE found USING fts5(words)",
    "trigger annotator": "CREATE TRIGGER annotator AFTER INSERT ON anchor BEGIN SELECT 1; END",
    'view od"d [red]': f'CREATE VIEW "od""d [red]" AS {ENDLESS}',
}


@pytest.fixture
def made(path: Path) -> Path:
    with Store.open(path, create=True) as store:
        store.people.ensure("eva")
    return path


def change(path: Path, *statements: str) -> None:
    """What another program does to the file."""
    with closing(connect(path, "rw")) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("name", PARTS)
def test_foreign_parts_are_refused_by_their_names(made: Path, name: str) -> None:
    change(made, PARTS[name])
    with pytest.raises(ForeignPartsError) as refused:
        Store.open(made)
    assert name in str(refused.value)
    assert "nfh-tui doctor --repair" in str(refused.value)


OPENERS: dict[str, Callable[[Path, Path], object]] = {
    "open": lambda path, _: Store.open(path),
    "open to read": lambda path, _: Store.open_to_read(path),
    "a file that nobody can write": lambda path, _: read_access(path),
    "backup": lambda path, beside: back_up(path, beside / "copy.db"),
    "merge": lambda path, beside: source.open_copy(path, beside / "here.db").__enter__(),
}


@pytest.mark.parametrize("opener", OPENERS)
def test_whoever_opens_a_file_refuses_them(made: Path, tmp_path: Path, opener: str) -> None:
    change(made, PARTS["trigger sneaky"])
    Store.open(tmp_path / "here.db", create=True).close()
    with pytest.raises(ForeignPartsError, match="trigger sneaky"):
        OPENERS[opener](made, tmp_path)
    assert not (tmp_path / "copy.db").exists()


def test_a_changed_table_is_refused(made: Path) -> None:
    change(made, "ALTER TABLE annotator ADD COLUMN size INTEGER AS (length(hex(zeroblob(id))))")
    with pytest.raises(ForeignPartsError, match="table annotator"):
        Store.open(made)


def test_a_missing_table_is_said(made: Path) -> None:
    change(made, "DROP TABLE draft")
    with pytest.raises(StoreError, match="its table draft is missing"):
        Store.open(made)


def test_many_parts_are_counted(made: Path) -> None:
    change(made, *(f"CREATE VIEW v{number} AS SELECT 1" for number in range(9)))
    with pytest.raises(ForeignPartsError, match=r"view v0, .*view v4 and 4 more"):
        Store.open(made)


def test_names_do_not_reach_the_terminal_as_they_are(made: Path) -> None:
    change(made, 'CREATE VIEW "\x1b]0;owned\x07" AS SELECT 1')
    with pytest.raises(ForeignPartsError) as refused:
        Store.open(made)
    assert "\x1b" not in str(refused.value)


def test_an_older_file_is_looked_at_before_it_is_upgraded(path: Path) -> None:
    with older_database(path, 6) as made:
        made.execute("INSERT INTO annotator (name, created_at) VALUES ('eva', '')")
        made.execute(
            "CREATE TRIGGER sneaky AFTER INSERT ON setting BEGIN DELETE FROM annotator; END"
        )
    with pytest.raises(ForeignPartsError, match="trigger sneaky"):
        Store.open(path)
    report = examine(path)
    assert report.schema == 6
    said = [finding.what for finding in report.findings if finding.check == "schema"]
    assert said == ["the trigger sneaky was not made by nfh-tui"]
    repaired = repair(path, report, lambda: examine(path))
    assert repaired is not None
    assert (repaired.report.broken, repaired.report.schema) == (0, SCHEMA_VERSION)
    with Store.open(path) as store:
        assert [person.name for person in store.people.all()] == ["eva"]


def test_what_sqlite_makes_itself_is_no_foreign_part(made: Path) -> None:
    change(made, "ANALYZE")
    Store.open(made).close()


def test_every_version_of_the_schema_is_known() -> None:
    assert schema_parts.expected(SCHEMA_VERSION)
    built = {}
    for version in range(1, SCHEMA_VERSION + 1):
        built[version] = schema_parts.expected(version)
        assert "table job" in built[version]
    assert len({frozenset(one.values()) for one in built.values()}) == SCHEMA_VERSION


# --- doctor ---------------------------------------------------------------------------------


def test_doctor_names_them_and_takes_them_out_after_a_copy(made: Path) -> None:
    change(made, *PARTS.values())
    report = examine(made)
    said = [finding.what for finding in report.findings if finding.check == "schema"]
    for name in PARTS:
        assert f"the {name} was not made by nfh-tui" in said
    repaired = repair(made, report, lambda: examine(made))
    assert repaired is not None
    assert Repair.PARTS in repaired.kinds
    assert repaired.report.broken == 0
    with Store.open(made) as store:
        assert [person.name for person in store.people.all()] == ["eva"]
    with closing(connect(repaired.backup, "ro")) as copy:
        there = copy.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'sneaky'")
        assert there.fetchone()[0] == 1


def test_a_changed_index_is_built_anew(made: Path) -> None:
    change(made, "DROP INDEX job_state", "CREATE INDEX job_state ON job(length(arguments))")
    with pytest.raises(ForeignPartsError, match="index job_state"):
        Store.open(made)
    repaired = repair(made, examine(made), lambda: examine(made))
    assert repaired is not None
    assert repaired.report.broken == 0
    Store.open(made).close()


def test_where_a_table_is_a_view_nothing_is_read_from_it(made: Path) -> None:
    change(made, "DROP TABLE draft", f"CREATE VIEW draft AS {ENDLESS}")
    report = examine(made)
    unchecked = {finding.check for finding in report.findings if "not checked" in finding.what}
    assert {"values", "drafts", "anchors", "jobs"} <= unchecked
    assert report.anchors == 0


def test_a_check_without_end_is_ended(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "TIME_LIMIT", 0.05)
    # What a foreign index is made of is computed again by SQLite's own check, row by row.
    change(
        made,
        "CREATE TABLE more (id INTEGER)",
        "CREATE INDEX odd ON more(length(hex(zeroblob(id))))",
    )
    with closing(connect(made, "rw")) as connection:
        connection.execute(
            "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 5000) "
            "INSERT INTO more SELECT 20000 + x FROM r"
        )
    report = examine(made)
    ended = [
        finding for finding in report.findings if "completely: it took over" in finding.what
    ]
    assert ended
    assert [finding.check for finding in ended] == ["pages"]
