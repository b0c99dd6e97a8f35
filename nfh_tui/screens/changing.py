"""Changing what is decided: the number's span, and the way back and forth again."""

from nfh_db.errors import ChangedSinceError, NotAllowedError, StaleLabelsError
from nfh_db.records import Item, Role, StaleLabels, Undone
from nfh_models.domain import Anchor
from nfh_tui.desk.history import partners
from nfh_tui.desk.reasons import NO_PROPOSAL
from nfh_tui.proposed_spans import proposals, proposed_by
from nfh_tui.screens.deciding import Deciding
from nfh_tui.visible import width_of

STALE_CHOICES = (("y", "replace", "y"), ("n", "keep", "n"))
ROOM_OF_CHOICES = 24
"""Cells that those take at the foot."""

MOST_CHOICES = 9
"""Spans to choose from: a digit each."""


def worded(done: Undone) -> str:
    """What was taken back or done again, with the number of items where that says something.

    What was done to many items often names their number itself.
    """
    items = f"{done.anchors:,} items"
    parts = [items] if done.anchors != 1 and items not in done.summary else []
    if done.skipped:
        parts.append(f"{done.skipped:,} left, changed since")
    return f"{done.summary} ({', '.join(parts)})" if parts else done.summary


def _words(item: Item, span: Anchor) -> str:
    return item.passage.words(span.start, span.end)


