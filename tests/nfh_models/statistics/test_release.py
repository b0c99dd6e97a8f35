"""The figures of the released development files, each known from another count of them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfh_models import statistics
from nfh_models.domain import (
    RELEASE_CLASSES,
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.statistics import HeadSide, PassageNumber, Speaker, Statistics, count

YES, NO = class_answer(Kind.NFH), class_answer(Kind.NOT_NFH)


def tokens_of(words: list[str]) -> tuple[Token, ...]:
    tokens, place = [], 0
    for word in words:
        tokens.append(Token(place, place + len(word), word))
        place += len(word) + 1
    return tuple(tokens)


def identification(path: Path) -> Iterator[PassageNumber]:
    with path.open(encoding="utf-8", newline="") as lines:
        next(lines)
        for line, row in enumerate(lines):
            text, start, end, label = row.rstrip("\r\n").split("\t")
            words = text.split("_SEP_")
            whole = Passage(" ".join(words), tokens_of(words), (Turn(0, None, 0, len(words)),))
            anchor = Anchor(int(start), int(end))
            answer = YES if label == "1" else NO
            yield PassageNumber.of_gold(line, "dev", "dev", whole, anchor, answer)


def resolution(path: Path) -> Iterator[PassageNumber]:
    with path.open(encoding="utf-8") as lines:
        for line, row in enumerate(map(json.loads, lines)):
            words, numbers = row["tokens"], row["line_indices"]
            cuts = [at for at in range(len(words)) if not at or numbers[at] != numbers[at - 1]]
            turns = tuple(
                Turn(numbers[start], row["speakers"][start], start, end)
                for start, end in zip(cuts, [*cuts[1:], len(words)], strict=True)
            )
            whole = Passage(" ".join(words), tokens_of(words), turns)
            at = row["anchors_indices"]
            anchor = Anchor(at[0], at[-1] + 1)
            yield PassageNumber.of_gold(
                line, "dev", "dev", whole, anchor, answer_of(row["head"])
            )


def answer_of(head: list[str | int]) -> Answer:
    if head[0] in RELEASE_CLASSES:
        return class_answer(Kind(head[0]))
    return reference_answer([[Mention(int(at), int(at) + 1, int(at)) for at in head]])


@pytest.fixture(scope="module")
def heads(data_dir: Path) -> Statistics:
    return count(resolution(data_dir / "resolution" / "nfh_dev.jsonl"))


def test_identification(data_dir: Path) -> None:
    found = count(identification(data_dir / "identification" / "dev.tsv"))
    size, anchors = found.size, found.anchors
    assert (size.nfh, size.not_nfh, size.tokens.total) == (7_865, 10_536, 279_419)
    assert size.share == pytest.approx(statistics.NUMBERS["dev"].share)
    one, two = anchors.most_common(2)
    assert (one.text, round(one.nfh / anchors.n, 3)) == ("one", 0.605)
    assert (two.text, round(two.nfh / anchors.n, 3)) == ("two", 0.087)
    assert anchors.distinct == 612
    assert len(anchors.numbers) == 1_071
    assert round(anchors.digits / anchors.n, 3) == 0.154
    assert anchors.words + anchors.digits == anchors.n == size.nfh
    assert round(anchors.lengths.counts[1] / anchors.n, 3) == 0.974
    assert anchors.lengths.most == 5
    assert len(anchors.longest.split(" ")) == 5


def test_resolution_classes_and_sizes(heads: Statistics) -> None:
    size = heads.size
    assert [times for _, times in size.ranked()] == [464, 46, 108, 40, 93, 32, 217]
    assert (size.nfh, size.not_nfh) == (1_000, 0)
    assert (size.read.median, size.read.most) == (64.5, 808)
    assert round(size.read.mean or 0, 1) == 94.3
    assert round(size.turns.mean or 0, 1) == 5.8
    assert (size.turns.most, size.turns.counts[1]) == (28, 158)
    assert dict(heads.anchors.lengths.counts) == {1: 972, 2: 15, 3: 10, 4: 3}
    assert heads.anchors.distinct == 162


def test_resolution_heads(heads: Statistics) -> None:
    found = heads.heads
    assert found.n == 464
    assert found.n - found.mentions.within(1) == 113
    assert dict(found.sides) == {HeadSide.BEFORE: 386, HeadSide.AFTER: 21, HeadSide.BOTH: 57}
    assert (found.distance.median, found.distance.most) == (8, 151)
    assert round(found.distance.mean or 0, 1) == 10.8
    within = [round(100 * found.distance.within(limit) / found.n) for limit in (5, 10, 20, 40)]
    assert within == [30, 68, 90, 98]
    turns = [found.turns.counts[off] for off in (0, 1, 2)]
    assert [*turns, found.n - found.turns.within(2)] == [205, 203, 53, 3]
    assert round(100 * found.speakers[Speaker.SAME] / found.n) == 53
