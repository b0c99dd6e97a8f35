"""Anchors: the numbers of a passage.

The span of an anchor never changes: a correction replaces the anchor by another one. Spans are
token indices, [start, stop). "Visible" or "live" is an anchor that is neither removed nor
replaced nor of an unfinished import.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_db import assignments
from nfh_db.batches import OUT
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.records import AnchorState, Sibling
from nfh_db.serialization import AnchorValue, json_of
from nfh_models.domain import Anchor, Blocking, ItemDisagreement, Kind, Passage

VISIBLE = """
    a.removed = 0 AND a.replaced_by IS NULL AND NOT EXISTS
    (SELECT 1 FROM batch AS b WHERE b.id = a.batch_id AND b.state = 'loading')"""
SPLIT = f"""
    (SELECT s.split FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading' AND c.id NOT IN ({OUT})
     ORDER BY s.batch_id, s.line LIMIT 1)"""  # noqa: S608 - made of constants
"""The split that the first imported row puts an anchor in, of imports that are not out."""
READ_LIVE = f"""
SELECT a.id, a.passage_id, a.start, a.stop, a.state
FROM anchor AS a WHERE a.id = :id AND {VISIBLE}"""  # noqa: S608 - made of constants
READ_SIBLINGS = f"""
SELECT a.id, a.start, a.stop, a.state, a.kind
FROM anchor AS a WHERE a.passage_id = :passage AND {VISIBLE}
ORDER BY a.start, a.stop"""  # noqa: S608 - made of constants
READ_SPANS = f"""
SELECT a.id, a.passage_id, a.start, a.stop
FROM anchor AS a WHERE a.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}"""  # noqa: S608 - made of constants
READ_VALUE = """
SELECT a.passage_id, a.start, a.stop, a.replaces, a.replaced_by
FROM anchor AS a WHERE a.id = :id AND a.removed = 0"""
READ_STATE = "SELECT state FROM anchor WHERE id = :id"
READ_FATE = """
SELECT a.removed, a.replaced_by, b.state FROM anchor AS a
LEFT JOIN batch AS b ON b.id = a.batch_id WHERE a.id = :id"""
READ_LINKS = "SELECT passage_id, replaces, replaced_by FROM anchor WHERE id = :id"
FIND_SPAN = """
SELECT a.id, a.removed, a.replaced_by, b.state FROM anchor AS a
LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.passage_id = :passage AND a.start = :start AND a.stop = :stop"""
INSERT = """
INSERT INTO anchor (passage_id, start, stop, text_start, text_stop, word, removed)
VALUES (:passage, :start, :stop, :text_start, :text_stop, :word, 1)
RETURNING id"""
INSERT_WITH_ID = """
INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word, batch_id,
    state, kind, heads, votes, strongest, blocking, notes, pattern)
VALUES (:id, :passage, :start, :stop, :text_start, :text_stop, :word, :batch,
    :state, :kind, :heads, :votes, :strongest, :blocking, :notes, :pattern)"""
SET_LINKS = """
UPDATE anchor SET replaces = :replaces, replaced_by = :replaced_by, removed = 0
WHERE id = :id"""
REMOVE = "UPDATE anchor SET removed = 1, replaces = NULL, replaced_by = NULL WHERE id = :id"
SET_SUMMARY = """
UPDATE anchor SET state = :state, kind = :kind, heads = :heads, votes = :votes,
    strongest = :strongest, blocking = :blocking, notes = :notes, pattern = :pattern
WHERE id = :id"""
LAST_ID = "SELECT coalesce(max(id), 0) FROM anchor"


@dataclass(frozen=True, slots=True)
class LiveAnchor:
    """A visible anchor."""

    id: int
    passage_id: int
    anchor: Anchor
    state: AnchorState


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of an anchor's answers and gold.

    The row of the anchor holds all of it but `experts` and `by_gold`.
    """

    state: AnchorState
    kind: str | None
    """Of the gold."""

    heads: int
    """Heads of the gold."""

    votes: int
    """Answers of annotators."""

    disagreement: ItemDisagreement
    """Between annotators' answers, compared in the order of their names."""

    experts: ItemDisagreement | None = None
    """Between adjudicators' answers; None if fewer than two decided."""

    by_gold: tuple[Blocking | None, ...] | None = None
    """Blocking kind between each annotator's answer, by name, and gold.

    None if gold decides nothing, or no annotator answered.
    """

    def columns(self) -> tuple[str, str | None, int, int, str | None, str, str, str]:
        """Return the values of the columns from `state` on, in the order of the table."""
        found = self.disagreement
        return (
            self.state.value,
            self.kind,
            self.heads,
            self.votes,
            found.strongest and found.strongest.value,
            spaced(found.blocking),
            spaced(found.notes),
            found.pattern,
        )


