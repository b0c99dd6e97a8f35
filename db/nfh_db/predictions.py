"""What models say of anchors: their choices and scores, and whether a noun is missing;
nobody's answer.
"""

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from nfh_db import jobs, models, passages, system
from nfh_db.anchors import VISIBLE
from nfh_db.connection import (
    Connection,
    Connections,
    Repository,
    WriteSize,
    reads,
    write_in_steps,
    writes_fast,
)
from nfh_db.errors import StoreError
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Annotator, Identified, Identifying, Prediction
from nfh_db.serialization import decode_scores, encode_scores, json_of, prediction_of
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage

READ_IDENTIFICATION = """
SELECT m.name, i.nfh, i.rule, i.score, i.weights
FROM identification AS i JOIN model AS m ON m.id = i.model_id
WHERE i.anchor_id = :anchor AND i.model_id = :model"""
UPSERT_IDENTIFICATION = """
INSERT INTO identification (anchor_id, model_id, nfh, rule, score, weights, identified_at)
VALUES (:anchor, :model, :nfh, :rule, :score, :weights, :at)
ON CONFLICT (anchor_id, model_id) DO UPDATE SET
    nfh = excluded.nfh, rule = excluded.rule, score = excluded.score,
    weights = excluded.weights, identified_at = excluded.identified_at"""
DELETE_SOME_IDENTIFICATIONS = """
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


WRITE_SIZE = WriteSize(first=200, smallest=20, largest=2_000, seconds=0.012)
"""Identifications."""

FORGET_AT_ONCE = 2_000

SPEC_SETTING = "parser asked for by identification model {id}"
SPEC_MARK = "mark of the parser asked for by identification model {id}"
PARSER_ORDER = "parser"
"""The sort of order that such a mark is of: a parser may be a folder that is read and run."""

TASK = "identification"


@dataclass(frozen=True, slots=True)
class IdentifiedNumber:
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
    numbers: tuple[IdentifiedNumber, ...]


def encode_weights(weights: Sequence[tuple[str, float]]) -> str:
    """Weights as the table keeps them; "" for none."""
    return json_of(list(weights)) if weights else ""


def decode_weights(text: str) -> Weights:
    """The inverse of `encode_weights`. Raises msgspec.MsgspecError for anything else."""
    return _weights.decode(text) if text else ()


def read_identification(
    connection: Connection, anchor_id: int, model_id: int
) -> Identified | None:
    """What a model says of an anchor."""
    row = connection.execute(
        READ_IDENTIFICATION, {"anchor": anchor_id, "model": model_id}
    ).fetchone()
    if row is None:
        return None
    model, nfh, rule, score, weights = row
    return Identified(model, bool(nfh), rule, score, decode_weights(weights))


def save_identifications(
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
    at = system.now()
    connection.executemany(
        UPSERT_IDENTIFICATION,
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
    return passages.read_setting(connection, PARSER_SETTING.format(id=model_id))


def delete_some_identifications(
    connection: Connection, model_id: int, limit: int = FORGET_AT_ONCE
) -> int:
    """Forget up to `limit` of what a model says; how many were forgotten."""
    return connection.execute(
        DELETE_SOME_IDENTIFICATIONS, {"model": model_id, "limit": limit}
    ).rowcount


def passage_ids(
    connection: Connection, query: Query, me: Annotator | None = None
) -> "array[int]":
    """The passages in which a query finds something, in order."""
    compiled = compile_query(query, me.id if me else 0)
    statement = PASSAGES.format(where=compiled.where)
    found = connection.execute(statement, compiled.parameters).fetchone()[0]
    return array("q", _ids.decode(found))


def numbered(
    connection: Connection, ids: Sequence[int], model_id: int | None = None
) -> list[Numbered]:
    """These passages, ascending by id, with their numbers and what a model says of them."""
    texts = passages.read(connection, ids)
    tokenizers = passages.tokenizers(connection, ids)
    numbers: dict[int, list[IdentifiedNumber]] = {id_: [] for id_ in texts}
    key = {"ids": json_of(list(ids)), "model": model_id}
    for passage, id_, start, stop, kind, seen, split, nfh, rule in connection.execute(
        NUMBERS, key
    ):
        said = None if nfh is None else (bool(nfh), rule)
        numbers[passage].append(
            IdentifiedNumber(
                id_, Anchor(start, stop), Kind(kind) if kind else None, bool(seen), split, said
            )
        )
    return [
        Numbered(id_, texts[id_], tokenizers[id_], tuple(numbers[id_])) for id_ in sorted(texts)
    ]


CLASSES = tuple(kind.value for kind in IMPLICIT_KINDS)
SCORE_BYTES = 4

READ = """
SELECT m.name, p.choice, p.second, p.margin, p.scores
FROM prediction AS p JOIN model AS m ON m.id = p.model_id
WHERE p.anchor_id = :anchor AND p.model_id = :model"""
READ_OTHERS = """
SELECT m.name, p.choice, p.second, p.margin, p.scores
FROM prediction AS p JOIN model AS m ON m.id = p.model_id
WHERE p.anchor_id = :anchor AND p.model_id <> :model ORDER BY p.model_id DESC LIMIT :most"""
UPSERT = """
INSERT INTO prediction (anchor_id, model_id, choice, second, margin, scores, predicted_at,
    confidence, entropy)
