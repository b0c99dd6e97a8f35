"""Reads and writes the answers, gold, flags, doubts and heads of anchors.

Also computes the summary columns of an anchor from its answers and its gold.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from nfh_db import anchors, assignments, passages
from nfh_db.anchors import Summary, spaced
from nfh_db.connection import Connection, Repository, reads
from nfh_db.records import PERSON, AnchorState, Annotator, FlagMark, FlagName, Role, Rule, Vote
from nfh_db.serialization import (
    AnswerValue,
    FlagValue,
    GoldValue,
    Marks,
    answer_of,
    decode_gold_votes,
    encode_gold_votes,
    json_of,
    vote_of,
)
from nfh_models.domain import (
    Anchor,
    Answer,
    Blocking,
    DifferenceNote,
    ItemDisagreement,
    Kind,
    compare,
    compare_all,
)

# Differences between the answers to an anchor, stored beside its summary.
#
# `difference` has a row for each pair of annotators whose answers differ in anything.
# Adjudicators' answers are compared separately: `expert_difference` has one row for an anchor
# that two or more adjudicators decided. `gold_difference` has a row for each annotator who
# answered an anchor that gold decides. All three are derived from the present answers and gold.

READ_DIFFERENCES = """
SELECT anchor_id, left_id, right_id, blocking, notes FROM difference
WHERE anchor_id = :anchor ORDER BY left_id, right_id"""
DELETE_DIFFERENCES = "DELETE FROM difference WHERE anchor_id = :anchor"
INSERT_DIFFERENCE = """
INSERT INTO difference (anchor_id, left_id, right_id, blocking, notes)
VALUES (:anchor, :left, :right, :blocking, :notes)"""
READ_EXPERT_DIFFERENCE = (
    "SELECT anchor_id, blocking FROM expert_difference WHERE anchor_id = :anchor"
)
DELETE_EXPERT_DIFFERENCE = "DELETE FROM expert_difference WHERE anchor_id = :anchor"
INSERT_EXPERT_DIFFERENCE = """
INSERT INTO expert_difference (anchor_id, blocking) VALUES (:anchor, :blocking)"""
READ_GOLD_DIFFERENCES = """
SELECT anchor_id, annotator_id, blocking FROM gold_difference
WHERE anchor_id = :anchor ORDER BY annotator_id"""
DELETE_GOLD_DIFFERENCES = "DELETE FROM gold_difference WHERE anchor_id = :anchor"
INSERT_GOLD_DIFFERENCE = """
INSERT INTO gold_difference (anchor_id, annotator_id, blocking)
VALUES (:anchor, :annotator, :blocking)"""
ANNOTATORS = """
SELECT w.annotator_id FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id = :anchor AND w.role = 'annotator' AND n.type = 'person' AND w.removed = 0
ORDER BY n.name"""

Pair = tuple[int, int, int, str | None, str]
"""A row of `difference`: anchor, the two annotators by ascending id, blocking kind, notes."""

Decided = tuple[int, str | None]
"""A row of `expert_difference`: anchor, strongest blocking kind between adjudicators."""

Judged = tuple[int, int, str | None]
"""A row of `gold_difference`: anchor, annotator, blocking kind between answer and gold."""


def pairs(anchor_id: int, people: Sequence[int], found: ItemDisagreement) -> list[Pair]:
    """Return the rows of `difference` for one anchor, ordered by primary key.

    people: ids of the annotators, in the order in which their answers were compared.
    """
    rows = []
    for one in found.differences:
        left, right = sorted((people[one.left], people[one.right]))
        blocking = one.blocking.value if one.blocking else None
        rows.append((anchor_id, left, right, blocking, spaced(one.notes)))
    return sorted(rows, key=lambda row: row[:3])


def expert_rows(anchor_id: int, found: ItemDisagreement | None) -> list[Decided]:
    """Return the row of `expert_difference` for one anchor.

    The list is empty where fewer than two adjudicators decided.
    """
    if found is None:
        return []
    return [(anchor_id, found.strongest.value if found.strongest else None)]


def gold_rows(
    anchor_id: int, people: Sequence[int], by_gold: Sequence[Blocking | None] | None
) -> list[Judged]:
    """Return the rows of `gold_difference` for one anchor, ordered by primary key.

    The list is empty where gold decides nothing. people: ids of the annotators, in the order in
    which their answers were compared.
    """
    if by_gold is None:
        return []
    found = zip(people, by_gold, strict=True)
    rows = [(anchor_id, who, kind.value if kind else None) for who, kind in found]
    return sorted(rows, key=lambda row: row[:2])


def write_differences(connection: Connection, anchor_id: int, summary: Summary) -> None:
    """Replace the rows of an anchor by those of `summary`; rows that are equal are not written.

    Call it in the transaction in which the summary was computed.
    """
    key = {"anchor": anchor_id}
    found = summary.disagreement
    people = (
        [row[0] for row in connection.execute(ANNOTATORS, key)]
        if found.differences or summary.by_gold is not None
        else []
    )
    wanted = pairs(anchor_id, people, found)
    if connection.execute(READ_DIFFERENCES, key).fetchall() != wanted:
        connection.execute(DELETE_DIFFERENCES, key)
        connection.executemany(INSERT_DIFFERENCE, wanted)
    experts = expert_rows(anchor_id, summary.experts)
    if connection.execute(READ_EXPERT_DIFFERENCE, key).fetchall() != experts:
        connection.execute(DELETE_EXPERT_DIFFERENCE, key)
        connection.executemany(INSERT_EXPERT_DIFFERENCE, experts)
    by_gold = gold_rows(anchor_id, people, summary.by_gold)
    if connection.execute(READ_GOLD_DIFFERENCES, key).fetchall() != by_gold:
        connection.execute(DELETE_GOLD_DIFFERENCES, key)
        connection.executemany(INSERT_GOLD_DIFFERENCE, by_gold)


# Doubts: the prediction of a model that was trained without an anchor's gold. One per anchor,
# the latest.
#
# The row is deleted when the gold of the anchor is written, changed or confirmed: somebody has
# looked at it.

UPSERT_DOUBT = """
INSERT OR REPLACE INTO doubt (anchor_id, job_id, choice, likely, margin)
VALUES (:anchor, :job, :choice, :likely, :margin)"""
DELETE_DOUBT = "DELETE FROM doubt WHERE anchor_id = :anchor"
READ_DOUBT = "SELECT anchor_id, choice, likely, margin FROM doubt WHERE anchor_id = :anchor"

TOLD = """
SELECT d.choice, d.likely, d.job_id, coalesce(json_extract(j.arguments, '$.recipe'), '')
FROM doubt AS d LEFT JOIN job AS j ON j.id = d.job_id WHERE d.anchor_id = :anchor"""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubt as the table holds it."""

    anchor_id: int
    choice: str
    """What the model chose, in the form of `prediction.choice`."""

    likely: float
    """The probability that the model gave to the gold."""

    margin: float
    """How far the choice was ahead of the next candidate."""


