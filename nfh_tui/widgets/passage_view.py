"""The passage: words, speakers, the number, heads, gold, scores, and the token cursor."""

from typing import ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip

from nfh_db.records import Item
from nfh_tui.editing import EditState
from nfh_tui.heat import Heat
from nfh_tui.passage_foot import foot
from nfh_tui.passage_heat import heat_foot, warmth
from nfh_tui.passage_layout import Layout
from nfh_tui.passage_marks import ROLES, changed, marks
from nfh_tui.passage_paint import Run, paint
from nfh_tui.widgets.painter import HEATS, Painter, refresh_lines
from nfh_tui.widgets.passage_ground import PassageGround, same_text
from nfh_tui.widgets.passage_looks import LOOKS

LOW = 10
"""Rows below which only the first of the heat map's lines is shown."""


class PassageView(PassageGround, can_focus=True, inherit_bindings=False):
    """Shows the passage of one item and the answer being edited on it."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"passage--{role}" for role in (*ROLES, *HEATS)}

    DEFAULT_CSS = LOOKS

    class LaidOut(Message):
        """The lines are broken anew, so that another number of rows may be needed."""

    class TokenClicked(Message):
        """A word was clicked."""

        def __init__(self, view: "PassageView", token: int) -> None:
            super().__init__()
            self.view = view
            self.token = token

        @property
        def control(self) -> "PassageView":
            """The view that was clicked."""
            return self.view

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id, classes=classes)
        self._painter = Painter(self, "passage", ROLES)

    # --- what is shown ------------------------------------------------------------------

    def show(
        self,
        item: Item | None,
        state: EditState | None,
        *,
        heat: Heat = Heat.OFF,
        other: str | None = None,
        windowed: bool = False,
        blind: bool = False,  # noqa: ARG002  # an item comes blinded; nothing here names anybody
    ) -> None:
        """Show an item and the answer edited on it; None for an empty pane.

        heat: what lies on the words. other: the model whose scores a difference is from, else
        the newest one. windowed: whether the turns that voters saw are bounded. A new item
        comes with its number in view; otherwise the lines stay where they are unless the
        cursor would leave the pane.
        """
        same = item is not None and self._shown is not None and same_text(item, self._shown)
        anew = not same or item is None or item.anchor_id != _id_of(self._shown)
        moved = state is not None and (self._edit is None or state.cursor != self._edit.cursor)
        warm_as_before = item is self._shown and (heat, other) == (self._heat, self._other)
        self._shown, self._edit = item, state
        self._heat, self._other, self._windowed = heat, other, windowed
        if not warm_as_before:
            self._warm = {} if item is None else warmth(item, heat, other)
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
        """Make the lines that stand under the heat map."""
        before, width = len(self._heat_lines), self.scrollable_content_region.width
        self._heat_lines = ()
        if self._shown is not None and width > 0:
            lines = heat_foot(self._shown, self._heat, self._other, width)
            low = self.brief or self.size.height < LOW
            kept = lines[:1] if low else lines
            self._heat_lines = tuple(self._painter.strip(line) for line in kept)
        if before != len(self._heat_lines):
            self._size_up()
        self.refresh()

    def _mark(self) -> None:
        """Work out what lies on the words, and draw anew the lines where that changed."""
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

    # --- drawing ------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        width = self.scrollable_content_region.width
        plan = self._plan
        number = self.scroll_offset.y + y
        below = self._heat_lines[y - self._space :] if y >= self._space else ()
        if plan is not None and below:
            return below[0].crop_extend(0, width, self._painter.base)
        if plan is not None and self._overflows and y >= self._rows:
            return self._foot(plan, y - self._rows).crop_extend(0, width, self._painter.base)
        if plan is None or number >= len(plan.lines):
            return self._painter.blank(width)
        strip = self._strips.get(number)
        if strip is None:
            strip = self._painter.strip(paint(plan, number, self._marks, self._turn_here()))
            self._strips[number] = strip
        return strip.crop_extend(0, width, self._painter.base)

    def _turn_here(self) -> int:
        """The turn of the number: its gutter stands out."""
        if self._shown is None:
            return -1
        return self._shown.passage.turn_of(self._shown.anchor.start)

    def _foot(self, plan: Layout, row: int) -> Strip:
        if self._shown is None:
            return self._painter.blank(self.scrollable_content_region.width)
        top = min(self.scroll_offset.y, len(plan.lines) - 1)
        said = foot(plan, self._shown.passage, self._edit, top, top + self._rows)
        return self._painter.strip([Run(said[row], ("foot",))] if row < len(said) else [])

    def notify_style_update(self) -> None:
        """Colours changed: make all looks anew."""
        super().notify_style_update()
        self._painter.forget()
        self._strips.clear()
        self._explain_heat()

    def on_resize(self) -> None:
        """Another width breaks lines elsewhere."""
        width = self.scrollable_content_region.width
        self._explain_heat()
        if self._plan is None or self._plan.width != width:
            self._lay_out()
            self._mark()
            self._turn_to_anchor()
            self.post_message(self.LaidOut())
            return
        self._size_up()
        self._keep_in_view()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Tell which word was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or self._plan is None or offset.y >= self._rows:
            return
        token = self._plan.at(self.scroll_offset.y + offset.y, offset.x)
        if token is not None:
            self.post_message(self.TokenClicked(self, token))


def _id_of(item: Item | None) -> int | None:
    return None if item is None else item.anchor_id
