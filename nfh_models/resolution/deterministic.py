"""Recipe `deterministic`: the paper's four patterns, whose heads need no model (section 5.1,
table 4): *no one*, *you two*, NUM *of* NP, X *be the one*.

The first two are words; the other two follow the arcs of a dependency parse, with the labels
of spaCy's English models (ClearNLP) or of Universal Dependencies alike. They are meant for
free text: of the release's resolution data the paper took such cases out, and the few that are
left there contradict the patterns.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nfh_models.domain import Kind
from nfh_models.parsing.parsed import Parsed

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
"""Tokens on either side in which what hangs on a token is looked for, so that a sentence
without end takes time in proportion."""

_NO_SUBJECTS = frozenset({"there", "who", "what", "which", "one"})
"""Subjects that name nothing: questions, the empty subject, and another number."""

_CLIMB = 4
"""How far *of* may hang above its number: "one or two of the eggs"."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that a number is in.

    name: one of PATTERNS. kind: REFERENCE, PEOPLE, or None where the object of *of* is a
    pronoun that stands for a noun elsewhere. heads: the tokens that are the head, in order,
    for REFERENCE: several where the object is "knives and forks". pronoun: the token of the
    pronoun behind *of*.
    """

    name: str
    kind: Kind | None
    heads: tuple[int, ...] = ()
    pronoun: int | None = None


def find(parsed: Parsed, start: int, end: int) -> Pattern | None:
    """The pattern of the number at tokens [start, end); None for most numbers.

    parsed: with parts of speech and dependencies. Raises ValueError for a parse without.
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
    """Whether a noun phrase's noun follows: "you two idiots" has its own."""
    while place < len(parsed.pos) and parsed.pos[place] == "ADJ":
        place += 1
    return place < len(parsed.pos) and parsed.pos[place] in ("NOUN", "PROPN")


# --- NUM of NP ------------------------------------------------------------------------------


def _num_of(parsed: Parsed, start: int, of: int) -> Pattern | None:
    """`of`: the token *of*, right behind the number."""
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
    """The noun that *of* governs: its child (ClearNLP) or its head (UD); None if it has none,
    or hangs on something else than the number."""
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
    """Whether a token hangs on the number, or on what the number hangs on."""
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
    """The tokens that hang on one, in order, at most REACH away."""
    heads = parsed.heads
    for at in range(max(0, token - REACH), min(len(heads), token + REACH)):
        if heads[at] == token != at:
            yield at


def _conjuncts(parsed: Parsed, token: int) -> Iterator[int]:
    """The nouns joined to one by *and* or *or*, in order; those joined to them, too."""
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
