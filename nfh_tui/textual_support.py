"""What Textual lacks: widgets that outlive faults, keys that act in order, messages of
background work, and text and colours by role.
"""

import os
import sys
import traceback
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import isawaitable
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._styles_cache import StylesCache
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.color import Color
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from nfh_db.errors import StoreError
from nfh_db.system import data_folder
from nfh_models.domain import AnswerError, PassageError
from nfh_models.errors import ModelsError
from nfh_tui.display_text import clip, glyphs, is_plain, visible, width_of
from nfh_tui.jobs.logs import open_private
from nfh_tui.widgets.passage_render import STEPS, Roles, Run

FILE_NAME = "faults.log"
MOST_BYTES = 200_000
"""A file of faults that has grown past this is begun anew."""


def is_ours(error: BaseException) -> bool:
    """True for an error whose own sentence was not written for the person."""
    return not isinstance(error, StoreError | ModelsError | AnswerError | PassageError)


def sentence_of(error: BaseException) -> str:
    """The error's own sentence where it was written for the person, else one about it."""
    if not is_ours(error):
        return str(error)
    return (
        f"Something went wrong that should not ({type(error).__name__}: {error}). "
        "What you did is kept; please report this."
    )


def note_fault(error: BaseException) -> None:
    """Keep where a fault of ours came from, for a report; that may fail without a word."""
    if not is_ours(error):
        return
    with suppress(OSError):
        path = data_folder() / FILE_NAME
        lines = "".join(traceback.format_exception(error))
        with os.fdopen(open_private(path), "a", encoding="utf-8", errors="replace") as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                file.truncate(0)
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n{lines}\n")


@dataclass
class PredictionReady(Message):
    """The predictor has stored a prediction of this anchor."""

    anchor_id: int


@dataclass
class PredictorChanged(Message):
    """The predictor started, stopped or fell over.

    words: for the line of state. sentence: what happened. off: it will not come back. aside:
    it works on, but cannot identify.
    """

    words: str
    sentence: str
    off: bool
    aside: bool = False

    def can_replace(self, message: Message) -> bool:
        """Only the latest state counts; what is said once, and no more, is not replaced."""
        return isinstance(message, PredictorChanged) and not self.aside


@dataclass
class ErrorRaised(Message):
    """Something could not be read or saved. sentence: what, where, what to do.

    title: over it, where it is said in a dialog; "" for the usual one.
    """

    sentence: str
    title: str = ""


@dataclass
class RowsRead(Message):
    """A file that is compared has been read so far. rows: how many."""

    rows: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest number counts."""
        return isinstance(message, RowsRead)


@dataclass
class BulkProgress(Message):
    """A bulk action has come so far. words: for the line of state."""

    words: str

    def can_replace(self, message: Message) -> bool:
        """Only the latest figure counts."""
        return isinstance(message, BulkProgress)


@dataclass
class WorkbenchReady(Message):
    """The workbench has drawn its first item, and begun with everything that it needs."""


def start(
    node: DOMNode,
    work: Callable[[], Coroutine[object, object, None]],
    *,
    group: str,
    description: str,
    exclusive: bool = False,
) -> None:
    """Run a coroutine function as a worker of `node`; errors go to the one handler.

    That is a `ErrorRaised` posted to the node: the screen shows it, and nothing else stops.
    The function is called when the worker begins: a coroutine made before that would never
    be awaited where a newer worker of an exclusive group comes first.
    """

    async def told() -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  # whatever it is, it must be told
            # Who leaves meanwhile closes the store under the reads that were under way.
            if node.is_running and node.app.is_running:
                note_fault(error)
                node.post_message(ErrorRaised(f"{description}: {sentence_of(error)}"))

    run: Callable[[], Coroutine[object, object, None]] = told
    node.run_worker(
        run,
        group=group,
        description=description,
        exclusive=exclusive,
        exit_on_error=False,
    )


# Widgets and screens that outlive their own faults.
#
# Textual ends a program at the first exception that a handler lets out, and stops the widget
# it came from for good. Here an exception ends only what it interrupted; the app is told.

if TYPE_CHECKING:
    Pump = MessagePump
    Drawn = Widget
else:
    Pump = Drawn = object


@runtime_checkable
class ReportsErrors(Protocol):
    """An app that shows faults of ours and goes on. endures: it does so now."""

    endures: bool

    def fault(self, error: Exception) -> None:
        """Tell of a fault."""


def endured(pump: MessagePump, error: Exception) -> bool:
    """Tell of a fault; False where it must end the program, as tests want it."""
    app = pump.app
    if not (isinstance(app, ReportsErrors) and app.endures):
        return False
    app.fault(error)
    return True


class Enduring(Pump):
    """A mixin, before the class it is mixed into: handlers that fail stop nothing else."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not endured(self, error):
                raise


