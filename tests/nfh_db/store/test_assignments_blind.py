"""Hidden checks, decisions by two, audits: what is kept from whom, and until when."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest

from nfh_db import answers as golds
from nfh_db.assignment_plan import Amount, AssignmentRequest
from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import AnchorItem, AnchorState, Annotator, FlagName, Role, Rule
from nfh_db.serialization import decode_gold, encode
from nfh_db.store import Store
from nfh_models.domain import Anchor, Answer, Blocking, Kind, class_answer

WORDS = "the dogs saw one or two dogs and cats"
ROWS = """
SELECT s.anchor_id, n.name, s.purpose, s.state, s.position, s.expected, s.verdict
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
ORDER BY n.name, s.position"""
AUDIT = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, expected, stratum,
    run, assigned_at)
VALUES (:anchor, :person, 'adjudicator', 'audit', 1, :expected, 'all', '', '')"""


def rows(store: Store, purpose: str) -> list[tuple]:
    """Assignments of a purpose: anchor, person, state, position, expected, verdict."""
    with closing(connect(store.path, "ro")) as connection:
        found = connection.execute(ROWS).fetchall()
    return [(row[0], row[1], *row[3:]) for row in found if row[2] == purpose]


def assign(store: Store, to: Iterable[str], query: str = "", **wanted):
    """Give out the items of a query."""
    return store.assignments.assign(parse(query), None, tuple(to), AssignmentRequest(**wanted))


def decide(store: Store, anchor: int, name: str, answer: Answer | Kind) -> None:
    given = answer if isinstance(answer, Answer) else class_answer(answer)
    store.edits.commit_answer(anchor, store.people.ensure(name), Role.ADJUDICATOR, given)


def asked(store: Store, query: str, name: str = "editor") -> list[int]:
    who = store.people.ensure(name)
    return [id_ for chunk in store.queue.ids(parse(query), who) for id_ in chunk]


# --- checks ---------------------------------------------------------------------------------


@pytest.fixture
def known(store: Store, kit) -> Store:
    """Anchors 1 to 20 undecided; 21 to 26 with gold, of which only some may be a check."""
    kit.load(store, *(kit.one(WORDS + " !" * n, 3, line=n) for n in range(20)))
    golds = [
        kit.gold(Kind.AGE, Rule.EXPERT, "lee"),
        kit.gold(Kind.YEAR),
        kit.gold(Kind.NFH),
        kit.gold(Kind.AGE, Rule.MAJORITY),
        kit.gold(Kind.AGE, Rule.EXPERT, "eva"),
        kit.gold(kit.to(1)),
    ]
    kit.load(store, *(kit.one(WORDS + " ?" * n, 3, gold=g) for n, g in enumerate(golds, 1)))
    return store


def test_checks_are_of_known_gold_that_the_person_does_not_know(known: Store) -> None:
    known.edits.commit_answer(
        22, known.people.ensure("bob"), Role.ANNOTATOR, class_answer(Kind.AGE)
    )
    dealt = assign(known, ("eva", "bob"), "class:none", checks=Amount(3))
    drawn = {(person, anchor) for anchor, person, *_ in rows(known, "check")}
    assert {anchor for person, anchor in drawn if person == "eva"} == {21, 22, 26}
    assert {anchor for person, anchor in drawn if person == "bob"} == {21, 25, 26}
    assert dealt.checks_short == 0
    assert assign(known, ("eva", "bob"), "class:none", checks=Amount(5)).checks_short == 4


def test_a_check_keeps_the_gold_of_its_day_and_compares_with_it(known: Store, kit) -> None:
    assign(known, ("bob",), "class:none", checks=Amount(100, percent=True))
    expected = {anchor: decode_gold(row[2]) for anchor, _, *row in rows(known, "check")}
    assert {anchor: gold.kind for anchor, gold in expected.items()} == {
        21: "AGE",
        22: "YEAR",
        25: "AGE",
        26: "REFERENCE",
    }
    decide(known, 21, "lee", Kind.TIME)
    bob = known.people.ensure("bob")
    for anchor, answer in ((21, Kind.AGE), (22, Kind.AGE), (26, kit.to(6))):
        given = answer if isinstance(answer, Answer) else class_answer(answer)
        known.edits.commit_answer(anchor, bob, Role.ANNOTATOR, given)
    verdicts = {anchor: row[3] for anchor, _, *row in rows(known, "check")}
    assert verdicts == {21: "right", 22: "wrong", 25: None, 26: "right"}
    (progress,) = known.assignments.progress(parse(""), None, "")
    assert (progress.checks, progress.checks_done, progress.checks_right) == (4, 3, 2)
    known.edits.undo(bob)
    assert {a: row[3] for a, _, *row in rows(known, "check")}[26] is None


