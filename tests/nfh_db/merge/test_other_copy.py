"""The other file: only read, whatever state it is in, and refused with a sentence."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db import schema
from nfh_db.connection import connect
from nfh_db.errors import NewerFileError, NotOurFileError, StoreError
from nfh_db.import_run import IncomingFile
from nfh_db.store import Store
from nfh_models.domain import Kind


@pytest.fixture
def parted(copies):
    """Two copies, the second with an answer of bob's more."""
    copies.made("home")
    copies.copy("home", "train")
    copies.answer("train", "bob", Kind.TIME)
    return copies


def merge(copies, other: Path) -> None:
    with copies.open("home") as store:
        store.merge.run(other, "merger")


def test_a_copy_that_somebody_has_open(parted) -> None:
    with parted.open("train") as there:
        there.settings.write("unsaved", "in the log beside the file")
        with parted.open("home") as store:
            assert store.merge.run(parted.path("train"), "merger").events == 1
        assert there.settings.read("unsaved") is not None
    assert parted.said("home") == {"bob": "TIME"}


def test_a_copy_made_with_its_log_beside_it(parted) -> None:
    with parted.open("train") as there:
        person = there.people.ensure("zoe")
        there.workspace.save_view(person, "mine", "class:AGE")
        for end in ("", "-wal"):
            shutil.copyfile(f"{parted.path('train')}{end}", f"{parted.path('taken')}{end}")
    report = parted.merge("home", "taken")
    assert set(report.people_new) == {"bob", "zoe"}


@pytest.mark.skipif(os.geteuid() == 0, reason="the system lets root write everywhere")
def test_a_copy_in_a_folder_that_is_read_only(parted, tmp_path: Path) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    shutil.copyfile(parted.path("train"), folder / "train.db")
    folder.chmod(0o500)
    merge(parted, folder / "train.db")
    assert parted.said("home") == {"bob": "TIME"}


def test_the_database_itself_is_refused(parted, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(parted.path("home"))
    for path in (parted.path("home"), link):
        with pytest.raises(StoreError, match="is this database itself: name another copy"):
            merge(parted, path)


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (None, StoreError, "There is no database at"),
        (b"", NotOurFileError, "is empty, and so not a database"),
        (b"words\n" * 40, NotOurFileError, "is not a database"),
    ],
)
def test_what_is_no_database_is_refused(
    parted, tmp_path: Path, content: bytes | None, kind: type[StoreError], words: str, whole
) -> None:
    path = tmp_path / "what"
    if content is not None:
        path.write_bytes(content)
    before = whole(parted.path("home"))
    with pytest.raises(kind, match=words):
        merge(parted, path)
    assert whole(parted.path("home")) == before
    assert (path.read_bytes() if path.exists() else None) == content


def test_a_database_of_another_program_is_refused(parted, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(connect(path, "rwc")) as writer:
        writer.execute("CREATE TABLE line (id INTEGER PRIMARY KEY)")
    with pytest.raises(NotOurFileError, match="is a database of another program"):
        merge(parted, path)


def test_a_newer_database_is_refused(parted) -> None:
    with closing(connect(parted.path("train"), "rw")) as writer:
        writer.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerFileError, match="was written by a newer nfh-tui"):
        merge(parted, parted.path("train"))


def test_an_older_database_is_read_as_a_copy_of_it(parted, tmp_path: Path) -> None:
    """One of the first schema, which has neither differences nor assignments by run."""
    path = tmp_path / "old.db"
    with closing(connect(path, "rwc")) as writer:
        for statement in schema.FIRST_SCHEMA:
            writer.execute(statement)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA application_id = 0x4E464844")
        writer.execute("PRAGMA user_version = 1")
        writer.execute(
            "CREATE TABLE _sqlite_migrations (migration_set TEXT, name TEXT, applied_at TEXT, "
            "PRIMARY KEY (migration_set, name))"
        )
        writer.execute(
            "INSERT INTO _sqlite_migrations VALUES ('nfh', 'm001_first_schema', '2026')"
        )
        writer.execute("INSERT INTO annotator VALUES (1, 'old hand', 'person', '2026')")
    before = {file.name: file.read_bytes() for file in tmp_path.glob("old.db*")}
    with parted.open("home") as store:
        assert store.merge.run(path, "merger").people_new == ("old hand",)
    assert {file.name: file.read_bytes() for file in tmp_path.glob("old.db*")} == before


