"""Recipes `deterministic`, the paper's four patterns (section 5.1), and `nearest-noun`, the
paper's noun baselines (section 6.3), as resolvers.

`nearest-noun` has four kinds:

    first            the first noun of the passage
    last             the last one
    closest          the one with the fewest tokens between it and the anchor, on either side
    closest-before   the closest before the anchor, else the closest after it

Names are candidates after all nouns; with "+names" after the kind ("closest+names") they count
as nouns, which is closest to the paper's figures. All kinds always choose Reference, except in
passages without nouns and names: then OTHER.

The scores are ranks, not probabilities: 1, 1/2, 1/3 for `first`, `last` and `closest`, names
half of the lowest noun; those of `closest-before` are described in `base`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind
from nfh_models.parsing.base import Parsed, ParseLayer
from nfh_models.resolution import base
from nfh_models.resolution.base import Choice, Item, Several, parse_of, tags_within
from nfh_models.statistics import distance

# Recipe `deterministic`: the paper's four patterns, whose heads need no model (section 5.1,
# table 4): *no one*, *you two*, NUM *of* NP, X *be the one*.
#
# The first two are words; the other two follow the arcs of a dependency parse, labelled as in
# spaCy's English models (ClearNLP) or in Universal Dependencies. They are meant for free text:
# the paper removed such cases from the release's resolution data, and the few left there
# contradict the patterns.

NAME = "deterministic"
TASK = "resolution"
VERSION = "1"

NO_ONE = "no-one"
YOU_TWO = "you-two"
NUM_OF = "num-of"
BE_THE_ONE = "be-the-one"

PATTERNS = (NO_ONE, YOU_TWO, NUM_OF, BE_THE_ONE)

SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass", "csubj"})
PREDICATES = frozenset({"attr", "acomp", "oprd", "xcomp"})
PEOPLE_PRONOUNS = frozenset({"us", "you", "we", "ya", "ye", "yourselves", "ourselves"})
SENT_ON = frozenset(
    {"them", "'em", "em", "these", "those", "which", "whom", "it", "this", "that"}
)
"""Objects of *of* that stand for a noun elsewhere: the pattern says only that there is one."""

_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "DET", "ADJ", "NUM", "X"})
_FORMS_OF_BE = frozenset(
    "be am is are was were been being 'm 's 're ai \u2019m \u2019s \u2019re".split()
)
REACH = 200
"""Tokens on either side in which the dependents of a token are looked for, so that the time is
linear in the length of a sentence.
"""

_NO_SUBJECTS = frozenset({"there", "who", "what", "which", "one"})
"""Subjects that name nothing: questions, the expletive, and another number."""

_CLIMB = 4
"""Arcs that *of* may be above its number: "one or two of the eggs"."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that a number is in."""

    name: str
    """One of PATTERNS."""
    kind: Kind | None
    """REFERENCE, PEOPLE, or None where the object of *of* is a pronoun for a noun elsewhere."""
    heads: tuple[int, ...] = ()
    """The head tokens of a REFERENCE, in order; several for "knives and forks"."""
    pronoun: int | None = None
    """The token of the pronoun after *of*."""


def find(parsed: Parsed, start: int, end: int) -> Pattern | None:
    """The pattern of the number at tokens [start, end); None for most numbers.

    parsed: with parts of speech and dependencies; raises ValueError for a parse without them.
    """
    size = len(parsed.words)
    if not len(parsed.heads) == len(parsed.relations) == len(parsed.pos) == size:
        raise ValueError("the deterministic patterns need parts of speech and dependencies")
    low = [word.lower() for word in parsed.words[max(0, start - 1) : end + 1]]
    before = low[0] if start else ""
    number = low[1:] if start else low
    number, after = number[: end - start], parsed.words[end].lower() if end < size else ""
    if number == ["one"] and before == "no":
        return Pattern(NO_ONE, Kind.PEOPLE)
    if number == ["two"] and before == "you":
        return None if _has_noun(parsed, end) else Pattern(YOU_TWO, Kind.PEOPLE)
    if after == "of":
        return _num_of(parsed, start, end)
    if number == ["one"]:
        return _be_the_one(parsed, start)
    return None


