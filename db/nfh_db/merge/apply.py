"""Writing a merge: rows are written invisibly in short transactions, shown by one update, and
then applied act by act in the order of the other copy.

A crash before the update leaves invisible rows, which recovery deletes. A crash after it
leaves pending events, which recovery applies. Nothing is lost.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

import msgspec

from nfh_db import anchors, answers, batches, bulk_run, event_log, passages, system
from nfh_db.batches import MERGE, Work
from nfh_db.connection import (
    SYNCHRONOUS_FULL,
    SYNCHRONOUS_NORMAL,
    Connection,
    sqlite3,
    transaction,
)
from nfh_db.errors import StoreError
from nfh_db.event_log import Event
from nfh_db.import_run import INSERT_SOURCE
from nfh_db.merge import source
from nfh_db.merge.plan import Checker, IncomingEvent, MergePlan, import_state
from nfh_db.merge.source import MergedAct, MergedAnchor, MergedBatch, MergedPassage, Writes
from nfh_db.passages import INSERT as INSERT_PASSAGE
from nfh_db.passages import INSERT_TOKENS, add_document
from nfh_db.records import Role, Rule
from nfh_db.serialization import decode_anchor, decode_gold, json_of
from nfh_models.domain import Anchor

# A merge is a batch of the format `batches.MERGE`, whose report holds a MergeState. Events to
# apply are stored under stand-in acts of kind `merge`, of that batch. The batch is `loading`
# until the end, so that nobody sees them. Any process can finish the merge from that.

INSERT_ACT = """
INSERT INTO act (annotator_id, kind, summary, target, merged_by, batch_id, acted_at)
VALUES (:by, :kind, :summary, :target, :merge, :batch, :at) RETURNING id"""


class MergeState(msgspec.Struct):
    """How far a merge is, stored in the report of its batch.

    Field names are those of `batches.Work` where they mean the same.
    """

    started: str | None = None
    """When its process started."""
    act: int = 0
    """The act of the merge itself."""
    annotators: list[int] = msgspec.field(default_factory=list)
    """Annotators that it created."""
    imports: list[int] = msgspec.field(default_factory=list)
    """Batches that it brings in."""
    made: list[int] = msgspec.field(default_factory=list)
    """New anchors that people made in the other copy."""
    shown: bool = False
    """The new rows are visible, and pending events are being applied."""
    first: int = 0
    last: int = 0
    """Ids of the first and last pending event."""


class StandIn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The future act of pending events, stored in the summary of a stand-in act.

    An act is created when the first of its events is applied.
    """

    kind: str = ""
    """Empty if the events belong to an existing act, which is the stand-in's target."""
    summary: str = ""
    batch: int | None = None
    of: int | None = None
    """The act that an undo or a redo reverses."""
    of_stand_in: int | None = None
    """The stand-in of that act, if it is pending too."""


decode_state = msgspec.json.Decoder(MergeState).decode
_decode_stand_in = msgspec.json.Decoder(StandIn).decode


class ActWriter:
    """Inserts acts within the transactions of the merge."""

    def __init__(self, connection: Connection, plan: MergePlan, state: MergeState) -> None:
        self.imports: dict[int, int] = {}
        """Ids here of the acts of imports, by their ids there."""
        self.stand_ins: dict[int, int] = {}
        """Ids here of stand-in acts, by the ids there of the acts that they stand for."""
        self._connection = connection
        self._plan = plan
        self._state = state

    def add_imports(self) -> None:
        """Insert the acts of new imports. Their events are written at once."""
        for act in self._plan.acts:
            if act.kind == "import" and act.id not in self._plan.shared:
                batch = self._plan.maps.batches[act.batch or 0]
                new = self._add(act, act.kind, act.summary, batch)
                work = Work(started=self._state.started, act=new)
                batches.set_report(self._connection, batch, work)
                self.imports[act.id] = new

    def add_stand_in(self, act: MergedAct, batch: int) -> None:
        """Insert an act for pending events. batch: that of the merge."""
        target = self._plan.shared.get(act.id, self.imports.get(act.id))
        text = json_of(StandIn() if target is not None else self._stand_in_for(act))
        self.stand_ins[act.id] = self._add(act, MERGE, text, batch, target)

    def _stand_in_for(self, act: MergedAct) -> StandIn:
        plan = self._plan
        if act.id in plan.detached_acts:
            # What it reverses is not here, so it comes in as an ordinary change.
            return StandIn("do", f"{act.kind}: {act.summary}")
        batch = act.batch and plan.maps.batches.get(act.batch)
        of = None if act.target is None else plan.shared.get(act.target)
        of_stand_in = self.stand_ins.get(act.target or 0) if of is None else None
        return StandIn(act.kind, act.summary, batch, of, of_stand_in)

    def _add(
        self, act: MergedAct, kind: str, text: str, batch: int, target: int | None = None
    ) -> int:
        row = {
            "by": act.by and self._plan.maps.people[act.by],
            "kind": kind,
            "summary": text,
            "target": target,
            "merge": self._state.act,
            "batch": batch,
            "at": act.at,
        }
        new: int = self._connection.execute(INSERT_ACT, row).fetchone()[0]
        return new


