"""Agreement coefficients: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1, the
majority matrix of the paper, agreement by kind and by pair of people, and the noun skill score.

Each coefficient is written as a function of per-item rows (`*_rows`) whose sums give the
coefficient (`*_of`), which is what the bootstrap needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import (
    Floats,
    Ints,
    Part,
    Resampling,
    corrected,
    divided,
    ratio,
)
from nfh_models.agreement.measure import (
    BLOCKING,
    BROKEN,
    CLASSES,
    KINDS,
    NOT_NFH,
    AnsweredAnchor,
    LeftOut,
    Measure,
    left_out,
    undefined,
)
from nfh_models.agreement.pairs import (
    NO_OVERLAP,
    OUTSIDE,
    TOO_FEW,
    Column,
    NounAgreement,
    Pairs,
    Tables,
    blocking_counts,
    equal_share,
    noun_agreement,
    same_kind_share,
)
from nfh_models.domain import Answer, Blocking, Kind, Mention, compare, reference_answer

ONE_KIND = (
    "Only {} was answered, by everybody: without another answer, agreement cannot be "
    "distinguished from having no choice."
)


def krippendorff_alpha(
    counts: Column,
    passages: Ints,
    resampling: Resampling,
    names: tuple[str, ...],
    nothing: str = NO_OVERLAP,
) -> Measure:
    """Krippendorff's alpha over the categories of `counts`, shape (items, categories); n counts
    items.

    Krippendorff 2019, Content Analysis (4th edition), chapter 12, from the coincidence matrix
    as in the package `krippendorff`, which would hold one for each item. Items with fewer than
    two answers are not used. names: of the categories. nothing: the reason given where no item
    has two answers.
    """
    used = counts.sum(axis=1) >= 2
    table, where = counts[used], passages[used]
    if not len(table):
        return undefined(nothing)
    said = table.sum(axis=0) > 0
    if said.sum() == 1:
        return undefined(ONE_KIND.format(names[int(np.argmax(said))]), len(table))
    table, which = np.unique(table[:, said], axis=0, return_inverse=True)
    matrix = _summed(coincidences(table), which).reshape(table.shape[1], -1)
    by_category = matrix.sum(axis=0)
    expected = np.outer(by_category, by_category) - np.diagflat(by_category)
    expected /= by_category.sum() - 1
    differ = 1.0 - np.eye(len(matrix))
    value = float(1 - (matrix * differ).sum() / (expected * differ).sum())
    rows = _looked_up(alpha_rows(table), which)
    return resampling.measure(value, len(which), rows, where, alpha_of)


def _summed(rows: Floats, which: Ints) -> Floats:
    """The sum over all items. rows: one for each kind of item. which: the row of each item."""
    return np.array([column[which].sum() for column in rows.T])


def _looked_up(rows: Floats, which: Ints) -> Callable[[Part], Floats]:
    """Rows that are made when they are asked for, of what `_summed` takes."""
    return lambda part: rows[which[part]]


def coincidences(table: Column) -> Floats:
    """Per item: its coincidence matrix, as one row."""
    table = table.astype(np.int64)
    voters = table.sum(axis=1)[:, np.newaxis, np.newaxis]
    own = table[:, np.newaxis, :] * np.eye(table.shape[1])
    both = table[..., np.newaxis] * table[:, np.newaxis, :] - own
    matrices: Floats = both / (voters - 1)
    return matrices.reshape(len(table), -1)


def alpha_rows(table: Column) -> Floats:
    """Per item: answers by category, and the diagonal of its coincidence matrix, summed."""
    table = table.astype(np.int64)
    voters = table.sum(axis=1, keepdims=True)
    equal = (table * (table - 1)).sum(axis=1, keepdims=True) / (voters - 1)
    return np.hstack((table, equal))


def alpha_of(sums: Floats) -> Floats:
    """Alpha from the sums of `alpha_rows`: 1 - observed / expected disagreement."""
    by_category, equal = sums[..., :-1], sums[..., -1]
    total = by_category.sum(axis=-1)
    observed = divided(equal, total)
    expected = divided((by_category * (by_category - 1)).sum(axis=-1), total * (total - 1))
    return corrected(observed, expected)


# Gwet's AC1 is reported beside alpha for data in which one answer is far more frequent. It is
# implemented here, since no maintained library that runs with numpy 2 has it.


def gwet_ac1(
    counts: Column,
    passages: Ints,
    resampling: Resampling,
    names: tuple[str, ...],
    nothing: str = NO_OVERLAP,
) -> Measure:
    """Gwet's AC1 over the categories of `counts`, shape (items, categories).

    Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48, for many
    raters, and Gwet 2014, Handbook of Inter-Rater Reliability, for missing answers:

        agreement  pa = mean over items with two or more answers of
                        sum over q of r_iq (r_iq - 1) / (r_i (r_i - 1))
        chance     pe = sum over q of pi_q (1 - pi_q) / (Q - 1)
                 pi_q = mean over items with any answer of r_iq / r_i
        AC1 = (pa - pe) / (1 - pe)

    r_iq: answers q to item i; r_i: its answers; Q: categories that occur. n counts the items
    with two or more answers.
    """
    answered = counts.sum(axis=1)
    used = answered >= 1
    pairable = int((answered >= 2).sum())
    if not pairable:
        return undefined(nothing)
    table = counts[used]
    said = table.sum(axis=0) > 0
    if said.sum() == 1:
        return undefined(ONE_KIND.format(names[int(np.argmax(said))]), pairable)
    table, which = np.unique(table[:, said], axis=0, return_inverse=True)
    rows = ac1_rows(table)
    value = float(ac1_of(_summed(rows, which)))
    return resampling.measure(value, pairable, _looked_up(rows, which), passages[used], ac1_of)


def ac1_rows(table: Column) -> Floats:
    """Per item: shares of its answers by category, agreement of its pairs, 1 if it has
    pairs.
    """
    table = table.astype(np.int64)
    answers = table.sum(axis=1, keepdims=True)
    paired = answers >= 2
    pairs = np.where(paired, answers * (answers - 1), 1)
    equal = np.where(paired, (table * (table - 1)).sum(axis=1, keepdims=True) / pairs, 0.0)
    return np.hstack((table / answers, equal, paired))


def ac1_of(sums: Floats) -> Floats:
    """AC1 from the sums of `ac1_rows`."""
    by_category, equal, paired = sums[..., :-2], sums[..., -2], sums[..., -1]
    shares = divided(by_category, by_category.sum(axis=-1, keepdims=True))
    chance = (shares * (1 - shares)).sum(axis=-1) / (by_category.shape[-1] - 1)
    return corrected(divided(equal, paired), chance)


NONE_INSIDE = "Each item with two answers has one outside the seven classes."


@dataclass(frozen=True, slots=True)
class Fleiss:
    """Fleiss' kappa."""

    kappa: Measure
    voters: int
    """The number of answers of each item that was used; 0 for no item."""
    left_out: tuple[LeftOut, ...]


