"""Comparisons: a model or a person with gold, two models, annotators with each other, gold with
an earlier export, and two streams of items.

For the evaluation screen, each side gives an anchor a label: a kind, or REF-WRONG where both
sides say REFERENCE and mean different nouns.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from nfh_db import answers, assignments, passages
from nfh_db.connection import Connection, Repository, connect, reads, translated
from nfh_db.formats import gold as gold_format
from nfh_db.formats.files import Source
from nfh_db.formats.rows import GoldRow
from nfh_db.import_plan import OF_PASSAGES
from nfh_db.query import Query, compile_seen
from nfh_db.query import compile as compile_query
from nfh_db.records import Annotator
from nfh_db.serialization import answer_of, json_of
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Blocking,
    DifferenceNote,
    Kind,
    Passage,
    Token,
    compare,
)

# NOT_NFH, BROKEN and NFH are not scored: they name no missing noun. UNKNOWN counts as OTHER, as
# in the released corpus.
MODEL_GOLD = """
SELECT a.id, a.passage_id, a.start, a.stop, a.word, m.choice,
    CASE a.kind WHEN 'UNKNOWN' THEN 'OTHER' ELSE a.kind END,
    CASE a.kind WHEN 'REFERENCE' THEN (
        SELECT group_concat(t.token) FROM head AS h JOIN mention AS t ON t.head_id = h.id
        WHERE h.gold_id = a.id AND t.origin <> 'removed') END,
    CASE g.rule WHEN 'imported' THEN 0 WHEN 'expert' THEN EXISTS (
        SELECT 1 FROM answer AS w
        WHERE w.anchor_id = a.id AND w.role = 'adjudicator' AND w.removed = 0
            AND w.annotator_id = g.annotator_id AND w.saw_model = 1)
    ELSE EXISTS (
        SELECT 1 FROM json_each(CASE g.votes WHEN '' THEN '[]' ELSE g.votes END) AS j
        JOIN annotator AS n ON n.name = j.value ->> 0
        JOIN answer AS w ON w.anchor_id = a.id AND w.annotator_id = n.id
        WHERE w.role = 'annotator' AND w.removed = 0 AND w.saw_model = 1) END
FROM prediction AS m JOIN anchor AS a ON a.id = m.anchor_id
JOIN gold AS g ON g.anchor_id = a.id
WHERE m.model_id = :model AND g.removed = 0
    AND a.kind NOT IN ('NOT_NFH', 'BROKEN', 'NFH') AND {where}"""
MODEL_MODEL = """
SELECT a.id, a.word, l.choice, r.choice
FROM prediction AS l JOIN prediction AS r ON r.anchor_id = l.anchor_id
JOIN anchor AS a ON a.id = l.anchor_id
WHERE l.model_id = :model AND r.model_id = :other AND {where}"""
PERSON_GOLD = """
SELECT a.word, a.kind, w.kind, d.blocking IS NOT NULL, w.saw_model, count(*)
FROM answer AS w JOIN anchor AS a ON a.id = w.anchor_id
JOIN annotator AS n ON n.id = w.annotator_id
JOIN gold_difference AS d ON d.anchor_id = w.anchor_id AND d.annotator_id = w.annotator_id
WHERE n.name = :name AND w.role = 'annotator' AND w.removed = 0
    AND (w.batch_id IS NULL
        OR w.batch_id NOT IN (SELECT b.id FROM batch AS b WHERE b.state = 'loading'))
    AND {where}
GROUP BY 1, 2, 3, 4, 5"""
SCORED_GOLD = """
SELECT count(*) FROM anchor AS a
WHERE a.kind IS NOT NULL AND a.kind NOT IN ('NOT_NFH', 'BROKEN', 'NFH') AND {where}"""
WITH_PREDICTIONS = """
SELECT m.id, m.name FROM model AS m
WHERE m.task IN ('resolution', 'both')
    AND EXISTS (SELECT 1 FROM prediction AS p WHERE p.model_id = m.id)
