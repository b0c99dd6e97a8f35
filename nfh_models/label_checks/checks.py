"""All label checks, in the order of the report."""

from collections.abc import Iterator

from nfh_models.label_checks import head_checks, number_checks
from nfh_models.label_checks.base import (
    NOTE,
    CheckContext,
    LabelCheck,
    LabelFinding,
    nothing,
)

NOT_TAKEN = LabelCheck(
    "import-conflict", NOTE, "An import said something else than what was kept.", nothing
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


def look(context: CheckContext) -> Iterator[LabelFinding]:
    """The findings of all checks in one passage; checks that need tags are skipped without
    them.
    """
    for check in CHECKS:
        if context.tags is not None or not check.tagged:
            yield from check.look(context)
