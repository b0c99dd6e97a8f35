"""Audits: samples of the golds that rules settled, which an expert decides blind.

An audit is a run of assignments (purpose audit, role adjudicator) of one auditor. Each has its
stratum and, as `expected`, the gold of the time when it was drawn. A setting per run stores the
parameters of the sample: the sizes of the strata cannot be recomputed later.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from nfh_db import answers, passages, system
from nfh_db.batches import SettleReport, stratum
from nfh_db.connection import Connection, Repository, reads, writes_durably
from nfh_db.query import Query, compile_seen
from nfh_db.query import compile as compile_query
from nfh_db.records import BY_RULE, RULES_OF_VOTES, Annotator, Role
from nfh_db.serialization import AnswerValue, answer_of, decode_gold, encode, json_of
from nfh_models.domain import Blocking, compare

# Golds that rules settled, that nobody audits, and that this auditor has neither decided nor
# been assigned. In the order of the unique index on spans, so that a seed draws the same again.
FRAME = f"""
SELECT a.id, g.rule || ', ' || g.kind || ', ' || a.pattern
FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id
WHERE {{where}} AND g.removed = 0 AND g.rule IN ({RULES_OF_VOTES})
    AND (:act IS NULL OR g.decided_at = :at
        AND a.id IN (SELECT e.anchor_id FROM event AS e WHERE e.act_id = :act))
    AND NOT EXISTS (SELECT 1 FROM assignment AS s
        WHERE s.anchor_id = a.id AND s.role = 'adjudicator' AND s.state <> 'returned'
            AND (s.purpose = 'audit' OR s.annotator_id = :auditor))
    AND NOT EXISTS (SELECT 1 FROM answer AS w
        WHERE w.anchor_id = a.id AND w.annotator_id = :auditor AND w.role = 'adjudicator'
            AND w.removed = 0)
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants
SETTLED = f"""
SELECT g.rule, g.kind, a.pattern, count(*)
FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id
WHERE {{where}} AND g.removed = 0 AND g.rule IN ({RULES_OF_VOTES})
GROUP BY 1, 2, 3"""  # noqa: S608 - made of constants
VOTED = """
SELECT count(*) FROM answer
WHERE annotator_id = :auditor AND role = 'annotator' AND removed = 0
    AND anchor_id IN (SELECT value FROM json_each(:ids))"""
RUN_EXISTS = "SELECT 1 FROM assignment WHERE purpose = 'audit' AND run = :run"
LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM assignment WHERE annotator_id = :auditor"""
# An assignment that the same person returned is opened again.
ASSIGN = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, state, position, expected,
    stratum, run, assigned_at)
VALUES (:anchor, :auditor, 'adjudicator', 'audit', 'open', :position, :expected,
    :stratum, :run, :at)
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    purpose = excluded.purpose, state = excluded.state, position = excluded.position,
    expected = excluded.expected, verdict = NULL, stratum = excluded.stratum,
    run = excluded.run, assigned_at = excluded.assigned_at, finished_at = NULL
WHERE state = 'returned'"""
ITEMS = """
SELECT s.run, n.id, n.name, n.type, s.anchor_id, a.passage_id, s.state, s.stratum, s.expected,
    a.removed = 0 AND a.replaced_by IS NULL
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
JOIN anchor AS a ON a.id = s.anchor_id
WHERE s.purpose <> 'work' AND s.purpose = 'audit'
ORDER BY s.run, n.name, s.position"""

AT_ONCE = 1_000
"""Items whose answers are read at a time."""


class AuditSample(msgspec.Struct, frozen=True):
    """The parameters of a drawn audit, as its setting stores them."""

    by: str
    """Name of the person who drew it."""

    seed: int
    """With the same seed and the same gold, the same items are drawn."""

    wanted: int
    """Items asked for."""

    sizes: dict[str, int]
    """Items of each stratum."""

    sampled: dict[str, int]
    """Items drawn from each stratum."""

    voted: int = 0
    """Drawn items that the auditor had answered as an annotator."""

    query: str = ""
    """Restricts the golds drawn from."""

    act: int | None = None
    """The settlement whose golds are drawn from; None for those of all."""


_drawn = msgspec.json.Decoder(AuditSample)


@dataclass(frozen=True, slots=True)
class AuditItem:
    """An item of an audit."""

    anchor_id: int
    stratum: str
    state: str
    """open, done or returned; gone if the anchor was replaced or removed undecided."""

    decided: bool
    """The auditor has an answer now."""

    blocking: Blocking | None = None
    """The strongest blocking difference between the answer and the expected gold."""


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit with its items."""

    run: str
    """When it was drawn; identifies the audit."""

    auditor: Annotator
    items: tuple[AuditItem, ...]
    drawn: AuditSample | None = None
    """None if the database has no such setting."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that is not yet assigned."""

    items: Sequence[tuple[int, str]]
    """Anchors with their strata, in the order in which the auditor gets them."""

    seed: int
    wanted: int
    """Items asked for."""

    sizes: Mapping[str, int]
    """Items of each stratum."""

    query: str = ""
    act: int | None = None


