"""The queue: the anchors of a query, in its order, and the rows that show them."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from nfh_db import models
from nfh_db.anchors import VISIBLE
from nfh_db.connection import Connection, Repository
from nfh_db.errors import QueryError
from nfh_db.items import own_state
from nfh_db.query import Query, asked_by, compile_search, keys_for
from nfh_db.query.parser import printable
from nfh_db.query.sql import ACTIVE_IDENTIFIER
from nfh_db.records import AnchorState, Annotator, FlagName, QueueRow, Role
from nfh_models.domain import Blocking, Kind

FIRST_CHUNK = 200
"""Ids of the first chunk: enough to fill a screen."""

LATER_CHUNK = 20_000
"""Ids of each later chunk."""

AROUND = 60
"""Code points of text on each side of an anchor's words in a queue row."""

RESOLVING = ("resolution", "both")
"""Tasks of models that choose the missing noun."""

MOST_VALUES = 100
"""Values that `queue_values` returns at most."""

# One row with all ids: a thread that fetches 184,507 rows (the released corpus) releases and
# reacquires the GIL for each, and has to wait for it while the screen is busy.
SELECT_IDS = """
    SELECT json_group_array(id) FROM (
        SELECT a.id AS id FROM anchor AS a WHERE {where} ORDER BY {order} LIMIT :limit)"""
COUNT = "SELECT count(*) FROM anchor AS a WHERE {where}"

# substr() stops at a NUL character, so the few texts that have one are returned whole.
SELECT_ROWS = """
    SELECT a.id, substr(p.text, max(a.text_start - :around, 0) + 1, min(a.text_start, :around)),
        a.word, substr(p.text, a.text_stop + 1, :around),
        a.text_start, a.text_stop, CASE WHEN instr(p.text, char(0)) > 0 THEN p.text END,
        a.state, a.kind, a.strongest, a.pattern, {hidden}, {audited},
        (SELECT group_concat(DISTINCT f.name) FROM flag AS f
            WHERE f.anchor_id = a.id AND f.removed = 0
                AND (f.annotator_id = :me OR f.name <> 'skip' AND NOT {own_flags})
                AND (f.batch_id IS NULL
                    OR f.batch_id NOT IN (SELECT id FROM batch WHERE state = 'loading')))
    FROM json_each(:ids) AS j
    JOIN anchor AS a ON a.id = j.value
    JOIN passage AS p ON p.id = a.passage_id
    WHERE {visible}"""

# BLIND: 1 if this person has yet to decide the anchor blind, else 0. ANSWERED: 1 if this
# annotator has answered the anchor, 2 if the anchor that it replaces, else 0.
BLIND = """(
        SELECT count(*) FROM assignment AS s
        WHERE s.anchor_id = a.id AND s.annotator_id = :me AND s.role = 'adjudicator'
            AND s.state = 'open' AND s.purpose IN ('double', 'audit'))"""
AUDITED = """EXISTS (
        SELECT 1 FROM assignment AS s
        WHERE s.anchor_id = a.id AND s.annotator_id = :me AND s.role = 'adjudicator'
            AND s.state = 'open' AND s.purpose = 'audit')"""
ANSWERED = """coalesce((
        SELECT CASE WHEN w.anchor_id = a.id THEN 1 ELSE 2 END FROM answer AS w
        WHERE w.anchor_id IN (a.id, a.replaces) AND w.annotator_id = :me
            AND w.role = 'annotator' AND w.removed = 0
        ORDER BY 1 LIMIT 1), 0)"""

ANSWERED_IT, ANSWERED_BEFORE = 1, 2

SELECT_NAMES = """
SELECT name FROM annotator WHERE merged_into IS NULL AND retired_at IS NULL
ORDER BY id LIMIT :most"""
SELECT_MODELS = """
    SELECT m.name FROM model AS m WHERE m.task IN ('resolution', 'both')
    ORDER BY m.state <> 'active', m.id DESC LIMIT :most"""
