"""The curve that `learning.py` measured, as a picture."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 150, 20, 50
APART = 15
"""Between two lines of text."""

LOOKS = {"random": ("#777777", "6 4"), "uncertain": ("#1f6feb", "")}
"""Colour and dashes of each order's line: two signs, for whoever sees one of them only."""


def curve(rows: Sequence[tuple[str, int, float]]) -> str:
    """An SVG of the means by order and number of labels, each seed a dot.

    rows: order ("" before any label), labels, percent.
    """
    start = statistics.fmean(value for order, _, value in rows if not order)
    values = [value for _, _, value in rows]
    low, high = int(min(values)) - 1, int(max(values)) + 2
    most = max(labels for _, labels, _ in rows)

    def x(labels: float) -> float:
        # By the square root: few labels are where most happens.
        return LEFT + sqrt(labels / most) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    parts += [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
        f'stroke="#dddddd"/><text x="{LEFT - 8}" y="{y(value) + 4:.1f}" '
        f'text-anchor="end">{value}</text>'
        for value in range(low, high + 1)
    ]
    parts += [
        f'<text x="{x(labels):.1f}" y="{HEIGHT - BOTTOM + 18}" '
        f'text-anchor="middle">{labels}</text>'
        for labels in sorted({labels for _, labels, _ in rows})
    ]
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">'
        "labels</text>"
    )
    ends: dict[str, float] = {}
    for order, (colour, dashes) in LOOKS.items():
        mine = [(labels, value) for one, labels, value in rows if one == order]
        sizes = sorted({labels for labels, _ in mine})
        means = [statistics.fmean(v for n, v in mine if n == size) for size in sizes]
        line = " ".join(
            f"{x(n):.1f},{y(v):.1f}" for n, v in zip([0, *sizes], [start, *means], strict=True)
        )
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"/>'
        )
        parts += _dots(((x(n), y(v)) for n, v in mine), colour)
        ends[order] = means[-1] if means else start
    parts += _names(ends, y)
    return "\n".join([*parts, "</svg>\n"])


def _names(ends: Mapping[str, float], y: Callable[[float], float]) -> list[str]:
    """Each line's name at its end, none on another."""
    names, last = [], 0.0
    for order, value in sorted(ends.items(), key=lambda one: -one[1]):
        last = max(y(value) + 4, last + APART)
        names.append(
            f'<text x="{WIDTH - RIGHT + 8}" y="{last:.1f}" fill="{LOOKS[order][0]}">'
            f"{order} {value:.1f}</text>"
        )
    return names


def _dots(places: Iterable[tuple[float, float]], colour: str) -> list[str]:
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
