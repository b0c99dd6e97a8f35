"""Candidates that are one head: all tokens of a noun, singular or plural.

The release marks every mention of a head's word, and found them by comparing words. Of the
453 development References with one noun, the nearest mention given: all tokens of its lemma
are 91.6 % right and hold every marked one; without other words' verb forms they are 92.2 %
right, and without what a parser says is no noun, 92.6 %, still with every marked one. The
rest is singular beside plural, which the release marks at times and this tool always.
"""

from dataclasses import dataclass

from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.resolution.item import Choice, Item

VERB_ENDINGS = ("ed", "ing")
"""Of a form that is a verb beside another form of its lemma: "kissed" beside "a kiss"."""

NO_NOUNS = frozenset("VERB AUX ADV PRON DET ADP SCONJ CCONJ INTJ PART PUNCT".split())
"""Universal parts of speech of a token that is no mention of a noun of another form."""


@dataclass(frozen=True, slots=True)
class Group:
    """One head that is possible.

    best: the token with the highest score, which is marked. tokens: all mentions, ascending,
    `best` among them. score: the sum over those that have one.
    """

    best: int
    tokens: tuple[int, ...]
    score: float


class Groups:
    """The groups of one item's candidates. scores: one a token; None for no candidate."""

    def __init__(self, item: Item, choice: Choice) -> None:
        self._item = item
        self.scores = _scores(item, choice)
        self._lemmas = [token.lemma.lower() for token in item.passage.tokens]

    def lemma(self, token: int) -> str:
        """What makes tokens one group."""
        return self._lemmas[token]

    def of(self, token: int) -> Group:
        """The group of a token, candidate or not; it is the one that is marked.

        ValueError for what is no token of the passage outside the anchor.
        """
        anchor = self._item.anchor
        inside = anchor.start <= token < anchor.end
        if inside or not 0 <= token < len(self._lemmas):
            raise ValueError(f"{token} is no token outside the anchor that can be a head")
        tokens = self._mentions(token)
        return Group(token, tokens, sum(self.scores[one] or 0.0 for one in tokens))

    def others(self, known: Group, most: int) -> list[Group]:
        """The groups of other nouns with the highest sums, at most `most`; of equals the
        earlier. Those whose sum is 0 are left out."""
        sums: dict[str, float] = {}
        best: dict[str, tuple[float, int]] = {}
        for token, (lemma, score) in enumerate(zip(self._lemmas, self.scores, strict=True)):
            if score is not None and score > 0:
                sums[lemma] = sums.get(lemma, 0.0) + score
                best[lemma] = min(best.get(lemma, (-score, token)), (-score, token))
        sums.pop(self.lemma(known.best), None)
        ranked = sorted(sums, key=lambda lemma: (-sums[lemma], best[lemma][1]))
        return [self.of(best[lemma][1]) for lemma in ranked[:most]]

    def _mentions(self, token: int) -> tuple[int, ...]:
        item, wanted = self._item, self._lemmas[token]
        own = item.passage.word(token).lower()
        return tuple(
            one
            for one, lemma in enumerate(self._lemmas)
            if lemma == wanted
            and not item.anchor.start <= one < item.anchor.end
            and (one == token or _is_mention(item, one, own))
        )


def _is_mention(item: Item, token: int, own: str) -> bool:
    form = item.passage.word(token).lower()
    if form == own:
        return True
    return not form.endswith(VERB_ENDINGS) and tag_of(item, token) not in NO_NOUNS


def tag_of(item: Item, token: int) -> str:
    """The universal part of speech that the item's parse gives a token; "" without one."""
    if item.parsed is None:
        return ""
    place = token - item.parsed_from
    return item.parsed.pos[place] if 0 <= place < len(item.parsed.pos) else ""


def _scores(item: Item, choice: Choice) -> list[float | None]:
    """One entry a token; None for what is no candidate, the anchor among it."""
    size = len(item.passage.tokens)
    scores = list(choice.scores[len(IMPLICIT_KINDS) :][:size])
    scores += [None] * (size - len(scores))
    for token in range(item.anchor.start, item.anchor.end):
        scores[token] = None
    return scores
