"""A run: parts of numbers with nothing between them but hyphens, *and*, *point* or *oh*."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.text import lexicon
from nfh_models.text.lexicon import SAID, Part, Shape, parts_of

_BEFORE_AND = frozenset({Shape.HUNDRED, Shape.SCALE, Shape.DIGITS})
_BEFORE_POINT = SAID | {Shape.HUNDRED, Shape.SCALE}
_AFTER_OH = frozenset({Shape.ZERO, Shape.UNIT})


@dataclass(frozen=True, slots=True)
class Line:
    """Tokens with what is known of the white space between them.

    Places outside the line may be asked for: no word stands there.
    """

    words: Sequence[str]
    glued: Sequence[bool] | None

    def low(self, place: int) -> str:
        """The token in lower case."""
        return self.words[place].lower() if self._has(place) else ""

    def parts(self, place: int) -> tuple[Part, ...]:
        """The number parts of the token."""
        return parts_of(self.words[place]) if self._has(place) else ()

    def hyphen(self, place: int) -> bool:
        """Whether the token is a hyphen."""
        return self._has(place) and lexicon.is_hyphen(self.words[place])

    def touches(self, place: int) -> bool | None:
        """Whether token `place` has no white space before it; None if not known."""
        if self.glued is None:
            return None
        return 0 < place < len(self.words) and bool(self.glued[place])

    def tight(self, place: int) -> bool | None:
        """Whether no white space stands on either side of token `place`; None: not known."""
        if self.glued is None:
            return None
        return bool(self.touches(place) and self.touches(place + 1))

    def joint(self, place: int) -> bool:
        """Whether token `place` is a hyphen that may join: not known to be a dash."""
        return self.hyphen(place) and self.tight(place) is not False

    def _has(self, place: int) -> bool:
        return 0 <= place < len(self.words)


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a number, or a word between two of them, where it stands: tokens [start, end).

    hyphen: joined by one to the atom before.
    """

    part: Part
    start: int
    end: int
    hyphen: bool


def read_run(line: Line, place: int) -> list[Atom]:
    """The run that starts with the number at token `place`; it ends with a number."""
    run = _atoms(line, place, hyphen=False)
    while following := (
        _behind_hyphen(line, run[-1])
        or _behind_link(line, run[-1])
        or _atoms(line, run[-1].end, hyphen=False)
    ):
        run.extend(following)
    return run


def _atoms(line: Line, place: int, *, hyphen: bool) -> list[Atom]:
    return [
        Atom(part, place, place + 1, hyphen or i > 0)
        for i, part in enumerate(line.parts(place))
    ]


def _behind_hyphen(line: Line, last: Atom) -> list[Atom]:
    """The number behind a hyphen. With a space beside it, it joins tens and units only."""
    if not line.hyphen(last.end):
        return []
    atoms = _atoms(line, last.end + 1, hyphen=True)
    if not atoms or line.joint(last.end):
        return atoms
    compound = last.part.shape is Shape.TENS and atoms[0].part.shape is Shape.UNIT
    return atoms if compound else []


def _behind_link(line: Line, last: Atom) -> list[Atom]:
    """ "and", "point" or "oh" with the number behind it, hyphens around it or none."""
    place = last.end
    hyphen = line.joint(place)
    link = place + hyphen
    part = _link(line.low(link), last.part.shape)
    after = link + 1
    if part is None or line.joint(after) is not hyphen:
        return []
    atoms = _atoms(line, after + hyphen, hyphen=hyphen)
    if not atoms or not _may_join(last.part.shape, part, atoms[0].part.shape):
        return []
    return [Atom(part, link, link + 1, hyphen), *atoms]


def _link(word: str, before: Shape) -> Part | None:
    if word in ("and", "&") and before in _BEFORE_AND:
        return lexicon.AND
    if word == "point" and before in _BEFORE_POINT:
        return lexicon.POINT
    if word in lexicon.OH_WORDS and before in SAID:
        return lexicon.OH
    return None


def _may_join(before: Shape, link: Part, after: Shape) -> bool:
    if link is lexicon.AND:
        return before is not Shape.DIGITS or after is Shape.FRACTION
    return after in (_AFTER_OH if link is lexicon.OH else SAID)
