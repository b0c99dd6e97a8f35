"""From what a call asks for to a server that runs until it is told to end."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nfh_db.store import Store
from nfh_tui.guidelines import first_text
from nfh_tui.serving.address import Address
from nfh_tui.serving.guests import Guest, Guests
from nfh_tui.serving.logs import logging_to_stderr, note_loop_error
from nfh_tui.serving.predictions import Predictions
from nfh_tui.serving.retraining import Retraining
from nfh_tui.serving.server import GuestServer, Plan, listen

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@dataclass(frozen=True, slots=True)
class Call:
    """What to serve, to whom, and where. port: 0 for one that is free."""

    database: Path
    guests: tuple[Guest, ...]
    host: str
    port: int
    public_url: str | None
    query: str | None
    at_most: int


@dataclass(frozen=True, slots=True)
class Link:
    """What is sent to one guest."""

    guest: Guest
    url: str


@dataclass(frozen=True, slots=True)
class Service:
    """A server that listens and has not begun to answer. links: one for each guest."""

    plan: Plan
    guests: Guests
    links: tuple[Link, ...]
    listening: socket.socket

    def run(self) -> None:
        """Serve until Ctrl-C, SIGTERM or SIGHUP; a second one ends at once."""
        with logging_to_stderr():
            asyncio.run(self._run())

    async def _run(self) -> None:
        asyncio.get_running_loop().set_exception_handler(note_loop_error)
        stop = asyncio.Event()
        server = GuestServer(self.plan, self.guests, Predictions(self.plan.database))
        rounds = asyncio.create_task(Retraining(self.plan.database).run(), name="retraining")
        try:
            with _told(stop):
                await server.run(self.listening, stop)
        finally:
            rounds.cancel()


@contextmanager
def opened(call: Call) -> Iterator[Service]:
    """The service of a call, while it listens.

    The database is looked at and the guests are made known to it, so that what cannot work
    fails here and not in their browsers. Raises StoreError and OSError.
    """
    with Store.open(call.database) as store:
        for guest in call.guests:
            store.annotator(guest.name)
        # Not left to the first guest, who may be one who changes nothing.
        store.begin_guidelines(first_text())
    with listen(call.host, call.port) as listening:
        address = Address(call.host, listening.getsockname()[1], call.public_url)
        guests = Guests(call.guests)
        links = tuple(
            Link(guest, f"{address.url}/enter?token={guests.invite(guest)}")
            for guest in call.guests
        )
        plan = Plan(call.database.resolve(), address, call.query, call.at_most)
        yield Service(plan, guests, links, listening)


@contextmanager
def _told(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` at the first signal; from then on signals end the process as usual."""
    loop = asyncio.get_running_loop()
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]

    def end() -> None:
        stop.set()
        forget()

    def forget() -> None:
        for number in numbers:
            with suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(number)

    for number in numbers:
        # Windows has no such handlers; there Ctrl-C ends it by KeyboardInterrupt.
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        forget()
