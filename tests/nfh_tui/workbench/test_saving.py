"""Nothing is called saved before it is on disk, and nothing is lost where it cannot be."""

import pytest

from nfh_db.errors import BusyError, FullError
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from tests import idle


class Gate:
    """Holds `commit_answer` of a store back until it is opened."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = idle.Gate()
        commit = store.edits.commit_answer

        def held(*args, **kwargs):
            self.open.wait(10)
            return commit(*args, **kwargs)

        monkeypatch.setattr(store.edits, "commit_answer", held)


async def test_saved_is_said_after_the_commit_only(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter")
        await desk.pilot.pause(0.3)
        status = desk.screen.status_line.status
        assert status.busy == "saving…"
        assert "saved" not in desk.text()
        assert desk.state.position.index == 2
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
        await desk.pilot.pause(0.3)
        assert desk.state.position.index == 1
        assert desk.state.edit.kind is Kind.YEAR
        gate.open.set()
        await desk.settle()
        assert desk.state.visible_item.gold.answer.kind is Kind.YEAR
        assert desk.state.drafts[desk.state.visible_item.anchor_id, Role.ADJUDICATOR] is None


async def test_quitting_waits_for_what_is_being_saved(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter", "q")
        await desk.pilot.pause(0.2)
        assert desk.app.is_running
        gate.open.set()
        await desk.pilot.pause(0.5)
    assert read(1).gold.answer.kind is Kind.YEAR


async def test_quitting_asks_where_saving_takes_too_long(open_desk, read, monkeypatch):
    monkeypatch.setattr("nfh_tui.workbench.screen.PATIENCE", 0.2)
    async with open_desk() as desk:
        gate = Gate(desk.app.client.store, monkeypatch)
        await desk.pilot.press("j", "y", "enter", "q")
        await desk.pilot.pause(0.6)
        assert "Quit anyway?" in desk.text()
        await desk.pilot.press("n")
        await desk.pilot.pause(0.2)
        assert desk.said == "stayed"
        gate.open.set()
        await desk.settle()
    assert read(1).gold.answer.kind is Kind.YEAR


async def test_an_answer_that_cannot_be_saved_is_kept(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        await desk.press("j")
        for key, kind, error in (
            ("y", Kind.YEAR, FullError("The disk is full.")),
            ("a", Kind.AGE, BusyError("It is in use.")),
            ("t", Kind.TIME, RuntimeError("unheard-of")),
        ):

            def fails(*args, error=error, **kwargs):
                raise error

            with monkeypatch.context() as patch:
                patch.setattr(desk.app.client.store.edits, "commit_answer", fails)
                await desk.press(key, "enter")
                await desk.pilot.pause(0.2)
                assert str(error) in desk.text()
                assert "not saved" in desk.text()
                await desk.press("escape")
                assert desk.state.position.index == 1
                assert desk.state.edit.kind is kind
        await desk.press("enter")
        assert desk.said.startswith("saved ")
    assert read(1).gold.answer.kind is Kind.TIME


async def test_a_draft_that_cannot_be_saved_is_told_once_and_tried_again(
    open_desk, read, monkeypatch
):
    async with open_desk() as desk:

        def fails(*args, **kwargs):
            raise FullError("The disk is full.")

        monkeypatch.setattr(desk.app.client.store.workspace, "save_draft", fails)
        await desk.press("j", "y")
        await desk.pilot.pause(0.4)
        await desk.settle()
        assert "The disk is full." in desk.text()
        await desk.press("escape")
        assert len(desk.app.screen_stack) == 1
        monkeypatch.undo()
        await desk.pilot.press("q")
        await desk.pilot.pause(0.3)
    assert "YEAR" in read(1).draft.body


class FullDisk:
    """Lets every write of a store fail while it lasts."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lasts = True
        for subject, name in (
            (store.edits, "commit_answer"),
            (store.workspace, "save_draft"),
            (store.workspace, "save_position"),
        ):
            monkeypatch.setattr(subject, name, self._failing(getattr(subject, name)))

    def _failing(self, write):
        def run(*args):
            if self.lasts:
                raise FullError("The disk is full.")
            return write(*args)

        return run


