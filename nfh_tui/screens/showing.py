"""Showing an item: what of it is read, what of it is drawn, and where one stands."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.css.scalar import Scalar

from nfh_db.query import Query
from nfh_db.records import HistoryLine, Item, Place, Role, State
from nfh_tui.desk.answering import answer_words
from nfh_tui.desk.history import worded
from nfh_tui.desk.sight import Sight
from nfh_tui.desk.steps import DraftSteps
from nfh_tui.desk.work import start
from nfh_tui.editing import EditState, Pending, begin, blinded, is_models, move_to
from nfh_tui.evidence_precedents import bearing
from nfh_tui.heat import Heat
from nfh_tui.screens.desk import PANES, Desk
from nfh_tui.widgets.status_line import Title, Tone

if TYPE_CHECKING:
    from nfh_db.precedents import Precedent

AHEAD = (1, -1, 2, 3)
"""Items read ahead, by how far they stand from the one shown, the likeliest first."""

STAYS = 0.15
"""Seconds on an item until its history is read."""

LEAST_BELOW = 8
"""Rows for what stands below the passage, its title among them."""

LEAST_LINES = 3
"""Rows for the words of a short passage."""

FRAME = 2
"""Rows of the passage's pane that hold no words: its title, and the answer."""

GONE = "This number is no longer there: somebody replaced or removed it."

STATE_WORDS = {
    State.OPEN: "○ open",
    State.ANSWERED: "◐ answered",
    State.DISAGREE: "≠ disagree",
    State.DECIDED: "✓ decided",
    State.STALE: "↺ stale",
}


