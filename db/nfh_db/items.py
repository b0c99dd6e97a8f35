"""Items: an anchor with all that belongs to it, for the screen, for exports and releases, and
the source rows of anchors.

An item leaves out what its reader may not know: an annotator may get no answers of others and
no gold; an adjudicator who decides blind gets no decisions, and in an audit no answers and no
flags of others either.
"""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal

import msgspec

from nfh_db import (
    anchors,
    answers,
    assignments,
    audits,
    batches,
    edits,
    guidelines,
    models,
    passages,
    predictions,
)
from nfh_db.anchors import VISIBLE
from nfh_db.assignments import Purpose
from nfh_db.audits import Audit
from nfh_db.connection import (
    SCHEMA_VERSION,
    Connection,
    Connections,
    Repository,
    reads,
    streams,
)
from nfh_db.errors import StoreError
from nfh_db.guidelines import Guideline
from nfh_db.models import Activation, Model
from nfh_db.passages import PassageCache
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Annotator,
    Ballot,
    ExportRecord,
    Role,
    Rule,
    Sibling,
    Vote,
)
from nfh_db.serialization import GoldValue, answer_of, decode_gold, gold_of, json_of
from nfh_models.domain import Anchor, Answer, Passage, anchor_id

# The order is that of the index that makes spans unique.
BALLOT_ANCHORS = """
SELECT a.id FROM anchor AS a WHERE {where} ORDER BY a.passage_id, a.start, a.stop"""
BALLOT_DETAILS = f"""
SELECT a.id, a.passage_id, d.name, a.start, a.stop, a.state, {anchors.SPLIT}
FROM json_each(:ids) AS j
JOIN anchor AS a ON a.id = j.value
JOIN passage AS p ON p.id = a.passage_id
JOIN document AS d ON d.id = p.document_id
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants

AT_ONCE = 1_000


def ballots(
    connection: Connection, query: Query, me: Annotator | None = None
) -> Iterator[Ballot]:
    """The ballots of the anchors of a query, by passage and span.

    Needs a connection in a read transaction.
    """
    compiled = compile_query(query, me.id if me else 0)
    cursor = connection.execute(
        BALLOT_ANCHORS.format(where=compiled.where), compiled.parameters
    )
    while rows := cursor.fetchmany(AT_ONCE):
        yield from of_anchors(connection, [row[0] for row in rows])


def of_anchors(connection: Connection, ids: Sequence[int]) -> Iterator[Ballot]:
    """The ballots of these anchors, by passage and span.

    Needs a connection in a read transaction.
    """
    rows = connection.execute(BALLOT_DETAILS, {"ids": json_of(ids)}).fetchall()
    texts = passages.read(connection, sorted({row[1] for row in rows}))
    golds = answers.read_all_gold(connection, ids)
    votes = answers.votes(connection, ids)
    marks = answers.marks(connection, ids)
    for id_, passage_id, document, start, stop, state, split in rows:
        decided = golds.get(id_)
        yield Ballot(
            id_,
            passage_id,
            document,
            split,
            texts[passage_id],
            Anchor(start, stop),
            AnchorState(state),
            tuple(votes.get(id_, ())),
            gold_of(decided) if decided else None,
            tuple(marks.get(id_, ())),
        )


READ = f"""
SELECT a.passage_id, a.start, a.stop, a.state, a.blocking, a.notes, a.pattern, a.replaces,
    d.name, {anchors.SPLIT}
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
JOIN document AS d ON d.id = p.document_id
WHERE a.id = :id AND {anchors.VISIBLE}"""  # noqa: S608 - made of constants


def read(
    connection: Connection, id_: int, me: Annotator, role: Role, cache: PassageCache
) -> AnchorItem | None:
    """An anchor with this person's draft in this role; None if it is not visible.

    For an adjudicator who decides blind, others' decisions are left out.
    """
    whole = _whole(connection, id_, me.id, role, cache)
    if whole is None or role is Role.ANNOTATOR:
        return whole
    ids = [sibling.anchor_id for sibling in whole.siblings]
    kept_back = assignments.blind(connection, ids, me.id)
    return _as_adjudicator(whole, me.name, kept_back) if kept_back else whole


def read_for_annotator(
    connection: Connection, id_: int, me: Annotator, cache: PassageCache
) -> AnchorItem | None:
    """An anchor as an annotator may see it; None if it is not visible.

    Others' answers and all gold are left out, so that a hidden check looks like any other item.
    An assigned item does not name its file: a hidden check is often from another one.
    """
    item = _whole(connection, id_, me.id, Role.ANNOTATOR, cache)
    if item is None:
        return None
    done = assignments.answered(connection, [one.anchor_id for one in item.siblings], me.id)
    siblings = tuple(
        replace(one, state=own_state(answered=one.anchor_id in done), kind=None, nouns=())
        for one in item.siblings
    )
    moved = any(vote.annotator == me.name for vote in item.stale_votes)
    state = own_state(answered=item.anchor_id in done, moved=moved)
    if assignments.was_given(connection, id_, me.id, Role.ANNOTATOR):
        item = replace(item, document="", split=None)
    return _own_only(replace(item, siblings=siblings, state=state), me.name)


def _own_only(item: AnchorItem, me: str) -> AnchorItem:
    """The item without others' answers and flags, and without what derives from answers."""
    return replace(
        item,
        votes=tuple(vote for vote in item.votes if vote.annotator == me),
        stale_votes=tuple(vote for vote in item.stale_votes if vote.annotator == me),
        flags=tuple(flag for flag in item.flags if flag.annotator == me),
        gold=None,
        doubted=None,
        blocking=(),
        notes=(),
        pattern="",
        competences=(),
    )


