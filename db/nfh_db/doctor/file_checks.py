"""Checks of the SQLite file, its schema and column values, and of imports, drafts,
predictions, identifications and jobs. Each yields a fault for every broken row.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from math import isfinite
from pathlib import Path

import msgspec

from nfh_db import batches, schema_parts, system
from nfh_db import jobs as db_jobs
from nfh_db.batches import Unfinished, Work
from nfh_db.connection import (
    LOG,
    LOG_HEADER,
    OLDEST_SQLITE,
    SCHEMA_VERSION,
    Connection,
    connect,
    sidecar,
    sqlite3,
)
from nfh_db.database import holds_without_log
from nfh_db.doctor.rows import READ_ERRORS, DatabaseSnapshot, Fault, Place, Repair
from nfh_db.errors import QueryError
from nfh_db.messages import command_line, reason_of
from nfh_db.predictions import decode_weights
from nfh_db.records import PERSON, normal_name
from nfh_db.serialization import answer_of, decode_gold, decode_scores
from nfh_models.domain import IMPLICIT_KINDS

INTEGRITY = "PRAGMA integrity_check(1000)"
INTEGRITY_OF = "SELECT integrity_check FROM pragma_integrity_check(:table)"
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
FOREIGN_KEY_CHECK = "PRAGMA foreign_key_check"
COMPILE_OPTIONS = "PRAGMA compile_options"
JOURNAL_MODE = "PRAGMA journal_mode"
ENCODING = "PRAGMA encoding"
KEYS_OF = (
    "SELECT id, group_concat(\"from\", ', ') FROM pragma_foreign_key_list(:table) GROUP BY id"
)
ROOTS = "SELECT rootpage, type, name, tbl_name FROM sqlite_schema WHERE rootpage > 0"
MIGRATIONS = "SELECT count(*) FROM _sqlite_migrations WHERE migration_set = 'nfh'"

WRITE_VERSION, READ_VERSION = 18, 19
"""Offsets in the file header (sqlite.org/fileformat.html); 2 means write-ahead log."""

INDEX_LINE = re.compile(
    r"(?:row \d+ missing from|entries in|entry in|out of order in) index (\S+)"
    r"|(?i:fts5).*\b(passage_text)\b"
)
TREE_LINE = re.compile(r"^Tree (\d+) ")
# An import adds its texts at its end: until then they are the last passages.
UNLIKE_TEXTS = {
    """SELECT count(*) FROM (
        SELECT id FROM passage WHERE id <= (SELECT max(id) FROM passage_text_docsize)
        EXCEPT SELECT id FROM passage_text_docsize)""": "passages that it lacks",
    """SELECT count(*) FROM (
        SELECT id FROM passage_text_docsize EXCEPT SELECT id FROM passage)""": "entries "
    "without a passage",
}
HEADING = "*** in database main ***"


def sqlite(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """SQLite's version and compile options allow several processes to share a file."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        yield Fault(f"SQLite {sqlite3.sqlite_version} is in use; {wanted} or newer is wanted")
    options = {row[0] for row in snapshot.connection.execute(COMPILE_OPTIONS)}
    if "THREADSAFE=0" in options:
        yield Fault("SQLite was built without THREADSAFE: threads can damage the file")
    for missing in sorted(option for option in options if option in UNUSABLE_OPTIONS):
        yield Fault(f"SQLite was built with {missing}, which lacks what nfh-tui needs")


UNUSABLE_OPTIONS = {"OMIT_WAL", "OMIT_FOREIGN_KEY", "OMIT_CHECK", "OMIT_AUTOINIT", "OMIT_JSON"}


