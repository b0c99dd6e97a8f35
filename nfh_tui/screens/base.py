"""The base of the screens beside the workbench: a title, a body of one or two panes of
figures, a line of state, and keys.

A screen gives `NAME`, and adds to `handlers` what does each action "side" of the registry that
it has. One that may take long, or asks something, is a coroutine: it runs as a worker while the
screen stays awake. Choosing closes the screen with a query; the workbench shows what it finds.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar

from rich.table import Table
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen

from nfh_db.errors import QueryError
from nfh_db.query import Query, parse
from nfh_db.records import Annotator, Role
from nfh_tui.actions import ACTIONS, BY_ID, FOOT_KEYS, Access, Action
from nfh_tui.client import StoreClient
from nfh_tui.config import Keymap
from nfh_tui.textual_support import Enduring, Typed, sentence_of, start
from nfh_tui.widgets.figure_lines import NOTHING_TO_OPEN, Line, Target
from nfh_tui.widgets.figure_table import FigureTable
from nfh_tui.widgets.input_bar import InputBar
from nfh_tui.widgets.status_bar import (
    Foot,
    KeyLine,
    Level,
    PaneTitle,
    Status,
    StatusLine,
    Title,
)
from nfh_tui.workbench.availability import denied, is_function, unbound

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench

WHERE = "side"
ALWAYS = ("side.help", "side.close")
"""Actions that stand at the foot of each of these screens."""

HERE = "This is that screen."
PANE_ACTIONS = (
    *("side.open", "side.down", "side.up", "side.left", "side.right"),
    *("side.page_down", "side.page_up", "side.first", "side.last"),
)
"""Actions that are about the pane in use: the help has them first, in this order."""

BACK_AND_ON = {
    "side.agreement": "screen.agreement",
    "side.evaluation": "screen.evaluation",
    "side.jobs": "screen.jobs",
    "side.guidelines": "screen.guidelines",
}
"""Actions that go to another screen, and the workbench's action that opens it."""

TWO_PANES = [(0, "-one-pane"), (116, "-two-panes")]
"""Breakpoints of a screen of two panes."""

EVERYTHING = "everything"
SIDEWAYS = frozenset({"side.left", "side.right"})
SOME_OTHERS = "finds these and some others"
ALONE = "Nothing stands beside this."
EVERY_ITEM = "The queue is of everything; so is this."
ONLY_FIRST = "opens the first of them"
ROOM_BEFORE = 48
"""Cells of the line of state that other things may take."""

Work = Callable[[], Coroutine[object, object, None]]
Handlers = Mapping[str, Callable[[], Any]]
"""What does each action, by its id; a coroutine function runs in the background."""


def bindings() -> list[BindingType]:
    """The keys of all actions of these screens, under the actions' ids."""
    return [
        Binding(",".join(a.keys), f"side('{a.id}')", a.title, show=False, id=a.id)
        for a in ACTIONS
        if a.keys and a.where == WHERE
    ]


def action_provider() -> type:
    """The palette's actions, imported when the palette is opened."""
    from nfh_tui.screens.dialogs import ActionProvider

    return ActionProvider


def remembered(memory: Mapping[str, object], name: str, key: object) -> object | None:
    """What was kept under a name, as a pair of key and value, if for this key; else None."""
    found = memory.get(name)
    return found[1] if isinstance(found, tuple) and found[0] == key else None


class ActionRunner:
    """Does the actions of a side screen, in the order of their keys.

    An action that takes time runs in the background; keys that come before it has opened
    anything wait, for what it opens or for its end.
    """

    def __init__(self, screen: "SideScreen") -> None:
        self._screen = screen
        self._acting = False
        self._early: deque[events.Key] = deque()

    def run(self, action_id: str) -> None:
        """Do an action, or say why it cannot be done."""
        screen = self._screen
        handler = screen.all_handlers.get(action_id)
        if handler is None:
            screen.refuse("This key does nothing on this screen. ? lists those that do.")
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
        except Exception as error:  # noqa: BLE001  # a fault of ours must not close the screen
            screen.show_error(sentence_of(error))

    def act(self, run: Work, *, group: str = "side") -> None:
        """As `work`; keys that come meanwhile are for what it opens, else for afterwards."""

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
        """Do something that takes time, or asks, in the background; a newer run of its group
        ends it. What goes wrong is shown as a sentence.
        """

        async def guarded() -> None:
            try:
                await run()
            except Exception as error:  # noqa: BLE001  # as above
                self._screen.show_error(sentence_of(error))

        start(self._screen, guarded, group=group, description=group, exclusive=True)

    async def take(self, event: Typed) -> bool:
        """Do what a key is bound to, or type it into the bar that is open."""
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
        if event.is_printable or is_function(event.key):
            screen.refuse(unbound(event.key, event.character, screen.keymap, WHERE))
            return True
        return False

    def early(self) -> events.Key | None:
        """The first of the keys that came while an action began, if one is left."""
        return self._early.popleft() if self._early else None

    def hand_on(self) -> None:
        """Give the keys that came early to the dialog that stands over the screen."""
        while (event := self.early()) is not None:
            self._screen.app.post_message(event)


