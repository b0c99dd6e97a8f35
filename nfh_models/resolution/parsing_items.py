"""Items made ready for a recipe that needs parses: each passage parsed once, batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from nfh_models.domain import Passage
from nfh_models.identification.deciding import in_small_letters
from nfh_models.parsing.parsed import Layer, Parsed, Parser, ParserError
from nfh_models.parsing.stretch import Stretch
from nfh_models.resolution.item import Choice, Item, Resolver
from nfh_models.resolution.nearest_noun import reach

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
    items: Iterable[Item], needs: frozenset[Layer], parser: Parser | None
) -> Iterator[Item]:
    """The same items in order, with parses where they had none and `needs` names layers.

    A passage is parsed once for all of its items that stand in a row. Raises ParserError as
    `parse_items` does.
    """
    for batch in batches(items):
        yield from parse_items(batch, needs, parser)


def parse_items(
    items: Sequence[Item], needs: frozenset[Layer], parser: Parser | None
) -> list[Item]:
    """The same items, parsed together; items of one passage share a parse.

    Of a long passage only the words in reach of its anchors are parsed (`nearest_noun.reach`).
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
    stretches = [
        Stretch.of(passages[digest], start, end)
        for digest, found in windows.items()
        for start, end in found
    ]
    parses = dict(zip(spans, _parse(stretches, checked), strict=True))
    return [item if item.parsed is not None else _with(item, windows, parses) for item in items]


def check_layers(needs: frozenset[Layer], parser: Parser | None) -> None:
    """Raise ParserError unless the parser gives the layers that are needed."""
    if needs:
        _checked(needs, parser)


def _checked(needs: frozenset[Layer], parser: Parser | None) -> Parser:
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


def _parse(stretches: Sequence[Stretch], parser: Parser) -> list[Parsed]:
    readable = [in_small_letters(stretch) for stretch in stretches]
    return [
        parsed if asked is own else replace(parsed, words=own.words)
        for parsed, asked, own in zip(parser.parse(readable), readable, stretches, strict=True)
    ]


def _with(item: Item, windows: Windows, parses: dict[tuple[str, int], Parsed]) -> Item:
    digest = item.passage.digest
    start = max(start for start, _ in windows[digest] if start <= item.anchor.start)
    return replace(item, parsed=parses[digest, start], parsed_from=start)
