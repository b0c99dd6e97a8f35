"""Queue navigation: which items there are, and the way from one to another."""

import asyncio
from functools import partial

from textual.scroll_view import ScrollView

from nfh_db.errors import QueryError, StoreError
from nfh_db.query import ME, PeopleTerm, Query, asked_by, parse, quote
from nfh_db.records import AnchorState
from nfh_tui.actions import Mode
from nfh_tui.textual_support import ErrorRaised, start
from nfh_tui.workbench.availability import EMPTY, FIRST, LAST, NOTHING
from nfh_tui.workbench.base import GONE, Showing
from nfh_tui.workbench.command_queue import KeyPress, RunAction
from nfh_tui.workbench.session import IdList, Nearby, around, dump, name_of
from nfh_tui.workbench.state import Position

WINDOW = 200
"""Rows looked at together for the next undecided item."""

WINDOWS = 3
"""So many windows are looked at before the whole queue is asked."""

ALL_DONE = "All done: nothing that you were given is left. Thank you!"

STEPS = frozenset({"queue.next", "queue.previous"})


class Walking(Showing):
    """The queue and the way through it."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._first_ids = asyncio.Event()
        self._placed = asyncio.Event()
        self._all_ids = asyncio.Event()

    # --- the queue ----------------------------------------------------------------------

    async def open_query(
        self,
        query: Query,
        at: int | None = None,
        *,
        insist: bool = False,
        near: Nearby | None = None,
    ) -> None:
        """Show what a query finds: at this anchor, if it is among the first, else from the
        start. insist: show the anchor at once, wherever it stands and even if nowhere; near:
        what stood around it when it was last there.
        """
        self.leave()
        query = self._permitted(query)
        self.state.query = query
        self.state.ids = ids = IdList()
        self.state.position = Position()
        self.clear_item()
        self.queue_list.show_ids(ids)
        self._first_ids, self._placed = asyncio.Event(), asyncio.Event()
        self._all_ids = asyncio.Event()
        start(
            self,
            partial(self._load_ids, ids, query, at if insist else None, near),
            group="ids",
            description="ids of the queue",
            exclusive=True,
        )
        shown = insist and at is not None and await self.show_anchor(at)
        if shown and near is not None:
            self._place_between(ids, near, at)
        await self._first_ids.wait()
        if not shown:
            self._placed.set()
            await self.go((None if at is None else ids.find(at)) or 0)
        self.paint_titles()
        await self.count_left()

    def why_not_asked(self, query: Query) -> str:
        """Why a query may not be asked in this mode; "" where it may."""
        try:
            asked_by(query, self.state.role, self.state.me.name)
        except QueryError as error:
            return f"query: {error}"
        return ""

    def _permitted(self, query: Query) -> Query:
        """The query, or everything where it may not be asked in this mode, and why."""
        why = self.why_not_asked(query)
        if why:
            self.refuse(why)
        return Query() if why else query

    # --- what one was given -------------------------------------------------------------

    @property
    def of_todo(self) -> bool:
        """True while the queue is of what this person was given, to be worked through."""
        given = [
            t for t in self.state.query.terms if isinstance(t, PeopleTerm) and t.key == "todo"
        ]
        mine = any(ME in value.names for term in given for value in term.values)
        return mine and not self.state.is_reading

    async def count_left(self) -> None:
        """Count what is left of what one was given, while the queue is of that."""
        left = None
        if self.of_todo:
            left = (await self.client.todo(self.state.me, self.state.role)).left
        if left != self.state.todo_left:
            self.state.todo_left = left
            self.paint_status()

    def rest_words(self) -> str:
        """What to say of the rest once nothing comes after this item; "" before that."""
        if self.state.todo_left == 0:
            return ALL_DONE
        left = self.state.todo_left
        if left is None or self.state.position.index + 1 < len(self.state.ids):
            return ""
        return f"The last one here. {left:,} of yours still open: : and enter show them"

    async def _load_ids(
        self, ids: IdList, query: Query, at: int | None, near: Nearby | None
    ) -> None:
        """Fill a list chunk by chunk; `at` gets its place as soon as its chunk is there."""
        first, placed, every = self._first_ids, self._placed, self._all_ids
        try:
            async for chunk in self.client.queue_ids(query, self.state.me, self.state.role):
                start = len(ids)
                ids.extend(chunk)
                self.queue_list.grown()
                if at is not None and not placed.is_set():
                    self._place_in(ids, start, at)
                self.paint_status()
                first.set()
        except StoreError as error:
            self.post_message(ErrorRaised(str(error)))
        finally:
            ids.complete = True
            if near is not None:
                self._place_between(ids, near, at)
            first.set()
            placed.set()
            every.set()
            self.paint_status()

    def _place_in(self, ids: IdList, start: int, at: int) -> None:
        place = ids.find(at, start)
        if place is not None:
            item = self.state.stored_item
            detached = item is None or item.anchor_id != at
            self.state.position = Position(place, is_detached=detached)
            self.queue_list.current = place
            self._placed.set()

    def _place_between(self, ids: IdList, near: Nearby, at: int | None) -> None:
        """Stand where the item shown would be, which has left the queue, once that is known."""
        here = self.state.stored_item is not None and self.state.stored_item.anchor_id == at
        if (
            here
            and self.state.position.is_detached
            and ids is self.state.ids
            and ids.complete
            and len(ids)
        ):
            self.state.position = Position(near.find(ids), is_detached=True, is_gap=True)
            self.queue_list.current = min(self.state.position.index, len(ids) - 1)
            self.paint_status()

    async def save_place(self) -> None:
        """Save where this person stands, and what stands around it in the queue."""
        name = name_of(self.state.mode.value, self.state.me.name)
        near = around(
            self.state.query.text,
            self.state.ids,
            self.state.position.index,
            beside=self.state.position.is_detached,
        )
        known = self._placed.is_set() and len(self.state.ids) > 0
        await super().save_place()
        if known:
            await self.client.set_setting(name, dump(near))

    # --- one item after another ---------------------------------------------------------

    async def go(self, place: int) -> None:
        """Show the item in a place of the queue."""
        self.leave()
        self._placed.set()
        if not len(self.state.ids):
            self.clear_item()
            return
        self.state.position = Position(max(0, min(place, len(self.state.ids) - 1)))
        self.queue_list.current = self.state.position.index
        self.paint_status()
        if self._steps_wait():
            self.state.visible_item = self.state.stored_item = None
            return
        anchor_id = self.state.ids[self.state.position.index]
        item = self.cache.peek(anchor_id) or await self.cache.get(anchor_id)
        if item is None:
            self.clear_item()
            self.refuse(GONE)
            return
        self.present(item)
        self.read_ahead()

    def _steps_wait(self) -> bool:
        """True if the next key steps on anyway, so that the item need not be drawn."""
        turn = self.commands.peek()
        if isinstance(turn, KeyPress):
            return self.action_of(turn.key) in STEPS
        return isinstance(turn, RunAction) and turn.id in STEPS

    # --- acts ---------------------------------------------------------------------------

    async def do_queue_next(self) -> None:
        """Go one item on; back into the queue from an item beside it."""
        await self._step(1)

    async def do_queue_previous(self) -> None:
        """Go one item back; back into the queue from an item beside it."""
        await self._step(-1)

    async def _step(self, by: int) -> None:
        await self._placed.wait()
        target = (
            self.state.position.next_index - 1 + by
            if by > 0
            else self.state.position.previous_index + 1 + by
        )
        if 0 <= target < len(self.state.ids):
            await self.go(target)
            return
        if not len(self.state.ids):
            self.refuse(EMPTY)
            return
        if self.state.visible_item is None:
            await self.go(self.state.position.index)
        self.refuse(LAST if by > 0 else FIRST)

    async def do_queue_first(self) -> None:
        """Go to the start of the queue."""
        if len(self.state.ids) and (
            self.state.position.index or self.state.position.is_detached
        ):
            await self.go(0)
        else:
            self.refuse(FIRST if len(self.state.ids) else EMPTY)

    async def do_queue_last(self) -> None:
        """Go to the end of the queue, once it is known."""
        await self._placed.wait()
        await self._all_ids.wait()
        if (
            self.state.position.index + 1 < len(self.state.ids)
            or self.state.position.is_detached
        ):
            await self.go(len(self.state.ids) - 1)
        else:
            self.refuse(LAST if len(self.state.ids) else EMPTY)

    async def do_queue_next_undecided(self) -> None:
        """Go to the next item that waits."""
        await self._to_undecided(forward=True)

    async def do_queue_previous_undecided(self) -> None:
        """Go back to the last item that waits."""
        await self._to_undecided(forward=False)

    async def _to_undecided(self, *, forward: bool) -> None:
        await self._placed.wait()
        place = (
            await self._undecided_near(forward)
            if self.state.mode is not Mode.ANNOTATE
            else None
        )
        if place is None:
            place = await self._undecided_anywhere(forward)
        if place is None:
            where = "after" if forward else "before"
            self.refuse(f"Nothing {where} this item waits any more.")
            return
        await self.go(place)

    async def _undecided_near(self, forward: bool) -> int | None:
        """The nearest undecided place among the next windows of rows."""
        here = (
            self.state.position.next_index - 1
            if forward
            else self.state.position.previous_index + 1
        )
        start = here + 1 if forward else here - WINDOW
        for _ in range(WINDOWS):
            ids = self.state.ids.slice(start, start + WINDOW)
            rows = await self.client.queue_rows(ids, self.state.me, self.state.role)
            waiting = {row.anchor_id for row in rows if row.state is not AnchorState.DECIDED}
            place = self.state.ids.step(here, waiting, forward) if waiting else None
            if place is not None:
                return place
            start += WINDOW if forward else -WINDOW
        return None

    async def _undecided_anywhere(self, forward: bool) -> int | None:
        """The nearest place, of the whole queue, that an own query finds undecided."""
        queries = [f"-by:{quote(self.state.me.name)}"]
        if self.state.mode is not Mode.ANNOTATE:
            # What one has to decide blind may have been decided by somebody else.
            queries = ["-state:decided", "todo:me/adjudicator"]
        waiting: set[int] = set()
        for query in queries:
            async for chunk in self.client.queue_ids(
                parse(query), self.state.me, self.state.role
            ):
                waiting.update(chunk)
        here = (
            self.state.position.next_index - 1
            if forward
            else self.state.position.previous_index + 1
        )
        return self.state.ids.step(here, waiting, forward)

    # --- moving inside the panes --------------------------------------------------------

    async def do_cursor_up(self) -> None:
        """One line up in the pane in use."""
        await self._line(-1)

    async def do_cursor_down(self) -> None:
        """One line down in the pane in use."""
        await self._line(1)

    async def _line(self, by: int) -> None:
        if self.state.pane == "queue":
            await self._step(by)
        elif self.state.pane == "evidence":
            self._scroll(self.right, by)
        elif self.state.visible_item is None:
            self.refuse(NOTHING)
        else:
            beside = self.passage.token_above if by < 0 else self.passage.token_below
            token = beside(self.state.edit.cursor)
            if token == self.state.edit.cursor:
                self.refuse(f"This is the {'first' if by < 0 else 'last'} line.")
            else:
                self.stand_on(token)

    def _scroll(self, view: ScrollView, by: int) -> None:
        """Scroll a pane by so many lines; at its end, say so."""
        if self.state.visible_item is None and view is not self.guide:
            self.refuse(NOTHING)
        elif by < 0 and view.scroll_offset.y <= 0:
            self.refuse("This is the top.")
        elif by > 0 and view.scroll_offset.y >= view.max_scroll_y:
            self.refuse("This is the end.")
        else:
            view.scroll_relative(y=by, animate=False)

    async def do_page_down(self) -> None:
        """One page down in the pane in use."""
        await self._page(1)

    async def do_page_up(self) -> None:
        """One page up in the pane in use."""
        await self._page(-1)

    async def _page(self, by: int) -> None:
        if self.state.pane == "queue":
            await self._step(self._page_of_queue(by))
        else:
            view = self.passage if self.state.pane == "passage" else self.right
            self._scroll(view, by * view.size.height)

    def _page_of_queue(self, by: int) -> int:
        """How many items a page is, or what is left of one; at least one step that way."""
        left = (
            len(self.state.ids) - 1 - self.state.position.index
            if by > 0
            else self.state.position.index
        )
        return by * max(1, min(self.queue_list.page, left))