def header(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Log, journal mode, encoding and number of migrations. Opening checked the rest."""
    if snapshot.log_gone:
        yield Fault(
            "the -shm file beside it counts changes of a -wal file that is missing or empty, "
            "so the last changes are missing. Fetch the -wal file from the place where this "
            "file came from; `nfh-tui backup` copies an open database completely"
        )
    if not _has_log(snapshot):
        yield Fault("the file is not in write-ahead-log mode", repair=Repair.WAL)
    encoding = snapshot.connection.execute(ENCODING).fetchone()[0]
    if encoding != "UTF-8":
        yield Fault(f"the file keeps text as {encoding}, not as UTF-8")
    applied = snapshot.count(MIGRATIONS)
    if applied != SCHEMA_VERSION:
        yield Fault(
            f"the header says schema {SCHEMA_VERSION}, but {applied} migrations are noted",
            Place("_sqlite_migrations"),
        )


LEFT_BEHIND = (
    "The file is intact without {log}, which another database of that name may have left "
    "behind. Copy both, move the log away, and check again"
)
COPIED = (
    "It has no log with changes beside it: it may be a copy that was made while the database "
    "was open, without its -wal file. `nfh-tui backup` copies an open database"
)
NO_DATABASE = (
    "{log} is there without its database {name}, and may hold the last changes. If {path} is "
    "that database under another name, put the two files side by side again"
)


def about_log(path: Path, broken: Collection[str]) -> Iterator[str]:
    """Notes on logs that seem to be missing or left behind. broken: names of checks."""
    log = sidecar(path, LOG)
    if holds_without_log(path) and {"pages", "schema", "references"} & set(broken):
        yield LEFT_BEHIND.format(log=log.name)
    elif "pages" in broken and not log.exists():
        yield COPIED
    for other in sorted(log.parent.glob(f"*{LOG}")):
        name = other.name.removesuffix(LOG)
        if name and not other.with_name(name).exists() and other.stat().st_size > LOG_HEADER:
            yield NO_DATABASE.format(log=other.name, name=name, path=path.name)


def _has_log(snapshot: DatabaseSnapshot) -> bool:
    if snapshot.mode == "ro":
        # Closing the file would drop the POSIX locks that this process holds on it.
        return bool(snapshot.connection.execute(JOURNAL_MODE).fetchone()[0] == "wal")
    with snapshot.path.open("rb") as file:
        start = file.read(READ_VERSION + 1)
    return (start[WRITE_VERSION], start[READ_VERSION]) == (2, 2)


def integrity(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """SQLite's integrity check, by table where the whole check fails."""
    roots = {row[0]: row[1:] for row in snapshot.connection.execute(ROOTS)}
    try:
        found = snapshot.connection.execute(INTEGRITY).fetchall()
    except sqlite3.DatabaseError as error:
        if snapshot.timed_out:
            raise
        # An unreadable page ends the whole check, so check table by table.
        broken = list(_unreadable(snapshot))
        yield from broken or [Fault(f"pages of the file cannot be read ({error})")]
        return
    for (text,) in found:
        for line in text.splitlines():
            if line not in ("ok", HEADING):
                yield _page_fault(line, roots)
    if snapshot.version < SCHEMA_VERSION:
        return
    for statement, what in UNLIKE_TEXTS.items():
        (number,) = snapshot.connection.execute(statement).fetchone()
        if number:
            text_index = "passage_text"
            yield Fault(f"{what}: {number}", Place(text_index), Repair.INDEXES, text_index)


def _unreadable(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    for (table,) in snapshot.connection.execute(TABLES).fetchall():
        try:
            found = snapshot.connection.execute(INTEGRITY_OF, {"table": table}).fetchall()
        except sqlite3.DatabaseError as error:
            if snapshot.timed_out:
                raise
            yield Fault(
                f"pages of it, or of its indexes, cannot be read ({error})", Place(table)
            )
        else:
            lines = [line for (text,) in found for line in text.splitlines()]
            yield from (
                Fault(line, Place(table)) for line in lines if line not in ("ok", HEADING)
            )


def _page_fault(line: str, roots: dict[int, tuple[str, str, str]]) -> Fault:
    """A line of the integrity check, with the table or index that it names."""
    index = INDEX_LINE.search(line)
    if index is not None:
        name = index[1] or index[2]
        return Fault(line, Place(name), Repair.INDEXES, name)
    tree = TREE_LINE.match(line)
    found = roots.get(int(tree[1])) if tree else None
    if found is None:
        return Fault(line)
    type_, name, _ = found
    return Fault(f"{line} ({type_} {name})", Place(name))


def references(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Each foreign key refers to a row that exists."""
    columns: dict[str, dict[int, str]] = {}
    for table, row, parent, key in snapshot.connection.execute(FOREIGN_KEY_CHECK):
        if table not in columns:
            columns[table] = dict(snapshot.connection.execute(KEYS_OF, {"table": table}))
        column = columns[table].get(key, "")
        # Only references of jobs may be emptied: they are notes.
        repair, target = (Repair.JOBS, str(row)) if table == "job" else (None, "")
        what = f"{column} refers to a row of {parent} that is missing"
        yield Fault(what, Place(table, row), repair, target)


def schema(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """The schema is exactly that which the migrations build."""
    # In an older file, a part of the current schema is not foreign.
    wanted = schema_parts.expected(snapshot.version) | schema_parts.expected(SCHEMA_VERSION)
    for part in schema_parts.missing(snapshot.connection, snapshot.version):
        repair = Repair.INDEXES if part.type == "index" else None
        yield Fault(f"the {part.key} is missing", Place(part.name), repair, part.name)
    for part in snapshot.foreign:
        if part.key not in wanted:
            what = f"the {part.key} was not made by nfh-tui"
            yield Fault(what, Place(part.name), Repair.PARTS, part.key)
            continue
        repair = Repair.PARTS if part.type == "index" else None
        what = f"the {part.key} is not built as it should be"
        yield Fault(what, Place(part.name), repair, part.key)


# `references` checks that the anchor and the model exist.
IDENTIFICATIONS = """
SELECT i.anchor_id, i.model_id, i.nfh, i.rule, i.score, i.weights, coalesce(m.task, '')
FROM identification AS i LEFT JOIN model AS m ON m.id = i.model_id
WHERE trim(i.rule) = '' OR i.score IS NOT NULL OR i.weights <> ''
    OR m.task NOT IN ('identification', 'both')"""


def identifications(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Each identification has a rule, a score of the right sign and readable weights."""
    for anchor, model, nfh, rule, score, weights, task in snapshot.connection.execute(
        IDENTIFICATIONS
    ):
        what = _identification_trouble(bool(nfh), rule, score, weights, task)
        if what:
            yield Fault(what, Place("identification", f"{anchor}, {model}", anchor))


def _identification_trouble(
    nfh: bool, rule: str, score: float | None, weights: str, task: str
) -> str:
    if not rule.strip():
        return "the rule that decided has no name"
    if task not in ("identification", "both", ""):
        return f"it is of a model whose task is {task}"
    if score is not None and not isfinite(score):
        return "its score is infinite"
    if score is not None and (score > 0) is not nfh:
        return f"its score {score:g} contradicts the decision"
    try:
        read = decode_weights(weights)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return f"its weights cannot be read: {reason_of(error)}"
    finite = all(isfinite(weight) for _, weight in read)
    return "" if finite else "one of its weights is infinite"


READABLE = "CASE WHEN json_valid({column}) THEN json_type({column}) ELSE '' END = 'object'"
JOB_FAULTS = {
    "SELECT id FROM job WHERE state = 'running' AND pid IS NULL ORDER BY id": (
        "it is running, and names no process"
    ),
    "SELECT id, after_id FROM job WHERE after_id >= id ORDER BY id": (
        "it waits for job {}, which was not queued before it"
    ),
    "SELECT id FROM job WHERE state = 'done' AND finished_at IS NULL ORDER BY id": (
        "it is done, and does not say when"
    ),
    """SELECT id, state, model_id FROM job WHERE model_id IS NOT NULL AND state <> 'done'
    ORDER BY id""": "it is {}, and names model {} as made",
    "SELECT id FROM job WHERE attempts < 0 OR done < 0 OR total < 0 ORDER BY id": (
        "one of its numbers is negative"
    ),
} | {
    f"SELECT id FROM job WHERE NOT {READABLE.format(column=column)} ORDER BY id": words  # noqa: S608
    for column, words in (
        ("arguments", "its arguments cannot be read"),
        ("metrics", "its figures cannot be read"),
        ("result", "its result cannot be read"),
    )
}
"""Queries for faulty jobs, and words for the columns after the id."""

LOST = "its arguments could not be read, and were emptied by a repair"
REPAIR_JOB = (
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
"""Statements that repair the row of a job, in order."""

POINTS = """
SELECT job_id, number FROM job_point
WHERE CASE WHEN json_valid(metrics) THEN json_type(metrics) ELSE '' END <> 'object'
ORDER BY job_id, number"""


def jobs(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """The rows of jobs and their curves are consistent. Notes jobs whose process is gone."""
    run = snapshot.connection.execute
    for statement, words in JOB_FAULTS.items():
        for id_, *values in run(statement):
            yield _job_fault(words.format(*values), id_)
    for id_, number in run(POINTS):
        where = Place("job_point", f"{id_}, {number}")
        yield Fault("a point of a curve cannot be read", where, Repair.JOBS, str(id_))
    for id_, pid in db_jobs.find_dead(snapshot.connection):
        if pid is not None:
            snapshot.notes.append(
                f"job {id_} was left by its process {pid}; the next runner continues it, as "
                f"with `nfh-tui jobs wait {id_}`"
            )


def _job_fault(what: str, job_id: int) -> Fault:
    return Fault(what, Place("job", job_id), Repair.JOBS, str(job_id))


def repair_job(connection: Connection, job_id: int) -> None:
    """Repair the row of a job, in the caller's transaction.

    Empties what cannot be read: it describes work and is nobody's work. A job that loses its
    arguments fails, unless it has ended.
    """
    for statement in REPAIR_JOB:
        connection.execute(statement, {"id": job_id, "at": system.now(), "error": LOST})


UNFINISHED = """
SELECT id, name, state, pid, report, format FROM batch WHERE state <> 'ready' ORDER BY id"""
UNFINISHED_BY_ID = """
SELECT id, name, state, pid, report, format FROM batch WHERE id = :id AND state <> 'ready'"""
ROWS = """
SELECT b.id, b.name, b.rows, (SELECT count(*) FROM source_row AS s WHERE s.batch_id = b.id)
FROM batch AS b
WHERE b.state = 'ready' AND b.sha256 NOT GLOB '* run *'
    AND EXISTS (SELECT 1 FROM act AS c WHERE c.batch_id = b.id AND c.kind = 'import')
ORDER BY b.id"""
BAD_SOURCE_ROWS = """
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
UNLOGGED_ANCHORS = """
SELECT a.id FROM anchor AS a
WHERE a.batch_id IS NULL AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.anchor_id = a.id)
    AND NOT EXISTS (SELECT 1 FROM source_row AS s WHERE s.anchor_id = a.id)
ORDER BY a.id"""

CLASSES = frozenset(kind.value for kind in IMPLICIT_KINDS)


class _WorkStart(msgspec.Struct):
    """The field that the reports of all unfinished batches share."""

    started: str | None = None
    """When the process started, to tell it from a later one of the same id."""


def imports(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """No unfinished batch is left behind by its process. Notes those under way."""
    for row in snapshot.connection.execute(UNFINISHED).fetchall():
        batch = _unfinished(*row)
        if batch is None:
            yield Fault("its remaining work cannot be read", Place("batch", row[0]))
        elif batches.is_alive(batch):
            snapshot.notes.append(
                f"{batch.name} is running in process {batch.pid}; some checks left out what "
                "it is changing"
            )
        elif _is_still_dead(snapshot, batch):
            yield Fault(_unfinished_words(batch), Place("batch", batch.id), Repair.IMPORTS)


def _unfinished_words(batch: Unfinished) -> str:
    many = batch.format in batches.BULK_FORMATS
    preparing = "being prepared" if many else "being read"
    doing = preparing if batch.is_loading else "being applied"
    what = f"the bulk action “{batch.name}”" if many else batch.name
    when = "its write failed" if batch.pid is None else f"its process {batch.pid} ended"
    return f"{what} was {doing} when {when}"


def _unfinished(
    id_: int, name: str, state: str, pid: int | None, raw: str, format_: str
) -> Unfinished | None:
    try:
        started = msgspec.json.decode(raw, type=_WorkStart).started
    except (msgspec.MsgspecError, ValueError):
        return None
    return Unfinished(id_, name, state, pid, raw, Work(started=started), format_)


def _is_still_dead(snapshot: DatabaseSnapshot, batch: Unfinished) -> bool:
    """Read the batch again outside the snapshot: it may have become ready since."""
    with closing(connect(snapshot.path, snapshot.mode)) as now:
        row = now.execute(UNFINISHED_BY_ID, {"id": batch.id}).fetchone()
    examine_again = _unfinished(*row) if row is not None else None
    return examine_again is not None and not batches.is_alive(examine_again)


def sources(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """The source rows of each import are complete and readable."""
    for id_, name, wanted, there in snapshot.connection.execute(ROWS):
        if wanted != there:
            what = f"{name} came with {wanted:,} rows, {there:,} are kept"
            yield Fault(what, Place("batch", id_))
    for id_, anchor, line, readable in snapshot.connection.execute(BAD_SOURCE_ROWS):
        what = f"its line is {line}" if readable else "its labels cannot be read"
        yield Fault(what, Place("source_row", id_, anchor))


def drafts(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Drafts can be read, and saved queries parsed."""
    from nfh_db.query import parse

    for anchor, annotator, role, body in snapshot.connection.execute(DRAFTS):
        try:
            (snapshot.read_draft or msgspec.json.decode)(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            key = f"{anchor}, {annotator}, {role}"
            yield Fault(f"it cannot be read: {reason_of(error)}", Place("draft", key, anchor))
    for annotator, name, query in snapshot.connection.execute(VIEWS):
        try:
            parse(query)
        except QueryError as error:
            key = f"{annotator}, {name}"
            yield Fault(f"its query cannot be understood: {error}", Place("saved_view", key))


def predictions(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Each prediction has a score for each class and word, and valid choices."""
    for anchor, model, choice, second, scores, words in snapshot.connection.execute(
        PREDICTIONS
    ):
        what = _prediction_trouble(choice, second, scores, words)
        if what:
            yield Fault(what, Place("prediction", f"{anchor}, {model}", anchor))


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


def notes(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """The JSON of models, finished batches and assignments can be read.

    `imports` reads that of unfinished batches. A settlement that crash recovery took back
    keeps null. Names that are no fault, but to be settled, are told beside it.
    """
    snapshot.notes.extend(_about_names(snapshot))
    for statement in SETTINGS:
        for table, id_ in snapshot.connection.execute(statement):
            yield Fault("JSON that it keeps cannot be read", Place(table, id_))
    for id_, anchor, expected in snapshot.connection.execute(EXPECTED):
        what = _expected_trouble(expected)
        if what:
            yield Fault(
                f"the gold that it expects cannot be read: {what}",
                Place("assignment", id_, anchor),
            )


def _about_names(snapshot: DatabaseSnapshot) -> Iterator[str]:
    """Names of people that an earlier version stored otherwise than names are stored now."""
    # It has no names that stand for others, which is the fifth column.
    for _, name, type_, _, *more in snapshot.connection.execute("SELECT * FROM annotator"):
        if type_ == PERSON and isinstance(name, str) and not any(more[:1]):
            names = (name, normal_name(name))
            if names[0] != names[1]:
                yield (
                    f"{name!r} is not stored in NFC without white space at its ends: nfh-tui "
                    f"people rename {command_line(names)}"
                )


def _expected_trouble(expected: str) -> str:
    try:
        gold = decode_gold(expected)
        if gold is not None:
            answer_of(gold)
    except READ_ERRORS as error:
        return reason_of(error)
    return "" if gold is not None else "it is empty"


def leftovers(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """No document is without passage, and no anchor without import or event."""
    for id_, name in snapshot.connection.execute(EMPTY_DOCUMENTS):
        yield Fault(f"{name} holds no passage", Place("document", id_))
    for (id_,) in snapshot.connection.execute(UNLOGGED_ANCHORS):
        what = "neither an import nor a person made it, by the log"
        yield Fault(what, Place("anchor", id_, id_))


# SQLite's integrity check skips CHECK constraints in a file that is opened read-only.

COLUMNS = "SELECT name, pk FROM pragma_table_info(:table) ORDER BY pk, cid"
CHECK = "CHECK ("


def values(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Each row meets the CHECK constraints of its table."""
    for part in schema_parts.expected(SCHEMA_VERSION).values():
        if part.type != "table":
            continue
        table = part.name
        columns = snapshot.connection.execute(COLUMNS, {"table": table}).fetchall()
        for condition in conditions(part.sql) if columns else ():
            statement = _statement(table, columns, condition)
            for key, item in snapshot.connection.execute(statement):
                yield Fault(f"it does not hold that {condition}", Place(table, key, item))


def conditions(sql: str) -> Iterator[str]:
    """The condition of each CHECK in a CREATE TABLE statement."""
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
    """A query for the key and anchor of rows that fail a condition.

    All names come from the schema of this program, none from the file.
    """
    names = [name for name, _ in columns]
    key = [f'"{name}"' for name, place in columns if place]
    row = key[0] if len(key) == 1 else " || ', ' || ".join(key)
    item = "anchor_id" if "anchor_id" in names else "id" if table == "anchor" else "NULL"
    return f'SELECT {row}, {item} FROM "{table}" WHERE NOT ({condition})'  # noqa: S608
