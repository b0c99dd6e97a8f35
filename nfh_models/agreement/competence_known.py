"""Competence against what is known: an expert's decisions, check items, the others."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nfh_models.agreement.audit import interval
from nfh_models.agreement.competence import Against, Heads, Mark
from nfh_models.agreement.competence_latent import Confusion
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.domain import Kind


@dataclass(frozen=True, slots=True)
class HeadAccuracy:
    """Heads by noun, where the decision and the vote both say REFERENCE.

    exact: all heads the same; n counts votes. precision, recall, f1: over heads; n counts
    heads of the votes, of the decisions, of both. overall: of all decisions REFERENCE, how
    many got REFERENCE with exactly these heads; n counts decisions.
    """

    exact: Measure
    precision: Measure
    recall: Measure
    f1: Measure
    overall: Measure


@dataclass(frozen=True, slots=True)
class Known:
    """One person against known answers.

    equal: whole answers that differ in nothing that blocks. kind: the same kind. Both with
    an exact interval. confusion: rows the known kinds, columns what the person said.
    """

    votes: int
    equal: Measure
    kind: Measure
    heads: HeadAccuracy
    confusion: Confusion | None


def against_known(
    marks: Iterable[Mark], known: Callable[[Mark], Against | None], nothing: str
) -> Known:
    """One person's votes against what `known` gives for them; `nothing` says why, if none."""
    held = [(mark, answer) for mark in marks if (answer := known(mark)) is not None]
    return Known(
        len(held),
        exact_share(sum(answer.equal for _, answer in held), len(held), nothing),
        exact_share(sum(m.kind is a.kind for m, a in held), len(held), nothing),
        _heads([answer for _, answer in held], nothing),
        confusion((answer.kind, mark.kind) for mark, answer in held),
    )


def against_others(marks: Iterable[Mark]) -> Confusion | None:
    """One person's kinds against the majority of the others, where no expert decided."""
    return confusion(
        (mark.majority, mark.kind)
        for mark in marks
        if mark.expert is None and mark.majority is not None and mark.kind is not Kind.NFH
    )


def exact_share(right: int, n: int, nothing: str) -> Measure:
    """A share with its exact interval, that of Clopper and Pearson."""
    if not n:
        return undefined(nothing)
    return Measure(right / n, *interval(right, n), n, None)


def confusion(pairs: Iterable[tuple[Kind, Kind]]) -> Confusion | None:
    """Counts of (known kind, kind said); only kinds that occur. None for no pairs."""
    counts = Counter(pairs)
    if not counts:
        return None
    met = {kind for pair in counts for kind in pair}
    kinds = tuple(kind for kind in Kind if kind in met)
    rows = tuple(tuple(float(counts[known, said]) for said in kinds) for known in kinds)
    return Confusion(kinds, rows, tuple(map(sum, rows)))


def _heads(answers: Sequence[Against], nothing: str) -> HeadAccuracy:
    wanted = [answer for answer in answers if answer.kind is Kind.REFERENCE]
    both = [answer.heads for answer in wanted if answer.heads is not None]
    exact = sum(heads.exact for heads in both)
    lack = nothing if not answers else "No decision on these votes is REFERENCE."
    overlap = lack if not wanted else "None of the decisions REFERENCE got a vote REFERENCE."
    return HeadAccuracy(
        exact_share(exact, len(both), overlap),
        _ratio(both, lambda one: one.right, lambda one: one.mine, overlap),
        _ratio(both, lambda one: one.found, lambda one: one.wanted, overlap),
        _ratio(
            both, lambda one: one.right + one.found, lambda one: one.mine + one.wanted, overlap
        ),
        exact_share(exact, len(wanted), lack),
    )


def _ratio(
    both: Sequence[Heads], part: Callable[[Heads], int], whole: Callable[[Heads], int], why: str
) -> Measure:
    total = sum(map(whole, both))
    if not total:
        return undefined(why)
    no_interval = "Heads of one answer hang together: no exact interval."
    return Measure(sum(map(part, both)) / total, None, None, total, no_interval)
