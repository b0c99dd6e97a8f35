"""Items out of marked dialogs, and choices made by hand."""

from collections.abc import Mapping

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Passage, Token, Turn
from nfh_models.resolution.base import Choice, Item, Several
from nfh_models.text.tokens import lemmas


def item_of(*turns: str) -> Item:
    """An item from turns of tokens with spaces between; the anchor stands in [ ... ]."""
    words: list[str] = []
    bounds: list[int] = []
    made: list[Turn] = []
    for number, turn in enumerate(turns):
        start = len(words)
        for word in turn.split():
            if word in ("[", "]"):
                bounds.append(len(words))
            else:
                words.append(word)
        made.append(Turn(number, f"Speaker {number % 2}", start, len(words)))
    text, tokens = "", []
    for word, lemma in zip(words, lemmas(words), strict=True):
        start = len(text) + 1 if text else 0
        text += f" {word}" if text else word
        tokens.append(Token(start, start + len(word), lemma))
    return Item(Passage(text, tuple(tokens), tuple(made)), Anchor(*bounds))


def place(item: Item, word: str) -> int:
    """The first token that is this word."""
    return next(t for t in range(len(item.passage.tokens)) if item.passage.word(t) == word)


def choice_of(
    item: Item, scores: Mapping[str, float], several: Several | None = None
) -> Choice:
    """A choice whose first word is chosen. scores: of the first token of each word; all
    others are no candidates."""
    laid_out: list[float | None] = [None] * (len(IMPLICIT_KINDS) + len(item.passage.tokens))
    for word, score in scores.items():
        laid_out[len(IMPLICIT_KINDS) + place(item, word)] = score
    return Choice(str(place(item, next(iter(scores)))), None, None, tuple(laid_out), several)


def nouns(item: Item, answer) -> list[list[str]]:
    """The words of each head's mentions, the marked one first."""
    return [[item.passage.word(m.head) for m in head.mentions] for head in answer.heads]
