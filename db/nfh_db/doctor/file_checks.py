"""Checks of the file and of the tables beside answers: the SQLite file and its schema,
column values, imports, drafts, predictions, identifications and jobs.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from math import isfinite

import msgspec

from nfh_db import batches, schema_parts, system
from nfh_db import jobs as db_jobs
from nfh_db.batches import Unfinished, Work
from nfh_db.connection import OLDEST_SQLITE, SCHEMA_VERSION, Connection, connect, sqlite3
from nfh_db.doctor.rows import UNREADABLE as UNREADABLE_ERRORS
from nfh_db.doctor.rows import Fault, Patient, Repair, Where
from nfh_db.errors import QueryError
from nfh_db.predictions import decode_weights
from nfh_db.serialization import answer_of, decode_gold, decode_scores
from nfh_models.domain import IMPLICIT_KINDS

INTEGRITY = "PRAGMA integrity_check(1000)"
INTEGRITY_OF = "SELECT integrity_check FROM pragma_integrity_check(:table)"
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
REFERENCES = "PRAGMA foreign_key_check"
COMPILE_OPTIONS = "PRAGMA compile_options"
JOURNAL_MODE = "PRAGMA journal_mode"
ENCODING = "PRAGMA encoding"
KEYS_OF = (
    "SELECT id, group_concat(\"from\", ', ') FROM pragma_foreign_key_list(:table) GROUP BY id"
)
ROOTS = "SELECT rootpage, type, name, tbl_name FROM sqlite_schema WHERE rootpage > 0"
MIGRATIONS = "SELECT count(*) FROM _sqlite_migrations WHERE migration_set = 'nfh'"

WRITE_VERSION, READ_VERSION = 18, 19
"""Where the header says how the file is written and read: 2 is with a write-ahead log."""

IN_INDEX = re.compile(
    r"(?:row \d+ missing from|entries in|entry in|out of order in) index (\S+)"
)
IN_TREE = re.compile(r"^Tree (\d+) ")
HEADING = "*** in database main ***"


def sqlite(patient: Patient) -> Iterator[Fault]:
    """SQLite's version, and whether it was built with what sharing a file needs."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        yield Fault(f"SQLite {sqlite3.sqlite_version} is in use; {wanted} or newer is wanted")
    options = {row[0] for row in patient.connection.execute(COMPILE_OPTIONS)}
    if "THREADSAFE=0" in options:
        yield Fault("SQLite was built without THREADSAFE: threads would damage the file")
    for missing in sorted(option for option in options if option in LEFT_OUT):
        yield Fault(f"SQLite was built with {missing}: what nfh-tui relies on is left out")


LEFT_OUT = {"OMIT_WAL", "OMIT_FOREIGN_KEY", "OMIT_CHECK", "OMIT_AUTOINIT", "OMIT_JSON"}


def header(patient: Patient) -> Iterator[Fault]:
    """The header's marks. That the file is ours was found when it was opened."""
    if not _has_log(patient):
        yield Fault("the file is not in write-ahead-log mode", repair=Repair.WAL)
    encoding = patient.connection.execute(ENCODING).fetchone()[0]
    if encoding != "UTF-8":
        yield Fault(f"the file keeps text as {encoding}, not as UTF-8")
    applied = patient.counted(MIGRATIONS)
    if applied != SCHEMA_VERSION:
        yield Fault(
            f"the header says schema {SCHEMA_VERSION}, but {applied} migrations are noted",
            Where("_sqlite_migrations"),
        )


def _has_log(patient: Patient) -> bool:
    """True for a file that is written with a write-ahead log."""
    if patient.mode == "ro":
        # Not read from the file: closing it would drop the locks that this process has on it.
        return bool(patient.connection.execute(JOURNAL_MODE).fetchone()[0] == "wal")
    with patient.path.open("rb") as file:
        start = file.read(READ_VERSION + 1)
    return (start[WRITE_VERSION], start[READ_VERSION]) == (2, 2)


