"""Ids in chunks, the count, the lines of the queue, and what completion may offer."""

from array import array
from itertools import chain

import pytest

from nfh_db.connection import Connection
from nfh_db.query import KEYS, Query, parse
from nfh_db.queue import (
    AROUND,
    FIRST_CHUNK,
    LATER_CHUNK,
    queue_count,
    queue_ids,
    queue_rows,
    queue_values,
)
from nfh_db.records import AnchorState, FlagName, QueueRow
from nfh_models.domain import Blocking, Kind

ADD_ANCHOR = (
    "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
    "VALUES (?, 6, ?, ?, 0, 1, 'x')"
)


def add(connection: Connection, count: int) -> None:
    """`count` anchors with ids that fall while their places rise."""
    connection.execute("BEGIN")
    connection.executemany(
        ADD_ANCHOR, [(100_000 - place, 50 + place, 51 + place) for place in range(count)]
    )
    connection.execute("COMMIT")


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (0, []),
        (1, [1]),
        (FIRST_CHUNK, [FIRST_CHUNK]),
        (FIRST_CHUNK + 1, [FIRST_CHUNK, 1]),
        (FIRST_CHUNK + LATER_CHUNK + 5, [FIRST_CHUNK, LATER_CHUNK, 5]),
    ],
)
def test_ids_come_in_chunks_each_once_and_in_order(
    own: Connection, count: int, sizes: list[int]
) -> None:
    add(own, count)
    chunks = list(queue_ids(own, parse("anchor:x"), 1))
    assert all(isinstance(chunk, array) and chunk.typecode == "q" for chunk in chunks)
    assert [len(chunk) for chunk in chunks] == sizes
    assert list(chain(*chunks)) == [100_000 - place for place in range(count)]
    assert queue_count(own, parse("anchor:x"), 1) == count


def test_what_changes_between_two_chunks_is_neither_lost_nor_given_twice(
    own: Connection,
) -> None:
    add(own, 500)
    chunks = queue_ids(own, parse("anchor:x"), 1)
    first = next(chunks)
    own.execute("UPDATE anchor SET removed = 1 WHERE id = ?", (first[3],))
    own.execute(ADD_ANCHOR, (7_000, 1, 2))
    ids = list(chain(first, *chunks))
    assert len(ids) == len(set(ids)) == 501
    assert 7_000 in ids


def test_no_transaction_stays_open_while_the_caller_pauses(own: Connection) -> None:
    add(own, 500)
    chunks = queue_ids(own, parse(""), 1)
    next(chunks)
    assert not own.in_transaction
    own.execute("DELETE FROM flag")
    chunks.close()


def test_an_empty_query_object_is_every_anchor(
    hand_made: Connection, in_order: list[int]
) -> None:
    assert list(chain(*queue_ids(hand_made, Query(), 1))) == in_order
    assert queue_count(hand_made, Query(), 1) == len(in_order)


def test_a_row_holds_what_a_line_of_the_queue_shows(hand_made: Connection) -> None:
    (row,) = queue_rows(hand_made, [4], 1)
    assert row == QueueRow(
        anchor_id=4,
        before="Six months left , or ",
        word="seven",
        after=" ?",
        state=AnchorState.DISAGREE,
        kind=None,
        strongest=Blocking.NOUN,
        pattern="2-1",
        flags=(),
    )
    (gold,) = queue_rows(hand_made, [2], 1)
    assert (gold.state, gold.kind, gold.word) == (
        AnchorState.DECIDED,
        Kind.REFERENCE,
        "Forty two",
    )


def test_rows_come_in_the_order_asked_and_missing_ones_are_left_out(
    hand_made: Connection,
) -> None:
    removed, replaced, loading, unknown = 9, 10, 8, 555
    asked = [13, 1, removed, 4, unknown, replaced, loading, 1]
    assert [row.anchor_id for row in queue_rows(hand_made, asked, 1)] == [13, 1, 4, 1]
    assert queue_rows(hand_made, array("q", [3]), 1)[0].anchor_id == 3
    assert queue_rows(hand_made, [], 1) == ()


@pytest.mark.parametrize(
    ("anchor", "me", "flags"),
    [
        (3, 1, (FlagName.SKIP,)),
        (3, 2, ()),
        (5, 1, (FlagName.ANCHOR, FlagName.GUIDELINE)),
        (7, 1, ()),
        (7, 2, (FlagName.SKIP,)),
        (12, 2, ()),
    ],
)
def test_flags_are_anybodys_but_skip_is_ones_own(
    hand_made: Connection, anchor: int, me: int, flags: tuple[FlagName, ...]
) -> None:
    assert queue_rows(hand_made, [anchor], me)[0].flags == flags


@pytest.mark.parametrize(
    "text",
    [
        "one",
        "one\n\x1b[31m[red]\t",
        "🙂" * 70 + "one" + "三" * 70,
        "e\u0301" * 40 + "one" + "\u202e" * 61,
        "a" * 59 + "one" + "b" * 60,
        "\0 a one b \0 c",
        "x" * 500_000 + "one" + "y" * 500_000,
    ],
)
def test_text_around_is_cut_by_code_points_and_left_as_it_stands(
    own: Connection, text: str
) -> None:
    start = text.index("one")
    own.execute("INSERT INTO passage VALUES (99, 1, NULL, x'99', ?)", (text,))
    own.execute(
        "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
        "VALUES (99, 99, 0, 1, ?, ?, 'one')",
        (start, start + 3),
    )
    (row,) = queue_rows(own, [99], 1)
    assert row.before == text[max(start - AROUND, 0) : start]
    assert row.word == "one"
    assert row.after == text[start + 3 :][:AROUND]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("split", ("dev", "test", "train")),
        ("by", ("me", "Ann2", "Zoë", "Eva")),
        ("doc", ("Talk É.txt", "nfh_DEV.jsonl")),
        ("pattern", ("1-1-1", "2-0", "2-1")),
        ("state", ()),
        ("text", ()),
        ("nonsense", ()),
    ],
)
def test_known_values(hand_made: Connection, key: str, values: tuple[str, ...]) -> None:
    assert queue_values(hand_made, key) == values


def test_known_anchors_are_the_commonest_first_and_only_those_seen(own: Connection) -> None:
    add(own, 3)
    words = queue_values(own, "anchor")
    assert words[0] == "x"
    assert "you" not in words
    assert len(words) == 12


def test_each_key_with_open_values_has_values_to_offer(hand_made: Connection) -> None:
    for key in KEYS:
        assert bool(queue_values(hand_made, key.name)) == key.open_values, key.name
