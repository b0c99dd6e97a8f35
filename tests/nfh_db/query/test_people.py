"""Values about people: their parts, in quotes or not, and what is said of wrong ones."""

import pytest

from nfh_db.errors import QueryError
from nfh_db.query import ME, PeopleTerm, PeopleValue, parse, quote_name


def only(query: str) -> PeopleTerm:
    (term,) = parse(query).terms
    assert isinstance(term, PeopleTerm)
    return term


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("differs:ann1", [PeopleValue(("ann1",))]),
        ("differs:ann1~ann2", [PeopleValue(("ann1", "ann2"))]),
        ("differs:ann1~ann2/NOUN", [PeopleValue(("ann1", "ann2"), "noun")]),
        ("differs:ann1/extent", [PeopleValue(("ann1",), "extent")]),
        ('differs:"ann 2"~ann1', [PeopleValue(("ann 2", "ann1"))]),
        ('differs:ann1~"ann 2"/"noun"', [PeopleValue(("ann1", "ann 2"), "noun")]),
        (
            'differs:"a~b/c"~"d, e"/noun,me',
            [PeopleValue(("a~b/c", "d, e"), "noun"), PeopleValue((ME,))],
        ),
        ('differs:ME~"me"', [PeopleValue((ME, "me"))]),
        ('differs:"a\\"b\\\\"', [PeopleValue(('a"b\\',))]),
        ('differs:a"b', [PeopleValue(('a"b',))]),
        ("said:age", [PeopleValue((), "AGE")]),
        ("said:age,ann2/Year", [PeopleValue((), "AGE"), PeopleValue(("ann2",), "YEAR")]),
        ("said:me/unknown", [PeopleValue((ME,), "UNKNOWN")]),
        ('said:"AGE"/AGE', [PeopleValue(("AGE",), "AGE")]),
        ("assigned:nobody", [PeopleValue()]),
        ('assigned:"nobody"', [PeopleValue(("nobody",))]),
        ("assigned:Me/Annotator", [PeopleValue((ME,), "annotator")]),
        ("assigned:nobody/annotator", [PeopleValue(("nobody",), "annotator")]),
        ("todo:ann2,me", [PeopleValue(("ann2",)), PeopleValue((ME,))]),
        ("todo:nobody", [PeopleValue(("nobody",))]),
    ],
)
def test_what_a_value_means(query: str, values: list[PeopleValue]) -> None:
    term = only(query)
    assert list(term.values) == values
    assert (term.unequal, term.negated) == (False, False)
    assert only(f"-{query}").negated
    assert only(query.replace(":", "!=", 1)).unequal
    assert only(query.replace(":", "=", 1)) == term


@pytest.mark.parametrize(
    ("query", "place", "told"),
    [
        ("differs:", 8, "differs: needs a value after it: as in differs:ann2"),
        ("differs:a~b~c", 8, "wanted NAME, NAME~NAME or NAME/WHAT"),
        ("differs:~a", 8, "wanted NAME, NAME~NAME"),
        ("differs:a~", 8, "wanted NAME, NAME~NAME"),
        ("differs:a/", 10, "after / comes damage, scope"),
        ("differs:a/any", 10, "any is not in this database"),
        ("differs:a/nuon", 10, "did you mean noun?"),
        ("differs:a/noun/noun", 8, "wanted NAME, NAME~NAME"),
        ("differs:a/noun~b", 8, "wanted NAME, NAME~NAME"),
        ("differs:a b/noun~", None, None),
        ('differs:"a', 8, "the quote that opens at character 9 is not closed"),
        ('differs:a~"b', 10, "the quote that opens at character 11 is not closed"),
        ('differs:a~""', 10, "the quotes at character 11 are empty"),
        ('differs:"a"b', 11, "a space is missing after the closing quote"),
        ("said:foo", 5, "or said:NAME/KIND"),
        ("said:agee", 5, "did you mean AGE?"),
        ("said:ann1/foo", 10, "after / comes REFERENCE"),
        ("said:a~b/AGE", 5, "wanted NAME or NAME/WHAT"),
        ("assigned:a~b", 9, "wanted NAME or NAME/WHAT"),
        ("assigned:me/judge", 12, "after / comes annotator or adjudicator"),
        ("todo:a,", 7, "todo: needs a value on each side of a comma"),
        ("todo>3", 4, "todo takes : or !="),
    ],
)
def test_what_does_not_hold_is_refused_at_its_place(
    query: str, place: int | None, told: str | None
) -> None:
    if place is None:
        assert len(parse(query).terms) == 2
        return
    with pytest.raises(QueryError) as caught:
        parse(query)
    assert told in str(caught.value)
    assert caught.value.position == place


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("ann1", "ann1"),
        ("ann 1", '"ann 1"'),
        ("a~b", '"a~b"'),
        ("a/b", '"a/b"'),
        ("a,b", '"a,b"'),
        ('"', '"\\""'),
        ("ME", '"ME"'),
        ("mel", "mel"),
    ],
)
def test_a_name_as_it_has_to_be_written(name: str, written: str) -> None:
    assert quote_name(name, ("me",)) == written
    assert only(f"todo:{written}").values == (PeopleValue((name,)),)


def test_quotes_of_other_keys_stay_as_they_were() -> None:
    with pytest.raises(QueryError, match="a space is missing"):
        parse('anchor:"a"/b')
    assert [term.values for term in parse('text:a/"b c"').terms] == [('a/"b',), ('c"',)]
