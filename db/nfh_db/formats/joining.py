"""What belongs together of what is joined in pairs."""

from collections.abc import Iterable


def components(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Places 0 to count - 1 in groups of those that pairs join, directly or over others.

    Each group is in order; groups go by their first place.
    """
    owner = list(range(count))

    def root(place: int) -> int:
        while owner[place] != place:
            owner[place] = owner[owner[place]]
            place = owner[place]
        return place

    for pair in pairs:
        one, two = map(root, pair)
        owner[max(one, two)] = min(one, two)
    groups: dict[int, list[int]] = {}
    for place in range(count):
        groups.setdefault(root(place), []).append(place)
    return tuple(map(tuple, groups.values()))