def integrity(patient: Patient) -> Iterator[Fault]:
    """What SQLite finds wrong with pages, tables and indexes."""
    roots = {row[0]: row[1:] for row in patient.connection.execute(ROOTS)}
    try:
        found = patient.connection.execute(INTEGRITY).fetchall()
    except sqlite3.DatabaseError as error:
        if patient.late:
            raise
        # A page that makes no sense at all ends the check: ask table by table.
        broken = list(_unreadable(patient))
        yield from broken or [Fault(f"pages of the file cannot be read ({error})")]
        return
    for (text,) in found:
        for line in text.splitlines():
            if line not in ("ok", HEADING):
                yield _page_fault(line, roots)


def _unreadable(patient: Patient) -> Iterator[Fault]:
    """The tables with pages that cannot be read, their own or those of their indexes."""
    for (table,) in patient.connection.execute(TABLES).fetchall():
        try:
            found = patient.connection.execute(INTEGRITY_OF, {"table": table}).fetchall()
        except sqlite3.DatabaseError as error:
            if patient.late:
                raise
            yield Fault(
                f"pages of it, or of its indexes, cannot be read ({error})", Where(table)
            )
        else:
            lines = [line for (text,) in found for line in text.splitlines()]
            yield from (
                Fault(line, Where(table)) for line in lines if line not in ("ok", HEADING)
            )


def _page_fault(line: str, roots: dict[int, tuple[str, str, str]]) -> Fault:
    """A line of SQLite's own check, with the table or index it is about."""
    index = IN_INDEX.search(line)
    if index is not None:
        return Fault(line, Where(index[1]), Repair.INDEXES, index[1])
    tree = IN_TREE.match(line)
    found = roots.get(int(tree[1])) if tree else None
    if found is None:
        return Fault(line)
    type_, name, _ = found
    return Fault(f"{line} ({type_} {name})", Where(name))


def references(patient: Patient) -> Iterator[Fault]:
    """Rows that refer to a row that is not there."""
    columns: dict[str, dict[int, str]] = {}
    for table, row, parent, key in patient.connection.execute(REFERENCES):
        if table not in columns:
            columns[table] = dict(patient.connection.execute(KEYS_OF, {"table": table}))
        column = columns[table].get(key, "")
        # What a job's row refers to is a note.
        repair, target = (Repair.JOBS, str(row)) if table == "job" else (None, "")
        what = f"{column} refers to a row of {parent} that is missing"
        yield Fault(what, Where(table, row), repair, target)


def schema(patient: Patient) -> Iterator[Fault]:
    """Tables and indexes against those that the migrations build."""
    # Of an older file nothing is taken for foreign that a later version has.
    wanted = schema_parts.expected(patient.version) | schema_parts.expected(SCHEMA_VERSION)
    for part in schema_parts.missing(patient.connection, patient.version):
        repair = Repair.INDEXES if part.type == "index" else None
        yield Fault(f"the {part.key} is missing", Where(part.name), repair, part.name)
    for part in patient.foreign:
        if part.key not in wanted:
            what = f"the {part.key} is none of nfh-tui's"
            yield Fault(what, Where(part.name), Repair.PARTS, part.key)
            continue
        repair = Repair.PARTS if part.type == "index" else None
        what = f"the {part.key} is not built as it should be"
        yield Fault(what, Where(part.name), repair, part.key)


# Whether the anchor and the model are there is among the references.
ODD = """
SELECT i.anchor_id, i.model_id, i.nfh, i.rule, i.score, i.weights, coalesce(m.task, '')
FROM identification AS i LEFT JOIN model AS m ON m.id = i.model_id
WHERE trim(i.rule) = '' OR i.score IS NOT NULL OR i.weights <> ''
    OR m.task NOT IN ('identification', 'both')"""


def identifications(patient: Patient) -> Iterator[Fault]:
    """A rule's name, a score that says the same as the decision, and weights that are read."""
    for anchor, model, nfh, rule, score, weights, task in patient.connection.execute(ODD):
        what = _trouble(bool(nfh), rule, score, weights, task)
        if what:
            yield Fault(what, Where("identification", f"{anchor}, {model}", anchor))


