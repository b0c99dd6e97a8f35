"""A copy's log as chains, one for each thing, in this copy's terms."""

from collections.abc import Mapping, Sequence

from nfh_db.errors import StoreError
from nfh_db.merge.chains import BEGIN, Step
from nfh_db.merge.families import Key
from nfh_db.merge.maps import DamagedError, Maps, decoded
from nfh_db.merge.sides import AnchorRow, Logged
from nfh_db.values import AnchorValue, encode


class Histories:
    """Makes chains of one copy's log. Raises DamagedError for a log that does not hold.

    names: of everybody there, by id. imports: acts by batch. maps: of the other copy; None
    for this one, whose terms they are.
    """

    def __init__(
        self, names: Mapping[int, str], imports: Mapping[int, int], maps: Maps | None = None
    ) -> None:
        self._names = names
        self._imports = imports
        self._maps = maps

    def chains(
        self, anchors: Sequence[AnchorRow], log: Mapping[int, Sequence[Logged]]
    ) -> dict[Key, list[Step]]:
        """The chains of everything that the log says of some anchors."""
        found: dict[Key, list[Step]] = {}
        for anchor in anchors:
            if anchor.batch is not None:
                found[span_key(self._anchor(anchor.id))] = [self.begin(anchor)]
            for event in log.get(anchor.id, ()):
                owner = None if event.owner is None else self._names[event.owner]
                key = (event.entity, self._anchor(event.anchor), owner, event.name)
                chain = found.setdefault(key, [])
                self._check(chain, event)
                chain.append(self._step(event))
        return found

    def begin(self, anchor: AnchorRow) -> Step:
        """How an anchor begins that an import brought."""
        maps, span = self._maps, (anchor.start, anchor.stop)
        raw = encode(AnchorValue(anchor.passage, *span))
        passage = anchor.passage if maps is None else maps.passages[anchor.passage]
        act = self._imports.get(anchor.batch or 0, 0)
        return Step(0, act, BEGIN, None, "", None, raw, AnchorValue(passage, *span))

    def _anchor(self, id_: int) -> int:
        return id_ if self._maps is None else self._maps.anchors[id_]

    def _step(self, event: Logged) -> Step:
        by = None if event.by is None else self._names[event.by]
        maps, batch = self._maps, event.batch
        if maps is None:
            value = decoded(event.entity, event.after)
        else:
            batch = None if batch is None else maps.batches.get(batch)
            value = maps.value(event.entity, event.after)
        return Step(event.id, event.act, event.kind, by, event.at, batch, event.after, value)

    def _check(self, chain: Sequence[Step], event: Logged) -> None:
        if event.before != (chain[-1].raw if chain else None):
            here = self._maps is None
            raise (StoreError if here else DamagedError)(
                f"{'The' if here else 'its'} log does not hold together at change {event.id} "
                f"(anchor {event.anchor}): run `nfh-tui doctor`. Nothing was merged"
            )


def span_key(anchor: int) -> Key:
    """The key of an anchor itself."""
    return "anchor", anchor, None, ""
