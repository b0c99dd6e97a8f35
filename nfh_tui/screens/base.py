"""Base of the screens beside the workbench: a title, one column or two panes of figures, a
status line, and keys.

A subclass sets `NAME` and adds the "side" actions that it supports to `handlers`. A handler
that takes long or asks something is a coroutine function; it runs as a worker. Choosing items
closes the screen and returns a query, which the workbench shows.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar

from rich.table import Table
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen

from nfh_db.errors import QueryError
from nfh_db.query import Query, parse
from nfh_db.records import Annotator, Role
from nfh_tui.actions import BY_ID, Access, Action, foot_actions, has_name
from nfh_tui.client import StoreClient
from nfh_tui.config import Keymap
from nfh_tui.textual_support import (
    Tolerant,
    Typed,
    action_provider,
    bindings,
    sentence_of,
    start,
)
from nfh_tui.widgets.figure_lines import NOTHING_TO_OPEN, Line, Target
from nfh_tui.widgets.figure_table import FigureTable
from nfh_tui.widgets.input_bar import InputBar, Wrong
from nfh_tui.widgets.status_bar import (
    Foot,
    KeyLine,
    Level,
    PaneTitle,
    Status,
    StatusLine,
    Title,
)
from nfh_tui.workbench.availability import no_access, no_action

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench

WHERE = "side"
HERE = "This screen is already open."
PANE_ACTIONS = (
    *("side.open", "side.down", "side.up", "side.left", "side.right"),
    *("side.page_down", "side.page_up", "side.first", "side.last"),
)
"""Actions on the focused pane; the help lists them first, in this order."""

BACK_AND_ON = {
    "side.agreement": "screen.agreement",
    "side.evaluation": "screen.evaluation",
    "side.jobs": "screen.jobs",
    "side.guidelines": "screen.guidelines",
}
"""Actions that lead to another screen, with the workbench's action that opens it."""

TWO_PANES = [(0, "-one-pane"), (116, "-two-panes")]
"""Textual breakpoints, in cells, of a screen with two panes."""

EVERYTHING = "everything"
SIDEWAYS = frozenset({"side.left", "side.right"})
SOME_OTHERS = "finds these and some others"
ALONE = "There is no other pane beside this."
EVERY_ITEM = "The queue has everything; so has this."
ONLY_FIRST = "opens the first of them"
ROOM_BEFORE = 48
"""Cells of the status line that are reserved for its other parts."""

Work = Callable[[], Coroutine[object, object, None]]
Handlers = Mapping[str, Callable[[], Any]]
"""Handlers by action id; coroutine functions run in the background."""


def remembered(memory: Mapping[str, object], name: str, key: object) -> object | None:
    """Return the value of a pair (key, value) that is stored under `name` if its key is
    `key`.
    """
    found = memory.get(name)
    return found[1] if isinstance(found, tuple) and found[0] == key else None


class ActionRunner:
    """Runs the actions of a side screen in the order of their keys.

    Slow actions run in the background. Keys that arrive before such an action has opened a
    dialog or an input are queued; they go to what it opens, or are handled after it ends.
    """

    def __init__(self, screen: "SideScreen") -> None:
        self._screen = screen
        self._acting = False
        self._early: deque[events.Key] = deque()

    def run(self, action_id: str) -> None:
        """Run an action, or show why it is unavailable."""
        screen = self._screen
        if (handler := screen.all_handlers.get(action_id)) is None:
            screen.refuse("This key does nothing on this screen. ? lists the keys.")
            return
        if why := screen.reason(BY_ID[action_id]):
            screen.refuse(why)
            return
        if screen.status_line.status.say:
            screen.say("")
        if iscoroutinefunction(handler):
            self.act(handler, group=action_id)
            return
        try:
            handler()
        except Exception as error:  # noqa: BLE001  # a fault must not close the screen
            screen.show_error(sentence_of(error))

    def act(self, run: Work, *, group: str = "side") -> None:
        """Run background work; keys are queued for what it opens, or until it ends."""

        async def acting() -> None:
            try:
                await run()
            finally:
                self._acting = False
                while not self._acting and (event := self.early()) is not None:
                    await self.take(event)

        self._acting = True
        self.work(acting, group=group)

    def work(self, run: Work, *, group: str = "side") -> None:
        """Run background work; cancels running work of the same group. Errors are shown."""

        async def guarded() -> None:
            try:
                await run()
            except Exception as error:  # noqa: BLE001  # as above
                self._screen.show_error(sentence_of(error))

        start(self._screen, guarded, group=group, description=group, exclusive=True)

    async def take(self, event: Typed) -> bool:
        """Type a key into the open bar, queue it during an action, or run its action."""
        screen = self._screen
        bar = next((bar for bar in screen.query(InputBar) if bar.is_open), None)
        if bar is not None:
            return await bar.take(event)
        if not isinstance(event, events.Key):
            return False
        if self._acting:
            self._early.append(event)
            return True
        if await screen.app._check_bindings(event.key):  # noqa: SLF001
            return True
        if event.is_printable or has_name(event.key):
            screen.refuse(no_action(event.key, event.character, screen.keymap, WHERE))
            return True
        return False

    def early(self) -> events.Key | None:
        """Remove and return the first queued key; None if there is none."""
        return self._early.popleft() if self._early else None

    def hand_on(self) -> None:
        """Pass the queued keys to the dialog that covers the screen."""
        while (event := self.early()) is not None:
            self._screen.app.post_message(event)


