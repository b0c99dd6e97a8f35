"""What is counted of numbers: anchors, classes, heads, passages and groups."""

import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.statistics import HeadSide, PassageNumber, Speaker, count, distance, side


def passage(*turns: tuple[str | None, str], numbers: tuple[int, ...] = ()) -> Passage:
    """A passage of turns: who speaks, and words parted by a space."""
    tokens: list[Token] = []
    made: list[Turn] = []
    said = []
    place = 0
    for rank, (speaker, words) in enumerate(turns):
        first = len(tokens)
        for word in words.split():
            tokens.append(Token(place, place + len(word), word.lower()))
            place += len(word) + 1
        number = numbers[rank] if numbers else rank
        made.append(Turn(number, speaker, first, len(tokens)))
        said.append(words)
    return Passage(" ".join(said), tuple(tokens), tuple(made))


APPLES = passage(
    ("Ann", "I had five apples and a Pear ."),
    ("Bo", "Now I have Two ."),
    ("Ann", "apples or pears ?"),
)
TWO = Anchor(11, 12)


def mentions(*tokens: int) -> list[Mention]:
    return [Mention(token, token + 1, token) for token in tokens]


def number(
    answer: Answer | None,
    where: Passage = APPLES,
    anchor: Anchor = TWO,
    passage_id: int = 1,
    split: str | None = "dev",
) -> PassageNumber:
    return PassageNumber.of_gold(passage_id, "file", split, where, anchor, answer)


def test_what_gold_says_of_a_number() -> None:
    assert number(class_answer(Kind.AGE)).nfh is True
    assert number(class_answer(Kind.UNKNOWN)).nfh is True
    assert number(class_answer(Kind.NFH)).nfh is True
    assert number(class_answer(Kind.NOT_NFH)).nfh is False
    broken = number(class_answer(Kind.BROKEN))
    assert (broken.nfh, broken.broken) == (None, True)
    nothing = number(None)
    assert (nothing.nfh, nothing.broken) == (None, False)


def test_shares_leave_out_what_is_broken_and_what_nobody_said() -> None:
    kinds = [Kind.AGE, Kind.UNKNOWN, Kind.NFH, Kind.NOT_NFH, Kind.BROKEN]
    found = count([*(number(class_answer(kind)) for kind in kinds), number(None)])
    size = found.size
    assert (found.found, found.unsaid) == (6, 1)
    assert (size.nfh, size.not_nfh, size.broken, size.said) == (3, 1, 1, 4)
    assert size.share == 0.75
    assert (size.with_class, size.no_class, size.unknown) == (2, 1, 1)
    assert {kind: times for kind, times in size.ranked() if times} == {
        Kind.AGE: 1,
        Kind.OTHER: 1,
    }
    assert found.anchors.n == 3


def test_without_numbers_there_is_no_share() -> None:
    assert count([number(class_answer(Kind.AGE))]).size.share == 1.0
    assert count([number(class_answer(Kind.BROKEN))]).size.share is None
    assert count([number(class_answer(Kind.NOT_NFH))]).size.share == 0.0
    assert count([]).size.share is None


def test_anchors_are_counted_in_small_letters() -> None:
    words = passage(("Ann", "One one ten 12 5k twenty - four"))
    spans = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 8)]
    kinds = [Kind.AGE, Kind.NOT_NFH, Kind.AGE, Kind.AGE, Kind.AGE, Kind.AGE]
    anchors = count(
        number(class_answer(kind), words, Anchor(*span))
        for kind, span in zip(kinds, spans, strict=True)
    ).anchors
    assert (anchors.n, anchors.distinct, anchors.once) == (5, 5, 5)
    assert [(one.text, one.nfh, one.numbers) for one in anchors.most_common(9)][-2:] == [
        ("ten", 1, 1),
        ("twenty - four", 1, 1),
    ]
    one = next(word for word in anchors.most_common(9) if word.text == "one")
    assert (one.nfh, one.numbers) == (1, 2)
    assert (anchors.words, anchors.digits, anchors.mixed) == (3, 2, 1)
    assert (anchors.longest, anchors.lengths.most) == ("twenty - four", 3)


def test_the_most_common_come_first_and_equal_ones_by_the_alphabet() -> None:
    words = passage(("Ann", "two six six ten"))
    anchors = count(
        number(class_answer(Kind.AGE), words, Anchor(at, at + 1)) for at in range(4)
    ).anchors
    assert [word.text for word in anchors.most_common(2)] == ["six", "ten"]


