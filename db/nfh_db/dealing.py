"""Dealing items out to people: as evenly as can be, nobody twice, neighbours together.

Nothing is read or written here. People are numbers from 0.

Items that the same people may answer, and that lack as many answers, are one pile. How many
of each pile a person gets is settled first: even shares, then moved along chains of people
from whoever has most to whoever has least, until no chain makes them more even. Each pile is
then laid around once for each answer that it lacks, and cut into the people's shares in
turn; no share is longer than the pile, so that nobody gets an item twice, and neighbours
are parted only where one share ends (McNaughton's wrap-around rule).
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Lacking:
    """What an item lacks. need: answers; may: who could give one."""

    need: int
    may: frozenset[int]


@dataclass(slots=True)
class _Pile:
    """Items that lack the same. places: where they stand; shares: how many a person gets."""

    places: list[int]
    need: int
    shares: dict[int, int]

    def room(self, person: int) -> int:
        """How many more of the pile a person could get."""
        return len(self.places) - self.shares[person]


def deal(items: Sequence[Lacking], people: int) -> list[list[int]]:
    """Who gets each item, each list by number.

    An item that lacks more answers than there are people who may give one goes to all of
    these. Neighbours in `items` go to the same people as far as that can be.
    """
    piles = _piles(items)
    loads = dict.fromkeys(range(people), 0)
    for pile in piles:
        _share_out(pile, loads)
    _even_out(piles, loads)
    given: list[list[int]] = [[] for _ in items]
    for pile in piles:
        for place, person in _cut(pile):
            given[place].append(person)
    return [sorted(one) for one in given]


def _piles(items: Sequence[Lacking]) -> list[_Pile]:
    found: dict[tuple[frozenset[int], int], _Pile] = {}
    for place, item in enumerate(items):
        need = min(item.need, len(item.may))
        if need > 0:
            key = (item.may, need)
            if key not in found:
                found[key] = _Pile([], need, dict.fromkeys(sorted(item.may), 0))
            found[key].places.append(place)
    # The pile that fewest may answer leaves least choice.
    return sorted(found.values(), key=lambda pile: (len(pile.shares), min(pile.places)))


def _share_out(pile: _Pile, loads: dict[int, int]) -> None:
    """Even shares of one pile; what is left over goes to those who have least."""
    total = pile.need * len(pile.places)
    even, over = divmod(total, len(pile.shares))
    by_load = sorted(pile.shares, key=lambda person: (loads[person], person))
    for rank, person in enumerate(by_load):
        pile.shares[person] = even + (rank < over)
        loads[person] += pile.shares[person]


def _even_out(piles: Sequence[_Pile], loads: dict[int, int]) -> None:
    """Move items from those who have more to those who have less while that can be."""
    while True:
        for person in sorted(loads, key=lambda one: -loads[one]):
            if _unload(piles, loads, person):
                break
        else:
            return


def _unload(piles: Sequence[_Pile], loads: dict[int, int], person: int) -> bool:
    """Pass some of a person's items on to whoever has least of those whom a chain reaches."""
    came = _reached(piles, person)
    least = min(came, key=lambda one: (loads[one], one))
    surplus = (loads[person] - loads[least]) // 2
    if surplus < 1:
        return False
    chain = [least]
    while chain[-1] != person:
        chain.append(came[chain[-1]])
    links = [
        (giver, taker, max(piles, key=lambda pile: _could_pass(pile, giver, taker)))
        for taker, giver in pairwise(chain)
    ]
    moved = min(surplus, *(_could_pass(pile, giver, taker) for giver, taker, pile in links))
    for giver, taker, pile in links:
        pile.shares[giver] -= moved
        pile.shares[taker] += moved
    loads[person] -= moved
    loads[least] += moved
    return True


def _reached(piles: Sequence[_Pile], person: int) -> Mapping[int, int]:
    """Everybody whom items could be passed on to, person to person, with who passes them."""
    came = {person: person}
    waiting = deque([person])
    while waiting:
        giver = waiting.popleft()
        for pile in piles:
            for taker in pile.shares:
                if taker not in came and _could_pass(pile, giver, taker):
                    came[taker] = giver
                    waiting.append(taker)
    return came


def _could_pass(pile: _Pile, giver: int, taker: int) -> int:
    if giver not in pile.shares or taker not in pile.shares:
        return 0
    return min(pile.shares[giver], pile.room(taker))


def _cut(pile: _Pile) -> Iterable[tuple[int, int]]:
    """Place and person of each item given."""
    at = 0
    for person, share in pile.shares.items():
        for step in range(at, at + share):
            yield pile.places[step % len(pile.places)], person
        at += share
