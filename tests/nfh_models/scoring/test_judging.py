"""One example and what was said of it."""

import pytest

from nfh_models.domain import Kind, Mention, Origin, class_answer, reference_answer
from nfh_models.resolution.base import ResolutionExample
from nfh_models.resolution.scoring import (
    COLUMNS,
    LABELS,
    REF_WRONG,
    confusion,
    figures,
    judge,
    judge_one,
    on_references,
)
from nfh_models.statistics import HeadSide

from .handmade import choice, example

APPLES = "Two [apples] or green [Apples] . / I took <one> and apples and pears"
AGE = "I am <forty> years"


def right(
    said: str | int | None, line: str = APPLES, kind: Kind = Kind.REFERENCE
) -> tuple[bool, ...]:
    one = judge_one(example(line, kind), None if said is None else choice(said))
    return one.right, one.inclusive, one.nearest, one.class_right, one.binary_right


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (4, (True, True, True, True, True)),
        (1, (True, True, False, True, True)),
        (10, (False, True, False, True, True)),  # the same word, where it is not marked
        (12, (False, False, False, True, True)),
        ("OTHER", (False, False, False, False, False)),
        (None, (False, False, False, False, False)),
    ],
)
def test_a_reference_is_right_in_three_ways(
    said: str | int | None, expected: tuple[bool, ...]
) -> None:
    assert right(said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("AGE", (True, True, True, True, True)),
        ("YEAR", (False, False, False, False, True)),
        (3, (False, False, False, False, False)),
        (None, (False, False, False, False, False)),
    ],
)
def test_a_class_is_right_or_not(said: str | int | None, expected: tuple[bool, ...]) -> None:
    assert right(said, AGE, Kind.AGE) == expected


@pytest.mark.parametrize(
    ("line", "kind", "said", "predicted"),
    [
        (APPLES, Kind.REFERENCE, 1, "REFERENCE"),
        (APPLES, Kind.REFERENCE, 10, REF_WRONG),
        (APPLES, Kind.REFERENCE, "PEOPLE", "PEOPLE"),
        (AGE, Kind.AGE, "AGE", "AGE"),
        (AGE, Kind.AGE, 3, "REFERENCE"),
        (AGE, Kind.AGE, None, None),
    ],
)
def test_what_counts_as_predicted(
    line: str, kind: Kind, said: str | int | None, predicted: str | None
) -> None:
    one = judge_one(example(line, kind), None if said is None else choice(said))
    assert one.predicted == predicted


def test_where_the_head_is() -> None:
    one = judge_one(example(APPLES), choice(4))
    assert (one.head, one.distance, one.turns, one.side) == (4, 4, 1, HeadSide.BEFORE)
    both = judge_one(example("[apples] and <one> more [apples]"), choice(0))
    assert (both.head, both.distance, both.turns, both.side) == (0, 2, 0, HeadSide.BOTH)
    assert both.nearest
    farther = judge_one(example("[apples] / so <one> of all the [apples]"), choice(0))
    assert (farther.head, farther.turns) == (0, 0)
    longer = judge_one(example("<two hundred> of those [apples]"), choice(4))
    assert (longer.distance, longer.side) == (3, HeadSide.AFTER)
    implicit = judge_one(example(AGE, Kind.AGE), choice("AGE"))
    assert (implicit.head, implicit.distance, implicit.turns, implicit.side) == (None,) * 4


def test_a_removed_mention_is_no_gold() -> None:
    made = example("[apples] and apples and <one>")
    gold = reference_answer([[Mention(0, 1, 0), Mention(2, 3, 2, Origin.REMOVED)]])
    one = judge_one(ResolutionExample(made.item, gold, "line 1", "a"), choice(2))
    assert not one.right
    assert one.inclusive


def test_unknown_is_other() -> None:
    one = judge_one(example(AGE, Kind.UNKNOWN), choice("OTHER"))
    assert (one.gold, one.right) == ("OTHER", True)


