"""Queries, searches, views, panes, themes, copying: what changes only what is seen."""

import asyncio
from dataclasses import replace
from itertools import chain

import pytest
from rich.console import Console

from nfh_db.store import Store
from nfh_tui.screens.dialogs import indented
from nfh_tui.theme import DARK
from tests.frames import drawn_lines

SIZES = [
    (60, 20),
    (99, 30),
    (100, 30),
    *(pytest.param(size, marks=pytest.mark.long) for size in [(80, 24), (120, 40), (200, 60)]),
]


async def test_a_query_with_live_count_and_completion_and_one_that_is_wrong(open_desk):
    async with open_desk(mode="browse") as desk:
        await desk.press("colon", *"stat:x")
        await desk.pilot.pause(0.1)
        assert "no such key" in desk.screen.bar.note
        await desk.press("enter")
        assert "no such key" in desk.said
        assert len(desk.state.ids) == 6
        await desk.press("escape")
        await desk.press("colon", *"sta")
        await desk.press("tab")
        assert desk.screen.bar.text == "state:"
        await desk.press(*"op")
        assert "open" in desk.text().splitlines()[-1]
        await desk.press("tab")
        assert desk.screen.bar.text == "state:open"
        await desk.pilot.pause(0.1)
        assert desk.screen.bar.note == "3 items"
        await desk.press("enter")
        assert len(desk.state.ids) == 3
        assert desk.state.query.text == "state:open"
        assert "state:open" in desk.text().splitlines()[0]


async def test_tab_goes_through_the_offers_in_quick_succession_too(open_desk):
    async with open_desk(mode="browse") as desk:
        await desk.press("colon", *"s")
        seen = []
        for _ in range(5):
            await desk.press("tab")
            seen.append(desk.screen.bar.text)
        assert seen == ["state:", "split:", "said:", "sort:", "state:"]
        await desk.press("escape")
        assert desk.state.query.text == ""
        await desk.press("colon", *"s")
        # Nothing is told of the first change before the second is made.
        desk.screen.bar.complete()
        desk.screen.bar.complete()
        assert desk.screen.bar.text == "split:"
        await desk.settle()
        await desk.press("tab")
        assert desk.screen.bar.text == "said:"


async def test_completion_offers_what_the_database_knows(open_desk):
    async with open_desk(mode="browse") as desk:
        await desk.press("colon", *"by:")
        await desk.pilot.pause(0.2)
        await desk.press(*"ann")
        await desk.screen.item.reload()
        await desk.settle()
        assert "ann2" in desk.text().splitlines()[-1]
        await desk.press("tab", "enter")
        assert desk.state.query.text == "by:ann1"


async def test_what_is_typed_after_a_wrong_query_goes_to_the_bar(open_desk):
    async with open_desk(query="state:open") as desk:
        item = desk.state.anchor_id
        # In one go, as a quick typist or a paste does.
        for key in ["colon", *"clas:AGE", "enter", *"sss"]:
            desk.app.simulate_key(key)
        await desk.settle()
        bar = desk.screen.bar
        assert (bar.is_open, bar.text) == (True, "clas:AGEsss")
        assert (desk.state.anchor_id, desk.state.position.index) == (item, 0)
        assert not desk.state.stored_item.flags
        await desk.press("ctrl+u", *"  clas:AGE state:open", "enter")
        assert "no such key" in bar.note
        assert "no such key" in desk.said
        assert bar._input.mark.part == (2, 10)
        assert bar.cursor == 10
        await desk.press(*["backspace"] * 4)
        assert bar._input.mark.part == (0, 0)
        assert "no such key" not in desk.said
        await desk.press("ctrl+u", *"class:AGE", "enter")
        assert not bar.is_open
        assert desk.state.query.text == "class:AGE state:open"


async def test_escape_leaves_a_wrong_query_and_keeps_the_one_before(open_desk):
    async with open_desk(query="state:open") as desk:
        await desk.press("colon", *"clas:AGE", "enter", "escape", "j")
        assert not desk.screen.bar.is_open
        assert (desk.state.query.text, desk.state.position.index) == ("state:open", 1)


async def test_every_query_that_cannot_be_shown_keeps_the_bar(open_desk):
    async with open_desk() as desk:
        for text, why, part in (
            ("@nope", "No view is named “nope”", (1, 5)),
            ("sort:models/nope", "no model of resolution has that name", (0, 0)),
            ('text:"open', "is not closed", (5, 10)),
        ):
            await desk.press("colon", *text, "enter")
            assert why in desk.said
            assert desk.screen.bar._input.mark.part == part, text
            await desk.press("x")
            assert desk.screen.bar.text == f"{text}x"
            await desk.press("escape")


