"""Examples and what was chosen for them made an evaluation: all figures of one recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.measure import Measure
from nfh_models.domain import Answer
from nfh_models.resolution.item import Choice, ResolutionExample
from nfh_models.resolution.scoring.calibration import Calibration, calibrate
from nfh_models.resolution.scoring.confusion import Confusion, confusion
from nfh_models.resolution.scoring.figures import Figures, figures
from nfh_models.resolution.scoring.heads import (
    HeadFigures,
    HeadsJudged,
    head_figures,
    judge_heads,
)
from nfh_models.resolution.scoring.intervals import intervals
from nfh_models.resolution.scoring.judging import Judged, judge
from nfh_models.resolution.scoring.mistakes import (
    MistakeCount,
    Mistaken,
    by_mistake,
    lost,
    mistakes,
)
from nfh_models.resolution.scoring.oracle import oracle
from nfh_models.resolution.scoring.parts import (
    ClassPart,
    Part,
    by_class,
    by_distance,
    by_shape,
    by_side,
    by_turns,
    by_word,
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good choices are.

    judged: every example, in order. groups: how many groups there are; intervals are drawn
    over them. saw_model: examples whose label was given with a model's answer in view. lost:
    References none of whose heads is a candidate. ci95: by name of figure (MEASURES and
    HEAD_MEASURES of `intervals`). heads, heads_several: over all gold References, and over
    those with two or more different nouns; None without answers. oracle: None where no
    choice has scores. calibration, noun_calibration: by the candidate chosen, and by all its
    mentions together; None where scores are no probabilities.
    """

    judged: tuple[Judged, ...]
    groups: int
    saw_model: int
    lost: int
    figures: Figures
    ci95: Mapping[str, Measure]
    confusion: Confusion
    by_class: tuple[ClassPart, ...]
    by_word: tuple[Part, ...]
    by_shape: tuple[Part, ...]
    by_distance: tuple[Part, ...]
    by_turns: tuple[Part, ...]
    by_side: tuple[Part, ...]
    mistakes: tuple[Mistaken, ...]
    by_mistake: tuple[MistakeCount, ...]
    heads: HeadFigures | None
    heads_several: HeadFigures | None
    heads_judged: tuple[HeadsJudged, ...]
    oracle: Figures | None
    calibration: Calibration | None
    noun_calibration: Calibration | None


def evaluate(
    examples: Sequence[ResolutionExample],
    choices: Sequence[Choice | None],
    *,
    answers: Sequence[Answer | None] | None = None,
    probabilities: bool = False,
    resampling: Resampling | None = None,
) -> Evaluation:
    """All figures of the choices, one an example and in their order.

    answers: the decoded answers, one an example, for the figures of heads. probabilities:
    whether scores are (`Resolver.probabilities`), for calibration. resampling: of whole
    groups, by default a thousand resamples. ValueError for fewer or more choices or answers
    than examples, and for gold or choices that `judge_one` refuses.
    """
    judged = judge(examples, choices)
    heads = () if answers is None else judge_heads(examples, answers)
    wrong = mistakes(judged)
    scored = any(choice is not None and choice.scores for choice in choices)
    return Evaluation(
        judged=judged,
        groups=len({example.group for example in examples}),
        saw_model=sum(example.saw_model for example in examples),
        lost=sum(lost(one) for one in judged if one.choice is not None and one.choice.scores),
        figures=figures(judged),
        ci95=intervals(judged, heads, resampling),
        confusion=confusion(judged),
        by_class=by_class(judged),
        by_word=by_word(judged),
        by_shape=by_shape(judged),
        by_distance=by_distance(judged),
        by_turns=by_turns(judged),
        by_side=by_side(judged),
        mistakes=wrong,
        by_mistake=by_mistake(wrong),
        heads=None if answers is None else head_figures(heads),
        heads_several=(
            None if answers is None else head_figures(one for one in heads if one.several)
        ),
        heads_judged=heads,
        oracle=oracle(examples, choices) if scored else None,
        calibration=calibrate(judged) if probabilities else None,
        noun_calibration=calibrate(judged, by_noun=True) if probabilities else None,
    )