def _trouble(nfh: bool, rule: str, score: float | None, weights: str, task: str) -> str:
    if not rule.strip():
        return "the rule that decided has no name"
    if task not in ("identification", "both", ""):
        return f"it is of a model whose task is {task}"
    if score is not None and not isfinite(score):
        return "its score is infinite"
    if score is not None and (score > 0) is not nfh:
        return f"its score {score:g} says otherwise than the decision"
    try:
        read = decode_weights(weights)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return f"its weights cannot be read: {error}"
    finite = all(isfinite(weight) for _, weight in read)
    return "" if finite else "one of its weights is infinite"


READABLE = "CASE WHEN json_valid({column}) THEN json_type({column}) ELSE '' END = 'object'"
NOBODYS = """
SELECT id FROM job WHERE state = 'running' AND pid IS NULL ORDER BY id"""
WAITS_FOR_EVER = "SELECT id, after_id FROM job WHERE after_id >= id ORDER BY id"
NOT_ENDED = "SELECT id FROM job WHERE state = 'done' AND finished_at IS NULL ORDER BY id"
MODEL_TOO_EARLY = """
SELECT id, state, model_id FROM job WHERE model_id IS NOT NULL AND state <> 'done'
ORDER BY id"""
NEGATIVE = "SELECT id FROM job WHERE attempts < 0 OR done < 0 OR total < 0 ORDER BY id"
UNREADABLE = {
    column: f"SELECT id FROM job WHERE NOT {READABLE.format(column=column)} ORDER BY id"  # noqa: S608
    for column in ("arguments", "metrics", "result")
}
WORDS = {
    "arguments": "what it was asked for cannot be read",
    "metrics": "its figures cannot be read",
    "result": "what came of it cannot be read",
}
LOST = "its arguments could not be read, and were emptied by a repair"
MEND = (
    f"""UPDATE job SET arguments = '{{}}', state = CASE
        WHEN state IN ('queued', 'running', 'interrupted') THEN 'failed' ELSE state END,
        error = coalesce(error, :error), finished_at = coalesce(finished_at, :at)
    WHERE id = :id AND NOT {READABLE.format(column="arguments")}""",  # noqa: S608
    *(
        f"UPDATE job SET {column} = '{{}}' "  # noqa: S608
        f"WHERE id = :id AND NOT {READABLE.format(column=column)}"
        for column in ("metrics", "result")
    ),
    """UPDATE job SET attempts = max(attempts, 0), done = max(done, 0), total = max(total, 0),
        after_id = (SELECT b.id FROM job AS b WHERE b.id = job.after_id AND b.id < job.id)
    WHERE id = :id""",
    """UPDATE job SET finished_at = :at
    WHERE id = :id AND state = 'done' AND finished_at IS NULL""",
    """UPDATE job SET model_id = NULL
    WHERE id = :id AND model_id IS NOT NULL AND (state <> 'done'
        OR NOT EXISTS (SELECT 1 FROM model AS m WHERE m.id = job.model_id))""",
    "UPDATE job SET state = 'interrupted' WHERE id = :id AND state = 'running' AND pid IS NULL",
    f"""DELETE FROM job_point
    WHERE job_id = :id AND NOT {READABLE.format(column="metrics")}""",  # noqa: S608
)
"""What is set right of a job, one after the other."""

POINTS = """
SELECT job_id, number FROM job_point
WHERE CASE WHEN json_valid(metrics) THEN json_type(metrics) ELSE '' END <> 'object'
ORDER BY job_id, number"""


