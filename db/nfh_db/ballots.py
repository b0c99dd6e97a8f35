"""Reading ballots: anchors with everything that people say of them, streamed, of one moment."""

from collections.abc import Iterator, Sequence

from nfh_db import answers, flags, gold, passages
from nfh_db.connection import Connection
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Ballot, State
from nfh_db.values import gold_of, json_of
from nfh_models.domain import Anchor

# The order is that of the index that makes spans unique.
ANCHORS = """
SELECT a.id FROM anchor AS a WHERE {where} ORDER BY a.passage_id, a.start, a.stop"""
DETAILS = """
SELECT a.id, a.passage_id, d.name, a.start, a.stop, a.state,
    (SELECT s.split FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading'
     ORDER BY s.batch_id, s.line LIMIT 1)
FROM json_each(:ids) AS j
JOIN anchor AS a ON a.id = j.value
JOIN passage AS p ON p.id = a.passage_id
JOIN document AS d ON d.id = p.document_id
ORDER BY a.passage_id, a.start, a.stop"""

AT_ONCE = 1_000


def ballots(connection: Connection, query: Query, me_id: int) -> Iterator[Ballot]:
    """What everybody says of each anchor that `query` finds, by passage and span.

    On a connection that is in a read transaction.
    """
    compiled = compile_query(query, me_id)
    cursor = connection.execute(ANCHORS.format(where=compiled.where), compiled.parameters)
    while rows := cursor.fetchmany(AT_ONCE):
        yield from of_anchors(connection, [row[0] for row in rows])


def of_anchors(connection: Connection, ids: Sequence[int]) -> Iterator[Ballot]:
    """What everybody says of each of these anchors, by passage and span.

    On a connection that is in a read transaction.
    """
    rows = connection.execute(DETAILS, {"ids": json_of(ids)}).fetchall()
    texts = passages.read(connection, sorted({row[1] for row in rows}))
    golds = gold.read_all(connection, ids)
    votes = answers.votes(connection, ids)
    marks = flags.marks(connection, ids)
    for id_, passage_id, document, start, stop, state, split in rows:
        decided = golds.get(id_)
        yield Ballot(
            id_,
            passage_id,
            document,
            split,
            texts[passage_id],
            Anchor(start, stop),
            State(state),
            tuple(votes.get(id_, ())),
            gold_of(decided) if decided else None,
            tuple(marks.get(id_, ())),
        )
