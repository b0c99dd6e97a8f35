"""What earlier merges left to a person, and whether somebody decided it since.

Each merge keeps, in its batch's report, what it left open and how the other copy stood. A
decision that came after that in a copy was made with both sides in view: it is the one that
counts, and the item is not listed again.
"""

import msgspec

from nfh_db.connection import Connection
from nfh_db.merge.chains import Chain
from nfh_db.merge.families import Thing

REPORTS = """
SELECT c.id, b.report FROM batch AS b JOIN act AS c ON c.batch_id = b.id
WHERE b.format = 'merge' AND b.state = 'ready' AND c.kind = 'merge'"""

Key = tuple[str, str, str | None, str]
"""Public id of the anchor, entity, whose, and role or flag's name."""


class Open(msgspec.Struct, frozen=True, array_like=True):
    """One thing that was left: which, and who said what was there in the other copy, when."""

    public_id: str
    entity: str
    whose: str | None
    name: str
    by: str | None
    at: str | None

    @property
    def key(self) -> Key:
        return self.public_id, self.entity, self.whose, self.name


class _Report(msgspec.Struct):
    open: list[Open] = []


_reports = msgspec.json.Decoder(_Report)


class Memory:
    """What merges into one copy left open, and by which act they did."""

    def __init__(self, connection: Connection) -> None:
        self._left: dict[Open, int] = {}
        for act, report in connection.execute(REPORTS):
            for one in _reports.decode(report).open:
                self._left[one] = max(act, self._left.get(one, 0))

    def __contains__(self, one: Open) -> bool:
        """True if just this was left before."""
        return one in self._left

    def decided_since(self, public_id: str, thing: Thing, mine: Chain, other: Chain) -> bool:
        """True if `mine` was decided after `other`, as it stands, had been seen there."""
        merge = self._left.get(opening(public_id, thing, other))
        return merge is not None and bool(mine) and mine[-1].act > merge


def opening(public_id: str, thing: Thing, other: Chain) -> Open:
    """What a merge keeps of a thing that it leaves, where the other copy has this chain."""
    entity, _, owner, name = thing.key
    last = other[-1] if other else None
    by, at = (last.by, last.at) if last else (None, None)
    return Open(public_id, entity, owner, name, by, at or None)
