"""The plan of a merge: what the other copy has more, passage by passage, what comes along
besides the log, and what earlier merges left open; found without writing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from nfh_db import answers, assignments, event_log
from nfh_db.batches import BULK_FORMATS
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.merge import source
from nfh_db.merge.log_diff import (
    Chain,
    ChainEvent,
    Histories,
    MergeOutcome,
    Text,
    Thing,
    Why,
    family,
    span_key,
)
from nfh_db.merge.log_diff import Key as FamilyKey
from nfh_db.merge.source import (
    DamagedError,
    Logged,
    Maps,
    MergedAct,
    MergedAnchor,
    MergedAnnotator,
    MergedBatch,
    MergedPassage,
    Times,
    Writes,
    decoded,
)
from nfh_db.messages import counted
from nfh_db.passages import KNOWN
from nfh_db.records import FlagMark, FlagName
from nfh_db.serialization import (
    AnchorValue,
    FlagValue,
    answer_of,
    decode_passage,
    encode,
    json_of,
)
from nfh_models.domain import Anchor, AnswerError, PassageError, anchor_id

# What is no part of the log and comes along where it cannot be in anybody's way.
#
# Assignments, drafts, places and saved views are brought where there are none here, by anchor
# and person; guidelines where there is none of their version. Nothing here is ever replaced.

GUIDELINES = """
SELECT version, body, annotator_id, created_at FROM guideline ORDER BY version"""
INSERT_GUIDELINE = """
INSERT INTO guideline (version, body, annotator_id, created_at)
VALUES (:version, :body, :annotator, :at) ON CONFLICT (version) DO NOTHING"""
STAMPED = "SELECT count(*) FROM answer WHERE guideline_version = :version AND removed = 0"
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
# A draft is forgotten when its answer is given: a copy of old must not bring it back.
DRAFT_STANDS = """
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
    """What comes along, by ids of the other copy; left: what does not, in sentences.

    An assignment is preceded by its anchor's id here, or what stands for it.
    """

    guidelines: list[Row] = field(default_factory=list)
    assignments: list[Row] = field(default_factory=list)
    drafts: list[Row] = field(default_factory=list)
    places: list[Row] = field(default_factory=list)
    views: list[Row] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """True if nothing comes along."""
        return not (
            self.guidelines or self.assignments or self.drafts or self.places or self.views
        )


def find(here: Connection, there: Connection, maps: Maps, lost: set[int]) -> Extras:
    """What the other copy has more. lost: its anchors that have no place here."""
    found = Extras()
    _find_guidelines(here, there, found)
    _find_assignments(here, there, maps, lost, found)
    _find_drafts(here, there, maps, lost, found)
    _find_places(here, there, maps, lost, found)
    _find_views(here, there, maps, found)
    return found


def _find_guidelines(here: Connection, there: Connection, found: Extras) -> None:
    """Versions that are not here; of one that reads otherwise there, what that means.

    Answers keep their stamps, so that one log stays equal to the other.
    """
    known = {version: body for version, body, *_ in here.execute(GUIDELINES)}
    otherwise = []
    for row in there.execute(GUIDELINES).fetchall():
        version = row[0]
        if version not in known:
            found.guidelines.append(row)
        elif known[version] != row[1]:
            otherwise.append(version)
            stamped = there.execute(STAMPED, {"version": version}).fetchone()[0]
            found.left.append(
                f"version {version} of the guidelines reads otherwise there (answers given "
                f"under that text: {stamped:,}); `nfh-tui guidelines --version {version}` on "
                "that copy shows it"
            )
    holds = max((row[0] for row in found.guidelines), default=0)
    if otherwise and holds > max(known):
        found.left.append(
            f"what version {otherwise[-1]} of the guidelines says there, of which version "
            f"{holds} was made: that one comes in and holds from now on"
        )


def _find_assignments(
    here: Connection, there: Connection, maps: Maps, lost: set[int], found: Extras
) -> None:
    otherwise = nowhere = 0
    for rows in _some(there, ASSIGNMENTS):
        places = _places(here, maps, rows)
        mine = {tuple(row[:3]): row for row in _of(here, ASSIGNMENTS_OF, places)}
        for row, place in zip(rows, places, strict=True):
            known = mine.get((place, maps.people[row[1]], row[2]))
            if known is not None:
                otherwise += _is_other_task(known, row)
            elif row[0] in lost:
                nowhere += 1
            else:
                found.assignments.append((place, *row))
    if otherwise:
        things = counted(otherwise, "assignment")
        found.left.append(f"{things} of another purpose, or given back, in one of the copies")
    if nowhere:
        found.left.append(f"{counted(nowhere, 'assignment')} of spans that are not here")


