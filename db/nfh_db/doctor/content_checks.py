"""Checks of passages, anchors, answers and gold, of what is derived from them, and of the
event log. Each yields a fault for every row that breaks its promise.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from nfh_db import answers as db_answers
from nfh_db.assignments import verdict_of
from nfh_db.connection import Connection
from nfh_db.doctor.rows import (
    READ_ERRORS,
    CheckedAnchor,
    DatabaseSnapshot,
    Fault,
    PassageChunk,
    Place,
    Repair,
)
from nfh_db.event_log import DECODERS, PEOPLE, Key, Mismatch, mismatches
from nfh_db.messages import reason_of
from nfh_db.records import Role, Rule
from nfh_db.serialization import answer_of, content_of
from nfh_models.domain import Anchor, Passage, SettlingRule, settle, weighed_groups

ANSWER_WITH_TIME = """
SELECT 1 FROM event AS e JOIN annotator AS n ON n.id = e.annotator_id
WHERE e.anchor_id = :anchor AND e.entity = 'answer' AND e.name = 'annotator'
    AND n.name = :name AND e.after ->> '$.at' = :at LIMIT 1"""


def answers(chunk: PassageChunk) -> Iterator[Fault]:
    """Each answer, removed ones included, is a valid answer for its passage."""
    for anchor in chunk.anchors:
        for row in chunk.answers.get(anchor.id, ()):
            what = chunk.trouble_of(row.checked, anchor)
            if what:
                yield Fault(what, Place("answer", row.id, anchor.id))


def _anchor_faults(
    chunk: PassageChunk, table: str, trouble: Callable[[CheckedAnchor], str]
) -> Iterator[Fault]:
    for anchor in chunk.anchors:
        what = trouble(anchor)
        if what:
            yield Fault(what, Place(table, anchor.id, anchor.id))


def golds(chunk: PassageChunk) -> Iterator[Fault]:
    """Each gold is a valid answer for its passage."""

    def trouble(anchor: CheckedAnchor) -> str:
        row = chunk.golds.get(anchor.id)
        return chunk.trouble_of(row.checked, anchor) if row is not None else ""

    return _anchor_faults(chunk, "gold", trouble)


def rules(chunk: PassageChunk) -> Iterator[Fault]:
    """Each gold has the import, adjudicator's answer or votes that its rule requires."""

    def trouble(anchor: CheckedAnchor) -> str:
        row = chunk.golds.get(anchor.id)
        if row is None or row.removed:
            return ""
        if row.value.rule == Rule.EXPERT:
            return _expert_trouble(anchor, chunk)
        if row.value.rule == Rule.IMPORTED:
            return "" if row.value.batch is not None else "it is imported, but names no import"
        return _settled_trouble(anchor, chunk)

    return _anchor_faults(chunk, "gold", trouble)


def _expert_trouble(anchor: CheckedAnchor, chunk: PassageChunk) -> str:
    gold = chunk.golds[anchor.id]
    # An imported file may hold an expert's gold without the answer.
    imported = gold.value.batch is not None
    if gold.answer_id is None:
        return "" if imported else "it is an adjudicator's, but points to no answer"
    found = [row for row in chunk.answers.get(anchor.id, ()) if row.id == gold.answer_id]
    if not found:
        return f"it points to answer {gold.answer_id}, which is not about this anchor"
    answer = found[0]
    if answer.role != Role.ADJUDICATOR or answer.annotator_id != gold.annotator_id:
        return f"it points to answer {answer.id}, which is not the deciding adjudicator's"
    if imported:
        return ""
    if answer.removed:
        return f"it points to answer {answer.id}, which was withdrawn"
    comments = answer.value.comment, gold.value.comment
    if content_of(answer.value) != content_of(gold.value) or comments[0] != comments[1]:
        return f"it differs from answer {answer.id}, which it points to"
    return ""


