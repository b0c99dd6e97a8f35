"""Examining a database: all checks, in one read transaction, whatever the file holds."""

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nfh_db.connection import Connection, sqlite3, translated
from nfh_db.doctor import patient as patients
from nfh_db.doctor import stretch as stretches
from nfh_db.doctor.finding import HOW, Check, Fault, Finding, Repair, Where
from nfh_db.doctor.patient import Patient
from nfh_db.doctor.registry import CHECKS
from nfh_db.doctor.stretch import UNREADABLE, Stretch
from nfh_models.domain import Anchor, anchor_id

AT_ONCE = 500
"""Passages looked at at once, with all their anchors."""

UNCHECKED = "this was not checked: tables of the file are not what they should be"
TOO_LONG = f"this was not checked to the end: it took over {patients.LIMIT:.0f} seconds"
"""In a file with foreign parts."""

LISTED = 100
"""Findings of one check that are listed; all are counted."""

NEXT_PASSAGE = "SELECT min(id) FROM passage WHERE id > :after"
COUNT_PASSAGES = "SELECT count(*) FROM passage"
PUBLIC = """
SELECT lower(hex(p.digest)), a.start, a.stop, a.removed = 0 AND a.replaced_by IS NULL
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id WHERE a.id = :id"""

TROUBLE = (sqlite3.Error, *UNREADABLE)
"""What a check may raise in a file whose bytes were damaged."""


