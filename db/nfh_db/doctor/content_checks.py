"""Checks of what people did: passages and anchors, answers and gold, what is derived from
them, and the log.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

from nfh_db import answers as pairs
from nfh_db.assignments import verdict_of
from nfh_db.connection import Connection
from nfh_db.doctor.rows import (
    UNREADABLE,
    CheckedAnchor,
    Fault,
    PassageRange,
    Patient,
    Repair,
    Where,
)
from nfh_db.event_log import PEOPLE, Key, Mismatch, mismatches
from nfh_db.records import Role, Rule
from nfh_db.serialization import (
    AnswerValue,
    GoldValue,
    answer_of,
    decode_anchor,
    decode_answer,
    decode_flag,
    decode_gold,
)
from nfh_models.domain import Anchor, Passage, SettlingRule, settle

ANSWER_WITH_TIME = """
SELECT 1 FROM event AS e JOIN annotator AS n ON n.id = e.annotator_id
WHERE e.anchor_id = :anchor AND e.entity = 'answer' AND e.name = 'annotator'
    AND n.name = :name AND e.after ->> '$.at' = :at LIMIT 1"""


def answers(stretch: PassageRange) -> Iterator[Fault]:
    """Each answer, removed ones too, as a value of the domain."""
    for anchor in stretch.anchors:
        for row in stretch.answers.get(anchor.id, ()):
            what = stretch.trouble_of(row.said, anchor)
            if what:
                yield Fault(what, Where("answer", row.id, anchor.id))


def golds(stretch: PassageRange) -> Iterator[Fault]:
    """Each gold as a value of the domain."""
    for anchor in stretch.anchors:
        row = stretch.golds.get(anchor.id)
        what = stretch.trouble_of(row.said, anchor) if row is not None else ""
        if what:
            yield Fault(what, Where("gold", anchor.id, anchor.id))


def rules(stretch: PassageRange) -> Iterator[Fault]:
    """What each gold counts by: a batch, an adjudicator's answer, or votes."""
    for anchor in stretch.anchors:
        row = stretch.golds.get(anchor.id)
        if row is None or row.removed:
            continue
        where = Where("gold", anchor.id, anchor.id)
        rule = row.value.rule
        if rule == Rule.EXPERT:
            what = _expert_trouble(anchor, stretch)
        elif rule == Rule.IMPORTED:
            what = "" if row.value.batch is not None else "it is imported, but names no import"
        else:
            what = _settled_trouble(anchor, stretch)
        if what:
            yield Fault(what, where)


def _expert_trouble(anchor: CheckedAnchor, stretch: PassageRange) -> str:
    """What is wrong with an expert's gold; a file may bring one without the answer."""
    gold = stretch.golds[anchor.id]
    brought = gold.value.batch is not None
    if gold.answer_id is None:
        return "" if brought else "it is an expert's, but points to no answer"
    found = [row for row in stretch.answers.get(anchor.id, ()) if row.id == gold.answer_id]
    if not found:
        return f"it points to answer {gold.answer_id}, which is none to this anchor"
    answer = found[0]
    if answer.role != Role.ADJUDICATOR or answer.annotator_id != gold.annotator_id:
        return f"it points to answer {answer.id}, which is not the deciding expert's"
    if brought:
        return ""
    if answer.removed:
        return f"it points to answer {answer.id}, which was withdrawn"
    if _answer_content(answer.value) != _answer_content(gold.value):
        return f"it says something else than answer {answer.id}, which it points to"
    return ""


def _answer_content(value: AnswerValue | GoldValue) -> tuple[object, ...]:
    return value.kind, value.heads, value.relation, value.sort, value.noun, value.comment


def _settled_trouble(anchor: CheckedAnchor, stretch: PassageRange) -> str:
    """What is wrong with a gold that a rule made of votes."""
    gold = stretch.golds[anchor.id]
    if gold.value.batch is not None:
        # Settled elsewhere: the file need not hold the votes.
        return ""
    if gold.votes_trouble:
        return f"the votes it was made of cannot be read: {gold.votes_trouble}"
    if not gold.value.votes:
        return f"its rule is {gold.value.rule}, but it names no votes"
    there = {(row.name, row.value.at) for row in stretch.votes_of(anchor) if row.counts}
    for name, at in gold.value.votes:
        key = {"anchor": anchor.id, "name": name, "at": at}
        if (name, at) in there:
            continue
        if stretch.connection.execute(ANSWER_WITH_TIME, key).fetchone() is None:
            return f"it was made of a vote of {name} at {at} that there never was"
    return _rule_trouble(anchor, stretch) if there == set(gold.value.votes) else ""


