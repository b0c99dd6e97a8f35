"""How good choices of resolution are: figures from examples with gold and what was chosen.

`evaluate` makes everything for one recipe, `compare` tests two on the same examples, and
`on_references` puts several side by side. Fractions throughout, None for a share of nothing;
the paper's own figures, in percent, are in `paper`.
"""

from nfh_models.resolution.scoring import paper
from nfh_models.resolution.scoring.calibration import Bin, Calibration, Reliability, calibrate
from nfh_models.resolution.scoring.comparing import Paired, compare
from nfh_models.resolution.scoring.confusion import Confusion, confusion
from nfh_models.resolution.scoring.evaluating import Evaluation, evaluate
from nfh_models.resolution.scoring.figures import Entrant, Figures, figures, on_references
from nfh_models.resolution.scoring.heads import (
    Found,
    HeadFigures,
    HeadsJudged,
    head_figures,
    judge_heads,
)
from nfh_models.resolution.scoring.intervals import HEAD_MEASURES, MEASURES, intervals
from nfh_models.resolution.scoring.judging import (
    COLUMNS,
    LABELS,
    REF_WRONG,
    Judged,
    judge,
    judge_one,
)
from nfh_models.resolution.scoring.mistakes import (
    Mistake,
    MistakeCount,
    Mistaken,
    by_mistake,
    mistakes,
)
from nfh_models.resolution.scoring.oracle import oracle, restrict
from nfh_models.resolution.scoring.parts import (
    DISTANCES,
    SHAPES,
    SIDES,
    TURNS,
    ClassPart,
    Part,
    by_class,
    by_distance,
    by_shape,
    by_side,
    by_turns,
    by_word,
)

__all__ = [
    "COLUMNS",
    "DISTANCES",
    "HEAD_MEASURES",
    "LABELS",
    "MEASURES",
    "REF_WRONG",
    "SHAPES",
    "SIDES",
    "TURNS",
    "Bin",
    "Calibration",
    "ClassPart",
    "Confusion",
    "Entrant",
    "Evaluation",
    "Figures",
    "Found",
    "HeadFigures",
    "HeadsJudged",
    "Judged",
    "Mistake",
    "MistakeCount",
    "Mistaken",
    "Paired",
    "Part",
    "Reliability",
    "by_class",
    "by_distance",
    "by_mistake",
    "by_shape",
    "by_side",
    "by_turns",
    "by_word",
    "calibrate",
    "compare",
    "confusion",
    "evaluate",
    "figures",
    "head_figures",
    "intervals",
    "judge",
    "judge_heads",
    "judge_one",
    "mistakes",
    "on_references",
    "oracle",
    "paper",
    "restrict",
]
