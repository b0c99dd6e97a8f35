"""The parser protocol and its records, splitting of long input, and the choice of a parser by
name.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from nfh_models import ModelsError
from nfh_models.domain import Passage


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Tokens to be parsed."""

    words: Sequence[str]
    spaces: Sequence[bool]
    """spaces[i]: white space follows token i; the tags depend on it."""

    @classmethod
    def of(cls, passage: Passage, start: int = 0, end: int | None = None) -> "WordSpan":
        """Tokens [start, end) of a passage; all of them by default."""
        tokens = passage.tokens[start:end]
        text = passage.text
        return cls(
            [text[token.start : token.end] for token in tokens],
            [text[token.end : token.end + 1].isspace() for token in tokens],
        )


class ParserError(ModelsError):
    """A parser that is missing or gives too little; the message says what to do."""


class ParseLayer(StrEnum):
    """What a parser may add to words."""

    POS = "part of speech"
    LEMMA = "lemma"
    DEPENDENCY = "dependency"
    CONSTITUENCY = "constituency"


@dataclass(frozen=True, slots=True)
class Tree:
    """A phrase over tokens [start, end) of its span.

    label: as in the Penn Treebank, without functions but -TMP ("NP", "NP-TMP", "QP"). A leaf is
    a part-of-speech tag over one token and has no children.
    """

    label: str
    start: int
    end: int
    children: tuple["Tree", ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A word span with its layers: sequences with one entry for each token; empty if
    not given.
    """

    words: Sequence[str]
    pos: Sequence[str] = ()
    """Universal parts of speech ("NOUN")."""
    tags: Sequence[str] = ()
    """Tags of the Penn Treebank ("NNS")."""
    lemmas: Sequence[str] = ()
    heads: Sequence[int] = ()
    """The index, in the span, of each token's head; a root is its own head."""
    relations: Sequence[str] = ()
    """Dependency relations in lower case, as the parser names them: spaCy's English models
    follow ClearNLP ("nummod", "pobj", "dobj"), stanza's follow Universal Dependencies
    ("nummod", "obl", "obj", "nmod:poss").
    """
    trees: Sequence[Tree] = ()
    """One for each sentence, in order; together they cover the tokens, and leaves are labelled
    as in `tags`.
    """


class Parser(Protocol):
    """Parses words that are already tokens; it never splits or joins them."""

    @property
    def name(self) -> str:
        """The parser with its version: "en_core_web_sm 3.8.0"."""

    @property
    def layers(self) -> frozenset[ParseLayer]:
        """The layers that it gives."""

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse for each span, in order, lazily; an empty span gives an empty parse.

        Memory is bounded by a batch. Raises ParserError for what it cannot parse.
        """


BASIC = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

FORMS = "spacy, spacy:NAME (an installed pipeline, or its folder) or stanza:FOLDER"


def check_spec(spec: str | None) -> None:
    """Raise ParserError for a malformed description; no parser is loaded or looked for."""
    kind, colon, name = ("spacy" if spec is None else spec).partition(":")
    if not (kind == "spacy" and (name or not colon)) and not (kind == "stanza" and name):
        raise ParserError(f"{spec!r} is not a parser: wanted {FORMS}")


def load_parser(spec: str | None = None, wanted: frozenset[ParseLayer] = BASIC) -> Parser:
    """A parser by its description; by default the first installed spaCy pipeline.

    spec: see FORMS. wanted: layers that it must give. Raises ParserError (NoPipelineError
    without an English spaCy pipeline), whose message says what to do.
    """
    check_spec(spec)
    kind, _, name = ("spacy" if spec is None else spec).partition(":")
    if kind == "spacy":
        from nfh_models.parsing.spacy_parser import load_spacy

        return load_spacy(name or None, wanted)
    from nfh_models.parsing.stanza_parser import load_stanza

    return load_stanza(Path(name), wanted)


# Input for parsers: long word spans are cut, and words without a visible character replaced.
#
# The memory of neural parsers grows with the length of a sentence, of some with its square, and
# words of nothing but white space or control characters break them. Their output is assigned to
# the original words.

LONGEST_WORD = 100
"""Characters of a word given to a parser; no real word is longer."""

STAND_IN = "_"
"""Given to a parser in place of a word without a visible character."""

_ENDS = (frozenset({".", "!", "?", "..."}), frozenset({";", ":", "-", "--"}), frozenset({","}))
"""Marks after which a long span is preferably cut, best first: sentence, clause, comma."""


@dataclass(frozen=True, slots=True)
class ParserPiece:
    """Tokens [start, end) of the word span with index `span`."""

    span: int
    start: int
    end: int
    words: Sequence[str]


def printable(word: str) -> str:
    """A word as a parser may see it: printable, not empty, of bounded length.

    White space at its ends and control characters (NUL among them) are removed.
    """
    if word.isprintable() and 0 < len(word) <= LONGEST_WORD and not word.isspace():
        return word
    seen = "".join(filter(str.isprintable, word[: 2 * LONGEST_WORD])).strip()
    return seen[:LONGEST_WORD] or STAND_IN


def cut(words: Sequence[str], longest: int) -> Iterator[tuple[int, int]]:
    """Token spans [start, end) of at most `longest` tokens that cover the words, in order.

    A cut is made after a mark in the second half of a piece if there is one, rather after a
    full stop than after a comma; else where the piece is full.
    """
    start = 0
    while len(words) - start > longest:
        end = _cut_after(words, start, start + longest)
        yield start, end
        start = end
    if start < len(words):
        yield start, len(words)


def _cut_after(words: Sequence[str], start: int, limit: int) -> int:
    for marks in _ENDS:
        for place in range(limit - 1, (start + limit - 1) // 2, -1):
            if words[place] in marks:
                return place + 1
    return limit


def in_pieces(
    word_spans: Iterable[WordSpan],
    longest: int,
    size: int,
    parse: Callable[[Sequence[ParserPiece], Sequence[WordSpan]], Iterable[Parsed]],
) -> Iterator[Parsed]:
    """One parse for each span, in order, joined from those of its pieces.

    longest, size: as in `batches`. parse: gives the parse of each piece of a group, with heads
    counted from the begin of the piece and trees from that of the span; it gets the spans of
    the batch, too.
    """
    for waiting, pieces in batches(word_spans, longest, size):
        parts: list[list[Parsed]] = [[] for _ in waiting]
        for group in groups(pieces, size):
            for piece, parsed in zip(group, parse(group, waiting), strict=True):
                parts[piece.span].append(parsed)
        for word_span, found in zip(waiting, parts, strict=True):
            yield _joined(word_span.words, found)


def _joined(words: Sequence[str], parts: Sequence[Parsed]) -> Parsed:
    """The parses of a span's pieces as one, with the words as they came."""
    starts = accumulate((len(part.words) for part in parts), initial=0)
    return Parsed(
        words,
        [tag for part in parts for tag in part.pos],
        [tag for part in parts for tag in part.tags],
        [lemma for part in parts for lemma in part.lemmas],
        [
            start + head
            for start, part in zip(starts, parts, strict=False)
            for head in part.heads
        ],
        [relation for part in parts for relation in part.relations],
        [tree for part in parts for tree in part.trees],
    )


def groups(pieces: Iterable[ParserPiece], size: int) -> Iterator[list[ParserPiece]]:
    """Pieces in order, in groups of at most `size` tokens (or of one piece)."""
    held: list[ParserPiece] = []
    tokens = 0
    for piece in pieces:
        if held and tokens + len(piece.words) > size:
            yield held
            held, tokens = [], 0
        held.append(piece)
        tokens += len(piece.words)
    if held:
        yield held


def batches(
    word_spans: Iterable[WordSpan], longest: int, size: int
) -> Iterator[tuple[list[WordSpan], list[ParserPiece]]]:
    """Word spans in order, with their pieces, in batches.

    longest: tokens in a piece. size: tokens in a batch, after which no span is added. An empty
    span has no piece. All pieces of a span are in one batch.
    """
    waiting: list[WordSpan] = []
    pieces: list[ParserPiece] = []
    held = 0
    for word_span in word_spans:
        words = [printable(word) for word in word_span.words]
        for start, end in cut(words, longest):
            pieces.append(ParserPiece(len(waiting), start, end, words[start:end]))
        waiting.append(word_span)
        held += len(words) + 1
        if held >= size:
            yield waiting, pieces
            waiting, pieces, held = [], [], 0
    if waiting:
        yield waiting, pieces
