"""Models of resolution and of both tasks out of a database's gold: jobs that leave one, or
nothing, and go on where they were broken off."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db.jobs import JobState
from nfh_db.load import IncomingFile
from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Rule
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, class_answer
from nfh_models.model_files import CARD, digest_of, read_metrics
from nfh_tui.choosing_resolvers import resolver_for
from nfh_tui.cli.group import commands
from nfh_tui.training_base import base_for, general_of
from nfh_tui.training_resolution import TooFewError, Wanted, retrain
from nfh_tui.training_trainers import TrainerError, trainer_for
from tests.encoder.handmade import item, reference
from tests.models.tiny_small import write_small

Add = Callable[..., None]
FAST = ("epochs=2", "batch=8", "window=40")


def texts(count: int, start: int = 0) -> Iterator[tuple[str, Answer]]:
    """Sentences with their gold, every second one an age, none like another."""
    for number in range(start, start + count):
        if number % 2:
            yield f"A: he is [ six ] , w{number} .", class_answer(Kind.AGE)
        else:
            yield f"A: i have dogs w{number} , you want [ two ] .", Answer(Kind.NFH)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.db"


@pytest.fixture
def add(path: Path) -> Add:
    """Adds so many examples to the database. split, only: as their rows have it."""

    def load(
        count: int,
        name: str = "a",
        *,
        split: str | None = None,
        start: int = 0,
        only: Kind | None = None,
    ) -> None:
        passages = []
        for line, (text, answer) in enumerate(texts(count, start), 1):
            one = item(text)
            if answer.kind is Kind.NFH:
                answer = reference(one, "dogs").gold
            if only is not None:
                answer = class_answer(only)
            gold = Gold(answer, Rule.IMPORTED)
            anchor = IncomingAnchor(line, one.anchor, split=split, gold=gold)
            passages.append(IncomingPassage(one.passage, "test", (anchor,)))
        with Store.open(path, create=True) as store:
            store.load(IncomingFile(name, name * 64, "test"), passages)

    return load


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A model to start from, so small that it learns in no time."""
    return write_small(tmp_path / "base", recipe="encoder")


def wanted(store: Store, *words: str, task: str = "resolution", **more: object) -> Wanted:
    general = general_of(words)
    recipe = str(more.pop("recipe", "encoder"))
    start = base_for(store, recipe, general)
    trainer = trainer_for(task, recipe, general.words, start, general.device)
    return Wanted(
        task,
        trainer,
        dev_split=general.dev_split,
        dev=general.dev,
        **more,  # type: ignore[arg-type]
    )


def quiet(*_: object) -> None:
    """Nobody watches."""


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
        assert resolver_for(store, "encoder-1").resolver.recipe == "encoder"
    card = (done.folder / CARD).read_text("utf-8")
    assert "Where it fails" in card
    assert f"{metrics['examples']} examples in" in card
    assert not list(done.folder.parent.glob(".work-*"))


def test_stopped_it_leaves_no_model_and_goes_on_when_asked_again(
    path: Path, add: Add, base: Path
) -> None:
    add(60)
    seen: list[tuple[str, int]] = []

    def stop(phase: str, done: int, total: int) -> None:
        if phase.startswith("training, epoch 2"):
            raise KeyboardInterrupt

    def note(phase: str, done: int, total: int) -> None:
        seen.append((phase, done))

    with Store.open(path) as store:
        asked = wanted(store, f"base={base}", *FAST)
        with pytest.raises(KeyboardInterrupt):
            retrain(store, asked, stop)
        assert {one.recipe for one in store.models()} == {"cues", "rules"}
        assert [job.state for job in store.jobs()] == [JobState.CANCELLED]
        (work,) = path.parent.glob("w-models/.work-*")
        assert (work / "last.safetensors").is_file()
        done = retrain(store, asked, note)
        assert done.model.name == "encoder-1"
    assert not work.exists()
    trained = [step for phase, step in seen if phase.startswith("training")]
    assert min(trained) > 0
    assert {phase for phase, _ in seen if phase.startswith("training")} == {
        "training, epoch 2:"
    }


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
        assert found.resolver.version == done.model.version


@pytest.fixture
def pipeline() -> None:
    """Skips where no English pipeline is installed."""
    from nfh_models.parsing import installed_pipelines

    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")


# --- what is called wrongly -----------------------------------------------------------------


@pytest.fixture
def call(path: Path) -> Callable[..., Result]:
    def run(*arguments: object) -> Result:
        texts = ["retrain", *map(str, arguments), "--db", str(path)]
        return CliRunner().invoke(commands, texts, prog_name="nfh-tui", catch_exceptions=False)

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("resolution", "--recipe", "svm"), 2, "linear, bilstm, encoder can be trained"),
        (("both", "--recipe", "linear"), 2, "encoder, small can be trained"),
        (("resolution", "--set", "epochs=2"), 2, "'epochs=2' is no setting of linear"),
        (("resolution", "--set", "base=active"), 2, "linear starts from nothing"),
        (("resolution", "--set", "dev=2"), 2, "a share of the passages above 0"),
        (("resolution", "--set", "dev_split="), 2, "a value is wanted"),
        (("resolution", "--recipe", "bilstm"), 2, "bilstm needs word vectors"),
        (("both", "--recipe", "encoder"), 2, "starts from an encoder"),
        (("both", "--set", "base=active"), 1, "cues is of the recipe cues"),
        (("both", "--set", "base=x", "--set", "encoder=y"), 2, "leave one out"),
        (("both", "--set", "base=x", "--set", "task=both"), 2, "is no setting"),
    ],
)
def test_what_is_called_wrongly_makes_no_job(
    path: Path, add: Add, call: Callable[..., Result], arguments: tuple[str, ...], code: int,
    says: str,
) -> None:  # fmt: skip
    add(4)
    with Store.open(path) as store:
        store.ensure_model("cues", "resolution", "cues", "1")
    result = call(*arguments)
    assert result.exit_code == code
    assert says in result.stderr
    with Store.open(path) as store:
        assert store.jobs() == ()


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
