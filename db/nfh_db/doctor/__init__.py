"""The doctor: checks every promise that the store makes, and mends what follows from others."""

from nfh_db.doctor.examine import Outcome, Report, examine
from nfh_db.doctor.finding import Check, Finding, Repair, Where
from nfh_db.doctor.registry import CHECKS
from nfh_db.doctor.repair import Repaired, repair

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