def _places(here: Connection, maps: Maps, rows: Sequence[Row]) -> list[int]:
    """The anchor of each assignment: what is open moves on with its number's span."""
    after: dict[int, int] = {}
    ids = {maps.anchors[row[0]] for row in rows if row[4] == "open"}
    while ids:
        found: dict[int, int] = dict(_of(here, SUCCESSORS, sorted(ids)))
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
    """True if a purpose differs, or one was given back. Done follows from the answers."""
    return bool(one[3] != other[3] or (one[4] == "returned") != (other[4] == "returned"))


def _find_drafts(
    here: Connection, there: Connection, maps: Maps, lost: set[int], found: Extras
) -> None:
    left = 0
    for rows in _some(there, DRAFTS):
        ids = [maps.anchors[row[0]] for row in rows]
        mine = {tuple(row[:3]): row[3] for row in _of(here, DRAFTS_OF, ids)}
        for row in rows:
            key = (maps.anchors[row[0]], maps.people[row[1]], row[2])
            if key in mine:
                left += mine[key] != row[3]
            elif row[0] in lost or not _stands(here, key, row[4]):
                left += 1
            else:
                found.drafts.append(row)
    if left:
        things = counted(left, "draft")
        found.left.append(f"{things} of items that were answered since, or have one here")


def _stands(connection: Connection, key: Row, at: object) -> bool:
    """True unless the person answered since the draft was written."""
    row = (*key, at)
    return bool(connection.execute(DRAFT_STANDS, row).fetchone()[0])


def _find_places(
    here: Connection, there: Connection, maps: Maps, lost: set[int], found: Extras
) -> None:
    known = {tuple(row[:2]) for row in here.execute(PLACES)}
    for row in there.execute(PLACES):
        if (maps.people[row[0]], row[1]) not in known and row[3] not in lost:
            found.places.append(row)


def _find_views(here: Connection, there: Connection, maps: Maps, found: Extras) -> None:
    known = {(row[0], row[1]): row[2] for row in here.execute(VIEWS)}
    for row in there.execute(VIEWS):
        mine = known.get((maps.people[row[0]], row[1]))
        if mine is None:
            found.views.append(row)
        elif mine != row[2]:
            name = maps.names[row[0]]
            found.left.append(f"the saved view “{row[1]}” of {name} is another query there")


def _some(connection: Connection, sql: str) -> Iterator[list[Row]]:
    cursor = connection.execute(sql)
    while rows := cursor.fetchmany(READ_AT_ONCE):
        yield rows


def _of(connection: Connection, sql: str, ids: Sequence[int]) -> list[Row]:
    rows: list[Row] = connection.execute(sql, {"ids": json_of(ids)}).fetchall()
    return rows


# --- bringing them ----------------------------------------------------------------------


def bring(connection: Connection, maps: Maps, extras: Extras) -> None:
    """Write what comes along, in short writes. May be broken off and run again."""
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


def _guideline(connection: Connection, maps: Maps, row: Row) -> None:
    version, body, person, at = row
    by = None if person is None else maps.people[person]
    connection.execute(INSERT_GUIDELINE, (version, body, by, at))


def _assignment(connection: Connection, maps: Maps, row: Row) -> None:
    """It is done if that person's answer is here, whatever the other copy says."""
    place, there, person, role, purpose, state, position, expected, *drawn = row
    anchor = place if place > 0 else maps.anchors[there]
    key = (anchor, maps.people[person], role)
    state = "returned" if state == "returned" else "open"
    gold = encode(maps.value("gold", expected))
    values = (*key, purpose, state, position, gold, *drawn)
    connection.execute(INSERT_ASSIGNMENT, values)
    answer = answers.read(connection, *key)
    if answer is not None:
        assignments.keep_in_step(connection, *key, answer)


def _draft(connection: Connection, maps: Maps, row: Row) -> None:
    anchor, person, role, body, at = row
    key = (maps.anchors[anchor], maps.people[person], role)
    if _stands(connection, key, at):
        connection.execute(INSERT_DRAFT, (*key, body, at))


