"""Imports, source rows, drafts, predictions, and what nothing needs any more."""

from collections.abc import Iterator
from contextlib import closing

import msgspec

from nfh_db import batches
from nfh_db.batches import Unfinished, Work
from nfh_db.connection import connect
from nfh_db.doctor.finding import Fault, Repair, Where
from nfh_db.doctor.patient import Patient
from nfh_db.doctor.stretch import UNREADABLE
from nfh_db.errors import QueryError
from nfh_db.values import answer_of, decode_gold, decode_scores
from nfh_models.domain import IMPLICIT_KINDS

UNFINISHED = """
SELECT id, name, state, pid, report, format FROM batch WHERE state <> 'ready' ORDER BY id"""
ONE = """
SELECT id, name, state, pid, report, format FROM batch WHERE id = :id AND state <> 'ready'"""
ROWS = """
SELECT b.id, b.name, b.rows, (SELECT count(*) FROM source_row AS s WHERE s.batch_id = b.id)
FROM batch AS b
WHERE b.state = 'ready' AND b.sha256 NOT GLOB '* run *'
    AND EXISTS (SELECT 1 FROM act AS c WHERE c.batch_id = b.id AND c.kind = 'import')
ORDER BY b.id"""
ROWS_IN_WORDS = """
SELECT s.id, s.anchor_id, s.line, s.labels IS NULL OR json_valid(s.labels) FROM source_row AS s
WHERE s.line < 1 OR (s.labels IS NOT NULL AND NOT json_valid(s.labels)) ORDER BY s.id"""
DRAFTS = "SELECT anchor_id, annotator_id, role, body FROM draft"
VIEWS = "SELECT annotator_id, name, query FROM saved_view"
PREDICTIONS = """
SELECT p.anchor_id, p.model_id, p.choice, p.second, p.scores, length(t.offsets) / 8
FROM prediction AS p JOIN anchor AS a ON a.id = p.anchor_id
JOIN passage_token AS t ON t.passage_id = a.passage_id"""
SETTINGS = (
    """
SELECT 'model', id FROM model
WHERE CASE WHEN json_valid(config) THEN json_type(config) ELSE '' END <> 'object'
   OR CASE WHEN json_valid(metrics) THEN json_type(metrics) ELSE '' END <> 'object'""",
    """
SELECT 'batch', id FROM batch
WHERE CASE WHEN json_valid(report) THEN json_type(report) <> 'object'
    OR EXISTS (SELECT 1 FROM json_each(report, '$.conflicts') WHERE type <> 'text')
    ELSE 1 END""",
)
EXPECTED = (
    "SELECT id, anchor_id, expected FROM assignment WHERE expected IS NOT NULL ORDER BY id"
)
EMPTY_DOCUMENTS = """
SELECT d.id, d.name FROM document AS d LEFT JOIN batch AS b ON b.id = d.batch_id
WHERE coalesce(b.state, 'ready') = 'ready'
    AND NOT EXISTS (SELECT 1 FROM passage AS p WHERE p.document_id = d.id) ORDER BY d.id"""
NOBODYS_ANCHORS = """
SELECT a.id FROM anchor AS a
WHERE a.batch_id IS NULL AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.anchor_id = a.id)
    AND NOT EXISTS (SELECT 1 FROM source_row AS s WHERE s.anchor_id = a.id)
ORDER BY a.id"""

CLASSES = frozenset(kind.value for kind in IMPLICIT_KINDS)


class _Begun(msgspec.Struct):
    """What the notes of all unfinished work have in common: when its process started."""

    started: str | None = None


def imports(patient: Patient) -> Iterator[Fault]:
    """Imports and settlements that are not done, and at which nobody is at work."""
    for row in patient.connection.execute(UNFINISHED).fetchall():
        batch = _unfinished(*row)
        if batch is None:
            yield Fault("what it has still to do cannot be read", Where("batch", row[0]))
        elif batches.is_alive(batch):
            patient.notes.append(
                f"{batch.name} is under way in process {batch.pid}; what it is changing was "
                "left out of some checks"
            )
        elif _is_still_dead(patient, batch):
            yield Fault(_left_half_done(batch), Where("batch", batch.id), Repair.IMPORTS)