def fleiss(tables: Tables, resampling: Resampling) -> Fleiss:
    """Fleiss' kappa over the seven classes, of the items with equal numbers of answers.

    Fleiss 1971 defines it for one number of raters. Of the items whose votes are all in the
    seven classes, those with the most frequent number of votes are used (of two equally
    frequent numbers the larger one).
    """
    enough = tables.counts.sum(axis=1) >= 2
    inside = enough & (tables.outside == 0)
    classes = tables.classes
    voters = classes.sum(axis=1)
    numbers, times = np.unique(voters[inside], return_counts=True)
    chosen = int(max(zip(times, numbers, strict=True), default=(0, 0))[1])
    used = inside & (voters == chosen)
    omitted = {
        TOO_FEW: int((~enough).sum()),
        OUTSIDE: int((enough & ~inside).sum()),
        f"items with another number of answers than {chosen}": int((inside & ~used).sum()),
    }
    names = tuple(kind.value for kind in CLASSES)
    nothing = NONE_INSIDE if enough.any() else tables.problem
    kappa = fleiss_kappa(classes[used], tables.passage[used], resampling, names, nothing)
    return Fleiss(kappa, chosen, left_out(omitted))


def fleiss_kappa(
    counts: Column,
    passages: Ints,
    resampling: Resampling,
    names: tuple[str, ...],
    nothing: str = NO_OVERLAP,
) -> Measure:
    """Fleiss' kappa of `counts`, shape (items, categories), by statsmodels; n counts items.

    Fleiss 1971, Psychological Bulletin 76:378-382. Raises ValueError unless all items have the
    same number of votes, two or more.
    """
    if not len(counts):
        return undefined(nothing)
    voters = set(np.unique(counts.sum(axis=1)).tolist())
    if len(voters) > 1 or min(voters) < 2:
        raise ValueError(f"Fleiss' kappa needs one number of votes, two or more: {voters}")
    said = counts.sum(axis=0) > 0
    if said.sum() == 1:
        return undefined(ONE_KIND.format(names[int(np.argmax(said))]), len(counts))
    from statsmodels.stats.inter_rater import fleiss_kappa as by_library

    table = counts[:, said]
    value = float(by_library(table, method="fleiss"))
    table, which = np.unique(table, axis=0, return_inverse=True)
    rows = _looked_up(fleiss_rows(table), which)
    return resampling.measure(value, len(which), rows, passages, fleiss_of)


