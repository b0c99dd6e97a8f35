"""The plan of a merge, made without writing: what comes in from the log, passage by passage,
what comes in besides, and the conflicts that earlier merges left.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from nfh_db import answers, assignments, event_log, serialization
from nfh_db.batches import BULK_FORMATS
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.merge import source
from nfh_db.merge.log_diff import (
    Chain,
    ChainBuilder,
    ChainEvent,
    ConflictReason,
    LoggedText,
    MergeOutcome,
    Thing,
    ThingKey,
    compare_passage,
    span_key,
)
from nfh_db.merge.source import (
    AnswerTimes,
    DamagedError,
    IdMaps,
    LoggedEvent,
    MergedAct,
    MergedAnchor,
    MergedAnnotator,
    MergedBatch,
    MergedPassage,
    Writes,
    decoded,
)
from nfh_db.messages import counted
from nfh_db.passages import KNOWN, NameIndex
from nfh_db.records import FlagMark, FlagName, normal_name
from nfh_models.domain import Anchor, AnswerError, PassageError, anchor_id

# Assignments, drafts, queue positions, saved views and guidelines are in no log. They come in
# where this copy has none of the same key. Nothing here is replaced.

GUIDELINES = """
SELECT version, body, annotator_id, created_at FROM guideline ORDER BY version"""
INSERT_GUIDELINE = """
INSERT INTO guideline (version, body, annotator_id, created_at)
VALUES (:version, :body, :annotator, :at) ON CONFLICT (version) DO NOTHING"""
ANSWERS_UNDER = "SELECT count(*) FROM answer WHERE guideline_version = :version AND removed = 0"
ASSIGNMENTS = """
SELECT anchor_id, annotator_id, role, purpose, state, position, expected, stratum, run,
    assigned_at
FROM assignment ORDER BY id"""
ASSIGNMENTS_OF = """
SELECT anchor_id, annotator_id, role, purpose, state
FROM assignment WHERE anchor_id IN (SELECT value FROM json_each(:ids))"""
INSERT_ASSIGNMENT = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, state, position, expected,
    stratum, run, assigned_at)
VALUES (:anchor, :annotator, :role, :purpose, :state, :position, :expected, :stratum, :run,
    :at)
ON CONFLICT (anchor_id, annotator_id, role) DO NOTHING"""
SUCCESSORS = """
SELECT id, replaced_by FROM anchor
WHERE id IN (SELECT value FROM json_each(:ids)) AND replaced_by IS NOT NULL"""
DRAFTS = """
SELECT anchor_id, annotator_id, role, body, drafted_at FROM draft
ORDER BY anchor_id, annotator_id, role"""
DRAFTS_OF = """
SELECT anchor_id, annotator_id, role, body
FROM draft WHERE anchor_id IN (SELECT value FROM json_each(:ids))"""
# An answer deletes its draft, and an older copy must not bring that back.
DRAFT_IS_CURRENT = """
SELECT NOT EXISTS (SELECT 1 FROM answer WHERE anchor_id = :anchor
    AND annotator_id = :annotator AND role = :role AND answered_at >= :at)"""
INSERT_DRAFT = """
INSERT INTO draft (anchor_id, annotator_id, role, body, drafted_at)
VALUES (:anchor, :annotator, :role, :body, :at)
ON CONFLICT (anchor_id, annotator_id, role) DO NOTHING"""
PLACES = """
SELECT annotator_id, mode, query, anchor_id, token, left_at FROM place
ORDER BY annotator_id, mode"""
INSERT_PLACE = """
INSERT INTO place (annotator_id, mode, query, anchor_id, token, left_at)
VALUES (:annotator, :mode, :query, :anchor, :token, :at)
ON CONFLICT (annotator_id, mode) DO NOTHING"""
VIEWS = "SELECT annotator_id, name, query, saved_at FROM saved_view ORDER BY annotator_id, name"
INSERT_VIEW = """
INSERT INTO saved_view (annotator_id, name, query, saved_at)
VALUES (:annotator, :name, :query, :at) ON CONFLICT (annotator_id, name) DO NOTHING"""

READ_AT_ONCE = 1_000
ROWS_AT_ONCE = 100

Row = tuple[Any, ...]


