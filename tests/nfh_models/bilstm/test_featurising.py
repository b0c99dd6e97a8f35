"""Rows, batches, and what counts as right."""

import pytest
import torch

from nfh_models.domain import (
    Kind,
    Mention,
    PassageError,
    Relation,
    class_answer,
    reference_answer,
)
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.resolution.bilstm import (
    CLASSES,
    REACH,
    UNKNOWN_WORD,
    BilstmFeaturiser,
    answered,
    right_of,
    row_of,
)
from nfh_models.resolution.bilstm_settings import BilstmTarget

from .handmade import example_of, examples, item_of, passage_of, vectors


def right(sentence, gold, target=BilstmTarget.ALL):
    made = answered(example_of(sentence, gold), target)
    return [[place - CLASSES for place in head] for head in made.right]


SENTENCE = "A tent . Two Tents , one tent , *one* leaks , the tent does"


def test_all_mentions_of_the_noun_are_right():
    assert right(SENTENCE, (1,)) == [[1, 4, 7, 13]]


def test_nearest_target_is_the_marked_mention_nearest_to_the_anchor():
    assert right(SENTENCE, (1, 7), BilstmTarget.NEAREST) == [[7]]
    assert right(SENTENCE, (1,), BilstmTarget.NEAREST) == [[1]]


def test_tokens_of_the_anchor_are_never_right():
    assert right("the one and *one* one", (1,)) == [[1, 4]]


def test_heads_that_differ_are_apart():
    gold = reference_answer([[Mention(1, 2, 1)], [Mention(3, 4, 3)]], Relation.OR)
    example = example_of("the cat or dog ? *one* barks", gold)
    made = answered(example, BilstmTarget.ALL)
    assert made.right == ((CLASSES + 1,), (CLASSES + 3,))
    masks, owners, weights = right_of([made, answered(examples()[1], BilstmTarget.ALL)], 20)
    assert masks.sum(1).tolist() == [1, 1, 1]
    assert owners.tolist() == [0, 0, 1]
    assert weights.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("kind", "place"), [(Kind.YEAR, 0), (Kind.OTHER, 5), (Kind.UNKNOWN, 5)]
)
def test_classes_are_first_and_unknown_is_other(kind, place):
    made = answered(example_of("in *1964* .", class_answer(kind)), BilstmTarget.ALL)
    assert made.right == ((place,),)


def test_batch():
    rows = [row_of(item_of("My *two and seven* leak")), row_of(item_of("*two* zebras"))]
    featuriser = BilstmFeaturiser(vectors(examples()), "abc")
    batch = featuriser.batch(rows)
    assert batch.words.tolist() == [[0, 1, 2, 3, 4], [1, 5, 0, 0, 0]]
    assert batch.counts.tolist() == [5, 2]
    assert batch.anchors[0].tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])
    assert batch.anchors[1].tolist() == [1, 0, 0, 0, 0]
    outside = [True] * CLASSES
    assert batch.candidates[0].tolist() == [*outside, True, False, False, False, True]
    assert batch.candidates[1].tolist() == [*outside, False, True, False, False, False]
    unknown = [batch.vectors[place].item() == UNKNOWN_WORD for place in (0, 1, 4, 5)]
    assert unknown == [False, False, True, True]
    assert batch.letters[4].tolist()[:4] == [1, 1, 2, 1]


def test_whole_films_are_read_around_the_anchor_only():
    words = [f"w{number}" for number in range(3 * REACH)]
    passage = passage_of(words)
    from nfh_models.domain import Anchor

    item = Item(passage, Anchor(2_000, 2_002))
    row = row_of(item)
    assert (row.offset, len(row.words)) == (1_000, 2 * REACH)
    assert row.words[row.start : row.end] == ("w2000", "w2001")
    far = ResolutionExample(item, reference_answer([[Mention(5, 6, 5)]]), "line 1", "a")
    assert answered(far, BilstmTarget.ALL) is None
    near = ResolutionExample(item, reference_answer([[Mention(1_500, 1_501, 1_500)]]), "", "a")
    assert answered(near, BilstmTarget.ALL).right == ((CLASSES + 500,),)


def test_anchor_outside_the_passage():
    from nfh_models.domain import Anchor

    with pytest.raises(PassageError):
        row_of(Item(passage_of(["two"]), Anchor(0, 2)))


def test_no_rows():
    with pytest.raises(ValueError, match="no rows"):
        BilstmFeaturiser(vectors(examples()), "abc").batch([])
    assert torch.get_default_dtype() is torch.float32
