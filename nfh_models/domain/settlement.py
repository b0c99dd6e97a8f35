"""Settlement: the gold answer that the votes for one item give by a rule, or the reason for
none.

The rules are those of the paper (section 5.3), extended by kinds that its annotators did not
have:

* unanimous: no two votes have a blocking difference;
* majority: more than half of the votes fall into one of the paper's seven classes (UNKNOWN
  counts as OTHER), or are NOT_NFH, or BROKEN; for a Reference, only if no two votes with
  heads differ in them. A vote NFH names no answer: it settles nothing, differs from nothing
  that it could become, and counts against a majority;
* weighted: as majority, but each vote counts by the competence of who gave it, heads that
  differ are groups of their own, and the heaviest group has to lead.

Where the first two rules give an answer, it is the same, whatever the order of the votes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import log
from types import MappingProxyType

from nfh_models.domain.answer import (
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    paper_class,
)
from nfh_models.domain.compare import (
    Blocking,
    compare,
    compare_all,
    components,
    same_head,
)

LEAST = 2
"""Votes that a rule needs by default: one person alone settles nothing."""


# Weights of votes where the annotators' competence is known.
#
# Votes with independent errors are weighted optimally by the logarithm of the odds that they
# are right: Nitzan and Paroush (1982), "Optimal decision rules in uncertain dichotomous choice
# situations". With K possible answers and equally likely wrong ones, the weight is
# ln((K - 1) p / (1 - p)), which follows from the model of Dawid and Skene (1979) with one
# parameter for each annotator. An annotator no better than chance has weight 0.

POSSIBLE_ANSWERS = 10
"""K: Reference, the six classes, Unknown, Not an NFH, Damaged. Different nouns would make it
larger; a smaller K gives a good annotator more weight against two poor ones."""

MOST_ACCURACY = 0.99
"""Upper bound of p: samples are too small for more."""

LEAD = 0.1
"""Least lead of a group, as a share of all weight: sampled figures are no more precise."""


def weight(accuracy: float) -> float:
    """The weight of a vote that is right with this probability; 0 for chance and below."""
    p = min(accuracy, MOST_ACCURACY)
    return max(0.0, log((POSSIBLE_ANSWERS - 1) * p / (1 - p))) if p > 0 else 0.0


class SettlingRule(StrEnum):
    """How votes become gold without an adjudicator."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    WEIGHTED = "weighted"


class Reason(StrEnum):
    """Why votes settle nothing, in words."""

    NO_VOTES = "no votes"
    TOO_FEW = "too few votes"
    NO_HEAD = "no head given"
    DAMAGE = "blocked by damage"
    SCOPE = "blocked by scope"
    ROUTE = "blocked by route"
    ANSWERABILITY = "blocked by answerability"
    CLASS = "blocked by class"
    NOUN = "blocked by noun"
    PARTIAL = "blocked by partial"
    RELATION = "blocked by relation"
    NO_MAJORITY = "no majority"
    NOT_WEIGHED = "competence not known"
    NO_WEIGHT = "no majority of the weight"
    ANOTHER_NOUN = "another noun"
    SOME_HEADS = "only some heads shared"
    RELATION_DIFFERS = "relation differs"
    HEADS_UNCLEAR = "heads that cannot be matched"


OF_HEADS = {
    Blocking.NOUN: Reason.ANOTHER_NOUN,
    Blocking.PARTIAL: Reason.SOME_HEADS,
    Blocking.RELATION: Reason.RELATION_DIFFERS,
}
"""Why a majority for REFERENCE settles nothing, by how its heads differ."""


@dataclass(frozen=True, slots=True)
class Settled:
    """An answer, or the reason for none; exactly one of them is None."""

    answer: Answer | None = None
    reason: Reason | None = None
    agreed: tuple[str, ...] = ()
    """Names of those whose votes were merged into the answer, sorted."""


Votes = Sequence[tuple[str, Answer]]
"""Names with answers, each name once."""


