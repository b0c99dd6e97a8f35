"""Comparisons of models, people and gold: anchor by anchor, as counts of who says what,
against an earlier export of the gold, and of two streams of items.

What the evaluation screen counts. A side says a label of an anchor: one of the kinds, or,
where both sides say REFERENCE and mean different nouns, REF-WRONG.
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

# Gold of kinds that name no class is not scored; UNKNOWN is OTHER, as in the release.
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
"""Both say REFERENCE, and the nouns differ."""

AT_ONCE = 500
"""Rows read between two looks at whether the answer is still wanted."""

MOST_KEPT = 200
"""Ids kept of a cell, for queries that can only name the items one by one."""

LABELS = (REF, *(kind.value for kind in IMPLICIT_KINDS), "UNKNOWN", "NOT_NFH", "BROKEN", "NFH")

Cell = tuple[str, str]
"""What the right side says, and what the left side says."""

Stopped = Callable[[], bool]


class NoLongerWantedError(Exception):
    """Whoever asked has stopped waiting."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison. what: "gold", "model", "person" or "file". name: whose."""

    what: str
    name: str = ""
    model_id: int = 0


GOLD = ComparedSide("gold")


@dataclass(slots=True)
class AccuracyCount:
    """How many, and how many of them right."""

    n: int = 0
    right: int = 0

    def add(self, right: bool, n: int = 1) -> None:
        """Count some."""
        self.n += n
        self.right += n if right else 0


@dataclass(slots=True)
class ComparisonCounts:
    """Counts of a comparison.

    counts: anchors by cell. ids: of each cell, the first MOST_KEPT anchors; empty for a
    person. whole: all of them. inclusive, nearest: right in those senses (of a model against
    gold): a word of the form of a gold mention; the nearest gold mention. saw: whose gold
    was made with a model's answer in view. words: by the anchor's words in lower case.
    scored: how much gold there is that a model is scored on.
    """

    counts: Counter[Cell] = field(default_factory=Counter)
    ids: dict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))
    whole: AccuracyCount = field(default_factory=AccuracyCount)
    inclusive: int = 0
    nearest: int = 0
    saw: AccuracyCount = field(default_factory=AccuracyCount)
    words: dict[str, AccuracyCount] = field(default_factory=lambda: defaultdict(AccuracyCount))
    scored: int = 0

    def add(self, cell: Cell, anchor_id: int, word: str, *, right: bool) -> None:
        """Count one anchor."""
        self.counts[cell] += 1
        kept = self.ids[cell]
        if len(kept) < MOST_KEPT:
            kept.append(anchor_id)
        self.whole.add(right)
        self.words[word.lower()].add(right)


def version(connection: Connection) -> tuple[tuple[object, ...], ...]:
    """Changes whenever what models say may have: a model of one version answers alike."""
    return tuple(connection.execute(VERSION))


def with_answers(connection: Connection) -> tuple[str, ...]:
    """The names of those who answered anything as annotators."""
    return tuple(name for (name,) in connection.execute(WITH_ANSWERS))


def with_predictions(connection: Connection) -> tuple[tuple[int, str], ...]:
    """Id and name of each model that says something of any anchor; the active one first."""
    return tuple(connection.execute(WITH_PREDICTIONS))


def model_gold(
    connection: Connection, model_id: int, query: Query, me: Annotator, stopped: Stopped
) -> ComparisonCounts:
    """A model against gold, as resolution is scored. Raises NoLongerWantedError."""
    compiled = compile_seen(query, me.id)
    found = ComparisonCounts()
    statement = SCORED_GOLD.format(where=compiled.where)
    found.scored = connection.execute(statement, compiled.parameters).fetchone()[0]
    statement = MODEL_GOLD.format(where=compiled.where)
    parameters = {**compiled.parameters, "model": model_id}
    for rows in _in_parts(connection, statement, parameters, stopped):
        doubtful: list[tuple[int, int, set[int]]] = []
        for id_, passage_id, start, stop, word, choice, gold, tokens, saw in rows:
            said = REF if choice.isdecimal() else choice
            heads = {int(token) for token in tokens.split(",")} if tokens else set()
            right = int(choice) in heads if said == REF else said == gold
            wrong = gold == REF == said and not right
            found.add((gold, REF_WRONG if wrong else said), id_, word, right=right)
            if saw:
                found.saw.add(right)
            if right:
                found.inclusive += 1
                near = said != REF or int(choice) == _nearest(start, stop, heads)
                found.nearest += near
            elif wrong:
                doubtful.append((passage_id, int(choice), heads))
        found.inclusive += _same_form(connection, doubtful)
    return found


