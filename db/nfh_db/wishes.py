"""What may be done to many items at once, what it would do, and what it did.

Frozen records, as the screen gives and shows them.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nfh_db.records import FlagName, Role, Seen
from nfh_models.domain import Anchor, Answer, Passage


class Deed(StrEnum):
    """What is done to each item. GIVEN: each is decided by an answer of its own."""

    FLAG = "flag"
    UNFLAG = "unflag"
    SKIP = "skip"
    UNSKIP = "unskip"
    WITHDRAW = "withdraw"
    PROPOSAL = "proposal"
    MODEL = "model"
    CLASS = "class"
    GIVEN = "given"


DECIDING = frozenset({Deed.PROPOSAL, Deed.MODEL, Deed.CLASS, Deed.GIVEN})
"""What makes gold of an adjudicator's own."""

Seeing = Callable[[int], Seen]
"""What of an anchor was in view of the person who decides it."""


def unseen(anchor_id: int) -> Seen:
    """Nothing of it was."""
    del anchor_id
    return Seen()


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants done to many items.

    flag: of FLAG and UNFLAG. answer: of CLASS. answers: of GIVEN, by anchor.
    """

    deed: Deed
    role: Role = Role.ADJUDICATOR
    flag: FlagName | None = None
    answer: Answer | None = None
    answers: Mapping[int, Answer] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The act in the history, and in what undo says, without its number of items."""
        noun = "decisions" if self.role is Role.ADJUDICATOR else "answers"
        return {
            Deed.FLAG: f"flag {self.flag} set",
            Deed.UNFLAG: f"flag {self.flag} cleared",
            Deed.SKIP: "items skipped",
            Deed.UNSKIP: "items no longer skipped",
            Deed.WITHDRAW: f"{noun} withdrawn",
            Deed.PROPOSAL: "agreed answers adopted",
            Deed.MODEL: "the model's answers adopted",
            Deed.CLASS: f"gold {self.answer.kind if self.answer else ''}",
            Deed.GIVEN: "a decision applied to similar items",
        }[self.deed]


@dataclass(frozen=True, slots=True)
class Sampled:
    """One of the items that would be changed, to be read.

    before, after: of the gold, or of a withdrawn answer; None for none, and of a flag.
    """

    anchor_id: int
    passage: Passage
    anchor: Anchor
    before: Answer | None
    after: Answer | None


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """What a wish would do.

    looked: items looked at. ids: those that would be changed. notes: what is to be known of
    some of these, as whose gold they lose, with how many. kept: why the others stay, with how
    many. sample: a few of those that would be changed, from all over.
    """

    wish: Wish
    looked: int
    ids: "array[int]"
    notes: Mapping[str, int]
    kept: Mapping[str, int]
    sample: tuple[Sampled, ...]


@dataclass(frozen=True, slots=True)
class BulkDone:
    """What was done. act_id: None where nothing was to be done any more.

    left: items that were planned and left, since somebody changed them meanwhile.
    """

    act_id: int | None
    at: str
    changed: int
    left: int
    words: str
