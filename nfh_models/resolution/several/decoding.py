"""The set decoder: a choice made an answer."""

from collections.abc import Sequence

from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Mention,
    Origin,
    Relation,
    class_answer,
    reference_answer,
)
from nfh_models.resolution.item import Choice, Item, Several
from nfh_models.resolution.several.bounds import phrase_of
from nfh_models.resolution.several.coordination import coordination_of
from nfh_models.resolution.several.groups import Group, Groups
from nfh_models.resolution.several.wording import several_by_words, value_of

SURE = 0.7
"""A number has several heads where the recipe gives more than this to AND and OR together.

The set of heads by the small model of 2026-11-28 was right, at 0.5, 0.7 and 0.9, in 340, 341
and 341 of dev's 464 References, with 7, 6 and 2 heads too many; in 62, 63 and 63 of the 122
held-out passages, where of 84 with several heads 51, 49 and 42 were right."""

THIRD = 0.5
"""A third head and any further one have at least this share of the second one's score.

Of 166 passages where a base-size encoder, trained without any such passage and told that there
are several heads, chose a right first one, the set was right in 77 % for 0.02, 79 % for 0.1,
80 % for 0.5 and 1; of the ten with three heads in 6, 6, 4 and 3."""

PARTNER = 0.0001
"""Nouns that stand side by side with the first head are heads only if each has this share of
the score of the best other noun, or, by words, of the first head's: what a recipe thinks
nothing at all of is a verb, mostly.

On the passages above the set was right in 79 % for 0, 80 % for 0.0001, 78 % for 0.01, 75 % for
0.05; by words, in 17, 11, 3 and 2 % of all 309 with several heads, with 7, 4, 3 and 1 heads too
many in 181 References with one."""

SECOND = 0.2
"""A second head has at least this share of the first one's score: what has less is often no
noun at all, and a recipe without parts of speech cannot see that.

By the same model, at 0, 0.1, 0.2 and 0.5: dev 334, 338, 340 and 342 of 464, with 15, 9, 7 and 2
heads too many; held-out passages 61, 62, 62 and 52 of 122."""

MOST = 6
"""Heads of one answer."""

_CLASSES = {kind.value: kind for kind in IMPLICIT_KINDS}


def decode(item: Item, choice: Choice) -> Answer:
    """The whole answer that a choice amounts to.

    A class is an answer without heads. A token is a head with all its mentions, that token
    marked and the others added; and there are further heads where the recipe says that there
    are several, or, where it says nothing of that, the words do. ValueError where the choice
    is neither a class nor a token of the passage outside the anchor.
    """
    kind = _CLASSES.get(choice.choice)
    if kind is not None:
        return class_answer(kind)
    groups = Groups(item, choice)
    first = groups.of(int(choice.choice))
    if choice.several is None:
        heads, relation = _by_words(item, groups, first)
    else:
        heads, relation = _by_probability(item, groups, first, choice.several)
    answer = reference_answer([_mentions(item, head) for head in heads], relation)
    answer.check(len(item.passage.tokens), item.anchor.start, item.anchor.end)
    return answer


Heads = tuple[list[Group], Relation | None]
"""One or more, and how they belong together; None for one."""


def _by_probability(item: Item, groups: Groups, first: Group, several: Several) -> Heads:
    if several.both + several.either <= SURE:
        return [first], None
    relation = Relation.AND if several.both >= several.either else Relation.OR
    most = MOST
    if relation is Relation.AND:
        # "Two" counts no more than two things; "five" may count two kinds of things.
        most = max(2, min(MOST, value_of(item) or MOST))
    others = [
        other for other in groups.others(first, most - 1) if other.score >= SECOND * first.score
    ]
    if not others:
        return [first], None
    beside = _beside(item, groups, first)
    if beside and len(beside) < most and _hold(beside, others[0]):
        return [first, *beside], relation
    least = THIRD * others[0].score
    return [first, *(other for other in others if other.score >= least)], relation


def _beside(item: Item, groups: Groups, first: Group) -> list[Group]:
    """The other nouns that stand side by side with the first, in their order."""
    found = coordination_of(item, groups.scores, first.best)
    heads: dict[str, Group] = {}
    for token in found.members if found is not None else ():
        if groups.lemma(token) != groups.lemma(first.best):
            heads.setdefault(groups.lemma(token), groups.of(token))
    return list(heads.values())


def _hold(heads: Sequence[Group], against: Group) -> bool:
    """Whether the recipe thinks something of all these heads."""
    return all(0 < head.score >= PARTNER * against.score for head in heads)


def _by_words(item: Item, groups: Groups, first: Group) -> Heads:
    beside = _beside(item, groups, first)
    found = coordination_of(item, groups.scores, first.best)
    said = None if found is None else several_by_words(item, found)
    if said is None or not beside or not _hold(beside, first):
        return [first], None
    return [first, *beside], said.relation


def _mentions(item: Item, group: Group) -> list[Mention]:
    """The mentions of a head, the best one first."""
    found = []
    for token in (group.best, *(token for token in group.tokens if token != group.best)):
        start, end = phrase_of(item, token)
        origin = Origin.MARKED if token == group.best else Origin.ADDED
        found.append(Mention(start, end, token, origin))
    return found