async def test_while_the_ids_of_a_query_are_read_the_last_item_stays_on_the_screen(
    open_desk, monkeypatch
):
    async with open_desk() as desk:
        load, go_on = desk.screen.queue._load_ids, asyncio.Event()

        async def load_slowly(*arguments: object) -> None:
            await go_on.wait()
            await load(*arguments)

        monkeypatch.setattr(desk.screen.queue, "_load_ids", load_slowly)
        await desk.pilot.press("colon", *"gold:AGE", "enter")
        await desk.pilot.pause()
        assert "two of mine" in desk.text()
        assert "empty" not in desk.text()
        go_on.set()
        await desk.settle()
        assert "turned forty" in desk.text()


async def test_a_query_refused_to_annotators_keeps_the_bar(open_desk):
    async with open_desk(mode="annotate") as desk:
        await desk.press("colon", *"rule:expert", "enter")
        assert "annotat" in desk.said
        await desk.press("y")
        assert desk.screen.bar.text == "rule:experty"
        await desk.press("escape")
        assert desk.state.edit.kind is None


async def test_a_search_narrows_and_escape_widens_again(open_desk):
    async with open_desk(mode="browse", query="split:dev") as desk:
        await desk.press("slash", *"months left")
        await desk.pilot.pause(0.1)
        assert desk.screen.bar.note == "1 item"
        await desk.press("enter")
        assert len(desk.state.ids) == 1
        assert desk.state.query.text == 'split:dev text:"months left"'
        await desk.press("escape")
        assert desk.state.query.text == "split:dev"
        assert len(desk.state.ids) == 6
        assert "forty" in desk.text()
        await desk.press("escape")
        assert "Nothing is open" in desk.said
        assert desk.app.is_running


async def test_a_search_for_nothing_and_one_that_finds_nothing(open_desk):
    async with open_desk(mode="browse") as desk:
        await desk.press("slash", "enter")
        assert len(desk.state.ids) == 6
        await desk.press("slash", *'zz"[/b]', "enter")
        assert len(desk.state.ids) == 0
        assert "shows other items; esc goes back to the previous query." in desk.text()
        assert "Unknown" not in desk.text()
        for key in ("j", "k", "G", "right_square_bracket", "h", "down", "L", "Y"):
            await desk.press(key)
        await desk.press("M", "y", "enter", "s", "exclamation_mark", "semicolon", "plus", "f")
        await desk.press("escape")
        assert len(desk.state.ids) == 6


async def test_out_of_an_empty_queue_that_was_left_escape_leads_to_all_items(open_desk):
    async with open_desk(mode="adjudicate") as desk:
        await desk.press("slash", *"zzzz", "enter", "q")
    async with open_desk(mode="adjudicate") as desk:
        assert len(desk.state.ids) == 0
        assert "The queue is empty. : shows other items; esc shows all items." in desk.text()
        await desk.press("escape")
        assert len(desk.state.ids) == 6
        await desk.press("escape")
        assert desk.said == "Nothing is open. q quits."


async def test_the_item_stays_where_it_is_among_what_is_found(open_desk):
    async with open_desk(mode="browse") as desk:
        await desk.press("G")
        anchor_id = desk.state.visible_item.anchor_id
        await desk.press("colon", *"state:open", "enter")
        assert desk.state.visible_item.anchor_id == anchor_id


async def test_views_are_saved_listed_and_named_in_a_query(open_desk, database):
    async with open_desk(mode="browse", query="state:open") as desk:
        desk.screen.action_act("view.save")
        await desk.settle()
        await desk.press(*"[b]mine", "enter")
        assert "[b]mine" in desk.said
        await desk.press("colon", *["backspace"] * 10, "enter")
        assert len(desk.state.ids) == 6
        desk.screen.action_act("view.open")
        await desk.settle()
        assert "[b]mine" in desk.text()
        await desk.press("enter")
        assert len(desk.state.ids) == 3
        await desk.press("colon", *["backspace"] * 10, *"@nope", "enter")
        assert "No view is named" in desk.said
        await desk.press("escape")
        await desk.press("colon", *["backspace"] * 10, "enter")
        await desk.press("colon", *"@[b]mine", "enter")
        assert desk.state.query.text == "state:open"
    with Store.open(database) as store:
        assert store.workspace.views(store.people.ensure("edith")) == (
            ("[b]mine", "state:open"),
        )


