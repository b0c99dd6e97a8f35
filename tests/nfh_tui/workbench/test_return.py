"""Coming back: the same query, item, cursor and unfinished draft; also after a kill."""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from nfh_models.domain import Kind


async def test_query_item_cursor_and_draft(open_desk, read):
    async with open_desk() as desk:
        await desk.press("colon", *"state:open", "enter", "j", "l", "l", "l", "a", "q")
        anchor_id = desk.state.visible_item.anchor_id
        cursor = desk.state.edit.cursor
    async with open_desk() as desk:
        assert desk.state.query.text == "state:open"
        assert desk.state.visible_item.anchor_id == anchor_id
        assert desk.state.position.index == 1
        assert desk.state.edit.cursor == cursor
        assert desk.state.edit.kind is Kind.AGE
        assert "draft" in desk.text()


async def test_each_mode_and_each_person_has_a_place_of_its_own(open_desk):
    async with open_desk(mode="adjudicate") as desk:
        await desk.press("G", "q")
    async with open_desk(mode="browse") as desk:
        assert desk.state.position.index == 0
        await desk.press("j", "q")
    async with open_desk(mode="adjudicate", me="otto") as desk:
        assert desk.state.position.index == 0
    async with open_desk(mode="adjudicate") as desk:
        assert desk.state.position.index == 5


async def test_another_query_asked_for_starts_at_its_first_item(open_desk):
    async with open_desk() as desk:
        await desk.press("G", "q")
    async with open_desk(query="state:open") as desk:
        assert desk.state.position.index == 0
        assert len(desk.state.ids) == 3


async def test_an_item_that_left_its_queue_is_shown_all_the_same(open_desk):
    async with open_desk(query="state:open") as desk:
        await desk.press("y", "enter", "k", "q")
        anchor_id = desk.state.visible_item.anchor_id
    async with open_desk() as desk:
        assert desk.state.visible_item.anchor_id == anchor_id
        assert desk.state.position.is_detached
        assert desk.screen.queue_list.away
        assert "▌○" not in desk.text()
        await desk.press("j")
        assert desk.state.position.index == 0
        assert not desk.state.position.is_detached
        assert not desk.screen.queue_list.away
        assert "▌○" in desk.text()


async def test_a_place_with_a_query_of_another_version_is_no_trap(open_desk, database):
    from nfh_db.records import QueuePosition
    from nfh_db.store import Store

    with Store.open(database) as store:
        store.workspace.save_position(
            store.people.ensure("edith"), "adjudicate", QueuePosition("nokey:1", None, None)
        )
    async with open_desk() as desk:
        assert "no such key" in desk.said
        assert len(desk.state.ids) == 6


async def test_a_cursor_move_without_a_change_is_no_draft(open_desk, read):
    async with open_desk() as desk:
        await desk.press("l", "l", "w", "b", "q")
    assert read(0).draft is None


async def test_taking_a_change_back_forgets_the_draft(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "z", "q")
    assert read(1).draft is None


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(["f"], marks=pytest.mark.long),
        pytest.param(["o"], marks=pytest.mark.long),
        ["l", "l", "v", "l", "l"],
        pytest.param(["l", "l", "v", "l", "h", "h", "h"], marks=pytest.mark.long),
        pytest.param(["w", "space", "asterisk"], marks=pytest.mark.long),
        ["w", "w", "f", "a"],
        pytest.param(["w", "space", "l", "end"], marks=pytest.mark.long),
    ],
)
async def test_what_waited_when_the_program_died_waits_again(open_desk, keys):
    async with open_desk() as desk:
        await desk.press(*keys)
        await desk.pilot.pause(0.4)
        before = desk.state.edit
        # Left without q, so that nothing more is saved than at a kill.
    async with open_desk() as desk:
        after = desk.state.edit
        for name in ("content", "cursor", "span", "pending", "hints", "typed", "review"):
            assert getattr(after, name) == getattr(before, name), name


class Terminal:
    """The program in a terminal of its own."""

    def __init__(self, database: Path, *more: str) -> None:
        self.seen = b""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ.update(
                TERM="xterm-256color", NFH_TUI_PREDICTOR="off", COLUMNS="100", LINES="30"
            )
            program = (
                "import sys; from pathlib import Path; from nfh_tui.app import run_workbench; "
                "sys.exit(run_workbench(Path(sys.argv[1]), *sys.argv[2:], None))"
            )
            os.execv(sys.executable, [sys.executable, "-c", program, str(database), *more])

    def wait_for(self, words: str) -> None:
        """Return once these words have been drawn."""
        end = time.monotonic() + 120
        while words.encode() not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"{words} is not drawn; last: {self.seen[-400:]!r}"
            if select.select([self.file], [], [], left)[0]:
                self.seen += os.read(self.file, 65536)

    def press(self, keys: str) -> None:
        """Press keys and forget what was drawn before."""
        self.seen = b""
        os.write(self.file, keys.encode())

    def end(self, number: signal.Signals | None = None) -> int:
        """Kill it, or let it end by itself; its wait status."""
        if number is not None:
            os.kill(self.pid, number)
        else:
            try:
                while os.read(self.file, 65536):
                    pass
            except OSError:
                pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.file)
        return status


@pytest.fixture
def terminal(database: Path):
    return lambda *more: Terminal(database, *more)


def test_a_draft_survives_a_kill(terminal, read):
    program = terminal("edith", "adjudicate")
    program.wait_for("1/6")
    program.press("j")
    program.wait_for("2/6")
    program.press("a")
    program.wait_for("changed")
    program.press(";not sure")
    program.wait_for("sure")
    time.sleep(0.4)
    assert os.WIFSIGNALED(program.end(signal.SIGKILL))
    body = read(1).draft.body
    assert "AGE" in body
    assert "not sure" in body

    again = terminal("edith", "adjudicate")
    again.wait_for("sure")
    again.press("\r")
    again.wait_for("saved ")
    again.press("q")
    assert again.end() == 0
    assert read(1).gold.answer.kind is Kind.AGE
    assert read(1).gold.answer.comment == "not sure"


def test_what_is_called_saved_survives_a_kill(terminal, read):
    program = terminal("edith", "adjudicate")
    program.wait_for("1/6")
    program.press("jy\r")
    program.wait_for("saved ")
    program.end(signal.SIGKILL)
    assert read(1).gold.answer.kind is Kind.YEAR


def test_keys_typed_in_one_go_are_all_done_in_order(terminal, read):
    program = terminal("edith", "adjudicate")
    program.wait_for("1/6")
    program.press("jonjoc;one two\r\r")
    program.wait_for("saved ")
    program.press("q")
    assert program.end() == 0
    assert "CODE" not in (read(1).draft.body if read(1).draft else "")
    assert "NUMBER" in read(1).draft.body
    gold = read(2).gold
    assert gold.answer.sort == "CODE"
    assert gold.answer.comment == "one two"
