"""While others write: what one has begun, and where one stands, stay as they are."""

import asyncio

from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.widgets.status_bar import Level


def decide(database, anchor_id, name, kind=Kind.TIME):
    with Store.open(database) as store:
        who = store.people.ensure(name)
        store.edits.commit_answer(anchor_id, who, Role.ADJUDICATOR, class_answer(kind))


async def somebody_writes(desk, database, anchor_id):
    """Somebody decides another item, and the workbench has noticed."""
    decide(database, anchor_id, "otto")
    await desk.next_second()


async def test_a_check_that_takes_longer_than_the_time_between_two_is_not_cancelled(
    open_desk, read, database, monkeypatch
):
    async with open_desk() as desk:
        reload, begun, go_on = desk.screen.item.reload_all, [], asyncio.Event()

        async def reload_slowly() -> None:
            begun.append(True)
            await go_on.wait()
            await reload()

        monkeypatch.setattr(desk.screen.item, "reload_all", reload_slowly)
        decide(database, read(0).anchor_id, "otto")
        for _ in range(3):
            desk.screen.background.look_for_others()
            await desk.pilot.pause()
        assert begun == [True]
        go_on.set()
        await desk.settle()
        assert desk.state.visible_item.gold.adjudicator == "otto"


async def test_the_cursor_stays_where_it_is_beside_a_changed_answer(open_desk, read, database):
    async with open_desk() as desk:
        await desk.press("j", "y", "h", "h")
        stood = desk.state.edit.cursor
        assert stood != desk.state.visible_item.anchor.start
        await somebody_writes(desk, database, read(4).anchor_id)
        assert desk.state.edit.cursor == stood
        assert desk.state.edit.kind is Kind.YEAR


async def test_undo_still_goes_back_in_the_draft(open_desk, read, database):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter", "g", "l", "space", "space")
        assert desk.state.position.index == 0
        assert desk.state.edit.content == desk.state.initial.content
        await somebody_writes(desk, database, read(4).anchor_id)
        await desk.press("z")
        assert desk.state.edit.content != desk.state.initial.content
        assert desk.state.position.index == 0
    assert read(1).gold.answer.kind is Kind.YEAR


async def test_what_was_decided_is_not_taken_over_by_passing_through_but_by_another_answer(
    open_desk, read, database
):
    for place in (0, 1):
        decide(database, read(place).anchor_id, "otto")
    decided = read(0).gold
    async with open_desk() as desk:
        await desk.press("enter")
        assert desk.state.position.index == 1
        assert "otto" in desk.said
        await desk.press("y", "enter")
        assert "in place of the decision of otto" in desk.said
        # Gold of an import is made one's own by accepting it.
        await desk.press("enter")
    assert read(0).gold == decided
    assert read(1).gold.adjudicator == "edith"
    assert read(2).gold.adjudicator == "edith"


async def test_a_decision_that_was_just_made_is_replaced_only_if_asked_for(
    open_desk, read, database
):
    async with open_desk() as desk:
        await desk.press("j", "y")
        decide(database, read(1).anchor_id, "otto")
        await desk.press("enter")
        foot = desk.screen.key_line.foot.title
        assert "otto just decided this: Time. You say: Year" in foot
        assert read(1).gold.adjudicator == "otto"
        # Enter is none of the answers: a held one asks again.
        await desk.press("enter", "enter", "n")
        assert "The decision of otto stands" in desk.said
        assert (desk.state.position.index, desk.state.edit.kind) == (1, Kind.YEAR)
        assert read(1).gold.answer.kind is Kind.TIME
        # Asked once.
        await desk.press("enter")
        assert "in place of the decision of otto" in desk.said
        assert read(1).gold.adjudicator == "edith"
        await desk.press("k", "a")
        decide(database, read(1).anchor_id, "otto", Kind.PEOPLE)
        await desk.press("enter", "y")
        assert read(1).gold.answer.kind is Kind.AGE


async def test_the_same_decision_made_by_two_keeps_its_author(open_desk, read, database):
    async with open_desk() as desk:
        await desk.press("j")
        with Store.open(database) as store:
            for name in ("ann1", "ann2", "ann3"):
                who = store.people.ensure(name)
                answer = class_answer(Kind.TIME)
                store.edits.commit_answer(read(1).anchor_id, who, Role.ANNOTATOR, answer)
        await desk.next_second()
        assert desk.state.edit.kind is Kind.TIME
        decide(database, read(1).anchor_id, "otto")
        await desk.press("enter")
        assert "otto" in desk.said
        assert desk.state.position.index == 2
    assert read(1).gold.adjudicator == "otto"


async def test_a_long_sentence_takes_more_rows_where_the_screen_is_narrow(open_desk):
    async with open_desk(size=(60, 20)) as desk:
        sentence = " ".join(f"word{number}" for number in range(18))
        desk.screen.ui.notify(sentence, Level.REFUSED)
        await desk.pilot.pause()
        assert "word17" in desk.text()
        assert desk.screen.status_line.size.height == 3
        desk.screen.ui.notify("short")
        await desk.pilot.pause()
        assert desk.screen.status_line.size.height == 1


async def test_evidence_tells_what_people_did_and_the_list_what_came_in(open_desk):
    async with open_desk() as desk:
        await desk.press("r", "enter", "k")
        await desk.pilot.pause(0.4)
        shown = desk.text()
        assert "History" in shown
        assert "import of" not in shown
        await desk.press("L")
        assert "import of" in desk.text()
