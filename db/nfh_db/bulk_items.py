"""Applying a bulk act item by item: all that it changes of an item, or nothing of it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from nfh_db import acts, anchors, changes, summary
from nfh_db.acts import Event
from nfh_db.connection import Connection
from nfh_db.values import json_of

LIVE = f"""
SELECT a.id FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND {anchors.VISIBLE}"""  # noqa: S608
OF_ITEMS = "SELECT 1 FROM event WHERE act_id = :act AND entity <> 'gold' LIMIT 1"

Row = tuple[str, int, int | None, str, str | None, str | None]
"""A change: entity, anchor, whose, role or flag, before, after."""


def is_of_items(connection: Connection, act_id: int) -> bool:
    """True for an act that changes more of its items than their gold."""
    return connection.execute(OF_ITEMS, {"act": act_id}).fetchone() is not None


def whole(events: Sequence[Event], limit: int) -> Sequence[Event]:
    """Events without those of the last anchor, if there may be more of it behind them."""
    if len(events) < limit or events[0].anchor_id == events[-1].anchor_id:
        return events
    last = events[-1].anchor_id
    return [event for event in events if event.anchor_id != last]


def by_anchor(events: Sequence[Event]) -> Iterator[tuple[int, list[Event]]]:
    """The events of each anchor, which stand together."""
    for anchor_id, group in groupby(events, key=lambda event: event.anchor_id):
        yield anchor_id, list(group)


def state_now(connection: Connection, events: Sequence[Event]) -> list[str | None]:
    """What each thing that the events are about is now, as the log spells it."""
    return [
        changes.present(connection, e.entity, e.anchor_id, e.annotator_id, e.name)
        for e in events
    ]


def apply(connection: Connection, events: Sequence[Event]) -> list[int]:
    """Apply events within a transaction; the anchors that were left as they are.

    Left are those that were replaced, and those of which anything that was to change is not
    as it was planned. Their events never happened, and leave the log.
    """
    ids = {"ids": json_of(sorted({event.anchor_id for event in events}))}
    live = {row[0] for row in connection.execute(LIVE, ids)}
    happened: list[Event] = []
    never: list[Event] = []
    for anchor_id, group in by_anchor(events):
        present = state_now(connection, group)
        if anchor_id in live and present == [event.before for event in group]:
            _make(connection, group)
            happened += group
        elif present != [event.after for event in group]:
            never += group
    acts.forget(connection, [event.id for event in never])
    acts.move_to_end(connection, [event.id for event in happened])
    touched = {event.anchor_id for event in happened if event.entity != "flag"}
    summary.recompute_with_successors(connection, sorted(touched))
    return sorted({event.anchor_id for event in never})


def _make(connection: Connection, group: Sequence[Event]) -> None:
    for event in group:
        key = (event.entity, event.anchor_id, event.annotator_id, event.name)
        changes.make(connection, *key, event.after)
