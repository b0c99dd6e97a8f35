"""The passages that come with the package, and their format."""

import re
from collections import Counter

import pytest

from nfh_models.domain import Kind, Relation
from nfh_models.resolution.head_examples import PassageFileError, read, several_heads_examples

from .handmade import nouns


def one(*lines: str):
    """The only example of a file."""
    [found] = read("mine.txt", lines, held_out=False)
    return found


def test_there_are_enough_passages_of_each_kind_in_both_parts():
    for held, least in ((False, 90), (True, 30)):
        examples = several_heads_examples(held_out=held)
        kinds = Counter(example.gold.relation or example.gold.kind for example in examples)
        assert kinds[Relation.AND] >= least
        assert kinds[Relation.OR] >= least
        assert kinds[Kind.REFERENCE] >= least
        assert sum(kinds[k] for k in kinds if k not in (*Relation, Kind.REFERENCE)) >= 5


def test_a_quarter_is_held_out_and_no_passage_is_twice():
    taught, held = several_heads_examples(), several_heads_examples(held_out=True)
    assert 0.22 < len(held) / (len(held) + len(taught)) < 0.32
    both = [*taught, *held]
    assert len({example.item.passage.digest for example in both}) == len(both)
    assert len({example.group for example in both}) == len(both)


def test_the_relation_is_not_told_by_the_coordinator_or_the_number_alone():
    several = [e for e in several_heads_examples() if len(e.gold.heads) > 1]
    numbers = Counter(
        (e.gold.relation, e.item.passage.word(e.item.anchor.start).lower()) for e in several
    )
    assert numbers[Relation.OR, "two"] >= 5
    assert sum(n for (relation, word), n in numbers.items()
               if relation is Relation.AND and word != "two") >= 20  # fmt: skip
    single = Counter(
        e.item.passage.word(e.item.anchor.start).lower()
        for e in several_heads_examples()
        if e.gold.kind is Kind.REFERENCE and len(e.gold.heads) == 1
    )
    assert single["one"] >= 20
    assert single["two"] >= 15


def test_marks_become_heads_and_the_words_stay():
    example = one("= OR", "Ann: Red {wine} or {beer}?", "", "# no turn", "Ann: No wine, [one].")
    passage = example.item.passage
    assert passage.text == "Ann: Red wine or beer?\nAnn: No wine, one."
    assert passage.words(example.item.anchor.start, example.item.anchor.end) == "one"
    assert nouns(example.item, example.gold) == [["wine", "wine"], ["beer"]]
    assert example.gold.relation is Relation.OR
    assert example.where == "mine.txt, line 1"


def test_words_for_one_thing_are_one_head_and_a_word_may_be_barred():
    lines = ("= ONE", "Ann: My {v:van} died. That {v:vehicle}! They ~van it.", "Bo: Buy [one].")
    example = one(*lines)
    assert nouns(example.item, example.gold) == [["van", "vehicle"]]


def test_the_head_of_a_marked_phrase_is_its_last_word():
    example = one("= ONE", "Ann: A {reading room}!", "Bo: We need [one].")
    [mention] = example.gold.heads[0].mentions
    assert example.item.passage.words(mention.start, mention.end) == "reading room"
    assert example.item.passage.word(mention.head) == "room"


def test_a_class_has_no_heads():
    example = one("= PEOPLE", "Ann: Tea and cake for you [two].")
    assert example.gold.kind is Kind.PEOPLE


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("Ann: Hello [one].",), 'line 1: wanted "= AND"'),
        (("= BOTH", "Ann: A {dog}, [one]."), "line 1: wanted"),
        (("= ONE twice", "Ann: A {dog}, [one]."), "line 1: wanted"),
        (("= ONE", "A {dog}, [one]."), 'line 2: wanted "Speaker: words"'),
        (("= ONE", "Ann: A {dog, [one]."), "line 2: a bracket"),
        (("= ONE", "Ann: A {dog}, one."), "found 0"),
        (("= ONE", "Ann: A {dog}, [one] or [two]."), "found 2"),
        (("= AND", "Ann: A {dog}, [two]."), "AND with 1 heads"),
        (("= ONE", "Ann: A {dog} and a {cat}, [two]."), "ONE with 2 heads"),
        (("= ONE", "Ann: A dog, [two]."), "ONE with 0 heads"),
        (("= YEAR", "Ann: A {dog}, [two]."), "YEAR with 1 heads"),
        (("= ONE", "Ann: A {do}g, [two]."), '"do" is not made of whole tokens'),
    ],
)
def test_a_passage_that_breaks_the_format_is_named(lines: tuple[str, ...], message: str):
    with pytest.raises(PassageFileError, match=re.escape(message)) as error:
        list(read("mine.txt", lines, held_out=False))
    assert "mine.txt" in str(error.value)
