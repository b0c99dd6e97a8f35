"""A merge written: rows brought in unseen in short writes, then applied act by act in the
order of the other copy, and cleared away where it was not shown.
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
from nfh_db.batches import MERGE, Unfinished, Work
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
from nfh_db.merge.plan import Checker, IncomingEvent, MergePlan, ground
from nfh_db.merge.source import MergedAct, MergedAnchor, MergedBatch, MergedPassage, Writes
from nfh_db.passages import INSERT as INSERT_PASSAGE
from nfh_db.passages import INSERT_TOKENS, add_document
from nfh_db.records import Role, Rule
from nfh_db.serialization import decode_anchor, decode_gold, json_of
from nfh_models.domain import Anchor

# What a merge under way leaves in the database, so that any process can finish it.
#
# The merge is a batch of the format `batches.MERGE`. Its note, in the batch's report, says how
# far it is. What is to be applied waits as events under acts that stand in for those that they
# will be: kind `merge`, of that batch. It is `loading` until the end, so that nobody sees
# them.

INSERT_ACT = """
INSERT INTO act (annotator_id, kind, summary, target, merged_by, batch_id, acted_at)
VALUES (:by, :kind, :summary, :target, :merge, :batch, :at) RETURNING id"""

MAKE_READY = """
UPDATE batch SET state = 'ready', rows = :rows, report = :report, finished_at = :at
WHERE id = :id"""


class MergeState(msgspec.Struct):
    """How far a merge is.

    started: when its process started. act: its own. annotators: those that it made.
    imports: batches that come with it. made: anchors that people made there. shown: what is
    new is to be seen, and what waits is being applied. first, last: ids of the events that
    wait. Field names are those of `batches.Work` where they mean the same.
    """

    started: str | None = None
    act: int = 0
    annotators: list[int] = msgspec.field(default_factory=list)
    imports: list[int] = msgspec.field(default_factory=list)
    made: list[int] = msgspec.field(default_factory=list)
    shown: bool = False
    first: int = 0
    last: int = 0


class StandIn(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands in an act's place until its first event is applied.

    kind, summary, batch: of the act that it will be; kind is empty where its events go to an
    act that is there already, which is the stand-in's target. of: the act that an undo or a
    redo is about; of_stand_in: the same, where that one is to come as well.
    """

    kind: str = ""
    summary: str = ""
    batch: int | None = None
    of: int | None = None
    of_stand_in: int | None = None


_notes = msgspec.json.Decoder(MergeState)
_stand_ins = msgspec.json.Decoder(StandIn)


def read(batch: Unfinished) -> MergeState:
    """The note of a merge that is not done."""
    return _notes.decode(batch.raw)


def read_text(text: str) -> MergeState:
    """A note as it was written."""
    return _notes.decode(text)


def stand_in(summary: str) -> StandIn:
    """What the summary of an act that stands in for another holds."""
    return _stand_ins.decode(summary)


def claim(connection: Connection, batch: Unfinished) -> str | None:
    """Make a dead process' merge this one's: its note; None if another was faster."""
    mine = msgspec.structs.replace(read(batch), started=system.started(os.getpid()))
    text = json_of(mine)
    changed = connection.execute(
        batches.CLAIM,
        {
            "id": batch.id,
            "state": batch.state,
            "pid": os.getpid(),
            "report": text,
            "former": batch.pid,
            "former_report": batch.raw,
        },
    ).rowcount
    return text if changed == 1 else None


def write(connection: Connection, batch_id: int, note: MergeState) -> str:
    """Note how far a merge is; the text of the note."""
    text = json_of(note)
    connection.execute(batches.SET_REPORT, {"id": batch_id, "report": text})
    return text


def make_ready(connection: Connection, batch_id: int, events: int, report: str) -> None:
    """The merge is done; what it changed is in the log."""
    row = {"id": batch_id, "rows": events, "report": report, "at": system.now()}
    connection.execute(MAKE_READY, row)