SELECT_VALUES = {
    "split": """
        SELECT DISTINCT s.split FROM source_row AS s JOIN batch AS b ON b.id = s.batch_id
        WHERE s.split IS NOT NULL AND b.state <> 'loading' ORDER BY 1 LIMIT :most""",
    "anchor": """
        SELECT a.word FROM anchor AS a WHERE {visible} GROUP BY a.word COLLATE NOCASE
        ORDER BY count(*) DESC, a.word LIMIT :most""",
    "pattern": """
        SELECT DISTINCT a.pattern FROM anchor AS a WHERE a.pattern <> '' AND {visible}
        ORDER BY 1 LIMIT :most""",
    **dict.fromkeys(("by", "differs", "said", "assigned", "todo"), SELECT_NAMES),
    **dict.fromkeys(("right", "wrong"), SELECT_NAMES),
    **dict.fromkeys(("predicted", "hit", "miss"), SELECT_MODELS),
    "tagged": """
        SELECT DISTINCT v.rule_tag FROM answer AS v
        WHERE v.rule_tag IS NOT NULL AND v.removed = 0
        ORDER BY length(v.rule_tag), v.rule_tag LIMIT :most""",
    "nfhrule": """
        SELECT i.rule FROM identification AS i WHERE i.model_id = {active}
        GROUP BY i.rule ORDER BY count(*) DESC, i.rule LIMIT :most""",
    "doc": """
        SELECT DISTINCT d.name FROM document AS d LEFT JOIN batch AS b ON b.id = d.batch_id
        WHERE coalesce(b.state, '') <> 'loading' ORDER BY d.id DESC LIMIT :most""",
}

OWN_TAGS = """
        SELECT DISTINCT v.rule_tag FROM answer AS v
        WHERE v.rule_tag IS NOT NULL AND v.removed = 0 AND v.annotator_id = :me
            AND v.role = 'annotator'
        ORDER BY length(v.rule_tag), v.rule_tag LIMIT :most"""


def queue_ids(
    connection: Connection, query: Query, me_id: int, role: Role = Role.ADJUDICATOR
) -> Iterator["array[int]"]:
    """Yield the ids of the anchors that `query` finds for annotator me_id, in its order.

    The first chunk has FIRST_CHUNK ids, later ones LATER_CHUNK; an empty queue has no chunk.
    The first chunk and the rest are read separately: what others commit in between may be out
    of order, but no id is given twice. Raises QueryError for a query that is not allowed in
    this role.
    """
    first = _ids(connection, query, me_id, role, FIRST_CHUNK)
    if first:
        yield first
    if len(first) < FIRST_CHUNK:
        return
    rest = _ids(connection, query, me_id, role, -1)
    if rest[:FIRST_CHUNK] == first:
        rest = rest[FIRST_CHUNK:]
    else:
        given = set(first)
        rest = array("q", (anchor_id for anchor_id in rest if anchor_id not in given))
    for start in range(0, len(rest), LATER_CHUNK):
        yield rest[start : start + LATER_CHUNK]


def _ids(
    connection: Connection, query: Query, me_id: int, role: Role, limit: int
) -> "array[int]":
    compiled = compile_search(connection, query, me_id, role)
    statement = SELECT_IDS.format(where=compiled.where, order=compiled.order)
    found = connection.execute(statement, {**compiled.parameters, "limit": limit}).fetchone()
    return array("q", msgspec.json.decode(found[0], type=list[int]))


def queue_count(
    connection: Connection, query: Query, me_id: int, role: Role = Role.ADJUDICATOR
) -> int:
    """Count the anchors that `query` finds for annotator me_id.

    Raises QueryError for a query that is not allowed in this role, and like `check_models`.
    """
    check_models(connection, query)
    compiled = compile_search(connection, query, me_id, role)
    statement = COUNT.format(where=compiled.where)
    return int(connection.execute(statement, compiled.parameters).fetchone()[0])


def queue_rows(
    connection: Connection, anchor_ids: Sequence[int], me_id: int, role: Role = Role.ADJUDICATOR
) -> tuple[QueueRow, ...]:
    """Return a row for each of the anchors, in the given order, as annotator me_id may see it.

    Anchors that are missing, replaced, removed or of an unfinished import are left out.
    `before` and `after` hold up to AROUND code points of the text. `flags` holds the flags of
    everybody, but of `skip` only those of annotator me_id.

    In the annotator's role a row shows only what that person did, flags included. In the
    adjudicator's role it shows no decision on an item that this person has yet to decide blind:
    of a double only the annotators' answers, of an audit nothing but the person's own flags.
    """
    ids = msgspec.json.encode(list(anchor_ids)).decode()
    parameters = {"ids": ids, "me": me_id, "around": AROUND}
    if role is Role.ANNOTATOR:
        hidden, own_flags, audited = ANSWERED, "TRUE", "FALSE"
    else:
        hidden, own_flags, audited = BLIND, AUDITED, AUDITED
    statement = SELECT_ROWS.format(
        visible=VISIBLE, hidden=hidden, audited=audited, own_flags=own_flags
    )
    found = connection.execute(statement, parameters).fetchall()
    rows = {row[0]: _row(role, row) for row in found}
    return tuple(rows[anchor_id] for anchor_id in anchor_ids if anchor_id in rows)


