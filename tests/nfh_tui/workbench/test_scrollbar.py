"""Panes have a scrollbar while they are longer than they are high, and no longer."""

import pytest

from nfh_tui.services.guidelines import Guide


@pytest.mark.parametrize(("pane", "size"), [("passage", (80, 20)), ("evidence", (120, 40))])
async def test_a_pane_that_becomes_lower_has_none_that_it_does_not_need(open_desk, pane, size):
    async with open_desk(size=size) as desk:
        view = getattr(desk.screen, pane)
        desk.state.guidelines = Guide()
        desk.screen.ui.refresh_evidence()
        await desk.settle()
        assert not view.show_vertical_scrollbar
        high = view.size.height
        desk.screen.ui.set_status(news=("word " * 60,))
        await desk.settle()
        assert view.size.height < high
        assert view.virtual_size.height == view.size.height
        assert not view.show_vertical_scrollbar
