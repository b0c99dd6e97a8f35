"""Kinds that one person comes to say more often, or less, in the course of the work."""

from collections.abc import Iterator, Sequence

from nfh_models.agreement.competence import Mark
from nfh_models.agreement.drift import Trend, corrected, in_order, kind_trends, no_order
from nfh_models.domain import Kind
from nfh_models.trouble.scene import Check, Finding, Scene, Severity

NAME = "kinds-over-time"


class OverTime:
    """Takes votes in by `add`; then `findings` tells whose kinds shift."""

    def __init__(self) -> None:
        self._votes: dict[str, list[Mark]] = {}

    def add(self, name: str, key: int, kind: Kind, at: str) -> None:
        """Take a vote in. at: when it was given, UTC, ISO 8601."""
        mark = Mark(key, kind, at, None, None, None, None, None)
        self._votes.setdefault(name, []).append(mark)

    def findings(self) -> Iterator[Finding]:
        """One finding a person and kind, for the tests that hold among all that are made."""
        tested = [
            (name, trend)
            for name in sorted(self._votes)
            for trend in _trends(self._votes[name])
        ]
        trends = corrected([trend for _, trend in tested])
        for (name, _), trend in zip(tested, trends, strict=True):
            if trend.holds:
                yield Finding(NAME, (), _in_words(trend, self._votes[name], len(tested)), name)


def _trends(marks: Sequence[Mark]) -> Iterator[Trend]:
    if no_order(marks) is None:
        yield from kind_trends([mark.kind for mark in in_order(marks)])


def _in_words(trend: Trend, marks: Sequence[Mark], tests: int) -> str:
    ordered = [mark.kind for mark in in_order(marks)]
    half = len(ordered) // 2
    early, late = _share(ordered[:half], trend.what), _share(ordered[half:], trend.what)
    return (
        f"{trend.what} is {early:.0%} of the first half of {len(ordered):,} answers and "
        f"{late:.0%} of the second (Spearman {trend.rho:+.2f}, q {trend.q:.3f} over "
        f"{tests} tests)"
    )


def _share(kinds: Sequence[Kind], wanted: str) -> float:
    return sum(kind.value == wanted for kind in kinds) / len(kinds)


def _nothing(scene: Scene) -> Iterator[Finding]:  # noqa: ARG001
    return iter(())


CHECK = Check(
    NAME,
    Severity.NOTE,
    "A person comes to say a kind more often, or less, in the course of the work.",
    _nothing,
)
