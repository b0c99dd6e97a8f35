"""What went wrong, by kind."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfh_models.domain import Passage
from nfh_models.resolution.scoring.figures import share
from nfh_models.resolution.scoring.judging import Judged, score_of
from nfh_models.statistics.heads import distance
from nfh_models.text.lexicon import parts_of


class Mistake(StrEnum):
    """The kinds of wrong choices. The first that holds is said, in this order."""

    NOTHING = "nothing said"
    CLASS_FOR_CLASS = "another class"
    WORD_FOR_CLASS = "a word for a class"
    OUT_OF_REACH = "no gold head among the candidates"
    CLASS_FOR_WORD = "a class for a word"
    SAME_FORM = "the same word where it is not marked"
    SAME_LEMMA = "another form of the word, not marked"
    NUMBER = "a number word"
    PRONOUN = "a pronoun"
    BESIDE = "a word beside a gold head"
    NEARER = "a word nearer than the gold head"
    FARTHER = "a word as far as the gold head, or farther"


PRONOUNS = frozenset(
    (
        "he her hers herself him himself his i it its itself me mine my myself she that their "
        "theirs them themselves these they this those us we what which who whom you your "
        "yours yourself our ours ourselves yourselves someone something anyone anything "
        "everyone everything nobody nothing somebody anybody everybody"
    ).split()
)
"""Words that stand for a noun instead of being one, in lower case."""

REACH = 3
"""A token so near to a gold head is beside it: most often a word of its phrase."""


@dataclass(frozen=True, slots=True)
class Mistaken:
    """An example that was judged wrong (no gold mention was chosen), and how."""

    judged: Judged
    mistake: Mistake


@dataclass(frozen=True, slots=True)
class MistakeCount:
    """How many mistakes are of a kind, and which share of all mistakes that is."""

    mistake: Mistake
    n: int
    share: float


def mistakes(judged: Iterable[Judged]) -> tuple[Mistaken, ...]:
    """The wrong ones, in the order of the examples."""
    return tuple(Mistaken(one, mistake(one)) for one in judged if not one.right)


def by_mistake(mistaken: Sequence[Mistaken]) -> tuple[MistakeCount, ...]:
    """The kinds that occur, the most frequent first, equal ones in the order of Mistake."""
    counts = Counter(one.mistake for one in mistaken)
    ranked = sorted(counts, key=lambda kind: (-counts[kind], list(Mistake).index(kind)))
    return tuple(
        MistakeCount(kind, counts[kind], share(counts[kind], len(mistaken)) or 0.0)
        for kind in ranked
    )


def mistake(one: Judged) -> Mistake:
    """What kind of mistake a wrong choice is. ValueError for a right one."""
    if one.right:
        raise ValueError(f"{one.example.where}: the choice is right")
    if one.choice is None:
        return Mistake.NOTHING
    if not one.reference:
        return Mistake.CLASS_FOR_CLASS if one.token is None else Mistake.WORD_FOR_CLASS
    if one.choice.scores and lost(one):
        return Mistake.OUT_OF_REACH
    if one.token is None:
        return Mistake.CLASS_FOR_WORD
    return _wrong_token(one, one.token)


def lost(one: Judged) -> bool:
    """Whether no gold head is a candidate, for example because all stand outside a
    recipe's window: then it could not be right. False for classes and without a choice."""
    if one.choice is None or not one.reference:
        return False
    heads = one.example.gold.head_tokens()
    return all(score_of(one.choice, str(head)) is None for head in heads)


def _wrong_token(one: Judged, token: int) -> Mistake:
    passage, heads = one.example.item.passage, one.example.gold.head_tokens()
    word = passage.word(token).lower()
    if one.inclusive:
        return Mistake.SAME_FORM
    if _lemma(passage, token) in {_lemma(passage, head) for head in heads}:
        return Mistake.SAME_LEMMA
    if parts_of(word):
        return Mistake.NUMBER
    if word in PRONOUNS:
        return Mistake.PRONOUN
    if min(abs(token - head) for head in heads) <= REACH:
        return Mistake.BESIDE
    away = distance(one.example.item.anchor, token)
    return (
        Mistake.NEARER if one.distance is not None and away < one.distance else Mistake.FARTHER
    )


def _lemma(passage: Passage, token: int) -> str:
    return passage.tokens[token].lemma.strip().casefold()
