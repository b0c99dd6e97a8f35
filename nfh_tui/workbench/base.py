"""Base of the workbench: its panes and lines, the command loop, dialogs over it, and showing
an item.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from inspect import isawaitable
from typing import TYPE_CHECKING

from rich.table import Table
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.css.scalar import Scalar
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widgets import Static

from nfh_db.query import Query
from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Annotator,
    HistoryLine,
    QueuePosition,
    QueueRow,
    Role,
)
from nfh_tui.actions import BY_ID, Access, Action, Mode, foot_actions
from nfh_tui.client import StoreClient
from nfh_tui.config import Config
from nfh_tui.editor.commands import begin, is_models, move_to, prompt
from nfh_tui.editor.state import EditState, Pending, blinded
from nfh_tui.services.guidelines import Guide
from nfh_tui.services.history import worded
from nfh_tui.textual_support import Enduring, Typed, sentence_of, start
from nfh_tui.widgets.evidence import SteadyEvidence, SteadyPassage
from nfh_tui.widgets.evidence_rows import answer_words, bearing
from nfh_tui.widgets.guidelines import GuideView
from nfh_tui.widgets.input_bar import InputBar
from nfh_tui.widgets.passage_render import Heat
from nfh_tui.widgets.queue_list import QueueList
from nfh_tui.widgets.status_bar import Foot, KeyLine, PaneTitle, StatusLine, Title, Tone
from nfh_tui.workbench.availability import (
    SWITCH,
    ActionContext,
    is_function,
    of_person,
    unbound,
    why_not,
)
from nfh_tui.workbench.command_queue import (
    Callback,
    CommandQueue,
    DebouncedWriter,
    KeyPress,
    RunAction,
    Turn,
)
from nfh_tui.workbench.session import DraftSteps, ExposureLog, IdList, ItemCache, ItemClock

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent


Choice = tuple[str, str, str]
"""A key, what it is for, and what it gives."""

NOT_DONE = "That did not work"
"""Over what went wrong, where nothing says it better."""


class Asking(Screen[None]):
    """What is asked and shown in dialogs; each waits until its dialog is closed."""

    async def choose_from(
        self,
        title: str,
        options: Sequence[Choice],
        *,
        start: str | None = None,
        moved: Callable[[str], None] | None = None,
    ) -> str | None:
        """Ask for one of a list; None on escape. options: words, fainter words, result."""
        from nfh_tui.screens.dialogs import ChooseDialog

        dialog = ChooseDialog(title, options, start=start, moved=moved)
        return await self.app.push_screen_wait(dialog)

    async def show_text(self, title: str, body: str | Table) -> None:
        """Show a text until it is closed."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.app.push_screen_wait(TextDialog(title, body))

    async def show_error(self, sentence: str, title: str = NOT_DONE) -> None:
        """Show what went wrong until it is read."""
        from nfh_tui.screens.dialogs import TextDialog

        await self.app.push_screen_wait(TextDialog(title, sentence, trouble=True))


# The ground of the workbench: its panes, its lines, and its turns.
#
# The workbench is one class in layers, each a file: the desk (this one), showing an item,
# walking through the queue, deciding, changing, copying, looking, and the workbench itself.
# Acts are done one at a time in the order of their keys, in one task that may wait for the
# store while the screen stays awake.

PANES = ("queue", "passage", "evidence")
DRAFT_DELAY = 0.1
"""Seconds after a change until the draft is written."""

PLACE_DELAY = 0.15
"""Seconds after a move until the place is written."""

NOTHING_HERE = "Nothing in the queue. : asks for something else, esc goes back."


