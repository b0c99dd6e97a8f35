"""What completion offers at each place of a query."""

from collections.abc import Sequence

import pytest

from nfh_db.query import KEYS, SORTS, Completion, Completions, complete, parse
from nfh_db.query.parser import MAX_COMPLETIONS
from nfh_models.domain import Blocking, DifferenceNote

NAMES = ("ann1", "ann 2", "me", "a~b")
KNOWN = {
    "split": ("train", "dev", "test"),
    "anchor": ("one", "two", "forty two", "twenty", 'a"b', "", "two"),
    "by": ("ann1", "ann2"),
    "differs": NAMES,
    "said": NAMES,
    "assigned": NAMES,
    "todo": NAMES,
    "nfhrule": ("num-of", "no-one"),
}


def values(key: str) -> Sequence[str]:
    return KNOWN.get(key, ())


def at(marked: str) -> Completions:
    """Completions where the bar stands in `marked`."""
    return complete(marked.replace("|", ""), marked.index("|"), values)


def inserts(marked: str) -> list[str]:
    return [option.insert for option in at(marked).options]


def taken(marked: str, choice: int = 0) -> str:
    """The query once an offer is taken, with a bar at the new cursor."""
    text, made = marked.replace("|", ""), at(marked)
    after, cursor = made.apply(text, made.options[choice])
    return f"{after[:cursor]}|{after[cursor:]}"


@pytest.mark.parametrize("marked", ["|", "x |", "| x", "  |  ", "-|", "x -| y", "- | x"])
def test_every_key_where_a_term_may_begin(marked: str) -> None:
    assert inserts(marked) == [key.stub for key in KEYS]
    text, made = marked.replace("|", ""), at(marked)
    assert (made.start, made.end) == (marked.index("|"), marked.index("|"))
    assert text[: made.start] == marked.partition("|")[0]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("s|", ["state:", "split:", "said:", "sort:"]),
        ("S|", ["state:", "split:", "said:", "sort:"]),
        ("sp|", ["split:"]),
        ("-fl|", ["flag:"]),
        ("he|", ["heads>"]),
        ("s|plit", ["state:", "split:", "said:", "sort:"]),
        ("xyz|", []),
        ("10|", []),
        ('"st|', []),
        ('"st"|', []),
        ("state|:open", ["state:"]),
        ("|state:open", [key.stub for key in KEYS]),
        ("st|:open", ["state:"]),
        ("zzz|:x", []),
        ("zzz:x|", []),
        ("|-sp", []),
        ("-|sp", [key.stub for key in KEYS]),
    ],
)
def test_keys(marked: str, expected: list[str]) -> None:
    assert inserts(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("class:AGE o|", ["OR"]),
        ("class:AGE O|", ["OR"]),
        ("class:AGE OR|", ["OR"]),
        ("class:AGE OR |", [key.stub for key in KEYS]),
        ("class:AGE OR sp|", ["split:"]),
        ("class:AGE OR state:o|", ["open"]),
        ("o|", []),
        ("x -o|", []),
    ],
)
def test_or_is_offered_after_a_term(marked: str, expected: list[str]) -> None:
    assert inserts(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        (
            "state:|",
            ["open", "answered", "disagree", "decided", "stale", "skipped"],
        ),
        ("state:d|", ["disagree", "decided"]),
        ("class:ag|", ["AGE"]),
        ("class:AGE,t|", ["TIME"]),
        ("class!=ti|,AGE", ["TIME"]),
        ("STATE=o|", ["open"]),
        ("split:|", ["train", "dev", "test"]),
        ("split:t|", ["train", "test"]),
        ("anchor:t|", ["two", "twenty", '"forty two"']),
        ('anchor:"forty|', ['"forty two"']),
        ('anchor:"forty two"|', []),
        ("anchor:a|", ['a"b']),
        ("by:nn2|", ["ann2"]),
        (
            "sort:|",
            [*SORTS],
        ),
        ("differs:|", ["ann1", '"ann 2"', '"me"', '"a~b"']),
        ("differs:ann1~|", ["ann1", '"ann 2"', '"me"', '"a~b"']),
        ("differs:ann1~ann|/noun", ["ann1", '"ann 2"']),
        ("differs:ann1~ann2/|", [*Blocking, *DifferenceNote]),
        ('differs:"ann 2"/n|', ["noun"]),
        ('differs:"ann|', ["ann1", '"ann 2"']),
        ('differs:ann1~"ann|', ["ann1", '"ann 2"']),
        ("assigned:|", ["me", "nobody", "ann1", '"ann 2"', '"me"', '"a~b"']),
        ("todo:m|", ["me", '"me"']),
        ("todo:ann1/|", ["annotator", "adjudicator"]),
        ("todo:ann1,m|", ["me", '"me"']),
        ("said:a|", ["AGE", "ann1/", '"ann 2"/', '"a~b"/']),
        ("said:ann|/AGE", ["ann1", '"ann 2"']),
        ("said:ann1/ye|", ["YEAR"]),
        ("rule:m|", ["majority"]),
        ("experts:|", ["agree", "differ"]),
        ("audit:w|", ["wrong"]),
        ("-sort:vo|", ["votes"]),
        ("model!=|", ["gold", "votes", "proposal"]),
        ("nfh!=|", ["yes", "no", "none", "gold"]),
        ("nfhrule:no|", ["no-one"]),
        ("heads>|", []),
        ("text:st|", []),
        ("pattern:|", []),
    ],
)
def test_values(marked: str, expected: list[str]) -> None:
    assert inserts(marked) == expected


def test_without_a_database_open_lists_are_empty_and_closed_ones_are_not() -> None:
    assert complete("split:", 6).options == ()
    assert len(complete("flag:", 5).options) == 5


def test_only_keys_with_open_values_are_asked_for() -> None:
    asked: list[str] = []

    def note(key: str) -> Sequence[str]:
        asked.append(key)
        return ()

    for key in KEYS:
        complete(f"{key.name}:", len(key.name) + 1, note)
        complete(key.name, len(key.name), note)
    assert asked == [key.name for key in KEYS if key.open_values]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("x sp| y", "x split:| y"),
        ("x -sp|", "x -split:|"),
        ("st|ate", "state:|"),
        ("st|:open", "state:|open"),
        ("class:ag|x,TIME z", "class:AGE|,TIME z"),
        ('anchor:"for| two', 'anchor:"forty two"|'),
        ("split:|", "split:train|"),
        ("differs:an|~x", "differs:ann1|~x"),
        ('differs:x~"ann |"/noun y', 'differs:x~"ann 2"|/noun y'),
        ("said:ann1/a|", "said:ann1/AGE|"),
    ],
)
def test_an_offer_replaces_what_it_completes(marked: str, expected: str) -> None:
    assert taken(marked) == expected


def test_what_is_offered_is_understood() -> None:
    for key in KEYS:
        for option in complete(f"{key.name}:", len(key.name) + 1, values).options:
            # After somebody's name comes what they said.
            more = "AGE" if option.insert.endswith("/") else ""
            parse(f"{key.name}:{option.insert}{more}")


def test_offers_say_what_they_mean_and_are_not_too_many() -> None:
    (option,) = complete("spl", 3).options
    assert option == Completion("split:", "split:", KEYS[2].summary)
    assert all(option.detail for option in complete("sort:", 5).options)
    many = [f"word{number}" for number in range(500)]
    assert len(complete("anchor:", 7, lambda _: many).options) == MAX_COMPLETIONS
