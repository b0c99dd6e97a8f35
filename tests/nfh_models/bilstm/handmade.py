"""Passages, examples, vectors and settings of one's own, small enough for a test."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.resolution.bilstm_settings import BilstmSettings, settings_of
from nfh_models.resolution.word_vectors import Vectors, wanted_forms
from nfh_models.text.tokens import lemmas

TINY = (
    "state=6",
    "letters=4",
    "letter_state=3",
    "hidden=8",
    "batch=4",
    "epochs=2",
    "rate=0.02",
    "vectors=file:tiny.txt",
)

SENTENCES: tuple[tuple[str, str | tuple[int, ...]], ...] = (
    ("We have apples . Give me *two* , please .", (2,)),
    ("My son is almost *seven* .", "AGE"),
    ("She was born in *1964* .", "YEAR"),
    ("See you at *nine* tonight .", "TIME"),
    ("Only *three* came to the party .", "PEOPLE"),
    ("It costs *fifty* at the shop .", "CURRENCY"),
    ("Ready ? *three* , go !", "OTHER"),
    ("These tents leak , that *one* does not .", (1,)),
)


def passage_of(words: Sequence[str]) -> Passage:
    text = " ".join(words)
    tokens, at = [], 0
    for word, lemma in zip(words, lemmas(words), strict=True):
        tokens.append(Token(at, at + len(word), lemma))
        at += len(word) + 1
    turns = (Turn(1, None, 0, len(words)),) if words else ()
    return Passage(text, tuple(tokens), turns)


def item_of(sentence: str) -> Item:
    """Words with spaces between them; the anchor's are marked with an asterisk on each side."""
    marked = sentence.split(" ")
    inside = [place for place, word in enumerate(marked) if word.strip("*") != word]
    words = [word.strip("*") for word in marked]
    return Item(passage_of(words), Anchor(inside[0], inside[-1] + 1))


def example_of(sentence: str, gold: str | tuple[int, ...] | Answer) -> ResolutionExample:
    """gold: a class, the head tokens of one head, or an answer."""
    answer = gold if isinstance(gold, Answer) else None
    if isinstance(gold, str):
        answer = class_answer(Kind(gold))
    elif answer is None:
        answer = reference_answer([[Mention(at, at + 1, at) for at in gold]])
    return ResolutionExample(item_of(sentence), answer, f"line {sentence}", sentence)


def examples() -> list[ResolutionExample]:
    return [example_of(sentence, gold) for sentence, gold in SENTENCES]


def settings(*given: str) -> BilstmSettings:
    return settings_of([*TINY, *given])


def vectors(examples: Sequence[ResolutionExample], width: int = 5) -> Vectors:
    """Numbers by chance for every word but "leak"."""
    passages = [example.item.passage for example in examples]
    said = {one.word(i) for one in passages for i in range(len(one.tokens))}
    words = tuple(sorted(wanted_forms(said) - {"leak"}))
    chance = np.random.default_rng(1)
    table = chance.normal(size=(len(words), width)).astype(np.float16).astype(np.float32)
    return Vectors(words, table, "file:tiny.txt")


def glove(folder: Path, words: Sequence[str], width: int = 3) -> Path:
    """A file as GloVe writes them; word number n has the numbers n, n + 0.5, n + 1 ..."""
    path = folder / "glove.txt"
    lines = [
        " ".join([word, *(f"{number + place / 2}" for place in range(width))])
        for number, word in enumerate(words)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
