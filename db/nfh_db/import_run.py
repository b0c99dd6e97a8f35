"""Runs an import: plans and writes it in short transactions, and makes it visible at the end.

All rows of a file become visible in one transaction, or none do. An import that is killed
before leaves invisible rows, which the next start removes; one that is killed after is
completed by the next start.
"""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, TypeVar

import msgspec

from nfh_db import anchors, answers, batches, bulk_run, event_log, passages, system
from nfh_db.batches import Work
from nfh_db.bulk_run import BulkAct, Row, bulk_connection, finish_leftovers
from nfh_db.connection import (
    SYNCHRONOUS_FULL,
    Connection,
    Repository,
    WriteSize,
    reads,
    sqlite3,
    transaction,
    with_path,
)
from nfh_db.errors import StoreError
from nfh_db.import_plan import (
    EXAMPLES,
    AnchorPlace,
    Ids,
    ImportCounts,
    ImportPlanner,
    ImportPurpose,
    ImportRows,
    KnownPassages,
    read_values,
)
from nfh_db.messages import quoted
from nfh_db.records import (
    PERSON,
    Annotator,
    Correction,
    Gone,
    Import,
    ImportReport,
    IncomingAnchor,
    IncomingPassage,
    RetireReport,
    Rule,
    normal_name,
)
from nfh_db.serialization import (
    AnchorValue,
    AnswerValue,
    FlagValue,
    GoldValue,
    Mark,
    Marks,
    content_of,
    decode_gold,
    encode,
    heads_of,
    json_of,
    object_of,
)
from nfh_models.domain import Mention, Passage

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

    by: str = ""
    """Who imports it."""

    raw: bool = False
    """The settings determine how the text is divided into passages."""

    new_person: bool = False
    """A new person's name may differ from a known one only by case, accents or width."""


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
                f"{name!r} is the name of a {found[name]} and of a {type_} in this file: one "
                "name cannot be both"
            )
    return found


def _named(stretch: Sequence[IncomingPassage]) -> Iterator[tuple[str, str]]:
    for one in stretch:
        for row in one.anchors:
            yield from ((vote.annotator, vote.type) for vote in row.votes)
            yield from ((mark.annotator, PERSON) for mark in row.flags)
            if row.gold is not None and row.gold.adjudicator is not None:
                yield row.gold.adjudicator, PERSON


def _with_names(
    stretch: Sequence[IncomingPassage], names: Mapping[str, str]
) -> Sequence[IncomingPassage]:
    """Return the passages with names as stored. names: those by the names of the file."""
    if all(name == stored for name, stored in names.items()):
        return stretch
    return [
        replace(one, anchors=tuple(_anchor_with_names(row, names) for row in one.anchors))
        for one in stretch
    ]


def _anchor_with_names(row: IncomingAnchor, names: Mapping[str, str]) -> IncomingAnchor:
    gold = row.gold
    if gold is not None:
        by = gold.adjudicator and names[gold.adjudicator]
        votes = tuple((names.get(name, name), at) for name, at in gold.votes)
        gold = replace(gold, adjudicator=by, votes=votes)
    return replace(
        row,
        gold=gold,
        votes=tuple(replace(vote, annotator=names[vote.annotator]) for vote in row.votes),
        flags=tuple(replace(mark, annotator=names[mark.annotator]) for mark in row.flags),
    )


@dataclass(slots=True)
class Outcome:
    """What a report tells of the plans of a file: counts, and the first examples."""

    counts: ImportCounts = field(default_factory=ImportCounts)
    conflicts: list[str] = field(default_factory=list)
    not_taken: int = 0
    """All conflicts."""

    new: list[tuple[int, str]] = field(default_factory=list)
    """Line and text of new passages."""

    def add(self, plan: ImportRows) -> None:
        self.counts.add(plan.counts)
        self.not_taken += len(plan.conflicts)
        self.conflicts += plan.conflicts[: LISTED_CONFLICTS - len(self.conflicts)]
        self.new += plan.new[: EXAMPLES - len(self.new)]


