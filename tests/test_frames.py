"""A widget that cannot be drawn fails its test, though nobody looks at most frames of it."""

import pytest
from textual.app import App, ComposeResult
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Label

from tests.frames import drawn_lines


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print nothing of the error, with all that there is around it."""
    monkeypatch.setattr(App, "_fatal_error", App._close_messages_no_wait)


class Spoilt(Widget):
    """Cannot be drawn as soon as it is told so."""

    spoilt = False

    def render(self) -> str:
        if self.spoilt:
            raise ValueError("spoilt")
        return "sound"


class Dialog(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Spoilt()


class Showing(App[None]):
    def compose(self) -> ComposeResult:
        yield Spoilt()


def spoil(screen: Widget) -> None:
    """Have the widget of a screen drawn anew, which fails."""
    widget = screen.query_one(Spoilt)
    widget.spoilt = True
    widget.refresh()


async def test_what_is_not_drawn_at_a_rest_fails_the_test() -> None:
    rested = False
    with pytest.raises(ValueError, match="spoilt"):
        async with Showing().run_test() as pilot:
            spoil(pilot.app.screen)
            await pilot.pause()
            rested = True
            assert not pilot.app.is_running
    assert rested


async def test_what_is_not_drawn_at_the_end_fails_the_test() -> None:
    with pytest.raises(ValueError, match="spoilt"):
        async with Showing().run_test() as pilot:
            spoil(pilot.app.screen)
            pilot.app.screen._on_timer_update()


async def test_a_dialog_that_is_gone_again_was_drawn() -> None:
    with pytest.raises(ValueError, match="spoilt"):
        async with Showing().run_test() as pilot:
            pilot.app.push_screen(Dialog())
            await pilot.pause()
            spoil(pilot.app.screen)
            await pilot.press("x")
            pilot.app.pop_screen()
            await pilot.pause()


class Question(ModalScreen[None]):
    DEFAULT_CSS = "Question { align: center middle }"

    def compose(self) -> ComposeResult:
        yield Label("really?")


async def test_a_dialog_that_is_looked_at_before_a_frame_shows_what_is_below() -> None:
    async with Showing().run_test() as pilot:
        pilot.app.push_screen(Question())
        await pilot.pause()
        pilot.app.screen.refresh()
        assert "sound" in "".join(line.text for line in drawn_lines(pilot.app))
        assert "sound" in pilot.app.export_screenshot()
