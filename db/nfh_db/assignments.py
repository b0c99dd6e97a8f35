"""Assignments: which person has to answer which anchor, for which purpose, and the result.

An assignment is done as long as its person's answer in its role exists. A check or an audit
stores the gold of the time when it was drawn, and how the answer compares with that. While an
adjudicator's double or audit is open, the decisions of others are hidden from that person.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from nfh_db import passages
from nfh_db.connection import Connection, Repository, reads
from nfh_db.errors import StoreError
from nfh_db.records import Annotator, HistoryLine, Role, likeness, normal_name
from nfh_db.serialization import AnswerValue, answer_of, decode_gold, json_of
from nfh_models.domain import compare

if TYPE_CHECKING:
    from nfh_db.assignment_plan import AssignmentRequest, PersonProgress
    from nfh_db.query import Query

KEY = "anchor_id = :anchor AND annotator_id = :annotator AND role = :role"
FINISH = f"""
UPDATE assignment SET state = 'done', finished_at = :at, verdict = NULL WHERE {KEY}
RETURNING id, expected"""  # noqa: S608 - made of constants
SET_VERDICT = "UPDATE assignment SET verdict = :verdict WHERE id = :id"
# Who is retired, or has another name now, gets nothing to do by it.
REOPEN = f"""
UPDATE assignment SET finished_at = NULL, verdict = NULL, state = iif(EXISTS (
    SELECT 1 FROM annotator AS n WHERE n.id = :annotator
        AND (n.merged_into IS NOT NULL OR n.retired_at IS NOT NULL)), 'returned', 'open')
WHERE {KEY} AND state = 'done'"""  # noqa: S608 - made of constants
# UNION ends at a circle, which only a damaged database has.
LATEST = """
WITH RECURSIVE link(id, next) AS (
    SELECT id, replaced_by FROM anchor WHERE id = :id
    UNION SELECT a.id, a.replaced_by FROM link JOIN anchor AS a ON a.id = link.next)
