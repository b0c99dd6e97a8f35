"""What a model learnt from, as far as the database can tell."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nfh_db.holdout import SplitSide
from nfh_db.models import Model
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_tui.jobs.reporting import passages_learnt_from

from .handmade import passage, registered

Load = Callable[..., None]

BY_SIDE = {"judged_on": "20 % of the labels, in passages that are kept out of every training"}
BY_FOLDS = {"judged_on": "folds"}


def learnt(store: Store, name: str) -> set[int]:
    """The numbers of the passages that a model learnt from."""
    digests = {passage(number)[0].passage.digest: number for number in range(60)}
    return {digests[one] for one in passages_learnt_from(store, model(store, name))}


def model(store: Store, name: str) -> Model:
    found = store.models.named(name)
    assert found is not None
    return found


def deal(store: Store, *numbers: int) -> None:
    """Deal these passages to those that are kept out, and all others to the others."""
    out = {passage(number)[0].passage.digest for number in numbers}
    known = {side.passage_id for side in store.holdout.sides()}
    new = [
        SplitSide(one.passage_id, one.passage.digest in out, f"passage {one.passage_id}")
        for one in store.holdout.labelled(Query())
        if one.passage_id not in known
    ]
    assert store.holdout.write_sides(new, len(known))


def test_a_model_learnt_from_what_was_not_kept_out(store: Store, load: Load) -> None:
    load(10)
    deal(store, 0, 1, 2)
    registered(store, "a-1", [], metrics=BY_SIDE)
    assert learnt(store, "a-1") == {3, 4, 5, 6, 7, 8, 9}


def test_gold_that_came_later_it_knows_nothing_of(store: Store, load: Load) -> None:
    load(5)
    registered(store, "a-1", [], metrics=BY_FOLDS)
    load(5, "b", start=5)
    assert learnt(store, "a-1") == {0, 1, 2, 3, 4}


def test_a_model_that_is_older_than_the_sides_did_not_keep_to_them(
    store: Store, load: Load
) -> None:
    load(5)
    registered(store, "a-1", [], metrics={"judged_on": "10 % of the passages"})
    deal(store, 0, 1)
    assert learnt(store, "a-1") == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("metrics", [BY_FOLDS, {"judged_on": "split d", "dev_split": "d"}, {}])
def test_who_was_judged_otherwise_did_not_keep_to_the_sides(
    store: Store, load: Load, metrics: dict[str, object]
) -> None:
    load(5)
    deal(store, 0, 1)
    registered(store, "a-1", [], metrics=metrics)
    assert learnt(store, "a-1") == {0, 1, 2, 3, 4}


def test_splits_and_queries_choose_and_keep_out(store: Store, load: Load) -> None:
    load(4, "a", split="train")
    load(4, "b", start=4, split="dev")
    load(4, "c", start=8, split="test")
    asked: dict[str, dict[str, object]] = {
        "a-1": {"split": "train"},
        "b-1": {"query": "class:AGE"},
        "c-1": {"dev_split": "train"},
        "d-1": {"query": "text:w9"},
        "e-1": {"query": "text:dogs"},
    }
    for name, words in asked.items():
        registered(store, name, [], metrics=words)
    assert learnt(store, "a-1") == {0, 1, 2, 3}
    assert learnt(store, "b-1") == {1, 3, 5, 7}
    assert learnt(store, "c-1") == {4, 5, 6, 7}
    assert learnt(store, "d-1") == set()
    assert learnt(store, "e-1") == {0, 2, 4, 6}


def test_what_it_started_from_learnt_counts_too(store: Store, load: Load) -> None:
    load(3)
    registered(store, "a-1", [], metrics=BY_FOLDS)
    load(3, "b", start=3)
    base = model(store, "a-1")
    config = {"base": "a-1", "base_digest": base.digest}
    metrics = BY_FOLDS | {"query": "class:AGE"}
    registered(store, "b-1", [], metrics=metrics, config=config)
    assert learnt(store, "b-1") == {0, 1, 2, 3, 5}
    # A folder that has the name of a model is another model.
    registered(store, "c-1", [], metrics=metrics, config=config | {"base_digest": "0"})
    assert learnt(store, "c-1") == {1, 3, 5}


def test_a_query_of_another_program_and_a_recipe_that_learns_nothing(
    store: Store, load: Load
) -> None:
    load(3)
    registered(store, "a-1", [], metrics={"query": "newkey:1"})
    assert learnt(store, "a-1") == set()
    store.models.ensure("cues", "resolution", "cues", "1")
    store.models.ensure("small", "both", "small", "1")
    assert learnt(store, "cues") == learnt(store, "small") == set()


def test_models_that_started_from_each_other_end(store: Store, load: Load) -> None:
    load(3)
    registered(store, "a-1", [], metrics=BY_FOLDS)
    own = model(store, "a-1")
    looping = replace(own, config={"base": "a-1", "base_digest": own.digest})
    assert len(passages_learnt_from(store, looping)) == 3
