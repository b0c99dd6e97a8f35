"""Keys and orders that learn: undecided models, two that differ, doubted gold, rare kinds."""

from collections.abc import Callable
from itertools import chain

import pytest

from nfh_db.connection import Connection
from nfh_db.errors import QueryError
from nfh_db.query import complete, parse
from nfh_db.queue import queue_count, queue_ids, queue_values
from nfh_db.records import Role
from tests.nfh_db.query.conftest import EVA, IN_ORDER, ME, READY, ZOE, add_anchor

Found = Callable[[str], list[int]]


@pytest.fixture(scope="module")
def found(hand_made: Connection) -> Found:
    """The ids that a query gives to somebody who has nothing to decide blind."""
    return lambda text: asked(hand_made, text)


def asked(connection: Connection, text: str) -> list[int]:
    return list(chain.from_iterable(queue_ids(connection, parse(text), EVA)))


# Of the models, 2 is "new" and active, 1 is "old"; "put away" is 4. Gold with heads: 2 (0 and 4
# stand for "I" and "and"), 12.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hit:new", [1, 2, 6]),
        ("hit:NEW class:AGE", [1]),
        ("miss:new", [14, 12]),
        ("hit:old", [14]),
        ("hit:old miss:new", [14]),
        ('miss:"put away" hit:new', [1]),
        ("hit:old,new", [14, 1, 2, 6]),
        ("-hit:new -miss:new", [3, 4, 5, 7, 13, 11]),
        ("hit!=new state:decided", [14, 12, 11]),
        ("hit:me", []),
        ("miss:nobody", []),
        ('hit:"other task"', []),
        ("entropy<0.3", [14, 6]),
        ("entropy>=0.5", [2, 5, 11]),
        ("entropy:0.4", [1]),
        ("-entropy<1", [3, 4, 12, 7, 13]),
        ("doubt>0.9", [1]),
        ("doubt>=0.9", [14, 1]),
        ("doubt:0.9", [14]),
        ("doubt!=0.9 state:decided", [1, 2, 6, 12, 11]),
        ("doubt<0.9", [6]),
        ("doubt<=0.1", [6]),
        ("doubt:0.1,0.95", [1, 6]),
    ],
)
def test_what_is_found(found: Found, text: str, expected: list[int]) -> None:
    assert sorted(found(text)) == sorted(expected)


def rest(*first: int) -> list[int]:
    """These, then the others in passage order."""
    return [*first, *(id_ for id_ in IN_ORDER if id_ not in first)]


def test_the_most_undecided_come_first(found: Found) -> None:
    assert found("sort:entropy") == rest(2, 5, 11, 1, 14, 6)
    assert found("-sort:entropy") == rest(6, 14, 1, 11, 5, 2)


def test_the_most_doubted_come_first(found: Found) -> None:
    assert found("sort:doubt") == rest(1, 14, 6)
    assert found("-sort:doubt") == rest(6, 14, 1)


def test_the_newest_other_model_is_the_one_to_differ(found: Found) -> None:
    # Of "put away", registered last, there is a word of anchor 1 only.
    assert found("sort:models") == rest(1)
    assert found("sort:models/old") == rest(14)
    assert found("sort:models/OLD") == rest(14)
    assert found('sort:"models/put away"') == rest(1)
    assert found("sort:models/nobody") == IN_ORDER


def test_two_words_differ_less_than_a_word_and_a_class(own: Connection) -> None:
    said = [(13, 2, "4", 0.9), (13, 1, "7", 0.9), (5, 1, "2", 0.0), (1, 1, "YEAR", 0.1)]
    own.executemany("INSERT INTO prediction VALUES (?,?,?,NULL,?,x'','',NULL,NULL)", said)
    # By the less sure of the two: 14 by 0.4, 1 by 0.1, 5 by 0.0, each with a class; then 13.
    assert asked(own, "sort:models/old") == rest(14, 1, 5, 13)
    assert asked(own, "-sort:models/old") == rest(13, 5, 1, 14)


def test_a_word_of_the_order_is_kept(found: Found) -> None:
    with pytest.raises(QueryError, match="after models/ comes the name of a model"):
        parse("sort:models/")
    with pytest.raises(QueryError, match="only random takes a number"):
        parse("sort:rare/3")
    assert parse("sort:models/new").sorts[0].model == "new"
    assert found("-sort:models/old")[0] == 14