def report_of(
    source: IncomingFile,
    outcome: Outcome,
    **also: Any,  # noqa: ANN401 - fields of ImportReport
) -> ImportReport:
    listed = tuple(outcome.conflicts)
    if more := outcome.not_taken - len(listed):
        listed += (f"and {more} more: {outcome.not_taken} rows in all were left out",)
    return ImportReport(
        name=source.name,
        format=source.format,
        **asdict(outcome.counts),
        conflicts=listed,
        warnings=tuple(source.warnings()),
        by=source.by,
        **also,
    )


class Loading:
    """A running import.

    origin: for a second import of a file, which only restores its gold and its retired anchors,
    the batch of the first; else None.
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
        self._names: dict[str, str] = {}
        self._outcome = Outcome()
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
                    self._tell(self._outcome.counts.rows)
                number = self._batch if self._origin is None else self._origin
                found = correction(self._connection, self._source, number, self._outcome.new)
                again = self._origin is not None and not self._outcome.counts.changes
                again &= number not in batches.are_out(self._connection)
                parts = self._source, self._outcome
                report = report_of(*parts, already=again, number=number, correction=found)
                if again:
                    # A second import found all as the file has it.
                    bulk_run.run_sweep(self._connection, self._batch, self._work)
                    return report
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
                what += ", for its gold" if self._replace_gold else ", to bring it back"
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
        index = passages.NameIndex(self._connection)
        for name in sorted(types.keys() - self._names.keys()):
            known = index.find(name)
            found = passages.add(
                *(self._connection, name, types[name]),
                new_person=self._source.new_person,
                index=index,
            )
            if known is None:
                self._work.annotators.append(found.id)
                made = True
            self._names[name] = found.name
            self._people[found.name], self._types[found.name] = found.id, found.type
        for name, type_ in types.items():
            stored = self._names[name]
            passages.check_type(Annotator(0, stored, self._types[stored]), type_)
        return made

    def _store(self, stretch: Sequence[IncomingPassage]) -> None:
        types = types_in(stretch)
        if any(self._types.get(self._names.get(n, "")) != type_ for n, type_ in types.items()):
            with transaction(self._connection):
                if self._learn(types):
                    self._note = batches.set_report(self._connection, self._batch, self._work)
        stretch = _with_names(stretch, {name: self._names[name] for name in types})
        for attempt in range(1, ATTEMPTS + 1):
            known = KnownPassages(act=self._work.act)
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
                f"{self._source.name} cannot be imported while other programs write so much: "
                "try again later"
            )
        self._outcome.add(plan)

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
                f"The import of {self._source.name} was removed by a program that could not "
                "see this process (another container?). Nothing of it is stored; open the "
                "database from one place at a time while you import"
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
                f"{self._source.name} is stored, but not all of its labels of known numbers "
                f"are applied yet ({error}). Nothing is lost: make room on the disk and open "
                "the database again, which applies the rest"
            ) from error

    def _take_back(self, error: BaseException) -> None:
        unseen = [one.id for one in batches.unfinished(self._connection) if one.is_loading]
        if self._batch not in unseen:
            # The file became visible before the error.
            error.add_note(f"{self._source.name} is stored; the next start finishes it.")
            return
        try:
            bulk_run.run_sweep(self._connection, self._batch, self._work)
            note = f"Nothing of {self._source.name} is stored."
        except sqlite3.Error:
            note = "The unfinished part stays invisible, and the next start removes it."
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

    The same file again brings back what was retired of it, and changes nothing else; with
    `replace_gold` it also restores its gold, unless its labels are answers. dry_run: writes
    nothing. progress: called with the number of rows done.
    Raises what iterating `stretch` raises, FormatError, or StoreError; nothing of the file is
    stored then, unless the message says so.
    """
    with bulk_connection(path, read_only=dry_run) as connection:
        if not dry_run:
            connection.execute(ROOM_FOR_DIGESTS)
            finish_leftovers(connection)
        if source.annotator is not None:
            me = passages.find(connection, source.annotator)
            name = me.name if me else normal_name(source.annotator)
            source = replace(source, annotator=name)
        known = batches.find_shown(connection, source.sha256, source.format, source.annotator)
        again = replace_gold and source.annotator is None
        if known is not None and not again and not batches.ever_retired(connection):
            return report_of(
                *(source, Outcome(ImportCounts(rows=known[1]))),
                already=True,
                dry_run=dry_run,
                number=known[0],
                correction=correction(connection, source, known[0]),
            )
        if known is None and source.raw and batches.came_otherwise(connection, source.sha256):
            source = replace(source, warnings=partial(_with_warning, source, OTHERWISE))
        if known is None and source.annotator is not None:
            for other in batches.brought_as(connection, source.sha256, source.annotator):
                sentence = SECOND_NAME.format(
                    other=quoted(other), name=quoted(source.annotator)
                )
                source = replace(source, warnings=partial(_with_warning, source, sentence))
        origin = None if known is None else known[0]
        tell = progress or (lambda _: None)
        if dry_run:
            return _rehearse(connection, source, stretch, replace_gold, tell, origin)
        return Loading(connection, source, replace_gold, tell, origin).run(stretch)


