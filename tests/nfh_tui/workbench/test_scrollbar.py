"""Panes have a scrollbar while they are longer than they are high, and no longer."""

import pytest


@pytest.mark.parametrize("pane", ["passage", "evidence"])
async def test_a_pane_that_becomes_lower_has_none_that_it_does_not_need(open_desk, pane):
    async with open_desk(size=(120, 40)) as desk:
        view = getattr(desk.screen, pane)
        assert not view.show_vertical_scrollbar
        high = view.size.height
        desk.screen.ui.set_status(news=("word " * 60,))
        await desk.settle()
        assert view.size.height < high
        assert view.virtual_size.height == view.size.height
        assert not view.show_vertical_scrollbar
