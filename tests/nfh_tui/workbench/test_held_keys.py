"""Keys held down, or typed faster than a dialog closes, do no more than one of them."""

import pytest


async def in_one_go(desk, *keys):
    """Hand over keys without waiting in between, as a terminal does with held ones."""
    for key in keys:
        desk.app.simulate_key(key)
    await desk.pilot.pause(0.3)
    await desk.settle()


@pytest.mark.parametrize(
    "times",
    [*(pytest.param(times, marks=pytest.mark.long) for times in (3, 4, 5)), 6],
)
async def test_enter_held_in_the_palette_does_one_act(open_desk, times):
    async with open_desk(mode="browse") as desk:
        done = []
        desk.screen.handlers["heat"] = lambda: done.append("heat")
        await desk.press("ctrl+p")
        await desk.pilot.press(*"heat")
        await desk.pilot.pause(0.5)
        await in_one_go(desk, *["enter"] * times)
        assert done == ["heat"]
        assert len(desk.app.screen_stack) == 1


@pytest.mark.parametrize(
    "opening", ["view.open", pytest.param("theme", marks=pytest.mark.long)]
)
async def test_a_list_closes_once(open_desk, opening):
    async with open_desk(mode="browse") as desk:
        await desk.screen.client.write(
            desk.screen.store.workspace.save_view, desk.state.me, "all", ""
        )
        for closing in ("escape", "enter"):
            await desk.press("g")
            desk.screen.action_act(opening)
            await desk.pilot.pause(0.2)
            assert len(desk.app.screen_stack) == 2
            dialog = desk.app.screen
            dialog.post_message(dialog_event(dialog, closing))
            dialog.post_message(dialog_event(dialog, closing))
            await desk.pilot.pause(0.3)
            assert len(desk.app.screen_stack) == 1, closing
            await desk.press("j")
            assert desk.state.position.index == 1, closing


def dialog_event(dialog, closing):
    """What makes the dialog close, as it arrives at it: a choice, or a call to close."""
    from textual.events import Callback
    from textual.widgets import OptionList

    if closing == "enter":
        choices = dialog.query_one(OptionList)
        return OptionList.OptionSelected(choices, choices.get_option_at_index(0), 0)
    return Callback(callback=dialog.action_close)


@pytest.mark.parametrize(
    "key", ["enter", *(pytest.param(key, marks=pytest.mark.long) for key in ("escape", "q"))]
)
async def test_a_text_closes_once(open_desk, key):
    async with open_desk(mode="browse") as desk:
        await desk.press("L")
        dialog = desk.app.screen
        dialog.action_close()
        dialog.action_close()
        await desk.pilot.pause(0.3)
        assert len(desk.app.screen_stack) == 1
        await desk.press("L")
        await in_one_go(desk, key)
        assert len(desk.app.screen_stack) == 1
