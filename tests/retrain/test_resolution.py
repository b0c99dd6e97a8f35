"""Models of resolution and of both tasks out of a database's gold: jobs that leave one, or
nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_models.model_files import CARD, digest_of, read_metrics
from nfh_tui.choosing_resolvers import resolver_for
from nfh_tui.cli.group import commands
from nfh_tui.training_base import base_for, general_of
from nfh_tui.training_resolution import TooFewError, retrain
from nfh_tui.training_trainers import TrainerError

from .handmade import FAST, Add, quiet, wanted


def test_a_model_is_made_judged_registered_and_has_a_card(
    path: Path, add: Add, base: Path
) -> None:
    add(60)
    with Store.open(path) as store:
        done = retrain(store, wanted(store, f"base={base}", *FAST, "dev=0.2"), quiet)
        model = done.model
        assert (model.name, model.task, model.recipe) == ("encoder-1", "resolution", "encoder")
        assert model.state == "candidate"  # cues are active
        assert model.digest == digest_of(done.folder)
        assert model.snapshot is not None
        metrics = model.metrics
        assert metrics == read_metrics(done.folder)
        kept_out = metrics["dev_examples"]
        assert isinstance(kept_out, int)
        assert metrics["examples"] == 60 - kept_out
        assert 0 < kept_out < 30
        assert len(metrics["curve"]) == 2  # type: ignore[arg-type]
        assert {"accuracy", "accuracy_inclusive", "accuracy_nearest"} <= metrics.keys()
        assert sum(one["n"] for one in metrics["by_kind"]) == kept_out  # type: ignore[attr-defined]
        (job,) = store.jobs()
        assert (job.state, job.model_id) == (JobState.DONE, model.id)
        assert job.arguments["settings"]["base"] == "base"  # type: ignore[index]
        assert resolver_for(store, "encoder-1").model.recipe == "encoder"
    card = (done.folder / CARD).read_text("utf-8")
    assert "Where it fails" in card
    assert f"{metrics['examples']} examples in" in card
    assert not list(done.folder.parent.glob(".work-*"))


def test_a_model_of_both_tasks_learns_from_numbers_with_and_without_noun(
    path: Path, add: Add, base: Path
) -> None:
    add(40)
    add(40, "b", start=100, only=Kind.NOT_NFH)
    with Store.open(path) as store:
        asked = wanted(store, f"base={base}", *FAST, task="both", recipe="small")
        done = retrain(store, asked, quiet)
        assert (done.model.name, done.model.task) == ("small-1", "both")
        metrics = done.model.metrics
        assert isinstance(metrics["numbers"], int)
        assert metrics["numbers"] > metrics["examples"]  # type: ignore[operator]
        assert {"precision", "recall", "f1"} <= metrics.keys()
        assert done.model.config["weights"] == "8bit"


def test_passages_that_are_held_out_are_not_learnt_from_and_counted(
    path: Path, add: Add, base: Path
) -> None:
    add(40, "a", split="train")
    add(10, "b", split="test", start=30)  # ten of them are among those of train
    add(20, "c", split="dev", start=100)
    with Store.open(path) as store:
        asked = wanted(store, f"base={base}", *FAST, "dev_split=dev", split="train")
        metrics = retrain(store, asked, quiet).model.metrics
    assert metrics["examples"] == 30
    assert metrics["dev_examples"] == 20
    assert metrics["left_out"] == {"in a passage of the split test": 10}
    assert metrics["judged_on"] == "split dev"


@pytest.mark.parametrize(
    ("count", "only", "words"),
    [
        (0, None, "there is nothing to learn resolution from"),
        (6, None, "too few examples to learn resolution from"),
        (1, None, "from: 1 is left to learn from"),
        (40, Kind.AGE, "examples are AGE"),
        (40, Kind.NOT_NFH, "no number found here has gold that says what its noun is"),
    ],
)
def test_gold_that_teaches_nothing_is_a_failed_job(
    path: Path, add: Add, base: Path, count: int, only: Kind | None, words: str
) -> None:
    add(count, only=only)
    with Store.open(path) as store:
        with pytest.raises(TooFewError, match=words):
            retrain(store, wanted(store, f"base={base}", *FAST), quiet)
        assert [job.state for job in store.jobs()] == [JobState.FAILED]
    assert not (path.parent / "w-models").exists()


def test_both_tasks_take_numbers_of_both_sorts(path: Path, add: Add, base: Path) -> None:
    add(40)
    with Store.open(path) as store:
        asked = wanted(store, f"base={base}", *FAST, task="both")
        with pytest.raises(TooFewError, match="identification has nothing to tell apart"):
            retrain(store, asked, quiet)


def test_linear_is_tried_in_folds(path: Path, add: Add, pipeline: None) -> None:
    add(40)
    with Store.open(path) as store:
        done = retrain(store, wanted(store, "folds=2", recipe="linear"), quiet)
        assert done.model.name == "linear-1"
        assert done.model.metrics["folds"] == 2
        assert done.model.metrics["accuracy"] == 1.0
        assert str(done.model.config["parser"]).startswith("en_core_web")
        found = resolver_for(store, "linear")
        assert found.model.version == done.model.version


@pytest.fixture
def pipeline() -> None:
    """Skips where no English pipeline is installed."""
    from nfh_models.parsing import installed_pipelines

    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")


def test_the_command_tells_figures_and_what_to_do_next(
    path: Path, add: Add, base: Path, call: Callable[..., Result]
) -> None:
    add(40)
    settings = [part for word in (f"base={base}", *FAST) for part in ("--set", word)]
    told = call("resolution", "--recipe", "encoder", "--wait", *settings)
    assert told.exit_code == 0, told.output
    assert "encoder-1: learnt from" in told.stdout
    assert "accuracy_inclusive" in told.stdout
    assert "these figures are rough" in told.stdout
    assert "nfh-tui models activate encoder-1" in told.stdout
    again = call("resolution", "--recipe", "encoder", "--wait", "--json", *settings)
    found = json.loads(again.stdout)
    assert (found["model"], found["state"]) == ("encoder-2", "done")
    listed = CliRunner().invoke(commands, ["models", "--db", str(path)]).stdout
    assert max(map(len, listed.splitlines())) <= 80
    shown = CliRunner().invoke(commands, ["models", "show", "encoder-1", "--db", str(path)])
    assert "On " in shown.stdout
    assert "accuracy_nearest" in shown.stdout
    assert "  kind " in shown.stdout


def test_a_training_starts_from_a_registered_model(path: Path, add: Add, base: Path) -> None:
    add(40)
    with Store.open(path) as store:
        first = retrain(store, wanted(store, f"base={base}", *FAST), quiet)
        store.activate_model(first.model.id)
        for word in ("base=active", "base=encoder-1", f"base={first.folder}"):
            start = base_for(store, "encoder", general_of([word]))
            assert not isinstance(start, str)
            assert start is not None
            assert (start.name, start.digest) == ("encoder-1", first.model.digest)
        second = retrain(store, wanted(store, *FAST, "seed=2"), quiet)
        assert second.model.config["base"] == "encoder-1"
        assert second.model.config["window"] == 40
        with pytest.raises(TrainerError, match="cues is of the recipe cues"):
            base_for(store, "encoder", general_of(["base=cues"]))
