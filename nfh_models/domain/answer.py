"""The answer: what one annotator says of one anchor, as one value; and the classes of the
paper (section 5.3).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class AnswerError(ValueError):
    """An answer that contradicts itself or its passage."""


class Kind(StrEnum):
    """What an anchor is: a Reference, an implicit class, or one of the ways out."""

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
        """True for an NFH, False for none, None where identification is left out."""
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
"""The six implicit classes, in the order in which scores are stored (paper section 3)."""

RELEASE_CLASSES: frozenset[str] = frozenset(kind.value for kind in IMPLICIT_KINDS)
"""The class names that may stand in the `head` list of the release's files."""


class Relation(StrEnum):
    """How different heads belong together: the sum, either, or not said (imports)."""

    AND = "AND"
    OR = "OR"
    UNSTATED = "UNSTATED"


class Sort(StrEnum):
    """What an OTHER is: number itself, code, measure, or one noun any reader would say."""

    NUMBER = "NUMBER"
    CODE = "CODE"
    MEASURE = "MEASURE"
    NOUN = "NOUN"


class Origin(StrEnum):
    """Whether a person marked a mention, the tool added it, or a person took it away."""

    MARKED = "marked"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """One place of a head's noun: tokens [start, end) and the head token inside them."""

    start: int
    end: int
    head: int
    origin: Origin = Origin.MARKED

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.head < self.end:
            raise AnswerError(
                f"mention [{self.start}, {self.end}) does not hold its head token {self.head}"
            )


@dataclass(frozen=True, slots=True)
class Head:
    """One noun with the places where it stands; the marked mention comes first."""

    mentions: tuple[Mention, ...]

    def __post_init__(self) -> None:
        if not self.mentions:
            raise AnswerError("a head needs at least one mention")
        if self.mentions[0].origin is Origin.REMOVED:
            raise AnswerError("the first mention of a head may not be a removed one")

    @property
    def live(self) -> tuple[Mention, ...]:
        """The mentions nobody removed."""
        return tuple(m for m in self.mentions if m.origin is not Origin.REMOVED)


@dataclass(frozen=True, slots=True)
class Answer:
    """One value, compared and adjudicated as a whole.

    heads: for REFERENCE one or more, else none.
    relation: only between two or more heads, else None.
    sort: only for OTHER; None is unstated. noun: free text, with any class.
    comment does not take part in comparisons.
    """

    kind: Kind
    heads: tuple[Head, ...] = ()
    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""

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
        """Raise AnswerError if a mention lies outside the passage or in the anchor.

        A span may enclose the anchor ("two hours' rest"); its head token may not be in it.
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
        """All mentions of all heads, removed ones included, in order of heads."""
        return (mention for head in self.heads for mention in head.mentions)

    def head_tokens(self) -> tuple[int, ...]:
        """Head tokens of all mentions nobody removed: ascending, each once."""
        return tuple(sorted({m.head for head in self.heads for m in head.live}))

    def without_comment(self) -> "Answer":
        """The same answer with no comment, for comparing what counts."""
        return replace(self, comment="") if self.comment else self


def class_answer(
    kind: Kind, sort: Sort | None = None, noun: str | None = None, comment: str = ""
) -> Answer:
    """An answer without heads. Raises AnswerError for REFERENCE."""
    return Answer(kind, sort=sort, noun=noun, comment=comment)


def reference_answer(
    heads: Iterable[Iterable[Mention]], relation: Relation | None = None, comment: str = ""
) -> Answer:
    """A Reference from the mentions of each of its heads.

    With several heads and no relation it is UNSTATED, as imports are.
    """
    built = tuple(Head(tuple(mentions)) for mentions in heads)
    if len(built) > 1 and relation is None:
        relation = Relation.UNSTATED
    return Answer(Kind.REFERENCE, built, relation=relation, comment=comment)


PAPER_CLASSES: tuple[Kind, ...] = (Kind.REFERENCE, *IMPLICIT_KINDS)
"""REFERENCE, then the six implicit classes; OTHER holds UNKNOWN, too."""


def paper_class(kind: Kind) -> Kind | None:
    """The class of the paper that a kind falls in.

    UNKNOWN is OTHER. None for what the paper's annotators could not say: NOT_NFH, BROKEN,
    and NFH, which names no class.
    """
    if kind is Kind.UNKNOWN:
        return Kind.OTHER
    return kind if kind in PAPER_CLASSES else None


def identified(kind: Kind) -> bool | None:
    """Whether a kind says that the number's noun is missing; None for BROKEN, which says
    neither."""
    if kind is Kind.BROKEN:
        return None
    return kind is not Kind.NOT_NFH
