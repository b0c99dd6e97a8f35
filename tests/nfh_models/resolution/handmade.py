"""Items, parses and examples out of plain words."""

import random
from collections.abc import Iterable, Iterator

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
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan
from nfh_models.resolution.base import Item, ResolutionExample


def item_of(written: str, *, parsed: bool = True) -> Item:
    """An item out of "word/POS/relation/head" tokens; turns are parted by "|".

    The number stands in "[" and "]". What is left out is X, dep, and a root.
    """
    rows: list[list[str]] = []
    turns: list[Turn] = []
    marks: dict[str, int] = {}
    begin = 0
    for part in written.split():
        if part in "[]":
            marks[part] = len(rows)
        elif part == "|":
            turns.append(Turn(len(turns), "AB"[len(turns) % 2], begin, len(rows)))
            begin = len(rows)
        else:
            given = part.split("/")
            rows.append([*given, *["X", "dep", str(len(rows))][len(given) - 1 :]])
    turns.append(Turn(len(turns), "AB"[len(turns) % 2], begin, len(rows)))
    passage = passage_of([row[0] for row in rows], turns)
    return Item(passage, Anchor(marks["["], marks["]"]), _parse(rows) if parsed else None)


def passage_of(words: list[str], turns: list[Turn]) -> Passage:
    """A passage with one space between words; lemmas are the words without -s."""
    tokens = []
    place = 0
    for word in words:
        tokens.append(Token(place, place + len(word), word.lower().rstrip("s") or word))
        place += len(word) + 1
    return Passage(" ".join(words), tuple(tokens), tuple(turns))


def _parse(rows: list[list[str]]) -> Parsed:
    words, pos, relations, heads = zip(*rows, strict=True)
    tags = [
        "NNS" if p == "NOUN" and w.endswith("s") else p for w, p in zip(words, pos, strict=True)
    ]
    return Parsed(words, pos, tags, heads=list(map(int, heads)), relations=relations)


def reference(*tokens: int) -> Answer:
    """A Reference with one head, mentioned at these tokens."""
    return reference_answer([[Mention(token, token + 1, token) for token in tokens]])


NOUNS = "cups boats keys goats".split()
YEARS = "1950 1984 1996 2003".split()


def example(number: int, draw: random.Random, kinds: str = "heads years") -> ResolutionExample:
    """One that can be learnt: "We had two cups ... [ three ]", or "It was in [ 1950 ]"."""
    if draw.choice(kinds.split()) == "heads":
        noun, other = draw.sample(NOUNS, 2)
        written = (
            f"The/DET/det/1 {other}/NOUN/nsubj/2 saw/VERB/root/2 two/NUM/nummod/4 "
            f"{noun}/NOUN/dobj/2 | I/PRON/nsubj/6 want/VERB/root/6 "
            f"[ {draw.choice(['three', 'one'])}/NUM/dobj/6 ] ./PUNCT/punct/6"
        )
        gold = reference(4)
    else:
        written = (
            f"The/DET/det/1 {draw.choice(NOUNS)}/NOUN/nsubj/2 came/VERB/root/2 in/ADP/prep/2 "
            f"[ {draw.choice(YEARS)}/NUM/pobj/3 ] ./PUNCT/punct/2"
        )
        gold = class_answer(Kind.YEAR)
    return ResolutionExample(item_of(written), gold, f"line {number}", f"passage {number}")


def examples(
    count: int = 60, seed: int = 1, kinds: str = "heads years"
) -> list[ResolutionExample]:
    """Examples that can be learnt."""
    draw = random.Random(seed)
    return [example(number, draw, kinds) for number in range(count)]


class WordParser:
    """Takes words in -s for nouns and all others for X; remembers what it was asked."""

    name = "words 1.0"
    layers = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse a stretch; each token is a root."""
        for word_span in word_spans:
            self.asked.append(list(word_span.words))
            size = len(word_span.words)
            pos = ["NOUN" if word.endswith("s") else "X" for word in word_span.words]
            yield Parsed(
                word_span.words, pos, pos, heads=list(range(size)), relations=["root"] * size
            )