async def test_on_a_full_disk_one_reads_on_undisturbed(open_desk, monkeypatch):
    async with open_desk(mode="browse") as desk:
        FullDisk(desk.app.client.store, monkeypatch)
        for _ in range(4):
            await desk.press("j")
            await desk.pilot.pause(0.25)
            assert len(desk.app.screen_stack) == 1
        assert desk.state.position.index == 4
        assert "Your place in the queue is not saved. The disk is full." in desk.said


async def test_a_full_disk_is_told_once_and_stands_there_until_it_is_over(
    open_desk, read, monkeypatch
):
    async with open_desk() as desk:
        disk = FullDisk(desk.app.client.store, monkeypatch)
        await desk.press("j", "y")
        await desk.pilot.pause(0.3)
        assert "The draft is not saved. The disk is full." in desk.text()
        await desk.press("escape")
        for key in ("j", "t", "j", "c"):
            await desk.press(key)
            await desk.pilot.pause(0.25)
            assert len(desk.app.screen_stack) == 1
            assert "draft not on disk" in desk.text()
        disk.lasts = False
        await desk.press("p")
        await desk.pilot.pause(0.5)
        assert "draft not on disk" not in desk.text()
        # Left without q: what failed was written as soon as anything could be.
    for place, kind in ((1, "YEAR"), (2, "TIME"), (3, "PEOPLE")):
        assert kind in read(place).draft.body


async def test_what_is_said_to_be_kept_is_kept(open_desk, read, monkeypatch):
    async with open_desk() as desk:
        disk = FullDisk(desk.app.client.store, monkeypatch)
        await desk.press("j")
        # In one go: the dialog about the draft must not take the enter.
        for key in ("y", "enter"):
            desk.app.simulate_key(key)
        shown = [""]
        for _ in range(100):
            await desk.pilot.pause(0.1)
            if len(desk.app.screen_stack) > 1:
                await desk.pilot.pause(0.2)
                shown.append(desk.text())
                await desk.press("escape")
            if "The answer is not saved. The disk is full." in shown[-1]:
                break
        await desk.pilot.pause(0.3)
        assert len(desk.app.screen_stack) == 1
        assert not any("kept as a draft" in text for text in shown)
        assert "only in this window" in shown[-1]
        assert desk.state.edit.kind is Kind.YEAR
        disk.lasts = False
        await desk.press("enter")
        assert desk.said.startswith("saved ")
        await desk.press("k", "a")
        await desk.pilot.pause(0.3)
        await desk.press("z", "q")
    assert read(1).gold.answer.kind is Kind.YEAR
    assert read(1).draft is None


async def test_a_fault_of_ours_is_told_and_the_work_goes_on(open_desk, monkeypatch):
    async with open_desk() as desk:

        def broken():
            raise RuntimeError("no [such] thing")

        monkeypatch.setitem(desk.screen.handlers, "heat", broken)
        await desk.press("H")
        assert "no [such] thing" in desk.text()
        await desk.press("escape", "j")
        assert desk.state.position.index == 1


async def test_what_others_write_is_seen_and_the_draft_stays(open_desk, read, database):
    async with open_desk(me="edith") as desk:
        await desk.press("j", "y")
        with Store.open(database) as store:
            otto = store.people.ensure("otto")
            store.edits.commit_answer(
                read(1).anchor_id, otto, Role.ANNOTATOR, class_answer(Kind.AGE)
            )
            store.edits.commit_answer(
                read(5).anchor_id, otto, Role.ADJUDICATOR, class_answer(Kind.TIME)
            )
        await desk.pilot.pause(1.3)
        await desk.settle()
        assert "otto" in desk.text()
        assert "Time" in desk.text()
        assert desk.state.edit.kind is Kind.YEAR


async def test_a_number_that_somebody_replaced_is_said_to_be_gone(open_desk, read, database):
    async with open_desk() as desk:
        await desk.press("j")
        with Store.open(database) as store:
            otto = store.people.ensure("otto")
            item = read(1)
            store.edits.replace_anchor(
                item.anchor_id,
                otto,
                Role.ADJUDICATOR,
                type(item.anchor)(item.anchor.start, item.anchor.end + 1),
                store.edits.stale_labels(item.anchor_id, otto),
            )
        await desk.pilot.pause(1.3)
        await desk.settle()
        assert "no longer there" in desk.said
        assert "no longer there" in desk.text()
        await desk.press("j")
        assert desk.state.position.index == 2
