"""Disks that fill up, turn read-only, fail, or cannot hold a shared database: a sentence,
nothing broken, and the answer on the screen kept until it can be saved."""

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from nfh_db.query import parse
from nfh_db.store import Store

SENTENCES = {
    "full": "is full",
    "read-only": "has become read-only",
    "failing": "cannot be read or written",
}


def nfh_tui(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The program, as a process of its own."""
    command = [sys.executable, "-P", "-m", "nfh_tui", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def answered(database: Path) -> list[list[str]]:
    """The kinds said of the first anchors."""
    with Store.open(database) as store:
        ballots = list(store.items.ballots(parse("sort:order")))
        return [[vote.answer.kind.value for vote in ballot.votes] for ballot in ballots[:3]]


def until_answered(desk: Any) -> None:
    """Wait for the answer that a key gives; the kinds' names stand below the passage anyway."""
    desk.until(lambda text: "nothing chosen yet" not in text, "an answer")


class Workbench:
    """The workbench on a database of a few items, with an answer begun on the first."""

    def __init__(self, database: Path) -> None:
        from soak import together
        from soak.desk import Desk

        together.make(database, 3)
        self.foot = together.foot
        self.database = database
        self.desk = Desk(["annotate", "split:left", "--db", str(database), "--as", "ann"])

    def __enter__(self) -> Self:
        self.desk.until_text("00000 said")
        self.desk.press("y")
        until_answered(self.desk)
        self.desk.press("\r")
        self.desk.until(lambda text: "saved" in self.foot(text), "saved")
        return self

    def __exit__(self, *error: object) -> None:
        self.desk.__exit__(None, None, None)

    def answer_in_vain(self, sentence: str) -> None:
        """Answer the second item while the disk refuses; the answer stays on the screen."""
        desk = self.desk
        desk.until_text("00001 said")
        desk.press("a")
        self._told("The draft is not saved.", sentence)
        desk.press("\r")
        self._told("The answer is not saved.", sentence)
        # A terminal shows a screen in pieces: what is looked for may come a moment later.
        text = desk.until(
            lambda text: all(one in text for one in ("00001 said", "Age", "draft not on disk")),
            "the answer, not on disk",
        )
        assert "saved " not in self.foot(text)

    def _told(self, what: str, sentence: str) -> None:
        """A dialog says what is not saved, and why; it is closed."""
        assert "Traceback" not in self.desk.until_said(what, sentence)
        self.desk.press("\x1b")
        self.desk.until(lambda text: what not in text, "the desk again")

    def answer_again(self) -> None:
        """The same answer, with one key, now that it can be saved."""
        self.desk.press("\r")
        self.desk.until(lambda text: "saved" in self.foot(text), "saved")
        self.desk.press("t")
        until_answered(self.desk)
        self.desk.press("\r")
        self.desk.until(lambda text: "saved" in self.foot(text), "saved")
        assert self.desk.quit() == 0


def check(database: Path) -> None:
    """All three answers are there, and the database is sound."""
    from soak.checks import faults

    assert answered(database) == [["YEAR"], ["AGE"], ["TIME"]]
    assert faults(database) == []


@pytest.mark.parametrize(
    "mood",
    ["read-only", *(pytest.param(one, marks=pytest.mark.long) for one in ("full", "failing"))],
)
def test_the_answer_on_the_screen_outlives_a_disk_in_a_bad_mood(
    tmp_path: Path, mounts, mood: str
) -> None:
    from soak.disks import MoodyDisk

    disk = mounts(MoodyDisk, tmp_path)
    with Workbench(disk.folder / "nfh.db") as work:
        disk.mood(mood)
        work.answer_in_vain(SENTENCES[mood])
        disk.mood("well")
        work.answer_again()
    check(disk.folder / "nfh.db")


def test_the_answer_on_the_screen_outlives_a_disk_without_room(tmp_path: Path, mounts) -> None:
    from soak.disks import SmallDisk

    disk = mounts(SmallDisk, tmp_path / "small", "2m")
    with Workbench(disk.folder / "nfh.db") as work:
        filler = disk.fill()
        work.answer_in_vain("is full")
        filler.unlink()
        work.answer_again()
    check(disk.folder / "nfh.db")


def test_killed_on_a_full_disk_the_saved_answers_are_there(tmp_path: Path, mounts) -> None:
    from soak.checks import faults
    from soak.disks import SmallDisk

    disk = mounts(SmallDisk, tmp_path / "small", "2m")
    with Workbench(disk.folder / "nfh.db") as work:
        filler = disk.fill()
        work.answer_in_vain("is full")
        work.desk.kill()
    # Nobody could carry the log over: it is read from where it lies.
    assert answered(disk.folder / "nfh.db")[:2] == [["YEAR"], []]
    filler.unlink()
    assert answered(disk.folder / "nfh.db")[:2] == [["YEAR"], []]
    assert faults(disk.folder / "nfh.db") == []


def test_a_disk_that_the_kernel_sets_read_only(tmp_path: Path, mounts) -> None:
    from soak.checks import faults
    from soak.disks import FailingDisk

    disk = mounts(FailingDisk, tmp_path)
    with Workbench(disk.folder / "nfh.db") as work:
        disk.fail()
        work.answer_in_vain("has become read-only")
        work.desk.kill()
    # Kernels differ in whether a file may still be opened; what is there is given, or why not.
    result = nfh_tui("export", "--format", "gold", "--db", disk.folder / "nfh.db")
    assert "YEAR" in result.stdout if result.returncode == 0 else "read-only" in result.stderr
    disk.close()
    disk.mount()
    assert answered(disk.folder / "nfh.db")[:2] == [["YEAR"], []]
    assert faults(disk.folder / "nfh.db") == []


# --- where the log does not work ------------------------------------------------------------


@pytest.mark.parametrize("command", ["init", "import"])
def test_a_file_system_that_cannot_share_is_named(tmp_path: Path, mounts, command: str) -> None:
    from soak.disks import MoodyDisk

    disk = mounts(MoodyDisk, tmp_path)
    disk.mood("unshared")
    talk = tmp_path / "talk.txt"
    talk.write_text("Ann: I have two.\n", "utf-8")
    files = [talk] if command == "import" else []
    result = nfh_tui(command, *files, "--db", disk.folder / "nfh.db")
    assert result.returncode == 1
    assert "write-ahead log does not work there. Put it on a disk of this" in result.stderr
    assert str(disk.folder / "nfh.db") in result.stderr
    assert "Traceback" not in result.stderr
    assert [entry.name for entry in disk.folder.iterdir()] == []


def test_a_database_that_came_to_such_a_file_system_is_left_as_it_is(
    tmp_path: Path, mounts
) -> None:
    from soak.checks import faults
    from soak.desk import Desk
    from soak.disks import MoodyDisk
    from soak.together import make

    disk = mounts(MoodyDisk, tmp_path)
    database = disk.folder / "nfh.db"
    make(database, 1)
    before = database.read_bytes()
    disk.mood("unshared")
    with Desk(["annotate", "--db", str(database), "--as", "ann"]) as desk:
        desk.until_said("write-ahead log does not work there")
    assert database.read_bytes() == before
    disk.mood("well")
    assert faults(database) == []


# --- commands at work -----------------------------------------------------------------------


@pytest.mark.long
def test_commands_whose_disk_changes_under_them_end_in_a_sentence(
    tmp_path: Path, mounts
) -> None:
    from soak.disks import MoodyDisk
    from soak.spoiling import COMMANDS, MOODS, Spoiler

    spoiler = Spoiler(tmp_path, mounts(MoodyDisk, tmp_path / "disk"), seed=4, anchors=300)
    for place, command in enumerate(COMMANDS):
        spoiler.run(command, MOODS[place % len(MOODS)])
    assert spoiler.spoilt.wrong == []
    assert spoiler.spoilt.runs == len(COMMANDS)


# --- disks on which nothing can be written ----------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_a_disk_without_room_or_leave_still_lets_one_browse(
    tmp_path: Path, mounts, kind: str
) -> None:
    from soak.desk import Desk
    from soak.disks import SmallDisk
    from soak.together import make

    disk = mounts(SmallDisk, tmp_path / "small", "2m")
    database = disk.folder / "nfh.db"
    make(database, 3)
    before = database.read_bytes()
    if kind == "full":
        disk.fill()
    else:
        disk.set_read_only()
    with Desk(["adjudicate", "--db", str(database), "--as", "new"]) as desk:
        desk.until_said("BROWSE", f"read-only: its disk is {kind}", "00000 said")
        desk.press("y")
        desk.until_said(f"This database can only be read: its disk is {kind}.")
        desk.press("j")
        desk.until_text("00001 said")
        assert desk.quit() == 0
    with Desk(["annotate", "--db", str(database), "--as", "ann"]) as desk:
        desk.until_said(f"its disk is {kind}. Nothing can be annotated there.")
    assert database.read_bytes() == before
    copied = nfh_tui("backup", tmp_path / "copy.db", "--db", database)
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "copy.db").is_file()


