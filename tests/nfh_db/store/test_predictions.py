"""Models and what they say."""

import pytest

from nfh_db.errors import StoreError
from nfh_db.models import NewModel
from nfh_db.records import Annotator, Prediction, Role
from nfh_db.store import Store

SCORES = (0.25, None, 0.5, 0.0, 0.125, 0.0, None, 0.75)


@pytest.fixture
def eva(store: Store, kit) -> Annotator:
    """Somebody, in a database of two anchors."""
    kit.load(store, kit.one("a one", 1), kit.one("b one", 1, line=2))
    return store.people.ensure("eva")


def shown(store: Store, eva: Annotator, anchor: int = 1) -> Prediction | None:
    """The prediction beside an anchor."""
    item = store.items.read(anchor, eva, Role.ANNOTATOR)
    assert item is not None
    return item.prediction


def prediction(model: str, choice: str = "1") -> Prediction:
    return Prediction(model, choice, "AGE", 0.25, SCORES)


def test_predictions_come_back_whole(store: Store, eva: Annotator) -> None:
    model = store.models.ensure("nearest", "resolution", "nearest-noun", "1")
    store.predictions.save(model, [(1, prediction("nearest"))])
    assert shown(store, eva) == prediction("nearest")
    assert shown(store, eva, 2) is None
    store.predictions.save(model, [(1, prediction("nearest", "AGE"))])
    assert shown(store, eva) == prediction("nearest", "AGE")


def test_the_first_model_of_a_task_is_the_active_one(store: Store, eva: Annotator) -> None:
    other = store.models.ensure("finder", "identification", "rules", "1")
    first = store.models.ensure("nearest", "resolution", "nearest-noun", "1")
    second = store.models.ensure("better", "both", "encoder", "1")
    assert len({other, first, second}) == 3
    assert store.models.ensure("nearest", "resolution", "nearest-noun", "1") == first
    store.predictions.save(second, [(1, prediction("better"))])
    store.predictions.save(other, [(1, prediction("finder"))])
    assert shown(store, eva) is None
    store.predictions.save(first, [(1, prediction("nearest"))])
    assert shown(store, eva) == prediction("nearest")
    with pytest.raises(StoreError, match="not a task of models"):
        store.models.ensure("x", "cooking", "y", "1")


def test_another_version_forgets_what_the_last_one_said(store: Store, eva: Annotator) -> None:
    model = store.models.ensure("nearest", "resolution", "nearest-noun", "1")
    store.predictions.save(model, [(1, prediction("nearest")), (2, prediction("nearest"))])
    assert store.models.ensure("nearest", "resolution", "nearest-noun", "2") == model
    assert shown(store, eva) is None
    assert shown(store, eva, 2) is None


def test_a_new_recipe_takes_over_from_a_built_in_one(store: Store, eva: Annotator) -> None:
    old = store.models.ensure("old", "resolution", "old", "1")
    store.predictions.save(old, [(1, prediction("old"))])
    new = store.models.ensure("new", "resolution", "new", "1", in_place_of=["old"])
    assert shown(store, eva) is None
    store.predictions.save(new, [(1, prediction("new", "AGE"))])
    assert shown(store, eva) == prediction("new", "AGE")
    store.models.activate(old)
    assert shown(store, eva) == prediction("old")
    assert store.models.ensure("new", "resolution", "new", "1", in_place_of=["old"]) == new
    assert shown(store, eva) == prediction("old")


@pytest.mark.parametrize("name", ["mine", "old"])
def test_a_new_recipe_takes_over_from_nothing_else(store: Store, name: str) -> None:
    """A trained model keeps its place, even one of that name."""
    job = store.jobs.begin("resolution", {})
    active = store.jobs.finish_training(
        job, NewModel(name, "resolution", "old", "1", "there", "0")
    )
    assert active.state == "active"
    store.models.ensure("new", "resolution", "new", "1", in_place_of=["old"])
    assert [model.state for model in store.models.all()] == ["active", "candidate"]


def test_passages_for_the_predictor(store: Store, eva: Annotator, kit) -> None:
    found = store.items.passages([2, 99, 1])
    assert found.keys() == {1, 2}
    assert found[2][0] == kit.passage("b one")
    assert (found[2][1].start, found[2][1].end) == (1, 2)
