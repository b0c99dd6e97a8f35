"""The types that the store accepts and returns: frozen records, without rows or SQL.

Ids are integers of the database. Times are UTC, ISO 8601 with milliseconds and "Z".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

from nfh_models.domain import Anchor, Answer, Blocking, DifferenceNote, Kind, Passage

if TYPE_CHECKING:
    from nfh_db.answers import ShownDoubt


@dataclass(frozen=True, slots=True)
class CompetenceWeight:
    """The measured accuracy of an annotator, 0 to 1. answers: the sample that it rests on."""

    annotator: str
    accuracy: float
    answers: int


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """The stored competence weights. source: the measure, in words. people: sorted by name."""

    source: str
    at: str
    people: tuple[CompetenceWeight, ...]


class Role(StrEnum):
    """The capacity in which somebody answers. An adjudicator's answer makes gold."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"


class AnchorState(StrEnum):
    """The state of an anchor. Being skipped is a flag of a person, not a state."""

    OPEN = "open"
    ANSWERED = "answered"
    DISAGREE = "disagree"
    DECIDED = "decided"
    STALE = "stale"


class FlagName(StrEnum):
    """The flags of an anchor. REJECT: refused in another tool."""

    ANCHOR = "anchor"
    AMBIGUOUS = "ambiguous"
    GUIDELINE = "guideline"
    SKIP = "skip"
    REJECT = "reject"


class Rule(StrEnum):
    """How a gold was decided."""

    IMPORTED = "imported"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    WEIGHTED = "weighted"
    EXPERT = "expert"


BY_RULE = (Rule.UNANIMOUS, Rule.MAJORITY, Rule.WEIGHTED)
"""Rules that derive gold from votes."""
RULES_OF_VOTES = ", ".join(f"'{rule.value}'" for rule in BY_RULE)
"""BY_RULE for statements."""


PERSON, MODEL, RULE = "person", "model", "rule"

_ACCENTS = re.compile("[\u0300-\u036f]+")


def normal_name(name: str) -> str:
    """Return an annotator's name as it is stored: in NFC, without white space at its ends."""
    return normalize("NFC", name.strip())


def likeness(name: str) -> str:
    """Return what is equal of names that differ only by case, accents, width or white space."""
    return " ".join(_ACCENTS.sub("", normalize("NFKD", name)).casefold().split())


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody or something that answers. type: PERSON, MODEL or RULE."""

    id: int
    name: str
    type: str = PERSON


@dataclass(frozen=True, slots=True)
class Vote:
    """One annotator's answer to one anchor, with what was in view before it was given.

    `imported`, `timed` and `after` are not compared: they are no part of the answer.
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
    in_sheet: bool = False
    """Whether it was decided in a review sheet, among many others."""

    imported: bool = field(default=False, compare=False)
    timed: bool = field(default=True, compare=False)
    """Whether `answered_at` is when it was given, and not when a file without times came in."""

    after: "Vote | None" = field(default=None, compare=False)
    """The earlier answer, kept in the file, from which this one was made."""

    @property
    def counts(self) -> bool:
        """Whether it is compared and settled: a person gave it as an annotator."""
        return self.role is Role.ANNOTATOR and self.type == PERSON


@dataclass(frozen=True, slots=True)
class Gold:
    """The decided answer of an anchor, with the rule and the adjudicator that decided it."""

    answer: Answer
    rule: Rule
    adjudicator: str | None = None
    decided_at: str | None = None
    votes: tuple[tuple[str, str], ...] = ()
    """Name and time of each answer that it was derived from, if `rule` is of BY_RULE."""


