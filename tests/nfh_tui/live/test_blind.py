"""What one has still to decide blind: no query and no count tells what others decided of it."""

from pathlib import Path

import pytest

from nfh_db.assignment_plan import Amount, AssignmentRequest
from nfh_db.comparisons import GOLD, ComparedSide
from nfh_db.query import KEYS, SORTS, parse
from nfh_db.records import Annotator, Exposure, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

TWICE = AssignmentRequest(each=1, role=Role.ADJUDICATOR, doubles=Amount(100, percent=True))


@pytest.fixture
def store(database: Path, ids, decide):
    """Every item is to be decided by eva and by otto; otto has decided the first four."""
    with Store.open(database) as store:
        store.assignments.assign(parse(""), None, ("eva", "otto"), TWICE, limit=None)
        decide(ids[0], kind=Kind.AGE)
        decide(ids[1], kind=Kind.TIME)
        decide(*ids[2:4], kind=Kind.AGE)
        yield store


def found(store: Store, query: str, name: str = "eva") -> list[int]:
    me = store.people.ensure(name)
    ids = [i for chunk in store.queue.ids(parse(query), me) for i in chunk]
    assert len(ids) == store.queue.count(parse(query), me)
    return ids


def everything(store: Store) -> dict[str, object]:
    """What eva is told by each key's examples, and by each order."""
    queries = [one for key in KEYS for one in key.examples if key.name != "sort"]
    orders = [f"{sign}sort:{name}" for name in SORTS for sign in ("", "-")]
    told: dict[str, object] = {query: found(store, query) for query in (*queries, *orders)}
    for query in queries:
        told[f"-{query}"] = found(store, query if query.startswith("-") else f"-{query}")
    return told


def test_another_decision_changes_nothing_that_is_told(store, ids, decide, says):
    """The test of all keys and orders, those that come later among them."""
    says("cues", ids, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    before = everything(store)
    decide(*ids, kind=Kind.OTHER)
    decide(ids[1], kind=Kind.AGE)
    after = everything(store)
    assert {query for query in before if before[query] != after[query]} == set()


def test_they_are_found_as_though_nobody_had_decided_them(store, ids):
    assert found(store, "state:open") == ids
    assert found(store, "class:none rule:none -class:AGE -by:otto") == ids
    for query in ("state:decided", "-state:open", "class:AGE", "-class:none", "by:otto"):
        assert found(store, query) == []
    assert found(store, "class:AGE", "otto") == [ids[0], *ids[2:4]]
    assert found(store, "todo:me") == ids


def test_an_order_that_would_tell_leaves_them_out(store, ids):
    assert found(store, "sort:conflict") == []
    assert found(store, "sort:uncertain") == ids


def test_one_is_found_as_it_is_once_one_has_decided_it_oneself(store, ids, decide):
    decide(ids[0], by="eva", kind=Kind.PEOPLE)
    assert found(store, "class:AGE") == [ids[0]]
    assert found(store, "state:decided") == [ids[0]]
    assert found(store, "state:open") == ids[1:]


def test_no_count_of_the_screens_beside_has_them(store, ids, decide, says):
    model = says("cues", ids, [0.5] * 6)
    me = store.people.ensure("eva")

    def counts() -> tuple[int, int, int]:
        voted = store.comparisons.confusions(parse(""), me)
        right = store.comparisons.compare(
            ComparedSide("model", "cues", model), GOLD, parse(""), me, lambda: False
        )
        person = store.comparisons.compare(
            ComparedSide("person", "ann1"), GOLD, parse(""), me, lambda: False
        )
        return sum(one.answers for one in voted.people), right.whole.n, person.whole.n

    assert counts() == (0, 0, 0)
    decide(ids[0], by="eva", kind=Kind.AGE)
    assert counts() == (3, 1, 1)


def test_no_count_of_rules_has_them_nor_the_list_of_what_was_decided_by_one(store, ids):
    otto, eva = store.people.ensure("otto"), store.people.ensure("eva")
    seen = Exposure(rule_tag="R5")
    store.edits.commit_answer(ids[4], otto, Role.ADJUDICATOR, class_answer(Kind.AGE), seen)

    def told(asks: Annotator | None) -> tuple[dict[str, int], int, list[int]]:
        items = store.guidelines.tagged_items(asks=asks)
        anchors = store.guidelines.tagged_anchors([("R5", None)], asks=asks)
        return items, _decisions(store, asks), list(anchors)

    assert told(eva) == ({}, 0, [])
    assert told(otto) == told(None) == ({"R5": 1}, 5, [ids[4]])


def _decisions(store: Store, asks: Annotator | None) -> int:
    return sum(one.decisions for one in store.guidelines.tagged_decisions(asks=asks))
