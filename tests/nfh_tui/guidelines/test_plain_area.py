"""What the editor draws of characters that would control the terminal."""

from textual.app import App

from nfh_tui.widgets.guideline_text import PlainArea
from tests.frames import drawn_lines

HOSTILE = "a\x1b[2Jb\u202ec\x9bd\te\u2066 ok"


class Field(App):
    def compose(self):
        yield PlainArea(HOSTILE, soft_wrap=True)


async def test_nothing_of_the_text_reaches_the_terminal_raw():
    app = Field()
    async with app.run_test(size=(60, 8)) as pilot:
        await pilot.pause()
        strips = drawn_lines(app)
        drawn = "".join(strip.text for strip in strips)
        assert "a\u241b[2Jb\ufffdc\ufffdd" in drawn
        assert not any(c in drawn for c in "\x1b\u202e\x9b\u2066")
        assert app.query_one(PlainArea).text == HOSTILE
