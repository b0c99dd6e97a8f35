"""What a parser says of a stretch of words, and what a parser is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from nfh_models.errors import ModelsError
from nfh_models.parsing.stretch import Stretch


class ParserError(ModelsError):
    """A parser that is not there, or gives too little; the sentence says what to do."""


class Layer(StrEnum):
    """What a parser may add to words."""

    POS = "part of speech"
    LEMMA = "lemma"
    DEPENDENCY = "dependency"
    CONSTITUENCY = "constituency"


@dataclass(frozen=True, slots=True)
class Tree:
    """A phrase over tokens [start, end) of its stretch.

    label: as in the Penn Treebank, without functions but -TMP ("NP", "NP-TMP", "QP"). A leaf
    is a part-of-speech tag over one token and has no children.
    """

    label: str
    start: int
    end: int
    children: tuple["Tree", ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A stretch with its layers: sequences with one entry a token; empty if not given.

    pos: universal parts of speech ("NOUN"). tags: those of the Penn Treebank ("NNS").
    heads: the index, in the stretch, of the token each one hangs on; a root hangs on itself.
    relations: what each token is to its head, in lower case, as the parser names it: spaCy's
    English models follow ClearNLP ("nummod", "pobj", "dobj"), stanza's Universal Dependencies
    ("nummod", "obl", "obj", "nmod:poss"). trees: one a sentence, in order, which cover
    the tokens; the leaves are labelled as `tags` are.
    """

    words: Sequence[str]
    pos: Sequence[str] = ()
    tags: Sequence[str] = ()
    lemmas: Sequence[str] = ()
    heads: Sequence[int] = ()
    relations: Sequence[str] = ()
    trees: Sequence[Tree] = ()


class Parser(Protocol):
    """Parses words that are tokens already; it never cuts or joins them."""

    @property
    def name(self) -> str:
        """What it is, with its version: "en_core_web_sm 3.8.0"."""
        ...

    @property
    def layers(self) -> frozenset[Layer]:
        """What it gives."""
        ...

    def parse(self, stretches: Iterable[Stretch]) -> Iterator[Parsed]:
        """One parse a stretch, in their order, as they come; an empty one gives an empty one.

        Memory stays bounded by a batch. Raises ParserError for what it cannot parse.
        """
        ...
