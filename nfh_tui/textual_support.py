"""Extensions of Textual: widgets that survive faults, ordered key handling, messages of
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
from types import SimpleNamespace
from typing import TYPE_CHECKING, Protocol, TypeGuard, cast, runtime_checkable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._styles_cache import StylesCache
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from nfh_db.errors import GoneError, StoreError
from nfh_db.system import data_folder
from nfh_models import ModelsError
from nfh_models.domain import AnswerError, PassageError
from nfh_tui.actions import ACTIONS
from nfh_tui.display_text import clip, visible, width_of
from nfh_tui.jobs.logs import open_private
from nfh_tui.widgets.passage_render import STEPS, Roles, Run

# Terminals send alt with a digit as escape and the digit. Textual reads characters such as £
# there, which a keyboard may have as a key of its own.
cast("dict[str, object]", ANSI_SEQUENCES_KEYS).update(
    {f"\x1b{n}": (SimpleNamespace(value=f"alt+{n}"),) for n in range(1, 10)}
)

FILE_NAME = "faults.log"
MOST_BYTES = 200_000
"""Bytes; a larger file of faults is started again."""


def is_ours(error: BaseException) -> bool:
    """Return True for an error whose message was not written for users."""
    return not isinstance(error, StoreError | ModelsError | AnswerError | PassageError)


def sentence_of(error: BaseException) -> str:
    """Return the error's message if it was written for users, else a sentence about the
    error.
    """
    if not is_ours(error):
        return str(error)
    return (
        f"An unexpected error occurred ({type(error).__name__}: {error}). Your work is kept; "
        "please report this."
    )


def note_fault(error: BaseException) -> None:
    """Append the traceback of a fault to a file, for a report; errors of the write are
    ignored.
    """
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
    """The predictor has stored a prediction for this anchor."""

    anchor_id: int


@dataclass
class PredictorChanged(Message):
    """The state of the predictor has changed.

    words: for the status line. sentence: what happened. off: it will not restart. aside: it
    works, but cannot identify.
    """

    words: str
    sentence: str
    off: bool
    aside: bool = False

    def can_replace(self, message: Message) -> bool:
        """A newer state replaces this one, unless `aside`, which is reported only once."""
        return isinstance(message, PredictorChanged) and not self.aside


@dataclass
class ErrorRaised(Message):
    """Something could not be read or saved.

    sentence: what, where, and what to do. title: of the dialog; empty for the default. lost:
    the cause is that files of the open database are gone.
    """

    sentence: str
    title: str = ""
    lost: bool = False


@dataclass
class WorkProgress(Message):
    """Progress of long work in another thread. words: for the status line."""

    words: str

    def can_replace(self, message: Message) -> bool:
        """Only the latest progress counts."""
        return isinstance(message, WorkProgress)


@dataclass
class WorkbenchReady(Message):
    """The workbench has shown its first item and started all its parts."""


def start(
    node: DOMNode,
    work: Callable[[], Coroutine[object, object, None]],
    *,
    group: str,
    description: str,
    exclusive: bool = False,
) -> None:
    """Run a coroutine function as a worker of `node`. Errors are posted to the node as
    ErrorRaised.

    Takes a function because a coroutine object would never be awaited if a newer worker of an
    exclusive group cancels this one before its start.
    """

    async def told() -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  # every fault is reported
            # On exit the store may be closed under reads that are still running.
            if node.is_running and node.app.is_running:
                note_fault(error)
                sentence = f"{description}: {sentence_of(error)}"
                node.post_message(ErrorRaised(sentence, lost=isinstance(error, GoneError)))

    run: Callable[[], Coroutine[object, object, None]] = told
    node.run_worker(
        run,
        group=group,
        description=description,
        exclusive=exclusive,
        exit_on_error=False,
    )


def bindings(method: str, where: str = "") -> list[BindingType]:
    """Return the keys of all actions of a place as Textual bindings, under the action ids.

    method: name of the screen's action that runs an action by its id.
    """
    return [
        Binding(",".join(a.keys), f"{method}('{a.id}')", a.title, show=False, id=a.id)
        for a in ACTIONS
        if a.keys and a.where == where
    ]


def action_provider() -> type:
    """Return the palette's provider; imported when the palette opens."""
    from nfh_tui.screens.dialogs import ActionProvider

    return ActionProvider


# Widgets and screens that survive their own faults.
#
# Textual ends the program at the first exception of a handler, and stops the widget
# permanently. With these classes an exception ends only the handler; the app reports it.

if TYPE_CHECKING:
    Pump = MessagePump
    Drawn = Widget
else:
    Pump = Drawn = object


@runtime_checkable
class ReportsErrors(Protocol):
    """An app that reports faults and continues."""

    endures: bool
    """False, as in tests, if faults end the program."""

    def fault(self, error: Exception) -> None:
        """Tell of a fault."""