@dataclass(slots=True)
class Extras:
    """Rows besides the log that come in, with ids of the other copy."""

    guidelines: list[Row] = field(default_factory=list)
    assignments: list[Row] = field(default_factory=list)
    """Each is preceded by its anchor's mapped id."""
    drafts: list[Row] = field(default_factory=list)
    places: list[Row] = field(default_factory=list)
    views: list[Row] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Sentences about what does not come in."""

    @property
    def is_empty(self) -> bool:
        return not (
            self.guidelines or self.assignments or self.drafts or self.places or self.views
        )


def find(here: Connection, there: Connection, maps: IdMaps, unmapped: set[int]) -> Extras:
    """Rows that only the other copy has. unmapped: its anchors that do not come in."""
    found = Extras()
    _find_guidelines(here, there, found)
    _find_assignments(here, there, maps, unmapped, found)
    _find_drafts(here, there, maps, unmapped, found)
    _find_places(here, there, maps, unmapped, found)
    _find_views(here, there, maps, found)
    return found


def _find_guidelines(here: Connection, there: Connection, found: Extras) -> None:
    """Versions that are not here, and sentences about those with another text.

    Answers keep their versions, so that the logs stay equal.
    """
    known = {version: body for version, body, *_ in here.execute(GUIDELINES)}
    otherwise = []
    for row in there.execute(GUIDELINES).fetchall():
        version = row[0]
        if version not in known:
            found.guidelines.append(row)
        elif known[version] != row[1]:
            otherwise.append(version)
            stamped = there.execute(ANSWERS_UNDER, {"version": version}).fetchone()[0]
            found.left.append(
                f"version {version} of the guidelines has another text there (answers given "
                f"under that text: {stamped:,}); `nfh-tui guidelines --version {version}` on "
                "that copy shows it"
            )
    holds = max((row[0] for row in found.guidelines), default=0)
    if otherwise and holds > max(known):
        found.left.append(
            f"what version {otherwise[-1]} of the guidelines says there, from which version "
            f"{holds} was made: that text is merged and is in force from now on"
        )


def _find_assignments(
    here: Connection, there: Connection, maps: IdMaps, unmapped: set[int], found: Extras
) -> None:
    otherwise = nowhere = 0
    for rows in _in_chunks(there, ASSIGNMENTS):
        places = _current_anchors(here, maps, rows)
        mine = {tuple(row[:3]): row for row in _rows_of(here, ASSIGNMENTS_OF, places)}
        for row, place in zip(rows, places, strict=True):
            known = mine.get((place, maps.people[row[1]], row[2]))
            if known is not None:
                otherwise += _is_other_task(known, row)
            elif row[0] in unmapped:
                nowhere += 1
            else:
                found.assignments.append((place, *row))
    if otherwise:
        things = counted(otherwise, "assignment")
        found.left.append(
            f"{things} of another purpose, or given back, in one of the two copies"
        )
    if nowhere:
        found.left.append(f"{counted(nowhere, 'assignment')} of spans that are not here")


def _current_anchors(here: Connection, maps: IdMaps, rows: Sequence[Row]) -> list[int]:
    """The anchor of each assignment. Open ones follow replacements of their span."""
    after: dict[int, int] = {}
    ids = {maps.anchors[row[0]] for row in rows if row[4] == "open"}
    while ids:
        found: dict[int, int] = dict(_rows_of(here, SUCCESSORS, sorted(ids)))
        after |= found
        ids = set(found.values()) - after.keys()
    places = []
    for row in rows:
        place = maps.anchors[row[0]]
        while row[4] == "open" and place in after:
            place = after[place]
        places.append(place)
    return places


def _is_other_task(one: Row, other: Row) -> bool:
    """True if the purposes differ, or one was returned. Answers decide whether it is done."""
    return bool(one[3] != other[3] or (one[4] == "returned") != (other[4] == "returned"))


def _find_drafts(
    here: Connection, there: Connection, maps: IdMaps, unmapped: set[int], found: Extras
) -> None:
    left = 0
    for rows in _in_chunks(there, DRAFTS):
        ids = [maps.anchors[row[0]] for row in rows]
        mine = {tuple(row[:3]): row[3] for row in _rows_of(here, DRAFTS_OF, ids)}
        for row in rows:
            key = (maps.anchors[row[0]], maps.people[row[1]], row[2])
            if key in mine:
                left += mine[key] != row[3]
            elif row[0] in unmapped or not _draft_is_current(here, key, row[4]):
                left += 1
            else:
                found.drafts.append(row)
    if left:
        things = counted(left, "draft")
        found.left.append(f"{things} of items that were answered since, or have a draft here")


def _draft_is_current(connection: Connection, key: Row, at: object) -> bool:
    row = (*key, at)
    return bool(connection.execute(DRAFT_IS_CURRENT, row).fetchone()[0])


def _find_places(
    here: Connection, there: Connection, maps: IdMaps, unmapped: set[int], found: Extras
) -> None:
    known = {tuple(row[:2]) for row in here.execute(PLACES)}
    for row in there.execute(PLACES):
        if (maps.people[row[0]], row[1]) not in known and row[3] not in unmapped:
            found.places.append(row)


def _find_views(here: Connection, there: Connection, maps: IdMaps, found: Extras) -> None:
    known = {(row[0], row[1]): row[2] for row in here.execute(VIEWS)}
    for row in there.execute(VIEWS):
        mine = known.get((maps.people[row[0]], row[1]))
        if mine is None:
            found.views.append(row)
        elif mine != row[2]:
            name = maps.names[row[0]]
            found.left.append(f"the saved view “{row[1]}” of {name} has another query there")


def _in_chunks(connection: Connection, sql: str) -> Iterator[list[Row]]:
    cursor = connection.execute(sql)
    while rows := cursor.fetchmany(READ_AT_ONCE):
        yield rows


def _rows_of(connection: Connection, sql: str, ids: Sequence[int]) -> list[Row]:
    rows: list[Row] = connection.execute(sql, {"ids": serialization.json_of(ids)}).fetchall()
    return rows


# --- writing them -----------------------------------------------------------------------


def write_extras(connection: Connection, maps: IdMaps, extras: Extras) -> None:
    """Insert the rows in short transactions. After an interruption it can be run again."""
    writes = Writes(connection)
    for rows, write in (
        (extras.guidelines, _guideline),
        (extras.assignments, _assignment),
        (extras.drafts, _draft),
        (extras.places, _place),
        (extras.views, _view),
    ):
        for first in range(0, len(rows), ROWS_AT_ONCE):
            with writes.one():
                for row in rows[first : first + ROWS_AT_ONCE]:
                    write(connection, maps, row)


def _guideline(connection: Connection, maps: IdMaps, row: Row) -> None:
    version, body, person, at = row
    by = None if person is None else maps.people[person]
    connection.execute(INSERT_GUIDELINE, (version, body, by, at))


def _assignment(connection: Connection, maps: IdMaps, row: Row) -> None:
    """Insert an assignment; it is done exactly if the person's answer is here."""
    place, there, person, role, purpose, state, position, expected, *drawn = row
    anchor = place if place > 0 else maps.anchors[there]
    key = (anchor, maps.people[person], role)
    state = "returned" if state == "returned" else "open"
    gold = serialization.encode(maps.value("gold", expected))
    values = (*key, purpose, state, position, gold, *drawn)
    connection.execute(INSERT_ASSIGNMENT, values)
    answer = answers.read(connection, *key)
    if answer is not None:
        assignments.keep_in_step(connection, *key, answer)