class Acting:
    """Adds acts, within the merge's writes. imports, stand_ins: their ids, by act there."""

    def __init__(self, connection: Connection, plan: MergePlan, note: MergeState) -> None:
        self.imports: dict[int, int] = {}
        self.stand_ins: dict[int, int] = {}
        self._connection = connection
        self._plan = plan
        self._note = note

    def add_imports(self) -> None:
        """The acts of imports that are new; what they brought at once hangs on them."""
        for act in self._plan.acts:
            if act.kind == "import" and act.id not in self._plan.shared:
                batch = self._plan.maps.batches[act.batch or 0]
                new = self._add(act, act.kind, act.summary, batch)
                work = Work(started=self._note.started, act=new)
                batches.set_work(self._connection, batch, work)
                self.imports[act.id] = new

    def add_stand_in(self, act: MergedAct, batch: int) -> None:
        """An act under which events wait. batch: the merge's."""
        target = self._plan.shared.get(act.id, self.imports.get(act.id))
        text = json_of(StandIn() if target is not None else self._as_it_will_be(act))
        self.stand_ins[act.id] = self._add(act, MERGE, text, batch, target)

    def _as_it_will_be(self, act: MergedAct) -> StandIn:
        plan = self._plan
        if act.id in plan.loose:
            # What it took back is not here: it is a change like others.
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
            "merge": self._note.act,
            "batch": batch,
            "at": act.at,
        }
        new: int = self._connection.execute(INSERT_ACT, row).fetchone()[0]
        return new


STAND_INS = "SELECT id FROM act WHERE batch_id = :batch AND kind = 'merge' AND id <> :own"
EVENTS = """
SELECT id FROM event WHERE act_id IN (SELECT value FROM json_each(:acts)) LIMIT :limit"""
DELETE_EVENTS = "DELETE FROM event WHERE id IN (SELECT value FROM json_each(:ids))"
DELETE_ACTS = "DELETE FROM act WHERE id IN (SELECT value FROM json_each(:ids))"
IMPORT_ACT = "SELECT id FROM act WHERE batch_id = :batch AND kind = 'import'"
# Somebody may have made an anchor of the very span meanwhile, or a file's row names it.
DELETE_MADE = """
DELETE FROM anchor WHERE id IN (SELECT value FROM json_each(:ids)) AND removed = 1
    AND NOT EXISTS (SELECT 1 FROM event WHERE anchor_id = anchor.id)
    AND NOT EXISTS (SELECT 1 FROM source_row WHERE anchor_id = anchor.id)"""

AT_ONCE = 200


def sweep_all(connection: Connection, batch_id: int, note: MergeState) -> None:
    """Delete all that a merge wrote, and before it the imports that came with it."""
    for batch in note.imports:
        row = connection.execute(IMPORT_ACT, {"batch": batch}).fetchone()
        bulk_run.run_sweep(connection, batch, Work(act=row[0] if row else 0))
    writes = Writes(connection)
    key = {"batch": batch_id, "own": note.act}
    stand_ins = [row[0] for row in connection.execute(STAND_INS, key)]
    for first in range(0, len(stand_ins), AT_ONCE):
        some = stand_ins[first : first + AT_ONCE]
        while _delete_events(writes, connection, some):
            pass
        with writes.one():
            connection.execute(DELETE_ACTS, {"ids": json_of(some)})
    with writes.one():
        forget_unmade(connection, note)
    bulk_run.run_sweep(connection, batch_id, Work(act=note.act, annotators=note.annotators))


def forget_unmade(connection: Connection, note: MergeState) -> None:
    """Delete the rows of spans that people made there and whose making did not come in."""
    connection.execute(DELETE_MADE, {"ids": json_of(note.made)})


