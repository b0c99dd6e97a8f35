"""Records and protocol of resolution; items parsed in batches; and the recipe `nearest-noun` in
its default form.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Answer, Kind, Passage
from nfh_models.identification.base import batches_of, parse_readable
from nfh_models.parsing.base import Parsed, ParseLayer, Parser, ParserError, WordSpan


@dataclass(frozen=True, slots=True)
class Item:
    """An anchor in its passage."""

    passage: Passage
    anchor: Anchor
    parsed: Parsed | None = None
    parsed_from: int = 0
    """`parsed` holds the tokens [parsed_from, parsed_from + len(parsed.words)) of the passage,
    with the layers that the recipe needs; None before it is parsed.
    """


@dataclass(frozen=True, slots=True)
class Several:
    """Probabilities that a number has one head or several; their sum is 1."""

    one: float
    both: float
    """Several heads joined by AND: their sum."""
    either: float
    """Several heads joined by OR."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The result of a recipe for an anchor."""

    choice: str
    second: str | None
    """`choice` and `second`, the best and second-best candidate: a token index in digits, or a
    class name.
    """
    margin: float | None
    """Score of the choice minus that of the second; None without a second."""
    scores: tuple[float | None, ...]
    """Of the six classes in the order of IMPLICIT_KINDS, then of each token of the passage.
    None for what is no candidate: the anchor itself, and tokens outside the recipe's window.
    """
    several: Several | None = None
    """None where the recipe does not predict the number of heads."""
    nfh: float | None = None
    """The probability that the number is a fused head; None where the recipe does not predict
    it.
    """


@dataclass(frozen=True, slots=True)
class ResolutionExample:
    """An item with a known answer."""

    item: Item
    gold: Answer
    """Of kind REFERENCE or one of the six implicit classes."""
    where: str
    """Its location for people, "line 12" or "anchor 31"."""
    group: str
    """Passage or document: examples of one group are never on both sides of a split."""
    saw_model: bool = False
    """Whoever gave the label saw a model's answer."""

    @property
    def passage(self) -> Passage:
        return self.item.passage


class Resolver(Protocol):
    """A recipe of resolution, ready to choose."""

    @property
    def recipe(self) -> str:
        """ "nearest-noun", "linear", "bilstm", "encoder", "small" and so on."""

    @property
    def version(self) -> str:
        """Changes when its choices may."""

    @property
    def needs(self) -> frozenset[ParseLayer]:
        """The layers that items must have; empty for a recipe without a parser."""

    @property
    def probabilities(self) -> bool:
        """Whether the scores are probabilities over all candidates, which sum to 1."""

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice for each item, in their order; None where the recipe abstains.

        Only `deterministic` abstains. Raises ValueError for an item without the layers it
        needs.
        """


# --- recipe `nearest-noun`: the closest noun before the anchor, else the closest after it ---
#
# suggest -> featurise -> score -> decide. It always chooses Reference, except in passages
# without nouns and names: then OTHER, the most frequent class. Names rank behind all nouns:
# they are seldom the head, and counting them as nouns costs three points, but taggers take some
# nouns for names. On the release's development split, Reference examples, any gold mention:
# 59.1 %.
#
# The scores are ranks, not probabilities: the closest noun before the anchor has 1, the second
# closest 1/2, the third 1/3; after the anchor half of that: 1/2, 1/4, 1/6. Names are scored in
# the same way, times half the lowest score of a noun.

NAME = "nearest-noun"
TASK = "resolution"
VERSION = "2"

REACH = 1_000
"""Tokens on either side of the anchor that are considered. A passage may be a whole film, and
the farthest head that the releases mark is 151 tokens away.
"""


def tag_span(passage: Passage, anchor: Anchor) -> tuple[int, int]:
    """The tokens [start, end) of the passage that need tags for this anchor."""
    return max(0, anchor.start - REACH), min(len(passage.tokens), anchor.end + REACH)


def word_span(passage: Passage, anchor: Anchor) -> WordSpan:
    """The words of `tag_span`, for a tagger."""
    return WordSpan.of(passage, *tag_span(passage, anchor))


def predict(passage: Passage, anchor: Anchor, tags: Sequence[str]) -> Choice:
    """The recipe `nearest-noun`. tags: a part of speech for each token of `tag_span`."""
    start, end = tag_span(passage, anchor)
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
    """The rank of each candidate by nearness: -1, -2, ... before the anchor, 1, 2, ... after
    it.
    """
    before = sum(token < anchor.start for token in candidates)
    return [
        place - before if place < before else place - before + 1
        for place in range(len(candidates))
    ]


def score(ranks: Sequence[int]) -> list[float]:
    """1 / rank before the anchor, half of that after it."""
    return [-1.0 / rank if rank < 0 else 0.5 / rank for rank in ranks]


def decide(candidates: Sequence[int], scores: Sequence[float], tokens: int) -> Choice:
    """The best candidate, the second best, and the scores of all.

    Candidates have equal scores only on different sides of the anchor; the one before it wins.
    """
    if not candidates:
        scores_of_none = (None,) * (len(IMPLICIT_KINDS) + tokens)
        return Choice(Kind.OTHER.value, None, None, scores_of_none)
    ranked = sorted(zip(candidates, scores, strict=True))
    return choice_of({len(IMPLICIT_KINDS) + token: value for token, value in ranked}, tokens)


def choice_of(scores: Mapping[int, float], tokens: int) -> Choice:
    """The candidate with the highest score, the second, and the scores of all.

    scores: by place in `Choice.scores`; of equals the first wins. tokens: of the passage.
    """
    laid_out = tuple(scores.get(place) for place in range(len(IMPLICIT_KINDS) + tokens))
    best, *others = sorted(scores, key=lambda place: -scores[place])
    if not others:
        return Choice(name_of(best), None, None, laid_out)
    return Choice(name_of(best), name_of(others[0]), scores[best] - scores[others[0]], laid_out)


def name_of(place: int) -> str:
    """The class or token at a place of `Choice.scores`, as a Choice names it."""
    token = place - len(IMPLICIT_KINDS)
    return IMPLICIT_KINDS[place].value if token < 0 else str(token)


def parse_of(item: Item, *, dependency: bool = False) -> Parsed:
    """The item's parse. Raises ValueError unless it holds the anchor and has the layers."""
    parsed = item.parsed
    if parsed is None:
        raise ValueError("an item without a parse, for a recipe that needs one")
    size = len(parsed.words)
    if not item.parsed_from <= item.anchor.start < item.anchor.end <= item.parsed_from + size:
        raise ValueError("the parse of an item lacks its anchor")
    if len(parsed.pos) != size:
        raise ValueError("the parse of an item has no parts of speech")
    if dependency and not len(parsed.heads) == len(parsed.relations) == size:
        raise ValueError("the parse of an item has no dependencies")
    return parsed


