"""Short names for what the tests of agreement measure on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from nfh_models.agreement.bootstrap import Ints, Resampling
from nfh_models.agreement.measure import AnsweredAnchor, Timed
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Relation,
    class_answer,
    reference_answer,
)

LEMMAS = ("two", "dog", "cat", "dog", "year", "man", "tree", "bird", "fish", "house")
"""One a token of every passage here; token 0 is the anchor, 1 and 3 are one noun."""

Said = Answer | Kind


@dataclass(frozen=True)
class Kit:
    """What the tests build from."""

    plain: Resampling = field(default_factory=lambda: Resampling(0))

    @staticmethod
    def to(*heads: int | Sequence[int], relation: Relation | None = None) -> Answer:
        """A Reference: each head a token, or its mentions' tokens."""
        tokens = [[head] if isinstance(head, int) else head for head in heads]
        return reference_answer(
            [[Mention(t, t + 1, t) for t in head] for head in tokens], relation
        )

    @staticmethod
    def item(
        key: int = 0,
        votes: Mapping[str, Said] | None = None,
        experts: Mapping[str, Said] | None = None,
        *,
        passage: int | None = None,
        gold: Said | None = None,
        nearest: int | None = None,
    ) -> AnsweredAnchor:
        """An item, in a passage of its own unless one is named; gold is an expert's."""
        return AnsweredAnchor(
            key,
            key if passage is None else passage,
            Anchor(0, 1),
            LEMMAS,
            {name: _timed(said) for name, said in (votes or {}).items()},
            {name: _timed(said) for name, said in (experts or {}).items()},
            None if gold is None else _answer(gold),
            gold is not None,
            nearest,
        )

    def items(self, rows: Iterable[Sequence[Said | None]]) -> list[AnsweredAnchor]:
        """Items from rows of answers, one an annotator: ann1, ann2 …; None for none."""
        return [
            self.item(
                key, {f"ann{who}": said for who, said in enumerate(row, 1) if said is not None}
            )
            for key, row in enumerate(rows)
        ]

    @staticmethod
    def counts(rows: Iterable[Sequence[int | None]], categories: int) -> Ints:
        """Answers by category, from rows of categories counted from 1; None for none."""
        return np.array(
            [[list(row).count(category + 1) for category in range(categories)] for row in rows],
            dtype=np.int64,
        )


def _answer(said: Said) -> Answer:
    return said if isinstance(said, Answer) else class_answer(said)


def _timed(said: Said) -> Timed:
    return Timed(_answer(said), "2026-01-02T03:04:05.678Z")


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Short names for what every test needs."""
    return Kit()
