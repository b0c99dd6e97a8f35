"""The log replays to the present state, whatever was done, undone and imported."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.answers import recompute
from nfh_db.connection import connect
from nfh_db.errors import ChangedSinceError, StoreError
from nfh_db.event_log import present_state, replay
from nfh_db.records import FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

WORDS = "the dogs saw one or two cats"
PEOPLE = ("eva", "bob")
ANCHORS = 3

people = st.sampled_from(PEOPLE)
anchors = st.integers(1, ANCHORS + 3)
roles = st.sampled_from(Role)
answers = st.sampled_from(
    [class_answer(Kind.AGE), class_answer(Kind.NOT_NFH), class_answer(Kind.NFH), 1, 6]
)
spans = st.tuples(st.integers(0, 6), st.integers(1, 3)).map(lambda s: Anchor(s[0], s[0] + s[1]))
acts = st.one_of(
    st.tuples(st.just("answer"), people, anchors, roles, answers),
    st.tuples(st.just("withdraw"), people, anchors, roles),
    st.tuples(st.just("flag"), people, anchors, st.sampled_from(FlagName), st.booleans()),
    st.tuples(st.just("propose"), people, anchors, spans | st.none()),
    st.tuples(st.just("span"), people, anchors, spans),
    st.tuples(st.just("undo"), people),
    st.tuples(st.just("redo"), people),
    st.tuples(st.just("import"), st.integers(0, ANCHORS), answers, st.booleans()),
)


def do(store: Store, kit, act: tuple) -> None:
    """Do one thing; a refusal is as good as a success."""
    what, *rest = act
    if what == "import":
        place, answer, replace_gold = rest
        said = kit.to(answer) if isinstance(answer, int) else answer
        row = kit.one(
            WORDS + " !" * place, 3, gold=kit.gold(said), votes=[kit.vote("eva", said)]
        )
        kit.load(store, row, replace_gold=replace_gold)
        return
    person = store.people.ensure(rest[0])
    if what == "answer":
        answer = kit.to(rest[3]) if isinstance(rest[3], int) else rest[3]
        store.edits.commit_answer(rest[1], person, rest[2], answer)
    elif what == "withdraw":
        store.edits.withdraw(rest[1], person, rest[2])
    elif what == "flag":
        store.edits.set_flag(rest[1], person, rest[2], rest[3])
    elif what == "propose":
        store.edits.propose_span(rest[1], person, rest[2])
    elif what == "span":
        store.edits.replace_anchor(
            rest[1],
            person,
            Role.ADJUDICATOR,
            rest[2],
            store.edits.stale_labels(rest[1], person),
        )
    elif what == "undo":
        store.edits.undo(person)
    else:
        store.edits.redo(person)


SUMMARIES = """
SELECT id, state, kind, heads, votes, strongest, blocking, notes, pattern
FROM anchor WHERE removed = 0 AND replaced_by IS NULL ORDER BY id"""


def check_summaries(path: Path) -> None:
    """Each anchor's summary is what its answers and its gold make of it now."""
    writer = connect(path, "rw")
    writer.execute("BEGIN IMMEDIATE")
    before = writer.execute(SUMMARIES).fetchall()
    for row in before:
        recompute(writer, row[0])
    after = writer.execute(SUMMARIES).fetchall()
    writer.execute("ROLLBACK")
    writer.close()
    assert before == after


def check(path: Path) -> None:
    """The tables are what the log says, and no row refers to one that is not there."""
    check_summaries(path)
    reader = connect(path, "ro")
    try:
        replayed = replay(reader)
        assert replayed.broken == []
        assert replayed.state == present_state(reader)
        assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        reader.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(acts, max_size=25))
def test_the_log_replays_to_what_is_there(kit, sequence: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nfh.db"
        with Store.open(path, create=True) as store:
            kit.load(store, *(kit.one(WORDS + " !" * i, 3, line=i) for i in range(ANCHORS)))
            for act in sequence:
                with suppress(StoreError, ValueError):
                    do(store, kit, act)
            check(path)
            for name in PEOPLE:
                person = store.people.ensure(name)
                with suppress(ChangedSinceError):
                    while store.edits.undo(person):
                        pass
            check(path)


def test_a_table_that_was_changed_by_hand_is_noticed(path: Path, store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 3, gold=kit.gold(Kind.AGE)))
    check(path)
    by_hand = connect(path, "rw")
    by_hand.execute("UPDATE gold SET kind = 'YEAR'")
    by_hand.close()
    with pytest.raises(AssertionError):
        check(path)