OTHERWISE = (
    "the same file was imported before with other settings: an item that is in passages of "
    "both imports must be decided twice"
)
SECOND_NAME = (
    "the same file was imported before as the answers of {other}. If both names are one "
    "person, nfh-tui people merge {name} {other} makes one of them"
)


def _with_warning(source: IncomingFile, sentence: str) -> Sequence[str]:
    return (*source.warnings(), sentence)


NO_ID = 2**62
"""Above all ids: what a dry run plans is nothing that is here."""


def _rehearse(
    connection: Connection,
    source: IncomingFile,
    incoming: Iterable[IncomingPassage],
    replace_gold: bool,
    tell: Callable[[int], None],
    origin: int | None,
) -> ImportReport:
    """Return the report of an import without writing anything."""
    known, outcome, here = KnownPassages(), Outcome(), set[object]()
    index = passages.NameIndex(connection)
    people: dict[str, Annotator] = {}
    for stretch in chunks(incoming, lambda: WRITE_SIZE.largest):
        types = types_in(stretch)
        for name, type_ in types.items():
            found = index.get(name, type_, new_person=source.new_person)
            found = found or Annotator(0, normal_name(name), type_)
            index.add(found.name, found)
            people[name] = found
        named = _with_names(stretch, {name: people[name].name for name in types})
        known.look_up(connection, named)
        purpose = ImportPurpose(
            source.name,
            -1,
            -1 if origin is None else origin,
            0,
            0,
            replace_gold,
            {one.name: one.id for one in people.values()},
            {one.name: one.type for one in people.values()},
            source.newer_answers,
        )
        plan = ImportPlanner(purpose, known, Ids(*[NO_ID] * 4)).run(named)
        outcome.add(plan)
        here |= {row[2] for row in plan.sources}
        tell(outcome.counts.rows)
    already = origin is not None and not outcome.counts.changes
    corrected = correction(connection, source, origin or 0, outcome.new, here)
    return report_of(source, outcome, already=already, dry_run=True, correction=corrected)


# What a corrected file leaves behind, and taking imports out.
#
# An act takes imports out by removing the anchors that no other import has. These keep their
# answers, gold, flags and drafts, so that undo, or the file, brings all of it back.

EARLIER = f"""
SELECT b.id, b.created_at FROM batch AS b LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.name = :name AND b.format = :format AND b.id <> :mine AND b.state <> 'loading'
    AND coalesce(n.merged_into, n.id) IS (SELECT id FROM annotator WHERE name = :annotator)
    AND b.sha256 NOT GLOB '* run *' AND b.id NOT IN ({batches.OUT})
    AND EXISTS (SELECT 1 FROM source_row AS s WHERE s.batch_id = b.id)
ORDER BY b.id"""  # noqa: S608 - made of constants
LIST = f"""
SELECT b.id, b.created_at, CASE WHEN json_valid(b.report) THEN b.report ELSE '{{}}' END, b.name,
    b.format, b.split, n.name, b.rows, b.id IN ({batches.OUT}),
    (SELECT count(DISTINCT a.id) FROM source_row AS s JOIN anchor AS a ON a.id = s.anchor_id
     WHERE s.batch_id = b.id AND a.removed = 0)
FROM batch AS b LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.state <> 'loading' AND b.sha256 NOT GLOB '* run *'
    AND EXISTS (SELECT 1 FROM source_row AS s WHERE s.batch_id = b.id)
ORDER BY b.id"""  # noqa: S608 - made of constants
STAYS = """EXISTS (
    SELECT 1 FROM source_row AS o JOIN batch AS b ON b.id = o.batch_id
    WHERE o.anchor_id = a.id AND (o.batch_id = :into OR b.state <> 'loading'
        AND o.batch_id NOT IN (SELECT value FROM json_each(:out))))"""
