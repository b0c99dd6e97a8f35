"""The ground of the passage: its lines, how many of them fit, and where it is scrolled to."""

from collections import OrderedDict

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nfh_db.records import Item
from nfh_tui.editing import EditState
from nfh_tui.heat import Heat
from nfh_tui.passage_foot import foot
from nfh_tui.passage_heat import sign_cells
from nfh_tui.passage_lanes import judging, rooms, window
from nfh_tui.passage_layout import NO_ROOMS, Layout, Rooms, Window, lay_out
from nfh_tui.passage_marks import Marks, Warmth
from nfh_tui.widgets.enduring import EnduringPane

MARGIN = 2
"""Lines kept in view over and under the cursor where the passage is longer than the pane."""

LAYOUTS = 4
"""Layouts remembered, for items of one passage and for turning back."""


class PassageGround(EnduringPane, ScrollView, can_focus=True, inherit_bindings=False):
    """What the passage stands on; the view draws it.

    brief: the heat map has one line below the words, for there is more to see elsewhere.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id, classes=classes)
        self._shown: Item | None = None
        self._edit: EditState | None = None
        self._heat = Heat.OFF
        self._other: str | None = None
        self._windowed = False
        self._warm: dict[int, Warmth] = {}
        self._rooms: Rooms = NO_ROOMS
        self._window: Window | None = None
        self._marks = Marks()
        self._plan: Layout | None = None
        self._plans: OrderedDict[object, tuple[Item, Layout]] = OrderedDict()
        self._strips: dict[int, Strip] = {}
        self._heat_lines: tuple[Strip, ...] = ()
        self._foot_size = 0
        self.brief = False

    # --- how it is laid out -------------------------------------------------------------

    def _make_room(self) -> None:
        """Find what stands beside words and between turns, whatever the answer edited."""
        item, self._rooms, self._window = self._shown, NO_ROOMS, None
        if item is not None:
            votes = judging(self._edit)
            self._rooms = rooms(
                item,
                votes=votes,
                heat=self._warm,
                cells=sign_cells(self._heat),
                begun=() if self._edit is None else self._edit.began.heads,
            )
            self._window = window(item) if votes and self._windowed else None

    def _lay_out(self) -> None:
        """Lay the passage out for the width of now; without a width, later."""
        before, self._plan = self._plan, None
        self._strips.clear()
        self._marks = Marks()
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
        """Let the lines be scrolled as far as what stands below them needs."""
        if self._plan is None or self._shown is None:
            return
        lines = len(self._plan.lines)
        self._foot_size = 0
        if lines > self._space > 1:
            self._foot_size = len(foot(self._plan, self._shown.passage, self._edit, 0, lines))
            lines += self.size.height - max(1, self._rows)
        self.virtual_size = Size(self._plan.width, lines)

    def _stay(self, before: Layout | None, now: Layout) -> None:
        """Keep the cursor's line where it was, though signs have moved words about."""
        cursor = 0 if self._edit is None else self._edit.cursor
        if before is None or len(before.spots) != len(now.spots) or cursor >= len(now.spots):
            return
        by = now.spots[cursor].line - before.spots[cursor].line
        if by:
            self.scroll_to(y=max(0, self.scroll_offset.y + by), animate=False, force=True)

    def _planned(self, item: Item, width: int) -> Layout:
        beside = frozenset(self._rooms.before.items()), frozenset(self._rooms.behind.items())
        key = (item.passage_id, item.anchor, width, beside, self._window)
        known = self._plans.pop(key, None)
        if known is None or not same_text(item, known[0]):
            known = item, lay_out(item.passage, width, self._rooms, self._window)
        self._plans[key] = known
        while len(self._plans) > LAYOUTS:
            self._plans.popitem(last=False)
        return known[1]

    @property
    def rows_needed(self) -> int:
        """Rows in which the whole passage would be seen, with one for the heat map."""
        lines = 0 if self._plan is None else len(self._plan.lines)
        return lines + (self._heat is not Heat.OFF)

    # --- where it is shown --------------------------------------------------------------

    @property
    def _space(self) -> int:
        """Rows over the lines of the heat map."""
        return self.size.height - len(self._heat_lines)

    @property
    def _overflows(self) -> bool:
        """True if the passage is longer than the pane, whose last lines are then the foot."""
        return self._foot_size > 0

    @property
    def _rows(self) -> int:
        """Lines of the passage that the pane can show."""
        return max(1, self._space - self._foot_size)

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

    @property
    def tokens_in_view(self) -> range | None:
        """The tokens on the lines in view, the first to the last; None where none is known."""
        if self._plan is None or not self.size.height:
            return None
        top = self.scroll_offset.y
        lines = self._plan.lines[top : top + self._rows]
        found = [piece.token for line in lines for piece in line.pieces if piece.token >= 0]
        return range(min(found), max(found) + 1) if found else None

    def token_above(self, token: int) -> int:
        """The token over this one, one visual line up; itself on the first line."""
        return token if self._plan is None else self._plan.beside(token, down=False)

    def token_below(self, token: int) -> int:
        """The token under this one, one visual line down; itself on the last line."""
        return token if self._plan is None else self._plan.beside(token, down=True)


def same_text(one: Item, other: Item) -> bool:
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
