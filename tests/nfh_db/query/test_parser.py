"""What a query means, and the sentences that refuse one."""

import pytest

from nfh_db.errors import QueryError
from nfh_db.query import KEYS, Compare, KeyArgument, Match, Query, SortTerm, parse, quote
from nfh_db.query.parser import MAX_LENGTH, MAX_VALUES, Either


def text(*values: str, negated: bool = False) -> Match:
    return Match("text", values, negated=negated)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", ()),
        (" \t\r\n\u00a0\u3000", ()),
        ("one two", (text("one"), text("two"))),
        ('"months left"', (text("months left"),)),
        ('-"months left"', (text("months left", negated=True),)),
        (r'"say \"no\" \\ \n"', (text(r'say "no" \ \n'),)),
        (r"a\"b", (text(r"a\"b"),)),
        ('6" 5\'10"', (text('6"'), text("5'10\""))),
        ("10:30", (text("10:30"),)),
        ("3<4", (text("3<4"),)),
        (":x =y <z", (text(":x"), text("=y"), text("<z"))),
        ("can't: don't", (text("can't:"), text("don't"))),
        ("a,b", (text("a,b"),)),
        ("-", (text("-"),)),
        ("- x", (text("-"), text("x"))),
        ("--x", (text("-x", negated=True),)),
        ("-5", (text("5", negated=True),)),
        ("a\x00b \x1b[0m \x1f", (text("a\x00b"), text("\x1b[0m"), text("\x1f"))),
        ("class:AGE", (Match("class", ("AGE",)),)),
        ("class:age,Time", (Match("class", ("AGE", "TIME")),)),
        ('class:"age","TIME"', (Match("class", ("AGE", "TIME")),)),
        ("CLASS=age", (Match("class", ("AGE",)),)),
        ("class!=age", (Match("class", ("AGE",), unequal=True),)),
        ("-class!=age", (Match("class", ("AGE",), unequal=True, negated=True),)),
        ('text:"a, b",c', (text("a, b", "c"),)),
        ("text:a:b", (text("a:b"),)),
        ('doc:a"b', (Match("doc", ('a"b',)),)),
        ("heads>1", (Compare("heads", ">", (1,)),)),
        ("heads>=01", (Compare("heads", ">=", (1,)),)),
        ("votes:1,2", (Compare("votes", "=", (1, 2)),)),
        ("votes!=1", (Compare("votes", "=", (1,), negated=True),)),
        ("-votes!=1", (Compare("votes", "=", (1,), negated=False),)),
        ("-heads<2", (Compare("heads", "<", (2,), negated=True),)),
        ("pattern:1-2", (Match("pattern", ("2-1",)),)),
        ("pattern:1–1–1", (Match("pattern", ("1-1-1",)),)),
        # OR joins its neighbours; values of one key become one term, with the plan of one.
        ("class:AGE OR class:YEAR", (Match("class", ("AGE", "YEAR")),)),
        ("one OR two OR text:x", (text("one", "two", "x"),)),
        (
            "a class:AGE OR heads>1 OR -b c",
            (
                text("a"),
                Either(
                    (
                        Match("class", ("AGE",)),
                        Compare("heads", ">", (1,)),
                        text("b", negated=True),
                    )
                ),
                text("c"),
            ),
        ),
        ("-a OR -b", (Either((text("a", negated=True), text("b", negated=True))),)),
        ('a "OR" b', (text("a"), text("OR"), text("b"))),
        ("text:or", (text("or"),)),
    ],
)
def test_what_a_query_means(query: str, terms: tuple[Match | Compare, ...]) -> None:
    assert parse(query) == Query(query, terms)


@pytest.mark.parametrize(
    ("query", "sorts"),
    [
        ("sort:order", (SortTerm("order"),)),
        ("SORT=Disagree", (SortTerm("disagree"),)),
        ("-sort:votes", (SortTerm("votes", reverse=True),)),
        ("sort:random", (SortTerm("random"),)),
        ("sort:random/7", (SortTerm("random", 7),)),
        ("sort:disagree,votes", (SortTerm("disagree"), SortTerm("votes"))),
        (
            "sort:anchor x -sort:uncertain",
            (SortTerm("anchor"), SortTerm("uncertain", reverse=True)),
        ),
    ],
)
def test_orders_are_kept_apart_from_conditions(query: str, sorts: tuple[SortTerm, ...]) -> None:
    assert parse(query).sorts == sorts