class FigurePanes:
    """Two panes of figures, each under its title; one is in use."""

    def __init__(self, screen: "SideScreen") -> None:
        self.screen = screen
        self.sheets = {name: FigureTable(id=name) for name, _ in screen.PANES}
        self._titles = {name: PaneTitle(id=f"{name}-title") for name in self.sheets}
        self.pane = str(screen.memory.get("pane", next(iter(self.sheets), "")))

    def compose(self) -> ComposeResult:
        """The panes side by side."""
        with Horizontal(id="sheets"):
            for place, name in zip(("first", "second"), self.sheets, strict=True):
                with Vertical(classes=f"sheet-pane {place}"):
                    yield self._titles[name]
                    yield self.sheets[name]

    def handlers(self) -> Handlers:
        """What moves in the panes and between them."""
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
        """The sheet in use."""
        return self.sheets[self.pane]

    # --- drawing ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Draw both panes; each cursor is, or will be, where a key last put it."""
        stops = self.screen.memory.get("stops")
        for name, sheet in self.sheets.items():
            wanted = stops.get(name) if isinstance(stops, dict) else None
            sheet.show(self.screen.lines(name, self.room(sheet)), wanted)

    def room(self, sheet: FigureTable) -> int:
        """Cells that a line of a sheet may take, also while it is not shown."""
        width = sheet.scrollable_content_region.width
        return max(20, width or self.screen.app.size.width - 3)

    def refresh_titles(self) -> None:
        """The line over each pane."""
        for name, words in self.screen.PANES:
            others = ", ".join(other for one, other in self.screen.PANES if one != name)
            hint = f"tab: {others}" if self.screen.has_class("-one-pane") else ""
            note = self.screen.pane_note(name)
            self._titles[name].title = Title(words, note, active=name == self.pane, hint=hint)

    def refresh_all(self) -> None:
        """Other widths make other lines."""
        self.refresh_titles()
        self.refresh()

    # --- the pane in use ----------------------------------------------------------------

    def show(self, pane: str) -> None:
        """Put a pane in use; where only one fits, it is the one shown."""
        self.pane = self.screen.memory["pane"] = pane
        for place, name in zip(("first", "second"), self.sheets, strict=True):
            self.screen.set_class(name == pane, f"-{place}", update=False)
            self.sheets[name].in_use = name == pane
        # The classes bear on these two widgets only; an update would restyle all of the screen.
        self.screen.app.stylesheet.update_nodes(self.screen.query(".sheet-pane"))
        self.refresh_titles()

    def show_other(self) -> None:
        """Go to the other pane."""
        self.show(next(name for name in self.sheets if name != self.pane))

    def why_not(self, action: Action) -> str:
        """Why an action cannot be done: a figure has no items, or no neighbour."""
        if action.id == "side.open":
            stop = self.sheet.stop
            if stop is None or not (stop.act or stop.find):
                note = stop.note if stop is not None else ""
                return f"{note}. {NOTHING_TO_OPEN}" if note else NOTHING_TO_OPEN
        if action.id in SIDEWAYS and not self.sheet.beside:
            return ALONE
        return EVERY_ITEM if action.id == "side.scope" and not self.screen.query_now else ""

    def moved(self, message: FigureTable.Moved) -> None:
        """Say what one stands on, and remember it."""
        stop = message.place
        if not message.sheet.in_use:
            return
        stops = self.screen.memory.setdefault("stops", {})
        if message.by_hand and isinstance(stops, dict) and stop is not None:
            stops[message.sheet.id] = stop.name
        self.screen.say(_told(stop, self.screen.app.size.width - ROOM_BEFORE))

    def open(self) -> None:
        """Show the items behind the figure one stands on."""
        stop = self.sheet.stop
        if stop is not None and stop.act:
            self.screen.chosen(stop)
        elif stop is not None:
            self.screen.meant = stop.total
            self.screen.dismiss(stop.find)