STAND_INS = "SELECT id FROM act WHERE batch_id = :batch AND kind = 'merge' AND id <> :own"
EVENTS = """
SELECT id FROM event WHERE act_id IN (SELECT value FROM json_each(:acts)) LIMIT :limit"""
DELETE_ACTS = "DELETE FROM act WHERE id IN (SELECT value FROM json_each(:ids))"
IMPORT_ACT = "SELECT id FROM act WHERE batch_id = :batch AND kind = 'import'"
# Meanwhile somebody may have made an anchor of the same span, or a source row may name it.
DELETE_MADE = """
DELETE FROM anchor WHERE id IN (SELECT value FROM json_each(:ids)) AND removed = 1
    AND NOT EXISTS (SELECT 1 FROM event WHERE anchor_id = anchor.id)
    AND NOT EXISTS (SELECT 1 FROM source_row WHERE anchor_id = anchor.id)"""

AT_ONCE = 200


def sweep_all(connection: Connection, batch_id: int, state: MergeState) -> None:
    """Delete all that a merge wrote, the imports that it brought in first.

    Writes in short transactions. After an interruption it can be run again.
    """
    for batch in state.imports:
        row = connection.execute(IMPORT_ACT, {"batch": batch}).fetchone()
        bulk_run.run_sweep(connection, batch, Work(act=row[0] if row else 0))
    writes = Writes(connection)
    key = {"batch": batch_id, "own": state.act}
    stand_ins = [row[0] for row in connection.execute(STAND_INS, key)]
    for first in range(0, len(stand_ins), AT_ONCE):
        some = stand_ins[first : first + AT_ONCE]
        while _delete_events(writes, connection, some):
            pass
        with writes.one():
            connection.execute(DELETE_ACTS, {"ids": json_of(some)})
    with writes.one():
        delete_unmade(connection, state)
    bulk_run.run_sweep(connection, batch_id, Work(act=state.act, annotators=state.annotators))


def delete_unmade(connection: Connection, state: MergeState) -> None:
    """Delete new anchors whose creation was not applied."""
    connection.execute(DELETE_MADE, {"ids": json_of(state.made)})


def _delete_events(writes: Writes, connection: Connection, act_ids: list[int]) -> bool:
    with writes.one():
        key = {"acts": json_of(act_ids), "limit": AT_ONCE}
        ids = [row[0] for row in connection.execute(EVENTS, key)]
        if ids:
            event_log.delete_planned(connection, ids)
    return bool(ids)


# Pending events are applied act by act, in the order of the other copy. An event is applied
# only if its value is still the one that the plan found. If somebody changed that since, their
# change stands and the pending event is deleted. A transaction applies whole events and removes
# them from the pending ones, so that an interrupted run can be repeated.

PENDING_EVENTS = """
SELECT e.id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after,
    c.id, c.annotator_id, c.summary, c.target, c.acted_at
FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.id BETWEEN :place AND :last AND c.batch_id = :batch AND c.kind = 'merge'
ORDER BY e.id LIMIT :limit"""
SET_TARGET = "UPDATE act SET target = :target WHERE id = :id"
TARGET = "SELECT target FROM act WHERE id = :id"
MOVE_TO_ACT = """
UPDATE event SET id = (SELECT max(id) FROM event) + 1, act_id = :act WHERE id = :id"""
# Adjudicators' answers count too: a decided anchor must not disappear.
IS_ANSWERED = """
SELECT EXISTS (SELECT 1 FROM answer WHERE anchor_id = :anchor AND removed = 0)
    OR EXISTS (SELECT 1 FROM gold WHERE anchor_id = :anchor AND removed = 0)"""