async def test_undecided_items_are_found_both_ways(open_desk):
    async with open_desk() as desk:
        await desk.press("j", "right_square_bracket")
        assert desk.state.position.index == 3
        await desk.press("left_square_bracket")
        assert desk.state.position.index == 1
        await desk.press("G", "right_square_bracket")
        assert "one is open" in desk.said


async def test_for_an_annotator_what_waits_is_what_is_not_answered(open_desk):
    async with open_desk(mode="annotate") as desk:
        await desk.press("j", "j", "a", "enter", "k", "k", "right_square_bracket")
        assert desk.state.position.index == 3


@pytest.mark.parametrize("size", SIZES)
async def test_one_pane_at_a_time_below_100_columns(open_desk, size):
    async with open_desk(size=size) as desk:
        wide = size[0] >= 100
        shown = {
            pane: desk.screen.query_one(f"#{pane}-pane").display
            for pane in ("queue", "passage", "evidence")
        }
        # With 22 rows or more the evidence stands below the passage.
        beside = wide or size[1] >= 22
        assert shown == {"queue": wide, "passage": True, "evidence": beside}
        assert desk.text().splitlines()[0].strip().startswith("Queue" if wide else "▌Passage")
        await desk.press("tab")
        assert desk.screen.query_one("#evidence-pane").display
        assert desk.screen.query_one("#passage-pane").display == wide
        assert "▌Evidence" in desk.text()
        await desk.press("tab")
        if size[0] >= 150:
            assert "▌Details" in desk.text()
            await desk.press("tab")
        assert "▌Queue" in desk.text()
        await desk.press("down")
        assert desk.state.position.index == 1
        await desk.press("escape")
        assert "▌Passage" in desk.text()
        last = desk.text().splitlines()[-1]
        assert "enter accept" in last
        assert "q quit" in last


@pytest.mark.parametrize("size", [(60, 20), pytest.param((80, 24), marks=pytest.mark.long)])
async def test_all_of_the_loop_works_in_a_small_terminal(open_desk, read, size):
    async with open_desk(size=size) as desk:
        assert "Reference: boots" in desk.text()
        assert "2 of 3" in desk.text()
        await desk.press("j", "y")
        assert "Year" in desk.text()
        await desk.press("enter")
        assert "saved " in desk.text()
    assert read(1).gold.answer.kind == "YEAR"


async def test_growing_the_terminal_shows_all_panes(open_desk):
    async with open_desk(size=(80, 24)) as desk:
        await desk.pilot.resize_terminal(130, 40)
        await desk.settle()
        assert "Evidence" in desk.text()
        assert "Queue" in desk.text()


async def test_the_cursor_goes_by_the_lines_of_the_passage_and_by_a_click(open_desk):
    async with open_desk() as desk:
        await desk.press("up")
        assert desk.state.edit.cursor < 8
        before = desk.state.edit.cursor
        await desk.press("down")
        assert desk.state.edit.cursor > before
        await desk.press("end", "home")
        assert desk.state.edit.cursor == 10
        await desk.pilot.click(desk.screen.passage, offset=(14, 0))
        await desk.settle()
        assert desk.state.visible_item.passage.word(desk.state.edit.cursor) == "boots"
        await desk.press("space")
        assert not desk.state.edit.heads


async def test_blind_hides_names_and_heat_can_be_turned_on_and_off(open_desk):
    async with open_desk() as desk:
        assert "ann1" in desk.text()
        await desk.press("B")
        assert "ann1" not in desk.text()
        await desk.press("L")
        assert "ann1" not in desk.text()
        await desk.press("escape", "1")
        assert desk.state.edit.heads
        await desk.press("B")
        assert "ann1" in desk.text()
        await desk.press("H")
        assert desk.said.startswith("heat map: nothing to show")
        await desk.press("H", "H")
        assert desk.said == "heat map off"


async def test_history_tells_who_decided_what(open_desk):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter", "k", "L")
        text = desk.text()
        assert "edith" in text
        assert "gold YEAR" in text
        assert "before  nothing" in text
        await desk.press("q", "j")
        assert desk.state.position.index == 2


