"""What is withheld from a person until they have answered. Pure: no screen."""

from dataclasses import dataclass, replace

from nfh_db.records import AnchorItem, Role
from nfh_tui.actions import Mode
from nfh_tui.editor.state import blinded


@dataclass(frozen=True, slots=True)
class BlindingPolicy:
    """What one person may see of an item in a mode.

    An annotator sees what models say of an item after answering it; so does an adjudicator of
    an item that is to be decided blind.
    """

    me: str
    mode: Mode
    model_shown: bool = False
    """What models say is shown all the same, and answers record that it was seen."""
    names_hidden: bool = False

    def can_hide_model(self, item: AnchorItem | None) -> bool:
        """True where there is something to withhold, now or before an answer."""
        return self.mode is Mode.ANNOTATE or (item is not None and item.withheld)

    def hides_model(self, item: AnchorItem) -> bool:
        """True while what models say of an item is withheld."""
        if self.model_shown:
            return False
        if self.mode is not Mode.ANNOTATE:
            return item.withheld
        return not any(
            vote.annotator == self.me and vote.role is Role.ANNOTATOR for vote in item.votes
        )

    def without_model(self, item: AnchorItem) -> AnchorItem:
        """The item without what models say, while that is withheld."""
        if not self.hides_model(item):
            return item
        return replace(item, prediction=None, identification=None, others=(), model_hidden=True)

    def visible(self, item: AnchorItem) -> AnchorItem:
        """The item as it is shown."""
        item = self.without_model(item)
        return blinded(item) if self.names_hidden else item