IS_RESTORED = """
SELECT 1 FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.anchor_id = :anchor AND e.id > :id AND e.entity = 'anchor' AND e.after IS NOT NULL
    AND c.batch_id = :batch AND c.kind = 'merge'"""
EXISTS_ANCHOR = "SELECT 1 FROM anchor WHERE id = :anchor AND removed = 0"
# Whether this merge made the last change of a removed span.
REMOVED_BY_MERGE = """
SELECT c.merged_by IS :merge FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.anchor_id = :anchor AND e.entity = 'anchor' AND c.kind <> 'merge'
ORDER BY e.id DESC LIMIT 1"""
VOTE_LOGGED = """
SELECT 1 FROM event AS e JOIN act AS c ON c.id = e.act_id
JOIN annotator AS n ON n.id = e.annotator_id
WHERE e.anchor_id = :anchor AND e.entity = 'answer' AND e.name = 'annotator'
    AND n.name = :name AND c.kind <> 'merge' AND json_extract(e.after, '$.at') = :at"""
# Acts of people since the merge began.
CHANGED_MEANWHILE = """
SELECT 1 FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.anchor_id = :anchor AND e.entity = :entity AND c.id > :merge
    AND c.kind <> 'merge' AND c.merged_by IS NOT :merge"""
STAND_INS_LEFT = """
SELECT id FROM act WHERE batch_id = :batch AND kind = 'merge' AND id <> :own LIMIT :limit"""

STAND_INS_AT_ONCE = 500

OnProgress = Callable[[int], None]


class PendingEvent(NamedTuple):
    """An event to apply, and its stand-in act."""

    event: Event
    stand_in: int
    by: int | None
    summary: str
    target: int | None
    at: str


@dataclass(slots=True)
class ApplyResult:
    """What was applied."""

    events: int = 0
    all_acts: set[int] = field(default_factory=set)
    """All stand-in acts."""
    applied_acts: set[int] = field(default_factory=set)
    """Stand-in acts with at least one applied event."""
    skipped: list[PendingEvent] = field(default_factory=list)
    """Events that were dropped because of a change since the plan."""


def run(
    connection: Connection, batch_id: int, state: MergeState, text: str, on_progress: OnProgress
) -> ApplyResult:
    """Apply all pending events. on_progress: called with their number so far.

    Raises StoreError if another process took the merge over.
    """
    found = ApplyResult()
    writes = Writes(connection)
    place, done = state.first, 0
    while place and (some := _read(connection, batch_id, place, state.last, writes.size)):
        with writes.one():
            if not batches.still_mine(connection, batch_id, text):
                raise StoreError(
                    "Another process continues this merge, because it believed that this "
                    "process had ended. Nothing is lost; wait until it is done"
                )
            touched = set[int]()
            for _, group in groupby(some, key=lambda pending: pending.stand_in):
                _Group(connection, batch_id, state.act, list(group), found).apply(touched)
            answers.recompute_with_successors(connection, sorted(touched))
        place, done = some[-1].event.id + 1, done + len(some)
        on_progress(done)
    return found


def finish(
    connection: Connection, batch_id: int, state: MergeState, events: int, report: object
) -> None:
    """Delete the stand-in acts and make the batch ready with this report."""
    key = {"batch": batch_id, "own": state.act, "limit": STAND_INS_AT_ONCE}
    writes = Writes(connection)
    while rows := connection.execute(STAND_INS_LEFT, key).fetchall():
        with writes.one():
            connection.execute(DELETE_ACTS, {"ids": json_of([row[0] for row in rows])})
    connection.execute(SYNCHRONOUS_FULL)
    with transaction(connection):
        delete_unmade(connection, state)
        batches.set_state(connection, batch_id, "ready", events, report)


