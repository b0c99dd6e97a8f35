"""Predictions of models: the missing noun of an anchor with scores, and the identification,
whether a noun is missing.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from nfh_db import jobs, models, passages, system
from nfh_db.anchors import SPLIT, VISIBLE
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
INSERT OR REPLACE INTO identification
    (anchor_id, model_id, nfh, rule, score, weights, identified_at)
VALUES (:anchor, :model, :nfh, :rule, :score, :weights, :at)"""
VERSION = "SELECT version FROM model WHERE id = :model"
PARSER_SETTING = "parser of identification model {id}"
PASSAGES = """
SELECT json_group_array(id) FROM (
    SELECT DISTINCT a.passage_id AS id FROM anchor AS a WHERE {where} ORDER BY 1)"""
# All anchors that a passage has or had: a removed span must not be identified again.
NUMBERS = f"""
SELECT a.passage_id, a.id, a.start, a.stop, a.kind, {VISIBLE}, {SPLIT}, i.nfh, i.rule
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
"""The type of request of such a mark. A parser may be a folder with code that is run."""

TASK = "identification"

SaidTable = Literal["prediction", "identification"]
"""The tables of what models said."""


@dataclass(frozen=True, slots=True)
class IdentifiedNumber:
    """An anchor with its identification by a model."""

    id: int
    anchor: Anchor
    kind: Kind | None
    """Of its gold."""

    seen: bool
    """False if it was replaced or removed."""

    split: str | None
    said: tuple[bool, str] | None
    """Whether the model identified it as an NFH, and the rule; None if it did not decide."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A passage with all anchors that it has or had, by span."""

    id: int
    passage: Passage
    tokenizer: str
    numbers: tuple[IdentifiedNumber, ...]


def encode_weights(weights: Sequence[tuple[str, float]]) -> str:
    """Weights as JSON for the table; "" for none."""
    return json_of(list(weights)) if weights else ""


def decode_weights(text: str) -> Weights:
    """The inverse of `encode_weights`. Raises msgspec.MsgspecError for invalid text."""
    return _weights.decode(text) if text else ()


