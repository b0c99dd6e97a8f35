"""Cross-validation by group, and training as steps."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.identification.base import Example, SentenceNumber
from nfh_models.identification.scores import count
from nfh_models.identification.svm import (
    Feature,
    FittedSvm,
    Spread,
    SvmPlan,
    SvmSettings,
    TooFewError,
    card_of,
    cross_validate,
    folds_of,
    metrics_of,
    plain,
    plan_of,
    run_folds,
    snapshot_of,
    table_of,
    train_svm,
    training,
    worst_words,
)
from nfh_models.model_files import SettingError
from nfh_models.parsing.base import WordSpan
from nfh_models.training.plan import PhaseProgress

WORDS_ONLY = SvmSettings((Feature.ANCHOR, Feature.WINDOW))
"""Features that need no parser."""


def example(number: int, nfh: bool, group: str, anchor: str = "two") -> Example:
    """A number before "of", a fused head, or before "cups"."""
    words = ["Take", anchor, "of" if nfh else "cups", f"w{number % 7}"]
    return Example(
        SentenceNumber(WordSpan(words, [True] * 4), 1, 2), nfh, f"line {number}", group
    )


def examples(count: int = 60) -> list[Example]:
    """As many fused heads as others, two to a passage."""
    return [example(number, number % 2 == 0, f"g{number // 2}") for number in range(count)]


# --- folds ----------------------------------------------------------------------------------

GROUPED = st.lists(st.tuples(st.booleans(), st.integers(0, 30).map(str)), max_size=80)


@given(rows=GROUPED, folds=st.integers(2, 7), seed=st.integers(0, 99))
def test_folds_hold_whole_groups_and_both_labels(
    rows: Sequence[tuple[bool, str]], folds: int, seed: int
) -> None:
    labels = [label for label, _ in rows]
    groups = [group for _, group in rows]
    rarer = min(len({g for label, g in rows if label is one}) for one in (True, False))
    if rarer < 2:
        with pytest.raises(TooFewError, match="to learn from"):
            folds_of(labels, groups, folds, seed)
        return
    found = folds_of(labels, groups, folds, seed)
    assert len({(group, fold) for group, fold in zip(groups, found, strict=True)}) == len(
        set(groups)
    )
    assert set(found) == set(range(min(folds, rarer)))
    for fold in set(found):
        assert {label for label, own in zip(labels, found, strict=True) if own == fold} == {
            True,
            False,
        }
    assert found == folds_of(labels, groups, folds, seed)


def test_labels_are_dealt_evenly() -> None:
    found = folds_of([n % 3 == 0 for n in range(300)], [str(n) for n in range(300)])
    assert set(Counter(found).values()) == {60}
    assert set(Counter(found[::3]).values()) == {20}


def test_too_few_of_a_label_says_of_which() -> None:
    one_sided = [*examples(4)[::2], example(9, False, "g9")]
    with pytest.raises(TooFewError) as caught:
        cross_validate(one_sided, WORDS_ONLY)
    assert "2 of 3 numbers are fused heads, in 2 passages" in str(caught.value)
    assert "1 are not, in 1" in str(caught.value)


def test_thirty_labels_are_enough_to_try_on() -> None:
    thirty = [example(n, n < 4, f"g{n}") for n in range(30)]
    decisions = cross_validate(thirty, WORDS_ONLY)
    assert len(decisions) == 30
    assert len(set(folds_of([one.nfh for one in thirty], [one.group for one in thirty]))) == 4


# --- crossing -------------------------------------------------------------------------------


def test_no_example_is_decided_by_what_has_seen_its_group() -> None:
    # Each passage has a word of its own that tells its label; whoever has seen it is right.
    draw = random.Random(1)
    told = []
    for number in range(80):
        label = draw.random() < 0.5
        words = ["Take", "two", f"secret{number}"]
        case = SentenceNumber(WordSpan(words, [True] * 3), 1, 2)
        told += [Example(case, label, "", str(number))] * 2
    seen = train_svm(told, WORDS_ONLY).decide([one.case for one in told])
    assert [one.nfh for one in seen] == [one.nfh for one in told]
    crossed_over = cross_validate(told, WORDS_ONLY)
    right = sum(one.nfh is said.nfh for one, said in zip(told, crossed_over, strict=True))
    assert right < 0.75 * len(told)


def test_decisions_come_in_the_order_of_the_examples() -> None:
    decisions = cross_validate(examples(), WORDS_ONLY)
    assert [one.nfh for one in decisions] == [one.nfh for one in examples()]
    assert all(one.score is not None and one.weights for one in decisions)


def test_every_fold_is_as_if_fitted_on_the_others_alone() -> None:
    some = [example(n, n % 3 == 0, f"g{n}", random.Random(n).choice("two 9".split()))
            for n in range(45)]  # fmt: skip
    for fold in run_folds(table_of(some, WORDS_ONLY), folds=3):
        rest = [one for place, one in enumerate(some) if place not in fold.places]
        alone = train_svm(rest, WORDS_ONLY)
        expected = alone.decide([some[place].case for place in fold.places])
        scores = [one.score for one in fold.decisions]
        assert scores == pytest.approx([one.score for one in expected], abs=1e-6)


def test_the_spread_over_folds() -> None:
    assert Spread.of([0.5, None, 0.7]) == Spread(0.6, pytest.approx(0.1414213562))
    assert Spread.of([0.5]) == Spread(0.5, None)
    assert Spread.of([None]) == Spread(None, None)


# --- training -------------------------------------------------------------------------------


def train(some: Sequence[Example], plan: SvmPlan) -> tuple[list[PhaseProgress], FittedSvm]:
    """All steps, and what comes of them."""
    steps = []
    running = training(some, plan, None)
    while True:
        try:
            steps.append(next(running))
        except StopIteration as stop:
            return steps, stop.value


def test_training_reports_each_phase_in_turn() -> None:
    steps, trained = train(examples(), SvmPlan(WORDS_ONLY, folds=3))
    assert list(dict.fromkeys(step.phase for step in steps)) == [
        "parsing",
        "features",
        "fold 1",
        "fold 2",
        "fold 3",
        "fitting",
    ]
    assert all(0 <= step.done <= step.total for step in steps)
    assert [step.metrics["f1"] for step in steps if step.phase.startswith("fold")] == [1, 1, 1]
    assert trained.groups == 30
    assert trained.crossed.counts.n == 60
    assert trained.svm.version == train_svm(examples(), WORDS_ONLY).version


def test_too_few_is_said_before_anything_is_parsed() -> None:
    with pytest.raises(TooFewError):
        next(training(examples(2), SvmPlan(), None))


def test_the_snapshot_is_of_the_labels_and_not_of_their_order() -> None:
    first = snapshot_of(examples())
    assert first == snapshot_of(examples()[::-1])
    assert first != snapshot_of(examples()[1:])
    turned = [*examples()[1:], example(0, False, "g0")]
    assert first != snapshot_of(turned)


def test_figures_and_card_tell_where_it_fails() -> None:
    odd = [example(100 + n, n % 2 == 1, f"odd{n}", "nine") for n in range(6)]
    for one in odd:
        one.case.word_span.words[2] = "of"  # type: ignore[index]
    some = [*examples(), *odd]
    _, trained = train(some, SvmPlan(WORDS_ONLY))
    metrics = metrics_of(trained, some)
    counts = trained.crossed.counts
    assert counts.wrong > 0
    assert metrics["confusion"] == {
        "labels": ["NFH", "NOT_NFH"],
        "rows": [[counts.hit, counts.missed], [counts.false, counts.passed]],
    }
    worst = worst_words(trained, some)
    assert worst[0][0] == "nine"
    assert sum(own.wrong for _, own in worst) == counts.wrong
    card = card_of(trained, some, "svm-1", "2020-01-01T00:00:00.000Z")
    assert "| nine | 6 |" in card
    assert "{" not in card


def test_words_of_the_data_are_no_markup_in_the_card() -> None:
    assert plain("5|[x](y)<b>`\x1b") == "5&#124;&#91;x&#93;(y)&#60;b>&#96;&#27;"
    assert plain("_a_ *b* \\* ~c~ &lt;") == (
        "&#95;a&#95; &#42;b&#42; &#92;&#42; &#126;c&#126; &#38;lt;"
    )
    assert plain("# a # b") == "&#35; a # b" and plain("> a > b") == "&#62; a > b"
    assert plain("a\u202eb\nc") == "a&#8238;b&#10;c"


def test_what_is_no_markup_stays_for_those_who_read_it_as_text() -> None:
    said = "Left out: 5 % (of en_core_web_sm), -5, #1; it's “so” – 10:30!"
    assert plain(said, None) == said
    assert plain("9" * 100) == "9" * 60 + "…"
    words = "word " * 20
    assert plain(words) == "word " * 11 + "word…"
    assert plain(words, None) == words


# --- settings in words ----------------------------------------------------------------------


def test_settings_out_of_words() -> None:
    plan = plan_of(["features=window,anchor", "window=2", "pos=penn", "ends=false", "folds=3"])
    features = plan.settings
    assert features.features == (Feature.ANCHOR, Feature.WINDOW)
    assert (features.window, features.pos, features.ends, plan.folds) == (2, "penn", False, 3)
    assert plan_of([]) == SvmPlan()
    assert plan_of(["c=0.1", "seed=7"]).settings == SvmSettings(c=0.1, seed=7)


@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        ("window", "wanted key=value"),
        ("width=3", "with a key of features"),
        ("window=wide", "0 to 20"),
        ("window=21", "0 to 20"),
        ("features=", "one or more of anchor"),
        ("features=anchor,shape", "one or more of anchor"),
        ("pos=latin", "universal or penn"),
        ("ends=perhaps", "true or false"),
        ("c=0", "above 0"),
        ("c=nan", "above 0"),
        ("seed=4294967296", "a whole number from 0 to 4,294,967,295"),
        ("folds=1", "2 to 50"),
    ],
)
def test_what_is_no_setting_is_told_what_can_be(one: str, wanted: str) -> None:
    with pytest.raises(SettingError) as caught:
        plan_of([one])
    assert wanted in str(caught.value)
    assert one in str(caught.value)


@pytest.mark.long
def test_it_learns_from_real_rows(data_dir: Path) -> None:
    from nfh_models.identification.base import parse_cases
    from nfh_models.parsing.base import load_parser
    from nfh_tui.services.examples import Examples

    some = list(islice(Examples.of_file(data_dir / "identification" / "dev.tsv"), 800))
    cases = parse_cases([one.case for one in some], load_parser())
    parsed = [replace(one, case=case) for one, case in zip(some, cases, strict=True)]
    decisions = cross_validate(parsed)
    counts = count((one.nfh, said.nfh) for one, said in zip(parsed, decisions, strict=True))
    assert counts.f1 is not None
    assert counts.f1 > 0.88
