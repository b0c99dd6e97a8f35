"""The dependency filter: a number that counts a noun is no fused head (paper, section 4.1)."""

from nfh_models.identification.patterns import has_noun_behind
from nfh_models.identification.rules_view import View
from nfh_models.identification.rules_words import (
    ASIDE,
    NO_NOUNS,
    O_CLOCK,
    RATES,
    TIMES,
    WHEN,
)

_COUNTS = frozenset({"nummod", "compound", "amod", "quantmod", "nmod", "det"})
_OUTSIDE = frozenset({"ADP", "SCONJ"})
"""They begin a phrase whose noun the number does not count: "nine out of ten men"."""
_POINTERS = frozenset("this that the same which any every each another other only".split())


def o_clock(view: View) -> bool:
    """The word "o'clock" follows, which is what the number counts."""
    return view.low(view.behind) in O_CLOCK


def noun_next(view: View) -> bool:
    """The next token is a noun or a name; behind a year in figures a name may begin anew."""
    if view.quantity(view.behind):
        return True
    if view.pos(view.behind) == "PROPN" and view.low(view.behind) not in NO_NOUNS:
        return not (_pointed(view) or view.low(view.start).isdecimal())
    return view.counted(view.behind)


def adjectives_and_noun(view: View) -> bool:
    """A noun follows behind adjectives or a participle: "two big dogs", "two lost dogs"."""
    if view.low(view.behind) == "left" or _is_when(view):
        return False
    if view.pos(view.behind) == "ADJ":
        return has_noun_behind(view)
    if view.tag(view.behind) not in ("VBN", "VBG") or _pointed(view):
        return False
    return view.counted(view.behind + 1)


def _is_when(view: View) -> bool:
    """Whether "last week" or the like follows as a time: only one of them could be counted."""
    if view.low(view.behind) not in ("last", "next"):
        return False
    if view.low(view.behind + 1) not in TIMES:
        return False
    return not view.is_one or view.head(view.top()) != view.behind + 1


def _pointed(view: View) -> bool:
    """Whether it is a *one* that something points at: "this one", "the only one"."""
    return view.is_one and view.low(view.start - 1) in _POINTERS


def counts_a_noun(view: View) -> bool:
    """The number, or the larger one that it is part of, hangs on a noun as what counts it."""
    top = view.top()
    head = view.head(top)
    if view.relation(top).partition(":")[0] not in _COUNTS or head < view.behind:
        return False
    behind = view.low(view.behind)
    if behind in ASIDE or behind in RATES or behind in WHEN:
        return False
    if view.pos(view.behind) in _OUTSIDE:
        return False
    return view.counted(head) or _is_plural(view, head)


def _is_plural(view: View, head: int) -> bool:
    """Whether a token looks like a plural that the tagger took for something else.

    The parser lets the number count it; "pierogis" may still be tagged as a determiner.
    """
    return head == view.behind and not view.is_one and view.low(head)[2:].endswith("s")
