"""What models and rules say of whether a number's noun is missing; nobody's answer."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from nfh_db import clock, passages, settings
from nfh_db.anchors import VISIBLE
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Identified
from nfh_db.values import json_of
from nfh_models.domain import Anchor, Kind, Passage

READ = """
SELECT m.name, i.nfh, i.rule, i.score, i.weights
FROM identification AS i JOIN model AS m ON m.id = i.model_id
WHERE i.anchor_id = :anchor AND i.model_id = :model"""
UPSERT = """
INSERT INTO identification (anchor_id, model_id, nfh, rule, score, weights, identified_at)
VALUES (:anchor, :model, :nfh, :rule, :score, :weights, :at)
ON CONFLICT (anchor_id, model_id) DO UPDATE SET
    nfh = excluded.nfh, rule = excluded.rule, score = excluded.score,
    weights = excluded.weights, identified_at = excluded.identified_at"""
DELETE_SOME = """
DELETE FROM identification WHERE model_id = :model AND anchor_id IN
    (SELECT anchor_id FROM identification WHERE model_id = :model LIMIT :limit)"""
VERSION = "SELECT version FROM model WHERE id = :model"
PARSER_SETTING = "parser of identification model {id}"
PASSAGES = """
SELECT json_group_array(id) FROM (
    SELECT DISTINCT a.passage_id AS id FROM anchor AS a WHERE {where} ORDER BY 1)"""
# Of all numbers that a passage has or had: where somebody took a span away, no other comes.
NUMBERS = f"""
SELECT a.passage_id, a.id, a.start, a.stop, a.kind, {VISIBLE},
    (SELECT s.split FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading'
     ORDER BY s.batch_id, s.line LIMIT 1),
    i.nfh, i.rule
FROM anchor AS a
LEFT JOIN identification AS i ON i.anchor_id = a.id AND i.model_id = :model
WHERE a.passage_id IN (SELECT value FROM json_each(:ids))
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants

Weights = tuple[tuple[str, float], ...]

_weights = msgspec.json.Decoder(Weights)
_ids = msgspec.json.Decoder(list[int])


@dataclass(frozen=True, slots=True)
class Number:
    """An anchor, with what is known of it. seen: False for one that was replaced or removed.

    kind: that gold names. said: what the model in question says, and by which rule; None
    where it has said nothing.
    """

    id: int
    anchor: Anchor
    kind: Kind | None
    seen: bool
    split: str | None
    said: tuple[bool, str] | None


@dataclass(frozen=True, slots=True)
class Numbered:
    """A passage with all numbers that it has or had, by place."""

    id: int
    passage: Passage
    tokenizer: str
    numbers: tuple[Number, ...]


def encode_weights(weights: Sequence[tuple[str, float]]) -> str:
    """Weights as the table keeps them; "" for none."""
    return json_of(list(weights)) if weights else ""


def decode_weights(text: str) -> Weights:
    """The inverse of `encode_weights`. Raises msgspec.MsgspecError for anything else."""
    return _weights.decode(text) if text else ()


def read(connection: Connection, anchor_id: int, model_id: int) -> Identified | None:
    """What a model says of an anchor."""
    row = connection.execute(READ, {"anchor": anchor_id, "model": model_id}).fetchone()
    if row is None:
        return None
    model, nfh, rule, score, weights = row
    return Identified(model, bool(nfh), rule, score, decode_weights(weights))


def save(
    connection: Connection,
    model_id: int,
    version: str,
    found: Sequence[tuple[int, Identified]],
    parser: str | None = None,
) -> None:
    """Keep what a model says by anchor id, in place of what it said before.

    parser: the one with which it decided; None if that is not to be looked at. Raises
    StoreError if the model is not of this version any more, or decides with another parser.
    """
    other = None
    if version != read_version(connection, model_id):
        other = "put another version of this model in its place"
    elif parser is not None and parser != read_parser(connection, model_id):
        other = "let this model decide with another parser"
    if other is not None:
        raise StoreError(
            f"Another program has {other} meanwhile: what it decides now would not be of one "
            "piece. Run the command once more"
        )
    at = clock.now()
    connection.executemany(
        UPSERT,
        [
            (anchor, model_id, int(it.nfh), it.rule, it.score, encode_weights(it.weights), at)
            for anchor, it in found
        ],
    )


def read_version(connection: Connection, model_id: int) -> str | None:
    """The version of a model as it is registered; None if it is not."""
    row = connection.execute(VERSION, {"model": model_id}).fetchone()
    return None if row is None else row[0]


def read_parser(connection: Connection, model_id: int) -> str | None:
    """Name of the parser with which a model decides, "" for none; None if it has not yet."""
    return settings.read(connection, PARSER_SETTING.format(id=model_id))


def delete_some(connection: Connection, model_id: int, limit: int) -> int:
    """Forget up to `limit` of what a model says; how many were forgotten."""
    return connection.execute(DELETE_SOME, {"model": model_id, "limit": limit}).rowcount


def passage_ids(connection: Connection, query: Query, me_id: int) -> "array[int]":
    """The passages in which a query finds something, in order."""
    compiled = compile_query(query, me_id)
    statement = PASSAGES.format(where=compiled.where)
    found = connection.execute(statement, compiled.parameters).fetchone()[0]
    return array("q", _ids.decode(found))


def numbered(
    connection: Connection, ids: Sequence[int], model_id: int | None
) -> list[Numbered]:
    """These passages, ascending by id, with their numbers and what a model says of them."""
    texts = passages.read(connection, ids)
    tokenizers = passages.tokenizers(connection, ids)
    numbers: dict[int, list[Number]] = {id_: [] for id_ in texts}
    key = {"ids": json_of(list(ids)), "model": model_id}
    for passage, id_, start, stop, kind, seen, split, nfh, rule in connection.execute(
        NUMBERS, key
    ):
        said = None if nfh is None else (bool(nfh), rule)
        numbers[passage].append(
            Number(
                id_, Anchor(start, stop), Kind(kind) if kind else None, bool(seen), split, said
            )
        )
    return [
        Numbered(id_, texts[id_], tokenizers[id_], tuple(numbers[id_])) for id_ in sorted(texts)
    ]