def _nearest(start: int, stop: int, heads: set[int]) -> int:
    """The head token nearest to the anchor [start, stop), the earlier of two as near."""
    return min(heads, key=lambda head: (max(start - head, head - stop + 1), head))


def _same_form(connection: Connection, doubtful: list[tuple[int, int, set[int]]]) -> int:
    """Of how many the chosen word has the lower-cased form of a gold mention."""
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
    """A model (left) against another (right): right is what both choose alike."""
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
    """An annotator's answers against gold, compared by noun: right is where nothing blocks."""
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


# Counts of who says what: the matrices of the agreement screen, made by counting alone.
#
# Everything is counted among the anchors of a query, so that a count and the query of its
# items agree. Only what persons answered as annotators counts, and nothing of what whoever
# asks has still to decide blind.

# The unary + keeps the walk along the anchors of the query from being turned round.
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
    """What one annotator answered.

    kinds: answers by kind. seconds: the median; None where no time was taken. decided: how
    many of the answers are to anchors that gold decides; right: from how many of these
    nothing that blocks separates gold.
    """

    name: str
    kinds: Mapping[str, int]
    seconds: float | None = None
    decided: int = 0
    right: int = 0

    @property
    def answers(self) -> int:
        """How many answers."""
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class Confusions:
    """Who says what where others say what.

    people: by name. pairs: of two names, the first before the second, how many anchors the
    first called one kind and the second another, by (kind, kind). pooled: anchors with two
    answers or more: off the diagonal those on which somebody says the one kind and somebody
    the other, in both halves; on it those on which all say the one. differences: of two
    names, anchors by what blocks. kinds: anchors by what blocks or is noted. patterns:
    anchors by pattern of votes. votes: anchors by number of votes, 3 for three or more.
    """

    people: tuple[PersonCounts, ...] = ()
    pairs: Mapping[AnnotatorPair, Mapping[Cell, int]] = field(default_factory=dict)
    pooled: Mapping[Cell, int] = field(default_factory=dict)
    differences: Mapping[AnnotatorPair, Mapping[str, int]] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    patterns: Mapping[str, int] = field(default_factory=dict)
    votes: Mapping[int, int] = field(default_factory=dict)


def confusions_version(connection: Connection) -> tuple[int, int]:
    """Changes whenever an answer, a gold, a flag or an anchor may have."""
    found: tuple[int, int] = connection.execute(CONFUSIONS_VERSION).fetchone()
    return found


def read(connection: Connection, query: Query, me: Annotator) -> Confusions:
    """Count among the anchors of a query. On a connection that is in a read transaction."""
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


def _people(
    counts: Rows,
    medians: Rows,
    against: Rows,
) -> tuple[PersonCounts, ...]:
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


def _summaries(
    rows: Rows,
) -> tuple[dict[str, int], dict[str, int], dict[int, int]]:
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
"""All kinds, in the order in which matrices have them."""


# Gold here against an earlier export of it: which items differ, and in what.
#
# Items are told apart by passage and span, so a file of another copy of the database does as
# well. The file is read row by row; a row that does not hold refuses it, as in an import.

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
"""What may be found of an item: how its gold differs (what blocks; `noted`: only what does
not block), or that only one side has gold, or the item, at all."""

GOLD_AT_ONCE = 200

Progress = Callable[[int], None]


@dataclass(slots=True)
class Changes:
    """What differs between gold here and a file.

    ids: anchors by outcome; those of `gone` have none here. counts: items by what the file
    says and what is gold here, where both have gold. gone: items of the file that are not
    here. rows: of the file.
    """

    ids: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[Cell] = field(default_factory=Counter)
    cells: dict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))
    gone: int = 0
    rows: int = 0


