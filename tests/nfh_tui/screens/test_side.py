"""The screens beside the workbench: their ways in and out, keys, help, sizes."""

import subprocess
import sys

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from nfh_tui.actions import ACTIONS
from nfh_tui.screens.base import Handlers, SideScreen
from nfh_tui.screens.jobs import JobsScreen

LINES = "\n".join(f"line {n} [red]x[/]" for n in range(200))


class Sheet(SideScreen):
    """A screen to try the ground on."""

    NAME = "Sheet"

    def body(self) -> ComposeResult:
        with VerticalScroll(id="side-body", can_focus=False):
            yield Static(LINES, markup=False)

    def handlers(self) -> Handlers:
        return {
            **super().handlers(),
            "side.open": lambda: self.dismiss("class:AGE"),
            "side.left": self.fail,
            "side.right": self.fail_later,
            "side.pane": self.ask,
        }

    def fail(self) -> None:
        raise ValueError("the [b] leaf fell")

    async def fail_later(self) -> None:
        raise ValueError("the other leaf fell")

    async def ask(self) -> None:
        self.say(str(await self.choose_from("Which?", [("one", "", "1"), ("two", "", "2")])))


async def visit(desk) -> Sheet:
    desk.screen.enqueue(lambda: desk.screen.screens.visit(Sheet))
    await desk.settle()
    assert isinstance(desk.app.screen, Sheet)
    return desk.app.screen


async def test_title_body_state_and_keys_are_there_at_every_size_and_it_scrolls(
    open_desk,
) -> None:
    async with open_desk() as desk:
        screen = await visit(desk)
        screen.refuse("Nothing of the kind [red].")
        for width, height in ((120, 40), (80, 24), (60, 20)):
            await desk.pilot.resize_terminal(width, height)
            await desk.settle()
            lines = desk.text().splitlines()
            assert "Sheet" in lines[0]
            assert lines[1].startswith("line 0 [red]x[/]")
            assert "SHEET" in lines[-2]
            assert "Nothing of the kind [red]." in lines[-2]
            for words in ("enter open", "? keys", "esc back"):
                assert words in lines[-1]
        await desk.press("j", "down", "j", "k")
        assert screen.scroller.scroll_offset.y == 2
        await desk.press("G")
        assert "line 199" in desk.text()
        await desk.press("pageup", "g")
        assert screen.scroller.scroll_offset.y == 0


async def test_back_leaves_the_queue_as_it_was_and_what_is_chosen_is_shown_in_it(
    open_desk,
) -> None:
    async with open_desk() as desk:
        await desk.press("j")
        for key in ("escape", "q"):
            await visit(desk)
            await desk.press(key)
            assert desk.app.screen is desk.screen
            assert (desk.state.position.index, desk.state.query.text) == (1, "")
        await visit(desk)
        await desk.press("enter", "enter")
        assert desk.state.query.text == "class:AGE"
        assert len(desk.state.ids) == 1
        await desk.press("escape")
        assert (desk.state.query.text, len(desk.state.ids)) == ("", 6)


async def test_errors_are_sentences_in_a_dialog_and_the_screen_stays(open_desk) -> None:
    async with open_desk() as desk:
        screen = await visit(desk)
        for key, words in (("h", "the [b] leaf fell"), ("l", "the other leaf fell")):
            await desk.press(key)
            assert words in desk.text()
            await desk.press("escape")
            assert desk.app.screen is screen
        # What closes the screen does not close an error over it.
        screen.show_error("the twig broke")
        await desk.settle()
        screen.action_side("side.close")
        screen.dismiss(None)
        await desk.settle()
        assert "the twig broke" in desk.text()
        await desk.press("escape")
        assert desk.app.screen is screen
        await desk.press("escape")
        assert desk.app.screen is desk.screen


async def test_a_question_is_asked_and_help_names_the_keys_of_this_screen_only(
    open_desk,
) -> None:
    async with open_desk() as desk:
        screen = await visit(desk)
        await desk.press("tab", "j", "enter")
        assert screen.status_line.status.say == "2"
        await desk.press("question_mark")
        text = desk.text()
        assert "Keys · Sheet" in text and "Back to the workbench." in text
        assert "Previous pane" not in text
        await desk.press("escape", "shift+tab")
        assert "? lists the keys" in desk.text()


async def test_ctrl_q_quits_from_there(open_desk) -> None:
    async with open_desk() as desk:
        await visit(desk)
        await desk.press("question_mark")
        await desk.pilot.press("ctrl+q")
        for _ in range(100):
            await desk.pilot.pause(0.01)
            if desk.app.return_code is not None:
                break
        assert desk.app.return_code == 0


async def test_a_visitor_who_annotates_does_not_see_others_answers(open_desk) -> None:
    async with open_desk(mode="annotate") as desk:
        for key in ("f2", "f3", "f4"):
            await desk.press(key)
            assert desk.app.screen is desk.screen
            assert "not while annotating" in desk.said
        await desk.press("f5", "f4")
        assert not isinstance(desk.app.screen, JobsScreen)


async def test_one_screen_leads_to_the_other(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f2")
        assert desk.app.screen.NAME == "Agreement"
        await desk.press("f3")
        assert desk.app.screen.NAME == "Evaluation"
        await desk.press("f2")
        assert desk.app.screen.NAME == "Agreement"
        assert len(desk.app.screen_stack) == 2


def test_every_act_of_these_screens_is_in_the_registry_with_a_key() -> None:
    assert all(a.keys for a in ACTIONS if a.where == "side")


def test_the_screens_load_no_framework_and_only_when_they_are_opened() -> None:
    program = (
        "import sys, nfh_tui.app; "
        "early = {m for m in sys.modules if 'screens.' in m};"
        "import nfh_tui.screens.agreement, nfh_tui.screens.evaluation;"
        "import nfh_tui.screens.jobs, nfh_tui.screens.dialogs;"
        "print(sorted({m.partition('.')[0] for m in sys.modules}), sorted(early))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    words = done.stdout.decode()
    for name in ("'numpy'", "'sklearn'", "'spacy'", "'torch'", "'statsmodels'"):
        assert name not in words
    assert "screens.agreement" not in words and "screens.evaluation" not in words


async def test_a_size_that_changed_under_a_dialog_is_that_of_the_lines(open_desk) -> None:
    async with open_desk(size=(120, 40)) as desk:
        await desk.press("f4", "question_mark")
        for size in ((50, 20), (120, 40)):
            await desk.pilot.resize_terminal(*size)
            await desk.settle()
        await desk.press("escape")
        screen = desk.app.screen
        for name, sheet in screen.panes.sheets.items():
            lines = screen.lines(name, screen.panes.room(sheet))
            assert list(sheet._lines) == list(lines), name
