"""The -wal or -shm file of an open database deleted, replaced or cut short: nothing is called
saved that nobody finds again, and all that was saved can be written to another file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db import connection
from nfh_db.doctor import runner
from nfh_db.errors import GoneError
from nfh_db.query import parse
from nfh_db.records import QueuePosition, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

ENDS = ("-wal", "-shm")


def beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _delete(file: Path) -> None:
    file.unlink()


def _replace(file: Path) -> None:
    copy = file.with_name("copy")
    shutil.copy(file, copy)
    copy.replace(file)


def _move(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))


@pytest.fixture
def eva(store: Store, kit):
    """A person in a database of one item."""
    kit.load(store, kit.one("one two", 0))
    return store.people.ensure("eva")


def kinds(path: Path) -> list[str]:
    """The kinds said of all items of a file."""
    with Store.open(path) as store:
        ballots = store.items.ballots(parse("sort:order"))
        return [vote.answer.kind.value for ballot in ballots for vote in ballot.votes]


def writes(store: Store, eva):
    """Every way to write: a decision, a note, and work over connections of its own."""
    answer = class_answer(Kind.YEAR)
    yield lambda: store.edits.commit_answer(1, eva, Role.ANNOTATOR, answer)
    yield lambda: store.edits.undo(eva)
    yield lambda: store.workspace.save_draft(1, eva, Role.ANNOTATOR, "{}")
    yield lambda: store.workspace.save_position(eva, "annotate", QueuePosition("", 1, 0))
    yield lambda: store.settings.write("theme", "dark")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("lose", [_delete, _replace, _move])
def test_nothing_is_called_saved_once_a_file_is_lost(
    store: Store, path: Path, eva, end: str, lose: Callable[[Path], None]
) -> None:
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    before = store.items.read(1, eva, Role.ANNOTATOR)
    assert store.lost() == ""
    lose(beside(path, end))
    for write in writes(store, eva):
        with pytest.raises(GoneError, match=rf"nfh\.db{end} has been deleted or replaced.*not"):
            write()
    assert store.lost().startswith(str(beside(path, end)))
    # What is open can still be read, so that nothing vanishes from the screen.
    assert store.items.read(1, eva, Role.ANNOTATOR) == before


@pytest.mark.parametrize("end", ENDS)
def test_a_lost_file_put_back_is_not_trusted(store: Store, path: Path, eva, end: str) -> None:
    """Others may have opened the database without it, and written."""
    _move(beside(path, end))
    with pytest.raises(GoneError):
        store.settings.write("theme", "dark")
    path.with_name("elsewhere").rename(beside(path, end))
    with pytest.raises(GoneError):
        store.settings.write("theme", "dark")


@pytest.mark.parametrize("end", ENDS)
def test_what_is_lost_within_a_write_is_told_after_its_commit(
    store: Store, path: Path, eva, end: str
) -> None:
    with (
        pytest.raises(GoneError, match="This change is not saved"),
        store.connections.durable_write() as writer,
    ):
        writer.execute("INSERT INTO setting (name, value) VALUES ('a', 'b')")
        beside(path, end).unlink()


@pytest.mark.skipif(not hasattr(os, "pread"), reason="the log is looked into on Unix only")
def test_a_rescue_of_a_log_that_was_cut_short_says_what_cannot_be_read(path: Path, kit) -> None:
    with (
        pytest.raises(GoneError, match="was cut short") as gone,
        Store.open(path, create=True) as store,
    ):
        kit.load(store, kit.one("one two", 0))
        os.truncate(beside(path, "-wal"), 40)
    assert gone.value.rescue.startswith("It cannot be written to another file either: ")


@pytest.mark.skipif(not hasattr(os, "pread"), reason="the log is looked into on Unix only")
@pytest.mark.parametrize("left", [0, 40])
def test_a_log_cut_short_in_its_place(store: Store, path: Path, eva, left: int) -> None:
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    os.truncate(beside(path, "-wal"), left)
    with pytest.raises(GoneError, match=r"was (emptied or overwritten|cut short)"):
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.YEAR))


def test_a_log_that_another_program_emptied_by_a_checkpoint_is_no_loss(
    store: Store, path: Path, eva
) -> None:
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    for kind in (Kind.YEAR, Kind.AGE):
        emptying = connection.connect(path, "rw")
        assert emptying.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        emptying.close()
        assert beside(path, "-wal").stat().st_size == 0
        with Store.open(path) as other:
            other.settings.write("by", kind.value)
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(kind))
    assert store.lost() == ""


@pytest.mark.parametrize("end", ENDS)
def test_the_rescue_holds_all_that_was_committed(
    store: Store, path: Path, eva, end: str
) -> None:
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    store.workspace.save_draft(1, eva, Role.ADJUDICATOR, "{}")
    beside(path, end).unlink()
    place = store.rescue()
    assert (place.parent, place.name[:11]) == (path.parent, "nfh-rescue-")
    assert kinds(place) == ["AGE"]
    report = runner.examine(place)
    # The draft of this test is none that the editor could read; nothing else is odd.
    assert [finding.what for finding in report.findings] == []
    assert store.items.read(1, eva, Role.ANNOTATOR) is not None


def test_the_rescue_of_a_deleted_folder_lies_elsewhere(
    tmp_path: Path, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    with closing(Store.open(folder / "nfh.db", create=True)) as store:
        kit.load(store, kit.one("one two", 0))
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        shutil.rmtree(folder)
        place = store.rescue()
    assert place.parent == home
    assert kinds(place) == ["AGE"]


COMMAND = """
import sys
from pathlib import Path
from nfh_db.errors import GoneError
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
path = Path(sys.argv[1])
try:
    with Store.open(path) as store:
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.YEAR))
        path.with_name("nfh.db-wal").unlink()
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
except GoneError as error:
    print(error)