@dataclass(frozen=True, slots=True)
class ShownDoubt:
    """A doubt as a person is shown it, with its source."""

    choice: str
    """What the model chose, in the form of `prediction.choice`."""

    likely: float
    """The probability that the model gave to the gold."""

    job: int
    """The job that wrote the doubt."""

    recipe: str
    """The recipe with which that job trained the model; "" if unknown."""


def write_doubts(connection: Connection, job_id: int, found: Sequence[Doubt]) -> None:
    """Write doubts; they replace earlier ones of the same anchors."""
    connection.executemany(
        UPSERT_DOUBT,
        [
            {
                "anchor": one.anchor_id,
                "job": job_id,
                "choice": one.choice,
                "likely": one.likely,
                "margin": one.margin,
            }
            for one in found
        ],
    )


def read_doubt(connection: Connection, anchor_id: int) -> Doubt | None:
    """Return the doubt about an anchor's gold; None if no model was asked."""
    row = connection.execute(READ_DOUBT, {"anchor": anchor_id}).fetchone()
    return None if row is None else Doubt(*row)


def find_doubt(connection: Connection, anchor_id: int) -> ShownDoubt | None:
    """Return the doubt about an anchor's gold with its source; None if no model was asked."""
    row = connection.execute(TOLD, {"anchor": anchor_id}).fetchone()
    if row is None:
        return None
    choice, likely, job, recipe = row
    return ShownDoubt(choice, likely, job, str(recipe))


