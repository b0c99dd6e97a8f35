"""What a check says: what is broken, where, and what can be done about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_db.doctor.patient import Patient
    from nfh_db.doctor.stretch import Stretch


class Repair(StrEnum):
    """What a repair may write: things that follow from others, and nothing that people did."""

    PARTS = "foreign parts"
    WAL = "write-ahead log"
    INDEXES = "indexes"
    SUMMARIES = "summaries"
    ASSIGNMENTS = "assignments"
    IMPORTS = "imports"
    JOBS = "jobs"


HOW: dict[Repair, str] = {
    Repair.PARTS: "--repair takes it out, and looks further then; the copy keeps it",
    Repair.WAL: "--repair switches the write-ahead log on",
    Repair.INDEXES: "--repair builds the index from its table",
    Repair.SUMMARIES: "--repair computes it from the answers and the gold",
    Repair.ASSIGNMENTS: "--repair sets it by the answers that are there",
    Repair.IMPORTS: "--repair clears away what nobody saw yet, or finishes what is seen",
    Repair.JOBS: "--repair empties what cannot be read; without its arguments a job fails",
}


@dataclass(frozen=True, slots=True)
class Where:
    """The place of a fault. row: the row's id or key. item: the anchor that it is about."""

    table: str = ""
    row: int | str | None = None
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Something broken, as a check finds it. what: words that say it without the place.

    target: what the repair is to be done to, where that is no item: the name of an index.
    """

    what: str
    where: Where = Where()
    repair: Repair | None = None
    target: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something broken, as it is reported. check: the name of the check that found it.

    how: what to do about it. public_id: of the item, where it is about one. query: finds that
    item in the workbench; None where it is about none, or about one that nobody sees.
    """

    check: str
    what: str
    where: Where
    repairable: bool
    how: str
    public_id: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One promise, and how it is checked.

    promise: one sentence. remedy: what to do about what no repair can mend. whole: looks at
    the database at once. each: looks at a stretch of passages with all that is said of them.
    of_file: reads none of the tables.
    """

    name: str
    promise: str
    remedy: str
    whole: "Callable[[Patient], Iterator[Fault]] | None" = None
    each: "Callable[[Stretch], Iterator[Fault]] | None" = None
    of_file: bool = False
