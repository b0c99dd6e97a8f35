"""The passage widget: words, speakers, the anchor, heads, gold, scores, and the token
cursor.
"""

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip

from nfh_db.records import AnchorItem
from nfh_tui.editor.state import EditState
from nfh_tui.textual_support import Painter, StablePane, lane_css, refresh_lines
from nfh_tui.widgets.passage_layout import (
    NO_ROOMS,
    PassageLayout,
    Rooms,
    TurnLayout,
    TurnWindow,
    lay_out,
)
from nfh_tui.widgets.passage_render import (
    ROLES,
    Heat,
    PassageMarks,
    Run,
    Warmth,
    changed,
    foot,
    heat_foot,
    judging,
    marks,
    paint,
    rooms,
    sign_cells,
    warmth,
    window,
)

MARGIN = 2
"""Lines above and below the cursor that stay visible if the passage is longer than the pane."""

LAYOUTS = 4
"""Cached layouts of a turn, on average, for other items of the passage and other widths."""


LOOKS = """
PassageView {
    overflow-x: hidden;
    scrollbar-size-vertical: 1;
    scrollbar-gutter: stable;
    & > .passage--gutter { text-style: dim; }
    & > .passage--gutter-here { color: $text-primary; }
    & > .passage--rule { color: $text-secondary; text-style: dim; }
    & > .passage--heat { background: $accent; }
    & > .passage--cool { background: $primary; }
    & > .passage--heat-sign { color: $text-accent; }
    & > .passage--cool-sign { color: $text-primary; }
    & > .passage--undecided, & > .passage--decided { text-style: dim underline; }
    & > .passage--decided-sign { text-style: dim not underline; }
    & > .passage--gold { color: $text-warning; text-style: italic; }
    & > .passage--gold-sign { color: $text-warning; text-style: not italic; }
    & > .passage--differs { text-style: underline; }
    & > .passage--differs-sign { text-style: bold reverse not underline; }
    & > .passage--proposed { color: $text-primary; text-style: underline; }
    & > .passage--proposed-sign { color: $text-primary; text-style: bold not underline; }
    & > .passage--anchor { color: $primary; background: $background; text-style: bold reverse; }
    & > .passage--anchor-sign { color: $primary; text-style: bold not reverse; }
    & > .passage--head, & > .passage--added { color: $text-success; text-style: underline; }
    & > .passage--noun { text-style: bold; }
    & > .passage--head-sign { color: $text-success; text-style: bold not underline; }
    & > .passage--removed { text-style: dim strike; }
    & > .passage--removed-sign { color: $text-error; }
    & > .passage--offered { color: $text-warning; text-style: underline; }
    & > .passage--span { background: $secondary-muted; text-style: underline; }
    & > .passage--span-sign { color: $text-secondary; text-style: bold not underline; }
    & > .passage--cursor {
        color: $accent; background: $background; text-style: bold reverse underline;
    }
    & > .passage--cursor-sign { color: $accent; text-style: bold not reverse not underline; }
    &:ansi > .passage--span { background: transparent; }
    & > .passage--hint { color: $warning; background: $background; text-style: bold reverse; }
    & > .passage--hushed { text-style: dim; }
    & > .passage--foot { background: $panel; }
    & > .passage--foot-faint { text-style: dim; }
}
""" + lane_css("PassageView", "passage")
"""Default CSS of the passage."""


LOW = 10
"""Rows; a lower pane shows only the first line of the heat map's legend."""