class Changing(Deciding):
    """What replaces an anchor or proposes another span for it, and what undoes."""

    # --- the number's span --------------------------------------------------------------

    async def do_anchor_widen(self) -> None:
        """Take the next word on the right into the number."""
        await self._respan(0, 1)

    async def do_anchor_narrow(self) -> None:
        """Leave the last word out."""
        await self._respan(0, -1)

    async def do_anchor_widen_left(self) -> None:
        """Take the word before into the number."""
        await self._respan(-1, 0)

    async def do_anchor_narrow_left(self) -> None:
        """Leave the first word out."""
        await self._respan(1, 0)

    async def _respan(self, start_by: int, end_by: int) -> None:
        """Move the ends of the number, as an annotator those of the span proposed for it."""
        item = self.writable()
        if item is None:
            return
        annotating = self.role is Role.ANNOTATOR
        now = (proposed_by(item, self.me.name) if annotating else None) or item.anchor
        start, end = now.start + start_by, now.end + end_by
        turn = item.passage.turns[item.passage.turn_of(item.anchor.start)]
        if start >= end:
            self.refuse("A number keeps one word at least.")
        elif start < turn.start or end > turn.end:
            self.refuse("A number stays in its turn: there is no further word here.")
        elif annotating:
            await self._propose(item, Anchor(start, end))
        else:
            await self._replace(item, Anchor(start, end))

    async def _propose(self, item: Item, span: Anchor) -> None:
        """Propose a span to whoever adjudicates; the number's own takes the proposal back."""
        saved = await self.client.propose_span(item.anchor_id, self.me, span)
        words = _words(item, span)
        said = f"you propose “{words}” for the number"
        if span == item.anchor:
            said = f"proposal taken back: the number is “{words}”"
        self.announce(f"{said}, saved {self.local_time(saved.at)}")
        await self.changed(item.anchor_id)

    async def do_anchor_take(self) -> None:
        """Give the number a span that annotators propose; asked which of several."""
        item = self.writable()
        if item is None:
            return
        spans = list(proposals(item))
        if not spans:
            self.refuse(NO_PROPOSAL)
            return
        chosen: str | None = "1"
        if len(spans) > 1:
            choices = [
                (str(number), f"“{_words(item, span)}”", str(number))
                for number, span in enumerate(spans[:MOST_CHOICES], 1)
            ]
            chosen = await self.choose("Which span?", choices)
        if chosen is not None:
            await self._replace(item, spans[int(chosen) - 1])

    async def _replace(self, item: Item, span: Anchor) -> None:
        """Replace the anchor by one of another span; what is begun goes along.

        Where gold or others' answers become stale by it, that is asked first.
        """
        await self.drafts.flush()
        try:
            saved = await self.client.replace_anchor(item.anchor_id, self.me, self.role, span)
        except StaleLabelsError as error:
            question = self._stale_words(item, error.labels)
            if await self.choose(question, STALE_CHOICES) != "y":
                self.say(f"the number stays “{_words(item, item.anchor)}”")
                return
            saved = await self.client.replace_anchor(
                item.anchor_id, self.me, self.role, span, error.labels
            )
        self.begun.pop((item.anchor_id, self.role), None)
        self.begun.pop((saved.anchor_id, self.role), None)
        self.steps.forget(item.anchor_id)
        self.steps.forget(saved.anchor_id)
        place = self.ids.find(item.anchor_id, self.place)
        if place is not None:
            self.ids.replace(place, saved.anchor_id)
        self.cache.clear()
        await self.show_anchor(saved.anchor_id)
        self.queue_list.refresh()
        words = _words(item, span)
        self.announce(f"the number is “{words}”, saved {self.local_time(saved.at)}")

    def _stale_words(self, item: Item, labels: StaleLabels) -> str:
        """What becomes stale, in as many names as the line has room for.

        Nobody is named to one who works blind; of what is withheld not even how much it is.
        """
        if item.withheld:
            return "What others said, shown to you or not, becomes stale."
        room = self.size.width - ROOM_OF_CHOICES
        for most in range(len(labels.annotators), 0, -1):
            words = f"{labels.said(most, named=not self.blind)}."
            if width_of(words) <= room:
                return words
        return f"{labels.said(0, named=not self.blind)}."

    # --- back and forth -----------------------------------------------------------------

    async def do_undo(self) -> None:
        """Take back the last change of the draft shown, else the last saved act."""
        words = "taken back in the draft"
        if not self.past and self._holds_draft():
            # Of a draft that another session began, only what it began from is known.
            self.past.append(self.fresh)
            words = "draft taken back"
        if self.step_back(self.past, self.future, words):
            return
        if not self.reading and await self._asks_before_many():
            return
        await self._travel("taken back", await self._saved_act(undo=True))

    def _holds_draft(self) -> bool:
        """True if a draft stands in the editor that differs from what is saved."""
        item = self.whole
        if item is None or self.reading or not self.is_begun(item):
            return False
        return self.edit.content != self.fresh.content

    async def _asks_before_many(self) -> bool:
        """True if a settlement is next, and this is the first time that it would be undone.

        It is many items in the place of one: the key is wanted twice.
        """
        found = await self.client.settlement_to_undo(self.me)
        if found is None or found[0] == self.warned_of:
            self.warned_of = 0
            return False
        self.warned_of, words = found
        self.say(f"Undo once more takes all of this back: {words}")
        return True

    async def do_redo(self) -> None:
        """Do again what was taken back, in the draft or saved."""
        if self.step_back(self.future, self.past, "done again in the draft"):
            return
        await self._travel("done again", await self._saved_act(undo=False))

    async def _saved_act(self, *, undo: bool) -> Undone | None:
        """Undo or redo in the store; where that cannot be, the reason is said."""
        if self.reading:
            self.refuse(self.for_reading)
            return None
        await self.drafts.flush()
        # A settlement of many items takes seconds; keys pressed meanwhile wait for it.
        self.turning = "taking back…" if undo else "doing it again…"
        self.paint_status()
        try:
            done = await (self.client.undo(self.me) if undo else self.client.redo(self.me))
        except (ChangedSinceError, NotAllowedError) as error:
            self.refuse(str(error))
            return None
        finally:
            self.turning = ""
            self.paint_status()
        if done is None:
            self.refuse("Nothing is left to undo." if undo else "Nothing was undone last.")
        return done

    async def _travel(self, how: str, done: Undone | None) -> None:
        """Show the item that an undo or redo was about, and say what it was."""
        if done is None:
            return
        self.cache.clear()
        if done.anchor_id is not None:
            self.begun.pop((done.anchor_id, self.role), None)
            self.steps.forget(done.anchor_id)
            await self._take_place_of_gone(done.anchor_id)
            await self.show_anchor(done.anchor_id)
        self.announce(f"{how}: {worded(done)}, on disk {self.local_time(done.at)}")
        await self.queue_list.refresh_visible()
        await self.count_left()

    async def _take_place_of_gone(self, anchor_id: int) -> None:
        """What an undo brought back stands in the queue where its replacement stood."""
        if self.ids.find(anchor_id, self.place) is not None:
            return
        for partner in partners(await self.client.history(anchor_id)):
            place = self.ids.find(partner, self.place)
            if place is not None:
                self.ids.replace(place, anchor_id)
                return