ORDER BY m.state <> 'active', m.id DESC"""

WITH_ANSWERS = """
SELECT n.name FROM annotator AS n
WHERE n.type = 'person' AND EXISTS (
    SELECT 1 FROM answer AS w
    WHERE w.annotator_id = n.id AND w.role = 'annotator' AND w.removed = 0)
ORDER BY n.name"""
VERSION = """
SELECT m.id, m.version, m.state,
    (SELECT count(*) FROM prediction AS p WHERE p.model_id = m.id)
FROM model AS m ORDER BY m.id"""

REF = Kind.REFERENCE.value
REF_WRONG = "REF-WRONG"
"""Label of the left side where both sides say REFERENCE and the nouns differ."""

AT_ONCE = 500
"""Rows that are read between two calls of `stopped`."""

MOST_KEPT = 200
"""Anchor ids that are kept per cell, for cells whose items no query can describe."""

LABELS = (REF, *(kind.value for kind in IMPLICIT_KINDS), "UNKNOWN", "NOT_NFH", "BROKEN", "NFH")

Cell = tuple[str, str]
"""The label of the right side, and the label of the left side."""

Stopped = Callable[[], bool]
"""Returns True once nobody waits for the result any more."""


IsSeen = Callable[[Passage], bool]
"""Returns True for a passage that a model has seen."""


class NoLongerWantedError(Exception):
    """Nobody waits for the result any more."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison."""

    what: str
    """"gold", "model", "person" or "file"."""

    name: str = ""
    """Of the model, the person or the file."""

    model_id: int = 0
    """Of a model."""


GOLD = ComparedSide("gold")


@dataclass(slots=True)
class AccuracyCount:
    """A number of anchors, and how many of them are right."""

    n: int = 0
    right: int = 0

    def add(self, right: bool, n: int = 1) -> None:
        """Count `n` anchors."""
        self.n += n
        self.right += n if right else 0


