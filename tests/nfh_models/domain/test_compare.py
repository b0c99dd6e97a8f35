"""The table of cases for how two answers, and the answers of an item, differ."""

import pytest

from nfh_models.domain import (
    Answer,
    Blocking,
    DifferenceNote,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    compare,
    compare_all,
)

# 0:the 1:tent 2:leaks 3:tents 4:boat 5:dollar 6:people 7:year 8:Boat 9:joke 10:o'clock 11:pony
# 12:box
LEMMAS = "the tent leak tent boat dollar people year Boat joke o'clock pony box".split()


def at(*tokens: int, origin: Origin = Origin.MARKED) -> Head:
    return Head(tuple(Mention(t, t + 1, t, origin) for t in tokens))


def ref(*heads: Head, relation: Relation | None = None) -> Answer:
    if len(heads) > 1 and relation is None:
        relation = Relation.UNSTATED
    return Answer(Kind.REFERENCE, heads, relation=relation)


def kind(name: str, noun: str | None = None, sort: Sort | None = None) -> Answer:
    return Answer(Kind(name), noun=noun, sort=sort)


TENT, TENTS, BOAT, BOAT_AGAIN = at(1), at(3), at(4), at(8)
WIDE_TENT = Head((Mention(0, 2, 1),))
AND, OR = Relation.AND, Relation.OR

BLOCKING_CASES = [
    # damage: BROKEN against the rest, before anything else
    (kind("BROKEN"), kind("NOT_NFH"), Blocking.DAMAGE),
    (kind("BROKEN"), ref(TENT), Blocking.DAMAGE),
    (kind("BROKEN"), kind("UNKNOWN"), Blocking.DAMAGE),
    (kind("BROKEN"), kind("NFH"), Blocking.DAMAGE),
    (kind("BROKEN"), kind("BROKEN"), None),
    # scope: NOT_NFH against the rest
    (kind("NOT_NFH"), kind("AGE"), Blocking.SCOPE),
    (kind("NOT_NFH"), kind("UNKNOWN"), Blocking.SCOPE),
    (kind("NOT_NFH"), kind("NFH"), Blocking.SCOPE),
    (kind("NOT_NFH"), kind("NOT_NFH"), None),
    # route: the noun only names the class, or repeats the other's noun
    (ref(at(5)), kind("CURRENCY"), Blocking.ROUTE),
    (ref(at(6)), kind("PEOPLE"), Blocking.ROUTE),
    (ref(at(7)), kind("AGE"), Blocking.ROUTE),
    (ref(at(7)), kind("YEAR"), Blocking.ROUTE),
    (ref(at(10)), kind("TIME"), Blocking.ROUTE),
    (ref(at(9)), kind("OTHER", noun="Joke "), Blocking.ROUTE),
    (ref(BOAT), kind("UNKNOWN", noun="boat"), Blocking.ROUTE),
    (ref(BOAT), kind("OTHER", noun="Boats"), Blocking.ROUTE),
    (ref(at(11)), kind("OTHER", noun="ponies"), Blocking.ROUTE),
    (ref(at(12)), kind("OTHER", noun="boxes"), Blocking.ROUTE),
    (ref(BOAT), kind("OTHER", noun="boat race"), Blocking.CLASS),
    (ref(BOAT), kind("OTHER", noun=" "), Blocking.CLASS),
    (ref(at(5), BOAT, relation=AND), kind("CURRENCY"), Blocking.CLASS),
    # answerability: UNKNOWN against the rest
    (kind("UNKNOWN"), ref(TENT), Blocking.ANSWERABILITY),
    (kind("UNKNOWN"), kind("OTHER"), Blocking.ANSWERABILITY),
    (kind("UNKNOWN"), kind("NFH"), None),
    # class: two other kinds
    (kind("AGE"), kind("YEAR"), Blocking.CLASS),
    (ref(TENT), kind("AGE"), Blocking.CLASS),
    (ref(at(5)), kind("PEOPLE"), Blocking.CLASS),
    (ref(at(9)), kind("OTHER", noun="story"), Blocking.CLASS),
    (ref(at(9)), kind("OTHER"), Blocking.CLASS),
    # noun, partial, relation
    (ref(TENT), ref(BOAT), Blocking.NOUN),
    (ref(TENT), ref(TENTS), None),
    (ref(BOAT), ref(BOAT_AGAIN), None),
    (ref(TENT), ref(TENTS, BOAT, relation=OR), Blocking.PARTIAL),
    (ref(TENT, at(9), relation=AND), ref(TENT, BOAT, relation=AND), Blocking.PARTIAL),
    (ref(TENT, BOAT, relation=AND), ref(BOAT_AGAIN, TENTS, relation=OR), Blocking.RELATION),
    (ref(TENT, BOAT, relation=AND), ref(BOAT, TENT, relation=AND), None),
    (ref(TENT, BOAT), ref(TENT, BOAT, relation=OR), None),
    # NFH differs from nothing it could become
    (kind("NFH"), ref(TENT), None),
    (kind("NFH"), kind("AGE"), None),
    (kind("NFH"), kind("NFH"), None),
]