class EnduringPane(Drawn):
    """The same for a widget that draws itself: what cannot be drawn leaves it empty."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not endured(self, error):
                raise

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part of the widget."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            if not endured(self, error):
                raise
            return [Strip.blank(crop.width)] * crop.height


class SteadyPane(EnduringPane, ScrollView, inherit_bindings=False):
    """A pane whose scrolling size stays the same while what it shows fits into it.

    Each change of a scrolling size makes Textual lay the whole screen out anew, which costs
    more than drawing an item; most items fit, and then nothing about the layout has changed.
    """

    def watch_virtual_size(self) -> None:
        """Have a scrollbar only where the pane is longer than it is high.

        Of a pane that has become lower Textual looks at its scrolling size of before, which
        was as high as the pane was, and does not look again once that is put right.
        """
        needed = self.virtual_size.height > self.container_size.height
        if self.show_vertical_scrollbar and not needed:
            self._refresh_scrollbars()

    def validate_virtual_size(self, size: Size) -> Size:
        """At least as high as the pane."""
        return Size(size.width, max(size.height, self.size.height))


FAINTEST, STRONGEST = 0.12, 0.55
"""Shares of the hue in the background of the lowest step and of the highest."""

Hues = tuple[Style, ...]


def hues(hue: Color, background: Color) -> Hues:
    """A style a step: the hue mixed into the background, more of it the higher the score.

    The terminal's own colours cannot be mixed: there the hue colours the word, from the middle
    on in bold, and the two highest steps are reversed.
    """
    if hue.ansi is not None or background.ansi is not None:
        return tuple(_own(hue, step) for step in range(STEPS))
    rise = (STRONGEST - FAINTEST) / (STEPS - 1)
    mixed = [background.blend(hue, FAINTEST + rise * step) for step in range(STEPS)]
    return tuple(Style(bgcolor=colour.rich_color) for colour in mixed)


def _own(hue: Color, step: int) -> Style:
    colour = hue.rich_color if hue.ansi is not None else None
    return Style(color=colour, bold=step >= STEPS // 2, reverse=step >= STEPS - 2)


# Keys that act in the order in which they come, however fast they do.
#
# Textual hands a key from the app to what has the focus, and from there up again. A character
# is inserted on its way down, while what a key is bound to, as backspace is, is done only when
# it is back at the app: by then characters typed later stand in the text. So where a key has
# its place at once, in a line that is open or among the commands that wait, the app puts it
# there itself.

if TYPE_CHECKING:
    from textual.widgets import TextArea

Typed = events.Key | events.Paste


@runtime_checkable
class TakesKeys(Protocol):
    """A screen that gives keys their place itself."""

    async def take(self, event: Typed) -> bool:
        """Do what a key or a paste asks for; False leaves it to Textual."""


async def type_into(field: "Input | TextArea", event: Typed) -> bool:
    """Do in a field what a key or a paste does there; False where it does nothing there."""
    if isinstance(event, events.Paste):
        pasted = field._on_paste(event)  # noqa: SLF001
        if isawaitable(pasted):
            await pasted
        return True
    # Textual has no other name for what follows: it is all that a field does with a key.
    bound = field._bindings  # noqa: SLF001
    for binding in bound.key_to_bindings.get(event.key, ()):
        if await field.app.run_action(binding.action, field):
            return True
    await field._on_key(event)  # noqa: SLF001
    return event._no_default_action  # noqa: SLF001


def _is_field(widget: Widget | None) -> "TypeGuard[Input | TextArea]":
    """True for what is typed into. The area is not loaded where none is shown."""
    areas = sys.modules.get("textual.widgets._text_area")
    return isinstance(widget, Input) or (
        areas is not None and isinstance(widget, areas.TextArea)
    )


class OrderedApp(Enduring, App[int], inherit_bindings=False):
    """An app that gives keys to a screen that takes them, else to the field that has the focus.

    Keys that neither takes go Textual's way.
    """

    async def on_event(self, event: events.Event) -> None:
        """Take a key at once, before it goes anywhere."""
        if isinstance(event, Typed) and not event.is_forwarded and await self._taken(event):
            return
        await super().on_event(event)

    async def _taken(self, event: Typed) -> bool:
        # A key says that the terminal is looked at, also where it did not say so itself.
        if isinstance(event, events.Key) and not self.app_focus:
            self.app_focus = True
        screen = self.screen
        if isinstance(screen, TakesKeys):
            return await screen.take(event)
        field = screen.focused
        return _is_field(field) and await type_into(field, event)

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top, and hold no lines of it.

        Textual remembers two colours for each widget's cache of lines, and with them the last
        thousand caches: a megabyte for every time that the keys are looked up.
        """
        forget = getattr(StylesCache.get_inner_outer, "cache_clear", None)
        if forget is not None:
            forget()
        return super().pop_screen()