class PassageView(StablePane, can_focus=True, inherit_bindings=False):
    """Shows the passage of one item and the answer being edited."""

    ALLOW_SELECT = False

    DEFAULT_CSS = LOOKS

    whole = Reactive(default=False)
    """The pane gets as many rows as the text has."""

    class LaidOut(Message):
        """The lines have been broken again, which may change the number of rows needed."""

    class TokenClicked(Message):
        def __init__(self, view: "PassageView", token: int) -> None:
            super().__init__()
            self.view = view
            self.token = token

        @property
        def control(self) -> "PassageView":
            return self.view

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id, classes=classes)
        self._shown: AnchorItem | None = None
        self._edit: EditState | None = None
        self._heat = Heat.OFF
        self._other: str | None = None
        self._windowed = False
        self._warm: dict[int, Warmth] = {}
        self._rooms: Rooms = NO_ROOMS
        self._letters: dict[int, int] = {}
        self._window: TurnWindow | None = None
        self._marks = PassageMarks()
        self._plan: PassageLayout | None = None
        self._laid: tuple[AnchorItem, dict[object, TurnLayout]] | None = None
        self._strips: dict[int, Strip] = {}
        self._heat_lines: tuple[tuple[Run, ...], ...] = ()
        self._legend = 0
        self._foot_size = 0
        self._turned_to = 0
        self.brief = False
        """The legend of the heat map has one line, to leave room for other panes."""
        self._painter = Painter(self, "passage", ROLES)

    def _refresh_scrollbars(self) -> None:
        # A scrollbar until the pane has grown would cost two layouts.
        if not self.whole or self.virtual_size.height <= self.container_size.height:
            super()._refresh_scrollbars()

    def watch_whole(self) -> None:
        """Show or hide the scrollbar."""
        self._scroll_update(self.virtual_size)

    # --- content ------------------------------------------------------------------------

    def show(
        self,
        item: AnchorItem | None,
        state: EditState | None,
        *,
        heat: Heat = Heat.OFF,
        other: str | None = None,
        windowed: bool = False,
    ) -> None:
        """Show an item and the answer being edited; None for an empty pane.

        heat: the scores to show. other: the model to compare with; None for the newest one.
        windowed: marks the bounds of the turns that voters saw. A new item is scrolled to its
        anchor; otherwise the scroll position stays unless the cursor would leave the pane.
        """
        same = item is not None and self._shown is not None and same_text(item, self._shown)
        known = None if self._shown is None else self._shown.anchor_id
        anew = not same or item is None or item.anchor_id != known
        moved = state is not None and (self._edit is None or state.cursor != self._edit.cursor)
        warm_as_before = item is self._shown and (heat, other) == (self._heat, self._other)
        self._shown, self._edit = item, state
        self._heat, self._other, self._windowed = heat, other, windowed
        if not warm_as_before:
            self._warm = {} if item is None else warmth(item, heat, other)
        if anew:
            self._letters = {}
        ground = self._rooms, self._window
        self._make_room()
        if not same or ground != (self._rooms, self._window):
            self._lay_out()
        if not warm_as_before:
            self._explain_heat()
        self._mark()
        if anew:
            self._turn_to_anchor()
        elif moved:
            self._keep_in_view()

    def _explain_heat(self) -> None:
        """Build the legend of the heat map."""
        before, width = len(self._heat_lines), self.scrollable_content_region.width
        self._heat_lines, self._legend = (), 0
        if self._shown is not None and width > 0:
            lines = heat_foot(self._shown, self._heat, self._other, width)
            self._legend = len(lines)
            low = self.brief or self.size.height < min(LOW, self.rows_needed)
            self._heat_lines = lines[:1] if low else lines
        if before != len(self._heat_lines):
            self._size_up()
        self.refresh()

    def _mark(self) -> None:
        """Compute the marks on the words, and redraw the lines whose marks have changed."""
        if self._shown is None or self._plan is None:
            return
        before, self._marks = self._marks, marks(self._shown, self._edit, self._warm)
        tokens = changed(before, self._marks)
        numbers = {line for token in tokens for line in self._plan.lines_of(token)}
        for number in numbers:
            self._strips.pop(number, None)
        refresh_lines(self, numbers)
        size = self._foot_size
        self._size_up()
        if size != self._foot_size:
            self.refresh()
            self._keep_in_view()
        for row in range(self._rows, self._space):
            self.refresh_line(self.scroll_offset.y + row)

    # --- layout -------------------------------------------------------------------------

    def _make_room(self) -> None:
        """Compute the width of signs beside words and between turns; independent of the
        answer, except while hints are shown.
        """
        item, self._rooms, self._window = self._shown, NO_ROOMS, None
        edit = self._edit
        hints = {} if edit is None else {token: len(label) for token, label in edit.hints}
        # A cell stays until the hints close: hints follow the view, which moves with the cells.
        self._letters = hints and {
            token: max(self._letters.get(token, 0), hints.get(token, 0))
            for token in self._letters.keys() | hints
        }
        if item is not None:
            votes = judging(edit)
            self._rooms = rooms(
                item,
                votes=votes,
                heat=self._warm,
                cells=sign_cells(self._heat),
                begun=()
                if edit is None
                else (*edit.began.heads, *(edit.heads if hints else ())),
                letters=self._letters,
            )
            self._window = window(item) if votes and self._windowed else None

    def _lay_out(self) -> None:
        """Lay out the passage for the current width; does nothing before there is a width."""
        before, self._plan = self._plan, None
        self._strips.clear()
        self._marks = PassageMarks()
        width = self.scrollable_content_region.width
        if self._shown is None or width <= 0:
            self.virtual_size = Size(width, 0)
            self.refresh()
            return
        self._plan = self._planned(self._shown, width)
        self._size_up()
        self._stay(before, self._plan)
        self.refresh()

    def _size_up(self) -> None:
        """Set the virtual size to the lines and the legend below them."""
        if self._plan is None or self._shown is None:
            return
        lines = len(self._plan.lines)
        self._foot_size = 0
        if lines > self._space > 1:
            self._foot_size = len(foot(self._plan, self._shown.passage, self._edit, 0, lines))
            lines += self.size.height - max(1, self._rows)
        self.virtual_size = Size(self._plan.width, lines)

    def _stay(self, before: PassageLayout | None, now: PassageLayout) -> None:
        """Keep the cursor's line at the same row after signs have moved words."""
        cursor = 0 if self._edit is None else self._edit.cursor
        if before is None or before.tokens != now.tokens or cursor >= now.tokens:
            return
        by = now.spot(cursor).line - before.spot(cursor).line
        if by:
            self.scroll_to(y=max(0, self.scroll_offset.y + by), animate=False, force=True)

    def _planned(self, item: AnchorItem, width: int) -> PassageLayout:
        laid = self._laid
        most = LAYOUTS * len(item.passage.turns)
        if laid is None or not same_text(item, laid[0]) or len(laid[1]) > most:
            self._laid = laid = item, {}
        return lay_out(item.passage, width, self._rooms, self._window, laid[1])

    @property
    def rows_needed(self) -> int:
        """Rows that the whole passage needs, with the heat map's legend."""
        lines = 0 if self._plan is None else len(self._plan.lines)
        return lines + (min(self._legend, 1) if self.brief else self._legend)

    # --- scrolling ----------------------------------------------------------------------

    @property
    def _space(self) -> int:
        """Rows above the heat map's legend."""
        return self.size.height - len(self._heat_lines)

    @property
    def _overflows(self) -> bool:
        """True if the passage is longer than the pane, so that the legend covers its last
        rows.
        """
        return self._foot_size > 0

    @property
    def _rows(self) -> int:
        """Lines of the passage that fit into the pane."""
        return max(1, self._space - self._foot_size)

    def _turn_to_anchor(self) -> None:
        """Scroll to the anchor, with more lines before than after it, and to the cursor."""
        if self._plan is None or self._shown is None:
            return
        line = self._plan.spot(self._shown.anchor.start).line
        top = line - self._rows * 2 // 3 if self._overflows else 0
        self.scroll_to(y=max(0, top), animate=False, force=True)
        self._keep_in_view()
        self._turned_to = self.scroll_offset.y

    def _keep_in_view(self) -> None:
        """Scroll as little as possible to show the cursor with MARGIN lines around it."""
        if self._plan is None or self._edit is None:
            return
        if not self._overflows:
            # The pane may have grown since it was scrolled.
            self.scroll_to(y=0, animate=False, force=True)
            return
        if not 0 <= self._edit.cursor < self._plan.tokens:
            return
        line = self._plan.spot(self._edit.cursor).line
        rows, top = self._rows, self.scroll_offset.y
        margin = min(MARGIN, (rows - 1) // 2)
        wanted = min(max(top, line + margin + 1 - rows), line - margin)
        if wanted != top:
            self.scroll_to(y=max(0, wanted), animate=False, force=True)

    @property
    def tokens_in_view(self) -> range | None:
        """The range of tokens on the visible lines; None before the first layout."""
        if self._plan is None or not self.size.height:
            return None
        top = self.scroll_offset.y
        lines = self._plan.lines[top : top + self._rows]
        found = [piece.token for line in lines for piece in line.pieces if piece.token >= 0]
        return range(min(found), max(found) + 1) if found else None

    def token_above(self, token: int) -> int:
        """Return the token one visual line above; the same token on the first line."""
        return token if self._plan is None else self._plan.vertical_neighbour(token, down=False)

    def token_below(self, token: int) -> int:
        """Return the token one visual line below; the same token on the last line."""
        return token if self._plan is None else self._plan.vertical_neighbour(token, down=True)

    # --- drawing ------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        plan = self._plan
        number = self.scroll_offset.y + y
        below = self._heat_lines[y - self._space :] if y >= self._space else ()
        if plan is not None and below:
            return self._painter.strip(below[0]).crop_extend(0, width, self._painter.base)
        if plan is not None and self._overflows and y >= self._rows:
            return self._foot(plan, y - self._rows).crop_extend(0, width, self._painter.base)
        if plan is None or number >= len(plan.lines):
            return self._painter.blank(width)
        if (strip := self._strips.get(number)) is None:
            strip = self._painter.strip(paint(plan, number, self._marks, self._turn_here()))
            self._strips[number] = strip
        return strip.crop_extend(0, width, self._painter.base)

    def _turn_here(self) -> int:
        """The turn of the anchor, whose gutter is highlighted."""
        if self._shown is None:
            return -1
        return self._shown.passage.turn_of(self._shown.anchor.start)

    def _foot(self, plan: PassageLayout, row: int) -> Strip:
        if self._shown is None:
            return self._painter.blank(self.scrollable_content_region.width)
        top = min(self.scroll_offset.y, len(plan.lines) - 1)
        said = foot(plan, self._shown.passage, self._edit, top, top + self._rows)
        return self._painter.strip([Run(said[row], ("foot",))] if row < len(said) else [])

    def notify_style_update(self) -> None:
        """Rebuild the styles after a change of colours."""
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self) -> None:
        """Break the lines for the new width."""
        width = self.scrollable_content_region.width
        self._explain_heat()
        if self._plan is None or self._plan.width != width:
            self._lay_out()
            self._mark()
            self._turn_to_anchor()
            self.post_message(self.LaidOut())
            return
        self._size_up()
        if not self._overflows or self.scroll_offset.y == self._turned_to:
            self._turn_to_anchor()
        self._keep_in_view()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self._plan is None or offset.y >= self._rows:
            return
        token = self._plan.at(self.scroll_offset.y + offset.y, offset.x)
        if token is not None:
            self.post_message(self.TokenClicked(self, token))


def same_text(one: AnchorItem, other: AnchorItem) -> bool:
    """Return True if two items show the same words at the same positions."""
    left, right = one.passage, other.passage
    if left is right:
        return True
    return (
        left.text == right.text
        and left.turns == right.turns
        and len(left.tokens) == len(right.tokens)
        and one.passage_id == other.passage_id
    )
