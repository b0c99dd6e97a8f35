"""Conflicts in words: what either copy says, and what opens the item."""

from collections.abc import Iterator, Mapping, Sequence

from nfh_db import acts, anchors, annotators
from nfh_db.acts import Event
from nfh_db.connection import Connection
from nfh_db.merge.applying import Waiting
from nfh_db.merge.chains import Chain
from nfh_db.merge.maps import Maps, decoded
from nfh_db.merge.plan import Left
from nfh_db.merge.report import Conflict, Side, Why
from nfh_db.passages import read as read_passages
from nfh_db.query.lexer import quote, quoted
from nfh_db.records import Role
from nfh_db.values import (
    AnchorValue,
    AnswerValue,
    FlagValue,
    GoldValue,
    Marks,
    Value,
    json_of,
)
from nfh_models.domain import Anchor, Passage, anchor_id

SPANS = """
SELECT a.id, a.start, a.stop FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids))"""
PLACES = """
SELECT a.id, a.passage_id, a.start, a.stop FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids))"""

AROUND = 4
"""Tokens on each side of a number that a query searches for, within its turn."""

AT_ONCE = 500

WHAT = {"gold": "gold", "flag": "flag", "anchor": "span"}


def of_plan(
    here: Connection, there: Connection, maps: Maps, left: Sequence[Left]
) -> Iterator[Conflict]:
    """What a plan leaves to a person."""
    for first in range(0, len(left), AT_ONCE):
        some = left[first : first + AT_ONCE]
        texts = read_passages(there, sorted({one.passage for one in some}))
        spans = _spans(here, there, maps, some)
        for one in some:
            yield _of_plan(here, one, texts[one.passage], spans)


def _of_plan(
    here: Connection, left: Left, passage: Passage, spans: Mapping[int, Anchor]
) -> Conflict:
    entity, anchor, owner, name = left.thing.key
    span = Anchor(left.start, left.stop)
    mine = anchor if anchor > 0 else None
    live = mine is not None and anchors.live(here, mine) is not None
    return Conflict(
        mine,
        left.public_id,
        passage.words(span.start, span.end),
        query_for(passage, span, live=live),
        _what(entity, name),
        owner,
        _side(left.thing.here, name, passage, spans),
        _side(left.thing.there, name, passage, spans),
        left.why,
    )


def of_missed(connection: Connection, missed: Sequence[Waiting]) -> Iterator[Conflict]:
    """What somebody was faster with, while the merge was at work."""
    for first in range(0, len(missed), AT_ONCE):
        some = missed[first : first + AT_ONCE]
        ids = json_of(sorted({one.event.anchor_id for one in some}))
        places = {
            id_: (passage, Anchor(start, stop))
            for id_, passage, start, stop in connection.execute(PLACES, {"ids": ids})
        }
        texts = read_passages(connection, sorted({passage for passage, _ in places.values()}))
        names = {person.id: person.name for person in annotators.everybody(connection)}
        for one in some:
            passage, span = places[one.event.anchor_id]
            yield _of_missed(connection, one, texts[passage], span, names)


def _of_missed(
    connection: Connection,
    one: Waiting,
    passage: Passage,
    span: Anchor,
    names: Mapping[int, str],
) -> Conflict:
    from nfh_db import changes

    event = one.event
    key = (event.entity, event.anchor_id, event.annotator_id, event.name)
    now = decoded(event.entity, changes.present(connection, *key))
    # Any event of the thing is later than one that is none: the last that there was.
    by, at = acts.changed_by(connection, _before_all(event)) or (None, None)
    then = decoded(event.entity, event.after)
    spans = _spans_of(connection, (now, then))
    return Conflict(
        event.anchor_id,
        anchor_id(passage.digest, span),
        passage.words(span.start, span.end),
        query_for(passage, span, live=anchors.live(connection, event.anchor_id) is not None),
        _what(event.entity, event.name),
        names.get(event.annotator_id or 0),
        Side(said(now, event.name, passage, spans), by, at, _rule(now)),
        Side(
            said(then, event.name, passage, spans),
            names.get(one.by or 0),
            one.at,
            _rule(then),
        ),
        Why.MEANWHILE,
    )


