"""What an import adds, as rows ready to be written, and what it amounts to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nfh_db.known import AnchorPlace

Row = tuple[object, ...]


@dataclass(slots=True)
class Counts:
    """What a plan adds; the fields of an ImportReport."""

    rows: int = 0
    passages_new: int = 0
    passages_known: int = 0
    anchors_new: int = 0
    anchors_known: int = 0
    gold_new: int = 0
    gold_same: int = 0
    gold_replaced: int = 0
    votes_new: int = 0
    flags_new: int = 0

    @property
    def changes(self) -> bool:
        """True if any gold, answer, flag or row comes in."""
        return any(
            (
                self.anchors_new,
                self.gold_new,
                self.gold_replaced,
                self.votes_new,
                self.flags_new,
            )
        )

    def add(self, other: "Counts") -> None:
        """Add another's figures to these."""
        for name in Counts.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Ids:
    """The next free ids of the tables whose rows are named by an import."""

    passage: int
    anchor: int
    answer: int
    head: int

    def above(self, last: "Ids") -> bool:
        """True if all of these are free, where `last` were the last ones taken."""
        return (
            self.passage > last.passage
            and self.anchor > last.anchor
            and self.answer > last.answer
            and self.head > last.head
        )


@dataclass(slots=True)
class Plan:
    """Rows to write, in the order of each table's INSERT, and what they amount to.

    deferred: events about anchors that are there already. ahead: those anchors by id, as the
    events will leave them.
    """

    counts: Counts = field(default_factory=Counts)
    first: Ids = field(default_factory=lambda: Ids(0, 0, 0, 0))
    passages: list[Row] = field(default_factory=list)
    tokens: list[Row] = field(default_factory=list)
    anchors: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    golds: list[Row] = field(default_factory=list)
    heads: list[Row] = field(default_factory=list)
    mentions: list[Row] = field(default_factory=list)
    flags: list[Row] = field(default_factory=list)
    differences: list[Row] = field(default_factory=list)
    expert_differences: list[Row] = field(default_factory=list)
    gold_differences: list[Row] = field(default_factory=list)
    sources: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    deferred: list[Row] = field(default_factory=list)
    ahead: dict[int, AnchorPlace] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Purpose:
    """What an import is: its file's name, batch and act, and whether gold may give way.

    origin: the batch that what the file says counts as. It is another than `batch` where a
    file that was imported before is gone through again; only its gold is then looked at.
    people: ids of everybody that the stretch names. types: what each of them is.
    newer_answers: an annotator's answer that is newer than theirs here takes its place.
    """

    name: str
    batch: int
    origin: int
    act: int
    document: int
    replace_gold: bool
    people: Mapping[str, int]
    types: Mapping[str, str] = field(default_factory=dict)
    newer_answers: bool = False

    @property
    def again(self) -> bool:
        """True if the file's rows, answers and flags are there already."""
        return self.origin != self.batch
