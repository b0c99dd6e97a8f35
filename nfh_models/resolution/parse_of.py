"""What an item's parse says, checked: recipes that need it ask here."""

from collections.abc import Sequence

from nfh_models.parsing.parsed import Parsed
from nfh_models.resolution.item import Item
from nfh_models.resolution.nearest_noun import reach


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
