"""Files whose bytes are damaged, that are read-only, or in which others work meanwhile."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from nfh_db import database, schema_parts
from nfh_db.connection import (
    LOG,
    LOG_HEADER,
    SCHEMA_VERSION,
    STILL_WITH_LOG,
    connect,
    sidecar,
    sqlite3,
)
from nfh_db.database import open_writer
from nfh_db.doctor import content_checks, examine, file_checks, repair, rows
from nfh_db.errors import NewerFileError, NotOurFileError, StoreError
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from tests.conftest import LONG

PAGE = 4096

WORK = """
import sys
from pathlib import Path
from nfh_db.records import FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

with Store.open(Path(sys.argv[1])) as store:
    me = store.people.ensure(sys.argv[2])
    print("ready", flush=True)
    number = 0
    while True:
        number += 1
        anchor = number % 5 + 1
        kind = (Kind.AGE, Kind.YEAR, Kind.NOT_NFH)[number % 3]
        store.edits.commit_answer(anchor, me, Role.ANNOTATOR, class_answer(kind))
        if number % 4 == 0:
            store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(kind))
        if number % 7 == 0:
            store.edits.undo(me)
        if number % 11 == 0:
            store.edits.set_flag(anchor, me, FlagName.SKIP, number % 2 == 0)
"""


def found(path: Path) -> set[str]:
    """The names of the checks that found something."""
    return {outcome.check.name for outcome in examine(path).outcomes if outcome.broken}


# --- bytes ----------------------------------------------------------------------------------


def looked_at(path: Path) -> str:
    """What comes of examining a file: a report or a sentence; anything else is a fault."""
    try:
        report = examine(path)
    except StoreError as error:
        assert path.name in str(error)
        return "refused"
    assert all(finding.what and finding.how for finding in report.findings)
    return "broken" if report.broken else "clean"


WAYS = ("random", "zero", "some")


@pytest.mark.parametrize("how", WAYS)
def test_any_page_may_be_damaged(path: Path, template: Path, how: str) -> None:
    """In each of three ways; in the short form in one of them."""
    whole = template.read_bytes()
    source = random.Random(how)
    outcomes = []
    first, step = (0, 1) if LONG else (WAYS.index(how), len(WAYS))
    for start in range(first * PAGE, len(whole), step * PAGE):
        damaged = bytearray(whole)
        if how == "some":
            place = start + source.randrange(PAGE - 64)
            damaged[place : place + 64] = source.randbytes(64)
        else:
            damaged[start : start + PAGE] = (
                bytes(PAGE) if how == "zero" else source.randbytes(PAGE)
            )
        path.write_bytes(damaged)
        outcomes.append(looked_at(path))
    # 64 bytes may well lie where nothing is kept.
    if how != "some":
        clean = outcomes.count("clean")
        assert clean == free_pages(template) if LONG else clean <= free_pages(template)
    assert "broken" in outcomes


def free_pages(path: Path) -> int:
    with closing(connect(path, "ro")) as connection:
        return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


@pytest.mark.parametrize("kept", [1, 50, 100, PAGE - 1, PAGE, 5 * PAGE + 17])
def test_a_file_that_was_cut_off(path: Path, template: Path, kept: int) -> None:
    path.write_bytes(template.read_bytes()[:kept])
    assert looked_at(path) in ("refused", "broken")


def test_a_damaged_page_is_named_by_its_table_and_nothing_is_repaired(
    path: Path, sql: Callable[..., None]
) -> None:
    sql("UPDATE anchor SET state = 'open' WHERE id = 6")
    with closing(connect(path, "rw")) as connection:
        root = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'prediction'"
        ).fetchone()[0]
    damaged = bytearray(path.read_bytes())
    damaged[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    path.write_bytes(damaged)
    report = examine(path)
    pages = [finding for finding in report.findings if finding.check == "pages"]
    assert [finding.where.table for finding in pages] == ["prediction"]
    assert report.repairable == 1
    with pytest.raises(StoreError, match="is damaged, and was not changed"):
        repair(path, report, lambda: examine(path))
    assert path.read_bytes() == damaged
    assert [entry.name for entry in path.parent.iterdir()] == ["nfh.db"]


def empty_index(path: Path, name: str, on: str) -> None:
    """Leave an index without its rows, as a program does that does not know of it."""
    with closing(connect(path, "rw")) as connection:
        connection.execute(f"CREATE INDEX other ON {on} WHERE 0 = 1")
        connection.execute("PRAGMA writable_schema = ON")
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema").fetchall())
        statement = "UPDATE sqlite_schema SET rootpage = ? WHERE name = ?"
        connection.execute(statement, (roots["other"], name))
        connection.execute(statement, (roots[name], "other"))
        version = connection.execute("PRAGMA schema_version").fetchone()[0]
        connection.execute(f"PRAGMA schema_version = {version + 1}")
    with closing(connect(path, "rw")) as connection:
        connection.execute("DROP INDEX other")


def test_an_index_that_does_not_agree_is_built_anew(path: Path) -> None:
    empty_index(path, "gold_batch", "gold(batch_id)")
    report = examine(path)
    assert {finding.check for finding in report.findings} == {"pages"}
    assert {finding.where.table for finding in report.findings} == {"gold_batch"}
    assert report.repairable == report.broken > 1
    done = repair(path, report, lambda: examine(path))
    assert done is not None
    assert (done.report.broken, done.failed) == (0, ())


def test_what_only_seems_broken_for_an_index_is_not_mended(path: Path) -> None:
    empty_index(path, "event_anchor", "event(anchor_id, id)")
    report = examine(path)
    assert "log" in {finding.check for finding in report.findings}
    done = repair(path, report, lambda: examine(path))
    assert done is not None
    assert done.report.broken == 0
    assert [kind.value for kind in done.kinds] == ["indexes"]


# --- what is not for us, and what cannot be written -------------------------------------------


def test_files_that_are_no_database_of_ours_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with pytest.raises(StoreError, match="no database at"):
        examine(other)
    other.write_text("not a database")
    with pytest.raises(NotOurFileError, match="is not a database"):
        examine(other)
    other.unlink()
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE bookmark (url TEXT)")
    with pytest.raises(NotOurFileError, match="another program"):
        examine(other)


def test_older_and_newer_databases_are_not_migrated(path: Path) -> None:
    before = path.read_bytes()
    for version, words in ((1, "has the schema of an older nfh-tui"), (99, "newer nfh-tui")):
        with closing(connect(path, "rw")) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        with pytest.raises((StoreError, NewerFileError), match=words):
            examine(path)
        with closing(connect(path, "ro")) as connection:
            assert connection.execute("PRAGMA user_version").fetchone()[0] == version
    assert len(path.read_bytes()) == len(before)


def test_examining_writes_nothing_and_leaves_nothing(path: Path) -> None:
    before, at = path.read_bytes(), path.stat().st_mtime_ns
    assert found(path) == set()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, at)
    assert [entry.name for entry in path.parent.iterdir()] == ["nfh.db"]


def test_a_log_that_a_crash_left_is_read_and_left(path: Path, template: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from nfh_db.store import Store;"
        "from nfh_db.records import Role; from nfh_models.domain import Kind, class_answer;"
        "store = Store.open(Path(sys.argv[1])); me = store.people.ensure('eva');"
        "store.edits.commit_answer(1, me, Role.ANNOTATOR, class_answer(Kind.AGE)); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    log = path.with_name("nfh.db-wal")
    before = (path.read_bytes(), log.read_bytes())
    report = examine(path)
    assert (report.broken, report.events) == (0, examine(template).events + 1)
    assert (path.read_bytes(), log.read_bytes()) == before


def test_a_database_that_a_link_leads_to(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.db"
    link.symlink_to(path)
    assert found(link) == set()
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["elsewhere", "nfh.db"]


def test_a_file_in_a_folder_that_cannot_be_written_is_read_as_it_lies(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As root every folder can be written; the command's tests have a disk that cannot.
    refused = ["ro"]

    def refuse(place: Path, mode: str) -> object:
        if mode in refused:
            raise_cannot_open(path)
        return connect(place, mode)

    monkeypatch.setattr(database, "connect", refuse)
    assert found(path) == set()
    log = path.with_name("nfh.db-wal")
    log.write_bytes(bytes(LOG_HEADER))
    assert found(path) == set()
    # A log with changes is read without an index; where that cannot be either, it is said.
    log.write_bytes(bytes(LOG_HEADER + 1))
    refused.append(STILL_WITH_LOG)
    with pytest.raises(
        StoreError,
        match=(
            r"holds changes that .* does not have .* Copy both "
            r"files"
        ),
    ):
        examine(path)


def raise_cannot_open(path: Path) -> None:
    connect(path / "nowhere", "ro")


# --- while others write -----------------------------------------------------------------------


def test_it_is_clean_while_others_write(path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, str(path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("eva", "kim")
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        events = []
        for _ in range(6):
            report = examine(path)
            assert [finding.what for finding in report.findings] == []
            events.append(report.events)
        assert events == sorted(events)
        assert events[-1] > events[0]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            assert worker.stdout is not None
            worker.stdout.close()
    assert found(path) == set()


BATCH = """
INSERT INTO batch (id, name, sha256, format, state, pid, report, created_at) VALUES
(90, 'other.jsonl', 'b', 'gold', 'loading', {pid}, '{{}}', '2026')"""


def test_an_import_under_way_is_no_fault_but_a_note(
    path: Path, sql: Callable[..., None]
) -> None:
    sql(BATCH.format(pid=os.getppid()))
    report = examine(path)
    assert report.broken == 0
    assert report.notes == (
        f"other.jsonl is running in process {os.getppid()}; some checks left out what it is "
        "changing",
    )


def test_an_import_that_becomes_ready_meanwhile_is_no_fault(
    path: Path, sql: Callable[..., None]
) -> None:
    sql(BATCH.format(pid=999_999_999))
    with rows.open_snapshot(path) as opened:
        assert len(list(file_checks.imports(opened))) == 1
        sql("UPDATE batch SET state = 'ready' WHERE id = 90")
        assert list(file_checks.imports(opened)) == []


# --- SQLite itself ----------------------------------------------------------------------------


def test_an_older_sqlite_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_checks, "OLDEST_SQLITE", (99, 0, 0))
    report = examine(path)
    assert [finding.what for finding in report.findings] == [
        f"SQLite {sqlite3.sqlite_version} is in use; 99.0.0 or newer is wanted"
    ]
    assert report.findings[0].how == "install pysqlite3 0.6.1 or newer"


def test_the_schema_is_that_of_a_new_database(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "new.db", create=True)) as connection:
        there = {part.key: part for part in schema_parts.parts(connection)}
    assert schema_parts.expected(SCHEMA_VERSION) == there
    assert found(tmp_path / "new.db") == set()


def test_every_check_of_the_schema_is_looked_at() -> None:
    text = files("nfh_db").joinpath("schema.sql").read_text(encoding="utf-8")
    statements = [part.sql for part in schema_parts.expected(SCHEMA_VERSION).values()]
    found_ = [one for sql in statements for one in file_checks.conditions(sql)]
    assert len(found_) == text.count("CHECK") > 20
    assert "start >= 0 AND stop > start" in found_


MODULES = (
    content_checks,
    content_checks,
    file_checks,
    content_checks,
    file_checks,
    rows,
    rows,
    file_checks,
    database,
    sys.modules["nfh_db.doctor.runner"],
    sys.modules["nfh_db.doctor.runner"],
)
FIRST = ("SELECT", "UPDATE", "INSERT", "DELETE", "WITH")


def test_every_statement_fits_the_schema(tmp_path: Path) -> None:
    constants = [
        text
        for module in MODULES
        for name, value in vars(module).items()
        if name.isupper()
        for text in (value if isinstance(value, tuple) else (value,))
        if isinstance(text, str) and text.strip().startswith(FIRST)
    ]
    assert len(constants) > 35
    with closing(open_writer(tmp_path / "new.db", create=True)) as connection:
        for text in constants:
            words = text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
            names = {word[1:]: None for word in words if word.startswith(":")}
            of_gold = text.replace("{owner}", "gold_id")
            connection.execute(f"EXPLAIN {of_gold}", names).fetchall()


def test_an_empty_database_is_clean(tmp_path: Path) -> None:
    Store.open(tmp_path / "new.db", create=True).close()
    assert found(tmp_path / "new.db") == set()


# --- the log --------------------------------------------------------------------------------


@pytest.fixture
def in_use(path: Path, tmp_path: Path) -> Iterator[Path]:
    """A database that is open and has answers in its log alone."""
    used = tmp_path / "in-use.db"
    shutil.copy(path, used)
    with Store.open(used) as store:
        me = store.people.ensure("cara")
        for anchor in (1, 2):
            store.edits.commit_answer(anchor, me, Role.ANNOTATOR, class_answer(Kind.AGE))
        yield used


def copied(path: Path, *ends: str) -> Path:
    """A copy of some of a database's files."""
    place = path.with_name("copy.db")
    for end in ends:
        shutil.copy(f"{path}{end}", f"{place}{end}")
    return place