def test_checks_stand_among_the_other_items_at_random(known: Store, kit) -> None:
    golds = (kit.one(WORDS + " ." * n, 3, gold=kit.gold(Kind.AGE)) for n in range(1, 61))
    kit.load(known, *golds)
    assign(known, ("bob",), "class:none", checks=Amount(30), seed=4)
    order = asked(known, "todo:me sort:assigned", "bob")
    assert len(order) == 50
    checks = {anchor for anchor, *_ in rows(known, "check")}
    seams = sum((a in checks) != (b in checks) for a, b in pairwise(order))
    assert seams > 10
    kit.load(known, kit.one(WORDS + " x", 3))
    assign(known, ("bob",), "class:none", checks=Amount(40), seed=4)
    later = asked(known, "todo:me sort:assigned", "bob")
    assert [anchor for anchor in later if anchor in order] == order
    assert len(later) == 61


def test_nobody_is_given_checks_and_nothing_else(known: Store) -> None:
    assign(known, ("bob",), "state:stale", checks=Amount(3))
    assert rows(known, "check") == []


def as_annotator(store: Store, anchor: int, name: str) -> AnchorItem:
    found = store.items.read_for_annotator(anchor, store.people.ensure(name))
    assert found is not None
    return found


def test_an_annotator_sees_nothing_of_others_nor_of_gold(store: Store, kit) -> None:
    """An item with gold and a dispute looks as it did before anybody had answered."""
    kit.load(store, kit.one(WORDS, 3))
    bare = as_annotator(store, 1, "zoe")
    (bare_row,) = store.queue.rows([1], store.people.ensure("zoe"), Role.ANNOTATOR)
    votes = [kit.vote("eva", kit.to(1)), kit.vote("bob", kit.to(8))]
    kit.load(store, kit.one(WORDS, 3, gold=kit.gold(Kind.AGE), votes=votes))
    assert (
        store.items.read(1, store.people.ensure("zoe"), Role.ADJUDICATOR).state
        is AnchorState.DECIDED
    )
    assert as_annotator(store, 1, "zoe") == bare
    assert store.queue.rows([1], store.people.ensure("zoe"), Role.ANNOTATOR) == (bare_row,)
    own = as_annotator(store, 1, "eva")
    assert [vote.annotator for vote in own.votes] == ["eva"]
    assert own.state is AnchorState.ANSWERED
    (row,) = store.queue.rows([1], store.people.ensure("eva"), Role.ANNOTATOR)
    assert (row.state, row.kind, row.strongest, row.pattern) == (
        AnchorState.ANSWERED,
        None,
        None,
        "",
    )


def test_what_one_was_given_does_not_say_which_file_it_is_from(known: Store, kit) -> None:
    kit.load(known, kit.one(WORDS + " :", 3, gold=kit.gold(Kind.AGE), split="dev"))
    assign(known, ("bob",), "class:none", checks=Amount(9))
    given = asked(known, "todo:me", "bob")
    assert len(given) == 25
    items = [as_annotator(known, anchor, "bob") for anchor in given]
    assert {(item.document, item.split) for item in items} == {("", None)}
    assert as_annotator(known, given[0], "zoe").document
    decide(known, given[0], "bob", Kind.AGE)
    found = known.items.read(given[0], known.people.ensure("bob"), Role.ADJUDICATOR)
    assert found is not None
    assert found.document


