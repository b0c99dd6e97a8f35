"""Alpha, kappas and AC1: published examples, tables by hand, libraries against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.coefficients import (
    NONE_INSIDE,
    ac1_of,
    ac1_rows,
    alpha_of,
    alpha_rows,
    cohen,
    cohen_of,
    cohen_rows,
    fleiss,
    fleiss_kappa,
    fleiss_of,
    fleiss_rows,
    gwet_ac1,
    krippendorff_alpha,
)
from nfh_models.agreement.pairs import NO_OVERLAP, collect
from nfh_models.domain import Kind

NONE = None
PLAIN = Resampling(0)
AGE, YEAR, OTHER = Kind.AGE, Kind.YEAR, Kind.OTHER
FIVE = tuple("12345")

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C: four observers,
# twelve units, five values, some missing; alpha 0.743. Gwet's Handbook of Inter-Rater
# Reliability (2014) has the same data (`cac.raw4raters` of his package irrCAC); there AC1 is
# 0.77544 with pa 0.81818 and pe 0.19032, and alpha 0.74342.
FOUR_RATERS = [
    [1, 1, NONE, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NONE, 5, 5, 5],
    [NONE, NONE, 1, 1],
    [NONE, NONE, 3, NONE],
]

# The table that Wikipedia's article "Fleiss' kappa" works through: ten subjects, fourteen
# raters, five categories; kappa 0.210.
FOURTEEN_RATERS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)

ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
"""`cont3x3abstractors` of irrCAC, two raters: Cohen's kappa 0.7964094, AC1 0.8493305."""


def units(counts: np.ndarray) -> np.ndarray:
    return np.arange(len(counts))


def two_raters(table: list[list[int]]) -> list[list[int]]:
    """Rows of two answers from a table of the two."""
    return [
        [row + 1, column + 1]
        for row, cells in enumerate(table)
        for column, times in enumerate(cells)
        for _ in range(times)
    ]


def test_alpha_of_krippendorffs_example(kit) -> None:
    counts = kit.counts(FOUR_RATERS, 5)
    alpha = krippendorff_alpha(counts, units(counts), PLAIN, FIVE)
    assert alpha.value == pytest.approx(0.74342, abs=5e-6)
    assert alpha.n == 11


def test_alpha_of_two_observers_and_binary_data(kit) -> None:
    # Krippendorff 2011, example A: alpha 0.095.
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    counts = kit.counts([(a + 1, b + 1) for a, b in zip(first, second, strict=True)], 2)
    alpha = krippendorff_alpha(counts, units(counts), PLAIN, ("0", "1"))
    assert alpha.value == pytest.approx(0.095, abs=5e-4)


def test_ac1_of_gwets_example(kit) -> None:
    counts = kit.counts(FOUR_RATERS, 5)
    ac1 = gwet_ac1(counts, units(counts), PLAIN, FIVE)
    assert ac1.value == pytest.approx(0.77544, abs=5e-6)
    assert ac1.n == 11
    sums = ac1_rows(counts).sum(axis=0)
    assert sums[-2] / sums[-1] == pytest.approx(0.8181818, abs=5e-8)


def test_ac1_by_hand(kit) -> None:
    # 125 items of two raters: 118 both +, 5 and 2 apart, none both -. pa is 118 / 125 =
    # 0.944. Both say the first 243 of 250 times: pi is 0.972 and 0.028, pe is
    # 2 x 0.972 x 0.028 / (2 - 1) = 0.054432, so AC1 is 0.889568 / 0.945568 = 0.940776. Cohen's
    # kappa is below zero here, the paradox that Gwet 2002 shows with this table.
    counts = kit.counts(two_raters([[118, 5], [2, 0]]), 2)
    ac1 = gwet_ac1(counts, units(counts), PLAIN, ("+", "-"))
    assert ac1.value == pytest.approx(0.889568 / 0.945568, abs=1e-12)
    kinds = {1: AGE, 2: YEAR}
    rows = [[kinds[a], kinds[b]] for a, b in two_raters([[118, 5], [2, 0]])]
    assert cohen(collect(kit.items(rows)).votes, PLAIN).value == pytest.approx(
        -0.0234, abs=5e-5
    )


def test_ac1_and_cohen_of_two_abstractors(kit) -> None:
    rows = two_raters(ABSTRACTORS)
    counts = kit.counts(rows, 3)
    ac1 = gwet_ac1(counts, units(counts), PLAIN, tuple("123"))
    assert ac1.value == pytest.approx(0.8493305, abs=5e-8)
    kinds = {1: AGE, 2: YEAR, 3: OTHER}
    votes = collect(kit.items([[kinds[a], kinds[b]] for a, b in rows])).votes
    assert cohen(votes, PLAIN).value == pytest.approx(0.7964094, abs=5e-8)


