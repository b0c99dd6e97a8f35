"""Lines of cells with a cursor that moves between stops: figures that lead to their items."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nfh_tui.display_text import width_of
from nfh_tui.textual_support import Painter, TolerantPane
from nfh_tui.widgets.figure_lines import Line, Target
from nfh_tui.widgets.figure_lines import stops as stops_of
from nfh_tui.widgets.passage_render import Run

CURSOR = "▸"
ROLES = ("head", "bold", "faint", "good", "bad", "on", "idle")


class FigureTable(TolerantPane, ScrollView, can_focus=False):
    """A table with a cursor on one of its stops.

    Colours repeat what signs and numbers show: a sign precedes the selected cell.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    FigureTable {
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        scrollbar-gutter: stable;
        color: $foreground;
        & > .sheet--head { color: $text-accent; text-style: bold; }
        & > .sheet--bold { text-style: bold; }
        & > .sheet--faint { text-style: dim; }
        & > .sheet--good { color: $text-success; }
        & > .sheet--bad { color: $text-error; }
        & > .sheet--on { text-style: reverse bold; }
        & > .sheet--idle { text-style: underline; }
        & > .sheet--heat { background: $primary; }
    }
    """

    @dataclass
    class Moved(Message):
        """The cursor is on another stop, or on none."""

        sheet: "FigureTable"
        place: Target | None
        by_hand: bool
        """A key moved it."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._stops: list[tuple[int, int, Target]] = []
        self._at = 0
        self._in_use = False
        self._painter = Painter(self, "sheet", ROLES)

    # --- content ------------------------------------------------------------------------

    def show(self, lines: Sequence[Line], name: str | None = None) -> None:
        """Replace the lines. The cursor stays on the stop with the same name, or goes to
        `name`.
        """
        wanted = name or (self.stop.name if self.stop else None)
        before = self._stops[self._at][0] if self._stops else 0
        self._lines = lines
        self._stops = list(stops_of(lines))
        names = [stop.name for _, _, stop in self._stops]
        if wanted in names:
            self._at = names.index(wanted)
        else:
            later = (n for n, (y, _, _) in enumerate(self._stops) if y >= before)
            self._at = next(later, max(0, len(self._stops) - 1)) if before else 0
        self._measure()
        self.refresh()
        self._tell()

    @property
    def stop(self) -> Target | None:
        """The selected stop; None if there is none."""
        return self._stops[self._at][2] if self._stops else None

    @property
    def in_use(self) -> bool:
        """True while keys move the cursor of this table."""
        return self._in_use

    @in_use.setter
    def in_use(self, in_use: bool) -> None:
        self._in_use = in_use
        self.refresh()
        if in_use:
            self._tell()

    # --- moving -------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Move to the next line with a stop, to its nearest stop."""
        if not self._stops:
            self.scroll_relative(y=by, animate=False)
            return
        y, x, _ = self._stops[self._at]
        lines = sorted({line for line, _, _ in self._stops})
        place = lines.index(y) + by
        if not 0 <= place < len(lines):
            # Scroll past the last stop, so that the rest can be read.
            self.scroll_relative(y=by, animate=False)
            return
        target = lines[place]
        here = self._column(y, x)
        there = [n for n, (line, _, _) in enumerate(self._stops) if line == target]
        self._go(min(there, key=lambda n: abs(self._column(target, self._stops[n][1]) - here)))

    def move_across(self, by: int) -> None:
        """Move to the next stop of the line."""
        if not self._stops:
            return
        place = self._at + by
        if 0 <= place < len(self._stops) and self._stops[place][0] == self._stops[self._at][0]:
            self._go(place)

    @property
    def beside(self) -> bool:
        """True if the line has another stop."""
        lines = [line for line, _, _ in self._stops]
        return bool(lines) and lines.count(lines[self._at]) > 1

    def page(self, by: int) -> None:
        """Move by about one page."""
        if not self._stops:
            self.scroll_relative(y=by * self.size.height, animate=False)
            return
        y = self._stops[self._at][0] + by * max(1, self.size.height - 2)
        self._go(
            min(range(len(self._stops)), key=lambda n: abs(self._stops[n][0] - y)),
        )

    def edge(self, *, last: bool) -> None:
        """Move to the first or the last stop."""
        self._go(len(self._stops) - 1 if last else 0)
        end = self.max_scroll_y if last else 0
        self.scroll_to(0, end, animate=False, force=True, immediate=True)

    def _go(self, place: int) -> None:
        if self._stops:
            self._at = max(0, min(place, len(self._stops) - 1))
            self._bring_into_view()
            self.refresh()
            self._tell(by_hand=True)

    def _tell(self, *, by_hand: bool = False) -> None:
        if self._in_use:
            self.post_message(self.Moved(self, self.stop, by_hand))

    # --- drawing ------------------------------------------------------------------------

    def _column(self, y: int, x: int) -> int:
        return sum(width_of(cell.text) for cell in self._lines[y][:x])

    def _measure(self) -> None:
        widths = (sum(width_of(cell.text) for cell in line) for line in self._lines)
        self.virtual_size = Size(max(widths, default=1), max(1, len(self._lines)))
        self._bring_into_view()

    def _bring_into_view(self) -> None:
        if not self._stops or not self.size.height:
            return
        y, x, _ = self._stops[self._at]
        height, width = self.size.height, self.scrollable_content_region.width
        top, start = round(self.scroll_offset.y), round(self.scroll_offset.x)
        first = next((line for line, _, _ in self._stops), 0)
        if y == first and y < height:
            top = 0
        elif not top + 1 <= y < top + height - 1:
            top = y - height // 2
        column = self._column(y, x)
        end = column + width_of(self._lines[y][x].text)
        if end > start + width or column < start:
            start = 0 if end <= width else end - width
        self.scroll_to(start, max(0, top), animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._measure()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = y + round(self.scroll_offset.y)
        if place >= len(self._lines):
            return self._painter.blank(width)
        here = self._stops[self._at][:2] if self._stops else None
        runs: list[Run] = []
        for x, cell in enumerate(self._lines[place]):
            if here == (place, x):
                on = "on" if self._in_use else "idle"
                runs.append(Run(_marked(cell.text), (*cell.roles, on)))
            else:
                runs.append(Run(cell.text, cell.roles))
        strip = self._painter.strip(runs)
        start = round(self.scroll_offset.x)
        return strip.crop(start, start + width).extend_cell_length(width, self._painter.base)


def _marked(text: str) -> str:
    """Put the cursor's sign before the first letter of a text, in place of a space."""
    start = len(text) - len(text.lstrip(" "))
    place = max(0, start - 1)
    return f"{text[:place]}{CURSOR}{text[place + 1 :]}" if start else CURSOR + text[1:]
