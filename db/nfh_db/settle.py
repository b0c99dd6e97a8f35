"""Settling a batch: applying what it changes of anchors that were there before.

Those changes wait as events until the batch is visible. Each is applied only if the thing
still is as the batch found it; where a person was faster, the person's change stands and
the event, which never happened, is taken out of the log. May be broken off at any point and
run again: each write notes, with what it applied, what is left.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from nfh_db import acts, batches, bulk_gold, bulk_items, changes, summary
from nfh_db.acts import Event
from nfh_db.batches import Work
from nfh_db.connection import SYNCHRONOUS_FULL, Connection, transaction
from nfh_db.pace import next_stretch

WRITE_SECONDS = 0.012
FIRST_STRETCH = 50
SMALLEST_STRETCH = 5
LARGEST_STRETCH = 1_000
PAUSE_SECONDS = 0.001
"""Between two writes, so that somebody who waits gets in."""


def run(
    connection: Connection,
    batch_id: int,
    work: Work,
    tell: Callable[[int], None] = lambda _: None,
) -> list[int]:
    """Apply what waits and make the batch ready; the anchors that were left as they are.

    tell: called with the number of events done.
    """
    left: list[int] = []
    size, done = FIRST_STRETCH, 0
    while work.deferred:
        begun = time.perf_counter()
        with transaction(connection):
            begun = time.perf_counter()
            if not batches.settles(connection, batch_id):
                # Another process took this one for dead, and finishes what is left.
                return left
            count = _apply_some(connection, batch_id, work, size, left)
        seconds = time.perf_counter() - begun
        size = next_stretch(
            size,
            seconds,
            wanted=WRITE_SECONDS,
            smallest=SMALLEST_STRETCH,
            largest=LARGEST_STRETCH,
        )
        done += count
        tell(done)
        time.sleep(PAUSE_SECONDS)
    connection.execute(SYNCHRONOUS_FULL)
    with transaction(connection):
        if batches.settles(connection, batch_id):
            _make_ready(connection, batch_id, work)
    return left


def _apply_some(
    connection: Connection, batch_id: int, work: Work, size: int, left: list[int]
) -> int:
    """Apply the next events and note what is left; their number."""
    first, last = work.deferred[0]
    events = acts.some_events(connection, work.act, first, last, size)
    if work.items and events:
        events = bulk_items.whole(events, size)
    if events:
        if work.items:
            found = bulk_items.apply(connection, events)
            work.changed += len(found)
            left += found
        elif work.bulk:
            found = bulk_gold.apply(connection, events, by_votes=work.by_votes)
            work.changed += len(found)
            left += found
        else:
            _apply(connection, events)
    rest = [(events[-1].id + 1, last)] if events and events[-1].id < last else []
    work.deferred[:1] = rest
    batches.set_work(connection, batch_id, work)
    return len(events)


def _make_ready(connection: Connection, batch_id: int, work: Work) -> None:
    if work.settled is not None:
        report = replace(work.settled, changed=work.changed)
        batches.set_state(connection, batch_id, "ready", 0, report)
        return
    rows = work.report.rows if work.report else 0
    batches.set_state(connection, batch_id, "ready", rows, work.report)


def _apply(connection: Connection, events: Sequence[Event]) -> None:
    for event in events:
        key = (event.entity, event.anchor_id, event.annotator_id, event.name)
        present = changes.present(connection, *key)
        if present == event.before:
            changes.make(connection, *key, event.after)
            acts.move_to_end(connection, [event.id])
        elif present != event.after:
            acts.forget(connection, [event.id])
    touched = sorted({event.anchor_id for event in events})
    summary.recompute_with_successors(connection, touched)