SELECT id FROM link WHERE next IS NULL"""
PASSAGE_OF = "SELECT passage_id FROM anchor WHERE id = :id"

BLIND = """
SELECT anchor_id, purpose FROM assignment
WHERE anchor_id IN (SELECT value FROM json_each(:ids))
    AND annotator_id = coalesce(:me, annotator_id)
    AND role = 'adjudicator' AND state = 'open' AND purpose IN ('double', 'audit')"""
ANSWERED_BY_ME = """
SELECT anchor_id FROM answer
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND annotator_id = :me
    AND role = 'annotator' AND removed = 0"""
GIVEN = f"SELECT 1 FROM assignment WHERE {KEY}"  # noqa: S608 - made of constants
DECIDED_BY_ANOTHER = """
SELECT 1 FROM assignment AS s
JOIN gold AS g ON g.anchor_id = s.anchor_id AND g.rule = 'expert' AND g.removed = 0
WHERE s.anchor_id = :anchor AND s.annotator_id = :annotator AND s.role = 'adjudicator'
    AND s.state = 'open' AND s.purpose = 'double' AND g.annotator_id <> :annotator"""
# Those of a removed anchor stay, since it may come back.
OPEN_NOW = """state = 'open'
    AND EXISTS (SELECT 1 FROM anchor AS a WHERE a.id = anchor_id AND a.removed = 0)"""
LEFT = f"""
SELECT count(*) FROM assignment
WHERE annotator_id = :me AND role = :role AND {OPEN_NOW}"""  # noqa: S608 - made of constants
OTHER_ROLE = f"""
SELECT 1 FROM assignment
WHERE annotator_id = :me AND role <> :role AND {OPEN_NOW} LIMIT 1"""  # noqa: S608

WITH_WORK = """
SELECT n.id, n.name FROM annotator AS n
WHERE EXISTS (SELECT 1 FROM assignment AS s WHERE s.annotator_id = n.id AND s.role = :role
    AND (s.state = 'open' OR n.id = :me))"""
MOVE = """
UPDATE OR IGNORE assignment SET anchor_id = :new WHERE anchor_id = :old AND state = 'open'"""
GIVE_BACK = """
UPDATE assignment SET state = 'returned' WHERE anchor_id = :old AND state = 'open'"""
FINISH_MOVED = """
UPDATE assignment AS s SET state = 'done', finished_at = w.answered_at FROM answer AS w
WHERE s.anchor_id = :new AND s.state = 'open' AND w.anchor_id = s.anchor_id
    AND w.annotator_id = s.annotator_id AND w.role = s.role AND w.removed = 0"""


class Purpose(StrEnum):
    """The purpose of an assignment."""

    WORK = "work"
    CHECK = "check"
    """The gold is known and hidden, to measure the annotator."""

    AUDIT = "audit"
    """Of a sample of the golds that a rule settled."""

    DOUBLE = "double"
    """The anchor is decided by two adjudicators, each blind to the other."""


@dataclass(frozen=True, slots=True)
class Todo:
    """The open assignments of a person in a role."""

    left: int
    query: str
    """Of the queue that shows them."""


# --- state of assignments -------------------------------------------------------------------


def keep_in_step(
    connection: Connection,
    anchor_id: int,
    annotator_id: int,
    role: str,
    value: AnswerValue | None,
) -> None:
    """Close an assignment because its answer is written, or reopen it for None, at the anchor
    that has replaced its own meanwhile.

    A check or an audit also gets its verdict.
    """
    key = {"anchor": anchor_id, "annotator": annotator_id, "role": role}
    if value is None:
        if connection.execute(REOPEN, key).rowcount:
            new = latest(connection, anchor_id)
            if new != anchor_id:
                follow(connection, anchor_id, new)
        return
    row = connection.execute(FINISH, key | {"at": value.at}).fetchone()
    if row is not None and row[1] is not None:
        # Damaged expected gold must not prevent the answer; the doctor reports it.
        with suppress(ValueError, msgspec.MsgspecError):
            verdict = verdict_of(connection, anchor_id, value, row[1])
            connection.execute(SET_VERDICT, {"id": row[0], "verdict": verdict})


def verdict_of(
    connection: Connection, anchor_id: int, value: AnswerValue, expected: str
) -> str:
    """Return "wrong" if an answer differs from the expected gold in anything that blocks.

    Otherwise "right". Raises ValueError or MsgspecError if `expected` is empty or unreadable.
    """
    gold = decode_gold(expected)
    if gold is None:
        raise ValueError(f"anchor {anchor_id} is assigned with an empty gold to compare with")
    passage_id = connection.execute(PASSAGE_OF, {"id": anchor_id}).fetchone()[0]
    words = passages.lemmas(connection, passage_id)
    found = compare(answer_of(value), answer_of(gold), words)
    return "right" if found.blocking is None else "wrong"


def latest(connection: Connection, anchor_id: int) -> int:
    """Return the anchor that has replaced an anchor in the end; itself if none has."""
    row = connection.execute(LATEST, {"id": anchor_id}).fetchone()
    return anchor_id if row is None else int(row[0])


def follow(connection: Connection, old: int, new: int) -> None:
    """Move the open assignments of an anchor to the one that replaces it.

    An assignment is returned instead if its person already has one of the new anchor in that
    role. It is done at once if its person has answered the new anchor.
    """
    connection.execute(MOVE, {"old": old, "new": new})
    connection.execute(GIVE_BACK, {"old": old})
    connection.execute(FINISH_MOVED, {"new": new})


# --- blind decisions ------------------------------------------------------------------------


def blind(
    connection: Connection, anchor_ids: Sequence[int], me_id: int | None
) -> dict[int, Purpose]:
    """Return those of these anchors that a person has yet to decide blind, with the purpose.

    me_id: None for anybody.
    """
    rows = connection.execute(BLIND, {"ids": json_of(list(anchor_ids)), "me": me_id})
    return {anchor_id: Purpose(purpose) for anchor_id, purpose in rows}


def answered(connection: Connection, anchor_ids: Sequence[int], me_id: int) -> set[int]:
    """Return those of these anchors that a person has answered as an annotator."""
    rows = connection.execute(ANSWERED_BY_ME, {"ids": json_of(list(anchor_ids)), "me": me_id})
    return {row[0] for row in rows}


def was_given(connection: Connection, anchor_id: int, me_id: int, role: Role) -> bool:
    """True if a person has an assignment of the anchor in this role, in any state."""
    key = {"anchor": anchor_id, "annotator": me_id, "role": role.value}
    return connection.execute(GIVEN, key).fetchone() is not None


def is_second(connection: Connection, anchor_id: int, annotator_id: int) -> bool:
    """True if a person's open double of the anchor is decided by another adjudicator.

    This second decision does not change the gold.
    """
    key = {"anchor": anchor_id, "annotator": annotator_id}
    return connection.execute(DECIDED_BY_ANOTHER, key).fetchone() is not None


def seen_of_history(
    lines: Iterable[HistoryLine], me: str, role: Role, purpose: Purpose | None
) -> tuple[HistoryLine, ...]:
    """Return the changes of an anchor that a person may see; an annotator sees only their own.

    purpose: of the assignment for which an adjudicator has yet to decide the anchor blind;
    None if there is none.
    """
    if role is Role.ANNOTATOR:
        return tuple(line for line in lines if line.annotator == me)
    return tuple(line for line in lines if purpose is None or not _tells(line, me, purpose))


def _tells(line: HistoryLine, me: str, purpose: Purpose) -> bool:
    """True for a change that reveals others' decisions; in an audit also answers and flags."""
    if line.entity == "gold":
        return True
    if line.whose == me:
        return False
    if line.entity == "answer":
        return purpose is Purpose.AUDIT or line.role == Role.ADJUDICATOR
    return line.entity == "flag" and purpose is Purpose.AUDIT


# --- open assignments -----------------------------------------------------------------------


