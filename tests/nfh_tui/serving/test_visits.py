"""One visit from the first picture to the end of its child, and how many there may be."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from nfh_tui.serving import access, server, visit
from nfh_tui.serving.access import CloseCode
from nfh_tui.serving.visit import LARGEST

from .conftest import ANN, EVA, REA, House

Socket = aiohttp.ClientWebSocketResponse


async def until(true: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(120):
        while not true():  # noqa: ASYNC110 - of other processes, which set no event
            await asyncio.sleep(0.02)


async def ending(socket: Socket) -> CloseCode:
    """Read until the socket is closed, and tell why it was."""
    async with asyncio.timeout(120):
        while True:
            message = await socket.receive()
            if message.type is aiohttp.WSMsgType.CLOSE:
                await socket.close()
                return CloseCode(message.data, message.extra)
            if message.type in {aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}:
                raise AssertionError(f"closed without a reason: {message}")


async def visiting(it: House, guest=ANN, query: str = "") -> Socket:
    """A page that has opened its socket."""
    return await it.client.ws_connect(f"/ws{query}", headers=it.page(guest), autoclose=False)


async def test_what_is_typed_goes_to_the_child_and_what_it_draws_comes_back(
    house: Callable,
) -> None:
    async with house() as it:
        socket = await visiting(it, query="?width=101&height=31")
        assert await socket.receive_bytes() == b"hello 101x31"
        await socket.send_json(["stdin", "ä$(id)"])
        assert await socket.receive_bytes() == "typed ä$(id)".encode()
        await socket.send_json(["resize", {"width": 90, "height": 99999999}])
        assert await socket.receive_bytes() == (
            b'told {"type": "resize", "width": 90, "height": 200}'
        )
        await socket.send_json(["focus"])
        assert await socket.receive_bytes() == b'told {"type": "focus"}'
        await socket.send_json(["ping", "17"])
        assert await socket.receive_json() == ["pong", "17"]


async def test_a_page_that_is_gone_has_its_child_end_well(
    house: Callable, tmp_path: Path
) -> None:
    async with house() as it:
        socket = await visiting(it)
        await socket.receive_bytes()
        await socket.close()
        await until((tmp_path / "ended well").exists)
        await until(lambda: not it.server.visits)


async def test_leaving_is_told_from_falling_over_and_from_not_starting(
    house: Callable,
) -> None:
    for behave, told in (
        ("echo", access.LEFT),
        ("crash", access.FELL_OVER),
        ("mute", access.NO_START),
    ):
        async with house(behave=behave) as it:
            socket = await visiting(it)
            await socket.send_json(["stdin", "q"])
            assert await ending(socket) == told
            await until(lambda it=it: not it.server.visits)


async def test_a_child_that_cannot_be_started_is_said(
    house: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house() as it:
        monkeypatch.setattr(server, "command", lambda *_: ["/no such program"])
        assert await ending(await visiting(it)) == access.NO_START
        await until(lambda: not it.server.visits)


async def test_a_child_that_hangs_is_ended(
    house: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit, "GRACE", 0.3)
    async with house(behave="hang") as it:
        socket = await visiting(it)
        await socket.receive_bytes()
        (pid,) = [one.pid for one in it.server.visits]
        await socket.close()
        await until((tmp_path / "hangs").exists)
        await until(lambda: not it.server.visits)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("said", ["nonsense", '["exec", "id"]', '["stdin", 3]', "[]"])
async def test_what_no_page_says_closes_that_socket_only(house: Callable, said: str) -> None:
    async with house() as it:
        other = await visiting(it, EVA)
        socket = await visiting(it)
        await socket.send_str(said)
        assert await ending(socket) == access.BAD_MESSAGE
        await socket.close()
        await other.send_json(["stdin", "still here"])
        assert await other.receive_bytes() == b"hello 80x24"
        assert await other.receive_bytes() == b"typed still here"


async def test_bytes_and_huge_messages_close_the_socket(house: Callable) -> None:
    async with house() as it:
        socket = await visiting(it)
        await socket.send_bytes(b'["stdin", "x"]')
        assert await ending(socket) == access.BAD_MESSAGE
        await socket.close()
        socket = await visiting(it)
        await socket.send_str('["stdin", "' + "x" * LARGEST + '"]')
        assert await ending(socket) == access.TOO_LARGE
        await socket.close()
        await until(lambda: not it.server.visits)


async def test_who_says_too_much_is_closed(
    house: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "AT_ONCE", 20.0)
    monkeypatch.setattr(server, "PER_SECOND", 0.1)
    async with house() as it:
        socket = await visiting(it)
        for _ in range(30):
            await socket.send_json(["focus"])
        assert await ending(socket) == access.TOO_MUCH


async def test_one_person_may_have_so_many_and_all_together_so_many(house: Callable) -> None:
    async with house(at_most=server.FOR_ONE_PERSON + 1) as it:
        mine = [await visiting(it) for _ in range(server.FOR_ONE_PERSON)]
        assert await ending(await visiting(it)) == access.TOO_MANY_OF_YOURS
        assert await (await visiting(it, EVA)).receive_bytes() == b"hello 80x24"
        assert await ending(await visiting(it, EVA)) == access.TOO_MANY
        await mine[0].close()
        await until(lambda: len(it.server.visits) == server.FOR_ONE_PERSON)
        assert await (await visiting(it)).receive_bytes() == b"hello 80x24"


async def test_the_end_of_the_server_is_said_and_ends_every_child(
    house: Callable, tmp_path: Path
) -> None:
    async with house() as it:
        socket = await visiting(it)
        await socket.receive_bytes()
        (pid,) = [one.pid for one in it.server.visits]
        told = asyncio.create_task(ending(socket))
        await it.client.server.close()
        assert await told == access.SERVER_ENDS
        assert (tmp_path / "ended well").exists()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_files_are_saved_by_the_browser_of_whom_they_are_for_and_once(
    house: Callable,
) -> None:
    async with house(behave="file") as it:
        socket = await visiting(it)
        await socket.receive_bytes()
        # Only the file: no page elsewhere is opened, and what is asked of the model stays here.
        assert await socket.receive_json() == ["deliver_file_start", "k1"]
        assert (await it.client.get("/download/k1", headers=it.cookie(EVA))).status == 404
        answer = await it.client.get("/download/k1", headers=it.cookie())
        assert await answer.text() == "one line, and ünother\n"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="___b.txt"'
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert (await it.client.get("/download/k1", headers=it.cookie())).status == 404
        await until(lambda: it.predictions.wanted == [[3, 4]])


async def test_who_reads_has_nothing_predicted(house: Callable) -> None:
    async with house(behave="file") as it:
        socket = await visiting(it, REA)
        await socket.receive_bytes()
        await socket.send_json(["stdin", "x"])
        # By what it answers to this, it has sent its wish long before.
        while (await socket.receive()).data != b"typed x":
            pass
        assert it.predictions.wanted == []


def test_the_childs_environment_tells_nothing_of_the_servers_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TMUX", "NO_COLOR", "EDITOR", "TERM_PROGRAM", "TERM"):
        monkeypatch.setenv(name, "there")
    one = visit.Visit(ANN, [], send=None, tell=None, close=None, wanted=None)  # type: ignore[arg-type]
    environment = one._build_environment(70, 20)
    assert "TMUX" not in environment
    assert "NO_COLOR" not in environment
    assert "EDITOR" not in environment
    assert environment["TERM"] == "xterm-256color"
    assert environment["TEXTUAL_DRIVER"] == "textual.drivers.web_driver:WebDriver"
    assert (environment["COLUMNS"], environment["ROWS"]) == ("70", "20")


def test_a_name_stays_one_argument_whatever_stands_in_it(tmp_path: Path) -> None:
    arguments = visit.command(ANN.__class__("--db=/x; $(id)", "browse"), tmp_path, "-a b")
    assert "--as=--db=/x; $(id)" in arguments
    assert "--query=-a b" in arguments