def fleiss_rows(table: Column) -> Floats:
    """Per item: votes by category, share of equal pairs, and 1."""
    table = table.astype(np.int64)
    voters = table.sum(axis=1, keepdims=True)
    equal = (table * (table - 1)).sum(axis=1, keepdims=True) / (voters * (voters - 1))
    return np.hstack((table, equal, np.ones((len(table), 1))))


def fleiss_of(sums: Floats) -> Floats:
    """Fleiss' kappa from the sums of `fleiss_rows`."""
    by_category, equal, items = sums[..., :-2], sums[..., -2], sums[..., -1]
    shares = divided(by_category, by_category.sum(axis=-1, keepdims=True))
    return corrected(divided(equal, items), (shares**2).sum(axis=-1))


def cohen(pairs: Pairs, resampling: Resampling, nothing: str = NO_OVERLAP) -> Measure:
    """Cohen's kappa over kinds, left against right, by scikit-learn; n counts pairs.

    Cohen 1960, Educational and Psychological Measurement 20:37-46. Pairs with an NFH are left
    out: it could become any kind.
    """
    pairs = pairs.named
    if not len(pairs):
        return undefined(nothing)
    left, right = pairs.left_kind, pairs.right_kind
    if (left == left[0]).all() and (right == left[0]).all():
        return undefined(ONE_KIND.format(KINDS[int(left[0])]), len(pairs))
    from sklearn.metrics import cohen_kappa_score

    said, times = _both_kinds(pairs)
    value = float(cohen_kappa_score(*said, sample_weight=times))

    def rows(part: Part) -> Floats:
        return cohen_rows(left[part], right[part])

    return resampling.measure(value, len(pairs), rows, pairs.passage, cohen_of)


def _both_kinds(pairs: Pairs) -> tuple[Column, Ints]:
    """The codes of two kinds that answers of a pair have, left and right, and the pairs."""
    times = np.bincount(pairs.found, minlength=len(pairs.rows))
    table = np.zeros((len(KINDS), len(KINDS)), dtype=np.int64)
    there = times > 0
    np.add.at(table, (pairs.rows[there, 0], pairs.rows[there, 1]), times[there])
    return np.array(np.nonzero(table)), table[np.nonzero(table)]


def cohen_rows(left: Column, right: Column) -> Floats:
    """Per pair of kinds: one-hot left kind, one-hot right kind, 1 if they are equal."""
    unit = np.eye(len(KINDS))
    return np.hstack((unit[left], unit[right], (left == right)[:, np.newaxis]))


def cohen_of(sums: Floats) -> Floats:
    """Cohen's kappa from the sums of `cohen_rows`."""
    left, right = sums[..., : len(KINDS)], sums[..., len(KINDS) : 2 * len(KINDS)]
    pairs = left.sum(axis=-1)
    observed = divided(sums[..., -1], pairs)
    return corrected(observed, divided((left * right).sum(axis=-1), pairs**2))


# The paper's matrix of majority and minority (figure 3).
#
# Rows are the majority's class, columns the minority's; unanimous items are on the diagonal.
# With three votes an item, the matrix determines all votes.

VOTERS = 3


@dataclass(frozen=True, slots=True)
class MajorityMatrix:
    """The paper's matrix (figure 3): items by majority (rows) and minority (columns), in the
    order of CLASSES.
    """

    rows: tuple[tuple[int, ...], ...]
    no_majority: int
    """Items whose three votes are in three classes; they are in no cell."""
    left_out: tuple[LeftOut, ...] = ()


def majority_matrix(tables: Tables) -> MajorityMatrix:
    """The matrix of the items with three votes, all in the paper's seven classes."""
    classes = tables.classes
    three = tables.counts.sum(axis=1) == VOTERS
    used = three & (tables.outside == 0)
    table = classes[used]
    most, least = table.argmax(axis=1), (table == 1).argmax(axis=1)
    largest = table.max(axis=1, initial=0)
    column = np.where(largest == VOTERS, most, least)
    decided = largest >= 2
    cells = np.zeros((len(CLASSES), len(CLASSES)), dtype=np.int64)
    np.add.at(cells, (most[decided], column[decided]), 1)
    return MajorityMatrix(
        tuple(tuple(row) for row in cells.tolist()),
        int((~decided).sum()),
        left_out=left_out(
            {
                "items with another number of answers than 3": int((~three).sum()),
                OUTSIDE: int((three & ~used).sum()),
            }
        ),
    )


