"""Numbers said one after the other that are one anchor.

Digit by digit ("nine one one"), a time ("ten thirty"), a year ("nineteen ninety-five"), a
decimal ("two point five"), a chain with hyphens ("7-7-3", "ten-four"), digits in groups
("18 000", "0118 999 881").
"""

from collections.abc import Sequence
from itertools import groupby

from nfh_models.text.cardinals import Cardinal
from nfh_models.text.lexicon import SAID, Shape
from nfh_models.text.runs import Atom, Line

_POINTERS = frozenset(
    "the this that these those which no any every each another other last next first only new "
    "right wrong same".split()
)
"""Before "one": it stands for a noun, and the number behind it is another."""

_PRONOUNS = frozenset("you us them we these those".split())
"""Before any number: "you two" is whole, and the number behind it is another."""

_BEHIND_ONE = frozenset("of at who that more another".split())
"""Behind a second number "one": it begins something new, "you marry seven | one at a time"."""

Group = list[Cardinal]


def series(line: Line, atoms: Sequence[Atom], numbers: Sequence[Cardinal]) -> list[Group]:
    """The cardinals of a run, those that are one anchor together."""
    groups: list[Group] = []
    for number in numbers:
        if groups and _joins(line, atoms, groups[-1], number):
            groups[-1].append(number)
        else:
            groups.append([number])
    return _join_figures(atoms, groups)


def _joins(line: Line, atoms: Sequence[Atom], group: Group, number: Cardinal) -> bool:
    last, first = atoms[group[-1].end - 1], atoms[number.start]
    if last.start == first.start:  # parts of one token are never torn apart
        return True
    if number.link is not None:
        return number.link is Shape.POINT and not _at_one_point(line, atoms, group)
    if first.hyphen:
        return True
    spoken = _is_said(atoms, group[-1]) and _is_said(atoms, number)
    alone = _stands_alone(line, atoms, group) or _begins_anew(line, atoms, group, number)
    return spoken and not alone


def _is_said(atoms: Sequence[Atom], number: Cardinal) -> bool:
    return all(atom.part.shape in SAID for atom in atoms[number.start : number.end])


def _at_one_point(line: Line, atoms: Sequence[Atom], group: Group) -> bool:
    return line.low(atoms[group[0].start].start - 1) == "at"


def _stands_alone(line: Line, atoms: Sequence[Atom], group: Group) -> bool:
    """Whether a group is a pronoun rather than a digit: "the one | two weeks ago"."""
    if len(group) > 1 or group[0].end - group[0].start > 1:
        return False
    atom = atoms[group[0].start]
    before = line.low(atom.start - 1)
    return before in _PRONOUNS or (before in _POINTERS and line.low(atom.start) == "one")


def _begins_anew(line: Line, atoms: Sequence[Atom], group: Group, number: Cardinal) -> bool:
    if len(group) > 1 or number.end - number.start > 1:
        return False
    atom = atoms[number.start]
    return line.low(atom.start) == "one" and line.low(atom.end) in _BEHIND_ONE


def _join_figures(atoms: Sequence[Atom], groups: list[Group]) -> list[Group]:
    """Join neighbours that are plain digits and look like one number in groups."""
    joined: list[Group] = []
    for plain, neighbours in groupby(groups, key=lambda group: bool(_plain(atoms, group))):
        members = list(neighbours)
        if plain and _is_grouped([_plain(atoms, group) for group in members]):
            joined.append([number for group in members for number in group])
        else:
            joined.extend(members)
    return joined


def _plain(atoms: Sequence[Atom], group: Group) -> str:
    if len(group) > 1 or group[0].end - group[0].start > 1:
        return ""
    return atoms[group[0].start].part.plain


def _is_grouped(figures: Sequence[str]) -> bool:
    """Thousands ("18 000"), a telephone number ("555 1234"), or three groups and more."""
    if len(figures) == 2:
        left, right = figures
        return (len(left) <= 3 and right == "000") or (len(left), len(right)) == (3, 4)
    return len(figures) > 2
