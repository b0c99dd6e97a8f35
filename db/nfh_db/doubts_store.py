"""What the store does about doubts; a part of `Store`."""

from collections.abc import Callable, Sequence

from nfh_db import doubts, gold
from nfh_db.doubts import Doubt
from nfh_db.opened import OpenDatabase
from nfh_db.values import answer_of
from nfh_models.domain import Answer

Holds = Callable[[int, Answer], bool]
"""Whether an anchor's gold is still the one that a model was asked about."""


class DoubtsStore(OpenDatabase):
    """What models that had not seen it said of gold."""

    def save_doubts(self, job_id: int, found: Sequence[Doubt], holds: Holds) -> int:
        """Keep doubts of gold that is still as it was; how many were kept."""
        with self._noting() as connection:
            golds = gold.read_all(connection, [one.anchor_id for one in found])
            kept = [
                one
                for one in found
                if (value := golds.get(one.anchor_id)) is not None
                and holds(one.anchor_id, answer_of(value))
            ]
            doubts.save(connection, job_id, kept)
        return len(kept)

    def doubt(self, anchor_id: int) -> Doubt | None:
        """What is doubted of an anchor's gold; None where nobody asked."""
        with self._readers.lend() as connection:
            return doubts.read(connection, anchor_id)