def delete_doubts(connection: Connection, anchor_ids: Iterable[int]) -> None:
    """Delete the doubts of anchors whose gold was written."""
    connection.executemany(DELETE_DOUBT, [{"anchor": anchor_id} for anchor_id in anchor_ids])


READ_FLAGS = """
SELECT f.anchor_id, f.name, n.name, f.flagged_at, f.start, f.stop
FROM flag AS f JOIN annotator AS n ON n.id = f.annotator_id
WHERE f.anchor_id IN (SELECT value FROM json_each(:ids)) AND f.removed = 0
ORDER BY f.anchor_id, f.name, n.name"""
READ_FLAG = """
SELECT flagged_at, batch_id, start, stop FROM flag
WHERE anchor_id = :anchor AND annotator_id = :annotator AND name = :name AND removed = 0"""
UPSERT_FLAG = """
INSERT OR REPLACE INTO flag (anchor_id, annotator_id, name, batch_id, flagged_at, start, stop)
VALUES (:anchor, :annotator, :name, :batch, :at, :start, :stop)"""
INSERT_FLAG = """
INSERT INTO flag (anchor_id, annotator_id, name, batch_id, flagged_at, start, stop)
VALUES (:anchor, :annotator, :name, :batch, :at, :start, :stop)"""
REMOVE_FLAG = """
UPDATE flag SET removed = 1
WHERE anchor_id = :anchor AND annotator_id = :annotator AND name = :name"""


def read_flag(
    connection: Connection, anchor_id: int, annotator_id: int, name: str
) -> FlagValue | None:
    """Return an annotator's flag; None if it is not set."""
    row = connection.execute(
        READ_FLAG, {"anchor": anchor_id, "annotator": annotator_id, "name": name}
    ).fetchone()
    return None if row is None else value_of(*row)


def value_of(at: str, batch: int | None, start: int | None, stop: int | None) -> FlagValue:
    """Return the flag that these columns hold."""
    return FlagValue(at, batch, None if start is None or stop is None else (start, stop))


def write_flag(
    connection: Connection,
    anchor_id: int,
    annotator_id: int,
    name: str,
    value: FlagValue | None,
) -> None:
    """Set an annotator's flag to `value`; None marks it removed."""
    key = {"anchor": anchor_id, "annotator": annotator_id, "name": name}
    if value is None:
        connection.execute(REMOVE_FLAG, key)
    else:
        start, stop = value.span or (None, None)
        row = {"batch": value.batch, "at": value.at, "start": start, "stop": stop}
        connection.execute(UPSERT_FLAG, key | row)


def marks(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[FlagMark]]:
    """Return the flags that are set, by anchor id; lists are ordered by flag and annotator."""
    found: dict[int, list[FlagMark]] = {}
    for anchor_id, name, annotator, at, start, stop in connection.execute(
        READ_FLAGS, {"ids": json_of(list(anchor_ids))}
    ):
        span = None if start is None or stop is None else Anchor(start, stop)
        found.setdefault(anchor_id, []).append(FlagMark(FlagName(name), annotator, at, span))
    return found


READ_HEADS = """
SELECT h.{owner}, h.position, m.start, m.stop, m.token, m.origin
FROM head AS h JOIN mention AS m ON m.head_id = h.id
WHERE h.{owner} IN (SELECT value FROM json_each(:ids))
ORDER BY h.{owner}, h.position, m.position"""
DELETE_HEADS = "DELETE FROM head WHERE {owner} IN (SELECT value FROM json_each(:ids))"
DELETE_MENTIONS = """
DELETE FROM mention WHERE head_id IN
    (SELECT id FROM head WHERE {owner} IN (SELECT value FROM json_each(:ids)))"""