def _read(
    connection: Connection, batch_id: int, place: int, last: int, limit: int
) -> list[PendingEvent]:
    """The next pending events: whole acts, unless one alone exceeds `limit`."""
    key = {"batch": batch_id, "place": place, "last": last, "limit": limit}
    rows = connection.execute(PENDING_EVENTS, key)
    some = [PendingEvent(Event(*row[:7]), *row[7:]) for row in rows]
    if len(some) == limit:
        complete = [one for one in some if one.stand_in != some[-1].stand_in]
        return complete or some
    return some


@dataclass(slots=True)
class _Group:
    """Consecutive events of one act."""

    connection: Connection
    batch: int
    merge: int
    pending: Sequence[PendingEvent]
    found: ApplyResult
    undecided: set[int] = field(default_factory=set)

    def apply(self, touched: set[int]) -> None:
        """Apply what can be applied. Adds anchors whose summaries change to `touched`."""
        self.found.all_acts.add(self.pending[0].stand_in)
        spans_fit = self._spans_fit()
        applied_acts: list[PendingEvent] = []
        for one in self.pending:
            fits = spans_fit if one.event.entity == "anchor" else self._fits(one.event)
            if fits:
                event_log.write_state(self.connection, one.event.key, one.event.after)
                applied_acts.append(one)
            else:
                event_log.delete_planned(self.connection, [one.event.id])
                self.found.skipped.append(one)
        if applied_acts:
            act = self._act(applied_acts[0])
            for one in applied_acts:
                self.connection.execute(MOVE_TO_ACT, {"id": one.event.id, "act": act})
                touched.update(_linked(one.event))
            self.found.applied_acts.add(applied_acts[0].stand_in)
            self.found.events += len(applied_acts)

    def _spans_fit(self) -> bool:
        """True if all changes of anchors can be made. A correction is all or nothing."""
        spans = [one.event for one in self.pending if one.event.entity == "anchor"]
        return all(
            self._is_unchanged(event)
            and not self._removes_answered(event)
            and not self._hides_gold(event)
            for event in spans
        )

    def _is_unchanged(self, event: Event) -> bool:
        return event_log.present_value(self.connection, event.key) == event.before

    def _removes_answered(self, event: Event) -> bool:
        """True if it removes an answered anchor that no later event restores."""
        if event.after is not None:
            return False
        key = {"anchor": event.anchor_id}
        if not self.connection.execute(IS_ANSWERED, key).fetchone()[0]:
            return False
        key |= {"id": event.id, "batch": self.batch}
        return self.connection.execute(IS_RESTORED, key).fetchone() is None

    def _hides_gold(self, event: Event) -> bool:
        """True if it replaces a span for which somebody made gold since the merge began."""
        if not _is_replaced(event.after) or not self._changed_meanwhile(event, "gold"):
            return False
        key = ("gold", event.anchor_id, None, "")
        return event_log.present_value(self.connection, key) is not None

    def _is_hidden(self, event: Event) -> bool:
        """True for gold of a span that somebody replaced since the merge began.

        False if the other copy replaces the span as well.
        """
        if event.after is None or not self._changed_meanwhile(event, "anchor"):
            return False
        place = ("anchor", event.anchor_id, None, "")
        if not _is_replaced(event_log.present_value(self.connection, place)):
            return False
        key = {"anchor": event.anchor_id, "id": event.id, "batch": self.batch}
        return self.connection.execute(IS_RESTORED, key).fetchone() is None

    def _changed_meanwhile(self, event: Event, entity: str) -> bool:
        key = {"anchor": event.anchor_id, "entity": entity, "merge": self.merge}
        return self.connection.execute(CHANGED_MEANWHILE, key).fetchone() is not None

    def _fits(self, event: Event) -> bool:
        if event.entity == "gold" and self._is_hidden(event):
            return False
        if not self._is_unchanged(event) or not self._has_span(event):
            if event.entity == "answer" and event.name == Role.ADJUDICATOR:
                self.undecided.add(event.anchor_id)
            return False
        value = decode_gold(event.after) if event.entity == "gold" else None
        if value is None:
            return True
        if value.rule == Rule.EXPERT:
            # The expert's answer that made this gold may have been skipped.
            return event.anchor_id not in self.undecided
        return all(self._is_logged(event.anchor_id, *vote) for vote in value.votes)

    def _is_logged(self, anchor: int, name: str, at: str) -> bool:
        """True if a vote that gold was made of is in this copy's log."""
        key = {"anchor": anchor, "name": name, "at": at}
        return self.connection.execute(VOTE_LOGGED, key).fetchone() is not None

    def _has_span(self, event: Event) -> bool:
        """False if somebody removed the span here since the merge began.

        A flag needs no live span.
        """
        key = {"anchor": event.anchor_id}
        if event.entity == "flag":
            return True
        if self.connection.execute(EXISTS_ANCHOR, key).fetchone() is not None:
            return True
        row = self.connection.execute(REMOVED_BY_MERGE, key | {"merge": self.merge}).fetchone()
        return row is not None and bool(row[0])

    def _act(self, pending: PendingEvent) -> int:
        """Get or create the act of the events."""
        if pending.target is not None:
            return pending.target
        connection = self.connection
        future = _decode_stand_in(pending.summary)
        of = future.of
        if of is None and future.of_stand_in is not None:
            row = connection.execute(TARGET, {"id": future.of_stand_in}).fetchone()
            of = row and row[0]
        turns = future.kind in ("undo", "redo")
        orphaned = turns and of is None
        row = {
            "by": pending.by,
            # Nothing of what it reverses came in.
            "kind": "do" if orphaned else future.kind,
            "summary": f"{future.kind}: {future.summary}" if orphaned else future.summary,
            "target": of,
            "merge": self.merge,
            "batch": future.batch,
            "at": pending.at,
        }
        act: int = connection.execute(INSERT_ACT, row).fetchone()[0]
        connection.execute(SET_TARGET, {"id": pending.stand_in, "target": act})
        if turns and of is not None:
            event_log.set_undone(connection, of, undone=future.kind == "undo")
        return act


