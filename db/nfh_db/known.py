"""What the database holds already of the passages that an import brings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nfh_db import answers, flags, gold
from nfh_db.connection import Connection
from nfh_db.passages import KNOWN as KNOWN_PASSAGES
from nfh_db.values import AnswerValue, FlagValue, GoldValue, json_of

OF_PASSAGES = """
SELECT a.passage_id, a.start, a.stop, a.id, a.removed OR a.replaced_by IS NOT NULL
FROM anchor AS a WHERE a.passage_id IN (SELECT value FROM json_each(:ids))"""
FLAGS_OF = """
SELECT f.anchor_id, f.name, n.name, f.flagged_at, f.batch_id, f.start, f.stop
FROM flag AS f JOIN annotator AS n ON n.id = f.annotator_id
WHERE f.anchor_id IN (SELECT value FROM json_each(:ids)) AND f.removed = 0"""


@dataclass(slots=True)
class AnchorPlace:
    """An anchor with what is, or is going to be, said of it.

    new: its rows are still to be written. gone: replaced or removed by a person.
    votes: by annotator's name and role. flags: by flag and annotator's name.
    """

    id: int
    new: bool
    gone: bool = False
    gold: GoldValue | None = None
    votes: dict[tuple[str, str], AnswerValue] = field(default_factory=dict)
    flags: dict[tuple[str, str], FlagValue] = field(default_factory=dict)

    def copy(self) -> "AnchorPlace":
        """The same, to be changed by itself."""
        return AnchorPlace(
            self.id, self.new, self.gone, self.gold, dict(self.votes), dict(self.flags)
        )


@dataclass(slots=True)
class PassagePlace:
    """A passage's row, and its anchors by span."""

    id: int
    anchors: dict[tuple[int, int], AnchorPlace] = field(default_factory=dict)


@dataclass(slots=True)
class Known:
    """Passages by digest. ahead: anchors by id for which changes are on their way."""

    passages: dict[str, PassagePlace] = field(default_factory=dict)
    ahead: Mapping[int, AnchorPlace] = field(default_factory=dict)

    def look_up(self, connection: Connection, digests: Iterable[str]) -> None:
        """Add what the database holds of those of these passages that are not here yet."""
        missing = [digest for digest in set(digests) if digest not in self.passages]
        by_id: dict[int, PassagePlace] = {}
        for digest, id_ in connection.execute(KNOWN_PASSAGES, {"digests": json_of(missing)}):
            by_id[id_] = self.passages[digest] = PassagePlace(id_)
        if by_id:
            _add_anchors(connection, by_id, self.ahead)


def _add_anchors(
    connection: Connection, passages: dict[int, PassagePlace], ahead: Mapping[int, AnchorPlace]
) -> None:
    by_id: dict[int, AnchorPlace] = {}
    for passage_id, start, stop, id_, gone in connection.execute(
        OF_PASSAGES, {"ids": json_of(list(passages))}
    ):
        if id_ in ahead:
            place = ahead[id_].copy()
        else:
            place = by_id[id_] = AnchorPlace(id_, new=False, gone=bool(gone))
        passages[passage_id].anchors[start, stop] = place
    ids = list(by_id)
    for id_, value in gold.read_all(connection, ids).items():
        by_id[id_].gold = value
    for id_, key, value_ in answers.read_all(connection, ids):
        by_id[id_].votes[key] = value_
    for id_, name, annotator, *columns in connection.execute(FLAGS_OF, {"ids": json_of(ids)}):
        by_id[id_].flags[name, annotator] = flags.value_of(*columns)