def jobs(patient: Patient) -> Iterator[Fault]:
    """The rows of jobs, and of their curves; jobs that were left by their process are noted."""
    run = patient.connection.execute
    for (id_,) in run(NOBODYS):
        yield _fault("it is running, and names no process", id_)
    for id_, after in run(WAITS_FOR_EVER):
        yield _fault(f"it waits for job {after}, which was not asked for before it", id_)
    for (id_,) in run(NOT_ENDED):
        yield _fault("it is done, and does not say when", id_)
    for id_, state, model in run(MODEL_TOO_EARLY):
        yield _fault(f"it is {state}, and names model {model} as made", id_)
    for (id_,) in run(NEGATIVE):
        yield _fault("one of its numbers is below nothing", id_)
    for column, statement in UNREADABLE.items():
        for (id_,) in run(statement):
            yield _fault(WORDS[column], id_)
    yield from _points(patient)
    for id_, pid in db_jobs.lost(patient.connection):
        if pid is not None:
            patient.notes.append(
                f"job {id_} was left by its process {pid}; the next runner goes on with it, as "
                f"by `nfh-tui jobs wait {id_}`"
            )


def _points(patient: Patient) -> Iterator[Fault]:
    for id_, number in patient.connection.execute(POINTS):
        where = Where("job_point", f"{id_}, {number}")
        yield Fault("a point of a curve cannot be read", where, Repair.JOBS, str(id_))


def _fault(what: str, job_id: int) -> Fault:
    return Fault(what, Where("job", job_id), Repair.JOBS, str(job_id))


def mend(connection: Connection, job_id: int) -> None:
    """Set right what a job's row says, in the transaction there is.

    It is a note about work, and no work of people: what cannot be read is emptied, and a job
    whose arguments were lost has failed, unless it had ended.
    """
    for statement in MEND:
        connection.execute(statement, {"id": job_id, "at": system.now(), "error": LOST})


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
WHERE state = 'ready' AND CASE WHEN json_valid(report)
    THEN json_type(report) <> 'object'
        AND NOT (json_type(report) = 'null' AND format IN ('settle', 'bulk', 'undo', 'redo'))
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
    """The JSON that models, imports and assignments keep.

    What an import that is not done keeps is what it has still to do, which `imports` reads. A
    settlement that was taken back by whoever opened the database next keeps null.
    """
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
    except UNREADABLE_ERRORS as error:
        return str(error)
    return "" if gold is not None else "it is empty"


def leftovers(patient: Patient) -> Iterator[Fault]:
    """Rows that nothing has anything to do with."""
    for id_, name in patient.connection.execute(EMPTY_DOCUMENTS):
        yield Fault(f"{name} holds no passage", Where("document", id_))
    for (id_,) in patient.connection.execute(NOBODYS_ANCHORS):
        what = "no import and no person made it: the log does not know it"
        yield Fault(what, Where("anchor", id_, id_))


# Columns: each value is one that its table's CHECK allows.
#
# SQLite's own check leaves this out for a file that is opened for reading only.

COLUMNS = "SELECT name, pk FROM pragma_table_info(:table) ORDER BY pk, cid"
CHECK = "CHECK ("


def values(patient: Patient) -> Iterator[Fault]:
    """Rows that a table would not take now."""
    for part in schema_parts.expected(SCHEMA_VERSION).values():
        if part.type != "table":
            continue
        table = part.name
        columns = patient.connection.execute(COLUMNS, {"table": table}).fetchall()
        for condition in conditions(part.sql) if columns else ():
            statement = _statement(table, columns, condition)
            for key, item in patient.connection.execute(statement):
                yield Fault(f"it does not hold that {condition}", Where(table, key, item))


def conditions(sql: str) -> Iterator[str]:
    """What each CHECK of a table's statement asks for."""
    start = sql.find(CHECK)
    while start >= 0:
        start += len(CHECK)
        depth, end = 1, start
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        yield " ".join(sql[start : end - 1].split())
        start = sql.find(CHECK, end)


def _statement(table: str, columns: Sequence[tuple[str, int]], condition: str) -> str:
    """Key and anchor of the rows that do not meet a condition; all names are our schema's."""
    names = [name for name, _ in columns]
    key = [f'"{name}"' for name, place in columns if place]
    row = key[0] if len(key) == 1 else " || ', ' || ".join(key)
    item = "anchor_id" if "anchor_id" in names else "id" if table == "anchor" else "NULL"
    return f'SELECT {row}, {item} FROM "{table}" WHERE NOT ({condition})'  # noqa: S608
