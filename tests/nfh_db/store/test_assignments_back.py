"""What comes back when it was abandoned, and how far everybody is."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing

import pytest

from nfh_db.assignment_plan import AssignmentRequest, days_ago
from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

WORDS = "the dogs saw one or two dogs and cats"
ROWS = """
SELECT s.anchor_id, n.name, s.state FROM assignment AS s
JOIN annotator AS n ON n.id = s.annotator_id ORDER BY n.name, s.position"""


def rows(store: Store) -> list[tuple[int, str, str]]:
    """All assignments: anchor, person, state."""
    with closing(connect(store.path, "ro")) as connection:
        return connection.execute(ROWS).fetchall()


def states(store: Store) -> dict[tuple[int, str], str]:
    return {(anchor, person): state for anchor, person, state in rows(store)}


def items(kit, count: int):
    """So many anchors."""
    return (kit.one(WORDS + " !" * number, 3, line=number) for number in range(count))


def assign(store: Store, to: Iterable[str], query: str = "", limit: int | None = None, **more):
    """Give out the items of a query."""
    return store.assignments.assign(
        parse(query), None, tuple(to), AssignmentRequest(**more), limit=limit
    )


def answer(store: Store, anchor: int, name: str) -> None:
    store.edits.commit_answer(
        anchor, store.people.ensure(name), Role.ANNOTATOR, class_answer(Kind.AGE)
    )


# --- taking back ----------------------------------------------------------------------------


def take_back(store: Store, days: float, name: str | None = None) -> dict[str, int]:
    return store.assignments.take_back(parse(""), None, days_ago(days), name)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Stops the store's clock at noon of a day of May."""

    def stop(day: int) -> None:
        monkeypatch.setattr("nfh_db.system.now", lambda: f"2026-05-{day:02}T12:00:00.000Z")

    stop(1)
    return stop


def test_what_was_abandoned_comes_back_and_is_given_to_others(
    store: Store, kit, later: Callable[[int], None]
) -> None:
    kit.load(store, *items(kit, 10))
    assign(store, ("eva", "bob"))
    later(10)
    done = next(anchor for anchor, person, _ in rows(store) if person == "bob")
    answer(store, done, "bob")
    later(16)
    assert take_back(store, 14) == {"eva": 5}
    assert take_back(store, 14) == {}
    assert Counter(states(store).values()) == {"returned": 5, "open": 4, "done": 1}
    assert store.assignments.todo(store.people.ensure("eva"), Role.ANNOTATOR).left == 0
    assign(store, ("bob", "ida"))
    given = Counter(person for _, person, state in rows(store) if state == "open")
    assert given == {"bob": 4 + 1, "ida": 4} or given == {"bob": 4, "ida": 5}
    assert take_back(store, 0, "ida") == {"ida": given["ida"]}
    with pytest.raises(StoreError, match="Nobody here is called 'zoe'"):
        take_back(store, 0, "zoe")


def test_what_was_abandoned_counts_as_lacking(
    store: Store, kit, later: Callable[[int], None]
) -> None:
    kit.load(store, *items(kit, 6))
    assign(store, ("eva",))
    later(10)
    assert assign(store, ("bob",), abandoned=days_ago(14)).filled == 6
    later(20)
    dealt = assign(store, ("bob",), abandoned=days_ago(14))
    assert (dealt.returned, dealt.given["bob"]["work"]) == (6, 6)
    assert Counter(state for _, person, state in rows(store) if person == "eva") == {
        "returned": 6
    }
    assert assign(store, ("bob",), abandoned=days_ago(14)).filled == 6


def test_who_is_named_may_get_back_what_they_abandoned(
    store: Store, kit, later: Callable[[int], None]
) -> None:
    kit.load(store, *items(kit, 6))
    assign(store, ("eva",))
    later(20)
    assign(store, ("eva", "bob"), abandoned=days_ago(14))
    assert Counter(person for _, person, state in rows(store) if state == "open") == {
        "eva": 3,
        "bob": 3,
    }


def test_a_returned_item_that_is_answered_after_all_is_done(store: Store, kit) -> None:
    kit.load(store, *items(kit, 1))
    assign(store, ("eva",))
    assert take_back(store, 0) == {"eva": 1}
    answer(store, 1, "eva")
    assert states(store) == {(1, "eva"): "done"}
    assert assign(store, ("bob",)).filled == 1


# --- progress -------------------------------------------------------------------------------


def test_progress_of_everybody(store: Store, kit, later: Callable[[int], None]) -> None:
    kit.load(store, *items(kit, 6))
    assign(store, ("eva", "bob"))
    mine = [anchor for anchor, person, _ in rows(store) if person == "eva"]
    later(3)
    answer(store, mine[0], "eva")
    later(20)
    take_back(store, 18, "bob")
    bob, eva = store.assignments.progress(parse(""), None, days_ago(14))
    assert (eva.name, eva.assigned, eva.done, eva.open, eva.returned) == ("eva", 3, 1, 2, 0)
    assert (eva.last, eva.abandoned) == ("2026-05-03T12:00:00.000Z", 2)
    assert (bob.assigned, bob.open, bob.returned, bob.last) == (0, 0, 3, None)
    assert store.assignments.progress(parse(""), None, days_ago(18))[1].abandoned == 0
    (only,) = store.assignments.progress(parse("by:eva"), None, "")
    assert (only.name, only.assigned) == ("eva", 1)


def test_what_is_left_names_the_role_where_there_are_two(store: Store, kit) -> None:
    kit.load(store, *items(kit, 4))
    eva = store.people.ensure("eva")
    assert store.assignments.todo(eva, Role.ANNOTATOR).left == 0
    assign(store, ("eva",), limit=3)
    assert store.assignments.todo(eva, Role.ANNOTATOR).query == "todo:me sort:assigned"
    assign(store, ("eva",), role=Role.ADJUDICATOR)
    for role, left in ((Role.ANNOTATOR, 3), (Role.ADJUDICATOR, 4)):
        found = store.assignments.todo(eva, role)
        assert found.left == left
        assert sum(map(len, store.queue.ids(parse(found.query), eva))) == left
