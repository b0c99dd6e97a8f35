"""Opening: what is made, upgraded or refused, and that a refused file is left alone."""

import os
import sqlite3 as system_sqlite
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from nfh_db import connection, database
from nfh_db.errors import NewerFileError, NotOurFileError, StoreError
from nfh_db.schema import migrations
from nfh_db.store import Store


def header(path: Path) -> tuple[int, int]:
    """application_id and user_version, read by the system's own SQLite."""
    with system_sqlite.connect(path) as other:
        return (
            other.execute("PRAGMA application_id").fetchone()[0],
            other.execute("PRAGMA user_version").fetchone()[0],
        )


def test_a_new_database_is_stamped_and_in_wal_mode(path: Path) -> None:
    Store.open(path, create=True).close()
    assert header(path) == (connection.APPLICATION_ID, connection.SCHEMA_VERSION)
    with system_sqlite.connect(path) as other:
        assert other.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_the_version_is_the_number_of_migrations(path: Path) -> None:
    writer = database.open_writer(path, create=True)
    applied = writer.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()[0]
    writer.close()
    assert applied == connection.SCHEMA_VERSION


def test_a_missing_file_is_not_made_unasked(path: Path) -> None:
    with pytest.raises(StoreError, match=r"no database at .*nfh\.db.*nfh-tui init"):
        Store.open(path)
    assert not path.exists()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"folder .*nowhere does not exist"):
        Store.open(tmp_path / "nowhere" / "nfh.db", create=True)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(NotOurFileError, match="is a folder"):
        Store.open(tmp_path, create=True)


@pytest.mark.parametrize("create", [True, False])
def test_a_pipe_is_refused_and_not_waited_for(path: Path, create: bool) -> None:
    os.mkfifo(path)
    with pytest.raises(NotOurFileError, match=r"nfh\.db is a pipe or a device, not a file"):
        Store.open(path, create=create)


@pytest.mark.parametrize("create", [True, False])
def test_a_device_is_refused(create: bool) -> None:
    with pytest.raises(NotOurFileError, match="/dev/zero is a pipe or a device"):
        Store.open(Path("/dev/zero"), create=create)


@pytest.mark.parametrize("create", [True, False])
def test_a_link_that_leads_to_itself_is_a_sentence(path: Path, create: bool) -> None:
    path.symlink_to(path.name)
    with pytest.raises(StoreError, match=r"nfh\.db cannot be read: .*symbolic links"):
        Store.open(path, create=create)