def _is_replaced(text: str | None) -> bool:
    value = decode_anchor(text)
    return value is not None and value.replaced_by is not None


def _linked(event: Event) -> Iterator[int]:
    """The anchor of an event, and those that replace it before or after the event."""
    yield event.anchor_id
    if event.entity == "anchor":
        for value in map(decode_anchor, (event.before, event.after)):
            if value is not None and value.replaced_by is not None:
                yield value.replaced_by


# New passages and anchors, the rows of new imports and their events about their own anchors
# are invisible until one update shows them. All other events are pending until then.

INSERT_PERSON = """
INSERT INTO annotator (name, type, created_at) VALUES (:name, :type, :at)
ON CONFLICT (name) DO NOTHING"""
INSERT_ANCHOR = """
INSERT INTO anchor (passage_id, start, stop, text_start, text_stop, word, batch_id, removed)
VALUES (:passage, :start, :stop, :text_start, :text_stop, :word, :batch, :removed)
RETURNING id"""
SOURCE_ROWS = """
SELECT line, anchor_id, split, labels FROM source_row
WHERE batch_id = :batch ORDER BY line, anchor_id"""
SHOW = """
UPDATE batch SET state = 'ready', rows = :rows, report = :report, created_at = :created,
    finished_at = :finished WHERE id = :id"""

T = TypeVar("T")


class PlanOutdatedError(Exception):
    """An import or a new span since the plan makes it invalid. Plan again."""


