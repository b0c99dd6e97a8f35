"""The state of a sitting: items read ahead, time spent, the ids of the queue, the place in
it, what was in view, and drafts' steps.
"""

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

import msgspec

from nfh_db.records import AnchorItem, Role
from nfh_tui.editor.state import EditState

KEPT = 24
"""Items kept; the ones used longest ago are forgotten first."""

Read = Callable[[int], Awaitable[AnchorItem | None]]


class ItemCache:
    """Items by anchor id. A read under way is shared by all who want the item."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._items: OrderedDict[int, AnchorItem] = OrderedDict()
        self._reading: dict[int, asyncio.Task[AnchorItem | None]] = {}

    def peek(self, anchor_id: int) -> AnchorItem | None:
        """The item if it has been read."""
        return self._items.get(anchor_id)

    async def get(self, anchor_id: int) -> AnchorItem | None:
        """The item, read if need be; None if there is no such anchor (any more)."""
        item = self._items.get(anchor_id)
        if item is not None:
            self._items.move_to_end(anchor_id)
            return item
        return await asyncio.shield(self._start(anchor_id))

    def ahead(self, anchor_ids: Iterable[int]) -> None:
        """Start reading items that will be wanted soon. Errors wait for who wants them."""
        for anchor_id in anchor_ids:
            if anchor_id not in self._items:
                self._start(anchor_id)

    def forget(self, anchor_id: int) -> None:
        """Read this item anew when it is wanted next, and its whole passage with it.

        The items of one passage show each other's state.
        """
        item = self._items.pop(anchor_id, None)
        self._reading.pop(anchor_id, None)
        if item is not None:
            for sibling in item.siblings:
                self._items.pop(sibling.anchor_id, None)
                self._reading.pop(sibling.anchor_id, None)

    def clear(self) -> None:
        """Forget all: the mode changed, or somebody else has written."""
        self._items.clear()
        self._reading.clear()

    def _start(self, anchor_id: int) -> "asyncio.Task[AnchorItem | None]":
        task = self._reading.get(anchor_id)
        if task is None:
            task = asyncio.create_task(self._fetch(anchor_id))
            self._reading[anchor_id] = task
            task.add_done_callback(_looked_at)
        return task

    async def _fetch(self, anchor_id: int) -> AnchorItem | None:
        task = asyncio.current_task()
        try:
            item = await self._read(anchor_id)
        finally:
            # Forgotten meanwhile: what was read is older than what made it be forgotten.
            fresh = self._reading.get(anchor_id) is task
            if fresh:
                del self._reading[anchor_id]
        if fresh and item is not None:
            self._items[anchor_id] = item
            while len(self._items) > KEPT:
                self._items.popitem(last=False)
        return item


def _looked_at(task: "asyncio.Task[AnchorItem | None]") -> None:
    """Take note of an error nobody waited for; whoever wants the item reads it again."""
    if not task.cancelled():
        task.exception()


IDLE = 60.0
"""Seconds without a key after which the clock stands still until the next one."""

REMEMBERED = 512
"""Items whose time is kept while one works on others; the ones left longest ago go first."""


class ItemClock:
    """Counts seconds of work, on one item at a time.

    Who comes back to an item goes on counting where they left. While `pause` holds (a dialog
    is open, the terminal is not looked at) nothing is counted; a key ends it as well.
    """

    def __init__(self, now: Callable[[], float] = monotonic, idle: float = IDLE) -> None:
        self._now = now
        self._idle = idle
        self._spent = 0.0
        self._last: float | None = now()
        self._item: int | None = None
        self._earlier: dict[int, float] = {}

    def start(self, item: int | None = None) -> None:
        """Begin with another item. item: its id, None for one that is not come back to."""
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
        """The item is answered: whoever comes back to it begins at nought."""
        if self._item is not None:
            self._earlier.pop(self._item, None)
        self._item = None

    def touch(self) -> None:
        """A key was pressed, or the mouse used."""
        self._spent = self.seconds
        self._last = self._now()

    def pause(self) -> None:
        """Stand still from now on."""
        self._spent = self.seconds
        self._last = None

    def resume(self) -> None:
        """Go on counting after a pause."""
        if self._last is None:
            self._last = self._now()

    def skip(self) -> None:
        """Leave out what passed since the last key: the program was stopped meanwhile."""
        self._last = self._now()

    @property
    def seconds(self) -> float:
        """Seconds of work so far, at most the idle limit of them since the last key."""
        if self._last is None:
            return self._spent
        return self._spent + min(self._now() - self._last, self._idle)


NEAR = 64
"""How far around a guess `find` looks before it searches the whole list."""


class IdList:
    """Anchor ids by place. A snapshot: ids arrive in chunks and do not jump afterwards."""

    def __init__(self) -> None:
        self._ids: array[int] = array("q")
        self.complete = False

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: int) -> int:
        return self._ids[place]

    def extend(self, chunk: Iterable[int]) -> None:
        """Append the ids of a chunk."""
        self._ids.extend(chunk)

    def slice(self, start: int, stop: int) -> Sequence[int]:
        """The ids of places [start, stop), those that are there."""
        return self._ids[max(0, start) : max(0, stop)]

    def find(self, anchor_id: int, near: int = 0) -> int | None:
        """The place of an id, looked for around `near` first; None if it is not there."""
        start = max(0, near - NEAR)
        around = self._ids[start : near + NEAR]
        try:
            return start + around.index(anchor_id)
        except ValueError:
            pass
        try:
            return self._ids.index(anchor_id)
        except ValueError:
            return None

    def replace(self, place: int, anchor_id: int) -> None:
        """Put another id in a place: a corrected anchor stands where the old one stood."""
        self._ids[place] = anchor_id

    def insert(self, place: int, anchor_id: int) -> None:
        """Put an id before a place."""
        self._ids.insert(place, anchor_id)

    def step(self, place: int, wanted: Collection[int], forward: bool) -> int | None:
        """The nearest place after (or before) `place` whose id is wanted, or None."""
        places = range(place + 1, len(self._ids)) if forward else range(place - 1, -1, -1)
        return next((there for there in places if self._ids[there] in wanted), None)


MANY = 12
"""Neighbours kept on each side: some of them may have left the queue as well."""

SETTING = "near"
"""Name of the setting that keeps them; the mode and the person's name follow it."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The surroundings of a place. after and before: anchors, the nearest first.

    query: of the queue. place: how many stood before, which is what is left to go by where
    none of them is there any more.
    """

    query: str = ""
    after: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    place: int = 0

    def find(self, ids: IdList) -> int:
        """The place before which the item would stand; the length of the queue for its end."""
        for anchor_id in self.after:
            place = ids.find(anchor_id, self.place)
            if place is not None:
                return place
        for anchor_id in self.before:
            place = ids.find(anchor_id, self.place)
            if place is not None:
                return place + 1
        return min(self.place, len(ids))


def around(query: str, ids: IdList, place: int, *, beside: bool) -> Nearby:
    """What stands around a place. beside: the item itself does not stand in it."""
    after = place if beside else place + 1
    return Nearby(
        query,
        tuple(ids.slice(after, after + MANY)),
        tuple(reversed(ids.slice(place - MANY, place))),
        place,
    )


def name_of(mode: str, me: str) -> str:
    """The setting of one person in one mode."""
    return f"{SETTING}.{mode}.{me}"


def dump(nearby: Nearby) -> str:
    """As text, for a setting."""
    return msgspec.json.encode(nearby).decode()


def load(text: str | None, query: str) -> Nearby | None:
    """What `dump` wrote of this query; None for another one's, and for what cannot be read."""
    if text is None:
        return None
    try:
        nearby = msgspec.json.decode(text.encode("utf-8", "replace"), type=Nearby)
    except (msgspec.MsgspecError, ValueError):
        return None
    return nearby if nearby.query == query else None