VALUES (:anchor, :model, :choice, :second, :margin, :scores, :at, :confidence, :entropy)
ON CONFLICT (anchor_id, model_id) DO UPDATE SET
    choice = excluded.choice, second = excluded.second, margin = excluded.margin,
    scores = excluded.scores, predicted_at = excluded.predicted_at,
    confidence = excluded.confidence, entropy = excluded.entropy"""
WITHOUT_CONFIDENCE = """
SELECT anchor_id, model_id, choice, scores FROM prediction WHERE confidence IS NULL"""
SET_CONFIDENCE = """
UPDATE prediction SET confidence = :confidence
WHERE anchor_id = :anchor AND model_id = :model"""
# In the order of the key, from behind the last one that was read.
WITH_SCORES = """
SELECT anchor_id, model_id, scores FROM prediction
WHERE (anchor_id, model_id) > (:anchor, :model) AND entropy IS NULL
ORDER BY anchor_id, model_id LIMIT :limit"""
SET_ENTROPY = """
UPDATE prediction SET entropy = :entropy WHERE anchor_id = :anchor AND model_id = :model"""
KNOWN = """
SELECT anchor_id FROM prediction
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
DELETE_SOME = """
DELETE FROM prediction WHERE model_id = :model AND anchor_id IN
    (SELECT anchor_id FROM prediction WHERE model_id = :model LIMIT :limit)"""


SUM_OFF = 0.01
"""How far from 1 scores may sum up that count as probabilities: they are kept in 32 bits."""

FILLED_AT_ONCE = 5_000
"""Rows of an older database that memory holds while they are filled."""

MOST_OTHERS = 6
"""So many further models' predictions come with an item, those of the newest models."""


def read(connection: Connection, anchor_id: int, model_id: int) -> Prediction | None:
    """What a model says of an anchor."""
    row = connection.execute(READ, {"anchor": anchor_id, "model": model_id}).fetchone()
    return None if row is None else prediction_of(*row)


def read_others(
    connection: Connection, anchor_id: int, model_id: int
) -> tuple[Prediction, ...]:
    """What the other models say of an anchor, the newest model first, MOST_OTHERS at most."""
    key = {"anchor": anchor_id, "model": model_id, "most": MOST_OTHERS}
    return tuple(prediction_of(*row) for row in connection.execute(READ_OTHERS, key))


def save(
    connection: Connection, model_id: int, predictions: Sequence[tuple[int, Prediction]]
) -> None:
    """Keep predictions by anchor id, in place of this model's earlier ones."""
    at = system.now()
    connection.executemany(
        UPSERT,
        [
            (
                anchor_id,
                model_id,
                found.choice,
                found.second,
                found.margin,
                encode_scores(found.scores),
                at,
                confidence(found.choice, found.scores),
                entropy(found.scores),
            )
            for anchor_id, found in predictions
        ],
    )


def confidence(choice: str, scores: Sequence[float | None]) -> float | None:
    """The score of what a model chose; None where it gave none."""
    if choice in CLASSES:
        place = CLASSES.index(choice)
    elif choice.isascii() and choice.isdigit():
        place = len(CLASSES) + int(choice)
    else:
        return None
    return scores[place] if place < len(scores) else None


def entropy(scores: Sequence[float | None]) -> float | None:
    """How undecided a model is between its candidates: 0 for certain, 1 for all alike.

    The entropy of the probabilities (Shannon 1948), as a share of what as many candidates can
    have at most, so that long passages compare with short ones. None where the scores are no
    probabilities, and where there is nothing to choose between.
    """
    given = [score for score in scores if score is not None]
    if len(given) < 2 or not all(0.0 <= score <= 1.0 + SUM_OFF for score in given):
        return None
    if abs(math.fsum(given) - 1.0) > SUM_OFF:
        return None
    found = -math.fsum(score * math.log(score) for score in given if score > 0.0)
    return min(1.0, max(0.0, found / math.log(len(given))))