def tags_within(item: Item) -> tuple[int, Sequence[str]]:
    """The index of the first tagged token in reach of the anchor, and the tags from
    there on.
    """
    parsed = parse_of(item)
    start, end = tag_span(item.passage, item.anchor)
    start = max(start, item.parsed_from)
    end = min(end, item.parsed_from + len(parsed.words))
    return start, parsed.pos[start - item.parsed_from : end - item.parsed_from]


BATCH = 128
"""Items parsed together; it bounds the memory."""


def resolve_items(
    items: Iterable[Item], resolver: Resolver, parser: Parser | None
) -> Iterator[tuple[Item, Choice | None]]:
    """Each item, parsed where the recipe needs it, with its choice; in order and in bounded
    memory.

    parser: None where the resolver needs none, or where every item is parsed. Raises
    ParserError where a parser is needed and is missing, or gives too little.
    """
    for batch in batches(items):
        ready = parse_items(batch, resolver.needs, parser)
        yield from zip(ready, resolver.resolve(ready), strict=True)


def parsing_items(
    items: Iterable[Item], needs: frozenset[ParseLayer], parser: Parser | None
) -> Iterator[Item]:
    """The items in order, parsed where `needs` names layers and they have no parse.

    A passage is parsed once for all its consecutive items. Raises ParserError as `parse_items`
    does.
    """
    for batch in batches(items):
        yield from parse_items(batch, needs, parser)


def parse_items(
    items: Sequence[Item], needs: frozenset[ParseLayer], parser: Parser | None
) -> list[Item]:
    """The items, parsed together; items of one passage share a parse.

    Of a long passage only the words in reach of its anchors are parsed (`tag_span`). Items that
    have a parse keep it. Words in capitals throughout are parsed in lower case. Raises
    ParserError where a parser is needed and is missing, or gives too little.
    """
    waiting = [item for item in items if item.parsed is None]
    if not needs or not waiting:
        return list(items)
    checked = _checked(needs, parser)
    reached: Windows = {}
    for item in waiting:
        span = tag_span(item.passage, item.anchor)
        reached.setdefault(item.passage.digest, []).append(span)
    windows = {digest: _merged(sorted(found)) for digest, found in reached.items()}
    spans = [(digest, start) for digest, found in windows.items() for start, _ in found]
    passages = {item.passage.digest: item.passage for item in waiting}
    word_spans = [
        WordSpan.of(passages[digest], start, end)
        for digest, found in windows.items()
        for start, end in found
    ]
    parses = dict(zip(spans, parse_readable(word_spans, checked), strict=True))
    return [item if item.parsed is not None else _with(item, windows, parses) for item in items]


def check_layers(needs: frozenset[ParseLayer], parser: Parser | None) -> None:
    """Raise ParserError unless the parser gives the layers that are needed."""
    if needs:
        _checked(needs, parser)


def _checked(needs: frozenset[ParseLayer], parser: Parser | None) -> Parser:
    wanted = " and ".join(sorted(needs))
    if parser is None:
        raise ParserError(f"the recipe needs {wanted}, but has no parser: name one")
    missing = needs - parser.layers
    if missing:
        raise ParserError(
            f"{parser.name} gives no {' and no '.join(sorted(missing))}, and the recipe needs "
            f"{wanted}"
        )
    return parser


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in order; consecutive ones of one passage are in one batch."""
    return batches_of(items, lambda item: item.passage, BATCH)


Windows = dict[str, list[tuple[int, int]]]
"""By passage digest: the token spans to be parsed, ascending, not touching each other."""


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending spans, with those that touch or overlap merged."""
    merged = [spans[0]]
    for start, end in spans[1:]:
        last_start, last_end = merged[-1]
        if start <= last_end:
            merged[-1] = (last_start, max(end, last_end))
        else:
            merged.append((start, end))
    return merged


def _with(item: Item, windows: Windows, parses: dict[tuple[str, int], Parsed]) -> Item:
    digest = item.passage.digest
    start = max(start for start, _ in windows[digest] if start <= item.anchor.start)
    return replace(item, parsed=parses[digest, start], parsed_from=start)
