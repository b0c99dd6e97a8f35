"""What agreement on nouns is worth: its skill over "the closest noun before the number".

Two people who both pick the closest noun agree perfectly without having understood
anything, so agreement on nouns is set against a rule that does just that. The form is that
of a skill score, as forecasts are judged against a reference forecast (Wilks 2011,
Statistical Methods in the Atmospheric Sciences, 3rd edition, chapter 8):

    skill = (observed - baseline) / (1 - baseline)

observed: of the pairs of annotators who both say REFERENCE, the share that agree by noun
(nothing blocks). baseline: the agreement that an annotator would reach who always gave the
closest noun; of each pair one of the two, either with the same weight, is replaced by that
answer, and the agreement of what is left with it counted. Both on the same pairs. 1 is full
agreement; 0 is no more agreement than the rule has with a person; it may be negative.

It is no chance correction as in kappa: nouns of one passage are no categories of another,
so there is no distribution of nouns from which chance could be computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from nfh_models.agreement.bootstrap import Floats, Ints, Resampling, corrected, divided, ratio
from nfh_models.agreement.judged import Judged
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.domain import Answer, Kind, Mention, compare, reference_answer


@dataclass(frozen=True, slots=True)
class Skill:
    """Agreement on nouns against the closest noun before.

    skill, observed, baseline: n counts pairs. items: looked at; no_noun: how many of those
    given have no noun that could be the closest, and were left out.
    """

    skill: Measure
    observed: Measure
    baseline: Measure
    items: int
    no_noun: int


def no_skill(why: str) -> Skill:
    """A skill that could not be measured."""
    nothing = undefined(why)
    return Skill(nothing, nothing, nothing, 0, 0)


def noun_skill(items: Sequence[Judged], resampling: Resampling) -> Skill:
    """The skill of annotators who both say REFERENCE, from `Judged.nearest`.

    Items in which fewer than two say REFERENCE have no pair and are passed over; those
    whose `nearest` is None are left out and counted: there the rule has no answer.
    """
    rows, passages, used, no_noun = [], [], 0, 0
    for item in items:
        references = [
            vote.answer
            for _, vote in sorted(item.votes.items())
            if vote.answer.kind is Kind.REFERENCE
        ]
        if len(references) < 2:
            continue
        if item.nearest is None:
            no_noun += 1
            continue
        used += 1
        found = _pairs(references, item.nearest, item.lemmas)
        rows += found
        passages += [item.passage] * len(found)
    if not rows:
        why = "There is no item in which two annotators say REFERENCE"
        why += " and the passage has a noun." if no_noun else "."
        return replace(no_skill(why), no_noun=no_noun)
    return _skill(np.array(rows), np.array(passages), resampling, used, no_noun)


def _pairs(
    references: Sequence[Answer], nearest: int, lemmas: Sequence[str]
) -> list[tuple[float, float, float]]:
    """Of each pair: do they agree, how far the rule agrees with the two of them, and 1."""
    rule = reference_answer([[Mention(nearest, nearest + 1, nearest)]])
    by_rule = [_agree(answer, rule, lemmas) for answer in references]
    return [
        (
            float(_agree(references[i], references[j], lemmas)),
            (by_rule[i] + by_rule[j]) / 2,
            1.0,
        )
        for i, j in combinations(range(len(references)), 2)
    ]


def _agree(left: Answer, right: Answer, lemmas: Sequence[str]) -> bool:
    return compare(left, right, lemmas).blocking is None


def _skill(
    rows: Floats,
    passages: Ints,
    resampling: Resampling,
    used: int,
    no_noun: int,
) -> Skill:
    pairs = len(rows)
    observed, baseline = (float(rows[:, column].mean()) for column in (0, 1))
    value = float(skill_of(rows.sum(axis=0)))
    if np.isnan(value):
        why = "The closest noun is what every annotator names, so nothing is left to agree on."
        skill = undefined(why, pairs)
    else:
        skill = resampling.measure(value, pairs, rows, passages, skill_of)
    return Skill(
        skill,
        resampling.measure(observed, pairs, rows[:, [0, 2]], passages, ratio),
        resampling.measure(baseline, pairs, rows[:, [1, 2]], passages, ratio),
        used,
        no_noun,
    )


def skill_of(sums: Floats) -> Floats:
    """Skill from sums: pairs that agree, agreement of the rule, pairs."""
    observed, baseline = (
        divided(sums[..., 0], sums[..., 2]),
        divided(sums[..., 1], sums[..., 2]),
    )
    return corrected(observed, baseline)
