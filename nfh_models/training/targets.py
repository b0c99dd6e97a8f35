"""What counts as right when a network learns to resolve."""

from nfh_models.domain import IMPLICIT_KINDS, Head, Kind, paper_class
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_models.statistics.heads import distance


def learnable(example: ResolutionExample) -> bool:
    """Whether gold says what is missing: NOT_NFH, BROKEN and NFH do not."""
    return paper_class(example.gold.kind) is not None


def right_class(example: ResolutionExample) -> int | None:
    """The place in IMPLICIT_KINDS of an implicit gold, UNKNOWN as OTHER; else None."""
    kind = paper_class(example.gold.kind)
    if kind is None or kind is Kind.REFERENCE:
        return None
    return IMPLICIT_KINDS.index(kind)


def right_tokens(example: ResolutionExample) -> list[list[int]]:
    """Of each head of a Reference `mentions_of`; empty of an implicit gold."""
    return [mentions_of(head, example.item) for head in example.gold.heads]


def mentions_of(head: Head, item: Item) -> list[int]:
    """The tokens that are right for a head: ascending, outside the anchor.

    Its marked mentions, and each token with the lemma of one of them: files mark one mention
    of a noun, or some, and a network that picks another is not to be told that it is wrong.
    """
    tokens = item.passage.tokens
    marked = {mention.head for mention in head.live}
    lemmas = {tokens[place].lemma.lower() for place in marked}
    anchor = range(item.anchor.start, item.anchor.end)
    return [
        place
        for place, token in enumerate(tokens)
        if place not in anchor and (place in marked or token.lemma.lower() in lemmas)
    ]


def nearest_token(example: ResolutionExample) -> int | None:
    """The marked head token nearest to the anchor, the earlier of two: the paper's target
    (section 6.1). None of an implicit gold."""
    anchor = example.item.anchor
    heads = example.gold.head_tokens()
    return min(heads, key=lambda head: (distance(anchor, head), head), default=None)