INSERT_HEAD_WITH_ID = """
INSERT INTO head (id, answer_id, gold_id, position) VALUES (:id, :answer, :gold, :position)"""
INSERT_MENTION = """
INSERT INTO mention (head_id, position, start, stop, token, origin)
VALUES (:head, :position, :start, :stop, :token, :origin)"""
LAST_HEAD_ID = "SELECT coalesce(max(id), 0) FROM head"


Owner = Literal["answer_id", "gold_id"]
"""The column of a head that names its answer, or the anchor of its gold."""


def _heads(connection: Connection, owner: Owner, ids: Sequence[int]) -> dict[int, Marks]:
    """Return the heads of answers or golds by their id, without those that have none."""
    found: dict[int, dict[int, list[tuple[int, int, int, str]]]] = {}
    if not ids:
        return {}
    statement = READ_HEADS.format(owner=owner)
    for id_, position, *mark in connection.execute(statement, {"ids": json_of(list(ids))}):
        start, stop, token, origin = mark
        heads = found.setdefault(id_, {})
        heads.setdefault(position, []).append((start, stop, token, origin))
    return {
        id_: tuple(tuple(marks) for marks in heads.values()) for id_, heads in found.items()
    }


def _replace_heads(connection: Connection, owner: Owner, marks: Mapping[int, Marks]) -> None:
    """Replace the heads of answers or golds, given by their id.

    Call it in a write transaction: new ids follow the highest one of the table.
    """
    ids = {"ids": json_of(list(marks))}
    # No ON DELETE CASCADE: the connection of an import does not enforce foreign keys.
    connection.execute(DELETE_MENTIONS.format(owner=owner), ids)
    connection.execute(DELETE_HEADS.format(owner=owner), ids)
    head_id: int = connection.execute(LAST_HEAD_ID).fetchone()[0]
    heads: list[tuple[object, ...]] = []
    mentions: list[tuple[object, ...]] = []
    for id_, found in marks.items():
        owners = (id_, None) if owner == "answer_id" else (None, id_)
        for position, head in enumerate(found):
            head_id += 1
            heads.append((head_id, *owners, position))
            mentions += [(head_id, place, *mark) for place, mark in enumerate(head)]
    connection.executemany(INSERT_HEAD_WITH_ID, heads)
    connection.executemany(INSERT_MENTION, mentions)


COLUMNS = """
    w.id, w.anchor_id, w.annotator_id, n.name, w.role, w.kind, w.relation, w.sort, w.noun,
    w.comment, w.seconds, w.saw_model, w.saw_votes, w.guideline_version, w.rule_tag,
    w.batch_id, w.answered_at, w.in_sheet, w.timed, n.type
FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id"""
READ_OF_ANCHORS = f"""
SELECT {COLUMNS}
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids)) AND w.removed = 0
ORDER BY w.anchor_id, n.name, w.role"""  # noqa: S608 - made of constants
READ_ONE = f"""
SELECT {COLUMNS}
WHERE w.anchor_id = :anchor AND w.annotator_id = :annotator AND w.role = :role
    AND w.removed = 0"""
UPSERT = """
INSERT INTO answer (anchor_id, annotator_id, role, kind, relation, sort, noun, comment,
    seconds, saw_model, saw_votes, guideline_version, rule_tag, batch_id, answered_at,
    in_sheet, timed)
VALUES (:anchor, :annotator, :role, :kind, :relation, :sort, :noun, :comment,
    :seconds, :saw_model, :saw_votes, :guideline, :rule_tag, :batch, :at,
    :in_sheet, :timed)
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    kind = excluded.kind, relation = excluded.relation, sort = excluded.sort,
    noun = excluded.noun, comment = excluded.comment, seconds = excluded.seconds,
    saw_model = excluded.saw_model, saw_votes = excluded.saw_votes,
    guideline_version = excluded.guideline_version, rule_tag = excluded.rule_tag,
    batch_id = excluded.batch_id, answered_at = excluded.answered_at,
    in_sheet = excluded.in_sheet, timed = excluded.timed, removed = 0
RETURNING id"""
INSERT_WITH_ID = """
INSERT INTO answer (id, anchor_id, annotator_id, role, kind, relation, sort, noun, comment,
    seconds, saw_model, saw_votes, guideline_version, rule_tag, batch_id, answered_at,
    in_sheet, timed)
VALUES (:id, :anchor, :annotator, :role, :kind, :relation, :sort, :noun, :comment,
    :seconds, :saw_model, :saw_votes, :guideline, :rule_tag, :batch, :at,
    :in_sheet, :timed)"""
