"""One answer being edited, as a value. Tokens are indices, spans end-exclusive.

Nothing here knows the screen or the store: each act takes a state and gives the next one.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from nfh_db.records import Item, Role
from nfh_models.domain import Kind, Mention, Origin, Relation, Sort

Heads = tuple[tuple[Mention, ...], ...]


class DraftError(ValueError):
    """A draft that cannot be read, or that does not fit its item; the message is for people."""


class Pending(StrEnum):
    """What the next keys are for, when they belong to the editor alone."""

    SORT = "sort"
    HINT = "hint"
    REVIEW = "review"


class Source(StrEnum):
    """Where the answer in the editor came from; each equals its own name in lower case."""

    DRAFT = "draft"
    MINE = "mine"
    GOLD = "gold"
    PROPOSAL = "proposal"
    ADOPTED = "adopted"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Content:
    """What would be committed: the parts of a state that make it differ from another."""

    kind: Kind | None = None
    heads: Heads = ()
    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    """What a change of kind put away, so that changing back brings it again."""

    heads: Heads = ()
    relation: Relation | None = None
    sort: Sort | None = None
    nouns: tuple[tuple[Kind, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """Further mentions of head number `head`, still to be offered; the first stands now.

    words: what is said of each when it is asked about.
    """

    head: int
    tokens: tuple[int, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EditState:
    """An answer on its way.

    heads: only while kind is REFERENCE; each holds its mentions, the marked ones first.
    cursor: the token on which the cursor stands; while `span` grows, one of its two ends.
    hints: token and letters, while pending is HINT; typed: the letters typed of them;
    all_words: they stand on words of every kind.
    source and reason: where the answer came from, and why ("2 of 3").
    touched: differs from what `begin` gave, so it must be kept as a draft.
    tag: the guideline rule on which the decision turns: "R12".
    adopted: which answer was taken over, by its number in the mixed order, so that the reason
    can tell its number in the order shown.
    """

    kind: Kind | None = None
    heads: Heads = ()
    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""
    cursor: int = 0
    span: tuple[int, int] | None = None
    pending: Pending | None = None
    hints: tuple[tuple[int, str], ...] = ()
    typed: str = ""
    all_words: bool = False
    review: Review | None = None
    source: Source = Source.EMPTY
    reason: str = ""
    touched: bool = False
    role: Role = Role.ANNOTATOR
    aside: Aside = field(default_factory=Aside)
    began: Content = field(default_factory=Content)
    tag: str | None = None
    adopted: int | None = None

    @property
    def changed(self) -> bool:
        """True if something else would be committed than what `begin` gave, or a span grows.

        Letters on show or a question that waits are kept in a draft, but change nothing yet.
        """
        return self.span is not None or self.content != self.began

    @property
    def content(self) -> Content:
        """What would be committed."""
        return Content(
            self.kind,
            self.heads,
            self.relation,
            self.sort,
            self.noun,
            self.comment,
            self.tag,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after an act.

    say: a sentence for the person; refused: nothing changed, and `say` tells why.
    ask: "noun" where a text is wanted next, to be given to `set_noun`.
    """

    state: EditState
    say: str | None = None
    refused: bool = False
    ask: str | None = None


def refuse(state: EditState, why: str) -> Outcome:
    """Nothing changed, and why."""
    return Outcome(state, why, refused=True)


def settled(state: EditState) -> EditState:
    """The same state with `touched` set right, and no relation where no two heads are."""
    if len(state.heads) < 2 and state.relation is not None:
        state = replace(state, relation=None)
    touched = (
        state.content != state.began or state.span is not None or state.pending is not None
    )
    return state if touched == state.touched else replace(state, touched=touched)


def without_pending(state: EditState) -> EditState:
    """The same state, with the next keys given back."""
    if state.pending is None:
        return state
    return replace(state, pending=None, hints=(), typed="", all_words=False, review=None)


def quoted(text: str, longest: int = 40) -> str:
    """Words of the passage for use in a sentence, clipped to `longest` characters."""
    flat = " ".join(text.split())
    clipped = flat if len(flat) <= longest else flat[: longest - 1] + "…"
    return f"“{clipped}”"


def word(item: Item, token: int) -> str:
    """The quoted word of a token."""
    return quoted(item.passage.word(token))


def in_anchor(item: Item, token: int) -> bool:
    """True for the tokens of the number itself."""
    return item.anchor.start <= token < item.anchor.end


def live(mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The mentions nobody removed."""
    return tuple(m for m in mentions if m.origin is not Origin.REMOVED)
