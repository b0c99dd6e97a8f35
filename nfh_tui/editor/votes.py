"""Votes of an item: descriptions, groups of equal answers, weights by competence, the proposal,
and the answers that can be adopted.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_db.bulk_plan import answer_of_choice
from nfh_db.records import AnchorItem, AnchorState, Role, Vote
from nfh_models.domain import (
    LEAD,
    Anchor,
    Answer,
    Blocking,
    DifferenceNote,
    Head,
    Kind,
    Mention,
    Passage,
    Relation,
    Sort,
    compare,
    same_head,
    weight,
)
from nfh_tui.editor.state import live, mixed_order, quoted

_KINDS = {
    Kind.REFERENCE: ("Reference", "Ref"),
    Kind.YEAR: ("Year", "Year"),
    Kind.AGE: ("Age", "Age"),
    Kind.CURRENCY: ("Currency", "Curr"),
    Kind.PEOPLE: ("People", "Peop"),
    Kind.TIME: ("Time", "Time"),
    Kind.OTHER: ("Other", "Oth"),
    Kind.UNKNOWN: ("Unknown", "Unkn"),
    Kind.NOT_NFH: ("Not an NFH", "Not"),
    Kind.BROKEN: ("Damaged", "Dam"),
    Kind.NFH: ("NFH, head not given", "NFH"),
}

KIND_WORDS = {kind: words for kind, (words, _) in _KINDS.items()}
"""Kinds as shown to users."""

SHORT_KINDS = {kind: short for kind, (_, short) in _KINDS.items()}
"""Kinds in four cells at most, for columns."""

SORT_WORDS = {
    Sort.NUMBER: "number itself",
    Sort.CODE: "code",
    Sort.MEASURE: "measure",
    Sort.NOUN: "noun",
}

STATE_SIGNS = {
    AnchorState.OPEN: "○",
    AnchorState.ANSWERED: "◐",
    AnchorState.DISAGREE: "≠",
    AnchorState.DECIDED: "✓",
    AnchorState.STALE: "↺",
}

_BLOCKING = {
    Blocking.DAMAGE: ("damaged or readable", "damage"),
    Blocking.SCOPE: ("an NFH or none", "scope"),
    Blocking.ROUTE: ("the class or its noun", "route"),
    Blocking.ANSWERABILITY: ("can it be answered", "answer"),
    Blocking.CLASS: ("which class", "class"),
    Blocking.NOUN: ("which noun", "noun"),
    Blocking.PARTIAL: ("some of the nouns", "part"),
    Blocking.RELATION: ("AND or OR", "and/or"),
}

BLOCKING_WORDS = {blocking: words for blocking, (words, _) in _BLOCKING.items()}
"""What a blocking difference is about."""

SHORT_BLOCKING = {blocking: short for blocking, (_, short) in _BLOCKING.items()}
"""The same in one word, for columns."""

NOTE_WORDS = {
    DifferenceNote.MENTION: "other mentions",
    DifferenceNote.EXTENT: "other span bounds",
    DifferenceNote.SORT: "other sort",
    DifferenceNote.TEXT: "other wording",
}
"""What a non-blocking difference is about."""


def head_words(head: Head, passage: Passage, *, places: bool = False) -> str:
    """The marked words of a head, and the number of further mentions: "tents +2".

    places: with the turn of the marked mention: "tents t1 +2".
    """
    first, *rest = live(head.mentions)
    words = [*passage.words(first.start, first.end).split()]
    if places:
        words.append(f"t{passage.turn_of(first.head) + 1}")
    if rest:
        words.append(f"+{len(rest)}")
    return " ".join(words)


def describe(answer: Answer, passage: Passage, *, places: bool = False) -> str:
    """The answer without its comment, in one line; `places` as in `head_words`."""
    kind = KIND_WORDS[answer.kind]
    if answer.heads:
        joint = "," if answer.relation in {None, Relation.UNSTATED} else f" {answer.relation}"
        nouns = (head_words(head, passage, places=places) for head in answer.heads)
        return f"{kind}: {f'{joint} '.join(nouns)}"
    if answer.sort is not None:
        kind = f"{kind}, {SORT_WORDS[answer.sort]}"
    return f"{kind} {quoted(answer.noun)}" if answer.noun else kind


def pattern_words(pattern: str) -> str:
    """The pattern of votes in words: "2-1" becomes "2 agree, 1 differs"."""
    sizes = [int(size) for size in pattern.split("-") if size.isdigit()]
    groups = [size for size in sizes if size]
    if not groups:
        return "nobody has answered"
    if sum(groups) == 1:
        return "one answer"
    if len(groups) == 1:
        return f"all {groups[0]} agree"
    if max(groups) == 1:
        return f"{len(groups)} answers, all different"
    if len(groups) == 2:
        return f"{groups[0]} agree, {groups[1]} {'differs' if groups[1] == 1 else 'differ'}"
    return "groups of " + ", ".join(str(size) for size in groups)


def weights(item: AnchorItem, votes: Sequence[Vote]) -> Mapping[str, float] | None:
    """The weight of each voter by name; None unless two or more vote and all are known."""
    known = {one.annotator: weight(one.accuracy) for one in item.competences}
    names = {vote.annotator for vote in votes}
    if len(names) < 2 or not names <= known.keys():
        return None
    found = {name: known[name] for name in names}
    return found if sum(found.values()) > 0 else None


def leader(shares: Sequence[float]) -> int | None:
    """The index of the largest share of all weight; None if it does not lead by LEAD."""
    order = sorted(range(len(shares)), key=lambda place: -shares[place])
    if len(order) > 1 and shares[order[0]] - shares[order[1]] < LEAD:
        return None
    return order[0] if order else None


WITHHELD_OF = 8
"""One item in so many preselects nothing, to measure the influence of the proposal."""

WEIGHT = ", weight "
"""Begins the part of a reason that depends on competence."""

_OF_ANSWER = re.compile(r"answer \d+")
_OF_WEIGHT = re.compile(rf"{WEIGHT}\d\.\d\d")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The answer of most annotators, or of those with most weight."""

    answer: Answer
    votes: str
    """How many gave it: "2 of 3"."""

    weight: float | None = None
    """Their share of all weight; None where competence is not known."""

    @property
    def reason(self) -> str:
        """ "2 of 3", or "2 of 3, weight 0.71"."""
        return self.votes if self.weight is None else f"{self.votes}{WEIGHT}{self.weight:.2f}"


