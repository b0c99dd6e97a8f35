"""Bulk operations in short transactions: apply, undo, redo; applying the deferred events of a
batch, removing a batch that failed, and crash recovery.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from nfh_db import anchors, answers, assignments, batches, event_log, passages, system
from nfh_db.batches import SettleReport, Work
from nfh_db.connection import (
    SYNCHRONOUS_FULL,
    SYNCHRONOUS_NORMAL,
    Connection,
    WriteSize,
    connect,
    prepare_writer,
    sqlite3,
    transaction,
    translated,
)
from nfh_db.database import connect_to_read
from nfh_db.errors import BusyError, ChangedSinceError, FullError, StoreError
from nfh_db.event_log import Event, ReversibleAct
from nfh_db.records import BY_RULE, Annotator, Undone
from nfh_db.serialization import GoldValue, decode_gold, decode_lemmas, encode, json_of
from nfh_models.domain import Answer, Kind

# Gold events applied to many anchors at once; `event_log` and `answers` do this for one anchor.
#
# Gold does not affect how the votes of its anchor differ. So the summary follows from the
# stored columns, and only the comparison of each vote with the gold is computed again.

LINKS = """
SELECT id, replaces IS NOT NULL, removed = 0 AND replaced_by IS NULL
FROM anchor WHERE id IN (SELECT value FROM json_each(:ids))"""
VOTES = """
SELECT w.anchor_id, n.name, w.answered_at
FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids))
    AND w.role = 'annotator' AND n.type = 'person' AND w.removed = 0
ORDER BY w.anchor_id, n.name"""
PEOPLE = "SELECT name, id FROM annotator"
LEMMAS = """
SELECT a.id, t.lemmas FROM anchor AS a JOIN passage_token AS t ON t.passage_id = a.passage_id
WHERE a.id IN (SELECT value FROM json_each(:ids))"""
SET_SUMMARY = """
UPDATE anchor SET kind = :kind, heads = :heads, state = CASE
    WHEN :decided THEN 'decided' WHEN strongest IS NOT NULL THEN 'disagree'
    WHEN votes > 0 THEN 'answered' ELSE 'open' END
WHERE id = :id"""


def apply_gold(connection: Connection, events: Sequence[Event], *, by_votes: bool) -> list[int]:
    """Apply gold events, one per anchor, within a transaction; the anchors left unchanged.

    An anchor is left unchanged if its gold is not the one that the event was planned for, or if
    it was replaced and would get gold; with by_votes also if its votes are not those that the
    new gold names. The events of these anchors are deleted from the log.
    """
    ids = [event.anchor_id for event in events]
    golds = answers.read_all_gold(connection, ids)
    rows = connection.execute(LINKS, {"ids": json_of(ids)})
    replacing, live = set[int](), set[int]()
    for id_, replaces, is_live in rows:
        replacing |= {id_} if replaces else set()
        live |= {id_} if is_live else set()
    votes = _votes(connection, ids) if by_votes else {}
    happened: dict[int, GoldValue | None] = {}
    never: list[Event] = []
    for event in events:
        id_, after = event.anchor_id, decode_gold(event.after)
        present = encode(golds.get(id_))
        fits = present == event.before and (after is None or id_ in live)
        if fits and by_votes:
            fits = id_ in live and _holds(after, votes.get(id_, ()))
        if fits:
            happened[id_] = after
        elif present != event.after:
            never.append(event)
    answers.write_all_gold(connection, happened)
    event_log.delete_planned(connection, [event.id for event in never])
    event_log.move_to_end(connection, [e.id for e in events if e.anchor_id in happened])
    _summarise(connection, happened, live, replacing)
    return [event.anchor_id for event in never]


def _votes(
    connection: Connection, ids: Sequence[int]
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Name and time of each annotator's answer, by anchor, sorted by name."""
    found: dict[int, list[tuple[str, str]]] = {}
    for id_, name, at in connection.execute(VOTES, {"ids": json_of(ids)}):
        found.setdefault(id_, []).append((name, at))
    return {id_: tuple(votes) for id_, votes in found.items()}


def _holds(value: GoldValue | None, votes: Sequence[tuple[str, str]]) -> bool:
    """True unless a rule made the gold of other votes than there are."""
    return value is None or value.rule not in BY_RULE or value.votes == tuple(votes)