def _place(connection: Connection, maps: Maps, row: Row) -> None:
    person, mode, query, anchor, token, at = row
    where = None if anchor is None else maps.anchors[anchor]
    connection.execute(INSERT_PLACE, (maps.people[person], mode, query, where, token, at))


def _view(connection: Connection, maps: Maps, row: Row) -> None:
    person, name, query, at = row
    connection.execute(INSERT_VIEW, (maps.people[person], name, query, at))


# What earlier merges left to a person, and whether somebody decided it since.
#
# Each merge keeps, in its batch's report, what it left open and how the other copy stood. A
# decision that came after that in a copy was made with both sides in view: it is the one that
# counts, and the item is not listed again.

REPORTS = """
SELECT c.id, b.report FROM batch AS b JOIN act AS c ON c.batch_id = b.id
WHERE b.format = 'merge' AND b.state = 'ready' AND c.kind = 'merge'"""

Key = tuple[str, str, str | None, str]
"""Public id of the anchor, entity, whose, and role or flag's name."""


class OpenConflict(msgspec.Struct, frozen=True, array_like=True):
    """One thing that was left: which, and who said what was there in the other copy, when."""

    public_id: str
    entity: str
    whose: str | None
    name: str
    by: str | None
    at: str | None

    @property
    def key(self) -> Key:
        return self.public_id, self.entity, self.whose, self.name


class _Report(msgspec.Struct):
    open: list[OpenConflict] = []


_reports = msgspec.json.Decoder(_Report)


class Memory:
    """What merges into one copy left open, and by which act they did."""

    def __init__(self, connection: Connection) -> None:
        self._left: dict[OpenConflict, int] = {}
        for act, report in connection.execute(REPORTS):
            for one in _reports.decode(report).open:
                self._left[one] = max(act, self._left.get(one, 0))

    def __contains__(self, one: OpenConflict) -> bool:
        """True if just this was left before."""
        return one in self._left

    def decided_since(self, public_id: str, thing: Thing, mine: Chain, other: Chain) -> bool:
        """True if `mine` was decided after `other`, as it stands, had been seen there."""
        merge = self._left.get(opening(public_id, thing, other))
        return merge is not None and bool(mine) and mine[-1].act > merge


def opening(public_id: str, thing: Thing, other: Chain) -> OpenConflict:
    """What a merge keeps of a thing that it leaves, where the other copy has this chain."""
    entity, _, owner, name = thing.key
    last = other[-1] if other else None
    by, at = (last.by, last.at) if last else (None, None)
    return OpenConflict(public_id, entity, owner, name, by, at or None)


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """An event of the other copy that is to come in.

    span: the anchor's row there. before, after: what it changes from and to. times: see
    `Times`.
    """

    event: Logged
    span: MergedAnchor
    before: Text
    after: Text
    times: Times | None = None

    def values(self, maps: Maps) -> tuple[str | None, str | None]:
        """What it changes from and to, in this copy's terms. Raises DamagedError."""
        return self._value(maps, self.before), self._value(maps, self.after)

    def _value(self, maps: Maps, value: Text) -> str | None:
        if value.here:
            return value.text
        return encode(maps.value(self.event.entity, value.text, self.times))


@dataclass(frozen=True, slots=True)
class UnresolvedConflict:
    """A thing that is left to a person. passage: its id in the other copy.

    public_id: of its anchor, the same in every copy.
    """

    thing: Thing
    passage: int
    start: int
    stop: int
    why: Why
    public_id: str


@dataclass(slots=True)
class MergePlan:
    """What comes in, and what does not.

    shared: the same act, there and here. acts: those of the other copy that come in, or of
    which something does; loose: undos and redos among them that cannot be those of an act
    here. anchors: new ones, those that an import brought and those that people made; bare:
    further ones, left out, that a row of a new import names. direct: what a new import says
    of its own new anchors, by anchor's id there. waiting: all other events, in the order in
    which they happened there. open, open_anew: what is left, and whether some of that was not
    by an earlier merge. ground: the state of this copy's imports that all this holds for.
    """

    maps: Maps
    ground: tuple[int, ...]
    people: list[MergedAnnotator] = field(default_factory=list)
    batches: list[MergedBatch] = field(default_factory=list)
    passages: list[MergedPassage] = field(default_factory=list)
    anchors: list[MergedAnchor] = field(default_factory=list)
    bare: list[MergedAnchor] = field(default_factory=list)
    direct: dict[int, list[IncomingEvent]] = field(default_factory=dict)
    waiting: list[IncomingEvent] = field(default_factory=list)
    acts: list[MergedAct] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)
    shared: dict[int, int] = field(default_factory=dict)
    left: list[UnresolvedConflict] = field(default_factory=list)
    open: list[OpenConflict] = field(default_factory=list)
    open_anew: bool = False
    agreed: int = 0
    taken_back: int = 0

    @property
    def files(self) -> list[str]:
        """Names of the imported files that come in."""
        return [batch.name for batch in self.batches if batch.format not in BULK_FORMATS]

    @property
    def events(self) -> int:
        """Changes that come in."""
        return len(self.waiting) + sum(map(len, self.direct.values()))

    @property
    def is_empty(self) -> bool:
        """True if the log and what it is about get nothing new."""
        return not (self.people or self.batches or self.passages or self.anchors or self.events)


