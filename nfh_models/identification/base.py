"""Records and protocol of identification; cases from passages and from plain text; decisions in
batches; the recipes by name.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeVar

from nfh_models import ModelsError
from nfh_models.domain import Anchor, Passage, Turn
from nfh_models.parsing.base import Parsed, ParseLayer, Parser, ParserError, WordSpan
from nfh_models.text.numbers import find_numbers, may_hold_number
from nfh_models.text.sentences import sentence_spans
from nfh_models.text.tokens import plain_words, spans


@dataclass(frozen=True, slots=True)
class SentenceNumber:
    """A number in a sentence: tokens [start, end) of `word_span`. Called a case for short.

    parsed: the sentence with the layers that the recipe needs; None before it is parsed.
    """

    word_span: WordSpan
    start: int
    end: int
    parsed: Parsed | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a number is a fused head, and why."""

    nfh: bool
    rule: str
    """The name of the rule that decided, as in RULES of `rules`, or had a part in it; the
    recipe's own name for recipes without rules.
    """
    score: float | None = None
    """Above 0 for an NFH; its absolute value is the confidence. None where a rule decided."""
    weights: tuple[tuple[str, float], ...] = ()
    """The largest feature weights, strongest first; the score is the sum of all weights and the
    bias.
    """


class Identifier(Protocol):
    """A recipe of identification, ready to decide."""

    @property
    def recipe(self) -> str:
        """ "rules", "svm", "encoder", "small" or "joint"."""

    @property
    def version(self) -> str:
        """Changes when its decisions may."""

    @property
    def needs(self) -> frozenset[ParseLayer]:
        """The layers that cases must have; empty for a recipe without a parser."""

    @property
    def uses(self) -> frozenset[ParseLayer]:
        """The layers that it uses where the parser gives them; a superset of `needs`."""

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        """A decision for each case. Raises ValueError for a case without the layers it
        needs.
        """


Span = tuple[int, int]
Thing = TypeVar("Thing")


def cases_of(passage: Passage, anchors: Iterable[Anchor]) -> Iterator[SentenceNumber]:
    """A case for each anchor of a passage, in the order given.

    Anchors of one sentence share its word span. An anchor that crosses the end of a sentence or
    turn gets all sentences that it touches. The Penn Treebank's stand-ins for quotes and
    brackets are replaced by the signs.
    """
    known: dict[Span, WordSpan] = {}
    cut: dict[int, list[int]] = {}
    for anchor in anchors:
        start = _around(passage, cut, anchor.start)[0]
        end = _around(passage, cut, anchor.end - 1)[1]
        word_span = known.get((start, end))
        if word_span is None:
            found = WordSpan.of(passage, start, end)
            word_span = known[start, end] = WordSpan(plain_words(found.words), found.spaces)
        yield SentenceNumber(word_span, anchor.start - start, anchor.end - start)


def _around(passage: Passage, cut: dict[int, list[int]], token: int) -> Span:
    """The token span of the sentence of a token; `cut` caches the sentences of turns."""
    turn = passage.turn_of(token)
    if turn not in cut:
        cut[turn] = _bounds(passage, passage.turns[turn])
    bounds = cut[turn]
    place = bisect_right(bounds, token)
    return bounds[place - 1], bounds[place]


def _bounds(passage: Passage, turn: Turn) -> list[int]:
    """The first token of each sentence of a turn, and the end of the last."""
    tokens = passage.tokens
    starts = [token.start for token in tokens[turn.start : turn.end]]
    bounds = [turn.start]
    for _, end in sentence_spans(passage.text, starts[0], tokens[turn.end - 1].end):
        behind = turn.start + bisect_left(starts, end)
        if behind > bounds[-1]:
            bounds.append(behind)
    if bounds[-1] < turn.end:
        bounds.append(turn.end)
    return bounds


BATCH = 512
"""Cases decided together; it bounds the memory."""

LEAST_CAPITALS = 2
"""Words of two or more letters that show a sentence to be in capitals throughout."""


