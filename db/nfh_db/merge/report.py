"""What a merge did, or would do, for the person who asked for it."""

from dataclasses import dataclass
from enum import StrEnum


class Why(StrEnum):
    """Why something that was done in the other copy is left to a person."""

    BOTH = "both"
    """It was changed here as well, otherwise."""
    SPAN = "span"
    """It is about a span that the number does not have here."""
    ANSWERED = "answered"
    """The span was taken back there, and somebody answered it here."""
    DECIDED = "decided"
    """The span was replaced there by somebody who did not know the gold that it has here."""
    TOGETHER = "together"
    """It belongs to something else that is left to a person."""
    MEANWHILE = "meanwhile"
    """Somebody changed it here while the merge was at work."""


REASONS = {
    Why.BOTH: "changed in both copies",
    Why.SPAN: "about a span that the number does not have here",
    Why.ANSWERED: "the span was taken back there and answered here",
    Why.DECIDED: "the span was replaced there and decided here",
    Why.TOGETHER: "belongs to another change that is left to you",
    Why.MEANWHILE: "changed here while the merge was at work",
}


@dataclass(frozen=True, slots=True)
class Side:
    """What one copy says: in words, by whom and when it was said last. rule: of a gold."""

    said: str
    by: str | None
    at: str | None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that was left as it is here, for a person to decide.

    anchor_id: here, None where the span is none here. public_id: the same in every copy.
    what: answer, decision, gold, flag or span. whose: of an answer, a decision or a flag.
    query: what opens the item in the workbench.
    """

    anchor_id: int | None
    public_id: str
    word: str
    query: str
    what: str
    whose: str | None
    here: Side
    there: Side
    why: Why


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What came in.

    other: the file. acts: those of people and rules that came in, with `events` changes of
    `items` anchors. agreed: things that both copies changed, to the same or to what an expert
    decided here, or that were decided here with both in view. taken_back: things that the
    other copy changed and changed back, and this one changed. conflicts: what is left to a
    person. left: what else stayed in the other copy, in sentences. backup: the copy made
    before anything was written.
    """

    other: str
    people_new: tuple[str, ...] = ()
    imports_new: tuple[str, ...] = ()
    passages_new: int = 0
    anchors_new: int = 0
    acts: int = 0
    events: int = 0
    items: int = 0
    agreed: int = 0
    taken_back: int = 0
    assignments_new: int = 0
    drafts_new: int = 0
    places_new: int = 0
    views_new: int = 0
    guidelines_new: int = 0
    conflicts: tuple[Conflict, ...] = ()
    left: tuple[str, ...] = ()
    backup: str | None = None
    dry_run: bool = False

    @property
    def changes(self) -> bool:
        """True if anything came in, or would."""
        return bool(
            self.people_new
            or self.imports_new
            or self.passages_new
            or self.anchors_new
            or self.events
            or self.assignments_new
            or self.drafts_new
            or self.places_new
            or self.views_new
            or self.guidelines_new
        )
