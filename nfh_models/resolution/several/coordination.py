"""Nouns named side by side: "the wine or the beer", "a fox, a goose and a sack".

No parse is needed. A noun may have an article or the like and two more words before it; its
neighbour is directly behind a comma or a coordinator, and has an article where it has one. Of
the words behind a coordinator the noun is the one with the highest score, the last of equals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfh_models.resolution.item import Item
from nfh_models.resolution.several.groups import NO_NOUNS, tag_of
from nfh_models.span_rule import BOUNDARIES, DETERMINERS, STOPS, may_be_head

COORDINATORS = frozenset({"and", "or", "nor", "&"})
LONGEST = 6
"""Members of one coordination at most."""

_MODIFIERS = 2
"""Words between an article and its noun."""

_NO_MEMBERS = BOUNDARIES | frozenset(
    "i you he she it we they me him us them there here one ones not n't so then both either "
    "neither can could will would shall should may might must do does did 's 'm 're 've 'll "
    "'d just only even maybe also very too yes no oh well what let go get come "
    "something anything nothing everything someone somebody anyone anybody everyone nobody "
    "now today tonight tomorrow".split()
)
"""Words that are no noun of a list, and stand in no phrase of one."""


Scores = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Coordination:
    """Nouns side by side. members: their tokens, ascending, two or more. links: the
    coordinators between them, in lower case, as they come."""

    members: tuple[int, ...]
    links: frozenset[str]


def coordination_of(item: Item, scores: Scores, noun: int) -> Coordination | None:
    """The coordination that a noun stands in; None where it stands alone.

    scores: of a recipe, one a token; None for what is no candidate. Commas alone make none:
    there is a coordinator between two of its members.
    """
    words = _Words(item, scores)
    before = list(_chain(words, noun, -1))
    behind = list(_chain(words, noun, 1))
    links = frozenset(link for link, _ in (*before, *behind) if link in COORDINATORS)
    if not links:
        return None
    members = (*(token for _, token in reversed(before)), noun, *(t for _, t in behind))
    return Coordination(members, links)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of an item's passage, in lower case, its anchor barred."""

    item: Item
    scores: Scores

    def score(self, token: int) -> float:
        """What a recipe thinks of a token; 0 for what is no candidate."""
        return self.scores[token] or 0.0

    def low(self, token: int) -> str:
        """ "" outside the passage, and for the anchor."""
        item = self.item
        if not 0 <= token < len(item.passage.tokens):
            return ""
        if item.anchor.start <= token < item.anchor.end:
            return ""
        return item.passage.word(token).lower()

    def counts(self, token: int) -> bool:
        """Whether a token is part of the anchor, or another "one"."""
        anchor = self.item.anchor
        return anchor.start <= token < anchor.end or self.low(token) in ("one", "ones")

    def may_be_member(self, token: int) -> bool:
        """Whether a word may stand in the phrase of a member, or be one."""
        word = self.low(token)
        if not word or word in _NO_MEMBERS or word in DETERMINERS or word in STOPS:
            return False
        return may_be_head(word)

    def noun(self, token: int) -> bool:
        """The same, and the parse, if there is one, does not say that it is no noun."""
        return self.may_be_member(token) and tag_of(self.item, token) not in NO_NOUNS


def _chain(words: _Words, noun: int, step: int) -> Iterator[tuple[str, int]]:
    """The members on one side, nearest first, each with the link before it on the way."""
    find = _before if step < 0 else _behind
    for _ in range(LONGEST - 1):
        found = find(words, noun)
        if found is None:
            return
        yield found
        noun = found[1]


def _before(words: _Words, noun: int) -> tuple[str, int] | None:
    start, has_article = _opening(words, noun)
    link, at = _link(words, start - 1, -1)
    if not link or not words.noun(at):
        return None
    return (link, at) if _opening(words, at)[1] is has_article else None


def _behind(words: _Words, noun: int) -> tuple[str, int] | None:
    link, at = _link(words, noun + 1, 1)
    if not link:
        return None
    has_article = words.low(at) in DETERMINERS
    at += has_article
    last = _noun_from(words, at)
    if last is None or _opening(words, noun)[1] is not has_article:
        return None
    return link, last


def _noun_from(words: _Words, start: int) -> int | None:
    """The noun of a phrase that opens at a token, articles passed over; None for no noun."""
    end = start
    while end - start <= _MODIFIERS and words.may_be_member(end):
        end += 1
    ranked = sorted(range(start, end), key=lambda token: (words.score(token), token))
    if not ranked or not words.noun(ranked[-1]):
        return None
    best = ranked[-1]
    rated = len(ranked) > 1 and words.score(best) > words.score(ranked[-2])
    # "the small boat or the big one": what stands before a number is no noun of its own.
    if words.counts(end) or not (rated or not words.may_be_member(end)):
        return None
    return best


def _opening(words: _Words, noun: int) -> tuple[int, bool]:
    """Where the phrase of a noun opens, and whether with an article or the like."""
    for start in range(noun, noun - _MODIFIERS - 1, -1):
        if words.low(start - 1) in DETERMINERS:
            return start - 1, True
        if not words.may_be_member(start - 1):
            return start, False
    return noun, False


def _link(words: _Words, at: int, step: int) -> tuple[str, int]:
    """A coordinator, a comma, or both; and the token on its other side. "" for neither."""
    link = ""
    for sign in (",", *COORDINATORS) if step > 0 else (*COORDINATORS, ","):
        if words.low(at) == sign:
            link = sign if link in ("", ",") else link
            at += step
    return link, at