def own_state(*, answered: bool, moved: bool = False) -> AnchorState:
    """The state of an anchor for an annotator, by own answers only.

    moved: it replaces an anchor that this person answered.
    """
    if answered:
        return AnchorState.ANSWERED
    return AnchorState.STALE if moved else AnchorState.OPEN


def _as_adjudicator(item: AnchorItem, me: str, kept_back: Mapping[int, Purpose]) -> AnchorItem:
    """The item without what the person has to decide blind."""
    siblings = tuple(
        replace(one, state=AnchorState.OPEN, kind=None, nouns=())
        if one.anchor_id in kept_back
        else one
        for one in item.siblings
    )
    item = replace(item, siblings=siblings)
    purpose = kept_back.get(item.anchor_id)
    if purpose is None:
        return item
    item = replace(item, withheld=True)
    if purpose is Purpose.AUDIT:
        return _own_only(replace(item, state=AnchorState.OPEN), me)
    return _without_decisions(item, me)


def _without_decisions(item: AnchorItem, me: str) -> AnchorItem:
    """The item without the decisions of other adjudicators."""
    votes = _but_decisions(item.votes, me)
    given = any(vote.counts for vote in votes)
    return replace(
        item,
        state=AnchorState.DISAGREE
        if item.blocking
        else AnchorState.ANSWERED
        if given
        else AnchorState.OPEN,
        votes=votes,
        stale_votes=_but_decisions(item.stale_votes, me),
        gold=None,
        doubted=None,
    )


def _but_decisions(votes: Sequence[Vote], me: str) -> tuple[Vote, ...]:
    return tuple(v for v in votes if v.role is Role.ANNOTATOR or v.annotator == me)


def _whole(
    connection: Connection, id_: int, me_id: int, role: Role, cache: PassageCache
) -> AnchorItem | None:
    row = connection.execute(READ, {"id": id_}).fetchone()
    if row is None:
        return None
    passage_id, start, stop, state, blocking, notes, pattern, replaces, document, split = row
    passage = passages.read_one(connection, passage_id, cache)
    anchor = Anchor(start, stop)
    before = answers.predecessor(connection, id_) if replaces is not None else None
    votes = answers.votes(connection, [id_] if before is None else [id_, before])
    decided = answers.read_gold(connection, id_)
    model = models.active(connection, "resolution")
    identifier = models.active(connection, "identification")
    return AnchorItem(
        anchor_id=id_,
        public_id=anchor_id(passage.digest, anchor),
        passage_id=passage_id,
        document=document,
        split=split,
        passage=passage,
        anchor=anchor,
        state=AnchorState(state),
        siblings=_siblings(connection, passage_id),
        votes=tuple(votes.get(id_, ())),
        stale_votes=() if before is None else tuple(votes.get(before, ())),
        gold=gold_of(decided) if decided else None,
        flags=tuple(answers.marks(connection, [id_]).get(id_, ())),
        blocking=answers.blocking_names(blocking),
        notes=answers.note_names(notes),
        pattern=pattern,
        draft=edits.draft(connection, id_, me_id, role.value),
        prediction=predictions.read(connection, id_, model[0]) if model else None,
        others=predictions.read_others(connection, id_, model[0]) if model else (),
        identification=predictions.read_identification(connection, id_, identifier[0])
        if identifier
        else None,
        competences=models.of_votes(connection, votes.get(id_, ())),
        doubted=answers.find_doubt(connection, id_) if decided else None,
    )


