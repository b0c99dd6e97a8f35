"""Audits in the store: what can be drawn, who is given it, and what the answers say of it."""

from collections import Counter

import pytest

from nfh_db.audits import Sample
from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import Annotator, Role, Rule
from nfh_db.serialization import decode_gold
from nfh_db.store import Store
from nfh_models.domain import Anchor, Blocking, Kind, class_answer

WORDS = "the dogs saw one , then more dogs and cats"
ONE = 3
SAID = [(Kind.AGE, Kind.AGE)] * 4 + [(Kind.YEAR, Kind.YEAR, Kind.AGE)] * 3 + [(Kind.AGE,)]


@pytest.fixture
def me(store: Store, kit) -> Annotator:
    """Who settles, in a database of four numbers all agree on, three that two do, and one."""
    kit.load(
        store,
        *(
            kit.one(
                f"{WORDS} {line}",
                ONE,
                line=line,
                votes=[kit.vote(f"ann{i}", kind) for i, kind in enumerate(kinds)],
            )
            for line, kinds in enumerate(SAID)
        ),
    )
    return store.people.ensure("settler")


@pytest.fixture
def eva(store: Store) -> Annotator:
    """Who audits."""
    return store.people.ensure("eva")


def settle(store: Store, me: Annotator, rule: Rule = Rule.MAJORITY):
    return store.settlement.run(parse(""), rule, me)


def decide(store: Store, who: Annotator, anchor: int, answer) -> None:
    given = answer if not isinstance(answer, Kind) else class_answer(answer)
    store.edits.commit_answer(anchor, who, Role.ADJUDICATOR, given)


def assign(store: Store, frame, auditor, by, ids=None, **more) -> str:
    """Give the auditor all of a frame, or some of it."""
    items = [row for row in frame if ids is None or row[0] in ids]
    sizes = dict(Counter(stratum for _, stratum in frame))
    sample = Sample(items, 1, len(items), sizes, **more)
    return store.audits.assign(sample, auditor, by)[0]


def rows(store: Store) -> list[tuple]:
    reader = connect(store.path, "ro")
    found = reader.execute(
        "SELECT anchor_id, role, purpose, state, position, expected, stratum, run "
        "FROM assignment ORDER BY position"
    ).fetchall()
    reader.close()
    return found


def test_the_frame_has_what_rules_settled_by_rule_class_and_pattern(store, me, eva, kit):
    kit.load(store, kit.one("two", 0, gold=kit.gold(Kind.AGE)))
    assert store.audits.frame(parse(""), me, eva) == []
    settle(store, me, Rule.UNANIMOUS)
    settle(store, me)
    frame = store.audits.frame(parse(""), me, eva)
    assert frame == [
        *((anchor, "unanimous, AGE, 2-0") for anchor in (1, 2, 3, 4)),
        *((anchor, "majority, YEAR, 2-1") for anchor in (5, 6, 7)),
    ]
    of = store.audits.frame(parse("class:YEAR"), me, eva)
    assert [anchor for anchor, _ in of] == [5, 6, 7]


def test_the_frame_of_one_settlement_has_what_it_did_and_what_still_is_so(store, me, eva):
    first = settle(store, me, Rule.UNANIMOUS)
    second = settle(store, me)
    assert [a for a, _ in store.audits.frame(parse(""), me, eva, first)] == [1, 2, 3, 4]
    decide(store, store.people.ensure("otto"), 6, Kind.TIME)
    assert [a for a, _ in store.audits.frame(parse(""), me, eva, second)] == [5, 7]
    assert [a for a, _ in store.audits.frame(parse("votes:2"), me, eva, second)] == []
    # Undone, and settled by another act: not what this one did.
    store.edits.undo(me)
    third = settle(store, me)
    assert store.audits.frame(parse(""), me, eva, second) == []
    assert [a for a, _ in store.audits.frame(parse(""), me, eva, third)] == [5, 7]


def test_what_the_auditor_decided_or_was_given_is_not_in_it(store, me, eva):
    settle(store, me)
    frame = store.audits.frame(parse(""), me, eva)
    assign(store, frame, eva, me, ids={1, 5})
    left = [2, 3, 4, 6, 7]
    assert [a for a, _ in store.audits.frame(parse(""), me, eva)] == left
    # Nor is it audited twice, by somebody else.
    otto = store.people.ensure("otto")
    assert [a for a, _ in store.audits.frame(parse(""), me, otto)] == left
    decide(store, eva, 1, Kind.AGE)
    decide(store, eva, 2, Kind.AGE)
    assert [a for a, _ in store.audits.frame(parse(""), me, eva)] == [3, 4, 6, 7]


def test_a_sample_becomes_assignments_in_its_order(store, me, eva):
    settle(store, me)
    frame = store.audits.frame(parse(""), me, eva)
    sample = Sample([frame[5], frame[0]], 7, 2, {"majority, YEAR, 2-1": 3}, "votes:3", 4)
    run, drawn = store.audits.assign(
        Sample(sample.items, 7, 2, dict(Counter(s for _, s in frame)), "votes:3", 4), eva, me
    )
    assert drawn.sampled == {"majority, AGE, 2-0": 1, "majority, YEAR, 2-1": 1}
    assert drawn.sizes == {"majority, AGE, 2-0": 4, "majority, YEAR, 2-1": 3}
    assert (drawn.by, drawn.seed, drawn.query, drawn.act) == ("settler", 7, "votes:3", 4)
    found = rows(store)
    assert [row[:5] for row in found] == [
        (6, "adjudicator", "audit", "open", 1),
        (1, "adjudicator", "audit", "open", 2),
    ]
    assert {row[7] for row in found} == {run}
    expected = decode_gold(found[0][5])
    assert (expected.kind, expected.rule) == ("YEAR", "majority")
    assert expected.votes == store.items.read(6, me, Role.ADJUDICATOR).gold.votes
    assert found[0][6] == "majority, YEAR, 2-1"