@dataclass(frozen=True, slots=True)
class FlagMark:
    """A flag that is set."""

    name: FlagName
    annotator: str
    flagged_at: str
    span: Anchor | None = None
    """The span that an ANCHOR flag proposes; None if it only says that the span is wrong."""

    @property
    def ends(self) -> tuple[int, int] | None:
        """Start and end of the span, as files and the log store it."""
        return None if self.span is None else (self.span.start, self.span.end)

    def problem(self, anchor: Anchor, tokens: int) -> str:
        """Why its span is invalid for an anchor; "" if it is valid or absent.

        tokens: their number in the passage.
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
    """An anchor of the passage, the current one included."""

    anchor_id: int
    anchor: Anchor
    state: AnchorState
    kind: Kind | None
    nouns: tuple[int | str, ...] = ()
    """The missing nouns by its gold: a token of the passage per head, or a class's noun."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model's prediction of the missing noun of an anchor.

    A candidate is a class name, or a token index in digits.
    """

    model: str
    choice: str
    second: str | None
    margin: float | None
    """Score of the choice minus that of the second."""

    scores: tuple[float | None, ...]
    """Of the six implicit classes in the order of IMPLICIT_KINDS, then of each token; None for
    a candidate that was not scored."""


@dataclass(frozen=True, slots=True)
class Identified:
    """The decision of a model, or of the rules, whether the noun of an anchor is missing."""

    model: str
    nfh: bool
    rule: str
    """The rule that decided; for a learned model its recipe."""

    score: float | None = None
    """Signed distance from the decision boundary, positive for NFH; None if a rule decided."""

    weights: tuple[tuple[str, float], ...] = ()
    """The features with the largest weights, largest first."""


@dataclass(frozen=True, slots=True)
class Identifying:
    """The active identification model."""

    model_id: int
    name: str
    version: str
    """As registered."""

    spec: str | None = None
    """The parser requested for its last decisions; None for the default parser."""

    parser: str | None = None
    """Name of the parser of its decisions; "" for none, None if it has not decided yet."""

    own: bool = True
    """Whether this user's installation requested `spec`, or there is none."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An uncommitted answer. body: JSON of the answer editor, opaque to the store."""

    body: str
    drafted_at: str


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """A person's last position: query, anchor, and token of the cursor in the passage."""

    query: str = ""
    anchor_id: int | None = None
    token: int | None = None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A row of the queue. before, after: text around the anchor's words."""

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
    """An anchor with all that the screen shows of it."""

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
    """Answers in both roles, by name."""

    stale_votes: tuple[Vote, ...]
    """Answers to the anchor that this one replaced. They do not count until confirmed."""

    gold: Gold | None
    flags: tuple[FlagMark, ...]
    blocking: tuple[Blocking, ...]
    notes: tuple[DifferenceNote, ...]
    pattern: str
    draft: Draft | None
    prediction: Prediction | None
    withheld: bool = False
    """Whether others' decisions, in an audit also their answers, are left out until this person
    has decided."""

    identification: Identified | None = None
    competences: tuple[CompetenceWeight, ...] = ()
    """Of the annotators who answered, as far as they are stored."""

    model_hidden: bool = False
    """Whether predictions are left out until this person has answered. Not set by the store."""

    others: tuple[Prediction, ...] = ()
    """Predictions of further resolution models, the newest model first."""

    blind: bool = False
    """Whether letters replace the annotators' names, in shuffled order."""

    doubted: "ShownDoubt | None" = None
    """The doubt of a model that had not seen the gold; None if there is none, or no gold is
    shown."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """What was in view before an answer was given, and how long it took."""

    saw_model: bool = False
    saw_votes: bool = False
    seconds: float | None = None
    rule_tag: str | None = None
    in_sheet: bool = False


@dataclass(frozen=True, slots=True)
class StaleLabels:
    """What becomes stale when an anchor is replaced: its gold, and others' answers."""

    rule: Rule | None = None
    """Of the gold; None if there is none."""

    adjudicator: str | None = None
    annotators: tuple[str, ...] = ()
    """Persons who answered in either role, without the one who replaces the anchor."""

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
"""Nothing becomes stale, or nothing was confirmed."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A committed act. state: of the anchor after it."""

    act_id: int
    anchor_id: int
    state: AnchorState
    at: str


@dataclass(frozen=True, slots=True)
class Undone:
    """An act that was undone or redone."""

    summary: str
    anchor_id: int | None
    """The first changed anchor."""

    anchors: int
    """The number of changed anchors."""

    at: str
    skipped: int = 0
    """Anchors of a bulk act left unchanged, since they were changed after it."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One change of one anchor. before, after: JSON as in the log."""

    at: str
    annotator: str | None
    act: str
    entity: str
    name: str
    before: str | None
    after: str | None
    kind: str = "do"
    """Of the act: do, undo, redo, import, settle or merge."""

    whose: str | None = None
    """The annotator of the answer or flag."""

    role: str = ""
    """Of the answer."""

    merged: str | None = None
    """Summary of the merge that added the act to this database."""

    anchor_id: int = 0


