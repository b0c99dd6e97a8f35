"""Settling an import: applying what it changes of anchors that were there before.

Those changes wait as events until the file is visible. Each is applied only if the thing
still is as the import found it; where a person was faster, the person's change stands and
the event, which never happened, is taken out of the log. May be broken off and run again.
"""

import time
from collections.abc import Sequence

from nfh_db import batches, changes, summary
from nfh_db.acts import Event
from nfh_db.batches import Work
from nfh_db.connection import SYNCHRONOUS_FULL, Connection, transaction

READ_SOME = """
SELECT id, entity, anchor_id, annotator_id, name, before, after
FROM event WHERE id BETWEEN :first AND :last AND act_id = :act ORDER BY id LIMIT :limit"""
DELETE = "DELETE FROM event WHERE id = :id"
MOVE_TO_END = """
UPDATE event SET id = (SELECT max(id) FROM event) + 1
WHERE id = :id AND EXISTS (SELECT 1 FROM event WHERE anchor_id = :anchor AND id > :id)"""

WRITE_SECONDS = 0.02
FIRST_STRETCH = 50
LARGEST_STRETCH = 1_000
PAUSE_SECONDS = 0.001
"""Between two writes, so that somebody who waits gets in."""


def run(connection: Connection, batch_id: int, work: Work) -> None:
    """Apply what waits and make the batch ready."""
    if not work.deferred:
        return
    size = FIRST_STRETCH
    for first, last in work.deferred:
        place = first
        while place <= last:
            events = _read(connection, work.act, place, last, size)
            if not events:
                break
            begun = time.perf_counter()
            with transaction(connection):
                begun = time.perf_counter()
                _apply(connection, events)
            seconds = time.perf_counter() - begun
            size = max(5, min(int(size * WRITE_SECONDS / seconds), 2 * size, LARGEST_STRETCH))
            place = events[-1].id + 1
            time.sleep(PAUSE_SECONDS)
    connection.execute(SYNCHRONOUS_FULL)
    with transaction(connection):
        rows = work.report.rows if work.report else 0
        batches.set_state(connection, batch_id, "ready", rows, work.report)


def _read(
    connection: Connection, act: int, first: int, last: int, size: int
) -> Sequence[Event]:
    rows = connection.execute(
        READ_SOME, {"act": act, "first": first, "last": last, "limit": size}
    )
    return [Event(*row) for row in rows]


def _apply(connection: Connection, events: Sequence[Event]) -> None:
    for event in events:
        key = (event.entity, event.anchor_id, event.annotator_id, event.name)
        present = changes.present(connection, *key)
        if present == event.before:
            changes.make(connection, *key, event.after)
            # Somebody may have changed it and changed it back: the log's order is the order
            # in which things happened.
            connection.execute(MOVE_TO_END, {"id": event.id, "anchor": event.anchor_id})
        elif present != event.after:
            connection.execute(DELETE, {"id": event.id})
    touched = sorted({event.anchor_id for event in events})
    summary.recompute_with_successors(connection, touched)