def test_an_import_that_broke_off_there_is_left_out(parted, monkeypatch) -> None:
    """Its process is gone; the file itself is not cleaned up, that is for its owner."""
    from nfh_db import bulk_run

    def rows():
        for number in range(200):
            yield parted.kit.one(f"one {number}", 0, line=number + 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(bulk_run, "run_sweep", lambda *_: None)
    with parted.open("train") as store, pytest.raises(KeyboardInterrupt):
        store.imports.load(IncomingFile("broken off", "sha", "gold"), rows())
    monkeypatch.undo()
    with closing(connect(parted.path("train"), "rw")) as writer:
        writer.execute("UPDATE batch SET pid = 999999999 WHERE state = 'loading'")
        assert writer.execute("SELECT count(*) FROM anchor").fetchone()[0] > 1
    report = parted.merge("home", "train")
    assert (report.events, report.imports_new, report.anchors_new) == (1, (), 0)


DAMAGES = [
    ("UPDATE event SET after = '{' WHERE after LIKE '%TIME%'", "cannot be read"),
    ("UPDATE event SET before = '{}' WHERE after LIKE '%TIME%'", "is inconsistent"),
    ("UPDATE answer SET kind = 'YEAR'", "another program changed it"),
    (
        """UPDATE event SET after = replace(after, '"TIME"', '"REFERENCE"')""",
        "another program changed it",
    ),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGES)
def test_a_log_that_does_not_hold_is_refused(parted, damage: str, words: str, whole) -> None:
    with closing(connect(parted.path("train"), "rw")) as writer:
        writer.execute(damage)
    before = whole(parted.path("home"))
    with pytest.raises(StoreError, match=words):
        merge(parted, parted.path("train"))
    assert whole(parted.path("home")) == before
    assert not list(parted.folder.glob("*backup*"))


def test_an_answer_outside_its_passage_is_refused(parted, whole) -> None:
    with closing(connect(parted.path("train"), "rw")) as writer:
        value = '{"kind":"REFERENCE","at":"2026","heads":[[[90,91,90,"marked"]]]}'
        writer.execute("UPDATE event SET after = ? WHERE after LIKE '%TIME%'", (value,))
        writer.execute("UPDATE answer SET kind = 'REFERENCE', answered_at = '2026'")
        writer.execute("INSERT INTO head (id, answer_id, position) SELECT 1, id, 0 FROM answer")
        writer.execute("INSERT INTO mention VALUES (1, 0, 90, 91, 90, 'marked')")
    before = whole(parted.path("home"))
    with pytest.raises(StoreError, match="does not fit its passage"):
        merge(parted, parted.path("train"))
    assert whole(parted.path("home")) == before


def test_a_passage_that_is_not_what_its_hash_says_is_refused(parted, whole) -> None:
    with parted.open("train") as store:
        parted.kit.load(store, parted.kit.one("nine lives", 0))
    with closing(connect(parted.path("train"), "rw")) as writer:
        writer.execute("UPDATE passage SET text = 'nine wives' WHERE text = 'nine lives'")
    before = whole(parted.path("home"))
    with pytest.raises(StoreError, match="does not match its hash"):
        merge(parted, parted.path("train"))
    after = whole(parted.path("home"))
    assert {table: rows for table, rows in after.items() if rows != before[table]} == {}


def test_a_file_whose_pages_are_damaged_is_refused(parted, whole) -> None:
    path = parted.path("train")
    with path.open("r+b") as file:
        file.seek(4096 * 8)
        file.write(b"\x7f" * 4096 * 6)
    before = whole(parted.path("home"))
    with pytest.raises(StoreError, match="damaged"):
        merge(parted, path)
    assert whole(parted.path("home")) == before


def test_a_file_that_is_written_while_it_is_read_is_refused(parted, monkeypatch, whole) -> None:
    from nfh_db.merge import plan as merge_plan

    plan = merge_plan.plan

    def slow(*arguments):
        found = plan(*arguments)
        with Store.open(parted.path("train")) as there:
            there.settings.write("new", "value")
        return found

    monkeypatch.setattr(merge_plan, "plan", slow)
    before = whole(parted.path("home"))
    with pytest.raises(StoreError, match="was changed while it was read"):
        merge(parted, parted.path("train"))
    assert whole(parted.path("home")) == before
