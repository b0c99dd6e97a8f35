"""Keys that act in the order in which they come, however fast they do.

Textual hands a key from the app to what has the focus, and from there up again. A character is
inserted on its way down, while what a key is bound to, as backspace is, is done only when it
is back at the app: by then characters typed later stand in the text. So where a key has its
place at once, in a line that is open or among the acts that wait, the app puts it there itself.
"""

import sys
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from textual import events
from textual.app import App
from textual.widget import Widget
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.widgets import TextArea

    Ground = App[Any]
else:
    Ground = object

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


class InOrder(Ground):
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
