"""Passages made out of others: parts of them, with words replaced or left out.

Their tokens are parted by one space.
"""

from collections.abc import Sequence

from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.resolution.item import Item
from nfh_models.text.lemmas import lemmas

BEFORE = 40
AFTER = 20
"""Words that are kept around a number of a dialog: as many as the passages of the release
have."""


def words_of(passage: Passage) -> list[str]:
    """The words of a passage, in its order."""
    return [passage.word(place) for place in range(len(passage.tokens))]


def near(item: Item) -> Item:
    """An anchor in the words around it."""
    start = max(0, item.anchor.start - BEFORE)
    end = min(len(item.passage.tokens), item.anchor.end + AFTER)
    return cut(item, words_of(item.passage), start, end)


def cut(item: Item, words: Sequence[str], start: int, end: int) -> Item:
    """An anchor in tokens [start, end) of its passage alone. words: of the whole passage, in
    the place of its own."""
    passage = item.passage
    new = [place for place in range(start, end) if words[place] != passage.word(place)]
    known = {place: passage.tokens[place].lemma for place in range(start, end)}
    known |= dict(zip(new, lemmas([words[place] for place in new]), strict=True))
    turns = tuple(
        Turn(
            turn.number,
            turn.speaker,
            max(turn.start, start) - start,
            min(turn.end, end) - start,
        )
        for turn in passage.turns
        if turn.start < end and turn.end > start
    )
    made = _spelled(words[start:end], [known[place] for place in range(start, end)], turns)
    anchor = Anchor(item.anchor.start - start, item.anchor.end - start)
    return Item(made, anchor)


def without(item: Item, start: int, end: int) -> Item:
    """An anchor in its passage without tokens [start, end), which stand behind it in its own
    turn."""
    passage, gone = item.passage, end - start
    words = words_of(passage)
    lemmas_ = [token.lemma for token in passage.tokens]
    at = passage.turn_of(item.anchor.start)
    turns = tuple(
        Turn(
            turn.number,
            turn.speaker,
            turn.start - gone * (number > at),
            turn.end - gone * (number >= at),
        )
        for number, turn in enumerate(passage.turns)
    )
    kept = [*words[:start], *words[end:]]
    made = _spelled(kept, [*lemmas_[:start], *lemmas_[end:]], turns)
    return Item(made, item.anchor)


def _spelled(words: Sequence[str], known: Sequence[str], turns: tuple[Turn, ...]) -> Passage:
    """Words parted by one space, with their lemmas."""
    tokens: list[Token] = []
    at = 0
    for word, lemma in zip(words, known, strict=True):
        tokens.append(Token(at, at + len(word), lemma))
        at += len(word) + 1
    return Passage(" ".join(words), tuple(tokens), turns)
