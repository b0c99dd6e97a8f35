"""The head of a phrase by its words alone, where no parser is installed.

English noun phrases end with their noun unless something explains it behind: the head is
the last word before a preposition, a relative word, a verb form that opens a clause or a
mark of punctuation. Determiners, possessive 's and signs are passed over.
"""

from collections.abc import Sequence

DETERMINERS = frozenset(
    """
    a an the this that these those my your his her its our their whose each every either
    neither both all any some no what which such another other
    """.split()
)
"""Words in front of a noun that are not it."""

BOUNDARIES = frozenset(
    """
    of in on at by for from with without about above across after against along among around
    as before behind below beneath beside besides between beyond despite down during except
    inside into like near off onto out outside over past per since than through throughout
    till to toward towards under until up upon via within that which who whom whose where
    when why because if while and or but nor is are was were be been being am has have had
    """.split()
)
"""Words behind a noun that only explain it, or go on to something else."""

POSSESSIVES = frozenset({"'s", "\u2019s", "'", "\u2019"})
STOPS = frozenset(',;:.!?()[]{}\u2026\u2013\u2014"\u201c\u201d') | {"--", "...", "``", "''"}


def may_be_head(word: str) -> bool:
    """True for a token with a letter or a digit in it, a possessive ending aside."""
    return any(map(str.isalnum, word)) and word not in POSSESSIVES


def last_before_boundary(words: Sequence[str]) -> int:
    """The index of the head among the words of a phrase, of which there is at least one.

    Of a phrase that holds nothing but determiners, boundaries and signs, the last word that
    has a letter; without any, the last token.
    """
    head: int | None = None
    for place, word in enumerate(words):
        folded = word.casefold()
        if head is not None and (folded in BOUNDARIES or folded in STOPS):
            break
        passed_over = folded in DETERMINERS or folded in BOUNDARIES
        if may_be_head(word) and not passed_over:
            head = place
    if head is not None:
        return head
    with_letters = [place for place, word in enumerate(words) if may_be_head(word)]
    return with_letters[-1] if with_letters else len(words) - 1