def _delete_events(writes: Writes, connection: Connection, act_ids: list[int]) -> bool:
    with writes.one():
        key = {"acts": json_of(act_ids), "limit": AT_ONCE}
        ids = [row[0] for row in connection.execute(EVENTS, key)]
        if ids:
            connection.execute(DELETE_EVENTS, {"ids": json_of(ids)})
    return bool(ids)


# Applying what a merge brought in: act by act, in the order in which it was done there.
#
# An event counts only if its thing still is as the merge found it; where somebody was faster,
# that stands, and the event, which never happened here, leaves the log. May be broken off at
# any point and run again: each write applies whole events, and takes them off what waits.

WAITING = """
SELECT e.id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after,
    c.id, c.annotator_id, c.summary, c.target, c.acted_at
FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.id BETWEEN :place AND :last AND c.batch_id = :batch AND c.kind = 'merge'
ORDER BY e.id LIMIT :limit"""
SET_TARGET = "UPDATE act SET target = :target WHERE id = :id"
TARGET = "SELECT target FROM act WHERE id = :id"
HAPPENED = """
UPDATE event SET id = (SELECT max(id) FROM event) + 1, act_id = :act WHERE id = :id"""
# Of a decision as adjudicator, too: an anchor that is decided does not vanish.
DECIDED = """
SELECT EXISTS (SELECT 1 FROM answer WHERE anchor_id = :anchor AND removed = 0)
    OR EXISTS (SELECT 1 FROM gold WHERE anchor_id = :anchor AND removed = 0)"""
COMES_AGAIN = """
SELECT 1 FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.anchor_id = :anchor AND e.id > :id AND e.entity = 'anchor' AND e.after IS NOT NULL
    AND c.batch_id = :batch AND c.kind = 'merge'"""
EXISTS_ANCHOR = "SELECT 1 FROM anchor WHERE id = :anchor AND removed = 0"
# The last change of a span that is gone: whether this merge brought it.
GONE_WITH_MERGE = """
SELECT c.merged_by IS :merge FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.anchor_id = :anchor AND e.entity = 'anchor' AND c.kind <> 'merge'
ORDER BY e.id DESC LIMIT 1"""
GIVEN = """
SELECT 1 FROM event AS e JOIN act AS c ON c.id = e.act_id
JOIN annotator AS n ON n.id = e.annotator_id
WHERE e.anchor_id = :anchor AND e.entity = 'answer' AND e.name = 'annotator'
    AND n.name = :name AND c.kind <> 'merge' AND json_extract(e.after, '$.at') = :at"""
# Acts of people since the merge began, when what comes in was laid beside what was here.
CHANGED_MEANWHILE = """
SELECT 1 FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE e.anchor_id = :anchor AND e.entity = :entity AND c.id > :merge
    AND c.kind <> 'merge' AND c.merged_by IS NOT :merge"""
STAND_INS_LEFT = """
SELECT id FROM act WHERE batch_id = :batch AND kind = 'merge' AND id <> :own LIMIT :limit"""
DELETE_STAND_IN = "DELETE FROM act WHERE id = :id"

FORGOTTEN_AT_ONCE = 500

Tell = Callable[[int], None]


class Waiting(NamedTuple):
    """An event that waits, and the act that stands in for its own."""

    event: Event
    stand_in: int
    by: int | None
    summary: str
    target: int | None
    at: str


@dataclass(slots=True)
class Applied:
    """What came of it. seen, happened: stand-ins, and those of which something was applied.

    missed: what was left, since somebody was faster.
    """

    events: int = 0
    seen: set[int] = field(default_factory=set)
    happened: set[int] = field(default_factory=set)
    missed: list[Waiting] = field(default_factory=list)


