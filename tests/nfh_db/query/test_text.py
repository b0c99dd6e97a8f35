"""Words of the text: found literally, whatever characters they hold."""

import json
from collections.abc import Callable
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.connection import Connection
from nfh_db.passages import DROP_TEXTS, index_texts
from nfh_db.query import compile as compile_query
from nfh_db.query import parse, quote, sql
from nfh_db.queue import SELECT_IDS, queue_ids

Found = Callable[[str], list[int]]

ONE, TWO, THREE, FOUR, SIX = [14, 1, 2], [3, 4], [5, 6], [12, 7, 13], [11]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("months", TWO),
        ("MONTHS", TWO),
        ("onth", TWO),
        ('"months left"', TWO),
        ('text:"months left"', TWO),
        ("left months", TWO),
        ("months here", []),
        ("text:months,here", [*ONE, *TWO, *THREE]),
        ('text:"months left","Forty two"', [*ONE, *TWO]),
        ("-months", [*ONE, *THREE, *FOUR, *SIX]),
        ("text!=months", [*ONE, *THREE, *FOUR, *SIX]),
        ('-"months left" -here', [*FOUR, *SIX]),
        ("-text:months,here", [*FOUR, *SIX]),
        ("left,", []),
        ("[red]", THREE),
        ("%", THREE),
        ("100%", THREE),
        ("1%", []),
        ("a_b", THREE),
        ("a?b", []),
        ("_", THREE),
        ("*", []),
        ("a\\b", THREE),
        ('"a\\\\b"', THREE),
        ("\x1b[31m", THREE),
        ('"tab\there"', THREE),
        ("ÉTÉ", FOUR),
        ("été", FOUR),
        ("Été", FOUR),
        ("ÉTÉ CHAUD", FOUR),
        ("À", FOUR),
        ("ete", []),
        ("三个", FOUR),
        ("🙂", FOUR),
        ("🙃", []),
        ("e\u0301", FOUR),
        ("straße", SIX),
        ("STRASSE", []),
        ('"\0 then"', SIX),
        ("eleven", SIX),
        (";", THREE),
        ("-5", [*ONE, *TWO, *FOUR, *SIX]),
        ('"-5"', []),
        ("10:30", []),
        ("?", TWO),
        ("'); DROP TABLE anchor; --", []),
        ("hidden", []),
    ],
)
def test_words_are_found_as_they_stand(
    found: Found,
    indexed: Connection,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    expected: list[int],
) -> None:
    assert found(query) == expected
    for few in (sql.FEW, 0):
        monkeypatch.setattr(sql, "FEW", few)
        assert list(chain.from_iterable(queue_ids(indexed, parse(query), 1))) == expected


CHARACTERS = "aAbK1 é\u0301É\0;\u212a\u037e🙂"
"""With a sign that NFC makes a K, and one that it makes a semicolon."""


@given(
    texts=st.lists(st.text(CHARACTERS, max_size=9), min_size=1, max_size=5),
    value=st.text(CHARACTERS, min_size=1, max_size=5).filter(str.strip),
    indexed_texts=st.integers(0, 5),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_index_leaves_no_text_out(
    own: Connection, texts: list[str], value: str, indexed_texts: int
) -> None:
    own.execute("DELETE FROM passage")
    own.execute("DELETE FROM anchor")
    own.execute(DROP_TEXTS)
    for number, text in enumerate(texts, 1):
        own.execute(
            "INSERT INTO passage VALUES (?, 1, NULL, ?, ?)", (number, bytes([number]), text)
        )
        own.execute(
            "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
            "VALUES (?, ?, 0, 1, 0, 1, 'x')",
            (number, number),
        )
        if number == indexed_texts:
            index_texts(own)
    query = parse(f"text:{quote(value)}")
    every = compile_query(query, 1)
    statement = SELECT_IDS.format(where=every.where, order=every.order)
    ids = own.execute(statement, {**every.parameters, "limit": -1}).fetchone()[0]
    assert list(chain.from_iterable(queue_ids(own, query, 1))) == json.loads(ids)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("a É*b", "É*b"),
        ("a É?b", "é?B"),
        ("a É[b]", "é[b]"),
        ("a É]b", "é]b"),
        ("a É^b", "é^b"),
        ("a É-b", "é-b"),
        ("a É\\b", "é\\b"),
        ("ПРИВЕТ, мир", "привет,"),
        ("ǅ", "ǆ"),
        ("İstanbul É", "İSTANBUL"),
        ("\0 É", '"\0 É"'),
        ("x" * 3000 + "É", "é"),
        ("300 \u212aelvin", "300 \u212a"),
        ("300 \u212aelvin", "300 kelvin"),
        ("ti\u037e", "\u037e"),
        ("ti\u1fef", "`"),
    ],
)
def test_special_characters_beside_letters_of_other_scripts(
    own: Connection, text: str, query: str
) -> None:
    own.execute("INSERT INTO passage VALUES (99, 1, NULL, x'99', ?)", (text,))
    own.execute(
        "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
        "VALUES (99, 99, 0, 1, 0, 1, 'x')"
    )
    assert 99 in chain.from_iterable(queue_ids(own, parse(query), 1))
    assert 99 not in chain.from_iterable(queue_ids(own, parse(f"-{query}"), 1))


@pytest.mark.parametrize("query", ["é*b", "é?b", "é[a-z]b", "é^b", "é[^a]b", "é_b", "é%b"])
def test_no_character_is_a_pattern(own: Connection, query: str) -> None:
    own.execute("UPDATE passage SET text = 'Éxb Éb'")
    assert list(queue_ids(own, parse(query), 1)) == []
    assert list(queue_ids(own, parse("éX"), 1))


def test_the_longest_query_of_other_scripts_still_runs(own: Connection) -> None:
    assert list(queue_ids(own, parse("ǅ" * 2_000), 1)) == []


def test_values_reach_sql_as_parameters_only() -> None:
    plain = compile_query(parse('text:abk by:b split:c doc:d anchor:e "f" sort:random/1'), 1)
    spiky = compile_query(
        parse('text:xyz\'); by:\'\' split:"a;b" doc:-- anchor:"{0}" "%s" sort:random/9'), 2
    )
    assert plain.where == spiky.where
    assert plain.order == spiky.order
    assert plain.parameters.keys() == spiky.parameters.keys()
    assert all(name.startswith("q_") for name in plain.parameters)
