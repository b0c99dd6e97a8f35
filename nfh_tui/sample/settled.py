"""The gold that the answers of one item make by themselves, where they do."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from nfh_models.domain import (
    RELEASE_CLASSES,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    compare,
    compare_all,
)
from nfh_models.domain.compare import same_head

_SEVEN = RELEASE_CLASSES | {Kind.REFERENCE.value, Kind.UNKNOWN.value}
"""Kinds that the paper's majority knows; UNKNOWN counts as OTHER there."""

_STRONGEST = (Origin.MARKED, Origin.REMOVED, Origin.ADDED)

_ValueT = TypeVar("_ValueT", bound=Hashable)


def unanimous(answers: Sequence[Answer], lemmas: Sequence[str]) -> Answer | None:
    """What all answers say; None if two of them differ in what blocks."""
    if compare_all(answers, lemmas).blocking:
        return None
    return _merged(answers, lemmas)


def majority(answers: Sequence[Answer], lemmas: Sequence[str]) -> Answer | None:
    """What more than half of the answers say; None if they do not, or may not settle it.

    They may not if a Reference stands against another noun, or the kind is none of the
    paper's seven.
    """
    for answer in answers:
        agreeing = [other for other in answers if _agrees(answer, other, lemmas)]
        if len(agreeing) * 2 > len(answers) and not compare_all(agreeing, lemmas).blocking:
            break
    else:
        return None
    against = [other for other in answers if not _agrees(answer, other, lemmas)]
    another_noun = answer.kind is Kind.REFERENCE and any(
        other.kind is Kind.REFERENCE for other in against
    )
    if another_noun or answer.kind.value not in _SEVEN:
        return None
    return _merged(agreeing, lemmas)


def _agrees(left: Answer, right: Answer, lemmas: Sequence[str]) -> bool:
    return compare(left, right, lemmas).blocking is None


def _merged(answers: Sequence[Answer], lemmas: Sequence[str]) -> Answer:
    """One answer of several that do not differ in what blocks; comments stay with voters."""
    first = answers[0]
    return Answer(
        first.kind,
        tuple(_merged_head(head, answers, lemmas) for head in first.heads),
        relation=first.relation,
        sort=_commonest(answer.sort for answer in answers),
        noun=_commonest(answer.noun for answer in answers),
    )


def _commonest(values: Iterable[_ValueT | None]) -> _ValueT | None:
    """The value said most often; None if nobody said any, or two are said equally often."""
    ranked = Counter(value for value in values if value is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _merged_head(head: Head, answers: Sequence[Answer], lemmas: Sequence[str]) -> Head:
    """The head with everybody's mentions: marked by one, or added and removed by none."""
    said: dict[int, list[Mention]] = {}
    for answer in answers:
        for other in answer.heads:
            if same_head(head, other, lemmas):
                for mention in other.mentions:
                    said.setdefault(mention.head, []).append(mention)
    merged = map(_merged_mention, said.values())
    return Head(tuple(sorted(merged, key=lambda m: _rank(m, said[m.head]))))


def _rank(mention: Mention, said: Sequence[Mention]) -> tuple[int, int]:
    """Marked mentions first, the one that most people marked before the others."""
    markers = sum(1 for other in said if other.origin is Origin.MARKED)
    return -markers, mention.head


def _merged_mention(said: Sequence[Mention]) -> Mention:
    """What several people said of one token; of spans said as often, the shorter one."""
    origin = next(origin for origin in _STRONGEST if any(m.origin is origin for m in said))
    spans = Counter((m.start, m.end) for m in said if m.origin is origin)
    start, end = min(spans, key=lambda span: (-spans[span], span[1] - span[0]))
    return Mention(start, end, said[0].head, origin)
