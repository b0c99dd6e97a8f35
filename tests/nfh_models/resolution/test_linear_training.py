"""Training of `linear`: its steps, its folds, its settings, and examples that are too few."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nfh_models.domain import Kind, class_answer
from nfh_models.model_files import SettingError
from nfh_models.parsing.base import ParserError
from nfh_models.resolution.base import ResolutionExample
from nfh_models.resolution.linear import (
    PAPER,
    FeatureGroup,
    FittedLinear,
    LinearPlan,
    NoLinearExamplesError,
    TrialCounts,
    folds_of,
    settings_of,
    training,
)
from nfh_models.training.plan import PhaseProgress

from .handmade import WordParser, examples, item_of, reference


def trained(
    given: Sequence[ResolutionExample],
    plan: LinearPlan | None = None,
    parser: WordParser | None = None,
) -> tuple[FittedLinear, list[PhaseProgress]]:
    """A whole training with its steps."""
    steps = training(given, plan or LinearPlan(folds=2), parser)
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as ended:
            return ended.value, seen


def test_phases_come_in_order_and_end_full() -> None:
    made, steps = trained(examples(40))
    phases = list(dict.fromkeys(step.phase for step in steps))
    assert phases == ["features", "fold 1", "fold 2", "fitting"]
    for phase in phases:
        last = [step for step in steps if step.phase == phase][-1]
        assert last.done == last.total
    assert [step.metrics["accuracy"] for step in steps if "accuracy" in step.metrics] == [1, 1]
    assert (made.groups, made.warnings, made.left_out) == (40, (), {})


def test_the_same_examples_give_the_same_model() -> None:
    given = examples(20)
    one, other = (trained(given, LinearPlan(folds=0))[0] for _ in range(2))
    assert one.model.version == other.model.version
    assert (
        one.snapshot == other.snapshot == trained(given[::-1], LinearPlan(folds=0))[0].snapshot
    )
    assert trained(given[1:], LinearPlan(folds=0))[0].snapshot != one.snapshot


def test_what_is_not_parsed_is_parsed() -> None:
    bare = [replace(one, item=replace(one.item, parsed=None)) for one in examples(20)]
    parser = WordParser()
    made, _ = trained(bare, LinearPlan(folds=0), parser)
    assert len(parser.asked) == len({one.item.passage.digest for one in bare})
    assert made.model.parser == "words 1.0"
    with pytest.raises(ParserError, match="but has no parser"):
        trained(bare)


# --- examples that are too few ---------------------------------------------------------------


def test_without_examples_there_is_nothing_to_learn() -> None:
    with pytest.raises(NoLinearExamplesError, match="there is no example"):
        trained([])
    neither = [replace(one, gold=class_answer(Kind.NOT_NFH)) for one in examples(3)]
    with pytest.raises(NoLinearExamplesError, match="3 examples"):
        trained(neither)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [("heads", "all examples are REFERENCE"), ("years", "all examples are YEAR")],
)
def test_one_class_only_is_learnt_and_said(kinds: str, said: str) -> None:
    given = examples(12, kinds=kinds)
    made, _ = trained(given)
    [warning] = made.warnings
    assert warning.startswith(said)
    [choice] = made.model.resolve([given[0].item])
    assert choice is not None
    assert choice.choice == ("4" if kinds == "heads" else "YEAR")


def test_one_passage_cannot_be_held_out() -> None:
    alike = [replace(one, group="one") for one in examples(12)]
    made, steps = trained(alike)
    assert made.folds == ()
    assert "of one passage" in made.warnings[0]
    assert {step.phase for step in steps} == {"features", "fitting"}


def test_a_single_example_and_a_passage_of_one_token() -> None:
    alone = ResolutionExample(item_of("[ 1950 ]"), class_answer(Kind.YEAR), "line 1", "p")
    made, _ = trained([alone])
    [choice] = made.model.resolve([alone.item])
    assert choice is not None
    assert choice.choice == "YEAR"


def test_unknown_is_other_and_what_has_no_class_is_left_out() -> None:
    first, second, third, *rest = examples(12)
    far = replace(
        first, item=item_of("cups/NOUN " + "and " * 300 + "[ one ]"), gold=reference(0)
    )
    unknown = replace(second, gold=class_answer(Kind.UNKNOWN))
    broken = replace(third, gold=class_answer(Kind.BROKEN))
    made, _ = trained([far, unknown, broken, *rest])
    assert made.kinds["OTHER"] == 1
    assert sum(made.kinds.values()) == 10
    assert dict(made.left_out) == {"no class or head": 1, "no head among the candidates": 1}


# --- folds, figures -------------------------------------------------------------------------


def test_folds_keep_groups_together() -> None:
    groups = [f"g{number // 3}" for number in range(30)]
    folds = folds_of(groups, 4, seed=1)
    assert set(folds.tolist()) == {0, 1, 2, 3}
    assert len(set(zip(groups, folds.tolist(), strict=True))) == 10
    assert folds_of(groups, 4, seed=1).tolist() == folds.tolist()
    assert set(folds_of(["a", "a", "b"], 5, seed=1).tolist()) == {0, 1}
    assert folds_of(["a", "a"], 5, seed=1).tolist() == [-1, -1]
    assert folds_of(groups, 0, seed=1).tolist() == [-1] * 30
    assert folds_of([], 5, seed=1).tolist() == []


def test_figures_are_fractions_of_what_is_there() -> None:
    both = TrialCounts(4, 3, 0, 0, 4) + TrialCounts(0, 0, 6, 2, 5)
    assert both.figures() == {
        "accuracy": 0.5, "reference": 0.75, "implicit": 2 / 6, "binary": 0.9,
    }  # fmt: skip
    assert TrialCounts().figures() == {}


# --- settings -------------------------------------------------------------------------------


def test_settings_of_words() -> None:
    plan = settings_of(
        ["features=closest, labels", "c=2", "folds=0", "crossed=false", "seed=7"]
    )
    assert plan.settings.features == (FeatureGroup.LABELS, FeatureGroup.CLOSEST)
    assert (plan.settings.c, plan.folds, plan.settings.seed) == (2.0, 0, 7)
    assert not plan.settings.crossed
    assert settings_of([]) == LinearPlan()
    assert settings_of(["features=paper"]).settings.features == PAPER
    assert settings_of(["features=all"]) == LinearPlan()
    assert settings_of(["features=paper,words"]).settings.features == (
        *PAPER, FeatureGroup.WORDS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("c", "wanted key=value"),
        ("window=3", "with a key of features"),
        ("c=0", "a number above 0"),
        ("c=nan", "a number above 0"),
        ("c=many", "a number above 0"),
        ("folds=1", "2 to 50, or 0"),
        ("crossed=perhaps", "true or false"),
        ("features=", "one or more of labels"),
        ("features=labels,nouns", "one or more of labels"),
        ("seed=-1", "a whole number"),
    ],
)
def test_settings_that_are_none(word: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        settings_of([word])