def run(
    connection: Connection, batch_id: int, note: MergeState, text: str, tell: Tell
) -> Applied:
    """Apply all that waits. tell: called with the events done."""
    found = Applied()
    writes = Writes(connection)
    place, done = note.first, 0
    while place and (some := _read(connection, batch_id, place, note.last, writes.size)):
        with writes.one():
            if not batches.still_mine(connection, batch_id, text):
                raise StoreError(
                    "Another process took this one for dead and goes on with the merge. "
                    "Nothing is lost; wait until that is done"
                )
            touched = set[int]()
            for _, group in groupby(some, key=lambda waiting: waiting.stand_in):
                _Group(connection, batch_id, note.act, list(group), found).apply(touched)
            answers.recompute_with_successors(connection, sorted(touched))
        place, done = some[-1].event.id + 1, done + len(some)
        tell(done)
    return found


def finish(
    connection: Connection, batch_id: int, note: MergeState, events: int, report: str
) -> None:
    """Take the stand-ins away and make the batch ready. report: JSON, kept with it."""
    key = {"batch": batch_id, "own": note.act, "limit": FORGOTTEN_AT_ONCE}
    writes = Writes(connection)
    while rows := connection.execute(STAND_INS_LEFT, key).fetchall():
        with writes.one():
            for (id_,) in rows:
                connection.execute(DELETE_STAND_IN, {"id": id_})
    connection.execute(SYNCHRONOUS_FULL)
    with transaction(connection):
        forget_unmade(connection, note)
        make_ready(connection, batch_id, events, report)


def _read(
    connection: Connection, batch_id: int, place: int, last: int, limit: int
) -> list[Waiting]:
    """What waits next: whole acts, unless one alone is more than `limit`."""
    key = {"batch": batch_id, "place": place, "last": last, "limit": limit}
    rows = connection.execute(WAITING, key)
    some = [Waiting(Event(*row[:7]), *row[7:]) for row in rows]
    if len(some) == limit:
        whole = [one for one in some if one.stand_in != some[-1].stand_in]
        return whole or some
    return some


