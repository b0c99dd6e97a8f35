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
from nfh_tui.cli.main import commands
from nfh_tui.cli.retrain import retrained_lines
from nfh_tui.services.models import ensure_packaged, in_use, resolver_for
from nfh_tui.services.training import Base, TrainerError, base_for, general_of
from tests.nfh_models.parsing.tiny_small import write_base

from .handmade import FAST, Add, made, train


def test_a_model_is_made_judged_registered_and_has_a_card(
    path: Path, add: Add, base: Path
) -> None:
    add(60)
    with Store.open(path) as store:
        job = train(store, f"base={base}", *FAST, "dev=0.2")
        model = made(store, job)
        folder = path.parent / "w-models" / "encoder-1"
        assert (model.name, model.task, model.recipe) == ("encoder-1", "resolution", "encoder")
        assert model.digest == digest_of(folder)
        assert model.snapshot is not None
        assert model.snapshot == job.snapshot
        metrics = model.metrics
        assert metrics == read_metrics(folder)
        kept_out = metrics["dev_examples"]
        assert isinstance(kept_out, int)
        assert metrics["examples"] == 60 - kept_out
        assert 0 < kept_out < 30
        assert [one["epoch"] for one in metrics["curve"]] == [0, 1, 2]  # type: ignore[attr-defined]
        assert {"accuracy", "accuracy_inclusive", "accuracy_nearest"} <= metrics.keys()
        assert sum(one["n"] for one in metrics["by_kind"]) == kept_out  # type: ignore[attr-defined]
        assert f"base={base}" in job.arguments["words"]  # type: ignore[operator]
        assert store.jobs.points(job.id)
        assert resolver_for(store, "encoder-1").model.recipe == "encoder"
    card = (folder / CARD).read_text("utf-8")
    assert "## Errors" in card
    assert f"{metrics['examples']} examples in" in card
    assert sorted(one.name for one in folder.parent.iterdir()) == ["encoder-1"]


def test_a_model_of_both_tasks_learns_from_numbers_with_and_without_noun(
    path: Path, add: Add, base: Path
) -> None:
    add(40)
    add(40, "b", start=100, only=Kind.NOT_NFH)
    with Store.open(path) as store:
        job = train(store, f"base={base}", *FAST, task="both", recipe="small")
        model = made(store, job)
        assert (model.name, model.task) == ("small-1", "both")
        metrics = model.metrics
        assert isinstance(metrics["numbers"], int)
        assert metrics["numbers"] > metrics["examples"]  # type: ignore[operator]
        assert {"precision", "recall", "f1"} <= metrics.keys()
        assert model.config["weights"] == "8bit"
        told = "\n".join(retrained_lines(job, model, store.path, None))
    assert f"and, for identification, from {metrics['numbers']} numbers" in told
    assert "identification f1" in told


def test_passages_that_are_held_out_are_not_learnt_from_and_counted(
    path: Path, add: Add, base: Path
) -> None:
    add(40, "a", split="train")
    add(10, "b", split="test", start=30)  # ten of them are among those of train
    add(20, "c", split="dev", start=100)
    with Store.open(path) as store:
        job = train(store, f"base={base}", *FAST, "dev_split=dev", split="train")
        metrics = made(store, job).metrics
    assert metrics["examples"] == 30
    assert metrics["dev_examples"] == 20
    assert metrics["left_out"] == {"in a passage of the split test": 10}
    assert metrics["judged_on"] == "split dev"


@pytest.mark.parametrize(
    ("count", "only", "words"),
    [
        (0, None, "there is nothing to learn resolution from"),
        (6, None, "too few examples to learn resolution from"),
        (1, None, "too few examples to learn resolution from: 1 is left to learn from"),
        (40, Kind.AGE, "examples are AGE"),
        (40, Kind.NOT_NFH, "no number here has gold that names its noun"),
    ],
)
def test_gold_that_teaches_nothing_is_a_failed_job(
    path: Path, add: Add, base: Path, count: int, only: Kind | None, words: str
) -> None:
    add(count, only=only)
    with Store.open(path) as store:
        job = train(store, f"base={base}", *FAST)
    assert job.state is JobState.FAILED
    assert job.error is not None
    assert words in job.error
    assert not (path.parent / "w-models").exists()


def test_both_tasks_take_numbers_of_both_sorts(path: Path, add: Add, base: Path) -> None:
    add(40)
    with Store.open(path) as store:
        job = train(store, f"base={base}", *FAST, task="both")
    assert job.state is JobState.FAILED
    assert "identification has nothing to distinguish" in str(job.error)


def test_linear_is_tried_in_folds(path: Path, add: Add, pipeline: None) -> None:
    add(40)
    with Store.open(path) as store:
        model = made(store, train(store, "folds=2", recipe="linear"))
        assert model.name == "linear-1"
        assert model.metrics["accuracy"] == 1.0
        assert str(model.config["parser"]).startswith("en_core_web")
        found = resolver_for(store, "linear")
        assert found.model.version == model.version


@pytest.fixture
def pipeline() -> None:
    """Skips where no English pipeline is installed."""
    from nfh_models.parsing.spacy_parser import installed_pipelines

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
    assert f"Saved in {path.parent / 'w-models' / 'encoder-1'}; " in told.stdout
    assert f"nfh-tui models activate encoder-1 --db {path}\n" in told.stdout
    lines = [line for line in told.stdout.splitlines() if str(path.parent) not in line]
    assert max(map(len, lines)) <= 80
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
        first = made(store, train(store, f"base={base}", *FAST))
        store.models.activate(first.id)
        folder = path.parent / "w-models" / "encoder-1"
        for word in ("base=active", "base=encoder-1", f"base={folder}"):
            start = base_for(store, "encoder", general_of([word]))
            assert not isinstance(start, str)
            assert start is not None
            assert (start.name, start.digest) == ("encoder-1", first.digest)
        second = made(store, train(store, *FAST, "seed=2"))
        assert second.config["base"] == "encoder-1"
        assert second.config["window"] == 40
        with pytest.raises(TrainerError, match="cues is of the recipe cues"):
            base_for(store, "encoder", general_of(["base=cues"]))


def test_a_training_starts_from_base_only_where_it_is_named(path: Path, package: Path) -> None:
    def start(store: Store, *words: str) -> str:
        found = base_for(store, "encoder", general_of(words))
        assert isinstance(found, Base)
        assert found.folder == package.parent / found.name
        return found.name

    write_base(package.parent / "base")
    with Store.open(path, create=True) as store:
        ensure_packaged(store)
        assert in_use(store)["resolution"] == "base"
        assert start(store) == "small"
        assert start(store, "base=active") == start(store, "base=base") == "base"
