"""Figures of parts of the examples, and what holds of any examples."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.domain import Kind
from nfh_models.resolution.base import Choice, ResolutionExample
from nfh_models.resolution.scoring import (
    DISTANCES,
    LABELS,
    REF_WRONG,
    SHAPES,
    TURNS,
    by_class,
    by_distance,
    by_shape,
    by_side,
    by_turns,
    by_word,
    confusion,
    figures,
    judge,
    mistakes,
    shape,
)

from .handmade import choice, example, judgements

Pairs = list[tuple[ResolutionExample, Choice | None]]
ANY = st.lists(judgements(), max_size=8)


def split(pairs: Pairs) -> tuple[list[ResolutionExample], list[Choice | None]]:
    return [made for made, _ in pairs], [said for _, said in pairs]


# --- what holds of any examples -------------------------------------------------------------


@given(ANY)
@settings(max_examples=25, deadline=None)
def test_figures_agree_with_the_definitions_written_out(pairs: Pairs) -> None:
    strict = inclusive = classes = binary = 0
    for made, said in pairs:
        gold, words = made.gold, made.item.passage
        token = int(said.choice) if said and said.choice.isdecimal() else None
        heads = gold.head_tokens()
        if said is None:
            continue
        same = gold.kind == said.choice
        strict += same or token in heads
        inclusive += same or (
            token is not None
            and words.word(token).lower() in [words.word(h).lower() for h in heads]
        )
        classes += same or (token is not None and bool(heads))
        binary += (token is not None) == bool(heads)
    found = figures(judge(*split(pairs)))
    assert found.right == strict
    assert found.right_inclusive == inclusive
    assert found.right_class == classes
    assert found.right_binary == binary


@given(ANY)
@settings(max_examples=25, deadline=None)
def test_stricter_figures_are_never_higher(pairs: Pairs) -> None:
    found = figures(judge(*split(pairs)))
    assert found.right_nearest <= found.right <= found.right_inclusive <= found.right_class
    assert found.right_class <= found.right_binary <= found.answered_n <= found.n
    assert found.reference_n + found.implicit_n == found.n
    assert found.reference_right + found.implicit_right == found.right


@given(ANY, st.randoms())
@settings(max_examples=25, deadline=None)
def test_the_order_of_examples_does_not_matter(pairs: Pairs, random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = judge(*split(pairs)), judge(*split(shuffled))
    assert figures(one) == figures(other)
    assert confusion(one) == confusion(other)
    assert by_class(one) == by_class(other)
    assert by_word(one) == by_word(other)


@given(ANY)
@settings(max_examples=25, deadline=None)
def test_figures_follow_from_the_confusion_matrix(pairs: Pairs) -> None:
    judged = judge(*split(pairs))
    found, matrix = figures(judged), confusion(judged)
    diagonal = sum(matrix.rows[place][place] for place in range(7))
    ref_wrong = [row[7] for row in matrix.rows]
    assert diagonal == found.right
    assert diagonal + ref_wrong[6] == found.right_class
    classes = sum(sum(row[:6]) for row in matrix.rows[:6])
    assert classes + sum(matrix.rows[6][6:]) == found.right_binary
    assert ref_wrong[:6] == [0] * 6
    assert sum(map(sum, matrix.rows)) + sum(matrix.unanswered) == found.n


@given(ANY)
@settings(max_examples=25, deadline=None)
def test_parts_hold_every_example_once(pairs: Pairs) -> None:
    judged = judge(*split(pairs))
    whole = figures(judged)
    for parts in (by_shape(judged), by_word(judged, least=1)):
        assert sum(part.figures.n for part in parts) == whole.n
        assert sum(part.figures.right for part in parts) == whole.right
    for parts in (by_distance(judged), by_turns(judged), by_side(judged)):
        assert sum(part.figures.n for part in parts) == whole.reference_n
        assert sum(part.figures.right for part in parts) == whole.reference_right
    assert sum(part.n for part in by_class(judged)) == whole.n
    assert len(mistakes(judged)) == whole.n - whole.right


@given(st.lists(judgements(), min_size=1, max_size=25))
@settings(max_examples=8, deadline=None)
def test_classes_agree_with_scikit_learn(pairs: Pairs) -> None:
    from sklearn.metrics import precision_recall_fscore_support

    judged = judge(*split(pairs))
    gold = [one.gold for one in judged]
    wrong = {REF_WRONG: "REFERENCE", None: "nothing"}
    said = [wrong.get(one.predicted, one.predicted) for one in judged]
    expected = precision_recall_fscore_support(gold, said, labels=list(LABELS), zero_division=0)
    for part, *figures_of in zip(by_class(judged), *expected, strict=True):
        ours = [value or 0.0 for value in (part.precision, part.recall, part.f1)]
        assert [*ours, part.n] == pytest.approx(figures_of)


# --- cases ----------------------------------------------------------------------------------


def test_a_class_counts_any_token_as_a_reference() -> None:
    made = [example("[cups] and plates , <two>")] * 4 + [example("I am <six>", Kind.AGE)] * 2
    said = [choice(0), choice(2), choice("AGE"), None, choice("AGE"), choice(1)]
    parts = {part.label: part for part in by_class(judge(made, said))}
    reference = parts["REFERENCE"]
    assert (reference.n, reference.predicted, reference.hit, reference.right) == (4, 3, 2, 1)
    assert (reference.precision, reference.recall) == (2 / 3, 1 / 2)
    assert (reference.f1, reference.accuracy) == (4 / 7, 1 / 4)
    assert (parts["AGE"].precision, parts["AGE"].recall) == (1 / 2, 1 / 2)
    assert (parts["TIME"].precision, parts["TIME"].f1) == (None, None)


def test_anchor_words_are_listed_when_frequent() -> None:
    made = [example(f"[cups] , <{word}>") for word in ("One", "one", "two", "Two", "six")]
    found = by_word(judge(made, [choice(0)] * 3 + [None] * 2), least=2)
    assert [(part.name, part.figures.n, part.figures.right) for part in found] == [
        ("one", 2, 2),
        ("two", 2, 1),
    ]


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("One", "one"),
        ("forty", "another word"),
        ("two hundred", "several words"),
        ("7", "1 digit"),
        ("42", "2 digits"),
        ("1999", "4 digits"),
        ("100000", "5 digits or more"),
        ("1,000", "digits and more"),
        ("5 million", "digits and more"),
    ],
)
def test_shapes(anchor: str, expected: str) -> None:
    assert expected in SHAPES
    assert shape(example(f"[cups] , <{anchor}>")) == expected


@pytest.mark.parametrize(
    ("away", "expected"), [(1, 0), (5, 0), (6, 1), (10, 1), (11, 2), (20, 2), (40, 3), (41, 4)]
)
def test_distances(away: int, expected: int) -> None:
    made = example("[cups] " + "so " * (away - 1) + "<two>")
    [part] = by_distance(judge([made], [choice(0)]))
    assert (part.name, part.figures.right) == (DISTANCES[expected], 1)


@pytest.mark.parametrize(("turns", "expected"), [(0, 0), (1, 1), (2, 2), (3, 3), (5, 3)])
def test_turns(turns: int, expected: int) -> None:
    made = example("[cups] , " + "/ so " * turns + "<two>")
    [part] = by_turns(judge([made], [None]))
    assert (part.name, part.figures.n) == (TURNS[expected], 1)


def test_sides_in_order() -> None:
    lines = ["<one> [cup]", "[cup] <one>", "[cup] <one> [cup]", "[cup] or <one>"]
    found = by_side(judge([example(line) for line in lines], [None] * 4))
    assert [(part.name, part.figures.n) for part in found] == [
        ("before", 2),
        ("after", 1),
        ("both", 1),
    ]
