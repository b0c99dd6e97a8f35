"""From labels to a model that took over, and back: a training in this process, for real."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.jobs import Job
from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_models.model_files import digest_of
from nfh_tui.jobs import runner
from nfh_tui.jobs.training import new_job
from nfh_tui.services.models import stored_path
from tests.nfh_models.parsing.tiny_small import write_small

Call = Callable[..., Result]
Load = Callable[..., None]

FAST = (
    "base=random-1",
    "epochs=4",
    "rate=0.01",
    "head_rate=0.01",
    "averaging=0",
    "dropout=0",
    "batch=8",
    "window=40",
    "dev=0.4",
)


def quiet(*_: object) -> None:
    """Nobody watches."""


@pytest.fixture
def random(store: Store, load: Load) -> int:
    """A model of nothing but chance in use, that learnt from none of the 140 labels."""
    load(140)
    folder = write_small(store.path.parent / "w-models" / "random-1", recipe="encoder")
    where, digest = stored_path(store.path, folder), digest_of(folder)
    asked_of = {"query": "text:nothing"}
    new = NewModel("random-1", "resolution", "encoder", "1", where, digest, metrics=asked_of)
    made = store.jobs.finish_training(store.jobs.begin("resolution", {}), new)
    store.models.activate(made.id)
    return made.id


def train(store: Store, *words: str, **more: object) -> Job:
    """A training of `encoder`, with all that follows from it."""
    new = new_job("resolution", "encoder", words=(*FAST, *words), **more)  # type: ignore[arg-type]
    number = store.jobs.add(new)
    runner.work(store, quiet)
    found = store.jobs.read(number)
    assert found is not None
    return found


def test_a_better_model_takes_over_predicts_and_is_left_again(
    store: Store, random: int, path: Path, call: Call
) -> None:
    job = train(store)
    assert job.error is None
    verdict = job.result["verdict"]
    assert verdict["verdict"] == "promoted", verdict  # type: ignore[index]
    assert verdict["against"] == "random-1"  # type: ignore[index]
    active = store.models.active("resolution")
    assert active is not None
    assert active.name == job.result["model"] == "encoder-1"
    assert active.verdict == verdict
    assert [one.kind for one in store.jobs.all()] == ["predict", "train", "train"]
    assert store.jobs.all()[0].state == "done"
    last = store.models.activations()[-1]
    assert (last.model, last.before, last.job) == ("encoder-1", "random-1", job.id)
    shown = call("models", "show", "encoder-1", "--db", path).stdout
    assert "Judged when it was made, promoted: " in shown
    assert f"resolution: encoder-1 in place of random-1 by job {job.id}" in shown
    told = json.loads(call("models", "show", "encoder-1", "--json", "--db", path).stdout)
    assert told["verdict"]["n"] == verdict["n"]  # type: ignore[index]
    assert told["used"][0]["before"] == "random-1"
    assert call("models", "back", "--db", path).exit_code == 0
    again = store.models.active("resolution")
    assert again is not None
    assert again.id == random


def test_a_model_in_use_that_is_gone_gives_way(store: Store, random: int) -> None:
    shutil.copytree(store.path.parent / "w-models" / "random-1", store.path.parent / "start")
    shutil.rmtree(store.path.parent / "w-models" / "random-1")
    job = train(store, f"base={store.path.parent / 'start'}")
    assert job.error is None
    assert "random-1, which is in use, cannot be used" in str(job.result["verdict"])
    active = store.models.active("resolution")
    assert active is not None
    assert active.name == "encoder-1"


def test_it_stays_a_candidate_where_that_is_asked_for(store: Store, random: int) -> None:
    job = train(store, promote=False)
    assert job.result["verdict"]["verdict"] == "candidate"  # type: ignore[index]
    active = store.models.active("resolution")
    assert active is not None
    assert active.id == random
    assert [one.kind for one in store.jobs.all()] == ["train", "train"]