def report_fault(pump: MessagePump, error: Exception) -> bool:
    """Report a fault; returns False if it must end the program."""
    app = pump.app
    if not (isinstance(app, ReportsErrors) and app.endures):
        return False
    app.fault(error)
    return True


class Tolerant(Pump):
    """Mixin for a screen or app, listed before its base class: continues after a failed
    handler.
    """

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not report_fault(self, error):
                raise


class TolerantPane(Drawn):
    """Mixin for a widget that draws itself with a Painter: draws nothing if drawing fails."""

    _painter: "Painter"

    def notify_style_update(self) -> None:
        """Draw again, since any colour may have changed."""
        super().notify_style_update()
        self._painter.forget()
        self.refresh()

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not report_fault(self, error):
                raise

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a region; blank lines if drawing fails."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            if not report_fault(self, error):
                raise
            return [Strip.blank(crop.width)] * crop.height


class StablePane(TolerantPane, ScrollView, inherit_bindings=False):
    """A pane whose virtual size is at least its own size, and may change without a layout.

    In Textual, a change of a virtual size lays out the whole screen again, which costs more
    than drawing an item. Here only the scrollbars follow it.
    """

    virtual_size = Reactive(Size(0, 0))

    def watch_virtual_size(self, size: Size) -> None:
        """Fit the scrollbars and the scroll position."""
        self._scroll_update(size)

    def validate_virtual_size(self, size: Size) -> Size:
        """Return at least the height of the pane."""
        return Size(size.width, max(size.height, self.size.height))


def send_changes(widgets: Iterable[Widget]) -> None:
    """Send to the screen what these widgets and their scrollbars have to draw.

    Textual does it in the task of each widget. The first to come starts a frame, and those that
    come too late for it wait for the next one, 16 ms later.
    """
    for widget in widgets:
        widget._check_refresh()  # noqa: SLF001  # the only access to it
        if widget.show_vertical_scrollbar:
            widget.vertical_scrollbar._check_refresh()  # noqa: SLF001


FAINTEST, STRONGEST = 0.12, 0.55
"""Share of the hue in the background of the lowest and the highest step."""

Hues = tuple[Style, ...]


def heat_styles(hue: Color, background: Color) -> Hues:
    """Return one style per step: the higher the score, the more of the hue in the background.

    The terminal's own colours cannot be mixed. There the hue colours the text, in bold from the
    middle step on, and reversed in the two highest.
    """
    if hue.ansi is not None or background.ansi is not None:
        return tuple(_own(hue, step) for step in range(STEPS))
    rise = (STRONGEST - FAINTEST) / (STEPS - 1)
    mixed = [background.blend(hue, FAINTEST + rise * step) for step in range(STEPS)]
    return tuple(Style(bgcolor=colour.rich_color) for colour in mixed)