@pytest.mark.parametrize("empty", [False, True])
def test_a_log_that_was_not_copied_is_missed(in_use: Path, empty: bool) -> None:
    copy = copied(in_use, "", "-shm")
    if empty:
        sidecar(copy, LOG).touch()
    for _ in range(2):  # Looking does not make it good.
        report = examine(copy)
        assert [finding.check for finding in report.findings] == ["file"]
        assert "-wal file that is missing or empty" in report.findings[0].what
    assert found(copied(in_use, "-wal")) == set()


def test_a_log_that_was_left_behind_is_named(path: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.db"
    shutil.copy(path, newer)
    with Store.open(newer) as store:
        me = store.people.ensure("cara")
        store.edits.commit_answer(1, me, Role.ANNOTATOR, class_answer(Kind.AGE))
    with Store.open(newer) as store:
        store.edits.commit_answer(2, me, Role.ANNOTATOR, class_answer(Kind.AGE))
        shutil.copy(sidecar(newer, LOG), sidecar(path, LOG))
    report = examine(path)
    assert report.broken
    assert report.notes[-1].startswith("The file is intact without nfh.db-wal, which")
    sidecar(path, LOG).write_bytes(b"")
    assert "without" not in " ".join(examine(path).notes)


def test_a_log_without_its_database_is_named(in_use: Path, path: Path) -> None:
    gone = path.with_name("gone.db")
    shutil.copy(sidecar(in_use, LOG), sidecar(gone, LOG))
    assert examine(path).notes[-1] == (
        "gone.db-wal is there without its database gone.db, and may hold the last changes. "
        "If nfh.db is that database under another name, put the two files side by side again"
    )
    with pytest.raises(StoreError, match=r"gone\.db-wal is there without its database"):
        examine(gone)


def test_pages_that_do_not_fit_may_be_a_copy_without_its_log(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[5 * PAGE : 6 * PAGE] = bytes(PAGE)
    path.write_bytes(content)
    told = " ".join(examine(path).notes)
    assert "a copy that was made while the database was open, without its -wal file" in told
