"""The evidence pane: the answer being edited, and everything else known about the item."""

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.strip import Strip

from nfh_db.records import AnchorItem, HistoryLine
from nfh_tui.editor.state import EditState
from nfh_tui.services.guidelines import Guide
from nfh_tui.textual_support import Painter, StablePane, lane_css, refresh_lines
from nfh_tui.widgets.evidence_rows import EvidencePart, Row, evidence
from nfh_tui.widgets.guidelines import rule_rows
from nfh_tui.widgets.passage_render import MOST_LANES

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent


ROLES = (
    "title", "note", "kind", "head", "head-sign", "comment", "asks", "said", "same", "differs",
    "key", "name", "bar", "gold", "number", "put", "noun",
    *(f"lane-{number}" for number in range(MOST_LANES + 1)),
)  # fmt: skip
"""Text roles; the style of each is that of the class `evidence--NAME`."""


class EvidenceView(StablePane, can_focus=True, inherit_bindings=False):
    """Shows the answer being edited, gold, votes, predictions, flags, and history."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    EvidenceView {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    EvidenceView > .evidence--title { color: $text-primary; text-style: bold; }
    EvidenceView > .evidence--note { text-style: dim; }
    EvidenceView > .evidence--kind { text-style: bold; }
    EvidenceView > .evidence--head { color: $text-success; text-style: underline; }
    EvidenceView > .evidence--head-sign { color: $text-success; text-style: bold; }
    EvidenceView > .evidence--comment { text-style: italic; }
    EvidenceView > .evidence--asks { color: $text-warning; text-style: bold; }
    EvidenceView > .evidence--same { color: $text-success; text-style: bold; }
    EvidenceView > .evidence--differs { color: $text-error; }
    EvidenceView > .evidence--key { color: $text-accent; text-style: bold; }
    EvidenceView > .evidence--name { text-style: bold; }
    EvidenceView > .evidence--bar { color: $secondary; }
    EvidenceView > .evidence--gold { color: $text-warning; text-style: bold; }
    EvidenceView > .evidence--number { text-style: bold; }
    EvidenceView > .evidence--put { color: $text-accent; text-style: bold; }
    EvidenceView > .evidence--noun { text-style: bold; }
    """ + lane_css("EvidenceView", "evidence")

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id, classes=classes)
        self._anchor_id: int | None = None
        self._build: partial[tuple[Row, ...]] | None = None
        self._rows: tuple[Row, ...] = ()
        self._rows_width = 0
        self._painter = Painter(self, "evidence", ROLES)

    def show(
        self,
        item: AnchorItem | None,
        state: EditState | None,
        *,
        blind: bool = False,
        history: Sequence[HistoryLine] = (),
        rules: Guide | None = None,
        precedents: "Sequence[Precedent]" = (),
        part: EvidencePart = EvidencePart.ALL,
        tight: bool = False,
    ) -> None:
        """Show an item and the answer being edited; None for an empty pane.

        part: what is shown of it. tight: without empty rows where the passage is above. A new
        item is shown from its top; for the same item the scroll position stays.
        """
        known, self._build = self._build, None
        if item is not None:
            self._build = partial(
                _rows, item, state, blind=blind, history=history, rules=rules or Guide(),
                precedents=precedents, part=part, tight=tight,
            )  # fmt: skip
        if self._rows_width == self.scrollable_content_region.width and _alike(
            known, self._build
        ):
            return
        before, self._anchor_id = self._anchor_id, None if item is None else item.anchor_id
        self._fill()
        if before is None or before != self._anchor_id:
            self.scroll_to(y=0, animate=False, force=True)

    def _fill(self) -> None:
        """Build the rows for the current width and redraw those that have changed."""
        width = self._rows_width = self.scrollable_content_region.width
        before = self._rows
        self._rows = self._build(width) if self._build is not None and width > 0 else ()
        self.virtual_size = Size(width, len(self._rows))
        pairs = enumerate(zip_longest(before, self._rows))
        refresh_lines(self, [number for number, (old, new) in pairs if old != new])

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        return self._painter.row(self._rows, self.scroll_offset.y + y, width)

    def on_resize(self) -> None:
        """Break the rows for the new width; more or fewer of them fit into a new height."""
        width = self.scrollable_content_region.width
        if width != self._rows_width:
            self._fill()
        else:
            self.virtual_size = Size(width, len(self._rows))


def _alike(
    one: partial[tuple[Row, ...]] | None, other: partial[tuple[Row, ...]] | None
) -> bool:
    """Whether both build the same rows."""
    if one is None or other is None:
        return False
    return (one.args, one.keywords) == (other.args, other.keywords)


def _rows(
    item: AnchorItem,
    state: EditState | None,
    width: int,
    *,
    blind: bool,
    history: Sequence[HistoryLine],
    rules: Guide,
    precedents: "Sequence[Precedent]",
    part: EvidencePart,
    tight: bool,
) -> tuple[Row, ...]:
    """The evidence, and below it the rules that speak of the answer."""
    made = evidence(
        item, state, width, blind=blind, history=history, rules=rules, precedents=precedents,
        part=part,
    )  # fmt: skip
    if tight and part is EvidencePart.BELOW:
        made = tuple(row for row in made if row)
    if part is EvidencePart.MAIN:
        return made
    if state is not None:
        kind, tag = state.kind, state.tag
    else:
        kind, tag = (None, None) if item.gold is None else (item.gold.answer.kind, None)
    return *made, *rule_rows(rules, kind, tag, width)
