"""Checks of a database, and repairs of what can be computed again.

`runner` lists the checks, runs them and repairs; `rows` opens the database and reads it without
the store's own checks; `content_checks` checks what people did and `file_checks` everything
else. Import from this package; tests may import the modules. The store does not import it.
"""

from nfh_db.doctor.rows import Check, DoctorFinding, Place, Repair
from nfh_db.doctor.runner import CHECKS, CheckResult, DoctorReport, Repaired, examine, repair

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "DoctorFinding",
    "DoctorReport",
    "Place",
    "Repair",
    "Repaired",
    "examine",
    "repair",
]
