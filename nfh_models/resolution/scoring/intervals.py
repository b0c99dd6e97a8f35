"""How sure figures of resolution are: whole groups of examples, drawn anew.

Percentiles of the bootstrap over groups (`nfh_models.agreement.bootstrap`): examples of one
passage are no independent draws.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from nfh_models.agreement.bootstrap import Ints, Resampling, numbered, ratio
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.resolution.scoring.heads import Found, HeadsJudged
from nfh_models.resolution.scoring.judging import Judged

Part = Callable[[Judged], bool]


def _every(_: Judged) -> bool:
    return True


MEASURES: Mapping[str, tuple[Part, Part]] = MappingProxyType(
    {
        "accuracy": (lambda one: one.right, _every),
        "accuracy_inclusive": (lambda one: one.inclusive, _every),
        "accuracy_nearest": (lambda one: one.nearest, _every),
        "binary": (lambda one: one.binary_right, _every),
        "class_accuracy": (lambda one: one.class_right, _every),
        "reference": (lambda one: one.right, lambda one: one.reference),
        "implicit": (lambda one: one.right, lambda one: not one.reference),
    }
)
"""By the name of a figure: what counts as right, and of which examples."""

HEAD_MEASURES: tuple[str, ...] = ("heads_exact", "heads_f1", "mentions_f1")
NOTHING = "There are no such examples."


def intervals(
    judged: Sequence[Judged],
    heads: Sequence[HeadsJudged] = (),
    resampling: Resampling | None = None,
) -> dict[str, Measure]:
    """Each of MEASURES with its 95 % interval and, where there are heads, HEAD_MEASURES.

    n counts examples. resampling: by default a thousand resamples.
    """
    drawing = resampling or Resampling()
    found = {name: _share(judged, *parts, drawing) for name, parts in MEASURES.items()}
    if heads:
        found |= _of_heads(heads, drawing)
    return found


def _share(judged: Sequence[Judged], right: Part, among: Part, drawing: Resampling) -> Measure:
    rows = [(among(one) and right(one), among(one)) for one in judged]
    return _measure(rows, groups_of(judged), drawing)


def _of_heads(heads: Sequence[HeadsJudged], drawing: Resampling) -> dict[str, Measure]:
    groups = groups_of(heads)
    return {
        "heads_exact": _measure([(one.exact, 1) for one in heads], groups, drawing),
        "heads_f1": _measure([_f1(one.heads) for one in heads], groups, drawing),
        "mentions_f1": _measure([_f1(one.mentions) for one in heads], groups, drawing),
    }


def _f1(found: Found) -> tuple[int, int]:
    return 2 * found.hit, found.predicted + found.gold


def _measure(rows: Sequence[tuple[int, int]], groups: Ints, drawing: Resampling) -> Measure:
    n = sum(whole > 0 for _, whole in rows)
    if not n:
        return undefined(NOTHING)
    counted = np.array(rows, dtype=np.float64)
    part, whole = counted.sum(axis=0)
    return drawing.measure(float(part / whole), n, counted, groups, ratio)


def groups_of(judged: Sequence[Judged] | Sequence[HeadsJudged]) -> Ints:
    """The number of each example's group, as they first occur."""
    return numbered(one.example.group for one in judged)