@dataclass(slots=True)
class ComparisonCounts:
    """Counts of a comparison."""

    counts: Counter[Cell] = field(default_factory=Counter)
    """Anchors by cell."""

    ids: dict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The first MOST_KEPT anchors of each cell; empty for a person."""

    whole: AccuracyCount = field(default_factory=AccuracyCount)
    """All anchors."""

    inclusive: int = 0
    """Model against gold: anchors where the chosen word has the form of a gold mention.

    Case is ignored. A right class counts, too.
    """

    nearest: int = 0
    """Model against gold: anchors where the chosen token is the gold mention nearest to them.

    A right class counts, too.
    """

    saw: AccuracyCount = field(default_factory=AccuracyCount)
    """Model against gold: anchors whose gold was made with a model's answer in view.

    Person against gold: answers that were given with a model's answer in view.
    """

    seen: AccuracyCount = field(default_factory=AccuracyCount)
    """Model against gold: anchors of passages that the model has seen."""

    words: dict[str, AccuracyCount] = field(default_factory=lambda: defaultdict(AccuracyCount))
    """By the words of the anchor, in lower case."""

    scored: int = 0
    """Model against gold: anchors of the query whose gold a model is scored on."""

    def add(self, cell: Cell, anchor_id: int, word: str, *, right: bool) -> None:
        """Count an anchor, and keep its id if its cell has room."""
        self.counts[cell] += 1
        kept = self.ids[cell]
        if len(kept) < MOST_KEPT:
            kept.append(anchor_id)
        self.whole.add(right)
        self.words[word.lower()].add(right)


def version(connection: Connection) -> tuple[tuple[object, ...], ...]:
    """Return a value that changes whenever predictions may have changed.

    A version of a model always predicts the same, so the number of predictions is enough.
    """
    return tuple(connection.execute(VERSION))


def with_answers(connection: Connection) -> tuple[str, ...]:
    """Return the names of the people who have an answer as annotators, in order."""
    return tuple(name for (name,) in connection.execute(WITH_ANSWERS))


def with_predictions(connection: Connection) -> tuple[tuple[int, str], ...]:
    """Return id and name of each resolution model with predictions.

    The active one is first, then the newest.
    """
    return tuple(connection.execute(WITH_PREDICTIONS))


def model_gold(
    connection: Connection,
    model_id: int,
    query: Query,
    me: Annotator,
    stopped: Stopped,
    is_seen: IsSeen | None = None,
) -> ComparisonCounts:
    """Compare a model with gold, as resolution is scored.

    is_seen: whether the model has seen a passage. Raises NoLongerWantedError.
    """
    compiled = compile_seen(query, me.id)
    found = ComparisonCounts()
    statement = SCORED_GOLD.format(where=compiled.where)
    found.scored = connection.execute(statement, compiled.parameters).fetchone()[0]
    statement = MODEL_GOLD.format(where=compiled.where)
    parameters = {**compiled.parameters, "model": model_id}
    for rows in _in_parts(connection, statement, parameters, stopped):
        doubtful: list[tuple[int, int, set[int]]] = []
        seen = {}
        if is_seen is not None:
            texts = passages.read(connection, sorted({row[1] for row in rows}))
            seen = {passage: is_seen(text) for passage, text in texts.items()}
        for id_, passage_id, start, stop, word, choice, gold, tokens, saw in rows:
            said = REF if choice.isdecimal() else choice
            heads = {int(token) for token in tokens.split(",")} if tokens else set()
            right = int(choice) in heads if said == REF else said == gold
            wrong = gold == REF == said and not right
            found.add((gold, REF_WRONG if wrong else said), id_, word, right=right)
            if saw:
                found.saw.add(right)
            if seen.get(passage_id):
                found.seen.add(right)
            if right:
                found.inclusive += 1
                near = said != REF or int(choice) == _nearest(start, stop, heads)
                found.nearest += near
            elif wrong:
                doubtful.append((passage_id, int(choice), heads))
        found.inclusive += _same_form(connection, doubtful)
    return found


def _nearest(start: int, stop: int, heads: set[int]) -> int:
    """Return the head token nearest to the anchor [start, stop); on a tie the earlier one."""
    return min(heads, key=lambda head: (max(start - head, head - stop + 1), head))


def _same_form(connection: Connection, doubtful: list[tuple[int, int, set[int]]]) -> int:
    """Count the choices whose word equals a gold mention's in lower case."""
    texts = passages.read(connection, sorted({passage for passage, _, _ in doubtful}))
    return sum(
        texts[passage].word(token).lower() in {texts[passage].word(h).lower() for h in heads}
        for passage, token, heads in doubtful
    )


def model_model(
    connection: Connection,
    model_id: int,
    other_id: int,
    query: Query,
    me: Annotator,
    stopped: Stopped,
) -> ComparisonCounts:
    """Compare a model (left) with another (right); equal choices count as right.

    Raises NoLongerWantedError.
    """
    compiled = compile_query(query, me.id)
    found = ComparisonCounts()
    statement = MODEL_MODEL.format(where=compiled.where)
    parameters = {**compiled.parameters, "model": model_id, "other": other_id}
    for rows in _in_parts(connection, statement, parameters, stopped):
        for id_, word, left, right in rows:
            cell = (_label(right), _label(left))
            if cell == (REF, REF) and left != right:
                cell = (REF, REF_WRONG)
            found.add(cell, id_, word, right=left == right)
    return found


def person_gold(
    connection: Connection, name: str, query: Query, me: Annotator
) -> ComparisonCounts:
    """Compare an annotator's answers with gold; an answer is right where nothing blocks."""
    compiled = compile_seen(query, me.id)
    found = ComparisonCounts()
    statement = PERSON_GOLD.format(where=compiled.where)
    rows = connection.execute(statement, {**compiled.parameters, "name": name})
    for word, gold, said, blocks, saw, n in rows:
        wrong = gold == REF == said and blocks
        found.counts[gold, REF_WRONG if wrong else said] += n
        found.whole.add(not blocks, n)
        found.words[word.lower()].add(not blocks, n)
        if saw:
            found.saw.add(not blocks, n)
    return found


def _label(choice: str) -> str:
    return REF if choice.isdecimal() else choice


