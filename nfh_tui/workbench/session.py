"""State of a session: cached items, time spent, ids of the queue, position, exposure, undo
steps of drafts.
"""

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import msgspec

from nfh_db.records import AnchorItem, Role
from nfh_tui.editor.state import EditState

KEPT = 24
"""Maximum number of cached items; the least recently used ones are removed."""

Read = Callable[[int], Awaitable[AnchorItem | None]]


class ItemCache:
    """Cache of items by anchor id. Concurrent requests for an item share one read."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._items: OrderedDict[int, AnchorItem] = OrderedDict()
        self._reading: dict[int, asyncio.Task[AnchorItem | None]] = {}

    def peek(self, anchor_id: int) -> AnchorItem | None:
        """Return the item if it is cached."""
        return self._items.get(anchor_id)

    async def get(self, anchor_id: int) -> AnchorItem | None:
        """Return the item, reading it if needed; None if the anchor does not exist (any
        more).
        """
        if (item := self._items.get(anchor_id)) is not None:
            self._items.move_to_end(anchor_id)
            return item
        item = await asyncio.shield(self._start(anchor_id))
        # What was forgotten during the read is outdated.
        is_new = item is None or anchor_id in self._items
        return item if is_new else await self.get(anchor_id)

    def ahead(self, anchor_ids: Iterable[int]) -> None:
        """Start reading items. Errors are raised to later callers of `get`."""
        for anchor_id in anchor_ids:
            if anchor_id not in self._items:
                self._start(anchor_id)

    def forget(self, anchor_id: int) -> None:
        """Remove an item and the other items of its passage, which show its state.

        A read that is under way does not put the item back.
        """
        item = self._items.pop(anchor_id, None)
        self._reading.pop(anchor_id, None)
        if item is not None:
            for sibling in item.siblings:
                self._items.pop(sibling.anchor_id, None)
                self._reading.pop(sibling.anchor_id, None)

    def clear(self) -> None:
        """Remove all items: the mode has changed, or another process has committed."""
        self._items.clear()
        self._reading.clear()

    def _start(self, anchor_id: int) -> "asyncio.Task[AnchorItem | None]":
        if (task := self._reading.get(anchor_id)) is None:
            task = asyncio.create_task(self._fetch(anchor_id))
            self._reading[anchor_id] = task
            task.add_done_callback(_looked_at)
        return task

    async def _fetch(self, anchor_id: int) -> AnchorItem | None:
        task = asyncio.current_task()
        try:
            item = await self._read(anchor_id)
        finally:
            # If the item was forgotten during the read, the result is outdated.
            fresh = self._reading.get(anchor_id) is task
            if fresh:
                del self._reading[anchor_id]
        if fresh and item is not None:
            self._items[anchor_id] = item
            while len(self._items) > KEPT:
                self._items.popitem(last=False)
        return item


def _looked_at(task: "asyncio.Task[AnchorItem | None]") -> None:
    """Mark the exception as retrieved; the next caller of `get` reads the item again."""
    if not task.cancelled():
        task.exception()


IDLE = 60.0
"""Seconds without a key after which the clock stops until the next one."""

REMEMBERED = 512
"""Number of items whose time is kept; those left longest ago are removed first."""


class ItemClock:
    """Counts the seconds of work on one item at a time.

    Returning to an item continues its count. After `pause` (a dialog is open, or the terminal
    has lost the focus) nothing is counted until `resume` or the next key.
    """

    def __init__(self, now: Callable[[], float] = monotonic, idle: float = IDLE) -> None:
        self._now = now
        self._idle = idle
        self._spent = 0.0
        self._last: float | None = now()
        self._item: int | None = None
        self._earlier: dict[int, float] = {}

    def start(self, item: int | None = None) -> None:
        """Switch to another item. item: its id; None for one whose time is not kept."""
        spent = self.seconds
        if self._item is not None:
            self._earlier.pop(self._item, None)
            self._earlier[self._item] = spent
            while len(self._earlier) > REMEMBERED:
                del self._earlier[next(iter(self._earlier))]
        self._item = item
        self._spent = 0.0 if item is None else self._earlier.get(item, 0.0)
        self._last = self._now()

    def done(self) -> None:
        """The item is answered: its next count starts at zero."""
        if self._item is not None:
            self._earlier.pop(self._item, None)
        self._item = None

    def touch(self) -> None:
        """Record a key press or a mouse event."""
        self._spent = self.seconds
        self._last = self._now()

    def pause(self) -> None:
        self._spent = self.seconds
        self._last = None

    def resume(self) -> None:
        if self._last is None:
            self._last = self._now()

    def skip(self) -> None:
        """Exclude the time since the last key, for example while the process was suspended."""
        self._last = self._now()

    @property
    def seconds(self) -> float:
        """Seconds of work so far; at most IDLE seconds count after the last key."""
        if self._last is None:
            return self._spent
        return self._spent + min(self._now() - self._last, self._idle)


NEAR = 64
"""Distance from a guess that `find` searches before the whole list."""


class IdList:
    """Anchor ids by position: a snapshot that is filled in chunks and keeps its order."""

    def __init__(self) -> None:
        self._ids: array[int] = array("q")
        self.complete = False

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: int) -> int:
        return self._ids[place]

    def extend(self, chunk: Iterable[int]) -> None:
        self._ids.extend(chunk)

    def slice(self, start: int, stop: int) -> Sequence[int]:
        """Return the ids at positions [start, stop), as far as they exist."""
        return self._ids[max(0, start) : max(0, stop)]

    def find(self, anchor_id: int, near: int = 0) -> int | None:
        """Return the position of an id; searches around `near` first. None if it is missing."""
        for start, stop in ((max(0, near - NEAR), near + NEAR), (0, len(self._ids))):
            with suppress(ValueError):
                return self._ids.index(anchor_id, start, stop)
        return None

    def replace(self, place: int, anchor_id: int) -> None:
        """Replace the id at a position, when an anchor was replaced by another one."""
        self._ids[place] = anchor_id

    def insert(self, place: int, anchor_id: int) -> None:
        """Insert an id before a position."""
        self._ids.insert(place, anchor_id)

    def step(self, place: int, wanted: Collection[int], forward: bool) -> int | None:
        """Return the nearest position after (or before) `place` whose id is wanted, or None."""
        places = range(place + 1, len(self._ids)) if forward else range(place - 1, -1, -1)
        return next((there for there in places if self._ids[there] in wanted), None)


MANY = 12
"""Neighbours kept on each side; some of them may leave the queue, too."""

SETTING = "near"
"""Prefix of the setting with the neighbours; mode and person follow."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The neighbours of an item in the queue, from which its position is found again."""

    query: str = ""
    after: tuple[int, ...] = ()
    """Anchor ids, the nearest first; so is `before`."""
    before: tuple[int, ...] = ()
    place: int = 0
    """The item's index, used if none of the neighbours is left."""

    def find(self, ids: IdList) -> int:
        """Return the index before which the item belongs; the queue's length for its end."""
        for neighbours, behind in ((self.after, 0), (self.before, 1)):
            for anchor_id in neighbours:
                if (place := ids.find(anchor_id, self.place)) is not None:
                    return place + behind
        return min(self.place, len(ids))


