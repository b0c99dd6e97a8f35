"""Which panes are in view, and that nobody decides on what is not."""

import pytest

from nfh_tui.workbench.display import FRAME, LEAST_BELOW, LEAST_LINES, PANES

LOW, TALL, LARGE, VAST = (80, 20), (80, 24), (120, 40), (160, 45)


def rows(desk, pane):
    """First and last row of a pane on the screen, None where it is not shown."""
    region = desk.screen.query_one(f"#{pane}-pane").region
    return (region.y, region.bottom) if region.height else None


def in_view(desk):
    return {name for name in PANES if rows(desk, name)}


@pytest.mark.parametrize(
    ("size", "first", "after_tab", "before"),
    [
        (LOW, {"passage"}, {"evidence"}, {"queue"}),
        (TALL, {"passage", "evidence"}, {"evidence"}, {"queue", "passage"}),
        (LARGE, PANES[:3], PANES[:3], PANES[:3]),
        pytest.param(VAST, PANES, PANES, PANES, marks=pytest.mark.long),
    ],
)
async def test_which_panes_are_in_view(open_desk, size, first, after_tab, before):
    async with open_desk(size=size) as desk:
        assert in_view(desk) == {*first}
        await desk.press("tab")
        assert in_view(desk) == {*after_tab}
        await desk.press("escape", "shift+tab")
        assert in_view(desk) == {*before}


async def test_the_evidence_takes_the_rows_that_the_passage_leaves_in_each_size(open_desk):
    async with open_desk(size=TALL) as desk:
        passage, evidence = rows(desk, "passage"), rows(desk, "evidence")
        assert passage[1] == evidence[0]
        assert desk.screen.passage.size.height >= desk.screen.passage.rows_needed
        assert evidence[1] - evidence[0] >= LEAST_BELOW
        panes = desk.screen.query_one("#panes")
        await desk.pilot.resize_terminal(*LOW)
        await desk.settle()
        assert rows(desk, "passage") == (panes.region.y, panes.region.bottom)
        await desk.pilot.resize_terminal(*LARGE)
        await desk.settle()
        needed = max(desk.screen.passage.rows_needed, LEAST_LINES)
        needed += FRAME + desk.screen.kind_strip.size.height
        assert rows(desk, "passage") == (panes.region.y, panes.region.y + needed)


@pytest.mark.parametrize(
    "mode", [pytest.param("browse", marks=pytest.mark.long), "annotate", "adjudicate"]
)
async def test_the_first_item_has_the_rows_that_it_needs(open_desk, mode):
    async with open_desk(size=TALL, mode=mode) as desk:
        await desk.settle()
        passage = desk.screen.passage
        assert passage.size.height == max(passage.rows_needed, LEAST_LINES)


async def test_in_a_wide_terminal_the_evidence_is_below_and_the_details_beside(open_desk):
    async with open_desk(size=VAST) as desk:
        regions = [desk.screen.query_one(f"#{pane}-pane").region for pane in PANES]
        queue, passage, evidence, details = regions
        assert (passage.x, passage.bottom) == (queue.right, evidence.y)
        assert (evidence.x, evidence.width) == (passage.x, passage.width)
        assert (details.x, details.height) == (passage.right, queue.height)
        text = desk.text()
        assert "Model" in text and "R6 A noun in the passage" in text
        await desk.press("j")
        assert "Numbers whose noun is missing" in desk.text(), "nothing is chosen: all rules"
        await desk.press("shift+tab", "shift+tab")
        assert desk.state.pane == "details"
        await desk.pilot.resize_terminal(*LARGE)
        await desk.settle()
        assert desk.state.pane == "evidence"
        assert in_view(desk) == {"queue", "passage", "evidence"}


async def test_what_is_chosen_in_the_queue_is_shown_before_it_is_accepted(open_desk, read):
    async with open_desk(size=LOW) as desk:
        await desk.press("shift+tab", "y")
        assert in_view(desk) == {"passage"}
        assert desk.state.edit.kind == "YEAR"
        assert read(0).gold is None
        await desk.press("shift+tab", "enter")
        assert in_view(desk) == {"passage"}
        assert read(0).gold is None
        await desk.press("enter")
    assert read(0).gold.answer.kind == "YEAR"


async def test_what_the_queue_covers_is_shown_before_an_answer_is_adopted(open_desk, read):
    async with open_desk(size=LOW) as desk:
        await desk.press("shift+tab", "alt+2")
        assert in_view(desk) == {"passage"}
        assert read(0).gold is None
        assert desk.state.edit.source == "proposal"
        await desk.press("alt+2")
    assert len(read(0).gold.answer.heads) == 2


def strip_text(desk):
    """The rows of the keys of kinds, as they are drawn."""
    strip = desk.screen.kind_strip
    return ["".join(run.text for run in row) for row in strip.rows(strip.size.width)]


def lit(desk):
    strip = desk.screen.kind_strip
    return [kind.name for kind in strip.kinds if kind.lit]


async def test_the_keys_of_kinds_stand_under_the_passage_and_not_while_reading(open_desk):
    async with open_desk(size=TALL) as desk:
        assert strip_text(desk) == [
            " r Ref y Year a Age c Currency p People t Time o Other n Unknown x Not d Damaged"
        ]
        strip = desk.screen.kind_strip.region
        assert strip.y == desk.screen.passage.region.bottom
        assert (strip.height, lit(desk)) == (1, ["Reference"])
        await desk.press("y")
        assert lit(desk) == ["Year"]
        await desk.press("z", "j")
        assert lit(desk) == []
        await desk.press("k", "M")
        await desk.settle()
        assert (strip_text(desk), desk.screen.kind_strip.size.height) == ([], 0)
        passage = desk.screen.passage
        assert passage.size.height == max(passage.rows_needed, LEAST_LINES)
        await desk.press("M")
        assert desk.screen.kind_strip.size.height == 1


async def test_the_keys_of_kinds_fit_a_narrow_pane(open_desk):
    async with open_desk(size=(60, 24)) as desk:
        for width, expected in (
            (
                60,
                [
                    " r Reference y Year a Age c Currency p People t Time o Other",
                    " n Unknown x Not an NFH d Damaged",
                ],
            ),
            (34, [" r Ref y Year a Age c Curr p Peop", " t Time o Oth n Unkn x Not d Dam"]),
        ):
            await desk.pilot.resize_terminal(width, 24)
            await desk.settle()
            assert strip_text(desk) == expected
            assert desk.screen.kind_strip.size.height == 2, width
            passage = desk.screen.passage
            assert passage.size.height >= min(passage.rows_needed, LEAST_LINES), width
