"""The queue: any number of rows, of which only those in view are fetched."""

import asyncio
from array import array
from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp

from nfh_db.records import AnchorState, FlagName, QueueRow
from nfh_models.domain import Blocking, Kind
from nfh_tui.display_text import cut_left
from nfh_tui.textual_support import one_line, pad
from nfh_tui.widgets.queue_list import KNOWN, QueueList, row_flags, row_note
from nfh_tui.workbench.session import IdList
from tests import idle
from tests.frames import drawn_lines

ROWS = 100_000


def row(anchor_id: int, **more: object) -> QueueRow:
    given = {
        "before": f"before {anchor_id} ",
        "word": "one",
        "after": " after",
        "state": AnchorState.OPEN,
        "kind": None,
        "strongest": None,
        "pattern": "",
        "flags": (),
    }
    return QueueRow(anchor_id, **(given | more))  # type: ignore[arg-type]


class Listing(App[None]):
    def __init__(self, count: int = ROWS) -> None:
        super().__init__()
        self.asked: list[Sequence[int]] = []
        self.state = AnchorState.OPEN
        self.gone: set[int] = set()
        self.ids = IdList()
        self.ids.extend(array("q", range(1, count + 1)))
        self.queue = QueueList(self.fetch)

    def compose(self) -> ComposeResult:
        yield self.queue

    def on_mount(self) -> None:
        self.queue.show_ids(self.ids)

    async def fetch(self, ids: Sequence[int]) -> tuple[QueueRow, ...]:
        self.asked.append(ids)
        return tuple(row(i, state=self.state) for i in ids if i not in self.gone)

    def text(self) -> str:
        return "\n".join(strip.text for strip in drawn_lines(self.app))


async def test_a_hundred_thousand_rows_need_few_fetches():
    app = Listing()
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        assert len(app.asked) == 1
        for place in range(200):
            app.queue.current = place
        await pilot.pause(0.1)
        assert len(app.asked) <= 8
        app.queue.current = ROWS - 1
        await pilot.pause(0.1)
        assert "before 100000" in app.text()
        app.queue.current = 0
        await pilot.pause(0.1)
        assert "before 1 " in app.text()
        assert len(app.asked) <= 10
        assert sum(map(len, app.asked)) < 1500


async def test_few_rows_are_kept():
    app = Listing()
    async with app.run_test(size=(60, 30)):
        for place in range(0, ROWS, 1000):
            app.queue.current = place
            await idle.wait_for_idle()
        assert len(app.queue._rows) <= KNOWN


async def test_rows_are_drawn_before_they_are_known():
    app = Listing(500)

    async def never(ids: Sequence[int]) -> tuple[QueueRow, ...]:
        return await asyncio.sleep(5, ())

    app.queue._fetch = never
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        assert "loading…" in app.text()


async def test_a_row_is_refreshed_in_place_and_a_lost_one_says_so():
    app = Listing(50)
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        app.state = AnchorState.DECIDED
        await app.queue.refresh_rows([3])
        await pilot.pause()
        assert app.text().count("✓") == 1
        app.gone = {5}
        await app.queue.refresh_visible()
        await pilot.pause()
        assert app.text().count("✓") == 29
        assert "no longer there" in app.text().splitlines()[4]
        asked = len(app.asked)
        await pilot.pause(0.1)
        assert len(app.asked) == asked


async def test_a_list_that_grows_keeps_its_place():
    app = Listing(10)
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        app.queue.current = 4
        app.ids.extend(array("q", range(11, 5000)))
        app.queue.grown()
        await pilot.pause(0.1)
        assert app.queue.current == 4
        assert "before 20 " in app.text()


async def test_the_marked_row_is_always_in_view():
    app = Listing(1000)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        for place in [*range(40), 500, 499, 480, 999, 0, *range(30, 0, -1)]:
            app.queue.current = place
            await idle.wait_for_idle()
            assert "▌" in app.text()
        await pilot.resize_terminal(60, 5)
        await pilot.pause()
        assert "▌" in app.text()


async def test_while_another_item_is_shown_no_row_is_marked_as_shown():
    app = Listing(10)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        app.queue.away = True
        await pilot.pause()
        assert "▌" not in app.text()
        assert app.text().splitlines()[0].startswith("┆")
        app.queue.current = 3
        await pilot.pause()
        assert [line[0] for line in app.text().splitlines()[:4]] == [" ", " ", " ", "┆"]
        app.queue.away = False
        await pilot.pause()
        assert app.text().splitlines()[3].startswith("▌")
        assert "┆" not in app.text()


