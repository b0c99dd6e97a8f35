"""All checks, in the order in which they are reported."""

from collections.abc import Iterator

from nfh_models.label_checks import head_checks, number_checks
from nfh_models.label_checks.base import CheckContext, LabelCheck, LabelFinding, Severity


def _nothing(scene: CheckContext) -> Iterator[LabelFinding]:  # noqa: ARG001
    return iter(())


NOT_TAKEN = LabelCheck(
    "import-conflict",
    Severity.NOTE,
    "An import said something else than what was kept.",
    _nothing,
)
"""Found by the store, in the reports of imports."""

CHECKS: tuple[LabelCheck, ...] = (
    *head_checks.REPEAT_CHECKS,
    *head_checks.ACROSS,
    NOT_TAKEN,
    *number_checks.ADJACENT_CHECKS,
    *number_checks.PAIR_CHECKS,
    *number_checks.SHAPE_CHECKS,
    *head_checks.HEAD_CHECKS,
    *head_checks.PATTERN_CHECKS,
    *head_checks.ROUTE_CHECKS,
    head_checks.CHECK,
)


def look(scene: CheckContext) -> Iterator[LabelFinding]:
    """What all checks find in one passage; those that need tags are skipped without them."""
    for check in CHECKS:
        if scene.tags is not None or not check.tagged:
            yield from check.look(scene)
