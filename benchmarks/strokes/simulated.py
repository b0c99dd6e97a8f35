"""Answers of three made-up annotators, as noisy as the paper's were.

They are simulations and evidence of nothing but the keys that they ask for. From the paper
(section 5.2, and its matrix of majority against minority) come: how often all three agree on
the class, which class the third one gives else, and how often marked nouns differ. What it does
not say is assumed: `MISSED`, and that a wrong noun is one of those near the number.
"""

import random
from collections.abc import Sequence

from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Passage,
    class_answer,
    reference_answer,
)
from nfh_tui.editor.commands import fold, is_noun_like

CLASSES = (
    Kind.REFERENCE,
    Kind.YEAR,
    Kind.AGE,
    Kind.CURRENCY,
    Kind.PEOPLE,
    Kind.TIME,
    Kind.OTHER,
)
"""The seven classes of the paper's matrix; its OTHER holds UNKNOWN too, as the release does."""

MATRIX = (
    (3819, 17, 17, 26, 276, 22, 924),
    (15, 437, 3, 0, 0, 7, 21),
    (20, 10, 1030, 1, 1, 0, 11),
    (40, 1, 1, 305, 0, 1, 40),
    (221, 0, 0, 0, 374, 0, 81),
    (8, 0, 0, 0, 0, 157, 13),
    (652, 20, 15, 37, 59, 18, 1360),
)
"""Items by majority (rows) and the third answer (columns); the diagonal is unanimous."""

NO_MAJORITY = 115 / 10_223
"""Items of the paper on which all three gave different classes."""

NOUNS_DIFFER = (617 - 254) / (5_718 - 254)
"""References of one head on whose noun the three differ: 617 of 5,718 in the paper, less the
254 that got several heads and are counted there."""

MISSED = 0.25
"""Of those, how often nobody marked the noun that the gold has: an assumption."""

NAMES = ("ann1", "ann2", "ann3")


class Simulation:
    """Makes the three answers of one item after another. hard: nobody finds a gold head."""

    def __init__(self, seed: int = 1, *, hard: bool = False) -> None:
        self._source = random.Random(seed)
        self._hard = hard

    def answers(self, gold: Answer, passage: Passage, anchor: Anchor) -> tuple[Answer, ...]:
        """The three answers to an item, given the answer that is right."""
        kinds = self._kinds(gold.kind)
        near = _near(passage, anchor, gold)
        marks = self._marks(gold, kinds.count(Kind.REFERENCE), near)
        answers = []
        for kind in kinds:
            if kind is not Kind.REFERENCE:
                answers.append(class_answer(kind))
                continue
            token = marks.pop()
            # A passage without any other noun leaves nothing to mark wrongly.
            answers.append(_marking(token) if token is not None else class_answer(Kind.OTHER))
        return tuple(answers)

    def _kinds(self, right: Kind) -> list[Kind]:
        place = CLASSES.index(right)
        row = MATRIX[place]
        if self._source.random() < NO_MAJORITY:
            others = [count if at != place else 0 for at, count in enumerate(row)]
            first = self._source.choices(range(len(row)), others)[0]
            others[first] = 0
            second = self._source.choices(range(len(row)), others)[0]
            kinds = [right, CLASSES[first], CLASSES[second]]
        else:
            third = self._source.choices(range(len(row)), row)[0]
            kinds = [right, right, CLASSES[third]]
        self._source.shuffle(kinds)
        return kinds

    def _marks(self, gold: Answer, count: int, near: Sequence[int]) -> list[int | None]:
        """The tokens that those who say Reference mark; None where there is none to mark."""
        if gold.kind is not Kind.REFERENCE or self._hard:
            return [self._stray(near) for _ in range(count)]
        heads = [self._source.choice(gold.heads) for _ in range(count)]
        if len(gold.heads) > 1 and count > 1:
            # Several heads are what an expert made of annotators who marked different ones.
            heads[:2] = self._source.sample(gold.heads, 2)
        marks: list[int | None] = [self._source.choice(head.live).head for head in heads]
        if count and len(gold.heads) == 1 and self._source.random() < NOUNS_DIFFER:
            astray = count if self._source.random() < MISSED else 1
            marks[:astray] = [self._stray(near) for _ in range(astray)]
        self._source.shuffle(marks)
        return marks

    def _stray(self, near: Sequence[int]) -> int | None:
        if not near:
            return None
        return self._source.choices(near, [1 / (rank + 1) for rank in range(len(near))])[0]


def _marking(token: int) -> Answer:
    return reference_answer([[Mention(token, token + 1, token)]])


def _near(passage: Passage, anchor: Anchor, gold: Answer) -> list[int]:
    """Nouns that are not the gold's, in the turns that annotators saw, the nearest first."""
    turn = passage.turn_of(anchor.start)
    seen = passage.turns[max(0, turn - 2) : turn + 2]
    right = {fold(passage.tokens[token].lemma) for token in _tokens(gold.heads)}
    found = [
        token
        for token in range(seen[0].start, seen[-1].end)
        if not anchor.start <= token < anchor.end
        and is_noun_like(passage.word(token))
        and fold(passage.tokens[token].lemma) not in right
    ]
    return sorted(found, key=lambda token: abs(token - anchor.start))


def _tokens(heads: Sequence[Head]) -> list[int]:
    return [mention.head for head in heads for mention in head.live]
