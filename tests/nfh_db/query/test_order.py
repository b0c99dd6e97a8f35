"""The order of the list, and how SQLite goes about it."""

import random
from collections.abc import Callable, Iterator
from itertools import chain, pairwise

import pytest
import sqlite_utils

from nfh_db.connection import Connection, connect
from nfh_db.query import compile as compile_query
from nfh_db.query import parse
from nfh_db.queue import SELECT_IDS, queue_ids
from nfh_db.schema import migrations

Found = Callable[[str], list[int]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sort:order", [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11]),
        ("-sort:order", [11, 13, 7, 12, 6, 5, 4, 3, 2, 1, 14]),
        ("sort:disagree", [13, 4, 14, 1, 2, 3, 5, 6, 12, 7, 11]),
        ("-sort:disagree", [4, 13, 14, 1, 2, 3, 5, 6, 12, 7, 11]),
        ("sort:anchor", [5, 6, 12, 11, 2, 14, 13, 1, 4, 3, 7]),
        ("-sort:anchor", [7, 3, 4, 1, 13, 14, 2, 11, 12, 6, 5]),
        ("sort:votes", [14, 1, 2, 3, 6, 12, 7, 11, 5, 4, 13]),
        ("-sort:votes", [4, 13, 5, 14, 1, 2, 3, 6, 12, 7, 11]),
        ("sort:uncertain", [2, 11, 5, 14, 1, 6, 3, 4, 12, 7, 13]),
        ("-sort:uncertain", [6, 1, 14, 5, 11, 2, 3, 4, 12, 7, 13]),
        ("sort:nfh", [11, 3, 12, 6, 14, 1, 2, 4, 5, 7, 13]),
        ("-sort:nfh", [6, 12, 3, 11, 14, 1, 2, 4, 5, 7, 13]),
        ("sort:assigned", [4, 13, 3, 14, 1, 2, 5, 6, 12, 7, 11]),
        ("-sort:assigned", [3, 13, 4, 14, 1, 2, 5, 6, 12, 7, 11]),
        ("todo:me sort:assigned", [13, 3]),
        ("sort:votes -sort:order", [11, 7, 12, 6, 3, 2, 1, 14, 5, 13, 4]),
        ("-sort:votes sort:anchor", [13, 4, 5, 6, 12, 11, 2, 14, 1, 3, 7]),
        ("sort:order sort:anchor", [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11]),
        ("-sort:votes state:disagree,open", [4, 13, 3]),
    ],
)
def test_orders(found: Found, query: str, expected: list[int]) -> None:
    assert found(query) == expected


def test_a_shuffle_is_always_alike_and_each_seed_is_another(
    found: Found, in_order: list[int]
) -> None:
    shuffled = found("sort:random")
    assert shuffled == found("sort:random/0")
    assert shuffled != in_order
    assert sorted(shuffled) == sorted(in_order)
    assert found("-sort:random") == shuffled[::-1]
    seeds = [found(f"sort:random/{seed}") for seed in (1, 2, 3, 999_999_999)]
    assert len({tuple(order) for order in (shuffled, *seeds)}) == 5


def test_a_shuffle_leaves_no_trace_of_the_order(own: Connection) -> None:
    """Neighbours after shuffling: as far apart as chance, and in no favoured distance."""
    count = 20_000
    own.execute("DELETE FROM source_row")
    own.execute("BEGIN")
    own.executemany(
        "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
        "VALUES (?, 2, ?, ?, 0, 1, 'x')",
        [(1000 + place, 1000 + place, 1001 + place) for place in range(count)],
    )
    own.execute("COMMIT")
    for seed in (0, 1, 12345):
        query = parse(f"anchor:x sort:random/{seed}")
        ids = list(chain.from_iterable(queue_ids(own, query, 1)))
        steps = [after - before for before, after in pairwise(ids)]
        mean = sum(abs(step) for step in steps) / len(steps)
        assert abs(mean - count / 3) < count / 50
        assert len(set(steps)) > count / 2
        rising = sum(step > 0 for step in steps) / len(steps)
        assert 0.45 < rising < 0.55
        half = random.Random(1).sample(range(len(ids)), 100)
        assert sum(ids[place] < 1000 + count / 2 for place in half) in range(25, 76)


