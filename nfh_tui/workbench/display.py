"""Draws the state of the workbench: panes, titles, status line, keys."""

from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from textual.css.scalar import Scalar
from textual.scroll_view import ScrollView
from textual.widget import Widget
from textual.widgets import Static

from nfh_db.records import AnchorItem, Role
from nfh_tui.actions import Access, foot_actions
from nfh_tui.editor.commands import is_models, prompt
from nfh_tui.editor.state import Pending
from nfh_tui.editor.votes import KIND_WORDS, SHORT_KINDS, STATE_SIGNS
from nfh_tui.services.history import lines_in_words
from nfh_tui.textual_support import send_changes
from nfh_tui.widgets.evidence import EvidenceView
from nfh_tui.widgets.evidence_rows import EvidencePart, answer_words, answers_note
from nfh_tui.widgets.passage_render import OFF, ON, VOTERS_SAW, Heat, heat_words, window
from nfh_tui.widgets.status_bar import Foot, KindKey, Level, Title
from nfh_tui.workbench.availability import IN_VIEW, SWITCH
from nfh_tui.workbench.controller import Controller, Handler

T = TypeVar("T")

PANES = ("queue", "passage", "evidence", "details")
LEAST_BELOW = 8
"""Minimum rows for the panes below the passage, titles included; in high terminals a third."""
LEAST_LINES = 3
"""Minimum rows for the words of a passage."""
FRAME = 2
"""Rows of the passage pane without words and keys of kinds: its title, and the answer."""
BOUNDED = "lines frame what annotators saw"
NOT_BOUNDED = "lines frame what annotators saw; here they saw everything, or may have"
"""Shown when the lines are switched on, for items with and without them."""