"""


def test_a_command_that_ends_for_it_leaves_a_rescue_and_the_database_alone(
    path: Path, store: Store, eva
) -> None:
    """Closing must not write the lost log over what another program has done meanwhile."""
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    store.close()
    before = path.read_bytes()
    run = [sys.executable, "-c", COMMAND, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "has been deleted or replaced" in done.stdout
    assert path.read_bytes() == before
    (rescue,) = path.parent.glob("nfh-rescue-*.db")
    assert f"Everything that this program saved is in {rescue}" in done.stdout
    assert (kinds(path), kinds(rescue)) == (["AGE"], ["YEAR"])
    assert not any(finding for finding in runner.examine(rescue).findings)


def test_another_program_says_what_is_gone(path: Path, store: Store, eva) -> None:
    """It finds the index of a log that is not there."""
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    beside(path, "-wal").unlink()
    look = "import sys; from pathlib import Path; from nfh_db.store import Store; "
    run = [sys.executable, "-c", look + "Store.open(Path(sys.argv[1]))", str(path)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert "its -wal file seems to have been deleted while another program" in done.stderr
    assert kinds(store.rescue()) == ["AGE"]


@pytest.mark.parametrize("command", ["stats", "history"])
def test_another_command_that_reads_says_what_is_gone(
    path: Path, store: Store, eva, command: str
) -> None:
    """What it says is said once: it has nothing of its own to write to another file."""
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    store.close()
    with closing(Store.open(path)) as other:
        other.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.YEAR))
        beside(path, "-wal").unlink()
        run = [sys.executable, "-m", "nfh_tui", command, "--db", str(path)]
        done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 1
        assert done.stderr.count("its -wal file seems to have been deleted") == 1
        assert "Traceback" not in done.stderr
        assert "cannot be written to another file either" not in done.stderr
        assert kinds(other.rescue()) == ["YEAR"]


def test_this_process_does_not_open_it_once_more(path: Path, kit) -> None:
    with closing(Store.open(path, create=True)) as store:
        kit.load(store, kit.one("one two", 0))
        beside(path, "-shm").unlink()
        with pytest.raises(GoneError, match="-shm has been deleted"):
            kit.load(store, kit.one("one three", 0))
    with pytest.raises(GoneError, match="-shm has been deleted"):
        Store.open(path)
    # Its inode stays taken while this process lives: nothing else is taken for it.
    beside(path, "-wal").unlink()
    path.unlink()
    Store.open(path, create=True).close()


END = """
import subprocess, sys
from pathlib import Path
from nfh_db.connection import connect
from nfh_db.errors import GoneError
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
path, change, names = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
try:
    with Store.open(path) as store:
        for name in names:
            eva = store.people.ensure(name)
            store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.TIME))
        exec(change)