def test_a_line_of_a_text_goes_on_below_where_it_begins():
    console = Console(width=16, color_system=None)
    with console.capture() as drawn:
        console.print(indented("one\n\n  two three four five\n[b]six"))
    rows = [row.rstrip() for row in drawn.get().splitlines()]
    assert rows == ["one", "", "  two three four", "  five", "[b]six"]


async def test_help_opens_and_closes(open_desk):
    async with open_desk() as desk:
        for keys in (["question_mark", "G", "g", "j", "k"], ["f1"]):
            await desk.press(*keys)
            assert "Deciding" in desk.text()
            await desk.press("escape")
            assert len(desk.app.screen_stack) == 1


async def test_a_theme_of_another_accent_recolours_all_panes(open_desk):
    def colours(desk):
        styles = [s.style for s in chain(*drawn_lines(desk.app))]
        return {style.color.name for style in styles if style and style.color}

    async with open_desk() as desk:
        desk.app.register_theme(replace(DARK, name="other", accent="#12ab34"))
        seen = []
        for theme in ("nfh-dark", "other", "nfh-dark"):
            desk.app.theme = theme
            await desk.settle()
            seen.append(colours(desk))
        assert seen[0] == seen[2] != seen[1]


async def test_a_theme_is_chosen_and_kept(open_desk):
    async with open_desk() as desk:
        assert desk.app.theme == "nfh-dark"
        desk.screen.action_act("theme")
        await desk.settle()
        await desk.press("j", "escape")
        assert desk.app.theme == "nfh-dark"
        desk.screen.action_act("theme")
        await desk.settle()
        await desk.press("j", "enter")
        assert desk.app.theme == "nfh-light"
    async with open_desk() as desk:
        assert desk.app.theme == "nfh-light"


async def test_copying_to_the_clipboard_and_to_a_file(open_desk, database):
    async with open_desk() as desk:
        for key, part in (
            ("s", "Then take two of mine ."),
            ("p", "My boots and my coat are wet .\nThen take two of mine ."),
            ("a", "Reference: boots"),
        ):
            desk.screen.ui.notify("")
            await desk.press("Y", key)
            assert desk.app.clipboard == part
            assert "copied" in desk.said, key
        public_id = desk.state.visible_item.public_id
        await desk.press("Y", "f")
        path = database.parent / f"item-{public_id[:12]}.txt"
        assert str(path.name)[:12] in desk.said
    text = path.read_text(encoding="utf-8")
    assert "Then take two of mine ." in text
    assert public_id in text


@pytest.mark.parametrize(
    "before",
    [
        [],
        ["L"],
        ["colon"],
        pytest.param(["exclamation_mark"], marks=pytest.mark.long),
    ],
)
async def test_ctrl_q_quits_from_wherever_one_is(open_desk, before):
    async with open_desk() as desk:
        await desk.press(*before)
        await desk.pilot.press("ctrl+q")
        for _ in range(100):
            if not desk.app.is_running:
                break
            await asyncio.sleep(0.02)
        assert not desk.app.is_running


async def test_keys_pressed_by_habit_are_answered(open_desk):
    async with open_desk() as desk:
        await desk.press("y")
        for more in ([], ["semicolon", "a"]):
            await desk.press(*more)
            for key, words in (
                ("ctrl+s", "Drafts are saved as you type"),
                ("ctrl+c", "q quits"),
                ("ctrl+z", "cannot be suspended here"),
            ):
                await desk.press(key)
                assert words in desk.said
                assert desk.screen.bar.is_open is bool(more), key
                assert desk.state.edit.comment == ("a" if more else "")
        assert desk.app.is_running


async def test_no_key_with_a_modifier_is_met_with_silence(open_desk):
    keys = ("ctrl+d", "ctrl+x", "alt+x", "shift+f7")
    async with open_desk() as desk:
        for key in keys:
            desk.screen.ui.notify("")
            await desk.press(key)
            assert "nothing here" in desk.said, key
        await desk.press("f5")
        side = desk.app.screen
        assert side is not desk.screen
        for key in keys:
            side.say("")
            await desk.press(key)
            assert "nothing here" in side.status_line.status.say, key


async def test_a_dialog_answers_keys_pressed_by_habit(open_desk, monkeypatch):
    async with open_desk() as desk:
        told = []
        monkeypatch.setattr(desk.app, "notify", told.append)
        await desk.press("L", "ctrl+s")
        assert "Drafts are saved" in told[0]
