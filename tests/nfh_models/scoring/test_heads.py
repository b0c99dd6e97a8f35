"""Heads as sets of nouns and as mentions."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.domain import Answer, Head, Kind, Relation, class_answer, same_head
from nfh_models.resolution.scoring import (
    HeadCounts,
    head_figures,
    judge_heads,
    judge_heads_one,
    merged,
)

from .handmade import answer, example

# Tokens: 0 cups, 1 and, 2 plates, 3 Cups, 4 forks, 5 the anchor.
BOTH = "[cups] and {plates} Cups forks <two>"
ONE = "[cups] and plates Cups forks <two>"


@pytest.mark.parametrize(
    ("line", "given", "heads", "exact"),
    [
        (ONE, answer([0]), (1, 1, 1), True),
        (ONE, answer([3]), (1, 1, 1), True),  # the same lemma
        (ONE, answer([2]), (1, 1, 0), False),
        (ONE, answer([0], [2]), (2, 1, 1), False),
        (
            ONE,
            answer([0], [3]),
            (1, 1, 1),
            True,
        ),  # two mentions of one noun, taken as two heads
        (ONE, class_answer(Kind.OTHER), (0, 1, 0), False),
        (ONE, None, (0, 1, 0), False),
        (BOTH, answer([2], [3]), (2, 2, 2), True),
        (BOTH, answer([0]), (1, 2, 1), False),
        (BOTH, answer([0], [4]), (2, 2, 1), False),
        (BOTH, answer([0, 2]), (1, 2, 1), False),  # one head that holds both nouns
    ],
)
def test_heads_are_compared_by_noun(
    line: str, given: Answer | None, heads: tuple[int, int, int], exact: bool
) -> None:
    one = judge_heads_one(example(line), given)
    assert (one.heads.predicted, one.heads.gold, one.heads.hit) == heads
    assert one.exact == exact


def test_mentions_are_compared_by_token() -> None:
    one = judge_heads_one(example("[cups] and [cups] Cups <two>"), answer([0, 3]))
    assert one.mentions == HeadCounts(predicted=2, gold=2, hit=1)
    assert (one.exact, one.exact_mentions) == (True, False)
    assert judge_heads_one(example(ONE), answer([0])).exact_mentions


@pytest.mark.parametrize(
    ("gold", "said", "expected"),
    [
        (Relation.AND, Relation.AND, True),
        (Relation.AND, Relation.OR, False),
        (Relation.OR, Relation.OR, True),
        (Relation.UNSTATED, Relation.AND, None),
    ],
)
def test_relations_count_where_gold_states_one(
    gold: Relation, said: Relation, expected: bool | None
) -> None:
    made = example(BOTH, relation=gold)
    assert judge_heads_one(made, answer([0], [2], relation=said)).relation is expected


def test_a_single_head_has_a_wrong_relation() -> None:
    assert judge_heads_one(example(BOTH, relation=Relation.OR), answer([0])).relation is False
    assert judge_heads_one(example(BOTH, relation=Relation.OR), None).relation is False


def test_figures_are_pooled() -> None:
    examples = [
        example(ONE),
        example(BOTH, relation=Relation.OR),
        example("I am <six>", Kind.AGE),
        example(ONE),
    ]
    answers = [answer([0]), answer([0], [4], relation=Relation.OR), answer([0]), None]
    judged = judge_heads(examples, answers)
    found = head_figures(judged)
    assert found.n == 3  # gold References only
    assert found.heads == HeadCounts(predicted=3, gold=4, hit=2)
    assert (found.precision, found.recall, found.f1) == (2 / 3, 2 / 4, 4 / 7)
    assert (found.exact, found.exact_mentions) == (1 / 3, 1 / 3)
    assert (found.relation_n, found.relation) == (1, 1.0)
    assert [one.several for one in judged] == [False, True, False]


def test_two_mentions_given_as_two_heads_are_not_several_nouns() -> None:
    one = judge_heads_one(example("[cup] and {cups} <two>"), answer([0]))
    assert not one.several
    assert one.exact


def test_figures_of_nothing() -> None:
    found = head_figures([])
    assert (found.exact, found.precision, found.recall, found.f1, found.relation) == (None,) * 5


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="has no heads"):
        judge_heads_one(example("I am <six>", Kind.AGE), None)
    with pytest.raises(ValueError, match="zip"):
        judge_heads([example(ONE)], [])


# --- against a slow direct computation ------------------------------------------------------

LINE = "[a] b c d a b a b <two>"
SETS = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=2), min_size=1, max_size=4)


@given(SETS, SETS)
@settings(max_examples=25, deadline=None)
def test_hits_are_the_best_pairing(one: list[list[int]], other: list[list[int]]) -> None:
    made = example(LINE)
    lemmas = [token.lemma for token in made.item.passage.tokens]
    given, wanted = answer(*one), answer(*other)
    judged = judge_heads_one(type(made)(made.item, wanted, made.where, made.group), given)
    left, right = merged(given.heads, lemmas), merged(wanted.heads, lemmas)
    best = _best(left, right, lemmas)
    assert judged.heads == HeadCounts(len(left), len(right), best)
    for some in (left, right):
        assert not any(same_head(a, b, lemmas) for a in some for b in some if a is not b)


def _best(left: Sequence[Head], right: Sequence[Head], lemmas: list[str]) -> int:
    """The most pairs of the same head, trying each order of the longer side."""
    few, many = sorted((left, right), key=len)
    return max(
        sum(same_head(a, b, lemmas) for a, b in zip(few, order, strict=True))
        for order in permutations(many, len(few))
    )