def annotators_votes(item: AnchorItem) -> tuple[Vote, ...]:
    """Annotators' answers (models included), in the order of the number keys."""
    return tuple(vote for vote in item.votes if vote.role is Role.ANNOTATOR)


def adoptable(item: AnchorItem) -> tuple[Vote, ...]:
    """What the number keys adopt: annotators' answers, then those to an earlier span."""
    old = (vote for vote in item.stale_votes if vote.role is Role.ANNOTATOR)
    return (*annotators_votes(item), *old)


def _counted(item: AnchorItem) -> list[Vote]:
    """Answers of people; a model's is a proposal of its own."""
    return [vote for vote in item.votes if vote.counts]


def vote_groups(votes: Sequence[Vote], item: AnchorItem) -> list[list[Vote]]:
    """Votes grouped by equal answers, in the order of each group's first vote.

    A vote joins the first group in which no answer differs from its own.
    """
    words = item.passage.lemmas
    groups: list[list[Vote]] = []
    for vote in votes:
        for group in groups:
            if all(compare(one.answer, vote.answer, words).blocking is None for one in group):
                group.append(vote)
                break
        else:
            groups.append([vote])
    return groups


def proposal(item: AnchorItem) -> Proposal | None:
    """The answer of the largest group of equal votes; None without votes and for a tie.

    By weight where the competence of all voters is known, see `weights`. Answers of kind NFH,
    which give no head, are not counted.
    """
    votes = [vote for vote in _counted(item) if vote.answer.kind is not Kind.NFH]
    groups = vote_groups(votes, item)
    if (known := weights(item, votes)) is None:
        by_size = sorted(groups, key=len, reverse=True)
        if not groups or (len(groups) > 1 and len(by_size[0]) == len(by_size[1])):
            return None
        return _proposed(by_size[0], len(votes), None)
    whole = sum(known.values())
    shares = [sum(known[vote.annotator] for vote in group) / whole for group in groups]
    first = leader(shares)
    return None if first is None else _proposed(groups[first], len(votes), shares[first])