class MergeWriter:
    """Writes a plan, up to the update that shows it.

    Leaving the context before that deletes everything written. Raises PlanOutdatedError if
    an import or a new span came in since the plan was made.
    """

    def __init__(
        self, connection: Connection, there: Connection, plan: MergePlan, me: str, name: str
    ) -> None:
        self.batch = 0
        self.state = MergeState()
        self.text = ""
        self._connection = connection
        self._there = there
        self._plan = plan
        self._me = me
        self._name = name
        self._shown = False
        self._writes = Writes(connection)
        self._documents: dict[int, str] = dict(there.execute(source.DOCUMENTS))
        self._new_documents: dict[int, int] = {}
        self._act_writer = ActWriter(connection, plan, self.state)
        self._checker = Checker(there)
        self._stack = ExitStack()

    # --- begin --------------------------------------------------------------------------

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._begin(stack)
            self._stack = stack.pop_all()
        return self

    def _begin(self, stack: ExitStack) -> None:
        connection = self._connection
        with transaction(connection):
            batches.refuse_beside_another(connection, f"merge {self._name}")
            if import_state(connection) != self._plan.import_state:
                raise PlanOutdatedError
            self._people()
            # The column must be unique. There is no file to hash.
            self.batch = batches.add(
                connection, self._name, secrets.token_hex(32), MERGE, None, None, Work()
            )
            stack.enter_context(batches.running(self.batch))
            self.state.started = system.started(os.getpid())
            self.state.act = event_log.add(
                connection,
                self._person(self._me),
                "merge",
                f"merge of {self._name}",
                system.now(),
                batch=self.batch,
            )
            for batch in self._plan.batches:
                self._begin_batch(batch, stack)
            self._act_writer.add_imports()
            self.text = batches.set_report(connection, self.batch, self.state)

    def _people(self) -> None:
        maps, connection = self._plan.maps, self._connection
        for person in self._plan.people:
            passages.check_name(person.name)
            row = {"name": person.name, "type": person.type, "at": person.created_at}
            made = connection.execute(INSERT_PERSON, row).rowcount == 1
            found = passages.find(connection, person.name)
            if found is None or found.type != person.type:
                raise PlanOutdatedError
            if made:
                self.state.annotators.append(found.id)
            maps.people[person.id] = found.id

    def _person(self, name: str) -> int:
        """Get or create the annotator."""
        found = passages.find(self._connection, name)
        if found is None:
            found = passages.add(self._connection, name)
            self.state.annotators.append(found.id)
        return found.id

    def _begin_batch(self, batch: MergedBatch, stack: ExitStack) -> None:
        new = batches.add(
            self._connection,
            batch.name,
            batch.sha256,
            batch.format,
            batch.split,
            batch.annotator,
            Work(started=self.state.started),
        )
        stack.enter_context(batches.running(new))
        self.state.imports.append(new)
        self._plan.maps.batches[batch.id] = new

    # --- invisible rows -----------------------------------------------------------------

    def run(self, on_progress: OnProgress, check: Callable[[], None]) -> None:
        """Write all that comes in, and show it.

        on_progress: called with the number of events written. check: called before anything
        is shown; an exception from it stops the merge.
        """
        plan = self._plan
        self._write_rows(plan.passages, self._add_passage)
        self._write_rows([*plan.anchors, *plan.referenced], self._add_anchor)
        for batch in plan.batches:
            self._add_sources(batch)
        self._write_rows(list(plan.import_events.items()), self._write_import_events)
        self._write_rows(plan.acts, self._add_stand_in)
        done = 0
        for some in self._chunks(plan.pending):
            rows = self._rows(some)
            with self._write():
                pending = event_log.record_all(self._connection, rows)
            if pending is not None:
                self.state.first = self.state.first or pending[0]
                self.state.last = pending[1]
            done += len(some)
            on_progress(done)
        check()
        self._show()

    def _write_rows(self, rows: Sequence[T], add: Callable[[T], None]) -> None:
        for some in self._chunks(rows):
            with self._write():
                for row in some:
                    add(row)

    def _chunks(self, rows: Sequence[T]) -> Iterator[Sequence[T]]:
        """The rows in chunks of the size for one transaction."""
        self._writes.reset_size()
        place = 0
        while place < len(rows):
            some = rows[place : place + self._writes.size]
            place += len(some)
            yield some

    @contextmanager
    def _write(self) -> Iterator[None]:
        with self._writes.one():
            self._check_mine()
            yield

    def _check_mine(self) -> None:
        if not batches.still_mine(self._connection, self.batch, self.text):
            raise StoreError(
                f"The merge of {self._name} was removed by a program that could not see this "
                "process (another container?). Nothing of it is stored; open the database from "
                "one place at a time while you merge"
            )

    def _visible_with(self, batch: int | None) -> int:
        """The batch that makes a new row visible."""
        mine = self._plan.maps.batches.get(batch or 0, 0)
        return mine if mine in self.state.imports else self.batch

    def _add_passage(self, row: MergedPassage) -> None:
        home = self._visible_with(row.batch)
        document = self._new_documents.get(row.document)
        if document is None:
            title = self._documents[row.document]
            document = add_document(self._connection, title, home)
            self._new_documents[row.document] = document
        text, tokens = self._checker.passage(row)
        digest = bytes.fromhex(row.digest)
        new = self._connection.execute(
            INSERT_PASSAGE, (None, document, home, digest, text)
        ).lastrowid
        self._connection.execute(INSERT_TOKENS, (new, *tokens))
        self._plan.maps.passages[row.id] = new or 0

    def _add_anchor(self, row: MergedAnchor) -> None:
        """Insert a new anchor, as removed until its creation is applied if a person made it."""
        made = row.batch is None
        known = anchors.find_span(
            self._connection, self._plan.maps.passages[row.passage], Anchor(row.start, row.stop)
        )
        if known is not None:
            if not made:
                raise PlanOutdatedError
            self._plan.maps.anchors[row.id] = known[0]
            return
        new: int = self._connection.execute(
            INSERT_ANCHOR,
            {
                "passage": self._plan.maps.passages[row.passage],
                "start": row.start,
                "stop": row.stop,
                "text_start": row.text_start,
                "text_stop": row.text_stop,
                "word": row.word,
                "batch": None if made else self._visible_with(row.batch),
                "removed": made,
            },
        ).fetchone()[0]
        self._plan.maps.anchors[row.id] = new
        if made:
            self.state.made.append(new)
            self.text = batches.set_report(self._connection, self.batch, self.state)

    def _add_sources(self, batch: MergedBatch) -> None:
        maps = self._plan.maps
        rows = self._there.execute(SOURCE_ROWS, {"batch": batch.id}).fetchall()
        for some in self._chunks(rows):
            with self._write():
                self._connection.executemany(
                    INSERT_SOURCE,
                    [
                        (maps.batches[batch.id], line, maps.anchors[anchor], split, labels)
                        for line, anchor, split, labels in some
                    ],
                )

    def _write_import_events(self, item: tuple[int, Sequence[IncomingEvent]]) -> None:
        """Write the events of a new import about one of its new anchors."""
        connection, plan = self._connection, self._plan
        anchor = plan.maps.anchors[item[0]]
        for incoming in item[1]:
            event = incoming.event
            owner = event.owner and plan.maps.people[event.owner]
            before, after = incoming.values(plan.maps)
            self._checker.value(incoming, after)
            key = (event.entity, anchor, owner, event.name)
            event_log.write_state(connection, key, after)
            act = self._act_writer.imports[event.act]
            event_log.record(connection, act, key, before, after)
        answers.recompute(connection, anchor)

    # --- pending events -----------------------------------------------------------------

    def _add_stand_in(self, act: MergedAct) -> None:
        self._act_writer.add_stand_in(act, self.batch)

    def _rows(self, some: Sequence[IncomingEvent]) -> list[tuple[object, ...]]:
        """Pending events in the order of the table's columns."""
        rows: list[tuple[object, ...]] = []
        for incoming in some:
            event, maps = incoming.event, self._plan.maps
            before, after = incoming.values(maps)
            self._checker.value(incoming, after)
            owner = event.owner and maps.people[event.owner]
            place = (event.entity, maps.anchors[event.anchor], owner, event.name)
            rows.append((self._act_writer.stand_ins[event.act], *place, before, after))
        return rows

    # --- visibility ---------------------------------------------------------------------

    def _show(self) -> None:
        """Make the new rows visible, with a synchronous write. Recovery then goes on."""
        connection = self._connection
        connection.execute(SYNCHRONOUS_FULL)
        with transaction(connection):
            self._check_mine()
            for batch in self._plan.batches:
                connection.execute(
                    SHOW,
                    {
                        "id": self._plan.maps.batches[batch.id],
                        "rows": batch.rows,
                        # Numbers of imports are each copy's own.
                        "report": "{}" if batch.format == batches.RETIRE else batch.report,
                        "created": batch.created_at,
                        "finished": batch.finished_at,
                    },
                )
            self.state.shown = True
            self.text = batches.set_report(connection, self.batch, self.state)
        self._shown = True
        connection.execute(SYNCHRONOUS_NORMAL)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if not self._shown:
                self._roll_back(error)

    def _roll_back(self, error: BaseException | None) -> None:
        """Delete what was written, without hiding the error that caused it."""
        mine = [one for one in batches.unfinished(self._connection) if one.id == self.batch]
        if not mine or decode_state(mine[0].raw).shown:
            return
        try:
            sweep_all(self._connection, self.batch, self.state)
        except sqlite3.Error:
            if error is not None:
                error.add_note(
                    "The unfinished part stays invisible, and the next start removes it."
                )