def test_a_shuffle_stays_within_whole_numbers_for_large_ids(own: Connection) -> None:
    own.execute(
        "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
        f"VALUES ({2**45}, 1, 90, 91, 0, 1, 'x')"
    )
    compiled = compile_query(parse("sort:random/999999999"), 1)
    hashed = compiled.order.partition(" ASC")[0]
    for (value,) in own.execute(f"SELECT {hashed} FROM anchor AS a", compiled.parameters):
        assert isinstance(value, int)
        assert 0 <= value < 2**31


def plan(connection: Connection, query: str) -> list[str]:
    compiled = compile_query(parse(query), 1)
    statement = SELECT_IDS.format(where=compiled.where, order=compiled.order)
    parameters = {**compiled.parameters, "limit": -1}
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
    return [row[3] for row in rows]


IN_PASSAGE_ORDER = [
    "",
    "-sort:order",
    "state:open",
    "state:open,skipped",
    "class:AGE,none",
    "split:dev",
    "split:dev,train",
    "anchor:one",
    "flag:guideline",
    "heads>1",
    "votes:3",
    "disagree:noun,any",
    "pattern:2-1",
    "by:ann2",
    "differs:ann2,ann1~me/extent",
    "said:AGE,ann2/YEAR",
    "rule:majority,none",
    "experts:agree,differ",
    "assigned:me,nobody,ann2/annotator",
    "-todo:me",
    "audit:open,wrong",
    "doc:dev",
    'text:"months left" one -two',
    "model!=gold",
    "model!=votes",
    "model!=proposal,votes",
    "class:AGE OR said:YEAR OR audit:wrong state:open",
    "id:7 OR text:one OR predicted:AGE",
    "split:dev OR id:1 doc:x OR -todo:me",
    "state:open class:none split:dev flag:skip by:me one doc:x -pattern:2-1",
]


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A database about whose 10,000 anchors SQLite has statistics: most are alike."""
    connection = connect(tmp_path_factory.mktemp("plan") / "a.db", "rwc")
    migrations.apply(sqlite_utils.Database(connection))
    connection.execute("INSERT INTO document VALUES (1, 'd', NULL)")
    connection.execute("BEGIN")
    numbers = range(1, 10_001)
    connection.executemany(
        "INSERT INTO passage VALUES (?, 1, NULL, ?, 'one')",
        [(number, number.to_bytes(32)) for number in numbers],
    )
    connection.executemany(
        "INSERT INTO anchor (passage_id, start, stop, text_start, text_stop, word) "
        "VALUES (?, 0, 1, 0, 3, 'one')",
        [(number,) for number in numbers],
    )
    connection.execute("COMMIT")
    connection.execute("ANALYZE")
    yield connection
    connection.close()


@pytest.mark.parametrize("database", ["empty_database", "analysed"])
@pytest.mark.parametrize("query", IN_PASSAGE_ORDER)
def test_passage_order_comes_from_the_index_and_nothing_is_sorted(
    request: pytest.FixtureRequest, query: str, database: str
) -> None:
    steps = plan(request.getfixturevalue(database), query)
    assert "SCAN a USING INDEX sqlite_autoindex_anchor_1" in steps
    assert not [step for step in steps if "TEMP B-TREE" in step]


@pytest.mark.parametrize("query", ["sort:anchor", "sort:anchor state:open"])
def test_the_order_by_word_comes_from_its_index(empty_database: Connection, query: str) -> None:
    steps = plan(empty_database, query)
    assert "SCAN a USING INDEX anchor_word" in steps
    assert not [step for step in steps if "TEMP B-TREE" in step]


def test_a_text_is_tested_once_a_passage_whatever_the_number_of_anchors(
    empty_database: Connection,
) -> None:
    steps = plan(empty_database, "text:a text:b -c")
    assert [step for step in steps if "LIST SUBQUERY" in step]
    assert not [step for step in steps if "CORRELATED" in step and "SCAN x" in step]
    assert steps.count("SCAN x") == 3