def around(query: str, ids: IdList, place: int, *, beside: bool) -> Nearby:
    """Return the neighbours of a position. beside: the item itself is not at that position."""
    after = place if beside else place + 1
    return Nearby(
        query,
        tuple(ids.slice(after, after + MANY)),
        tuple(reversed(ids.slice(place - MANY, place))),
        place,
    )


def name_of(mode: str, me: str) -> str:
    """Return the name of the setting for a person and a mode."""
    return f"{SETTING}.{mode}.{me}"


def dump(nearby: Nearby) -> str:
    """Serialize to JSON."""
    return msgspec.json.encode(nearby).decode()


def load(text: str | None, query: str) -> Nearby | None:
    """Parse the output of `dump`; None for another query, or for invalid text."""
    if text is None:
        return None
    try:
        nearby = msgspec.json.decode(text.encode("utf-8", "replace"), type=Nearby)
    except (msgspec.MsgspecError, ValueError):
        return None
    return nearby if nearby.query == query else None


class ExposureLog:
    """Records what one person has had in view in this session, by anchor.

    Records are never removed: the answer may be given after another pane or item was shown.
    """

    def __init__(self) -> None:
        self._model: set[int] = set()
        self._others: set[int] = set()

    def note(
        self, item: AnchorItem, me: str, *, judging: bool, evidence: bool, scores: bool
    ) -> None:
        """Record what is in view of an item.

        judging: answers of others are shown. evidence: the pane with all predictions is shown.
        scores: the resolution model's choice is visible elsewhere: in the heat map, in the
        order of the letters, or as the adopted answer. Hidden predictions are not in the item,
        so they are not recorded.
        """
        head = item.prediction is not None
        if (evidence and (head or item.identification is not None)) or (scores and head):
            self._model.add(item.anchor_id)
        votes = (*item.votes, *item.stale_votes)
        if judging and any(vote.annotator != me for vote in votes):
            self._others.add(item.anchor_id)

    def of_model(self, anchor_id: int) -> bool:
        """Return True if a prediction for the anchor has been in view."""
        return anchor_id in self._model

    def of_others(self, anchor_id: int) -> bool:
        """Return True if another person's answer to the anchor has been in view."""
        return anchor_id in self._others


ItemKey = tuple[int, Role]
"""An anchor id and the role of the answer."""

Steps = tuple[list[EditState], list[EditState]]

MOST_ITEMS = 64
"""Number of items whose steps are kept; those shown longest ago are removed first."""

MOST_STEPS = 200
"""Number of steps kept per draft once another item is shown; the oldest are removed."""


class DraftSteps:
    """Undo and redo steps of the drafts of a session, by item and role."""

    def __init__(self) -> None:
        self._kept: dict[ItemKey, Steps] = {}

    def of(self, key: ItemKey, *, has_draft: bool) -> Steps:
        """Return the undo and redo lists of a draft; empty if there is no draft.

        The lists are not copies: changes to them are kept.
        """
        past, future = self._kept.pop(key, ([], []))
        if not has_draft:
            past, future = [], []
        self._kept[key] = past, future
        while len(self._kept) > MOST_ITEMS:
            del self._kept[next(iter(self._kept))]
        for kept in self._kept.values():
            for steps in kept:
                del steps[:-MOST_STEPS]
        return past, future

    def forget(self, anchor_id: int) -> None:
        """Remove the steps of an item, because its stored state has changed."""
        for key in [key for key in self._kept if key[0] == anchor_id]:
            del self._kept[key]
