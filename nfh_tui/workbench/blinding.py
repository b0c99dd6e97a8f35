"""Blinding: what is hidden from a person until they have answered. No screen is needed."""

from dataclasses import dataclass, replace

from nfh_db.records import AnchorItem, Role
from nfh_tui.actions import Mode
from nfh_tui.editor.state import blinded


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

    def without_model(self, item: AnchorItem) -> AnchorItem:
        """Return the item without model predictions while they are hidden."""
        if not self.hides_model(item):
            return item
        return replace(item, prediction=None, identification=None, others=(), model_hidden=True)

    def visible(self, item: AnchorItem) -> AnchorItem:
        """Return the item as this person may see it."""
        item = self.without_model(item)
        return blinded(item) if self.names_hidden else item