def _summarise(
    connection: Connection,
    golds: dict[int, GoldValue | None],
    live: set[int],
    replacing: set[int],
) -> None:
    rows = []
    for id_, value in golds.items():
        decided = value is not None and value.kind != Kind.NFH
        if id_ in live and (decided or id_ not in replacing):
            rows.append(
                {
                    "id": id_,
                    "kind": value.kind if value else None,
                    "heads": len(value.heads) if value else 0,
                    "decided": decided,
                }
            )
        else:
            # Whether it, or its successor, is stale depends on the replaced anchor.
            answers.recompute_with_successors(connection, [id_])
    connection.executemany(SET_SUMMARY, rows)
    plain = {row["id"] for row in rows}
    _compare(connection, {id_: value for id_, value in golds.items() if id_ in plain})


def _compare(connection: Connection, golds: dict[int, GoldValue | None]) -> None:
    """Rewrite the comparison of these anchors' votes with their gold."""
    given: dict[int, list[tuple[int, Answer]]] = {}
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    for id_, votes in answers.votes(connection, list(golds)).items():
        given[id_] = [(people[v.annotator], v.answer) for v in votes if v.counts]
    lemmas = _lemmas(connection, [id_ for id_ in golds if given.get(id_)])
    rows: list[answers.Judged] = []
    for id_, value in golds.items():
        standard = answers.standard_of(value)
        votes_ = given.get(id_, ())
        if standard is not None and votes_:
            found = answers.against(standard, [said for _, said in votes_], lemmas[id_])
            rows += answers.gold_rows(id_, [who for who, _ in votes_], found)
    connection.executemany(answers.DELETE_GOLD_DIFFERENCES, [{"anchor": id_} for id_ in golds])
    connection.executemany(answers.INSERT_GOLD_DIFFERENCE, rows)


