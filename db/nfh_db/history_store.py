"""What the store tells of the past; a part of `Store`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.opened import OpenDatabase
from nfh_db.query import Query
from nfh_db.records import Annotator, HistoryLine, Role

if TYPE_CHECKING:
    from nfh_db.history import Past


class HistoryStore(OpenDatabase):
    """Who changed what, and when."""

    def history(self, anchor_id: int) -> tuple[HistoryLine, ...]:
        """All changes of an anchor, oldest first."""
        from nfh_db import history

        with self._readers.lend() as connection:
            return history.of_anchor(connection, anchor_id)

    def seen_history(
        self, anchor_id: int, me: Annotator, role: Role
    ) -> tuple[HistoryLine, ...]:
        """What this person may see, in this role, of what happened to an anchor.

        Oldest first, with the changes of the anchors that it replaced.
        """
        from nfh_db import assignments, history

        with self._readers.lend(one_state=True) as connection:
            lines = history.with_earlier(connection, anchor_id)
            kept_back = assignments.blind(connection, [anchor_id], me.id)
            return assignments.seen_of_history(lines, me.name, role, kept_back.get(anchor_id))

    def pasts(
        self,
        query: Query,
        me: Annotator | None = None,
        *,
        since: str = "",
        people: Sequence[str] = (),
    ) -> "Iterator[Past]":
        """Each anchor of a query that has a past, with it, by passage and span; of one moment.

        since: a time as the store keeps them. people: only what they did, and what was done
        to their answers and flags.
        """
        from nfh_db import history

        wanted = history.Wanted(since, frozenset(people))
        with self._readers.lend(one_state=True) as connection:
            yield from history.of_query(connection, query, me.id if me else 0, wanted)

    def past_of(self, item: str, *, since: str = "", people: Sequence[str] = ()) -> "Past":
        """The past of one item, named by the id that files have, or by its anchor's number.

        Raises StoreError if there is none, or if several begin with what was given.
        """
        from nfh_db import history

        wanted = history.Wanted(since, frozenset(people))
        with self._readers.lend(one_state=True) as connection:
            found = history.find(connection, item)
            past = next(history.of_anchors(connection, [found], wanted), None)
        if past is None:
            raise StoreError(f"Anchor {found} has no passage: run `nfh-tui doctor`")
        return past
