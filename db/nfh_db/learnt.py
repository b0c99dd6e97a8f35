"""What a model may have learnt from: the passages that had gold when it was made."""

from collections.abc import Sequence

from nfh_db.connection import Connection
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.values import json_of

# What a file brought may have been decided long before. sides: whether what was dealt to
# judge by was kept out. A model that is older than the dealing of a passage knew nothing of it.
PASSAGES = """
SELECT DISTINCT lower(hex(q.digest))
FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
JOIN passage AS q ON q.id = a.passage_id LEFT JOIN batch AS c ON c.id = g.batch_id
WHERE {where} AND coalesce(c.created_at, g.decided_at, '') <= :made_at
    AND NOT (:sides AND EXISTS (
        SELECT 1 FROM side AS d
        WHERE d.passage_id = q.id AND d.side = 'dev' AND d.dealt_at <= :made_at))
    AND q.id NOT IN (
        SELECT o.passage_id FROM source_row AS r JOIN anchor AS o ON o.id = r.anchor_id
        JOIN batch AS b ON b.id = r.batch_id AND b.state <> 'loading'
        WHERE r.split IN (SELECT value FROM json_each(:splits)))"""


def passages(
    connection: Connection, query: Query, made_at: str, splits: Sequence[str], *, sides: bool
) -> frozenset[str]:
    """The digests of the passages in which a query finds gold that was there at a time.

    splits: passages that also stand in one of these were kept out.
    """
    compiled = compile_query(query, 0)
    row = {"made_at": made_at, "splits": json_of(list(splits)), "sides": sides}
    found = connection.execute(PASSAGES.format(where=compiled.where), compiled.parameters | row)
    return frozenset(digest for (digest,) in found)