def test_what_changed_since_it_was_drawn_is_left_out(store, me, eva):
    settle(store, me)
    frame = store.audits.frame(parse(""), me, eva)
    decide(store, store.people.ensure("otto"), 5, Kind.AGE)
    assign(store, frame, eva, me, ids={5, 6})
    assert [row[0] for row in rows(store)] == [6]


def test_two_audits_of_one_moment_are_two(store, me, eva, clock):
    settle(store, me)
    clock("15:00")
    frame = store.audits.frame(parse(""), me, eva)
    runs = [assign(store, frame, eva, me, ids={1}), assign(store, frame, eva, me, ids={2})]
    assert runs == ["2026-05-06T15:00:00.000Z", "2026-05-06T15:00:00.001Z"]
    assert [len(audit.items) for audit in store.audits.all()] == [1, 1]


def test_the_auditors_answers_against_what_was_settled(store, me, eva):
    settle(store, me)
    run = assign(store, store.audits.frame(parse(""), me, eva), eva, me)
    for anchor, kind in ((1, Kind.AGE), (5, Kind.YEAR), (6, Kind.AGE), (7, Kind.NOT_NFH)):
        decide(store, eva, anchor, kind)
    # Somebody else's decision is not the audit's.
    decide(store, store.people.ensure("otto"), 2, Kind.TIME)
    (audit,) = store.audits.all()
    assert (audit.run, audit.auditor) == (run, eva)
    assert {item.anchor_id: (item.decided, item.blocking) for item in audit.items} == {
        1: (True, None),
        2: (False, None),
        3: (False, None),
        4: (False, None),
        5: (True, None),
        6: (True, Blocking.CLASS),
        7: (True, Blocking.SCOPE),
    }
    # Second thoughts count.
    decide(store, eva, 6, Kind.YEAR)
    store.edits.withdraw(7, eva, Role.ADJUDICATOR)
    found = {item.anchor_id: item for item in store.audits.all()[0].items}
    assert (found[6].blocking, found[7].decided) == (None, False)


def test_answers_are_compared_by_noun(store, kit, me, eva):
    votes = [kit.vote(f"ann{i}", kit.to(1)) for i in (1, 2)]
    loaded = kit.load(store, kit.one("dogs dog cat one", 3, votes=votes))
    assert loaded.anchors_new == 1
    settle(store, me)
    frame = store.audits.frame(parse('text:"dogs dog cat"'), me, eva)
    assign(store, frame, eva, me)
    ((anchor, _),) = frame
    for answer, blocking in ((kit.to(0), None), (kit.to(2), Blocking.NOUN)):
        decide(store, eva, anchor, answer)
        assert store.audits.all()[0].items[0].blocking is blocking


def test_a_number_that_gets_another_span_is_decided_there(store, me, eva):
    settle(store, me)
    assign(store, store.audits.frame(parse(""), me, eva), eva, me, ids={1, 2})
    decide(store, eva, 2, Kind.AGE)
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    store.edits.replace_anchor(
        2, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(2, eva)
    )
    decide(store, eva, new, Kind.YEAR)
    found = {item.anchor_id: item for item in store.audits.all()[0].items}
    assert (found[new].decided, found[new].blocking) == (True, Blocking.CLASS)
    assert (found[2].decided, found[2].blocking) == (True, None)


def test_a_number_that_is_gone_says_nothing(store, me, eva):
    settle(store, me)
    assign(store, store.audits.frame(parse(""), me, eva), eva, me, ids={1})
    by_hand = connect(store.path, "rw")
    by_hand.execute("UPDATE anchor SET removed = 1 WHERE id = 1")
    by_hand.close()
    assert [(i.state, i.decided) for i in store.audits.all()[0].items] == [("gone", False)]


def test_what_was_given_back_can_be_drawn_again(store, me, eva):
    settle(store, me)
    assign(store, store.audits.frame(parse(""), me, eva), eva, me, ids={1, 2})
    by_hand = connect(store.path, "rw")
    by_hand.execute("UPDATE assignment SET state = 'returned' WHERE anchor_id = 1")
    by_hand.close()
    frame = store.audits.frame(parse(""), me, eva)
    assert 1 in [anchor for anchor, _ in frame]
    again = assign(store, frame, eva, me, ids={1})
    first, second = store.audits.all()
    assert [item.anchor_id for item in first.items] == [2]
    assert sum(first.drawn.sampled.values()) == 2
    assert (second.run, [item.state for item in second.items]) == (again, ["open"])


def test_an_auditor_who_voted_is_counted(store, me, eva):
    settle(store, me)
    ann2 = store.people.ensure("ann2")
    frame = store.audits.frame(parse(""), me, ann2)
    sample = Sample(frame, 1, 7, dict(Counter(stratum for _, stratum in frame)))
    assert store.audits.assign(sample, ann2, me)[1].voted == 3
