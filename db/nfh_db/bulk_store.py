"""What the store does to many items at once, and what it finds that is like one.

A part of `Store`.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from nfh_db.opened import OpenDatabase
from nfh_db.query import Query, asked_by
from nfh_db.records import Annotator
from nfh_db.settling_store import untold
from nfh_models.domain import Answer, Passage

if TYPE_CHECKING:
    from nfh_db.likeness import Alike
    from nfh_db.precedents import Precedent
    from nfh_db.wishes import BulkDone, BulkPreview, Seeing, Wish


class BulkStore(OpenDatabase):
    """Bulk acts with their previews, similar items, and precedents."""

    def preview_bulk(
        self,
        found: Query | Sequence[int],
        wish: "Wish",
        me: Annotator,
        progress: Callable[[str, int], None] | None = None,
    ) -> "BulkPreview":
        """What a wish would do to the anchors of a query, or to those of these ids.

        progress: called with what is being done and to how many anchors it was. Raises
        StoreError where this person may not do it to many at once.
        """
        from nfh_db import bulk_acts, queue

        with self._readers.lend(one_state=True) as connection:
            if isinstance(found, Query):
                asked = asked_by(found, wish.role, me.name)
                chunks = list(queue.queue_ids(connection, asked, me.id, wish.role))
                found = [anchor_id for chunk in chunks for anchor_id in chunk]
            return bulk_acts.preview(connection, found, wish, me, progress or untold)

    def run_bulk(
        self,
        ids: Sequence[int],
        wish: "Wish",
        me: Annotator,
        *,
        seeing: "Seeing | None" = None,
        progress: Callable[[str, int], None] | None = None,
    ) -> "BulkDone":
        """Do what a preview showed, as one act of this person's that one undo takes back.

        seeing: what of an anchor was in view, asked for each that is decided; nothing, if
        nobody can say. Raises StoreError beside an import or other bulk work.
        """
        from nfh_db import bulk_acts, wishes

        return bulk_acts.run(
            self.path,
            ids,
            wish,
            me,
            seeing=seeing or wishes.unseen,
            progress=progress or untold,
        )

    def last_decided(self, me: Annotator) -> int | None:
        """The anchor that this person decided last, as an adjudicator; None for none."""
        from nfh_db import likeness

        with self._readers.lend() as connection:
            return likeness.last_decided(connection, me)

    def similar(
        self, anchor_id: int, passage: Passage, answer: Answer, me: Annotator
    ) -> "tuple[Alike, ...]":
        """What is like an anchor to which an answer was given, likeness by likeness.

        passage: of the anchor.
        """
        from nfh_db import likeness

        with self._readers.lend(one_state=True) as connection:
            return likeness.find(connection, anchor_id, passage, answer, me)

    def precedents(
        self,
        anchor_id: int,
        me: Annotator,
        nouns: Collection[str] = (),
        tag: str | None = None,
    ) -> "tuple[Precedent, ...]":
        """Earlier decisions that bear on an anchor: 20 at most, the best first.

        nouns: lemmas of the answer's nouns. tag: the rule of the guidelines that it names.
        For adjudicators: what this person has to decide blind is not among them.
        """
        from nfh_db import precedents

        with self._readers.lend(one_state=True) as connection:
            return precedents.find(connection, anchor_id, me, nouns, tag)