ROWS_OF = f"""
SELECT a.id, a.passage_id, min(s.line), {STAYS}
FROM source_row AS s JOIN anchor AS a ON a.id = s.anchor_id
WHERE s.batch_id IN (SELECT value FROM json_each(:leaving)) GROUP BY a.id"""  # noqa: S608
MEMBERS = f"""
SELECT a.id, a.passage_id, a.start, a.stop, a.replaces, a.replaced_by, a.removed, {STAYS}
FROM anchor AS a WHERE a.passage_id IN (SELECT value FROM json_each(:ids))
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants
# Those with something that the imports did not bring.
HELD = """
SELECT a.id FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND a.replaced_by IS NULL AND EXISTS (
    SELECT 1 FROM (
        SELECT batch_id FROM answer WHERE anchor_id = a.id AND removed = 0
        UNION ALL SELECT batch_id FROM gold WHERE anchor_id = a.id AND removed = 0
        UNION ALL SELECT batch_id FROM flag WHERE anchor_id = a.id AND removed = 0
        UNION ALL SELECT NULL FROM draft WHERE anchor_id = a.id
        UNION ALL SELECT NULL FROM assignment
            WHERE :assigned AND anchor_id = a.id AND state = 'open')
    WHERE batch_id IS NULL OR batch_id NOT IN (SELECT value FROM json_each(:leaving)))
