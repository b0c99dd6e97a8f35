"""The ground of the screens beside the workbench: a title, a body, a line of state, keys.

A screen of this kind gives `NAME` and `body`, and a method `do_ID` (dots as underscores) for
each act "side" of the registry that it wants. One that may take long, or asks something, is
a coroutine: it runs as a worker, the screen awake. Choosing closes the screen with a query;
the workbench shows what that finds.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from nfh_db.records import Annotator
from nfh_tui.actions import ACTIONS, BY_ID, FOOT_KEYS, Action
from nfh_tui.client import StoreClient
from nfh_tui.desk.faults import sentence_of
from nfh_tui.desk.work import start
from nfh_tui.keymap import Keymap
from nfh_tui.widgets.enduring import Enduring
from nfh_tui.widgets.status_line import (
    Foot,
    KeyLine,
    PaneTitle,
    Status,
    StatusLine,
    Title,
    Tone,
)

WHERE = "side"
ALWAYS = ("side.help", "side.close")
"""Acts that stand at the foot of each of these screens."""

BACK_AND_ON = {
    "side.agreement": "screen.agreement",
    "side.evaluation": "screen.evaluation",
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


class SideScreen(Enduring, Screen[str | None]):
    """A screen beside the workbench. Gives back a query to show, or None.

    memory: what the workbench keeps for the next time this screen is opened; a screen
    writes where one stands into it. query_now: what the workbench's queue is of.
    """

    NAME: ClassVar[str] = ""
    AUTO_FOCUS = ""
    COMMANDS: ClassVar = set()
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
        self.heading = PaneTitle(id="side-title")
        self.heading.title = Title(self.NAME, active=True)
        self.status_line = StatusLine()
        self.status_line.status = Status(mode=self.NAME.upper())
        self.key_line = KeyLine()

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
            (a for a in self.acts() if a.foot is not None), key=lambda a: a.foot or 0
        )
        always = [a for a in ranked if a.id in ALWAYS]
        others = [a for a in ranked if a.id not in ALWAYS]
        shown = (*others[: FOOT_KEYS - len(always)], *always)
        self.key_line.foot = Foot("", tuple((a.shown.split()[0], a.short) for a in shown))

    def acts(self) -> Sequence[Action]:
        """The acts that this screen does, with the person's own keys."""
        return [a for a in self.keymap.actions if a.where == WHERE and self._method(a.id)]

    # --- acts ---------------------------------------------------------------------------

    def action_side(self, action_id: str) -> None:
        """What bindings call: do an act by its id."""
        if not self.is_current:
            return
        method = self._method(action_id)
        if method is None:
            self.refuse("This key does nothing on this screen. ? lists those that do.")
            return
        if self.status_line.status.say:
            self.say("")
        if iscoroutinefunction(method):
            self.work(method, group=action_id)
            return
        try:
            method()
        except Exception as error:  # noqa: BLE001  # a fault of ours must not close the screen
            self.show_error(sentence_of(error))

    def _method(self, action_id: str) -> Callable[[], Any] | None:
        if action_id in BACK_AND_ON:
            there = BACK_AND_ON[action_id]
            return partial(self._go_to, there) if there in BY_ID else None
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
        """Show the keys of this screen."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        told: set[str] = set()
        for act in self.acts():
            title = act.listed or act.title
            if title not in told:
                told.add(title)
                words = Text.assemble(title, ("  " + act.description, "dim"))
                table.add_row(Text(act.shown, "bold"), words if act.listed is None else title)
        self.show_text(f"Keys · {self.NAME}", table)

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

    def _go_to(self, action_id: str) -> None:
        """Back, and from there to another screen."""
        desk: Any = next(s for s in self.app.screen_stack if hasattr(s, "action_act"))
        self.dismiss(None)
        desk.action_act(action_id)

    def show_text(self, title: str, body: str | Table) -> None:
        """Show a text until it is closed."""
        from nfh_tui.screens.dialogs import TextDialog

        self.app.push_screen(TextDialog(title, body))

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