def _siblings(connection: Connection, passage_id: int) -> tuple[Sibling, ...]:
    """The anchors of a passage, each with the nouns of its gold."""
    found = anchors.siblings(connection, passage_id)
    if len(found) == 1:
        return found
    nouns = answers.nouns(connection, passage_id)
    return tuple(replace(one, nouns=nouns.get(one.anchor_id, ())) for one in found)


def read_passages(
    connection: Connection, ids: Sequence[int]
) -> Mapping[int, tuple[Passage, Anchor]]:
    """Passage and span of each of these anchors that is visible, by anchor id."""
    found = anchors.spans(connection, ids)
    texts = passages.read(connection, sorted({passage_id for _, passage_id, _ in found}))
    return {id_: (texts[passage_id], anchor) for id_, passage_id, anchor in found}


# Every anchor of a query once. The order is that of the index that makes spans unique.
EXPORT_ANCHORS = """
SELECT a.id, NULL, NULL, NULL, 0
FROM anchor AS a WHERE {where}
ORDER BY a.passage_id, a.start, a.stop"""

# Rows of files in the release's format whose labels are gold. Files imported as answers would
# repeat every anchor once per annotator.
FROM_RELEASE = f"""c.format = 'nfh' AND c.annotator_id IS NULL AND c.state <> 'loading'
    AND c.id NOT IN ({batches.OUT})"""

# A row whose anchor was replaced is exported with the present successor.
SUCCESSORS = """RECURSIVE chain (origin, id) AS (
    SELECT id, replaced_by FROM anchor WHERE replaced_by IS NOT NULL
    UNION
    SELECT c.origin, n.replaced_by FROM chain AS c JOIN anchor AS n ON n.id = c.id
    WHERE n.replaced_by IS NOT NULL
), successor (origin, id) AS (
    SELECT c.origin, c.id FROM chain AS c JOIN anchor AS n ON n.id = c.id
    WHERE n.replaced_by IS NULL
)"""
SOURCE_ROWS = f"""
WITH {SUCCESSORS}
SELECT a.id, s.split, s.labels, s.batch_id, a.id <> s.anchor_id
FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
LEFT JOIN successor AS x ON x.origin = s.anchor_id
JOIN anchor AS a ON a.id = coalesce(x.id, s.anchor_id)
WHERE {FROM_RELEASE} AND {{where}}
ORDER BY s.batch_id, s.line"""  # noqa: S608 - made of constants
OTHER_ANCHORS = f"""
WITH {SUCCESSORS}
SELECT a.id, NULL, NULL, NULL, 0
FROM anchor AS a
WHERE {{where}} AND a.id NOT IN (
    SELECT coalesce(x.id, s.anchor_id)
    FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
    LEFT JOIN successor AS x ON x.origin = s.anchor_id
    WHERE {FROM_RELEASE})
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants
STALE_GOLD = f"""
WITH {SUCCESSORS}
SELECT count(DISTINCT a.id)
FROM gold AS g JOIN successor AS x ON x.origin = g.anchor_id JOIN anchor AS a ON a.id = x.id
WHERE g.removed = 0 AND {VISIBLE}
    AND NOT EXISTS (SELECT 1 FROM gold AS n WHERE n.anchor_id = a.id AND n.removed = 0)"""  # noqa: S608 - made of constants
EXPORT_DETAILS = f"""
SELECT a.id, a.passage_id, a.start, a.stop, {anchors.SPLIT},
    (SELECT s.labels FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading' AND c.id NOT IN ({batches.OUT})
        AND s.labels LIKE '{{%'
     ORDER BY s.batch_id, s.line LIMIT 1)