ORDER BY a.passage_id, a.start, a.stop"""
TEXTS = "SELECT id, text FROM passage WHERE id IN (SELECT value FROM json_each(:ids))"

NAMED_LENGTH = 60
NEW_COUNTS = ("passages_new", "anchors_new", "gold_new", "votes_new", "flags_new")


def _first_words(text: str) -> str:
    return f"“{shorten(text, NAMED_LENGTH, placeholder=' …') or text[:NAMED_LENGTH]}”"


def _example(line: int, text: str) -> str:
    return f"line {line}: {_first_words(text)}"


def correction(
    connection: Connection,
    source: IncomingFile,
    mine: int,
    new: Sequence[tuple[int, str]] = (),
    here: Container[object] = (),
) -> Correction | None:
    """Return how a file differs from earlier imports of its name; None if there are none.

    mine: its own import, 0 for none. here: anchors that it has besides those of its rows.
    """
    key = {"name": source.name, "format": source.format, "annotator": source.annotator}
    earlier = connection.execute(EARLIER, key | {"mine": mine}).fetchall()
    if not earlier:
        return None
    imports = tuple(row[0] for row in earlier)
    _, gone = _leaving(connection, imports, mine, here)
    return Correction(
        imports, earlier[-1][1], gone, tuple(_example(*one) for one in new[:EXAMPLES])
    )


def _leaving(
    connection: Connection, imports: Sequence[int], into: int, here: Container[object] = ()
) -> tuple[dict[int, AnchorValue], Gone]:
    """Return the anchors that nobody has without these imports, and their count.

    Those that a person made of them, or that stand in a passage of which nothing stays, are
    among them. into: the import that takes the place of these, 0 for none.
    """
    out = sorted((batches.are_out(connection) | set(imports)) - {into})
    key = {"into": into, "out": json_of(out), "leaving": json_of(list(imports))}
    lines, kept, gone = dict[int, int](), set[int](), set[int]()
    for id_, passage, line, stays in connection.execute(ROWS_OF, key):
        if stays or id_ in here:
            kept.add(passage)
        else:
            gone.add(id_)
            lines[passage] = min(line, lines.get(passage, line))
    found: dict[int, AnchorValue] = {}
    whole = set[int]()
    members = connection.execute(MEMBERS, key | {"ids": json_of(list(lines))})
    for passage, group in groupby(members, key=lambda row: row[1]):
        rows = list(group)
        going = {row[0] for row in rows} & gone
        while more := {row[0] for row in rows if row[4] in going} - going:
            going |= more
        if not any((row[-1] or row[0] in here) and row[0] not in going for row in rows):
            going = {row[0] for row in rows}
        going -= {row[0] for row in rows if row[6]}
        found |= {row[0]: AnchorValue(*row[1:6]) for row in rows if row[0] in going}
        if going and not any(row[0] not in going and not row[6] for row in rows):
            whole.add(passage)
    first = sorted(whole, key=lambda passage: (lines[passage], passage))[:EXAMPLES]
    texts = dict(connection.execute(TEXTS, {"ids": json_of(first)}))
    counts = Gone(
        len(whole),
        sum(value.replaced_by is None for value in found.values()),
        len(_held(connection, list(found), imports)),
        len(kept - lines.keys()),
        tuple(_example(lines[passage], texts[passage]) for passage in first),
    )
    return found, counts


def _held(
    connection: Connection,
    ids: Sequence[int],
    imports: Sequence[int],
    *,
    assigned: bool = False,
) -> list[int]:
    """Return those with something that the imports did not bring, or `assigned` to somebody."""
    key = {"ids": json_of(list(ids)), "leaving": json_of(list(imports)), "assigned": assigned}
    return [row[0] for row in connection.execute(HELD, key)]


def read_imports(connection: Connection) -> tuple[Import, ...]:
    """Return the imported files, oldest first."""
    found = []
    for number, at, report, *columns in connection.execute(LIST):
        told = object_of(report)
        told = told.get("report") or told
        counts = {name: told.get(name, 0) for name in NEW_COUNTS}
        found.append(Import(number, at, str(told.get("by", "")), counts, *columns))
    return tuple(found)


def retire(
    path: Path,
    imports: Sequence[int],
    me: Annotator,
    *,
    into: int = 0,
    dry_run: bool = False,
) -> RetireReport:
    """Take imports out, as one act of a person that undo takes back.

    into: the import that takes their place; what people said goes over to it where the turn of
    the number is the same. Raises StoreError for a number that is no import, or one that is out
    already, and if another bulk operation is unfinished.
    """
    with bulk_connection(path, read_only=dry_run) as connection:
        if not dry_run:
            finish_leftovers(connection)
        known = {one.number: one for one in read_imports(connection)}
        for number in imports:
            if number not in known:
                raise StoreError(f"There is no import {number}: `nfh-tui imports` lists them")
            if known[number].out:
                raise StoreError(
                    f"Import {number} was removed already; it comes back when "
                    f"{known[number].name} is imported again"
                )
        if dry_run:
            _, gone = _leaving(connection, imports, into)
            return RetireReport(tuple(imports), gone, dry_run=True)
        # Where names are hidden, the history leaves out all from "of" on.
        numbers = ", ".join(map(str, imports)) + (f"; replaced by {into}" if into else "")
        words = f"removed the import of {known[imports[0]].name} ({numbers})"
        carrier = Carrier(connection, imports, into)
        with BulkAct(
            *(connection, batches.RETIRE, me.id, words, "do this again"),
            items=True,
            retires=imports,
        ) as act:
            # From here on no import begins that could have them, too.
            found, gone = _leaving(connection, imports, into)
            for rows in carrier.run([*found]) if into else ():
                act.add(rows)
            for id_, value in found.items():
                act.add([("anchor", id_, None, "", encode(value), None)])
            act.show(also=carrier.copy)
            left = len(act.apply())
        return RetireReport(
            tuple(imports),
            gone,
            act.act_id,
            carrier.carried,
            dict(carrier.left),
            tuple(carrier.examples),
            left,
        )


# What people said of a number goes over to the same number of a corrected file: the one at the
# same code points of a turn with the same speaker and text. Of several such turns, those count
# whose neighbours are the same, too; equally many here and there are taken in order.

SPANS = """
SELECT id, passage_id, start, stop FROM anchor
WHERE id IN (SELECT value FROM json_each(:ids)) AND replaced_by IS NULL
ORDER BY passage_id, start, stop"""
CANDIDATES = """
SELECT a.id FROM source_row AS s JOIN anchor AS a ON a.id = s.anchor_id
WHERE s.batch_id = :into AND a.removed = 0 AND a.replaced_by IS NULL AND NOT EXISTS (
    SELECT 1 FROM source_row AS o
    WHERE o.anchor_id = a.id AND o.batch_id IN (SELECT value FROM json_each(:leaving)))
