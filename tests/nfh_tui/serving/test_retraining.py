"""Trainings that come round are the server's to queue, whoever is there."""

import asyncio
from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.jobs.training import new_job, set_every
from nfh_tui.serving import server
from nfh_tui.serving.server import TrainingRounds

from .real import make_database


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database whose model of heads is to be trained after each decision."""
    monkeypatch.setattr("nfh_tui.jobs.training.too_few", lambda store: {})
    monkeypatch.setattr(server, "ensure_runner", lambda store: False)
    path = tmp_path / "some.db"
    make_database(path)
    with Store.open(path) as store:
        set_every(store, 1, new_job("resolution", "linear", asked_by="eva"))
    return path


def decide(path: Path) -> None:
    """One decision."""
    with Store.open(path) as store:
        eva = store.people.ensure("eva")
        first = next(iter(store.queue.ids(parse(""), eva)))[0]
        store.edits.commit_answer(first, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))


def test_what_is_due_is_queued_once(database: Path) -> None:
    rounds = TrainingRounds(database)
    assert rounds.look() == ()
    decide(database)
    queued = rounds.look()
    assert len(queued) == 1
    assert rounds.look() == ()


def test_what_has_too_little_to_learn_from_waits_for_somebody_to_write(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Store] = []

    def too_few(store: Store) -> dict[str, str]:
        looked.append(store)
        return {"resolution": "nothing to learn from"}

    monkeypatch.setattr("nfh_tui.jobs.training.too_few", too_few)
    decide(database)
    rounds = TrainingRounds(database)
    assert (rounds.look(), rounds.look(), len(looked)) == ((), (), 1)
    decide(database)
    assert (rounds.look(), len(looked)) == ((), 2)


async def test_what_cannot_be_looked_at_is_a_line_and_no_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LOOK", 0.01)
    task = asyncio.create_task(TrainingRounds(tmp_path / "none.db").run())
    async with asyncio.timeout(120):
        while len(caplog.records) < 2:  # noqa: ASYNC110  # written by another thread
            await asyncio.sleep(0.01)
    assert not task.done()
    task.cancel()
    assert "trainings that come round" in caplog.text