REMOVE = """
UPDATE answer SET removed = 1
WHERE anchor_id = :anchor AND annotator_id = :annotator AND role = :role"""
LAST_ID = "SELECT coalesce(max(id), 0) FROM answer"


def read(
    connection: Connection, anchor_id: int, annotator_id: int, role: str
) -> AnswerValue | None:
    """Return an annotator's present answer; None if there is none or it was removed."""
    row = connection.execute(
        READ_ONE, {"anchor": anchor_id, "annotator": annotator_id, "role": role}
    ).fetchone()
    if row is None:
        return None
    return value_from(row[5:19], _heads(connection, "answer_id", [row[0]]).get(row[0], ()))


def write(
    connection: Connection,
    anchor_id: int,
    annotator_id: int,
    role: str,
    value: AnswerValue | None,
) -> None:
    """Set an annotator's answer to `value`; None marks it removed.

    Also closes or reopens that annotator's assignment of the anchor.
    """
    key = {"anchor": anchor_id, "annotator": annotator_id, "role": role}
    assignments.keep_in_step(connection, anchor_id, annotator_id, role, value)
    if value is None:
        connection.execute(REMOVE, key)
        return
    row = key | msgspec.structs.asdict(value)
    answer_id = connection.execute(UPSERT, row).fetchone()[0]
    _replace_heads(connection, "answer_id", {answer_id: value.heads})


def read_all(
    connection: Connection, anchor_ids: Sequence[int]
) -> Iterator[tuple[int, tuple[str, str], AnswerValue]]:
    """Yield (anchor id, (annotator's name, role), answer), ordered by anchor, name and role."""
    for row, value in _rows(connection, anchor_ids):
        yield row[1], (row[3], row[4]), value


def votes(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[Vote]]:
    """Return the answers by anchor id, without removed ones; lists are by name and role."""
    found: dict[int, list[Vote]] = {}
    for row, value in _rows(connection, anchor_ids):
        vote = vote_of(value, row[3], Role(row[4]), row[19])
        found.setdefault(row[1], []).append(vote)
    return found


def _rows(
    connection: Connection, anchor_ids: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], AnswerValue]]:
    rows = connection.execute(READ_OF_ANCHORS, {"ids": json_of(list(anchor_ids))}).fetchall()
    references = [row[0] for row in rows if row[5] == "REFERENCE"]
    marks = _heads(connection, "answer_id", references)
    for row in rows:
        yield row, value_from(row[5:19], marks.get(row[0], ()))


def value_from(columns: Sequence[Any], marks: Marks) -> AnswerValue:
    """Return an answer. columns: from `kind` to `timed`, as in COLUMNS."""
    kind, *said, seconds, saw_model, saw_votes, guideline, tag, batch, at = columns[:-2]
    seen = (seconds, bool(saw_model), bool(saw_votes), guideline, tag)
    return AnswerValue(*(kind, at, marks, *said, *seen, batch, *map(bool, columns[-2:])))


READ_GOLD = """
SELECT g.anchor_id, g.kind, g.relation, g.sort, g.noun, g.comment, g.rule, n.name,
    g.decided_at, g.batch_id, g.votes
FROM gold AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id
WHERE g.anchor_id IN (SELECT value FROM json_each(:ids)) AND g.removed = 0"""
UPSERT_GOLD = """
INSERT INTO gold (anchor_id, kind, relation, sort, noun, comment, rule, annotator_id,
    answer_id, batch_id, decided_at, votes)
VALUES (:anchor, :kind, :relation, :sort, :noun, :comment, :rule,
    (SELECT id FROM annotator WHERE name = :by), :answer, :batch, :at, :votes)
ON CONFLICT (anchor_id) DO UPDATE SET
    kind = excluded.kind, relation = excluded.relation, sort = excluded.sort,
    noun = excluded.noun, comment = excluded.comment, rule = excluded.rule,
    annotator_id = excluded.annotator_id, answer_id = excluded.answer_id,
    batch_id = excluded.batch_id, decided_at = excluded.decided_at, votes = excluded.votes,
    removed = 0"""
