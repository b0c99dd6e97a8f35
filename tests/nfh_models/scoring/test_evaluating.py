"""Oracle, kinds of mistakes, the paper's figures, and all of it together."""

import subprocess
import sys

import pytest

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.domain import Kind
from nfh_models.resolution import scoring
from nfh_models.resolution.evaluation import evaluate
from nfh_models.resolution.scoring import (
    COLUMNS,
    LABELS,
    Mistake,
    by_mistake,
    is_lost,
    judge_one,
    mistake,
    mistakes,
    oracle,
    restricted_choice,
)

from .handmade import answer, choice, example

FEW = Resampling(50)
AGE = "I am <six>"
CUPS = "[cups] , <two>"

# --- oracle ---------------------------------------------------------------------------------

SCORES = [0.1, 0.3, 0.0, 0.0, 0.0, 0.0, 0.2, 0.4, None]


def test_candidates_of_the_right_kind_only() -> None:
    said = choice(1, SCORES)
    word = restricted_choice(said, reference=True)
    assert word is not None
    assert (word.choice, word.second, word.margin) == ("1", "0", 0.2)
    assert word.scores == (None,) * 6 + (0.2, 0.4, None)
    kind = restricted_choice(said, reference=False)
    assert kind is not None
    assert (kind.choice, kind.second, kind.scores[6:]) == ("AGE", "YEAR", (None,) * 3)
    assert kind.margin == pytest.approx(0.2)


def test_a_single_candidate_has_no_second() -> None:
    found = restricted_choice(choice("AGE", [*SCORES[:6], None, 0.4, None]), reference=True)
    assert found is not None
    assert (found.choice, found.second, found.margin) == ("1", None, None)


def test_of_equal_scores_the_choice_wins() -> None:
    found = restricted_choice(choice(1, [*SCORES[:6], 0.4, 0.4, None]), reference=True)
    assert found is not None
    assert (found.choice, found.second) == ("1", "0")


def test_an_oracle_mends_only_the_kind() -> None:
    made = [example(CUPS), example(CUPS), example(AGE, Kind.AGE), example(AGE, Kind.AGE)]
    wrong_kind = [0.1, 0.5, 0.0, 0.0, 0.0, 0.0, 0.3, 0.1, None]
    said = [
        choice("AGE", wrong_kind),  # the cups are the best word
        choice(1, SCORES),  # the comma still is
        choice(1, SCORES),  # AGE is the best class
        None,
    ]
    found = oracle(made, said)
    assert (found.reference, found.implicit, found.binary) == (0.5, 0.5, 0.75)
    assert found.answered == 0.75


def test_an_oracle_has_nothing_to_say_without_candidates() -> None:
    assert (
        restricted_choice(choice("OTHER", [None] * 5 + [1.0] + [None] * 3), reference=True)
        is None
    )
    assert restricted_choice(choice("OTHER"), reference=True) is None


# --- mistakes -------------------------------------------------------------------------------

# 0 Cups 1 and 2 saucers 3 in 4 the 5 box 6 by 7 three 8 of 9 them 10 ; 11 cup 12 CUPS 13 lids
LONG = "[Cups] and saucers in the box by three of them ; cup CUPS / lids and <two>"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (12, Mistake.SAME_FORM),
        (11, Mistake.SAME_LEMMA),
        (7, Mistake.NUMBER),
        (9, Mistake.PRONOUN),
        (2, Mistake.BESIDE),
        (13, Mistake.NEARER),
        ("OTHER", Mistake.CLASS_FOR_WORD),
        (None, Mistake.NOTHING),
    ],
)
def test_wrong_for_a_reference(said: str | int | None, expected: Mistake) -> None:
    one = judge_one(example(LONG), None if said is None else choice(said))
    assert mistake(one) is expected


def test_wrong_for_a_class_or_far_away() -> None:
    assert mistake(judge_one(example(AGE, Kind.AGE), choice("YEAR"))) is Mistake.CLASS_FOR_CLASS
    assert mistake(judge_one(example(AGE, Kind.AGE), choice(0))) is Mistake.WORD_FOR_CLASS
    far = example("saucers and so on and on [cups] , <two>")
    assert mistake(judge_one(far, choice(0))) is Mistake.FARTHER