# --- files deleted under the open program -----------------------------------------------------


def close_errors(desk: Any) -> None:
    """Close what is told until the rescue is offered: on a busy machine a draft, too, may have
    failed meanwhile, which is told in a dialog of its own.
    """
    for _ in range(5):
        desk.press("\x1b")
        with suppress(TimeoutError):
            desk.until_text("to another file?", limit=20)
            return
    raise AssertionError(f"no rescue is offered:\n{desk.screen.text()}")


@pytest.mark.parametrize("end", ["-wal", pytest.param("-shm", marks=pytest.mark.long)])
def test_a_file_deleted_under_the_workbench_is_noticed_and_all_is_rescued(
    tmp_path: Path, end: str
) -> None:
    """The log above all: SQLite goes on writing into it, and says that all is well."""
    from soak.checks import faults

    database = tmp_path / "nfh.db"
    with Workbench(database) as work:
        desk = work.desk
        desk.until_text("00001 said")
        database.with_name(f"nfh.db{end}").unlink()
        # Already the look each second tells it.
        desk.until_text("A file of the database is missing")
        close_errors(desk)
        desk.press("n")
        desk.press("a")
        until_answered(desk)
        desk.press("\r")
        desk.until_text("The answer is not saved.")
        assert re.search(r"saved \d", work.foot(desk.screen.text())) is None
        close_errors(desk)
        desk.press("y")
        desk.until_text("Everything is written")
        desk.press("\x1b")
        desk.until(lambda text: "Everything is written" not in text, "the desk again")
        rescues = sorted(tmp_path.glob("nfh-rescue-*.db"))
        assert desk.quit() == 0
    assert len(rescues) == 1
    (rescue,) = rescues
    assert answered(rescue)[:2] == [["YEAR"], ["AGE"]]
    assert faults(rescue) == []
    assert nfh_tui("doctor", "--db", rescue).returncode == 0
