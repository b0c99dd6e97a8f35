"""Whether a number has several heads, by words: for recipes that do not say it themselves.

Each rule is named. All ask that the chosen noun stands in a coordination, and that the
recipe thinks something of its other nouns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfh_models.domain import Relation
from nfh_models.resolution.item import Item
from nfh_models.resolution.several.coordination import Coordination

COUNTED = "counted"
EITHER = "either"
ONE_OR = "one-or"

_WORDS = ("one", "two", "three", "four", "five", "six")
_VALUES = {
    spelled: value for value, word in enumerate(_WORDS, 1) for spelled in (word, str(value))
}
_TOGETHER = frozenset("the these those all both between".split())
_EITHER = frozenset("either neither which whichever just only than any".split())
_NEAR = 3
"""Tokens before a number in which such words are looked for."""


@dataclass(frozen=True, slots=True)
class Said:
    """A rule that holds: its name, the nouns, and how they belong together."""

    rule: str
    members: tuple[int, ...]
    relation: Relation


def several_by_words(item: Item, found: Coordination) -> Said | None:
    """The first rule that holds; None where the number has one head, for all the words say."""
    for rule, relation, holds in RULES:
        if holds(item, found):
            return Said(rule, found.members, relation)
    return None


def value_of(item: Item) -> int | None:
    """What a number of one token up to six is; None for any other."""
    anchor = item.anchor
    if anchor.end - anchor.start > 1:
        return None
    return _VALUES.get(item.passage.word(anchor.start).lower())


def _counted(item: Item, found: Coordination) -> bool:
    """As many things as the number says: "a dog and a cat ... the two"."""
    if value_of(item) != len(found.members):
        return False
    return _near(item, _TOGETHER) or all(_singular(item, token) for token in found.members)


def _either(item: Item, found: Coordination) -> bool:  # noqa: ARG001
    """One of what is named side by side, whatever joins it: "the hat and the coat ... just
    one", "either one"."""
    return value_of(item) == 1 and _near(item, _EITHER)


def _one_or(item: Item, found: Coordination) -> bool:
    """One, where the nouns are joined by *or*: "the wine or the beer ... I'll have one"."""
    return value_of(item) == 1 and not found.links.isdisjoint({"or", "nor"})


def _singular(item: Item, token: int) -> bool:
    form = item.passage.word(token).lower()
    return form == item.passage.tokens[token].lemma.lower() or not form.endswith("s")


def _near(item: Item, wanted: frozenset[str]) -> bool:
    start = item.anchor.start
    return any(
        item.passage.word(token).lower() in wanted
        for token in range(max(0, start - _NEAR), start)
    )


RULES: Sequence[tuple[str, Relation, Callable[[Item, Coordination], bool]]] = (
    (COUNTED, Relation.AND, _counted),
    (EITHER, Relation.OR, _either),
    (ONE_OR, Relation.OR, _one_or),
)