def spaced(names: Sequence[str] | frozenset[str]) -> str:
    """Return the names sorted, with a space around each, so that LIKE '% name %' finds one."""
    return f" {' '.join(sorted(names))} " if names else ""


def live(connection: Connection, anchor_id: int) -> LiveAnchor | None:
    """Return an anchor; None if it is not visible."""
    row = connection.execute(READ_LIVE, {"id": anchor_id}).fetchone()
    if row is None:
        return None
    return LiveAnchor(row[0], row[1], Anchor(row[2], row[3]), AnchorState(row[4]))


def need_live(connection: Connection, anchor_id: int) -> LiveAnchor:
    """Return a visible anchor. Raises StoreError if it is missing, replaced or removed."""
    found = live(connection, anchor_id)
    if found is not None:
        return found
    row = connection.execute(READ_FATE, {"id": anchor_id}).fetchone()
    if row is None or row[2] == "loading":
        raise StoreError(f"There is no item {anchor_id} in this database")
    if row[1] is not None:
        raise StoreError(
            f"Item {anchor_id} has been replaced by item {row[1]}: answer that one"
        )
    raise StoreError(f"Item {anchor_id} has been removed: go to the next one")


def siblings(connection: Connection, passage_id: int) -> tuple[Sibling, ...]:
    """Return the visible anchors of a passage, ordered by span."""
    return tuple(
        Sibling(id_, Anchor(start, stop), AnchorState(state), Kind(kind) if kind else None)
        for id_, start, stop, state, kind in connection.execute(
            READ_SIBLINGS, {"passage": passage_id}
        )
    )


def spans(connection: Connection, anchor_ids: Sequence[int]) -> list[tuple[int, int, Anchor]]:
    """Return id, passage id and span of each of these anchors that is visible."""
    rows = connection.execute(READ_SPANS, {"ids": json_of(list(anchor_ids))})
    return [(id_, passage, Anchor(start, stop)) for id_, passage, start, stop in rows]


def links(connection: Connection, anchor_id: int) -> tuple[int, int | None, int | None]:
    """Return the passage id, the anchor that this one replaces, and the one replacing it."""
    row = connection.execute(READ_LINKS, {"id": anchor_id}).fetchone()
    return row[0], row[1], row[2]


def read(connection: Connection, anchor_id: int) -> AnchorValue | None:
    """Return an anchor in the form of the log; None if it was removed."""
    row = connection.execute(READ_VALUE, {"id": anchor_id}).fetchone()
    return None if row is None else AnchorValue(*row)


def write(connection: Connection, anchor_id: int, value: AnchorValue | None) -> None:
    """Set an anchor's links to those of `value`; None marks it removed.

    Open assignments move to the anchor that replaces it, or back to the one that it replaced.
    """
    if value is None:
        _, before, _ = links(connection, anchor_id)
        connection.execute(REMOVE, {"id": anchor_id})
        if before is not None:
            assignments.follow(connection, anchor_id, before)
    else:
        connection.execute(
            SET_LINKS,
            {"id": anchor_id, "replaces": value.replaces, "replaced_by": value.replaced_by},
        )
        if value.replaced_by is not None:
            assignments.follow(connection, anchor_id, value.replaced_by)


def state(connection: Connection, anchor_id: int) -> AnchorState:
    return AnchorState(connection.execute(READ_STATE, {"id": anchor_id}).fetchone()[0])


def find_span(
    connection: Connection, passage_id: int, anchor: Anchor
) -> tuple[int, bool] | None:
    """Return the anchor of a span and whether it is live; None if the span never had one."""
    row = connection.execute(
        FIND_SPAN, {"passage": passage_id, "start": anchor.start, "stop": anchor.end}
    ).fetchone()
    if row is None:
        return None
    # The anchor of an unfinished import counts as live, so that nobody takes its span.
    return row[0], not row[1] and row[2] is None


def insert(connection: Connection, passage_id: int, passage: Passage, anchor: Anchor) -> int:
    """Insert an anchor and return its id. It is marked removed until `write` sets its links."""
    new: int = connection.execute(INSERT, span_columns(passage_id, passage, anchor)).fetchone()[
        0
    ]
    return new


def span_columns(
    passage_id: int, passage: Passage, anchor: Anchor
) -> tuple[int, int, int, int, int, str]:
    """Return passage id, start, stop, text_start, text_stop and word, in the table's order.

    start, stop: tokens. text_start, text_stop: code points of the text. Ends are exclusive.
    """
    first, last = passage.tokens[anchor.start], passage.tokens[anchor.end - 1]
    word = passage.text[first.start : last.end]
    return passage_id, anchor.start, anchor.end, first.start, last.end, word


def set_summary(connection: Connection, anchor_id: int, summary: Summary) -> None:
    connection.execute(SET_SUMMARY, (*summary.columns(), anchor_id))
