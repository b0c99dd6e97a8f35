"""The queries by which the items behind each cell of the agreement report are found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nfh_db.query import quote, quote_name
from nfh_db.query.registry import NOBODY, WHO_ASKS
from nfh_models.agreement.coding import CLASSES, KINDS
from nfh_models.agreement.patterns import OUTSIDE, TOO_FEW
from nfh_models.domain import Blocking, Kind

NO_CLASS = (Kind.NOT_NFH, Kind.BROKEN, Kind.NFH)
"""What a vote may say that is in none of the paper's classes."""


@dataclass(frozen=True, slots=True)
class Find:
    """A query for the items of a cell. exact: whether it finds these and no others."""

    query: str
    exact: bool = True


def said(kinds: Iterable[Kind], name: str | None = None) -> str:
    """Items of which somebody, or the one named, said any of these kinds."""
    who = f"{_person(name)}/" if name is not None else ""
    return "said:" + ",".join(f"{who}{kind}" for kind in kinds)


def by(name: str) -> str:
    """Items that somebody answered."""
    return f"by:{quote(name)}"


def pattern(text: str) -> Find:
    """Items whose whole answers group so."""
    return Find(f"pattern:{text}")


def class_pattern(text: str, voters: int) -> Find:
    """Items whose classes group so, and some others: no key asks for classes alone."""
    sizes = [int(size) for size in text.split("-")]
    inside = f"votes:{voters} -{said(NO_CLASS)}"
    if sizes[-1] == 0:
        return Find(f"{inside} -disagree:route,class", exact=False)
    return Find(f"{inside} disagree:route,answerability,class", exact=False)


def votes(label: str) -> Find:
    """Items with this many annotators' answers: "0", "1", "2" or "3+"."""
    return Find("votes>=3" if label == "3+" else f"votes:{label}")


def differs(left: str, right: str, kind: Blocking | None = None) -> Find:
    """Items on which two annotators differ, in anything that blocks or in one kind."""
    which = f"/{kind}" if kind else ""
    return Find(f"differs:{_person(left)}~{_person(right)}{which}")


def both_said(left: str, mine: Kind, right: str, other: Kind) -> Find:
    """Items that two annotators call so."""
    return Find(f"{said([mine], left)} {said([other], right)}")


def against_expert(name: str, mine: Kind, decided: Kind) -> Find:
    """Items that an annotator calls so and an expert otherwise."""
    return Find(f"{said([mine], name)} class:{decided} rule:expert", exact=False)


def decided_of(name: str) -> Find:
    """Items that somebody answered and an expert decided, also where that is one person."""
    return Find(f"{by(name)} rule:expert", exact=False)


def doubles_of(left: str, right: str) -> Find:
    """Items that these two experts decided differently, and those they did with others."""
    return Find(f"experts:differ {by(left)} {by(right)}", exact=False)


def matrix_cell(majority: Kind, minority: Kind) -> Find:
    """Items of a cell and, off the diagonal, of its mirror image: votes are not counted."""
    named = {majority, minority}
    kinds = [kind for kind in Kind if _class(kind) in named]
    rest = [kind for kind in Kind if kind not in kinds]
    if majority is minority:
        return Find(f"votes:3 -{said(rest)}")
    present = " ".join(said(_spelled(kind)) for kind in (majority, minority))
    return Find(f"votes:3 {present} -{said(rest)}", exact=False)


def no_majority() -> Find:
    """Items whose three votes are in three classes, and those of 2-1."""
    return class_pattern("1-1-1", 3)


def omission(why: str) -> Find | None:
    """Items that a measure leaves out for this reason, where a query can say it."""
    if why == TOO_FEW:
        return Find("votes<2")
    if why == OUTSIDE:
        return Find(f"votes>=2 {said(NO_CLASS)}")
    return None


def shared(left: str, right: str) -> Find:
    """Items that two annotators answered."""
    everything = (*KINDS, Kind.NFH)
    return Find(f"{said(everything, left)} {said(everything, right)}")


def joined(base: str, find: Find) -> str:
    """The cell's query within the query of the report."""
    return f"{base} {find.query}".strip()


def _person(name: str) -> str:
    return quote_name(name, (WHO_ASKS, NOBODY))


def _class(kind: Kind) -> Kind:
    return Kind.OTHER if kind is Kind.UNKNOWN else kind


def _spelled(kind: Kind) -> Sequence[Kind]:
    """The kinds that a class of the paper holds."""
    if kind not in CLASSES:
        raise ValueError(f"{kind} is no class of the paper")
    return (Kind.OTHER, Kind.UNKNOWN) if kind is Kind.OTHER else (kind,)