def _proposed(group: Sequence[Vote], of: int, weight: float | None) -> Proposal:
    return Proposal(_typical([v.answer for v in group]), f"{len(group)} of {of}", weight)


def _typical(group: Sequence[Answer]) -> Answer:
    """The most frequent member, preferably one that states its relation."""
    plain = [answer.without_comment() for answer in group]
    stated = [answer.relation is not Relation.UNSTATED for answer in plain]
    best = max(range(len(plain)), key=lambda i: (stated[i], plain.count(plain[i]), -i))
    return plain[best]


def is_withheld(item: AnchorItem, me: str) -> bool:
    """Whether this item's proposal is not preselected for this person (one in eight)."""
    return is_one_in_eight(item.public_id, me)


def is_left_blank(item: AnchorItem, me: str) -> bool:
    """Whether an undecided item has a proposal that this person is not shown."""
    decided = item.gold is not None and item.gold.answer.kind is not Kind.NFH
    return not decided and is_withheld(item, me) and proposal(item) is not None


def is_one_in_eight(public_id: str, me: str) -> bool:
    """Whether this person decides the item with this id without a proposal."""
    content = f"{me}\0{public_id}".encode("utf-8", "replace")
    return hashlib.sha256(content).digest()[0] % WITHHELD_OF == 0


def with_withheld(
    item: AnchorItem, me: str, answer: Answer
) -> tuple[Proposal, Blocking | None] | None:
    """The proposal that was withheld, and the answer's blocking difference from it, if any.

    None where none was withheld. Where gold existed, none was: that is shown.
    """
    if not is_left_blank(item, me) or (found := proposal(item)) is None:
        return None
    return found, compare(answer, found.answer, item.passage.lemmas).blocking


def after_deciding(item: AnchorItem, me: str, answer: Answer) -> str | None:
    """For a withheld proposal: say how the decision compares with it; None for other items."""
    if (compared := with_withheld(item, me, answer)) is None:
        return None
    found, blocking = compared
    if blocking is None:
        return f"Your answer equals the hidden proposal ({found.votes})."
    return (
        f"The hidden proposal is {KIND_WORDS[found.answer.kind]} ({found.votes}); yours "
        f"differs: {BLOCKING_WORDS[blocking]}."
    )


def model_answer(item: AnchorItem) -> Answer | None:
    """The model's choice as an answer; None without a valid one."""
    return None if item.prediction is None else choice_answer(item.prediction.choice, item)


def choice_answer(choice: str, item: AnchorItem) -> Answer | None:
    """The answer of a class name or of a token's index in digits; None if it is neither."""
    found = answer_of_choice(choice, (item.anchor.start, item.anchor.end, item.passage.lemmas))
    return None if isinstance(found, str) else found


def union(item: AnchorItem) -> Answer | None:
    """Every head of annotators' References, merged by noun; None without any."""
    votes = _references(item)
    words = item.passage.lemmas
    merged: list[Head] = []
    for head in (head for answer in votes for head in answer.heads):
        same = [other for other in merged if same_head(other, head, words)]
        merged = [other for other in merged if other not in same]
        merged.append(_merge([*same, head]))
    return _with_relation(merged, votes) if merged else None


