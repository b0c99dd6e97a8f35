"""Runs an import: plans and writes it in short transactions, and makes it visible at the end.

All rows of a file become visible in one transaction, or none do. An import that is killed
before leaves invisible rows, which the next start removes; one that is killed after is
completed by the next start.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from nfh_db import anchors, answers, batches, bulk_run, event_log, passages, system
from nfh_db.batches import Work
from nfh_db.bulk_run import bulk_connection, finish_leftovers
from nfh_db.connection import (
    SYNCHRONOUS_FULL,
    Connection,
    Repository,
    WriteSize,
    sqlite3,
    transaction,
    with_path,
)
from nfh_db.errors import StoreError
from nfh_db.import_plan import (
    AnchorPlace,
    Ids,
    ImportCounts,
    ImportPlanner,
    ImportPurpose,
    ImportRows,
    KnownPassages,
)
from nfh_db.records import PERSON, Annotator, ImportReport, IncomingPassage

INSERT_SOURCE = """
INSERT INTO source_row (batch_id, line, anchor_id, split, labels)
VALUES (:batch, :line, :anchor, :split, :labels)"""

WRITE_SIZE = WriteSize(first=100, smallest=20, largest=2_000, seconds=0.03)
"""In passages."""

SLACK = 64
"""Ids left free for rows that others add between planning and writing."""

ATTEMPTS = 5
"""Plans per stretch until the import gives up because others write."""

LISTED_CONFLICTS = 50
"""Conflicts that a report names; of the others it has the number."""


def _no_warnings() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file to import, or other data that is imported like a file."""

    name: str
    sha256: str
    """Of its bytes, in hex; a space and the settings with which it is read follow, if any."""

    format: str
    split: str | None = None
    annotator: str | None = None
    """Whose answers the labels are; None if they are gold."""

    warnings: Callable[[], Sequence[str]] = field(default=_no_warnings)
    """Called after all rows were read."""

    act: str = ""
    """Summary for the log; "" for "import of" the file."""

    newer_answers: bool = False
    """An annotator's answer replaces an earlier one of the same annotator in the database."""

    raw: bool = False
    """The settings determine how the text is divided into passages."""


def chunks(
    incoming: Iterable[IncomingPassage], size: Callable[[], int]
) -> Iterator[Sequence[IncomingPassage]]:
    passages_ = iter(incoming)
    while stretch := list(islice(passages_, size())):
        yield stretch


def types_in(stretch: Sequence[IncomingPassage]) -> dict[str, str]:
    """Return the annotators that a stretch names, with their types.

    Raises StoreError if one name is used for two types.
    """
    found: dict[str, str] = {}
    for name, type_ in _named(stretch):
        if found.setdefault(name, type_) != type_:
            raise StoreError(
                f"{name!r} is the name of a {found[name]} and of a {type_} in this file: they "
                "cannot be the same"
            )
    return found


def _named(stretch: Sequence[IncomingPassage]) -> Iterator[tuple[str, str]]:
    for one in stretch:
        for row in one.anchors:
            yield from ((vote.annotator, vote.type) for vote in row.votes)
            yield from ((mark.annotator, PERSON) for mark in row.flags)
            if row.gold is not None and row.gold.adjudicator is not None:
                yield row.gold.adjudicator, PERSON


