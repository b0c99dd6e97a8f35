"""The fitting of `linear`: conditional likelihood, found by L-BFGS.

The loss of an example is -log of the summed probability of its right candidates; to the sum
over the examples comes half the squared weights, divided by C. L-BFGS is as in Nocedal and
Wright, Numerical Optimization (2006), algorithm 7.5, with steps halved until the loss falls
enough (Armijo's rule).
"""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from nfh_models.resolution.linear import CLASSES, Floats, Weights
from nfh_models.resolution.linear_table import Table

ITERATIONS = 150
REMEMBERED = 10
FLAT = 1e-5
"""The largest slope, in units of the mean loss, that counts as the bottom."""

ARMIJO = 1e-4
HALVINGS = 20

Objective = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights, the mean loss there, and whether the bottom was reached before the last step."""

    weights: Weights
    loss: float
    converged: bool


def fitting(table: Table) -> Generator[tuple[int, float], None, Fitted]:
    """Weights for a table; after each step its number and the mean loss.

    The same table gives the same weights. ValueError for a table without examples.
    """
    if not len(table):
        raise ValueError("no example to fit to")
    sizes = (len(table.anchor_names) * CLASSES, len(table.token_names))
    found, loss, converged = yield from minimise(objective_of(table), np.zeros(sum(sizes)))
    classes = found[: sizes[0]].reshape(-1, CLASSES)
    weights = Weights(table.anchor_names, table.token_names, classes, found[sizes[0] :])
    return Fitted(weights, loss, converged)


def objective_of(table: Table) -> Objective:
    """The mean loss and its gradient as a function of all weights in a row: those of the
    classes, then those of the tokens."""
    border = len(table.anchor_names) * CLASSES
    strength = 1.0 / (table.settings.c * len(table))
    turned_anchors, turned_tokens = table.anchors.T.tocsr(), table.tokens.T.tocsr()

    def objective(point: Floats) -> tuple[float, Floats]:
        classes = table.anchors @ point[:border].reshape(-1, CLASSES)
        heads = table.tokens @ point[border:]
        loss, class_slopes, head_slopes = losses(table, classes, heads)
        slopes = np.concatenate(
            [(turned_anchors @ class_slopes).ravel(), turned_tokens @ head_slopes]
        )
        size = strength * float(point @ point) / 2
        return loss + size, slopes + strength * point

    return objective


def losses(table: Table, classes: Floats, heads: Floats) -> tuple[float, Floats, Floats]:
    """The mean loss of scores, and its slope by each of them.

    classes: [examples, 6]. heads: one a row of the table's tokens.
    """
    count, owner = len(table), table.example_of
    highest = classes.max(axis=1)
    np.maximum.at(highest, owner, heads)
    class_powers = np.exp(classes - highest[:, None])
    head_powers = np.exp(heads - highest[owner])
    all_of = class_powers.sum(axis=1) + np.bincount(owner, head_powers, count)
    right_class = class_powers * table.right_classes
    right_head = head_powers * table.right_tokens
    right = right_class.sum(axis=1) + np.bincount(owner, right_head, count)
    right = np.maximum(right, np.finfo(np.float64).tiny)
    loss = float(np.mean(np.log(all_of) - np.log(right)))
    class_slopes = class_powers / all_of[:, None] - right_class / right[:, None]
    head_slopes = head_powers / all_of[owner] - right_head / right[owner]
    return loss, class_slopes / count, head_slopes / count


def minimise(
    objective: Objective, start: Floats
) -> Generator[tuple[int, float], None, tuple[Floats, float, bool]]:
    """The lowest point of a smooth function by L-BFGS, its value, whether it is the bottom."""
    point = start
    value, slope = objective(point)
    steps: deque[tuple[Floats, Floats]] = deque(maxlen=REMEMBERED)
    for iteration in range(1, ITERATIONS + 1):
        if np.abs(slope).max(initial=0.0) <= FLAT:
            return point, value, True
        direction = _direction(slope, steps)
        first = 1.0 if steps else 1.0 / max(1.0, float(np.linalg.norm(slope)))
        found = _step(objective, point, value, float(slope @ direction), direction, first)
        if found is None:  # no step falls any more: as low as rounding lets it come
            return point, value, True
        moved, lower, turned = found
        if float((moved - point) @ (turned - slope)) > 0:
            steps.append((moved - point, turned - slope))
        point, value, slope = moved, lower, turned
        yield iteration, value
    return point, value, False


def _direction(slope: Floats, steps: "deque[tuple[Floats, Floats]]") -> Floats:
    """Downwards, bent by what the last steps told of the curvature."""
    direction = -slope
    shares = []
    for moved, turned in reversed(steps):
        share = float(moved @ direction) / float(moved @ turned)
        shares.append(share)
        direction = direction - share * turned
    if steps:
        moved, turned = steps[-1]
        direction = direction * (float(moved @ turned) / float(turned @ turned))
    for (moved, turned), share in zip(steps, reversed(shares), strict=True):
        back = float(turned @ direction) / float(moved @ turned)
        direction = direction + (share - back) * moved
    return direction


def _step(
    objective: Objective,
    point: Floats,
    value: float,
    fall: float,
    direction: Floats,
    length: float,
) -> tuple[Floats, float, Floats] | None:
    """The first point, halving the length, that is low enough; with its value and slope."""
    for _ in range(HALVINGS):
        moved = point + length * direction
        lower, slope = objective(moved)
        if lower <= value + ARMIJO * length * fall:
            return moved, lower, slope
        length /= 2
    return None
