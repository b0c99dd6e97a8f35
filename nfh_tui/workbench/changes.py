"""The number's span, undo and redo, and rescue to another file."""

from collections.abc import Callable, Mapping
from functools import partial

from nfh_db.errors import (
    ChangedSinceError,
    GoneError,
    NotAllowedError,
    StaleLabelsError,
    StoreError,
)
from nfh_db.records import AnchorItem, Annotator, Role, StaleLabels, Undone
from nfh_db.store import Store
from nfh_models.domain import Anchor
from nfh_tui.display_text import width_of
from nfh_tui.editor.commands import dump
from nfh_tui.editor.state import EditState
from nfh_tui.editor.votes import proposals, proposed_by
from nfh_tui.services.history import partners
from nfh_tui.widgets.status_bar import Level
from nfh_tui.workbench.availability import NO_PROPOSAL
from nfh_tui.workbench.controller import Controller, Handler, RefusedError
from nfh_tui.workbench.display import local_time
from nfh_tui.workbench.session import ItemKey
from nfh_tui.workbench.state import Unsaved

ROOM_OF_CHOICES = 24
"""Cells of the footer for the spans to choose from."""
MOST_CHOICES = 9
"""Maximum number of spans to choose from: one digit each."""


def undo_words(done: Undone) -> str:
    """Describe an undone or redone change, with the number of items.

    The number is left out if the description of a bulk operation contains it.
    """
    items = f"{done.anchors:,} items"
    parts = [items] if done.anchors != 1 and items not in done.summary else []
    if done.skipped:
        parts.append(f"{done.skipped:,} skipped, because they have changed")
    return f"{done.summary} ({', '.join(parts)})" if parts else done.summary


def _words(item: AnchorItem, span: Anchor) -> str:
    return item.passage.words(span.start, span.end)


class SpanController(Controller):
    """Replaces an anchor, or proposes another span for it."""

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "anchor.widen": partial(self._respan, 0, 1),
            "anchor.narrow": partial(self._respan, 0, -1),
            "anchor.widen_left": partial(self._respan, -1, 0),
            "anchor.narrow_left": partial(self._respan, 1, 0),
            "anchor.take": self.take,
        }

    async def _respan(self, start_by: int, end_by: int) -> None:
        """Move the ends of the span. An annotator moves those of the proposed span."""
        item = self.bench.answers.writable()
        annotating = self.state.role is Role.ANNOTATOR
        now = (proposed_by(item, self.state.me.name) if annotating else None) or item.anchor
        start, end = now.start + start_by, now.end + end_by
        turn = item.passage.turns[item.passage.turn_of(item.anchor.start)]
        if start >= end:
            self.ui.notify("A number keeps at least one word.", Level.REFUSED)
        elif start < turn.start or end > turn.end:
            self.ui.notify(
                "A number stays in its turn: there is no further word here.", Level.REFUSED
            )
        elif annotating:
            await self._propose(item, Anchor(start, end))
        else:
            await self._replace(item, Anchor(start, end))

    async def _propose(self, item: AnchorItem, span: Anchor) -> None:
        """Propose a span to the adjudicator; the anchor's own span withdraws the proposal."""
        saved = await self.client.write(
            self.store.edits.propose_span, item.anchor_id, self.state.me, span
        )
        words = _words(item, span)
        said = f"you propose “{words}” for the number"
        if span == item.anchor:
            said = f"proposal withdrawn: the number is “{words}”"
        self.ui.notify(f"{said}, saved {local_time(saved.at)}", Level.DONE)
        await self.bench.answers.reload_written(item.anchor_id)

    async def take(self) -> None:
        """Replace the anchor's span by a proposed one; asks which if there are several."""
        item = self.bench.answers.writable()
        if not (spans := list(proposals(item))):
            raise RefusedError(NO_PROPOSAL)
        chosen: str | None = "1"
        if len(spans) > 1:
            choices = [
                (str(number), f"“{_words(item, span)}”", str(number))
                for number, span in enumerate(spans[:MOST_CHOICES], 1)
            ]
            chosen = await self.bench.prompts.choose("Which span?", choices)
        if chosen is not None:
            await self._replace(item, spans[int(chosen) - 1])

    async def _replace(self, item: AnchorItem, span: Anchor) -> None:
        """Replace the anchor by one with another span; the draft moves with it.

        Asks first if gold or answers of others become stale.
        """
        state = self.state
        await self.bench.answers.draft_writer.flush()
        how = item.anchor_id, state.me, state.role, span
        try:
            saved = await self.client.write(self.store.edits.replace_anchor, *how)
        except StaleLabelsError as error:
            question = self._stale_words(item, error.labels)
            if not await self.bench.prompts.confirm(question, "replace", "keep"):
                self.ui.notify(f"the number stays “{_words(item, item.anchor)}”")
                return
            saved = await self.client.write(self.store.edits.replace_anchor, *how, error.labels)
        state.drafts.pop((item.anchor_id, state.role), None)
        state.drafts.pop((saved.anchor_id, state.role), None)
        self.bench.item.draft_steps.forget(item.anchor_id)
        self.bench.item.draft_steps.forget(saved.anchor_id)
        if (place := state.ids.find(item.anchor_id, state.position.index)) is not None:
            state.ids.replace(place, saved.anchor_id)
        self.bench.item.cache.clear()
        await self.bench.item.show(saved.anchor_id)
        self.bench.queue_list.refresh()
        words = _words(item, span)
        self.ui.notify(f"the number is “{words}”, saved {local_time(saved.at)}", Level.DONE)

    def _stale_words(self, item: AnchorItem, labels: StaleLabels) -> str:
        """Describe what becomes stale, with as many names as fit.

        Names are hidden from people who work blind; hidden predictions are not even counted.
        """
        if item.withheld:
            return "All answers of others, shown to you or not, become stale."
        room = self.bench.size.width - ROOM_OF_CHOICES
        for most in range(len(labels.annotators), 0, -1):
            words = f"{labels.said(most, named=not self.state.blind)}."
            if width_of(words) <= room:
                return words
        return f"{labels.said(0, named=not self.state.blind)}."


