"""Keys that arrive in one go, as over a slow line, do what they do when typed slowly."""

from textual import events
from textual.widgets import Input

BACK = "backspace"


def burst(desk, *keys: str) -> None:
    """Send keys as the terminal does, without waiting for any."""
    for key in keys:
        character = " " if key == "space" else key if len(key) == 1 else None
        desk.app.post_message(events.Key(key, character))


EDITED = [
    (["a", "b", BACK, "c", "d", BACK, "e", BACK, BACK, "f"], "af"),
    (["a", "b", "left", "c", "home", "d", "end", "e"], "dacbe"),
    (["a", "b", "ctrl+u", "c"], "c"),
    (["a", "space", "b", "ctrl+w", "c", "left", "delete", "d"], "a d"),
]


async def test_a_line_is_edited_in_order(open_desk) -> None:
    async with open_desk() as desk:
        for opening in ("semicolon", "slash"):
            for keys, text in EDITED:
                # With the key that opens the line, and into the open one.
                burst(desk, opening, *keys)
                await desk.settle()
                assert desk.screen.bar.text == text, (opening, keys)
                burst(desk, "ctrl+a", "ctrl+k", *keys)
                await desk.settle()
                assert desk.screen.bar.text == text, (opening, keys)
                await desk.press("escape")


async def test_a_query_replaces_the_one_before(open_desk, read) -> None:
    wanted = read(4).anchor_id
    async with open_desk(query="state:open") as desk:
        burst(desk, "colon", "ctrl+u", *f"id:{wanted}", "enter", "G", "a", "enter")
        await desk.settle()
        assert desk.state.query.text == f"id:{wanted}"
        assert desk.state.visible_item.anchor_id == wanted
    assert read(4).gold.answer.kind == "AGE"


async def test_comments_one_after_another_keep_their_keys(open_desk) -> None:
    async with open_desk() as desk:
        burst(
            desk, "semicolon", "x", "y", BACK, "enter", "semicolon", "z", "enter", "semicolon"
        )
        await desk.settle()
        assert desk.screen.bar.text == "xz"
        burst(desk, "escape", "j", "semicolon", "q", BACK, "r")
        await desk.settle()
        assert (desk.state.position.index, desk.screen.bar.text) == (1, "r")


async def test_a_paste_keeps_its_place(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("semicolon")
        burst(desk, "a", BACK)
        desk.app.post_message(events.Paste("pasted"))
        burst(desk, BACK, "enter", "semicolon")
        await desk.settle()
        assert desk.screen.bar.text == "paste"


async def test_a_view_is_named_in_order(open_desk) -> None:
    async with open_desk(query="state:open") as desk:
        desk.screen.action_act("view.save")
        burst(desk, "m", "y", BACK, "e", "enter")
        await desk.settle()
        assert dict(
            await desk.screen.client.read(desk.screen.store.workspace.views, desk.state.me)
        ) == {"me": "state:open"}


async def test_the_palette_is_typed_in_order(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+p")
        burst(desk, *EDITED[0][0])
        await desk.settle()
        assert desk.app.screen.query_one(Input).value == "af"


async def test_keys_of_the_app_still_work_in_an_open_line(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("semicolon", "a", "f5")
        assert desk.screen.bar.is_open
        await desk.press("ctrl+c")
        assert "q quits" in desk.said
        assert desk.screen.bar.text == "a"
