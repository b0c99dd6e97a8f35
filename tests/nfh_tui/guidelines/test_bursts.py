"""F5 and the editor while keys arrive in one go: each has its place."""

import time

from textual.widgets import TextArea

from nfh_db.guidelines import Guidelines
from nfh_tui.screens.dialogs import ChooseDialog
from nfh_tui.screens.guidelines import GuidelinesEditor
from tests.nfh_tui.guidelines.test_editing import versions
from tests.nfh_tui.guidelines.test_screen import drawn
from tests.nfh_tui.workbench.test_bursts import BACK, burst


async def until(desk, condition) -> None:
    for _ in range(200):
        await desk.settle()
        if condition():
            return
    raise AssertionError("this never comes true")


def editing(desk) -> bool:
    return isinstance(desk.app.screen, GuidelinesEditor)


async def test_the_editor_opens_as_soon_as_the_text_is_read(
    guided, open_desk, monkeypatch
) -> None:
    read = Guidelines.all

    def slowly(guidelines: Guidelines):
        time.sleep(0.2)
        return read(guidelines)

    async with open_desk(query="id:1", path=guided) as desk:
        monkeypatch.setattr(Guidelines, "all", slowly)
        burst(desk, "f5")
        await until(desk, lambda: desk.app.screen is not desk.screen)
        burst(desk, "e")
        await until(desk, lambda: editing(desk))


async def test_a_text_is_typed_in_order_and_saved(guided, open_desk) -> None:
    async with open_desk(query="id:1", path=guided) as desk:
        await desk.press("f5")
        await drawn(desk)
        burst(desk, "e", *"ab", BACK, "c", "enter", *"de", "left", BACK, "enter", "up", "f")
        await until(desk, lambda: editing(desk))
        area = desk.app.screen.query_one(TextArea)
        assert area.text.startswith("ac\nf\ne# Few rules")
        burst(desk, *"gh", BACK, "escape")
        await until(desk, lambda: isinstance(desk.app.screen, ChooseDialog))
        await desk.press("enter")
        await drawn(desk)
    assert versions(guided) == [(1, None), (2, "edith")]


async def test_words_looked_for_are_typed_in_order(guided, open_desk) -> None:
    async with open_desk(query="id:1", path=guided) as desk:
        await desk.press("f5")
        await drawn(desk)
        burst(desk, "slash", *"thx", BACK, *"em", "enter", "slash")
        await until(desk, lambda: desk.app.screen.bar.is_open)
        assert desk.app.screen.search.words == "them"
