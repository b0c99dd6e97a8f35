"""Trainings as jobs: they leave a model that says what it learnt from, or a sentence."""

import shutil
from pathlib import Path

import click
import pytest

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_models.model_files import CARD, digest_of, read_config, read_metrics, read_seen
from nfh_tui.cli.retrain import check_settings
from nfh_tui.jobs.descriptions import LOG, STAMP, jobs_folder
from nfh_tui.jobs.training import new_job
from nfh_tui.services.models import checked_folder

from .conftest import Train
from .handmade import FAST, Load


def test_a_training_leaves_a_model_and_a_log_and_nothing_else(
    store: Store, load: Load, training: Train, path: Path
) -> None:
    load("a", count=60)
    job = training()
    assert (job.state, job.error) == (JobState.DONE, None)
    model = store.models.named("encoder-1")
    assert model is not None
    assert job.model_id == model.id
    assert model.snapshot == job.snapshot
    folder = checked_folder(path, model)
    assert model.digest == digest_of(folder)
    assert read_config(folder).name == "encoder-1"
    assert read_metrics(folder) == model.metrics
    assert (folder / CARD).read_text("utf-8").startswith("# encoder-1\n")
    assert [one.name for one in folder.parent.iterdir()] == ["encoder-1"]
    kept = (jobs_folder(path) / str(job.id)).iterdir()
    assert sorted(one.name for one in kept) == [STAMP, LOG]
    seen = read_seen(folder)
    assert seen is not None
    assert len(seen.learnt) == 48
    assert len(seen.chose) == 4, "a third of what was kept out chose its epoch"
    assert model.metrics["texts_seen"] == seen.count == 52
    metrics, result = model.metrics, job.result
    assert (metrics["examples"], metrics["dev_examples"]) == (48, 12)
    assert [one["epoch"] for one in metrics["curve"]] == [0, 1, 2]  # type: ignore[attr-defined]
    assert (result["model"], result["passages"]) == ("encoder-1", 48)
    assert result["notes"]
    assert result["verdict"]["verdict"] in ("candidate", "promoted")  # type: ignore[index]


def test_labels_that_change_meanwhile_change_nothing(
    store: Store, load: Load, training: Train, path: Path
) -> None:
    load("a", count=60)
    before = training()

    def decide(phase: str, done: int, total: int) -> None:
        if phase == "preparing":
            with Store.open(path):
                load("b", count=30, start=100)
            store.models.stand_down("resolution")

    meanwhile = training(progress=decide)
    assert meanwhile.snapshot == before.snapshot
    model = store.models.named("encoder-2")
    assert model is not None
    assert model.metrics["examples"] == 48
    after = training()
    assert after.snapshot != before.snapshot
    assert after.result["passages"] == 72


def test_what_was_the_active_model_at_first_is_started_from(
    store: Store, load: Load, training: Train
) -> None:
    load("a", count=60)
    in_use = store.models.active("resolution")
    assert in_use is not None
    first = training()
    assert first.model_id is not None
    store.models.activate(first.model_id)
    tries = []

    def stop(phase: str, done: int, total: int) -> None:
        if phase.startswith("training") and not tries:
            tries.append(phase)
            store.models.activate(in_use.id)
            raise KeyboardInterrupt

    new = new_job("resolution", "encoder", words=("base=active", *FAST))
    with pytest.raises(KeyboardInterrupt):
        training(new=new, progress=stop)
    job = training(new=new_job("resolution", "encoder", words=("base=encoder-1", *FAST)))
    assert job.state is JobState.DONE
    for name in ("encoder-2", "encoder-3"):
        model = store.models.named(name)
        assert model is not None
        assert model.config["base"] == "encoder-1"


@pytest.mark.parametrize(
    ("count", "only", "words"),
    [
        (0, None, "there is nothing to learn resolution from"),
        (11, None, "too few examples to learn resolution from: 9 are left"),
        (40, Kind.AGE, "all 32 examples are AGE"),
        (40, Kind.NOT_NFH, "no number here has gold that names its noun"),
    ],
)
def test_too_little_gold_is_a_failed_job_with_a_sentence(
    store: Store, load: Load, training: Train, count: int, only: Kind | None, words: str
) -> None:
    load("a", count=count, only=only)
    job = training()
    assert job.state is JobState.FAILED
    assert words in str(job.error)
    assert [one.name for one in store.models.all() if one.path] == ["base"]


def test_classes_with_few_examples_are_named(store: Store, load: Load, training: Train) -> None:
    load("a", count=30)
    load("b", count=3, start=100, only=Kind.YEAR)
    notes = " ".join(training().result["notes"])  # type: ignore[arg-type]
    assert "too few examples to learn well: YEAR (3)" in notes
    assert "no example at all: CURRENCY, PEOPLE, TIME, OTHER" in notes
    assert "kept out to judge it, so its figures say almost nothing" in notes


@pytest.mark.parametrize(
    ("task", "recipe", "words", "says"),
    [
        ("resolution", "encoder", ("dev=0.7",), "a share of the passages above 0"),
        ("resolution", "linear", ("base=active",), "starts from scratch"),
        ("resolution", "encoder", ("base=./none",), "there is no such folder"),
        ("identification", "svm", ("device=cpu",), "is not a setting of svm"),
        ("identification", "svm", ("dev=0.3", "foo=1"), "is not a setting of svm"),
    ],
)
def test_what_is_asked_for_wrongly_is_told_before_it_is_queued(
    store: Store, task: str, recipe: str, words: tuple[str, ...], says: str
) -> None:
    with pytest.raises(click.UsageError, match=says):
        check_settings(store, task, recipe, words)


def test_identification_is_learnt_on_one_side_and_judged_on_the_other(
    store: Store, load: Load, training: Train
) -> None:
    load("a", count=60)
    load("b", count=60, start=100, only=Kind.NOT_NFH)
    words = ("features=anchor,window", "dev=0.3")
    job = training(new=new_job("identification", "svm", words=words))
    assert job.error is None
    model = store.models.named("svm-1")
    assert model is not None
    assert (model.metrics["examples"], model.metrics["passages"]) == (84, 84)
    assert str(model.metrics["judged_on"]).startswith("30 % of the labels")
    trial = job.result["verdict"]["trials"][0]  # type: ignore[index]
    assert trial["n"] == 36


def test_two_trainings_do_not_want_one_name(
    store: Store, load: Load, training: Train, path: Path
) -> None:
    load("a", count=60)
    training()
    (path.parent / "w-models" / "encoder-2").mkdir()
    assert training().result["model"] == "encoder-3"
    shutil.rmtree(path.parent / "w-models" / "encoder-3")
    assert training().result["model"] == "encoder-4"
