"""Navigation in the queue and the panes."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.scroll_view import ScrollView

from nfh_db.errors import QueryError, StoreError
from nfh_db.query import ME, PeopleTerm, Query, asked_by, parse, quote
from nfh_db.records import AnchorState, QueuePosition, QueueRow
from nfh_tui.actions import Mode
from nfh_tui.textual_support import ErrorRaised
from nfh_tui.widgets.status_bar import Level
from nfh_tui.workbench.availability import EMPTY, FIRST, LAST, NOTHING
from nfh_tui.workbench.command_queue import DebouncedWriter, KeyPress, RunAction
from nfh_tui.workbench.controller import Controller, Handler, RefusedError
from nfh_tui.workbench.item import GONE
from nfh_tui.workbench.session import IdList, Nearby, around, dump, name_of
from nfh_tui.workbench.state import Position

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench


PLACE_DELAY = 0.1
"""Seconds between a move and the write of the position; at most those of a draft, so that after
a crash the item with the draft is the one that is shown.
"""
WINDOW = 200
"""Rows that are searched together for the next undecided item."""
WINDOWS = 3
"""Number of windows that are searched before the whole queue."""
ALL_DONE = "All done: every item assigned to you is answered."
STEPS = frozenset({"queue.next", "queue.previous"})


class QueueController(Controller):
    """Loads the queue and moves in it."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self.position_writer = DebouncedWriter(PLACE_DELAY, self._position_failed)
        self._first_ids = asyncio.Event()
        self.placed = asyncio.Event()
        """Set once the position of the current item is known."""
        self._all_ids = asyncio.Event()

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "queue.next": partial(self._step, 1),
            "queue.previous": partial(self._step, -1),
            "queue.first": self.first,
            "queue.last": self.last,
            "queue.next_undecided": partial(self._to_undecided, forward=True),
            "queue.previous_undecided": partial(self._to_undecided, forward=False),
            "cursor.up": partial(self._line, -1),
            "cursor.down": partial(self._line, 1),
            "page.up": partial(self._page, -1),
            "page.down": partial(self._page, 1),
        }

    # --- the queue --------------------------------------------------------------------------

    async def open(
        self,
        query: Query,
        at: int | None = None,
        *,
        insist: bool = False,
        near: Nearby | None = None,
    ) -> None:
        """Show the items of a query.

        at: the anchor to show if it is in the first chunk; otherwise the first item is shown.
        insist: show `at` at once, in whatever chunk it is, or beside the queue. near: the
        neighbours of `at` when it was last shown.
        """
        await self.bench.background.note_order(query)
        self.bench.item.leave()
        if why := self.why_not_asked(query):
            self.ui.notify(why, Level.REFUSED)
            query = Query()
        self.state.query = query
        self.state.ids = ids = IdList()
        self.state.position = Position()
        self.bench.item.deselect()
        self.bench.queue_list.show_ids(ids)
        self._first_ids, self.placed = asyncio.Event(), asyncio.Event()
        self._all_ids = asyncio.Event()
        self.run_latest(
            partial(self._load_ids, ids, query, at if insist else None, near),
            "ids",
            "ids of the queue",
        )
        shown = insist and at is not None and await self.bench.item.show(at)
        if shown and near is not None:
            self._place_in_gap(ids, near, at)
        await self._first_ids.wait()
        if not shown:
            self.placed.set()
            await self.go((None if at is None else ids.find(at)) or 0)
        self.ui.refresh_titles()
        await self.count_left()

    def why_not_asked(self, query: Query) -> str:
        """Return why a query is not allowed in this mode; empty if it is."""
        try:
            asked_by(query, self.state.role, self.state.me.name)
        except QueryError as error:
            return f"query: {error}"
        return ""

    async def _load_ids(
        self, ids: IdList, query: Query, at: int | None, near: Nearby | None
    ) -> None:
        """Fill a list chunk by chunk; the position of `at` is set when its chunk arrives."""
        first, placed, every = self._first_ids, self.placed, self._all_ids
        try:
            async for chunk in self.client.stream(
                self.store.queue.ids, query, self.state.me, self.state.role
            ):
                start = len(ids)
                ids.extend(chunk)
                self.bench.queue_list.grown()
                if at is not None and not placed.is_set():
                    self._place_in(ids, start, at)
                self.ui.refresh_status()
                first.set()
        except StoreError as error:
            self.bench.post_message(ErrorRaised(str(error)))
        finally:
            ids.complete = True
            if near is not None:
                self._place_in_gap(ids, near, at)
            first.set()
            placed.set()
            every.set()
            self.ui.refresh_status()

    def _place_in(self, ids: IdList, start: int, at: int) -> None:
        if (place := ids.find(at, start)) is not None:
            item = self.state.stored_item
            detached = item is None or item.anchor_id != at
            self.state.position = Position(place, is_detached=detached)
            self.bench.queue_list.current = place
            self.placed.set()

    def _place_in_gap(self, ids: IdList, near: Nearby, at: int | None) -> None:
        """Set the position of a current item that has left the queue to where it would be."""
        here = at is not None and self.state.anchor_id == at
        if (
            here
            and self.state.position.is_detached
            and ids is self.state.ids
            and ids.complete
            and len(ids)
        ):
            self.state.position = Position(near.find(ids), is_detached=True, is_gap=True)
            self.bench.queue_list.current = min(self.state.position.index, len(ids) - 1)
            self.ui.refresh_status()

    async def fetch_rows(self, ids: Sequence[int]) -> tuple[QueueRow, ...]:
        """Return queue rows for the list."""
        state = self.state
        return await self.client.read(self.store.queue.rows, ids, state.me, state.role)

    # --- assigned items ---------------------------------------------------------------------

    @property
    def _is_todo(self) -> bool:
        """True while the queue consists of the items assigned to this person."""
        state = self.state
        given = [t for t in state.query.terms if isinstance(t, PeopleTerm) and t.key == "todo"]
        mine = any(ME in value.names for term in given for value in term.values)
        return mine and not state.is_reading

    async def count_left(self) -> None:
        """Count the open assigned items, if the queue consists of them."""
        state = self.state
        left = None
        if self._is_todo:
            left = (
                await self.client.read(self.store.assignments.todo, state.me, state.role)
            ).left
        if left != state.todo_left:
            state.todo_left = left
            self.ui.refresh_status()

    def rest_words(self) -> str:
        """Describe the remaining assigned items if no item follows this one; else empty."""
        if self.state.todo_left == 0:
            return ALL_DONE
        left = self.state.todo_left
        if left is None or self.state.position.index + 1 < len(self.state.ids):
            return ""
        return f"The last one here. {left:,} of yours still open: : and enter show them"

    # --- the position -----------------------------------------------------------------------

    def keep_position(self) -> None:
        """Schedule the write of the position."""
        if self.state.keeps_own:
            self.position_writer.keep("place", self.save_position)

    async def save_position(self) -> None:
        """Save the position and the neighbours of the current item."""
        state = self.state
        name = name_of(state.mode.value, state.me.name)
        near = around(
            state.query.text, state.ids, state.position.index, beside=state.position.is_detached
        )
        known = self.placed.is_set() and len(state.ids) > 0
        item = state.stored_item
        anchor_id = None if item is None else item.anchor_id
        token = None if item is None else state.edit.cursor
        place = QueuePosition(state.query.text, anchor_id, token)
        await self.client.write(
            self.store.workspace.save_position, state.me, state.mode.value, place
        )
        if known:
            await self.client.write(self.store.settings.write, name, dump(near))

    def _position_failed(self, error: Exception) -> None:
        # A position is not work: people who only read need no report.
        if not self.state.unsaved_reported and not self.client.read_only:
            self.ui.notify(f"Your place in the queue is not saved. {error}", Level.REFUSED)

    # --- moving in the queue ----------------------------------------------------------------

    async def go(self, place: int) -> None:
        """Show the item at a position."""
        bench = self.bench
        bench.item.leave()
        self.placed.set()
        if not len(self.state.ids):
            bench.item.clear()
            return
        self.state.position = Position(max(0, min(place, len(self.state.ids) - 1)))
        bench.queue_list.current = self.state.position.index
        self.ui.refresh_status()
        if self._step_waits():
            bench.item.deselect()
            return
        anchor_id = self.state.ids[self.state.position.index]
        item = bench.item.cache.peek(anchor_id) or await bench.item.cache.get(anchor_id)
        if item is None:
            bench.item.clear()
            self.ui.notify(GONE, Level.REFUSED)
            return
        bench.item.present(item)
        bench.item.read_ahead()

    def _step_waits(self) -> bool:
        """Return True if another step follows, so that this item need not be drawn."""
        command = self.bench.commands.peek()
        if isinstance(command, KeyPress):
            return self.bench.action_of(command.key) in STEPS
        return isinstance(command, RunAction) and command.id in STEPS

    async def _step(self, by: int) -> None:
        """Move by a number of items; an item beside the queue returns to it first."""
        await self.placed.wait()
        target = self.state.position.start(forward=by > 0) + by
        if 0 <= target < len(self.state.ids):
            await self.go(target)
            return
        if not len(self.state.ids):
            raise RefusedError(EMPTY)
        if self.state.visible_item is None:
            await self.go(self.state.position.index)
        self.ui.notify(LAST if by > 0 else FIRST, Level.REFUSED)

    async def first(self) -> None:
        """Go to the first item."""
        state = self.state
        if len(state.ids) and (state.position.index or state.position.is_detached):
            await self.go(0)
        else:
            self.ui.notify(FIRST if len(state.ids) else EMPTY, Level.REFUSED)

    async def last(self) -> None:
        """Go to the last item, once the queue is complete."""
        state = self.state
        await self.placed.wait()
        await self._all_ids.wait()
        if state.position.index + 1 < len(state.ids) or state.position.is_detached:
            await self.go(len(state.ids) - 1)
        else:
            self.ui.notify(LAST if len(state.ids) else EMPTY, Level.REFUSED)

    async def _to_undecided(self, *, forward: bool) -> None:
        """Go to the next or previous undecided item."""
        await self.placed.wait()
        place = (
            await self._undecided_near(forward)
            if self.state.mode is not Mode.ANNOTATE
            else None
        )
        if place is None:
            place = await self._undecided_anywhere(forward)
        if place is None:
            where = "after" if forward else "before"
            raise RefusedError(f"No item {where} this one is open.")
        await self.go(place)

    async def _undecided_near(self, forward: bool) -> int | None:
        """Return the nearest undecided position in the next windows of rows."""
        state = self.state
        here = state.position.start(forward=forward)
        start = here + 1 if forward else here - WINDOW
        for _ in range(WINDOWS):
            ids = state.ids.slice(start, start + WINDOW)
            rows = await self.client.read(self.store.queue.rows, ids, state.me, state.role)
            waiting = {row.anchor_id for row in rows if row.state is not AnchorState.DECIDED}
            place = state.ids.step(here, waiting, forward) if waiting else None
            if place is not None:
                return place
            start += WINDOW if forward else -WINDOW
        return None

    async def _undecided_anywhere(self, forward: bool) -> int | None:
        """Return the nearest undecided position in the whole queue, by a query."""
        here = self.state.position.start(forward=forward)
        return self.state.ids.step(here, await self._waiting(), forward)

    async def left(self) -> int:
        """Return how many items wait: of those assigned, else of the queue."""
        if self.state.todo_left is not None:
            return self.state.todo_left
        await self._all_ids.wait()
        waiting, ids = await self._waiting(), self.state.ids
        return sum(anchor_id in waiting for anchor_id in ids.slice(0, len(ids)))

    async def _waiting(self) -> set[int]:
        """Return all items that wait for your answer, or for their gold."""
        state = self.state
        queries = [f"-by:{quote(state.me.name)}"]
        if state.mode is not Mode.ANNOTATE:
            # An item to be decided blind may have been decided by another person.
            queries = ["-state:decided", "todo:me/adjudicator"]
        waiting: set[int] = set()
        for query in queries:
            async for chunk in self.client.stream(
                self.store.queue.ids, parse(query), state.me, state.role
            ):
                waiting.update(chunk)
        return waiting

    # --- moving inside the panes ------------------------------------------------------------

    async def _line(self, by: int) -> None:
        """Move down by lines in the focused pane."""
        bench = self.bench
        if self.state.pane == "queue":
            await self._step(by)
        elif self.state.pane != "passage":
            self._scroll(self.ui.right_pane, by)
        elif self.state.visible_item is None:
            self.ui.notify(NOTHING, Level.REFUSED)
        else:
            beside = bench.passage.token_above if by < 0 else bench.passage.token_below
            token = beside(self.state.edit.cursor)
            if token == self.state.edit.cursor:
                self.ui.notify(
                    f"This is the {'first' if by < 0 else 'last'} line.", Level.REFUSED
                )
            else:
                bench.item.move_cursor(token)

    def _scroll(self, view: ScrollView, by: int) -> None:
        """Scroll a pane by lines; at its end, say so."""
        if self.state.visible_item is None and view is not self.bench.guide:
            self.ui.notify(NOTHING, Level.REFUSED)
        elif by < 0 and view.scroll_offset.y <= 0:
            self.ui.notify("This is the top.", Level.REFUSED)
        elif by > 0 and view.scroll_offset.y >= view.max_scroll_y:
            self.ui.notify("This is the end.", Level.REFUSED)
        else:
            view.scroll_relative(y=by, animate=False)

    async def _page(self, by: int) -> None:
        """Move down by pages in the focused pane."""
        if self.state.pane == "queue":
            await self._step(self._page_of_queue(by))
        else:
            view = self.bench.passage if self.state.pane == "passage" else self.ui.right_pane
            self._scroll(view, by * view.size.height)

    def _page_of_queue(self, by: int) -> int:
        """Return the items of a page, or of the rest of the queue; at least one."""
        state = self.state
        left = len(state.ids) - 1 - state.position.index if by > 0 else state.position.index
        return by * max(1, min(self.bench.queue_list.page, left))
