"""Trainings that are asked for: which recipe, by whom, and whether there is gold at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.jobs import NewJob
from nfh_db.store import Store
from nfh_models import model_files
from nfh_models.domain import Kind
from nfh_tui.cli.main import commands
from nfh_tui.jobs.descriptions import IMPORT
from nfh_tui.services import training

from .handmade import Add

Call = Callable[..., Result]


@pytest.fixture
def started(path: Path, add: Add, base: Path) -> Path:
    """Gold of both kinds; a folder to start from."""
    add(40)
    return base


def asked(path: Path) -> list[NewJob]:
    with Store.open(path) as store:
        return [
            NewJob(job.kind, job.version, job.task, job.arguments, job.asked_by)
            for job in store.jobs.all()
        ]


@pytest.mark.parametrize(
    ("task", "count", "only", "says"),
    [
        ("resolution", 0, None, "there is nothing to learn resolution from"),
        ("resolution", 40, Kind.NOT_NFH, "there is nothing to learn resolution from"),
        ("resolution", 6, None, "too few examples to learn resolution from: 6 numbers have"),
        ("resolution", 40, Kind.AGE, "nothing to distinguish: all 40 examples are AGE"),
        ("identification", 0, None, "no number here has gold"),
        ("identification", 40, Kind.AGE, "of 40 numbers with gold all are fused heads"),
        ("identification", 40, Kind.NOT_NFH, "all are no fused heads"),
    ],
)
def test_what_gold_cannot_teach_is_said_at_once_and_not_queued(
    path: Path, add: Add, call: Call, task: str, count: int, only: Kind | None, says: str
) -> None:
    add(count, only=only)
    told = call(task, *(("--recipe", "linear") if task == "resolution" else ()))
    assert told.exit_code == 1
    assert says in told.stderr
    assert asked(path) == []


def test_fused_heads_alone_make_no_model_of_both_tasks(
    path: Path, started: Path, call: Call
) -> None:
    told = call("both", "--set", f"base={started}")
    assert told.exit_code == 1
    assert "of 40 numbers with gold all are fused heads" in told.stderr
    assert "train resolution alone: nfh-tui retrain resolution" in told.stderr
    assert call("resolution", "--recipe", "linear").exit_code == 0


def test_the_query_and_the_split_are_looked_at(path: Path, add: Add, call: Call) -> None:
    add(40, split="train")
    linear = ("resolution", "--recipe", "linear")
    assert "nothing to learn" in call(*linear, "text:nothere").stderr
    told = call(*linear, "--split", "dev").stderr
    assert told == "nfh-tui: there is no split dev; there are: train\n"
    told = call(*linear, "--set", "dev_split=nosuch").stderr
    assert "there is no split nosuch" in told
    told = call(*linear, "--parser", "spacy:nix").stderr
    assert "there is no spaCy pipeline nix, neither installed nor as a folder" in told
    assert asked(path) == []
    assert call(*linear, "text:dogs,six", "--split", "train").exit_code == 0


def test_where_an_import_may_bring_gold_or_it_is_for_later_nothing_is_refused(
    path: Path, add: Add, call: Call
) -> None:
    add(0)
    linear = ("resolution", "--recipe", "linear")
    assert call(*linear, "--every", "50").exit_code == 0
    with Store.open(path) as store:
        store.jobs.add(NewJob(IMPORT, 2, "", {"files": []}))
    assert call(*linear).exit_code == 0
    assert [job.kind for job in asked(path)] == ["train", "import"]


def test_the_usual_recipe_goes_on_from_a_model_where_there_is_one(
    path: Path, started: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(call("resolution", "--json").stdout)["recipe"] == "linear"
    monkeypatch.setattr(model_files, "PACKAGE", started.parent)
    shutil.copytree(started, started.parent / "small")
    assert json.loads(call("resolution", "--json").stdout)["recipe"] == "encoder"
    monkeypatch.setattr(training, "find_spec", lambda _: None)
    assert json.loads(call("resolution", "--json").stdout)["recipe"] == "linear"


def test_doubts_are_of_models_that_begin_with_nothing(path: Path, started: Path) -> None:
    from click.testing import CliRunner

    words = ["doubts", "--json", "--as", "ida", "--db", str(path)]
    told = CliRunner().invoke(commands, words, prog_name="nfh-tui")
    assert json.loads(told.stdout)["recipe"] == "linear"
    assert [job.asked_by for job in asked(path)] == ["ida"]


def test_who_asked_is_said(path: Path, started: Path, call: Call) -> None:
    assert call("resolution", "--recipe", "linear", "--as", "ida").exit_code == 0
    assert [job.asked_by for job in asked(path)] == ["ida"]