def _in_parts(
    connection: Connection, statement: str, parameters: dict[str, object], stopped: Stopped
) -> Iterator[list[Any]]:
    cursor = connection.execute(statement, parameters)
    while rows := cursor.fetchmany(AT_ONCE):
        if stopped():
            raise NoLongerWantedError
        yield rows


# Matrices of the agreement screen.
#
# All counts are restricted to the anchors of a query, so that a count equals the number of
# items that its query finds. Only answers that people gave as annotators count. Anchors that
# the person who asks has yet to decide blind are left out.

VOTES = """
vote AS (
    SELECT w.anchor_id, w.annotator_id, w.kind, w.seconds
    FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
    WHERE w.role = 'annotator' AND w.removed = 0 AND n.type = 'person'
        AND (w.batch_id IS NULL
            OR w.batch_id NOT IN (SELECT b.id FROM batch AS b WHERE b.state = 'loading'))
        AND w.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where}))"""
PEOPLE = f"""
WITH {VOTES}
SELECT n.name, v.kind, count(*) FROM vote AS v JOIN annotator AS n ON n.id = v.annotator_id
GROUP BY v.annotator_id, v.kind ORDER BY n.name, v.kind"""  # noqa: S608 - made of constants
MEDIANS = f"""
WITH {VOTES}, ranked AS (
    SELECT v.annotator_id, v.seconds,
        row_number() OVER (PARTITION BY v.annotator_id ORDER BY v.seconds) AS place,
        count(*) OVER (PARTITION BY v.annotator_id) AS n
    FROM vote AS v WHERE v.seconds IS NOT NULL)
SELECT n.name, avg(r.seconds) FROM ranked AS r JOIN annotator AS n ON n.id = r.annotator_id
WHERE r.place IN ((r.n + 1) / 2, (r.n + 2) / 2) GROUP BY r.annotator_id"""  # noqa: S608 - made of constants
AGAINST_GOLD = f"""
WITH {VOTES}
SELECT n.name, count(*), sum(d.blocking IS NULL) FROM vote AS v
JOIN gold_difference AS d ON d.anchor_id = v.anchor_id AND d.annotator_id = v.annotator_id
JOIN annotator AS n ON n.id = v.annotator_id GROUP BY v.annotator_id"""  # noqa: S608 - made of constants
PAIRS = f"""
WITH {VOTES}
SELECT m.name, n.name, l.kind, r.kind, count(*)
FROM vote AS l JOIN vote AS r ON r.anchor_id = l.anchor_id
JOIN annotator AS m ON m.id = l.annotator_id JOIN annotator AS n ON n.id = r.annotator_id
WHERE m.name < n.name GROUP BY l.annotator_id, r.annotator_id, l.kind, r.kind"""  # noqa: S608 - made of constants
SETS = f"""
WITH {VOTES}, sets AS (
    SELECT group_concat(DISTINCT v.kind) AS kinds FROM vote AS v
    GROUP BY v.anchor_id HAVING count(*) > 1)
SELECT s.kinds, count(*) FROM sets AS s GROUP BY s.kinds"""  # noqa: S608 - made of constants
DIFFERENCES = """
SELECT m.name, n.name, d.blocking, count(*) FROM difference AS d
JOIN annotator AS m ON m.id = d.left_id JOIN annotator AS n ON n.id = d.right_id
WHERE d.blocking IS NOT NULL AND d.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where})
GROUP BY d.left_id, d.right_id, d.blocking"""
SUMMARIES = """
SELECT a.blocking, a.notes, a.pattern, min(a.votes, 3), count(*) FROM anchor AS a
WHERE {where} GROUP BY 1, 2, 3, 4"""
CONFUSIONS_VERSION = """
SELECT (SELECT coalesce(max(id), 0) FROM act),
    (SELECT count(*) FROM batch WHERE state <> 'loading')"""