def _has_noun(parsed: Parsed, place: int) -> bool:
    """Whether a noun follows, adjectives skipped: "you two idiots" has a noun of its own."""
    while place < len(parsed.pos) and parsed.pos[place] == "ADJ":
        place += 1
    return place < len(parsed.pos) and parsed.pos[place] in ("NOUN", "PROPN")


# --- NUM of NP ------------------------------------------------------------------------------


def _num_of(parsed: Parsed, start: int, of: int) -> Pattern | None:
    """of: the token *of*, directly after the number."""
    governed = _governed_by_of(parsed, start, of)
    if governed is None:
        return None
    word = parsed.words[governed].lower()
    if word in PEOPLE_PRONOUNS:
        return Pattern(NUM_OF, Kind.PEOPLE, pronoun=governed)
    if word in SENT_ON or parsed.pos[governed] == "PRON":
        return Pattern(NUM_OF, None, pronoun=governed)
    return Pattern(NUM_OF, Kind.REFERENCE, (governed, *_conjuncts(parsed, governed)))


def _governed_by_of(parsed: Parsed, start: int, of: int) -> int | None:
    """The noun that *of* governs: its child (ClearNLP) or its head (UD); None if it governs
    none, or if its head is not the number.
    """
    nominal = [
        at
        for at in _children(parsed, of)
        if at > of and parsed.relations[at] in ("pobj", "pcomp")
    ]
    if nominal:
        return nominal[0] if _hangs_on(parsed, of, start, of) else None
    above = parsed.heads[of]
    if above > of and parsed.relations[of] == "case":
        return above if _hangs_on(parsed, above, start, of) else None
    return None


def _hangs_on(parsed: Parsed, token: int, start: int, end: int) -> bool:
    """Whether the head of a token is the number, or an ancestor of it."""
    above = parsed.heads[token]
    if start <= above < end:
        return True
    place = end - 1
    for _ in range(_CLIMB):
        if place == above:
            return parsed.pos[above] in _NOMINAL
        place = parsed.heads[place]
    return False


# --- X be the one ---------------------------------------------------------------------------


def _be_the_one(parsed: Parsed, one: int) -> Pattern | None:
    if one == 0 or parsed.words[one - 1].lower() != "the":
        return None
    subject = _subject(parsed, one)
    if subject is None or subject == one or parsed.pos[subject] not in _NOMINAL:
        return None
    if parsed.words[subject].lower() in _NO_SUBJECTS:
        return None
    return Pattern(BE_THE_ONE, Kind.REFERENCE, (subject,))


def _subject(parsed: Parsed, one: int) -> int | None:
    """The subject of the form of *be* whose predicate is *one*."""
    be = parsed.heads[one]
    if parsed.relations[one] in PREDICATES and be != one:  # ClearNLP: both hang on the verb
        if parsed.words[be].lower() not in _FORMS_OF_BE:
            return None
        return next(_subjects(parsed, be), None)
    copula = any(parsed.relations[at] == "cop" for at in _children(parsed, one))
    return next(_subjects(parsed, one), None) if copula else None


def _subjects(parsed: Parsed, verb: int) -> Iterator[int]:
    return (at for at in _children(parsed, verb) if parsed.relations[at] in SUBJECTS)


def _children(parsed: Parsed, token: int) -> Iterator[int]:
    """The dependents of a token, in order, at most REACH away."""
    heads = parsed.heads
    for at in range(max(0, token - REACH), min(len(heads), token + REACH)):
        if heads[at] == token != at:
            yield at


def _conjuncts(parsed: Parsed, token: int) -> Iterator[int]:
    """The nouns joined to a noun by *and* or *or*, in order, recursively."""
    waiting = [token]
    while waiting:
        noun = waiting.pop()
        if noun != token:
            yield noun
        joined = [
            at
            for at in _children(parsed, noun)
            if parsed.relations[at] == "conj"
            and parsed.pos[at] in ("NOUN", "PROPN")
            and at > noun
        ]
        waiting += reversed(joined)