def report_of(
    source: IncomingFile,
    counts: ImportCounts,
    conflicts: Sequence[str],
    *,
    already: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    listed = tuple(conflicts[:LISTED_CONFLICTS])
    if len(conflicts) > len(listed):
        more = len(conflicts) - len(listed)
        listed += (f"and {more} more: {len(conflicts)} rows in all were not taken over",)
    return ImportReport(
        name=source.name,
        format=source.format,
        **asdict(counts),
        conflicts=listed,
        warnings=tuple(source.warnings()),
        already=already,
        dry_run=dry_run,
    )


class Loading:
    """A running import.

    origin: for a second import of a file, which only restores its gold, the batch of the first;
    else None.
    """

    def __init__(
        self,
        connection: Connection,
        source: IncomingFile,
        replace_gold: bool,
        tell: Callable[[int], None],
        origin: int | None = None,
    ) -> None:
        self._connection = connection
        self._source = source
        self._replace_gold = replace_gold
        self._tell = tell
        self._origin = origin
        self._work = Work()
        self._people: dict[str, int] = {}
        self._types: dict[str, str] = {}
        self._counts = ImportCounts()
        self._conflicts: list[str] = []
        self._ahead: dict[int, AnchorPlace] = {}
        self._size = WRITE_SIZE.first
        self._slack = 0
        self._batch = 0
        self._note = ""
        self._document = 0

    def run(self, incoming: Iterable[IncomingPassage]) -> ImportReport:
        """Import all passages.

        An exception before the file is visible removes what was written, and is raised again.
        After that the file is stored: a StoreError says so, and the next start completes it.
        """
        with ExitStack() as stack:
            self._begin(stack)
            try:
                for stretch in chunks(incoming, lambda: self._size):
                    self._store(stretch)
                    self._tell(self._counts.rows)
                if self._origin is not None and not self._counts.changes:
                    return self._nothing_to_do()
                report = report_of(self._source, self._counts, self._conflicts)
                self._show(report)
            except BaseException as error:
                self._take_back(error)
                raise
            self._settle()
            return report

    def _begin(self, stack: ExitStack) -> None:
        source, connection = self._source, self._connection
        with transaction(connection):
            wanted = f"add {source.name}" if source.act else f"import {source.name}"
            batches.refuse_beside_another(connection, wanted)
            sha256, what = source.sha256, source.act or f"import of {source.name}"
            if self._origin is not None:
                sha256 = batches.name_of_next_run(connection, sha256)
                what += ", for its gold"
            elif batches.find_shown(connection, sha256, source.format, source.annotator):
                raise StoreError(f"{source.name} has just been imported by another process")
            if source.annotator is not None:
                self._learn({source.annotator: PERSON})
            self._batch = batches.add(
                connection,
                source.name,
                sha256,
                source.format,
                source.split,
                source.annotator,
                self._work,
            )
            stack.enter_context(batches.running(self._batch))
            self._work.act = event_log.add(
                connection,
                self._people.get(source.annotator or ""),
                "import",
                what,
                system.now(),
                batch=self._batch,
            )
            self._work.started = system.started(os.getpid())
            self._note = batches.set_report(connection, self._batch, self._work)
            self._document = passages.add_document(connection, source.name, self._batch)

    def _learn(self, types: Mapping[str, str]) -> bool:
        """Get or create the annotators; return whether any was created.

        Call it in a transaction, and write `_work` afterwards, so that a sweep removes them.
        """
        made = False
        for name in sorted(types.keys() - self._people.keys()):
            found = passages.find(self._connection, name)
            if found is None:
                found = passages.add(self._connection, name, types[name])
                self._work.annotators.append(found.id)
                made = True
            self._people[name], self._types[name] = found.id, found.type
        for name, type_ in types.items():
            passages.check_type(Annotator(0, name, self._types[name]), type_)
        return made

    def _store(self, stretch: Sequence[IncomingPassage]) -> None:
        types = types_in(stretch)
        if not types.items() <= self._types.items():
            with transaction(self._connection):
                if self._learn(types):
                    self._note = batches.set_report(self._connection, self._batch, self._work)
        for attempt in range(1, ATTEMPTS + 1):
            known = KnownPassages(ahead=self._ahead)
            known.look_up(self._connection, stretch)
            plan = ImportPlanner(self._purpose(), known, self._next_ids()).run(stretch)
            try:
                if self._write(plan):
                    break
            except sqlite3.IntegrityError:
                # Somebody added an anchor with the same span: plan again, with that one.
                if attempt == ATTEMPTS:
                    raise
        else:
            raise StoreError(
                f"{self._source.name} cannot be imported while others write this fast: "
                "try again later"
            )
        self._counts.add(plan.counts)
        self._conflicts += plan.conflicts
        self._ahead.update(plan.ahead)

    def _purpose(self) -> ImportPurpose:
        return ImportPurpose(
            self._source.name,
            self._batch,
            self._batch if self._origin is None else self._origin,
            self._work.act,
            self._document,
            self._replace_gold,
            self._people,
            self._types,
            self._source.newer_answers,
        )

    def _last_ids(self) -> Ids:
        tables = (passages.LAST_ID, anchors.LAST_ID, answers.LAST_ID, answers.LAST_HEAD_ID)
        return Ids(*(self._connection.execute(sql).fetchone()[0] for sql in tables))

    def _next_ids(self) -> Ids:
        last, free = self._last_ids(), 1 + self._slack
        return Ids(
            last.passage + free, last.anchor + free, last.answer + free, last.head + free
        )

    def _write(self, plan: ImportRows) -> bool:
        """Write the rows of a plan in one transaction; return False if its ids are taken."""
        connection = self._connection
        with transaction(connection):
            begun = time.perf_counter()
            self._check_mine()
            if not plan.first.above(self._last_ids()):
                self._slack = SLACK
                return False
            for sql, rows in (
                (passages.INSERT, plan.passages),
                (passages.INSERT_TOKENS, plan.tokens),
                (passages.ADD_WORDS, plan.words),
                (anchors.INSERT_WITH_ID, plan.anchors),
                (answers.INSERT_WITH_ID, plan.answers),
                (answers.INSERT_GOLD, plan.golds),
                (answers.INSERT_HEAD_WITH_ID, plan.heads),
                (answers.INSERT_MENTION, plan.mentions),
                (answers.INSERT_FLAG, plan.flags),
                (answers.INSERT_DIFFERENCE, plan.differences),
                (answers.INSERT_EXPERT_DIFFERENCE, plan.expert_differences),
                (answers.INSERT_GOLD_DIFFERENCE, plan.gold_differences),
                (INSERT_SOURCE, plan.sources),
                (event_log.INSERT_EVENT, plan.events),
            ):
                if rows:
                    connection.executemany(sql, rows)
            deferred = event_log.record_all(connection, plan.deferred)
        if deferred is not None:
            self._work.defer(*deferred)
        self._size = WRITE_SIZE.next(self._size, time.perf_counter() - begun)
        return True

    def _check_mine(self) -> None:
        """Raise StoreError if another process removed the batch.

        Rows that refer to a missing batch would be visible at once.
        """
        if not batches.still_mine(self._connection, self._batch, self._note):
            raise StoreError(
                f"The import of {self._source.name} was cleared away by a program that could "
                "not see this process (another container?). Nothing of it is stored; open "
                "the database from one place at a time while you import"
            )

    def _show(self, report: ImportReport) -> None:
        """Make all rows visible, in a transaction that is synced to the disk."""
        connection = self._connection
        self._work.report = report
        connection.execute(SYNCHRONOUS_FULL)
        with transaction(connection):
            self._check_mine()
            passages.drop_empty_document(connection, self._document)
            if self._work.deferred:
                batches.set_state(connection, self._batch, "settling", report.rows, self._work)
            else:
                batches.set_state(connection, self._batch, "ready", report.rows, report)

    def _settle(self) -> None:
        try:
            bulk_run.run_settlement(self._connection, self._batch, self._work)
        except sqlite3.Error as error:
            raise StoreError(
                f"{self._source.name} is stored, but what it says of numbers that were here "
                f"before could not all be written yet ({error}). Nothing is lost: make sure "
                "that the disk has room, and open the database again; the rest is done then"
            ) from error

    def _nothing_to_do(self) -> ImportReport:
        """Remove the batch of a second import that found all gold as the file has it."""
        bulk_run.run_sweep(self._connection, self._batch, self._work)
        return report_of(self._source, self._counts, self._conflicts, already=True)

    def _take_back(self, error: BaseException) -> None:
        unseen = [one.id for one in batches.unfinished(self._connection) if one.is_loading]
        if self._batch not in unseen:
            # The file became visible before the error.
            error.add_note(f"{self._source.name} is stored; the next start does what is left.")
            return
        try:
            bulk_run.run_sweep(self._connection, self._batch, self._work)
            note = f"Nothing of {self._source.name} is stored."
        except sqlite3.Error:
            note = "What had been written stays invisible, and is cleared at the next start."
        error.add_note(note)


# In KiB (64 MiB). Digests arrive in random order: if their index does not fit into the cache,
# its pages are read and written again and again.
ROOM_FOR_DIGESTS = "PRAGMA cache_size = -65536"


def load(
    path: Path,
    source: IncomingFile,
    stretch: Iterable[IncomingPassage],
    *,
    replace_gold: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import one file, as a whole or not at all.

    The same file again changes nothing; with `replace_gold` it restores its gold, unless its
    labels are answers. dry_run: writes nothing. progress: called with the number of rows done.
    Raises what iterating `stretch` raises, FormatError, or StoreError; nothing of the file is
    stored then, unless the message says so.
    """
    with bulk_connection(path, read_only=dry_run) as connection:
        if not dry_run:
            connection.execute(ROOM_FOR_DIGESTS)
            finish_leftovers(connection)
        known = batches.find_shown(connection, source.sha256, source.format, source.annotator)
        again = replace_gold and source.annotator is None
        if known is not None and not again:
            return report_of(
                source, ImportCounts(rows=known[1]), (), already=True, dry_run=dry_run
            )
        if known is None and source.raw and batches.came_otherwise(connection, source.sha256):
            source = replace(source, warnings=partial(_with_warning, source))
        origin = None if known is None else known[0]
        tell = progress or (lambda _: None)
        if dry_run:
            return _rehearse(connection, source, stretch, replace_gold, tell, origin)
        return Loading(connection, source, replace_gold, tell, origin).run(stretch)


def _with_warning(source: IncomingFile) -> Sequence[str]:
    return (
        *source.warnings(),
        "the same file was imported before with other settings: what stands in a passage of "
        "either is to be decided twice",
    )


def _rehearse(
    connection: Connection,
    source: IncomingFile,
    incoming: Iterable[IncomingPassage],
    replace_gold: bool,
    tell: Callable[[int], None],
    origin: int | None,
) -> ImportReport:
    """Return the report of an import without writing anything."""
    known, counts, conflicts = KnownPassages(), ImportCounts(), list[str]()
    people = {person.name: person for person in passages.read_annotators(connection)}
    for stretch in chunks(incoming, lambda: WRITE_SIZE.largest):
        for name, type_ in types_in(stretch).items():
            passages.check_name(name)
            passages.check_type(people.setdefault(name, Annotator(0, name, type_)), type_)
        known.look_up(connection, stretch)
        purpose = ImportPurpose(
            source.name,
            -1,
            -1 if origin is None else origin,
            0,
            0,
            replace_gold,
            {name: one.id for name, one in people.items()},
            {name: one.type for name, one in people.items()},
            source.newer_answers,
        )
        plan = ImportPlanner(purpose, known, Ids(1, 1, 1, 1)).run(stretch)
        counts.add(plan.counts)
        conflicts += plan.conflicts
        tell(counts.rows)
    already = origin is not None and not counts.changes
    return report_of(source, counts, conflicts, already=already, dry_run=True)


class Imports(Repository):
    load = with_path(load)
