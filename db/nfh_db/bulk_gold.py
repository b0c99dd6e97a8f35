"""Applying many changes of golds at once: what `changes` and `summary` do for one anchor.

A gold changes nothing of how the votes of its anchor differ, so that the summary follows
from the columns that are there.
"""

from collections.abc import Sequence

from nfh_db import acts, gold, summary
from nfh_db.acts import Event
from nfh_db.connection import Connection
from nfh_db.records import BY_RULE
from nfh_db.values import GoldValue, decode_gold, encode, json_of
from nfh_models.domain import Kind

LINKS = """
SELECT id, replaces IS NOT NULL, removed = 0 AND replaced_by IS NULL
FROM anchor WHERE id IN (SELECT value FROM json_each(:ids))"""
VOTES = """
SELECT w.anchor_id, n.name, w.answered_at
FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids))
    AND w.role = 'annotator' AND n.type = 'person' AND w.removed = 0
ORDER BY w.anchor_id, n.name"""
SET_SUMMARY = """
UPDATE anchor SET kind = :kind, heads = :heads, state = CASE
    WHEN :decided THEN 'decided' WHEN strongest IS NOT NULL THEN 'disagree'
    WHEN votes > 0 THEN 'answered' ELSE 'open' END
WHERE id = :id"""


def apply(connection: Connection, events: Sequence[Event], *, by_votes: bool) -> list[int]:
    """Apply events of golds, one an anchor, within a transaction; the anchors left as they are.

    Left are those of which somebody changed the gold since the event was planned; with
    by_votes also those that were replaced, and those whose votes are not, or no longer,
    the ones that the new gold names. Their events never happened, and leave the log.
    """
    ids = [event.anchor_id for event in events]
    golds = gold.read_all(connection, ids)
    rows = connection.execute(LINKS, {"ids": json_of(ids)})
    replacing, live = set[int](), set[int]()
    for id_, replaces, is_live in rows:
        replacing |= {id_} if replaces else set()
        live |= {id_} if is_live else set()
    votes = _votes(connection, ids) if by_votes else {}
    happened: dict[int, GoldValue | None] = {}
    never: list[Event] = []
    for event in events:
        id_, after = event.anchor_id, decode_gold(event.after)
        present = encode(golds.get(id_))
        fits = present == event.before
        if fits and by_votes:
            fits = id_ in live and _holds(after, votes.get(id_, ()))
        if fits:
            happened[id_] = after
        elif present != event.after:
            never.append(event)
    gold.write_all(connection, happened)
    acts.forget(connection, [event.id for event in never])
    acts.move_to_end(connection, [e.id for e in events if e.anchor_id in happened])
    _summarise(connection, happened, live, replacing)
    return [event.anchor_id for event in never]


def _votes(
    connection: Connection, ids: Sequence[int]
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Name and time of each annotator's answer, by anchor, sorted by name."""
    found: dict[int, list[tuple[str, str]]] = {}
    for id_, name, at in connection.execute(VOTES, {"ids": json_of(ids)}):
        found.setdefault(id_, []).append((name, at))
    return {id_: tuple(votes) for id_, votes in found.items()}


def _holds(value: GoldValue | None, votes: Sequence[tuple[str, str]]) -> bool:
    """True unless a rule made the gold of other votes than there are."""
    return value is None or value.rule not in BY_RULE or value.votes == tuple(votes)


def _summarise(
    connection: Connection,
    golds: dict[int, GoldValue | None],
    live: set[int],
    replacing: set[int],
) -> None:
    rows = []
    for id_, value in golds.items():
        decided = value is not None and value.kind != Kind.NFH
        if id_ in live and (decided or id_ not in replacing):
            rows.append(
                {
                    "id": id_,
                    "kind": value.kind if value else None,
                    "heads": len(value.heads) if value else 0,
                    "decided": decided,
                }
            )
        else:
            # What an anchor replaced decides whether it, or its successor, is stale.
            summary.recompute_with_successors(connection, [id_])
    connection.executemany(SET_SUMMARY, rows)