def changes(
    connection: Connection,
    path: Path,
    query: Query,
    me: Annotator,
    stopped: Stopped,
    progress: Progress,
) -> Changes:
    """Compare gold with a `gold` file, among the anchors of a query.

    Raises FormatError for a file that does not hold, and NoLongerWantedError.
    """
    compiled = compile_seen(query, me.id)
    statement = WITH_GOLD.format(where=compiled.where)
    unmatched = {row[0] for row in connection.execute(statement, compiled.parameters)}
    inside = None if not query.text else frozenset(unmatched)
    found = Changes()
    # ~ is a folder that shells know, not the system.
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
    """Note what is found of each of these rows. inside: the only anchors that are asked for.

    What `me` has still to decide blind is passed over.
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


SIDES = ("a", "b")

PRAGMAS = ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA temp_store = FILE")
"""The file is nobody else's, and of no use once this is over."""

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
MOVED = """
SELECT a.key, b.key FROM a JOIN b
ON a.passage = b.passage AND a.start < b.stop AND b.start < a.stop
WHERE NOT EXISTS (SELECT 1 FROM b AS o WHERE o.key = a.key)
    AND NOT EXISTS (SELECT 1 FROM a AS o WHERE o.key = b.key)
ORDER BY b.position, a.position"""
RECUT = """
SELECT a.key, b.key FROM a JOIN b ON a.spot = b.spot
WHERE NOT EXISTS (SELECT 1 FROM b AS o WHERE o.key = a.key)
    AND NOT EXISTS (SELECT 1 FROM a AS o WHERE o.key = b.key)
ORDER BY b.position, a.position"""
FIRST = "SELECT body, look FROM a WHERE key = ? AND copy = 0"


@dataclass(frozen=True, slots=True)
class Entry:
    """One item. body: all that is compared. look: what is shown of it, and not compared.

    spot: the same for the same characters of the same text, whatever tokens it is cut into.
    """

    key: bytes
    passage: bytes
    start: int
    stop: int
    spot: bytes
    body: bytes
    look: bytes


@dataclass(frozen=True, slots=True)
class DifferentPair:
    """An item that is not the same on both sides; the side that lacks it has None."""

    key: bytes
    left: tuple[bytes, bytes] | None
    right: tuple[bytes, bytes] | None


class Pairing:
    """Both sides, filled one after the other and then asked."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        for side in SIDES:
            connection.execute(MAKE.format(side=side))

    def fill(self, side: str, entries: Iterable[Entry]) -> None:
        """Take in a side, a or b. A key that comes again is the next copy of it."""
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
        """How many items a side has, and how many of them come again."""
        row: tuple[int, int] = self._connection.execute(COUNT.format(side=side)).fetchone()
        return row

    def same(self) -> int:
        """How many items are the same on both sides."""
        return int(self._connection.execute(COUNT_SAME).fetchone()[0])

    def different(self) -> Iterator[DifferentPair]:
        """What is not the same: in the order of b, then what only a has, in the order of a."""
        for statement in (DIFFERENT, READ_GONE):
            for key, body, look, other, other_look in self._connection.execute(statement):
                yield DifferentPair(
                    key,
                    None if body is None else (body, look),
                    None if other is None else (other, other_look),
                )

    def moved(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys of what only a has and only b has where both overlap in one passage."""
        yield from self._connection.execute(MOVED)

    def recut(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys of what only a has and only b has where both are the same characters."""
        yield from self._connection.execute(RECUT)

    def of_a(self, key: bytes) -> tuple[bytes, bytes]:
        """Body and look of an item of a."""
        row: tuple[bytes, bytes] = self._connection.execute(FIRST, (key,)).fetchone()
        return row


@contextmanager
def pairing() -> Iterator[Pairing]:
    """An empty pairing, on a file of its own that is gone at the end.

    Raises StoreError where the folder for passing files has no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="nfh-tui-") as folder:
        path = Path(folder) / "pairing.db"
        with translated(path), closing(connect(path, "rwc")) as connection:
            for pragma in PRAGMAS:
                connection.execute(pragma)
            yield Pairing(connection)


class Comparisons(Repository):
    """Who says what where others say what."""

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
    ) -> ComparisonCounts:
        """A model against gold or another model, or a person against gold, of one moment.

        stopped: asked now and then whether nobody waits any more; NoLongerWantedError then.
        Raises ValueError for other sides.
        """
        with self.connections.reading() as connection:
            match left.what, right.what:
                case "model", "gold":
                    return model_gold(connection, left.model_id, query, me, stopped)
                case "model", "model":
                    return model_model(
                        connection, left.model_id, right.model_id, query, me, stopped
                    )
                case "person", "gold":
                    return person_gold(connection, left.name, query, me)
        raise ValueError(f"{left.what} is not compared with {right.what}")
