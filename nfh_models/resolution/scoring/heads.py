"""How well the heads of References are found: as sets of nouns, and as mentions.

Looked at are the examples whose gold is a Reference. A predicted head is a gold head if the
two share a mention's head token or a lemma of one (`same_head`), each used at most once;
heads of one answer that are the same by that are taken as one. Figures are pooled over
examples: hits by what was predicted (precision), by what gold holds (recall).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nfh_models.domain import Answer, Head, Kind, Relation, same_head
from nfh_models.resolution.item import ResolutionExample
from nfh_models.resolution.scoring.figures import share


@dataclass(frozen=True, slots=True)
class Found:
    """What was predicted, what gold holds, and how much of it is the same."""

    predicted: int = 0
    gold: int = 0
    hit: int = 0

    def __add__(self, other: "Found") -> "Found":
        return Found(
            self.predicted + other.predicted, self.gold + other.gold, self.hit + other.hit
        )

    @property
    def precision(self) -> float | None:
        """Of the predicted ones, the share that is in gold; None if nothing was predicted."""
        return share(self.hit, self.predicted)

    @property
    def recall(self) -> float | None:
        """Of the gold ones, the share that was predicted; None if there are none."""
        return share(self.hit, self.gold)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None if there is neither gold nor prediction."""
        return share(2 * self.hit, self.predicted + self.gold)


@dataclass(frozen=True, slots=True)
class HeadsJudged:
    """A gold Reference with the answer to it.

    answer: None where the recipe had nothing to say. heads: by noun. mentions: by head
    token. exact: the predicted heads are the gold heads, none more, none less; relation
    aside. exact_mentions: the same tokens. several: gold has two or more different nouns.
    relation: whether it is gold's; None where gold states none.
    """

    example: ResolutionExample
    answer: Answer | None
    heads: Found
    mentions: Found
    exact: bool
    exact_mentions: bool
    several: bool
    relation: bool | None


@dataclass(frozen=True, slots=True)
class HeadFigures:
    """Figures over gold References. n: how many there are. relation_n: those of them whose
    gold states AND or OR."""

    n: int
    exact_right: int
    heads: Found
    exact_mentions_right: int
    mentions: Found
    relation_n: int
    relation_right: int

    @property
    def exact(self) -> float | None:
        """The share whose set of heads is gold's."""
        return share(self.exact_right, self.n)

    @property
    def exact_mentions(self) -> float | None:
        """The share whose set of head tokens is gold's."""
        return share(self.exact_mentions_right, self.n)

    @property
    def precision(self) -> float | None:
        """Over heads."""
        return self.heads.precision

    @property
    def recall(self) -> float | None:
        """Over heads."""
        return self.heads.recall

    @property
    def f1(self) -> float | None:
        """Over heads."""
        return self.heads.f1

    @property
    def relation(self) -> float | None:
        """Where gold states AND or OR, the share with the same."""
        return share(self.relation_right, self.relation_n)


def judge_heads(
    examples: Sequence[ResolutionExample], answers: Sequence[Answer | None]
) -> tuple[HeadsJudged, ...]:
    """Of the examples whose gold is a Reference, how good the answers are.

    ValueError if there are not as many answers as examples.
    """
    return tuple(
        judge_heads_one(example, answer)
        for example, answer in zip(examples, answers, strict=True)
        if example.gold.kind is Kind.REFERENCE
    )


def judge_heads_one(example: ResolutionExample, answer: Answer | None) -> HeadsJudged:
    """How good an answer is. ValueError unless the gold is a Reference."""
    gold = example.gold
    if gold.kind is not Kind.REFERENCE:
        raise ValueError(f"{example.where}: gold {gold.kind} has no heads")
    lemmas = [token.lemma for token in example.item.passage.tokens]
    wanted = merged(gold.heads, lemmas)
    given = merged(answer.heads if answer else (), lemmas)
    heads = Found(len(given), len(wanted), _matched(given, wanted, lemmas))
    tokens, said = set(gold.head_tokens()), set(answer.head_tokens() if answer else ())
    return HeadsJudged(
        example,
        answer,
        heads=heads,
        mentions=Found(len(said), len(tokens), len(said & tokens)),
        exact=heads.hit == heads.predicted == heads.gold,
        exact_mentions=said == tokens,
        several=len(wanted) > 1,
        relation=_relation(gold, answer, len(wanted)),
    )


def head_figures(judged: Iterable[HeadsJudged]) -> HeadFigures:
    """The figures of judged References."""
    some = list(judged)
    return HeadFigures(
        n=len(some),
        exact_right=sum(one.exact for one in some),
        heads=sum((one.heads for one in some), Found()),
        exact_mentions_right=sum(one.exact_mentions for one in some),
        mentions=sum((one.mentions for one in some), Found()),
        relation_n=sum(one.relation is not None for one in some),
        relation_right=sum(one.relation is True for one in some),
    )


# --- heads of one answer, and of two --------------------------------------------------------


def merged(heads: Iterable[Head], lemmas: Sequence[str]) -> tuple[Head, ...]:
    """The different heads: those that are the same as another are joined with it."""
    kept: list[Head] = []
    for head in heads:
        same = [other for other in kept if same_head(other, head, lemmas)]
        kept = [other for other in kept if other not in same]
        kept.append(Head(tuple(m for one in (*same, head) for m in one.mentions)))
    return tuple(kept)


def _matched(given: Sequence[Head], wanted: Sequence[Head], lemmas: Sequence[str]) -> int:
    """How many pairs of the same head there are at most, each head in one pair."""
    same = [[same_head(mine, gold, lemmas) for gold in wanted] for mine in given]
    if len(given) < 2 or len(wanted) < 2:
        return int(any(map(any, same)))
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(same, maximize=True)
    return sum(same[row][column] for row, column in zip(rows, columns, strict=True))


def _relation(gold: Answer, answer: Answer | None, nouns: int) -> bool | None:
    if nouns < 2 or gold.relation not in (Relation.AND, Relation.OR):
        return None
    return answer is not None and answer.relation is gold.relation