class FigurePanes:
    """Two panes of figures with titles; one has the focus."""

    def __init__(self, screen: "SideScreen") -> None:
        self.screen = screen
        self.sheets = {name: FigureTable(id=name) for name, _ in screen.PANES}
        self._titles = {name: PaneTitle(id=f"{name}-title") for name in self.sheets}
        self.pane = str(screen.memory.get("pane", next(iter(self.sheets), "")))
        self._rooms: Mapping[str, int] = {}
        """Cells of the lines shown, by pane."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="sheets"):
            for place, name in zip(("first", "second"), self.sheets, strict=True):
                with Vertical(classes=f"sheet-pane {place}"):
                    yield self._titles[name]
                    yield self.sheets[name]

    def handlers(self) -> Handlers:
        """Actions that move in the panes and between them."""
        return {
            "side.left": lambda: self.sheet.move_across(-1),
            "side.right": lambda: self.sheet.move_across(1),
            "side.pane": self.show_other,
            "side.pane_back": self.show_other,
            "side.open": self.open,
            "side.scope": self.screen.toggle_scope,
        }

    @property
    def sheet(self) -> FigureTable:
        """The table with the focus."""
        return self.sheets[self.pane]

    # --- drawing ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Redraw both panes; each cursor stays where a key last put it."""
        stops = self.screen.memory.get("stops")
        self._rooms = self._rooms_now
        for name, sheet in self.sheets.items():
            wanted = stops.get(name) if isinstance(stops, dict) else None
            sheet.show(self.screen.lines(name, self._rooms[name]), wanted)

    @property
    def _rooms_now(self) -> Mapping[str, int]:
        return {name: self.room(sheet) for name, sheet in self.sheets.items()}

    def fit(self) -> None:
        """Build the lines again if they are of other widths."""
        if self._rooms != self._rooms_now:
            self.refresh_all()

    def room(self, sheet: FigureTable) -> int:
        """Return the width of a table's lines in cells, also while it is hidden."""
        width = sheet.scrollable_content_region.width
        return max(20, width or self.screen.app.size.width - 3)

    def refresh_titles(self) -> None:
        for name, words in self.screen.PANES:
            others = ", ".join(other for one, other in self.screen.PANES if one != name)
            hint = f"tab: {others}" if self.screen.has_class("-one-pane") else ""
            note = self.screen.pane_note(name)
            self._titles[name].title = Title(words, note, active=name == self.pane, hint=hint)

    def refresh_all(self) -> None:
        """Build the lines for the new widths."""
        self.refresh_titles()
        self.refresh()

    # --- the focused pane ---------------------------------------------------------------

    def show(self, pane: str) -> None:
        """Focus a pane. If only one fits, it is the one shown."""
        self.pane = self.screen.memory["pane"] = pane
        for place, name in zip(("first", "second"), self.sheets, strict=True):
            self.screen.set_class(name == pane, f"-{place}", update=False)
            self.sheets[name].in_use = name == pane
        # The classes affect only these two widgets; an update would restyle the whole screen.
        self.screen.app.stylesheet.update_nodes(self.screen.query(".sheet-pane"))
        self.refresh_titles()

    def show_other(self) -> None:
        self.show(next(name for name in self.sheets if name != self.pane))

    def why_not(self, action: Action) -> str:
        """Return why an action is unavailable for the selected figure; empty if it is
        available.
        """
        if action.id == "side.open":
            stop = self.sheet.stop
            if stop is None or not (stop.act or stop.find):
                note = stop.note if stop is not None else ""
                return f"{note}. {NOTHING_TO_OPEN}" if note else NOTHING_TO_OPEN
        if action.id in SIDEWAYS and not self.sheet.beside:
            return ALONE
        return EVERY_ITEM if action.id == "side.scope" and not self.screen.query_now else ""

    def moved(self, message: FigureTable.Moved) -> None:
        """Describe the selected stop, and remember it."""
        stop = message.place
        if not message.sheet.in_use:
            return
        stops = self.screen.memory.setdefault("stops", {})
        if message.by_hand and isinstance(stops, dict) and stop is not None:
            stops[message.sheet.id] = stop.name
        self.screen.say(_told(stop, self.screen.app.size.width - ROOM_BEFORE))

    def open(self) -> None:
        """Close the screen with the items behind the selected figure."""
        stop = self.sheet.stop
        if stop is not None and stop.act:
            self.screen.chosen(stop)
        elif stop is not None:
            self.screen.meant = stop.total
            self.screen.dismiss(stop.find)