def test_others_flags_are_hidden_from_annotators_and_auditors(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3, gold=kit.gold(Kind.AGE, Rule.MAJORITY)))
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    store.edits.set_flag(1, eva, FlagName.AMBIGUOUS, True)
    store.edits.set_flag(1, bob, FlagName.GUIDELINE, True)
    assert [flag.name for flag in as_annotator(store, 1, "bob").flags] == [FlagName.GUIDELINE]
    (row,) = store.queue.rows([1], bob, Role.ANNOTATOR)
    assert row.flags == (FlagName.GUIDELINE,)
    assert len(seen(store, "bob").flags) == 2
    (row,) = store.queue.rows([1], bob)
    assert row.flags == (FlagName.AMBIGUOUS, FlagName.GUIDELINE)
    with closing(connect(store.path, "rw")) as writer:
        expected = encode(golds.read_gold(writer, 1))
        writer.execute(AUDIT, {"anchor": 1, "person": bob.id, "expected": expected})
    assert [flag.annotator for flag in seen(store, "bob").flags] == ["bob"]
    (row,) = store.queue.rows([1], bob)
    assert row.flags == (FlagName.GUIDELINE,)
    told = store.history.visible(1, bob, Role.ADJUDICATOR)
    assert [(line.entity, line.whose) for line in told] == [("flag", "bob")]
    decide(store, 1, "bob", Kind.AGE)
    assert len(seen(store, "bob").flags) == 2


def test_neighbours_in_a_passage_are_hidden_from_annotators_too(store: Store, kit) -> None:
    one = kit.one(WORDS, 3, gold=kit.gold(kit.to(1)))
    more = replace(one.anchors[0], anchor=Anchor(5, 6), gold=None)
    kit.load(store, replace(one, anchors=(one.anchors[0], more)))
    assert [sibling.nouns for sibling in seen(store, "ida", 2).siblings] == [(1,), ()]
    siblings = as_annotator(store, 2, "eva").siblings
    assert [(one.state, one.kind) for one in siblings] == [(AnchorState.OPEN, None)] * 2
    assert [sibling.nouns for sibling in siblings] == [(), ()]


# --- decided by two -------------------------------------------------------------------------


@pytest.fixture
def double(store: Store, kit) -> Store:
    """Two anchors of one passage, each given to eva and bob to be decided blind."""
    votes = [kit.vote("ann1", kit.to(1)), kit.vote("ann2", Kind.AGE)]
    one = kit.one(WORDS, 3, votes=votes)
    more = replace(one.anchors[0], anchor=Anchor(5, 6))
    kit.load(store, replace(one, anchors=(one.anchors[0], more)))
    wanted = {"role": Role.ADJUDICATOR, "doubles": Amount(100, percent=True)}
    assert assign(store, ("eva", "bob"), **wanted).doubles == 2
    assert {(row[1], row[2]) for row in rows(store, "double")} == {
        ("eva", "open"),
        ("bob", "open"),
    }
    return store


def seen(store: Store, name: str, anchor: int = 1) -> AnchorItem:
    found = store.items.read(anchor, store.people.ensure(name), Role.ADJUDICATOR)
    assert found is not None
    return found


def adjudicators(item: AnchorItem) -> dict[str, Kind]:
    votes = (vote for vote in item.votes if vote.role is Role.ADJUDICATOR)
    return {vote.annotator: vote.answer.kind for vote in votes}


def test_neither_sees_the_others_decision_before_the_own_is_given(double: Store, kit) -> None:
    before = seen(double, "bob")
    row_before = double.queue.rows([1, 2], double.people.ensure("bob"))
    decide(double, 1, "eva", Kind.AGE)
    assert seen(double, "bob") == before
    assert before.state is AnchorState.DISAGREE
    assert before.pattern == "1-1"
    assert double.queue.rows([1, 2], double.people.ensure("bob")) == row_before
    assert (row_before[0].state, row_before[0].kind, row_before[0].pattern) == (
        AnchorState.DISAGREE,
        None,
        "1-1",
    )  # as the item beside it
    assert seen(double, "bob").state is row_before[0].state
    neighbour = seen(double, "bob", 2)
    assert [(one.state, one.kind) for one in neighbour.siblings] == [
        (AnchorState.OPEN, None)
    ] * 2
    assert seen(double, "ida").gold.answer.kind is Kind.AGE
    assert seen(double, "eva").gold.adjudicator == "eva"
    decide(double, 1, "eva", kit.to(1))
    assert [one.nouns for one in seen(double, "bob", 2).siblings] == [(), ()]
    assert [one.nouns for one in seen(double, "ida", 2).siblings] == [(1,), ()]
    decide(double, 1, "eva", Kind.AGE)
    decide(double, 1, "bob", Kind.YEAR)
    for name in ("eva", "bob"):
        assert adjudicators(seen(double, name)) == {"eva": Kind.AGE, "bob": Kind.YEAR}
        assert seen(double, name).gold.adjudicator == "eva"
    assert [row.kind for row in double.queue.rows([1], double.people.ensure("bob"))] == [
        Kind.AGE
    ]


