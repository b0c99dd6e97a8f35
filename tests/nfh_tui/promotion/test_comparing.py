"""Two models item by item, on what they have stored."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import Result

from nfh_db.query import Query, parse
from nfh_db.records import Annotator, Identified, Prediction
from nfh_db.store import Store
from nfh_models.model_files import SeenTexts
from nfh_tui.cli.models import _item
from nfh_tui.services.compare_models import (
    ModelComparison,
    NotComparableError,
    compare_models,
    seen_test,
    task_of,
)
from tests.nfh_models.encoder.handmade import item

from .handmade import registered

Call = Callable[..., Result]
Load = Callable[..., None]

ME = Annotator(0, "me")


def answer(store: Store, name: str, wrong: Sequence[int], skipped: Sequence[int] = ()) -> int:
    """A model with what it said of each label stored; wrong, skipped: by number."""
    model = store.models.ensure(name, "resolution", "encoder", "1")
    rows = []
    for number, ballot in enumerate(store.holdout.labelled(Query())):
        words = [ballot.passage.word(place) for place in range(len(ballot.passage.tokens))]
        right = str(words.index("dogs")) if "dogs" in words else "AGE"
        said = "YEAR" if number in wrong else right
        if number not in skipped:
            rows.append((ballot.anchor_id, Prediction(name, said, None, None, ())))
    store.predictions.save(model, rows)
    return model


@pytest.fixture
def pair(store: Store, load: Load) -> tuple[int, int]:
    """Two models of 40 labels, a-1 wrong on 0 to 9, b-1 on 5 to 7; b-1 skips the last two."""
    load(40)
    return answer(store, "a-1", range(10)), answer(store, "b-1", range(5, 8), [38, 39])


def compared(store: Store, query: str = "") -> ModelComparison:
    first, second = store.models.named("a-1"), store.models.named("b-1")
    assert first is not None
    assert second is not None
    return compare_models(store, "resolution", first, second, parse(query))


def test_each_item_that_both_answered_is_in_one_of_four_groups(
    store: Store, pair: tuple[int, int]
) -> None:
    found = compared(store)
    groups = ((True, True), (True, False), (False, True), (False, False))
    assert [len(found.of(right)) for right in groups] == [28, 0, 7, 3]
    assert found.missing == (0, 2)
    main = found.figures.differences[0]
    assert (main.figure, found.figures.n) == ("accuracy", 38)
    assert main.first == pytest.approx(28 / 38)
    assert main.difference.value == pytest.approx(-7 / 38)
    assert main.p is not None
    assert main.p < 0.05


def test_the_queries_open_what_they_say(store: Store, pair: tuple[int, int]) -> None:
    found = compared(store, "class:AGE")
    for right in ((True, True), (False, True), (False, False)):
        query = parse(found.query_of(right))
        opened = [number for ids in store.queue.ids(query, ME) for number in ids]
        assert sorted(opened) == sorted(one.anchor_id for one in found.of(right))
        assert opened


def test_items_that_one_has_seen_by_its_list_are_told_apart(store: Store, load: Load) -> None:
    load(40)
    texts = [ballot.passage for ballot in store.holdout.labelled(Query())]
    seen = SeenTexts.of(texts[:5], texts[5:8])
    about = {"query": "text:nothing"}
    registered(store, "b-1", [], metrics=about, active=False, seen=seen)
    answer(store, "a-1", range(10))
    answer(store, "b-1", range(5))
    found = compared(store)
    assert found.learnt == (0, 8)
    assert found.unseen is not None
    assert found.unseen.n == 32
    second = store.models.named("b-1")
    assert second is not None
    test = seen_test(store, second.id)
    assert test is not None
    assert [test(text) for text in texts[6:10]] == [True, True, False, False]
    assert seen_test(store, 0) is None


def test_items_that_one_learnt_from_are_told_apart(store: Store, load: Load) -> None:
    load(20)
    registered(store, "b-1", [], metrics={"judged_on": "folds"}, active=False)
    load(20, "b", start=20)
    answer(store, "a-1", range(10))
    answer(store, "b-1", [25])
    found = compared(store)
    assert found.learnt == (0, 20)
    assert found.unseen is not None
    assert found.unseen.n == 20
    assert [one.difference.value for one in found.unseen.differences] == [0.05] * 3
    assert sum(one.seen for one in found.items) == 20


def test_identification_is_compared_by_f1(store: Store, load: Load) -> None:
    load(30)
    ids = [one.anchor_id for one in store.holdout.labelled(Query())]
    for name, wrong in (("r-1", 6), ("s-1", 2)):
        model = store.models.ensure(name, "identification", "svm", "1")
        said = [(it, Identified(name, place >= wrong, "svm")) for place, it in enumerate(ids)]
        store.identifications.save(model, "1", said)
    first, second = store.models.named("r-1"), store.models.named("s-1")
    assert first is not None
    assert second is not None
    found = compare_models(store, "identification", first, second, Query())
    (main,) = found.figures.differences
    assert (main.figure, main.first) == ("f1", pytest.approx(48 / 54))
    assert found.query_of((False, True)) == "id:" + ",".join(map(str, ids[2:6]))
    assert found.query_of((True, False)) == ""


def test_models_of_two_tasks_have_nothing_in_common(
    store: Store, pair: tuple[int, int]
) -> None:
    store.models.ensure("svm-1", "identification", "svm", "1")
    store.models.ensure("small", "both", "small", "1")
    models = {model.name: model for model in store.models.all()}
    assert task_of(models["a-1"], models["small"]) == "resolution"
    assert task_of(models["svm-1"], models["small"]) == "identification"
    with pytest.raises(NotComparableError, match="of resolution and svm-1 of identification"):
        task_of(models["a-1"], models["svm-1"])
    with pytest.raises(NotComparableError, match="are not both models of identification"):
        task_of(models["a-1"], models["small"], "identification")


def test_the_command_tells_figures_queries_and_items(
    store: Store, pair: tuple[int, int], path: Path, call: Call
) -> None:
    told = call("models", "compare", "a-1", "b-1", "--items", "2", "--db", path)
    assert told.exit_code == 0, told.output
    assert "Resolution, 38 items in 38 passages:" in told.stdout
    assert f"nfh-tui browse 'miss:a-1 hit:b-1' --db {path}\n" in told.stdout
    assert "b-1 has not answered 2 items with gold: --predict has it answer." in told.stdout
    assert "Only b-1 is right, the first 2 of 7:" in told.stdout
    assert "Only a-1 is right" not in told.stdout
    own = [line for line in told.stdout.splitlines() if "nfh-tui browse" not in line]
    assert max(map(len, own)) <= 80
    found = json.loads(call("models", "compare", "1", "2", "--db", path, "--json").stdout)
    assert found["counts"] == {"both": 28, "only_first": 0, "only_second": 7, "neither": 3}
    assert found["low"] < found["difference"] < found["high"] < 0
    assert found["first"]["name"] == "a-1"
    assert len(found["items"]) == 7
    assert found["queries"]["only_second"] == "miss:a-1 hit:b-1"


@pytest.mark.parametrize("around", ["", "w " * 40, "wherever " * 20])
@pytest.mark.parametrize("number", ["six", "twenty-two-thousand-five-hundred"])
def test_a_line_of_an_item_fits_into_80_columns(around: str, number: str) -> None:
    one = item(f"A: {around}he is [ {number} ] , {around}so .")
    found = SimpleNamespace(
        first=SimpleNamespace(name="a-1"), second=SimpleNamespace(name="b-1")
    )
    ballot = SimpleNamespace(passage=one.passage, anchor=one.anchor)
    which = SimpleNamespace(
        anchor_id=123_456, ballot=ballot, gold="AGE", first="AGE", second="YEAR", seen=True
    )
    lines = list(_item(found, which))  # type: ignore[arg-type]
    assert all(len(line) <= 80 for line in lines)
    assert f"is [{number}]" in lines[0]


def test_the_query_may_begin_with_a_negated_term(
    store: Store, pair: tuple[int, int], path: Path, call: Call
) -> None:
    told = call("models", "compare", "a-1", "b-1", "-class:AGE", "--db", path, "--json")
    assert json.loads(told.stdout)["query"] == "-class:AGE"


def test_nothing_answered_is_said_with_the_way_on(
    store: Store, load: Load, path: Path, call: Call
) -> None:
    load(3)
    for name in ("a-1", "b-1"):
        store.models.ensure(name, "resolution", "encoder", "1")
    told = call("models", "compare", "a-1", "b-1", "--db", path)
    assert told.exit_code == 0
    assert "Both models have answered none of these items" in told.stdout
    assert "a-1 has not answered 3 items with gold: --predict has it answer." in told.stdout
    found = json.loads(call("models", "compare", "a-1", "b-1", "--db", path, "--json").stdout)
    assert (found["n"], found["low"], found["missing"]) == (0, None, [3, 3])


def test_a_model_is_not_compared_with_itself(
    store: Store, pair: tuple[int, int], path: Path, call: Call
) -> None:
    told = call("models", "compare", "a-1", "1", "--db", path)
    assert told.exit_code == 2
    assert "compared with itself" in told.stderr


def test_a_word_of_the_text_is_no_markup_and_controls_nothing(
    store: Store, path: Path, call: Call, load: Load
) -> None:
    load(2)
    answer(store, "a-1", [0])
    model = store.models.ensure("b\x1b[31m", "resolution", "encoder", "1")
    ids = [one.anchor_id for one in store.holdout.labelled(Query())]
    rows = [(it, Prediction("b", "AGE", None, None, ())) for it in ids]
    store.predictions.save(model, rows)
    told = call("models", "compare", "a-1", str(model), "--db", path)
    assert told.exit_code == 0, told.output
    assert "\x1b" not in told.stdout


BLIND = """
INSERT INTO assignment
    (anchor_id, annotator_id, role, purpose, position, stratum, run, assigned_at)
VALUES (1, :person, 'adjudicator', 'audit', 1, 'all', '', '')"""


def test_what_one_has_still_to_decide_blind_is_not_told(
    store: Store, pair: tuple[int, int], path: Path, call: Call
) -> None:
    ann = store.people.ensure("ann")
    with store.connections.fast_write() as connection:
        connection.execute(BLIND, {"person": ann.id})
    told = call("models", "compare", "a-1", "b-1", "--as", "ann", "--db", path, "--json")
    assert 1 not in [one["id"] for one in json.loads(told.stdout)["items"]]
    others = call("models", "compare", "a-1", "b-1", "--as", "bob", "--db", path, "--json")
    assert 1 in [one["id"] for one in json.loads(others.stdout)["items"]]