def decide(
    cases: Iterable[SentenceNumber], identifier: Identifier, parser: Parser | None
) -> Iterator[tuple[SentenceNumber, Decision]]:
    """Each case, parsed, with its decision, in order and in bounded memory.

    parser: None where the identifier needs none, or where every case is parsed. Cases that have
    a parse keep it. Raises ParserError for a parser that does not give what the identifier
    needs, and where a parser is needed and there is none.
    """
    check_layers(identifier, parser)
    for given in batches_of(cases, lambda case: case.word_span, BATCH):
        batch = given
        if identifier.needs and parser is not None:
            batch = parse_cases(given, parser)
        elif identifier.needs and any(case.parsed is None for case in given):
            raise ParserError(
                f"the recipe {identifier.recipe} needs "
                f"{' and '.join(sorted(identifier.needs))}, but has no parser: name one with "
                "--parser"
            )
        yield from zip(batch, identifier.decide(batch), strict=True)


def batches_of(
    given: Iterable[Thing], source_of: Callable[[Thing], object], size: int
) -> Iterator[list[Thing]]:
    """Things in order, in batches of at least `size`; consecutive ones of one source together.

    A batch has at most four times `size`, for a source of so many things; its parse is reused.
    """
    batch: list[Thing] = []
    for thing in given:
        ends = len(batch) >= size and source_of(thing) is not source_of(batch[-1])
        if ends or len(batch) >= 4 * size:
            yield batch
            batch = []
        batch.append(thing)
    if batch:
        yield batch


def check_layers(identifier: Identifier, parser: Parser | None) -> None:
    """Raise ParserError unless the parser gives what the identifier needs."""
    given = frozenset() if parser is None else parser.layers
    missing = identifier.needs - given
    if missing and parser is not None:
        raise ParserError(
            f"{parser.name} gives no {' and no '.join(sorted(missing))}; "
            f"the recipe {identifier.recipe} needs it"
        )


def parse_cases(cases: Sequence[SentenceNumber], parser: Parser) -> list[SentenceNumber]:
    """The cases with their sentences parsed; cases of one word span share its parse.

    A sentence in capitals is parsed in lower case, since parsers take capitals for names.
    """
    places: dict[int, int] = {}
    word_spans: list[WordSpan] = []
    for case in cases:
        if case.parsed is None and id(case.word_span) not in places:
            places[id(case.word_span)] = len(word_spans)
            word_spans.append(case.word_span)
    parsed = parse_readable(word_spans, parser)
    return [
        case
        if case.parsed is not None
        else replace(case, parsed=parsed[places[id(case.word_span)]])
        for case in cases
    ]


def parse_readable(word_spans: Sequence[WordSpan], parser: Parser) -> list[Parsed]:
    """The parses of word spans; those in capitals throughout are parsed in lower case."""
    readable = [in_small_letters(word_span) for word_span in word_spans]
    return [
        given if asked is own else replace(given, words=own.words)
        for given, asked, own in zip(parser.parse(readable), readable, word_spans, strict=True)
    ]


def in_small_letters(word_span: WordSpan) -> WordSpan:
    """A sentence in capitals throughout, in lower case; any other unchanged."""
    words = word_span.words
    longer = sum(len(word) > 1 and word.isupper() for word in words)
    if longer < LEAST_CAPITALS or not "".join(words).isupper():
        return word_span
    return WordSpan([word.lower() for word in words], word_span.spaces)


@dataclass(frozen=True, slots=True)
class Example:
    """A number with its label."""

    case: SentenceNumber
    nfh: bool
    where: str
    """Its location for people, "line 12" or "anchor 31"."""
    group: str
    """Passage or document: examples of one group are never on both sides of a split."""
    saw_model: bool = False
    """Whoever gave the label saw a model's answer, so that models may look better on it."""
    passage: Passage | None = field(default=None, compare=False, repr=False)
    """The passage of the number, where it is known."""


def numbers_of(passage: Passage, *, spaced_out: bool) -> Iterator[Anchor]:
    """Every number of a passage that an annotator could judge, in order, not overlapping.

    spaced_out: the tokens are from a file that may have white space around every token; if no
    two tokens of the passage touch, it is unknown which hyphens join.
    """
    tokens = passage.tokens
    touching = [False, *(left.end == right.start for left, right in pairwise(tokens))]
    known = not spaced_out or any(touching)
    for turn in passage.turns:
        words = [passage.word(place) for place in range(turn.start, turn.end)]
        glued = [False, *touching[turn.start + 1 : turn.end]] if known else None
        for start, end in find_numbers(words, glued):
            yield Anchor(turn.start + start, turn.start + end)