def test_gold_stays_the_firsts_and_the_log_replays(double: Store) -> None:
    from nfh_db.event_log import present_state, replay

    decide(double, 1, "eva", Kind.AGE)
    decide(double, 1, "bob", Kind.YEAR)
    decide(double, 2, "bob", Kind.TIME)
    decide(double, 2, "eva", Kind.TIME)
    assert [seen(double, "x", a).gold.adjudicator for a in (1, 2)] == ["eva", "bob"]
    assert asked(double, "experts:differ") == [1]
    assert asked(double, "experts:agree") == [2]
    with closing(connect(double.path, "ro")) as reader:
        replayed = replay(reader)
        assert replayed.broken == []
        assert replayed.state == present_state(reader)


def test_the_second_decision_is_undone_by_itself(double: Store) -> None:
    decide(double, 1, "eva", Kind.AGE)
    decide(double, 1, "bob", Kind.YEAR)
    bob, eva = double.people.ensure("bob"), double.people.ensure("eva")
    done = double.edits.undo(bob)
    assert done.summary == "second decision YEAR"
    assert seen(double, "eva").gold.answer.kind is Kind.AGE
    assert seen(double, "bob").gold is None
    double.edits.redo(bob)
    double.edits.undo(eva)
    assert seen(double, "bob").gold is None
    assert adjudicators(seen(double, "bob")) == {"bob": Kind.YEAR}
    assert asked(double, "experts:differ") == []


def test_who_has_decided_may_decide_again_and_that_is_gold(double: Store) -> None:
    decide(double, 1, "eva", Kind.AGE)
    decide(double, 1, "bob", Kind.YEAR)
    decide(double, 1, "bob", Kind.TIME)
    assert seen(double, "eva").gold.answer.kind is Kind.TIME
    assert seen(double, "eva").gold.adjudicator == "bob"


def test_somebody_else_decides_as_ever(double: Store) -> None:
    decide(double, 1, "eva", Kind.AGE)
    decide(double, 1, "ida", Kind.YEAR)
    assert seen(double, "eva").gold.adjudicator == "ida"


def test_the_first_of_two_makes_gold_in_place_of_what_no_expert_said(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3, gold=kit.gold(Kind.AGE)))
    assign(store, ("eva", "bob"), role=Role.ADJUDICATOR, doubles=Amount(1))
    assert seen(store, "eva").gold is None
    decide(store, 1, "eva", Kind.YEAR)
    assert seen(store, "ida").gold.answer.kind is Kind.YEAR


def test_an_experts_decision_from_a_file_is_not_overwritten_blindly(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3, gold=kit.gold(Kind.AGE, Rule.EXPERT, "lee")))
    assign(store, ("eva", "bob"), role=Role.ADJUDICATOR, doubles=Amount(1))
    decide(store, 1, "eva", Kind.YEAR)
    assert seen(store, "ida").gold.adjudicator == "lee"


def test_history_says_nothing_of_the_other_decision(double: Store) -> None:
    decide(double, 1, "eva", Kind.AGE)
    bob, ida = double.people.ensure("bob"), double.people.ensure("ida")

    def told(me: Annotator) -> set[tuple[str, str | None]]:
        lines = double.history.visible(1, me, Role.ADJUDICATOR)
        return {(line.entity, line.whose) for line in lines}

    assert told(bob) == {("answer", "ann1"), ("answer", "ann2")}
    assert {("gold", None), ("answer", "eva")} <= told(ida)
    decide(double, 1, "bob", Kind.AGE)
    assert told(bob) == told(ida)


