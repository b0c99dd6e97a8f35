"""The shared state of the workbench, and what of an item is hidden from a person until they
have answered it.
"""

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from nfh_db.query import Query
from nfh_db.records import AnchorItem, Annotator, Exposure, Gold, HistoryLine, Role
from nfh_models.domain import Answer
from nfh_tui.actions import Access, Mode
from nfh_tui.editor.state import EditState, blinded
from nfh_tui.editor.votes import is_left_blank
from nfh_tui.services.guidelines import Guide
from nfh_tui.widgets.passage_render import Heat
from nfh_tui.workbench.session import IdList, ItemKey

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent


@dataclass(frozen=True, slots=True)
class Position:
    """The position in the queue."""

    index: int = 0
    is_detached: bool = False
    """The item shown is not the one at `index`, e.g. after an undo elsewhere."""
    is_gap: bool = False
    """The current item has left the queue. Its place would be right before `index`; for the end
    of the queue, `index` is its length."""

    @property
    def next_index(self) -> int:
        """The next index; `index` itself if the item shown is detached."""
        return self.index if self.is_detached else self.index + 1

    @property
    def previous_index(self) -> int:
        """The previous index; `index` itself if the item shown is detached and not in a gap."""
        return self.index if self.is_detached and not self.is_gap else self.index - 1

    def start(self, *, forward: bool) -> int:
        """The index from which steps to the next or to previous items are counted."""
        return self.next_index - 1 if forward else self.previous_index + 1


@dataclass(frozen=True, slots=True)
class Unsaved:
    """An answer that is being committed, or whose commit failed."""

    edit: EditState
    """The state of the editor from which the answer was made."""
    answer: Answer
    exposure: Exposure


class QueryHistoryEntry(NamedTuple):
    """A previous query."""

    text: str
    anchor_id: int | None
    """The item that was shown."""
    back: bool = False
    """Escape returns to that item, because the query after it came from another screen;
    otherwise the current item stays."""


@dataclass(frozen=True, slots=True)
class BlindingPolicy:
    """What one person may see of an item in a mode.

    Model predictions are visible to annotators after their own answer. The same holds for
    adjudicators of an item that must be decided blind.
    """

    me: str
    mode: Mode
    model_shown: bool = False
    """Model predictions are shown nevertheless; answers record that they were seen."""
    names_hidden: bool = False

    def can_hide_model(self, item: AnchorItem | None) -> bool:
        """Return True if model predictions are hidden now, or would be before an answer."""
        return self.mode is Mode.ANNOTATE or (item is not None and item.withheld)

    def hides_model(self, item: AnchorItem) -> bool:
        """Return True while model predictions of an item are hidden."""
        if self.model_shown:
            return False
        if self.mode is not Mode.ANNOTATE:
            return item.withheld
        return not any(
            vote.annotator == self.me and vote.role is Role.ANNOTATOR for vote in item.votes
        )

    def hides_precedents(self, item: AnchorItem) -> bool:
        """Return True while earlier decisions are hidden beside an item."""
        return self.mode is Mode.ANNOTATE or (
            self.mode is Mode.ADJUDICATE and is_left_blank(item, self.me)
        )

    def without_model(self, item: AnchorItem) -> AnchorItem:
        """Return the item without model predictions while they are hidden."""
        if not self.hides_model(item):
            return item
        return replace(item, prediction=None, identification=None, others=(), model_hidden=True)

    def visible(self, item: AnchorItem) -> AnchorItem:
        """Return the item as this person may see it."""
        item = self.without_model(item)
        return blinded(item) if self.names_hidden else item


@dataclass
class WorkbenchState:
    """The state that the controllers of the workbench share."""

    me: Annotator
    mode: Mode
    blind: bool = False
    """Names of annotators are hidden and their order is mixed."""
    model_shown: bool = False
    """Predictions are shown also for items that this person has not answered yet."""
    access: Access = Access.ADMIN
    """What this person may change; always ADMIN on a terminal."""

    query: Query = field(default_factory=Query)
    """The query of the queue."""
    query_history: list[QueryHistoryEntry] = field(default_factory=list)
    ids: IdList = field(default_factory=IdList)
    position: Position = Position()
    todo_left: int | None = None
    """Open items among those assigned to this person; None if the queue consists of other
    items."""

    stored_item: AnchorItem | None = None
    """The current item as stored; None if the queue is empty."""
    visible_item: AnchorItem | None = None
    """The current item as this person may see it."""
    history: tuple[HistoryLine, ...] = ()
    precedents: "tuple[Precedent, ...]" = ()
    last_accepted: int | None = None
    """The item that was accepted right before the current one."""

    known_gold: Gold | None = None
    """The gold that the item had when it was shown, or that this person was asked about."""
    pressed_at: float = inf
    """When the key was pressed that is being handled; infinite for an action of the palette."""
    drawn_at: float | None = None
    """Since when the item and its answer are on the screen; None until they are drawn. A key
    that came too early starts the time again."""
    answer_given: bool = False
    """A key has given or changed the answer since the item was shown."""

    edit: EditState = field(default_factory=EditState)
    initial: EditState = field(default_factory=EditState)
    """The state of the editor without a draft."""
    past: list[EditState] = field(default_factory=list)
    """Undo steps of `edit`, used before saved changes are undone."""
    future: list[EditState] = field(default_factory=list)
    """Redo steps of `edit`."""
    drafts: dict[ItemKey, EditState | None] = field(default_factory=dict)
    """Edits of this session; None for those that were saved or discarded."""
    saving: dict[ItemKey, EditState] = field(default_factory=dict)
    """Answers that are being committed."""
    unsaved: dict[ItemKey, Unsaved] = field(default_factory=dict)
    unsaved_reported: bool = False
    """A failed write has been reported."""
    lost_reason: str = ""
    """Why later writes would be lost, once that has been noticed; else empty."""

    pane: str = "passage"
    guide_shown: bool = False
    """The right pane shows the guidelines instead of the evidence."""
    guidelines: Guide = field(default_factory=Guide)
    """The guidelines in force."""
    heat: Heat = Heat.OFF
    other_model: str | None = None
    """The model that the heat map compares with the active one."""
    windowed: bool = True
    """The turns that voters saw are marked."""
    busy: str = ""
    """Message of the status line during a long operation."""
    warned_of: int = 0
    """Id of the batch whose undo was announced; 0 for none."""
    question_open: bool = False
    """A question is open in the footer."""
    tour_step: int | None = None
    """Index of the tour's current step; None if there is no tour."""

    @property
    def role(self) -> Role:
        """The role in which answers are read and given; ADJUDICATOR in the reading mode."""
        return Role.ANNOTATOR if self.mode is Mode.ANNOTATE else Role.ADJUDICATOR

    @property
    def is_reading(self) -> bool:
        """True if nothing may be changed."""
        return self.mode is Mode.BROWSE

    @property
    def keeps_own(self) -> bool:
        """True if the database keeps this person's position, views and themes."""
        return self.access >= Access.ANNOTATOR

    @property
    def anchor_id(self) -> int | None:
        """Id of the current anchor."""
        return None if self.stored_item is None else self.stored_item.anchor_id

    @property
    def blinding(self) -> BlindingPolicy:
        """The blinding that applies now."""
        return BlindingPolicy(self.me.name, self.mode, self.model_shown, self.blind)
