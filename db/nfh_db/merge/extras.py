"""What is no part of the log and comes along where it cannot be in anybody's way.

Assignments, drafts, places and saved views are brought where there are none here, by anchor
and person; guidelines where there is none of their version. Nothing here is ever replaced.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nfh_db import answers, assignments
from nfh_db.connection import Connection
from nfh_db.formats.wording import counted
from nfh_db.merge.maps import Maps
from nfh_db.merge.writing import Writes
from nfh_db.values import encode, json_of

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
AT_ONCE = 100

Row = tuple[Any, ...]


@dataclass(slots=True)
class Extras:
    """What comes along, by ids of the other copy; left: what does not, in sentences.

    An assignment is preceded by its anchor's id here, or as `maps` stands for it.
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
        for first in range(0, len(rows), AT_ONCE):
            with writes.one():
                for row in rows[first : first + AT_ONCE]:
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