class UndoController(Controller):
    """Undo and redo: of the draft first, then of saved changes."""

    def handlers(self) -> Mapping[str, Handler]:
        return {"undo": self.undo, "redo": self.redo}

    async def undo(self) -> None:
        """Undo the last change of the draft, else the last saved change. Raises
        RefusedError.
        """
        words = "undone in the draft"
        if not self.state.past and self._holds_draft():
            # A draft of an earlier session has no steps, only its initial state.
            self.state.past.append(self.state.initial)
            words = "draft undone"
        if self.bench.answers.step_back(self.state.past, self.state.future, words):
            return
        if not self.state.is_reading and await self._asks_before_many():
            return
        await self._show_undone("undone", await self._undo_saved(undo=True))

    def _holds_draft(self) -> bool:
        """Return True if the editor holds a draft that differs from the saved answer."""
        item = self.state.stored_item
        if item is None or self.state.is_reading or not self.bench.item.has_draft(item):
            return False
        return self.state.edit.content != self.state.initial.content

    async def _asks_before_many(self) -> bool:
        """Return True if the next undo reverts a settlement and was not announced yet.

        A settlement changes many items, so undo must be pressed twice.
        """
        found = await self.client.read(self.store.edits.settlement_to_undo, self.state.me)
        if found is None or found[0] == self.state.warned_of:
            self.state.warned_of = 0
            return False
        self.state.warned_of, words = found
        self.ui.notify(f"Undo again undoes all of this: {words}")
        return True

    async def redo(self) -> None:
        """Redo what was undone, in the draft or saved. Raises RefusedError."""
        state = self.state
        if self.bench.answers.step_back(state.future, state.past, "redone in the draft"):
            return
        await self._show_undone("redone", await self._undo_saved(undo=False))

    async def _undo_saved(self, *, undo: bool) -> Undone:
        """Undo or redo in the store. Raises RefusedError if that is not possible."""
        if self.state.is_reading:
            raise RefusedError(self.ui.read_only_reason)
        await self.bench.answers.draft_writer.flush()
        # A settlement of many items takes seconds; keys wait until it is done.
        words = "undoing…" if undo else "redoing…"
        me = self.state.me
        step = (
            self.client.write(self.store.edits.undo, me)
            if undo
            else self.client.write(self.store.edits.redo, me)
        )
        try:
            done = await self.ui.busy_while(words, step)
        except (ChangedSinceError, NotAllowedError) as error:
            raise RefusedError(str(error)) from error
        if done is None:
            raise RefusedError(
                "There is nothing to undo." if undo else "There is nothing to redo."
            )
        return done

    async def _show_undone(self, how: str, done: Undone) -> None:
        """Show the item that an undo or redo has changed, and report the change."""
        self.bench.item.cache.clear()
        if done.anchor_id is not None:
            self.state.drafts.pop((done.anchor_id, self.state.role), None)
            self.bench.item.draft_steps.forget(done.anchor_id)
            await self._take_place_of_gone(done.anchor_id)
            await self.bench.item.show(done.anchor_id)
        self.ui.notify(f"{how}: {undo_words(done)}, on disk {local_time(done.at)}", Level.DONE)
        await self.bench.queue_list.refresh_visible()
        await self.bench.queue.count_left()

    async def _take_place_of_gone(self, anchor_id: int) -> None:
        """Put a restored anchor into the queue at the position of its replacement."""
        if self.state.ids.find(anchor_id, self.state.position.index) is not None:
            return
        for partner in partners(
            await self.client.read(self.store.history.of_anchor, anchor_id)
        ):
            place = self.state.ids.find(partner, self.state.position.index)
            if place is not None:
                self.state.ids.replace(place, anchor_id)
                return


