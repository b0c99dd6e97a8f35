"""Counts of who says what: the matrices of the agreement screen, made by counting alone.

Everything is counted among the anchors of a query, so that a count and the query of its
items agree. Only what persons answered as annotators counts, and nothing of what whoever asks
has still to decide blind.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nfh_db.connection import Connection
from nfh_db.query import Query, compile_seen
from nfh_models.domain import Blocking, Kind, Note

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
VERSION = """
SELECT (SELECT coalesce(max(id), 0) FROM act),
    (SELECT count(*) FROM batch WHERE state <> 'loading')"""

Rows = list[tuple[Any, ...]]
Pair = tuple[str, str]
Cell = tuple[str, str]


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
    pairs: Mapping[Pair, Mapping[Cell, int]] = field(default_factory=dict)
    pooled: Mapping[Cell, int] = field(default_factory=dict)
    differences: Mapping[Pair, Mapping[str, int]] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    patterns: Mapping[str, int] = field(default_factory=dict)
    votes: Mapping[int, int] = field(default_factory=dict)


def version(connection: Connection) -> tuple[int, int]:
    """Changes whenever an answer, a gold, a flag or an anchor may have."""
    found: tuple[int, int] = connection.execute(VERSION).fetchone()
    return found


def read(connection: Connection, query: Query, me_id: int) -> Confusions:
    """Count among the anchors of a query. On a connection that is in a read transaction."""
    compiled = compile_seen(query, me_id)

    def rows(statement: str) -> Rows:
        made = statement.format(where=compiled.where)
        return connection.execute(made, compiled.parameters).fetchall()

    pairs: dict[Pair, dict[Cell, int]] = defaultdict(dict)
    for left, right, mine, other, n in rows(PAIRS):
        pairs[left, right][mine, other] = n
    differences: dict[Pair, Counter[str]] = defaultdict(Counter)
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
    order = [*(kind.value for kind in Blocking), *(note.value for note in Note)]
    return {kind: kinds[kind] for kind in order if kinds[kind]}, dict(patterns), dict(votes)


KINDS = tuple(kind.value for kind in Kind)
"""All kinds, in the order in which matrices have them."""