def settle(
    votes: Votes,
    lemmas: Sequence[str],
    rule: SettlingRule,
    least: int = LEAST,
    weights: Mapping[str, float] = MappingProxyType({}),
) -> Settled:
    """The gold that the votes of one item give by a rule.

    lemmas: one for each token of the passage; read only where a vote has heads. least: votes
    needed that name more than NFH. weights: of each name, for the rule by weight.
    """
    telling = [vote for vote in votes if vote[1].kind is not Kind.NFH]
    if not votes:
        return Settled(reason=Reason.NO_VOTES)
    if len(votes) < least:
        return Settled(reason=Reason.TOO_FEW)
    if len(telling) < least or 2 * len(telling) <= len(votes):
        return Settled(reason=Reason.NO_HEAD)
    if rule is SettlingRule.UNANIMOUS:
        strongest = compare_all([answer for _, answer in votes], lemmas).strongest
        if strongest is not None:
            return Settled(reason=Reason(f"blocked by {strongest}"))
        return _agreed(telling, lemmas)
    if rule is SettlingRule.WEIGHTED:
        return _by_weight(votes, lemmas, weights)
    return _majority(votes, lemmas)


def _majority(votes: Votes, lemmas: Sequence[str]) -> Settled:
    groups = Counter(_group(answer.kind) for _, answer in votes)
    group, size = max(groups.items(), key=lambda item: item[1])
    if 2 * size <= len(votes):
        return Settled(reason=Reason.NO_MAJORITY)
    chosen = [vote for vote in votes if _group(vote[1].kind) is group]
    if group is Kind.REFERENCE:
        strongest = compare_all([answer for _, answer in chosen], lemmas).strongest
        if strongest is not None:
            return Settled(reason=OF_HEADS[strongest])
    return _agreed(chosen, lemmas)


def _by_weight(votes: Votes, lemmas: Sequence[str], weights: Mapping[str, float]) -> Settled:
    whole = sum(weights.get(name, 0.0) for name, _ in votes)
    if not whole or any(name not in weights for name, _ in votes):
        return Settled(reason=Reason.NOT_WEIGHED)
    shares = [
        (sum(weights[name] for name, _ in group) / whole, group)
        for group in weighed_groups(votes, lemmas)
    ]
    (best, chosen), *others = sorted(shares, key=lambda one: one[0], reverse=True)
    if best <= 0.5 or (others and best - others[0][0] < LEAD):
        return Settled(reason=Reason.NO_WEIGHT)
    return _agreed(chosen, lemmas)


def weighed_groups(votes: Votes, lemmas: Sequence[str]) -> list[list[tuple[str, Answer]]]:
    """The votes that weigh together: of one class, and with heads that agree."""
    groups: list[list[tuple[str, Answer]]] = []
    # By name, since agreement of heads is not transitive and the order of votes must not count.
    for vote in sorted(votes, key=lambda one: one[0]):
        for group in groups:
            if all(_weigh_together(one, vote[1], lemmas) for _, one in group):
                group.append(vote)
                break
        else:
            if vote[1].kind is not Kind.NFH:
                groups.append([vote])
    return groups


def _weigh_together(one: Answer, other: Answer, lemmas: Sequence[str]) -> bool:
    if _group(one.kind) is not _group(other.kind):
        return False
    return one.kind is not Kind.REFERENCE or compare(one, other, lemmas).blocking is None


def _group(kind: Kind) -> Kind:
    """One of the paper's seven classes; NOT_NFH, BROKEN and NFH are groups of their own."""
    return paper_class(kind) or kind


def _agreed(votes: Votes, lemmas: Sequence[str]) -> Settled:
    """Merge votes of one class that do not differ in heads."""
    answers = [answer for _, answer in votes]
    names = tuple(sorted(name for name, _ in votes))
    if answers[0].kind is not Kind.REFERENCE:
        return Settled(_merged_class(answers), agreed=names)
    paired = _paired([answer.heads for answer in answers], lemmas)
    if paired is None:
        return Settled(reason=Reason.HEADS_UNCLEAR)
    heads = sorted(map(_merged_head, paired), key=lambda head: head.mentions)
    relation = _relation(answers) if len(heads) > 1 else None
    return Settled(Answer(Kind.REFERENCE, tuple(heads), relation=relation), agreed=names)


# --- classes ------------------------------------------------------------------------------


def _merged_class(answers: Sequence[Answer]) -> Answer:
    """OTHER or UNKNOWN, whichever has more votes, OTHER on a tie; comments are dropped.

    Sort and noun are those of the votes for that kind.
    """
    kinds = Counter(answer.kind for answer in answers)
    kind = max(kinds, key=lambda found: (kinds[found], found is Kind.OTHER))
    chosen = [answer for answer in answers if answer.kind is kind]
    return Answer(kind, sort=_sort(chosen), noun=_noun(chosen))