def _lemmas(connection: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    """The lemmas of each anchor's passage, by anchor."""
    found = connection.execute(LEMMAS, {"ids": json_of(list(ids))})
    return {id_: decode_lemmas(lemmas) for id_, lemmas in found}


LIVE = f"""
SELECT a.id FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND {anchors.VISIBLE}"""  # noqa: S608
OF_ITEMS = "SELECT 1 FROM event WHERE act_id = :act AND entity <> 'gold' LIMIT 1"

Row = tuple[str, int, int | None, str, str | None, str | None]
"""A change: entity, anchor, whose, role or flag, before, after."""


def is_of_items(connection: Connection, act_id: int) -> bool:
    """True for an act that changes more of its items than their gold."""
    return connection.execute(OF_ITEMS, {"act": act_id}).fetchone() is not None


def complete_anchors(events: Sequence[Event], limit: int) -> Sequence[Event]:
    """The events without those of the last anchor, if the limit may have cut these."""
    if len(events) < limit or events[0].anchor_id == events[-1].anchor_id:
        return events
    last = events[-1].anchor_id
    return [event for event in events if event.anchor_id != last]


def by_anchor(events: Sequence[Event]) -> Iterator[tuple[int, list[Event]]]:
    """The events grouped by anchor. The events of an anchor must be adjacent."""
    for anchor_id, group in groupby(events, key=lambda event: event.anchor_id):
        yield anchor_id, list(group)


def state_now(connection: Connection, events: Sequence[Event]) -> list[str | None]:
    """The present value of the subject of each event, encoded as in the log."""
    return [event_log.present_value(connection, event.key) for event in events]


def apply_items(connection: Connection, events: Sequence[Event]) -> list[int]:
    """Apply events within a transaction, by whole anchors; the anchors left unchanged.

    An anchor is left unchanged if it is not visible and the events do not change that, or if
    any value to be changed is not the one that its event was planned for. The events of these
    anchors are deleted from the log.
    """
    ids = {"ids": json_of(sorted({event.anchor_id for event in events}))}
    live = {row[0] for row in connection.execute(LIVE, ids)}
    live |= {event.anchor_id for event in events if event.entity == "anchor"}
    happened: list[Event] = []
    never: list[Event] = []
    for anchor_id, group in by_anchor(events):
        present = state_now(connection, group)
        if anchor_id in live and present == [event.before for event in group]:
            for event in group:
                event_log.write_state(connection, event.key, event.after)
            happened += group
        elif present != [event.after for event in group]:
            never += group
    event_log.delete_planned(connection, [event.id for event in never])
    event_log.move_to_end(connection, [event.id for event in happened])
    touched = {event.anchor_id for event in happened if event.entity != "flag"}
    answers.recompute_with_successors(connection, sorted(touched))
    return sorted({event.anchor_id for event in never})


# The settlement of a batch: applying its changes to anchors that existed before.
#
# The changes are deferred as events until the batch is visible. An event is applied only if its
# subject still has the value that the batch found. Otherwise a person's change stands, and the
# event is deleted from the log. The settlement can be interrupted at any point and run again:
# each transaction stores, with what it applied, what is left.

SETTLE_SIZE = WriteSize(first=50, smallest=5, largest=1_000, seconds=0.012)
"""Events."""


def run_settlement(
    connection: Connection,
    batch_id: int,
    work: Work,
    tell: Callable[[int], None] = lambda _: None,
) -> list[int]:
    """Apply the deferred events and set the batch to ready; the anchors left unchanged.

    tell: called with the number of events done.
    """
    left: list[int] = []
    size, done = SETTLE_SIZE.first, 0
    while work.deferred:
        with transaction(connection):
            begun = time.perf_counter()
            if not batches.applies_here(connection, batch_id):
                # Another process took this one for dead and claimed the batch.
                return left
            count = _apply_some(connection, batch_id, work, size, left)
        size = SETTLE_SIZE.next(size, time.perf_counter() - begun)
        done += count
        tell(done)
        time.sleep(SETTLE_SIZE.pause)
    connection.execute(SYNCHRONOUS_FULL)
    with transaction(connection):
        if batches.applies_here(connection, batch_id):
            _make_ready(connection, batch_id, work)
    return left


def _apply_some(
    connection: Connection, batch_id: int, work: Work, size: int, left: list[int]
) -> int:
    """Apply the next events and store what is left; the number applied."""
    first, last = work.deferred[0]
    events = event_log.some_events(connection, work.act, first, last, size)
    if work.items and events:
        events = complete_anchors(events, size)
    if events and (work.items or work.bulk):
        found = (
            apply_items(connection, events)
            if work.items
            else apply_gold(connection, events, by_votes=work.by_votes)
        )
        work.changed += len(found)
        left += found
    elif events:
        _apply(connection, events)
    rest = [(events[-1].id + 1, last)] if events and events[-1].id < last else []
    work.deferred[:1] = rest
    batches.set_report(connection, batch_id, work)
    return len(events)


def _make_ready(connection: Connection, batch_id: int, work: Work) -> None:
    if work.settled is not None:
        report = replace(work.settled, changed=work.changed)
        batches.set_state(connection, batch_id, "ready", 0, report)
        return
    rows = work.report.rows if work.report else 0
    made = {"retires": work.retires} if work.retires else work.report
    batches.set_state(connection, batch_id, "ready", rows, made)


def _apply(connection: Connection, events: Sequence[Event]) -> None:
    for event in events:
        present = event_log.present_value(connection, event.key)
        if present == event.before:
            event_log.write_state(connection, event.key, event.after)
            event_log.move_to_end(connection, [event.id])
        elif present != event.after:
            event_log.delete_planned(connection, [event.id])
    touched = sorted({event.anchor_id for event in events})
    answers.recompute_with_successors(connection, touched)


OWN_ANCHORS = "SELECT id FROM anchor WHERE batch_id = :batch LIMIT :limit"
OWN_PASSAGES = "SELECT id FROM passage WHERE batch_id = :batch LIMIT :limit"
OWN_EVENTS = "SELECT id FROM event WHERE act_id = :act LIMIT :limit"
OWN_SOURCES = "SELECT id FROM source_row WHERE batch_id = :batch LIMIT :limit"

OF_ANCHORS = (
    """DELETE FROM mention WHERE head_id IN
        (SELECT h.id FROM head AS h JOIN answer AS w ON w.id = h.answer_id
         WHERE w.anchor_id IN (SELECT value FROM json_each(:ids)))""",
    """DELETE FROM mention WHERE head_id IN
        (SELECT h.id FROM head AS h
         WHERE h.gold_id IN (SELECT value FROM json_each(:ids)))""",
    """DELETE FROM head WHERE answer_id IN
        (SELECT w.id FROM answer AS w
         WHERE w.anchor_id IN (SELECT value FROM json_each(:ids)))""",
    "DELETE FROM head WHERE gold_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM gold WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM answer WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM flag WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM difference WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM expert_difference WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM gold_difference WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM anchor WHERE id IN (SELECT value FROM json_each(:ids))",
)
OF_PASSAGES = (
    "DELETE FROM passage_token WHERE passage_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM passage_text WHERE rowid IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM passage WHERE id IN (SELECT value FROM json_each(:ids))",
)
OF_EVENTS = ("DELETE FROM event WHERE id IN (SELECT value FROM json_each(:ids))",)
OF_SOURCES = ("DELETE FROM source_row WHERE id IN (SELECT value FROM json_each(:ids))",)

DOCUMENT = "DELETE FROM document WHERE batch_id = :batch"
ACT = "DELETE FROM act WHERE batch_id = :batch"
BATCH = "DELETE FROM batch WHERE id = :batch"
ANNOTATORS = """
DELETE FROM annotator WHERE id IN (SELECT value FROM json_each(:ids))
    AND NOT EXISTS (SELECT 1 FROM answer WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM act WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM flag WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM gold WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM draft WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM place WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM saved_view WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM assignment WHERE annotator_id = annotator.id)"""

DELETE_AT_ONCE = 200


def run_sweep(connection: Connection, batch_id: int, work: Work) -> None:
    """Delete all rows of a batch, then the batch, in short transactions.

    The connection must not check foreign keys: nothing refers to invisible rows, and each check
    would scan the table of anchors.
    """
    key = {"batch": batch_id, "act": work.act}
    for find, statements in (
        (OWN_SOURCES, OF_SOURCES),
        (OWN_EVENTS, OF_EVENTS),
        (OWN_ANCHORS, OF_ANCHORS),
        (OWN_PASSAGES, OF_PASSAGES),
    ):
        while _delete_some(connection, find, key, statements):
            time.sleep(SETTLE_SIZE.pause)
    with transaction(connection):
        for statement in (DOCUMENT, ACT, BATCH):
            connection.execute(statement, {"batch": batch_id})
        connection.execute(ANNOTATORS, {"ids": json_of(work.annotators)})


def _delete_some(
    connection: Connection, find: str, key: dict[str, int], statements: Sequence[str]
) -> bool:
    with transaction(connection):
        found = connection.execute(find, key | {"limit": DELETE_AT_ONCE}).fetchall()
        ids = {"ids": json_of([row[0] for row in found])}
        if found:
            for statement in statements:
                connection.execute(statement, ids)
    return bool(found)


# Bulk acts, their connections, and crash recovery.
#
# A bulk act changes many anchors and is one act in the log. Its events are written in short
# transactions, invisibly; one transaction makes the act visible; then the events are applied.
# After a crash before that transaction nothing of the act remains; after a later crash, the
# next start applies the rest.

PRAGMAS = (
    SYNCHRONOUS_NORMAL,
    # Bulk writers assign the ids themselves, and referenced rows are never deleted: the ten
    # look-ups per row would find nothing.
    "PRAGMA foreign_keys = OFF",
    "PRAGMA wal_autocheckpoint = 8000",
)

WHERE_IT_LIES = "SELECT file FROM pragma_database_list WHERE name = 'main'"

BULK_SIZE = WriteSize(first=200, smallest=20, largest=2_000, seconds=0.012)
"""Rows of the event log."""


@contextmanager
def bulk_connection(path: Path, *, read_only: bool = False) -> Iterator[Connection]:
    """A separate connection for bulk work: it commits often and does not wait for the disk."""
    with (
        translated(path),
        closing(connect_to_read(path) if read_only else connect(path, "rw")) as connection,
    ):
        if not read_only:
            prepare_writer(connection, path)
            for pragma in PRAGMAS:
                connection.execute(pragma)
        yield connection
        if not read_only:
            passages.index_texts(connection)


def recover(path: Path) -> None:
    """Remove or finish the unfinished imports and bulk acts of dead processes.

    A full disk, or a long write of another process, is ignored, so that the database can be
    read: the next start tries again.
    """
    with suppress(FullError, BusyError), bulk_connection(path) as connection:
        finish_leftovers(connection)


def finish_leftovers(connection: Connection) -> None:
    """Remove or finish each batch on which no process works."""
    for batch in batches.unfinished(connection):
        if batches.is_alive(batch):
            continue
        with batches.finishing(batch.id) as mine:
            if not mine:
                continue
            if batch.format == batches.MERGE:
                from nfh_db.merge import run as merging

                merging.finish(connection, batch)
                continue
            with transaction(connection):
                work = batches.claim(connection, batch, batch.work)
            if work is None:
                continue
            try:
                if batch.is_loading:
                    run_sweep(connection, batch.id, work)
                else:
                    run_settlement(connection, batch.id, work)
            except sqlite3.Error:
                _let_go(connection, batch.id)
                raise


def _let_go(connection: Connection, batch_id: int) -> None:
    """Release a batch for any process to finish, and retry in this one."""
    with suppress(sqlite3.Error), transaction(connection):
        batches.give_up(connection, batch_id)
    _finish_later(connection)


def _finish_later(connection: Connection) -> None:
    """Retry the recovery in the background until it succeeds."""
    path = Path(connection.execute(WHERE_IT_LIES).fetchone()[0])

    def attempt() -> bool:
        try:
            with bulk_connection(path) as own:
                finish_leftovers(own)
                return not batches.left_behind(own)
        except (FullError, BusyError, sqlite3.Error):
            return False
        except StoreError:
            return True  # The file is gone, or no database any more: retrying is pointless.

    batches.retry_in_thread(path, attempt)


class BulkAct:
    """A bulk act, as a context manager that removes all it wrote unless `show` was called.

    format_: of its batch, one of `batches.BULK_FORMATS`. wanted: what to do later, for the
    message if another batch is unfinished. target: the act that is undone or redone. by_votes:
    applying depends on the votes, too. items: it changes more than golds. retires: the imports
    that it takes out. check: called in the first transaction; an exception of it stops the act.
    """

    def __init__(
        self,
        connection: Connection,
        format_: str,
        me_id: int,
        summary: str,
        wanted: str,
        *,
        target: int | None = None,
        by_votes: bool = False,
        items: bool = False,
        retires: Sequence[int] = (),
        check: Callable[[Connection], None] = lambda _: None,
    ) -> None:
        self.at = system.now()
        self._connection = connection
        self._format = format_
        self._me_id = me_id
        self._summary = summary
        self._wanted = wanted
        self._target = target
        self._check = check
        self._work = Work(bulk=not items, by_votes=by_votes, items=items, retires=list(retires))
        self._batch = 0
        self._note = ""
        self._shown = False
        self._size = BULK_SIZE.first
        self._waiting: list[Row] = []
        self._stack = ExitStack()

    @property
    def act_id(self) -> int:
        return self._work.act

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._begin(stack)
            self._stack = stack.pop_all()
        return self

    def _begin(self, stack: ExitStack) -> None:
        connection = self._connection
        with transaction(connection):
            batches.refuse_beside_another(connection, self._wanted)
            self._check(connection)
            # Random: the column is unique, and there is no file to hash.
            name, sha256 = self._summary, secrets.token_hex(32)
            self._batch = batches.add(
                connection, name, sha256, self._format, None, None, self._work
            )
            stack.enter_context(batches.running(self._batch))
            self._work.act = event_log.add(
                connection,
                self._me_id,
                # The log has one kind of act for all bulk operations.
                "settle" if self._format in ("bulk", batches.RETIRE) else self._format,
                self._summary,
                self.at,
                target=self._target,
                batch=self._batch,
            )
            self._work.started = system.started(os.getpid())
            self._note = batches.set_report(connection, self._batch, self._work)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._stack:
            if not self._shown:
                self._take_back(error)
        if isinstance(error, Exception) and self._is_left():
            _let_go(self._connection, self._batch)

    def _is_left(self) -> bool:
        """True if it could be neither removed nor applied completely."""
        return any(one.id == self._batch for one in batches.unfinished(self._connection))

    def change(self, anchor_id: int, before: str | None, after: str | None) -> None:
        """Add a change of an anchor's gold. Each anchor may be changed once."""
        self.add([("gold", anchor_id, None, "", before, after)])

    def add(self, rows: Sequence[Row]) -> None:
        """Add all changes of an anchor. Each anchor may be changed once."""
        self._waiting += rows
        if len(self._waiting) >= self._size:
            self._write()

    def _write(self) -> None:
        connection = self._connection
        events = [(self._work.act, *row) for row in self._waiting]
        with transaction(connection):
            begun = time.perf_counter()
            self._check_mine()
            deferred = event_log.record_all(connection, events)
        if deferred is not None:
            self._work.defer(*deferred)
        self._size = BULK_SIZE.next(self._size, time.perf_counter() - begun)
        self._waiting = []

    def _check_mine(self) -> None:
        # Another process may have removed the act: its events would be orphans.
        if not batches.still_mine(self._connection, self._batch, self._note):
            raise StoreError(
                "Another program removed the unfinished change, because it could not see this "
                "process (another container?). Nothing of it is stored; open the database from "
                "one place at a time while you do this"
            )

    def show(
        self,
        settled: SettleReport | None = None,
        also: Callable[[Connection], None] = lambda _: None,
    ) -> None:
        """Make the act visible, synced to the disk. Its events are still to be applied.

        also: called in the same transaction.
        """
        self._write()
        self._work.settled = settled
        self._connection.execute(SYNCHRONOUS_FULL)
        with transaction(self._connection) as connection:
            self._check_mine()
            also(connection)
            batches.set_state(connection, self._batch, "settling", 0, self._work)
        self._shown = True
        self._connection.execute(SYNCHRONOUS_NORMAL)

    def apply(self, tell: Callable[[int], None] = lambda _: None) -> Sequence[int]:
        """Apply the events; the anchors left unchanged, since somebody else changed them.

        Raises StoreError if the rest cannot be written now; recovery applies it later.
        """
        try:
            return run_settlement(self._connection, self._batch, self._work, tell)
        except KeyboardInterrupt as error:
            error.add_note(f"“{self._summary}” is stored; the next start finishes it.")
            raise
        except sqlite3.Error as error:
            raise StoreError(
                f"“{self._summary}” is stored, but not all of it is applied yet ({error}). "
                "Nothing is lost: make room on the disk, and the next start applies the rest"
            ) from error

    def report(self, report: SettleReport) -> None:
        """Store the final report of the batch."""
        with transaction(self._connection) as connection:
            batches.set_report(connection, self._batch, report)

    def _take_back(self, error: BaseException | None) -> None:
        unseen = [one.id for one in batches.unfinished(self._connection) if one.is_loading]
        if self._batch not in unseen:
            return
        try:
            run_sweep(self._connection, self._batch, self._work)
            note = f"Nothing of “{self._summary}” is stored."
        except sqlite3.Error:
            note = "The unfinished part stays invisible, and is removed when the disk has room."
        if error is not None:
            error.add_note(note)


# One person under two names. The act's events move answers, flags and gold; what the log does
# not hold moves when the act becomes visible, and a setting keeps what moved, for the undo.

PEOPLE_ACT = "people {act}"
LIVE_ONES = """EXISTS (
    SELECT 1 FROM anchor AS a
    WHERE a.id = anchor_id AND a.removed = 0 AND a.replaced_by IS NULL)"""
MOVES = {
    table: f"""
UPDATE OR IGNORE {table} SET annotator_id = :to WHERE annotator_id = :of AND CASE
    WHEN :keys IS NULL THEN {which} ELSE {key} IN (SELECT value FROM json_each(:keys)) END
RETURNING {key}"""  # noqa: S608 - made of constants
    for table, key, which in (
        ("assignment", "id", LIVE_ONES),
        ("draft", "anchor_id || ' ' || role", "TRUE"),
        ("saved_view", "name", "TRUE"),
        ("place", "mode", "TRUE"),
    )
}
"""By table with a person's own rows: moves those of some keys, without keys all that move."""

FORMER_NAMES = """
SELECT id, merged_into FROM annotator WHERE merged_into = :of OR id IN (:of, :to)"""
SET_MERGED = "UPDATE annotator SET merged_into = :to WHERE id = :id"
SET_RETIRED = """
UPDATE annotator SET retired_at = (SELECT retired_at FROM annotator WHERE id = :of)
WHERE id = :to"""
STANDS_FOR = """
SELECT n.merged_into, n.name, coalesce(m.name, n.name)
FROM annotator AS n LEFT JOIN annotator AS m ON m.id = n.merged_into WHERE n.id = :id"""
LEFT_OPEN = """
UPDATE assignment SET state = 'returned' WHERE annotator_id = :of AND state = 'open'
RETURNING id"""
OPEN_AGAIN = """
UPDATE assignment SET state = 'open' WHERE id IN (SELECT value FROM json_each(:ids))"""
ANSWERED_ALREADY = """
SELECT s.anchor_id, s.role FROM assignment AS s JOIN answer AS w
    ON w.anchor_id = s.anchor_id AND w.annotator_id = s.annotator_id AND w.role = s.role
WHERE s.id IN (SELECT value FROM json_each(:ids)) AND w.removed = 0"""
WITHOUT_ANSWER = """
UPDATE assignment AS s SET state = 'open', finished_at = NULL, verdict = NULL
WHERE s.id IN (SELECT value FROM json_each(:ids)) AND s.state = 'done' AND NOT EXISTS
    (SELECT 1 FROM answer AS w WHERE w.anchor_id = s.anchor_id AND w.role = s.role
        AND w.annotator_id = s.annotator_id AND w.removed = 0)"""


class MovedPerson(msgspec.Struct):
    """What moved from one name to another beside the events of an act."""

    of: int
    to: int
    merged: list[tuple[int, int | None]]
    """Annotators, and what their `merged_into` was."""

    rows: dict[str, list[int | str]]
    """By table, the keys that its statement of MOVES returned."""

    returned: list[int]
    """Assignments of which the other name has one, too."""

    weights: str | None
    """The competence weights before."""

    @property
    def is_rename(self) -> bool:
        """Whether the other name is one of the same person."""
        return (self.to, self.of) in self.merged


def move_person(connection: Connection, act_id: int, of: int, to: int) -> None:
    """Let a name stand for another, which gets what the act's events do not move."""
    from nfh_db import models

    who = {"of": of, "to": to}
    moved = MovedPerson(of, to, connection.execute(FORMER_NAMES, who).fetchall(), {}, [], None)
    for id_, _ in moved.merged:
        connection.execute(SET_MERGED, {"id": id_, "to": None if id_ == to else to})
    if moved.is_rename:
        connection.execute(SET_RETIRED, who)
    moved.rows = {table: _move(connection, table, of, to, None) for table in MOVES}
    moved.returned = [row[0] for row in connection.execute(LEFT_OPEN, who)]
    ids = {"ids": json_of(moved.rows["assignment"])}
    for anchor, role in connection.execute(ANSWERED_ALREADY, ids).fetchall():
        answer = answers.read(connection, anchor, to, role)
        assignments.keep_in_step(connection, anchor, to, role, answer)
    moved.weights = models.join_weights(connection, of, to)
    passages.write_setting(connection, PEOPLE_ACT.format(act=act_id), json_of(moved))


def _move(
    connection: Connection, table: str, of: int, to: int, keys: list[int | str] | None
) -> list[int | str]:
    row = {"of": of, "to": to, "keys": None if keys is None else json_of(keys)}
    return [key for (key,) in connection.execute(MOVES[table], row)]


def _moved_by(connection: Connection, act_id: int) -> MovedPerson | None:
    text = passages.read_setting(connection, PEOPLE_ACT.format(act=act_id))
    return None if text is None else msgspec.json.decode(text, type=MovedPerson)


def _check_names(connection: Connection, done: ReversibleAct, kind: str) -> None:
    """Raise ChangedSinceError where a name of the act stands for somebody else since."""
    moved = _moved_by(connection, done.id)
    for id_, before in moved.merged if moved else ():
        after = None if moved is None or id_ == moved.to else moved.to
        found, name, now = connection.execute(STANDS_FOR, {"id": id_}).fetchone()
        if found != (after if kind == "undo" else before):
            since = f"{name} stands for {now}" if found else f"{name} is a person of their own"
            raise ChangedSinceError(
                f"“{done.summary}” cannot be {'undone' if kind == 'undo' else 'redone'}: "
                f"{since} since; the person who did that must undo it first (nfh-tui people "
                "undo --as)"
            )


def _turn_person(connection: Connection, act_id: int, *, undone: bool) -> None:
    """Undo or redo what moved beside the events of an act, if anything did."""
    moved = _moved_by(connection, act_id)
    if moved is None:
        return
    if not undone:
        move_person(connection, act_id, moved.of, moved.to)
        return
    if moved.is_rename:
        connection.execute(SET_RETIRED, {"of": moved.to, "to": moved.of})
    for id_, before in moved.merged:
        connection.execute(SET_MERGED, {"id": id_, "to": before})
    for table, keys in moved.rows.items():
        _move(connection, table, moved.to, moved.of, keys)
    connection.execute(WITHOUT_ANSWER, {"ids": json_of(moved.rows["assignment"])})
    connection.execute(OPEN_AGAIN, {"ids": json_of(moved.returned)})
    if moved.weights is not None:
        passages.write_setting(connection, "competence", moved.weights)


LAST_EVENT_ID = 2**63 - 1
UNDO_AT_ONCE = 1_000


def turn(path: Path, me: Annotator, kind: str, done: ReversibleAct) -> Undone:
    """Undo or redo a bulk act, as a bulk act of that kind ("undo" or "redo").

    Anchors that were changed since are left unchanged and counted. Raises StoreError if another
    batch is unfinished, ChangedSinceError if `done` is not the next act to undo or redo.
    """

    def check(inside: Connection) -> None:
        find = event_log.newest_done if kind == "undo" else event_log.oldest_undone
        if find(inside, me.id) != done:
            raise ChangedSinceError(
                f"“{done.summary}” is no longer the next act, because you did something else "
                "in another window: try again"
            )
        _check_names(inside, done, kind)

    with bulk_connection(path) as connection:
        finish_leftovers(connection)
        items = is_of_items(connection, done.id)
        planned, skipped = list[int](), 0
        with BulkAct(
            connection,
            kind,
            me.id,
            done.summary,
            kind,
            target=done.id,
            items=items,
            check=check,
        ) as act:
            for group, present in _groups(connection, done.id, items=items):
                was, rows = _turned(group, kind)
                if present == was:
                    act.add(rows)
                    planned.append(group[0].anchor_id)
                elif present != [row[-1] for row in rows]:
                    skipped += 1
            undone = kind == "undo"

            def also(inside: Connection) -> None:
                event_log.set_undone(inside, done.id, undone=undone)
                _turn_person(inside, done.id, undone=undone)

            act.show(also=also)
            left = set(act.apply())
        touched = [anchor_id for anchor_id in planned if anchor_id not in left]
        return Undone(
            done.summary,
            touched[0] if touched else None,
            len(touched),
            act.at,
            skipped + len(left),
        )


_Group = tuple[list[Event], list[str | None]]
"""The events of an anchor, and the present value of each subject, encoded as in the log."""


def _turned(group: list[Event], kind: str) -> tuple[list[str | None], list[Row]]:
    """The values that an undo or redo requires, and its changes."""
    rows: list[Row] = []
    for event in group:
        was, will = (event.before, event.after)[:: 1 if kind == "redo" else -1]
        rows.append((*event.key, was, will))
    return [row[-2] for row in rows], rows


def _groups(connection: Connection, act_id: int, *, items: bool) -> Iterator[_Group]:
    """The groups of an act. items: it changes more than golds, which are read all at once."""
    place = 0
    while events := event_log.some_events(
        connection, act_id, place, LAST_EVENT_ID, UNDO_AT_ONCE
    ):
        if items:
            events = complete_anchors(events, UNDO_AT_ONCE)
            for _, group in by_anchor(events):
                yield group, state_now(connection, group)
        else:
            golds = answers.read_all_gold(connection, [event.anchor_id for event in events])
            for event in events:
                yield [event], [encode(golds.get(event.anchor_id))]
        place = events[-1].id + 1
