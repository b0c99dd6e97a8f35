"""Passages of our own as labelled rows, and resolvers that need no network and no parser."""

import math
from collections.abc import Iterable, Iterator, Sequence

from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan
from nfh_models.resolution.base import Choice, Item

Spec = tuple[str, str | tuple[str, ...]]

DEV: tuple[Spec, ...] = (
    ("Ann: We need tickets . | Ben: I have [two] .", ("tickets",)),
    ("Ann: Is this coat yours ? | Ben: No , the red [one] is .", ("coat",)),
    ("Eva: Bread or cake ? | Ben: I take [one] .", ("Bread", "cake")),
    ("Ann: Cups ! | Ben: Cups ? Give me [three] of them .", ("Cups", "Cups")),
    ("Ben: My uncle turned [60] .", "AGE"),
    ("Ben: They met in [1987] .", "YEAR"),
    ("Ann: The train leaves at [five] .", "TIME"),
    ("Ann: It costs [ten] .", "CURRENCY"),
    ("Ben: Only [one] of us stayed .", "PEOPLE"),
    ("Ann: [Seven] , eight , go !", "OTHER"),
)


NOUNS = {"tickets", "coat", "Bread", "cake", "Cups", "uncle", "train"}


def row(marked: str, head: str | Sequence[str]) -> dict[str, object]:
    """A row of the release's form: turns divided by |, the anchor in square brackets.

    head: a class, or the words of the head's mentions, each the next place of its word.
    """
    tokens: list[str] = []
    turns: list[int] = []
    speakers: list[str] = []
    for number, turn in enumerate(marked.split("|")):
        speaker, words = turn.strip().split(": ", 1)
        for word in words.split():
            tokens.append(word)
            turns.append(number)
            speakers.append(speaker)
    anchor = [at for at, word in enumerate(tokens) if word[0] == "[" and word[-1] == "]"]
    for at in anchor:
        tokens[at] = tokens[at][1:-1]
    heads: list[object] = [head] if isinstance(head, str) else []
    if not isinstance(head, str):
        for word in head:
            taken = [at for at in heads if isinstance(at, int)]
            heads.append(
                next(at for at, it in enumerate(tokens) if it == word and at not in taken)
            )
    return {
        "tokens": tokens,
        "line_indices": turns,
        "head": heads,
        "speakers": speakers,
        "anchors_indices": anchor,
    }


# --- resolvers ------------------------------------------------------------------------------


class Tiny:
    """Chooses the longest word before the anchor, or a class for digits; with probabilities."""

    version = "1"
    needs: frozenset[ParseLayer] = frozenset()
    probabilities = True
    parser: str | None = None

    def __init__(self, recipe: str = "small", heat: float = 1.0) -> None:
        self.recipe = recipe
        self.heat = heat

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        return [self._resolve(item) for item in items]

    def _resolve(self, item: Item) -> Choice | None:
        size = len(item.passage.tokens)
        digits = item.passage.word(item.anchor.start).isdigit()
        raw: list[float | None] = [0.0] * len(IMPLICIT_KINDS)
        raw[0] = 9.0 if digits else 0.0
        for at in range(size):
            if item.anchor.start <= at < item.anchor.end:
                raw.append(None)
            else:
                long = min(len(item.passage.word(at)), 50) if at < item.anchor.start else 0
                raw.append(float(long))
        return chosen(raw, self.heat)


class Silent(Tiny):
    """Has nothing to say of what is no Reference to tickets; scores are no probabilities."""

    probabilities = False
    version = "silent"

    def _resolve(self, item: Item) -> Choice | None:
        words = [item.passage.word(at) for at in range(len(item.passage.tokens))]
        if "tickets" not in words:
            return None
        return Choice(str(words.index("tickets")), None, None, ())


class Words(Tiny):
    """Chooses among words alone."""

    recipe = "encoder"

    def _resolve(self, item: Item) -> Choice | None:
        found = super()._resolve(item)
        assert found is not None
        raw = [None] * 6 + [None if p is None else math.log(p) for p in found.scores[6:]]
        return chosen(raw, 1.0)


def chosen(raw: Sequence[float | None], heat: float) -> Choice:
    """The best of raw scores, as probabilities."""
    powers = [None if one is None else math.exp(one * heat) for one in raw]
    whole = sum(one for one in powers if one is not None)
    scores = tuple(None if one is None else one / whole for one in powers)
    known = [(score, -place) for place, score in enumerate(scores) if score is not None]
    (best, first), (runner_up, second) = sorted(known, reverse=True)[:2]
    return Choice(name(-first), name(-second), best - runner_up, scores)


def name(place: int) -> str:
    return IMPLICIT_KINDS[place].value if place < 6 else str(place - 6)


class Nouns:
    """A parser that knows a few nouns."""

    name = "a few nouns"
    layers = frozenset({ParseLayer.POS})

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        for one in word_spans:
            pos = ["NOUN" if word in NOUNS else "X" for word in one.words]
            yield Parsed(list(one.words), pos=pos)
