"""No key is met with silence: something changes, or a sentence says why nothing does."""

import asyncio

import pytest
from textual.command import DiscoveryHit

from nfh_tui.actions import ACTIONS, Mode
from nfh_tui.editor.commands import ACTIONS as EDITOR_ACTIONS
from nfh_tui.editor.commands import NOT_YOURS
from nfh_tui.screens.dialogs import SIGN, ActionProvider, help_rows
from nfh_tui.workbench.availability import EMPTY, NOTHING, SWITCH
from nfh_tui.workbench.command_queue import KeyPress

HERE = [action for action in ACTIONS if not action.where and action.id != "quit"]
QUERIES = {"empty": "text:nowhere", "full": ""}


def shot(screen) -> tuple[object, ...]:
    """All that an act may change, to be compared; no drawing, which takes long."""
    panes = (screen.queue_list, screen.passage, screen.ui.right_pane)
    return (
        screen.state.edit,
        screen.state.mode,
        screen.state.query,
        screen.state.position.index,
        screen.state.position.is_detached,
        screen.state.stored_item,
        screen.state.pane,
        screen.state.heat,
        screen.state.blind,
        screen.state.guide_shown,
        screen.state.model_shown,
        screen.state.tour_step,
        tuple(pane.scroll_offset for pane in panes),
        is_open(screen),
    )


def is_open(screen) -> bool:
    """True while something is asked or shown over the workbench."""
    return screen.bar.is_open or screen.state.question_open or len(screen.app.screen_stack) > 1


async def until(condition) -> None:
    """Wait for something. Quicker than waiting until all is drawn, too."""
    for _ in range(5000):
        await asyncio.sleep(0.001)
        if condition():
            return
    raise AssertionError("the act does not come to an end")


async def back(desk, mode: Mode) -> None:
    """Close whatever an act has opened, and go back to the mode."""
    screen = desk.screen
    if len(desk.app.screen_stack) > 1:
        await desk.pilot.pause()
        while len(desk.app.screen_stack) > 1:
            desk.app.screen.dismiss(None)
            await desk.pilot.pause()
    screen.bar.finish(accepted=False)
    if screen.state.question_open:
        screen.commands.put(KeyPress("escape"))
    await until(lambda: screen.commands.idle and not is_open(screen))
    if screen.state.mode is not mode:
        await screen.set_mode(mode)


@pytest.mark.parametrize(
    "queue",
    ["full", pytest.param("empty", marks=pytest.mark.long)],
)
@pytest.mark.parametrize(
    "mode",
    [
        Mode.ADJUDICATE,
        pytest.param(Mode.ANNOTATE, marks=pytest.mark.long),
        pytest.param(Mode.BROWSE, marks=pytest.mark.long),
    ],
)
async def test_every_act_changes_something_or_says_something(open_desk, mode, queue):
    silent, wrong = [], []
    async with open_desk(mode=mode.value, query=QUERIES[queue]) as desk:
        screen = desk.screen
        for action in HERE:
            screen.ui.notify("")
            why, before = screen.why_not(action), shot(screen)
            screen.action_act(action.id)
            await until(lambda: is_open(screen) or screen.commands.idle)
            status = screen.status_line.status
            if shot(screen) == before and not status.say:
                silent.append(action.id)
            same = status.say == why or action.id not in EDITOR_ACTIONS
            if why and (status.level != "refused" or not same):
                wrong.append((action.id, why, status.say))
            if not why and status.level == "refused" and action.id in EDITOR_ACTIONS:
                wrong.append((action.id, "", status.say))
            await back(desk, mode)
    assert silent == []
    assert wrong == []


async def test_at_the_ends_of_each_pane_a_sentence_says_so(open_desk):
    async with open_desk(query="", size=(80, 24)) as desk:
        for pane in ("evidence", "passage", "queue"):
            desk.screen.ui.show_pane(pane)
            for key in ("up", "pageup", "down", "pagedown"):
                desk.screen.ui.notify("")
                for _ in range(150):
                    await desk.press(key)
                    if desk.said:
                        break
                assert desk.said, (pane, key)


async def test_reasons_are_the_same_in_key_palette_and_help(open_desk):
    async with open_desk(mode="browse", query="text:nowhere") as desk:
        found = [
            h
            async for h in ActionProvider(desk.screen).discover()
            if isinstance(h, DiscoveryHit)
        ]
        told = {str(hit.text): (str(hit.display), hit.help) for hit in found}
        shown, words = told["Accept and go on  (enter)"]
        assert shown.startswith(SIGN)
        assert words == f"Not now: {SWITCH}"
        shown, words = told["Next item  (j)"]
        assert words == f"Not now: {EMPTY}"
        shown, words = told["Query  (:)"]
        assert not shown.startswith(SIGN)
        assert "Not now" not in words
        await desk.press("enter")
        assert desk.said == SWITCH


async def test_help_says_it_once_for_a_whole_group(open_desk):
    async with open_desk(mode="annotate", query="text:nowhere") as desk:
        why = desk.screen.why_not
        rows = [w.plain for _, w in help_rows("passage", Mode.ANNOTATE, ACTIONS, why)]
        assert f"Heads  not now: {NOTHING}" in rows
        await desk.press("u")
        assert desk.said == NOT_YOURS


async def test_an_act_that_cannot_be_done_is_chosen_and_says_why(open_desk):
    async with open_desk(mode="browse") as desk:
        await desk.press("ctrl+p")
        await desk.pilot.press(*"reference")
        await desk.pilot.pause(0.3)
        await desk.pilot.press("enter")
        await desk.pilot.pause(0.2)
        await desk.settle()
        assert desk.said == SWITCH
