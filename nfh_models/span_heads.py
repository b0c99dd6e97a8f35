"""The syntactic head of a marked phrase: "the red tents by the lake" gives "tents".

Annotators of a crowd mark stretches of text; an answer wants the noun (paper, section 5.3:
"reduce each marked span to its syntactic head"). With an installed English spaCy pipeline
that has a parser the head is the token that hangs on one outside the phrase. Without one,
and where the parse gives several such tokens, a rule over the words decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nfh_models.domain import Passage
from nfh_models.span_rule import last_before_boundary, may_be_head

NOMINAL = frozenset({"NOUN", "PROPN"})
NEVER = frozenset({"PUNCT", "SPACE", "SYM", "DET", "CCONJ", "PART", "X"})
"""Tags of tokens that are no head beside another root of the phrase."""

OBJECTS = frozenset({"ADP", "SCONJ"})
"""Tags of words that open a phrase: its head is the one of what they govern."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens [start, end) of a passage, one or more."""

    passage: Passage
    start: int
    end: int

    def words(self) -> list[str]:
        """The phrase's tokens as they stand."""
        return [self.passage.word(token) for token in range(self.start, self.end)]


@dataclass(frozen=True, slots=True)
class Found:
    """A head token, and whether a parse gave it; else the rule did."""

    token: int
    parsed: bool


class HeadFinder(Protocol):
    """Finds heads of phrases. name: what it goes by, as a report says it."""

    name: str

    def heads(self, phrases: Sequence[Phrase]) -> list[Found]:
        """The head of each phrase, in their order."""
        ...


class RuleHeads:
    """Heads without a parser."""

    name = "a rule"

    def heads(self, phrases: Sequence[Phrase]) -> list[Found]:
        """The head of each phrase by `span_rule`."""
        return [Found(by_rule(phrase), parsed=False) for phrase in phrases]


def by_rule(phrase: Phrase) -> int:
    """The head of a phrase by `span_rule`."""
    return phrase.start + last_before_boundary(phrase.words())


def syntactic_head(
    words: Sequence[str], governors: Sequence[int], tags: Sequence[str], start: int, end: int
) -> int | None:
    """The head of tokens [start, end) by a parse of the tokens around them.

    governors: of each token, the one it hangs on; itself at a sentence's root. tags: the
    universal parts of speech. None where the phrase has several roots, so that the parse
    does not say: a phrase across two sentences, say.
    """
    roots = [
        token
        for token in range(start, end)
        if governors[token] == token or not start <= governors[token] < end
    ]
    # "tents by the lake", the preposition hung on the verb: the noun is the head.
    direct = [
        token for token in roots if tags[token] not in OBJECTS and may_be_head(words[token])
    ]
    found = {_opened(token, governors, tags, start, end) for token in direct or roots}
    words_only = {token for token in found if may_be_head(words[token])}
    better = {token for token in words_only if tags[token] not in NEVER} or words_only
    return better.pop() if len(better) == 1 else None


def _opened(
    token: int, governors: Sequence[int], tags: Sequence[str], start: int, end: int
) -> int:
    """The root itself, or the noun that a preposition at the root governs in the phrase."""
    for _ in range(end - start):
        if tags[token] not in OBJECTS:
            break
        governed = [
            other for other in range(token + 1, end) if governors[other] == token != other
        ]
        if not governed:
            break
        nominal = [other for other in governed if tags[other] in NOMINAL]
        token = (nominal or governed)[0]
    return token


def load_heads() -> HeadFinder:
    """The first installed pipeline with a parser that loads, else the rule."""
    from nfh_models.span_parser import load_parser

    return load_parser() or RuleHeads()