@pytest.mark.parametrize(
    "text", ["doubt<1", "hit:new", "miss:new -hit:new", "sort:doubt", "sort:rare"]
)
def test_what_is_to_be_decided_blind_is_not_told_of(hand_made: Connection, text: str) -> None:
    # An audit of anchor 6 was given to Zoë and is open.
    blind = list(chain.from_iterable(queue_ids(hand_made, parse(text), ZOE)))
    assert blind == [id_ for id_ in asked(hand_made, text) if id_ != 6]


def test_an_order_by_a_model_that_there_is_not_is_refused(hand_made: Connection) -> None:
    with pytest.raises(QueryError, match=r"sort:models/nosuch: no model .* there are: .*"):
        queue_count(hand_made, parse("sort:models/nosuch"), ZOE)
    rows = hand_made.execute("SELECT name FROM model WHERE task <> 'identification'")
    names = [row[0] for row in rows]
    assert names
    for name in names:
        queue_count(hand_made, parse(f'sort:"models/{name}"'), ZOE)


# --- rare kinds -----------------------------------------------------------------------------

GOLD = {"AGE": 40, "YEAR": 3, "REFERENCE": 0}
"""Decided anchors of each kind."""

OPEN = {"AGE": 50, "YEAR": 50, "4": 10}
"""Undecided anchors, by what is predicted of them."""


@pytest.fixture
def uneven(own: Connection) -> dict[int, str]:
    """What is predicted of each undecided anchor; all others are gone."""
    own.executescript(
        "DELETE FROM prediction; DELETE FROM doubt; UPDATE gold SET removed = 1; "
        "UPDATE anchor SET removed = 1"
    )
    number = 100
    said = {}

    def add(more: dict[str, object]) -> int:
        nonlocal number
        number += 1
        columns = {"start": number, "stop": number + 1, **more}
        add_anchor(own, number, 1, "one", READY, columns)
        return number

    for kind, count in GOLD.items():
        for _ in range(count):
            id_ = add({"state": "decided", "kind": kind})
            own.execute(
                "INSERT INTO gold (anchor_id, kind, rule) VALUES (?,?,'expert')", (id_, kind)
            )
    for choice, count in OPEN.items():
        for _ in range(count):
            id_ = add({})
            own.execute(
                "INSERT INTO prediction VALUES (?,2,?,NULL,0.5,x'','',NULL,NULL)", (id_, choice)
            )
            said[id_] = choice
    add({})
    return said


def test_what_has_least_gold_comes_first(own: Connection, uneven: dict[int, str]) -> None:
    order = asked(own, "sort:rare")
    kinds = [uneven.get(id_, "") for id_ in order]
    # The ten references and the first years, until each has as many; the ages, of which there
    # is much, wait until the years have caught up.
    assert kinds[0] == "4"
    assert kinds[:20].count("4") in (9, 10)
    assert kinds[:20].count("AGE") == 0
    assert "AGE" not in kinds[:40]
    assert set(kinds[60:-44]) == {"AGE", "YEAR"} or set(kinds[60:-44]) == {"AGE"}
    # What nothing is predicted of, and what is decided, comes last.
    assert kinds[-44:] == [""] * 44
    assert kinds[:-44].count("") == 0
    assert asked(own, "-sort:rare")[-44:] == order[-44:]


def test_what_it_is_of_one_kind_is_spread(own: Connection, uneven: dict[int, str]) -> None:
    kinds = [
        uneven[id_] for id_ in asked(own, "sort:rare") if uneven.get(id_) in ("AGE", "YEAR")
    ]
    # From 40 on, years and ages take turns: years by then have 10 or so left.
    tail = kinds[kinds.index("AGE") :]
    assert 5 <= tail.count("YEAR") <= 20
    assert tail.index("YEAR") <= 12


# --- what is offered ------------------------------------------------------------------------


def test_names_of_models_are_offered(hand_made: Connection) -> None:
    def offers(text: str, role: Role = Role.ADJUDICATOR) -> list[str]:
        def values(key: str) -> tuple[str, ...]:
            return queue_values(hand_made, key, ME, role)

        return [one.insert for one in complete(text, len(text), values, role).options]

    assert offers("hit:") == ["new", "old", '"put away"']
    assert offers("miss:o") == ["old"]
    assert offers("sort:mo") == ["models"]
    assert offers("sort:models/") == ["models/new", "models/old", '"models/put away"']
    assert offers("sort:models/o") == ["models/old"]
    assert offers("entr") == ["entropy>"]
    assert offers("doub") == ["doubt>"]
    assert offers("sort:models/", Role.ANNOTATOR) == []
    assert offers("hit:", Role.ANNOTATOR) == []
