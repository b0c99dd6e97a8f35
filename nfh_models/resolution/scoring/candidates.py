"""The probabilities of all candidates of many examples, laid out one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import Floats, Ints
from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.resolution.item import Choice
from nfh_models.resolution.scoring.judging import LABELS, Judged, score_of

Bools = npt.NDArray[np.bool_]

SMALLEST = 1e-30
"""A probability of 0 has no logarithm; networks write one where theirs is too small."""
SLACK = 0.02
"""How far probabilities of one example may sum to something else than 1: rounding."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Ragged rows, one an example. logs: of all probabilities, shape (candidates,). starts:
    where each example's begin, shape (n,). chosen, gold: which candidates were chosen, are
    right; shape (candidates,). right: of each example, 1.0 or 0.0. groups: their names."""

    logs: Floats
    starts: Ints
    chosen: Bools
    gold: Bools
    right: Floats
    groups: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many examples."""
        return len(self.starts)

    def confidences(self, temperature: float) -> Floats:
        """Of each example, the probability of what was chosen."""
        return self._sums(self._probabilities(temperature) * self.chosen)

    def losses(self, temperature: float) -> Floats:
        """-log of the probability of what is right, of the examples that have a right
        candidate."""
        told = self._sums(self._probabilities(temperature) * self.gold)
        known = self._sums(self.gold.astype(np.float64)) > 0
        return -np.log(np.maximum(told[known], SMALLEST))

    def only(self, kept: Bools) -> "Candidates":
        """Those examples, shape (n,), for which `kept` is true."""
        sizes = np.diff(np.append(self.starts, len(self.logs)))
        inside = np.repeat(kept, sizes)
        ends = np.cumsum(sizes[kept])
        return Candidates(
            self.logs[inside],
            ends - sizes[kept],
            self.chosen[inside],
            self.gold[inside],
            self.right[kept],
            tuple(name for name, take in zip(self.groups, kept, strict=True) if take),
        )

    def _probabilities(self, temperature: float) -> Floats:
        scaled = self.logs / temperature
        sizes = np.diff(np.append(self.starts, len(self.logs)))
        if not len(sizes):
            return scaled
        powers = np.exp(scaled - np.repeat(np.maximum.reduceat(scaled, self.starts), sizes))
        return np.asarray(powers / np.repeat(np.add.reduceat(powers, self.starts), sizes))

    def _sums(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self.starts) if self.n else np.zeros(0)


def candidates(judged: Sequence[Judged], *, by_noun: bool = False) -> Candidates:
    """The candidates of those examples whose choice has a score.

    by_noun: all tokens of the chosen token's lemma count as chosen, and all of a gold
    token's as right. ValueError for scores that are negative or do not sum to 1.
    """
    kept = [
        (one, one.choice)
        for one in judged
        if one.choice is not None and score_of(one.choice, one.choice.choice) is not None
    ]
    rows = [_row(one, choice, by_noun=by_noun) for one, choice in kept]
    sizes = np.array([len(row.logs) for row in rows], dtype=np.int64)
    nothing = np.zeros(0, dtype=bool)
    return Candidates(
        np.concatenate([np.zeros(0), *(row.logs for row in rows)]),
        np.cumsum(sizes) - sizes,
        np.concatenate([nothing, *(row.chosen for row in rows)]),
        np.concatenate([nothing, *(row.gold for row in rows)]),
        np.array([row.right for row in rows], dtype=np.float64),
        tuple(one.example.group for one, _ in kept),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One example's candidates, as in Candidates."""

    logs: Floats
    chosen: Bools
    gold: Bools
    right: bool


def _row(one: Judged, choice: Choice, *, by_noun: bool) -> _Row:
    places = [place for place, score in enumerate(choice.scores) if score is not None]
    values = np.array([score for score in choice.scores if score is not None], np.float64)
    total = values.sum()
    if values.min() < 0 or abs(total - 1) > SLACK:
        raise ValueError(
            f"{one.example.where}: scores from {values.min():.3g} to {values.max():.3g} that "
            f"sum to {total:.3g} are no probabilities"
        )
    gold = {LABELS.index(one.gold)}
    if one.reference:
        gold = _places(one, set(one.example.gold.head_tokens()), by_noun=by_noun)
    chosen = (
        {LABELS.index(choice.choice)}
        if one.token is None
        else _places(one, {one.token}, by_noun=by_noun)
    )
    return _Row(
        np.log(np.maximum(values, SMALLEST)),
        np.isin(places, list(chosen)),
        np.isin(places, list(gold)),
        bool(chosen & gold),
    )


def _places(one: Judged, tokens: set[int], *, by_noun: bool) -> set[int]:
    if by_noun:
        every = one.example.item.passage.tokens
        lemmas = {every[token].lemma.lower() for token in tokens}
        tokens = {at for at, token in enumerate(every) if token.lemma.lower() in lemmas}
    return {len(IMPLICIT_KINDS) + token for token in tokens}