def test_fleiss_kappa_of_fourteen_raters() -> None:
    kappa = fleiss_kappa(FOURTEEN_RATERS, units(FOURTEEN_RATERS), PLAIN, FIVE)
    assert kappa.value == pytest.approx(0.210, abs=5e-4)


def test_cohens_kappa_by_hand(kit) -> None:
    # 50 items: 20 both AGE, 15 both YEAR, 5 and 10 apart. They agree on 0.7, and by chance on
    # 0.5 x 0.6 + 0.5 x 0.4 = 0.5, so kappa is 0.2 / 0.5.
    rows = [[AGE, AGE]] * 20 + [[AGE, YEAR]] * 5 + [[YEAR, AGE]] * 10 + [[YEAR, YEAR]] * 15
    kappa = cohen(collect(kit.items(rows)).votes, PLAIN)
    assert kappa.value == pytest.approx(0.4)
    assert kappa.n == 50


def test_fleiss_takes_the_most_frequent_number_of_voters(kit) -> None:
    two = [[AGE, AGE], [YEAR, AGE], [YEAR, YEAR]]
    three = [[AGE, AGE, AGE], [YEAR, YEAR, AGE]]
    found = fleiss(
        collect(kit.items([*two, *three, [AGE], [AGE, Kind.NOT_NFH], [AGE, Kind.NFH]])), PLAIN
    )
    assert found.voters == 2
    assert found.kappa.n == 3
    # Two of three pairs equal; both kinds three times in six: (2/3 - 1/2) / (1 - 1/2).
    assert found.kappa.value == pytest.approx(1 / 3)
    assert sorted(one.n for one in found.left_out) == [1, 2, 2]
    tied = fleiss(collect(kit.items([*two[:2], *three])), PLAIN)
    assert tied.voters == 3


def test_what_is_not_defined_says_why(kit) -> None:
    nobody = kit.counts([[1, NONE], [NONE, 1]], 2)
    one_kind = kit.counts([[1, 1], [1, 1]], 2)
    names = ("AGE", "YEAR")
    for function in (krippendorff_alpha, gwet_ac1, fleiss_kappa):
        alike = function(one_kind, units(one_kind), PLAIN, names)
        assert alike.value is None
        assert "Only AGE" in (alike.why or "")
        assert alike.n == 2
        if function is not fleiss_kappa:
            apart = function(nobody, units(nobody), PLAIN, names)
            assert (apart.value, apart.why) == (None, NO_OVERLAP)
    votes = collect(kit.items([[AGE, AGE], [AGE, AGE]])).votes
    assert "Only AGE" in (cohen(votes, PLAIN).why or "")
    assert cohen(votes.between(4, 5), PLAIN).why == NO_OVERLAP
    outside = fleiss(collect(kit.items([[AGE, Kind.NOT_NFH], [Kind.BROKEN, AGE]])), PLAIN)
    assert outside.kappa.why == NONE_INSIDE


def test_one_person_who_never_varies_is_no_reason_to_refuse(kit) -> None:
    votes = collect(kit.items([[AGE, AGE], [AGE, YEAR]])).votes
    assert cohen(votes, PLAIN).value == pytest.approx(0.0)


def test_fleiss_refuses_unequal_numbers_of_votes(kit) -> None:
    counts = kit.counts([[1, 1, 2], [1, 2, NONE]], 2)
    with pytest.raises(ValueError, match="one number of votes"):
        fleiss_kappa(counts, units(counts), PLAIN, ("1", "2"))


answers = st.sampled_from([1, 2, 3, 4])
full = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(answers, min_size=raters, max_size=raters), min_size=2, max_size=30
    )
)
gaps = st.lists(
    st.lists(st.one_of(st.none(), answers), min_size=3, max_size=3), min_size=2, max_size=30
)
pairs = st.lists(st.lists(answers, min_size=2, max_size=2), min_size=2, max_size=40)
FOUR = tuple("1234")


