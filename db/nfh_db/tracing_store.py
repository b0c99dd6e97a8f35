"""Where things came from, for those who look at labels and at people; a part of `Store`."""

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nfh_db.opened import OpenDatabase
from nfh_db.query import Query
from nfh_db.records import Ballot
from nfh_models.domain import Answer

if TYPE_CHECKING:
    from nfh_db.provenance import NotTaken, SourceRow


class TracingStore(OpenDatabase):
    """The rows of files behind anchors, and the known answers of check items."""

    def anchors_by_passage(self, query: Query) -> "list[array[int]]":
        """The anchors that a query finds, those of one passage together, by span."""
        from nfh_db import provenance

        with self._readers.lend(one_state=True) as connection:
            return list(provenance.by_passage(connection, query, 0))

    def ballots_of(self, anchor_ids: Sequence[int]) -> tuple[Ballot, ...]:
        """Everything said of these anchors, by passage and span."""
        from nfh_db import ballots

        with self._readers.lend(one_state=True) as connection:
            return tuple(ballots.of_anchors(connection, anchor_ids))

    def source_rows(self, anchor_ids: Sequence[int]) -> "Mapping[int, tuple[SourceRow, ...]]":
        """The rows of files that these anchors came from, by anchor."""
        from nfh_db import provenance

        with self._readers.lend() as connection:
            return provenance.rows(connection, anchor_ids)

    def rows_not_taken(self) -> "tuple[NotTaken, ...]":
        """The rows that imports reported as not taken over, as far as they list them."""
        from nfh_db import provenance

        with self._readers.lend() as connection:
            return tuple(provenance.not_taken(connection))

    def check_answers(self) -> Mapping[tuple[int, str], Answer]:
        """What was known of each check item that is answered, by anchor and annotator."""
        from nfh_db import provenance

        with self._readers.lend() as connection:
            return provenance.check_answers(connection)