class Desk(Enduring, Asking):
    """What every layer of the workbench stands on.

    item: the anchor in work as it is shown, None where the queue is empty. edit: the answer
    in the editor. place: where one stands in the queue; beside: the item shown is another
    one, e.g. after an undo elsewhere; between: that one left the queue, and would stand right
    before `place` (which is the length of the queue for its end). past and future: states of
    `edit` that undo and redo go through before they touch what is saved. choosing: a
    question stands at the foot. told_unsaved: that something cannot be saved has been said.
    guiding: the guidelines stand in the place of the evidence. rules: the guidelines that hold.
    left: how many of the items that this person was given are open, None where the queue is
    not one of those. turning: what is said while an act is taken back or done again, else "".
    warned_of: the settlement that an undo was just said to take back whole, else 0. lost: why
    what is written would not be found again, once that was noticed, else "". access: what this
    person may change; on a terminal, everything.
    """

    access = Access.ADMIN
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-one-pane"), (100, "-three-panes")]  # noqa: RUF012  # Textual's

    def __init__(
        self, client: StoreClient, me: Annotator, mode: Mode, config: Config | None = None
    ) -> None:
        super().__init__()
        self.config = config or Config()
        self.keymap = self.config.keymap
        self.client = client
        self.me = me
        self.mode = mode
        self.ids = IdList()
        self.place = 0
        self.beside = False
        self.between = False
        self.item: AnchorItem | None = None
        self.edit = EditState()
        self.past: list[EditState] = []
        self.future: list[EditState] = []
        self.begun: dict[tuple[int, Role], EditState | None] = {}
        self.saving: dict[tuple[int, Role], EditState] = {}
        self.heat = Heat.OFF
        self.other_model: str | None = None
        self.windowed = True
        self.blind = self.config.options.blind
        self.choosing = False
        self.pane = "passage"
        self.turns = CommandQueue()
        self.clock = ItemClock(idle=self.config.options.idle_seconds)
        self.cache = ItemCache(self._read_item)
        self.drafts = DebouncedWriter(DRAFT_DELAY, self._draft_failed, self._draft_written)
        self.places = DebouncedWriter(PLACE_DELAY, self._place_failed)
        self.told_unsaved = False
        self.left: int | None = None
        self.turning = ""
        self.warned_of = 0
        self.lost = ""
        self.queue_list = QueueList(self._fetch_rows, id="queue")
        self.passage = SteadyPassage(id="passage")
        self.evidence = SteadyEvidence(id="evidence")
        self.guide = GuideView(id="guide")
        self.guiding = False
        self.rules = Guide()
        self.titles = {pane: PaneTitle(id=f"{pane}-title") for pane in PANES}
        self.bar = InputBar(id="bar")
        self.answer_line = PaneTitle(id="answer")
        self.status_line = StatusLine()
        self.key_line = KeyLine()

    def compose(self) -> ComposeResult:
        """Three panes, each under its title; the bar, the line of state, the keys."""
        views = {"queue": self.queue_list, "passage": self.passage, "evidence": self.evidence}
        with Horizontal(id="panes"):
            for pane, view in views.items():
                with Vertical(id=f"{pane}-pane", classes="pane"):
                    yield self.titles[pane]
                    yield view
                    if pane == "evidence":
                        yield self.guide
                    if pane == "passage":
                        yield self.answer_line
                        yield Static(NOTHING_HERE, id="nothing", markup=False)
        yield self.bar
        yield self.status_line
        yield self.key_line

    # --- what every layer uses ----------------------------------------------------------

    @property
    def role(self) -> Role:
        """In which role answers are read and given; browsing reads as an adjudicator."""
        return Role.ANNOTATOR if self.mode is Mode.ANNOTATE else Role.ADJUDICATOR

    @property
    def reading(self) -> bool:
        """True while nothing may be changed."""
        return self.mode is Mode.BROWSE

    @property
    def for_reading(self) -> str:
        """Why nothing is changed while reading, and how to."""
        why = self.client.read_only
        return f"This database can only be read: {why}." if why else SWITCH

    @property
    def keeps_own(self) -> bool:
        """True where the database keeps this person's place, views and colours."""
        return self.access >= Access.ANNOTATOR

    @property
    def right(self) -> ScrollView:
        """What stands in the pane of the evidence."""
        return self.guide if self.guiding else self.evidence

    def say(self, sentence: str, tone: Tone = Tone.PLAIN) -> None:
        """Put a sentence on the line of state."""
        self.set_status(say=sentence, tone=tone)

    def refuse(self, sentence: str) -> None:
        """Say why something was not done."""
        self.say(sentence, Tone.REFUSED)

    def set_status(self, **changes: object) -> None:
        """Change parts of the line of state."""
        self.status_line.status = replace(self.status_line.status, **changes)  # type: ignore[arg-type]  # names and types are Status's own

    def why_not(self, action: Action) -> str:
        """Why an act cannot be done now; "" where nothing is known to be in its way."""
        where = (self.place, len(self.ids), self.beside)
        why = why_not(
            action, ActionContext(self.mode, self.item, self.edit, *where, self.access)
        )
        return self.for_reading if why == SWITCH else why

    def paint_status(self) -> None:
        """Mode, place and what is under way, as they are now."""
        self.queue_list.away = self.beside
        total = len(self.ids)
        known = f"{total:,}" + ("" if self.ids.complete else "…")
        place = f"{self._here_words(total)}/{known}" if total else known
        self.set_status(
            mode=self.mode.upper(),
            me=self.me.name,
            place=place if self.left is None else f"{place} · {self.left:,} left",
            busy=self._under_way(),
        )

    def _here_words(self, total: int) -> str:
        if not self.beside:
            return f"{self.place + 1:,}"
        if not self.between:
            return "–"
        return f"before {self.place + 1:,}" if self.place < total else f"after {total:,}"

    def _under_way(self) -> str:
        if self.turning:
            return self.turning
        if self.saving:
            return "saving…"
        if self.drafts.lost():
            return "draft not on disk"
        if self.client.read_only:
            return f"read-only: {self.client.read_only}"
        return "nothing can be saved" if self.lost else ""

    def paint_keys(self) -> None:
        """The keys at the foot: what the editor waits for, else those most needed here.

        While something else is asked, its own keys stay there.
        """
        if self.choosing or self.bar.is_open:
            return
        waits = None if self.item is None else prompt(self.edit)
        if waits is not None:
            self.key_line.foot = Foot(waits)
            return
        allowed = [act for act in self.keymap.actions if self.access >= act.access]
        usual = foot_actions(self.mode, allowed)
        self.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in usual))

    def local_time(self, at: str) -> str:
        """The time of day here, HH:MM:SS, of a time of the store."""
        return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")

    async def choose(self, question: str, choices: Sequence[Choice]) -> str | None:
        """Ask for one key at the foot; None when another key is pressed.

        A key that is none of the choices and not escape is done as usual.
        """
        self.key_line.foot = Foot(question, tuple((key, word) for key, word, _ in choices))
        self.choosing = True
        try:
            turn = await self.turns.get()
            while isinstance(turn, Callback):
                await turn.run()
                turn = await self.turns.get()
            self.clock.touch()
        finally:
            self.choosing = False
            self.paint_keys()
        pressed = turn.key if isinstance(turn, KeyPress) else ""
        character = turn.character if isinstance(turn, KeyPress) else None
        for key_name, _, result in choices:
            if key_name in {pressed, character}:
                return result
        if pressed != "escape":
            self.turns.put_back(turn)
        return None

    async def ask(
        self,
        prompt: str,
        text: str = "",
        *,
        changed: Callable[[str], None] | None = None,
        complete: Callable[[str, int], tuple[str, int] | None] | None = None,
        selected: bool = False,
    ) -> str | None:
        """Ask for a text in the bar; None on escape. selected: typing replaces `text`."""

        def touched(typed: str) -> None:
            self.clock.touch()
            if changed is not None:
                changed(typed)

        answer = self.bar.ask(
            prompt, text, changed=touched, complete=complete, selected=selected,
            early=self._early_key,
        )  # fmt: skip
        tab = (("tab", "complete"),) if complete is not None else ()
        self.key_line.foot = Foot("", (("enter", "done"), *tab, ("esc", "as it was")))
        try:
            return await answer
        finally:
            self.paint_keys()

    def _early_key(self) -> events.Key | None:
        press = self.turns.take_press()
        return None if press is None else events.Key(press.key, press.character)

    # --- store access shared by the layers ----------------------------------------------

    async def _read_item(self, anchor_id: int) -> AnchorItem | None:
        return await self.client.item(anchor_id, self.me, self.role)

    async def _fetch_rows(self, ids: Sequence[int]) -> tuple[QueueRow, ...]:
        return await self.client.queue_rows(ids, self.me, self.role)

    def _draft_failed(self, error: Exception) -> None:
        """Say once why drafts are not saved; that they are not stands there until they are."""
        self.paint_status()

        async def tell() -> None:
            # By now the drafts may be on disk, or an answer has failed and said so.
            if self.drafts.lost() and not self.told_unsaved:
                self.told_unsaved = True
                await self.show_error(f"The draft is not saved. {error}")
                await self.offer_rescue(error)

        self.in_turn(tell)

    def _draft_written(self) -> None:
        if not self.drafts.lost():
            self.told_unsaved = False
        self.paint_status()

    def _place_failed(self, error: Exception) -> None:
        # Nobody's work: no reason to stand in the way of whoever only reads.
        if not self.told_unsaved and not self.client.read_only:
            self.refuse(f"Where you stand is not saved. {error}")

    def action_of(self, key_name: str) -> str | None:
        """The act that a key stands for, the person's own keys considered."""
        return self.keymap.action_of(key_name)

    # --- turns --------------------------------------------------------------------------

    async def take(self, event: Typed) -> bool:
        """Type a key into the bar, or queue it; False for Textual's own (ctrl+c)."""
        key = event.key if isinstance(event, events.Key) else ""
        ours = self.action_of(key) is not None
        if self.bar.is_open:
            return await self.bar.take(event) or ours
        if not isinstance(event, events.Key):
            return False
        # An act that waits before it may open the bar: keys that edit are kept for that.
        if not (ours or event.is_printable or self.bar.edits(key) or is_function(key)):
            return False
        self.turns.put(KeyPress(key, event.character))
        return True

    def action_act(self, action_id: str) -> None:
        """What bindings and the palette call: queue an act by its id."""
        if not self.bar.is_open:
            self.turns.put(RunAction(action_id))

    def in_turn(self, run: Callable[[], Awaitable[None]]) -> None:
        """Have something done between two acts."""
        self.turns.put(Callback(run))

    async def take_turns(self) -> None:
        """Do what is asked for, one thing after another, for as long as the screen stands."""
        while True:
            turn = await self.turns.get()
            try:
                await self._take(turn)
            except Exception as error:  # noqa: BLE001  # a fault of ours must not lose work
                await self.show_error(sentence_of(error))
                await self.offer_rescue(error)

    async def offer_rescue(self, error: Exception) -> None:
        """A layer above asks whether to write all to another file, where one is lost."""

    async def _take(self, turn: Turn) -> None:
        if isinstance(turn, Callback):
            await turn.run()
            return
        self.clock.touch()
        if self.status_line.status.tone is not Tone.DONE:
            self.say("")
        if isinstance(turn, RunAction):
            await self._do(turn.id)
        elif not self.wants(turn):
            action_id = self.action_of(turn.key)
            if action_id is not None:
                await self._do(action_id)
            else:
                self.refuse(unbound(turn.key, turn.character, self.keymap))

    def wants(self, press: KeyPress) -> bool:
        """Take a key before it is looked up, if a layer waits for one: this one never does."""
        del press
        return False

    async def do_edit(self, action_id: str) -> None:
        """An act that has no method of its own: a layer above hands it to the editor."""
        self.refuse(f"{action_id} is not to be done here.")

    async def _do(self, action_id: str) -> None:
        action = BY_ID.get(action_id)
        wrong = "" if action is None else of_person(action, self.mode, self.access)
        if wrong:
            self.refuse(self.for_reading if wrong == SWITCH else wrong)
            return
        done = getattr(self, "do_" + action_id.replace(".", "_"), None)
        result = done() if done is not None else self.do_edit(action_id)
        if isawaitable(result):
            await result


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
    AnchorState.OPEN: "○ open",
    AnchorState.ANSWERED: "◐ answered",
    AnchorState.DISAGREE: "≠ disagree",
    AnchorState.DECIDED: "✓ decided",
    AnchorState.STALE: "↺ stale",
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
        self.whole: AnchorItem | None = None
        self.fresh = EditState()
        self.history: tuple[HistoryLine, ...] = ()
        self.precedents: tuple[Precedent, ...] = ()
        self.sight = ExposureLog()
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

    def present(self, item: AnchorItem) -> None:
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

    def is_begun(self, item: AnchorItem) -> bool:
        """True if there is a draft of the item that is not on its way to be saved."""
        key = (item.anchor_id, self.role)
        return key not in self.saving and self.begun.get(key, item.draft) is not None

    def _editing(self, item: AnchorItem) -> EditState:
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

    def _show_passage(self, item: AnchorItem) -> None:
        self.passage.show(
            item,
            self.edit,
            heat=self.heat,
            other=self.other_model,
            windowed=self.windowed,
            blind=self.blind,
        )
        self.share_rows()

    def seen_of(self, item: AnchorItem | None) -> AnchorItem | None:
        """The item as this person may see it now."""
        if item is None:
            return None
        seen = self.may_see(item)
        return blinded(seen) if self.blind else seen

    def may_see(self, item: AnchorItem) -> AnchorItem:
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

    async def _read_precedents(self, item: AnchorItem) -> None:
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
        place = QueuePosition(self.query_now.text, anchor_id, token)
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
