"""A screen of figures: two sheets beside each other, or one at a time where room is short."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from nfh_db.errors import QueryError
from nfh_db.query import Query, parse
from nfh_tui.actions import Action
from nfh_tui.screens.side import SideScreen
from nfh_tui.sheets.line import NOTHING_TO_OPEN, Line, Stop
from nfh_tui.widgets.sheet import Sheet
from nfh_tui.widgets.status_line import PaneTitle, Title

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
        & Sheet { height: 1fr; padding: 0 1; }
        &.-one-pane .sheet-pane { display: none; width: 100%; }
        &.-one-pane.-first .first { display: block; }
        &.-one-pane.-second .second { display: block; }
    }
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the ground takes them
        self.sheets = {name: Sheet(id=name) for name, _ in self.PANES}
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

    def room(self, sheet: Sheet) -> int:
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
    def sheet(self) -> Sheet:
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

    def on_sheet_moved(self, message: Sheet.Moved) -> None:
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

    def chosen(self, stop: Stop) -> None:
        """Do what a stop stands for that opens no items."""


def _told(stop: Stop | None, room: int) -> str:
    """What is said of a stop; its query, too, where it fits: no line is to come and go."""
    if stop is None:
        return ""
    if stop.find is None or stop.act:
        return stop.note
    other = ONLY_FIRST if "id:" in stop.find else SOME_OTHERS
    behind = "" if stop.exact else f" ({other})"
    whole = f"{stop.note}{behind}  {stop.find}"
    return whole if len(whole) <= room else f"{stop.note}{behind}"
