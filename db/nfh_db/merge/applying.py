"""Applying what a merge brought in: act by act, in the order in which it was done there.

An event counts only if its thing still is as the merge found it; where somebody was faster,
that stands, and the event, which never happened here, leaves the log. May be broken off at
any point and run again: each write applies whole events, and takes them off what waits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from nfh_db import acts, batches, changes, summary
from nfh_db.acts import Event
from nfh_db.connection import SYNCHRONOUS_FULL, Connection, transaction
from nfh_db.errors import StoreError
from nfh_db.merge import leftovers, notes
from nfh_db.merge.notes import Note
from nfh_db.merge.writing import Writes
from nfh_db.records import Role, Rule
from nfh_db.values import decode_anchor, decode_gold

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


def run(connection: Connection, batch_id: int, note: Note, text: str, tell: Tell) -> Applied:
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
            summary.recompute_with_successors(connection, sorted(touched))
        place, done = some[-1].event.id + 1, done + len(some)
        tell(done)
    return found


def finish(connection: Connection, batch_id: int, note: Note, events: int, report: str) -> None:
    """Take the stand-ins away and make the batch ready. report: JSON, kept with it."""
    key = {"batch": batch_id, "own": note.act, "limit": FORGOTTEN_AT_ONCE}
    writes = Writes(connection)
    while rows := connection.execute(STAND_INS_LEFT, key).fetchall():
        with writes.one():
            for (id_,) in rows:
                connection.execute(DELETE_STAND_IN, {"id": id_})
    connection.execute(SYNCHRONOUS_FULL)
    with transaction(connection):
        leftovers.forget_unmade(connection, note)
        notes.make_ready(connection, batch_id, events, report)


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
                changes.make(self.connection, *key, one.event.after)
                happened.append(one)
            else:
                acts.forget(self.connection, [one.event.id])
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
        return all(self._is_as_found(event) and not self._loses(event) for event in spans)

    def _is_as_found(self, event: Event) -> bool:
        return changes.present(self.connection, *_key(event)) == event.before

    def _loses(self, event: Event) -> bool:
        """True if an anchor that somebody answered would vanish, and not only for a moment."""
        if event.after is not None:
            return False
        key = {"anchor": event.anchor_id}
        if not self.connection.execute(DECIDED, key).fetchone()[0]:
            return False
        key |= {"id": event.id, "batch": self.batch}
        return self.connection.execute(COMES_AGAIN, key).fetchone() is None

    def _fits(self, event: Event) -> bool:
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
        will_be = notes.stand_in(waiting.summary)
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
        act: int = connection.execute(notes.INSERT_ACT, row).fetchone()[0]
        connection.execute(SET_TARGET, {"id": waiting.stand_in, "target": act})
        if turns and of is not None:
            acts.set_undone(connection, of, undone=will_be.kind == "undo")
        return act


def _key(event: Event) -> tuple[str, int, int | None, str]:
    return event.entity, event.anchor_id, event.annotator_id, event.name


def _linked(event: Event) -> Iterator[int]:
    """The anchor of an event, and those that replaced it before or after."""
    yield event.anchor_id
    if event.entity == "anchor":
        for value in map(decode_anchor, (event.before, event.after)):
            if value is not None and value.replaced_by is not None:
                yield value.replaced_by
