"""Nothing is called saved before it is on disk, and nothing is lost where it cannot be."""

import asyncio
import threading

import pytest

from nfh_db.errors import BusyError, FullError
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer


class Gate:
    """Holds `commit_answer` of a store back until it is opened."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        commit = store.commit_answer

        def held(*args, **kwargs):
            self.open.wait(10)
            return commit(*args, **kwargs)

        monkeypatch.setattr(store, "commit_answer", held)


async def test_saved_is_said_after_the_commit_only(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter")
        await asyncio.sleep(0.3)
        status = desk.screen.status_line.status
        assert status.busy == "saving…"
        assert "saved" not in desk.text()
        assert desk.screen.place == 2
        assert read(1).gold is None
        gate.open.set()
        await desk.settle()
        assert desk.said.startswith("saved ")
        assert desk.screen.status_line.status.busy == ""
        assert read(1).gold.answer.kind is Kind.YEAR


async def test_going_back_to_an_item_being_saved_shows_its_answer(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter", "k")
        await asyncio.sleep(0.3)
        assert desk.screen.place == 1
        assert desk.screen.edit.kind is Kind.YEAR
        gate.open.set()
        await desk.settle()
        assert desk.screen.item.gold.answer.kind is Kind.YEAR
        assert desk.screen.begun[desk.screen.item.anchor_id, Role.ADJUDICATOR] is None


async def test_quitting_waits_for_what_is_being_saved(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter", "q")
        await asyncio.sleep(0.2)
        assert desk.app.is_running
        gate.open.set()
        await asyncio.sleep(0.5)
    assert read(1).gold.answer.kind is Kind.YEAR


async def test_quitting_asks_where_saving_takes_too_long(open_desk, read, monkeypatch):
    monkeypatch.setattr("nfh_tui.screens.workbench.PATIENCE", 0.2)
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter", "q")
        await asyncio.sleep(0.6)
        assert "Leave all the same?" in desk.text()
        await desk.pilot.press("n")
        await asyncio.sleep(0.2)
        assert desk.said == "stayed"
        gate.open.set()
        await desk.settle()
    assert read(1).gold.answer.kind is Kind.YEAR


@pytest.mark.parametrize("error", [FullError("The disk is full."), BusyError("It is in use.")])
async def test_an_answer_that_cannot_be_saved_is_kept(open_desk, read, monkeypatch, error):
    async with open_desk() as desk:

        def fails(*args, **kwargs):
            raise error

        monkeypatch.setattr(desk.app.client.store, "commit_answer", fails)
        await desk.press("j", "y", "enter")
        assert str(error) in desk.text()
        assert "not saved" in desk.text()
        await desk.press("escape")
        assert desk.screen.place == 1
        assert desk.screen.edit.kind is Kind.YEAR
        monkeypatch.undo()
        await desk.press("enter")
        assert desk.said.startswith("saved ")
    assert read(1).gold.answer.kind is Kind.YEAR


async def test_a_draft_that_cannot_be_saved_is_told_once_and_tried_again(
    open_desk, read, monkeypatch
):
    async with open_desk() as desk:

        def fails(*args, **kwargs):
            raise FullError("The disk is full.")

        monkeypatch.setattr(desk.app.client.store, "save_draft", fails)
        await desk.press("j", "y")
        await asyncio.sleep(0.4)
        await desk.settle()
        assert "The disk is full." in desk.text()
        await desk.press("escape")
        assert len(desk.app.screen_stack) == 1
        monkeypatch.undo()
        await desk.pilot.press("q")
        await asyncio.sleep(0.3)
    assert "YEAR" in read(1).draft.body


async def test_a_fault_of_ours_is_told_and_the_work_goes_on(open_desk, monkeypatch):
    async with open_desk() as desk:

        def broken():
            raise RuntimeError("no [such] thing")

        monkeypatch.setattr(desk.screen, "do_heat", broken)
        await desk.press("H")
        assert "no [such] thing" in desk.text()
        await desk.press("escape", "j")
        assert desk.screen.place == 1


async def test_what_others_write_is_seen_and_the_draft_stays(open_desk, read, database):
    async with open_desk(me="edith") as desk:
        await desk.press("j", "y")
        with Store.open(database) as store:
            otto = store.annotator("otto")
            store.commit_answer(read(1).anchor_id, otto, Role.ANNOTATOR, class_answer(Kind.AGE))
            store.commit_answer(
                read(5).anchor_id, otto, Role.ADJUDICATOR, class_answer(Kind.TIME)
            )
        await asyncio.sleep(1.3)
        await desk.settle()
        assert "otto" in desk.text()
        assert "Time" in desk.text()
        assert desk.screen.edit.kind is Kind.YEAR


async def test_a_number_that_somebody_replaced_is_said_to_be_gone(open_desk, read, database):
    async with open_desk() as desk:
        await desk.press("j")
        with Store.open(database) as store:
            otto = store.annotator("otto")
            item = read(1)
            store.replace_anchor(
                item.anchor_id, otto, type(item.anchor)(item.anchor.start, item.anchor.end + 1)
            )
        await asyncio.sleep(1.3)
        await desk.settle()
        assert "no longer there" in desk.said
        assert "no longer there" in desk.text()
        await desk.press("j")
        assert desk.screen.place == 2
