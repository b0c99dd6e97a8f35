"""How many connections are held, and whose is ended."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nfh_tui.serving import server
from nfh_tui.serving.access import (
    FILES_OF_VISIT,
    SPARE_FILES,
    Address,
    GuestConnections,
    Invitations,
    Limits,
    limits_of,
    logging_to_stderr,
    note_loop_error,
)
from nfh_tui.serving.server import GuestServer, ServedQueue, listen

from .conftest import ANN, NoPredictions

LIMITS = Limits(strangers=5, of_address=3, of_guest=2, visits=4)


class One:
    """A connection. dropped: it was ended for another."""

    def __init__(self) -> None:
        self.dropped = False

    def drop(self) -> None:
        """Note it."""
        self.dropped = True


def came(held: GuestConnections, address: str, count: int = 1) -> list[One]:
    """So many connections from an address, in turn."""
    made = [One() for _ in range(count)]
    for one in made:
        held.opened(one, address)
    return made


def test_of_one_address_the_oldest_idle_connection_makes_room() -> None:
    held = GuestConnections(LIMITS)
    first, *others = came(held, "10.0.0.1", 4)
    assert first.dropped
    assert not any(one.dropped for one in others)


def test_in_all_the_address_with_most_connections_gives_one_up() -> None:
    held = GuestConnections(LIMITS)
    greedy = came(held, "10.0.0.1", 3)
    modest = [one for n in range(2, 5) for one in came(held, f"10.0.0.{n}")]
    assert [one.dropped for one in greedy] == [True, False, False]
    assert not any(one.dropped for one in modest)


def test_who_was_seen_to_be_invited_is_not_ended_for_strangers() -> None:
    held = GuestConnections(LIMITS)
    (mine,) = came(held, "10.0.0.1")
    held.identified(mine, ANN, "10.0.0.1")
    came(held, "10.0.0.1", 50)
    assert not mine.dropped


def test_a_guest_has_only_so_many_connections() -> None:
    held = GuestConnections(LIMITS)
    mine = came(held, "10.0.0.1", 3)
    for one in mine:
        held.identified(one, ANN, "10.0.0.1")
    assert [one.dropped for one in mine] == [True, False, False]


def test_a_connection_of_a_proxy_that_carries_a_stranger_again_counts_as_theirs() -> None:
    held = GuestConnections(LIMITS, behind_proxy=True)
    (one,) = came(held, "127.0.0.1")
    held.identified(one, ANN, "127.0.0.1")
    held.identified(one, None, "127.0.0.1")
    came(held, "127.0.0.1", LIMITS.strangers)
    assert one.dropped


def test_a_proxy_is_no_single_address() -> None:
    direct, proxied = GuestConnections(LIMITS), GuestConnections(LIMITS, behind_proxy=True)
    assert sum(one.dropped for one in came(direct, "127.0.0.1", 5)) == 2
    assert sum(one.dropped for one in came(proxied, "127.0.0.1", 5)) == 0
    assert sum(one.dropped for one in came(proxied, "10.0.0.1", 4)) > 0


def test_an_ipv6_household_is_one_address() -> None:
    held = GuestConnections(LIMITS)
    made = [one for n in range(1, 5) for one in came(held, f"2001:db8::{n}")]
    assert made[0].dropped


def test_what_has_ended_does_not_count() -> None:
    held = GuestConnections(LIMITS)
    for _ in range(20):
        (one,) = came(held, "10.0.0.1")
        held.remove(one)
        assert not one.dropped


@pytest.mark.parametrize(("files", "visits", "guests"), [
    (1024, 24, 1), (1024, 24, 100), (1024, 1000, 5), (65536, 1000, 30), (512, 24, 3),
])  # fmt: skip
def test_the_limits_fit_into_the_files(files: int, visits: int, guests: int) -> None:
    found = limits_of(files, visits, guests)
    if guests <= 50:
        needed = found.strangers + guests * found.of_guest + found.visits * FILES_OF_VISIT
        assert needed + SPARE_FILES <= files
    assert 1 <= found.visits <= visits
    assert found.of_address <= found.strangers


# --- a server ---------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """A server that is impatient: `async with running() as port`."""
    monkeypatch.setattr(server.access, "SECONDS_TO_ASK", 0.3)
    monkeypatch.setattr(server.access, "LINGERING", 0.3)

    @asynccontextmanager
    async def opened() -> AsyncIterator[int]:
        with listen("127.0.0.1", 0) as listening:
            port = listening.getsockname()[1]
            guests = Invitations([ANN])
            guests.invite(ANN)
            plan = ServedQueue(tmp_path / "some.db", Address("127.0.0.1", port))
            server = GuestServer(plan, guests, NoPredictions())  # type: ignore[arg-type]
            stop = asyncio.Event()
            task = asyncio.create_task(server.run(listening, stop))
            try:
                yield port
            finally:
                stop.set()
                await task

    return opened


async def trickle(writer: asyncio.StreamWriter) -> None:
    """One more byte now and then, for as long as anybody takes it."""
    try:
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)
    except OSError:
        return


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
    ids=["silent", "slow header", "slow body", "socket", "page"],
)
async def test_a_stranger_is_ended_after_a_while(
    running: Callable[..., "AsyncIterator[int]"], begun: bytes
) -> None:
    async with running() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(begun)
        typing = (
            asyncio.create_task(trickle(writer))
            if b"X: " in begun or b"POST" in begun
            else None
        )
        try:
            async with asyncio.timeout(120):
                try:
                    answered = await reader.read(-1)
                except ConnectionResetError:
                    answered = b""
        finally:
            if typing is not None:
                typing.cancel()
            writer.close()
    assert b"101 Switching" not in answered
    if begun.endswith(b"\r\n\r\n"):
        assert b"403" in answered.partition(b"\r\n")[0] or not answered


# --- what is logged ---------------------------------------------------------------------


def test_errors_of_the_loop_are_a_line_each_and_not_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loop = asyncio.new_event_loop()
    try:
        with logging_to_stderr():
            for _ in range(200):
                full = OSError(24, "Too many open files")
                loop_told = {
                    "message": "socket.accept() out of system resource",
                    "exception": full,
                }
                note_loop_error(loop, loop_told)
            assert len(capsys.readouterr().err.splitlines()) == 20
        with logging_to_stderr():
            try:
                raise ValueError("said by token=abc")
            except ValueError as error:
                note_loop_error(
                    loop, {"message": "Task failed\nfuture: <...>", "exception": error}
                )
            note_loop_error(loop, {})
            said = capsys.readouterr().err
    finally:
        loop.close()
    assert "Traceback" not in said
    assert "ValueError at test_connections.py" in said
    assert "abc" not in said
    assert len(said.splitlines()) == 2
    assert logging.getLogger("asyncio").level == logging.NOTSET


def test_no_connection_can_be_taken_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    loop = asyncio.new_event_loop()
    try:
        with logging_to_stderr():
            note_loop_error(
                loop, {"exception": OSError(24, "Too many open files"), "socket": socket}
            )
    finally:
        loop.close()
    assert "no connection can be taken just now: Too many open files" in capsys.readouterr().err