def _draft(connection: Connection, maps: IdMaps, row: Row) -> None:
    anchor, person, role, body, at = row
    key = (maps.anchors[anchor], maps.people[person], role)
    if _draft_is_current(connection, key, at):
        connection.execute(INSERT_DRAFT, (*key, body, at))


def _place(connection: Connection, maps: IdMaps, row: Row) -> None:
    person, mode, query, anchor, token, at = row
    where = None if anchor is None else maps.anchors[anchor]
    connection.execute(INSERT_PLACE, (maps.people[person], mode, query, where, token, at))


def _view(connection: Connection, maps: IdMaps, row: Row) -> None:
    person, name, query, at = row
    connection.execute(INSERT_VIEW, (maps.people[person], name, query, at))


# The report of a merge's batch keeps its conflicts and the state of the other copy. A later
# decision in a copy was made with both values known: it counts, and the item is not listed
# again.

REPORTS = """
SELECT c.id, b.report FROM batch AS b JOIN act AS c ON c.batch_id = b.id
WHERE b.format = 'merge' AND b.state = 'ready' AND c.kind = 'merge'"""

ConflictKey = tuple[str, str, str | None, str]
"""Public id of the anchor, entity, annotator, and role or name of the flag."""


class OpenConflict(msgspec.Struct, frozen=True, array_like=True):
    """One conflict, with annotator and time of the value in the other copy."""

    public_id: str
    entity: str
    whose: str | None
    name: str
    by: str | None
    at: str | None

    @property
    def key(self) -> ConflictKey:
        return self.public_id, self.entity, self.whose, self.name


