"""The ground of the screens beside the workbench: a title, a body, a line of state, keys.

A screen of this kind gives `NAME` and `body`, and a method `do_ID` (dots as underscores) for
each act "side" of the registry that it wants. One that may take long, or asks something, is
a coroutine: it runs as a worker, the screen awake. Choosing closes the screen with a query;
the workbench shows what that finds.
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
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from nfh_db.records import Annotator, Role
from nfh_tui.actions import ACTIONS, BY_ID, FOOT_KEYS, Access, Action
from nfh_tui.client import StoreClient
from nfh_tui.desk.faults import sentence_of
from nfh_tui.desk.reasons import denied, is_function, unbound
from nfh_tui.desk.work import start
from nfh_tui.keymap import Keymap
from nfh_tui.widgets.enduring import Enduring
from nfh_tui.widgets.in_order import Typed
from nfh_tui.widgets.query_bar import InputBar
from nfh_tui.widgets.status_line import (
    Foot,
    KeyLine,
    PaneTitle,
    Status,
    StatusLine,
    Title,
    Tone,
)

if TYPE_CHECKING:
    from nfh_tui.screens.desk import Desk

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
        from nfh_tui.screens.helping import side_table

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
    def desk(self) -> "Desk | None":
        """The workbench that this stands over, None where there is none."""
        from nfh_tui.screens.desk import Desk

        return next((s for s in self.app.screen_stack if isinstance(s, Desk)), None)

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
