"""The queue as a list of any length; only visible rows are read and drawn."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nfh_db.records import AnchorState, FlagName, QueueRow
from nfh_models.domain import Kind
from nfh_tui.config import DISAGREEMENTS
from nfh_tui.display_text import clip, cut_left, isolate, width_of
from nfh_tui.editor.votes import KIND_WORDS, SHORT_KINDS, STATE_SIGNS
from nfh_tui.textual_support import Painter, TolerantPane, one_line, pad, start
from nfh_tui.widgets.passage_render import Roles, Run
from nfh_tui.widgets.substitution import untokenized
from nfh_tui.workbench.session import IdList

MARGIN = 40
"""Rows that are read above and below the visible ones, for the next keys."""

WHEEL = 3
"""Rows of a step of the wheel."""

KNOWN = 2_000
"""Maximum number of cached rows; the least recently used ones are removed."""

KIND_SHORT = {**KIND_WORDS, Kind.REFERENCE: "Ref", Kind.NFH: "NFH"}
ROLES = ("around", "current", "mark", "word", "note", *(state.value for state in AnchorState))
"""Text roles; the style of each is that of the class `queue--NAME`."""

MOST_NOTE = 13
"""Maximum cells of the note at the right end of a row."""

FLAG_SIGNS = {
    FlagName.SKIP: "»",
    FlagName.ANCHOR: "a",
    FlagName.AMBIGUOUS: "m",
    FlagName.GUIDELINE: "g",
}

HERE, BACK = "▌", "┆"
"""Signs before a row: it is shown; it is the position in the queue while another item is
shown."""

Fetch = Callable[[Sequence[int]], Awaitable[tuple[QueueRow, ...]]]


def row_note(row: QueueRow, width: int = MOST_NOTE) -> str:
    """Return the note of a row: how answers differ, or the decision.

    The pattern of the votes is left out if both do not fit into `width` cells.
    """
    if row.state is AnchorState.DISAGREE and row.strongest is not None:
        name, _ = DISAGREEMENTS[row.strongest]
        both = f"{row.pattern} {name}".strip()
        return both if len(both) <= width else name
    if row.kind is not None:
        said = KIND_SHORT[row.kind]
        return said if len(said) <= width else SHORT_KINDS[row.kind]
    return row.pattern if row.state is AnchorState.ANSWERED else ""


def row_flags(row: QueueRow) -> str:
    """One sign a flag: » skipped, a anchor, m ambiguous, g guideline."""
    return "".join(sign for name, sign in FLAG_SIGNS.items() if name in row.flags)


class QueueList(TolerantPane, ScrollView, can_focus=False):
    """Shows one line per anchor: the number in its context. Colours repeat what signs show."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    QueueList {
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .queue--around { text-style: dim; }
        & > .queue--current { background: $panel; }
        & > .queue--mark { color: $text-accent; text-style: bold; }
        & > .queue--word { text-style: bold not dim; }
        & > .queue--note { text-style: dim; }
        & > .queue--open { text-style: dim; }
        & > .queue--answered { color: $text-primary; }
        & > .queue--disagree { color: $text-warning; text-style: bold; }
        & > .queue--decided { color: $text-success; }
        & > .queue--stale { color: $text-error; }
    }
    """

    class RowClicked(Message):
        def __init__(self, view: "QueueList", place: int) -> None:
            super().__init__()
            self.view = view
            self.place = place

        @property
        def control(self) -> "QueueList":
            return self.view

    def __init__(self, fetch: Fetch, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._fetch = fetch
        self._ids = IdList()
        self._rows: OrderedDict[int, QueueRow] = OrderedDict()
        self._gone: set[int] = set()
        self._current = 0
        self._away = False
        self._drawn = 0
        self._fetching = False
        self.hide_answers = False
        self._painter = Painter(self, "queue", ROLES)

    # --- content ------------------------------------------------------------------------

    def show_ids(self, ids: IdList) -> None:
        """Show another list from its start."""
        self._ids = ids
        self._rows.clear()
        self._gone.clear()
        self._current = self._drawn = 0
        self.scroll_to(0, 0, animate=False, force=True)
        self.grown()

    def put_ids(self, ids: IdList) -> None:
        """Replace the list by another order of the same ids; position and scroll offset
        stay.
        """
        self._ids = ids
        self._drawn = 0
        self.grown()
        self.refresh()

    def grown(self) -> None:
        """Update the size after ids were appended; redraws if the end was visible."""
        drawn = self._drawn
        self._drawn = len(self._ids)
        self.virtual_size = Size(self.scrollable_content_region.width, max(1, self._drawn))
        if drawn < round(self.scroll_offset.y) + self.page:
            self.refresh()

    @property
    def current(self) -> int:
        """The marked position."""
        return self._current

    @current.setter
    def current(self, place: int) -> None:
        before, self._current = self._current, place
        self._refresh_place(before)
        self._refresh_place(place)
        self._bring_into_view(place)

    @property
    def away(self) -> bool:
        """True while the item shown is not the marked one; the mark is then hollow."""
        return self._away

    @away.setter
    def away(self, away: bool) -> None:
        if away != self._away:
            self._away = away
            self._refresh_place(self._current)

    async def refresh_rows(self, anchor_ids: Iterable[int]) -> None:
        """Read these rows again if they are cached, and redraw them."""
        known = [anchor_id for anchor_id in anchor_ids if anchor_id in self._rows]
        if known:
            self._keep(known, await self._fetch(known))
            self.refresh()

    async def refresh_visible(self) -> None:
        """Read the visible rows again and forget the others, because somebody has written."""
        known = self._wanted()
        kept = self._rows
        self._gone.clear()
        self._rows = OrderedDict((i, kept[i]) for i in known if i in kept)
        self._keep(known, await self._fetch(known))
        self.refresh()

    @property
    def page(self) -> int:
        """Number of visible rows."""
        return max(1, self.scrollable_content_region.height)

    # --- reading rows -------------------------------------------------------------------

    def _wanted(self) -> Sequence[int]:
        top = round(self.scroll_offset.y)
        return self._ids.slice(top - MARGIN, top + self.page + MARGIN)

    def _missing(self) -> list[int]:
        return [i for i in self._wanted() if i not in self._rows and i not in self._gone]

    def _keep(self, asked: Sequence[int], rows: Sequence[QueueRow]) -> None:
        found = {row.anchor_id: row for row in rows}
        for anchor_id in asked:
            if anchor_id in found:
                self._rows[anchor_id] = found[anchor_id]
                self._rows.move_to_end(anchor_id)
            else:
                self._rows.pop(anchor_id, None)
                self._gone.add(anchor_id)
        while len(self._rows) > KNOWN:
            self._rows.popitem(last=False)

    def _ask(self) -> None:
        """Start reading missing visible rows, unless a read is running."""
        if not self._fetching and self.is_attached:
            self._fetching = True
            start(self, self._fetch_missing, group="rows", description="rows of the queue")

    async def _fetch_missing(self) -> None:
        try:
            # The visible rows may change during a read: repeat until none is missing.
            while missing := self._missing():
                self._keep(missing, await self._fetch(missing))
                self.refresh()
        finally:
            self._fetching = False

    # --- the mouse ----------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        place = None if offset is None else offset.y + round(self.scroll_offset.y)
        if place is not None and place < len(self._ids):
            self.post_message(self.RowClicked(self, place))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -WHEEL)

    def _wheel(self, event: events.MouseEvent, by: int) -> None:
        """Scroll as far as the marked row stays in view."""
        event.stop()
        event.prevent_default()
        least, most = self._current - self.page + 1, self._current
        top = round(self.scroll_offset.y) + by
        wanted = min(max(top, least, 0), max(most, 0))
        self.scroll_to(0, wanted, animate=False, force=True, immediate=True)

    # --- drawing ------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Fit the list to its new width and keep the marked row in view."""
        self.grown()
        self._bring_into_view(self._current)

    def _bring_into_view(self, place: int) -> None:
        height = self.page
        top = round(self.scroll_offset.y)
        if not top <= place < top + height:
            # Scroll by part of a page: a list that rarely moves is easier on the eyes, and it
            # is redrawn less often.
            lead = height // 4 if place >= top + height else height - 1 - height // 4
            lead = lead if abs(place - top) <= 2 * height else height // 2
            self.scroll_to(0, max(0, place - lead), animate=False, force=True, immediate=True)

    def _refresh_place(self, place: int) -> None:
        y = place - round(self.scroll_offset.y)
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = y + round(self.scroll_offset.y)
        if place >= len(self._ids):
            return self._painter.blank(width)
        marked, here = place == self._current, not self._away
        lies: Roles = ("current",) if marked and here else ()
        mark = Run((HERE if here else BACK) if marked else " ", (*lies, "mark"))
        if (row := self._rows.get(self._ids[place])) is not None:
            return self._painter.strip([mark, *self._runs(row, width - 1, lies)])
        gone = self._ids[place] in self._gone
        if not gone:
            self._ask()
        words = "× no longer there" if gone else "· loading…"
        return self._painter.strip([mark, Run(pad(words, width - 1), (*lies, "note"))])

    def _runs(self, row: QueueRow, width: int, lies: Roles) -> Iterable[Run]:
        """Return state, number in context, and note in exactly `width` cells."""
        flags = row_flags(row)
        note_width = min(max(8, width // 4), MOST_NOTE)
        note = "" if self.hide_answers else row_note(row, note_width - len(flags))
        room = max(1, width - 3 - note_width)
        word = clip(one_line(row.word), room)
        # The numbers are aligned, as in a concordance, if there is room.
        left = min(room * 2 // 5, room - width_of(word))
        before = cut_left(one_line(untokenized(row.before)), left)
        lead = " " * (left - width_of(before))
        after = pad(one_line(untokenized(row.after)), room - left - width_of(word))
        yield Run(STATE_SIGNS[row.state] + " ", (*lies, row.state.value))
        yield Run(lead + isolate(before), (*lies, "around"))
        yield Run(isolate(word), (*lies, "word"))
        yield Run(isolate(after) + " ", (*lies, "around"))
        note = pad(note, note_width - len(flags) - bool(flags)) + " " * bool(flags)
        yield Run(note + flags, (*lies, "note"))