class _Report(msgspec.Struct):
    open: list[OpenConflict] = []


_reports = msgspec.json.Decoder(_Report)


class PastConflicts:
    """Conflicts of earlier merges into one copy, each with the last act that left it."""

    def __init__(self, connection: Connection) -> None:
        self._acts: dict[OpenConflict, int] = {}
        for act, report in connection.execute(REPORTS):
            for one in _reports.decode(report).open:
                self._acts[one] = max(act, self._acts.get(one, 0))

    def __contains__(self, one: OpenConflict) -> bool:
        return one in self._acts

    def decided_since(self, public_id: str, thing: Thing, mine: Chain, other: Chain) -> bool:
        """True if `mine` was decided after a merge that reported the present `other`."""
        merge = self._acts.get(open_conflict(public_id, thing, other))
        return merge is not None and bool(mine) and mine[-1].act > merge


def open_conflict(public_id: str, thing: Thing, other: Chain) -> OpenConflict:
    """The stored form of a conflict. other: chain of the other copy."""
    entity, _, owner, name = thing.key
    last = other[-1] if other else None
    by, at = (last.by, last.at) if last else (None, None)
    return OpenConflict(public_id, entity, owner, name, by, at or None)


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """An event of the other copy that comes in. span: row of its anchor there."""

    event: LoggedEvent
    span: MergedAnchor
    before: LoggedText
    after: LoggedText
    times: AnswerTimes | None = None

    def values(self, maps: IdMaps) -> tuple[str | None, str | None]:
        """Texts before and after, with ids of this copy. Raises DamagedError."""
        return self._value(maps, self.before), self._value(maps, self.after)

    def _value(self, maps: IdMaps, value: LoggedText) -> str | None:
        if value.here:
            return value.text
        return serialization.encode(maps.value(self.event.entity, value.text, self.times))


@dataclass(frozen=True, slots=True)
class UnresolvedConflict:
    """A thing that is left to a person."""

    thing: Thing
    passage: int
    """Its id in the other copy."""
    start: int
    stop: int
    why: ConflictReason
    public_id: str


@dataclass(slots=True)
class MergePlan:
    """What comes in, and what does not."""

    maps: IdMaps
    import_state: tuple[int, ...]
    """State of this copy's imports for which the plan is valid."""
    people: list[MergedAnnotator] = field(default_factory=list)
    batches: list[MergedBatch] = field(default_factory=list)
    passages: list[MergedPassage] = field(default_factory=list)
    anchors: list[MergedAnchor] = field(default_factory=list)
    referenced: list[MergedAnchor] = field(default_factory=list)
    """Anchors that do not come in, but that source rows of new imports name."""
    import_events: dict[int, list[IncomingEvent]] = field(default_factory=dict)
    """Events of new imports about their own new anchors, by the anchor's id there."""
    pending: list[IncomingEvent] = field(default_factory=list)
    """All other events, in the order of the other copy."""
    acts: list[MergedAct] = field(default_factory=list)
    """Acts of the other copy with at least one incoming event."""
    detached_acts: set[int] = field(default_factory=set)
    """Undos and redos among them that reverse no act here."""
    shared: dict[int, int] = field(default_factory=dict)
    """Acts that both copies have, there to here."""
    unresolved: list[UnresolvedConflict] = field(default_factory=list)
    open: list[OpenConflict] = field(default_factory=list)
    """The same, as stored."""
    open_anew: bool = False
    """Some conflict was not reported by an earlier merge."""
    agreed: int = 0
    reverted: int = 0

    @property
    def files(self) -> list[str]:
        """Names of the imported files that come in."""
        return [batch.name for batch in self.batches if batch.format not in BULK_FORMATS]

    @property
    def events(self) -> int:
        return len(self.pending) + sum(map(len, self.import_events.values()))

    @property
    def is_empty(self) -> bool:
        """True if nothing comes in besides extras."""
        return not (self.people or self.batches or self.passages or self.anchors or self.events)