# The colours of annotators' lanes, the same wherever a lane has its sign.
#
# Each lane has a digit as well: the key that adopts the answer. So colours only help the eye.

DARK = (
    *("#6fb1ff", "#ff9e64", "#e58bd8", "#d7d75f", "#5fd7d7", "#ff7b7b", "#b69cff"),
    *("#5fd787", "#cdb08a"),
)
LIGHT = (
    *("#0b5cad", "#a34000", "#9b1f87", "#6b5d00", "#00656b", "#b3202a", "#5a3fb0"),
    *("#1c6b2e", "#6b4f2a"),
)
TERMINAL = (
    *("ansi_blue", "ansi_red", "ansi_magenta", "ansi_yellow", "ansi_cyan", "ansi_green"),
    *("ansi_bright_blue", "ansi_bright_magenta", "ansi_bright_red"),
)
"""The colours of lanes 1 to 9: on a dark ground, on a light one, and the terminal's own."""


def lane_css(widget: str, prefix: str) -> str:
    """Rules for the component classes `PREFIX--lane-0` to `-lane-9` of a widget class.

    lane-0 is for annotators without a key: it has no colour.
    """
    rules = [f"{widget} > .{prefix}--lane-0 {{ text-style: bold; }}"]
    for look, colours in (("dark", DARK), ("light", LIGHT), ("ansi", TERMINAL)):
        for lane, colour in enumerate(colours, 1):
            rules.append(f"{widget}:{look} > .{prefix}--lane-{lane} {{ color: {colour}; }}")
    return "\n".join(rules)


FEW = 6
"""Lines that are drawn anew one by one; more of them are drawn with the whole pane."""

HEATS = ("heat", "cool")
"""The component classes, and the roles with a step behind them, of the heat map."""


class Painter:
    """Makes strips of runs. Looks are worked out once, until `forget`."""

    def __init__(self, widget: Widget, prefix: str, roles: Iterable[str]) -> None:
        self._widget = widget
        self._prefix = prefix
        self._roles = frozenset(roles)
        self._looks: dict[Roles, Style] = {}
        self._parts: dict[str, Style] = {}

    def forget(self) -> None:
        """Colours have changed."""
        self._looks.clear()
        self._parts.clear()

    @property
    def base(self) -> Style:
        """The look of a cell with nothing in it."""
        return self.look(())

    def look(self, roles: Roles) -> Style:
        """The look of roles, each laid on those before it."""
        known = self._looks.get(roles)
        if known is None:
            parts = self._parts or self._prepared()
            known = Style.combine((self._widget.rich_style, *(parts[r] for r in roles)))
            self._looks[roles] = known
        return known

    def _prepared(self) -> dict[str, Style]:
        """What each role changes of the look under it."""
        widget = self._widget
        for role in self._roles:
            name = f"{self._prefix}--{role}"
            self._parts[role] = widget.get_component_rich_style(name, partial=True)
        for heat in HEATS:
            name = f"{self._prefix}--{heat}"
            if name in widget.COMPONENT_CLASSES:
                hue = widget.get_component_styles(name).background
                for step, style in enumerate(hues(hue, widget.background_colors[1])):
                    self._parts[f"{heat}-{step}"] = style
        return self._parts

    def blank(self, width: int) -> Strip:
        """A line with nothing in it."""
        return Strip.blank(width, self.base)

    def strip(self, runs: Sequence[Run]) -> Strip:
        """A line of runs."""
        return Strip([Segment(run.text, self.look(run.roles)) for run in runs])


def refresh_lines(view: ScrollView, numbers: Collection[int]) -> None:
    """Draw anew those lines that are in view: one by one where they are few, else all."""
    top = view.scroll_offset.y
    seen = [number for number in numbers if top <= number < top + view.size.height]
    if len(seen) > FEW:
        view.refresh()
        return
    for number in seen:
        view.refresh_line(number)


def one_line(text: str) -> str:
    """The text as it is drawn, with line ends as a slash between spaces."""
    return visible(text.replace("\r\n", "\n").replace("\n", " / "))


def cut_left(text: str, width: int) -> str:
    """The end of a drawn text in at most `width` cells, "…" before it where it is longer."""
    if width <= 0:
        return ""
    if is_plain(text):
        return text if len(text) <= width else "…" + text[len(text) - width + 1 :]
    if width_of(text) <= width:
        return text
    kept: list[str] = []
    room = width - 1
    for glyph, cells in reversed(list(glyphs(text))):
        room -= cells
        if room < 0:
            break
        kept.append(glyph)
    return "…" + "".join(reversed(kept))


def pad(text: str, width: int) -> str:
    """The drawn text cut, or filled with spaces on the right, to exactly `width` cells."""
    text = clip(text, width)
    return text + " " * (width - width_of(text))
