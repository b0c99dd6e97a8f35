"""The base of the screens beside the workbench: a title, a body of one or two panes of
figures, a line of state, and keys.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar

from rich.table import Table
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

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
from nfh_tui.widgets.status_bar import Foot, KeyLine, PaneTitle, Status, StatusLine, Title, Tone
from nfh_tui.workbench.availability import denied, is_function, unbound

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench


# The ground of the screens beside the workbench: a title, a body, a line of state, keys.
#
# A screen of this kind gives `NAME` and `body`, and a method `do_ID` (dots as underscores) for
# each act "side" of the registry that it wants. One that may take long, or asks something, is
# a coroutine: it runs as a worker, the screen awake. Choosing closes the screen with a query;
# the workbench shows what that finds.

WHERE = "side"
ALWAYS = ("side.help", "side.close")
"""Acts that stand at the foot of each of these screens."""

HERE = "This is that screen."
PANE_ACTS = (
    *("side.open", "side.down", "side.up", "side.left", "side.right"),
    *("side.page_down", "side.page_up", "side.first", "side.last"),
)
"""Acts that are about the pane in use: the help has them first, in this order."""

BACK_AND_ON = {
    "side.agreement": "screen.agreement",
    "side.evaluation": "screen.evaluation",
    "side.jobs": "screen.jobs",
    "side.guidelines": "screen.guidelines",
}
"""Acts that go to another screen, and the workbench's act that opens it."""


def bindings() -> list[BindingType]:
    """The keys of all acts of these screens, under the acts' ids."""
    return [
        Binding(",".join(a.keys), f"side('{a.id}')", a.title, show=False, id=a.id)
        for a in ACTIONS
        if a.keys and a.where == WHERE
    ]


def acts_provider() -> type:
    """The palette's acts, imported when the palette is opened."""
    from nfh_tui.screens.palette import Acts

    return Acts