@dataclass(slots=True)
class _Group:
    """Events of one act that follow one another."""

    connection: Connection
    batch: int
    merge: int
    waiting: Sequence[Waiting]
    found: Applied
    undecided: set[int] = field(default_factory=set)

    def apply(self, touched: set[int]) -> None:
        """Apply what can be; `touched` gets the anchors to sum up anew."""
        self.found.seen.add(self.waiting[0].stand_in)
        together = self._spans_fit()
        happened: list[Waiting] = []
        for one in self.waiting:
            fits = together if one.event.entity == "anchor" else self._fits(one.event)
            if fits:
                key = _key(one.event)
                event_log.make(self.connection, *key, one.event.after)
                happened.append(one)
            else:
                event_log.forget(self.connection, [one.event.id])
                self.found.missed.append(one)
        if happened:
            act = self._act(happened[0])
            for one in happened:
                self.connection.execute(HAPPENED, {"id": one.event.id, "act": act})
                touched.update(_linked(one.event))
            self.found.happened.add(happened[0].stand_in)
            self.found.events += len(happened)

    def _spans_fit(self) -> bool:
        """True if all changes of anchors can be made: half of one would be no correction."""
        spans = [one.event for one in self.waiting if one.event.entity == "anchor"]
        return all(
            self._is_as_found(event) and not self._loses(event) and not self._hides(event)
            for event in spans
        )

    def _is_as_found(self, event: Event) -> bool:
        return event_log.present_value(self.connection, *_key(event)) == event.before

    def _loses(self, event: Event) -> bool:
        """True if an anchor that somebody answered would vanish, and not only for a moment."""
        if event.after is not None:
            return False
        key = {"anchor": event.anchor_id}
        if not self.connection.execute(DECIDED, key).fetchone()[0]:
            return False
        key |= {"id": event.id, "batch": self.batch}
        return self.connection.execute(COMES_AGAIN, key).fetchone() is None

    def _hides(self, event: Event) -> bool:
        """True if gold that somebody made since the merge began would become stale."""
        if not _is_replaced(event.after) or not self._changed_meanwhile(event, "gold"):
            return False
        key = ("gold", event.anchor_id, None, "")
        return event_log.present_value(self.connection, *key) is not None

    def _is_hidden(self, event: Event) -> bool:
        """True if gold comes to a span that somebody replaced since the merge began.

        Not where the other copy replaces it, too: there the gold is out of sight as well.
        """
        if event.after is None or not self._changed_meanwhile(event, "anchor"):
            return False
        place = ("anchor", event.anchor_id, None, "")
        if not _is_replaced(event_log.present_value(self.connection, *place)):
            return False
        key = {"anchor": event.anchor_id, "id": event.id, "batch": self.batch}
        return self.connection.execute(COMES_AGAIN, key).fetchone() is None

    def _changed_meanwhile(self, event: Event, entity: str) -> bool:
        key = {"anchor": event.anchor_id, "entity": entity, "merge": self.merge}
        return self.connection.execute(CHANGED_MEANWHILE, key).fetchone() is not None

    def _fits(self, event: Event) -> bool:
        if event.entity == "gold" and self._is_hidden(event):
            return False
        if not self._is_as_found(event) or not self._has_place(event):
            if event.entity == "answer" and event.name == Role.ADJUDICATOR:
                self.undecided.add(event.anchor_id)
            return False
        value = decode_gold(event.after) if event.entity == "gold" else None
        if value is None:
            return True
        if value.rule == Rule.EXPERT:
            # The expert's own answer, which made this gold, may have been left out.
            return event.anchor_id not in self.undecided
        return all(self._was_given(event.anchor_id, *vote) for vote in value.votes)

    def _was_given(self, anchor: int, name: str, at: str) -> bool:
        """True if a vote that a rule made gold of is in this copy's log."""
        key = {"anchor": anchor, "name": name, "at": at}
        return self.connection.execute(GIVEN, key).fetchone() is not None

    def _has_place(self, event: Event) -> bool:
        """False if somebody took the span back here, since the merge began.

        A flag may be set on what is out of sight.
        """
        key = {"anchor": event.anchor_id}
        if event.entity == "flag":
            return True
        if self.connection.execute(EXISTS_ANCHOR, key).fetchone() is not None:
            return True
        row = self.connection.execute(GONE_WITH_MERGE, key | {"merge": self.merge}).fetchone()
        return row is not None and bool(row[0])

    def _act(self, waiting: Waiting) -> int:
        """The act that the events are of from now on; made, if this is the first of it."""
        if waiting.target is not None:
            return waiting.target
        connection = self.connection
        will_be = stand_in(waiting.summary)
        of = will_be.of
        if of is None and will_be.of_stand_in is not None:
            row = connection.execute(TARGET, {"id": will_be.of_stand_in}).fetchone()
            of = row and row[0]
        turns = will_be.kind in ("undo", "redo")
        lost = turns and of is None
        row = {
            "by": waiting.by,
            # Nothing of what it took back came in.
            "kind": "do" if lost else will_be.kind,
            "summary": f"{will_be.kind}: {will_be.summary}" if lost else will_be.summary,
            "target": of,
            "merge": self.merge,
            "batch": will_be.batch,
            "at": waiting.at,
        }
        act: int = connection.execute(INSERT_ACT, row).fetchone()[0]
        connection.execute(SET_TARGET, {"id": waiting.stand_in, "target": act})
        if turns and of is not None:
            event_log.set_undone(connection, of, undone=will_be.kind == "undo")
        return act


def _key(event: Event) -> tuple[str, int, int | None, str]:
    return event.entity, event.anchor_id, event.annotator_id, event.name


def _is_replaced(text: str | None) -> bool:
    value = decode_anchor(text)
    return value is not None and value.replaced_by is not None


def _linked(event: Event) -> Iterator[int]:
    """The anchor of an event, and those that replaced it before or after."""
    yield event.anchor_id
    if event.entity == "anchor":
        for value in map(decode_anchor, (event.before, event.after)):
            if value is not None and value.replaced_by is not None:
                yield value.replaced_by


