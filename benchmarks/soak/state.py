"""What a database says, as plain values by key: what was reported is compared with this."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nfh_db.connection import Connection, connect
from nfh_db.event_log import present_state
from nfh_db.serialization import (
    AnswerValue,
    GoldValue,
    decode_anchor,
    decode_answer,
    decode_gold,
    heads_of,
    marks_of,
)
from nfh_models.domain import Answer, Kind, Relation, Sort

Key = tuple[str | int, ...]
"""Entity, text of the passage, first token, token after the last, and whose or what."""

Value = str
"""Canonical JSON of what counts of a value: no times, no row ids."""

State = dict[Key, Value]

PLACES = """
SELECT a.id, p.text, a.start, a.stop
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id"""
PEOPLE = "SELECT id, name FROM annotator"
DRAFTS = "SELECT anchor_id, annotator_id, role, body FROM draft"


def spelled(*content: object) -> Value:
    """The value that some content is compared as."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def answer_said(answer: Answer) -> Value:
    """An answer, comment included, as it is compared."""
    return spelled(
        answer.kind,
        marks_of(answer),
        answer.relation,
        answer.sort,
        answer.noun,
        answer.comment,
    )


def gold_said(answer: Answer, rule: str, by: str | None, of: Sequence[str] = ()) -> Value:
    """A gold as it is compared. of: whose votes it was made of."""
    return spelled(answer_said(answer), rule, by, list(of))


def gold_parts(value: Value) -> tuple[Value, str, str | None, list[str]]:
    """Answer, rule, by whom and of whose votes: the inverse of `gold_said`."""
    answer, rule, by, of = json.loads(value)
    return answer, rule, by, of


def answer_from(value: Value) -> Answer:
    """The inverse of `answer_said`."""
    kind, heads, relation, sort, noun, comment = json.loads(value)
    return Answer(
        Kind(kind),
        heads_of(heads),
        relation and Relation(relation),
        sort and Sort(sort),
        noun,
        comment,
    )


def _stored_answer(value: AnswerValue | GoldValue) -> Value:
    return spelled(
        value.kind, value.heads, value.relation, value.sort, value.noun, value.comment
    )


def read_state(path: Path) -> State:
    """All anchors, answers, golds, flags and drafts that a database holds."""
    connection = connect(path, "ro")
    try:
        return dict(_entries(connection))
    finally:
        connection.close()


def _entries(connection: Connection) -> Iterator[tuple[Key, Value]]:
    places = {row[0]: row[1:] for row in connection.execute(PLACES)}
    people: Mapping[int, str] = dict(connection.execute(PEOPLE))
    for (entity, anchor, person, name), text in present_state(connection).items():
        place = places[anchor]
        if entity == "anchor":
            value = decode_anchor(text)
            gone = value is not None and value.replaced_by is not None
            yield (entity, *place), "replaced" if gone else "live"
        elif entity == "answer":
            answer = decode_answer(text)
            assert answer is not None and person is not None
            yield (entity, *place, people[person], name), _stored_answer(answer)
        elif entity == "gold":
            gold = decode_gold(text)
            assert gold is not None
            of = [name for name, _ in gold.votes]
            yield (entity, *place), spelled(_stored_answer(gold), gold.rule, gold.by, of)
        else:
            assert person is not None
            yield (entity, *place, people[person], name), "set"
    for anchor, person, role, body in connection.execute(DRAFTS):
        yield ("draft", *places[anchor], people[person], role), body


def read_ids(path: Path) -> dict[tuple[str, int, int], int]:
    """The row id of each anchor, by its text and span."""
    connection = connect(path, "ro")
    try:
        return {row[1:]: row[0] for row in connection.execute(PLACES)}
    finally:
        connection.close()


def difference(wanted: State, found: State, limit: int = 5) -> str:
    """What is missing, too much, or otherwise, in a few lines; "" if nothing is."""
    lines = []
    for key in sorted(wanted.keys() | found.keys(), key=str):
        one, other = wanted.get(key), found.get(key)
        if one != other:
            lines.append(f"{key}: wanted {one}, found {other}")
    more = f"\n… and {len(lines) - limit} more" if len(lines) > limit else ""
    return "\n".join(lines[:limit]) + more
