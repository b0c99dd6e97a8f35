"""The workbench on a database that can only be read, and on one whose files are lost."""

from pathlib import Path

import pytest
from textual.widgets import OptionList

from nfh_db import database as db_database
from nfh_db.errors import FullError, GoneError, ReadOnlyError
from nfh_db.passages import People
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_tui.actions import Mode
from nfh_tui.app import WorkbenchApp, run_workbench
from tests.nfh_tui.screens.conftest import until

REASON = "its disk is full"
LOST = "A file of the database is missing"


@pytest.fixture
def shut(database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As it is where nothing can be written: tests run as somebody who may everywhere."""

    def refuse(path: Path, *, create: bool) -> None:
        raise FullError(f"{path} cannot be written")

    monkeypatch.setattr(db_database, "open_writer", refuse)
    monkeypatch.setattr(db_database, "why_not_written", lambda _: REASON)
    return database


async def test_it_opens_to_read_and_says_why(open_desk, shut):
    async with open_desk() as desk:
        assert desk.state.mode is Mode.BROWSE
        assert f"read-only: {REASON}" in desk.text()
        for key in ("y", "a", "enter", "v", "x", "E", "z", "M"):
            await desk.press(key)
            assert desk.said == f"This database can only be read: {REASON}.", key
        assert desk.state.mode is Mode.BROWSE
        # To walk and to ask is reading; nothing that this would write is missed.
        await desk.press("j", "right")
        assert desk.state.position.index == 1
        await desk.screen.queue.position_writer.flush()
        await desk.press("q")
    assert desk.app.return_code == 0
    with Store.open_to_read(shut) as store:
        assert store.people.all() != ()
        assert "edith" not in {person.name for person in store.people.all()}


async def test_what_has_no_key_says_so_too(open_desk, shut):
    async with open_desk() as desk:
        desk.screen.action_act("theme")
        await until(desk, lambda: isinstance(desk.app.focused, OptionList))
        await desk.press("down", "enter")
        await until(desk, lambda: "can only be read" in desk.words())
        await desk.press("escape")


def test_who_would_annotate_is_told(shut: Path):
    # To read shows what annotators do not see.
    with pytest.raises(ReadOnlyError, match=f"only be read: {REASON}.*`nfh-tui browse`"):
        WorkbenchApp(shut, "edith", "annotate")


async def test_somebody_new_reads_where_the_disk_has_no_room_for_a_name(
    open_desk, database, monkeypatch
):
    def refuse(self: People, name: str, *, new_person: bool) -> None:
        raise FullError("no room")

    monkeypatch.setattr(People, "ensure", refuse)
    monkeypatch.setattr(db_database, "why_not_written", lambda _: REASON)
    async with open_desk(mode="browse") as desk:
        assert f"read-only: {REASON}" in desk.text()


def lost(database: Path) -> None:
    database.with_name("shell.db-wal").unlink()


def kinds(path: Path, me: str) -> list[str]:
    with Store.open(path) as store:
        ballots = store.items.ballots(parse("sort:order"))
        return [v.answer.kind.value for b in ballots for v in b.votes if v.annotator == me]


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks whether files are lost before something is written."""
    monkeypatch.setattr("nfh_tui.workbench.screen.POLL", 1000.0)


async def test_an_answer_that_is_lost_is_not_called_saved_and_can_be_rescued(
    open_desk, database, unhurried
):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter")
        assert desk.said.startswith("saved ")
        lost(database)
        await desk.press("t")
        await desk.screen.answers.draft_writer.flush()
        await desk.settle()
        assert "The draft is not saved." in desk.text()
        await desk.press("escape", "n", "enter")
        text = desk.words()
        assert "The answer is not saved." in text
        await desk.press("escape")
        assert "to another file?" in desk.text()
        assert "saved " not in desk.said
        assert "Time" in desk.text()
        await desk.press("y")
        (place,) = database.parent.glob("shell-rescue-*.db")
        assert "Everything is written" in desk.text()
        await desk.press("escape", "q")
    assert desk.app.return_code == 0
    assert kinds(place, "edith") == ["YEAR", "TIME"]
    # What lies at the old place is as it was when the log was lost; nobody wrote over it.
    assert "TIME" not in kinds_elsewhere(database)


def kinds_elsewhere(database: Path) -> list[str]:
    """As another process finds them: this one does not open the database again."""
    copy = database.with_name("copy.db")
    copy.write_bytes(database.read_bytes())
    return kinds(copy, "edith")


async def test_failed_reads_of_a_lost_database_open_no_dialog_over_the_question(
    open_desk, database, monkeypatch
):
    monkeypatch.setattr("nfh_tui.workbench.screen.POLL", 0.05)

    async def read() -> None:
        raise GoneError("nfh.db-shm is gone")

    async with open_desk() as desk:
        lost(database)
        await until(desk, lambda: LOST in desk.text())
        await desk.press("escape")
        assert "to another file?" in desk.text()
        desk.screen.item.run_latest(read, "history", "the history of an item")
        await desk.settle()
        await desk.press("y")
        assert "Everything is written" in desk.text()
        await desk.press("escape", "q")


async def test_the_loss_is_noticed_before_anything_is_written(open_desk, database, monkeypatch):
    monkeypatch.setattr("nfh_tui.workbench.screen.POLL", 0.05)
    async with open_desk() as desk:
        lost(database)
        await until(desk, lambda: LOST in desk.text())
        await desk.press("escape", "n")
        assert "nothing can be saved" in desk.text()
        await desk.press("q")
    # Who declines leaves a rescue all the same: what was saved must not go.
    assert desk.app.client.rescued is not None
    assert desk.app.client.rescued.exists()


def test_a_rescue_that_fails_at_the_end_is_told(database, monkeypatch, capsys):
    def full(_: Store) -> Path:
        raise FullError("no room")

    def lose(app: WorkbenchApp, **_: object) -> None:
        lost(database)

    monkeypatch.setattr(Store, "rescue", full)
    monkeypatch.setattr(WorkbenchApp, "run", lose)
    monkeypatch.setattr("nfh_tui.app.watch_hangup", lambda _: None)
    run_workbench(database, "edith", Mode.ANNOTATE, None)
    said = " ".join(capsys.readouterr().err.split())
    assert "shell.db-wal has been deleted or replaced" in said
    assert said.endswith("It cannot be written to another file: no room")


async def test_what_is_begun_goes_along_as_a_draft(open_desk, database, unhurried):
    async with open_desk() as desk:
        await desk.press("j", "y")
        await desk.screen.answers.draft_writer.flush()
        desk.screen.action_act("rescue")
        await desk.settle()
        assert "Everything is written" in desk.text()
        await desk.press("escape")
    (place,) = database.parent.glob("shell-rescue-*.db")
    with Store.open(place) as store:
        edith = store.people.ensure("edith")
        ids = next(store.queue.ids(parse(""), edith))
        item = store.items.read(ids[1], edith, Role.ADJUDICATOR)
        assert item is not None
        assert "YEAR" in str(item.draft)