TEXT = """
SELECT p.text, t.offsets, t.lemmas, t.turns, t.tokenizer
FROM passage AS p JOIN passage_token AS t ON t.passage_id = p.id WHERE p.id = :id"""
TOKENS = "SELECT length(offsets) / 8 FROM passage_token WHERE passage_id = :id"


class Checker:
    """Validates passages and values of the other copy. Raises DamagedError."""

    def __init__(self, there: Connection) -> None:
        self._there = there
        self._last = (0, 0)

    def passage(self, row: MergedPassage) -> tuple[str, Sequence[object]]:
        """The text, and the stored offsets, lemmas, turns and tokenizer."""
        found = self._there.execute(TEXT, {"id": row.id}).fetchone()
        try:
            if found is None or serialization.decode_passage(*found[:4]).digest != row.digest:
                raise DamagedError(
                    f"its passage {row.id} does not match its hash: run `nfh-tui doctor` "
                    "there. Nothing was merged"
                )
        except (PassageError, ValueError) as error:
            raise DamagedError(
                f"its passage {row.id} is invalid ({error}): run `nfh-tui doctor` there. "
                "Nothing was merged"
            ) from error
        return found[0], found[1:]

    def value(self, incoming: IncomingEvent, text: str | None) -> None:
        """Raise unless a value fits the passage that it is about."""
        value = decoded(incoming.event.entity, text)
        if value is None or isinstance(value, serialization.AnchorValue):
            return
        span = incoming.span
        tokens = self._tokens(span.passage)
        try:
            if isinstance(value, serialization.FlagValue):
                proposal = value.span and Anchor(*value.span)
                mark = FlagMark(FlagName(incoming.event.name), "", value.at, proposal)
                trouble = mark.problem(Anchor(span.start, span.stop), tokens)
            else:
                serialization.answer_of(value).check(tokens, span.start, span.stop)
                trouble = ""
        except (AnswerError, ValueError) as error:
            raise self._misfit(incoming, str(error)) from error
        if trouble:
            raise self._misfit(incoming, trouble)

    @staticmethod
    def _misfit(incoming: IncomingEvent, what: str) -> DamagedError:
        return DamagedError(
            f"change {incoming.event.id} of its log does not fit its passage ({what}): run "
            "`nfh-tui doctor` there. Nothing was merged"
        )

    def _tokens(self, passage: int) -> int:
        """Number of tokens, cached for the last passage."""
        if self._last[0] != passage:
            row = self._there.execute(TOKENS, {"id": passage}).fetchone()
            self._last = passage, row[0]
        return self._last[1]


IMPORT_STATE = """
SELECT (SELECT coalesce(max(id), 0) FROM batch), (SELECT coalesce(max(id), 0) FROM passage),
    (SELECT coalesce(max(id), 0) FROM anchor WHERE batch_id IS NOT NULL)"""

REFERENCED = """
SELECT DISTINCT anchor_id FROM source_row
WHERE anchor_id IN (SELECT value FROM json_each(:ids))
    AND batch_id IN (SELECT value FROM json_each(:batches))"""

PASSAGES_AT_ONCE = 1_000

OnProgress = Callable[[int], None]


def import_state(connection: Connection) -> tuple[int, ...]:
    """Equal as long as nothing is imported."""
    return tuple(connection.execute(IMPORT_STATE).fetchone())


def plan(here: Connection, there: Connection, on_progress: OnProgress) -> MergePlan:
    """Plan a merge. Both connections must be in a read transaction.

    on_progress: called with the number of passages compared. Raises StoreError if the copies
    cannot be merged, and DamagedError if the other one is damaged.
    """
    return _Planning(here, there).run(on_progress)