class SideScreen(Enduring, Screen[str | None]):
    """A screen beside the workbench. Gives back a query to show, or None.

    PANES: ids and titles of two panes of figures; without any the body is one column that
    scrolls.
    """

    NAME: ClassVar[str] = ""
    PANES: ClassVar[tuple[tuple[str, str], ...]] = ()
    AUTO_FOCUS = ""
    COMMANDS: ClassVar = {action_provider}
    PANE_ACTIONS: ClassVar[tuple[str, ...]] = PANE_ACTIONS
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-medium"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # Textual's own names
    BINDINGS: ClassVar[list[BindingType]] = bindings()
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
        """What the workbench keeps for the next time that this screen is opened."""
        self.query_now = query
        """What the workbench's queue is of."""
        self.narrowed = bool(self.memory.get("narrowed")) and bool(query)
        """Only what that query finds is looked at."""
        self.meant = 0
        """How many items are meant by what is given back, where its query may find fewer."""
        self.role = Role.ADJUDICATOR
        """In which this person looks; an annotator is told of their own answers only."""
        self.access = Access.ADMIN
        self.heading = PaneTitle(id="side-title")
        self.heading.title = Title(self.NAME, active=True)
        self.status_line = StatusLine()
        self.status_line.status = Status(mode=self.NAME.upper())
        self.key_line = KeyLine()
        self.runner = ActionRunner(self)
        self.panes = FigurePanes(self)

    def compose(self) -> ComposeResult:
        """Title, body, line of state, keys."""
        yield self.heading
        yield from self.body()
        yield self.status_line
        yield self.key_line

    def body(self) -> ComposeResult:
        """What the screen shows."""
        if self.PANES:
            yield from self.panes.compose()

    def on_mount(self) -> None:
        """Draw what there is, and have the rest read."""
        if self.PANES:
            self.panes.show(self.panes.pane)
            self.refresh_scope()
        self.read()
        self.refresh_keys()

    @cached_property
    def all_handlers(self) -> Handlers:
        """What does the actions of the screen."""
        return self.handlers()

    def handlers(self) -> Handlers:
        """What does the actions of the screen. A subclass adds its own."""
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

    # --- what a subclass gives ----------------------------------------------------------

    def read(self) -> None:
        """Have what is shown read in the background."""

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        """What a pane shows, in so many cells."""
        del pane, width
        return ()

    def pane_note(self, pane: str) -> str:
        """What stands at the right of a pane's title."""
        del pane
        return ""

    def chosen(self, stop: Target) -> None:
        """Do what a stop stands for that opens no items."""

    # --- lines --------------------------------------------------------------------------

    def title_note(self, note: str) -> None:
        """What stands at the right of the title."""
        self.heading.title = Title(self.NAME, note, active=True)

    def say(self, sentence: str, level: Level = Level.PLAIN) -> None:
        """Put a sentence on the line of state."""
        self.set_status(say=sentence, level=level)

    def refuse(self, sentence: str) -> None:
        """Say why something was not done."""
        self.say(sentence, Level.REFUSED)

    def set_status(self, **changes: object) -> None:
        """Change parts of the line of state."""
        self.status_line.status = replace(self.status_line.status, **changes)  # type: ignore[arg-type]  # names and types are Status's own

    def refresh_keys(self) -> None:
        """The keys most needed here, at most six."""
        own = self.footer_actions()
        ranked = [a for a in own if a.foot is not None and self.access >= a.access]
        ranked.sort(key=lambda a: a.foot or 0)
        always = [a for a in ranked if a.id in ALWAYS]
        others = [a for a in ranked if a.id not in ALWAYS]
        shown = (*others[: FOOT_KEYS - len(always)], *always)
        self.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in shown))

    def refresh_scope(self) -> None:
        """Say of which items this is."""
        self.title_note(self.base or EVERYTHING)

    # --- actions ------------------------------------------------------------------------

    def footer_actions(self) -> Sequence[Action]:
        """The actions that may stand at the foot now."""
        return self.own_actions()

    def own_actions(self) -> Sequence[Action]:
        """The actions that this screen does, with the person's own keys."""
        return [a for a in self.keymap.actions if a.id in self.all_handlers]

    def reason(self, action: Action) -> str:
        """Why an action cannot be done, by this person or now; "" for nothing that is known."""
        return denied(self.access, action.access) or self.why_not(action)

    def why_not(self, action: Action) -> str:
        """Why an action cannot be done now; "" where nothing is known to be in its way.

        A subclass adds its own reasons.
        """
        opener = BACK_AND_ON.get(action.id)
        if opener is None:
            return self.panes.why_not(action) if self.PANES else ""
        if action.title == self.NAME:
            return HERE
        return "" if self.bench is None else self.bench.why_not(BY_ID[opener])

    def action_side(self, action_id: str) -> None:
        """What bindings call: do an action by its id."""
        if self.app.screen is self:
            self.runner.run(action_id)

    async def take(self, event: Typed) -> bool:
        """Do what a key is bound to, or type it into the bar that is open."""
        return await self.runner.take(event)

    def show_help(self) -> None:
        """Show the keys of this screen, those of the pane in use first."""
        from nfh_tui.screens.dialogs import side_table

        pane = dict(self.PANES).get(self.panes.pane, "")
        title = f"Keys · {self.NAME}" + (f" · {pane}" if pane else "")
        table = side_table(
            pane or self.NAME, self.PANE_ACTIONS, self.own_actions(), self.reason
        )
        self.show_text(title, table)

    def open_palette(self) -> None:
        """Open the palette."""
        from nfh_tui.screens.dialogs import Palette

        self.app.push_screen(Palette(placeholder="An act by name…"))

    # --- moving -------------------------------------------------------------------------

    @property
    def scroller(self) -> VerticalScroll:
        """What scrolls, where there are no panes."""
        return self.query_one("#side-body", VerticalScroll)

    def move(self, by: int) -> None:
        """So many lines, or stops, down."""
        if self.PANES:
            self.panes.sheet.move(by)
        else:
            self.scroller.scroll_relative(y=by, animate=False)

    def page(self, by: int) -> None:
        """So many pages down."""
        if self.PANES:
            self.panes.sheet.page(by)
        else:
            self.scroller.scroll_relative(y=by * self.scroller.size.height, animate=False)

    def edge(self, *, last: bool) -> None:
        """To the end or the start."""
        if self.PANES:
            self.panes.sheet.edge(last=last)
        else:
            self.scroller.scroll_to(y=self.scroller.max_scroll_y if last else 0, animate=False)

    # --- the items it is about ----------------------------------------------------------

    @property
    def base(self) -> str:
        """The query within which all is counted."""
        return self.query_now if self.narrowed else ""

    @property
    def query_of(self) -> Query:
        """The same, parsed. The queue's own query holds; else everything is meant."""
        try:
            return parse(self.base)
        except QueryError:
            return parse("")

    def toggle_scope(self) -> None:
        """Look at the items of the queue's query only, or at all of them."""
        self.narrowed = self.memory["narrowed"] = not self.narrowed
        self.refresh_scope()
        self.read()

    # --- messages -----------------------------------------------------------------------

    def on_resize(self) -> None:
        """Other widths make other lines."""
        if self.PANES:
            self.call_after_refresh(self.panes.refresh_all)

    def on_figure_table_moved(self, message: FigureTable.Moved) -> None:
        """Say what one stands on."""
        self.panes.moved(message)

    def on_screen_suspend(self) -> None:
        """A dialog stands over this: keys that came while it was on its way are its."""
        self.app.screen.call_after_refresh(self.runner.hand_on)

    # --- closing, and dialogs -----------------------------------------------------------

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close and give back a query, once, however many keys were on their way.

        Not while a dialog stands over this: the dialog would be closed in its place.
        """
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    @property
    def bench(self) -> "Workbench | None":
        """The workbench that this stands over, None where there is none."""
        from nfh_tui.workbench.screen import Workbench

        return next((s for s in self.app.screen_stack if isinstance(s, Workbench)), None)

    def go_to(self, action_id: str) -> None:
        """Back, and there an action of the workbench, e.g. one that opens another screen."""
        bench = self.bench
        self.dismiss(None)
        if bench is not None:
            bench.action_act(action_id)

    def show_text(self, title: str, body: str | Table, *, end: bool = False) -> None:
        """Show a text until it is closed. end: its last lines first."""
        from nfh_tui.screens.dialogs import TextDialog

        self.app.push_screen(TextDialog(title, body, end=end))

    def show_error(self, sentence: str) -> None:
        """Show what went wrong until it is read."""
        from nfh_tui.screens.dialogs import TextDialog

        self.app.push_screen(TextDialog("That did not work", sentence, trouble=True))

    async def choose_from(
        self, title: str, options: Sequence[tuple[str, str, str]], *, start: str | None = None
    ) -> str | None:
        """Ask for one of a list; None on escape. options: words, fainter words, result.

        Only in a coroutine that runs in the background.
        """
        from nfh_tui.screens.dialogs import ChooseDialog

        return await self.app.push_screen_wait(ChooseDialog(title, options, start=start))


def _told(stop: Target | None, room: int) -> str:
    """What is said of a stop; its query, too, where it fits: no line is to come and go."""
    if stop is None:
        return ""
    if stop.find is None or stop.act:
        return stop.note
    other = ONLY_FIRST if "id:" in stop.find else SOME_OTHERS
    behind = "" if stop.exact else f" ({other})"
    whole = f"{stop.note}{behind}  {stop.find}"
    return whole if len(whole) <= room else f"{stop.note}{behind}"