GROUP BY a.id ORDER BY a.passage_id, a.start, a.stop"""
DRAFTS = """
SELECT annotator_id, role, body, drafted_at FROM draft WHERE anchor_id = :anchor"""
INSERT_DRAFT = """
INSERT INTO draft (anchor_id, annotator_id, role, body, drafted_at)
VALUES (:anchor, :annotator, :role, :body, :at) ON CONFLICT DO NOTHING"""
ASSIGNMENTS = """
SELECT state = 'open', annotator_id, role, purpose, position, stratum, run, assigned_at,
    expected
FROM assignment WHERE anchor_id = :anchor AND state <> 'returned'"""
INSERT_ASSIGNMENT = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, stratum, run,
    assigned_at, expected)
VALUES (:anchor, :annotator, :role, :purpose, :position, :stratum, :run, :at, :expected)
ON CONFLICT DO NOTHING"""

CHANGED = "the same turn has no number at this place"
SEVERAL = "the turn of the number occurs more than once"
HEADS = "the turn of words that the answer names was changed"
CARRIED = {"answers": "answer", "gold": "gold", "flags": "flag"}
"""What goes over, and what the log calls it."""
MADE = "the gold was made of answers that were not carried over"
ANEW = "the number has another answer there"

AT_ONCE = 500
"""Anchors read at a time."""


T = TypeVar("T", bound=AnswerValue | GoldValue | FlagValue)
_Thing = tuple[str, tuple[str, str], AnswerValue | GoldValue | FlagValue, Any]
"""The kind of a thing, whose and its role or name, its value, and that of the other anchor."""

_Sides = tuple[list[int], list[int]]
"""Anchors with one key, of the old imports and of the new one."""