def fill_confidence(connection: Connection) -> None:
    """Note it of all predictions that an older program made, in the transaction there is."""
    rows = connection.execute(WITHOUT_CONFIDENCE).fetchall()
    connection.executemany(
        SET_CONFIDENCE,
        [
            {"anchor": anchor, "model": model, "confidence": found}
            for anchor, model, choice, scores in rows
            if len(scores) % SCORE_BYTES == 0
            and (found := confidence(choice, decode_scores(scores))) is not None
        ],
    )


def fill_entropy(connection: Connection) -> None:
    """Note it of all predictions that an older program made, in the transaction there is."""
    last = {"anchor": -1, "model": -1}
    while True:
        asked = {**last, "limit": FILLED_AT_ONCE}
        rows = connection.execute(WITH_SCORES, asked).fetchall()
        if not rows:
            return
        last = {"anchor": rows[-1][0], "model": rows[-1][1]}
        connection.executemany(
            SET_ENTROPY,
            [
                {"anchor": anchor, "model": model, "entropy": found}
                for anchor, model, scores in rows
                if len(scores) % SCORE_BYTES == 0
                and (found := entropy(decode_scores(scores))) is not None
            ],
        )


def known(connection: Connection, model_id: int, anchor_ids: Sequence[int]) -> frozenset[int]:
    """Of these anchors the ones of which a model has said something."""
    key = {"model": model_id, "ids": json_of(list(anchor_ids))}
    return frozenset(id_ for (id_,) in connection.execute(KNOWN, key))


def delete_some(connection: Connection, model_id: int, limit: int = FORGET_AT_ONCE) -> int:
    """Forget up to `limit` predictions of a model; how many were forgotten."""
    return connection.execute(DELETE_SOME, {"model": model_id, "limit": limit}).rowcount


def forget_in_steps(
    connections: Connections, delete: Callable[[Connection, int], int], model_id: int
) -> None:
    """Delete what a model said in writes that nobody has to wait for."""
    more = True
    while more:
        with connections.fast_write() as connection:
            more = delete(connection, model_id) > 0


class Predictions(Repository):
    """What models say that is missing."""

    save = writes_fast(save)
    known = reads(known)


class Identifications(Repository):
    """What models say of whether nouns are missing, and numbers that no file named."""

    decided_with = reads(read_parser)
    passage_ids = reads(passage_ids)
    numbered = reads(numbered)

    def active(self) -> Identifying | None:
        """The active model of identification; None if there is none yet."""
        with self.connections.reading() as connection:
            found = models.active(connection, TASK)
            if found is None:
                return None
            known = models.find(connection, found[1])
            spec = passages.read_setting(connection, SPEC_SETTING.format(id=found[0]))
            mark = passages.read_setting(connection, SPEC_MARK.format(id=found[0]))
            marks = jobs.Marks.to_read(connection)
            own = not spec or marks.knows(mark or "", PARSER_ORDER, found[0], spec)
            parser = read_parser(connection, found[0])
        version = known[3] if known is not None else ""
        return Identifying(found[0], found[1], version, spec or None, parser, own)

    def decide_with(self, model_id: int, parser: str, spec: str | None = None) -> str:
        """Note with which parser a model decides; what it decided with another is forgotten.

        parser: its name with its version, "" for none. spec: how it was asked for. Returns
        the model's version, which is to be named when decisions are saved.
        """
        before = self.decided_with(model_id)
        if before not in (None, parser):
            forget_in_steps(self.connections, delete_some_identifications, model_id)
        with self.connections.fast_write() as connection:
            if before not in (None, parser):
                # What another process may have saved since.
                delete_some_identifications(connection, model_id)
            name = PARSER_SETTING.format(id=model_id)
            passages.write_setting(connection, name, parser)
            passages.write_setting(connection, SPEC_SETTING.format(id=model_id), spec or "")
            mark = _parser_mark(connection, model_id, spec) if spec else ""
            passages.write_setting(connection, SPEC_MARK.format(id=model_id), mark)
            version = read_version(connection, model_id)
        return version or ""

    def save(
        self,
        model_id: int,
        version: str,
        found: Sequence[tuple[int, Identified]],
        parser: str | None = None,
    ) -> None:
        """Keep decisions by anchor id, in place of this model's earlier ones, in short writes.

        parser: the one with which it decided; None if that is not to be looked at. Raises
        StoreError if the model is not of this version any more, or decides with another.
        """

        def write(connection: Connection, some: Sequence[tuple[int, Identified]]) -> None:
            save_identifications(connection, model_id, version, some, parser)

        write_in_steps(self.connections.fast_write, found, write, WRITE_SIZE)


def _parser_mark(connection: Connection, model_id: int, spec: str) -> str:
    try:
        marks = jobs.Marks.to_make(connection)
    except StoreError:  # no secret can be kept: the parser has to be named again next time
        return ""
    return marks.mark(PARSER_ORDER, model_id, spec)