def test_the_missing_folder_that_a_link_leads_to_is_named(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere" / "nfh.db")
    with pytest.raises(StoreError, match=r"folder .*nowhere does not exist"):
        Store.open(path, create=True)


def test_a_link_to_a_new_file_makes_the_file(path: Path, tmp_path: Path) -> None:
    path.symlink_to("other.db")
    Store.open(path, create=True).close()
    assert header(tmp_path / "other.db")[0] == connection.APPLICATION_ID
    assert path.is_symlink()


@pytest.mark.parametrize("content", [b"x", b"not a database, but long enough: " * 100])
@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_no_database_is_left_alone(
    path: Path, content: bytes, create: bool
) -> None:
    path.write_bytes(content)
    with pytest.raises(NotOurFileError, match=r"nfh\.db is not a database"):
        Store.open(path, create=create)
    assert path.read_bytes() == content
    assert [entry.name for entry in path.parent.iterdir()] == ["nfh.db"]


def test_an_empty_file_is_no_database_yet(path: Path) -> None:
    path.touch()
    with pytest.raises(NotOurFileError, match="is empty"):
        Store.open(path)
    Store.open(path, create=True).close()
    assert header(path)[0] == connection.APPLICATION_ID


def test_another_programs_database_is_left_alone(path: Path) -> None:
    with system_sqlite.connect(path) as other:
        other.execute("CREATE TABLE bookmark (url TEXT)")
    other.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(NotOurFileError, match="another program"):
            Store.open(path, create=create)
    assert path.read_bytes() == before


def test_a_newer_database_is_left_alone(path: Path) -> None:
    Store.open(path, create=True).close()
    with system_sqlite.connect(path) as other:
        other.execute(f"PRAGMA user_version = {connection.SCHEMA_VERSION + 1}")
    other.close()
    before = path.read_bytes()
    with pytest.raises(NewerFileError, match=r"newer nfh-tui.*Update nfh-tui"):
        Store.open(path)
    assert path.read_bytes() == before


def test_an_old_sqlite_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.sqlite3, "sqlite_version_info", (3, 51, 2))
    with pytest.raises(StoreError, match=r"3\.51\.3 or newer is needed"):
        Store.open(path, create=True)
    assert not path.exists()


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes this program one schema version newer, by one statement."""

    def add(statement: str) -> None:
        later = list(migrations._migrations)
        monkeypatch.setattr(migrations, "_migrations", later)
        migrations(name="later")(lambda db: db.execute(statement))
        monkeypatch.setattr(connection, "SCHEMA_VERSION", connection.SCHEMA_VERSION + 1)

    return add


def test_an_older_database_is_upgraded_after_a_copy(
    path: Path, next_version: Callable[[str], None], clock: Callable[[str], None]
) -> None:
    old = connection.SCHEMA_VERSION
    with Store.open(path, create=True) as store:
        store.people.ensure("eva")
    next_version("CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT")
    with Store.open(path) as store:
        assert [person.name for person in store.people.all()] == ["eva"]
    assert header(path)[1] == old + 1
    copies = list(path.parent.glob("nfh.db.backup-*"))
    assert [copy.name for copy in copies] == [f"nfh.db.backup-v{old}-20260506T120000000Z"]
    assert header(copies[0])[1] == old
    with system_sqlite.connect(copies[0]) as copy:
        assert copy.execute("SELECT name FROM annotator").fetchall() == [("eva",)]


def test_a_failed_upgrade_changes_nothing(
    path: Path, next_version: Callable[[str], None]
) -> None:
    old = connection.SCHEMA_VERSION
    Store.open(path, create=True).close()
    next_version("CREATE TABLE annotator (id INTEGER)")
    with pytest.raises(connection.sqlite3.OperationalError, match="already exists"):
        Store.open(path)
    assert header(path)[1] == old


def test_an_upgrade_that_breaks_references_changes_nothing(
    path: Path, next_version: Callable[[str], None]
) -> None:
    old = connection.SCHEMA_VERSION
    Store.open(path, create=True).close()
    next_version("INSERT INTO document (name, batch_id) VALUES ('d', 77)")
    with pytest.raises(StoreError, match="row 1 of table document refers to a row of batch"):
        Store.open(path)
    assert header(path)[1] == old


def test_several_may_make_the_same_database_at_once(tmp_path: Path) -> None:
    # One opens while others create, change to the log, and close.
    for number in range(20):
        path = tmp_path / f"{number}.db"
        with ThreadPoolExecutor(8) as pool:
            for store in pool.map(partial(Store.open, create=True), [path] * 8):
                store.close()
    assert header(path) == (connection.APPLICATION_ID, connection.SCHEMA_VERSION)
    with Store.open(path) as store:
        assert store.people.all() == ()


def test_others_version_tells_that_somebody_else_wrote(path: Path, store: Store) -> None:
    before = store.others_version()
    store.settings.write("size", "large")
    assert store.others_version() == before
    with Store.open(path) as other:
        other.settings.write("colour", "blue")
    assert store.others_version() != before
    assert store.settings.read("colour") == "blue"
    assert store.settings.read("form") is None


def test_a_closed_store_says_so(store: Store) -> None:
    store.people.all()
    store.close()
    with pytest.raises(StoreError, match="has been closed"):
        store.people.all()
    with pytest.raises(StoreError, match="has been closed"):
        store.people.ensure("eva")


@pytest.mark.parametrize("name", ["", " ", "e\x1bva", "x" * 101])
def test_names_that_no_list_can_show_are_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be an annotator's name"):
        store.people.ensure(name)
    assert store.people.all() == ()


def test_an_annotator_is_made_once(store: Store) -> None:
    first = store.people.ensure("eva")
    assert store.people.ensure("eva") == first
    assert store.people.ensure("nearest", type="model").type == "model"
    with pytest.raises(StoreError, match="not a type of annotator"):
        store.people.ensure("other", type="animal")


def test_a_signal_right_after_a_transaction_began_leaves_none_open(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = connection._when_free

    def interrupted(writer: connection.Connection, statement: str) -> None:
        begin(writer, statement)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(connection, "_when_free", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.settings.write("size", "large")
    store.settings.write("size", "small")
    assert store.settings.read("size") == "small"