except GoneError as error:
    print(error)
"""
"""A command that nothing goes wrong with until `change`, its last doing."""

DELETE = "path.with_name(path.name + '-wal').unlink()"
MOVE = "path.rename(path.with_name('moved.db'))"
CHECKPOINT = "connect(path, 'rw').execute('PRAGMA wal_checkpoint(PASSIVE)')"
OTHER = f"""
for end in ("-wal", "-shm"):
    path.with_name(path.name + end).unlink()
many = [sys.executable, *sys.orig_argv[1:4], {CHECKPOINT!r}, *map(str, range(200))]
subprocess.run(many, check=True)
"""


def end(path: Path, change: str) -> str:
    """What a command says that ends well, after `change`."""
    # In a process of its own: one that has lost a log opens the database no more.
    run = [sys.executable, "-c", END, str(path), change, "eva"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (DELETE, "nfh.db-wal has been deleted or replaced"),
        (MOVE, "nfh.db has been moved, deleted or replaced since it was opened"),
    ],
)
def test_a_command_that_ends_does_not_keep_quiet_about_lost_files(
    path: Path, store: Store, eva, change: str, says: str
) -> None:
    """Nothing was written since they were lost, so that no write has noticed."""
    store.close()
    said = end(path, change)
    (rescue,) = path.parent.glob("nfh-rescue-*.db")
    assert says in said
    assert f"Everything that this program saved is in {rescue}" in said
    assert kinds(rescue) == ["TIME"]


def test_a_command_that_ends_says_nothing_where_all_is_well(
    path: Path, store: Store, eva
) -> None:
    store.close()
    assert end(path, "") == ""
    assert not list(path.parent.glob("nfh-rescue-*.db"))


def test_another_error_is_not_hidden_by_lost_files(path: Path, kit) -> None:
    with pytest.raises(ZeroDivisionError), Store.open(path, create=True) as store:
        kit.load(store, kit.one("one two", 0))
        beside(path, "-wal").unlink()
        raise ZeroDivisionError


@pytest.mark.long
def test_a_log_lost_just_before_closing_is_not_written_over_what_others_did(
    path: Path, store: Store, eva
) -> None:
    """Where it does not fit what others wrote, that is said, and the file is not blamed."""
    store.close()
    said = end(path, OTHER)
    assert "nfh.db-wal has been deleted or replaced" in said
    assert "damaged" not in said
    assert "another program has written" in said
    assert not list(path.parent.glob("nfh-rescue-*.db"))
    assert not any(finding for finding in runner.examine(path).findings)
    assert kinds(path) == 200 * ["TIME"]


def test_a_check_beside_a_commit_of_another_thread_finds_nothing_lost(
    store: Store, path: Path, eva, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that opens the database looks at the log while another one makes it longer."""
    write = next(writes(store, eva))
    write()
    real, begun = os.fstat, []

    def fstat(file: int) -> os.stat_result:
        found = real(file)
        if not begun:
            begun.append(True)
            write()
        return found

    monkeypatch.setattr(connection.os, "fstat", fstat)
    connection.check_others(path)
    assert begun
    write()
