"""Applying many changes of golds at once: what `changes` and `summary` do for one anchor.

A gold changes nothing of how the votes of its anchor differ, so that the summary follows
from the columns that are there; only how each vote compares with it is looked at anew.
"""

from collections.abc import Sequence

from nfh_db import acts, answers, differences, gold, summary
from nfh_db.acts import Event
from nfh_db.connection import Connection
from nfh_db.records import BY_RULE
from nfh_db.values import GoldValue, decode_gold, decode_lemmas, encode, json_of
from nfh_models.domain import Answer, Kind

LINKS = """
SELECT id, replaces IS NOT NULL, removed = 0 AND replaced_by IS NULL
FROM anchor WHERE id IN (SELECT value FROM json_each(:ids))"""
VOTES = """
SELECT w.anchor_id, n.name, w.answered_at
FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids))
    AND w.role = 'annotator' AND n.type = 'person' AND w.removed = 0
ORDER BY w.anchor_id, n.name"""
PEOPLE = "SELECT name, id FROM annotator"
LEMMAS = """
SELECT a.id, t.lemmas FROM anchor AS a JOIN passage_token AS t ON t.passage_id = a.passage_id
WHERE a.id IN (SELECT value FROM json_each(:ids))"""
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
    plain = {row["id"] for row in rows}
    _compare(connection, {id_: value for id_, value in golds.items() if id_ in plain})


def _compare(connection: Connection, golds: dict[int, GoldValue | None]) -> None:
    """How the votes of these anchors compare with their gold, written anew."""
    given: dict[int, list[tuple[int, Answer]]] = {}
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    for id_, votes in answers.votes(connection, list(golds)).items():
        given[id_] = [(people[v.annotator], v.answer) for v in votes if v.counts]
    lemmas = _lemmas(connection, [id_ for id_ in golds if given.get(id_)])
    rows: list[differences.Judged] = []
    for id_, value in golds.items():
        standard = summary.standard_of(value)
        votes_ = given.get(id_, ())
        if standard is not None and votes_:
            found = summary.against(standard, [said for _, said in votes_], lemmas[id_])
            rows += differences.judged(id_, [who for who, _ in votes_], found)
    connection.executemany(differences.DELETE_GOLD, [{"anchor": id_} for id_ in golds])
    connection.executemany(differences.INSERT_GOLD, rows)


def _lemmas(connection: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    """The lemmas of each anchor's passage, by anchor."""
    found = connection.execute(LEMMAS, {"ids": json_of(list(ids))})
    return {id_: decode_lemmas(lemmas) for id_, lemmas in found}
