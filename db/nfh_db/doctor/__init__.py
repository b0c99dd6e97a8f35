"""The doctor: checks every promise that the store makes, and mends what follows from others."""

from nfh_db.doctor.rows import Check, Finding, Repair, Where
from nfh_db.doctor.runner import CHECKS, Outcome, Repaired, Report, examine, repair

__all__ = [
    "CHECKS",
    "Check",
    "Finding",
    "Outcome",
    "Repair",
    "Repaired",
    "Report",
    "Where",
    "examine",
    "repair",
]