class SideScreen(Enduring, Screen[str | None]):
    """A screen beside the workbench. Gives back a query to show, or None.

    memory: what the workbench keeps for the next time this screen is opened; a screen
    writes where one stands into it. query_now: what the workbench's queue is of. meant: how
    many items are meant by what is given back, where its query may find fewer, else 0. role:
    in which this person looks; an annotator is told of nobody's answers but their own.
    access: what this person may change.
    """

    NAME: ClassVar[str] = ""
    AUTO_FOCUS = ""
    COMMANDS: ClassVar = {acts_provider}
    PANE_ACTS: ClassVar[tuple[str, ...]] = PANE_ACTS
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-medium"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # Textual's own names
    BINDINGS: ClassVar[list[BindingType]] = bindings()
    DEFAULT_CSS = """
    SideScreen {
        background: $background;
        & #side-body { height: 1fr; scrollbar-size-vertical: 1; background: $background; }
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
        self.me = me
        self.keymap = keymap or Keymap()
        self.memory = {} if memory is None else memory
        self.query_now = query
        self.meant = 0
        self.role = Role.ADJUDICATOR
        self.access = Access.ADMIN
        self.heading = PaneTitle(id="side-title")
        self.heading.title = Title(self.NAME, active=True)
        self.status_line = StatusLine()
        self.status_line.status = Status(mode=self.NAME.upper())
        self.key_line = KeyLine()
        self._acting = False
        self._early: deque[events.Key] = deque()

    def compose(self) -> ComposeResult:
        """Title, body, line of state, keys."""
        yield self.heading
        yield from self.frame()
        yield self.status_line
        yield self.key_line

    def frame(self) -> ComposeResult:
        """What holds the body: by itself one column that scrolls."""
        with VerticalScroll(id="side-body", can_focus=False):
            yield from self.body()

    def body(self) -> ComposeResult:
        """What the screen shows; by itself nothing."""
        yield Static("", markup=False)

    def on_mount(self) -> None:
        """The keys. Textual calls this after the same method of a subclass."""
        self.paint_keys()

    # --- lines --------------------------------------------------------------------------

    def title_note(self, note: str) -> None:
        """What stands at the right of the title."""
        self.heading.title = Title(self.NAME, note, active=True)

    def say(self, sentence: str, tone: Tone = Tone.PLAIN) -> None:
        """Put a sentence on the line of state."""
        self.set_status(say=sentence, tone=tone)

    def refuse(self, sentence: str) -> None:
        """Say why something was not done."""
        self.say(sentence, Tone.REFUSED)

    def set_status(self, **changes: object) -> None:
        """Change parts of the line of state."""
        self.status_line.status = replace(self.status_line.status, **changes)  # type: ignore[arg-type]  # names and types are Status's own

    def paint_keys(self) -> None:
        """The keys most needed here, at most six."""
        ranked = sorted(
            (a for a in self.foot_acts() if a.foot is not None and self.access >= a.access),
            key=lambda a: a.foot or 0,
        )
        always = [a for a in ranked if a.id in ALWAYS]
        others = [a for a in ranked if a.id not in ALWAYS]
        shown = (*others[: FOOT_KEYS - len(always)], *always)
        self.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in shown))

    def foot_acts(self) -> Sequence[Action]:
        """The acts that may stand at the foot now."""
        return self.acts()

    def acts(self) -> Sequence[Action]:
        """The acts that this screen does, with the person's own keys."""
        return [a for a in self.keymap.actions if a.where == WHERE and self._method(a.id)]

    def reason(self, action: Action) -> str:
        """Why an act cannot be done, by this person or now; "" for nothing that is known."""
        return denied(self.access, action.access) or self.why_not(action)

    def why_not(self, action: Action) -> str:
        """Why an act cannot be done now; "" where nothing is known to be in its way.

        A subclass adds its own reasons.
        """
        opener = BACK_AND_ON.get(action.id)
        if opener is None:
            return ""
        if action.title == self.NAME:
            return HERE
        return "" if self.desk is None else self.desk.why_not(BY_ID[opener])

    # --- acts ---------------------------------------------------------------------------

    def action_side(self, action_id: str) -> None:
        """What bindings call: do an act by its id."""
        if not self.is_current:
            return
        method = self._method(action_id)
        if method is None:
            self.refuse("This key does nothing on this screen. ? lists those that do.")
            return
        why = self.reason(BY_ID[action_id])
        if why:
            self.refuse(why)
            return
        if self.status_line.status.say:
            self.say("")
        if iscoroutinefunction(method):
            self.act(method, group=action_id)
            return
        try:
            method()
        except Exception as error:  # noqa: BLE001  # a fault of ours must not close the screen
            self.show_error(sentence_of(error))

    def act(
        self, run: Callable[[], Coroutine[object, object, None]], *, group: str = "side"
    ) -> None:
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

    async def take(self, event: Typed) -> bool:
        """Do what a key is bound to, or type it into the bar that is open."""
        bar = next((bar for bar in self.query(InputBar) if bar.is_open), None)
        if bar is not None:
            return await bar.take(event)
        if not isinstance(event, events.Key):
            return False
        if self._acting:
            self._early.append(event)
            return True
        if await self.app._check_bindings(event.key):  # noqa: SLF001
            return True
        if event.is_printable or is_function(event.key):
            self.refuse(unbound(event.key, event.character, self.keymap, WHERE))
            return True
        return False

    def early(self) -> events.Key | None:
        """The first of the keys that came while an act began, if one is left."""
        return self._early.popleft() if self._early else None

    def on_screen_suspend(self) -> None:
        """A dialog stands over this: keys that came while it was on its way are its."""
        self.app.screen.call_after_refresh(self._hand_on)

    def _hand_on(self) -> None:
        while (event := self.early()) is not None:
            self.app.post_message(event)

    def _method(self, action_id: str) -> Callable[[], Any] | None:
        if action_id in BACK_AND_ON:
            there = BACK_AND_ON[action_id]
            return partial(self.go_to, there) if there in BY_ID else None
        return getattr(self, "do_" + action_id.replace(".", "_"), None)

    def work(
        self, run: Callable[[], Coroutine[object, object, None]], *, group: str = "side"
    ) -> None:
        """Do something that takes time, or asks, beside the screen; a newer run of its group
        ends it. What goes wrong is shown as a sentence.
        """

        async def guarded() -> None:
            try:
                await run()
            except Exception as error:  # noqa: BLE001  # as above
                self.show_error(sentence_of(error))

        start(self, guarded, group=group, description=group, exclusive=True)

    def do_side_down(self) -> None:
        """One line down."""
        self.move(1)

    def do_side_up(self) -> None:
        """One line up."""
        self.move(-1)

    def do_side_first(self) -> None:
        """To the start."""
        self.edge(last=False)

    def do_side_last(self) -> None:
        """To the end."""
        self.edge(last=True)

    def do_side_page_up(self) -> None:
        """One page up."""
        self.page(-1)

    def do_side_page_down(self) -> None:
        """One page down."""
        self.page(1)

    def do_side_close(self) -> None:
        """Back to the workbench, with nothing chosen."""
        self.dismiss(None)

    def do_side_help(self) -> None:
        """Show the keys of this screen, those of the pane in use first."""
        from nfh_tui.screens.dialogs import side_table

        pane = self.pane_title
        title = f"Keys · {self.NAME}" + (f" · {pane}" if pane else "")
        table = side_table(pane or self.NAME, self.PANE_ACTS, self.acts(), self.reason)
        self.show_text(title, table)

    @property
    def pane_title(self) -> str:
        """What the pane in use is called; "" where there is one only."""
        return ""

    def do_side_palette(self) -> None:
        """Open the palette."""
        from nfh_tui.screens.palette import Palette

        self.app.push_screen(Palette(placeholder="An act by name…"))

    # --- moving, for a subclass to replace ----------------------------------------------

    @property
    def scroller(self) -> VerticalScroll:
        """What scrolls."""
        return self.query_one("#side-body", VerticalScroll)

    def move(self, by: int) -> None:
        """So many lines down."""
        self.scroller.scroll_relative(y=by, animate=False)

    def page(self, by: int) -> None:
        """So many pages down."""
        self.scroller.scroll_relative(y=by * self.scroller.size.height, animate=False)

    def edge(self, *, last: bool) -> None:
        """To the end or the start."""
        self.scroller.scroll_to(y=self.scroller.max_scroll_y if last else 0, animate=False)

    # --- closing, and dialogs -----------------------------------------------------------

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close and give back a query, once, however many keys were on their way."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    @property
    def desk(self) -> "Workbench | None":
        """The workbench that this stands over, None where there is none."""
        from nfh_tui.workbench.screen import Workbench

        return next((s for s in self.app.screen_stack if isinstance(s, Workbench)), None)

    def go_to(self, action_id: str) -> None:
        """Back, and there an act of the workbench, e.g. one that opens another screen."""
        desk = self.desk
        self.dismiss(None)
        if desk is not None:
            desk.action_act(action_id)

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

        Only in a coroutine that `work` runs.
        """
        from nfh_tui.screens.dialogs import ChooseDialog

        return await self.app.push_screen_wait(ChooseDialog(title, options, start=start))


EVERYTHING = "everything"
SIDEWAYS = frozenset({"side.left", "side.right"})
SOME_OTHERS = "finds these and some others"
ALONE = "Nothing stands beside this."
EVERY_ITEM = "The queue is of everything; so is this."
ONLY_FIRST = "opens the first of them"
ROOM_BEFORE = 48
"""Cells of the line of state that other things may take."""


class Panes(SideScreen):
    """Two panes of figures. PANES: their ids and titles.

    A subclass gives `lines`, and calls `paint` when what they are made of has come.
    narrowed: only what the queue's query finds is looked at.
    """

    PANES: ClassVar[tuple[tuple[str, str], ...]] = ()
    HORIZONTAL_BREAKPOINTS = [(0, "-one-pane"), (116, "-two-panes")]  # noqa: RUF012  # Textual's
    DEFAULT_CSS = """
    Panes {
        & #sheets { height: 1fr; }
        & .sheet-pane { width: 46%; height: 100%; background: $background; }
        & .second { width: 54%; background: $surface; }
        & FigureTable { height: 1fr; padding: 0 1; }
        &.-one-pane .sheet-pane { display: none; width: 100%; }
        &.-one-pane.-first .first { display: block; }
        &.-one-pane.-second .second { display: block; }
    }
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the ground takes them
        self.sheets = {name: FigureTable(id=name) for name, _ in self.PANES}
        self.pane_titles = {name: PaneTitle(id=f"{name}-title") for name, _ in self.PANES}
        first = self.PANES[0][0]
        self.pane = str(self.memory.get("pane", first))
        self.narrowed = bool(self.memory.get("narrowed")) and bool(self.query_now)

    def frame(self) -> ComposeResult:
        """The panes, each under its title."""
        with Horizontal(id="sheets"):
            for place, (name, _) in zip(("first", "second"), self.PANES, strict=True):
                with Vertical(classes=f"sheet-pane {place}"):
                    yield self.pane_titles[name]
                    yield self.sheets[name]

    def on_mount(self) -> None:
        """Draw what there is, and have the rest read."""
        self.show_pane(self.pane)
        self.paint_scope()
        self.read()

    def read(self) -> None:
        """Have what is shown read, in workers."""

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        """What a pane shows, in so many cells."""
        del pane, width
        return ()

    # --- drawing ------------------------------------------------------------------------

    def paint(self) -> None:
        """Draw both panes; each cursor is, or will be, where a key last put it."""
        kept = self.memory.get("stops")
        for name, sheet in self.sheets.items():
            wanted = kept.get(name) if isinstance(kept, dict) else None
            sheet.show(self.lines(name, self.room(sheet)), wanted)

    def room(self, sheet: FigureTable) -> int:
        """Cells that a line of a sheet may take, also while it is not shown."""
        return max(20, sheet.scrollable_content_region.width or self.app.size.width - 3)

    def on_resize(self) -> None:
        """Other widths make other lines."""
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        self.paint_titles()
        self.paint()

    def show_pane(self, pane: str) -> None:
        """Put a pane in use; where only one fits, it is the one shown."""
        self.pane = pane
        for place, (name, _) in zip(("first", "second"), self.PANES, strict=True):
            self.set_class(name == pane, f"-{place}")
            self.sheets[name].in_use = name == pane
        self.memory["pane"] = pane
        self.paint_titles()

    def paint_titles(self) -> None:
        """The line over each pane."""
        for name, words in self.PANES:
            others = ", ".join(other for one, other in self.PANES if one != name)
            hint = f"tab: {others}" if self.has_class("-one-pane") else ""
            title = Title(words, self.pane_note(name), active=name == self.pane, hint=hint)
            self.pane_titles[name].title = title

    def pane_note(self, pane: str) -> str:
        """What stands at the right of a pane's title."""
        del pane
        return ""

    def paint_scope(self) -> None:
        """Say of which items this is."""
        self.title_note(self.base or EVERYTHING)

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

    def do_side_scope(self) -> None:
        """Look at the items of the queue's query only, or at all of them."""
        self.narrowed = not self.narrowed
        self.memory["narrowed"] = self.narrowed
        self.paint_scope()
        self.read()

    # --- what is known already ----------------------------------------------------------

    def kept(self, name: str, key: object) -> object | None:
        """What was kept under a name, if it was for the same key; else None."""
        found = self.memory.get(name)
        return found[1] if isinstance(found, tuple) and found[0] == key else None

    def keep(self, name: str, key: object, value: object) -> None:
        """Keep something for the next time, in place of what was kept under the name."""
        self.memory[name] = (key, value)

    # --- moving -------------------------------------------------------------------------

    @property
    def sheet(self) -> FigureTable:
        """The sheet in use."""
        return self.sheets[self.pane]

    def move(self, by: int) -> None:
        """So many stops down."""
        self.sheet.move(by)

    def page(self, by: int) -> None:
        """So many pages down."""
        self.sheet.page(by)

    def edge(self, *, last: bool) -> None:
        """To the end or the start."""
        self.sheet.edge(last=last)

    def do_side_left(self) -> None:
        """One cell to the left."""
        self.sheet.move_across(-1)

    def do_side_right(self) -> None:
        """One cell to the right."""
        self.sheet.move_across(1)

    def do_side_pane(self) -> None:
        """Go to the other pane."""
        names = [name for name, _ in self.PANES]
        self.show_pane(names[(names.index(self.pane) + 1) % len(names)])

    def do_side_pane_back(self) -> None:
        """Go to the other pane."""
        self.do_side_pane()

    # --- reasons ------------------------------------------------------------------------

    def why_not(self, action: Action) -> str:
        """As the ground says, and where a figure has no items, or no neighbour."""
        if action.id == "side.open":
            stop = self.sheet.stop
            if stop is None or not (stop.act or stop.find):
                note = stop.note if stop is not None else ""
                return f"{note}. {NOTHING_TO_OPEN}" if note else NOTHING_TO_OPEN
        if action.id in SIDEWAYS and not self.sheet.beside:
            return ALONE
        if action.id == "side.scope" and not self.query_now:
            return EVERY_ITEM
        return super().why_not(action)

    @property
    def pane_title(self) -> str:
        """What the pane in use is called."""
        return dict(self.PANES)[self.pane]

    # --- opening ------------------------------------------------------------------------

    def on_figure_table_moved(self, message: FigureTable.Moved) -> None:
        """Say what one stands on, and remember it."""
        stop = message.place
        if not message.sheet.in_use:
            return
        kept = self.memory.setdefault("stops", {})
        if message.by_hand and isinstance(kept, dict) and stop is not None:
            kept[message.sheet.id] = stop.name
        self.say(_told(stop, self.app.size.width - ROOM_BEFORE))

    def do_side_open(self) -> None:
        """Show the items behind the figure one stands on."""
        stop = self.sheet.stop
        if stop is not None and stop.act:
            self.chosen(stop)
        elif stop is not None:
            self.meant = stop.total
            self.dismiss(stop.find)

    def chosen(self, stop: Target) -> None:
        """Do what a stop stands for that opens no items."""


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
