"""The ground of the workbench: its panes, its lines, and its turns.

The workbench is one class in layers, each a file: the desk (this one), showing an item,
walking through the queue, deciding, changing, copying, looking, and the workbench itself.
Acts are done one at a time in the order of their keys, in one task that may wait for the
store while the screen stays awake.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from inspect import isawaitable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.scroll_view import ScrollView
from textual.widgets import Static

from nfh_db.records import Annotator, Item, QueueRow, Role
from nfh_tui.actions import BY_ID, Access, Action, Mode, foot_actions
from nfh_tui.client import StoreClient
from nfh_tui.config import Config
from nfh_tui.desk.cache import ItemCache
from nfh_tui.desk.clock import ItemClock
from nfh_tui.desk.faults import sentence_of
from nfh_tui.desk.ids import IdList
from nfh_tui.desk.keeper import Keeper
from nfh_tui.desk.keys import Act, Call, KeyPress, Turn, Turns
from nfh_tui.desk.reasons import SWITCH, Here, is_function, of_person, unbound, why_not
from nfh_tui.editing import EditState, prompt
from nfh_tui.guidelines.guide import Guide
from nfh_tui.heat import Heat
from nfh_tui.screens.asking import Asking, Choice
from nfh_tui.widgets.enduring import Enduring
from nfh_tui.widgets.guide import GuideView
from nfh_tui.widgets.in_order import Typed
from nfh_tui.widgets.query_bar import InputBar
from nfh_tui.widgets.queue_list import QueueList
from nfh_tui.widgets.status_line import (
    Foot,
    KeyLine,
    PaneTitle,
    StatusLine,
    Tone,
)
from nfh_tui.widgets.steady import SteadyEvidence, SteadyPassage

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
        self.item: Item | None = None
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
        self.turns = Turns()
        self.clock = ItemClock(idle=self.config.options.idle_seconds)
        self.cache = ItemCache(self._read_item)
        self.drafts = Keeper(DRAFT_DELAY, self._draft_failed, self._draft_written)
        self.places = Keeper(PLACE_DELAY, self._place_failed)
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
        why = why_not(action, Here(self.mode, self.item, self.edit, *where, self.access))
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
            while isinstance(turn, Call):
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

    async def _read_item(self, anchor_id: int) -> Item | None:
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
            self.turns.put(Act(action_id))

    def in_turn(self, run: Callable[[], Awaitable[None]]) -> None:
        """Have something done between two acts."""
        self.turns.put(Call(run))

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
        if isinstance(turn, Call):
            await turn.run()
            return
        self.clock.touch()
        if self.status_line.status.tone is not Tone.DONE:
            self.say("")
        if isinstance(turn, Act):
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