FROM anchor AS a WHERE a.id IN (SELECT value FROM json_each(:ids))"""  # noqa: S608 - made of constants


@dataclass(frozen=True, slots=True)
class _Row:
    """An anchor to leave, and the imported row that it leaves as, if it does."""

    anchor_id: int
    split: str | None
    labels: str | None
    batch: int | None
    moved: bool


def records(
    connection: Connection, query: Query, me: Annotator | None, layout: Literal["nfh", "gold"]
) -> Iterator[ExportRecord]:
    """The export of a query. Needs a connection in a read transaction.

    layout "gold": each anchor once, by passage and span. "nfh": each row of the imports of that
    format whose labels are gold, in order and with repeats, then the other anchors. A row keeps
    its labels while the gold is as imported, by it or an earlier row that won over it; else it
    is exported with the present gold.
    """
    statements = (EXPORT_ANCHORS,) if layout == "gold" else (SOURCE_ROWS, OTHER_ANCHORS)
    compiled = compile_query(query, me.id if me else 0)
    for statement in statements:
        cursor = connection.execute(statement.format(where=compiled.where), compiled.parameters)
        while rows := cursor.fetchmany(AT_ONCE):
            yield from _records(connection, [_Row(*row) for row in rows])


def count_stale_gold(connection: Connection) -> int:
    """The number of anchors without gold that replaced an anchor with gold."""
    found: int = connection.execute(STALE_GOLD).fetchone()[0]
    return found


def _records(connection: Connection, rows: Sequence[_Row]) -> Iterator[ExportRecord]:
    ids = sorted({row.anchor_id for row in rows})
    found = {
        id_: (passage, Anchor(start, stop), split, carried)
        for id_, passage, start, stop, split, carried in connection.execute(
            EXPORT_DETAILS, {"ids": json_of(ids)}
        )
    }
    texts = passages.read(connection, sorted({passage for passage, *_ in found.values()}))
    golds = answers.read_all_gold(connection, ids)
    votes = answers.votes(connection, ids)
    marks = answers.marks(connection, ids)
    for row in rows:
        passage_id, anchor, split, carried = found[row.anchor_id]
        passage = texts[passage_id]
        decided = golds.get(row.anchor_id)
        yield ExportRecord(
            public_id=anchor_id(passage.digest, anchor),
            passage=passage,
            anchor=anchor,
            split=split if row.batch is None else row.split,
            gold=gold_of(decided) if decided else None,
            votes=tuple(votes.get(row.anchor_id, ())),
            flags=tuple(marks.get(row.anchor_id, ())),
            labels=row.labels if _as_it_came(row, decided) else None,
            carried=carried,
        )


def _as_it_came(row: _Row, decided: GoldValue | None) -> bool:
    """True if the gold of the row's anchor is still that of the row, or of an earlier one."""
    if row.batch is None or row.moved or decided is None or decided.batch is None:
        return False
    return decided.rule == Rule.IMPORTED and decided.batch <= row.batch


COUNT_ANCHORS = f"SELECT count(*) FROM anchor AS a WHERE {VISIBLE}"  # noqa: S608 - constants
# Changes of the data, and of what else a release describes: audits and guidelines.
LAST_CHANGE = """
SELECT max(at) FROM (
    SELECT max(acted_at) AS at FROM act
    UNION ALL SELECT max(assigned_at) FROM assignment
    UNION ALL SELECT max(created_at) FROM guideline WHERE annotator_id IS NOT NULL)"""
# In the order in which they were added, which no later act changes.
PEOPLE = "SELECT id, name, type FROM annotator ORDER BY id"
IMPORTS = """
SELECT b.id, b.name, b.format, b.sha256, b.rows, n.name FROM batch AS b
LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.state = 'ready' AND b.format NOT IN (SELECT value FROM json_each(:bulk))
ORDER BY b.id"""
TEXTS_OF = """
SELECT d.batch_id, a.id FROM anchor AS a
JOIN passage AS p ON p.id = a.passage_id JOIN document AS d ON d.id = p.document_id
WHERE d.batch_id IS NOT NULL"""
GOLD_OF = "SELECT batch_id, anchor_id FROM gold WHERE batch_id IS NOT NULL AND removed = 0"
ANSWERS_OF = "SELECT batch_id, anchor_id FROM answer WHERE batch_id IS NOT NULL AND removed = 0"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """An imported file. annotator: of its labels; None if they are gold, or name their own."""

    id: int
    name: str
    format: str
    sha256: str
    rows: int
    annotator: str | None