class Showing(Desk):
    """The item on the screen.

    query_now: what made the queue. whole: the item as stored, while `item` may be blinded.
    fresh: what the editor holds of the item when nothing is begun. sight: what has been in
    view of each item. steps: those of the drafts begun, for when one comes back to them.
    just_decided: the item accepted right before the one shown.
    """

    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-tall")]  # noqa: RUF012  # Textual's

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the desk takes them
        self.query_now = Query()
        self.whole: Item | None = None
        self.fresh = EditState()
        self.history: tuple[HistoryLine, ...] = ()
        self.precedents: tuple[Precedent, ...] = ()
        self.sight = Sight()
        self.steps = DraftSteps()
        self.just_decided: int | None = None

    # --- the item -----------------------------------------------------------------------

    async def show_anchor(self, anchor_id: int) -> bool:
        """Show an item wherever it stands, in the queue or beside it; False if it is gone."""
        item = await self.cache.get(anchor_id)
        if item is None:
            return False
        self.leave()
        place = self.ids.find(anchor_id, self.place)
        self.beside, self.between = place is None, False
        self.place = min(self.place, max(0, len(self.ids) - 1))
        if place is not None:
            self.place = place
            self.queue_list.current = place
        self.present(item)
        return True

    def present(self, item: Item) -> None:
        """Put an item on the screen, with the answer begun, if there is one."""
        if self.whole is None or self.whole.anchor_id != item.anchor_id:
            self.clock.start(item.anchor_id)
            self.history = ()
            self.precedents = ()
        self.whole, self.just_decided = item, None
        begun = self.is_begun(item)
        self.past, self.future = self.steps.of((item.anchor_id, self.role), begun=begun)
        self.edit = self._editing(item)
        self.paint_item()
        self.keep_place()
        start(
            self,
            self.read_history,
            group="history",
            description="the history of an item",
            exclusive=True,
        )

    def is_begun(self, item: Item) -> bool:
        """True if there is a draft of the item that is not on its way to be saved."""
        key = (item.anchor_id, self.role)
        return key not in self.saving and self.begun.get(key, item.draft) is not None

    def _editing(self, item: Item) -> EditState:
        """The answer to work on: what is begun, else what the item itself brings."""
        key = (item.anchor_id, self.role)
        self.fresh = begin(replace(item, draft=None), self.me.name, self.role)
        if self.reading:
            return EditState(cursor=item.anchor.start, role=self.role)
        # What this session began, saved or threw away is newer than what was read.
        if key in self.begun:
            return self.begun[key] or self.fresh
        return begin(item, self.me.name, self.role)

    async def refresh_item(self) -> None:
        """Read the item shown anew; what is begun stays as it is."""
        before = self.whole
        if before is None:
            return
        self.cache.forget(before.anchor_id)
        item = await self.cache.get(before.anchor_id)
        if self.whole is not before:
            return
        if item is None:
            self.refuse(GONE)
            return
        self.whole = item
        cursor, under = self.edit.cursor, self.fresh.content
        self.edit = replace(self._editing(item), cursor=cursor)
        if self.begun.get((item.anchor_id, self.role)) is None and under != self.fresh.content:
            # What undo would go back to no longer stands on what is stored.
            self.past.clear()
            self.future.clear()
        self.paint_item()

    def clear_item(self) -> None:
        """Show that there is nothing to show."""
        self.whole = None
        self.edit = EditState()
        self.paint_item()

    def read_ahead(self) -> None:
        """Start reading the items that are likely to be wanted next."""
        places = (self.place + step for step in AHEAD)
        self.cache.ahead(self.ids[p] for p in places if 0 <= p < len(self.ids))

    def leave(self) -> None:
        """Start writing what waits: the item is about to leave the screen."""
        self.drafts.start()

    # --- drawing ------------------------------------------------------------------------

    def paint_item(self) -> None:
        """Draw the item, the answer, and all that is said about them."""
        self.item = self.seen_of(self.whole)
        self.set_class(self.item is None, "-nothing")
        if self.item is not None:
            self._show_passage(self.item)
            self._show_evidence()
        self.paint_titles()
        self.paint_status()
        self.paint_keys()

    def _show_passage(self, item: Item) -> None:
        self.passage.show(
            item,
            self.edit,
            heat=self.heat,
            other=self.other_model,
            windowed=self.windowed,
            blind=self.blind,
        )
        self.share_rows()

    def seen_of(self, item: Item | None) -> Item | None:
        """The item as this person may see it now."""
        if item is None:
            return None
        seen = self.may_see(item)
        return blinded(seen) if self.blind else seen

    def may_see(self, item: Item) -> Item:
        """The item without what is kept back from this person: here, nothing is."""
        return item

    def paint_edit(self) -> None:
        """Draw the answer anew; nothing else has changed."""
        if self.item is not None:
            self._show_passage(self.item)
            self._show_evidence()
            self.paint_keys()

    def _show_evidence(self) -> None:
        if self.item is not None:
            self.answer_line.title = Title(*answer_words(self.item, self.edit, self.reading))
            edit = None if self.reading else self.edit
            # What an import brought stands above, as votes and gold; L shows that too.
            people = [line for line in self.history if line.kind != "import"]
            history = () if self.blind else worded(people, self.item.passage)
            self.evidence.show(
                self.item,
                edit,
                blind=self.blind,
                history=history,
                rules=self.rules,
                precedents=self.precedents,
                brief=self.evidence_below,
            )
            self.note_sight()

    def note_sight(self) -> None:
        """Note what of the item is in view now."""
        if self.whole is None:
            return
        three = self.has_class("-three-panes")
        adopted = is_models(self.edit)
        self.sight.note(
            self.whole if adopted else self.may_see(self.whole),
            self.me.name,
            judging=self.role is Role.ADJUDICATOR,
            evidence=not self.guiding
            and (three or self.pane == "evidence" or self.evidence_below),
            scores=adopted
            or (self.passage_in_view and self.heat is not Heat.OFF)
            or (self.edit.pending is Pending.HINT and self.role is Role.ADJUDICATOR),
        )

    @property
    def evidence_below(self) -> bool:
        """True where one pane fits the width, but the right one stands below the passage."""
        one, tall = self.has_class("-one-pane"), self.has_class("-tall")
        return one and tall and self.pane == "passage"

    @property
    def passage_in_view(self) -> bool:
        """True where the words of the item are on the screen."""
        beside = self.has_class("-three-panes")
        above = self.pane == "queue" and self.has_class("-tall")
        return beside or above or self.pane == "passage"

    def bring_into_view(self) -> bool:
        """Show the passage in the place of a queue that covers it; False if nothing does."""
        covered = self.pane == "queue" and not self.passage_in_view
        if covered:
            self.show_pane("passage")
        return covered

    def show_pane(self, pane: str) -> None:
        """Put a pane in use; where only one fits, it is the one shown."""
        self.pane = pane
        for name in PANES:
            self.set_class(name == pane, f"-{name}")
        self.rearrange()

    def share_rows(self) -> None:
        """Give the passage the rows that it needs, and what stands below it the others."""
        below = self.evidence_below
        self.passage.brief = below
        rows: int | None = None
        if below:
            most = self.query_one("#panes").size.height - LEAST_BELOW
            rows = min(max(self.passage.rows_needed, LEAST_LINES) + FRAME, most)
        pane = self.query_one("#passage-pane")
        if pane.styles.inline.height != (None if rows is None else Scalar.from_number(rows)):
            pane.styles.height = rows

    async def read_history(self) -> None:
        """Show the history of the item in the evidence once one stays on it."""
        item = self.whole
        await asyncio.sleep(STAYS)
        if item is not None and self.whole is item:
            history = await self.client.seen_history(item.anchor_id, self.me, self.role)
            if self.whole is item:
                self.history = history
                self._show_evidence()
            await self._read_precedents(item)

    async def _read_precedents(self, item: Item) -> None:
        """Show earlier decisions that bear on the item, to whoever may see decisions."""
        if self.role is Role.ANNOTATOR or self.whole is not item:
            return
        nouns, tag = bearing(item, self.edit)
        found = await self.client.precedents(item.anchor_id, self.me, nouns, tag)
        if found and self.whole is item:
            self.precedents = found
            self._show_evidence()

    def announce(self, sentence: str) -> None:
        """Say that something is done."""
        self.say(sentence, Tone.DONE)

    # --- the place ----------------------------------------------------------------------

    def stand_on(self, token: int) -> None:
        """Put the cursor on a token of the item shown."""
        if self.item is not None:
            self.edit = move_to(self.edit, self.item, token).state
            self.paint_edit()
            self.keep_place()

    def keep_place(self) -> None:
        """Remember soon where this person stands."""
        if self.keeps_own:
            self.places.keep("place", self.save_place)

    async def save_place(self) -> None:
        anchor_id = None if self.whole is None else self.whole.anchor_id
        token = None if self.whole is None else self.edit.cursor
        place = Place(self.query_now.text, anchor_id, token)
        await self.client.save_place(self.me, self.mode.value, place)

    # --- titles -------------------------------------------------------------------------

    def paint_titles(self) -> None:
        """The line over each pane."""
        item = self.item
        document = state = ""
        if item is not None:
            document = item.document + (f" · {item.split}" if item.split else "")
            flags = sorted({mark.name.value for mark in item.flags})
            state = " · ".join([STATE_WORDS[item.state], *flags])
        query = self.query_now.text or "everything"
        self._title("queue", "Queue", query)
        self._title("passage", "Passage", " · ".join(filter(None, [document, state])))
        right = "" if item is None else item.pattern
        self._title("evidence", self.pane_name("evidence").title(), self.right_note(right))

    def pane_name(self, pane: str) -> str:
        """What a pane shows, in a word."""
        return "guidelines" if pane == "evidence" and self.guiding else pane

    def right_note(self, note: str) -> str:
        """What stands over the right pane besides its name."""
        return note

    def on_resize(self) -> None:
        """The titles say how to come to the other panes where only one is shown."""
        self.call_after_refresh(self.rearrange)

    def on_passage_view_laid_out(self) -> None:
        """The passage needs other rows than were known before it had a width."""
        self.share_rows()

    def rearrange(self) -> None:
        """Draw what depends on which panes are in view, and how large."""
        self.share_rows()
        self._show_evidence()
        self.paint_titles()
        self.note_sight()

    def _title(self, pane: str, name: str, note: str) -> None:
        widget = self.titles[pane]
        others = PANES[PANES.index(pane) + 1 :] + PANES[: PANES.index(pane)]
        names = ", ".join(map(self.pane_name, others))
        hint = f"tab: {names}" if self.has_class("-one-pane") else ""
        widget.title = Title(name, note, active=self.pane == pane, hint=hint)
