"""Panes have a scrollbar while they are longer than they are high, and no longer; what they
show is drawn at once, without a layout that it does not need.
"""

from dataclasses import replace

import pytest
from textual.geometry import Size
from textual.widget import Widget

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


async def test_a_longer_content_moves_the_scrollbar_and_lays_out_nothing_else(open_desk):
    async with open_desk() as desk:
        view, screen = desk.screen.evidence, desk.screen
        for rows in (view.size.height + 5, view.size.height + 50):
            view.virtual_size = Size(view.size.width, rows)
            wants_layout = view._layout_required
            await desk.settle()
            assert view.show_vertical_scrollbar
            assert view.vertical_scrollbar.window_virtual_size == rows
        assert not wants_layout
        view.scroll_to(y=40, animate=False)
        view.virtual_size = Size(view.size.width, view.size.height + 5)
        assert view.scroll_offset.y == 5
        assert screen.passage.virtual_size.height == screen.passage.size.height


async def test_all_that_an_item_changes_is_sent_to_the_screen_for_one_frame(open_desk):
    async with open_desk() as desk:
        screen = desk.screen
        item = desk.state.stored_item
        desk.state.stored_item = replace(item, document="another", votes=(), gold=None)
        screen.ui.refresh_item()
        waiting = [
            widget
            for widget in screen.query(Widget)
            if widget._repaint_required or widget._layout_required
        ]
        assert not waiting
        screen.passage.refresh()
        assert screen.passage._repaint_required
