"""One predictor for all visitors, asked for what they want last, first."""

import asyncio
from pathlib import Path

import pytest

from nfh_tui.services.predictor_client import PredictorState
from nfh_tui.serving import server
from nfh_tui.serving.server import SharedPredictor


class Client:
    """Notes what becomes of a predictor."""

    def __init__(self, database, on_done, on_state) -> None:
        self.done, self.changed = on_done, on_state
        self.told: list[object] = []

    async def start(self) -> None:
        self.told.append("start")

    def ask(self, anchors) -> None:
        self.told.append(list(anchors))

    async def stop(self) -> None:
        self.told.append("stop")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> tuple[SharedPredictor, Client]:
    """Predictions, and the client that they ask."""
    monkeypatch.delenv(server.OFF_VARIABLE, raising=False)
    clients: list[Client] = []

    def make(*arguments) -> Client:
        clients.append(Client(*arguments))
        return clients[0]

    one = SharedPredictor(Path("some.db"), make)  # type: ignore[arg-type]
    return one, clients[0]


async def test_what_one_wants_goes_before_what_others_wanted_and_forgets_none(made) -> None:
    one, client = made
    one.request([1, 2, 3])
    one.request([9, 2])
    client.done(9)
    client.done(77)
    one.request([5])
    await asyncio.sleep(0)
    asked = [told for told in client.told if isinstance(told, list)]
    assert asked == [[1, 2, 3], [9, 2, 1, 3], [5, 2, 1, 3]]
    assert client.told.count("start") == 1
    await one.stop()
    assert client.told[-1] == "stop"


async def test_so_many_wait_at_most(made) -> None:
    one, client = made
    for number in range(100):
        one.request([number])
    assert client.told[-1] == list(range(99, 99 - server.MOST, -1))
    await one.stop()


async def test_none_is_started_before_it_is_wanted_or_where_it_is_off(
    made, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, client = made
    await one.stop()
    assert client.told == []
    monkeypatch.setenv(server.OFF_VARIABLE, "off")
    off = SharedPredictor(Path("some.db"), lambda *arguments: client)  # type: ignore[arg-type]
    off.request([1])
    assert client.told == []


def test_how_it_is_is_logged(made, caplog: pytest.LogCaptureFixture) -> None:
    _, client = made
    client.changed(PredictorState("off", "It cannot be started."))
    assert "It cannot be started." in caplog.text
