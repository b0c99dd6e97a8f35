"""Items read ahead, so that the next one is there when its key is pressed."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from nfh_db.records import Item

KEPT = 24
"""Items kept; the ones used longest ago are forgotten first."""

Read = Callable[[int], Awaitable[Item | None]]


class ItemCache:
    """Items by anchor id. A read under way is shared by all who want the item."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._items: OrderedDict[int, Item] = OrderedDict()
        self._reading: dict[int, asyncio.Task[Item | None]] = {}

    def peek(self, anchor_id: int) -> Item | None:
        """The item if it has been read."""
        return self._items.get(anchor_id)

    async def get(self, anchor_id: int) -> Item | None:
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

    def _start(self, anchor_id: int) -> "asyncio.Task[Item | None]":
        task = self._reading.get(anchor_id)
        if task is None:
            task = asyncio.create_task(self._fetch(anchor_id))
            self._reading[anchor_id] = task
            task.add_done_callback(_looked_at)
        return task

    async def _fetch(self, anchor_id: int) -> Item | None:
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


def _looked_at(task: "asyncio.Task[Item | None]") -> None:
    """Take note of an error nobody waited for; whoever wants the item reads it again."""
    if not task.cancelled():
        task.exception()