class ExposureLog:
    """What one person has had in view in this session, by anchor.

    What has been seen stays seen: it may have been a pane away from the one in which the
    answer is given, or the item may have been on the screen before.
    """

    def __init__(self) -> None:
        self._model: set[int] = set()
        self._others: set[int] = set()

    def note(
        self, item: AnchorItem, me: str, *, judging: bool, evidence: bool, scores: bool
    ) -> None:
        """Note what of an item is in view now.

        judging: others' answers are shown. evidence: the pane with all that models say is.
        scores: the choice of the model of heads is seen elsewhere: as a heat map, in the order
        of letters, or adopted.
        What is withheld from this person is not in the item, and so is not noted.
        """
        head = item.prediction is not None
        if (evidence and (head or item.identification is not None)) or (scores and head):
            self._model.add(item.anchor_id)
        votes = (*item.votes, *item.stale_votes)
        if judging and any(vote.annotator != me for vote in votes):
            self._others.add(item.anchor_id)

    def of_model(self, anchor_id: int) -> bool:
        """True if something that a model says of the anchor has been in view."""
        return anchor_id in self._model

    def of_others(self, anchor_id: int) -> bool:
        """True if another person's answer to the anchor has been in view."""
        return anchor_id in self._others


Key = tuple[int, Role]
Steps = tuple[list[EditState], list[EditState]]

MOST_ITEMS = 64
"""Items whose steps are kept, those looked at last."""

MOST_STEPS = 200
"""Steps of one draft that are kept once one looks at another item, the latest."""


class DraftSteps:
    """What undo and redo go through in the drafts of one session, by item and role."""

    def __init__(self) -> None:
        self._kept: dict[Key, Steps] = {}

    def of(self, key: Key, *, has_draft: bool) -> Steps:
        """The states before and after the one in the editor; empty where there is no draft.

        The lists are the ones kept: what is put into them is found again.
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
        """Forget the steps of an item, which stand on what is no longer there."""
        for key in [key for key in self._kept if key[0] == anchor_id]:
            del self._kept[key]