def _left_half_done(batch: Unfinished) -> str:
    """What was broken off: the reading of a file, or an act on many items at once."""
    many = batch.format in batches.BULK_FORMATS
    preparing = "being prepared" if many else "being read"
    doing = preparing if batch.is_loading else "being applied"
    what = f"the act on many items “{batch.name}”" if many else batch.name
    when = "its write failed" if batch.pid is None else f"its process {batch.pid} ended"
    return f"{what} was {doing} when {when}"


def _unfinished(
    id_: int, name: str, state: str, pid: int | None, raw: str, format_: str
) -> Unfinished | None:
    try:
        started = msgspec.json.decode(raw, type=_Begun).started
    except (msgspec.MsgspecError, ValueError):
        return None
    return Unfinished(id_, name, state, pid, raw, Work(started=started), format_)


def _is_still_dead(patient: Patient, batch: Unfinished) -> bool:
    """Look again, as it is now: it may have become ready, and its process ended, meanwhile."""
    with closing(connect(patient.path, patient.mode)) as now:
        row = now.execute(ONE, {"id": batch.id}).fetchone()
    again = _unfinished(*row) if row is not None else None
    return again is not None and not batches.is_alive(again)


def sources(patient: Patient) -> Iterator[Fault]:
    """The rows that imports came from."""
    for id_, name, wanted, there in patient.connection.execute(ROWS):
        if wanted != there:
            what = f"{name} came with {wanted:,} rows, {there:,} are kept"
            yield Fault(what, Where("batch", id_))
    for id_, anchor, line, readable in patient.connection.execute(ROWS_IN_WORDS):
        what = f"its line is {line}" if readable else "its labels cannot be read"
        yield Fault(what, Where("source_row", id_, anchor))


def drafts(patient: Patient) -> Iterator[Fault]:
    """What people began and have not committed, and the queries they keep."""
    from nfh_db.query import parse

    for anchor, annotator, role, body in patient.connection.execute(DRAFTS):
        try:
            (patient.read_draft or msgspec.json.decode)(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            key = f"{anchor}, {annotator}, {role}"
            yield Fault(f"it cannot be read: {error}", Where("draft", key, anchor))
    for annotator, name, query in patient.connection.execute(VIEWS):
        try:
            parse(query)
        except QueryError as error:
            key = f"{annotator}, {name}"
            yield Fault(f"its query cannot be understood: {error}", Where("saved_view", key))


def predictions(patient: Patient) -> Iterator[Fault]:
    """One score for each class and each word, and choices that are among them."""
    for anchor, model, choice, second, scores, words in patient.connection.execute(PREDICTIONS):
        what = _prediction_trouble(choice, second, scores, words)
        if what:
            yield Fault(what, Where("prediction", f"{anchor}, {model}", anchor))


def _prediction_trouble(choice: str, second: str | None, scores: bytes, words: int) -> str:
    wanted = len(CLASSES) + words
    if len(scores) != 4 * wanted:
        return f"it has {len(scores) / 4:g} scores for {len(CLASSES)} classes and {words} words"
    for name in (choice, *([] if second is None else [second])):
        if name not in CLASSES and not (name.isdecimal() and int(name) < words):
            return f"its choice {name!r} is neither a class nor a word of the passage"
    if any(
        score is not None and score in (float("inf"), float("-inf"))
        for score in decode_scores(scores)
    ):
        return "one of its scores is infinite"
    return ""


def notes(patient: Patient) -> Iterator[Fault]:
    """The JSON that models, imports and assignments keep."""
    for statement in SETTINGS:
        for table, id_ in patient.connection.execute(statement):
            yield Fault("JSON that it keeps cannot be read", Where(table, id_))
    for id_, anchor, expected in patient.connection.execute(EXPECTED):
        what = _expected_trouble(expected)
        if what:
            yield Fault(
                f"the gold that it expects cannot be read: {what}",
                Where("assignment", id_, anchor),
            )


def _expected_trouble(expected: str) -> str:
    try:
        gold = decode_gold(expected)
        if gold is not None:
            answer_of(gold)
    except UNREADABLE as error:
        return str(error)
    return "" if gold is not None else "it is empty"


def leftovers(patient: Patient) -> Iterator[Fault]:
    """Rows that nothing has anything to do with."""
    for id_, name in patient.connection.execute(EMPTY_DOCUMENTS):
        yield Fault(f"{name} holds no passage", Where("document", id_))
    for (id_,) in patient.connection.execute(NOBODYS_ANCHORS):
        what = "no import and no person made it: the log does not know it"
        yield Fault(what, Where("anchor", id_, id_))
