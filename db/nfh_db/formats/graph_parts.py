"""Parts of a graph: what is about one number, and what is left where something is taken out."""

from collections.abc import Collection

from nfh_db.formats.grid import MarkError
from nfh_db.formats.marked import ANCHOR, ANSWERS, Graph, Link
from nfh_db.formats.options import IGNORE, Span


def part(graph: Graph, places: Collection[int]) -> Graph:
    """The spots at those places, in their order, with the links between them."""
    kept = sorted(places)
    rank = {place: index for index, place in enumerate(kept)}
    return Graph(
        tuple(graph.spots[place] for place in kept),
        tuple(
            Link(rank[link.source], rank[link.target], link.label)
            for link in graph.links
            if link.source in rank and link.target in rank
        ),
    )


def alone(graph: Graph, number: int) -> Graph:
    """The part of a translated graph that is about the number at that place: itself, what it
    is linked to, and the links between those. A graph of one number is its own part. Spots to
    be ignored are left out.
    """
    if sum(spot.label in ANSWERS for spot in graph.spots) == 1:
        kept = {i for i, spot in enumerate(graph.spots) if spot.label != IGNORE}
        return graph if len(kept) == len(graph.spots) else part(graph, kept)
    near: dict[int, set[int]] = {}
    for link in graph.links:
        near.setdefault(link.source, set()).add(link.target)
        near.setdefault(link.target, set()).add(link.source)
    ours, waiting = {number}, [number]
    others = {i for i, s in enumerate(graph.spots) if s.label in ANSWERS} - ours
    while waiting:
        here = waiting.pop()
        for place in near.get(here, set()) - ours - others:
            # What only a mention leads to is another number's, if that is linked to it.
            if here == number or not near[place] & others:
                ours.add(place)
                waiting.append(place)
    return part(graph, ours)


def check_kinds(graph: Graph) -> None:
    """Raise MarkError where somebody marks one number as two kinds."""
    kinds: dict[Span, str] = {}
    for spot in graph.spots:
        if spot.label not in ANSWERS or spot.label == ANCHOR:
            continue
        kind = kinds.setdefault((spot.start, spot.end), spot.label)
        if kind != spot.label:
            raise MarkError(
                f"the number at {spot.start} to {spot.end} is marked both as {kind} and as "
                f"{spot.label}; wanted one of them"
            )
