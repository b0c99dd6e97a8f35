"""One answer being edited, as a value: how it becomes an answer, and the item as it is shown
blind. Tokens are indices, spans end-exclusive.

Nothing here knows the screen or the store: each action takes a state and gives the next one.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from nfh_db.records import AnchorItem, Role, Vote
from nfh_models.domain import Answer, AnswerError, Head, Kind, Mention, Origin, Relation, Sort

SOMEBODY = "…"
"""What stands in a comment for the name of somebody who is no letter."""

_FILE = re.compile(r"^.*\.(jsonl?|csv|tsv|xlsx?|txt)$", re.IGNORECASE | re.DOTALL)
"""A document called by the file that it came with, which often has somebody's name."""


def blinded(item: AnchorItem) -> AnchorItem:
    """The item with annotators' names replaced by letters and their order mixed.

    The order is the same each time, and another for each item. Who is behind gold, flags,
    decisions and stale answers is left out as well, and so is how often they are right.
    A comment that names one of them has the letter instead: people sign.
    """

    of_annotators = (vote for vote in item.votes if vote.role is Role.ANNOTATOR)
    mixed = mixed_order(item, of_annotators)
    stale = mixed_order(item, item.stale_votes)
    others = [vote for vote in item.votes if vote.role is not Role.ANNOTATOR]
    names = _people(item)
    names |= {vote.annotator: letter(n) for n, vote in enumerate(mixed)}
    gold = item.gold
    return replace(
        item,
        document=_FILE.sub(SOMEBODY, item.document),
        votes=(*_lettered(mixed, names), *(_unsigned(vote, "", names) for vote in others)),
        stale_votes=_lettered(stale, names),
        gold=gold
        and replace(
            gold,
            answer=replace(gold.answer, comment=without_names(gold.answer.comment, names)),
            adjudicator=None,
            votes=(),
        ),
        flags=tuple(replace(flag, annotator="") for flag in item.flags),
        competences=(),
        blind=True,
    )


def mixed_order(item: AnchorItem, votes: Iterable[Vote]) -> list[Vote]:
    """Votes with their names in the order in which they stand blind."""

    def place(vote: Vote) -> bytes:
        content = f"{item.public_id}\0{vote.annotator}".encode("utf-8", "replace")
        return hashlib.sha256(content).digest()

    return sorted(votes, key=place)


def _people(item: AnchorItem) -> dict[str, str]:
    """Everybody who has had to do with the item, none of them a letter yet."""
    named = {vote.annotator for vote in (*item.votes, *item.stale_votes)}
    named |= {flag.annotator for flag in item.flags}
    if item.gold is not None:
        named |= {item.gold.adjudicator or "", *(name for name, _ in item.gold.votes)}
    return dict.fromkeys(named - {""}, SOMEBODY)


def _lettered(votes: Sequence[Vote], names: Mapping[str, str]) -> tuple[Vote, ...]:
    return tuple(_unsigned(vote, letter(n), names) for n, vote in enumerate(votes))


def _unsigned(vote: Vote, name: str, names: Mapping[str, str]) -> Vote:
    comment = without_names(vote.answer.comment, names)
    return replace(vote, annotator=name, answer=replace(vote.answer, comment=comment))


def without_names(comment: str, names: Mapping[str, str]) -> str:
    """The comment with letters for names, in whatever case they stand there."""
    if not comment or not names:
        return comment
    folded = {name.casefold(): other for name, other in names.items()}
    return _any_of(names).sub(lambda found: folded.get(found[0].casefold(), SOMEBODY), comment)


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """The names as whole words, the longest first."""
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)


def letter(place: int) -> str:
    """The blind name of the annotator in that place: A to Z, then A2 and so on."""
    again, at = divmod(place, 26)
    return chr(ord("A") + at) + (str(again + 1) if again else "")


Heads = tuple[tuple[Mention, ...], ...]


class DraftError(ValueError):
    """A draft that cannot be read, or that does not fit its item; the message is for people."""


class Pending(StrEnum):
    """What the next keys are for, when they belong to the editor alone."""

    SORT = "sort"
    HINT = "hint"
    REVIEW = "review"


class AnswerSource(StrEnum):
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
class SetAside:
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
    source: AnswerSource = AnswerSource.EMPTY
    reason: str = ""
    touched: bool = False
    role: Role = Role.ANNOTATOR
    aside: SetAside = field(default_factory=SetAside)
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
class EditOutcome:
    """The state after an action.

    say: a sentence for the person; refused: nothing changed, and `say` tells why.
    ask: "noun" where a text is wanted next, to be given to `set_noun`.
    """

    state: EditState
    say: str | None = None
    refused: bool = False
    ask: str | None = None


def refuse(state: EditState, why: str) -> EditOutcome:
    """Nothing changed, and why."""
    return EditOutcome(state, why, refused=True)


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


def word(item: AnchorItem, token: int) -> str:
    """The quoted word of a token."""
    return quoted(item.passage.word(token))


def in_anchor(item: AnchorItem, token: int) -> bool:
    """True for the tokens of the number itself."""
    return item.anchor.start <= token < item.anchor.end


def live(mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The mentions nobody removed."""
    return tuple(m for m in mentions if m.origin is not Origin.REMOVED)


NO_KIND = "Nothing is chosen yet: press f and letters for a head, or a key for a class."
NO_HEAD = "Reference needs a head: press f, or move with w b and press space."
NO_RELATION = (
    "Different heads: press & if the number counts them all, | if one or the other, "
    "J if both words mean one thing."
)
UNTAKEN = "A span is still growing: space takes it, escape drops it."


def answer(state: EditState, item: AnchorItem) -> Answer | str:
    """The answer as it would be committed, or a sentence that says what is missing."""
    missing = _missing(state)
    if missing is not None or state.kind is None:
        return missing or NO_KIND
    try:
        made = Answer(
            state.kind,
            tuple(Head(mentions) for mentions in state.heads),
            state.relation,
            state.sort,
            state.noun,
            state.comment,
        )
        made.check(len(item.passage.tokens), item.anchor.start, item.anchor.end)
    except AnswerError as error:
        return f"This answer cannot be saved: {error}."
    return made


def _missing(state: EditState) -> str | None:
    if state.span is not None:
        return UNTAKEN
    if state.kind is None or state.kind is Kind.NFH:
        return NO_KIND
    if state.kind is Kind.REFERENCE and not state.heads:
        return NO_HEAD
    if len(state.heads) > 1 and state.relation not in {Relation.AND, Relation.OR}:
        return NO_RELATION
    return None