def local_time(at: str) -> str:
    """Convert a timestamp of the store to the local time, HH:MM:SS."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


class Display(Controller):
    """Draws the panes and their titles, the status line, and the keys."""

    def handlers(self) -> Mapping[str, Handler]:
        """Actions that change only the display."""
        return {
            "heat": self.next_heat,
            "heat.other": self.choose_other_model,
            "window": self.toggle_window,
            "blind": self.toggle_names,
            "sight.model": self.toggle_model,
            "pane.next": partial(self._turn_pane, 1),
            "pane.previous": partial(self._turn_pane, -1),
        }

    # --- the status line and the keys -------------------------------------------------------

    def notify(self, sentence: str, level: Level = Level.PLAIN) -> None:
        """Show a message in the status line."""
        self.set_status(say=sentence, level=level)

    def set_status(self, **changes: object) -> None:
        """Set fields of the status line."""
        self.bench.status_line.status = replace(self.bench.status_line.status, **changes)  # type: ignore[arg-type]  # names and types are Status's own

    @property
    def read_only_reason(self) -> str:
        """Why changes are refused in the reading mode, and how to leave it."""
        why = self.client.read_only
        return f"This database can only be read: {why}." if why else SWITCH

    def refresh_status(self) -> None:
        """Update mode, position and pending work in the status line."""
        state = self.state
        self.bench.queue_list.away = state.position.is_detached
        total = len(state.ids)
        known = f"{total:,}" + ("" if state.ids.complete else "…")
        place = f"{self._position_words(total)}/{known}" if total else known
        self.set_status(
            mode=state.mode.upper(),
            me=state.me.name,
            place=place if state.todo_left is None else f"{place} · {state.todo_left:,} left",
            busy=self._under_way(),
        )

    async def busy_while(self, words: str, work: Awaitable[T]) -> T:
        """Await long work and show `words`; keys wait until it is done, and the screen stays
        responsive.
        """
        self.state.busy = words
        self.refresh_status()
        try:
            return await work
        finally:
            self.state.busy = ""
            self.refresh_status()

    def _position_words(self, total: int) -> str:
        if not self.state.position.is_detached:
            return f"{self.state.position.index + 1:,}"
        if not self.state.position.is_gap:
            return "–"
        return (
            f"before {self.state.position.index + 1:,}"
            if self.state.position.index < total
            else f"after {total:,}"
        )

    def _under_way(self) -> str:
        if self.state.busy:
            return self.state.busy
        if self.state.saving:
            return "saving…"
        if self.bench.answers.draft_writer.lost():
            return "draft not on disk"
        if self.client.read_only:
            return f"read-only: {self.client.read_only}"
        return "nothing can be saved" if self.state.lost_reason else ""

    def refresh_keys(self) -> None:
        """Update the keys in the footer: those of the editor's prompt, else the most important
        ones.

        While another question is open, its keys stay.
        """
        if self.state.question_open or self.bench.bar.is_open:
            return
        waits = None if self.state.visible_item is None else prompt(self.state.edit)
        if waits is not None:
            self.bench.key_line.foot = Foot(waits)
            return
        state = self.state
        usual = foot_actions(
            act
            for act in self.bench.keymap.actions
            if state.access >= act.access and state.mode in act.modes and not act.where
        )
        self.bench.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in usual))

    # --- the item ---------------------------------------------------------------------------

    def refresh_item(self) -> None:
        """Redraw everything that shows the item."""
        item = self.state.stored_item
        self.state.visible_item = None if item is None else self.state.blinding.visible(item)
        nothing = self.state.visible_item is None
        if nothing:
            words = f"The queue is empty. : shows other items{self.bench.queries.way_out()}."
            if not self.state.query.text:
                words = "There are no items yet: nfh-tui import FILE brings some in."
            self.bench.query_one("#nothing", Static).update(words)
        if nothing is not self.bench.has_class("-nothing"):
            self.bench.set_class(nothing, "-nothing", update=False)
            self._restyle("nothing", "passage", "kinds", "answer", "evidence", "details")
        if self.state.visible_item is not None:
            self._refresh_passage(self.state.visible_item)
            self.refresh_evidence()
        self.refresh_titles()
        self.refresh_status()
        self.refresh_keys()
        send_changes(self.bench.query(Widget))

    def refresh_edit(self) -> None:
        """Redraw the answer; nothing else has changed."""
        if self.state.visible_item is not None:
            self._refresh_passage(self.state.visible_item)
            self.refresh_evidence()
            self.refresh_keys()
            send_changes(self.bench.query(Widget))

    def _refresh_passage(self, item: AnchorItem) -> None:
        self.bench.passage.show(
            item,
            self.state.edit,
            heat=self.state.heat,
            other=self.state.other_model,
            windowed=self.state.windowed,
        )
        self._refresh_kinds()
        self.share_rows()

    def refresh_evidence(self) -> None:
        """Redraw the evidence pane."""
        state = self.state
        if state.visible_item is not None:
            self.bench.answer_line.title = Title(
                *answer_words(state.visible_item, state.edit, state.is_reading)
            )
            edit = None if state.is_reading else state.edit
            # Imported votes and gold are shown above; the key L lists the imports as well.
            people = [line for line in state.history if line.kind != "import"]
            history = () if state.blind else lines_in_words(people, state.visible_item.passage)
            stored = state.stored_item
            hidden = stored is not None and state.blinding.hides_precedents(stored)
            precedents = () if hidden else state.precedents
            for view, part in self._evidence_parts():
                view.show(
                    state.visible_item,
                    edit,
                    part=part,
                    tight=not self.wide,
                    blind=state.blind,
                    history=history,
                    rules=state.guidelines,
                    precedents=precedents,
                )
            self.note_exposure()

    def _evidence_parts(self) -> Iterator[tuple[EvidenceView, EvidencePart]]:
        """The views of the evidence that have room, each with its part."""
        bench = self.bench
        if self.third_column:
            yield bench.evidence, EvidencePart.MAIN
            yield bench.details, EvidencePart.DETAILS
        else:
            below = self.evidence_below
            yield bench.evidence, EvidencePart.BELOW if below else EvidencePart.ALL

    def _refresh_kinds(self) -> None:
        """Show the keys of the kinds; none while reading."""
        kind = self.state.edit.kind
        keys = {act.id: act.shown.split()[0] for act in self.bench.keymap.actions if act.keys}
        self.bench.kind_strip.kinds = tuple(
            KindKey(key, words, SHORT_KINDS[one], lit=one is kind)
            for one, words in KIND_WORDS.items()
            if not self.state.is_reading and (key := keys.get(f"kind.{one.lower()}"))
        )

    def note_exposure(self) -> None:
        """Record what is in view of the item."""
        state = self.state
        if (item := state.stored_item) is None:
            return
        adopted = is_models(state.edit)
        self.bench.item.exposure.note(
            item if adopted else state.blinding.without_model(item),
            state.me.name,
            judging=state.role is Role.ADJUDICATOR,
            evidence=self.third_column
            or (not state.guide_shown and (state.pane == "evidence" or self.evidence_below)),
            scores=adopted
            or (self.passage_in_view and state.heat is not Heat.OFF)
            or (state.edit.pending is Pending.HINT and state.role is Role.ADJUDICATOR),
        )

    # --- the panes --------------------------------------------------------------------------

    @property
    def right_pane(self) -> ScrollView:
        """The widget that shows what is known, or the rules: the one in use."""
        if self.state.pane == "details":
            return self.bench.details
        return self.bench.guide if self.state.guide_shown else self.bench.evidence

    @property
    def evidence_below(self) -> bool:
        """True if the evidence is below the passage."""
        tall = self.bench.has_class("-tall")
        return self.wide or (tall and self.state.pane == "passage")

    @property
    def wide(self) -> bool:
        """True if the queue is beside the passage."""
        return not self.bench.has_class("-one-pane")

    @property
    def third_column(self) -> bool:
        """True if the details are beside the passage."""
        return self.bench.has_class("-three-columns")

    @property
    def panes(self) -> tuple[str, ...]:
        """The panes in the order of the keys that change them."""
        return PANES if self.third_column else PANES[:-1]

    @property
    def passage_in_view(self) -> bool:
        """True if the words of the item are visible."""
        above = self.state.pane == "queue" and self.bench.has_class("-tall")
        return self.wide or above or self.state.pane == "passage"

    def bring_into_view(self) -> bool:
        """Show the passage if the queue covers it; returns False if it was visible."""
        covered = self.state.pane == "queue" and not self.passage_in_view
        if covered:
            self.show_pane("passage")
        return covered

    def show_pane(self, pane: str) -> None:
        """Focus a pane. If only one fits, it is the one shown."""
        self.state.pane = pane
        self.bench.update_classes({f"-{name}": name == pane for name in PANES}, update=False)
        self._restyle("panes", *(f"{name}-pane" for name in PANES))
        self.rearrange()

    def _restyle(self, *ids: str) -> None:
        """Restyle these widgets without their children.

        Setting a class of the screen with `update` restyles every widget with all its component
        classes, which takes longer than drawing.
        """
        self.bench.app.stylesheet.update_nodes([self.bench.query_one(f"#{i}") for i in ids])

    def share_rows(self) -> None:
        """Divide the rows between the passage, which gets what it needs, and the panes
        below.
        """
        below, passage = self.evidence_below, self.bench.passage
        passage.brief = below and not self.wide
        rows: int | None = None
        whole = False
        if below:
            high = self.bench.query_one("#panes").size.height
            most = high - max(LEAST_BELOW, high // 3)
            strip = self.bench.kind_strip
            frame = FRAME + len(strip.rows(self.bench.query_one("#work").size.width))
            needed = max(passage.rows_needed, LEAST_LINES) + frame
            rows, whole = min(needed, most), needed <= most
        passage.whole = whole
        pane = self.bench.query_one("#passage-pane")
        if pane.styles.inline.height != (None if rows is None else Scalar.from_number(rows)):
            pane.styles.height = rows

    def rearrange(self) -> None:
        """Redraw what depends on the visibility and size of panes."""
        if self.state.pane not in self.panes:
            self.show_pane("evidence")
            return
        self.share_rows()
        self.refresh_evidence()
        self.refresh_titles()
        self.note_exposure()

    def refresh_titles(self) -> None:
        """Update the pane titles."""
        item = self.state.visible_item
        document = state = ""
        if item is not None:
            document = item.document + (f" · {item.split}" if item.split else "")
            flags = sorted({mark.name.value for mark in item.flags})
            state = " · ".join([f"{STATE_SIGNS[item.state]} {item.state}", *flags])
        query = self.state.query.text or "everything"
        self._title("queue", "Queue", query)
        self._title("passage", "Passage", " · ".join(filter(None, [document, state])))
        right = "" if item is None else item.pattern
        if item is not None and self.evidence_below and self.state.role is Role.ADJUDICATOR:
            right = answers_note(item)
        note = self.bench.guidelines.note if self.state.guide_shown else right
        self._title("evidence", self._pane_name("evidence").title(), note)
        self._title("details", "Details", "")

    def _pane_name(self, pane: str) -> str:
        """Return the title of a pane."""
        return "guidelines" if pane == "evidence" and self.state.guide_shown else pane

    def _title(self, pane: str, name: str, note: str) -> None:
        widget = self.bench.titles[pane]
        at = PANES.index(pane)
        others = self.panes[at + 1 :] + self.panes[:at]
        names = ", ".join(map(self._pane_name, others))
        hint = "" if self.wide else f"tab: {names}"
        widget.title = Title(name, note, active=self.state.pane == pane, hint=hint)

    # --- actions ----------------------------------------------------------------------------

    def next_heat(self) -> None:
        """Cycle the heat map: model scores, difference of two models, off."""
        self._set_heat(self.state.heat.after)

    def _set_heat(self, heat: Heat) -> None:
        self.state.heat = heat
        self.refresh_item()
        self.notify(heat_words(self.state.visible_item, heat, self.state.other_model))

    async def choose_other_model(self) -> None:
        """Ask for the model that the heat map compares with the active one."""
        state = self.state
        names = (
            [said.model for said in state.visible_item.others]
            if state.visible_item is not None
            else []
        )
        if not names or state.visible_item is None or state.visible_item.prediction is None:
            self.notify(heat_words(state.visible_item, Heat.DIFFERENCE, None), Level.REFUSED)
            return
        options = tuple((name, "", name) for name in names)
        chosen = await self.bench.prompts.choose_from(
            "Compare with", options, start=state.other_model
        )
        if chosen is not None:
            state.other_model = chosen
            self._set_heat(Heat.DIFFERENCE)

    async def toggle_window(self) -> None:
        """Show or hide the bounds of the turns that voters saw.

        This is a property of the corpus, so the database keeps it if you may change settings.
        """
        state = self.state
        state.windowed = not state.windowed
        self.refresh_item()
        drawn = state.visible_item is not None and window(state.visible_item) is not None
        words = BOUNDED if drawn else NOT_BOUNDED
        self.notify(words if state.windowed else "frame of annotators hidden")
        if state.access >= Access.ADMIN:
            await self.client.write(
                self.store.settings.write, VOTERS_SAW, ON if state.windowed else OFF
            )

    def toggle_names(self) -> None:
        """Show or hide names of annotators."""
        self.state.blind = not self.state.blind
        self.refresh_item()
        self.notify("names hidden, answers shuffled" if self.state.blind else "names shown")

    def toggle_model(self) -> None:
        """Show or hide predictions of items that you have not answered yet."""
        if not self.state.blinding.can_hide_model(self.state.stored_item):
            self.notify(IN_VIEW, Level.REFUSED)
            return
        self.state.model_shown = not self.state.model_shown
        self.refresh_item()
        where = " I shows it in place of the guidelines." if self.state.guide_shown else ""
        self.notify(
            f"The model is shown, and your answers record that.{where}"
            if self.state.model_shown
            else "The model is hidden until you have answered."
        )

    def _turn_pane(self, by: int) -> None:
        """Focus the next pane, or the previous one."""
        panes = self.panes
        self.show_pane(panes[(panes.index(self.state.pane) + by) % len(panes)])