class ReleaseSnapshot:
    """A snapshot for a release: all that it reads is of one read transaction."""

    schema = SCHEMA_VERSION

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ballots(self, query: Query) -> Iterator[Ballot]:
        """Everything said of each anchor of a query, by passage and span."""
        return ballots(self._connection, query)

    def rows(self, query: Query) -> Iterator[ExportRecord]:
        """What an export to `nfh` writes of a query; see `nfh_db.items`."""
        return records(self._connection, query, None, "nfh")

    def anchors(self) -> int:
        """How many anchors there are to be found."""
        return int(self._connection.execute(COUNT_ANCHORS).fetchone()[0])

    def stale_gold(self) -> int:
        """How many anchors lost their gold with their span; see `nfh_db.items`."""
        return count_stale_gold(self._connection)

    def people(self) -> tuple[Annotator, ...]:
        """All annotators, in the order in which they came to be here."""
        return tuple(Annotator(*row) for row in self._connection.execute(PEOPLE))

    def guidelines(self) -> tuple[Guideline, ...]:
        """All versions of the guidelines, the first one first."""
        return guidelines.read_versions(self._connection)

    def audits(self) -> tuple[Audit, ...]:
        """All audits, oldest first, with what their auditors say now."""
        return audits.audits(self._connection)

    def models(self) -> tuple[Model, ...]:
        """All models, in the order in which they were registered."""
        return models.read_all(self._connection)

    def activations(self) -> tuple[Activation, ...]:
        """Each time that a task came to use another model, the oldest first."""
        return models.read_activations(self._connection)

    def imports(self) -> tuple[ImportedFile, ...]:
        """The files that came in, in order."""
        bulk = json_of(sorted(batches.BULK_FORMATS))
        rows = self._connection.execute(IMPORTS, {"bulk": bulk})
        return tuple(ImportedFile(*row) for row in rows)

    def texts_of(self) -> Iterator[tuple[int, int]]:
        """File and anchor, of each anchor that stands in a text of a file."""
        yield from self._connection.execute(TEXTS_OF)

    def gold_of(self) -> Iterator[tuple[int, int]]:
        """File and anchor, of each gold that came with a file and counts still."""
        yield from self._connection.execute(GOLD_OF)

    def answers_of(self) -> Iterator[tuple[int, int]]:
        """File and anchor, of each answer that came with a file and stands still."""
        yield from self._connection.execute(ANSWERS_OF)

    def last_change(self) -> str | None:
        """When anybody last changed anything; None where nobody ever did."""
        found: str | None = self._connection.execute(LAST_CHANGE).fetchone()[0]
        return found


# A replacing anchor has the source rows of the replaced one.
ROWS = """
WITH RECURSIVE origin (id, row_of) AS (
    SELECT value, value FROM json_each(:ids)
    UNION
    SELECT a.replaces, o.row_of FROM origin AS o JOIN anchor AS a ON a.id = o.id
    WHERE a.replaces IS NOT NULL
)
SELECT o.row_of, c.name, s.line, s.split, s.labels, n.name, c.format, o.id <> o.row_of
FROM origin AS o
JOIN source_row AS s ON s.anchor_id = o.id
JOIN batch AS c ON c.id = s.batch_id
LEFT JOIN annotator AS n ON n.id = c.annotator_id
WHERE c.state <> 'loading'
ORDER BY o.row_of, s.batch_id, s.line"""
# The walk is that of the index that makes spans unique, which is in passage order.
BY_PASSAGE = """
SELECT a.passage_id, a.id FROM anchor AS a WHERE {where}
ORDER BY a.passage_id, a.start, a.stop"""
REPORTS = """
SELECT c.id, c.name, c.report FROM batch AS c
WHERE c.state = 'ready' AND CASE WHEN json_valid(c.report)
    THEN json_type(c.report) <> 'object'
        OR coalesce(json_array_length(c.report, '$.conflicts'), 0) > 0
    ELSE 1 END ORDER BY c.id"""
ROW_OF_LINE = """
SELECT s.anchor_id, s.labels FROM source_row AS s
WHERE s.batch_id = :batch AND s.line = :line ORDER BY s.anchor_id"""
# The gold when the item was sampled: it may have changed since.
CHECK_ANSWERS = """
SELECT w.anchor_id, n.name, w.expected
FROM assignment AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.purpose = 'check' AND w.role = 'annotator' AND w.state = 'done'
    AND w.expected IS NOT NULL"""

