"""What agreement is measured on: anchors with everybody's answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_models.domain import Anchor, Answer


@dataclass(frozen=True, slots=True)
class Timed:
    """One person's answer, with when and how fast it was given.

    at: UTC, ISO 8601. seconds: of work on it; None where nobody measured.
    """

    answer: Answer
    at: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One anchor with the answers of everybody, by name.

    passage: any number that tells passages apart; intervals resample whole passages.
    lemmas: one a token of the passage. votes: annotators'. experts: adjudicators'; never
    mixed with votes. gold: the answer that counts, if there is one; expert_gold: whether an
    expert decided it. nearest: token of the closest noun before the anchor (else after it);
    None where that was not looked for, or there is no noun.
    """

    key: int
    passage: int
    anchor: Anchor
    lemmas: Sequence[str]
    votes: Mapping[str, Timed]
    experts: Mapping[str, Timed]
    gold: Answer | None = None
    expert_gold: bool = False
    nearest: int | None = None
