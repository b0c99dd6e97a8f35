"""What a person left unfinished: drafts of answers, the place they stood at, saved views."""

from nfh_db import clock
from nfh_db.connection import Connection
from nfh_db.records import Draft, Place

READ_DRAFT = """
SELECT body, drafted_at FROM draft
WHERE anchor_id = :anchor AND annotator_id = :me AND role = :role"""
UPSERT_DRAFT = """
INSERT INTO draft (anchor_id, annotator_id, role, body, drafted_at)
VALUES (:anchor, :me, :role, :body, :at)
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    body = excluded.body, drafted_at = excluded.drafted_at"""
DELETE_DRAFT = """
DELETE FROM draft WHERE anchor_id = :anchor AND annotator_id = :me AND role = :role"""
COPY_DRAFTS = """
INSERT INTO draft (anchor_id, annotator_id, role, body, drafted_at)
SELECT :target, annotator_id, role, body, drafted_at FROM draft
WHERE anchor_id = :source AND annotator_id = :me
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    body = excluded.body, drafted_at = excluded.drafted_at"""
READ_PLACE = """
SELECT query, anchor_id, token FROM place WHERE annotator_id = :me AND mode = :mode"""
SUCCESSOR = "SELECT replaced_by FROM anchor WHERE id = :id"
UPSERT_PLACE = """
INSERT INTO place (annotator_id, mode, query, anchor_id, token, left_at)
VALUES (:me, :mode, :query, :anchor, :token, :at)
ON CONFLICT (annotator_id, mode) DO UPDATE SET
    query = excluded.query, anchor_id = excluded.anchor_id, token = excluded.token,
    left_at = excluded.left_at"""
READ_VIEWS = "SELECT name, query FROM saved_view WHERE annotator_id = :me ORDER BY name"
UPSERT_VIEW = """
INSERT INTO saved_view (annotator_id, name, query, saved_at)
VALUES (:me, :name, :query, :at)
ON CONFLICT (annotator_id, name) DO UPDATE SET
    query = excluded.query, saved_at = excluded.saved_at"""
DELETE_VIEW = "DELETE FROM saved_view WHERE annotator_id = :me AND name = :name"


def draft(connection: Connection, anchor_id: int, me_id: int, role: str) -> Draft | None:
    """Somebody's unfinished answer."""
    row = connection.execute(
        READ_DRAFT, {"anchor": anchor_id, "me": me_id, "role": role}
    ).fetchone()
    return None if row is None else Draft(*row)


def save_draft(
    connection: Connection, anchor_id: int, me_id: int, role: str, body: str | None
) -> None:
    """Keep an unfinished answer; None forgets it."""
    key = {"anchor": anchor_id, "me": me_id, "role": role}
    if body is None:
        connection.execute(DELETE_DRAFT, key)
    else:
        connection.execute(UPSERT_DRAFT, key | {"body": body, "at": clock.now()})


def copy_drafts(connection: Connection, source: int, target: int, me_id: int) -> None:
    """Give an anchor one's drafts of the anchor that it replaces."""
    connection.execute(COPY_DRAFTS, {"source": source, "target": target, "me": me_id})


def place(connection: Connection, me_id: int, mode: str) -> Place:
    """Where somebody stood when last in this mode; a replaced anchor gives its successor."""
    row = connection.execute(READ_PLACE, {"me": me_id, "mode": mode}).fetchone()
    if row is None:
        return Place()
    query, anchor_id, token = row
    after = anchor_id
    while after is not None:
        anchor_id = after
        after = connection.execute(SUCCESSOR, {"id": anchor_id}).fetchone()[0]
    return Place(query, anchor_id, token)


def save_place(connection: Connection, me_id: int, mode: str, where: Place) -> None:
    """Remember where somebody stands."""
    connection.execute(
        UPSERT_PLACE,
        {
            "me": me_id,
            "mode": mode,
            "query": where.query,
            "anchor": where.anchor_id,
            "token": where.token,
            "at": clock.now(),
        },
    )


def views(connection: Connection, me_id: int) -> tuple[tuple[str, str], ...]:
    """Name and query of somebody's saved views, by name."""
    return tuple(connection.execute(READ_VIEWS, {"me": me_id}))


def save_view(connection: Connection, me_id: int, name: str, query: str | None) -> None:
    """Keep a query under a name; None forgets it."""
    if query is None:
        connection.execute(DELETE_VIEW, {"me": me_id, "name": name})
    else:
        connection.execute(
            UPSERT_VIEW, {"me": me_id, "name": name, "query": query, "at": clock.now()}
        )