def _own(hue: Color, step: int) -> Style:
    colour = hue.rich_color if hue.ansi is not None else None
    return Style(color=colour, bold=step >= STEPS // 2, reverse=step >= STEPS - 2)


# Ordered key handling.
#
# Textual passes a key from the app to the focused widget and back up. A character is inserted
# on the way down, but a bound action such as backspace runs at the app, after characters that
# were typed later. So the app itself passes a key to its target, an open input or the command
# queue, before Textual does.

if TYPE_CHECKING:
    from textual.widgets import TextArea

Typed = events.Key | events.Paste


@runtime_checkable
class TakesKeys(Protocol):
    """A screen that handles keys before Textual."""

    async def take(self, event: Typed) -> bool:
        """Handle a key or a paste; returns False to leave it to Textual."""


async def type_into(field: "Input | TextArea", event: Typed) -> bool:
    """Apply a key or a paste to a field; returns False if the field does not use it."""
    if isinstance(event, events.Paste):
        pasted = field._on_paste(event)  # noqa: SLF001
        if isawaitable(pasted):
            await pasted
        return True
    # The private name is the only access to the key handling of a field.
    bound = field._bindings  # noqa: SLF001
    for binding in bound.key_to_bindings.get(event.key, ()):
        if await field.app.run_action(binding.action, field):
            return True
    await field._on_key(event)  # noqa: SLF001
    return event._no_default_action  # noqa: SLF001


def _is_field(widget: Widget | None) -> "TypeGuard[Input | TextArea]":
    """Return True for an input or a text area. Does not import TextArea if none exists."""
    areas = sys.modules.get("textual.widgets._text_area")
    return isinstance(widget, Input) or (
        areas is not None and isinstance(widget, areas.TextArea)
    )


class OrderedApp(Tolerant, App[int], inherit_bindings=False):
    """An app that passes keys to the screen if it is a TakesKeys, else to the focused field.

    Textual handles the other keys.
    """

    async def on_event(self, event: events.Event) -> None:
        """Handle a key at once, before other handlers."""
        if isinstance(event, Typed) and not event.is_forwarded and await self._taken(event):
            return
        await super().on_event(event)

    async def _taken(self, event: Typed) -> bool:
        # A key proves that the terminal has the focus, even if the terminal does not report it.
        if isinstance(event, events.Key) and not self.app_focus:
            self.app_focus = True
        screen = self.screen
        if isinstance(screen, TakesKeys):
            return await screen.take(event)
        field = screen.focused
        return _is_field(field) and await type_into(field, event)

    def pop_screen(self) -> AwaitComplete:
        """Close the top screen and clear a cache of Textual.

        The cache holds two colours for each cache of lines, and with them the last thousand
        caches: one megabyte for each time the help is opened.
        """
        forget = getattr(StylesCache.get_inner_outer, "cache_clear", None)
        if forget is not None:
            forget()
        return super().pop_screen()


# Colours of annotators' lanes, the same wherever a lane is shown.
#
# Each lane has a digit as well, the key that adopts the answer; colours are redundant.

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
"""Colours of lanes 1 to 9 on a dark background, on a light one, and in the terminal's
palette."""


def lane_css(widget: str, prefix: str) -> str:
    """Return CSS for the classes `PREFIX--lane-0` to `-lane-9` of a widget class.

    lane-0 is for annotators without a key and has no colour.
    """
    rules = [f"{widget} > .{prefix}--lane-0 {{ text-style: bold; }}"]
    for look, colours in (("dark", DARK), ("light", LIGHT), ("ansi", TERMINAL)):
        for lane, colour in enumerate(colours, 1):
            rules.append(f"{widget}:{look} > .{prefix}--lane-{lane} {{ color: {colour}; }}")
    return "\n".join(rules)


FEW = 6
"""Lines; up to this many are redrawn one by one, more of them with the whole pane."""

HEATS = ("heat", "cool")
"""Classes of the heat map, and prefixes of its roles, which a step follows."""


class Painter:
    """Converts runs into strips. Styles are cached until `forget`.

    The style of a role is that of the class `PREFIX--ROLE` below the widget. It is computed
    when it is first drawn: Textual computes those of all COMPONENT_CLASSES of a widget whenever
    a class of the widget or of a parent changes, for the workbench several hundred.
    """

    def __init__(self, widget: Widget, prefix: str, roles: Collection[str]) -> None:
        self._widget = widget
        self._prefix = prefix
        self._roles = roles
        self._looks: dict[Roles, Style] = {}
        self._parts: dict[str, Style] = {}

    def forget(self) -> None:
        """Clear the cache, because colours have changed."""
        self._looks.clear()
        self._parts.clear()

    @property
    def base(self) -> Style:
        """The style of an empty cell."""
        return self.look(())

    def look(self, roles: Roles) -> Style:
        """Return the style of roles; later ones override earlier ones."""
        if (known := self._looks.get(roles)) is None:
            known = Style.combine((self._widget.rich_style, *map(self._part, roles)))
            self._looks[roles] = known
        return known

    def _part(self, role: str) -> Style:
        """Return what a role changes in the style below it."""
        if (known := self._parts.get(role)) is None:
            heat, _, step = role.rpartition("-")
            if heat in HEATS and step.isdecimal():
                hue, ground = self._styles(heat).background, self._widget.background_colors[1]
                known = heat_styles(hue, ground)[int(step)]
            elif role in self._roles:
                known = self._styles(role).partial_rich_style
            else:
                raise KeyError(f"{self._prefix} has no role {role!r}")
            self._parts[role] = known
        return known

    def _styles(self, role: str) -> RenderStyles:
        node = DOMNode(classes=f"{self._prefix}--{role}")
        node._attach(self._widget)  # noqa: SLF001  # as Textual does it
        self._widget.app.stylesheet.apply(node)
        return node.styles

    def blank(self, width: int) -> Strip:
        """Return an empty line of `width` cells."""
        return Strip.blank(width, self.base)

    def strip(self, runs: Sequence[Run]) -> Strip:
        return Strip([Segment(run.text, self.look(run.roles)) for run in runs])

    def row(self, rows: Sequence[Sequence[Run]], number: int, width: int) -> Strip:
        """Return a row in exactly `width` cells; an empty line where there is none."""
        if number >= len(rows):
            return self.blank(width)
        return self.strip(rows[number]).crop_extend(0, width, self.base)


def refresh_lines(view: ScrollView, numbers: Collection[int]) -> None:
    """Redraw the visible ones of these lines, one by one up to FEW, else the whole pane."""
    top, height = view.scroll_offset.y, view.size.height
    seen = [number for number in numbers if top <= number < top + height]
    if len(seen) > FEW:
        view.refresh()
        return
    for number in seen:
        view.refresh_line(number)


def one_line(text: str) -> str:
    """Return the visible form of a text in one line; a line end becomes a slash between
    spaces.
    """
    return visible(text.replace("\r\n", "\n").replace("\n", " / "))


def pad(text: str, width: int) -> str:
    """Cut a drawn text, or pad it on the right, to exactly `width` cells."""
    text = clip(text, width)
    return text + " " * (width - width_of(text))