# --- cases from plain text: for `identify`, `scan` and statistics over text -----------------


@dataclass(frozen=True, slots=True)
class TextCase:
    """A number of a text: code points [start, end) of it, and its case."""

    case: SentenceNumber
    start: int
    end: int


def sentences_of_text(text: str, *, per_line: bool = False) -> Iterator[Span]:
    """Code points [start, end) of the sentences.

    per_line: each line is a text of its own. Otherwise a line break inside a paragraph is white
    space, and an empty line ends a sentence.
    """
    if not per_line:
        yield from sentence_spans(text)
        return
    for start, end in _lines(text):
        yield from sentence_spans(text, start, end)


def cases_of_sentences(text: str, sentences: Iterable[Span]) -> Iterator[TextCase]:
    """The numbers of some sentences of a text, in order; those of one sentence share a word
    span. Only sentences that may hold a number are tokenized.
    """
    for start, end in sentences:
        if may_hold_number(text[start:end]):
            yield from _cases(text, start, end)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _cases(text: str, start: int, end: int) -> Iterator[TextCase]:
    tokens = [(start + first, start + last) for first, last in spans(text[start:end])]
    words = [text[first:last] for first, last in tokens]
    glued = [i > 0 and tokens[i - 1][1] == tokens[i][0] for i in range(len(tokens))]
    numbers = find_numbers(words, glued)
    if not numbers:
        return
    word_span = WordSpan(
        plain_words(words), [text[last : last + 1].isspace() for _, last in tokens]
    )
    for first, last in numbers:
        yield TextCase(
            SentenceNumber(word_span, first, last), tokens[first][0], tokens[last - 1][1]
        )


RULES = "rules"
SVM = "svm"
ENCODER = "encoder"
SMALL = "small"
JOINT = "joint"

TRAINED = (SVM,)
"""Recipes that `retrain identification` can fit."""


class IdentificationRecipeError(ModelsError):
    """An unknown recipe, or one that cannot be used as requested; the message says what can."""


def load_identifier(recipe: str, folder: Path | None = None) -> Identifier:
    """An identifier ready to decide.

    folder: the model directory of a trained recipe; `small` without a folder is the bundled
    model, which is a part of `joint`, too. Raises IdentificationRecipeError for an unknown
    name, a trained recipe without a folder, and a network without torch; ModelFileError for a
    damaged folder.
    """
    if recipe == RULES:
        from nfh_models.identification.rules import Rules

        return Rules()
    if recipe == SVM and folder is not None:
        from nfh_models.identification.svm import load_svm

        return load_svm(folder)
    if recipe == JOINT:
        from nfh_models.identification.rules import Joint
        from nfh_models.model_files import packaged_folder, read_config

        small = packaged_folder(SMALL)
        return Joint(_network(recipe, small), read_config(small).created_at)
    if recipe == SMALL or (recipe == ENCODER and folder is not None):
        return _network(recipe, folder)
    if recipe in (SVM, ENCODER):
        task = "identification" if recipe == SVM else "both"
        raise IdentificationRecipeError(
            f"the recipe {recipe} has no model yet: `nfh-tui retrain {task} --recipe {recipe}` "
            "makes one"
        )
    raise IdentificationRecipeError(
        f"{recipe!r} is not a recipe of identification: use {RULES}, {SVM}, {ENCODER}, "
        f"{SMALL} or {JOINT}"
    )


def _network(recipe: str, folder: Path | None) -> Identifier:
    try:
        from nfh_models.encoder import load_encoder
        from nfh_models.model_files import packaged_folder

        return load_encoder(packaged_folder(recipe) if folder is None else folder)
    except ModuleNotFoundError as error:
        raise IdentificationRecipeError(
            f"the recipe {recipe} needs {error.name}, which is not installed here; {RULES} "
            "works without"
        ) from error
