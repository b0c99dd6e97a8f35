"""Undo and redo of bulk acts: in many writes, leaving what somebody changed since."""

from collections.abc import Iterator
from pathlib import Path

from nfh_db import acts, bulk_items, gold
from nfh_db.acts import Done, Event
from nfh_db.bulk import BulkAct, bulk_connection, finish_leftovers
from nfh_db.bulk_items import Row
from nfh_db.connection import Connection
from nfh_db.errors import ChangedSinceError
from nfh_db.records import Annotator, Undone
from nfh_db.values import encode

LAST_EVENT_ID = 2**63 - 1
AT_ONCE = 1_000


def turn(path: Path, me: Annotator, kind: str, done: Done) -> Undone:
    """Take a bulk act back (kind undo), or do it again (redo), as an act of that kind.

    Anchors whose gold is not as the act left it, or found it, are left as they are, and
    counted. Raises StoreError beside other bulk work, ChangedSinceError if the person was
    faster elsewhere.
    """

    def check(inside: Connection) -> None:
        find = acts.newest_done if kind == "undo" else acts.oldest_undone
        if find(inside, me.id) != done:
            raise ChangedSinceError(
                f"“{done.summary}” is not what comes next any more, since you did something "
                "in another window meanwhile: try again"
            )

    with bulk_connection(path) as connection:
        finish_leftovers(connection)
        items = bulk_items.is_of_items(connection, done.id)
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
            for group, present in (_with_items if items else _with_gold)(connection, done.id):
                was, rows = _turned(group, kind)
                if present == was:
                    act.add(rows)
                    planned.append(group[0].anchor_id)
                elif present != [row[-1] for row in rows]:
                    skipped += 1
            act.show(also=lambda inside: _mark(inside, done, kind))
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
"""The events of an anchor, and what each thing is now, as the log spells it."""


def _turned(group: list[Event], kind: str) -> tuple[list[str | None], list[Row]]:
    """What has to be there for an act to be taken back, or done again, and how it changes."""
    rows: list[Row] = []
    for event in group:
        was, will = (event.before, event.after)[:: 1 if kind == "redo" else -1]
        rows.append((event.entity, event.anchor_id, event.annotator_id, event.name, was, will))
    return [row[-2] for row in rows], rows


def _with_items(connection: Connection, act_id: int) -> Iterator[_Group]:
    """All that an act changed, anchor by anchor."""
    place = 0
    while events := acts.some_events(connection, act_id, place, LAST_EVENT_ID, AT_ONCE):
        events = bulk_items.whole(events, AT_ONCE)
        for _, group in bulk_items.by_anchor(events):
            yield group, bulk_items.state_now(connection, group)
        place = events[-1].id + 1


def _with_gold(connection: Connection, act_id: int) -> Iterator[_Group]:
    """The events of an act, each with the present gold of its anchor."""
    place = 0
    while events := acts.some_events(connection, act_id, place, LAST_EVENT_ID, AT_ONCE):
        golds = gold.read_all(connection, [event.anchor_id for event in events])
        for event in events:
            yield [event], [encode(golds.get(event.anchor_id))]
        place = events[-1].id + 1


def _mark(connection: Connection, done: Done, kind: str) -> None:
    acts.set_undone(connection, done.id, undone=kind == "undo")