def todo(connection: Connection, me: Annotator, role: Role) -> Todo:
    """Return the number of a person's open assignments in a role, and the query for them."""
    key = {"me": me.id, "role": role.value}
    both = connection.execute(OTHER_ROLE, key).fetchone() is not None
    which = f"todo:me/{role.value}" if both else "todo:me"
    left = connection.execute(LEFT, key).fetchone()[0]
    return Todo(left, f"{which} sort:assigned")


def namesakes(connection: Connection, me: Annotator, role: Role) -> list[str]:
    """Return who has open work in a role, and a name like that of one who never had any."""
    found = dict(connection.execute(WITH_WORK, {"me": me.id, "role": role.value}).fetchall())
    like = likeness(me.name)
    return [] if me.id in found else [n for n in found.values() if likeness(n) == like]


@dataclass(frozen=True, slots=True)
class AssignmentCounts:
    """The counts of one call of `Assignments.assign`."""

    items: int
    """Of the query, up to the limit."""

    filled: int
    """Items that needed no further assignment."""

    given: Mapping[str, Mapping[str, int]]
    """Assignments by person and purpose."""

    doubles: int
    """Items to be decided by two adjudicators."""

    short: int
    """Items that still lack answers which none of the named people may give."""

    checks_short: int
    """Hidden checks for which no known gold was left."""

    returned: int
    """Abandoned assignments that others got."""

    run: str
    """Identifies the call: a time."""

    dry_run: bool = False


class Assignments(Repository):
    """Assigns items to people, and reports their progress."""

    todo = reads(todo)
    namesakes = reads(namesakes)

    def assign(
        self,
        query: "Query",
        me: Annotator | None,
        to: Sequence[str],
        wanted: "AssignmentRequest",
        *,
        limit: int | None = None,
        dry_run: bool = False,
        tell: Callable[[int], None] = lambda _: None,
    ) -> AssignmentCounts:
        """Assign the items of a query, at most the first `limit`, to people by name.

        me: the person that "me" in the query means. Only missing assignments are made; see
        `nfh_db.assignment_plan`. tell: called with the number of assignments written.
        Assignments are written in several transactions: after a kill those already written
        remain. Raises StoreError for an invalid name.
        """
        from nfh_db import assignment_plan, queue

        people = self._people(dict.fromkeys(to), dry_run=dry_run)
        with self.connections.reading() as connection:
            found = chain.from_iterable(queue.queue_ids(connection, query, me.id if me else 0))
            ids = list(islice(found, limit))
            plan = assignment_plan.plan(connection, ids, people, wanted)
        if dry_run:
            slots = [*chain.from_iterable(plan.slots.values()), *plan.checks]
        else:
            slots = assignment_plan.give(self.connections.fast_write, plan, tell)
        return AssignmentCounts(
            items=len(ids),
            filled=plan.filled,
            given=assignment_plan.counted(slots, people),
            doubles=len(plan.doubles),
            short=plan.short,
            checks_short=plan.checks_short,
            returned=plan.returned,
            run=plan.run,
            dry_run=dry_run,
        )

    def _people(self, names: Mapping[str, None], *, dry_run: bool) -> list[Annotator]:
        """Get or create the annotators. A dry run gives new ones negative ids instead."""
        found: dict[str, Annotator] = {}
        with self.connections.reading() as connection:
            index = passages.NameIndex(connection)
        for number, name in enumerate(names, start=1):
            one = index.get(name) or Annotator(-number, normal_name(name))
            index.add(one.name, one)
            index.check_active(one)
            found[one.name] = one
        if dry_run:
            return list(found.values())
        people = passages.People(self.connections)
        return [people.ensure(name) for name in found]

    def take_back(
        self,
        query: "Query",
        me: Annotator | None,
        before: str,
        name: str | None = None,
        *,
        dry_run: bool = False,
    ) -> dict[str, int]:
        """Return the assignments from before a time of people who finished nothing since.

        name: only this person's. Gives the number of assignments by name. Raises StoreError for
        an unknown name.
        """
        from nfh_db import assignment_plan

        with self.connections.reading() as connection:
            one = None if name is None else passages.find(connection, name)
            if name is not None and one is None:
                raise StoreError(f"Nobody here is called {name!r}: nothing to take back")
            found = assignment_plan.read_abandoned(
                connection, query, me.id if me else 0, before, one.name if one else None
            )
        if not dry_run:
            ids = list(chain.from_iterable(found.values()))
            assignment_plan.take_back(self.connections.fast_write, ids)
        return {who: len(ids) for who, ids in found.items()}

    def progress(
        self, query: "Query", me: Annotator | None, before: str
    ) -> "tuple[PersonProgress, ...]":
        """Return everybody's progress with the assignments of a query, by name and role.

        before: an assignment from before this time counts as abandoned if its person finished
        nothing since.
        """
        from nfh_db import assignment_plan

        with self.connections.reading() as connection:
            return assignment_plan.read_progress(connection, query, me.id if me else 0, before)
