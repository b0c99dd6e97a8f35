"""What a resolver is asked and what it says; items parsed in batches, and the noun that is
nearest to a number.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Answer, Kind, Passage
from nfh_models.identification.base import in_small_letters
from nfh_models.parsing.base import Parsed, ParseLayer, Parser, ParserError, WordSpan

# What a resolver is asked, what it says, and what it is.
#
# An item is one fused head in its passage. Recipes that need parts of speech or a dependency
# parse name the layers in `needs`; whatever they name is parsed for them, once a passage.


@dataclass(frozen=True, slots=True)
class Item:
    """An anchor in its passage.

    parsed: the tokens [parsed_from, parsed_from + len(parsed.words)) of the passage with the
    layers that were asked for; None while it has none.
    """

    passage: Passage
    anchor: Anchor
    parsed: Parsed | None = None
    parsed_from: int = 0


@dataclass(frozen=True, slots=True)
class Several:
    """How surely a number has one head or several: probabilities, their sum is 1.

    both: several heads joined by AND, the sum of them. either: joined by OR.
    """

    one: float
    both: float
    either: float


@dataclass(frozen=True, slots=True)
class Choice:
    """What a recipe says of an anchor."""

    choice: str
    second: str | None
    """`choice` and `second`: a token index in digits, or a class name."""
    margin: float | None
    """Score of the choice less that of the second; None without a second."""
    scores: tuple[float | None, ...]
    """The six classes in the order of IMPLICIT_KINDS, then one a token of the passage; None for
    what is no candidate: the anchor itself, and tokens outside the window of a recipe that has
    one."""
    several: Several | None = None
    """Where the recipe says how many heads there are."""
    nfh: float | None = None
    """The probability that the number's noun is missing at all, where the recipe says that,
    too."""


@dataclass(frozen=True, slots=True)
class ResolutionExample:
    """An item whose answer is known: what recipes learn from and are judged on."""

    item: Item
    gold: Answer
    """Of kind REFERENCE or one of the six implicit classes."""
    where: str
    """Its place for a person, "line 12" or "anchor 31"."""
    group: str
    """Examples of one group (passage, document) are never on both sides of a split."""
    saw_model: bool = False
    """Whoever gave the label had a model's answer in view."""