def _row(role: Role, row: tuple[Any, ...]) -> QueueRow:
    anchor_id, before, word, after, text_start, text_stop, whole, *rest = row
    state, kind, strongest, pattern, hidden, audited, flags = rest
    names = (flags or "").split(",")
    if whole is not None:
        before = whole[max(text_start - AROUND, 0) : text_start]
        after = whole[text_stop : text_stop + AROUND]
    stands = AnchorState(state)
    if role is Role.ANNOTATOR:
        stands = own_state(answered=hidden == ANSWERED_IT, moved=hidden == ANSWERED_BEFORE)
        kind, strongest, pattern = None, None, ""
    elif audited:
        stands, kind, strongest, pattern = AnchorState.OPEN, None, None, ""
    elif hidden:
        # The item shows the annotators' answers of a double, too, but not the decision.
        stands, kind = undecided_state(strongest, pattern), None
    return QueueRow(
        anchor_id,
        before,
        word,
        after,
        stands,
        Kind(kind) if kind else None,
        Blocking(strongest) if strongest else None,
        pattern,
        tuple(flag for flag in FlagName if flag.value in names),
    )


def undecided_state(strongest: str | None, pattern: str) -> AnchorState:
    """Return the state that an anchor would have without gold, by annotators' answers alone."""
    if strongest is not None:
        return AnchorState.DISAGREE
    return AnchorState.ANSWERED if pattern else AnchorState.OPEN


def check_models(connection: Connection, query: Query) -> None:
    """Raise QueryError if the query sorts by a resolution model that does not exist."""
    wanted = [sort.model for sort in query.sorts if sort.model]
    if not wanted:
        return
    there = [one.name for one in models.read_all(connection) if one.task in RESOLVING]
    for name in wanted:
        if name not in there:
            names = ", ".join(map(printable, there)) or "none"
            raise QueryError(
                f"sort:models/{printable(name)}: no model of resolution has that name; "
                f"there are: {names}"
            )


def queue_values(
    connection: Connection, key: str, me_id: int = 0, role: Role = Role.ADJUDICATOR
) -> tuple[str, ...]:
    """Return at most MOST_VALUES values of a query key that occur in the database.

    Empty for a key with a fixed list of values, for a key that takes any text, and for a key
    that is not allowed in this role. For `tagged`, an annotator gets only the tags of their own
    answers.
    """
    template = SELECT_VALUES.get(key)
    if role is Role.ANNOTATOR:
        open_here = any(one.name == key and one.open_values for one in keys_for(role))
        template = (OWN_TAGS if key == "tagged" else template) if open_here else None
    if template is None:
        return ()
    statement = template.format(visible=VISIBLE, active=ACTIVE_IDENTIFIER)
    named = {"most": MOST_VALUES, "me": me_id}
    return tuple(row[0] for row in connection.execute(statement, named))


class Queue(Repository):
    """The queue of a person in a role.

    Methods raise QueryError for a query that is not allowed in the role (see `query.asked_by`).
    """

    def ids(
        self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> Iterator["array[int]"]:
        """Yield the anchors of a query in its order; see `queue_ids`."""
        asked = asked_by(query, role, me.name)
        # A slow consumer must not hold a read transaction: chunks may be of two states.
        with self.connections.reading(one_state=False) as connection:
            yield from queue_ids(connection, asked, me.id, role)

    def count(self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR) -> int:
        with self.connections.reading() as connection:
            return queue_count(connection, asked_by(query, role, me.name), me.id, role)

    def check_models(self, query: Query) -> None:
        """Raise QueryError if the query sorts by a resolution model that does not exist."""
        if any(sort.model for sort in query.sorts):
            with self.connections.reading() as connection:
                check_models(connection, query)

    def rows(
        self, anchor_ids: Sequence[int], me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> tuple[QueueRow, ...]:
        """Return rows of the queue, in the given order; see `queue_rows`."""
        with self.connections.reading() as connection:
            return queue_rows(connection, anchor_ids, me.id, role)

    def values(
        self, key: str, me: Annotator | None = None, role: Role = Role.ADJUDICATOR
    ) -> tuple[str, ...]:
        """Return values for the completion of a query key; see `queue_values`."""
        with self.connections.reading() as connection:
            return queue_values(connection, key, me.id if me else 0, role)
