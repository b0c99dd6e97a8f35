"""What the store gives and takes: frozen records, no rows, no SQL; the weights of votes
among them.

Ids are the store's own integers. Times are UTC, ISO 8601 with milliseconds and "Z".
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from nfh_models.domain import Anchor, Answer, Blocking, DifferenceNote, Kind, Passage

if TYPE_CHECKING:
    from nfh_db.answers import Doubted


@dataclass(frozen=True, slots=True)
class CompetenceWeight:
    """How often somebody was found to be right. accuracy: 0 to 1. answers: that it rests on."""

    annotator: str
    accuracy: float
    answers: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """The figures that votes are weighed by. source: what they were measured by, in words.

    at: when. people: by name.
    """

    source: str
    at: str
    people: tuple[CompetenceWeight, ...]


class Role(StrEnum):
    """In which capacity somebody answers; an adjudicator's answer makes gold."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"


class AnchorState(StrEnum):
    """Where an anchor stands. Being skipped is a person's own flag, not a state."""

    OPEN = "open"
    ANSWERED = "answered"
    DISAGREE = "disagree"
    DECIDED = "decided"
    STALE = "stale"


class FlagName(StrEnum):
    """What a person may mark an anchor with. REJECT: refused as another tool showed it."""

    ANCHOR = "anchor"
    AMBIGUOUS = "ambiguous"
    GUIDELINE = "guideline"
    SKIP = "skip"
    REJECT = "reject"


class Rule(StrEnum):
    """How a gold came to count."""

    IMPORTED = "imported"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    EXPERT = "expert"


BY_RULE = (Rule.UNANIMOUS, Rule.MAJORITY)
"""Rules that make gold of votes, the stricter one first."""


PERSON, MODEL, RULE = "person", "model", "rule"


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody or something that answers. type: PERSON, MODEL or RULE."""

    id: int
    name: str
    type: str = PERSON


@dataclass(frozen=True, slots=True)
class Vote:
    """One annotator's answer to one anchor, with what was in view before it was given.

    No part of what was said: imported: it came with a file. timed: that tells when it was
    given. after: the answer that the file kept along, which this one was made of.
    """

    annotator: str
    role: Role
    answer: Answer
    answered_at: str
    seconds: float | None = None
    saw_model: bool = False
    saw_votes: bool = False
    guideline_version: int | None = None
    rule_tag: str | None = None
    type: str = PERSON
    imported: bool = field(default=False, compare=False)
    timed: bool = field(default=True, compare=False)
    after: "Vote | None" = field(default=None, compare=False)

    @property
    def counts(self) -> bool:
        """It is compared, and gold is made of it: a person gave it, and as an annotator."""
        return self.role is Role.ANNOTATOR and self.type == PERSON


@dataclass(frozen=True, slots=True)
class Gold:
    """The answer that counts, with the rule and the adjudicator by whom it came to count.

    votes: name and time of each answer that it was made of, where rule is unanimous or
    majority.
    """

    answer: Answer
    rule: Rule
    adjudicator: str | None = None
    decided_at: str | None = None
    votes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FlagMark:
    """A flag that somebody set. span: what an ANCHOR proposes in place of the number's span;
    None where it only says that this is wrong.
    """

    name: FlagName
    annotator: str
    flagged_at: str
    span: Anchor | None = None

    @property
    def ends(self) -> tuple[int, int] | None:
        """Start and end of the span, as files and the log have it."""
        return None if self.span is None else (self.span.start, self.span.end)

    def trouble(self, anchor: Anchor, tokens: int) -> str:
        """Why it cannot propose its span for an anchor; "" if it can, or proposes none.

        tokens: how many the passage has.
        """
        if self.span is None:
            return ""
        start, stop = self.span.start, self.span.end
        if self.name is not FlagName.ANCHOR:
            return f"a flag “{self.name}” proposes no span"
        if not 0 <= start < stop <= tokens:
            return f"the span [{start}, {stop}) is outside a passage of {tokens} tokens"
        if self.span == anchor:
            return f"the span [{start}, {stop}) is the one that the number has"
        return ""


@dataclass(frozen=True, slots=True)
class Sibling:
    """An anchor of the passage, the current one included.

    nouns: what its gold says is missing: a token of the passage for each head, or the noun
    that was written for a class.
    """

    anchor_id: int
    anchor: Anchor
    state: AnchorState
    kind: Kind | None
    nouns: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of an anchor.

    scores: the six implicit classes in the order of IMPLICIT_KINDS, then one a token;
    None where the candidate was not scored. choice and second: a class name, or a token
    index written in digits. margin: score of the choice less that of the second.
    """

    model: str
    choice: str
    second: str | None
    margin: float | None
    scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Identified:
    """What a model, or the rules, say of whether an anchor's noun is missing.

    rule: the name of the rule that decided, of a learned model its recipe. score: above 0 for
    an NFH, the further from 0 the surer; None where a rule decided. weights: what weighed most,
    strongest first, as feature and weight.
    """

    model: str
    nfh: bool
    rule: str
    score: float | None = None
    weights: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Identifying:
    """The active model of identification. version: as it is registered.

    spec: the parser asked for when it decided last, None for the one that is there. parser:
    name of the parser with which it decided, "" for none, None where it has not decided yet.
    own: whether this user's installation asked for it by that spec, or for none.
    """

    model_id: int
    name: str
    version: str
    spec: str | None = None
    parser: str | None = None
    own: bool = True


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer begun and not committed. body: JSON that only the editor reads."""

    body: str
    drafted_at: str


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """Where a person stood: the query, the anchor, and the cursor's token in the passage."""

    query: str = ""
    anchor_id: int | None = None
    token: int | None = None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One line of the queue. before and after: text around the anchor's own words."""

    anchor_id: int
    before: str
    word: str
    after: str
    state: AnchorState
    kind: Kind | None
    strongest: Blocking | None
    pattern: str
    flags: tuple[FlagName, ...]