class Resolver(Protocol):
    """A recipe of resolution, ready to answer."""

    @property
    def recipe(self) -> str:
        """What it was made by: "nearest-noun", "linear", "bilstm", "encoder", "small"."""
        ...

    @property
    def version(self) -> str:
        """Changes when its answers may."""
        ...

    @property
    def needs(self) -> frozenset[ParseLayer]:
        """The layers that items must have; empty for one that needs no parser."""
        ...

    @property
    def probabilities(self) -> bool:
        """Whether the scores are probabilities over all candidates, and sum to 1."""
        ...

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item, in their order; None where the recipe has nothing to say.

        Only `deterministic` ever has nothing to say. ValueError for an item without what it
        needs.
        """
        ...


# Recipe `nearest-noun`: the closest noun before the anchor, else the closest behind it.
#
# suggest -> featurise -> score -> decide. It always says Reference and never chooses a class,
# but where the passage holds neither noun nor name: then OTHER, the most frequent class.
# Names come behind all nouns: they are seldom the head, and taken for nouns they cost three
# points, but a tagger also takes nouns for names, and those must be there to be picked.
# Measured on the release's development split, Reference examples, any gold mention: 59.1 %.
#
# The scores are ranks made visible, not probabilities: the closest noun before the anchor has
# 1, the second closest 1/2, the third 1/3; behind the anchor half of that: 1/2, 1/4, 1/6.
# Names are scored so among themselves, times half the least score of a noun.

NAME = "nearest-noun"
TASK = "resolution"
VERSION = "2"

REACH = 1_000
"""Tokens on either side of the anchor that are looked at. A passage may be a whole film,
and the farthest head that the releases mark is 151 tokens away."""


def reach(passage: Passage, anchor: Anchor) -> tuple[int, int]:
    """The tokens [start, end) of the passage that need tags for this anchor."""
    return max(0, anchor.start - REACH), min(len(passage.tokens), anchor.end + REACH)


def word_span(passage: Passage, anchor: Anchor) -> WordSpan:
    """The words of `reach`, ready for a tagger."""
    return WordSpan.of(passage, *reach(passage, anchor))


def predict(passage: Passage, anchor: Anchor, tags: Sequence[str]) -> Choice:
    """The whole recipe. tags: a universal part of speech for each token of `reach`."""
    start, end = reach(passage, anchor)
    if len(tags) != end - start:
        raise ValueError(f"{len(tags)} tags for the {end - start} tokens around an anchor")
    candidates: list[int] = []
    scores: list[float] = []
    for tier in suggest(tags, start, anchor):
        below = min(scores, default=2.0) / 2
        candidates += tier
        scores += [below * value for value in score(featurise(tier, anchor))]
    return decide(candidates, scores, len(passage.tokens))


def suggest(tags: Sequence[str], start: int, anchor: Anchor) -> list[list[int]]:
    """Candidate tokens outside the anchor, each list ascending: the nouns, then the names.

    tags: of the tokens from `start` on.
    """
    return [
        [
            token
            for token, tag in enumerate(tags, start)
            if tag == wanted and not anchor.start <= token < anchor.end
        ]
        for wanted in ("NOUN", "PROPN")
    ]


def featurise(candidates: Sequence[int], anchor: Anchor) -> list[int]:
    """The rank by nearness of each candidate: -1, -2 ... before the anchor, 1, 2 ... behind."""
    before = sum(token < anchor.start for token in candidates)
    return [
        place - before if place < before else place - before + 1
        for place in range(len(candidates))
    ]


def score(ranks: Sequence[int]) -> list[float]:
    """1/rank before the anchor, half of that behind it."""
    return [-1.0 / rank if rank < 0 else 0.5 / rank for rank in ranks]


def decide(candidates: Sequence[int], scores: Sequence[float], tokens: int) -> Choice:
    """The best candidate, the second best, and the scores of all.

    Two candidates are equal only on different sides of the anchor: the one before it wins.
    """
    laid_out: list[float | None] = [None] * (len(IMPLICIT_KINDS) + tokens)
    for token, value in zip(candidates, scores, strict=True):
        laid_out[len(IMPLICIT_KINDS) + token] = value
    if not candidates:
        return Choice(Kind.OTHER.value, None, None, tuple(laid_out))
    ranked = sorted(
        zip(scores, candidates, strict=True), key=lambda scored: (-scored[0], scored[1])
    )
    best, choice = ranked[0]
    if len(ranked) == 1:
        return Choice(str(choice), None, None, tuple(laid_out))
    runner_up, second = ranked[1]
    return Choice(str(choice), str(second), best - runner_up, tuple(laid_out))


def parse_of(item: Item, *, dependency: bool = False) -> Parsed:
    """The item's parse. ValueError without one that holds the anchor and has its layers."""
    parsed = item.parsed
    if parsed is None:
        raise ValueError("an item without a parse, for a recipe that needs one")
    size = len(parsed.words)
    if not item.parsed_from <= item.anchor.start < item.anchor.end <= item.parsed_from + size:
        raise ValueError("the parse of an item does not hold its anchor")
    if len(parsed.pos) != size:
        raise ValueError("the parse of an item has no parts of speech")
    if dependency and not len(parsed.heads) == len(parsed.relations) == size:
        raise ValueError("the parse of an item has no dependencies")
    return parsed


def tags_within(item: Item) -> tuple[int, Sequence[str]]:
    """The parts of speech in reach of the anchor that the parse gives, and the token of the
    first of them."""
    parsed = parse_of(item)
    start, end = reach(item.passage, item.anchor)
    start = max(start, item.parsed_from)
    end = min(end, item.parsed_from + len(parsed.words))
    return start, parsed.pos[start - item.parsed_from : end - item.parsed_from]


BATCH = 128
"""Items that are parsed together; what memory holds at a time."""

LARGEST = 4 * BATCH
"""Items of a batch where one passage holds so many: it is not parsed again for the rest."""


Thing = TypeVar("Thing")


