"""`deterministic` as a resolver: it answers where a pattern names the head, and else not.

A pattern with *them*, *these* and the like behind *of* names no head: the pronoun stands for
a noun elsewhere, which another recipe has to find. *Us* and *you* are PEOPLE.
"""

from collections.abc import Sequence

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.parsing.parsed import Layer
from nfh_models.resolution import deterministic
from nfh_models.resolution.item import Choice, Item, Several
from nfh_models.resolution.parse_of import parse_of


class DeterministicResolver:
    """The paper's four patterns, for free text."""

    recipe = deterministic.NAME
    version = deterministic.VERSION
    needs = frozenset({Layer.POS, Layer.DEPENDENCY})
    probabilities = False

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice for each item in a pattern that names a head; None for any other.

        ValueError for an item without parts of speech and dependencies.
        """
        return [_resolve(item) for item in items]


def _resolve(item: Item) -> Choice | None:
    parsed, shift = parse_of(item, dependency=True), item.parsed_from
    found = deterministic.find(parsed, item.anchor.start - shift, item.anchor.end - shift)
    if found is None or found.kind is None:
        return None
    if found.kind is not Kind.REFERENCE:
        return _chosen(item, [IMPLICIT_KINDS.index(found.kind)], found.kind.value)
    heads = [token + shift for token in found.heads]
    places = [len(IMPLICIT_KINDS) + token for token in heads]
    if len(heads) == 1:
        return _chosen(item, places, str(heads[0]))
    between = {parsed.words[at].lower() for at in range(min(found.heads), max(found.heads))}
    both = "or" not in between
    several = Several(0.0, float(both), float(not both))
    return _chosen(item, places, str(heads[0]), str(heads[1]), several)


def _chosen(
    item: Item,
    places: Sequence[int],
    choice: str,
    second: str | None = None,
    several: Several | None = None,
) -> Choice:
    """A choice with the score 1 at these places, and no other candidate."""
    scores: list[float | None] = [None] * (len(IMPLICIT_KINDS) + len(item.passage.tokens))
    for place in places:
        scores[place] = 1.0
    margin = None if second is None else 0.0
    return Choice(choice, second, margin, tuple(scores), several or Several(1.0, 0.0, 0.0))