@pytest.mark.parametrize(("left", "right", "expected"), BLOCKING_CASES)
def test_the_first_blocking_difference_that_holds(
    left: Answer, right: Answer, expected: Blocking | None
) -> None:
    assert compare(left, right, LEMMAS).blocking is expected
    assert compare(right, left, LEMMAS).blocking is expected


NOTE_CASES = [
    (ref(TENT), ref(TENT), set()),
    (ref(TENT), ref(TENTS), {DifferenceNote.MENTION}),
    (ref(TENT), ref(WIDE_TENT), {DifferenceNote.EXTENT}),
    (ref(TENT), ref(Head((*TENT.mentions, Mention(3, 4, 3, Origin.ADDED)))), set()),
    (ref(TENT), ref(at(1, 3)), {DifferenceNote.MENTION}),
    (ref(TENT, BOAT, relation=AND), ref(TENTS, BOAT, relation=OR), {DifferenceNote.MENTION}),
    (kind("OTHER", sort=Sort.CODE), kind("OTHER", sort=Sort.MEASURE), {DifferenceNote.SORT}),
    (kind("OTHER", sort=Sort.CODE), kind("OTHER"), set()),
    (kind("OTHER", "joke"), kind("OTHER", "story"), {DifferenceNote.TEXT}),
    (kind("OTHER", "joke"), kind("OTHER", "JOKE"), set()),
    (kind("AGE", "year"), kind("AGE", "month"), {DifferenceNote.TEXT}),
    (kind("AGE"), kind("AGE", "month"), set()),
]


@pytest.mark.parametrize(("left", "right", "expected"), NOTE_CASES)
def test_what_is_recorded_and_never_blocks(
    left: Answer, right: Answer, expected: set[DifferenceNote]
) -> None:
    assert compare(left, right, LEMMAS).notes == expected
    assert compare(right, left, LEMMAS).notes == expected


def test_a_removed_mention_makes_no_two_heads_alike() -> None:
    removed = Head((Mention(4, 5, 4), Mention(1, 2, 1, Origin.REMOVED)))
    assert compare(ref(removed), ref(TENT), LEMMAS).blocking is Blocking.NOUN


PATTERN_CASES = [
    ([], ""),
    ([ref(TENT)], "1-0"),
    ([ref(TENT), ref(TENTS), ref(TENT)], "3-0"),
    ([ref(TENT), ref(BOAT), ref(TENTS)], "2-1"),
    ([ref(TENT), ref(BOAT), ref(at(9))], "1-1-1"),
    ([ref(TENT), kind("AGE")], "1-1"),
    ([kind("AGE"), kind("AGE"), kind("YEAR"), kind("YEAR")], "2-2"),
]


@pytest.mark.parametrize(("answers", "pattern"), PATTERN_CASES)
def test_the_pattern_of_the_votes(answers: list[Answer], pattern: str) -> None:
    assert compare_all(answers, LEMMAS).pattern == pattern


def test_three_references_to_different_nouns_are_a_disagreement() -> None:
    found = compare_all([ref(TENT), ref(BOAT), ref(at(9))], LEMMAS)
    assert found.strongest is Blocking.NOUN


def test_three_mentions_of_one_noun_are_not() -> None:
    found = compare_all([ref(BOAT), ref(BOAT_AGAIN), ref(BOAT)], LEMMAS)
    assert found.strongest is None
    assert found.notes == {DifferenceNote.MENTION}


def test_an_item_keeps_the_kinds_of_all_its_pairs_and_the_strongest() -> None:
    found = compare_all([ref(TENT), kind("UNKNOWN"), kind("NOT_NFH")], LEMMAS)
    assert found.blocking == {Blocking.SCOPE, Blocking.ANSWERABILITY}
    assert found.strongest is Blocking.SCOPE
