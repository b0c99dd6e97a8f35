"""The guidelines in the pane beside the passage, drawn line by line."""

from typing import ClassVar

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nfh_tui.guide_rows import guide_rows, heading_row
from nfh_tui.rows import Row
from nfh_tui.widgets.enduring import EnduringPane
from nfh_tui.widgets.painter import Painter

ROLES = ("title", "key", "name", "kind", "note")
"""Looks of text, each a component class `guide--NAME`."""


class GuideView(EnduringPane, ScrollView, can_focus=False, inherit_bindings=False):
    """Shows a text of guidelines. What is scrolled to stays while items come and go."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"guide--{role}" for role in ROLES}
    DEFAULT_CSS = """
    GuideView {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .guide--title { color: $text-primary; text-style: bold; }
        & > .guide--key { color: $text-accent; text-style: bold; }
        & > .guide--name { text-style: bold; }
        & > .guide--kind { text-style: italic; }
        & > .guide--note { text-style: dim; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._text = ""
        self._rows: tuple[Row, ...] = ()
        self._rows_width = 0
        self._painter = Painter(self, "guide", ROLES)

    def show(self, text: str) -> None:
        """Show a text; another one than before is shown from its top."""
        if text != self._text:
            self._text = text
            self._fill()
            self.scroll_to(y=0, animate=False, force=True)

    def turn_to(self, rule: str) -> bool:
        """Scroll to a rule, by its id; False where there is no such rule."""
        row = heading_row(self._rows, rule)
        if row is not None:
            self.scroll_to(y=row, animate=False, force=True)
        return row is not None

    def _fill(self) -> None:
        width = self._rows_width = self.scrollable_content_region.width
        self._rows = guide_rows(self._text, width) if width > 0 else ()
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        width = self.scrollable_content_region.width
        number = round(self.scroll_offset.y) + y
        if number >= len(self._rows):
            return self._painter.blank(width)
        strip = self._painter.strip(self._rows[number])
        return strip.crop_extend(0, width, self._painter.base)

    def notify_style_update(self) -> None:
        """Colours changed: make all looks anew."""
        super().notify_style_update()
        self._painter.forget()

    def on_resize(self) -> None:
        """Another width breaks rows elsewhere."""
        if self.scrollable_content_region.width != self._rows_width:
            self._fill()