@dataclass(frozen=True, slots=True)
class Ballot:
    """An anchor with all its answers, gold and flags. votes: by name and role."""

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


# --- import and export ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IncomingAnchor:
    """An anchor of an imported file, with what the file holds of it."""

    line: int
    anchor: Anchor
    labels: str | None = None
    """JSON of the row's labels, for the `nfh` export; None if it has none."""

    split: str | None = None
    gold: Gold | None = None
    votes: tuple[Vote, ...] = ()
    flags: tuple[FlagMark, ...] = ()
    earlier: tuple[Vote, ...] = ()
    """Answers that those in `votes` replaced, oldest first, for the log."""


Stated = Literal["text", "turns", "words"]
"""What a file states of its passages: all, tokens and turns without the text, or tokens alone.
The rest is made up by its reader.
"""


@dataclass(frozen=True, slots=True)
class IncomingPassage:
    """A passage, with its anchors in one part of a file. Its tokens have lemmas by then."""

    passage: Passage
    tokenizer: str
    anchors: tuple[IncomingAnchor, ...]
    stated: Stated = "text"


@dataclass(frozen=True, slots=True)
class Gone:
    """What of earlier imports no other file has."""

    passages: int = 0
    anchors: int = 0
    """In these passages, and in others that stay."""

    answered: int = 0
    """Of these, those with an answer, gold, a flag or a draft."""

    kept: int = 0
    """Passages that another file has, too."""

    examples: tuple[str, ...] = ()
    """Line and first words of the first passages."""


@dataclass(frozen=True, slots=True)
class Correction:
    """How a file differs from earlier imports of its name."""

    imports: tuple[int, ...]
    at: str
    """When the last of them was imported."""

    gone: Gone
    new: tuple[str, ...] = ()
    """Line and first words of the first new passages."""


@dataclass(frozen=True, slots=True)
class RetireReport:
    """What taking imports out did, or would do."""

    imports: tuple[int, ...]
    gone: Gone
    act_id: int | None = None
    carried: Mapping[str, int] = field(default_factory=dict)
    """Answers, golds, flags, drafts and assignments that went over to the corrected file."""

    left: Mapping[str, int] = field(default_factory=dict)
    """Those that did not, by the reason."""

    left_examples: tuple[str, ...] = ()
    changed: int = 0
    """Numbers left as they are, since somebody changed them meanwhile."""

    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The counts of an import or dry run. conflicts: rows whose label is not the gold kept."""

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
    votes_replaced: int
    flags_new: int
    conflicts: tuple[str, ...]
    warnings: tuple[str, ...]
    already: bool = False
    dry_run: bool = False
    anchors_back: int = 0
    """Retired anchors that the file brings back."""

    number: int = 0
    """Of the import; 0 for none."""

    by: str = ""
    """Who imported the file."""

    correction: Correction | None = None
    retired: RetireReport | None = None
    """What replacing the earlier imports did."""


@dataclass(frozen=True, slots=True)
class Import:
    """An imported file."""

    number: int
    at: str
    by: str
    """Who imported it; "" if unknown."""

    counts: Mapping[str, int]
    """Passages, anchors, gold, votes and flags that were new, as in ImportReport."""

    name: str
    format: str
    split: str | None
    annotator: str | None
    """Whose answers its labels are; None if they are gold, or name their own."""

    rows: int
    out: int
    """1 if it was taken out."""

    here: int
    """Its numbers that are visible now."""


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """A row of an export."""

    public_id: str
    passage: Passage
    anchor: Anchor
    split: str | None
    gold: Gold | None
    votes: tuple[Vote, ...]
    flags: tuple[FlagMark, ...]
    labels: str | None = None
    """The labels of an imported row that is exported unchanged; else None."""

    carried: str | None = None
    """JSON of the further content of the file from which the anchor was first imported."""