def read_identification(
    connection: Connection, anchor_id: int, model_id: int
) -> Identified | None:
    """The identification of an anchor by a model; None if there is none."""
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
    """Store identifications by anchor id, in place of earlier ones of the model.

    parser: the one of these decisions; None skips the check. Raises StoreError if the model has
    another version, or decides with another parser, by now.
    """
    other = None
    if version != read_version(connection, model_id):
        other = "put another version of this model in its place"
    elif parser is not None and parser != read_parser(connection, model_id):
        other = "let this model decide with another parser"
    if other is not None:
        raise StoreError(
            f"Another program has {other} since then, so the decisions would be mixed. Run the "
            "command again"
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
    """The registered version of a model; None if it is not registered."""
    row = connection.execute(VERSION, {"model": model_id}).fetchone()
    return None if row is None else row[0]


def read_parser(connection: Connection, model_id: int) -> str | None:
    """Name of the parser of a model's decisions, "" for none; None before the first."""
    return passages.read_setting(connection, PARSER_SETTING.format(id=model_id))


def passage_ids(
    connection: Connection, query: Query, me: Annotator | None = None
) -> "array[int]":
    """The ids of the passages with anchors of a query, ascending."""
    compiled = compile_query(query, me.id if me else 0)
    statement = PASSAGES.format(where=compiled.where)
    found = connection.execute(statement, compiled.parameters).fetchone()[0]
    return array("q", _ids.decode(found))


def numbered(
    connection: Connection, ids: Sequence[int], model_id: int | None = None
) -> list[Numbered]:
    """These passages by id, with their anchors and a model's identifications."""
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
INSERT OR REPLACE INTO prediction
    (anchor_id, model_id, choice, second, margin, scores, predicted_at, confidence, entropy)
VALUES (:anchor, :model, :choice, :second, :margin, :scores, :at, :confidence, :entropy)"""
# In the order of the key, from after the last one that was read.
WITH_SCORES = """
SELECT anchor_id, model_id, choice, scores FROM prediction
WHERE (anchor_id, model_id) > (:anchor, :model) AND entropy IS NULL
ORDER BY anchor_id, model_id LIMIT :limit"""
SET_DERIVED = """
UPDATE prediction SET confidence = coalesce(confidence, :confidence), entropy = :entropy
WHERE anchor_id = :anchor AND model_id = :model"""
KNOWN = """
SELECT anchor_id FROM prediction
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
DELETE_SOME = """
DELETE FROM {table} WHERE model_id = :model AND anchor_id IN
    (SELECT anchor_id FROM {table} WHERE model_id = :model LIMIT :limit)"""


SUM_OFF = 0.01
"""Tolerance for the sum of probabilities, which are stored as 32-bit floats."""

FILLED_AT_ONCE = 5_000
"""Rows of an older database that are filled at a time."""

MOST_OTHERS = 6
"""Predictions of further models that an item includes, those of the newest models."""


def read(connection: Connection, anchor_id: int, model_id: int) -> Prediction | None:
    """The prediction of a model for an anchor; None if there is none."""
    row = connection.execute(READ, {"anchor": anchor_id, "model": model_id}).fetchone()
    return None if row is None else prediction_of(*row)


def read_others(
    connection: Connection, anchor_id: int, model_id: int
) -> tuple[Prediction, ...]:
    """The predictions of the other models, newest model first, at most MOST_OTHERS."""
    key = {"anchor": anchor_id, "model": model_id, "most": MOST_OTHERS}
    return tuple(prediction_of(*row) for row in connection.execute(READ_OTHERS, key))


def save(
    connection: Connection, model_id: int, predictions: Sequence[tuple[int, Prediction]]
) -> None:
    """Store predictions by anchor id, in place of earlier ones of the model."""
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
    """The score of the choice of a model; None if it has none."""
    if choice in CLASSES:
        place = CLASSES.index(choice)
    elif choice.isascii() and choice.isdigit():
        place = len(CLASSES) + int(choice)
    else:
        return None
    return scores[place] if place < len(scores) else None


def entropy(scores: Sequence[float | None]) -> float | None:
    """The normalised entropy of the scores: 0 for a certain choice, 1 for a uniform one.

    Shannon's entropy (1948), divided by its maximum for this number of candidates, so that long
    and short passages are comparable. None if the scores are not probabilities, or there are
    fewer than two.
    """
    given = [score for score in scores if score is not None]
    if len(given) < 2 or not all(0.0 <= score <= 1.0 + SUM_OFF for score in given):
        return None
    if abs(math.fsum(given) - 1.0) > SUM_OFF:
        return None
    found = -math.fsum(score * math.log(score) for score in given if score > 0.0)
    return min(1.0, max(0.0, found / math.log(len(given))))


def fill_derived(connection: Connection) -> None:
    """Note confidence and entropy of all predictions that an older program made, in the
    transaction there is.
    """
    last = {"anchor": -1, "model": -1, "limit": FILLED_AT_ONCE}
    while rows := connection.execute(WITH_SCORES, last).fetchall():
        last |= {"anchor": rows[-1][0], "model": rows[-1][1]}
        readable = [row for row in rows if len(row[-1]) % SCORE_BYTES == 0]
        connection.executemany(
            SET_DERIVED,
            [
                {
                    "anchor": anchor,
                    "model": model,
                    "confidence": confidence(choice, decode_scores(scores)),
                    "entropy": entropy(decode_scores(scores)),
                }
                for anchor, model, choice, scores in readable
            ],
        )


def predicted_anchors(
    connection: Connection, model_id: int, anchor_ids: Sequence[int]
) -> frozenset[int]:
    """Those of these anchors that have a prediction of a model."""
    key = {"model": model_id, "ids": json_of(list(anchor_ids))}
    return frozenset(id_ for (id_,) in connection.execute(KNOWN, key))


def forget_some(connection: Connection, table: SaidTable, model_id: int) -> int:
    """Delete up to FORGET_AT_ONCE rows of a model; the number deleted."""
    key = {"model": model_id, "limit": FORGET_AT_ONCE}
    return connection.execute(DELETE_SOME.format(table=table), key).rowcount


def forget_in_steps(connections: Connections, table: SaidTable, model_id: int) -> None:
    """Delete all rows of a model, in short transactions."""
    more = True
    while more:
        with connections.fast_write() as connection:
            more = forget_some(connection, table, model_id) > 0


class Predictions(Repository):
    """Predictions of resolution models."""

    save = writes_fast(save)
    predicted_anchors = reads(predicted_anchors)


class Identifications(Repository):
    """Identifications, and the passages to identify numbers in."""

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
        """Store the parser of a model's decisions; decisions with another one are deleted.

        parser: its name and version, "" for none. spec: the parser as requested. Returns the
        version of the model, for `save`.
        """
        before = self.decided_with(model_id)
        if before not in (None, parser):
            forget_in_steps(self.connections, "identification", model_id)
        with self.connections.fast_write() as connection:
            if before not in (None, parser):
                # What another process may have saved since.
                forget_some(connection, "identification", model_id)
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
        """Store identifications in short transactions; see `save_identifications`.

        After an error or a crash, a part of them may be stored.
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