class _Planning:
    def __init__(self, here: Connection, there: Connection) -> None:
        self._here = here
        self._there = there
        self._maps = IdMaps()
        self._plan = MergePlan(self._maps, import_state(here))
        self._past_conflicts, self._past_conflicts_there = (
            PastConflicts(here),
            PastConflicts(there),
        )
        self._new_batches: set[int] = set()
        self._imports: dict[int, int] = {}
        # Acts there and the things that they changed, as far as this copy has or gets them.
        self._done: set[tuple[int, ThingKey]] = set()
        # Acts of each rebased thing.
        self._rebased: list[set[int]] = []

    def run(self, on_progress: OnProgress) -> MergePlan:
        self._people()
        self._batches()
        done = 0
        for rows in source.passages(self._there, PASSAGES_AT_ONCE):
            self._chunk(rows)
            done += len(rows)
            on_progress(done)
        self._plan.pending.sort(key=lambda incoming: incoming.event.id)
        self._acts()
        return self._plan

    # --- people and imports -------------------------------------------------------------

    def _people(self) -> None:
        known = {person.name: person for person in source.people(self._here)}
        self._mine = ChainBuilder({one.id: one.name for one in known.values()}, {})
        index = NameIndex(self._here)
        theirs = source.people(self._there)
        taken = {person.name for person in theirs}
        for person in theirs:
            mine, name = known.get(person.name), person.name
            if mine is None:
                # Two forms of one name there stay two, since each has answers of its own.
                like = index.find(name)
                stored = like.name if like else normal_name(name)
                name = stored if stored not in taken else name
                taken.add(name)
                mine = known.get(name)
            if mine is None:
                if like is None:
                    index.get(name, person.type)
                self._plan.people.append(person._replace(name=name))
            elif mine.type != person.type:
                raise StoreError(
                    f"{person.name!r} is a {mine.type} here and a {person.type} in the other "
                    "copy: one name cannot be both. Nothing was merged"
                )
            self._maps.names[person.id] = name
            if name != person.name:
                self._maps.renamed[person.name] = name
            self._maps.people[person.id] = mine.id if mine else -person.id

    def _batches(self) -> None:
        known = {batch.content: batch.id for batch in source.batches(self._here)}
        imports = dict(self._here.execute(source.IMPORT_ACTS))
        self._imports = dict(self._there.execute(source.IMPORT_ACTS))
        shared: dict[int, int] = {}
        for batch in source.batches(self._there):
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
        self._theirs = ChainBuilder(self._maps.names, self._imports, self._maps)

    # --- passages -----------------------------------------------------------------------

    def _chunk(self, rows: Sequence[MergedPassage]) -> None:
        maps = self._maps
        digests = serialization.json_of([row.digest for row in rows])
        known: dict[str, int] = dict(self._here.execute(KNOWN, {"digests": digests}))
        for row in rows:
            if row.digest not in known:
                self._plan.passages.append(row)
            maps.passages[row.id] = known.get(row.digest, -row.id)
        theirs = source.anchors(self._there, [row.id for row in rows])
        mine = source.anchors(self._here, list(known.values()))
        by_span = {(one.passage, one.start, one.stop): one.id for one in mine}
        new = set[int]()
        for one in theirs:
            span = (maps.passages[one.passage], one.start, one.stop)
            maps.anchors[one.id] = by_span.get(span, -one.id)
            if span not in by_span:
                new.add(one.id)
        logs = (
            source.log(self._here, [one.id for one in mine]),
            source.log(self._there, [one.id for one in theirs]),
        )
        by_id = {one.id: one for one in mine}
        per_passage, beside = _grouped(theirs), _grouped(mine)
        for row in rows:
            anchors = per_passage.get(row.id, [])
            if not self._is_same(anchors, by_id, logs):
                others = beside.get(maps.passages[row.id], [])
                self._passage(row, anchors, others, new, logs)

    def _is_same(
        self, theirs: Sequence[MergedAnchor], mine: Mapping[int, MergedAnchor], logs: "_Logs"
    ) -> bool:
        """True if the other copy's log is a prefix of this one's, as for most passages.

        This is a shortcut for `_passage`. theirs: anchors of one passage. mine: by id.
        """
        pairs: list[tuple[LoggedEvent, LoggedEvent]] = []
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

    def _is_same_event(self, one: LoggedEvent, two: LoggedEvent) -> bool:
        people = self._maps.people
        return (
            one[5:9] == two[5:9]
            and one.entity == two.entity
            and one.at == two.at
            and one.owner == (two.owner and people[two.owner])
            and one.by == (two.by and people[two.by])
            # Values of spans hold ids of other anchors.
            and (one.entity != "anchor" or self._same_ids(one, two))
            and self._maps.same_text(two.before)
            and self._maps.same_text(two.after)
        )

    def _same_ids(self, one: LoggedEvent, two: LoggedEvent) -> bool:
        maps = self._maps
        return one.anchor == two.anchor and all(
            maps.value("anchor", text) == decoded("anchor", text)
            for text in (two.before, two.after)
        )

    def _passage(
        self,
        row: MergedPassage,
        theirs: Sequence[MergedAnchor],
        mine: Sequence[MergedAnchor],
        new: set[int],
        logs: "_Logs",
    ) -> None:
        """Compare all things of a passage and add them to the plan."""
        here, there = self._mine.chains(mine, logs[0]), self._theirs.chains(theirs, logs[1])
        for one in theirs:
            if one.id in new and one.batch is not None:
                here[span_key(self._maps.anchors[one.id])] = [self._theirs.import_step(one)]
        events = {event.id: event for one in theirs for event in logs[1].get(one.id, ())}
        public = {
            self._maps.anchors[one.id]: anchor_id(row.digest, Anchor(one.start, one.stop))
            for one in theirs
        }
        found = compare_passage(
            here,
            there,
            lambda thing: self._past_conflicts_there.decided_since(
                public[thing.anchor], thing, thing.there, thing.here
            ),
        )
        for one in theirs:
            if one.id in new:
                comes = _gets_row(one, found.things, self._maps)
                (self._plan.anchors if comes else self._plan.referenced).append(one)
        times = _times(found.things.values())
        spans = {self._maps.anchors[one.id]: one for one in theirs}
        for key in sorted(found.things, key=str):
            thing = found.things[key]
            self._plan.shared.update(thing.comparison.shared_acts)
            self._done.update((act, key) for act, _ in thing.comparison.shared_acts)
            public_id = public.get(key[1], "")
            self._decide(thing, row, spans, events, times.get(key[1]), public_id)

    def _decide(
        self,
        thing: Thing,
        row: MergedPassage,
        spans: Mapping[int, MergedAnchor],
        events: Mapping[int, LoggedEvent],
        times: AnswerTimes | None,
        public_id: str,
    ) -> None:
        if thing.outcome is MergeOutcome.AGREED:
            self._plan.agreed += 1
        elif thing.outcome is MergeOutcome.REVERTED:
            self._plan.reverted += 1
        elif thing.outcome is MergeOutcome.CONFLICT:
            if self._past_conflicts.decided_since(public_id, thing, thing.here, thing.there):
                self._plan.agreed += 1
                return
            span = spans[thing.anchor]
            left = UnresolvedConflict(
                thing, row.id, span.start, span.stop, thing.why, public_id
            )
            self._plan.unresolved.append(left)
            self._plan.open.append(open_conflict(public_id, thing, thing.there))
            self._plan.open_anew |= self._plan.open[-1] not in self._past_conflicts
        elif thing.outcome is MergeOutcome.TAKE:
            self._take(thing, spans[thing.anchor], events, times)

    def _take(
        self,
        thing: Thing,
        span: MergedAnchor,
        events: Mapping[int, LoggedEvent],
        times: AnswerTimes | None,
    ) -> None:
        comparison = thing.comparison
        incoming = [
            IncomingEvent(
                events.get(step.event) or _import_event(step, span), span, before, after, times
            )
            for step, before, after in thing.changes()
        ]
        self._done.update((step.act, thing.key) for step in thing.tail)
        if comparison.rebased:
            self._rebased.append({step.act for step in thing.tail})
        if thing.anchor < 0 and span.batch in self._new_batches and thing.entity != "anchor":
            first = _from_import(incoming, self._new_batches)
            if first:
                self._plan.import_events.setdefault(span.id, []).extend(incoming[:first])
            incoming = incoming[first:]
        if incoming:
            self._check_table(incoming[-1].event)
        self._plan.pending += incoming

    def _check_table(self, last: LoggedEvent) -> None:
        """Raise DamagedError unless the last event matches the table of the other copy."""
        key = (last.entity, last.anchor, last.owner, last.name)
        if event_log.present_value(self._there, key) != last.after:
            raise DamagedError(
                f"another program changed it: anchor {last.anchor} differs from its last "
                "event in the log. Run `nfh-tui doctor` on it. Nothing was merged"
            )

    # --- acts ---------------------------------------------------------------------------

    def _acts(self) -> None:
        """Select acts and batches: those with incoming events, and all imports of files."""
        plan = self._plan
        files = {batch.id for batch in plan.batches if batch.format not in BULK_FORMATS}
        wanted = {incoming.event.act for incoming in plan.pending}
        wanted |= {act for batch, act in self._imports.items() if batch in files}
        ids = sorted(wanted)
        for first in range(0, len(ids), PASSAGES_AT_ONCE):
            plan.acts += source.acts(self._there, ids[first : first + PASSAGES_AT_ONCE])
        runs = {act.batch for act in plan.acts if act.id not in plan.shared}
        plan.batches = [b for b in plan.batches if b.id in files or b.id in runs]
        named = self._referenced(files)
        plan.referenced = [anchor for anchor in plan.referenced if anchor.id in named]
        targets = {act.id: act.target for act in plan.acts if act.kind in ("undo", "redo")}
        for incoming in plan.pending:
            event = incoming.event
            if event.act in targets and not self._reverses(event, targets[event.act]):
                plan.detached_acts.add(event.act)
        for some in self._rebased:
            plan.detached_acts |= {
                act for act in some & targets.keys() if targets[act] not in some
            }

    def _referenced(self, files: set[int]) -> set[int]:
        """The ids of `referenced` anchors that source rows of these batches name."""
        left = serialization.json_of([anchor.id for anchor in self._plan.referenced])
        key = {"ids": left, "batches": serialization.json_of(sorted(files))}
        return {row[0] for row in self._there.execute(REFERENCED, key)}

    def _reverses(self, event: LoggedEvent, target: int | None) -> bool:
        """True if an undo's event reverses what its act did here."""
        owner = None if event.owner is None else self._maps.names[event.owner]
        key = (event.entity, self._maps.anchors[event.anchor], owner, event.name)
        return target is not None and (target, key) in self._done


