"""What stood around an item in its queue, to find the place again once the item has left it."""

from dataclasses import dataclass

import msgspec

from nfh_tui.desk.ids import IdList

MANY = 12
"""Neighbours kept on each side: some of them may have left the queue as well."""

SETTING = "near"
"""Name of the setting that keeps them; the mode and the person's name follow it."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The surroundings of a place. after and before: anchors, the nearest first.

    query: of the queue. place: how many stood before, which is what is left to go by where
    none of them is there any more.
    """

    query: str = ""
    after: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    place: int = 0

    def find(self, ids: IdList) -> int:
        """The place before which the item would stand; the length of the queue for its end."""
        for anchor_id in self.after:
            place = ids.find(anchor_id, self.place)
            if place is not None:
                return place
        for anchor_id in self.before:
            place = ids.find(anchor_id, self.place)
            if place is not None:
                return place + 1
        return min(self.place, len(ids))


def around(query: str, ids: IdList, place: int, *, beside: bool) -> Nearby:
    """What stands around a place. beside: the item itself does not stand in it."""
    after = place if beside else place + 1
    return Nearby(
        query,
        tuple(ids.slice(after, after + MANY)),
        tuple(reversed(ids.slice(place - MANY, place))),
        place,
    )


def name_of(mode: str, me: str) -> str:
    """The setting of one person in one mode."""
    return f"{SETTING}.{mode}.{me}"


def dump(nearby: Nearby) -> str:
    """As text, for a setting."""
    return msgspec.json.encode(nearby).decode()


def load(text: str | None, query: str) -> Nearby | None:
    """What `dump` wrote of this query; None for another one's, and for what cannot be read."""
    if text is None:
        return None
    try:
        nearby = msgspec.json.decode(text.encode("utf-8", "replace"), type=Nearby)
    except (msgspec.MsgspecError, ValueError):
        return None
    return nearby if nearby.query == query else None
