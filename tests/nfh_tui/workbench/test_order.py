"""Writes reach the store in the order of the keys, however fast these come."""

import pytest

from nfh_models.domain import Kind


async def test_undo_right_after_enter_takes_that_answer_back(open_desk, read):
    async with open_desk() as desk:
        await desk.press("a", "enter")
        for place in (1, 5):
            await desk.press("G", *["k"] * (5 - place))
            assert desk.state.position.index == place
            for key in ("y", "enter", "z"):
                desk.app.simulate_key(key)
            await desk.pilot.pause(0.5)
            await desk.settle()
            assert "YEAR" in desk.said
            assert read(place).gold is None, place
    assert read(0).gold.answer.kind is Kind.AGE


@pytest.mark.parametrize("key", ["plus", "s"])
async def test_what_the_next_key_writes_comes_after_the_answer(open_desk, read, key):
    async with open_desk() as desk:
        await desk.press("G")
        anchor_id = desk.state.visible_item.anchor_id
        for pressed in ("y", "enter", key):
            desk.app.simulate_key(pressed)
        await desk.pilot.pause(0.5)
        await desk.settle()
        if key == "plus":
            # The answer is gold by now, which would become stale.
            await desk.press("y")
        assert len(desk.app.screen_stack) == 1
        lines = await desk.screen.client.read(
            desk.screen.client.store.history.of_anchor, anchor_id
        )
        happened = [line.entity for line in lines]
        later = happened.index("anchor" if key == "plus" else "flag")
        assert happened.index("gold") < later


async def test_a_list_that_grows_has_no_bar_that_it_does_not_need(open_desk):
    async with open_desk(size=(64, 20)) as desk:
        await desk.press("S")
        entries = desk.app.screen.list
        assert entries.show_vertical_scrollbar
        await desk.pilot.resize_terminal(120, 40)
        await desk.settle()
        assert not entries.show_vertical_scrollbar
        await desk.press("escape")