INSERT_GOLD = """
INSERT INTO gold (anchor_id, kind, relation, sort, noun, comment, rule, annotator_id,
    answer_id, batch_id, decided_at, votes)
VALUES (:anchor, :kind, :relation, :sort, :noun, :comment, :rule, :annotator,
    :answer, :batch, :at, :votes)"""
REMOVE_GOLD = "UPDATE gold SET removed = 1 WHERE anchor_id = :anchor"
READ_NOUNS = """
SELECT g.anchor_id, g.noun, h.position, m.token
FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
LEFT JOIN head AS h ON h.gold_id = g.anchor_id
LEFT JOIN mention AS m ON m.head_id = h.id AND m.origin <> 'removed'
WHERE a.passage_id = :passage AND (g.noun IS NOT NULL OR m.token IS NOT NULL)
ORDER BY g.anchor_id, h.position, m.position"""
FIND_ANSWER = """
SELECT w.id FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id = :anchor AND w.role = 'adjudicator' AND n.name = :by"""


def read_all_gold(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, GoldValue]:
    """Return the gold of each of these anchors that has one, by anchor id."""
    rows = connection.execute(READ_GOLD, {"ids": json_of(list(anchor_ids))}).fetchall()
    marks = _heads(connection, "gold_id", [row[0] for row in rows if row[1] == "REFERENCE"])
    return {
        row[0]: gold_from(row[1:10], marks.get(row[0], ()), decode_gold_votes(row[10]))
        for row in rows
    }


def read_gold(connection: Connection, anchor_id: int) -> GoldValue | None:
    return read_all_gold(connection, [anchor_id]).get(anchor_id)


def nouns(connection: Connection, passage_id: int) -> dict[int, tuple[int | str, ...]]:
    """Return the missing nouns according to the gold of each anchor of a passage.

    A noun is the head token of a head's first mention that is not removed, or the word that was
    written for a class. Anchors without either are left out.
    """
    found: dict[int, dict[int, int | str]] = {}
    for anchor_id, noun, head, token in connection.execute(READ_NOUNS, {"passage": passage_id}):
        said = found.setdefault(anchor_id, {})
        if head is not None and token is not None:
            said.setdefault(head, token)
        elif noun is not None:
            said.setdefault(-1, noun)
    return {anchor_id: tuple(said.values()) for anchor_id, said in found.items()}


def write_gold(connection: Connection, anchor_id: int, value: GoldValue | None) -> None:
    """Set an anchor's gold to `value`; None marks it removed.

    An expert's gold points to the answer that the expert gave as adjudicator: write that answer
    first. The doubt about the earlier gold is deleted.
    """
    write_all_gold(connection, {anchor_id: value})


def write_all_gold(connection: Connection, values: Mapping[int, GoldValue | None]) -> None:
    """Do what `write_gold` does for many anchors, with fewer statements."""
    delete_doubts(connection, values)
    present = {id_: value for id_, value in values.items() if value is not None}
    rows = [_row(connection, id_, value) for id_, value in present.items()]
    connection.executemany(UPSERT_GOLD, rows)
    _replace_heads(connection, "gold_id", {id_: one.heads for id_, one in present.items()})
    gone = [{"anchor": id_} for id_, value in values.items() if value is None]
    connection.executemany(REMOVE_GOLD, gone)


def _row(connection: Connection, anchor_id: int, value: GoldValue) -> dict[str, object]:
    return msgspec.structs.asdict(value) | {
        "anchor": anchor_id,
        "answer": _answer_id(connection, anchor_id, value),
        "votes": encode_gold_votes(value.votes),
    }