@pytest.mark.parametrize("kind", [Kind.NOT_NFH, Kind.BROKEN, Kind.NFH])
def test_gold_without_a_class_is_not_scored(kind: Kind) -> None:
    made = example(AGE, Kind.AGE)
    bad = ResolutionExample(made.item, class_answer(kind), "line 1", "a")
    with pytest.raises(ValueError, match=kind.value):
        judge_one(bad, choice("AGE"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("REFERENCE", "neither a class nor a token"),
        ("UNKNOWN", "neither a class nor a token"),
        ("-1", "neither a class nor a token"),
        ("99", "outside the passage"),
        ("2", "part of the anchor"),
    ],
)
def test_a_choice_that_names_nothing_is_refused(said: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        judge_one(example(AGE, Kind.AGE), choice(said))


def test_each_example_needs_its_choice() -> None:
    with pytest.raises(ValueError, match="zip"):
        judge([example(AGE, Kind.AGE)], [])


# --- figures and confusion ------------------------------------------------------------------

SOME = [
    (example(APPLES), choice(4)),
    (example(APPLES), choice(1)),
    (example(APPLES), choice(10)),
    (example(APPLES), choice(12)),
    (example(APPLES), choice("OTHER")),
    (example(AGE, Kind.AGE), choice("AGE")),
    (example(AGE, Kind.AGE), choice(3)),
    (example(AGE, Kind.AGE), None),
    (example("I had <two>", Kind.OTHER), choice("PEOPLE")),
    (example("<one> should", Kind.PEOPLE), choice("PEOPLE")),
]
EXAMPLES = [made for made, _ in SOME]
CHOICES = [said for _, said in SOME]


def test_figures_are_counted_and_divided() -> None:
    found = figures(judge(EXAMPLES, CHOICES))
    assert (found.n, found.answered_n, found.answered) == (10, 9, 0.9)
    assert (found.right, found.accuracy) == (4, 0.4)
    assert (found.right_inclusive, found.accuracy_inclusive) == (5, 0.5)
    assert (found.right_nearest, found.accuracy_nearest) == (3, 0.3)
    assert (found.right_class, found.class_accuracy) == (6, 0.6)
    assert (found.right_binary, found.binary) == (7, 0.7)
    assert (found.reference, found.implicit) == (2 / 5, 2 / 5)
    assert (found.reference_inclusive, found.reference_nearest) == (3 / 5, 1 / 5)
    assert found.accuracy_answered == 4 / 9


def test_shares_of_nothing_are_none() -> None:
    found = figures([])
    assert found.accuracy is None
    assert found.reference is None
    assert found.answered is None


def test_the_confusion_matrix() -> None:
    found = confusion(judge(EXAMPLES, CHOICES))
    assert (*LABELS, "REF-WRONG") == COLUMNS
    cells = {
        (gold, said): count
        for gold, row in zip(LABELS, found.rows, strict=True)
        for said, count in zip(COLUMNS, row, strict=True)
        if count
    }
    assert cells == {
        ("REFERENCE", "REFERENCE"): 2,
        ("REFERENCE", "REF-WRONG"): 2,
        ("REFERENCE", "OTHER"): 1,
        ("AGE", "AGE"): 1,
        ("AGE", "REFERENCE"): 1,
        ("OTHER", "PEOPLE"): 1,
        ("PEOPLE", "PEOPLE"): 1,
    }
    assert found.unanswered == (0, 1, 0, 0, 0, 0, 0)


def test_recipes_side_by_side_on_references() -> None:
    always = [choice(0 if one.item.anchor.start else 1) for one in EXAMPLES]
    found = on_references(EXAMPLES, {"first word": always, "mixed": CHOICES})
    assert [one.name for one in found] == ["first word", "mixed"]
    assert [one.figures.n for one in found] == [5, 5]
    assert [one.figures.reference for one in found] == [0.0, 0.4]
    assert found[1].figures.accuracy == found[1].figures.reference