# Writing what comes in where nobody sees it: in short writes, shown by one flip at the end.
#
# New passages and anchors, the rows of new imports and what those say of their own anchors
# become visible with the flip. Everything else waits, and is applied after it.

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


class OvertakenError(Exception):
    """Something came in between: what was planned does not hold any more."""


class Bringing:
    """One merge under way, until its flip; as a context manager it leaves nothing without.

    Raises OvertakenError where an import came in since `plan`, or somebody made a span.
    """

    def __init__(
        self, connection: Connection, there: Connection, plan: MergePlan, me: str, name: str
    ) -> None:
        self.batch = 0
        self.note = MergeState()
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
        self._acting = Acting(connection, plan, self.note)
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
            if ground(connection) != self._plan.ground:
                raise OvertakenError
            self._people()
            # A hash names the content of a file; here it only must be no other's.
            self.batch = batches.add(
                connection,
                self._name,
                secrets.token_hex(32),
                MERGE,
                None,
                None,
                Work(),
            )
            stack.enter_context(batches.running(self.batch))
            self.note.started = system.started(os.getpid())
            self.note.act = event_log.add(
                connection,
                self._person(self._me),
                "merge",
                f"merge of {self._name}",
                system.now(),
                batch=self.batch,
            )
            for batch in self._plan.batches:
                self._begin_batch(batch, stack)
            self._acting.add_imports()
            self.text = write(connection, self.batch, self.note)

    def _people(self) -> None:
        maps, connection = self._plan.maps, self._connection
        for person in self._plan.people:
            passages.check_name(person.name)
            row = {"name": person.name, "type": person.type, "at": person.created_at}
            made = connection.execute(INSERT_PERSON, row).rowcount == 1
            found = passages.find(connection, person.name)
            if found is None or found.type != person.type:
                raise OvertakenError
            if made:
                self.note.annotators.append(found.id)
            maps.people[person.id] = found.id

    def _person(self, name: str) -> int:
        """Who merges."""
        found = passages.find(self._connection, name)
        if found is None:
            found = passages.add(self._connection, name)
            self.note.annotators.append(found.id)
        return found.id

    def _begin_batch(self, batch: MergedBatch, stack: ExitStack) -> None:
        new = batches.add(
            self._connection,
            batch.name,
            batch.sha256,
            batch.format,
            batch.split,
            batch.annotator,
            Work(started=self.note.started),
        )
        stack.enter_context(batches.running(new))
        self.note.imports.append(new)
        self._plan.maps.batches[batch.id] = new

    # --- what nobody sees ---------------------------------------------------------------

    def run(self, tell: Tell, check: Callable[[], None]) -> None:
        """Write all that comes in, and show it.

        tell: called with the events written. check: called before anything is shown; what it
        raises stops the merge.
        """
        plan = self._plan
        self._in_stretches(plan.passages, self._add_passage)
        self._in_stretches([*plan.anchors, *plan.bare], self._add_anchor)
        for batch in plan.batches:
            self._add_sources(batch)
        self._in_stretches(list(plan.direct.items()), self._say_at_once)
        self._in_stretches(plan.acts, self._add_stand_in)
        done = 0
        for some in self._stretches(plan.waiting):
            rows = self._rows(some)
            with self._write():
                waiting = event_log.record_all(self._connection, rows)
            if waiting is not None:
                self.note.first = self.note.first or waiting[0]
                self.note.last = waiting[1]
            done += len(some)
            tell(done)
        check()
        self._show()

    def _in_stretches(self, rows: Sequence[T], add: Callable[[T], None]) -> None:
        for some in self._stretches(rows):
            with self._write():
                for row in some:
                    add(row)

    def _stretches(self, rows: Sequence[T]) -> Iterator[Sequence[T]]:
        """All of `rows`, as many at once as one write can take."""
        self._writes.begin_small()
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
                f"The merge of {self._name} was cleared away by a program that could not see "
                "this process (another container?). Nothing of it is stored; open the "
                "database from one place at a time while you merge"
            )

    def _home(self, batch: int | None) -> int:
        """The batch that a new row becomes visible with."""
        mine = self._plan.maps.batches.get(batch or 0, 0)
        return mine if mine in self.note.imports else self.batch

    def _add_passage(self, row: MergedPassage) -> None:
        home = self._home(row.batch)
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
        """A new anchor. One that a person made is no anchor before its making is applied."""
        made = row.batch is None
        known = anchors.find_span(
            self._connection,
            self._plan.maps.passages[row.passage],
            Anchor(row.start, row.stop),
        )
        if known is not None:
            # Somebody made it here since.
            if not made:
                raise OvertakenError
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
                "batch": None if made else self._home(row.batch),
                "removed": made,
            },
        ).fetchone()[0]
        self._plan.maps.anchors[row.id] = new
        if made:
            self.note.made.append(new)
            self.text = write(self._connection, self.batch, self.note)

    def _add_sources(self, batch: MergedBatch) -> None:
        maps = self._plan.maps
        rows = self._there.execute(SOURCE_ROWS, {"batch": batch.id}).fetchall()
        for some in self._stretches(rows):
            with self._write():
                self._connection.executemany(
                    INSERT_SOURCE,
                    [
                        (maps.batches[batch.id], line, maps.anchors[anchor], split, labels)
                        for line, anchor, split, labels in some
                    ],
                )

    def _say_at_once(self, saying: tuple[int, Sequence[IncomingEvent]]) -> None:
        """What an import that is new says of an anchor that it brought."""
        connection, plan = self._connection, self._plan
        anchor = plan.maps.anchors[saying[0]]
        for coming in saying[1]:
            event = coming.event
            owner = event.owner and plan.maps.people[event.owner]
            before, after = coming.values(plan.maps)
            self._checker.value(coming, after)
            event_log.make(connection, event.entity, anchor, owner, event.name, after)
            event_log.record(
                connection,
                self._acting.imports[event.act],
                event.entity,
                anchor,
                owner,
                event.name,
                before,
                after,
            )
        answers.recompute(connection, anchor)

    # --- what waits ---------------------------------------------------------------------

    def _add_stand_in(self, act: MergedAct) -> None:
        self._acting.add_stand_in(act, self.batch)

    def _rows(self, some: Sequence[IncomingEvent]) -> list[tuple[object, ...]]:
        """Events as they wait, in the order of the table's columns."""
        rows: list[tuple[object, ...]] = []
        for coming in some:
            event, maps = coming.event, self._plan.maps
            before, after = coming.values(maps)
            self._checker.value(coming, after)
            owner = event.owner and maps.people[event.owner]
            place = (event.entity, maps.anchors[event.anchor], owner, event.name)
            rows.append((self._acting.stand_ins[event.act], *place, before, after))
        return rows

    # --- the flip -----------------------------------------------------------------------

    def _show(self) -> None:
        """What is new is there to be seen, and on the disk; what waits will be applied."""
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
                        "report": batch.report,
                        "created": batch.created_at,
                        "finished": batch.finished_at,
                    },
                )
            self.note.shown = True
            self.text = write(connection, self.batch, self.note)
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
                self._take_back(error)

    def _take_back(self, error: BaseException | None) -> None:
        """Leave nothing. What is called from a block that broke off must not break off too."""
        mine = [one for one in batches.unfinished(self._connection) if one.id == self.batch]
        if not mine or read(mine[0]).shown:
            return
        try:
            sweep_all(self._connection, self.batch, self.note)
        except sqlite3.Error:
            if error is not None:
                error.add_note(
                    "What had been written stays invisible, and is cleared at the next start."
                )