def _answer_id(connection: Connection, anchor_id: int, value: GoldValue) -> int | None:
    if value.rule != Rule.EXPERT or value.by is None:
        return None
    row = connection.execute(FIND_ANSWER, {"anchor": anchor_id, "by": value.by}).fetchone()
    return None if row is None else row[0]


def gold_from(
    columns: Sequence[Any], marks: Marks, votes: tuple[tuple[str, str], ...]
) -> GoldValue:
    """Return a gold. columns: from `kind` to `batch_id`, as in READ_GOLD."""
    kind, *said, rule, by, at, batch = columns
    return GoldValue(*(kind, rule, marks, *said, by, at, batch, votes))


CHOICES = """
SELECT anchor_id, choice FROM prediction
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
DECISIONS = """
SELECT anchor_id, nfh FROM identification
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
# `purpose <> 'work'` is the condition of the partial index, without which it is not used.
BLIND = """
SELECT anchor_id FROM assignment
WHERE purpose <> 'work' AND purpose IN ('double', 'audit') AND annotator_id = :me
    AND role = 'adjudicator' AND state = 'open'"""


def to_decide_blind(connection: Connection, me: Annotator) -> frozenset[int]:
    """Return the anchors that a person has yet to decide blind: open doubles and audits."""
    return frozenset(row[0] for row in connection.execute(BLIND, {"me": me.id}))


DONE_SINCE = """
SELECT role, count(*), total(seconds) FROM answer
WHERE annotator_id = :me AND answered_at >= :since AND removed = 0 AND batch_id IS NULL
GROUP BY role"""


def done_since(
    connection: Connection, me: Annotator, since: str
) -> dict[Role, tuple[int, float]]:
    """Return by role how many answers a person has given since a time, and their seconds."""
    rows = connection.execute(DONE_SINCE, {"me": me.id, "since": since})
    return {Role(role): (count, seconds) for role, count, seconds in rows}


def choices(connection: Connection, model_id: int, anchor_ids: Sequence[int]) -> dict[int, str]:
    """Return a model's choices by anchor: a token index in decimal digits, or a class name."""
    return dict(connection.execute(CHOICES, _asked(model_id, anchor_ids)))


def decisions(
    connection: Connection, model_id: int, anchor_ids: Sequence[int]
) -> dict[int, bool]:
    """Return by anchor whether a model takes the number for a fused head."""
    rows = connection.execute(DECISIONS, _asked(model_id, anchor_ids))
    return {anchor_id: bool(nfh) for anchor_id, nfh in rows}


def _asked(model_id: int, anchor_ids: Sequence[int]) -> dict[str, object]:
    return {"model": model_id, "ids": json_of(list(anchor_ids))}


NO_DISAGREEMENT = ItemDisagreement()


def summarise(
    votes: Sequence[Vote],
    decided: GoldValue | None,
    lemmas: Callable[[], Sequence[str]],
    *,
    stale: bool = False,
) -> Summary:
    """Compute the summary of an anchor.

    votes: all its answers, ordered by name. Adjudicators' answers are compared separately from
    annotators', models' answers not at all. lemmas: called only if answers have to be compared.
    stale: the anchor replaces one that had answers or gold.
    """
    given = [vote.answer for vote in votes if vote.counts]
    experts = [vote.answer for vote in votes if vote.role is Role.ADJUDICATOR]
    standard = standard_of(decided) if given else None
    several = len(given) > 1 or len(experts) > 1
    heads = standard is not None and any(answer.heads for answer in (standard, *given))
    words = lemmas() if several or heads else ()
    found = compare_all(given, words) if given else NO_DISAGREEMENT
    return Summary(
        state_of(len(given), found, decided, stale=stale),
        decided.kind if decided else None,
        len(decided.heads) if decided else 0,
        len(given),
        found,
        compare_all(experts, words) if len(experts) > 1 else None,
        None if standard is None else against(standard, given, words),
    )


