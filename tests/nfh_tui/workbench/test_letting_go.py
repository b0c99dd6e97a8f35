"""What was drawn of a screen is gone once it is closed."""

import gc
import weakref


async def test_a_closed_dialog_leaves_no_lines_behind(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("L")
        drawn = [weakref.ref(widget._styles_cache) for widget in desk.app.screen.query("*")]
        assert any(one() is not None for one in drawn)
        await desk.press("escape")
        # Another one, since the last may still be on its way out.
        await desk.press("L", "escape")
        gc.collect()
        assert [one for one in drawn if one() is not None] == []
