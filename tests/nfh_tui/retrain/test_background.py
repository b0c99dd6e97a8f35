"""Predictions and evaluations as jobs: the same as the commands, later."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.cli.main import commands

from .handmade import FAST, Add, made, train

Run = Callable[..., Result]


@pytest.fixture
def run(path: Path) -> Run:
    """Calls any command on the database."""

    def call(*arguments: object) -> Result:
        texts = [*map(str, arguments), "--db", str(path)]
        return CliRunner().invoke(commands, texts, prog_name="nfh-tui", catch_exceptions=False)

    return call


@pytest.fixture
def trained(path: Path, add: Add, base: Path) -> None:
    """encoder-1, and forty numbers with gold."""
    add(40)
    with Store.open(path) as store:
        assert made(store, train(store, f"base={base}", *FAST)).name == "encoder-1"


@pytest.fixture
def last(path: Path) -> Callable[[], int]:
    """The number of the newest job."""

    def number() -> int:
        with Store.open(path) as store:
            return store.jobs.all()[0].id

    return number


def said(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_a_prediction_is_stored_by_its_job(
    trained: None, run: Run, last: Callable[[], int]
) -> None:
    told = run("predict", "--model", "encoder-1", "--background", "--json")
    number = last()
    assert said(told) == {
        "id": number, "kind": "predict", "task": "resolution", "state": "queued",
    }  # fmt: skip
    waited = run("jobs", "wait", number)
    assert waited.exit_code == 0, waited.output
    assert "40 numbers, predicted by encoder-1\n  40 predicted now, 0 before\n" in waited.stdout
    assert "models activate" in waited.stdout
    now = said(run("predict", "--model", "encoder-1", "--json"))
    shown = said(run("jobs", "show", number, "--json"))
    result = shown["result"]
    assert isinstance(result, dict)
    assert (now["anchors"], now["predicted"]) == (40, 0)
    assert (result["anchors"], result["predicted"], result["model"]) == (40, 40, "encoder-1")
    assert now.keys() <= result.keys()
    assert "40 predicted" in run("jobs").stdout


def test_an_evaluation_as_a_job_says_what_the_command_says(
    trained: None,
    run: Run,
    last: Callable[[], int],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(path.parent)
    asked = ("evaluate", "resolution", "--model", "encoder-1", "--resamples", "20")
    told = run(*asked, "--background", "--report", "page.html")
    number = last()
    assert told.stdout.startswith(f"job {number} is queued; ")
    with Store.open(path) as store:
        assert store.jobs.all()[0].arguments["report"] == str(path.parent / "page.html")
    waited = run("jobs", "wait", number)
    assert waited.exit_code == 0, waited.output
    assert "encoder-1, resolution, on 40 examples:\n  accuracy " in waited.stdout
    assert max(map(len, waited.stdout.splitlines()[:4])) <= 80
    page = (path.parent / "page.html").read_text("utf-8")
    assert "encoder-1" in page
    found = said(run("jobs", "show", number, "--json"))["result"]
    assert isinstance(found, dict)
    now = said(run(*asked, "--json"))
    timed = dict.fromkeys(("seconds", "seconds_parsing"))
    for one in (found, now, *found["models"], *now["models"]):
        one |= timed
    assert found == now


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("predict", "class:"), 2, "at character"),
        (("predict", "--model", "nobody"), 1, "'nobody' names no model of this database"),
        (("predict", "--file", "x.txt"), 2, "leave out --file"),
        (("evaluate", "resolution", "class:"), 2, "at character"),
        (("evaluate", "resolution", "--model", "nobody"), 1, "'nobody' names no model"),
        (("evaluate", "identification", "--ablation"), 2, "leave out --background"),
        (("evaluate", "resolution", "--folds", "3"), 2, "--folds is for identification"),
    ],
)
def test_what_is_called_wrongly_makes_no_job(
    path: Path, add: Add, run: Run, arguments: tuple[str, ...], code: int, says: str
) -> None:
    add(4)
    told = run(*arguments, "--background")
    assert told.exit_code == code
    assert says in told.stderr
    with Store.open(path) as store:
        assert store.jobs.all() == ()


def test_a_job_whose_model_is_gone_says_so(
    path: Path, trained: None, run: Run, last: Callable[[], int]
) -> None:
    assert run("evaluate", "resolution", "--model", "encoder-1", "--background").exit_code == 0
    (path.parent / "w-models" / "encoder-1" / "weights.safetensors").unlink()
    told = run("jobs", "wait", last())
    assert told.exit_code == 1
    assert "encoder-1" in told.stderr
    assert "Traceback" not in told.stderr
    assert "error in the program" not in told.stderr


def test_gold_is_doubted_by_models_that_have_not_seen_it(
    path: Path, add: Add, run: Run
) -> None:
    add(40)
    add(40, "b", start=100, only=Kind.NOT_NFH)
    asked = ("doubts", "--task", "identification", "--set", "features=anchor,window")
    told = run(*asked, "--folds", "2", "--wait")
    assert told.exit_code == 0, told.output
    assert "80 numbers with gold, each answered by a model that had not seen it" in told.stdout
    assert " % of the answers agree with the gold\n" in told.stdout
    lines = [line for line in told.stdout.splitlines() if not line.startswith("Look at")]
    assert max(map(len, lines)) <= 80
    with Store.open(path) as store:
        (job,) = store.jobs.all()
        assert (job.kind, job.task, job.arguments["folds"]) == ("check", "identification", 2)
        assert not [model for model in store.models.all() if model.path]
    doubted = job.result["doubted"]
    assert f"  {doubted} unlikely: " in told.stdout
    found = run("export", "doubt>0.9", "--format", "gold").stdout.splitlines()
    assert len(found) == doubted
    assert said(run(*asked, "--json"))["kind"] == "check"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--recipe", "cues"), "learns nothing"),
        (("class:",), "at character"),
        (("--set", "epochs=2"), "'epochs=2' is not a setting of linear"),
        (("--recipe", "encoder", "--set", "base=./somewhere"), "there is no such folder"),
        (("--recipe", "encoder", "--set", "base=cues"), "base"),
    ],
)
def test_a_wrong_question_after_doubts_makes_no_job(
    path: Path, add: Add, run: Run, arguments: tuple[str, ...], says: str
) -> None:
    add(4)
    told = run("doubts", *arguments)
    assert told.exit_code in (1, 2)
    assert says in told.stderr
    with Store.open(path) as store:
        assert store.jobs.all() == ()
