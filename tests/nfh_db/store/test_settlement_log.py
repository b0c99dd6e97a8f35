"""The log replays to the present state, whatever was voted, settled, undone and decided."""

import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.answers import recompute
from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.event_log import present_state, replay
from nfh_db.query import parse
from nfh_db.records import Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

WORDS = "the dogs saw one or two cats"
VOTERS = ("ann1", "ann2", "ann3")
SETTLERS = ("ann1", "eva")
ANCHORS = 3

anchors = st.integers(1, ANCHORS + 1)
answers = st.sampled_from([class_answer(Kind.AGE), class_answer(Kind.YEAR), 1, 6])
settlers = st.sampled_from(SETTLERS)
acts = st.one_of(
    st.tuples(st.just("vote"), st.sampled_from(VOTERS), anchors, answers),
    st.tuples(st.just("withdraw"), st.sampled_from(VOTERS), anchors),
    st.tuples(st.just("decide"), settlers, anchors, answers),
    st.tuples(st.just("span"), settlers, anchors, st.integers(1, 3)),
    st.tuples(st.just("settle"), settlers, st.sampled_from([Rule.UNANIMOUS, Rule.MAJORITY])),
    st.tuples(st.just("settle"), settlers, st.sampled_from([Rule.UNANIMOUS, Rule.MAJORITY])),
    st.tuples(st.just("undo"), st.sampled_from((*VOTERS, "eva"))),
    st.tuples(st.just("redo"), st.sampled_from((*VOTERS, "eva"))),
)


def do(store: Store, kit, act: tuple) -> None:
    """Do one thing; a refusal is as good as a success."""
    what, name, *rest = act
    person = store.people.ensure(name)
    if what in ("vote", "decide"):
        role = Role.ANNOTATOR if what == "vote" else Role.ADJUDICATOR
        said = kit.to(rest[1]) if isinstance(rest[1], int) else rest[1]
        store.edits.commit_answer(rest[0], person, role, said)
    elif what == "withdraw":
        store.edits.withdraw(rest[0], person, Role.ANNOTATOR)
    elif what == "span":
        store.edits.replace_anchor(
            rest[0],
            person,
            Role.ADJUDICATOR,
            Anchor(3, 3 + rest[1]),
            store.edits.stale_labels(rest[0], person),
        )
    elif what == "settle":
        experts = [line for a in range(1, ANCHORS + 2) for line in _experts(store, a)]
        store.settlement.run(parse(""), rest[0], person)
        assert [line for a in range(1, ANCHORS + 2) for line in _experts(store, a)] == experts
    elif what == "undo":
        store.edits.undo(person)
    else:
        store.edits.redo(person)


def _experts(store: Store, anchor: int) -> list[object]:
    """The gold of an anchor, if an expert decided it."""
    item = store.items.read(anchor, store.people.ensure("eva"), Role.ADJUDICATOR)
    expert = item is not None and item.gold is not None and item.gold.rule is Rule.EXPERT
    return [item.gold] if expert else []


SUMMARIES = """
SELECT id, state, kind, heads, votes, strongest, blocking, notes, pattern
FROM anchor WHERE removed = 0 AND replaced_by IS NULL ORDER BY id"""
LEFT_OVER = """
SELECT count(*) FROM mention WHERE head_id NOT IN (SELECT id FROM head)"""


def check(path: Path) -> None:
    """Tables are what the log says, summaries what the tables say, and no row is astray."""
    writer = connect(path, "rw")
    writer.execute("BEGIN IMMEDIATE")
    before = writer.execute(SUMMARIES).fetchall()
    for row in before:
        recompute(writer, row[0])
    assert writer.execute(SUMMARIES).fetchall() == before
    writer.execute("ROLLBACK")
    replayed = replay(writer)
    assert replayed.broken == []
    assert replayed.state == present_state(writer)
    assert writer.execute("PRAGMA foreign_key_check").fetchall() == []
    assert writer.execute(LEFT_OVER).fetchone()[0] == 0
    writer.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(acts, min_size=5, max_size=30))
def test_the_log_replays_to_what_is_there(kit, sequence: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nfh.db"
        with Store.open(path, create=True) as store:
            votes = [kit.vote(name, Kind.AGE) for name in VOTERS[:2]]
            kit.load(
                store,
                *(kit.one(WORDS + " !" * i, 3, line=i, votes=votes) for i in range(ANCHORS)),
            )
            for act in sequence:
                with suppress(StoreError, ValueError):
                    do(store, kit, act)
            check(path)
            for name in (*VOTERS, "eva"):
                person = store.people.ensure(name)
                with suppress(StoreError):
                    while store.edits.undo(person):
                        pass
            check(path)
