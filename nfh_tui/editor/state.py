"""The state of an answer that is edited, its conversion to an answer, and blinding of items.

Tokens are indices into the passage, spans are [start, end). States are immutable: a command
takes one and returns the next. Neither the screen nor the store is used.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from nfh_db.records import AnchorItem, Role, Vote
from nfh_models.domain import Answer, AnswerError, Head, Kind, Mention, Origin, Relation, Sort

SOMEBODY = "…"
"""Replaces a name in a comment where the person has no letter."""

_FILE = re.compile(r"^.*\.(jsonl?|csv|tsv|xlsx?|txt)$", re.IGNORECASE | re.DOTALL)
"""A document named after its file, which often contains a person's name."""


def blinded(item: AnchorItem) -> AnchorItem:
    """The item with annotators' names replaced by letters and their order mixed.

    The order depends on the item alone. Names of gold, flags, decisions and stale answers are
    removed, and so is competence. Names in comments become letters, since people sign.
    """
    of_annotators = (vote for vote in item.votes if vote.role is Role.ANNOTATOR)
    mixed = mixed_order(item, of_annotators)
    stale = mixed_order(item, item.stale_votes)
    others = [vote for vote in item.votes if vote.role is not Role.ANNOTATOR]
    people = {vote.annotator for vote in (*item.votes, *item.stale_votes)}
    people |= {flag.annotator for flag in item.flags}
    if item.gold is not None:
        people |= {item.gold.adjudicator or "", *(name for name, _ in item.gold.votes)}
    names = dict.fromkeys(people - {""}, SOMEBODY)
    names |= {vote.annotator: blind_name(n) for n, vote in enumerate(mixed)}
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
    """Votes, with names, in the order of the blinded item."""

    def digest(vote: Vote) -> bytes:
        content = f"{item.public_id}\0{vote.annotator}".encode("utf-8", "replace")
        return hashlib.sha256(content).digest()

    return sorted(votes, key=digest)


def _lettered(votes: Sequence[Vote], names: Mapping[str, str]) -> tuple[Vote, ...]:
    return tuple(_unsigned(vote, blind_name(n), names) for n, vote in enumerate(votes))


def _unsigned(vote: Vote, name: str, names: Mapping[str, str]) -> Vote:
    comment = without_names(vote.answer.comment, names)
    return replace(vote, annotator=name, answer=replace(vote.answer, comment=comment))


def without_names(comment: str, names: Mapping[str, str]) -> str:
    """The comment with names replaced, whatever their case."""
    if not comment or not names:
        return comment
    folded = {name.casefold(): other for name, other in names.items()}
    # Whole words, the longest name first.
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(
        rf"(?<!\w)(?:{any_name})(?!\w)",
        lambda found: folded.get(found[0].casefold(), SOMEBODY),
        comment,
        flags=re.IGNORECASE,
    )


def blind_name(index: int) -> str:
    """The blind name of the annotator with this index: A to Z, then A2 and so on."""
    again, at = divmod(index, 26)
    return chr(ord("A") + at) + (str(again + 1) if again else "")


Heads = tuple[tuple[Mention, ...], ...]


class DraftError(ValueError):
    """A draft that cannot be read or does not fit its item; the message is for the user."""


class Pending(StrEnum):
    """What the editor uses the next keys for, in place of the keymap."""

    SORT = "sort"
    HINT = "hint"
    REVIEW = "review"


