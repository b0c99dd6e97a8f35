"""The log: it can be read, it replays to the tables, and acts agree about what is undone."""

import json
from collections.abc import Iterator

from nfh_db.doctor.finding import Fault, Where
from nfh_db.doctor.patient import Patient
from nfh_db.doctor.stretch import UNREADABLE
from nfh_db.replay import PEOPLE, Key, Mismatch, mismatches
from nfh_db.values import (
    answer_of,
    decode_anchor,
    decode_answer,
    decode_flag,
    decode_gold,
)

EVENTS = """
SELECT id, entity, anchor_id, annotator_id, name, before, after FROM event ORDER BY id"""
UNDONE = """
SELECT c.id, c.undone, coalesce(t.kind, '') FROM act AS c
LEFT JOIN (SELECT u.target, u.kind, max(u.id) FROM act AS u
    LEFT JOIN batch AS b ON b.id = u.batch_id
    WHERE u.target IS NOT NULL AND u.kind IN ('undo', 'redo')
        AND coalesce(b.state, 'ready') <> 'loading' GROUP BY u.target) AS t
    ON t.target = c.id
WHERE c.undone <> (coalesce(t.kind, '') = 'undo') ORDER BY c.id"""
TARGETS = """
SELECT id, kind, target FROM act
WHERE (kind IN ('undo', 'redo')) <> (target IS NOT NULL) ORDER BY id"""
WITHOUT_BATCH = """
SELECT id, kind FROM act WHERE kind IN ('import', 'settle') AND batch_id IS NULL ORDER BY id"""
EMPTY = """
SELECT c.id, c.summary FROM act AS c
WHERE c.kind = 'do' AND c.merged_by IS NULL
    AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.act_id = c.id)
ORDER BY c.id"""
# The + keeps the search to the few events of one anchor: an act may have 200,000.
NOT_TURNED = """
SELECT e.id, e.anchor_id, u.kind, u.target FROM event AS e JOIN act AS u ON u.id = e.act_id
WHERE u.kind IN ('undo', 'redo') AND u.merged_by IS NULL AND NOT EXISTS (
    SELECT 1 FROM event AS t
    WHERE t.anchor_id = e.anchor_id AND +t.act_id = u.target AND t.entity = e.entity
        AND t.annotator_id IS e.annotator_id AND t.name = e.name
        AND t.before IS CASE u.kind WHEN 'undo' THEN e.after ELSE e.before END
        AND t.after IS CASE u.kind WHEN 'undo' THEN e.before ELSE e.after END)
ORDER BY e.id"""

ENTITIES = {
    "answer": decode_answer,
    "gold": decode_gold,
    "flag": decode_flag,
    "anchor": decode_anchor,
}
ROLES = ("annotator", "adjudicator")
TOLD_EVERY = 1_000


def events(patient: Patient) -> Iterator[Fault]:
    """Each event's values, and whose they are."""
    for id_, entity, anchor, annotator, name, before, after in patient.connection.execute(
        EVENTS
    ):
        what = _key_trouble(entity, annotator, name)
        for value in (before, after):
            if value is not None and not what:
                what = _value_trouble(entity, value)
        if before is None and after is None and not what:
            what = "it says neither what was nor what came"
        if what:
            yield Fault(what, Where("event", id_, anchor))


def _key_trouble(entity: str, annotator: int | None, name: str) -> str:
    if entity not in ENTITIES:
        return f"it is about no answer, gold, flag or anchor, but about {entity}"
    if (annotator is not None) != (entity in ("answer", "flag")):
        return f"whose {entity} it is about is {'missing' if annotator is None else 'too much'}"
    if entity == "answer" and name not in ROLES:
        return f"the answer's role is {name!r}"
    return ""


def _value_trouble(entity: str, text: str) -> str:
    try:
        value = ENTITIES[entity](text)
        if entity in ("answer", "gold"):
            answer_of(value)  # type: ignore[arg-type]
    except UNREADABLE as error:
        return f"a value of it cannot be read: {error}"
    return ""


def replayed(patient: Patient) -> Iterator[Fault]:
    """Where the log, replayed, does not give what the tables hold."""
    names = {id_: name for name, id_ in patient.connection.execute(PEOPLE)}
    for found in mismatches(patient.connection, patient.tell):
        yield Fault(_mismatch(found, names), _where(found))


def _where(found: Mismatch) -> Where:
    entity, anchor, annotator, name = found.key
    if found.event is not None:
        return Where("event", found.event, anchor)
    if annotator is None:
        return Where(entity, anchor, anchor)
    return Where(entity, f"{anchor}, {annotator}, {name}", anchor)


def _mismatch(found: Mismatch, names: dict[int, str]) -> str:
    thing = _thing(found.key, names)
    if found.event is not None:
        return f"it finds {thing} {_differing(found.logged, found.present)}"
    if found.logged is None:
        return f"{thing} is there, but no event of the log made it"
    if found.present is None:
        return f"{thing} is missing: the log left it as {_short(found.logged)}"
    return f"{thing} is {_differing(found.logged, found.present)}"


def _differing(logged: str | None, there: str | None) -> str:
    if _short(logged) != _short(there):
        return f"{_short(there)}, but the log left it as {_short(logged)}"
    return f"not as the log left it: they differ in {_keys(logged, there)}"


def _thing(key: Key, names: dict[int, str]) -> str:
    entity, _, annotator, name = key
    whose = names.get(annotator or 0, f"annotator {annotator}")
    if entity == "answer":
        return f"{whose}'s {'decision' if name == 'adjudicator' else 'answer'}"
    if entity == "flag":
        return f"{whose}'s flag {name}"
    return f"the {entity}"


def _short(text: str | None) -> str:
    """A value in a word or two."""
    if text is None:
        return "nothing"
    value = _content(text)
    return str(value.get("kind", "there"))


def _keys(*texts: str | None) -> str:
    left, right = (_content(text or "{}") for text in texts)
    differing = [
        key for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)
    ]
    return ", ".join(differing) or "how they are written"


def _content(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def acts(patient: Patient) -> Iterator[Fault]:
    """What acts say of each other: what undid what, and whether it is undone."""
    run = patient.connection.execute
    for id_, undone, last in run(UNDONE):
        how = {"undo": "undone it", "redo": "done it again"}.get(last)
        what = f"the last act about it has {how}" if how else "no act is there that undid it"
        yield Fault(
            f"it is marked as {'' if undone else 'not '}undone, but {what}", Where("act", id_)
        )
    for id_, kind, target in run(TARGETS):
        of = "names no act" if target is None else f"names act {target}"
        yield Fault(f"it is of kind {kind}, but {of}", Where("act", id_))
    for id_, kind in run(WITHOUT_BATCH):
        yield Fault(f"it is of kind {kind}, but names no batch", Where("act", id_))
    for id_, summary in run(EMPTY):
        yield Fault(f"“{summary}” changed nothing: its events are missing", Where("act", id_))
    for id_, anchor, kind, target in run(NOT_TURNED):
        what = f"it is part of the {kind} of act {target}, but not what that act did"
        yield Fault(what, Where("event", id_, anchor))
