"""How likely a model takes gold to be, and how the gold is dealt into parts."""

from collections import Counter

import pytest

from nfh_models.domain import IMPLICIT_KINDS, Kind, class_answer
from nfh_models.resolution.base import Choice, ResolutionExample
from nfh_tui.jobs.doubts import TrialError, likely, opinion, parts_of, probabilities
from tests.nfh_models.encoder.handmade import item, reference

CLASSES = len(IMPLICIT_KINDS)
ONE = item("A: my Dogs , two dogs , no cats , you want [ two ] .")
WORDS = [ONE.passage.word(place) for place in range(len(ONE.passage.tokens))]


def choice(**scores: float) -> Choice:
    """A choice with these scores, by class or word; a word has it everywhere it stands."""
    by_class = [scores.get(kind.value, 0.0) for kind in IMPLICIT_KINDS]
    by_word = [scores.get(word) for word in WORDS]
    return Choice("AGE", None, 0.5, (*by_class, *by_word))


def example(gold: object) -> ResolutionExample:
    return ResolutionExample(ONE, gold, "anchor 7", "g")  # type: ignore[arg-type]


def test_of_a_class_it_is_the_class_probability() -> None:
    aged = example(class_answer(Kind.AGE))
    assert likely(aged, choice(AGE=0.25, YEAR=0.5)) == 0.25
    told = opinion(aged, choice(AGE=0.25))
    assert (told.anchor_id, told.likely, told.right, told.margin) == (7, 0.25, True, 0.5)


def test_of_a_noun_it_is_the_sum_over_its_word_in_either_case() -> None:
    gold = example(reference(ONE, "dogs").gold)
    assert likely(gold, choice(Dogs=0.25, dogs=0.5, cats=0.25)) == 0.75
    assert likely(gold, choice(cats=1.0, Dogs=0.0)) == 0.0
    assert not opinion(gold, choice(cats=1.0)).right


def test_of_a_noun_that_is_no_candidate_nothing_is_said() -> None:
    assert likely(example(reference(ONE, "dogs").gold), choice(cats=1.0)) is None


def test_parts_are_whole_units_of_about_one_size() -> None:
    units = [f"u{number}" for number in range(40) for _ in range(number % 4 + 1)]
    parts = parts_of(units, 5)
    assert len({(unit, part) for unit, part in zip(units, parts, strict=True)}) == 40
    sizes = Counter(parts)
    assert sorted(sizes) == [0, 1, 2, 3, 4]
    assert max(sizes.values()) - min(sizes.values()) <= 4
    assert parts == parts_of(units, 5)
    with pytest.raises(TrialError, match="too few for 5 parts"):
        parts_of(["a", "b", "c", "d"], 5)


def test_distances_become_probabilities() -> None:
    scores = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0] * 20
    labels = [score > 0 for score in scores]
    labels[0] = True
    chances = probabilities(scores, labels)
    assert chances == sorted(chances[:6]) * 20
    assert chances[0] < 0.2 < 0.8 < chances[5]
    assert probabilities([1.0, 2.0], [True, True]) == [1.0, 1.0]