MOST_PAIRS = 200
"""Pairs of people that are measured, those with most items in common. Hundreds of crowd workers
make tens of thousands of pairs that share a few items each.
"""


@dataclass(frozen=True, slots=True)
class KindPairCount:
    """Items for which the left answer has one kind and the right one another, or the same."""

    left: Kind
    right: Kind
    items: int


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """Agreement of two people on the items that both answered."""

    left: str
    right: str
    items: int
    """n of the measures, unless they say otherwise."""
    equal: Measure
    """Share of whole answers without a blocking difference."""
    same_kind: Measure
    kappa: Measure
    """Cohen's kappa over kinds."""
    nouns: NounAgreement
    differences: dict[Blocking, int]
    """Items by blocking difference."""
    cells: tuple[KindPairCount, ...]
    """Counts by the two kinds, equal kinds included, most frequent first."""


def people_agreement(
    pairs: Pairs,
    left: Sequence[str],
    right: Sequence[str],
    resampling: Resampling,
    most: int = MOST_PAIRS,
) -> tuple[tuple[PeopleAgreement, ...], int]:
    """The agreement of each pair of people, and the number of pairs that were not measured.

    left, right: names by number. Of more than `most` pairs, those with most items are measured.
    """
    coded, times = np.unique(
        pairs.left.astype(np.int64) * len(right) + pairs.right, return_counts=True
    )
    twos = (divmod(code, len(right)) for code in coded.tolist())
    together = dict(zip(twos, times.tolist(), strict=True))
    kept = sorted(together, key=lambda two: (-together[two], two))[:most]
    measured = [
        _agreement(pairs.between(*two), left[two[0]], right[two[1]], resampling)
        for two in sorted(kept)
    ]
    return tuple(measured), len(together) - len(kept)


def _agreement(pairs: Pairs, left: str, right: str, resampling: Resampling) -> PeopleAgreement:
    said, times = _both_kinds(pairs.named)
    cells = zip(*said.tolist(), times.tolist(), strict=True)
    nothing = f"In each pair of answers of {left} and {right}, one is NFH, which names no kind."
    return PeopleAgreement(
        left,
        right,
        len(pairs),
        equal_share(pairs, resampling, nothing),
        same_kind_share(pairs, resampling, nothing),
        cohen(pairs, resampling, nothing),
        noun_agreement(pairs, resampling),
        {BLOCKING[code]: n for code, n in enumerate(blocking_counts(pairs)) if n},
        tuple(
            KindPairCount(KINDS[mine], KINDS[other], items)
            for mine, other, items in sorted(cells, key=lambda one: (-one[2], one[:2]))
        ),
    )


# Specific ("positive") agreement on one kind: 2a / (2a + b + c), where a counts the pairs in
# which both answers have the kind, and b and c those in which only one has it. Spitzer and
# Fleiss 1974, British Journal of Psychiatry 125:341-347; pooled over pairs of annotators as in
# Fleiss 1981, Statistical Methods for Rates and Proportions (2nd edition), chapter 13. There is
# no chance correction: with many annotators it is the probability that an annotator gives the
# kind, given that another one does.


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """Agreement on one kind."""

    kind: Kind
    both: int
    one: int
    """Pairs in which both answers (`both`) or only one (`one`) have the kind."""
    agreement: Measure
    """n counts the pairs in which either has the kind."""


@dataclass(frozen=True, slots=True)
class ScopeAgreement:
    """Agreement on NOT_NFH (positive) and on being a fused head (negative), over pairs."""

    positive: Measure
    negative: Measure
    both: int
    one: int
    neither: int
    left_out: tuple[LeftOut, ...]


def kind_agreement(
    pairs: Pairs, resampling: Resampling, nothing: str = NO_OVERLAP
) -> tuple[KindAgreement, ...]:
    """Positive agreement on each kind, in their order. Pairs with an NFH are left out."""
    pairs = pairs.named
    found = []
    for code, kind in enumerate(KINDS):
        left, right = pairs.left_kind == code, pairs.right_kind == code
        absent = f"Nobody says {kind} where two people answered." if len(pairs) else nothing
        agreement = _specific(left, right, pairs.passage, resampling, absent)
        both, one = int((left & right).sum()), int((left ^ right).sum())
        found.append(KindAgreement(kind, both, one, agreement))
    return tuple(found)