class DeterministicResolver:
    """The paper's four patterns, for free text.

    A pattern with *them*, *these* and the like after *of* names no head: the pronoun stands
    for a noun elsewhere, which another recipe has to find. *Us* and *you* are PEOPLE.
    """

    recipe = NAME
    version = VERSION
    needs = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})
    probabilities = False

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice for each item in a pattern that names a head; None for all others.

        Raises ValueError for an item without parts of speech and dependencies.
        """
        return [_resolve(item) for item in items]


def _resolve(item: Item) -> Choice | None:
    parsed, shift = parse_of(item, dependency=True), item.parsed_from
    found = find(parsed, item.anchor.start - shift, item.anchor.end - shift)
    if found is None or found.kind is None:
        return None
    if found.kind is not Kind.REFERENCE:
        return _chosen(item, [IMPLICIT_KINDS.index(found.kind)], found.kind.value)
    heads = [token + shift for token in found.heads]
    places = [len(IMPLICIT_KINDS) + token for token in heads]
    if len(heads) == 1:
        return _chosen(item, places, str(heads[0]))
    between = {parsed.words[at].lower() for at in range(min(found.heads), max(found.heads))}
    both = "or" not in between
    several = Several(0.0, float(both), float(not both))
    return _chosen(item, places, str(heads[0]), str(heads[1]), several)


def _chosen(
    item: Item,
    places: Sequence[int],
    choice: str,
    second: str | None = None,
    several: Several | None = None,
) -> Choice:
    """A choice with the score 1 at these places, and no other candidate."""
    scores: list[float | None] = [None] * (len(IMPLICIT_KINDS) + len(item.passage.tokens))
    for place in places:
        scores[place] = 1.0
    margin = None if second is None else 0.0
    return Choice(choice, second, margin, tuple(scores), several or Several(1.0, 0.0, 0.0))


NAMES = "+names"


class NounKind(StrEnum):
    """Which noun is chosen."""

    FIRST = "first"
    LAST = "last"
    CLOSEST = "closest"
    CLOSEST_BEFORE = "closest-before"


@dataclass(frozen=True, slots=True)
class NounChoice:
    """Which noun is chosen, and whether names count as nouns."""

    kind: NounKind = NounKind.CLOSEST_BEFORE
    names: bool = False

    @classmethod
    def of(cls, spelled: str | None) -> "NounChoice":
        """From its spelling: "first", "closest+names"; None for the default.

        Raises ValueError for an unknown kind; the message lists the known ones.
        """
        if spelled is None:
            return cls()
        kind = spelled.removesuffix(NAMES)
        if kind not in set(NounKind):
            raise ValueError(
                f"wanted one of {', '.join(NounKind)}, with {NAMES} after it where names "
                "count as nouns"
            )
        return cls(NounKind(kind), kind != spelled)

    def __str__(self) -> str:
        return f"{self.kind}{NAMES if self.names else ''}"


class NearestResolver:
    """`nearest-noun` of one kind."""

    recipe = base.NAME
    needs = frozenset({ParseLayer.POS})
    probabilities = False

    def __init__(self, choice: NounChoice | None = None) -> None:
        self.choice = choice or NounChoice()
        self.version = f"{base.VERSION} {self.choice}"

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """The noun of each item. Raises ValueError for an item without parts of speech."""
        return [self._resolve(item) for item in items]

    def _resolve(self, item: Item) -> Choice:
        start, tags = tags_within(item)
        candidates: list[int] = []
        scores: list[float] = []
        for tier in self._tiers(base.suggest(tags, start, item.anchor)):
            below = min(scores, default=2.0) / 2
            ranked = ordered(tier, item.anchor, self.choice.kind)
            candidates += ranked
            scores += [below * value for value in self._scores(ranked, item.anchor)]
        return base.decide(candidates, scores, len(item.passage.tokens))

    def _tiers(self, tiers: Sequence[Sequence[int]]) -> list[list[int]]:
        if self.choice.names:
            return [sorted(token for tier in tiers for token in tier)]
        return [list(tier) for tier in tiers]

    def _scores(self, ranked: Sequence[int], anchor: Anchor) -> list[float]:
        if self.choice.kind is NounKind.CLOSEST_BEFORE:
            return base.score(base.featurise(ranked, anchor))
        return [1.0 / rank for rank in range(1, len(ranked) + 1)]


def ordered(candidates: Sequence[int], anchor: Anchor, kind: NounKind) -> list[int]:
    """Candidates, given ascending, with the best first; unchanged for CLOSEST_BEFORE.

    Of two equally close ones the one before the anchor comes first.
    """
    if kind is NounKind.LAST:
        return list(reversed(candidates))
    if kind is NounKind.CLOSEST:
        return sorted(candidates, key=lambda token: (distance(anchor, token), token))
    return list(candidates)