def _sort(answers: Iterable[Answer]) -> Sort | None:
    said = {answer.sort for answer in answers if answer.sort is not None}
    return said.pop() if len(said) == 1 else None


def _noun(answers: Iterable[Answer]) -> str | None:
    """The noun in its most frequent spelling; None if the votes name two."""
    said = Counter(answer.noun for answer in answers if answer.noun)
    if len({noun.strip().casefold() for noun in said}) != 1:
        return None
    return min(said, key=lambda noun: (-said[noun], noun))


# --- heads --------------------------------------------------------------------------------

SameHead = Callable[[Head, Head], bool]


def _relation(answers: Iterable[Answer]) -> Relation:
    """The relation that was stated: AND against OR would have blocked."""
    stated = {answer.relation for answer in answers if answer.relation is not None}
    stated.discard(Relation.UNSTATED)
    return stated.pop() if stated else Relation.UNSTATED


def _paired(votes: Sequence[Sequence[Head]], lemmas: Sequence[str]) -> list[list[Head]] | None:
    """The same heads of all votes together, one of each vote; None if the pairing is ambiguous.

    It is ambiguous where one vote has one head for two of another, which is no difference by
    noun: "watch" and "van" against "watch, that is van".
    """
    if len({len(heads) for heads in votes}) > 1:
        return None
    if len(votes[0]) == 1:
        return [[heads[0] for heads in votes]]
    by_noun: SameHead = lambda left, right: same_head(left, right, lemmas)  # noqa: E731
    # Two heads with one lemma, as two brothers, are distinguished by their positions.
    for same in (by_noun, _share_a_token, _lead_alike):
        groups = _groups(votes, same)
        if groups is not None:
            return groups
    return None


def _share_a_token(left: Head, right: Head) -> bool:
    return bool({m.head for m in left.live} & {m.head for m in right.live})


def _lead_alike(left: Head, right: Head) -> bool:
    return left.mentions[0].head == right.mentions[0].head


def _groups(votes: Sequence[Sequence[Head]], same: SameHead) -> list[list[Head]] | None:
    """Heads joined wherever two are the same; None unless each group has one head of
    each vote.
    """
    given = [(voter, head) for voter, heads in enumerate(votes) for head in heads]
    pairs = combinations(range(len(given)), 2)
    alike = [(one, other) for one, other in pairs if same(given[one][1], given[other][1])]
    groups = [[given[place] for place in group] for group in components(len(given), alike)]
    if any([voter for voter, _ in group] != list(range(len(votes))) for group in groups):
        return None
    return [[head for _, head in group] for group in groups]


def _merged_head(heads: Sequence[Head]) -> Head:
    """One noun with the mentions of all votes: most often marked first, then by place."""
    said: dict[int, list[Mention]] = {}
    for head in heads:
        for mention in head.mentions:
            said.setdefault(mention.head, []).append(mention)
    leads = Counter(head.mentions[0].head for head in heads)
    merged = [_merged_mention(found, leads[token] > 0) for token, found in said.items()]
    marks = {token: _marks(found) for token, found in said.items()}
    # Where nobody marked any, a mention that leads somebody's head leads: it is not removed.
    nobody = not any(marks.values())
    merged.sort(key=lambda m: (-marks[m.head], -leads[m.head] if nobody else 0, m.head))
    return Head(tuple(merged))


def _marks(said: Iterable[Mention]) -> int:
    return sum(mention.origin is Origin.MARKED for mention in said)


def _merged_mention(said: Sequence[Mention], leads: bool) -> Mention:
    """The merged mention of one token; of spans given equally often the shortest, then the
    first.

    leads: somebody gave this mention first in a head, so that it cannot be removed.
    """
    origin = _origin({mention.origin for mention in said}, leads)
    spans = Counter((m.start, m.end) for m in said if m.origin is origin)
    start, end = min(spans, key=lambda span: (-spans[span], span[1] - span[0], span))
    return Mention(start, end, said[0].head, origin)


def _origin(said: set[Origin], leads: bool) -> Origin:
    if Origin.MARKED in said:
        return Origin.MARKED
    if Origin.REMOVED in said and not leads:
        return Origin.REMOVED
    return Origin.ADDED