def scope_agreement(
    pairs: Pairs, resampling: Resampling, nothing: str = NO_OVERLAP
) -> ScopeAgreement:
    """Agreement on NOT_NFH. All other kinds count as fused heads, except BROKEN, which is left
    out.
    """
    sound = (pairs.left_kind != BROKEN) & (pairs.right_kind != BROKEN)
    used = pairs.where(sound)
    left, right = used.left_kind == NOT_NFH, used.right_kind == NOT_NFH
    if len(pairs) and not len(used):
        nothing = "On each item with two answers, one says BROKEN."
    absent = "Nobody says NOT_NFH where two people answered." if len(used) else nothing
    always = "In each pair, one or both say NOT_NFH." if len(used) else nothing
    return ScopeAgreement(
        _specific(left, right, used.passage, resampling, absent),
        _specific(~left, ~right, used.passage, resampling, always),
        int((left & right).sum()),
        int((left ^ right).sum()),
        int((~left & ~right).sum()),
        left_out({"pairs in which one says BROKEN": len(pairs) - len(used)}),
    )


def _specific(
    left: npt.NDArray[np.bool_],
    right: npt.NDArray[np.bool_],
    passages: Ints,
    resampling: Resampling,
    absent: str,
) -> Measure:
    any_says = left | right
    if not any_says.any():
        return undefined(absent)
    both = 2 * (left & right)[any_says].astype(np.uint8)
    said = left[any_says].astype(np.uint8) + right[any_says]
    rows = np.column_stack((both, said))
    value = float(both.sum() / said.sum())
    return resampling.measure(value, len(rows), rows, passages[any_says], ratio)


@dataclass(frozen=True, slots=True)
class Skill:
    """Agreement on nouns relative to the baseline "closest noun"; see `noun_skill`."""

    skill: Measure
    observed: Measure
    baseline: Measure
    """Of all three measures, n counts pairs."""
    items: int
    """Items that were used."""
    no_noun: int
    """Items left out since their passage has no noun."""


def no_skill(why: str) -> Skill:
    """A skill that was not measured, with the reason."""
    nothing = undefined(why)
    return Skill(nothing, nothing, nothing, 0, 0)


def noun_skill(items: Sequence[AnsweredAnchor], resampling: Resampling) -> Skill:
    """The skill score of annotators who both answer REFERENCE, from `AnsweredAnchor.nearest`.

    Two people who both pick the closest noun agree without having understood anything, so
    agreement on nouns is compared with a rule that does just that. The form is that of a
    forecast skill score (Wilks 2011, Statistical Methods in the Atmospheric Sciences, 3rd
    edition, chapter 8):

        skill = (observed - baseline) / (1 - baseline)

    observed: share of pairs that agree by noun (no blocking difference). baseline: the same
    share if one of each pair, either with equal weight, is replaced by the closest noun. 1 is
    full agreement; 0 is no more than the rule has with a person; it may be negative. It is no
    chance correction as in kappa: the nouns of one passage are no categories of another, so
    there is no distribution of nouns to compute chance from.

    Items with fewer than two References have no pair. Items whose `nearest` is None are left
    out and counted in `no_noun`.
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
        why = "There is no item on which two annotators say REFERENCE"
        why += " and the passage has a noun." if no_noun else "."
        return replace(no_skill(why), no_noun=no_noun)
    return _skill(np.array(rows), np.array(passages), resampling, used, no_noun)


def _pairs(
    references: Sequence[Answer], nearest: int, lemmas: Sequence[str]
) -> list[tuple[float, float, float]]:
    """Of each pair: 1 if they agree, the mean agreement of the two with the rule, and 1."""
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
    rows: Floats, passages: Ints, resampling: Resampling, used: int, no_noun: int
) -> Skill:
    pairs = len(rows)
    observed, baseline = (float(rows[:, column].mean()) for column in (0, 1))
    value = float(skill_of(rows.sum(axis=0)))
    if np.isnan(value):
        why = "Every annotator names the closest noun, so nothing is left to agree on."
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
    """Skill from the sums of the rows of `_pairs`."""
    pairs = sums[..., 2]
    return corrected(divided(sums[..., 0], pairs), divided(sums[..., 1], pairs))