def test_heads_that_are_no_candidates_are_lost() -> None:
    outside = [0.5] * 6 + [None, 0.5, None]
    for said in (choice(1, outside), choice("AGE", outside)):
        one = judge_one(example(CUPS), said)
        assert is_lost(one)
        assert mistake(one) is Mistake.OUT_OF_REACH
    assert not is_lost(judge_one(example(CUPS), choice(1, SCORES)))
    assert not is_lost(judge_one(example(AGE, Kind.AGE), choice("AGE", outside)))


def test_mistakes_are_counted_by_kind() -> None:
    said = [choice(12), choice(0), choice(2), choice(2), None]
    found = mistakes(judge_one(example(LONG), one) for one in said)
    assert [(one.mistake, one.n, one.share) for one in by_mistake(found)] == [
        (Mistake.BESIDE, 2, 0.5),
        (Mistake.NOTHING, 1, 0.25),
        (Mistake.SAME_FORM, 1, 0.25),
    ]
    assert by_mistake(()) == ()


def test_a_right_choice_is_no_mistake() -> None:
    with pytest.raises(ValueError, match="right"):
        mistake(judge_one(example(CUPS), choice(0)))


# --- the paper ------------------------------------------------------------------------------


def test_the_papers_matrix_comes_to_its_printed_figures() -> None:
    """Its accuracies are cut to one digit; 771 is without the one that is right by form."""
    rows = scoring.elmo_confusion()
    cells = {
        (gold, said): count
        for gold, row in zip(LABELS, rows, strict=True)
        for said, count in zip(COLUMNS, row, strict=True)
    }
    right = sum(cells[label, label] or 0 for label in LABELS)
    assert right == 771
    classes = right + (cells["REFERENCE", "REF-WRONG"] or 0)
    printed = {one.figure: one.percent for one in scoring.KINDS_TOLD}
    assert classes * 100 / scoring.ELMO_N == printed["class_accuracy"]
    assert (right - 338) * 1000 // 536 == 807  # 80.7, implicit
    assert (338 + 1) * 1000 // 464 == 730  # 73.0, references, one by form
    assert cells["TIME", "REF-WRONG"] == 0
    assert cells["TIME", "AGE"] is None


# --- together -------------------------------------------------------------------------------


def test_an_evaluation_holds_all() -> None:
    made = [example(CUPS, group="a"), example(CUPS, saw_model=True), example(AGE, Kind.AGE)]
    scores = [0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4, None]
    said = [choice(1, scores), choice(0, scores), choice("AGE", scores)]
    found = evaluate(
        made, said, answers=[answer([1]), answer([0]), None], probabilities=True, resampling=FEW
    )
    assert (found.figures.n, found.figures.right, found.groups) == (3, 2, 3)
    assert (found.saw_model, found.lost) == (1, 0)
    assert found.heads is not None
    assert (found.heads.n, found.heads.f1) == (2, 0.5)
    assert found.heads_several is not None
    assert found.heads_several.n == 0
    assert found.calibration is not None
    assert found.noun_calibration is not None
    assert found.oracle is not None
    assert found.ci95["accuracy"].value == found.figures.accuracy
    assert found.ci95["heads_f1"].value == found.heads.f1
    assert [one.mistake for one in found.mistakes] == [Mistake.BESIDE]
    assert [one.judged.example.where for one in found.mistakes] == ["line 1"]


def test_an_evaluation_without_scores_and_answers() -> None:
    found = evaluate([example(CUPS)], [choice(0)], resampling=FEW)
    assert (found.heads, found.heads_several, found.calibration, found.oracle) == (None,) * 4


def test_an_evaluation_of_nothing() -> None:
    found = evaluate([], [], answers=[], probabilities=True, resampling=FEW)
    assert found.figures.accuracy is None
    assert found.calibration is None
    assert found.by_word == ()


def test_scoring_loads_no_framework() -> None:
    listing = "import sys, nfh_models.resolution.scoring; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"torch", "transformers", "spacy", "sklearn", "scipy", "statsmodels"}
