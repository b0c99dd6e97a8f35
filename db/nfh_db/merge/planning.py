"""Finding what the other copy has more, passage by passage, without writing anything."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from nfh_db import changes
from nfh_db.batches import BULK_FORMATS
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.merge import sides
from nfh_db.merge.chains import Fate, Step
from nfh_db.merge.families import Key, Thing, family
from nfh_db.merge.histories import Histories, span_key
from nfh_db.merge.maps import DamagedError, Maps, Times, decoded
from nfh_db.merge.memory import Memory, opening
from nfh_db.merge.plan import Coming, Left, Plan
from nfh_db.merge.sides import AnchorRow, Logged, PassageRow
from nfh_db.passages import KNOWN
from nfh_db.values import json_of
from nfh_models.domain import Anchor, anchor_id

GROUND = """
SELECT (SELECT coalesce(max(id), 0) FROM batch), (SELECT coalesce(max(id), 0) FROM passage),
    (SELECT coalesce(max(id), 0) FROM anchor WHERE batch_id IS NOT NULL)"""

NAMED = """
SELECT DISTINCT anchor_id FROM source_row
WHERE anchor_id IN (SELECT value FROM json_each(:ids))
    AND batch_id IN (SELECT value FROM json_each(:batches))"""

AT_ONCE = 1_000
"""Passages compared at once."""

Tell = Callable[[int], None]


def ground(connection: Connection) -> tuple[int, ...]:
    """What changes if an import comes in between."""
    return tuple(connection.execute(GROUND).fetchone())


def plan(here: Connection, there: Connection, tell: Tell) -> Plan:
    """What a merge would do. Both connections are in a read transaction.

    tell: called with the passages looked at. Raises StoreError where the copies cannot be
    merged, DamagedError where the other one's log does not hold.
    """
    return _Planning(here, there).run(tell)


class _Planning:
    def __init__(self, here: Connection, there: Connection) -> None:
        self._here = here
        self._there = there
        self._maps = Maps()
        self._plan = Plan(self._maps, ground(here))
        self._memory, self._memory_there = Memory(here), Memory(there)
        self._new_batches: set[int] = set()
        self._imports: dict[int, int] = {}
        # Which acts there changed what, as far as this copy has it or is to have it.
        self._done: set[tuple[int, Key]] = set()
        # Acts whose changes of a thing follow, here, something else than there.
        self._rebased: list[set[int]] = []

    def run(self, tell: Tell) -> Plan:
        self._people()
        self._batches()
        done = 0
        for rows in sides.passages(self._there, AT_ONCE):
            self._stretch(rows)
            done += len(rows)
            tell(done)
        self._plan.waiting.sort(key=lambda coming: coming.event.id)
        self._acts()
        return self._plan

    # --- people and imports -------------------------------------------------------------

    def _people(self) -> None:
        known = {person.name: person for person in sides.people(self._here)}
        self._mine = Histories({one.id: one.name for one in known.values()}, {})
        for person in sides.people(self._there):
            mine = known.get(person.name)
            if mine is None:
                self._plan.people.append(person)
            elif mine.type != person.type:
                raise StoreError(
                    f"{person.name!r} is a {mine.type} here and a {person.type} in the other "
                    "copy: they cannot be the same. Nothing was merged"
                )
            self._maps.names[person.id] = person.name
            self._maps.people[person.id] = mine.id if mine else -person.id

    def _batches(self) -> None:
        known = {batch.content: batch.id for batch in sides.batches(self._here)}
        imports = dict(self._here.execute(sides.IMPORT_ACTS))
        self._imports = dict(self._there.execute(sides.IMPORT_ACTS))
        shared: dict[int, int] = {}
        for batch in sides.batches(self._there):
            mine = known.get(batch.content)
            if mine is None:
                self._plan.batches.append(batch)
                self._new_batches.add(batch.id)
            elif mine in imports:
                shared[batch.id] = imports[mine]
            self._maps.batches[batch.id] = -batch.id if mine is None else mine
        for batch_id, act in self._imports.items():
            if batch_id in shared:
                self._plan.shared[act] = shared[batch_id]
        self._theirs = Histories(self._maps.names, self._imports, self._maps)

    # --- passages -----------------------------------------------------------------------

    def _stretch(self, rows: Sequence[PassageRow]) -> None:
        maps = self._maps
        digests = json_of([row.digest for row in rows])
        known: dict[str, int] = dict(self._here.execute(KNOWN, {"digests": digests}))
        for row in rows:
            if row.digest not in known:
                self._plan.passages.append(row)
            maps.passages[row.id] = known.get(row.digest, -row.id)
        theirs = sides.anchors(self._there, [row.id for row in rows])
        mine = sides.anchors(self._here, list(known.values()))
        by_span = {(one.passage, one.start, one.stop): one.id for one in mine}
        new = set[int]()
        for one in theirs:
            span = (maps.passages[one.passage], one.start, one.stop)
            maps.anchors[one.id] = by_span.get(span, -one.id)
            if span not in by_span:
                new.add(one.id)
        logs = (
            sides.log(self._here, [one.id for one in mine]),
            sides.log(self._there, [one.id for one in theirs]),
        )
        by_id = {one.id: one for one in mine}
        per_passage, beside = _grouped(theirs), _grouped(mine)
        for row in rows:
            anchors = per_passage.get(row.id, [])
            if not self._is_same(anchors, by_id, logs):
                others = beside.get(maps.passages[row.id], [])
                self._passage(row, anchors, others, new, logs)

    def _is_same(
        self, theirs: Sequence[AnchorRow], mine: Mapping[int, AnchorRow], logs: "_Logs"
    ) -> bool:
        """True, found out cheaply, if this copy's log goes on where the other one's ends.

        That is so of most passages. theirs, mine: the anchors of one, and ours by id.
        """
        pairs: list[tuple[Logged, Logged]] = []
        for anchor in theirs:
            known = mine.get(self._maps.anchors[anchor.id])
            if known is None or (known.batch is None) is not (anchor.batch is None):
                return False
            here, there = logs[0].get(known.id, ()), logs[1].get(anchor.id, ())
            if len(there) > len(here):
                return False
            pairs += zip(here, there, strict=False)
        if not all(self._is_same_event(*pair) for pair in pairs):
            return False
        self._plan.shared.update((two.act, one.act) for one, two in pairs)
        return True

    def _is_same_event(self, one: Logged, two: Logged) -> bool:
        people = self._maps.people
        return (
            one[5:9] == two[5:9]
            and one.entity == two.entity
            and one.at == two.at
            and one.owner == (two.owner and people[two.owner])
            and one.by == (two.by and people[two.by])
            # A span names others by their ids.
            and (one.entity != "anchor" or self._same_ids(one, two))
            and self._maps.same_text(two.before)
            and self._maps.same_text(two.after)
        )

    def _same_ids(self, one: Logged, two: Logged) -> bool:
        maps = self._maps
        return one.anchor == two.anchor and all(
            maps.value("anchor", text) == decoded("anchor", text)
            for text in (two.before, two.after)
        )

    def _passage(
        self,
        row: PassageRow,
        theirs: Sequence[AnchorRow],
        mine: Sequence[AnchorRow],
        new: set[int],
        logs: "_Logs",
    ) -> None:
        """Compare everything that is said of a passage, and plan what comes of it."""
        here, there = self._mine.chains(mine, logs[0]), self._theirs.chains(theirs, logs[1])
        for one in theirs:
            if one.id in new and one.batch is not None:
                here[span_key(self._maps.anchors[one.id])] = [self._theirs.begin(one)]
        events = {event.id: event for one in theirs for event in logs[1].get(one.id, ())}
        public = {
            self._maps.anchors[one.id]: anchor_id(row.digest, Anchor(one.start, one.stop))
            for one in theirs
        }
        found = family(
            here,
            there,
            lambda thing: self._memory_there.decided_since(
                public[thing.anchor], thing, thing.there, thing.here
            ),
        )
        for one in theirs:
            if one.id in new:
                comes = _comes(one, found.things, self._maps)
                (self._plan.anchors if comes else self._plan.bare).append(one)
        times = _times(found.things.values())
        spans = {self._maps.anchors[one.id]: one for one in theirs}
        for key in sorted(found.things, key=str):
            thing = found.things[key]
            self._plan.shared.update(thing.verdict.pairs)
            self._done.update((act, key) for act, _ in thing.verdict.pairs)
            public_id = public.get(key[1], "")
            self._decide(thing, row, spans, events, times.get(key[1]), public_id)

    def _decide(
        self,
        thing: Thing,
        row: PassageRow,
        spans: Mapping[int, AnchorRow],
        events: Mapping[int, Logged],
        times: Times | None,
        public_id: str,
    ) -> None:
        if thing.fate is Fate.AGREED:
            self._plan.agreed += 1
        elif thing.fate is Fate.MOOT:
            self._plan.taken_back += 1
        elif thing.fate is Fate.CONFLICT:
            if self._memory.decided_since(public_id, thing, thing.here, thing.there):
                self._plan.agreed += 1
                return
            span = spans[thing.anchor]
            left = Left(thing, row.id, span.start, span.stop, thing.why, public_id)
            self._plan.left.append(left)
            self._plan.open.append(opening(public_id, thing, thing.there))
            self._plan.open_anew |= self._plan.open[-1] not in self._memory
        elif thing.fate is Fate.TAKE:
            self._take(thing, spans[thing.anchor], events, times)

    def _take(
        self, thing: Thing, span: AnchorRow, events: Mapping[int, Logged], times: Times | None
    ) -> None:
        verdict = thing.verdict
        coming = [
            Coming(events.get(step.event) or _bringing(step, span), span, before, after, times)
            for step, before, after in thing.changes()
        ]
        self._done.update((step.act, thing.key) for step in thing.tail)
        if verdict.rebased:
            self._rebased.append({step.act for step in thing.tail})
        if thing.anchor < 0 and span.batch in self._new_batches and thing.entity != "anchor":
            first = _from_import(coming, self._new_batches)
            if first:
                self._plan.direct.setdefault(span.id, []).extend(coming[:first])
            coming = coming[first:]
        if coming:
            self._check_table(coming[-1].event)
        self._plan.waiting += coming

    def _check_table(self, last: Logged) -> None:
        """What the log of the other copy says last must be what is there."""
        key = (last.entity, last.anchor, last.owner, last.name)
        if changes.present(self._there, *key) != last.after:
            raise DamagedError(
                f"another program changed it: what its log says last of anchor {last.anchor} "
                "is not what is there. Run `nfh-tui doctor` on it. Nothing was merged"
            )

    # --- acts ---------------------------------------------------------------------------

    def _acts(self) -> None:
        """Which acts come in, and with them which runs of rules; an import always does."""
        plan = self._plan
        files = {batch.id for batch in plan.batches if batch.format not in BULK_FORMATS}
        wanted = {coming.event.act for coming in plan.waiting}
        wanted |= {act for batch, act in self._imports.items() if batch in files}
        ids = sorted(wanted)
        for first in range(0, len(ids), AT_ONCE):
            plan.acts += sides.acts(self._there, ids[first : first + AT_ONCE])
        runs = {act.batch for act in plan.acts if act.id not in plan.shared}
        plan.batches = [b for b in plan.batches if b.id in files or b.id in runs]
        named = self._named(files)
        plan.bare = [anchor for anchor in plan.bare if anchor.id in named]
        targets = {act.id: act.target for act in plan.acts if act.kind in ("undo", "redo")}
        for coming in plan.waiting:
            event = coming.event
            if event.act in targets and not self._turns(event, targets[event.act]):
                plan.loose.add(event.act)
        for some in self._rebased:
            plan.loose |= {act for act in some & targets.keys() if targets[act] not in some}

    def _named(self, files: set[int]) -> set[int]:
        """Those of the anchors left out that rows of new imports name."""
        left = json_of([anchor.id for anchor in self._plan.bare])
        key = {"ids": left, "batches": json_of(sorted(files))}
        return {row[0] for row in self._there.execute(NAMED, key)}

    def _turns(self, event: Logged, target: int | None) -> bool:
        """True if an undo's event takes back what that act did here, too."""
        owner = None if event.owner is None else self._maps.names[event.owner]
        key = (event.entity, self._maps.anchors[event.anchor], owner, event.name)
        return target is not None and (target, key) in self._done