@dataclass(frozen=True, slots=True)
class AnchorItem:
    """All that the screen needs of one anchor.

    votes: annotators' answers and adjudicators', by name; stale_votes: answers to the
    anchor that this one replaced, which do not count until confirmed. withheld: others'
    decisions (in an audit their answers, too) are kept back until this person has decided.
    competences: of those who answered, as far as they are remembered. model_hidden: what
    models say was taken out until this person has answered; the store never does that.
    others: what further models of heads say, the newest model first. blind: letters stand for
    annotators' names, and their order is mixed. doubted: what a model that had not seen the
    gold said of it; None where none was asked, or this person is shown no gold.
    """

    anchor_id: int
    public_id: str
    passage_id: int
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    state: AnchorState
    siblings: tuple[Sibling, ...]
    votes: tuple[Vote, ...]
    stale_votes: tuple[Vote, ...]
    gold: Gold | None
    flags: tuple[FlagMark, ...]
    blocking: tuple[Blocking, ...]
    notes: tuple[DifferenceNote, ...]
    pattern: str
    draft: Draft | None
    prediction: Prediction | None
    withheld: bool = False
    identification: Identified | None = None
    competences: tuple[CompetenceWeight, ...] = ()
    model_hidden: bool = False
    others: tuple[Prediction, ...] = ()
    blind: bool = False
    doubted: "Doubted | None" = None


@dataclass(frozen=True, slots=True)
class Exposure:
    """What was in view before an answer was given, and how long it took."""

    saw_model: bool = False
    saw_votes: bool = False
    seconds: float | None = None
    rule_tag: str | None = None