class SpanMap:
    """Where the tokens of a passage stand in another one that has some of its turns.

    What stands in no turn of the other one raises KeyError.
    """

    def __init__(self, old: Passage, new: Passage) -> None:
        self._old, self._new = old, new
        found = SequenceMatcher(None, _turns(old), _turns(new), autojunk=False)
        blocks = found.get_matching_blocks()
        self.turns = {a + step: b + step for a, b, size in blocks for step in range(size)}
        """By their ranks."""
        self._starts = {token.start: at for at, token in enumerate(new.tokens)}
        self._ends = {token.end: at for at, token in enumerate(new.tokens, 1)}

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the tokens [start, stop) there."""
        tokens = self._old.tokens
        begin = self._starts[tokens[start].start + self._shift(start)]
        return begin, self._ends[tokens[stop - 1].end + self._shift(stop - 1)]

    def _shift(self, token: int) -> int:
        """Return by how many code points the turn of a token is shifted."""
        rank = self._old.turn_of(token)
        here, there = self._old.turns[rank], self._new.turns[self.turns[rank]]
        return self._new.tokens[there.start].start - self._old.tokens[here.start].start

    def heads(self, marks: Iterable[Iterable[Mark]]) -> Marks:
        """Return the mentions of heads there."""
        return tuple(
            tuple(
                (*self.span(a, b), self.span(t, t + 1)[0], origin) for a, b, t, origin in head
            )
            for head in marks
        )

    def moved(self, value: T) -> T:
        """Return a value there."""
        if isinstance(value, FlagValue):
            span = value.span and self.span(*value.span)
            return msgspec.structs.replace(value, span=span)
        return msgspec.structs.replace(value, heads=self.heads(value.heads))

    def draft(self, body: str, cursor: int) -> str:
        """Return a draft there, without what is open in its editor."""
        state = dict(object_of(body))
        for part in (state, state["aside"], state["began"]):
            given = msgspec.convert(part["heads"], tuple[tuple[Mention, ...], ...])
            marks = [[(m.start, m.end, m.head, m.origin) for m in head] for head in given]
            part["heads"] = [head.mentions for head in heads_of(self.heads(marks))]
        state |= {"cursor": cursor, "span": None, "pending": None, "hints": [], "typed": ""}
        return json_of(state | {"review": None})


def _turns(
    passage: Passage, first: int = 0, stop: int | None = None
) -> list[tuple[str | None, str]]:
    turns = passage.turns[first:stop]
    return [(turn.speaker, passage.words(turn.start, turn.end)) for turn in turns]


class Carrier:
    """Carries what people said of numbers over to those of the import `into`."""

    def __init__(self, connection: Connection, leaving: Sequence[int], into: int) -> None:
        self._connection, self._leaving, self._into = connection, leaving, into
        # An answer to a span that came back may be under a former name.
        rows = connection.execute(passages.EVERY_NAME)
        self._people = {name: person for name, person, *_ in rows}
        self._maps: dict[tuple[int, int], SpanMap] = {}
        self._drafts: list[tuple[object, ...]] = []
        self._assignments: list[tuple[object, ...]] = []
        self.carried = dict.fromkeys((*CARRIED, "drafts", "assignments"), 0)
        self.left = Counter[str]()
        """Numbers by the reason."""
        self.examples: list[str] = []

    def run(self, ids: Sequence[int]) -> Iterator[list[Row]]:
        """Yield the changes of each number to which something of these anchors goes."""
        key = {"into": self._into, "leaving": json_of(list(self._leaving))}
        there = [row[0] for row in self._connection.execute(CANDIDATES, key)]
        pairs, several = self._pairs(ids, there)
        said = set(_held(self._connection, ids, self._leaving))
        held = _held(self._connection, ids, self._leaving, assigned=True)
        for first in range(0, len(held), AT_ONCE):
            some = held[first : first + AT_ONCE]
            both = [*some, *(pairs[one] for one in some if one in pairs)]
            values = _Values(self._connection, both)
            for old in some:
                reasons = {SEVERAL if old in several else CHANGED}
                if old in pairs:
                    rows, reasons = self._one(values, old, pairs[old])
                    if rows:
                        yield rows
                for reason in sorted(reasons) if old in said else ():
                    self.left[reason] += 1
                    if len(self.examples) < EXAMPLES:
                        *_, start, stop, passage = values.spans[old]
                        word = passage.words(start, stop)
                        text = _first_words(passage.text)
                        self.examples.append(f"“{word}” of {text}: {reason}")

    def copy(self, connection: Connection) -> None:
        """Write the drafts and assignments; there is no log of them."""
        connection.executemany(INSERT_DRAFT, self._drafts)
        connection.executemany(INSERT_ASSIGNMENT, self._assignments)

    def _pairs(
        self, olds: Sequence[int], news: Sequence[int]
    ) -> tuple[dict[int, int], set[int]]:
        """Return the number there of each, and those with several that it might be."""
        kinds: tuple[dict[bytes, _Sides], ...] = ({}, {})
        for side, ids in enumerate((olds, news)):
            for id_, keys in self._keys(ids):
                for found, key in zip(kinds, keys, strict=True):
                    found.setdefault(key, ([], []))[side].append(id_)
        pairs: dict[int, int] = {}
        several, taken = set[int](), set[int]()
        for found in kinds:
            for here, there in found.values():
                left = [one for one in here if one not in pairs]
                free = [one for one in there if one not in taken]
                if len(left) == len(free):
                    pairs.update(zip(left, free, strict=True))
                    taken.update(free)
                elif free:
                    several.update(left)
        return pairs, several

    def _keys(self, ids: Sequence[int]) -> Iterator[tuple[int, tuple[bytes, bytes]]]:
        """Yield hashes of each anchor's place in its turn, with and without neighbours."""
        for first in range(0, len(ids), AT_ONCE):
            some = _places(self._connection, ids[first : first + AT_ONCE])
            for id_, _, start, stop, passage in some.values():
                rank = passage.turn_of(start)
                turn = passage.turns[rank]
                place = passage.words(turn.start, start), passage.words(start, stop)
                around = _turns(passage, max(0, rank - 1), rank + 2)
                said = _turns(passage, rank, rank + 1), place
                yield id_, (_hash((said, around)), _hash(said))

    def _one(self, values: "_Values", old: int, new: int) -> tuple[list[Row], set[str]]:
        """Return the changes of a number there, and the reasons for what does not go over."""
        spans, people = self._map(values.spans[old], values.spans[new]), self._people
        rows: list[Row] = []
        reasons, came = set[str](), set[tuple[int | None, str]]()
        made_of = set[tuple[str, str]]()
        """Names with the roles, and with the times, of the answers that go over."""
        for what, thing, value, present in values.of(old, new):
            if value.batch in self._leaving:
                continue
            makers, gives_way = set[tuple[str, str]](), False
            if isinstance(value, GoldValue):
                makers = set(value.votes)
                if value.rule == Rule.EXPERT and value.by:
                    makers = {(value.by, "adjudicator")}
                    gives_way = present is not None and present.batch == self._into
            try:
                moved = spans.moved(value)
            except KeyError:
                reasons.add(HEADS)
                continue
            if (present is None or gives_way) and makers <= made_of:
                entity, (who, name) = CARRIED[what], thing
                key = (entity, new, people.get(who), name)
                rows.append((*key, encode(present), encode(moved)))
                came.add(key[2:])
                made_of |= {thing, (who, getattr(value, "at", ""))}
                self.carried[what] += 1
            elif present is None:
                reasons.add(MADE)
            elif not isinstance(moved, FlagValue) and content_of(present) != content_of(moved):
                reasons.add(ANEW)
        return rows, reasons | self._besides(spans, old, values.spans[new], came)

    def _besides(
        self, spans: SpanMap, old: int, there: "_Place", came: Container[tuple[int | None, str]]
    ) -> set[str]:
        """Note the drafts and assignments to copy; return the reasons for those that stay."""
        new, reasons = there.anchor, set[str]()
        for *whose, body, at in self._connection.execute(DRAFTS, {"anchor": old}):
            try:
                self._drafts.append((new, *whose, spans.draft(body, there.start), at))
                self.carried["drafts"] += 1
            except (LookupError, TypeError, msgspec.ValidationError):
                # Or it is damaged, which the doctor reports.
                reasons.add(HEADS)
        for is_open, *row, expected in self._connection.execute(ASSIGNMENTS, {"anchor": old}):
            gold = decode_gold(expected)
            if is_open or (row[0], row[1]) in came:
                with suppress(KeyError):
                    known = encode(gold and spans.moved(gold))
                    self._assignments.append((new, *row, known))
                    self.carried["assignments"] += is_open
        return reasons

    def _map(self, old: "_Place", new: "_Place") -> SpanMap:
        key = old.passage_id, new.passage_id
        if key not in self._maps:
            self._maps = {key: SpanMap(old.passage, new.passage)}
        found = self._maps[key]
        found.turns[old.passage.turn_of(old.start)] = new.passage.turn_of(new.start)
        return found


