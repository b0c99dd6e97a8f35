"""Widgets and screens that outlive their own faults.

Textual ends a program at the first exception that a handler lets out, and stops the widget
it came from for good. Here an exception ends only what it interrupted; the app is told.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    Pump = MessagePump
    Drawn = Widget
else:
    Pump = Drawn = object


@runtime_checkable
class Tells(Protocol):
    """An app that shows faults of ours and goes on. endures: it does so now."""

    endures: bool

    def fault(self, error: Exception) -> None:
        """Tell of a fault."""


def endured(pump: MessagePump, error: Exception) -> bool:
    """Tell of a fault; False where it must end the program, as tests want it."""
    app = pump.app
    if not (isinstance(app, Tells) and app.endures):
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


class EnduringPane(Enduring, Drawn):
    """The same for a widget that draws itself: what cannot be drawn leaves it empty."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part of the widget."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            if not endured(self, error):
                raise
            return [Strip.blank(crop.width)] * crop.height