_Logs = tuple[Mapping[int, Sequence[Logged]], Mapping[int, Sequence[Logged]]]


def _grouped(anchors: Iterable[AnchorRow]) -> dict[int, list[AnchorRow]]:
    found: dict[int, list[AnchorRow]] = defaultdict(list)
    for one in anchors:
        found[one.passage].append(one)
    return found


def _bringing(step: Step, span: AnchorRow) -> Logged:
    """The event by which a span comes in that a file brought there, and that was gone here."""
    return Logged(
        0, step.act, "anchor", span.id, None, "", None, step.raw, "import", None, "", span.batch
    )


def _comes(anchor: AnchorRow, things: Mapping[Key, Thing], maps: Maps) -> bool:
    """True if a new anchor gets a row: an import brought it, or its making comes in."""
    thing = things.get(span_key(maps.anchors[anchor.id]))
    return anchor.batch is not None or (thing is not None and thing.fate is Fate.TAKE)


def _from_import(coming: Sequence[Coming], new: set[int]) -> int:
    """How many of the first changes of a thing are a new import's own."""
    for place, one in enumerate(coming):
        if one.event.kind != "import" or one.event.batch not in new:
            return place
    return len(coming)


def _times(things: Iterable[Thing]) -> dict[int, dict[tuple[str, str], str]]:
    """Where the copies have one answer at two times, by anchor; see `maps.Times`."""
    found: dict[int, dict[tuple[str, str], str]] = {}
    for thing in things:
        owner = thing.key[2]
        if thing.entity == "answer" and owner is not None:
            for was, now in thing.times.items():
                found.setdefault(thing.anchor, {})[owner, was] = now
    return found
