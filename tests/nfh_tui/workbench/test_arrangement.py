"""Which panes are in view, and that nobody decides on what is not."""

import pytest

from nfh_tui.workbench.display import LEAST_BELOW, LEAST_LINES

LOW, TALL, LARGE = (80, 20), (80, 24), (120, 40)


def rows(desk, pane):
    """First and last row of a pane on the screen, None where it is not shown."""
    region = desk.screen.query_one(f"#{pane}-pane").region
    return (region.y, region.bottom) if region.height else None


def in_view(desk):
    return {name for name in ("queue", "passage", "evidence") if rows(desk, name)}


@pytest.mark.parametrize(
    ("size", "keys", "expected"),
    [
        (LOW, [], {"passage"}),
        (LOW, ["tab"], {"evidence"}),
        (LOW, ["shift+tab"], {"queue"}),
        (TALL, [], {"passage", "evidence"}),
        (TALL, ["tab"], {"evidence"}),
        (TALL, ["shift+tab"], {"queue", "passage"}),
        (LARGE, [], {"queue", "passage", "evidence"}),
        (LARGE, ["shift+tab"], {"queue", "passage", "evidence"}),
    ],
)
async def test_which_panes_are_in_view(open_desk, size, keys, expected):
    async with open_desk(size=size) as desk:
        await desk.press(*keys)
        assert in_view(desk) == expected


async def test_the_evidence_takes_the_rows_that_the_passage_leaves(open_desk):
    async with open_desk(size=TALL) as desk:
        passage, evidence = rows(desk, "passage"), rows(desk, "evidence")
        assert passage[1] == evidence[0]
        assert desk.screen.passage.size.height >= desk.screen.passage.rows_needed
        assert evidence[1] - evidence[0] >= LEAST_BELOW


@pytest.mark.parametrize("mode", ["browse", "annotate", "adjudicate"])
async def test_the_first_item_has_the_rows_that_it_needs(open_desk, mode):
    async with open_desk(size=TALL, mode=mode) as desk:
        await desk.settle()
        passage = desk.screen.passage
        assert passage.size.height == max(passage.rows_needed, LEAST_LINES)


async def test_the_rows_are_shared_anew_in_another_size(open_desk):
    async with open_desk(size=TALL) as desk:
        for size in (LOW, LARGE):
            await desk.pilot.resize_terminal(*size)
            await desk.settle()
            panes = desk.screen.query_one("#panes").region
            assert rows(desk, "passage") == (panes.y, panes.bottom)


async def test_what_is_chosen_in_the_queue_is_shown_before_it_is_saved(open_desk, read):
    async with open_desk(size=LOW) as desk:
        await desk.press("shift+tab", "y")
        assert in_view(desk) == {"passage"}
        assert desk.state.edit.kind == "YEAR"
        assert read(0).gold is None


async def test_nothing_is_accepted_that_is_not_in_view(open_desk, read):
    async with open_desk(size=LOW) as desk:
        await desk.press("y", "shift+tab", "enter")
        assert in_view(desk) == {"passage"}
        assert read(0).gold is None
        await desk.press("enter")
    assert read(0).gold.answer.kind == "YEAR"