@pytest.mark.parametrize("width", [20, 33, 60, 120])
@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"before": "漢字" * 40, "word": "七", "after": "🎈" * 40},
        {"before": "\x1b[31m\t", "word": "[red]", "after": "[/]" * 30},
        {"before": "e\u0301" * 50, "word": "one\u0301", "after": "\nא" * 30},
        {"before": "", "word": "twenty-two thousand and three hundred" * 3, "after": ""},
    ],
)
async def test_each_row_is_exactly_as_wide_as_the_list(width, texts):
    app = Listing(3)

    async def fetch(ids: Sequence[int]) -> tuple[QueueRow, ...]:
        flags = (FlagName.SKIP, FlagName.AMBIGUOUS)
        return tuple(row(i, kind=Kind.CURRENCY, flags=flags, **texts) for i in ids)

    app.queue._fetch = fetch
    async with app.run_test(size=(width, 5)) as pilot:
        await pilot.pause(0.05)
        for y in range(3):
            strip = app.queue.render_line(y)
            cells = sum(segment.cell_length for segment in strip)
            assert cells == app.queue.scrollable_content_region.width
            assert "\x1b" not in strip.text


@pytest.mark.parametrize(
    ("more", "width", "note"),
    [
        ({}, 13, ""),
        ({"state": AnchorState.DECIDED, "kind": Kind.AGE}, 13, "Age"),
        ({"state": AnchorState.ANSWERED, "pattern": "3-0"}, 13, "3-0"),
        (
            {"state": AnchorState.DISAGREE, "pattern": "2-1", "strongest": Blocking.PARTIAL},
            13,
            "2-1 partial",
        ),
        (
            {"state": AnchorState.DISAGREE, "pattern": "2-1", "strongest": Blocking.NOUN},
            7,
            "noun",
        ),
        ({"state": AnchorState.DISAGREE, "strongest": Blocking.ANSWERABILITY}, 13, "answer?"),
    ],
)
def test_what_stands_at_the_right_of_a_row(more, width, note):
    assert row_note(row(1, **more), width) == note


def test_each_flag_has_its_sign():
    assert row_flags(row(1, flags=tuple(FlagName))) == "»amg"


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "…def"),
        ("漢字漢字", 5, "…漢字"),
        ("漢字漢字", 4, "…字"),
        ("ae\u0301b", 2, "…b"),
        ("ae\u0301be\u0301", 2, "…e\u0301"),
        ("abc", 0, ""),
    ],
)
def test_the_end_of_a_text_in_so_many_cells(text, width, cut):
    assert cut_left(text, width) == cut


def test_padding_and_line_ends():
    assert pad("ab", 4) == "ab  "
    assert pad("abcdef", 4) == "abc…"
    assert one_line("a\r\nb\nc\x1b") == "a / b / c␛"


async def test_a_click_on_a_row_shows_its_item_and_keeps_the_draft(open_desk):
    async with open_desk() as desk:
        await desk.press("y")
        await desk.pilot.click("#queue", offset=(6, 2))
        await desk.settle()
        assert desk.state.position.index == 2
        assert desk.state.visible_item.anchor_id == desk.state.ids[2]
        assert desk.screen.queue_list.current == 2
        await desk.pilot.click("#queue", offset=(6, 20))
        await desk.settle()
        assert desk.state.position.index == 2, "below the last row is nothing"
        await desk.pilot.click("#queue", offset=(6, 0))
        await desk.settle()
        assert desk.state.edit.kind is Kind.YEAR


async def test_the_wheel_keeps_the_marked_row_in_view(open_desk):
    async with open_desk(size=(120, 8)) as desk:
        queue = desk.screen.queue_list
        assert queue.page < len(desk.state.ids)

        async def turn(event):
            await desk.pilot._post_mouse_events([event], "#queue", button=0)
            await desk.settle()
            return round(queue.scroll_offset.y)

        assert await turn(MouseScrollDown) == 0, "the first row is the marked one"
        await desk.press("j", "j", "j", "j")
        assert queue.current == 4
        assert await turn(MouseScrollDown) == len(desk.state.ids) - queue.page
        assert await turn(MouseScrollUp) == max(0, 5 - queue.page)
