"""`NAME.nfh.json`, the side file of a brat document: what brat has no terms for.

It holds the passage's tokens and turns, and of each number what one folder's `.ann` file does
not say: times, head tokens, what was in view, how gold came to count.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.stored import Restored, item_of, restored, stored
from nfh_db.records import PERSON, ExportRecord, FlagMark, Role, Vote
from nfh_db.values import TurnRow

SUFFIX = ".nfh.json"
VERSION = "nfh-brat/1"
GOLD = "gold"
"""The folder of what counts."""

UNSAFE = re.compile(r"[^\w@+.-]")
"""What a folder's name should not hold, on whatever system it is unpacked."""


@dataclass(frozen=True, slots=True)
class Party:
    """Whose answers a folder holds. name: None for those that count."""

    name: str | None
    role: Role = Role.ANNOTATOR
    type: str = PERSON

    @classmethod
    def of(cls, vote: Vote) -> "Party":
        """Who gave an answer."""
        return cls(vote.annotator, vote.role, vote.type)


class By(msgspec.Struct, frozen=True, array_like=True):
    """A party that is not gold."""

    name: str
    role: Role
    type: Literal["person", "model", "rule"]


class Side(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A side file. folder: where it was written to, and by: whose that folder was.

    replaced: characters of the text that its file has not. items: as `stored.StoredItem`, but
    without turns and offsets, which are the passage's.
    """

    format: Literal["nfh-brat/1"]
    folder: str
    turns: tuple[TurnRow, ...]
    offsets: tuple[tuple[int, int], ...]
    items: tuple[dict[str, Any], ...]
    by: By | None = None
    replaced: tuple[tuple[int, str], ...] = ()

    @property
    def party(self) -> Party:
        """Whose folder it was."""
        return (
            Party(None) if self.by is None else Party(self.by.name, self.by.role, self.by.type)
        )


def side_bytes(
    folder: str,
    party: Party,
    records: Sequence[ExportRecord],
    replaced: tuple[tuple[int, str], ...],
) -> bytes:
    """The side file of a folder's document, of the records of one passage."""
    passage = records[0].passage
    kind: Any = party.type
    by = None if party.name is None else By(party.name, party.role, kind)
    return msgspec.json.encode(
        Side(
            "nfh-brat/1",
            folder,
            tuple(
                TurnRow(t.number, t.speaker, t.start, t.end, t.begin, t.until)
                for t in passage.turns
            ),
            tuple((t.start, t.end) for t in passage.tokens),
            tuple(_item(record, party) for record in records),
            by,
            replaced,
        )
    )


def _item(record: ExportRecord, party: Party) -> dict[str, Any]:
    votes = [vote for vote in record.votes if Party.of(vote) == party]
    gold = party.name is None
    flags = own_flags(record, party)
    kept = stored(record, offsets=False, gold=gold, votes=votes, flags=flags)
    item: dict[str, Any] = msgspec.to_builtins(kept)
    del item["turns"]
    return item


def own_flags(record: ExportRecord, party: Party) -> list[FlagMark]:
    """The flags of a record that stand in a party's folder: in an annotator's own, or in the
    only one that who set them has.
    """
    if party.name is None:
        return []
    roles = {vote.role for vote in record.votes if vote.annotator == party.name}
    # Who answered in both roles has two folders; flags stand in the annotator's then.
    role = Role.ADJUDICATOR if roles == {Role.ADJUDICATOR} else Role.ANNOTATOR
    if party.role is not role:
        return []
    return [flag for flag in record.flags if flag.annotator == party.name]


def side_of(content: bytes) -> Side:
    """The side file that bytes are. Raises MarkError."""
    try:
        return msgspec.json.decode(content, type=Side)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MarkError(f"is no side file of this version ({VERSION}): {error}") from error


def kept_items(side: Side, text: str) -> dict[tuple[int, int], Restored]:
    """What a side file holds of each number, by its code points. Raises MarkError."""
    found: dict[tuple[int, int], Restored] = {}
    turns = msgspec.to_builtins(side.turns)
    for value in side.items:
        one = restored(item_of({**value, "turns": turns}), text, side.offsets)
        start = one.passage.starts[one.anchor.start]
        found[(start, one.passage.ends[one.anchor.end - 1])] = one
    return found


class Folders:
    """The names of folders: each party's its own, told apart also where case is not."""

    def __init__(self) -> None:
        self._names: dict[Party, str] = {Party(None): GOLD}
        self._taken = {GOLD}

    def __call__(self, party: Party) -> str:
        """The folder of a party."""
        name = self._names.get(party)
        if name is None:
            name = self._names[party] = self._free(party)
            self._taken.add(name.casefold())
        return name

    def _free(self, party: Party) -> str:
        base = UNSAFE.sub("_", party.name or "").strip(".") or "_"
        if party.role is Role.ADJUDICATOR:
            base += "-adjudicator"
        name, rank = base, 1
        while name.casefold() in self._taken:
            rank += 1
            name = f"{base}-{rank}"
        return name