def _rule_trouble(anchor: CheckedAnchor, stretch: PassageRange) -> str:
    """Whether the rule makes the gold of its votes again, while they are as they were."""
    gold = stretch.golds[anchor.id].value
    passage = stretch.passage_of(anchor)
    votes = [
        (row.name or "", answer)
        for row in stretch.votes_of(anchor)
        if row.counts and (answer := stretch.sound(row.said, anchor)) is not None
    ]
    if passage is None or len(votes) != len(gold.votes):
        return ""
    lemmas = [token.lemma for token in passage.tokens]
    settled = settle(votes, lemmas, SettlingRule(gold.rule), least=1)
    if settled.answer is None:
        return f"its rule is {gold.rule}, but its votes settle nothing: {settled.reason}"
    if replace(settled.answer, comment=gold.comment) != stretch.golds[anchor.id].said.answer:
        return f"its rule, {gold.rule}, makes something else of its votes"
    return ""


COLUMNS = ("state", "kind", "heads", "votes", "strongest", "blocking", "notes", "pattern")
ASSIGNMENTS = """
SELECT s.id, s.anchor_id, s.annotator_id, n.name, s.role, s.state, s.expected, s.verdict,
    s.finished_at IS NOT NULL, w.id IS NOT NULL
FROM assignment AS s LEFT JOIN annotator AS n ON n.id = s.annotator_id
LEFT JOIN answer AS w ON w.anchor_id = s.anchor_id AND w.annotator_id = s.annotator_id
    AND w.role = s.role AND w.removed = 0
WHERE (s.state = 'done') <> (w.id IS NOT NULL)
    OR (s.state = 'done') <> (s.finished_at IS NOT NULL)
    OR s.expected IS NOT NULL OR s.verdict IS NOT NULL
ORDER BY s.id"""


def summaries(stretch: PassageRange) -> Iterator[Fault]:
    """The summary columns of each anchor that is seen."""
    for anchor in stretch.anchors:
        wanted = stretch.summary_of(anchor) if anchor.live else None
        if wanted is None or wanted.columns() == anchor.summary:
            continue
        told = [
            f"{name} is {_shown(there)}, should be {_shown(should)}"
            for name, there, should in zip(
                COLUMNS, anchor.summary, wanted.columns(), strict=True
            )
            if there != should
        ]
        yield Fault("; ".join(told), Where("anchor", anchor.id, anchor.id), Repair.SUMMARIES)


def _shown(value: object) -> str:
    return "empty" if value in (None, "") else str(value).strip()


def differences(stretch: PassageRange) -> Iterator[Fault]:
    """How the answers of each anchor that is seen differ, pair by pair."""
    for anchor in stretch.anchors:
        wanted = stretch.summary_of(anchor) if anchor.live else None
        if wanted is None:
            continue
        people = _people(anchor, stretch)
        for table, there, should in (
            (
                "difference",
                stretch.differences.get(anchor.id, []),
                pairs.pairs(anchor.id, people, wanted.disagreement),
            ),
            (
                "expert_difference",
                stretch.experts.get(anchor.id, []),
                pairs.decided(anchor.id, wanted.experts),
            ),
            (
                "gold_difference",
                stretch.by_gold.get(anchor.id, []),
                pairs.judged(anchor.id, people, wanted.by_gold),
            ),
        ):
            if there != should:
                what = f"its {len(there)} rows are not the {len(should)} that its answers give"
                yield Fault(what, Where(table, None, anchor.id), Repair.SUMMARIES)


def _people(anchor: CheckedAnchor, stretch: PassageRange) -> list[int]:
    rows = stretch.votes_of(anchor)
    return [row.annotator_id for row in rows if row.counts]


def assignments(patient: Patient) -> Iterator[Fault]:
    """Assignments whose state, or verdict, is not what their person's answer makes it."""
    for row in patient.connection.execute(ASSIGNMENTS).fetchall():
        what = _assignment_trouble(patient.connection, *row[1:])
        if what:
            yield Fault(what, Where("assignment", row[0], row[1]), Repair.ASSIGNMENTS)


