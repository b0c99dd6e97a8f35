"""The answer of one annotator to one anchor, and the classes of the paper (section 5.3)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class AnswerError(ValueError):
    """An answer that contradicts itself or its passage."""


class Kind(StrEnum):
    """What an anchor is: a Reference, one of the implicit classes, or none of these."""

    REFERENCE = "REFERENCE"
    YEAR = "YEAR"
    AGE = "AGE"
    CURRENCY = "CURRENCY"
    PEOPLE = "PEOPLE"
    TIME = "TIME"
    OTHER = "OTHER"
    UNKNOWN = "UNKNOWN"
    NOT_NFH = "NOT_NFH"
    BROKEN = "BROKEN"
    NFH = "NFH"

    @property
    def identification(self) -> bool | None:
        """Whether it is a fused head; None where identification does not apply (BROKEN)."""
        if self is Kind.BROKEN:
            return None
        return self is not Kind.NOT_NFH


IMPLICIT_KINDS: tuple[Kind, ...] = (
    Kind.YEAR,
    Kind.AGE,
    Kind.CURRENCY,
    Kind.PEOPLE,
    Kind.TIME,
    Kind.OTHER,
)
"""The six implicit classes, in the order of stored scores (paper section 3)."""

RELEASE_CLASSES: frozenset[str] = frozenset(kind.value for kind in IMPLICIT_KINDS)
"""The class names that may stand in the `head` list of the release's files."""


class Relation(StrEnum):
    """How several heads belong together: their sum (AND), either (OR), or not stated
    (imports).
    """

    AND = "AND"
    OR = "OR"
    UNSTATED = "UNSTATED"


class Sort(StrEnum):
    """What an OTHER is: the number itself, a code, a measure, or one noun that any reader would
    say.
    """

    NUMBER = "NUMBER"
    CODE = "CODE"
    MEASURE = "MEASURE"
    NOUN = "NOUN"


class Origin(StrEnum):
    """Whether a person marked a mention, the program added it, or a person removed it."""

    MARKED = "marked"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """One mention of a head's noun: tokens [start, end) and the head token among them."""

    start: int
    end: int
    head: int
    origin: Origin = Origin.MARKED

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.head < self.end:
            raise AnswerError(
                f"mention [{self.start}, {self.end}) does not contain its head token "
                f"{self.head}"
            )


@dataclass(frozen=True, slots=True)
class Head:
    """One noun with its mentions in the passage; the marked mention comes first."""

    mentions: tuple[Mention, ...]

    def __post_init__(self) -> None:
        if not self.mentions:
            raise AnswerError("a head needs at least one mention")
        if self.mentions[0].origin is Origin.REMOVED:
            raise AnswerError("the first mention of a head cannot be a removed one")

    @property
    def live(self) -> tuple[Mention, ...]:
        """The mentions that are not removed."""
        return tuple(m for m in self.mentions if m.origin is not Origin.REMOVED)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, compared and adjudicated as a whole."""

    kind: Kind
    heads: tuple[Head, ...] = ()
    """One or more for REFERENCE, else none."""
    relation: Relation | None = None
    """Only of two or more heads, else None."""
    sort: Sort | None = None
    """Only of OTHER; None if not stated."""
    noun: str | None = None
    """Free text, with any class."""
    comment: str = ""
    """Not compared."""

    def __post_init__(self) -> None:
        if (self.kind is Kind.REFERENCE) != bool(self.heads):
            raise AnswerError("heads belong to REFERENCE, which needs at least one")
        if (self.relation is not None) != (len(self.heads) > 1):
            raise AnswerError("a relation belongs to two or more heads, and they need one")
        if self.sort is not None and self.kind is not Kind.OTHER:
            raise AnswerError(f"a sort belongs to OTHER, not to {self.kind}")
        if self.kind is Kind.REFERENCE and self.noun is not None:
            raise AnswerError("a free noun belongs to a class, not to REFERENCE")

    def check(self, token_count: int, anchor_start: int, anchor_end: int) -> None:
        """Raise AnswerError if a mention lies outside the passage or its head token in the
        anchor.

        A mention may enclose the anchor ("two hours' rest"); its head token may not be in it.
        """
        for mention in self.mentions():
            if mention.end > token_count:
                raise AnswerError(
                    f"mention [{mention.start}, {mention.end}) is outside a passage "
                    f"of {token_count} tokens"
                )
            if anchor_start <= mention.head < anchor_end:
                raise AnswerError(f"head token {mention.head} is part of the anchor")

    def mentions(self) -> Iterable[Mention]:
        """All mentions of all heads, removed ones included, in the order of the heads."""
        return (mention for head in self.heads for mention in head.mentions)

    def head_tokens(self) -> tuple[int, ...]:
        """Head tokens of all mentions that are not removed: ascending, without duplicates."""
        return tuple(sorted({m.head for head in self.heads for m in head.live}))

    def without_comment(self) -> "Answer":
        """The answer without its comment, for comparisons."""
        return replace(self, comment="") if self.comment else self


def class_answer(
    kind: Kind, sort: Sort | None = None, noun: str | None = None, comment: str = ""
) -> Answer:
    """An answer without heads. Raises AnswerError for REFERENCE."""
    return Answer(kind, sort=sort, noun=noun, comment=comment)


def reference_answer(
    heads: Iterable[Iterable[Mention]], relation: Relation | None = None, comment: str = ""
) -> Answer:
    """A Reference with the mentions of each of its heads.

    Several heads without a relation get UNSTATED, as imports have it.
    """
    built = tuple(Head(tuple(mentions)) for mentions in heads)
    if len(built) > 1 and relation is None:
        relation = Relation.UNSTATED
    return Answer(Kind.REFERENCE, built, relation=relation, comment=comment)


PAPER_CLASSES: tuple[Kind, ...] = (Kind.REFERENCE, *IMPLICIT_KINDS)
"""REFERENCE, then the six implicit classes; OTHER includes UNKNOWN."""


def paper_class(kind: Kind) -> Kind | None:
    """The class of the paper that a kind belongs to; UNKNOWN is OTHER.

    None for what the paper's annotators could not answer: NOT_NFH, BROKEN, and NFH, which names
    no class.
    """
    if kind is Kind.UNKNOWN:
        return Kind.OTHER
    return kind if kind in PAPER_CLASSES else None