@pytest.mark.parametrize(("head", "wanted"), [(0, 3), (2, 1), (5, 1), (8, 4)])
def test_distances_go_from_the_nearest_end_of_the_anchor(head: int, wanted: int) -> None:
    assert distance(Anchor(3, 5), head) == wanted


def test_sides() -> None:
    anchor = Anchor(3, 5)
    assert side(anchor, (0, 2)) is HeadSide.BEFORE
    assert side(anchor, (5, 9)) is HeadSide.AFTER
    assert side(anchor, (2, 9)) is HeadSide.BOTH


def test_heads_by_noun_by_word_and_by_mention() -> None:
    # apples, apples | Pear, pears: two nouns, three different words, four places.
    both = reference_answer([mentions(3, 13), mentions(6, 15)])
    heads = count([number(both)]).heads
    assert heads.n == 1
    assert list(heads.nouns.counts) == [2]
    assert list(heads.words.counts) == [3]
    assert list(heads.mentions.counts) == [4]
    assert dict(heads.sides) == {HeadSide.BOTH: 1}
    # The nearest is "apples" one turn on; it is Bo who says the number, and Ann the noun.
    assert list(heads.distance.counts) == [2]
    assert list(heads.turns.counts) == [1]
    assert dict(heads.speakers) == {Speaker.OTHER: 1}


def test_turns_are_ranked_since_numbers_have_gaps() -> None:
    where = passage(("A", "a hat ."), ("B", "well ."), ("A", "take one ."), numbers=(3, 90, 91))
    found = count([number(reference_answer([mentions(1)]), where, Anchor(6, 7))]).heads
    assert list(found.turns.counts) == [2]
    assert dict(found.speakers) == {Speaker.SAME: 1}


def test_speakers_that_nobody_names_are_unknown_but_in_the_same_turn() -> None:
    where = passage((None, "a hat or one ."), (None, "no , one ."))
    answer = reference_answer([mentions(1)])
    found = count(
        [number(answer, where, Anchor(3, 4)), number(answer, where, Anchor(7, 8))]
    ).heads
    assert dict(found.speakers) == {Speaker.SAME: 1, Speaker.UNKNOWN: 1}


def test_a_removed_mention_is_no_place_of_the_head() -> None:
    removed = Mention(13, 14, 13, Origin.REMOVED)
    answer = Answer(Kind.REFERENCE, (Head((*mentions(3), removed)),))
    heads = count([number(answer)]).heads
    assert list(heads.mentions.counts) == [1]
    assert dict(heads.sides) == {HeadSide.BEFORE: 1}


def test_a_passage_counts_once_and_once_for_each_number() -> None:
    other = passage(("Ann", "just one ."))
    size = count(
        [
            number(class_answer(Kind.AGE)),
            number(class_answer(Kind.NOT_NFH), anchor=Anchor(2, 3)),
            number(class_answer(Kind.AGE), other, Anchor(1, 2), passage_id=2),
        ]
    ).size
    assert (size.passages, size.tokens.total, size.turns.total) == (2, 20, 4)
    assert size.read.total == 37


def test_groups_have_their_own_sizes() -> None:
    found = count(
        [
            number(class_answer(Kind.AGE)),
            number(class_answer(Kind.NOT_NFH), split=None),
            number(class_answer(Kind.YEAR)),
            number(None, split="test"),
        ],
        lambda one: one.split,
    )
    assert {name: size.numbers for name, size in found.groups.items()} == {"dev": 2, None: 1}
    assert found.groups["dev"].passages == 1
    assert sum(size.numbers for size in found.groups.values()) == found.size.numbers


@pytest.mark.long
def test_memory_does_not_grow_with_the_numbers() -> None:
    where = [passage(("Ann", "I have " + word)) for word in ("one", "two", "ten")]

    def numbers(many: int) -> Iterator[PassageNumber]:
        for at in range(many):
            yield number(class_answer(Kind.AGE), where[at % 3], Anchor(2, 3), passage_id=at)

    def peak(many: int) -> int:
        usual = gc.get_threshold()
        # Garbage that waits to be collected is no growth, and what other tests left is not its.
        gc.collect()
        gc.freeze()
        gc.set_threshold(100, 2, 2)
        tracemalloc.start()
        try:
            count(numbers(many))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            gc.set_threshold(*usual)

    peak(10)
    few, many = 100, 5_000
    # Threads of other tests allocate too, up to 60 kB; one kept number would take 100 bytes.
    # A kept number takes 250 bytes. Threads of other tests allocate, too.
    assert peak(many) - peak(few) < 120 * (many - few)
