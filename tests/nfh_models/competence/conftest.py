"""Votes held against what is known, made up: they are simulations, and evidence of nothing."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from nfh_models.agreement.competence import AnswerMatch, JudgedVote, PersonVotes
from nfh_models.agreement.measure import AnsweredAnchor, Timed
from nfh_models.domain import Anchor, Answer, Kind, Mention, class_answer, reference_answer

LEMMAS = ("two", "dog", "cat", "dog", "year", "man", "tree", "bird", "fish", "house")
"""One a token of every passage here; token 0 is the anchor, 1 and 3 are one noun."""

KINDS = (Kind.REFERENCE, Kind.OTHER, Kind.PEOPLE, Kind.AGE, Kind.CURRENCY)
SHARES = (0.45, 0.25, 0.1, 0.12, 0.08)

Said = Answer | Kind


@dataclass(frozen=True)
class Kit:
    """What the tests build from."""

    @staticmethod
    def to(*heads: int | Sequence[int]) -> Answer:
        """A Reference: each head a token, or its mentions' tokens."""
        tokens = [[head] if isinstance(head, int) else head for head in heads]
        return reference_answer([[Mention(t, t + 1, t) for t in head] for head in tokens])

    @staticmethod
    def item(
        key: int,
        votes: Mapping[str, Said],
        gold: Said | None = None,
        experts: Mapping[str, Said] | None = None,
        nearest: int | None = None,
    ) -> AnsweredAnchor:
        """An item of a passage of its own; gold is an expert's."""
        return AnsweredAnchor(
            key,
            key,
            Anchor(0, 1),
            LEMMAS,
            {name: _timed(said) for name, said in votes.items()},
            {name: _timed(said) for name, said in (experts or {}).items()},
            None if gold is None else _answer(gold),
            gold is not None,
            nearest,
        )

    @staticmethod
    def mark(
        item: int = 0,
        kind: Kind = Kind.AGE,
        *,
        at: str = "",
        seconds: float | None = None,
        right: bool | None = None,
        majority: Kind | None = None,
        agreeing: float | None = None,
    ) -> JudgedVote:
        """One vote; at: made of the item's number where it is not given, a minute each."""
        time = (
            at or f"2026-01-{1 + item // 1440:02}T{item // 60 % 24:02}:{item % 60:02}:00.000Z"
        )
        other = Kind.YEAR if kind is Kind.AGE else Kind.AGE
        expert = None if right is None else AnswerMatch(kind if right else other, right, None)
        return JudgedVote(item, kind, time, seconds, expert, None, majority, agreeing)

    def simulated(
        self, items: int, accuracy: Mapping[str, float], each: int = 3, seed: int = 5
    ) -> PersonVotes:
        """Votes of people who are right with a known probability, else say any other kind."""
        source = random.Random(seed)
        people: dict[str, list[JudgedVote]] = {name: [] for name in accuracy}
        for item in range(items):
            truth = source.choices(KINDS, SHARES)[0]
            for name in source.sample(sorted(accuracy), each):
                wrong = source.choice([kind for kind in KINDS if kind is not truth])
                said = truth if source.random() < accuracy[name] else wrong
                people[name].append(self.mark(item, said))
        return self.marks(people, items)

    @staticmethod
    def marks(people: Mapping[str, Sequence[JudgedVote]], items: int = 0) -> PersonVotes:
        """Everybody's votes."""
        return PersonVotes(
            {name: tuple(some) for name, some in people.items()}, {}, {}, items, 0, 0
        )


def _answer(said: Said) -> Answer:
    return said if isinstance(said, Answer) else class_answer(said)


def _timed(said: Said) -> Timed:
    return Timed(_answer(said), "2026-01-02T03:04:05.678Z", 7.0)


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Short names for what every test needs."""
    return Kit()