def standard_of(decided: GoldValue | None) -> Answer | None:
    """Return gold as the answer with which others are compared.

    None for no gold and for an NFH, which leaves the number open.
    """
    if decided is None or decided.kind == Kind.NFH:
        return None
    return answer_of(decided)


def against(
    standard: Answer, given: Sequence[Answer], lemmas: Sequence[str]
) -> tuple[Blocking | None, ...]:
    """Return the blocking kind between each answer and `standard`; None if nothing blocks."""
    return tuple(compare(answer, standard, lemmas).blocking for answer in given)


def state_of(
    votes: int, found: ItemDisagreement, decided: GoldValue | None, *, stale: bool
) -> AnchorState:
    """Return the first state that applies: decided, stale, disagree, answered, open.

    An NFH as gold leaves the number open, so it does not decide.
    """
    if decided is not None and decided.kind != Kind.NFH:
        return AnchorState.DECIDED
    if stale and not votes:
        return AnchorState.STALE
    if found.blocking:
        return AnchorState.DISAGREE
    return AnchorState.ANSWERED if votes else AnchorState.OPEN


def predecessor(connection: Connection, anchor_id: int) -> int | None:
    """Return the nearest replaced anchor with gold or a person's answer, or None."""
    seen = {anchor_id}
    place = anchor_id
    _, before, _ = anchors.links(connection, place)
    while before is not None and before not in seen:
        _, further, replaced_by = anchors.links(connection, before)
        if replaced_by != place:
            # That anchor was revived since: its answers count there.
            return None
        given = votes(connection, [before]).get(before, ())
        if any(vote.type == PERSON for vote in given) or read_gold(connection, before):
            return before
        seen.add(before)
        place, before = before, further
    return None


def recompute(connection: Connection, anchor_id: int) -> AnchorState:
    """Recompute and write an anchor's summary and differences; return its state."""
    passage_id, replaces, _ = anchors.links(connection, anchor_id)
    summary = summarise(
        votes(connection, [anchor_id]).get(anchor_id, ()),
        read_gold(connection, anchor_id),
        lambda: passages.lemmas(connection, passage_id),
        stale=replaces is not None and predecessor(connection, anchor_id) is not None,
    )
    anchors.set_summary(connection, anchor_id, summary)
    write_differences(connection, anchor_id, summary)
    return summary.state


def recompute_with_successors(connection: Connection, anchor_ids: Sequence[int]) -> None:
    """Recompute anchors and all that replaced them: `stale` depends on the replaced anchors."""
    pending, done = list(anchor_ids), set[int]()
    while pending:
        anchor_id = pending.pop()
        if anchor_id in done:
            continue
        done.add(anchor_id)
        recompute(connection, anchor_id)
        _, _, after = anchors.links(connection, anchor_id)
        if after is not None:
            pending.append(after)


def blocking_names(words: str) -> tuple[Blocking, ...]:
    """Return the blocking kinds that a summary column holds, strongest first."""
    held = set(words.split())
    return tuple(kind for kind in Blocking if kind in held)


def note_names(words: str) -> tuple[DifferenceNote, ...]:
    """Return the notes that a summary column holds, in the order of DifferenceNote."""
    held = set(words.split())
    return tuple(note for note in DifferenceNote if note in held)


class Answers(Repository):
    """Choices and decisions of models, doubts, and the anchors to decide blind."""

    to_decide_blind = reads(to_decide_blind)
    done_since = reads(done_since)
    model_choices = reads(choices)
    model_decisions = reads(decisions)
    doubt = reads(read_doubt)

    def save_doubts(
        self, job_id: int, found: Sequence[Doubt], holds: Callable[[int, Answer], bool]
    ) -> int:
        """Write the doubts whose gold has not changed since; return their number.

        holds: called with an anchor and its present gold; True if the model was asked about
        this gold. All are written in one fast transaction.
        """
        with self.connections.fast_write() as connection:
            golds = read_all_gold(connection, [one.anchor_id for one in found])
            kept = [
                one
                for one in found
                if (value := golds.get(one.anchor_id)) is not None
                and holds(one.anchor_id, answer_of(value))
            ]
            write_doubts(connection, job_id, kept)
        return len(kept)
