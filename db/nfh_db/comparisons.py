"""Two sides compared, anchor by anchor: a model, a person or gold against another of these.

What the evaluation screen counts. A side says a label of an anchor: one of the kinds, or,
where both sides say REFERENCE and mean different nouns, REF-WRONG.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nfh_db import passages
from nfh_db.connection import Connection
from nfh_db.query import Query, compile_seen
from nfh_db.query import compile as compile_query
from nfh_models.domain import IMPLICIT_KINDS, Kind

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
class Side:
    """One side of a comparison. what: "gold", "model", "person" or "file". name: whose."""

    what: str
    name: str = ""
    model_id: int = 0


GOLD = Side("gold")


@dataclass(slots=True)
class Tally:
    """How many, and how many of them right."""

    n: int = 0
    right: int = 0

    def add(self, right: bool, n: int = 1) -> None:
        """Count some."""
        self.n += n
        self.right += n if right else 0


@dataclass(slots=True)
class Compared:
    """Counts of a comparison.

    counts: anchors by cell. ids: of each cell, the first MOST_KEPT anchors; empty for a
    person. whole: all of them. inclusive, nearest: right in those senses (of a model against
    gold): a word of the form of a gold mention; the nearest gold mention. saw: whose gold
    was made with a model's answer in view. words: by the anchor's words in lower case.
    scored: how much gold there is that a model is scored on.
    """

    counts: Counter[Cell] = field(default_factory=Counter)
    ids: dict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))
    whole: Tally = field(default_factory=Tally)
    inclusive: int = 0
    nearest: int = 0
    saw: Tally = field(default_factory=Tally)
    words: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
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
    connection: Connection, model_id: int, query: Query, me_id: int, stopped: Stopped
) -> Compared:
    """A model against gold, as resolution is scored. Raises NoLongerWantedError."""
    compiled = compile_seen(query, me_id)
    found = Compared()
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
    me_id: int,
    stopped: Stopped,
) -> Compared:
    """A model (left) against another (right): right is what both choose alike."""
    compiled = compile_query(query, me_id)
    found = Compared()
    statement = MODEL_MODEL.format(where=compiled.where)
    parameters = {**compiled.parameters, "model": model_id, "other": other_id}
    for rows in _in_parts(connection, statement, parameters, stopped):
        for id_, word, left, right in rows:
            cell = (_label(right), _label(left))
            if cell == (REF, REF) and left != right:
                cell = (REF, REF_WRONG)
            found.add(cell, id_, word, right=left == right)
    return found


def person_gold(connection: Connection, name: str, query: Query, me_id: int) -> Compared:
    """An annotator's answers against gold, compared by noun: right is where nothing blocks."""
    compiled = compile_seen(query, me_id)
    found = Compared()
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