def intersection(item: AnchorItem) -> Answer | None:
    """The heads common to all annotators' References; None without two of them, or a head."""
    votes = _references(item)
    if len(votes) < 2:
        return None
    words = item.passage.lemmas
    kept = [
        shared
        for head in votes[0].heads
        if (shared := _shared(head, votes[1:], words)) is not None
    ]
    return _with_relation(kept, votes) if kept else None


def _shared(head: Head, others: Sequence[Answer], words: Sequence[str]) -> Head | None:
    """The head with the mentions common to all, else its own; None if an answer lacks it."""
    tokens = {m.head for m in head.live}
    for answer in others:
        same = [other for other in answer.heads if same_head(head, other, words)]
        if not same:
            return None
        tokens &= {m.head for other in same for m in other.live}
    mentions = tuple(m for m in head.live if m.head in tokens)
    return Head(mentions or head.live)


def _references(item: AnchorItem) -> list[Answer]:
    answers = (vote.answer for vote in _counted(item))
    return [answer for answer in answers if answer.kind is Kind.REFERENCE]


def _merge(heads: Sequence[Head]) -> Head:
    """One head with each live mention once, marked ones preferred to added ones."""
    found: dict[int, Mention] = {}
    for mention in sorted(
        (m for head in heads for m in head.live), key=lambda m: m.origin != "marked"
    ):
        found.setdefault(mention.head, mention)
    return Head(tuple(found.values()))


def _with_relation(heads: Sequence[Head], votes: Sequence[Answer]) -> Answer:
    """A Reference with the only relation stated, else UNSTATED, which the editor asks for."""
    stated = {answer.relation for answer in votes} - {None, Relation.UNSTATED}
    relation = stated.pop() if len(stated) == 1 else Relation.UNSTATED
    return Answer(Kind.REFERENCE, tuple(heads), relation=relation if len(heads) > 1 else None)


def only_by_noun(given: Answer, against: Answer) -> bool:
    """Whether a head of `given` shares no live mention with any head of `against`.

    If the answers do not differ, such a head is the same noun marked in another place.
    """
    tokens = {m.head for head in against.heads for m in head.live}
    return any(tokens.isdisjoint(m.head for m in head.live) for head in given.heads)


def rank_of(item: AnchorItem, number: int) -> int:
    """The number in the mixed order of an answer, by its number in the shown order."""
    return number if item.blind else _mixed(item).index(adoptable(item)[number - 1]) + 1


def number_of(item: AnchorItem, rank: int) -> int:
    """The number in the shown order of an answer, by its number in the mixed order."""
    mixed = _mixed(item)
    if item.blind or not 0 < rank <= len(mixed):
        return rank
    return adoptable(item).index(mixed[rank - 1]) + 1


def _mixed(item: AnchorItem) -> list[Vote]:
    current = annotators_votes(item)
    old = adoptable(item)[len(current) :]
    return [*mixed_order(item, current), *mixed_order(item, old)]


def shown_reason(reason: str, item: AnchorItem, adopted: int | None = None) -> str:
    """The reason of an answer; without weights where the item has no competences (blind).

    adopted: the adopted answer's number in the mixed order; the text gets its shown number.
    """
    if adopted is not None:
        reason = _OF_ANSWER.sub(f"answer {number_of(item, adopted)}", reason)
    return reason if item.competences else _OF_WEIGHT.sub("", reason)


def proposals(item: AnchorItem) -> dict[Anchor, list[str]]:
    """Who proposes each span ("" where names are hidden), in passage order."""
    found: dict[Anchor, list[str]] = {}
    for flag in sorted(item.flags, key=lambda flag: flag.annotator):
        if flag.span is not None:
            found.setdefault(flag.span, []).append(flag.annotator)
    return dict(sorted(found.items(), key=lambda one: (one[0].start, one[0].end)))


def proposed_by(item: AnchorItem, name: str) -> Anchor | None:
    """The span that an annotator proposes, if any."""
    flags = (flag.span for flag in item.flags if flag.annotator == name)
    return next((span for span in flags if span is not None), None)