class AnswerSource(StrEnum):
    """Where the answer in the editor comes from."""

    DRAFT = "draft"
    MINE = "mine"
    GOLD = "gold"
    PROPOSAL = "proposal"
    ADOPTED = "adopted"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Content:
    """The parts of a state that are committed."""

    kind: Kind | None = None
    heads: Heads = ()
    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class HiddenParts:
    """Parts of an answer hidden by a change of kind; changing back restores them."""

    heads: Heads = ()
    relation: Relation | None = None
    sort: Sort | None = None
    nouns: tuple[tuple[Kind, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """Further mentions that are offered for a head, one after the other."""

    head: int
    """Index of the head."""

    tokens: tuple[int, ...]
    """Tokens still to be offered; the first is offered now."""

    words: tuple[str, ...] = ()
    """The description of each token."""


@dataclass(frozen=True, slots=True)
class EditState:
    """An answer that is edited, and the state of the editor.

    Drafts are stored as JSON with these names as keys.
    """

    kind: Kind | None = None
    heads: Heads = ()
    """() unless `kind` is REFERENCE; each head holds its mentions, marked ones first."""

    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""
    cursor: int = 0
    """The cursor's token; one of the two ends of `span` while a span is selected."""

    span: tuple[int, int] | None = None
    pending: Pending | None = None
    hints: tuple[tuple[int, str], ...] = ()
    """Token and letters, while `pending` is HINT."""

    typed: str = ""
    """Letters of a hint typed so far."""

    all_words: bool = False
    """Hints are on words of every kind, not only on nouns."""

    review: Review | None = None
    source: AnswerSource = AnswerSource.EMPTY
    reason: str = ""
    """Why the answer is there, such as "2 of 3"."""

    touched: bool = False
    """Differs from what `first_state` returned, so it must be stored as a draft."""

    role: Role = Role.ANNOTATOR
    aside: HiddenParts = field(default_factory=HiddenParts)
    began: Content = field(default_factory=Content)
    """The content that `first_state` returned."""

    tag: str | None = None
    """The guideline rule on which the decision depends, such as "R12"."""

    marked: bool = False
    """A head was marked by its letters since the item was shown: the next one is added."""

    adopted: int | None = None
    """Number of the adopted answer in the mixed order, from which its shown number follows."""

    @property
    def changed(self) -> bool:
        """Whether the content differs from what `first_state` returned, or a span is selected.

        Hints or a review alone are stored in a draft and change nothing.
        """
        return self.span is not None or self.content != self.began

    @property
    def content(self) -> Content:
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
    """The result of a command."""

    state: EditState
    say: str | None = None
    """A sentence for the user."""

    refused: bool = False
    """Nothing changed, and `say` gives the reason."""

    ask: str | None = None
    """"noun" where a text must be entered next, for `set_noun`."""


def refuse(state: EditState, why: str) -> EditOutcome:
    return EditOutcome(state, why, refused=True)


def normalized(state: EditState) -> EditState:
    """The state with `touched` updated, and without a relation with fewer than two heads."""
    if len(state.heads) < 2 and state.relation is not None:
        state = replace(state, relation=None)
    touched = (
        state.content != state.began or state.span is not None or state.pending is not None
    )
    return state if touched == state.touched else replace(state, touched=touched)


def without_pending(state: EditState) -> EditState:
    """The state with hints, sort prompt or review closed."""
    if state.pending is None:
        return state
    return replace(state, pending=None, hints=(), typed="", all_words=False, review=None)


def quoted(text: str, longest: int = 40) -> str:
    """Words in quotation marks, in one line, clipped to `longest` characters."""
    flat = " ".join(text.split())
    clipped = flat if len(flat) <= longest else flat[: longest - 1] + "…"
    return f"“{clipped}”"


def word(item: AnchorItem, token: int) -> str:
    """The quoted word of a token."""
    return quoted(item.passage.word(token))


def in_anchor(item: AnchorItem, token: int) -> bool:
    return item.anchor.start <= token < item.anchor.end


def live(mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The mentions that are not removed."""
    return tuple(m for m in mentions if m.origin is not Origin.REMOVED)


NO_KIND = "There is no answer yet: press f and letters for a head, or a class key."
NO_HEAD = "Reference needs a head: press f, or move with w b and press space."
NO_RELATION = (
    "Different heads: press & if the number counts them all, | if one or the other, "
    "J if both words mean one thing."
)
OPEN_SPAN = "A span is still growing: space marks it, escape cancels it."


def answer(state: EditState, item: AnchorItem) -> Answer | str:
    """The answer as it is committed, or a sentence about what is missing."""
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
        return OPEN_SPAN
    if state.kind is None or state.kind is Kind.NFH:
        return NO_KIND
    if state.kind is Kind.REFERENCE and not state.heads:
        return NO_HEAD
    if len(state.heads) > 1 and state.relation not in {Relation.AND, Relation.OR}:
        return NO_RELATION
    return None
