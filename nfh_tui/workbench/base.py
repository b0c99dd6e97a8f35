"""Base of the workbench: its panes and lines, the command loop, dialogs over it, and showing
an item.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from inspect import isawaitable

from rich.table import Table
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.css.scalar import Scalar
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widgets import Static

from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Annotator,
    QueuePosition,
    QueueRow,
    Role,
)
from nfh_tui.actions import BY_ID, Action, Mode, foot_actions
from nfh_tui.client import StoreClient
from nfh_tui.config import Config
from nfh_tui.editor.commands import begin, is_models, move_to, prompt
from nfh_tui.editor.state import EditState, Pending
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
from nfh_tui.workbench.session import DraftSteps, ExposureLog, ItemCache, ItemClock
from nfh_tui.workbench.state import Position, WorkbenchState

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
    """What every layer of the workbench stands on."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-one-pane"), (100, "-three-panes")]  # noqa: RUF012  # Textual's

    def __init__(
        self, client: StoreClient, me: Annotator, mode: Mode, config: Config | None = None
    ) -> None:
        super().__init__()
        self.config = config or Config()
        self.keymap = self.config.keymap
        self.client = client
        options = self.config.options
        self.state = WorkbenchState(
            me, mode, blind=options.blind, model_shown=not options.hide_model
        )
        self.commands = CommandQueue()
        self.clock = ItemClock(idle=options.idle_seconds)
        self.cache = ItemCache(self._read_item)
        self.draft_writer = DebouncedWriter(
            DRAFT_DELAY, self._draft_failed, self._draft_written
        )
        self.position_writer = DebouncedWriter(PLACE_DELAY, self._place_failed)
        self.queue_list = QueueList(self._fetch_rows, id="queue")
        self.passage = SteadyPassage(id="passage")
        self.evidence = SteadyEvidence(id="evidence")
        self.guide = GuideView(id="guide")
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
    def for_reading(self) -> str:
        """Why nothing is changed while reading, and how to."""
        why = self.client.read_only
        return f"This database can only be read: {why}." if why else SWITCH

    @property
    def right(self) -> ScrollView:
        """What stands in the pane of the evidence."""
        return self.guide if self.state.guide_shown else self.evidence

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
        state = self.state
        why = why_not(
            action,
            ActionContext(
                state.mode,
                state.visible_item,
                state.edit,
                state.position.index,
                len(state.ids),
                state.position.is_detached,
                state.access,
                state.blinding.can_hide_model(state.stored_item),
            ),
        )
        return self.for_reading if why == SWITCH else why

    def paint_status(self) -> None:
        """Mode, place and what is under way, as they are now."""
        self.queue_list.away = self.state.position.is_detached
        total = len(self.state.ids)
        known = f"{total:,}" + ("" if self.state.ids.complete else "…")
        place = f"{self._here_words(total)}/{known}" if total else known
        self.set_status(
            mode=self.state.mode.upper(),
            me=self.state.me.name,
            place=place
            if self.state.todo_left is None
            else f"{place} · {self.state.todo_left:,} left",
            busy=self._under_way(),
        )

    def _here_words(self, total: int) -> str:
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
        if self.draft_writer.lost():
            return "draft not on disk"
        if self.client.read_only:
            return f"read-only: {self.client.read_only}"
        return "nothing can be saved" if self.state.lost_reason else ""

    def paint_keys(self) -> None:
        """The keys at the foot: what the editor waits for, else those most needed here.

        While something else is asked, its own keys stay there.
        """
        if self.state.question_open or self.bar.is_open:
            return
        waits = None if self.state.visible_item is None else prompt(self.state.edit)
        if waits is not None:
            self.key_line.foot = Foot(waits)
            return
        allowed = [act for act in self.keymap.actions if self.state.access >= act.access]
        usual = foot_actions(self.state.mode, allowed)
        self.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in usual))

    def local_time(self, at: str) -> str:
        """The time of day here, HH:MM:SS, of a time of the store."""
        return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")

    async def choose(self, question: str, choices: Sequence[Choice]) -> str | None:
        """Ask for one key at the foot; None when another key is pressed.

        A key that is none of the choices and not escape is done as usual.
        """
        self.key_line.foot = Foot(question, tuple((key, word) for key, word, _ in choices))
        self.state.question_open = True
        try:
            turn = await self.commands.get()
            while isinstance(turn, Callback):
                await turn.run()
                turn = await self.commands.get()
            self.clock.touch()
        finally:
            self.state.question_open = False
            self.paint_keys()
        pressed = turn.key if isinstance(turn, KeyPress) else ""
        character = turn.character if isinstance(turn, KeyPress) else None
        for key_name, _, result in choices:
            if key_name in {pressed, character}:
                return result
        if pressed != "escape":
            self.commands.put_back(turn)
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
        press = self.commands.take_press()
        return None if press is None else events.Key(press.key, press.character)

    # --- store access shared by the layers ----------------------------------------------

    async def _read_item(self, anchor_id: int) -> AnchorItem | None:
        return await self.client.item(anchor_id, self.state.me, self.state.role)

    async def _fetch_rows(self, ids: Sequence[int]) -> tuple[QueueRow, ...]:
        return await self.client.queue_rows(ids, self.state.me, self.state.role)

    def _draft_failed(self, error: Exception) -> None:
        """Say once why drafts are not saved; that they are not stands there until they are."""
        self.paint_status()

        async def tell() -> None:
            # By now the drafts may be on disk, or an answer has failed and said so.
            if self.draft_writer.lost() and not self.state.unsaved_reported:
                self.state.unsaved_reported = True
                await self.show_error(f"The draft is not saved. {error}")
                await self.offer_rescue(error)

        self.in_turn(tell)

    def _draft_written(self) -> None:
        if not self.draft_writer.lost():
            self.state.unsaved_reported = False
        self.paint_status()

    def _place_failed(self, error: Exception) -> None:
        # Nobody's work: no reason to stand in the way of whoever only reads.
        if not self.state.unsaved_reported and not self.client.read_only:
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
        self.commands.put(KeyPress(key, event.character))
        return True

    def action_act(self, action_id: str) -> None:
        """What bindings and the palette call: queue an act by its id."""
        if not self.bar.is_open:
            self.commands.put(RunAction(action_id))

    def in_turn(self, run: Callable[[], Awaitable[None]]) -> None:
        """Have something done between two acts."""
        self.commands.put(Callback(run))

    async def take_turns(self) -> None:
        """Do what is asked for, one thing after another, for as long as the screen stands."""
        while True:
            turn = await self.commands.get()
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
        wrong = "" if action is None else of_person(action, self.state.mode, self.state.access)
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
    """The item on the screen."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-tall")]  # noqa: RUF012  # Textual's

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the desk takes them
        self.sight = ExposureLog()
        self.steps = DraftSteps()

    # --- the item -----------------------------------------------------------------------

    async def show_anchor(self, anchor_id: int) -> bool:
        """Show an item wherever it stands, in the queue or beside it; False if it is gone."""
        item = await self.cache.get(anchor_id)
        if item is None:
            return False
        self.leave()
        index = self.state.position.index
        place = self.state.ids.find(anchor_id, index)
        if place is None:
            index = min(index, max(0, len(self.state.ids) - 1))
            self.state.position = Position(index, is_detached=True)
        else:
            self.state.position = Position(place)
            self.queue_list.current = place
        self.present(item)
        return True

    def present(self, item: AnchorItem) -> None:
        """Put an item on the screen, with the answer begun, if there is one."""
        if self.state.stored_item is None or self.state.stored_item.anchor_id != item.anchor_id:
            self.clock.start(item.anchor_id)
            self.state.history = ()
            self.state.precedents = ()
        self.state.stored_item, self.state.last_accepted = item, None
        begun = self.is_begun(item)
        self.state.past, self.state.future = self.steps.of(
            (item.anchor_id, self.state.role), begun=begun
        )
        self.state.edit = self._editing(item)
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
        key = (item.anchor_id, self.state.role)
        return (
            key not in self.state.saving and self.state.drafts.get(key, item.draft) is not None
        )

    def _editing(self, item: AnchorItem) -> EditState:
        """The answer to work on: what is begun, else what the item itself brings."""
        key = (item.anchor_id, self.state.role)
        self.state.initial = begin(
            replace(item, draft=None), self.state.me.name, self.state.role
        )
        if self.state.is_reading:
            return EditState(cursor=item.anchor.start, role=self.state.role)
        # What this session began, saved or threw away is newer than what was read.
        if key in self.state.drafts:
            return self.state.drafts[key] or self.state.initial
        return begin(item, self.state.me.name, self.state.role)

    async def refresh_item(self) -> None:
        """Read the item shown anew; what is begun stays as it is."""
        before = self.state.stored_item
        if before is None:
            return
        self.cache.forget(before.anchor_id)
        item = await self.cache.get(before.anchor_id)
        if self.state.stored_item is not before:
            return
        if item is None:
            self.refuse(GONE)
            return
        self.state.stored_item = item
        cursor, under = self.state.edit.cursor, self.state.initial.content
        self.state.edit = replace(self._editing(item), cursor=cursor)
        if (
            self.state.drafts.get((item.anchor_id, self.state.role)) is None
            and under != self.state.initial.content
        ):
            # What undo would go back to no longer stands on what is stored.
            self.state.past.clear()
            self.state.future.clear()
        self.paint_item()

    def clear_item(self) -> None:
        """Show that there is nothing to show."""
        self.state.stored_item = None
        self.state.edit = EditState()
        self.paint_item()

    def read_ahead(self) -> None:
        """Start reading the items that are likely to be wanted next."""
        places = (self.state.position.index + step for step in AHEAD)
        self.cache.ahead(self.state.ids[p] for p in places if 0 <= p < len(self.state.ids))

    def leave(self) -> None:
        """Start writing what waits: the item is about to leave the screen."""
        self.draft_writer.start()

    # --- drawing ------------------------------------------------------------------------

    def paint_item(self) -> None:
        """Draw the item, the answer, and all that is said about them."""
        item = self.state.stored_item
        self.state.visible_item = None if item is None else self.state.blinding.visible(item)
        self.set_class(self.state.visible_item is None, "-nothing")
        if self.state.visible_item is not None:
            self._show_passage(self.state.visible_item)
            self._show_evidence()
        self.paint_titles()
        self.paint_status()
        self.paint_keys()

    def _show_passage(self, item: AnchorItem) -> None:
        self.passage.show(
            item,
            self.state.edit,
            heat=self.state.heat,
            other=self.state.other_model,
            windowed=self.state.windowed,
            blind=self.state.blind,
        )
        self.share_rows()

    def paint_edit(self) -> None:
        """Draw the answer anew; nothing else has changed."""
        if self.state.visible_item is not None:
            self._show_passage(self.state.visible_item)
            self._show_evidence()
            self.paint_keys()

    def _show_evidence(self) -> None:
        if self.state.visible_item is not None:
            self.answer_line.title = Title(
                *answer_words(self.state.visible_item, self.state.edit, self.state.is_reading)
            )
            edit = None if self.state.is_reading else self.state.edit
            # What an import brought stands above, as votes and gold; L shows that too.
            people = [line for line in self.state.history if line.kind != "import"]
            history = (
                () if self.state.blind else worded(people, self.state.visible_item.passage)
            )
            self.evidence.show(
                self.state.visible_item,
                edit,
                blind=self.state.blind,
                history=history,
                rules=self.state.guidelines,
                precedents=self.state.precedents,
                brief=self.evidence_below,
            )
            self.note_sight()

    def note_sight(self) -> None:
        """Note what of the item is in view now."""
        item = self.state.stored_item
        if item is None:
            return
        three = self.has_class("-three-panes")
        adopted = is_models(self.state.edit)
        self.sight.note(
            item if adopted else self.state.blinding.without_model(item),
            self.state.me.name,
            judging=self.state.role is Role.ADJUDICATOR,
            evidence=not self.state.guide_shown
            and (three or self.state.pane == "evidence" or self.evidence_below),
            scores=adopted
            or (self.passage_in_view and self.state.heat is not Heat.OFF)
            or (
                self.state.edit.pending is Pending.HINT and self.state.role is Role.ADJUDICATOR
            ),
        )

    @property
    def evidence_below(self) -> bool:
        """True where one pane fits the width, but the right one stands below the passage."""
        one, tall = self.has_class("-one-pane"), self.has_class("-tall")
        return one and tall and self.state.pane == "passage"

    @property
    def passage_in_view(self) -> bool:
        """True where the words of the item are on the screen."""
        beside = self.has_class("-three-panes")
        above = self.state.pane == "queue" and self.has_class("-tall")
        return beside or above or self.state.pane == "passage"

    def bring_into_view(self) -> bool:
        """Show the passage in the place of a queue that covers it; False if nothing does."""
        covered = self.state.pane == "queue" and not self.passage_in_view
        if covered:
            self.show_pane("passage")
        return covered

    def show_pane(self, pane: str) -> None:
        """Put a pane in use; where only one fits, it is the one shown."""
        self.state.pane = pane
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
        item = self.state.stored_item
        await asyncio.sleep(STAYS)
        if item is not None and self.state.stored_item is item:
            history = await self.client.seen_history(
                item.anchor_id, self.state.me, self.state.role
            )
            if self.state.stored_item is item:
                self.state.history = history
                self._show_evidence()
            await self._read_precedents(item)

    async def _read_precedents(self, item: AnchorItem) -> None:
        """Show earlier decisions that bear on the item, to whoever may see decisions."""
        if self.state.role is Role.ANNOTATOR or self.state.stored_item is not item:
            return
        nouns, tag = bearing(item, self.state.edit)
        found = await self.client.precedents(item.anchor_id, self.state.me, nouns, tag)
        if found and self.state.stored_item is item:
            self.state.precedents = found
            self._show_evidence()

    def announce(self, sentence: str) -> None:
        """Say that something is done."""
        self.say(sentence, Tone.DONE)

    # --- the place ----------------------------------------------------------------------

    def stand_on(self, token: int) -> None:
        """Put the cursor on a token of the item shown."""
        if self.state.visible_item is not None:
            self.state.edit = move_to(self.state.edit, self.state.visible_item, token).state
            self.paint_edit()
            self.keep_place()

    def keep_place(self) -> None:
        """Remember soon where this person stands."""
        if self.state.keeps_own:
            self.position_writer.keep("place", self.save_place)

    async def save_place(self) -> None:
        anchor_id = None if self.state.stored_item is None else self.state.stored_item.anchor_id
        token = None if self.state.stored_item is None else self.state.edit.cursor
        place = QueuePosition(self.state.query.text, anchor_id, token)
        await self.client.save_place(self.state.me, self.state.mode.value, place)

    # --- titles -------------------------------------------------------------------------

    def paint_titles(self) -> None:
        """The line over each pane."""
        item = self.state.visible_item
        document = state = ""
        if item is not None:
            document = item.document + (f" · {item.split}" if item.split else "")
            flags = sorted({mark.name.value for mark in item.flags})
            state = " · ".join([STATE_WORDS[item.state], *flags])
        query = self.state.query.text or "everything"
        self._title("queue", "Queue", query)
        self._title("passage", "Passage", " · ".join(filter(None, [document, state])))
        right = "" if item is None else item.pattern
        self._title("evidence", self.pane_name("evidence").title(), self.right_note(right))

    def pane_name(self, pane: str) -> str:
        """What a pane shows, in a word."""
        return "guidelines" if pane == "evidence" and self.state.guide_shown else pane

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
        widget.title = Title(name, note, active=self.state.pane == pane, hint=hint)
