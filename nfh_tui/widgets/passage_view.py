"""The passage: words, speakers, the number, heads, gold, scores, and the token cursor."""

from collections import OrderedDict
from typing import ClassVar

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nfh_db.records import Item
from nfh_tui.editing import EditState, token_scores
from nfh_tui.passage_foot import foot
from nfh_tui.passage_layout import Layout, lay_out
from nfh_tui.passage_marks import ROLES, Marks, changed, marks
from nfh_tui.passage_paint import Run, paint
from nfh_tui.widgets.heat import SIGNS, steps
from nfh_tui.widgets.painter import Painter, refresh_lines

MARGIN = 2
"""Lines kept in view over and under the cursor where the passage is longer than the pane."""

LAYOUTS = 4
"""Layouts remembered, for items of one passage and for turning back."""


class PassageView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the passage of one item and the answer being edited on it."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"passage--{role}" for role in (*ROLES, "heat")}

    DEFAULT_CSS = """
    PassageView {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    PassageView > .passage--gutter { text-style: dim; }
    PassageView > .passage--gutter-here { color: $text-primary; }
    PassageView > .passage--heat { background: $accent; }
    PassageView > .passage--heat-sign { color: $text-accent; }
    PassageView > .passage--undecided { color: $text-secondary; text-style: underline; }
    PassageView > .passage--decided { text-style: dim underline; }
    PassageView > .passage--decided-sign { text-style: dim; }
    PassageView > .passage--gold { color: $text-warning; text-style: italic; }
    PassageView > .passage--gold-sign { color: $text-warning; text-style: not italic; }
    PassageView > .passage--vote-sign { color: $text-accent; text-style: bold; }
    PassageView > .passage--anchor {
        color: $primary; background: $background; text-style: bold reverse;
    }
    PassageView > .passage--anchor-sign { color: $primary; text-style: bold not reverse; }
    PassageView > .passage--head { color: $text-success; text-style: underline; }
    PassageView > .passage--noun { text-style: bold; }
    PassageView > .passage--added { color: $text-success; text-style: underline; }
    PassageView > .passage--head-sign {
        color: $text-success; text-style: bold not underline;
    }
    PassageView > .passage--removed { text-style: dim strike; }
    PassageView > .passage--removed-sign { color: $text-error; }
    PassageView > .passage--offered { color: $text-warning; text-style: underline; }
    PassageView > .passage--span { background: $secondary-muted; text-style: underline; }
    PassageView > .passage--span-sign {
        color: $text-secondary; text-style: bold not underline;
    }
    PassageView > .passage--cursor {
        color: $accent; background: $background; text-style: bold reverse underline;
    }
    PassageView > .passage--cursor-sign {
        color: $accent; text-style: bold not reverse not underline;
    }
    PassageView:ansi > .passage--span { background: transparent; }
    PassageView > .passage--hint {
        color: $warning; background: $background; text-style: bold reverse;
    }
    PassageView > .passage--hushed { text-style: dim; }
    PassageView > .passage--foot { background: $panel; text-style: dim; }
    """

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
        self._shown: Item | None = None
        self._edit: EditState | None = None
        self._steps: tuple[int | None, ...] = ()
        self._marks = Marks()
        self._plan: Layout | None = None
        self._plans: OrderedDict[tuple[int, int], tuple[Item, Layout]] = OrderedDict()
        self._painter = Painter(self, "passage", ROLES)
        self._strips: dict[int, Strip] = {}

    # --- what is shown ------------------------------------------------------------------

    def show(
        self,
        item: Item | None,
        state: EditState | None,
        *,
        heat: bool = False,
        blind: bool = False,  # noqa: ARG002  # nothing here names anybody
    ) -> None:
        """Show an item and the answer edited on it; None for an empty pane.

        A new item comes with its number in view; otherwise the lines stay where they are
        unless the cursor would leave the pane.
        """
        same = item is not None and self._shown is not None and _same_text(item, self._shown)
        anew = not same or item is None or item.anchor_id != _id_of(self._shown)
        moved = state is not None and (self._edit is None or state.cursor != self._edit.cursor)
        self._shown, self._edit = item, state
        self._steps = _token_steps(item) if heat and item is not None else ()
        if not same:
            self._lay_out()
        self._mark()
        if anew:
            self._turn_to_anchor()
        elif moved:
            self._keep_in_view()

    def _lay_out(self) -> None:
        """Lay the passage out for the width of now; without a width, later."""
        self._plan = None
        self._strips.clear()
        self._marks = Marks()
        width = self.scrollable_content_region.width
        if self._shown is None or width <= 0:
            self.virtual_size = Size(width, 0)
            self.refresh()
            return
        self._plan = self._planned(self._shown, width)
        lines = len(self._plan.lines)
        self.virtual_size = Size(width, lines + (lines > self.size.height))
        self.refresh()

    def _planned(self, item: Item, width: int) -> Layout:
        key = (item.passage_id, width)
        known = self._plans.pop(key, None)
        if known is None or not _same_text(item, known[0]):
            known = item, lay_out(item.passage, width)
        self._plans[key] = known
        while len(self._plans) > LAYOUTS:
            self._plans.popitem(last=False)
        return known[1]

    def _mark(self) -> None:
        """Work out what lies on the words, and draw anew the lines where that changed."""
        if self._shown is None or self._plan is None:
            return
        before, self._marks = self._marks, marks(self._shown, self._edit, self._steps, SIGNS)
        tokens = changed(before, self._marks)
        numbers = {line for token in tokens for line in self._plan.lines_of(token)}
        for number in numbers:
            self._strips.pop(number, None)
        refresh_lines(self, numbers)
        if self._overflows:
            self.refresh_line(self.scroll_offset.y + self.size.height - 1)

    # --- where it is shown --------------------------------------------------------------

    @property
    def _overflows(self) -> bool:
        """True if the passage is longer than the pane, whose last line is then the foot."""
        return self._plan is not None and len(self._plan.lines) > self.size.height > 1

    @property
    def _rows(self) -> int:
        """Lines of the passage that the pane can show."""
        return self.size.height - (1 if self._overflows else 0)

    def _turn_to_anchor(self) -> None:
        """Put the number into view, with more before it than after it, and the cursor too."""
        if self._plan is None or self._shown is None:
            return
        line = self._plan.spots[self._shown.anchor.start].line
        self.scroll_to(y=max(0, line - self._rows * 2 // 3), animate=False, force=True)
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        """Scroll as little as brings the cursor into view, with some lines around it."""
        if self._plan is None or self._edit is None or not self._overflows:
            return
        spots = self._plan.spots
        if not 0 <= self._edit.cursor < len(spots):
            return
        line, rows, top = spots[self._edit.cursor].line, self._rows, self.scroll_offset.y
        margin = min(MARGIN, (rows - 1) // 2)
        wanted = min(max(top, line + margin + 1 - rows), line - margin)
        if wanted != top:
            self.scroll_to(y=max(0, wanted), animate=False, force=True)

    def token_above(self, token: int) -> int:
        """The token over this one, one visual line up; itself on the first line."""
        return token if self._plan is None else self._plan.beside(token, down=False)

    def token_below(self, token: int) -> int:
        """The token under this one, one visual line down; itself on the last line."""
        return token if self._plan is None else self._plan.beside(token, down=True)

    # --- drawing ------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        width = self.scrollable_content_region.width
        plan = self._plan
        number = self.scroll_offset.y + y
        if plan is None or (number >= len(plan.lines) and not self._overflows):
            return self._painter.blank(width)
        if self._overflows and y >= self._rows:
            return self._foot(plan).crop_extend(0, width, self._painter.base)
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

    def _foot(self, plan: Layout) -> Strip:
        if self._shown is None:
            return self._painter.blank(self.scrollable_content_region.width)
        top = min(self.scroll_offset.y, len(plan.lines) - 1)
        said = foot(plan, self._shown.passage, self._edit, top, top + self._rows)
        return self._painter.strip([Run(said, ("foot",))])

    def notify_style_update(self) -> None:
        """Colours changed: make all looks anew."""
        super().notify_style_update()
        self._painter.forget()
        self._strips.clear()

    def on_resize(self) -> None:
        """Another width breaks lines elsewhere."""
        width = self.scrollable_content_region.width
        if self._plan is None or self._plan.width != width:
            self._lay_out()
            self._mark()
            self._turn_to_anchor()
            return
        lines = len(self._plan.lines)
        self.virtual_size = Size(width, lines + (lines > self.size.height))
        self._keep_in_view()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Tell which word was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or self._plan is None or (self._overflows and offset.y >= self._rows):
            return
        token = self._plan.at(self.scroll_offset.y + offset.y, offset.x)
        if token is not None:
            self.post_message(self.TokenClicked(self, token))


def _id_of(item: Item | None) -> int | None:
    return None if item is None else item.anchor_id


def _same_text(one: Item, other: Item) -> bool:
    """True if two items show the same words in the same places."""
    left, right = one.passage, other.passage
    if left is right:
        return True
    return (
        left.text == right.text
        and left.turns == right.turns
        and len(left.tokens) == len(right.tokens)
        and one.passage_id == other.passage_id
    )


def _token_steps(item: Item) -> tuple[int | None, ...]:
    """The step of each token's score, among the classes' scores."""
    tokens = token_scores(item)
    if not tokens or item.prediction is None:
        return ()
    return steps(item.prediction.scores)[-len(tokens) :]