QUESTION = "Write everything to another file?"
WRITTEN = """{place}

The file will hold everything that was saved, and what could not be saved. Quit this
program (q), have it looked through, and go on there:

  nfh-tui doctor --db FILE
  nfh-tui {mode} --db FILE

Further changes in this window are in neither file; {again} writes a newer file."""
AGAIN = "Rescue in the palette (ctrl+p)"


class RescueController(Controller):
    """Writes the whole database, and unsaved answers, to another file."""

    def handlers(self) -> Mapping[str, Handler]:
        return {"rescue": self.run}

    async def report_lost(self, sentence: str) -> None:
        """Report that later writes would be lost, before anything is written."""
        self.ui.refresh_status()
        if self.state.unsaved_reported:
            return
        self.state.unsaved_reported = True
        error = GoneError(sentence)
        await self.bench.prompts.show_error(str(error), "A file of the database is missing")
        await self.offer(error)

    async def offer(self, error: Exception) -> None:
        """Offer to write everything to another file if the open file is lost."""
        if not isinstance(error, GoneError) or self.state.question_open:
            return
        if await self.bench.prompts.confirm(QUESTION, "write it", "not now"):
            await self.run()

    async def run(self) -> None:
        """Write the database and unsaved answers to another file, and report its name."""
        drafts = {key: state for key, state in self.state.drafts.items() if state is not None}
        try:
            place = await self.client.rescue([self._saving(*one) for one in drafts.items()])
        except StoreError as error:
            await self.bench.prompts.show_error(f"Nothing was written to another file. {error}")
            return
        for key in drafts:
            self.bench.answers.draft_writer.drop(key)
        self.ui.refresh_status()
        words = WRITTEN.format(place=place, mode=self.state.mode.value, again=AGAIN)
        await self.bench.prompts.show_text("Everything is written", words)

    def _saving(self, key: ItemKey, state: EditState) -> Callable[[Store], object]:
        """Return a function that saves an unsaved answer, else the draft."""
        found = self.state.unsaved.get(key)
        if found is not None and found.edit is state:
            return partial(_answer, key=key, me=self.state.me, unsaved=found)
        return partial(_draft, key=key, me=self.state.me, body=dump(state))


def _answer(copy: Store, key: ItemKey, me: Annotator, unsaved: Unsaved) -> None:
    copy.edits.commit_answer(key[0], me, key[1], unsaved.answer, unsaved.exposure)


def _draft(copy: Store, key: ItemKey, me: Annotator, body: str) -> None:
    copy.workspace.save_draft(key[0], me, key[1], body)
