"""What a query means, once understood: frozen values, no text left to interpret."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Match:
    """A key whose value is any of `values` (canonically written).

    unequal: the operator was `!=`. negated: the term had a minus sign.
    """

    key: str
    values: tuple[str, ...]
    unequal: bool = False
    negated: bool = False


ME = ""
"""Stands for whoever asks, among names: nobody can be called so."""


@dataclass(frozen=True, slots=True)
class Named:
    """One value of a key about people.

    names: of those it is about, ME for whoever asks; none for anybody, or for "nobody".
    what: what they said or differ in, or in which role, canonically written; "" for any.
    """

    names: tuple[str, ...] = ()
    what: str = ""


@dataclass(frozen=True, slots=True)
class People:
    """A key about people, of which any of `values` holds; unequal, negated: as of a Match."""

    key: str
    values: tuple[Named, ...]
    unequal: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """A number compared: operator is one of = < <= > >=; several numbers only with =.

    numbers: whole, or of shares also fractions.
    """

    key: str
    operator: str
    numbers: tuple[float, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """One order; further ones decide among what it leaves equal.

    seed: of random only. model: the name after models/, "" where none stands there.
    """

    name: str
    seed: int = 0
    reverse: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A query understood. text: as typed. terms: all must hold. sorts: in order."""

    text: str = ""
    terms: tuple["Match | People | Compare", ...] = field(default=())
    sorts: tuple[Sort, ...] = field(default=())
