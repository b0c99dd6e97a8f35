"""Whatever is typed is either refused in a sentence or runs."""

from collections.abc import Callable
from itertools import chain

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from nfh_db.connection import Connection
from nfh_db.errors import QueryError
from nfh_db.query import KEYS, complete, parse, quote
from nfh_db.queue import queue_count, queue_ids

PIECES = [
    *(key.name for key in KEYS),
    *(value for key in KEYS for value in key.values),
    *("differs:", "said:", "assigned:", "todo:", "~", "me", '"a ~/"', "noun", "AGE"),
    *(":", "=", "!=", "<", "<=", ">", ">=", ",", '"', "\\", "-", " ", "  ", "/", "%", "_"),
    *(" OR ", "OR", "or", "(", ")"),
    *("1", "2-1", "999999999", "random/7", "É", "三", "🙂", "\0", "\x1b", "\u3000", "*", "["),
]
ALIKE = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
ANYTHING = st.text(st.characters(), max_size=60)


@given(st.one_of(ALIKE, ANYTHING))
@example("a " * 199)
@example("-a " * 199)
@example("a OR " * 99 + "a")
@example("todo:me OR " * 199 + "heads>1")
@example("text:" + ",".join("a" * 199))
@example("differs:" + ",".join(['"a b"~me/noun', "me"] * 100))
@example("-said:" + ",".join(["me/AGE"] * 200))
@example("todo!=" + ",".join(["me/adjudicator"] * 200) + " sort:assigned")
@example("-disagree:" + ",".join(["any", "noun"] * 99))
@settings(max_examples=400, deadline=None)
def test_any_string_is_refused_or_runs(hand_made: Connection, text: str) -> None:
    try:
        query = parse(text)
    except QueryError as error:
        assert 0 <= error.position <= len(text)
        assert len(str(error)) > 10
        assert str(error).isprintable()
    else:
        ids = list(chain.from_iterable(queue_ids(hand_made, query, 1)))
        assert len(ids) == len(set(ids)) == queue_count(hand_made, query, 1)


@given(st.one_of(ALIKE, ANYTHING), st.integers(0, 60))
@settings(max_examples=400, deadline=None)
def test_completion_never_fails_and_stays_within_the_query(text: str, cursor: int) -> None:
    cursor = min(cursor, len(text))
    made = complete(text, cursor, lambda key: (key, "two words", 'a"b,c'))
    assert 0 <= made.start <= cursor <= made.end <= len(text)
    for option in made.options:
        after, place = made.apply(text, option)
        assert after[made.start : place] == option.insert


@given(st.text(min_size=1, max_size=30), st.data())
@settings(max_examples=200, deadline=None)
def test_any_part_of_a_text_is_found_in_it(
    own_text: Callable[[str], Connection], text: str, data: st.DataObject
) -> None:
    connection = own_text(text)
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    part = text[start:stop]
    assume("\0" not in text[:start] or part.isascii())
    assert queue_count(connection, parse(f"text:{quote(part)}"), 1) == 1
    assert queue_count(connection, parse(f"-text:{quote(part)}"), 1) == 0


@given(st.text("aBzZ éÉñÑжЖδΔ%_[*三", min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_case_makes_no_difference_in_any_script(
    own_text: Callable[[str], Connection], text: str
) -> None:
    connection = own_text(f"- {text} -")
    for written in (text.upper(), text.lower(), text.swapcase()):
        assert queue_count(connection, parse(f"text:{quote(written)}"), 1) == 1


@pytest.mark.parametrize(
    ("text", "typed", "found"),
    [
        ("two at the cafe\u0301", "caf\u00e9", 1),
        ("two at the caf\u00e9", "cafe\u0301", 1),
        ("two at the CAFE\u0301", "caf\u00e9", 1),
        ("cafe\u0301 cr\u00e8me, two", "caf\u00e9 cr\u00e8me", 1),
        ("two at the cafe\u0301", "cafe", 0),
        ("two at the caf\u00e9", "cafe", 0),
        ("two at the cafe\u0301", "at the", 1),
        ("\u1112\u1161\u11ab two", "\ud55c", 1),
        ("\ud55c two", "\u1112\u1161\u11ab", 1),
    ],
)
def test_texts_are_compared_in_their_composed_form(
    own_text: Callable[[str], Connection], text: str, typed: str, found: int
) -> None:
    connection = own_text(text)
    assert queue_count(connection, parse(f"text:{quote(typed)}"), 1) == found
    assert queue_count(connection, parse(f"-text:{quote(typed)}"), 1) == 1 - found
    connection.execute("UPDATE document SET name = ?", (text,))
    assert queue_count(connection, parse(f"doc:{quote(typed)}"), 1) == found
