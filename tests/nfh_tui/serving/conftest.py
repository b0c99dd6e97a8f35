"""A server in this process with a child that is quick to start, and one as people run it."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer

from nfh_tui.serving import server as serving
from nfh_tui.serving.access import Address, Guest, Invitations
from nfh_tui.serving.server import GuestServer, ServedQueue

ANN = Guest("ann1", "annotate")
EVA = Guest("éva <b>", "adjudicate")
REA = Guest("rea", "browse")

CHILD = Path(__file__).with_name("little_child.py")


class NoPredictions:
    """Notes what is asked for."""

    def __init__(self) -> None:
        self.wanted: list[list[int]] = []

    def request(self, anchors: list[int]) -> None:
        """Note it."""
        self.wanted.append(anchors)

    async def stop(self) -> None:
        """Nothing runs."""


@dataclass
class House:
    """A server under test. tokens: by guest. host: the Host that its pages are asked of."""

    client: TestClient
    server: GuestServer
    tokens: dict[Guest, str]
    predictions: NoPredictions

    @property
    def host(self) -> str:
        """Name and port, as browsers send them."""
        return f"127.0.0.1:{self.client.port}"

    def cookie(self, guest: Guest = ANN) -> dict[str, str]:
        """The headers of a browser that came in by the guest's link."""
        name = self.server.plan.address.cookie_name
        return {"Cookie": f"{name}={self.server.guests.cookie(guest)}"}

    def page(self, guest: Guest = ANN) -> dict[str, str]:
        """The headers of the page itself, when it opens its socket."""
        return self.cookie(guest) | {"Origin": f"http://{self.host}"}


@pytest.fixture
def house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., "AsyncIterator[House]"]:
    """Opens a server: `async with house(public_url=…, at_most=…, behave=…) as it`.

    behave: what the little child does; see little_child.py.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    @asynccontextmanager
    async def opened(
        public_url: str | None = None, at_most: int = 24, behave: str = "echo"
    ) -> AsyncIterator[House]:
        monkeypatch.setattr(
            serving, "command", lambda *_: [sys.executable, str(CHILD), behave, str(tmp_path)]
        )
        guests = Invitations([ANN, EVA, REA])
        tokens = {guest: guests.invite(guest) for guest in guests.guests}
        plan = ServedQueue(
            tmp_path / "some.db", Address("127.0.0.1", 8000, public_url), None, at_most
        )
        predictions = NoPredictions()
        server = GuestServer(plan, guests, predictions)  # type: ignore[arg-type]
        app = await server._make_app()
        async with TestClient(TestServer(app, host="127.0.0.1")) as client:
            yield House(client, server, tokens, predictions)

    return opened
