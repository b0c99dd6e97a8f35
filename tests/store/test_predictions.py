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
    return store.annotator("eva")


def shown(store: Store, eva: Annotator, anchor: int = 1) -> Prediction | None:
    """The prediction beside an anchor."""
    item = store.item(anchor, eva, Role.ANNOTATOR)
    assert item is not None
    return item.prediction


def prediction(model: str, choice: str = "1") -> Prediction:
    return Prediction(model, choice, "AGE", 0.25, SCORES)


def test_predictions_come_back_whole(store: Store, eva: Annotator) -> None:
    model = store.ensure_model("nearest", "resolution", "nearest-noun", "1")
    store.save_predictions(model, [(1, prediction("nearest"))])
    assert shown(store, eva) == prediction("nearest")
    assert shown(store, eva, 2) is None
    store.save_predictions(model, [(1, prediction("nearest", "AGE"))])
    assert shown(store, eva) == prediction("nearest", "AGE")


def test_the_first_model_of_a_task_is_the_active_one(store: Store, eva: Annotator) -> None:
    other = store.ensure_model("finder", "identification", "rules", "1")
    first = store.ensure_model("nearest", "resolution", "nearest-noun", "1")
    second = store.ensure_model("better", "both", "encoder", "1")
    assert len({other, first, second}) == 3
    assert store.ensure_model("nearest", "resolution", "nearest-noun", "1") == first
    store.save_predictions(second, [(1, prediction("better"))])
    store.save_predictions(other, [(1, prediction("finder"))])
    assert shown(store, eva) is None
    store.save_predictions(first, [(1, prediction("nearest"))])
    assert shown(store, eva) == prediction("nearest")
    with pytest.raises(StoreError, match="no task of a model"):
        store.ensure_model("x", "cooking", "y", "1")


def test_another_version_forgets_what_the_last_one_said(store: Store, eva: Annotator) -> None:
    model = store.ensure_model("nearest", "resolution", "nearest-noun", "1")
    store.save_predictions(model, [(1, prediction("nearest")), (2, prediction("nearest"))])
    assert store.ensure_model("nearest", "resolution", "nearest-noun", "2") == model
    assert shown(store, eva) is None
    assert shown(store, eva, 2) is None


def test_a_new_recipe_takes_over_from_a_built_in_one(store: Store, eva: Annotator) -> None:
    old = store.ensure_model("old", "resolution", "old", "1")
    store.save_predictions(old, [(1, prediction("old"))])
    new = store.ensure_model("new", "resolution", "new", "1", in_place_of=["old"])
    assert shown(store, eva) is None
    store.save_predictions(new, [(1, prediction("new", "AGE"))])
    assert shown(store, eva) == prediction("new", "AGE")
    store.activate_model(old)
    assert shown(store, eva) == prediction("old")
    assert store.ensure_model("new", "resolution", "new", "1", in_place_of=["old"]) == new
    assert shown(store, eva) == prediction("old")


@pytest.mark.parametrize("name", ["mine", "old"])
def test_a_new_recipe_takes_over_from_nothing_else(store: Store, name: str) -> None:
    """A trained model keeps its place, even one of that name."""
    job = store.begin_job("resolution", {})
    active = store.finish_training(job, NewModel(name, "resolution", "old", "1", "there", "0"))
    assert active.state == "active"
    store.ensure_model("new", "resolution", "new", "1", in_place_of=["old"])
    assert [model.state for model in store.models()] == ["active", "candidate"]


def test_passages_for_the_predictor(store: Store, eva: Annotator, kit) -> None:
    found = store.passages([2, 99, 1])
    assert found.keys() == {1, 2}
    assert found[2][0] == kit.passage("b one")
    assert (found[2][1].start, found[2][1].end) == (1, 2)
