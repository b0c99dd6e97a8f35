"""The current item: reads it and those ahead, and shows it."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import _time

from nfh_db.records import AnchorItem, Role
from nfh_tui.editor.commands import first_state, move_to
from nfh_tui.editor.state import EditState
from nfh_tui.services.history import history_text
from nfh_tui.widgets.evidence_rows import search_terms
from nfh_tui.widgets.status_bar import Level
from nfh_tui.workbench.availability import NOTHING
from nfh_tui.workbench.controller import Controller, Handler, RefusedError
from nfh_tui.workbench.session import DraftSteps, ExposureLog, ItemCache
from nfh_tui.workbench.state import Position

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent
    from nfh_tui.workbench.screen import Workbench


AHEAD = (1, -1, 2, 3)
"""Items to read ahead, as offsets from the current one, the likeliest first."""
STAYS = 0.15
"""Seconds on an item before its history is read."""
GONE = "This number is no longer there: somebody replaced or removed it."


class ItemController(Controller):
    """Reads the current item and the next ones, and shows it."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self.cache = ItemCache(self._read)
        self.exposure = ExposureLog()
        """What was in view of each item."""
        self.draft_steps = DraftSteps()
        """Undo steps of the drafts, for when you return to an item."""

    def handlers(self) -> Mapping[str, Handler]:
        return {"history": self.show_history}

    async def _read(self, anchor_id: int) -> AnchorItem | None:
        return await self.client.item(anchor_id, self.state.me, self.state.role)

    async def show(self, anchor_id: int) -> bool:
        """Show an item, in the queue or beside it; returns False if it is gone."""
        if (item := await self.cache.get(anchor_id)) is None:
            return False
        self.leave()
        index = self.state.position.index
        if (place := self.state.ids.find(anchor_id, index)) is None:
            index = min(index, max(0, len(self.state.ids) - 1))
            self.state.position = Position(index, is_detached=True)
        else:
            self.state.position = Position(place)
            self.bench.queue_list.current = place
        self.present(item)
        return True

    def present(self, item: AnchorItem) -> None:
        """Show an item with its draft, if there is one."""
        if self.state.anchor_id != item.anchor_id:
            self.state.answer_given, self.state.known_gold = False, item.gold
            self.await_drawing()
            self.bench.clock.start(item.anchor_id)
            self.state.history = ()
            self.state.precedents = ()
        self.state.stored_item, self.state.last_accepted = item, None
        self.state.past, self.state.future = self.draft_steps.of(
            (item.anchor_id, self.state.role), has_draft=self.has_draft(item)
        )
        self.state.edit = self._edit_of(item)
        self.ui.refresh_item()
        self.bench.queue.keep_position()
        self.run_latest(self._read_history, "history", "the history of an item")

    def await_drawing(self) -> None:
        """Restart the time for which the item is in view: it is drawn, or seen again."""
        state = self.state
        state.drawn_at = None

        def drawn() -> None:
            if state.drawn_at is None:
                # The clock by which the times of keys are taken.
                state.drawn_at = _time.get_time()

        self.bench.call_after_refresh(drawn)

    def has_draft(self, item: AnchorItem) -> bool:
        """Return True if there is a draft that is not being saved as an answer."""
        state = self.state
        key = (item.anchor_id, state.role)
        return key not in state.saving and state.drafts.get(key, item.draft) is not None

    def _edit_of(self, item: AnchorItem) -> EditState:
        """Return the draft, else the state that the item itself gives."""
        state = self.state
        key = (item.anchor_id, state.role)
        state.initial = first_state(replace(item, draft=None), state.me.name, state.role)
        if state.is_reading:
            return EditState(cursor=item.anchor.start, role=state.role)
        # Edits of this session are newer than what was read.
        if key in state.drafts:
            return state.drafts[key] or state.initial
        return first_state(item, state.me.name, state.role)

    async def reload(self) -> None:
        """Reload the current item; keeps the draft."""
        if (before := self.state.stored_item) is None:
            return
        self.cache.forget(before.anchor_id)
        item = await self.cache.get(before.anchor_id)
        if self.state.stored_item is not before:
            return
        if item is None:
            self.ui.notify(GONE, Level.REFUSED)
            return
        self.state.stored_item = item
        former, under = self.state.edit, self.state.initial.content
        self.state.edit = replace(self._edit_of(item), cursor=former.cursor)
        if self.state.edit.content != former.content:
            # Another answer than the one that this person has read.
            self.state.answer_given = False
            self.await_drawing()
        if (
            self.state.drafts.get((item.anchor_id, self.state.role)) is None
            and under != self.state.initial.content
        ):
            # The undo steps refer to a stored state that has changed.
            self.state.past.clear()
            self.state.future.clear()
        self.ui.refresh_item()

    async def reload_all(self) -> None:
        """Reload all that is visible; keeps the draft."""
        self.cache.clear()
        await self.reload()
        await self.bench.queue_list.refresh_visible()
        await self.bench.queue.count_left()

    def clear(self) -> None:
        """Show that there is no item."""
        self.deselect()
        self.ui.refresh_item()

    def deselect(self) -> None:
        """Have no item; the screen changes only with the next one."""
        self.state.visible_item = self.state.stored_item = None
        self.state.edit = EditState()

    def read_ahead(self) -> None:
        """Start reading the likely next items, and request predictions."""
        places = (self.state.position.index + step for step in AHEAD)
        self.cache.ahead(self.state.ids[p] for p in places if 0 <= p < len(self.state.ids))
        self.bench.predictions.ask_soon()

    def leave(self) -> None:
        """Start pending writes before another item is shown."""
        self.bench.answers.draft_writer.start()

    def move_cursor(self, token: int) -> None:
        """Move the cursor to a token of the current item."""
        if self.state.visible_item is not None:
            self.state.edit = move_to(self.state.edit, self.state.visible_item, token).state
            self.ui.refresh_edit()
            self.bench.queue.keep_position()

    async def _read_history(self) -> None:
        """Show the history of the item in the evidence pane after STAYS seconds."""
        state = self.state
        item = state.stored_item
        await asyncio.sleep(STAYS)
        if item is not None and state.stored_item is item:
            history = await self.client.read(
                self.store.history.visible, item.anchor_id, state.me, state.role
            )
            if state.stored_item is item:
                state.history = history
                self.ui.refresh_evidence()
            if state.stored_item is item:
                await self._read_precedents(item)

    async def _read_precedents(self, item: AnchorItem) -> None:
        """Show relevant earlier decisions to people who may see decisions."""
        if self.state.role is Role.ANNOTATOR:
            return
        found, _ = await self.find_precedents(item)
        if found and self.state.stored_item is item:
            self.state.precedents = found
            self.ui.refresh_evidence()

    async def find_precedents(self, item: AnchorItem) -> "tuple[tuple[Precedent, ...], str]":
        """Return the precedents of an item, none while they are hidden, and why they are not
        ranked by meaning.
        """
        state = self.state
        if state.blinding.hides_precedents(item):
            return (), ""
        nouns, tag = search_terms(item, state.edit)
        model_hidden = state.blinding.hides_model(item)

        def find() -> "tuple[tuple[Precedent, ...], str]":
            # Loading numpy would hold up the screen.
            from nfh_tui.services.vectors import precedents

            return precedents(
                self.store, item.anchor_id, state.me, nouns, tag, model_hidden=model_hidden
            )

        return await self.client.read(find)

    async def show_history(self) -> None:
        """Show who changed what in this item."""
        if (item := self.state.stored_item) is None:
            raise RefusedError(NOTHING)
        lines = await self.client.read(
            self.store.history.visible, item.anchor_id, self.state.me, self.state.role
        )
        told_ = history_text(lines, item.passage, named=not self.state.blind)
        await self.bench.prompts.show_text("History of this item", told_)
