"""The steps of each draft, kept while one looks at other items."""

from nfh_db.records import Role
from nfh_tui.editing import EditState

Key = tuple[int, Role]
Steps = tuple[list[EditState], list[EditState]]

MOST_ITEMS = 64
"""Items whose steps are kept, those looked at last."""

MOST_STEPS = 200
"""Steps of one draft that are kept once one looks at another item, the latest."""


class DraftSteps:
    """What undo and redo go through in the drafts of one session, by item and role."""

    def __init__(self) -> None:
        self._kept: dict[Key, Steps] = {}

    def of(self, key: Key, *, begun: bool) -> Steps:
        """The states before and after the one in the editor; empty where nothing is begun.

        The lists are the ones kept: what is put into them is found again.
        """
        past, future = self._kept.pop(key, ([], []))
        if not begun:
            past, future = [], []
        self._kept[key] = past, future
        while len(self._kept) > MOST_ITEMS:
            del self._kept[next(iter(self._kept))]
        for kept in self._kept.values():
            for steps in kept:
                del steps[:-MOST_STEPS]
        return past, future

    def forget(self, anchor_id: int) -> None:
        """Forget the steps of an item, which stand on what is no longer there."""
        for key in [key for key in self._kept if key[0] == anchor_id]:
            del self._kept[key]
