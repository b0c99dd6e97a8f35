"""The screen's side of the predictor: with the real child, and with children that misbehave."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models.parsing.spacy_parser import installed_pipelines
from nfh_tui.services import predictor_client
from nfh_tui.services.predictor_client import RESTARTS, PredictorClient, PredictorState

WAIT = 300.0


class Heard:
    """What the client called back, and a way to wait for it."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.states: list[PredictorState] = []
        self._changed = asyncio.Event()

    def on_done(self, anchor_id: int) -> None:
        self.done.append(anchor_id)
        self._changed.set()

    def on_state(self, state: PredictorState) -> None:
        self.states.append(state)
        self._changed.set()

    @property
    def statuses(self) -> list[str]:
        return [state.status for state in self.states]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest_asyncio.fixture
async def client(of_cues: Path, tmp_path: Path, heard: Heard) -> AsyncIterator[PredictorClient]:
    log = tmp_path / "predictor.log"
    client = PredictorClient(of_cues, heard.on_done, heard.on_state, first_delay=0.01, log=log)
    yield client
    await client.stop()
    assert client.pid is None


def choices(database: Path, *anchor_ids: int) -> list[str | None]:
    with Store.open(database) as store:
        items = [store.items.read(id_, Annotator(0, ""), Role.ANNOTATOR) for id_ in anchor_ids]
        return [item.prediction.choice if item and item.prediction else None for item in items]


# --- with the real child ------------------------------------------------------------------


async def test_answers(
    client: PredictorClient, heard: Heard, database: Path, pipeline: None
) -> None:
    client.ask([4])
    await client.start()
    client.ask([2, 1])
    await heard.until(lambda: len(heard.done) == 2)
    assert heard.done == [2, 1]
    assert heard.statuses == ["starting", "ready"]
    assert heard.states[1].model == "cues, NFH: rules"
    assert installed_pipelines()[0].package in heard.states[1].sentence
    assert choices(database, 1, 2, 4) == ["2", "7", None]
    client.ask([99, 3])
    await heard.until(lambda: heard.done == [2, 1, 3])
    assert heard.states[-1] == PredictorState(
        "ready", "No prediction: there is no item 99.", "cues, NFH: rules"
    )


# --- with other children ------------------------------------------------------------------


@pytest.fixture
def behave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts another program in the child's place."""

    def behave(program: str) -> None:
        (tmp_path / "impostor.py").write_text(program, "utf-8")
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.pathsep.join(sys.path)}")
        monkeypatch.setattr(predictor_client, "MODULE", "impostor")

    return behave


def read(path: str) -> str:
    return Path(path).read_text("utf-8")


READY = """print('{"type":"ready","model":"m","pipeline":"p"}', flush=True)\n"""
ANSWERS = """
import json, sys
for line in sys.stdin:
    for anchor in json.loads(line)["anchors"]:
        done = {"type": "done", "id": 1, "anchor": anchor, "seconds": 0.1}
        print(json.dumps(done), flush=True)
"""


async def test_comes_back_when_killed(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave(READY + ANSWERS)
    await client.start()
    client.ask([1])
    await heard.until(lambda: heard.done == [1])
    first = client.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await heard.until(lambda: heard.statuses[-1] == "restarting")
    assert "SIGKILL" in heard.states[-1].sentence
    assert heard.states[-1].model is None
    client.ask([2])
    await heard.until(lambda: heard.done == [1, 2])
    assert heard.statuses == ["starting", "ready", "restarting", "ready"]
    assert client.pid not in (None, first)


async def test_starting_twice_starts_one_child(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave(READY + ANSWERS)
    await client.start()
    await client.start()
    await heard.until(lambda: "ready" in heard.statuses)
    assert heard.statuses == ["starting", "ready"]


async def test_stop_ends_the_child_and_says_nothing_more(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave(READY + ANSWERS)
    await client.start()
    await heard.until(lambda: "ready" in heard.statuses)
    pid = client.pid
    assert pid is not None
    await client.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    client.ask([1])
    assert heard.statuses == ["starting", "ready"]


async def test_without_a_pipeline_it_stays_off(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave(
        "import sys\n"
        """print('{"type":"failed","message":"Get one with `x`."}')\n"""
        "sys.exit(3)"
    )
    await client.start()
    await heard.until(lambda: heard.statuses[-1] == "off")
    assert heard.statuses == ["starting", "off"]
    assert heard.states[-1].sentence == "Get one with `x`."
    client.ask([1])
    assert client.pid is None


async def test_gives_up_after_some_restarts_and_can_be_started_again(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave("import sys; sys.stderr.write('why it died'); sys.exit(7)")
    await client.start()
    await heard.until(lambda: heard.statuses[-1] == "off")
    assert heard.statuses == ["starting", *["restarting"] * RESTARTS, "off"]
    assert "exit status 7" in heard.states[1].sentence
    delays = [state.sentence.split()[-2] for state in heard.states[1:-1]]
    assert delays == ["0.01", "0.02", "0.04", "0.08", "0.16"]
    log = heard.states[-1].sentence.rsplit(": ", 1)[1]
    assert read(log) == "why it died" * (RESTARTS + 1)
    behave(READY + "input()")
    await client.start()
    await heard.until(lambda: heard.statuses[-1] == "ready")


async def test_the_last_reason_given_is_passed_on(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave("""print('{"type":"failed","message":"The disk is full."}'); raise SystemExit(1)""")
    await client.start()
    await heard.until(lambda: "restarting" in heard.statuses)
    assert heard.states[1].sentence.startswith("The disk is full. It starts again in ")


async def test_nonsense_ends_the_child(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    behave("import time; print('Loading...', flush=True); time.sleep(600)")
    await client.start()
    await heard.until(lambda: "restarting" in heard.statuses)
    assert "cannot be read" in heard.states[1].sentence


async def test_a_child_that_does_not_listen_is_ended_by_force(
    client: PredictorClient,
    heard: Heard,
    behave: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(predictor_client, "STOP_SECONDS", 0.2)
    behave(READY + "import time; time.sleep(600)")
    await client.start()
    await heard.until(lambda: heard.statuses[-1] == "ready")
    pid = client.pid
    assert pid is not None
    for _ in range(2_000):  # more than a pipe holds: asking never waits
        client.ask(range(100))
    await client.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_log_that_cannot_be_written(
    database: Path, tmp_path: Path, heard: Heard
) -> None:
    client = PredictorClient(database, heard.on_done, heard.on_state, log=tmp_path)
    await client.start()
    await heard.until(lambda: heard.statuses[-1] == "off")
    assert "cannot be started" in heard.states[-1].sentence
    await client.stop()


async def test_what_was_asked_is_asked_again_of_the_next_child(
    client: PredictorClient, heard: Heard, behave: Callable[[str], None]
) -> None:
    """The first child dies over the first anchor; the second is asked both."""
    behave(
        READY + "import os, sys, pathlib\n"
        "seen = pathlib.Path(__file__).with_suffix('.seen')\n"
        "line = sys.stdin.readline()\n"
        "if not seen.exists():\n"
        "    seen.touch(); os._exit(9)\n"
        "for anchor in (1, 2):\n"
        "    assert str(anchor) in line.split('[')[1]\n"
        '    done = \'{"type":"done","id":1,"anchor":%d,"seconds":0.1}\'\n'
        "    print(done % anchor, flush=True)\n"
        "sys.stdin.read()"
    )
    await client.start()
    await heard.until(lambda: "ready" in heard.statuses)
    client.ask([1, 2])
    await heard.until(lambda: heard.done == [1, 2])
    assert heard.statuses == ["starting", "ready", "restarting", "ready"]
