"""The state of the workbench: what is shown, what is edited, and where one stands."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from nfh_db.query import Query
from nfh_db.records import AnchorItem, Annotator, Exposure, HistoryLine, Role
from nfh_models.domain import Answer
from nfh_tui.actions import Access, Mode
from nfh_tui.editor.state import EditState
from nfh_tui.services.guidelines import Guide
from nfh_tui.widgets.passage_render import Heat
from nfh_tui.workbench.blinding import BlindingPolicy
from nfh_tui.workbench.session import IdList

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent

ItemKey = tuple[int, Role]
"""An anchor id and the role in which it is answered."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where one stands in the queue."""

    index: int = 0
    is_detached: bool = False
    """The item shown is not the one at `index`, e.g. after an undo elsewhere."""
    is_gap: bool = False
    """The item shown has left the queue and would stand right before `index`, which is the
    length of the queue for its end."""

    @property
    def next_index(self) -> int:
        """The next place: that of the queue itself where the item shown is detached."""
        return self.index if self.is_detached else self.index + 1

    @property
    def previous_index(self) -> int:
        """The place before; that of the queue itself where the item shown is detached."""
        return self.index if self.is_detached and not self.is_gap else self.index - 1


@dataclass(frozen=True, slots=True)
class Unsaved:
    """An answer whose commit failed."""

    edit: EditState
    """The state of the editor from which the answer was made."""
    answer: Answer
    exposure: Exposure


class QueryHistoryEntry(NamedTuple):
    """A query before this one."""

    text: str
    anchor_id: int | None
    """The item that was shown."""
    back: bool = False
    """esc goes back to that item, for this query came from another screen; else the item in
    hand stays."""


@dataclass
class WorkbenchState:
    """What the controllers of the workbench share."""

    me: Annotator
    mode: Mode
    blind: bool = False
    """Names of annotators are hidden and their order is mixed."""
    model_shown: bool = False
    """What models say is shown also of items that are not answered yet."""
    access: Access = Access.ADMIN
    """What this person may change; on a terminal, everything."""

    query: Query = field(default_factory=Query)
    """What the queue was made of."""
    query_history: list[QueryHistoryEntry] = field(default_factory=list)
    ids: IdList = field(default_factory=IdList)
    position: Position = Position()
    todo_left: int | None = None
    """How many of the items assigned to this person are open; None where the queue is not of
    assigned items."""

    stored_item: AnchorItem | None = None
    """The item in hand as it is stored; None where the queue is empty."""
    visible_item: AnchorItem | None = None
    """The same as this person may see it now."""
    history: tuple[HistoryLine, ...] = ()
    precedents: "tuple[Precedent, ...]" = ()
    last_accepted: int | None = None
    """The item accepted right before the one shown."""

    edit: EditState = field(default_factory=EditState)
    initial: EditState = field(default_factory=EditState)
    """What the editor holds of the item while there is no draft."""
    past: list[EditState] = field(default_factory=list)
    """States of `edit` that undo goes through before it undoes what is saved."""
    future: list[EditState] = field(default_factory=list)
    """The same for redo."""
    drafts: dict[ItemKey, EditState | None] = field(default_factory=dict)
    """What this session edited; None where it was saved or thrown away."""
    saving: dict[ItemKey, EditState] = field(default_factory=dict)
    """Answers whose commit is under way."""
    unsaved: dict[ItemKey, Unsaved] = field(default_factory=dict)
    unsaved_reported: bool = False
    """That something cannot be saved was shown."""
    lost_reason: str = ""
    """Why what is written would not be found again, once that was noticed."""

    pane: str = "passage"
    guide_shown: bool = False
    """The guidelines stand in the place of the evidence."""
    guidelines: Guide = field(default_factory=Guide)
    """The guidelines in force."""
    heat: Heat = Heat.OFF
    other_model: str | None = None
    """The model with which the heat map compares the active one."""
    windowed: bool = True
    """The turns that voters were shown are marked."""
    busy: str = ""
    """What the line of state says during a long operation."""
    warned_of: int = 0
    """The batch whose undo was announced as one of many items, else 0."""
    question_open: bool = False
    """A question stands at the foot."""
    tour_step: int | None = None
    """Index of the step that the tour shows; None while there is no tour."""

    @property
    def role(self) -> Role:
        """In which role answers are read and given; browsing reads as an adjudicator."""
        return Role.ANNOTATOR if self.mode is Mode.ANNOTATE else Role.ADJUDICATOR

    @property
    def is_reading(self) -> bool:
        """True while nothing may be changed."""
        return self.mode is Mode.BROWSE

    @property
    def keeps_own(self) -> bool:
        """True where the database keeps this person's position, views and colours."""
        return self.access >= Access.ANNOTATOR

    @property
    def anchor_id(self) -> int | None:
        """The anchor in hand."""
        return None if self.stored_item is None else self.stored_item.anchor_id

    @property
    def blinding(self) -> BlindingPolicy:
        """What this person may see now."""
        return BlindingPolicy(self.me.name, self.mode, self.model_shown, self.blind)