_LINE = re.compile(r"line (\d{1,18}): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of an imported file that an anchor came from. line counts from 1.

    labels: JSON of what the row said, where its format keeps that; None too where the
    anchor replaces the one that the row named. annotator: whose answers the file held;
    None where they were gold, or each row's its own. format: of the file, by its name.
    """

    file: str
    line: int
    split: str | None
    labels: str | None
    annotator: str | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A row that an import did not take over. what: the import's own words for why."""

    file: str
    line: int
    what: str
    anchor_id: int
    labelled: bool


class _Report(msgspec.Struct):
    conflicts: list[str] = []


_reports = msgspec.json.Decoder(_Report)


def rows(
    connection: Connection, anchor_ids: Sequence[int]
) -> Mapping[int, tuple[SourceRow, ...]]:
    """The rows that these anchors came from, by anchor, in the order of the imports."""
    found: dict[int, list[SourceRow]] = {}
    for id_, file, line, split, labels, annotator, format_, moved in connection.execute(
        ROWS, {"ids": json_of(list(anchor_ids))}
    ):
        kept = None if moved else _said(labels)
        row = SourceRow(file, line, split, kept, annotator, format_)
        found.setdefault(id_, []).append(row)
    return {id_: tuple(some) for id_, some in found.items()}


def by_passage(connection: Connection, query: Query) -> "list[array[int]]":
    """The anchors that a query finds, those of one passage together, by span."""
    compiled = compile_query(query, 0)
    found = connection.execute(BY_PASSAGE.format(where=compiled.where), compiled.parameters)
    passages_found = groupby(found, itemgetter(0))
    return [array("q", [id_ for _, id_ in some]) for _, some in passages_found]


def not_taken(connection: Connection) -> tuple[NotTaken, ...]:
    """The rows that imports reported as not taken over, as far as they list them.

    Raises StoreError for a report that no import would have made.
    """
    found: list[NotTaken] = []
    for batch, file, report in connection.execute(REPORTS).fetchall():
        for told in filter(None, map(_LINE.fullmatch, _conflicts(batch, file, report))):
            line = int(told[1])
            rows_there = connection.execute(ROW_OF_LINE, {"batch": batch, "line": line})
            found += (
                NotTaken(file, line, told[2], anchor, _said(labels) is not None)
                for anchor, labels in rows_there
            )
    return tuple(found)


def _conflicts(batch: int, file: str, report: str) -> Sequence[str]:
    try:
        return _reports.decode(report).conflicts
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise StoreError(
            f"What the import {batch} of {file} reported cannot be read: {error}. `nfh-tui "
            "doctor` shows what else is broken"
        ) from error


def _said(labels: str | None) -> str | None:
    """The label of a row; None where it only carries along, as an object, what another tool's
    file holds besides.
    """
    return None if labels is None or labels.startswith("{") else labels


def check_answers(connection: Connection) -> dict[tuple[int, str], Answer]:
    """What was known of each check item that is answered, by anchor and annotator's name."""
    found = {}
    for anchor, name, expected in connection.execute(CHECK_ANSWERS):
        gold = decode_gold(expected)
        if gold is not None:
            found[anchor, name] = answer_of(gold)
    return found


class Items(Repository):
    """Anchors with all that is known of them: for a screen, an export, a model."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._cache = PassageCache()

    def read(self, anchor_id: int, me: Annotator, role: Role) -> AnchorItem | None:
        """An anchor with all that the screen needs; None if nobody sees it (any more)."""
        with self.connections.reading() as connection:
            return read(connection, anchor_id, me, role, self._cache)

    def read_for_annotator(self, anchor_id: int, me: Annotator) -> AnchorItem | None:
        """An anchor as an annotator may see it: nothing of others' answers, nor of gold."""
        with self.connections.reading() as connection:
            return read_for_annotator(connection, anchor_id, me, self._cache)

    @contextmanager
    def frozen(self) -> Iterator[ReleaseSnapshot]:
        """All that is read in this block is of one moment; others may write meanwhile."""
        with self.connections.reading() as connection:
            yield ReleaseSnapshot(connection)

    def ballots_of(self, anchor_ids: Sequence[int]) -> tuple[Ballot, ...]:
        """Everything said of these anchors, by passage and span."""
        with self.connections.reading() as connection:
            return tuple(of_anchors(connection, anchor_ids))

    by_passage = reads(by_passage)
    rows_not_taken = reads(not_taken)
    passages = reads(read_passages)
    ballots = streams(ballots)
    records = streams(records)
    count_stale_gold = reads(count_stale_gold)
    source_rows = reads(rows)
    check_answers = reads(check_answers)