def resolved(
    items: Iterable[Item], resolver: Resolver, parser: Parser | None
) -> Iterator[tuple[Item, Choice | None]]:
    """Each item, parsed where the recipe needs it, with its choice; in order, bounded memory.

    parser: None where the resolver needs none, or where every item is parsed already. Raises
    ParserError where a parser is needed and is missing, or gives too little.
    """
    for batch in batches(items):
        ready = parse_items(batch, resolver.needs, parser)
        yield from zip(ready, resolver.resolve(ready), strict=True)


def parsing_items(
    items: Iterable[Item], needs: frozenset[ParseLayer], parser: Parser | None
) -> Iterator[Item]:
    """The same items in order, with parses where they had none and `needs` names layers.

    A passage is parsed once for all of its items that stand in a row. Raises ParserError as
    `parse_items` does.
    """
    for batch in batches(items):
        yield from parse_items(batch, needs, parser)


def parse_items(
    items: Sequence[Item], needs: frozenset[ParseLayer], parser: Parser | None
) -> list[Item]:
    """The same items, parsed together; items of one passage share a parse.

    Of a long passage only the words in reach of its anchors are parsed (`reach`).
    Items that carry a parse keep it. Words in capitals throughout are parsed in small letters.
    Raises ParserError where a parser is needed and is missing, or gives too little.
    """
    waiting = [item for item in items if item.parsed is None]
    if not needs or not waiting:
        return list(items)
    checked = _checked(needs, parser)
    windows = _windows(waiting)
    spans = [(digest, start) for digest, found in windows.items() for start, _ in found]
    passages = {item.passage.digest: item.passage for item in waiting}
    word_spans = [
        WordSpan.of(passages[digest], start, end)
        for digest, found in windows.items()
        for start, end in found
    ]
    parses = dict(zip(spans, _parse(word_spans, checked), strict=True))
    return [item if item.parsed is not None else _with(item, windows, parses) for item in items]


def check_layers(needs: frozenset[ParseLayer], parser: Parser | None) -> None:
    """Raise ParserError unless the parser gives the layers that are needed."""
    if needs:
        _checked(needs, parser)


def _checked(needs: frozenset[ParseLayer], parser: Parser | None) -> Parser:
    wanted = " and ".join(sorted(needs))
    if parser is None:
        raise ParserError(f"the recipe needs {wanted}, and no parser was given: name one")
    missing = needs - parser.layers
    if missing:
        raise ParserError(
            f"{parser.name} gives no {' and no '.join(sorted(missing))}, and the recipe needs "
            f"{wanted}"
        )
    return parser


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in order; those of one passage that stand in a row are in one batch."""
    return batches_of(items, lambda item: item.passage)


def batches_of(
    given: Iterable[Thing], passage_of: Callable[[Thing], Passage]
) -> Iterator[list[Thing]]:
    """The same of anything that has a passage, as examples have."""
    batch: list[Thing] = []
    for item in given:
        ends = len(batch) >= BATCH and passage_of(item) is not passage_of(batch[-1])
        if ends or len(batch) >= LARGEST:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


Windows = dict[str, list[tuple[int, int]]]
"""By passage: the token spans to be parsed, ascending, none touching another."""


def _windows(items: Sequence[Item]) -> Windows:
    wanted: Windows = {}
    for item in items:
        wanted.setdefault(item.passage.digest, []).append(reach(item.passage, item.anchor))
    return {digest: _merged(sorted(spans)) for digest, spans in wanted.items()}


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending spans, those that touch or overlap made one."""
    merged = [spans[0]]
    for start, end in spans[1:]:
        last_start, last_end = merged[-1]
        if start <= last_end:
            merged[-1] = (last_start, max(end, last_end))
        else:
            merged.append((start, end))
    return merged


def _parse(word_spans: Sequence[WordSpan], parser: Parser) -> list[Parsed]:
    readable = [in_small_letters(word_span) for word_span in word_spans]
    return [
        parsed if asked is own else replace(parsed, words=own.words)
        for parsed, asked, own in zip(parser.parse(readable), readable, word_spans, strict=True)
    ]


def _with(item: Item, windows: Windows, parses: dict[tuple[str, int], Parsed]) -> Item:
    digest = item.passage.digest
    start = max(start for start, _ in windows[digest] if start <= item.anchor.start)
    return replace(item, parsed=parses[digest, start], parsed_from=start)