def _settled_trouble(anchor: CheckedAnchor, chunk: PassageChunk) -> str:
    gold = chunk.golds[anchor.id]
    if gold.value.batch is not None:
        # The file that it came from need not hold the votes.
        return ""
    if gold.votes_trouble:
        return f"the votes it was made of cannot be read: {gold.votes_trouble}"
    if not gold.value.votes:
        return f"its rule is {gold.value.rule}, but it names no votes"
    present = {(row.name, row.value.at) for row in chunk.votes_of(anchor) if row.counts}
    for name, at in gold.value.votes:
        key = {"anchor": anchor.id, "name": name, "at": at}
        if (name, at) in present:
            continue
        if chunk.connection.execute(ANSWER_WITH_TIME, key).fetchone() is None:
            return f"it was made of a vote of {name} at {at} that never existed"
    return _rule_trouble(anchor, chunk) if present == set(gold.value.votes) else ""


def _rule_trouble(anchor: CheckedAnchor, chunk: PassageChunk) -> str:
    """Apply the rule again to the votes, which must be the unchanged ones, and compare."""
    gold = chunk.golds[anchor.id].value
    passage = chunk.passage_of(anchor)
    votes = [
        (row.name or "", answer)
        for row in chunk.votes_of(anchor)
        if row.counts and (answer := chunk.valid_answer(row.checked, anchor)) is not None
    ]
    if passage is None or len(votes) != len(gold.votes):
        return ""
    lemmas = [token.lemma for token in passage.tokens]
    rule = SettlingRule(gold.rule)
    wanted = chunk.golds[anchor.id].checked.answer
    if rule is SettlingRule.WEIGHTED:
        # The competences of that time are not kept: any group of votes may have been the
        # heaviest one, which alone is unanimous but for OTHER and UNKNOWN.
        for group in weighed_groups(votes, lemmas):
            made = settle(group, lemmas, SettlingRule.MAJORITY, least=1).answer
            if made is not None and replace(made, comment=gold.comment) == wanted:
                return ""
        return f"its rule, {gold.rule}, gives another gold for its votes"
    settled = settle(votes, lemmas, rule, least=1)
    if settled.answer is None:
        return f"its rule is {gold.rule}, but its votes settle nothing: {settled.reason}"
    if replace(settled.answer, comment=gold.comment) != wanted:
        return f"its rule, {gold.rule}, gives another gold for its votes"
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


def summaries(chunk: PassageChunk) -> Iterator[Fault]:
    """The summary columns of each live anchor match its answers and gold."""
    for anchor in chunk.anchors:
        wanted = chunk.summary_of(anchor) if anchor.live else None
        if wanted is None or wanted.columns() == anchor.summary:
            continue
        wrong = [
            f"{name} is {_cell(there)}, should be {_cell(should)}"
            for name, there, should in zip(
                COLUMNS, anchor.summary, wanted.columns(), strict=True
            )
            if there != should
        ]
        yield Fault("; ".join(wrong), Place("anchor", anchor.id, anchor.id), Repair.SUMMARIES)


def _cell(value: object) -> str:
    return "empty" if value in (None, "") else str(value).strip()


def differences(chunk: PassageChunk) -> Iterator[Fault]:
    """The stored differences of each live anchor match its answers and gold."""
    for anchor in chunk.anchors:
        wanted = chunk.summary_of(anchor) if anchor.live else None
        if wanted is None:
            continue
        people = [row.annotator_id for row in chunk.votes_of(anchor) if row.counts]
        for table, there, should in (
            (
                "difference",
                chunk.differences.get(anchor.id, []),
                db_answers.pairs(anchor.id, people, wanted.disagreement),
            ),
            (
                "expert_difference",
                chunk.experts.get(anchor.id, []),
                db_answers.expert_rows(anchor.id, wanted.experts),
            ),
            (
                "gold_difference",
                chunk.by_gold.get(anchor.id, []),
                db_answers.gold_rows(anchor.id, people, wanted.by_gold),
            ),
        ):
            if there != should:
                what = f"its {len(there)} rows are not the {len(should)} that its answers give"
                yield Fault(what, Place(table, None, anchor.id), Repair.SUMMARIES)


