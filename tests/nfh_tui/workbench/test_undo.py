"""Undo and redo: in the draft, across items, and after a restart."""

from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer


async def test_flags_and_skips_and_the_draft_before_what_is_saved(open_desk, read):
    async with open_desk() as desk:
        await desk.press("exclamation_mark", "m", "j", "s", "z")
        assert desk.state.position.index == 1
        await desk.press("z")
        assert desk.state.position.index == 0
        assert read(0).flags == read(1).flags == ()
        await desk.press("j", "y", "enter", "j", "a", "t")
        await desk.press("z")
        assert desk.state.edit.kind is Kind.AGE
        await desk.press("Z")
        assert desk.state.edit.kind is Kind.TIME
        await desk.press("z", "z", "z")
        assert "undone: gold YEAR" in desk.said
        assert desk.state.position.index == 1
    assert read(1).gold is None
    assert read(3).draft is None


async def test_across_items_and_forth_again(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter", "G", "c", "enter", "g")
        await desk.press("z")
        assert desk.state.position.index == 5
        assert read(5).gold is None
        await desk.press("z")
        assert desk.state.position.index == 1
        assert read(1).gold is None
        await desk.press("z")
        assert "There is nothing to undo" in desk.said
        await desk.press("Z", "Z")
        assert "redone" in desk.said
        await desk.press("Z")
        assert "There is nothing to redo" in desk.said
    assert read(1).gold.answer.kind is Kind.YEAR
    assert read(5).gold.answer.kind is Kind.CURRENCY


async def test_after_a_restart(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter", "G", "q")
    async with open_desk() as desk:
        assert desk.state.position.index == 5
        await desk.press("z")
        assert desk.state.position.index == 1
        assert read(1).gold is None
    async with open_desk() as desk:
        await desk.press("Z")
    assert read(1).gold.answer.kind is Kind.YEAR


async def test_a_widened_number_comes_back_in_its_place(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "plus", "z")
        assert desk.state.position.index == 1
        assert not desk.state.position.is_detached
        assert desk.state.visible_item.anchor.end == 5
        await desk.press("Z")
        assert desk.state.visible_item.anchor.end == 6
        assert not desk.state.position.is_detached
    async with open_desk() as desk:
        await desk.press("z")
        assert desk.state.visible_item.anchor.end == 5
        assert not desk.state.position.is_detached
    assert read(1).anchor.end == 5


async def test_what_somebody_changed_since_is_not_undone(open_desk, read, database):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter")
        with Store.open(database) as store:
            other = store.people.ensure("otto")
            anchor_id = read(1).anchor_id
            store.edits.commit_answer(
                anchor_id, other, Role.ADJUDICATOR, class_answer(Kind.TIME)
            )
        await desk.press("z")
        assert "otto" in desk.said
        assert desk.said.startswith("“gold YEAR” cannot be undone")
    assert read(1).gold.answer.kind is Kind.TIME
