"""The doctor: checks every promise that the store makes, and mends what follows from others."""

from nfh_db.doctor.rows import Check, DoctorFinding, Repair, Where
from nfh_db.doctor.runner import CHECKS, CheckResult, Repaired, Report, examine, repair

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "DoctorFinding",
    "Repair",
    "Repaired",
    "Report",
    "Where",
    "examine",
    "repair",
]
