"""How two answers differ, and how the answers of one item differ.

Answers are compared by noun: two heads are the same if they share a head token or if their head
tokens share a lemma. Of the blocking differences the first that holds is reported; notes are
recorded beside it and never block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations

from nfh_models.domain.answer import Answer, Head, Kind, Mention, Origin, Relation


class Blocking(StrEnum):
    """A difference that needs an adjudicator, strongest first."""

    DAMAGE = "damage"
    SCOPE = "scope"
    ROUTE = "route"
    ANSWERABILITY = "answerability"
    CLASS = "class"
    NOUN = "noun"
    PARTIAL = "partial"
    RELATION = "relation"


class DifferenceNote(StrEnum):
    """A difference that is recorded and never blocks."""

    MENTION = "mention"
    EXTENT = "extent"
    SORT = "sort"
    TEXT = "text"


CLASS_NOUNS: dict[Kind, frozenset[str]] = {
    Kind.YEAR: frozenset({"year"}),
    Kind.AGE: frozenset({"age", "year"}),
    Kind.CURRENCY: frozenset(
        {
            "buck",
            "cash",
            "cent",
            "dollar",
            "euro",
            "franc",
            "grand",
            "mark",
            "money",
            "penny",
            "pound",
            "quid",
            "shilling",
        }
    ),
    Kind.PEOPLE: frozenset({"folk", "human", "individual", "man", "people", "person"}),
    Kind.TIME: frozenset({"clock", "hour", "o'clock", "time"}),
}
"""Lemmas that, as a Reference, say no more than the class itself (guidelines, rule 3)."""


PLURALS = (("ies", "y"), ("es", ""), ("s", ""))
"""Endings of regular plurals, and what the singular has instead."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two answers: at most one blocking difference, any number of notes."""

    blocking: Blocking | None = None
    notes: frozenset[DifferenceNote] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The difference of two answers of an item."""

    left: int
    right: int
    """`left` and `right` are indices of the answers, left < right."""
    blocking: Blocking | None
    notes: frozenset[DifferenceNote]


@dataclass(frozen=True, slots=True)
class ItemDisagreement:
    """How the answers of one item differ."""

    blocking: frozenset[Blocking] = field(default_factory=frozenset)
    """Blocking differences of all pairs."""
    notes: frozenset[DifferenceNote] = field(default_factory=frozenset)
    strongest: Blocking | None = None
    """The first of them in the order of Blocking."""
    pattern: str = ""
    """Sizes of the groups of equal answers, largest first, as "2-1"; "" without answers."""
    differences: tuple[PairDifference, ...] = ()
    """All pairs that differ in anything, blocking or not."""


def compare(left: Answer, right: Answer, lemmas: Sequence[str]) -> Comparison:
    """Compare two answers to one anchor. lemmas: one for each token of the passage."""
    if left.kind is not right.kind or left.kind is Kind.NFH:
        return Comparison(_kind_blocking(left, right, lemmas))
    if left.kind is Kind.REFERENCE:
        return _compare_heads(left, right, lemmas)
    return Comparison(notes=_class_notes(left, right))


def _kind_blocking(left: Answer, right: Answer, lemmas: Sequence[str]) -> Blocking | None:
    kinds = (left.kind, right.kind)
    if Kind.BROKEN in kinds:
        return Blocking.DAMAGE
    if Kind.NOT_NFH in kinds:
        return Blocking.SCOPE
    if Kind.NFH in kinds:
        # NFH says only that a noun is missing: it differs from kinds that deny that.
        return None
    if left.kind is Kind.REFERENCE and _names_the_class(left, right, lemmas):
        return Blocking.ROUTE
    if right.kind is Kind.REFERENCE and _names_the_class(right, left, lemmas):
        return Blocking.ROUTE
    if Kind.UNKNOWN in kinds:
        return Blocking.ANSWERABILITY
    return Blocking.CLASS


def _names_the_class(reference: Answer, other: Answer, lemmas: Sequence[str]) -> bool:
    """Whether each head of `reference` only repeats the class, or the noun, of `other`."""
    said = CLASS_NOUNS.get(other.kind, frozenset()) | noun_forms(other.noun or "")
    return all(_head_lemmas(head, lemmas) & said for head in reference.heads)


def noun_forms(noun: str) -> frozenset[str]:
    """Possible lemmas of a noun as it was written: "months" may be "month".

    Forms that are no words match no lemma.
    """
    written = _fold(noun)
    singulars = {
        written.removesuffix(ending) + singular
        for ending, singular in PLURALS
        if len(written) > len(ending) + 1 and written.endswith(ending)
    }
    return frozenset({written, *singulars} - {""})


def _compare_heads(left: Answer, right: Answer, lemmas: Sequence[str]) -> Comparison:
    pairs = [
        (mine, other)
        for mine in left.heads
        for other in right.heads
        if same_head(mine, other, lemmas)
    ]
    if not pairs:
        return Comparison(Blocking.NOUN)
    matched_left = {id(mine) for mine, _ in pairs}
    matched_right = {id(other) for _, other in pairs}
    notes = frozenset().union(*(_mention_notes(mine, other) for mine, other in pairs))
    if len(matched_left) < len(left.heads) or len(matched_right) < len(right.heads):
        return Comparison(Blocking.PARTIAL, notes)
    if {left.relation, right.relation} == {Relation.AND, Relation.OR}:
        return Comparison(Blocking.RELATION, notes)
    return Comparison(notes=notes)


def same_head(left: Head, right: Head, lemmas: Sequence[str]) -> bool:
    """Whether two heads share a head token or a lemma of one (removed mentions ignored)."""
    if {m.head for m in left.live} & {m.head for m in right.live}:
        return True
    return bool(_head_lemmas(left, lemmas) & _head_lemmas(right, lemmas))


def _head_lemmas(head: Head, lemmas: Sequence[str]) -> set[str]:
    return {_fold(lemmas[m.head]) for m in head.live}


def _fold(word: str) -> str:
    return word.strip().casefold()


def _marked(head: Head) -> dict[int, Mention]:
    return {m.head: m for m in head.mentions if m.origin is Origin.MARKED}


def _mention_notes(left: Head, right: Head) -> frozenset[DifferenceNote]:
    mine, other = _marked(left), _marked(right)
    notes = set()
    if mine.keys() != other.keys():
        notes.add(DifferenceNote.MENTION)
    shared = mine.keys() & other.keys()
    if any((mine[t].start, mine[t].end) != (other[t].start, other[t].end) for t in shared):
        notes.add(DifferenceNote.EXTENT)
    return frozenset(notes)


def _class_notes(left: Answer, right: Answer) -> frozenset[DifferenceNote]:
    notes = set()
    if left.sort and right.sort and left.sort is not right.sort:
        notes.add(DifferenceNote.SORT)
    if left.noun and right.noun and _fold(left.noun) != _fold(right.noun):
        notes.add(DifferenceNote.TEXT)
    return frozenset(notes)


def compare_all(answers: Sequence[Answer], lemmas: Sequence[str]) -> ItemDisagreement:
    """Compare the answers of one item, each with each.

    The groups of the pattern are built in the order of `answers`: an answer joins the first
    group from none of whose members it differs in a blocking way.
    """
    if not answers:
        return ItemDisagreement()
    differences: list[PairDifference] = []
    for (i, left), (j, right) in combinations(enumerate(answers), 2):
        found = compare(left, right, lemmas)
        if found.blocking is not None or found.notes:
            differences.append(PairDifference(i, j, found.blocking, found.notes))
    blocking = frozenset(one.blocking for one in differences if one.blocking is not None)
    differs = {(one.left, one.right) for one in differences if one.blocking is not None}
    return ItemDisagreement(
        blocking,
        frozenset().union(*(one.notes for one in differences)),
        next((kind for kind in Blocking if kind in blocking), None),
        _pattern(len(answers), differs),
        tuple(differences),
    )


def _pattern(count: int, differs: set[tuple[int, int]]) -> str:
    groups: list[list[int]] = []
    for index in range(count):
        for group in groups:
            if not any((member, index) in differs for member in group):
                group.append(index)
                break
        else:
            groups.append([index])
    return pattern_of(map(len, groups))


def pattern_of(groups: Iterable[int]) -> str:
    """The pattern of groups of these sizes: "2-1"; "3-0" for a single group of three."""
    sizes = sorted((size for size in groups if size), reverse=True)
    return f"{sizes[0]}-0" if len(sizes) == 1 else "-".join(map(str, sizes))


def components(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The connected components of nodes 0 to count - 1 under the edges `pairs`.

    Each component is in ascending order; components are ordered by their first node.
    """
    owner = list(range(count))

    def root(place: int) -> int:
        while owner[place] != place:
            owner[place] = owner[owner[place]]
            place = owner[place]
        return place

    for pair in pairs:
        one, two = map(root, pair)
        owner[max(one, two)] = min(one, two)
    groups: dict[int, list[int]] = {}
    for place in range(count):
        groups.setdefault(root(place), []).append(place)
    return tuple(map(tuple, groups.values()))