class SideScreen(Tolerant, Screen[str | None]):
    """A screen beside the workbench. Returns a query to show, or None.

    PANES: ids and titles of the two panes; without them the body is one scrollable column.
    """

    NAME: ClassVar[str] = ""
    PANES: ClassVar[tuple[tuple[str, str], ...]] = ()
    AUTO_FOCUS = ""
    COMMANDS: ClassVar = {action_provider}
    PANE_ACTIONS: ClassVar[tuple[str, ...]] = PANE_ACTIONS
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-medium"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # Textual's own names
    BINDINGS: ClassVar[list[BindingType]] = bindings("side", WHERE)
    DEFAULT_CSS = """
    SideScreen {
        background: $background;
        & #side-body { height: 1fr; scrollbar-size-vertical: 1; background: $background; }
        & #sheets { height: 1fr; }
        & .sheet-pane { width: 46%; height: 100%; background: $background; }
        & .second { width: 54%; background: $surface; }
        & FigureTable { height: 1fr; padding: 0 1; }
        &.-one-pane .sheet-pane { display: none; width: 100%; }
        &.-one-pane.-first .first { display: block; }
        &.-one-pane.-second .second { display: block; }
    }
    """

    def __init__(
        self,
        client: StoreClient,
        me: Annotator,
        keymap: Keymap | None = None,
        memory: dict[str, object] | None = None,
        query: str = "",
    ) -> None:
        super().__init__()
        self.client = client
        self.store = client.store
        self.me = me
        self.keymap = keymap or Keymap()
        self.memory = {} if memory is None else memory
        """What the workbench keeps for the next time this screen is opened."""
        self.query_now = query
        """The query of the workbench's queue."""
        self.narrowed = bool(self.memory.get("narrowed")) and bool(query)
        """Only the items of `query_now` are included."""
        self.meant = 0
        """Number of items that the returned query stands for, if it may find fewer."""
        self.role = Role.ADJUDICATOR
        """The role in which this person reads; annotators see only their own answers."""
        self.access = Access.ADMIN
        self.heading = PaneTitle(id="side-title")
        self.heading.title = Title(self.NAME, active=True)
        self.status_line = StatusLine()
        self.status_line.status = Status(mode=self.NAME.upper())
        self.key_line = KeyLine()
        self.runner = ActionRunner(self)
        self.panes = FigurePanes(self)

    def compose(self) -> ComposeResult:
        yield self.heading
        yield from self.body()
        yield self.status_line
        yield self.key_line

    def body(self) -> ComposeResult:
        """Yield the widgets of the body."""
        if self.PANES:
            yield from self.panes.compose()

    def on_mount(self) -> None:
        """Draw what is known, and start reading."""
        if self.PANES:
            self.panes.show(self.panes.pane)
            self.refresh_scope()
        self.read()
        self.refresh_keys()

    @cached_property
    def all_handlers(self) -> Handlers:
        """The handlers of the screen, read once."""
        return self.handlers()

    def handlers(self) -> Handlers:
        """Return the handlers of the screen. Subclasses add theirs."""
        there = {action_id: partial(self.go_to, to) for action_id, to in BACK_AND_ON.items()}
        return {
            "side.down": lambda: self.move(1),
            "side.up": lambda: self.move(-1),
            "side.first": lambda: self.edge(last=False),
            "side.last": lambda: self.edge(last=True),
            "side.page_up": lambda: self.page(-1),
            "side.page_down": lambda: self.page(1),
            "side.close": lambda: self.dismiss(None),
            "side.help": self.show_help,
            "side.palette": self.open_palette,
            **there,
            **(self.panes.handlers() if self.PANES else {}),
        }

    # --- for subclasses -----------------------------------------------------------------

    def read(self) -> None:
        """Start reading in the background what the screen shows."""

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        """Return the lines of a pane for a width in cells."""
        del pane, width
        return ()

    def pane_note(self, pane: str) -> str:
        """Return the text at the right end of a pane's title."""
        del pane
        return ""

    def chosen(self, stop: Target) -> None:
        """React to enter on a stop without items."""

    # --- lines --------------------------------------------------------------------------

    def title_note(self, note: str) -> None:
        """Set the text at the right end of the screen's title."""
        self.heading.title = Title(self.NAME, note, active=True)

    def say(self, sentence: str, level: Level = Level.PLAIN) -> None:
        """Show a message in the status line."""
        self.set_status(say=sentence, level=level)

    def refuse(self, sentence: str) -> None:
        """Show why an action was refused."""
        self.say(sentence, Level.REFUSED)

    def set_status(self, **changes: object) -> None:
        """Set fields of the status line."""
        self.status_line.status = replace(self.status_line.status, **changes)  # type: ignore[arg-type]  # names and types are Status's own

    def refresh_keys(self) -> None:
        """Show the most important keys, at most six."""
        shown = foot_actions(a for a in self.footer_actions() if self.access >= a.access)
        self.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in shown))

    def refresh_scope(self) -> None:
        """Show which items are included."""
        self.title_note(self.base or EVERYTHING)

    # --- actions ------------------------------------------------------------------------

    def footer_actions(self) -> Sequence[Action]:
        """Return the actions that may be in the footer now."""
        return self.own_actions()

    def own_actions(self) -> Sequence[Action]:
        """Return the actions of this screen with the person's keys."""
        return [a for a in self.keymap.actions if a.id in self.all_handlers]

    def reason(self, action: Action) -> str:
        """Return why an action is unavailable for this person or now; empty if no reason is
        known.
        """
        return no_access(self.access, action.access) or self.why_not(action)

    def why_not(self, action: Action) -> str:
        """Return why an action is unavailable now; empty if no reason is known.

        Subclasses add their reasons.
        """
        if (opener := BACK_AND_ON.get(action.id)) is None:
            return self.panes.why_not(action) if self.PANES else ""
        if action.title == self.NAME:
            return HERE
        return "" if self.bench is None else self.bench.why_not(BY_ID[opener])

    def action_side(self, action_id: str) -> None:
        """Run an action by its id; called by bindings."""
        if self.app.screen is self:
            self.runner.run(action_id)

    async def take(self, event: Typed) -> bool:
        """Type a key into the open bar, or run its action."""
        return await self.runner.take(event)

    def show_help(self) -> None:
        """Show the keys of this screen, those of the focused pane first."""
        from nfh_tui.screens.dialogs import side_table

        pane = dict(self.PANES).get(self.panes.pane, "")
        title = f"Keys · {self.NAME}" + (f" · {pane}" if pane else "")
        table = side_table(
            pane or self.NAME, self.PANE_ACTIONS, self.own_actions(), self.reason
        )
        self.show_text(title, table)

    def open_palette(self) -> None:
        from nfh_tui.screens.dialogs import Palette

        self.app.push_screen(Palette(placeholder="An action by name…"))

    # --- moving -------------------------------------------------------------------------

    @property
    def scroller(self) -> VerticalScroll:
        """The scrollable widget of a screen without panes."""
        return self.query_one("#side-body", VerticalScroll)

    def move(self, by: int) -> None:
        """Move down by lines or stops."""
        if self.PANES:
            self.panes.sheet.move(by)
        else:
            self.scroller.scroll_relative(y=by, animate=False)

    def page(self, by: int) -> None:
        """Move down by pages."""
        if self.PANES:
            self.panes.sheet.page(by)
        else:
            self.scroller.scroll_relative(y=by * self.scroller.size.height, animate=False)

    def edge(self, *, last: bool) -> None:
        """Move to the end or the start."""
        if self.PANES:
            self.panes.sheet.edge(last=last)
        else:
            self.scroller.scroll_to(y=self.scroller.max_scroll_y if last else 0, animate=False)

    # --- the scope ----------------------------------------------------------------------

    @property
    def base(self) -> str:
        """The query within which everything is counted."""
        return self.query_now if self.narrowed else ""

    @property
    def query_of(self) -> Query:
        """Return `base` parsed; an invalid query counts as none."""
        try:
            return parse(self.base)
        except QueryError:
            return parse("")

    def toggle_scope(self) -> None:
        """Switch between the items of the queue's query and all items."""
        self.narrowed = self.memory["narrowed"] = not self.narrowed
        self.refresh_scope()
        self.read()

    # --- messages -----------------------------------------------------------------------

    def on_resize(self) -> None:
        """Build the lines for the new widths."""
        if self.PANES:
            self.call_after_refresh(self.panes.refresh_all)

    def on_figure_table_moved(self, message: FigureTable.Moved) -> None:
        """Describe the selected stop."""
        self.panes.moved(message)

    def on_screen_resume(self) -> None:
        """Fit the lines to a size that changed under a dialog."""
        if self.PANES:
            self.call_after_refresh(self.panes.fit)

    def on_screen_suspend(self) -> None:
        """Pass the queued keys to the dialog that covers this screen."""
        self.app.screen.call_after_refresh(self.runner.hand_on)

    # --- closing, and dialogs -----------------------------------------------------------

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close the screen and return a query; later calls are ignored.

        Also ignored while a dialog covers the screen, because the dialog would be closed
        instead.
        """
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    @property
    def bench(self) -> "Workbench | None":
        """The workbench below this screen; None if there is none."""
        from nfh_tui.workbench.screen import Workbench

        return next((s for s in self.app.screen_stack if isinstance(s, Workbench)), None)

    def go_to(self, action_id: str) -> None:
        """Close the screen and run an action of the workbench, such as one that opens a
        screen.
        """
        bench = self.bench
        self.dismiss(None)
        if bench is not None:
            bench.action_act(action_id)

    def show_text(self, title: str, body: str | Table, *, end: bool = False) -> None:
        """Show a text. end: it is scrolled to its end."""
        from nfh_tui.screens.dialogs import TextDialog

        self.app.push_screen(TextDialog(title, body, end=end))

    def show_error(self, sentence: str) -> None:
        from nfh_tui.screens.dialogs import TextDialog

        self.app.push_screen(TextDialog("That did not work", sentence, trouble=True))

    async def ask(
        self,
        prompt: str,
        text: str,
        keys: tuple[tuple[str, str], ...],
        check: Callable[[str], Awaitable[Wrong | None]],
        *,
        complete: Callable[[str, int], tuple[str, int] | None] | None = None,
    ) -> str | None:
        """Ask for a text in the input bar; None on escape.

        keys: for the footer. check: the bar stays open with the text while it returns a fault.
        """

        async def checked(typed: str) -> Wrong | None:
            if (wrong := await check(typed.strip())) is not None:
                self.refuse(wrong.words)
            return wrong

        def changed(_: str) -> None:
            self.say("")
            bar.note = ""

        bar = self.query_one(InputBar)
        self.key_line.foot = Foot("", keys)
        try:
            return await bar.ask(
                prompt, text, changed=changed, complete=complete, selected=complete is None,
                early=self.runner.early, check=checked,
            )  # fmt: skip
        finally:
            self.refresh_keys()

    async def choose_from(
        self, title: str, options: Sequence[tuple[str, str, str]], *, start: str | None = None
    ) -> str | None:
        """Ask for an item of a list; None on escape.

        options: label, secondary text, value. Call it only from a coroutine that runs in the
        background.
        """
        from nfh_tui.screens.dialogs import ChooseDialog

        return await self.app.push_screen_wait(ChooseDialog(title, options, start=start))


def _told(stop: Target | None, room: int) -> str:
    """Describe a stop, with its query if it fits, so that the number of lines stays the
    same.
    """
    if stop is None:
        return ""
    if stop.find is None or stop.act:
        return stop.note
    other = ONLY_FIRST if "id:" in stop.find else SOME_OTHERS
    behind = "" if stop.exact else f" ({other})"
    whole = f"{stop.note}{behind}  {stop.find}"
    return whole if len(whole) <= room else f"{stop.note}{behind}"