@dataclass(slots=True)
class Outcome:
    """What one check found. faults: the first of them, up to LISTED."""

    check: Check
    broken: int = 0
    repairable: int = 0
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What an examination found.

    findings: listed ones, in the order of the checks. to_repair: for each kind of repair the
    anchors, or names, that need it, all of them.
    """

    path: Path
    sqlite: str
    schema: int
    anchors: int
    events: int
    seconds: float
    outcomes: tuple[Outcome, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    items_to_repair: "dict[Repair, array[int]]"
    names_to_repair: dict[Repair, tuple[str, ...]]

    @property
    def broken(self) -> int:
        """How many things are broken."""
        return sum(outcome.broken for outcome in self.outcomes)

    @property
    def repairable(self) -> int:
        """How many of them can be repaired."""
        return sum(outcome.repairable for outcome in self.outcomes)


Progress = Callable[[str, int, int], None]
"""Told the name of what is checked, how much of it is done, and how much there is."""


def examine(
    path: Path,
    *,
    progress: Progress = lambda _name, _done, _total: None,
    read_draft: Callable[[str], object] | None = None,
    checks: Sequence[Check] = CHECKS,
) -> Report:
    """Make all checks on a database as it is at one moment; nothing is written.

    read_draft: raises ValueError for the body of a draft that the editor cannot read.
    Raises StoreError and its kinds, with a sentence, where there is nothing to check.
    """
    begun = time.monotonic()
    with patients.opened(path) as patient:
        patient.read_draft = read_draft
        examination = _Examination(patient, checks, progress)
        examination.run()
        return examination.report(time.monotonic() - begun)


class _Examination:
    def __init__(self, patient: Patient, checks: Sequence[Check], progress: Progress) -> None:
        self._patient = patient
        self._progress = progress
        self._outcomes = [Outcome(check) for check in checks]
        self._items: dict[Repair, array[int]] = {}
        self._names: dict[Repair, dict[str, None]] = {}
        self._sound = patient.tables_are_ours
        self._anchors = self._count(patients.COUNT_ANCHORS)
        self._events = self._count(patients.COUNT_EVENTS)

    def _count(self, sql: str) -> int:
        if not self._sound:
            return 0
        try:
            with self._patient.limited():
                return self._patient.counted(sql)
        except sqlite3.Error:
            return 0

    def run(self) -> None:
        """Make the checks: those of the whole first, then those that go by passages."""
        for outcome in self._outcomes:
            whole = outcome.check.whole
            if not self._sound and not outcome.check.of_file:
                self._add(outcome, Fault(UNCHECKED))
            elif whole is not None:
                name = outcome.check.name
                self._progress(name, 0, self._anchors)
                self._patient.tell = partial(self._tell, name)
                with self._patient.limited():
                    self._collect(outcome, whole(self._patient), Where())
        walking = [outcome for outcome in self._outcomes if outcome.check.each is not None]
        if walking and self._sound:
            with self._patient.limited():
                self._walk(walking)

    def _tell(self, name: str, done: int) -> None:
        self._progress(name, done, self._anchors)

    def _collect(self, outcome: Outcome, faults: Iterator[Fault], where: Where) -> None:
        try:
            for fault in faults:
                self._add(outcome, fault)
                if self._patient.late:
                    self._add(outcome, Fault(TOO_LONG, where))
                    return
        except TROUBLE as error:
            late = self._patient.late
            what = (
                TOO_LONG if late else f"this could not be checked to the end: {_words(error)}"
            )
            self._add(outcome, Fault(what, where))

    def _add(self, outcome: Outcome, fault: Fault) -> None:
        outcome.broken += 1
        if fault.repair is not None:
            outcome.repairable += 1
            if fault.where.item is not None:
                self._items.setdefault(fault.repair, array("q")).append(fault.where.item)
            self._names.setdefault(fault.repair, {})[fault.target] = None
        if len(outcome.faults) < LISTED:
            outcome.faults.append(fault)

    def _walk(self, outcomes: Sequence[Outcome]) -> None:
        total = self._count(COUNT_PASSAGES)
        after: int | None = 0
        done = 0
        limit = AT_ONCE
        while after is not None:
            if self._patient.late:
                self._add(outcomes[0], Fault(TOO_LONG, Where("passage", after)))
                return
            try:
                stretch, last = stretches.read(self._patient.connection, after, limit)
            except TROUBLE as error:
                if limit > 1:
                    limit = 1
                    continue
                after = self._step_over(outcomes[0], after, error)
                continue
            for outcome in outcomes:
                self._look(outcome, stretch)
            done += len(stretch.passages)
            self._progress("passages", done, total)
            after, limit = last, AT_ONCE if limit == AT_ONCE else limit + 1

    def _look(self, outcome: Outcome, stretch: Stretch) -> None:
        if outcome.check.each is not None and stretch.passages:
            first = next(iter(stretch.passages))
            self._collect(outcome, outcome.check.each(stretch), Where("passage", first))

    def _step_over(self, outcome: Outcome, after: int, error: Exception) -> int | None:
        """Go on behind a passage that cannot be read at all; None if there is no way on."""
        key = {"after": after}
        try:
            broken: int | None = self._patient.connection.execute(NEXT_PASSAGE, key).fetchone()[
                0
            ]
        except sqlite3.Error:
            broken = None
        what = f"it, or what is said of it, cannot be read: {_words(error)}"
        if isinstance(error, sqlite3.Error) and _is_no_damage(error):
            broken = None
        if broken is None:
            what = f"it and what follows cannot be read: {_words(error)}"
        self._add(outcome, Fault(what, Where("passage", broken or after + 1)))
        return broken

    def report(self, seconds: float) -> Report:
        """What was found, in words for people and for programs."""
        with translated(self._patient.path):
            findings = tuple(
                _finding(outcome.check, fault, self._patient.connection)
                for outcome in self._outcomes
                for fault in outcome.faults
            )
        return Report(
            path=self._patient.path,
            sqlite=sqlite3.sqlite_version,
            schema=self._patient.version,
            anchors=self._anchors,
            events=self._events,
            seconds=seconds,
            outcomes=tuple(self._outcomes),
            findings=findings,
            notes=tuple(self._patient.notes),
            items_to_repair=self._items,
            names_to_repair={kind: tuple(names) for kind, names in self._names.items()},
        )


def _is_no_damage(error: sqlite3.Error) -> bool:
    """True if a table or a column is missing: the next passage has none either."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _finding(check: Check, fault: Fault, connection: Connection) -> Finding:
    public_id, query = _names(connection, fault.where.item)
    return Finding(
        check.name,
        fault.what,
        fault.where,
        fault.repair is not None,
        check.remedy if fault.repair is None else HOW[fault.repair],
        public_id,
        query,
    )


def _names(connection: Connection, item: int | None) -> tuple[str | None, str | None]:
    """The id by which files name an item, and a query that finds it; None for what is not."""
    if item is None:
        return None, None
    try:
        row = connection.execute(PUBLIC, {"id": item}).fetchone()
    except sqlite3.Error:
        row = None
    if row is None:
        return None, None
    return anchor_id(row[0], Anchor(row[1], row[2])), f"id:{item}" if row[3] else None