class _Place(NamedTuple):
    """Where an anchor stands."""

    anchor: int
    passage_id: int
    start: int
    stop: int
    passage: Passage


def _places(connection: Connection, ids: Sequence[int]) -> dict[int, _Place]:
    rows = connection.execute(SPANS, {"ids": json_of(list(ids))}).fetchall()
    texts = passages.read(connection, sorted({row[1] for row in rows}))
    return {id_: _Place(id_, of, a, b, texts[of]) for id_, of, a, b in rows}


class _Values:
    """What is said of some anchors, and where they stand."""

    def __init__(self, connection: Connection, ids: Sequence[int]) -> None:
        self.spans = _places(connection, ids)
        self._places = {id_: AnchorPlace(id_, new=False) for id_ in ids}
        read_values(connection, self._places)

    def of(self, old: int, new: int) -> Iterator["_Thing"]:
        """Yield what is said of an anchor, with what is said of the same by another."""
        here, there = self._places[old], self._places[new]
        for thing, vote in here.votes.items():
            yield "answers", thing, vote, there.votes.get(thing)
        if here.gold is not None:
            yield "gold", ("", ""), here.gold, there.gold
        for (name, who), flag in here.flags.items():
            yield "flags", (who, name), flag, there.flags.get((name, who))


def _hash(key: object) -> bytes:
    return hashlib.blake2b(json_of(key).encode(), digest_size=16).digest()


class Imports(Repository):
    load = with_path(load)
    retire = with_path(retire)
    all = reads(read_imports)
