"""A fault of ours is told in a dialog, kept in a file, and the work goes on."""

import pytest

from nfh_db.system import data_folder
from nfh_tui.app import MOST_FAULTS, WorkbenchApp
from nfh_tui.screens.dialogs import TextDialog
from nfh_tui.textual_support import FILE_NAME, start
from tests.frames import drawn_lines

WORDS = "[/b] \x1b[31m it broke"


class FaultError(Exception):
    """What no code of ours raises by itself."""


def fail(*args, **kwargs):
    raise FaultError(WORDS)


async def fail_later():
    fail()


def in_a_worker(desk, monkeypatch):
    start(desk.screen, fail_later, group="test", description="a test")


def in_a_worker_of_a_pane(desk, monkeypatch):
    start(desk.screen.queue_list, fail_later, group="test", description="a test")


def in_a_handler_of_the_screen(desk, monkeypatch):
    desk.screen.call_later(fail)


def in_a_handler_of_a_pane(desk, monkeypatch):
    desk.screen.passage.call_later(fail)


def in_a_handler_of_the_app(desk, monkeypatch):
    desk.app.call_later(fail)


def in_a_timer(desk, monkeypatch):
    desk.screen.set_timer(0.01, fail)


def after_drawing(desk, monkeypatch):
    desk.screen.call_after_refresh(fail)


def in_an_act(desk, monkeypatch):
    monkeypatch.setitem(desk.screen.handlers, "heat", fail)
    desk.screen.action_act("heat")


def in_drawing(desk, monkeypatch):
    monkeypatch.setattr(desk.screen.evidence, "render_line", fail)
    desk.screen.evidence.refresh()


WAYS = [
    in_a_worker,
    in_a_worker_of_a_pane,
    in_a_handler_of_the_screen,
    in_a_handler_of_a_pane,
    in_a_handler_of_the_app,
    in_a_timer,
    after_drawing,
    in_an_act,
    in_drawing,
]


@pytest.fixture
def enduring_desk(open_desk):
    data_folder().mkdir(parents=True, exist_ok=True)
    return open_desk


async def test_whatever_fails_is_told_and_the_answer_is_saved(enduring_desk, monkeypatch, read):
    async with enduring_desk() as desk:
        desk.app.endures = True
        await desk.press("y")
        for way in WAYS:
            with monkeypatch.context() as patch:
                way(desk, patch)
                for _ in range(50):
                    await desk.pilot.pause(0.02)
                    if len(desk.app.screen_stack) > 1 and "FaultError" in desk.text():
                        break
                assert isinstance(desk.app.screen, TextDialog), way.__name__
                text = desk.text()
                assert "FaultError: [/b]" in text, way.__name__
                assert "\x1b" not in text
            while len(desk.app.screen_stack) > 1:
                await desk.pilot.press("escape")
                await desk.pilot.pause()
            await desk.press("j", "k")
            assert desk.state.edit.kind == "YEAR", way.__name__
        await desk.press("enter")
        assert desk.said.startswith("saved ")
    assert read(0).gold.answer.kind == "YEAR"
    assert "FaultError" in (data_folder() / FILE_NAME).read_text("utf-8")


async def test_what_fails_again_and_again_ends_the_program_with_a_sentence(enduring_desk):
    async with enduring_desk() as desk:
        desk.app.endures = True
        for _ in range(MOST_FAULTS):
            desk.app.fault(FaultError("always"))
        assert desk.app.return_code == 1
        assert not desk.app.is_running or desk.app._exit


async def test_a_notification_and_its_title_are_no_markup(database):
    app = WorkbenchApp(database, "eva", "browse")
    try:
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            app.notify(WORDS, title=WORDS)
            for _ in range(50):
                await pilot.pause(0.02)
                strips = drawn_lines(app)
                text = "\n".join(strip.text for strip in strips)
                if "[/b]" in text:
                    break
        assert text.count("[/b]") == 2
        assert "\x1b" not in text
    finally:
        app.close()
