"""Who is given what: evenly, nobody twice, only what is lacking."""

import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db import assignment_plan
from nfh_db.assignment_plan import Amount, AssignmentRequest, days_ago
from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

WORDS = "the dogs saw one or two dogs and cats"
ROWS = """
SELECT s.anchor_id, n.name, s.role, s.purpose, s.state, s.position, s.finished_at
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
ORDER BY n.name, s.position, s.anchor_id"""


@dataclass(frozen=True)
class Row:
    """An assignment as the table has it."""

    anchor: int
    person: str
    role: str
    purpose: str
    state: str
    position: int
    finished: str | None


def rows(store: Store) -> list[Row]:
    """All assignments, by person and position."""
    with closing(connect(store.path, "ro")) as connection:
        return [Row(*row) for row in connection.execute(ROWS)]


def items(kit, count: int, of_one: int = 1):
    """So many anchors, `of_one` to a passage."""
    for number in range(count // of_one):
        passage = kit.one(WORDS + " !" * number, 3, line=number)
        more = [replace(passage.anchors[0], anchor=Anchor(at, at + 1)) for at in range(of_one)]
        yield replace(passage, anchors=tuple(more))


def assign(store: Store, to: Iterable[str], query: str = "", **more):
    """Give out the items of a query."""
    limit = more.pop("limit", None)
    dry = more.pop("dry_run", False)
    return store.assignments.assign(
        parse(query), None, tuple(to), AssignmentRequest(**more), limit=limit, dry_run=dry
    )


def per_person(store: Store) -> dict[str, int]:
    """How many open or finished items everybody has."""
    return dict(Counter(row.person for row in rows(store) if row.state != "returned"))


def answer(store: Store, anchor: int, name: str, kind: Kind = Kind.AGE) -> None:
    store.edits.commit_answer(
        anchor, store.people.ensure(name), Role.ANNOTATOR, class_answer(kind)
    )


# --- what is given --------------------------------------------------------------------------


def test_each_item_gets_its_answers_and_everybody_as_many(store: Store, kit) -> None:
    kit.load(store, *items(kit, 30))
    dealt = assign(store, ("eva", "bob", "ida"), each=2)
    assert (dealt.items, dealt.filled, dealt.short) == (30, 0, 0)
    assert per_person(store) == {"eva": 20, "bob": 20, "ida": 20}
    per_item = Counter(row.anchor for row in rows(store))
    assert set(per_item.values()) == {2}
    assert len(per_item) == 30
    assert {(r.role, r.purpose, r.state) for r in rows(store)} == {
        ("annotator", "work", "open")
    }


def test_answers_that_are_there_count(store: Store, kit) -> None:
    kit.load(store, *items(kit, 10))
    for anchor in range(1, 6):
        answer(store, anchor, "ann1")
    assign(store, ("ann1", "eva"), each=1)
    assert {row.anchor for row in rows(store)} == {6, 7, 8, 9, 10}
    assign(store, ("ann1", "eva"), each=2)
    second = Counter(row.person for row in rows(store) if row.anchor <= 5)
    assert second == {"eva": 5}
    assert Counter(row.anchor for row in rows(store))[6] == 2


def test_nobody_gets_what_they_answered_and_all_still_get_as_many(store: Store, kit) -> None:
    kit.load(store, *items(kit, 40))
    for anchor in range(1, 21):
        answer(store, anchor, "bob")
    assign(store, ("bob", "eva"), each=2, query="by:bob")
    assert per_person(store) == {"eva": 20}
    assign(store, ("bob", "eva"), each=1)
    assert per_person(store) == {"eva": 20, "bob": 20}


def test_the_same_call_again_changes_nothing(store: Store, kit) -> None:
    kit.load(store, *items(kit, 20))
    gold = [kit.one(WORDS + " ?" * n, 3, gold=kit.gold(Kind.AGE)) for n in range(9)]
    kit.load(store, *gold)
    call = {"each": 2, "seed": 3, "checks": Amount(20, percent=True), "query": "class:none"}
    first = assign(store, ("eva", "bob"), **call)
    before = rows(store)
    again = assign(store, ("eva", "bob"), **call)
    assert rows(store) == before
    assert again.filled == first.items == 20
    assert first.given["eva"] == {"work": 20, "check": 4, "audit": 0, "double": 0}
    assert set(again.given["eva"].values()) == {0}


def open_items(store: Store) -> dict[str, int]:
    """How many items everybody has still to answer."""
    return dict(Counter(row.person for row in rows(store) if row.state == "open"))


def test_what_is_open_is_even_when_people_join_and_leave(store: Store, kit) -> None:
    kit.load(store, *items(kit, 120))
    people = ("eva", "bob", "ida")
    assign(store, people[:2], limit=40)
    assert open_items(store) == {"eva": 20, "bob": 20}
    assign(store, people, limit=60)
    assert open_items(store) == {"eva": 20, "bob": 20, "ida": 20}
    # What is answered is no work any more: who is faster gets more.
    for row in [row for row in rows(store) if row.person == "bob"][:15]:
        answer(store, row.anchor, "bob")
    assign(store, people, limit=75)
    assert open_items(store) == {"eva": 20, "bob": 20, "ida": 20}
    # Other roles and hidden checks are counted apart.
    assign(store, ("eva",), role=Role.ADJUDICATOR, limit=10)
    took = store.assignments.take_back(parse(""), None, days_ago(0), "ida")
    assert took == {"ida": 20}
    assign(store, people[:2], limit=75)
    assert Counter(
        r.person for r in rows(store) if r.state == "open" and r.role == "annotator"
    ) == {
        "eva": 30,
        "bob": 30,
    }


def test_new_people_join(store: Store, kit) -> None:
    kit.load(store, *items(kit, 12))
    assign(store, ("eva",), each=1)
    assign(store, ("eva", "bob", "ida"), each=2)
    assert per_person(store) == {"eva": 12, "bob": 6, "ida": 6}


def test_what_nobody_named_can_give_is_told(store: Store, kit) -> None:
    kit.load(store, *items(kit, 6))
    answer(store, 1, "eva")
    dealt = assign(store, ("eva", "bob"), each=3)
    assert dealt.short == 6
    assert per_person(store) == {"eva": 5, "bob": 6}
    assert assign(store, ("eva", "bob", "ida"), each=3).short == 0
    assert per_person(store)["ida"] == 6


def test_a_query_and_a_limit_say_which_items(store: Store, kit) -> None:
    kit.load(store, *items(kit, 10))
    answer(store, 1, "ann1")
    dealt = assign(store, ("eva",), "-by:ann1", limit=3)
    assert (dealt.items, {row.anchor for row in rows(store)}) == (3, {2, 3, 4})


def test_a_trial_stores_nothing_and_makes_nobody(store: Store, kit) -> None:
    kit.load(store, *items(kit, 10))
    dealt = assign(store, ("eva", "bob"), each=1, dry_run=True)
    assert [counts["work"] for counts in dealt.given.values()] == [5, 5]
    assert rows(store) == []
    assert store.people.all() == ()
    with pytest.raises(StoreError, match="cannot be an annotator's name"):
        assign(store, ("",), dry_run=True)


# --- the order ------------------------------------------------------------------------------


def test_the_order_is_that_of_the_query(store: Store, kit) -> None:
    kit.load(store, *items(kit, 9))
    assign(store, ("eva",), limit=4)
    assign(store, ("eva",))
    assert [row.anchor for row in rows(store)] == list(range(1, 10))
    eva = store.people.ensure("eva")
    asked = parse("todo:me sort:assigned")
    assert list(next(store.queue.ids(asked, eva))) == list(range(1, 10))


def test_a_seed_shuffles_for_everybody_otherwise_and_each_time_alike(tmp_path, kit) -> None:
    orders = []
    for number in range(2):
        with Store.open(tmp_path / f"{number}.db", create=True) as store:
            kit.load(store, *items(kit, 60, of_one=3), name="alike")
            assign(store, ("eva", "bob"), each=2, seed=5)
            by_person = [
                [row.anchor for row in rows(store) if row.person == name]
                for name in ("eva", "bob")
            ]
            orders.append(by_person)
    assert orders[0] == orders[1]
    eva, bob = orders[0]
    assert eva != bob != sorted(bob)
    assert sorted(eva) == sorted(bob) == list(range(1, 61))
    for order in (eva, bob):
        passages = [(anchor - 1) // 3 for anchor in order]
        assert all(len(set(passages[at : at + 3])) == 1 for at in range(0, 60, 3))


def test_passages_stay_together(store: Store, kit) -> None:
    kit.load(store, *items(kit, 120, of_one=4))
    assign(store, ("eva", "bob", "ida"), each=2)
    assert per_person(store) == {"eva": 80, "bob": 80, "ida": 80}
    people: dict[int, set[frozenset[str]]] = {}
    for anchor in range(1, 121):
        who = frozenset(row.person for row in rows(store) if row.anchor == anchor)
        people.setdefault((anchor - 1) // 4, set()).add(who)
    assert sum(len(pairs) > 1 for pairs in people.values()) <= 2


# --- in step with answers -------------------------------------------------------------------


def states(store: Store) -> dict[tuple[int, str], str]:
    return {(row.anchor, row.person): row.state for row in rows(store)}


def test_an_assignment_is_done_while_its_answer_is_there(store: Store, kit) -> None:
    kit.load(store, *items(kit, 2))
    assign(store, ("eva",))
    eva = store.people.ensure("eva")
    answer(store, 1, "eva")
    assert states(store) == {(1, "eva"): "done", (2, "eva"): "open"}
    saved = store.items.read(1, eva, Role.ANNOTATOR).votes[0].answered_at
    assert rows(store)[0].finished == saved
    store.edits.undo(eva)
    assert states(store)[1, "eva"] == "open"
    assert rows(store)[0].finished is None
    store.edits.redo(eva)
    store.edits.withdraw(1, eva, Role.ANNOTATOR)
    assert states(store)[1, "eva"] == "open"
    store.edits.commit_answer(1, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
    assert states(store)[1, "eva"] == "open"


def test_an_import_of_answers_finishes_them(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3))
    assign(store, ("eva",))
    kit.load(store, kit.one(WORDS, 3, votes=[kit.vote("eva", Kind.AGE)]))
    assert states(store) == {(1, "eva"): "done"}


def test_what_is_open_goes_along_with_a_corrected_span(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3))
    assign(store, ("eva", "bob"), each=2)
    answer(store, 1, "bob")
    eva = store.people.ensure("eva")
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(3, 5), store.edits.stale_labels(1, eva)
    ).anchor_id
    assert states(store) == {(new, "eva"): "open", (1, "bob"): "done"}
    assert store.assignments.todo(eva, Role.ANNOTATOR).left == 1
    assert list(next(store.queue.ids(parse("todo:me"), eva))) == [new]
    store.edits.undo(eva)
    assert states(store) == {(1, "eva"): "open", (1, "bob"): "done"}
    store.edits.redo(eva)
    assert states(store)[new, "eva"] == "open"
    answer(store, new, "eva")
    assert states(store)[new, "eva"] == "done"


def test_an_answer_undone_after_its_span_was_corrected_is_asked_for_there(
    store: Store, kit
) -> None:
    kit.load(store, kit.one(WORDS, 3))
    assign(store, ("bob",))
    answer(store, 1, "bob")
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    ids = [1]
    for end in (5, 6):
        stale = store.edits.stale_labels(ids[-1], eva)
        ids.append(
            store.edits.replace_anchor(
                ids[-1], eva, Role.ADJUDICATOR, Anchor(3, end), stale
            ).anchor_id
        )
    store.edits.undo(bob)
    assert states(store) == {(ids[2], "bob"): "open"}
    assert list(next(store.queue.ids(parse("todo:me"), bob))) == [ids[2]]
    for before in (ids[1], 1):
        store.edits.undo(eva)
        assert states(store) == {(before, "bob"): "open"}


# --- whatever happens -----------------------------------------------------------------------


def test_what_happens_between_plan_and_write_is_seen(store: Store, kit) -> None:
    kit.load(store, *items(kit, 8))
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    with closing(connect(store.path, "ro")) as connection:
        plan = assignment_plan.plan(
            connection, list(range(1, 9)), [eva, bob], AssignmentRequest()
        )
    answer(store, 1, "zoe")
    assign(store, ("ida",), limit=3)
    written = assignment_plan.give(store.connections.fast_write, plan, lambda _: None)
    assert {slot.anchor for slot in written} == {4, 5, 6, 7, 8}
    assert set(Counter(row.anchor for row in rows(store)).values()) == {1}


PEOPLE = ("eva", "bob", "ida")
people = st.sampled_from(PEOPLE)
acts = st.one_of(
    st.tuples(
        st.just("assign"), st.sets(people, min_size=1), st.integers(1, 3), st.sampled_from(Role)
    ),
    st.tuples(st.just("answer"), people, st.integers(1, 5), st.sampled_from(Role)),
    st.tuples(st.just("withdraw"), people, st.integers(1, 5), st.sampled_from(Role)),
    st.tuples(st.just("undo"), people),
    st.tuples(st.just("redo"), people),
    st.tuples(st.just("back"), people),
    st.tuples(st.just("span"), people, st.integers(1, 5), st.sampled_from([(3, 5), (3, 4)])),
    st.tuples(st.just("import"), people, st.integers(0, 3)),
)
IN_STEP = """
SELECT count(*) FROM assignment AS s WHERE (s.state = 'done') <> EXISTS (
    SELECT 1 FROM answer AS w WHERE w.anchor_id = s.anchor_id AND w.removed = 0
        AND w.annotator_id = s.annotator_id AND w.role = s.role)"""
OPEN_AND_UNSEEN = """
SELECT count(*) FROM assignment AS s JOIN anchor AS a ON a.id = s.anchor_id
WHERE s.state = 'open' AND (a.removed = 1 OR a.replaced_by IS NOT NULL)"""


def do(store: Store, kit, act: tuple) -> None:
    what, first, *rest = act
    if what == "assign":
        assign(store, sorted(first), each=rest[0], role=rest[1])
    elif what == "answer":
        who = store.people.ensure(first)
        store.edits.commit_answer(rest[0], who, rest[1], class_answer(Kind.AGE))
    elif what == "withdraw":
        store.edits.withdraw(rest[0], store.people.ensure(first), rest[1])
    elif what == "back":
        store.assignments.take_back(parse(""), None, days_ago(0), first)
    elif what == "span":
        store.edits.replace_anchor(
            rest[0],
            store.people.ensure(first),
            Role.ADJUDICATOR,
            Anchor(*rest[1]),
            store.edits.stale_labels(rest[0], store.people.ensure(first)),
        )
    elif what == "import":
        kit.load(store, kit.one(WORDS + " !" * rest[0], 3, votes=[kit.vote(first, Kind.AGE)]))
    else:
        (store.edits.undo if what == "undo" else store.edits.redo)(store.people.ensure(first))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(acts, max_size=20))
def test_assignments_stay_in_step_with_answers_and_anchors(kit, sequence: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nfh.db"
        with Store.open(path, create=True) as store:
            kit.load(store, *items(kit, 4))
            for act in sequence:
                with suppress(StoreError, ValueError):
                    do(store, kit, act)
                with closing(connect(path, "ro")) as connection:
                    assert connection.execute(IN_STEP).fetchone() == (0,)
                    assert connection.execute(OPEN_AND_UNSEEN).fetchone() == (0,)