Rows = list[tuple[Any, ...]]
AnnotatorPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PersonCounts:
    """Counts of one annotator's answers."""

    name: str
    kinds: Mapping[str, int]
    """Answers by kind."""

    seconds: float | None = None
    """Median time per answer; None if no time was recorded."""

    decided: int = 0
    """Answers to anchors that gold decides."""

    right: int = 0
    """Those of `decided` that differ from gold in nothing that blocks."""

    @property
    def answers(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class Confusions:
    """Confusion matrices between annotators, and counts of disagreement."""

    people: tuple[PersonCounts, ...] = ()
    """Ordered by name."""

    pairs: Mapping[AnnotatorPair, Mapping[Cell, int]] = field(default_factory=dict)
    """Anchors by (kind of the first annotator, kind of the second), for names in order."""

    pooled: Mapping[Cell, int] = field(default_factory=dict)
    """Anchors with two or more answers, by two kinds that occur among them.

    Symmetric. On the diagonal: anchors on which all annotators say that kind.
    """

    differences: Mapping[AnnotatorPair, Mapping[str, int]] = field(default_factory=dict)
    """Anchors by blocking kind, for names in order."""

    kinds: Mapping[str, int] = field(default_factory=dict)
    """Anchors by blocking kind and by note."""

    patterns: Mapping[str, int] = field(default_factory=dict)
    """Anchors by pattern of votes."""

    votes: Mapping[int, int] = field(default_factory=dict)
    """Anchors by number of votes; 3 stands for three or more."""


def confusions_version(connection: Connection) -> tuple[int, int]:
    """Return a value that changes whenever an answer, gold, flag or anchor may have changed."""
    found: tuple[int, int] = connection.execute(CONFUSIONS_VERSION).fetchone()
    return found


def read(connection: Connection, query: Query, me: Annotator) -> Confusions:
    """Count among the anchors of a query.

    The connection must be in a read transaction, so that all counts are of one state.
    """
    compiled = compile_seen(query, me.id)

    def rows(statement: str) -> Rows:
        made = statement.format(where=compiled.where)
        return connection.execute(made, compiled.parameters).fetchall()

    pairs: dict[AnnotatorPair, dict[Cell, int]] = defaultdict(dict)
    for left, right, mine, other, n in rows(PAIRS):
        pairs[left, right][mine, other] = n
    differences: dict[AnnotatorPair, Counter[str]] = defaultdict(Counter)
    for one, two, kind, n in rows(DIFFERENCES):
        left, right = sorted((one, two))
        differences[left, right][kind] += n
    kinds, patterns, votes = _summaries(rows(SUMMARIES))
    return Confusions(
        _people(rows(PEOPLE), rows(MEDIANS), rows(AGAINST_GOLD)),
        dict(pairs),
        _pooled(rows(SETS)),
        dict(differences),
        kinds,
        patterns,
        votes,
    )


def _people(counts: Rows, medians: Rows, against: Rows) -> tuple[PersonCounts, ...]:
    kinds: dict[str, dict[str, int]] = defaultdict(dict)
    for name, kind, n in counts:
        kinds[name][kind] = n
    seconds: dict[str, float] = dict(medians)
    judged = {name: (n, right) for name, n, right in against}
    return tuple(
        PersonCounts(name, found, seconds.get(name), *judged.get(name, (0, 0)))
        for name, found in sorted(kinds.items())
    )


def _pooled(sets: Rows) -> dict[Cell, int]:
    pooled: Counter[Cell] = Counter()
    for joined, n in sets:
        kinds = joined.split(",")
        if len(kinds) == 1:
            pooled[kinds[0], kinds[0]] += n
            continue
        for one in kinds:
            for other in kinds:
                if one != other:
                    pooled[one, other] += n
    return dict(pooled)


def _summaries(rows: Rows) -> tuple[dict[str, int], dict[str, int], dict[int, int]]:
    kinds: Counter[str] = Counter()
    patterns: Counter[str] = Counter()
    votes: Counter[int] = Counter()
    for blocking, notes, pattern, given, n in rows:
        for word in f"{blocking} {notes}".split():
            kinds[word] += n
        if pattern:
            patterns[pattern] += n
        votes[given] += n
    order = [*(kind.value for kind in Blocking), *(note.value for note in DifferenceNote)]
    return {kind: kinds[kind] for kind in order if kinds[kind]}, dict(patterns), dict(votes)


KINDS = tuple(kind.value for kind in Kind)
"""All kinds, in the order of the rows and columns of matrices."""


# Comparison of the present gold with an earlier export.
#
# Items are identified by passage and span, so the file may come from another copy of the
# database. It is read row by row; an invalid row rejects the file, as in an import.

WITH_GOLD = "SELECT a.id FROM anchor AS a WHERE a.kind IS NOT NULL AND {where}"

GOLD_SAME = "same"
NOTED = "noted"
GOLD_GONE = "gone"
NEW = "new"
TAKEN_BACK = "taken back"
DECIDED_SINCE = "decided since"
OUTCOMES = (
    *(kind.value for kind in Blocking),
    NOTED,
    DECIDED_SINCE,
    TAKEN_BACK,
    NEW,
    GOLD_GONE,
    GOLD_SAME,
)
"""Outcomes of an item, in the order of reports.

A blocking kind, or `noted` where the difference does not block. `decided since`: gold here
only. `taken back`: gold in the file only. `new`: gold here, item not in the file. `gone`: item
in the file only.
"""

GOLD_AT_ONCE = 200

Progress = Callable[[int], None]
"""Called with the number of rows done."""


@dataclass(slots=True)
class Changes:
    """Differences between the present gold and a file."""

    ids: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Anchors by outcome; items of `gone` have no anchor here."""

    counts: Counter[Cell] = field(default_factory=Counter)
    """Items with gold on both sides, by (kind in the file, kind here)."""

    cells: dict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The anchors of `counts`."""

    gone: int = 0
    """Items of the file that are not here; 0 if the query is not empty."""

    rows: int = 0
    """Rows of the file."""


def changes(
    connection: Connection,
    path: Path,
    query: Query,
    me: Annotator,
    stopped: Stopped,
    progress: Progress,
) -> Changes:
    """Compare gold with a `gold` file, among the anchors of a query.

    Raises FormatError for an invalid file, and NoLongerWantedError.
    """
    compiled = compile_seen(query, me.id)
    statement = WITH_GOLD.format(where=compiled.where)
    unmatched = {row[0] for row in connection.execute(statement, compiled.parameters)}
    inside = None if not query.text else frozenset(unmatched)
    found = Changes()
    # Shells expand ~, the system does not; the path may come from a dialog.
    rows = gold_format.read(Source(path.expanduser()))
    for some in _parts(rows):
        if stopped():
            raise NoLongerWantedError
        _compare(connection, some, found, unmatched, inside, me)
        found.rows += len(some)
        progress(found.rows)
    found.ids[NEW].extend(sorted(unmatched))
    return found


def _parts(rows: Iterator[GoldRow]) -> Iterator[list[GoldRow]]:
    while some := list(islice(rows, GOLD_AT_ONCE)):
        yield some


def _compare(
    connection: Connection,
    rows: Sequence[GoldRow],
    found: Changes,
    unmatched: set[int],
    inside: frozenset[int] | None,
    me: Annotator,
) -> None:
    """Add the outcome of each of these rows to `found`.

    inside: the anchors of the query; None for all. unmatched loses the anchors of the rows.
    Anchors that `me` has yet to decide blind are skipped.
    """
    digests = [_digest(row) for row in rows]
    here = dict(connection.execute(passages.KNOWN, {"digests": json_of(sorted(set(digests)))}))
    spans = {
        (passage, start, stop): id_
        for passage, start, stop, id_, gone in connection.execute(
            OF_PASSAGES, {"ids": json_of(sorted(here.values()))}
        )
        if not gone
    }
    places = [
        spans.get((here.get(digest, 0), row.anchor.start, row.anchor.end))
        for digest, row in zip(digests, rows, strict=True)
    ]
    ids = [id_ for id_ in places if id_ is not None]
    golds = answers.read_all_gold(connection, ids)
    blind = assignments.blind(connection, ids, me.id)
    for digest, row, id_ in zip(digests, rows, places, strict=True):
        if id_ is None:
            found.gone += inside is None
            continue
        unmatched.discard(id_)
        if id_ in blind or (inside is not None and id_ not in inside):
            continue
        now = golds.get(id_)
        then = row.gold.answer if row.gold else None
        if now is None or then is None:
            if now is not None or then is not None:
                found.ids[TAKEN_BACK if now is None else DECIDED_SINCE].append(id_)
            continue
        answer = answer_of(now)
        cell = (then.kind.value, answer.kind.value)
        found.counts[cell] += 1
        found.cells[cell].append(id_)
        found.ids[_outcome(connection, then, answer, here[digest])].append(id_)


def _outcome(connection: Connection, then: Answer, now: Answer, passage_id: int) -> str:
    if then == now:
        return GOLD_SAME
    compared = compare(then, now, passages.lemmas(connection, passage_id))
    if compared.blocking is not None:
        return compared.blocking.value
    return NOTED if compared.notes else GOLD_SAME


def _digest(row: GoldRow) -> str:
    raw = row.passage
    tokens = tuple(map(Token, raw.starts, raw.ends, repeat("")))
    return Passage(raw.text, tokens, raw.turns).digest


# Comparison of two streams of items in a temporary database, in constant memory.

SIDES = ("a", "b")

# Nothing has to survive a crash: the file is private, and is deleted at the end.
PRAGMAS = ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA temp_store = FILE")

MAKE = """
CREATE TABLE {side} (
    key BLOB NOT NULL, copy INTEGER NOT NULL, position INTEGER NOT NULL,
    passage BLOB NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, spot BLOB NOT NULL,
    body BLOB NOT NULL, look BLOB NOT NULL,
    PRIMARY KEY (key, copy)
) WITHOUT ROWID"""
INDEXES = (
    "CREATE INDEX {side}_passage ON {side}(passage)",
    "CREATE INDEX {side}_spot ON {side}(spot)",
)
ADD = """
INSERT OR IGNORE INTO {side} (key, copy, position, passage, start, stop, spot, body, look)
VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?)"""
ADD_COPY = """
INSERT INTO {side} (key, copy, position, passage, start, stop, spot, body, look)
VALUES (?1, (SELECT max(copy) + 1 FROM {side} WHERE key = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)"""
COUNT = "SELECT count(*), coalesce(sum(copy > 0), 0) FROM {side}"
COUNT_SAME = """
SELECT count(*) FROM a JOIN b ON a.key = b.key AND a.copy = b.copy WHERE a.body = b.body"""
DIFFERENT = """
SELECT b.key, a.body, a.look, b.body, b.look FROM b
LEFT JOIN a ON a.key = b.key AND a.copy = b.copy
WHERE a.key IS NULL OR a.body <> b.body ORDER BY b.position"""
READ_GONE = """
SELECT a.key, a.body, a.look, NULL, NULL FROM a
LEFT JOIN b ON b.key = a.key AND b.copy = a.copy
WHERE b.key IS NULL ORDER BY a.position"""
SAME_PLACE = """
SELECT a.key, b.key FROM a JOIN b ON {same}
WHERE NOT EXISTS (SELECT 1 FROM b AS o WHERE o.key = a.key)
    AND NOT EXISTS (SELECT 1 FROM a AS o WHERE o.key = b.key)
ORDER BY b.position, a.position"""
MOVED = SAME_PLACE.format(
    same="a.passage = b.passage AND a.start < b.stop AND b.start < a.stop"
)
RECUT = SAME_PLACE.format(same="a.spot = b.spot")
FIRST = "SELECT body, look FROM a WHERE key = ? AND copy = 0"


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of one side."""

    key: bytes
    """Identifies the item on both sides."""

    passage: bytes
    start: int
    stop: int
    """Tokens of the anchor: [start, stop)."""

    spot: bytes
    """Identifies the characters of the anchor in the text, however the text is tokenized."""

    body: bytes
    """All that is compared."""

    look: bytes
    """What is shown of the item; it is not compared."""


@dataclass(frozen=True, slots=True)
class DifferentPair:
    """An item that is not the same on both sides."""

    key: bytes
    left: tuple[bytes, bytes] | None
    """Body and look on side a; None if it lacks the item."""

    right: tuple[bytes, bytes] | None
    """Body and look on side b; None if it lacks the item."""


class Pairing:
    """The items of two sides, a and b. Fill both once; then query."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        for side in SIDES:
            connection.execute(MAKE.format(side=side))

    def fill(self, side: str, entries: Iterable[Entry]) -> None:
        """Store the items of side "a" or "b". An item with a repeated key is the next copy.

        Copies are paired with copies of the same number.
        """
        add, add_copy = ADD.format(side=side), ADD_COPY.format(side=side)
        self._connection.execute("BEGIN")
        for position, one in enumerate(entries):
            span = (one.passage, one.start, one.stop, one.spot)
            row = (one.key, position, *span, one.body, one.look)
            if not self._connection.execute(add, row).rowcount:
                self._connection.execute(add_copy, row)
        for index in INDEXES:
            self._connection.execute(index.format(side=side))
        self._connection.execute("COMMIT")

    def count(self, side: str) -> tuple[int, int]:
        """Return the number of items of a side, and how many of them repeat an earlier key."""
        row: tuple[int, int] = self._connection.execute(COUNT.format(side=side)).fetchone()
        return row

    def same(self) -> int:
        """Return the number of items with an equal body on both sides."""
        return int(self._connection.execute(COUNT_SAME).fetchone()[0])

    def different(self) -> Iterator[DifferentPair]:
        """Yield the items that differ or are missing on one side.

        Changed items and those only in b come first, in the order of b; then those only in a,
        in the order of a.
        """
        for statement in (DIFFERENT, READ_GONE):
            for key, body, look, other, other_look in self._connection.execute(statement):
                yield DifferentPair(
                    key,
                    None if body is None else (body, look),
                    None if other is None else (other, other_look),
                )

    def moved(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key only in a, key only in b) where the spans overlap in one passage."""
        yield from self._connection.execute(MOVED)

    def recut(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key only in a, key only in b) where both cover the same characters."""
        yield from self._connection.execute(RECUT)

    def of_a(self, key: bytes) -> tuple[bytes, bytes]:
        """Return body and look of the first item of side a with this key, which must exist."""
        row: tuple[bytes, bytes] = self._connection.execute(FIRST, (key,)).fetchone()
        return row


@contextmanager
def pairing() -> Iterator[Pairing]:
    """Give an empty pairing in a temporary file, which is deleted at the end.

    Raises StoreError if the folder for temporary files is full.
    """
    with tempfile.TemporaryDirectory(prefix="nfh-tui-") as folder:
        path = Path(folder) / "pairing.db"
        with translated(path), closing(connect(path, "rwc")) as connection:
            for pragma in PRAGMAS:
                connection.execute(pragma)
            yield Pairing(connection)


class Comparisons(Repository):
    """Comparisons for the evaluation and agreement screens."""

    answers_version = reads(confusions_version)
    predictions_version = reads(version)
    confusions = reads(read)
    models = reads(with_predictions)
    people = reads(with_answers)
    changes_since = reads(changes)

    def compare(
        self,
        left: ComparedSide,
        right: ComparedSide,
        query: Query,
        me: Annotator,
        stopped: Stopped,
        is_seen: IsSeen | None = None,
    ) -> ComparisonCounts:
        """Compare a model with gold or another model, or a person with gold, in one state.

        is_seen: for a model and gold, as in `model_gold`. stopped: called every AT_ONCE rows;
        if True, NoLongerWantedError is raised. It is not called for a person. Raises ValueError
        for other sides.
        """
        with self.connections.reading() as connection:
            match left.what, right.what:
                case "model", "gold":
                    return model_gold(connection, left.model_id, query, me, stopped, is_seen)
                case "model", "model":
                    return model_model(
                        connection, left.model_id, right.model_id, query, me, stopped
                    )
                case "person", "gold":
                    return person_gold(connection, left.name, query, me)
        raise ValueError(f"{left.what} is not compared with {right.what}")
