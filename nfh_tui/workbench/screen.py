"""The workbench screen."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from math import inf
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from nfh_db.errors import QueryError, StoreError
from nfh_db.messages import counted
from nfh_db.query import parse
from nfh_db.records import AnchorItem, Annotator, Role
from nfh_db.system import now
from nfh_tui.actions import APP_KEYS, BY_ID, Action, Mode, has_name
from nfh_tui.client import StoreClient
from nfh_tui.config import Config
from nfh_tui.textual_support import (
    ErrorRaised,
    PredictionReady,
    PredictorChanged,
    Tolerant,
    Typed,
    WorkbenchReady,
    WorkProgress,
    action_provider,
    bindings,
    sentence_of,
    start,
)
from nfh_tui.theme import SETTING
from nfh_tui.widgets.evidence import EvidenceView
from nfh_tui.widgets.guidelines import GuideView
from nfh_tui.widgets.input_bar import InputBar
from nfh_tui.widgets.passage import PassageView
from nfh_tui.widgets.passage_render import OFF, VOTERS_SAW
from nfh_tui.widgets.queue_list import QueueList
from nfh_tui.widgets.status_bar import KeyLine, KindStrip, Level, PaneTitle, StatusLine
from nfh_tui.workbench.answer import AnswerController
from nfh_tui.workbench.availability import (
    SWITCH,
    no_access,
    no_action,
    of_person,
    why_not,
)
from nfh_tui.workbench.background import (
    BackgroundController,
    PredictionController,
    TourController,
)
from nfh_tui.workbench.bulk import BulkController
from nfh_tui.workbench.changes import RescueController, SpanController, UndoController
from nfh_tui.workbench.command_queue import Callback, Command, CommandQueue, KeyPress, RunAction
from nfh_tui.workbench.controller import (
    NOT_DONE,
    Handler,
    Prompts,
    RefusedError,
)
from nfh_tui.workbench.display import PANES, Display
from nfh_tui.workbench.host import Host
from nfh_tui.workbench.item import ItemController
from nfh_tui.workbench.navigation import ALL_DONE, QueueController
from nfh_tui.workbench.queries import QueryController
from nfh_tui.workbench.session import ItemClock, load, name_of
from nfh_tui.workbench.side_panels import (
    ClipboardController,
    GuidelinesController,
    ScreenController,
)
from nfh_tui.workbench.state import WorkbenchState

PATIENCE = 3.0
"""Seconds to wait for pending writes at exit before asking."""
COUNTING = 1.0
"""Most seconds at exit to count what is left."""
MINUTES_FROM = 90
"""Least seconds of work that are given in minutes."""
POLL = 1.0
"""Seconds between checks for commits of other processes."""


class Workbench(Tolerant, Screen[None]):
    """Queue, passage and evidence. Controllers draw and change them; they share one state."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  # Textual's
        (0, "-one-pane"),
        (100, "-two-columns"),
        (150, "-three-columns"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-tall")]  # noqa: RUF012  # Textual's
    BINDINGS: ClassVar[list[BindingType]] = bindings("act")
    COMMANDS: ClassVar = {action_provider}

    def __init__(
        self,
        client: StoreClient,
        me: Annotator,
        mode: Mode,
        query: str | None = None,
        config: Config | None = None,
        *,
        tour: bool = False,
        host: Host | None = None,
    ) -> None:
        super().__init__()
        self.client = client
        self.store = client.store
        self.config = config or Config()
        self.keymap = self.config.keymap
        self.host = host or Host()
        options = self.config.options
        self.state = WorkbenchState(
            me,
            mode,
            blind=options.blind,
            model_shown=not options.hide_model,
            access=self.host.access,
        )
        self.commands = CommandQueue()
        self.clock = ItemClock(idle=options.idle_seconds)
        self._asked_for = query
        self._opened_at = now()
        self._troubles: set[str] = set()
        self.handlers: dict[str, Handler] = {
            "help": self.show_help,
            "palette": self.show_palette,
            "theme": self.choose_theme,
            "mode.next": self.next_mode,
            "mode.browse": partial(self.set_mode, Mode.BROWSE),
            "mode.annotate": partial(self.set_mode, Mode.ANNOTATE),
            "mode.adjudicate": partial(self.set_mode, Mode.ADJUDICATE),
            "quit": self.quit,
        }
        self._make_controllers(tour=tour)
        self.queue_list = QueueList(self.queue.fetch_rows, id="queue")
        self.passage = PassageView(id="passage")
        self.evidence = EvidenceView(id="evidence")
        self.details = EvidenceView(id="details")
        self.guide = GuideView(id="guide")
        self.titles = {pane: PaneTitle(id=f"{pane}-title") for pane in PANES}
        self.bar = InputBar(id="bar")
        self.answer_line = PaneTitle(id="answer")
        self.kind_strip = KindStrip(id="kinds")
        self.status_line = StatusLine()
        self.key_line = KeyLine()

    def _make_controllers(self, *, tour: bool) -> None:
        self.ui = Display(self)
        self.prompts = Prompts(self)
        self.item = ItemController(self)
        self.queue = QueueController(self)
        self.queries = QueryController(self)
        self.answers = AnswerController(self)
        self.spans = SpanController(self)
        self.undo = UndoController(self)
        self.rescue = RescueController(self)
        self.bulk = BulkController(self)
        self.clipboard = ClipboardController(self)
        self.guidelines = GuidelinesController(self)
        self.screens = ScreenController(self)
        self.tour = TourController(self, wanted=tour)
        self.background = BackgroundController(self)
        self.predictions = PredictionController(self)
        # These see keys before the keymap does. Questions of the editor precede the tour, so
        # that the editor gets its keys.
        first = (self.background.intercept, self.answers.intercept, self.tour.intercept)
        self.interceptors: tuple[Callable[[KeyPress], bool], ...] = first

    def compose(self) -> ComposeResult:
        nothing = Static(id="nothing", markup=False)
        with Horizontal(id="panes"):
            yield self._pane("queue", self.queue_list)
            with Vertical(id="work"):
                yield self._pane(
                    "passage", self.passage, self.kind_strip, self.answer_line, nothing
                )
                yield self._pane("evidence", self.evidence, self.guide)
            yield self._pane("details", self.details)
        yield self.bar
        yield self.status_line
        yield self.key_line

    def _pane(self, name: str, *views: Widget) -> Vertical:
        return Vertical(self.titles[name], *views, id=f"{name}-pane", classes="pane")

    # --- opening ----------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Start the command loop; its first command opens the queue."""
        self.ui.show_pane("passage")
        self.queue_list.hide_answers = self.state.mode is Mode.ANNOTATE
        self.ui.refresh_status()
        self.ui.refresh_keys()
        self.enqueue(self._open)
        self.watch(self.passage, "scroll_y", self.answers.follow_letters, init=False)
        start(self, self.run_command_loop, group="commands", description="the command loop")
        self.guidelines.show_as_usual()
        self.app.app_resume_signal.subscribe(self, lambda _: self.clock.skip())
        self.enqueue(self.guidelines.learn)

    async def _open(self) -> None:
        """Open the requested query, else the assigned items that are open, else the last
        position.
        """
        state = self.state
        place = await self.client.read(
            self.store.workspace.position, state.me, state.mode.value
        )
        state.windowed = await self.client.read(self.store.settings.read, VOTERS_SAW) != OFF
        text = await self._first_query(place.query)
        at = place.anchor_id if text == place.query else None
        try:
            query = parse(text)
            await self.client.read(self.store.queue.check_models, query)
        except QueryError as error:
            self.ui.notify(f"query: {error}", Level.REFUSED)
            query, at = parse(""), None
        kept = await self.client.read(
            self.store.settings.read, name_of(state.mode.value, state.me.name)
        )
        await self.queue.open(query, at, insist=True, near=load(kept, query.text))
        if state.todo_left and self._is_done(state.stored_item):
            await self.queue.go(0)
        # A move would close an open question, which has set the cursor itself.
        waits = state.edit.span is not None or state.edit.pending is not None
        here = at is not None and state.anchor_id == at
        if place.token is not None and here and not waits:
            self.item.move_cursor(place.token)
        if state.todo_left == 0:
            self.ui.notify(ALL_DONE)
        if self.client.store.unseen:
            self.ui.notify(self.client.store.unseen, Level.REFUSED)
        await self.background.begin()
        self.set_interval(POLL, self.background.look_for_others)
        self.app.call_after_refresh(self.predictions.start)
        self.call_after_refresh(self.post_message, WorkbenchReady())
        await self.tour.start_if_new()

    def _is_done(self, item: AnchorItem | None) -> bool:
        """Return True if this person has answered the item and has no draft of it."""
        state = self.state
        return (
            item is not None
            and item.draft is None
            and any(v.annotator == state.me.name and v.role is state.role for v in item.votes)
        )

    async def _first_query(self, remembered: str) -> str:
        state = self.state
        if self._asked_for is not None:
            return self._asked_for
        if state.is_reading:
            return remembered
        todo = await self.client.read(self.store.assignments.todo, state.me, state.role)
        return todo.query if todo.left else remembered

    # --- the command loop -------------------------------------------------------------------

    def action_of(self, key_name: str) -> str | None:
        """Return the action of a key in the person's keymap."""
        return self.keymap.action_of(key_name)

    async def take(self, event: Typed) -> bool:
        """Type a key into the input bar, or queue it; returns False for keys of the app
        (ctrl+c), and for those that no act has and no line uses.
        """
        key = event.key if isinstance(event, events.Key) else ""
        ours = self.action_of(key) is not None
        if self.bar.is_open:
            return await self.bar.take(event) or ours
        if not isinstance(event, events.Key):
            return False
        if not ours and key in APP_KEYS:
            return False
        # A queued action may open the bar: keys that edit text are kept for it.
        if not (ours or event.is_printable or self.bar.edits(key) or has_name(key)):
            return False
        self.commands.put(KeyPress(key, event.character, event.time))
        return True

    def action_act(self, action_id: str) -> None:
        """Queue an action by its id; called by bindings and the palette."""
        if not self.bar.is_open:
            self.commands.put(RunAction(action_id))

    def enqueue(self, run: Callable[[], Awaitable[None]]) -> None:
        """Schedule a call between two actions."""
        self.commands.put(Callback(run))

    async def run_command_loop(self) -> None:
        """Run the commands one after another while the screen exists."""
        while True:
            command = await self.commands.get()
            try:
                await self._run_command(command)
            except RefusedError as refused:
                self.ui.notify(str(refused), Level.REFUSED)
            except Exception as error:  # noqa: BLE001  # a fault must not lose work
                await self.prompts.show_error(sentence_of(error))
                await self.rescue.offer(error)

    async def _run_command(self, command: Command) -> None:
        if isinstance(command, Callback):
            await command.run()
            return
        self.clock.touch()
        if self.status_line.status.level is not Level.DONE:
            self.ui.notify("")
        self.state.pressed_at = command.at if isinstance(command, KeyPress) else inf
        if isinstance(command, RunAction):
            await self._run_action(command.id)
        elif not any(intercept(command) for intercept in self.interceptors):
            if (action_id := self.action_of(command.key)) is None:
                raise RefusedError(no_action(command.key, command.character, self.keymap))
            await self._run_action(action_id)

    async def _run_action(self, action_id: str) -> None:
        if wrong := of_person(BY_ID[action_id], self.state.mode, self.state.access):
            raise RefusedError(self.ui.read_only_reason if wrong == SWITCH else wrong)
        result = self.handlers[action_id]()
        if isawaitable(result):
            await result

    def why_not(self, action: Action) -> str:
        """Return why an action is unavailable; empty if no reason is known."""
        why = why_not(action, self.state)
        return self.ui.read_only_reason if why == SWITCH else why

    # --- messages ---------------------------------------------------------------------------

    def on_error_raised(self, message: ErrorRaised) -> None:
        """Show an error dialog, once while it is open; a lost database is reported once."""
        message.stop()
        if message.lost:
            # Else each item would open a dialog, over the question that the user is answering.
            self.enqueue(lambda: self.rescue.report_lost(message.sentence))
            return
        if message.sentence in self._troubles:
            return
        self._troubles.add(message.sentence)

        async def show() -> None:
            await self.prompts.show_error(message.sentence, message.title or NOT_DONE)
            self._troubles.discard(message.sentence)

        self.enqueue(show)

    def on_passage_view_token_clicked(self, message: PassageView.TokenClicked) -> None:
        self.clock.touch()
        self.ui.show_pane("passage")
        self.item.move_cursor(message.token)

    def on_queue_list_row_clicked(self, message: QueueList.RowClicked) -> None:
        """Show the item of the row, unless something is asked."""
        if not self.bar.is_open and not self.state.question_open:
            self.clock.touch()
            self.enqueue(partial(self.queue.go, message.place))

    def on_work_progress(self, message: WorkProgress) -> None:
        if self.state.busy:
            self.state.busy = message.words
            self.ui.refresh_status()

    async def on_prediction_ready(self, message: PredictionReady) -> None:
        await self.predictions.show(message.anchor_id)

    def on_predictor_changed(self, message: PredictorChanged) -> None:
        self.predictions.report(message)

    def on_passage_view_laid_out(self) -> None:
        """The layout has shown how many rows the passage needs."""
        self.ui.share_rows()

    def on_resize(self) -> None:
        """Adapt the panes and the position of the tour."""
        self.call_after_refresh(self.tour.place_box)
        self.call_after_refresh(self.ui.rearrange)

    def on_screen_suspend(self, event: events.ScreenSuspend) -> None:
        """Pause the item's clock: another screen or a dialog covers this one."""
        del event
        self.clock.pause()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Resume the item's clock."""
        del event
        self.clock.resume()
        self.item.await_drawing()

    # --- help, palette, theme ---------------------------------------------------------------

    async def show_help(self) -> None:
        from nfh_tui.screens.dialogs import help_table

        title = f"Keys · {self.state.pane} · {self.state.mode}"
        table = help_table(self.state.pane, self.state.mode, self.keymap.actions, self.why_not)
        await self.prompts.show_text(title, table)

    def show_palette(self) -> None:
        from nfh_tui.screens.dialogs import Palette

        self.app.push_screen(Palette(placeholder="An action by name…"))

    async def choose_theme(self) -> None:
        """Choose a theme, with a preview of the highlighted one."""
        before = self.app.theme

        def show(name: str) -> None:
            self.app.theme = name

        names = tuple((name, "", name) for name in sorted(self.app.available_themes))
        chosen = await self.prompts.choose_from("Themes", names, start=before, moved=show)
        self.app.theme = chosen or before
        if chosen is not None and self.state.keeps_own:
            await self.client.write(
                self.store.settings.write, f"{SETTING}.{self.state.me.name}", chosen
            )

    # --- modes ------------------------------------------------------------------------------

    async def next_mode(self) -> None:
        modes = list(Mode)
        await self.set_mode(modes[(modes.index(self.state.mode) + 1) % len(modes)])

    async def set_mode(self, mode: Mode) -> None:
        """Change the mode. Keeps the item, and the query if it is allowed there."""
        if why := no_access(self.state.access, BY_ID["mode.next"].access):
            raise RefusedError(why)
        if self.client.read_only and mode is not Mode.BROWSE:
            raise RefusedError(self.ui.read_only_reason)
        self.item.leave()
        await self.queue.position_writer.flush()
        role, self.state.mode = self.state.role, mode
        self.queue_list.hide_answers = mode is Mode.ANNOTATE
        self.item.cache.clear()
        left = self.queue.why_not_asked(self.state.query)
        if self.state.role is not role and self.state.query.text.strip():
            await self.queries.ask_anew(left)
        elif self.state.stored_item is not None:
            await self.item.show(self.state.stored_item.anchor_id)
        # The other role sees other columns of the queue, too.
        await self.queue_list.refresh_visible()
        await self.queue.count_left()
        self.ui.refresh_status()
        self.ui.refresh_keys()
        self.ui.notify(
            {
                Mode.BROWSE: "reading: you cannot change anything",
                Mode.ANNOTATE: f"annotating as {self.state.me.name}",
                Mode.ADJUDICATE: f"adjudicating as {self.state.me.name}: answers make gold",
            }[mode],
            Level.DONE,
        )
        self.guidelines.show_as_usual()
        if left:
            self.ui.notify(f"Everything is shown instead: {left}", Level.REFUSED)

    # --- leaving ----------------------------------------------------------------------------

    async def quit(self) -> None:
        """Save pending writes and exit; asks first if something cannot be saved."""
        await self.save_all()
        if self.state.saving or self.answers.draft_writer.unsaved:
            question = "Something is not saved yet. Quit anyway?"
            choices = (
                ("y", "leave", "leave"),
                ("r", "write everything to another file", "rescue"),
                ("n", "stay", "stay"),
            )
            chosen = await self.prompts.choose(question, choices)
            if chosen == "rescue":
                await self.rescue.run()
                return
            if chosen != "leave":
                self.ui.notify("stayed")
                return
        if not self.client.read_only:
            # A fault of the store was reported, and is no reason to stay.
            with suppress(StoreError):
                self.client.parting = await self._parting_words(), self.state.mode.value
        await self.predictions.stop()
        self.app.exit(0)

    async def _parting_words(self) -> str:
        """Say how much was decided, in which time, and how much is left; "" for a reader."""
        state = self.state
        done = await self.client.read(self.store.answers.done_since, state.me, self._opened_at)
        if state.is_reading and not done:
            return ""
        verbs = {Role.ADJUDICATOR: "decided", Role.ANNOTATOR: "answered"}
        found = " and ".join(
            f"{verbs[role]} {counted(count, 'item')}" for role, (count, _) in done.items()
        )
        spent = max(1, round(sum(seconds for _, seconds in done.values())))
        short = spent < MINUTES_FROM
        time = counted(spent, "second") if short else counted(round(spent / 60), "minute")
        work = f"You {found} in {time} of work" if done else f"You {verbs[state.role]} nothing"
        what = "of what was assigned to you" if state.todo_left is not None else "in this queue"
        if not state.is_reading:
            with suppress(TimeoutError):
                async with asyncio.timeout(COUNTING):
                    left = await self.queue.left()
                    work += f"; {left:,} {'is' if left == 1 else 'are'} left {what}"
        return f"{work}."

    async def save_all(self) -> None:
        """Complete pending writes as far as possible within PATIENCE seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.write_all()

    async def write_all(self) -> None:
        """Return when drafts, position and answers are on disk or have failed."""
        self.queue.keep_position()
        await self.answers.draft_writer.flush()
        await self.queue.position_writer.flush()
        await self.client.settled()
