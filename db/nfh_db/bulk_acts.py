"""Doing one thing to many items: looked at first, then done as one act with one undo."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from nfh_db import clock, items
from nfh_db.bulk import BulkAct, bulk_connection, finish_leftovers
from nfh_db.bulk_plan import Planned, Planner
from nfh_db.connection import Connection, connect, translated
from nfh_db.errors import StoreError
from nfh_db.records import Annotator, Role
from nfh_db.settlement import Progress
from nfh_db.wishes import DECIDING, BulkDone, BulkPreview, Sampled, Seeing, Wish, unseen

AT_ONCE = 500
MOST_SAMPLED = 24
"""Items that a preview shows."""


class _Sample:
    """Some of a number of items that is not known before, from all over, in order."""

    def __init__(self) -> None:
        self._kept: list[Planned] = []
        self._stride = 1
        self._count = 0

    def offer(self, one: Planned) -> None:
        """Take one in, if its turn has come."""
        if self._count % self._stride == 0:
            self._kept.append(one)
        self._count += 1
        if len(self._kept) > 2 * MOST_SAMPLED:
            self._kept = self._kept[::2]
            self._stride *= 2

    def shown(self) -> Sequence[Planned]:
        """At most `MOST_SAMPLED` of them."""
        step = -(-len(self._kept) // MOST_SAMPLED) or 1
        return self._kept[::step]


def preview(
    connection: Connection,
    ids: Sequence[int],
    wish: Wish,
    me: Annotator,
    progress: Progress,
) -> BulkPreview:
    """What a wish would do to these anchors, on a connection in a read transaction."""
    check(wish)
    sample, changed = _Sample(), array("q")
    notes, kept = Counter[str](), Counter[str]()
    planner = Planner(connection, wish, me, clock.now(), unseen)
    for done, one in enumerate(_planned(planner, ids), 1):
        if one.kept:
            kept[one.kept] += 1
        else:
            changed.append(one.anchor_id)
            sample.offer(one)
            notes[one.note] += 1 if one.note else 0
        if done % AT_ONCE == 0:
            progress("looked at", done)
    return BulkPreview(
        wish,
        len(ids),
        changed,
        {note: count for note, count in notes.most_common() if count},
        dict(kept.most_common()),
        _sampled(connection, sample.shown()),
    )


def check(wish: Wish) -> None:
    """Raise StoreError for what nobody may do to many items at once."""
    if wish.deed in DECIDING and wish.role is not Role.ADJUDICATOR:
        raise StoreError(
            "Annotators answer one item after the other: many are decided at once by an "
            "adjudicator only"
        )


def _planned(planner: Planner, ids: Sequence[int]) -> Iterator[Planned]:
    for first in range(0, len(ids), AT_ONCE):
        yield from planner.some(ids[first : first + AT_ONCE])


def _sampled(connection: Connection, shown: Sequence[Planned]) -> tuple[Sampled, ...]:
    found = items.read_passages(connection, [one.anchor_id for one in shown])
    return tuple(
        Sampled(one.anchor_id, *found[one.anchor_id], one.before, one.after)
        for one in shown
        if one.anchor_id in found
    )


def run(
    path: Path,
    ids: Sequence[int],
    wish: Wish,
    me: Annotator,
    *,
    seeing: Seeing,
    progress: Progress,
) -> BulkDone:
    """Do it to these anchors, those that a preview named; what does not fit any more stays.

    Raises StoreError beside other bulk work. Killed on the way it leaves nothing, or is
    finished by the next start.
    """
    check(wish)
    words = f"{wish.words} on {len(ids):,} item" + ("" if len(ids) == 1 else "s")
    with bulk_connection(path) as connection:
        finish_leftovers(connection)
        with BulkAct(connection, "bulk", me.id, words, "do this again", items=True) as act:
            done = BulkDone(act.act_id, act.at, 0, 0, words)
            planned = events = 0
            with translated(path), closing(connect(path, "ro")) as reader:
                reader.execute("BEGIN")
                planner = Planner(reader, wish, me, act.at, seeing)
                for one in _planned(planner, ids):
                    if not one.kept:
                        act.add(one.rows)
                        planned, events = planned + 1, events + len(one.rows)
                        progress("prepared", planned)
            if not planned:
                return replace(done, act_id=None)
            act.show()
            share = planned / events
            left = len(act.apply(lambda count: progress("done", int(count * share))))
            return replace(done, changed=planned - left, left=left)
