"""`cues` as a resolver."""

from collections.abc import Sequence

from nfh_models.parsing.parsed import Layer
from nfh_models.resolution import cues
from nfh_models.resolution.item import Choice, Item
from nfh_models.resolution.nearest_noun import reach
from nfh_models.resolution.parse_of import tags_within

UNTAGGED = ""
"""The tag of a token in reach that the item's parse does not hold: neither noun nor name."""


class CuesResolver:
    """A class where a stated cue names one, else the noun that fits best before."""

    recipe = cues.NAME
    version = cues.VERSION
    needs = frozenset({Layer.POS})
    probabilities = False

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item. ValueError for one without parts of speech."""
        return [cues.predict(item.passage, item.anchor, _tags(item)) for item in items]


def _tags(item: Item) -> list[str]:
    """A tag for each token of `reach`."""
    start, end = reach(item.passage, item.anchor)
    first, tags = tags_within(item)
    behind = end - first - len(tags)
    return [*[UNTAGGED] * (first - start), *tags, *[UNTAGGED] * behind]