def _before_all(event: Event) -> Event:
    return Event(
        0, event.entity, event.anchor_id, event.annotator_id, event.name, event.before, None
    )


def query_for(passage: Passage, span: Anchor, *, live: bool) -> str:
    """A query that finds a number by its words and those around it.

    live: it is to be seen; a span that was replaced is found by its text alone.
    """
    turn = passage.turns[passage.turn_of(span.start)]
    start = max(turn.start, span.start - AROUND)
    end = min(max(turn.end, span.end), span.end + AROUND)
    text = f"text:{quoted(passage.words(start, end))}"
    return f"{text} anchor:{quote(passage.words(span.start, span.end))}" if live else text


# --- values -----------------------------------------------------------------------------


def said(value: Value | None, name: str, passage: Passage, spans: Mapping[int, Anchor]) -> str:
    """A value in a few words. name: of the flag. spans: of the anchors that it may name."""
    if isinstance(value, (AnswerValue, GoldValue)):
        parts = [value.kind, *_heads(value.heads, value.relation, passage)]
        parts += [word for word in (value.sort, value.noun) if word]
        if value.comment:
            parts.append(f"comment “{value.comment}”")
        if isinstance(value, GoldValue):
            parts.append(f"(rule {value.rule})")
        return " ".join(parts)
    if isinstance(value, AnchorValue):
        if value.replaced_by is None:
            return "a span to answer"
        other = spans.get(value.replaced_by)
        words = "another span" if other is None else passage.words(other.start, other.end)
        return f"replaced by “{words}”"
    if isinstance(value, FlagValue) and value.span is not None:
        return f"the span “{passage.words(*value.span)}” proposed"
    return f"{name} set" if value is not None else "nothing"


def _heads(heads: Marks, relation: str | None, passage: Passage) -> list[str]:
    words = []
    for head in heads:
        marks = [mark for mark in head if mark[3] != "removed"] or head
        words.append(f"“{passage.words(marks[0][0], marks[0][1])}”")
    joint = f" {(relation or 'and').lower()} "
    return [f"to {joint.join(words)}"] if words else []


def _side(chain: Chain, name: str, passage: Passage, spans: Mapping[int, Anchor]) -> Side:
    if not chain:
        return Side(said(None, name, passage, spans), None, None)
    last = chain[-1]
    words = said(last.value, name, passage, spans)
    return Side(words, last.by, last.at or None, _rule(last.value))


def _rule(value: Value | None) -> str | None:
    return value.rule if isinstance(value, GoldValue) else None


def _what(entity: str, name: str) -> str:
    if entity == "answer":
        return "decision" if name == Role.ADJUDICATOR else "answer"
    return WHAT[entity]


def _spans(
    here: Connection, there: Connection, maps: Maps, left: Sequence[Left]
) -> dict[int, Anchor]:
    """The spans of the anchors that replaced others, by id here, or as `maps` has new ones."""
    values = [thing for one in left for thing in (one.thing.now, one.thing.then)]
    found = _spans_of(here, values)
    missing = {value for value in _successors(values) if value < 0}
    back = {mine: theirs for theirs, mine in maps.anchors.items() if mine in missing}
    rows = there.execute(SPANS, {"ids": json_of(sorted(back.values()))})
    theirs = {id_: Anchor(start, stop) for id_, start, stop in rows}
    return found | {mine: theirs[id_] for mine, id_ in back.items()}


def _spans_of(connection: Connection, values: Sequence[Value | None]) -> dict[int, Anchor]:
    ids = json_of(sorted(_successors(values)))
    rows = connection.execute(SPANS, {"ids": ids})
    return {id_: Anchor(start, stop) for id_, start, stop in rows}


def _successors(values: Sequence[Value | None]) -> set[int]:
    return {
        value.replaced_by
        for value in values
        if isinstance(value, AnchorValue) and value.replaced_by is not None
    }