_Logs = tuple[Mapping[int, Sequence[LoggedEvent]], Mapping[int, Sequence[LoggedEvent]]]


def _grouped(anchors: Iterable[MergedAnchor]) -> dict[int, list[MergedAnchor]]:
    found: dict[int, list[MergedAnchor]] = defaultdict(list)
    for one in anchors:
        found[one.passage].append(one)
    return found


def _import_event(step: ChainEvent, span: MergedAnchor) -> LoggedEvent:
    """An event for the first step of an imported span that was removed here."""
    return LoggedEvent(
        0, step.act, "anchor", span.id, None, "", None, step.raw, "import", None, "", span.batch
    )


def _gets_row(anchor: MergedAnchor, things: Mapping[ThingKey, Thing], maps: IdMaps) -> bool:
    """True for a new anchor that was imported or whose creation comes in."""
    thing = things.get(span_key(maps.anchors[anchor.id]))
    return anchor.batch is not None or (
        thing is not None and thing.outcome is MergeOutcome.TAKE
    )


def _from_import(incoming: Sequence[IncomingEvent], new: set[int]) -> int:
    """Number of leading events of new imports."""
    for place, one in enumerate(incoming):
        if one.event.kind != "import" or one.event.batch not in new:
            return place
    return len(incoming)


def _times(things: Iterable[Thing]) -> dict[int, dict[tuple[str, str], str]]:
    """By anchor, the times of equal answers; see `AnswerTimes`."""
    found: dict[int, dict[tuple[str, str], str]] = {}
    for thing in things:
        owner = thing.key[2]
        if thing.entity == "answer" and owner is not None:
            for was, value_here in thing.times.items():
                found.setdefault(thing.anchor, {})[owner, was] = value_here
    return found