@settings(max_examples=60, deadline=None)
@given(full)
def test_fleiss_and_alpha_agree_with_each_other(rows: list[list[int]]) -> None:
    """With equal numbers of votes alpha = 1 - (1 - kappa) (N m - 1) / (N m)."""
    counts = np.array([[row.count(c) for c in (1, 2, 3, 4)] for row in rows])
    kappa = fleiss_kappa(counts, units(counts), PLAIN, FOUR)
    alpha = krippendorff_alpha(counts, units(counts), PLAIN, FOUR)
    assert (kappa.value is None) == (alpha.value is None)
    if kappa.value is None or alpha.value is None:
        return
    votes = counts.sum()
    assert alpha.value == pytest.approx(1 - (1 - kappa.value) * (votes - 1) / votes)
    assert float(fleiss_of(fleiss_rows(counts).sum(axis=0))) == pytest.approx(kappa.value)


@settings(max_examples=60, deadline=None)
@given(gaps)
def test_alpha_is_that_of_the_package_on_raw_answers(rows: list[list[int | None]]) -> None:
    import krippendorff

    counts = np.array([[row.count(c) for c in (1, 2, 3, 4)] for row in rows])
    alpha = krippendorff_alpha(counts, units(counts), PLAIN, FOUR)
    if alpha.value is None:
        return
    raw = np.array(rows, dtype=float).T
    by_package = krippendorff.alpha(reliability_data=raw, level_of_measurement="nominal")
    assert alpha.value == pytest.approx(float(by_package))
    used = counts[counts.sum(axis=1) >= 2]
    assert float(alpha_of(alpha_rows(used).sum(axis=0))) == pytest.approx(alpha.value)


def test_of_many_items_alpha_is_that_of_the_package_to_the_last_digit() -> None:
    import krippendorff

    random = np.random.default_rng(3)
    votes = random.integers(2, 8, 3_000)
    counts = np.stack([random.multinomial(n, [0.6, 0.2, 0.15, 0.05]) for n in votes])
    alpha = krippendorff_alpha(counts.astype(np.uint16), units(counts), PLAIN, FOUR)
    by_package = krippendorff.alpha(
        value_counts=np.asfortranarray(counts), level_of_measurement="nominal"
    )
    assert alpha.value == float(by_package)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_cohen_is_the_same_in_two_libraries_and_in_ours(rows: list[list[int]]) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    kinds = (Kind.REFERENCE, AGE, YEAR, OTHER)
    table = np.zeros((4, 4))
    for left, right in rows:
        table[left - 1, right - 1] += 1
    votes = collect(_of_kinds(rows, kinds)).votes
    kappa = cohen(votes, PLAIN)
    if kappa.value is None:
        assert np.count_nonzero(table) == 1
        return
    assert kappa.value == pytest.approx(float(cohens_kappa(table, return_results=False)))
    sums = cohen_rows(votes.left_kind, votes.right_kind).sum(axis=0)
    assert float(cohen_of(sums)) == pytest.approx(kappa.value)


def _of_kinds(rows: list[list[int]], kinds: tuple[Kind, ...]):
    from nfh_models.agreement.measure import AnsweredAnchor, Timed
    from nfh_models.domain import Anchor, Mention, class_answer, reference_answer

    def answer(number: int) -> Timed:
        kind = kinds[number - 1]
        if kind is Kind.REFERENCE:
            return Timed(reference_answer([[Mention(1, 2, 1)]]), "")
        return Timed(class_answer(kind), "")

    for key, (left, right) in enumerate(rows):
        yield AnsweredAnchor(
            key, key, Anchor(0, 1), ("two", "dog"), {"a": answer(left), "b": answer(right)}, {}
        )


@settings(max_examples=60, deadline=None)
@given(gaps)
def test_ac1_by_a_slow_sum(rows: list[list[int | None]]) -> None:
    """The formula once more, answer by answer."""
    counts = np.array([[row.count(c) for c in (1, 2, 3, 4)] for row in rows])
    ac1 = gwet_ac1(counts, units(counts), PLAIN, FOUR)
    answered = [[a for a in row if a is not None] for row in rows]
    answered = [row for row in answered if row]
    used = sorted({a for row in answered for a in row})
    paired = [row for row in answered if len(row) > 1]
    if ac1.value is None:
        assert not paired or len(used) == 1
        return
    agreement = sum(
        sum(a == b for i, a in enumerate(row) for j, b in enumerate(row) if i != j)
        / (len(row) * (len(row) - 1))
        for row in paired
    ) / len(paired)
    shares = [sum(row.count(q) / len(row) for row in answered) / len(answered) for q in used]
    chance = sum(share * (1 - share) for share in shares) / (len(used) - 1)
    assert ac1.value == pytest.approx((agreement - chance) / (1 - chance))
    assert float(
        ac1_of(ac1_rows(counts[counts.sum(axis=1) > 0][:, np.array(used) - 1]).sum(axis=0))
    ) == (pytest.approx(ac1.value))
