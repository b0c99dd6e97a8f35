"""Which stretch of number parts is one number: "two hundred and five" is, "two, five" is not.

A cardinal is what English grammar allows as one number. Several may make one anchor: that
is the matter of `series`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.text.lexicon import SAID, Shape
from nfh_models.text.runs import Atom

_LINKS = frozenset({Shape.AND, Shape.POINT})


@dataclass(frozen=True, slots=True)
class Cardinal:
    """Atoms [start, end) that make one number. link: AND or POINT before it, if any."""

    start: int
    end: int
    link: Shape | None


@dataclass(frozen=True, slots=True)
class _Term:
    """A number up to its scales: "two hundred", "five million", "forty".

    limit: what may follow must be smaller; 0.0 if nothing may.
    """

    end: int
    value: float
    limit: float
    bare: bool


def cardinals(atoms: Sequence[Atom], between: bool) -> list[Cardinal]:
    """Cut a run of atoms into numbers, each as long as grammar allows.

    between: the run stands behind the word *between*, and the first *and* that parts two
    numbers is that word's own, not the inner one of a number.
    """
    found: list[Cardinal] = []
    place = 0
    while place < len(atoms):
        link = None
        if atoms[place].part.shape in _LINKS:
            link = atoms[place].part.shape
            place += 1
        end = _cardinal(atoms, place, with_and=True)
        if between and not found and _shape(atoms, end) is not Shape.AND:
            end = _cardinal(atoms, place, with_and=False)
        found.append(Cardinal(place, end, link))
        place = end
    return found


def _shape(atoms: Sequence[Atom], place: int) -> Shape | None:
    return atoms[place].part.shape if place < len(atoms) else None


def _cardinal(atoms: Sequence[Atom], place: int, *, with_and: bool) -> int:
    term = _term(atoms, place, with_and)
    if term is None:  # a code or a fraction: a number by itself
        return place + 1
    limit, end = term.limit, term.end
    while limit:
        start = end
        if with_and and _shape(atoms, start) is Shape.AND:
            start += 1
        following = _term(atoms, start, with_and)
        if following is None or following.bare or not 0 < following.value < limit:
            break
        limit, end = following.limit, following.end
    return end


def _term(atoms: Sequence[Atom], place: int, with_and: bool) -> _Term | None:
    shape = _shape(atoms, place)
    if shape in (Shape.SCALE, Shape.HUNDRED):
        end, value, bare = place, 1.0, True
    else:
        head = _below_hundred(atoms, place) or _figures(atoms, place)
        if head is None:
            return None
        (end, value), bare = head, False
    if value > 0 and _shape(atoms, end) is Shape.HUNDRED:
        end, value = _hundreds(atoms, end + 1, value * 100, with_and)
    return _scaled(atoms, end, value, bare)


def _scaled(atoms: Sequence[Atom], end: int, value: float, bare: bool) -> _Term:
    limit = 0.0
    while value > 0 and _shape(atoms, end) is Shape.SCALE:
        limit = atoms[end].part.value
        value *= limit
        end += 1
    return _Term(end, value, limit, bare)


def _hundreds(
    atoms: Sequence[Atom], place: int, value: float, with_and: bool
) -> tuple[int, float]:
    """What follows *hundred*: "five", "and five"; but not "and two" of "and two hundred"."""
    start = place
    if with_and and _shape(atoms, start) is Shape.AND:
        start += 1
    tail = _below_hundred(atoms, start) or _figures(atoms, start)
    if tail is None or not 0 < tail[1] < 100 or _shape(atoms, tail[0]) is Shape.HUNDRED:
        return place, value
    return tail[0], value + tail[1]


def _below_hundred(atoms: Sequence[Atom], place: int) -> tuple[int, float] | None:
    """The end and value of a number in words below a hundred."""
    shape = _shape(atoms, place)
    if shape not in SAID:
        return None
    value = atoms[place].part.value
    if shape is Shape.TENS and _shape(atoms, place + 1) is Shape.UNIT:
        return place + 2, value + atoms[place + 1].part.value
    return place + 1, value


def _figures(atoms: Sequence[Atom], place: int) -> tuple[int, float] | None:
    """The end and value of a number in digits, with its fraction: "2 1/2", "3 and 1/2"."""
    if _shape(atoms, place) is not Shape.DIGITS:
        return None
    value = atoms[place].part.value
    end = place + 1
    after = end + (_shape(atoms, end) is Shape.AND)
    if _shape(atoms, after) is Shape.FRACTION and not atoms[after].hyphen:
        return after + 1, value + 0.5
    return end, value
