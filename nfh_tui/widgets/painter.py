"""From roles to colours: the looks of a widget's component classes, laid on each other."""

from collections.abc import Collection, Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from nfh_tui.passage_paint import Roles, Run
from nfh_tui.widgets.heat import hues

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