TEXT = """
SELECT p.text, t.offsets, t.lemmas, t.turns, t.tokenizer
FROM passage AS p JOIN passage_token AS t ON t.passage_id = p.id WHERE p.id = :id"""
TOKENS = "SELECT length(offsets) / 8 FROM passage_token WHERE passage_id = :id"


class Checker:
    """Looks at passages and values of the other copy. Raises DamagedError."""

    def __init__(self, there: Connection) -> None:
        self._there = there
        self._last = (0, 0)

    def passage(self, row: MergedPassage) -> tuple[str, Sequence[object]]:
        """Text, and offsets, lemmas, turns and tokenizer as the table holds them."""
        found = self._there.execute(TEXT, {"id": row.id}).fetchone()
        try:
            if found is None or decode_passage(*found[:4]).digest != row.digest:
                raise DamagedError(
                    f"its passage {row.id} is not the one that its hash names: "
                    "run `nfh-tui doctor` there. Nothing was merged"
                )
        except (PassageError, ValueError) as error:
            raise DamagedError(
                f"its passage {row.id} does not hold ({error}): run `nfh-tui "
                "doctor` there. Nothing was merged"
            ) from error
        return found[0], found[1:]

    def value(self, coming: IncomingEvent, text: str | None) -> None:
        """Raise unless a value fits the passage that it is about."""
        value = decoded(coming.event.entity, text)
        if value is None or isinstance(value, AnchorValue):
            return
        span = coming.span
        tokens = self._tokens(span.passage)
        try:
            if isinstance(value, FlagValue):
                proposal = value.span and Anchor(*value.span)
                mark = FlagMark(FlagName(coming.event.name), "", value.at, proposal)
                trouble = mark.trouble(Anchor(span.start, span.stop), tokens)
            else:
                answer_of(value).check(tokens, span.start, span.stop)
                trouble = ""
        except (AnswerError, ValueError) as error:
            raise self._misfit(coming, str(error)) from error
        if trouble:
            raise self._misfit(coming, trouble)

    @staticmethod
    def _misfit(coming: IncomingEvent, what: str) -> DamagedError:
        return DamagedError(
            f"change {coming.event.id} of its log does not fit its passage ({what}): run "
            "`nfh-tui doctor` there. Nothing was merged"
        )

    def _tokens(self, passage: int) -> int:
        """Tokens of a passage; what comes next is often of the same."""
        if self._last[0] != passage:
            row = self._there.execute(TOKENS, {"id": passage}).fetchone()
            self._last = passage, row[0]
        return self._last[1]


GROUND = """
SELECT (SELECT coalesce(max(id), 0) FROM batch), (SELECT coalesce(max(id), 0) FROM passage),
    (SELECT coalesce(max(id), 0) FROM anchor WHERE batch_id IS NOT NULL)"""

NAMED = """
SELECT DISTINCT anchor_id FROM source_row
WHERE anchor_id IN (SELECT value FROM json_each(:ids))
    AND batch_id IN (SELECT value FROM json_each(:batches))"""

PASSAGES_AT_ONCE = 1_000
"""Passages compared at once."""

Tell = Callable[[int], None]


def ground(connection: Connection) -> tuple[int, ...]:
    """What changes if an import comes in between."""
    return tuple(connection.execute(GROUND).fetchone())


