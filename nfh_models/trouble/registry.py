"""All checks, in the order in which they are reported."""

from collections.abc import Iterator

from nfh_models.trouble import (
    beside,
    heads,
    over_time,
    pairs,
    patterns,
    repeats,
    route,
    shape,
)
from nfh_models.trouble.scene import Check, Finding, Scene, Severity


def _nothing(scene: Scene) -> Iterator[Finding]:  # noqa: ARG001
    return iter(())


NOT_TAKEN = Check(
    "import-conflict",
    Severity.NOTE,
    "An import said something else than what was kept.",
    _nothing,
)
"""Found by the store, in the reports of imports."""

CHECKS: tuple[Check, ...] = (
    *repeats.CHECKS,
    *repeats.ACROSS,
    NOT_TAKEN,
    *beside.CHECKS,
    *pairs.CHECKS,
    *shape.CHECKS,
    *heads.CHECKS,
    *patterns.CHECKS,
    *route.CHECKS,
    over_time.CHECK,
)


def look(scene: Scene) -> Iterator[Finding]:
    """What all checks find in one passage; those that need tags are skipped without them."""
    for check in CHECKS:
        if scene.tags is not None or not check.tagged:
            yield from check.look(scene)