def frame(
    connection: Connection,
    query: Query,
    me: Annotator,
    auditor: Annotator,
    settled: SettleReport | None = None,
) -> list[tuple[int, str]]:
    """Return the anchors that can be drawn, each with its stratum, ordered by passage and span.

    The stratum is rule, kind and pattern of votes. settled: only golds of this settlement that
    have not changed since.
    """
    compiled = compile_query(query, me.id)
    parameters = {
        **compiled.parameters,
        "auditor": auditor.id,
        "act": settled.act_id if settled else None,
        "at": settled.at if settled else None,
    }
    return connection.execute(FRAME.format(where=compiled.where), parameters).fetchall()


def settled(connection: Connection, query: Query, me: Annotator) -> dict[str, int]:
    """Return how many golds rules made in each `stratum`.

    Without those that the person must still decide blind.
    """
    compiled = compile_seen(query, me.id)
    found = Counter[str]()
    statement = SETTLED.format(where=compiled.where)
    for *parts, count in connection.execute(statement, compiled.parameters):
        found[stratum(*parts)] += count
    return found


def assign(
    connection: Connection, sample: Sample, auditor: Annotator, by: Annotator
) -> tuple[str, AuditSample]:
    """Assign a sample to the auditor; return its run and what was assigned.

    Call it in a write transaction. Anchors whose gold is no longer settled by a rule are left
    out.
    """
    run = _free_run(connection)
    ids = [anchor_id for anchor_id, _ in sample.items]
    golds = answers.read_all_gold(connection, ids)
    position = connection.execute(LAST_POSITION, {"auditor": auditor.id}).fetchone()[0]
    sampled = dict.fromkeys(sample.sizes, 0)
    given = []
    for anchor_id, drawn_from in sample.items:
        present = golds.get(anchor_id)
        if present is None or present.rule not in BY_RULE:
            continue
        position += 1
        key = {
            "anchor": anchor_id,
            "auditor": auditor.id,
            "position": position,
            "expected": encode(present),
            "stratum": drawn_from,
            "run": run,
            "at": run,
        }
        if connection.execute(ASSIGN, key).rowcount:
            sampled[drawn_from] += 1
            given.append(anchor_id)
    voted = connection.execute(VOTED, {"auditor": auditor.id, "ids": json_of(given)}).fetchone()
    drawn = AuditSample(
        by.name,
        sample.seed,
        sample.wanted,
        dict(sample.sizes),
        sampled,
        voted[0],
        sample.query,
        sample.act,
    )
    passages.write_setting(connection, _setting(run), json_of(drawn))
    return run, drawn


def _setting(run: str) -> str:
    return f"audit {run}"


def _free_run(connection: Connection) -> str:
    """Return the time, increased by milliseconds until no audit has it."""
    run = system.now()
    while connection.execute(RUN_EXISTS, {"run": run}).fetchone():
        later = datetime.fromisoformat(run) + timedelta(milliseconds=1)
        run = later.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return run


def audits(connection: Connection) -> tuple[Audit, ...]:
    """Return all audits, oldest first, with the present answers of their auditors."""
    found: dict[tuple[str, Annotator], list[AuditItem]] = {}
    rows = [_Row(*row) for row in connection.execute(ITEMS)]
    for first in range(0, len(rows), AT_ONCE):
        some = rows[first : first + AT_ONCE]
        ids = sorted({row.anchor_id for row in some})
        said = {
            (anchor_id, name): value
            for anchor_id, (name, role), value in answers.read_all(connection, ids)
            if role == Role.ADJUDICATOR
        }
        for row in some:
            auditor = Annotator(row.annotator_id, row.name, row.type)
            item = _item(connection, row, said.get((row.anchor_id, row.name)))
            found.setdefault((row.run, auditor), []).append(item)
    return tuple(
        Audit(run, auditor, tuple(items), _drawn_of(connection, run))
        for (run, auditor), items in found.items()
    )


class _Row(NamedTuple):
    """A row of ITEMS."""

    run: str
    annotator_id: int
    name: str
    type: str
    anchor_id: int
    passage_id: int
    state: str
    stratum: str | None
    expected: str | None
    live: int


def _item(connection: Connection, row: _Row, said: AnswerValue | None) -> AuditItem:
    expected, blocking = decode_gold(row.expected), None
    if said is not None and expected is not None:
        lemmas = passages.lemmas(connection, row.passage_id)
        blocking = compare(answer_of(said), answer_of(expected), lemmas).blocking
    state = row.state if said is not None or row.live else "gone"
    return AuditItem(row.anchor_id, row.stratum or "", state, said is not None, blocking)


def _drawn_of(connection: Connection, run: str) -> AuditSample | None:
    text = passages.read_setting(connection, _setting(run))
    return None if text is None else _drawn.decode(text)


class Audits(Repository):
    """Draws, assigns and lists audits."""

    frame = reads(frame)
    settled = reads(settled)
    assign = writes_durably(assign)
    all = reads(audits)