def plan(here: Connection, there: Connection, tell: Tell) -> MergePlan:
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
        self._plan = MergePlan(self._maps, ground(here))
        self._memory, self._memory_there = Memory(here), Memory(there)
        self._new_batches: set[int] = set()
        self._imports: dict[int, int] = {}
        # Which acts there changed what, as far as this copy has it or is to have it.
        self._done: set[tuple[int, FamilyKey]] = set()
        # Acts whose changes of a thing follow, here, something else than there.
        self._rebased: list[set[int]] = []

    def run(self, tell: Tell) -> MergePlan:
        self._people()
        self._batches()
        done = 0
        for rows in source.passages(self._there, PASSAGES_AT_ONCE):
            self._stretch(rows)
            done += len(rows)
            tell(done)
        self._plan.waiting.sort(key=lambda coming: coming.event.id)
        self._acts()
        return self._plan

    # --- people and imports -------------------------------------------------------------

    def _people(self) -> None:
        known = {person.name: person for person in source.people(self._here)}
        self._mine = Histories({one.id: one.name for one in known.values()}, {})
        for person in source.people(self._there):
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
        self._theirs = Histories(self._maps.names, self._imports, self._maps)

    # --- passages -----------------------------------------------------------------------

    def _stretch(self, rows: Sequence[MergedPassage]) -> None:
        maps = self._maps
        digests = json_of([row.digest for row in rows])
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
        row: MergedPassage,
        theirs: Sequence[MergedAnchor],
        mine: Sequence[MergedAnchor],
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
        row: MergedPassage,
        spans: Mapping[int, MergedAnchor],
        events: Mapping[int, Logged],
        times: Times | None,
        public_id: str,
    ) -> None:
        if thing.fate is MergeOutcome.AGREED:
            self._plan.agreed += 1
        elif thing.fate is MergeOutcome.REVERTED:
            self._plan.taken_back += 1
        elif thing.fate is MergeOutcome.CONFLICT:
            if self._memory.decided_since(public_id, thing, thing.here, thing.there):
                self._plan.agreed += 1
                return
            span = spans[thing.anchor]
            left = UnresolvedConflict(
                thing, row.id, span.start, span.stop, thing.why, public_id
            )
            self._plan.left.append(left)
            self._plan.open.append(opening(public_id, thing, thing.there))
            self._plan.open_anew |= self._plan.open[-1] not in self._memory
        elif thing.fate is MergeOutcome.TAKE:
            self._take(thing, spans[thing.anchor], events, times)

    def _take(
        self,
        thing: Thing,
        span: MergedAnchor,
        events: Mapping[int, Logged],
        times: Times | None,
    ) -> None:
        verdict = thing.verdict
        coming = [
            IncomingEvent(
                events.get(step.event) or _bringing(step, span), span, before, after, times
            )
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
        if event_log.present_value(self._there, *key) != last.after:
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
        for first in range(0, len(ids), PASSAGES_AT_ONCE):
            plan.acts += source.acts(self._there, ids[first : first + PASSAGES_AT_ONCE])
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


def _grouped(anchors: Iterable[MergedAnchor]) -> dict[int, list[MergedAnchor]]:
    found: dict[int, list[MergedAnchor]] = defaultdict(list)
    for one in anchors:
        found[one.passage].append(one)
    return found


def _bringing(step: ChainEvent, span: MergedAnchor) -> Logged:
    """The event by which a span comes in that a file brought there, and that was gone here."""
    return Logged(
        0, step.act, "anchor", span.id, None, "", None, step.raw, "import", None, "", span.batch
    )


def _comes(anchor: MergedAnchor, things: Mapping[FamilyKey, Thing], maps: Maps) -> bool:
    """True if a new anchor gets a row: an import brought it, or its making comes in."""
    thing = things.get(span_key(maps.anchors[anchor.id]))
    return anchor.batch is not None or (thing is not None and thing.fate is MergeOutcome.TAKE)


def _from_import(coming: Sequence[IncomingEvent], new: set[int]) -> int:
    """How many of the first changes of a thing are a new import's own."""
    for place, one in enumerate(coming):
        if one.event.kind != "import" or one.event.batch not in new:
            return place
    return len(coming)


def _times(things: Iterable[Thing]) -> dict[int, dict[tuple[str, str], str]]:
    """Where the copies have one answer at two times, by anchor; see `Times`."""
    found: dict[int, dict[tuple[str, str], str]] = {}
    for thing in things:
        owner = thing.key[2]
        if thing.entity == "answer" and owner is not None:
            for was, now in thing.times.items():
                found.setdefault(thing.anchor, {})[owner, was] = now
    return found