def assignments(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """The state and verdict of each assignment match its person's answer."""
    for row in snapshot.connection.execute(ASSIGNMENTS).fetchall():
        what = _assignment_trouble(snapshot.connection, *row[1:])
        if what:
            yield Fault(what, Place("assignment", row[0], row[1]), Repair.ASSIGNMENTS)


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
        # `references` reports the missing person.
        return ""
    if done != bool(answered):
        return f"it is {state}, but {name} has {'an' if answered else 'no'} answer as {role}"
    if done != bool(finished):
        return f"it is {state}, and says {'' if finished else 'not '}when it was finished"
    should = None
    if done and expected is not None:
        try:
            value = db_answers.read(connection, anchor, annotator, role)
            should = verdict_of(connection, anchor, value, expected) if value else None
        except READ_ERRORS:
            # Other checks report the unreadable value. No verdict can come from it.
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
WRONG_REVERSALS = """
SELECT e.id, e.anchor_id, u.kind, u.target FROM event AS e JOIN act AS u ON u.id = e.act_id
WHERE u.kind IN ('undo', 'redo') AND u.merged_by IS NULL AND NOT EXISTS (
    SELECT 1 FROM event AS t
    WHERE t.anchor_id = e.anchor_id AND +t.act_id = u.target AND t.entity = e.entity
        AND t.annotator_id IS e.annotator_id AND t.name = e.name
        AND t.before IS CASE u.kind WHEN 'undo' THEN e.after ELSE e.before END
        AND t.after IS CASE u.kind WHEN 'undo' THEN e.before ELSE e.after END)
ORDER BY e.id"""

ROLES = ("annotator", "adjudicator")


def events(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Each event has a valid key and values that can be decoded."""
    for id_, entity, anchor, annotator, name, before, after in snapshot.connection.execute(
        EVENTS
    ):
        what = _key_trouble(entity, annotator, name)
        for value in (before, after):
            if value is not None and not what:
                what = _value_trouble(entity, value)
        if before is None and after is None and not what:
            what = "it has neither a value before nor a value after"
        if what:
            yield Fault(what, Place("event", id_, anchor))


def _key_trouble(entity: str, annotator: int | None, name: str) -> str:
    if entity not in DECODERS:
        return f"it should be about an answer, gold, a flag or an anchor, and is about {entity}"
    if (annotator is not None) != (entity in ("answer", "flag")):
        return f"whose {entity} it is about is {'missing' if annotator is None else 'too much'}"
    if entity == "answer" and name not in ROLES:
        return f"the answer's role is {name!r}"
    return ""


def _value_trouble(entity: str, text: str) -> str:
    try:
        value = DECODERS[entity](text)
        if entity in ("answer", "gold"):
            answer_of(value)  # type: ignore[arg-type]
    except READ_ERRORS as error:
        return f"a value of it cannot be read: {reason_of(error)}"
    return ""


def replayed(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Replaying the log gives what the tables hold."""
    names = {id_: name for name, id_ in snapshot.connection.execute(PEOPLE)}
    for found in mismatches(snapshot.connection, snapshot.on_progress):
        yield Fault(_mismatch_words(found, names), _where(found))


def _where(found: Mismatch) -> Place:
    entity, anchor, annotator, name = found.key
    if found.event is not None:
        return Place("event", found.event, anchor)
    if annotator is None:
        return Place(entity, anchor, anchor)
    return Place(entity, f"{anchor}, {annotator}, {name}", anchor)


def _mismatch_words(found: Mismatch, names: dict[int, str]) -> str:
    thing = _key_words(found.key, names)
    if found.event is not None:
        return f"it finds {thing} {_difference_words(found.logged, found.present)}"
    if found.logged is None:
        return f"{thing} exists, but no event of the log made it"
    if found.present is None:
        return f"{thing} is missing: the log left it as {_value_words(found.logged)}"
    return f"{thing} is {_difference_words(found.logged, found.present)}"


def _difference_words(logged: str | None, there: str | None) -> str:
    if _value_words(logged) != _value_words(there):
        return f"{_value_words(there)}, but the log left it as {_value_words(logged)}"
    return f"not as the log left it: they differ in {_differing_keys(logged, there)}"


def _key_words(key: Key, names: dict[int, str]) -> str:
    entity, _, annotator, name = key
    whose = names.get(annotator or 0, f"annotator {annotator}")
    if entity == "answer":
        return f"{whose}'s {'decision' if name == 'adjudicator' else 'answer'}"
    if entity == "flag":
        return f"{whose}'s flag {name}"
    return f"the {entity}"


def _value_words(text: str | None) -> str:
    return "nothing" if text is None else str(_event_content(text).get("kind", "there"))


def _differing_keys(*texts: str | None) -> str:
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


def acts(snapshot: DatabaseSnapshot) -> Iterator[Fault]:
    """Undo and redo name their acts, reverse them exactly, and set the `undone` mark."""
    run = snapshot.connection.execute
    for id_, undone, last in run(UNDONE):
        how = {"undo": "undone it", "redo": "done it again"}.get(last)
        what = f"the last act about it has {how}" if how else "no act undid it"
        yield Fault(
            f"it is marked as {'' if undone else 'not '}undone, but {what}", Place("act", id_)
        )
    for id_, kind, target in run(TARGETS):
        of = "names no act" if target is None else f"names act {target}"
        yield Fault(f"it is of kind {kind}, but {of}", Place("act", id_))
    for id_, kind in run(WITHOUT_BATCH):
        yield Fault(f"it is of kind {kind}, but names no batch", Place("act", id_))
    for id_, summary in run(EMPTY):
        yield Fault(f"“{summary}” has no events", Place("act", id_))
    for id_, anchor, kind, target in run(WRONG_REVERSALS):
        what = f"it is part of the {kind} of act {target}, but not what that act did"
        yield Fault(what, Place("event", id_, anchor))


def passages(chunk: PassageChunk) -> Iterator[Fault]:
    """The offsets, lemmas and turns of each passage can be decoded."""
    for row in chunk.passages.values():
        if row.trouble:
            yield Fault(row.trouble, Place("passage", row.id))


def digests(chunk: PassageChunk) -> Iterator[Fault]:
    """The digest of each passage is that of its content."""
    for row in chunk.passages.values():
        if row.passage is not None and bytes.fromhex(row.passage.digest) != row.digest:
            yield Fault("its digest is not that of its content", Place("passage", row.id))


def spans(chunk: PassageChunk) -> Iterator[Fault]:
    """Each anchor lies in its passage, with the right characters and word."""
    return _anchor_faults(
        chunk, "anchor", lambda anchor: _span_trouble(anchor, chunk.passage_of(anchor))
    )


def _span_trouble(anchor: CheckedAnchor, passage: Passage | None) -> str:
    if passage is None:
        return ""
    words = len(passage.tokens)
    if not 0 <= anchor.start < anchor.stop <= words:
        return f"its span [{anchor.start}, {anchor.stop}) is outside a passage of {words} words"
    first, last = passage.tokens[anchor.start], passage.tokens[anchor.stop - 1]
    if (anchor.text_start, anchor.text_stop) != (first.start, last.end):
        return (
            f"it says characters {anchor.text_start} to {anchor.text_stop}, its words are at "
            f"{first.start} to {last.end}"
        )
    if anchor.word != passage.text[first.start : last.end]:
        return "its word differs from the text at that place"
    return ""


def proposals(chunk: PassageChunk) -> Iterator[Fault]:
    """Proposed spans lie in their passage and differ from the anchor's own."""
    by_id = {anchor.id: anchor for anchor in chunk.anchors}
    for anchor_id, marks in db_answers.marks(chunk.connection, list(by_id)).items():
        anchor = by_id[anchor_id]
        passage = chunk.passage_of(anchor)
        if passage is None:
            continue
        for mark in marks:
            what = mark.problem(Anchor(anchor.start, anchor.stop), len(passage.tokens))
            if what:
                where = Place("flag", f"{anchor_id}, {mark.annotator}, {mark.name}", anchor_id)
                yield Fault(what, where)


def links(chunk: PassageChunk) -> Iterator[Fault]:
    """Replacements stay within a passage and form no circle."""
    by_id = {anchor.id: anchor for anchor in chunk.anchors}
    return _anchor_faults(chunk, "anchor", lambda anchor: _link_trouble(anchor, by_id))


def _link_trouble(anchor: CheckedAnchor, by_id: dict[int, CheckedAnchor]) -> str:
    for verb, other in (("replaces", anchor.replaces), ("is replaced by", anchor.replaced_by)):
        if other is None:
            continue
        there = by_id.get(other)
        if there is None or there.passage_id != anchor.passage_id or other == anchor.id:
            return f"it {verb} anchor {other}, which is not another anchor of its passage"
    seen = {anchor.id}
    after = anchor.replaced_by
    while after is not None and after in by_id:
        if after in seen:
            return f"it is replaced by itself (over anchor {after})"
        seen.add(after)
        after = by_id[after].replaced_by
    return ""