@pytest.mark.parametrize(
    ("query", "position", "parts"),
    [
        ("class:AGEE", 6, ["class:AGEE: no such class; did you mean AGE?"]),
        ("x -class:AGE,tyme", 13, ["class:tyme: no such class", "did you mean TIME?"]),
        ("class:zzz", 6, ["no such class", "REFERENCE, YEAR", "NFH and none"]),
        ("state:opne", 6, ["state:opne: no such state", "did you mean open?"]),
        ("flag:", 5, ["flag: needs a value", "anchor, ambiguous, guideline, skip or reject"]),
        ("split: dev", 6, ["split: needs a value after it", "split:dev"]),
        ("class:AGE,", 10, ["class: needs a value on each side of a comma"]),
        ("class:,AGE", 6, ["on each side of a comma"]),
        ("disagree:nuon", 9, ["no such kind of disagreement", "did you mean noun?"]),
        ("model:me", 6, ["no such thing to compare a model with", "there are gold"]),
        ("clas:AGE", 0, ["clas: no such key", "did you mean class?", '"clas:AGE"']),
        ("a gunk<0.6", 2, ["gunk: no such key", "state, class", "and sort", '"gunk<0.6"']),
        ("-http://x", 1, ["http: no such key", 'quote it: "http://x"']),
        ("x=1", 0, ["x: no such key"]),
        ("é:x", 0, ["é: no such key"]),
        ('zz:"a b"', 0, ['quote it: "zz:\\"a b\\""']),
        ("heads>x", 6, ["heads>x: heads takes a whole number", "heads>1"]),
        ("heads>1.5", 6, ["whole number"]),
        ("heads>-1", 6, ["whole number from 0"]),
        ("heads:²", 6, ["whole number"]),
        ("votes>9999999999", 6, ["from 0 to 999,999,999"]),
        ("heads>1,2", 8, ["heads> compares with one number", "heads:1,2"]),
        ("state>open", 5, ["state>", "state takes : or !=", "state:open"]),
        ("text<x", 4, ["text takes : or !="]),
        ("sort!=votes", 4, ["sort takes :", "sort:disagree"]),
        ("sort:vote", 5, ["sort:vote: no such order; did you mean votes?"]),
        ("sort:votes/3", 10, ["only random takes a number"]),
        ("sort:random/", 5, ["after random/ comes a whole number"]),
        ("sort:random/x", 5, ["after random/ comes a whole number"]),
        ("pattern:2", 8, ["pattern:2: not a pattern of votes", "pattern:2-1"]),
        ("pattern:a-b", 8, ["not a pattern of votes"]),
        ('"months left', 0, ["quote that opens at character 1 is not closed"]),
        ('a text:"b', 7, ["opens at character 8 is not closed"]),
        ('text:"b\\"', 5, ["is not closed"]),
        ('"a"b', 3, ["a space is missing after the closing quote"]),
        ('class:"AGE"x', 11, ["a space is missing after the closing quote"]),
        ('a ""', 2, ["quotes at character 3 are empty"]),
        ('by:""', 3, ["quotes at character 4 are empty"]),
        ("ab\ud800c", 2, ["character 3 is half a character (U+D800)"]),
        ("x" * (MAX_LENGTH + 1), MAX_LENGTH, ["2,001 characters; 2,000 is the most"]),
        ("x " * (MAX_VALUES + 1), 2 * MAX_VALUES, ["more than 200 words", "in quotes"]),
        ("text:" + "a," * MAX_VALUES + "a", 0, ["more than 200 words"]),
        ("OR class:AGE", 0, ["OR needs a term before it", "class:AGE OR heads>1"]),
        ("class:AGE OR", 12, ["OR needs a term after it"]),
        ("class:AGE OR OR x", 13, ["OR needs a term before it"]),
        ("x OR sort:votes", 4, ["OR needs a term after it"]),
        ("sort:votes OR x", 11, ["OR needs a term before it"]),
        ("a or b", 2, ["or: did you mean OR between two terms?", 'quote it: "or"']),
        ("a AND b", 2, ["AND: a space between two terms means and"]),
        ("not class:AGE", 0, ["not: did you mean a minus sign", "-class:AGE"]),
        ("State open", 0, ["State: a key needs a value; did you mean state:open?", '"State"']),
        ("-sort", 1, ["sort: a key needs a value; did you mean sort:disagree?"]),
        ("x >= 3", 2, [">=: no space belongs around this", "votes>2"]),
        ("(class:AGE OR heads>1) x", 0, ["leave out the parentheses", '"(class:AGE"']),
        ("class:" + "\x1b[31m" * 20, 6, ["class:␛[31m␛[31m", "…: no such class"]),
    ],
)
def test_what_is_not_understood_is_refused_in_a_sentence(
    query: str, position: int, parts: list[str]
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)
    for part in parts:
        assert part in str(caught.value)
    assert caught.value.position == position
    assert "\x1b" not in str(caught.value)


def test_the_quoted_form_that_the_message_offers_is_understood() -> None:
    for query in ("http://x", 'zz:"a b"', "a=b", "state", "Or", "&&"):
        with pytest.raises(QueryError) as caught:
            parse(query)
        assert parse(str(caught.value).partition("quote it: ")[2]).terms == (text(query),)


@pytest.mark.parametrize(
    "value", ["one", "forty two", 'a"b', '"a', 'x, "y"', "\\", "a b\\", "a\u3000b", "7", "-x"]
)
def test_a_value_as_quoted_is_read_back(value: str) -> None:
    assert parse(f"anchor:{quote(value)}").terms == (Match("anchor", (value,)),)


def test_every_example_is_understood_and_every_value_of_a_closed_list() -> None:
    for key in KEYS:
        assert key.examples
        for example in key.examples:
            parse(example)
        for value in key.values:
            parse(f"{key.name}:{value}")
        for operator in key.operators:
            fitting = {
                KeyArgument.SHARE: "0.5",
                KeyArgument.NUMBER: "1",
                KeyArgument.IDS: "1",
                KeyArgument.PATTERN: "2-1",
            }
            value = fitting.get(key.takes, "x")
            parse(f"{key.name}{operator}{key.values[0] if key.values else value}")
