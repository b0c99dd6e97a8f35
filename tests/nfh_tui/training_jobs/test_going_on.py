"""Trainings that start from a model: gentle ones, which keep what it knew."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.store import Store
from nfh_models.encoder.model import load as load_model
from nfh_models.encoder.training import EncoderLearner
from nfh_models.resolution.linear import FittedLinear
from nfh_models.training.loop import SCORE
from nfh_models.training.plan import PhaseProgress
from nfh_tui.services.models import checked_folder
from nfh_tui.services.training import Base, trainer_for, without_folds

from .conftest import Train
from .handmade import Load

Scores = Callable[..., None]


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> Scores:
    """Says what the judgements are, one after the other."""

    def say(*said: float) -> None:
        left: Iterator[float] = iter(said)
        monkeypatch.setattr(EncoderLearner, "judge", lambda *_: {SCORE: next(left)})

    return say


def weights(folder: Path) -> dict[str, list[float]]:
    network = load_model(folder, bytes_=False).bundle.network
    return {name: one.flatten().tolist() for name, one in network.state_dict().items()}


def test_where_no_epoch_does_better_the_weights_stay_and_it_says_so(
    store: Store, load: Load, training: Train, scores: Scores, base: Path, path: Path
) -> None:
    load("a", count=60)
    scores(0.5, 0.5, 0.4)
    job = training("weights=8bit")
    assert "no epoch did better" in " ".join(job.result["notes"])  # type: ignore[arg-type]
    model = store.models.named("encoder-1")
    assert model is not None
    assert model.metrics["epoch"] == 0
    assert [one["epoch"] for one in model.metrics["curve"]] == [0, 1, 2]  # type: ignore[attr-defined]
    before, after = weights(base), weights(checked_folder(path, model))
    for name, values in before.items():
        assert after[name] == pytest.approx(values, abs=1e-6), name


def test_where_an_epoch_does_better_it_is_kept(
    store: Store, load: Load, training: Train, scores: Scores, base: Path, path: Path
) -> None:
    load("a", count=60)
    scores(0.5, 0.6, 0.4)
    job = training("weights=8bit")
    assert "no epoch did better" not in " ".join(job.result["notes"])  # type: ignore[arg-type]
    model = store.models.named("encoder-1")
    assert model is not None
    assert model.metrics["epoch"] == 1
    assert weights(base) != weights(checked_folder(path, model))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), {"rate": 3e-5, "head_rate": 1e-4, "epochs": 3}),
        (("rate=2e-4",), {"rate": 2e-4, "head_rate": 1e-4, "epochs": 3}),
        (("epochs=7",), {"rate": 3e-5, "head_rate": 1e-4, "epochs": 7}),
    ],
)
def test_what_goes_on_from_a_model_learns_gently_unless_told_otherwise(
    base: Path, words: tuple[str, ...], wanted: dict[str, float]
) -> None:
    start = Base(base, "base", "0")
    settings = trainer_for("resolution", "encoder", words, start, None).settings
    assert {name: settings[name] for name in wanted} == wanted
    fresh = trainer_for("resolution", "encoder", (), "tiny", None).settings
    assert (fresh["rate"], fresh["epochs"]) == (1e-4, 5)


def test_only_what_fits_the_model_itself_is_on_the_curve_of_linear() -> None:
    made = object()

    def steps() -> Iterator[PhaseProgress]:
        for phase in ("fold 1", "fold 2", "fitting"):
            yield PhaseProgress(phase, 1, 2, {"loss": 0.5})
            yield PhaseProgress(phase, 2, 2, {"loss": 0.1})
        return made  # type: ignore[return-value]

    told = []
    going = without_folds(steps())  # type: ignore[arg-type]
    found: object | FittedLinear = None
    while found is None:
        try:
            told.append(next(going))
        except StopIteration as end:
            found = end.value
    assert found is made
    assert [bool(step.metrics) for step in told] == [False] * 4 + [True] * 2
    assert [step.phase for step in told][::2] == ["fold 1", "fold 2", "fitting"]