def test_part_of_the_items_goes_to_two_and_stays_so(store: Store, kit) -> None:
    kit.load(store, *(kit.one(WORDS + " !" * n, 3, line=n) for n in range(20)))
    call = {"role": Role.ADJUDICATOR, "doubles": Amount(25, percent=True)}
    dealt = assign(store, ("eva", "bob", "ida"), **call)
    assert dealt.doubles == 5
    assert sum(counts["work"] for counts in dealt.given.values()) == 15
    two = {anchor for anchor, *_ in rows(store, "double")}
    assert len(two) == 5 and len(rows(store, "double")) == 10
    assert {sum(counts.values()) for counts in dealt.given.values()} <= {8, 9}
    first = rows(store, "double")
    assign(store, ("eva", "bob", "ida"), **call)
    assert rows(store, "double") == first
    store.assignments.take_back(parse(""), None, "9999", "eva")
    assign(store, ("bob", "ida"), role=Role.ADJUDICATOR)
    waiting = [row for row in rows(store, "double") if row[2] == "open"]
    assert {row[0] for row in waiting} == two
    assert len(waiting) == 10


def test_what_was_given_to_one_may_become_a_double(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3))
    assign(store, ("eva",), role=Role.ADJUDICATOR)
    assign(store, ("eva", "bob"), role=Role.ADJUDICATOR, doubles=Amount(1))
    assert [row[1] for row in rows(store, "double")] == ["bob", "eva"]
    decide(store, 1, "bob", Kind.AGE)
    assert seen(store, "eva").gold is None


def test_a_decision_that_is_there_is_the_first_of_two(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3))
    decide(store, 1, "eva", Kind.AGE)
    assign(store, ("eva", "bob"), role=Role.ADJUDICATOR, doubles=Amount(1))
    assert [row[1] for row in rows(store, "double")] == ["bob"]
    assert seen(store, "bob").gold is None
    decide(store, 1, "bob", Kind.YEAR)
    assert seen(store, "bob").gold.adjudicator == "eva"
    assert asked(store, "experts:differ") == [1]


# --- audits ---------------------------------------------------------------------------------


def test_an_audit_is_decided_without_votes_or_gold_in_view(store: Store, kit) -> None:
    votes = [kit.vote("ann1", Kind.AGE), kit.vote("ann2", Kind.YEAR)]
    gold = kit.gold(Kind.AGE, Rule.MAJORITY)
    kit.load(store, kit.one(WORDS, 3, votes=votes, gold=gold))
    kit.load(store, kit.one(WORDS + " !", 3))
    eva = store.people.ensure("eva")
    bare = seen(store, "eva", 2)
    with closing(connect(store.path, "rw")) as connection:
        expected = encode(golds.read_gold(connection, 1))
        connection.execute(AUDIT, {"anchor": 1, "person": eva.id, "expected": expected})
    item = seen(store, "eva")
    assert (item.votes, item.gold, item.state) == ((), None, bare.state)
    assert (item.blocking, item.notes, item.pattern) == ((), (), "")
    (row, plain) = store.queue.rows([1, 2], eva)
    assert (row.state, row.kind, row.strongest, row.pattern) == (
        plain.state,
        plain.kind,
        plain.strongest,
        plain.pattern,
    )
    assert store.history.visible(1, eva, Role.ADJUDICATOR) == ()
    assert seen(store, "ida").blocking == (Blocking.CLASS,)
    assert asked(store, "audit:open") == [1]
    decide(store, 1, "eva", Kind.YEAR)
    assert (asked(store, "audit:open"), asked(store, "audit:wrong")) == ([], [1])
    assert len(seen(store, "eva").votes) == 3
    assert store.assignments.take_back(parse(""), None, "9999") == {}
    store.edits.undo(eva)
    decide(store, 1, "eva", Kind.AGE)
    assert asked(store, "audit:right") == [1]
