"""Undo and redo of bulk acts: in many writes, leaving what somebody changed since."""

from collections.abc import Iterator
from pathlib import Path

from nfh_db import acts, gold
from nfh_db.acts import Done, Event
from nfh_db.bulk import BulkAct, bulk_connection, finish_leftovers
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
        planned, skipped = list[int](), 0
        with BulkAct(
            connection,
            kind,
            me.id,
            done.summary,
            kind,
            target=done.id,
            check=check,
        ) as act:
            for event, present in _with_gold(connection, done.id):
                was, will = (event.before, event.after)[:: 1 if kind == "redo" else -1]
                if present == was:
                    act.change(event.anchor_id, was, will)
                    planned.append(event.anchor_id)
                elif present != will:
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


def _with_gold(connection: Connection, act_id: int) -> Iterator[tuple[Event, str | None]]:
    """The events of an act, each with the present gold of its anchor as the log spells it."""
    place = 0
    while events := acts.some_events(connection, act_id, place, LAST_EVENT_ID, AT_ONCE):
        golds = gold.read_all(connection, [event.anchor_id for event in events])
        for event in events:
            yield event, encode(golds.get(event.anchor_id))
        place = events[-1].id + 1


def _mark(connection: Connection, done: Done, kind: str) -> None:
    acts.set_undone(connection, done.id, undone=kind == "undo")