@dataclass(frozen=True, slots=True)
class StaleLabels:
    """What becomes stale where an anchor is replaced: its gold, and who else answered it.

    rule: of the gold, None where there is none; adjudicator: who decided it. annotators: names
    of the persons who answered, in either role, but for whoever replaces.
    """

    rule: Rule | None = None
    adjudicator: str | None = None
    annotators: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """True if there is anything."""
        return self.rule is not None or bool(self.annotators)

    def __str__(self) -> str:
        """In words: "Gold by eva and the answers of ann1, ann2 become stale"."""
        return self.said(len(self.annotators))

    def said(self, most: int, *, named: bool = True) -> str:
        """In words, with at most so many of the annotators' names; named: with any name."""
        names = self.annotators
        parts = []
        if self.rule is not None:
            parts.append(
                f"gold by {self.adjudicator}" if named and self.adjudicator else "gold"
            )
        if names and named and most > 0:
            more = f" and {len(names) - most} more" if most < len(names) else ""
            answers = "answer" if len(names) == 1 else "answers"
            parts.append(f"the {answers} of {', '.join(names[:most])}{more}")
        elif names:
            parts.append("one answer" if len(names) == 1 else f"{len(names)} answers")
        verb = "become" if len(parts) > 1 or len(names) > 1 else "becomes"
        words = f"{' and '.join(parts)} {verb} stale"
        return words[:1].upper() + words[1:]


NO_LABELS = StaleLabels()
"""Nothing becomes stale, or nobody was told that anything does."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A committed act. state: of the anchor afterwards."""

    act_id: int
    anchor_id: int
    state: AnchorState
    at: str


@dataclass(frozen=True, slots=True)
class Undone:
    """An act taken back, or done again. anchor_id: the first anchor it touched.

    anchors: how many it touched. skipped: how many it left, of a bulk act, since somebody
    changed them after it.
    """

    summary: str
    anchor_id: int | None
    anchors: int
    at: str
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One change of one anchor, in words' reach: values are JSON as the log keeps them.

    kind: of the act: do, undo, redo, import, settle or merge. whose: annotator of the answer
    or flag. role: of the answer. merged: summary of the merge that brought the act here.
    """

    at: str
    annotator: str | None
    act: str
    entity: str
    name: str
    before: str | None
    after: str | None
    kind: str = "do"
    whose: str | None = None
    role: str = ""
    merged: str | None = None
    anchor_id: int = 0


@dataclass(frozen=True, slots=True)
class Ballot:
    """An anchor with everything that people say of it.

    votes: annotators' answers and adjudicators', by name and role.
    """

    anchor_id: int
    passage_id: int
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    state: AnchorState
    votes: tuple[Vote, ...]
    gold: Gold | None
    flags: tuple[FlagMark, ...]


# --- in and out -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IncomingAnchor:
    """An anchor as a file gives it, complete with lemmas by the time the store sees it.

    labels: JSON of what the row itself said, for the `nfh` export; None where it said nothing.
    gold, votes, flags: only what the file holds. earlier: answers that those in `votes`
    took the place of, oldest first; they go into the log.
    """

    line: int
    anchor: Anchor
    labels: str | None = None
    split: str | None = None
    gold: Gold | None = None
    votes: tuple[Vote, ...] = ()
    flags: tuple[FlagMark, ...] = ()
    earlier: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class IncomingPassage:
    """A passage with the anchors that one stretch of a file gives of it."""

    passage: Passage
    tokenizer: str
    anchors: tuple[IncomingAnchor, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do. conflicts: rows whose label is not the gold kept."""

    name: str
    format: str
    rows: int
    passages_new: int
    passages_known: int
    anchors_new: int
    anchors_known: int
    gold_new: int
    gold_same: int
    gold_replaced: int
    votes_new: int
    flags_new: int
    conflicts: tuple[str, ...]
    warnings: tuple[str, ...]
    already: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """One row on its way out. labels: set where an imported row leaves as it came.
    carried: JSON of what the file that the anchor first came from held besides.
    """

    public_id: str
    passage: Passage
    anchor: Anchor
    split: str | None
    gold: Gold | None
    votes: tuple[Vote, ...]
    flags: tuple[FlagMark, ...]
    labels: str | None = None
    carried: str | None = None