def _assignment_trouble(
    connection: Connection,
    anchor: int,
    annotator: int,
    name: str | None,
    role: str,
    state: str,
    expected: str | None,
    verdict: str | None,
    finished: bool,
    answered: bool,
) -> str:
    done = state == "done"
    if name is None:
        # That its person is missing is said by another check.
        return ""
    if done != bool(answered):
        return f"it is {state}, but {name} has {'an' if answered else 'no'} answer as {role}"
    if done != bool(finished):
        return f"it is {state}, and says {'' if finished else 'not '}when it was finished"
    should = None
    if done and expected is not None:
        try:
            value = pairs.read(connection, anchor, annotator, role)
            should = verdict_of(connection, anchor, value, expected) if value else None
        except UNREADABLE:
            # Said by other checks; nothing was judged by it.
            should = None
    if verdict != should:
        return f"its verdict is {verdict or 'empty'}, should be {should or 'empty'}"
    return ""


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
    value = _event_content(text)
    return str(value.get("kind", "there"))


def _keys(*texts: str | None) -> str:
    left, right = (_event_content(text or "{}") for text in texts)
    differing = [
        key for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)
    ]
    return ", ".join(differing) or "how they are written"


def _event_content(text: str) -> dict[str, object]:
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


def passages(stretch: PassageRange) -> Iterator[Fault]:
    """Offsets, lemmas and turns of each passage."""
    for row in stretch.passages.values():
        if row.trouble:
            yield Fault(row.trouble, Where("passage", row.id))


def digests(stretch: PassageRange) -> Iterator[Fault]:
    """Each passage's digest against its content."""
    for row in stretch.passages.values():
        if row.passage is not None and bytes.fromhex(row.passage.digest) != row.digest:
            yield Fault("its digest is not that of its content", Where("passage", row.id))


def spans(stretch: PassageRange) -> Iterator[Fault]:
    """Each anchor's place in its passage, and the words that it repeats."""
    for anchor in stretch.anchors:
        passage = stretch.passage_of(anchor)
        what = _span_trouble(anchor, passage) if passage is not None else ""
        if what:
            yield Fault(what, Where("anchor", anchor.id, anchor.id))


def _span_trouble(anchor: CheckedAnchor, passage: Passage) -> str:
    words = len(passage.tokens)
    if not 0 <= anchor.start < anchor.stop <= words:
        return f"its span [{anchor.start}, {anchor.stop}) is outside a passage of {words} words"
    first, last = passage.tokens[anchor.start], passage.tokens[anchor.stop - 1]
    if (anchor.text_start, anchor.text_stop) != (first.start, last.end):
        return (
            f"it says characters {anchor.text_start} to {anchor.text_stop}, its words stand at "
            f"{first.start} to {last.end}"
        )
    if anchor.word != passage.text[first.start : last.end]:
        return "its word is not what stands there in the text"
    return ""


def proposals(stretch: PassageRange) -> Iterator[Fault]:
    """Spans that annotators propose, against their passage and the number's own span."""
    by_id = {anchor.id: anchor for anchor in stretch.anchors}
    for anchor_id, marks in pairs.marks(stretch.connection, list(by_id)).items():
        anchor = by_id[anchor_id]
        passage = stretch.passage_of(anchor)
        if passage is None:
            continue
        for mark in marks:
            what = mark.trouble(Anchor(anchor.start, anchor.stop), len(passage.tokens))
            if what:
                where = Where("flag", f"{anchor_id}, {mark.annotator}, {mark.name}", anchor_id)
                yield Fault(what, where)


def links(stretch: PassageRange) -> Iterator[Fault]:
    """Anchors that replaced another: within the passage, and ending at one that was not."""
    by_id = {anchor.id: anchor for anchor in stretch.anchors}
    for anchor in stretch.anchors:
        what = _link_trouble(anchor, by_id)
        if what:
            yield Fault(what, Where("anchor", anchor.id, anchor.id))


def _link_trouble(anchor: CheckedAnchor, by_id: dict[int, CheckedAnchor]) -> str:
    for verb, other in (("replaces", anchor.replaces), ("is replaced by", anchor.replaced_by)):
        if other is None:
            continue
        there = by_id.get(other)
        if there is None or there.passage_id != anchor.passage_id or other == anchor.id:
            return f"it {verb} anchor {other}, which is no other anchor of its passage"
    seen = {anchor.id}
    after = anchor.replaced_by
    while after is not None and after in by_id:
        if after in seen:
            return f"it is replaced, in the end, by itself (over anchor {after})"
        seen.add(after)
        after = by_id[after].replaced_by
    return ""
