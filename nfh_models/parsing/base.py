"""What a parser is and what it says of a span of words; how words are made fit for one, and
which parser is meant by a name.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from nfh_models.domain import Passage
from nfh_models.errors import ModelsError


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Tokens to be parsed. spaces[i]: white space follows token i; the tags depend on it."""

    words: Sequence[str]
    spaces: Sequence[bool]

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
    """A parser that is not there, or gives too little; the sentence says what to do."""


class ParseLayer(StrEnum):
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
    """A stretch with its layers: sequences with one entry a token; empty if not given."""

    words: Sequence[str]
    pos: Sequence[str] = ()
    """Universal parts of speech ("NOUN")."""
    tags: Sequence[str] = ()
    """Those of the Penn Treebank ("NNS")."""
    lemmas: Sequence[str] = ()
    heads: Sequence[int] = ()
    """The index, in the stretch, of the token each one hangs on; a root hangs on itself."""
    relations: Sequence[str] = ()
    """What each token is to its head, in lower case, as the parser names it: spaCy's English
    models follow ClearNLP ("nummod", "pobj", "dobj"), stanza's Universal Dependencies
    ("nummod", "obl", "obj", "nmod:poss")."""
    trees: Sequence[Tree] = ()
    """One a sentence, in order, which cover the tokens; the leaves are labelled as `tags` are.
    """


class Parser(Protocol):
    """Parses words that are tokens already; it never cuts or joins them."""

    @property
    def name(self) -> str:
        """What it is, with its version: "en_core_web_sm 3.8.0"."""
        ...

    @property
    def layers(self) -> frozenset[ParseLayer]:
        """What it gives."""
        ...

    def parse(self, stretches: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse a stretch, in their order, as they come; an empty one gives an empty one.

        Memory stays bounded by a batch. Raises ParserError for what it cannot parse.
        """
        ...


BASIC = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

FORMS = "spacy, spacy:NAME (an installed pipeline, or its folder) or stanza:FOLDER"


def check_spec(spec: str | None) -> None:
    """Raise ParserError for what describes no parser; none is loaded, and none looked for."""
    kind, colon, name = ("spacy" if spec is None else spec).partition(":")
    if not (kind == "spacy" and (name or not colon)) and not (kind == "stanza" and name):
        raise ParserError(f"{spec!r} is no parser: wanted {FORMS}")


def load_parser(spec: str | None = None, wanted: frozenset[ParseLayer] = BASIC) -> Parser:
    """A parser by its description; the first installed spaCy pipeline by default.

    spec: see FORMS. wanted: layers that it must give. Raises ParserError (NoPipelineError
    where no English spaCy pipeline is to be had), whose sentence says what to do.
    """
    check_spec(spec)
    kind, _, name = ("spacy" if spec is None else spec).partition(":")
    if kind == "spacy":
        from nfh_models.parsing.spacy_parser import load_spacy

        return load_spacy(name or None, wanted)
    from nfh_models.parsing.stanza_parser import load_stanza

    return load_stanza(Path(name), wanted)


# Words made fit for a parser: long stretches cut, words without a visible character shown.
#
# Neural parsers need memory that grows with a sentence's length, some with its square, and
# trip over words of nothing but white space or control characters. What they get is cut and
# cleaned here; what they say is put back on the words as they came.

LONGEST_WORD = 100
"""Characters of a word that a parser gets to see; what is longer is no word."""

STAND_IN = "_"
"""What a parser sees instead of a word without a visible character."""

_ENDS = (frozenset({".", "!", "?", "..."}), frozenset({";", ":", "-", "--"}), frozenset({","}))
"""Where a long stretch is rather cut, the best first: behind a sentence, a clause, a comma."""


@dataclass(frozen=True, slots=True)
class ParserPiece:
    """Tokens [start, end) of the stretch with this number, counted from 0."""

    stretch: int
    start: int
    end: int
    words: Sequence[str]


def shown(word: str) -> str:
    """A word as a parser may see it: printable, neither empty nor endless.

    White space at its ends and control characters (NUL among them) are left out.
    """
    if word.isprintable() and 0 < len(word) <= LONGEST_WORD and not word.isspace():
        return word
    seen = "".join(filter(str.isprintable, word[: 2 * LONGEST_WORD])).strip()
    return seen[:LONGEST_WORD] or STAND_IN


def cut(words: Sequence[str], longest: int) -> Iterator[tuple[int, int]]:
    """Token spans [start, end) of at most `longest` tokens that cover the words, in order.

    A cut is made behind a mark in the later half of a piece if there is one, behind a full
    stop rather than a comma; else where the piece is full.
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
    stretches: Iterable[WordSpan], longest: int, size: int
) -> Iterator[tuple[list[WordSpan], list[ParserPiece]]]:
    """Stretches in order, with their pieces, in batches.

    longest: tokens in a piece; size: tokens in a batch, after which no other stretch is added.
    An empty stretch has no piece. A stretch is in one batch with all of its pieces.
    """
    waiting: list[WordSpan] = []
    pieces: list[ParserPiece] = []
    held = 0
    for stretch in stretches:
        words = [shown(word) for word in stretch.words]
        for start, end in cut(words, longest):
            pieces.append(ParserPiece(len(waiting), start, end, words[start:end]))
        waiting.append(stretch)
        held += len(words) + 1
        if held >= size:
            yield waiting, pieces
            waiting, pieces, held = [], [], 0
    if waiting:
        yield waiting, pieces
