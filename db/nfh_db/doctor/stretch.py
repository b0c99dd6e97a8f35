"""A stretch of passages with everything that is said of their anchors, as the rows have it.

Read without the store's own reading: a row that contradicts itself has to be looked at, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from nfh_db import summary
from nfh_db.anchors import Summary
from nfh_db.connection import Connection
from nfh_db.records import PERSON, Role, Vote
from nfh_db.values import (
    AnswerValue,
    GoldValue,
    Marks,
    answer_of,
    decode_gold_votes,
    decode_lemmas,
    decode_passage,
    json_of,
)
from nfh_models.domain import Answer, AnswerError, Passage

PASSAGES = """
SELECT p.id, p.digest, p.text, t.offsets, t.lemmas, t.turns
FROM passage AS p LEFT JOIN passage_token AS t ON t.passage_id = p.id
WHERE p.id > :after ORDER BY p.id LIMIT :limit"""
ANCHORS = """
SELECT a.id, a.passage_id, a.start, a.stop, a.text_start, a.text_stop, a.word, a.replaces,
    a.replaced_by, a.removed, a.state, a.kind, a.heads, a.votes, a.strongest, a.blocking,
    a.notes, a.pattern
FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.passage_id IN (SELECT value FROM json_each(:ids))
    AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY a.passage_id, a.start, a.stop"""
ANSWERS = """
SELECT w.id, w.anchor_id, w.annotator_id, n.name, w.role, w.removed, w.kind, w.relation,
    w.sort, w.noun, w.comment, w.seconds, w.saw_model, w.saw_votes, w.guideline_version,
    w.rule_tag, w.batch_id, w.answered_at, coalesce(n.type, 'person')
FROM answer AS w LEFT JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids))
ORDER BY w.anchor_id, n.name, w.role"""
GOLDS = """
SELECT g.anchor_id, g.annotator_id, n.name, g.answer_id, g.removed, g.kind, g.rule,
    g.relation, g.sort, g.noun, g.comment, g.decided_at, g.batch_id, g.votes, b.format
FROM gold AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id
LEFT JOIN batch AS b ON b.id = g.batch_id
WHERE g.anchor_id IN (SELECT value FROM json_each(:ids))"""
HEADS_OF_ANSWERS = """
SELECT h.answer_id, h.id, h.position, m.position, m.start, m.stop, m.token, m.origin
FROM head AS h LEFT JOIN mention AS m ON m.head_id = h.id
WHERE h.answer_id IN (SELECT value FROM json_each(:ids))
ORDER BY h.answer_id, h.position, h.id, m.position"""
HEADS_OF_GOLDS = """
SELECT h.gold_id, h.id, h.position, m.position, m.start, m.stop, m.token, m.origin
FROM head AS h LEFT JOIN mention AS m ON m.head_id = h.id
WHERE h.gold_id IN (SELECT value FROM json_each(:ids))
ORDER BY h.gold_id, h.position, h.id, m.position"""
DIFFERENCES = """
SELECT anchor_id, left_id, right_id, blocking, notes FROM difference
WHERE anchor_id IN (SELECT value FROM json_each(:ids))
ORDER BY anchor_id, left_id, right_id"""
EXPERTS = """
SELECT anchor_id, blocking FROM expert_difference
WHERE anchor_id IN (SELECT value FROM json_each(:ids))"""
BY_GOLD = """
SELECT anchor_id, annotator_id, blocking FROM gold_difference
WHERE anchor_id IN (SELECT value FROM json_each(:ids))
ORDER BY anchor_id, annotator_id"""

UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
    msgspec.MsgspecError,
)
"""What reading a row raises that holds what cannot be."""


@dataclass(slots=True)
class PassageRow:
    """A passage. passage: None where `trouble` says why it is none."""

    id: int
    digest: bytes
    text: str
    passage: Passage | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class AnchorRow:
    """An anchor. summary: the columns from `state` on."""

    id: int
    passage_id: int
    start: int
    stop: int
    text_start: int
    text_stop: int
    word: str
    replaces: int | None
    replaced_by: int | None
    removed: bool
    summary: tuple[Any, ...]

    @property
    def live(self) -> bool:
        """True if everybody sees it."""
        return not self.removed and self.replaced_by is None


@dataclass(slots=True)
class Said:
    """What an answer or a gold says. answer: None where `trouble` says why it says nothing.

    looked_at: whether `trouble` also says why it does not fit its passage.
    """

    value: AnswerValue | GoldValue
    answer: Answer | None = None
    trouble: str = ""
    looked_at: bool = False

    def decode(self) -> None:
        """Make the answer of the value."""
        try:
            self.answer = answer_of(self.value)
        except UNREADABLE as error:
            self.trouble = str(error)


@dataclass(slots=True)
class AnswerRow:
    """An answer with its key. name: None where its annotator is missing."""

    id: int
    anchor_id: int
    annotator_id: int
    name: str | None
    role: str
    removed: bool
    value: AnswerValue
    said: Said
    type: str

    @property
    def counts(self) -> bool:
        """It is compared with others, and gold is made of it; see Vote."""
        return self.role == Role.ANNOTATOR and self.type == PERSON

    def vote(self, answer: Answer) -> Vote:
        """The answer as a vote."""
        role = Role(self.role)
        return Vote(self.name or "", role, answer, self.value.at, type=self.type)


@dataclass(slots=True)
class GoldRow:
    """A gold with what it points to. format: of the batch that it names, if that is there."""

    anchor_id: int
    annotator_id: int | None
    answer_id: int | None
    removed: bool
    format: str | None
    value: GoldValue
    said: Said
    votes_trouble: str = ""


@dataclass(slots=True)
class Heads:
    """Heads by owner, and what is wrong with how they are numbered."""

    marks: dict[int, Marks] = field(default_factory=dict)
    trouble: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Stretch:
    """Some passages, and all of their anchors but those of an import under way."""

    connection: Connection
    passages: dict[int, PassageRow]
    anchors: list[AnchorRow]
    answers: dict[int, list[AnswerRow]]
    golds: dict[int, GoldRow]
    differences: dict[int, list[tuple[Any, ...]]]
    experts: dict[int, list[tuple[Any, ...]]]
    by_gold: dict[int, list[tuple[Any, ...]]]
    _summaries: dict[int, Summary | None] = field(default_factory=dict)

    def passage_of(self, anchor: AnchorRow) -> Passage | None:
        """The passage of an anchor; None if it cannot be read."""
        return self.passages[anchor.passage_id].passage

    def votes_of(self, anchor: AnchorRow) -> list[AnswerRow]:
        """The answers that are not removed, by name and role."""
        return [row for row in self.answers.get(anchor.id, ()) if not row.removed]

    def trouble_of(self, said: Said, anchor: AnchorRow) -> str:
        """Why an answer is none, or does not fit its passage; "" if it does."""
        passage = self.passage_of(anchor)
        if not said.looked_at and said.answer is not None and passage is not None:
            try:
                said.answer.check(len(passage.tokens), anchor.start, anchor.stop)
            except AnswerError as error:
                said.trouble = str(error)
        said.looked_at = True
        return said.trouble

    def sound(self, said: Said, anchor: AnchorRow) -> Answer | None:
        """An answer that can be compared: it is one, and lies in its passage; else None."""
        return None if self.trouble_of(said, anchor) else said.answer

    def summary_of(self, anchor: AnchorRow) -> Summary | None:
        """What an anchor's summary should be; None where something it needs is broken."""
        if anchor.id not in self._summaries:
            self._summaries[anchor.id] = self._summarise(anchor)
        return self._summaries[anchor.id]

    def _summarise(self, anchor: AnchorRow) -> Summary | None:
        rows = self.votes_of(anchor)
        gold = self.golds.get(anchor.id)
        passage = self.passage_of(anchor)
        decided = None if gold is None or gold.removed else gold
        votes = [
            row.vote(answer)
            for row in rows
            if (answer := self.sound(row.said, anchor)) is not None
        ]
        broken = decided is not None and self.sound(decided.said, anchor) is None
        nobodys = any(row.name is None for row in rows)
        if passage is None or broken or nobodys or len(votes) < len(rows):
            # Said by another check.
            return None
        stale = False
        if anchor.replaces is not None:
            try:
                stale = summary.predecessor(self.connection, anchor.id) is not None
            except UNREADABLE:
                return None
        return summary.summarise(
            votes,
            decided.value if decided is not None else None,
            lambda: [token.lemma for token in passage.tokens],
            stale=stale,
        )


def read(connection: Connection, after: int, limit: int) -> tuple[Stretch, int | None]:
    """Up to `limit` passages behind `after`, and the id of the last; None if there is none."""
    found = connection.execute(PASSAGES, {"after": after, "limit": limit}).fetchall()
    passages = {row[0]: _passage(*row) for row in found}
    rows = connection.execute(ANCHORS, {"ids": json_of(list(passages))}).fetchall()
    anchors = [AnchorRow(*(*row[:9], bool(row[9]), row[10:])) for row in rows]
    ids = {"ids": json_of([anchor.id for anchor in anchors])}
    stretch = Stretch(
        connection,
        passages,
        anchors,
        _answers(connection, ids),
        _golds(connection, ids),
        _grouped(connection.execute(DIFFERENCES, ids)),
        _grouped(connection.execute(EXPERTS, ids)),
        _grouped(connection.execute(BY_GOLD, ids)),
    )
    return stretch, found[-1][0] if found else None


def _passage(
    id_: int, digest: bytes, text: str, offsets: bytes | None, lemmas: str, turns: str
) -> PassageRow:
    row = PassageRow(id_, digest, text)
    if offsets is None:
        row.trouble = "it has no row in passage_token, so no words"
        return row
    try:
        words = len(decode_lemmas(lemmas))
        if len(offsets) != 8 * words:
            row.trouble = f"it has {words} lemmas for {len(offsets) / 8:g} words"
        else:
            row.passage = decode_passage(text, offsets, lemmas, turns)
    except UNREADABLE as error:
        row.trouble = str(error)
    return row


def _answers(connection: Connection, ids: dict[str, str]) -> dict[int, list[AnswerRow]]:
    rows = connection.execute(ANSWERS, ids).fetchall()
    heads = _heads(connection, HEADS_OF_ANSWERS, [row[0] for row in rows])
    found: dict[int, list[AnswerRow]] = {}
    for row in rows:
        value = AnswerValue(
            kind=row[6],
            at=row[17],
            heads=heads.marks.get(row[0], ()),
            relation=row[7],
            sort=row[8],
            noun=row[9],
            comment=row[10],
            seconds=row[11],
            saw_model=bool(row[12]),
            saw_votes=bool(row[13]),
            guideline=row[14],
            rule_tag=row[15],
            batch=row[16],
        )
        said = Said(value, trouble=heads.trouble.get(row[0], ""))
        if not said.trouble:
            said.decode()
        answer = AnswerRow(
            row[0], row[1], row[2], row[3], row[4], bool(row[5]), value, said, row[18]
        )
        found.setdefault(answer.anchor_id, []).append(answer)
    return found


def _golds(connection: Connection, ids: dict[str, str]) -> dict[int, GoldRow]:
    rows = connection.execute(GOLDS, ids).fetchall()
    heads = _heads(connection, HEADS_OF_GOLDS, [row[0] for row in rows])
    return {row[0]: _gold(row, heads) for row in rows}


def _gold(row: tuple[Any, ...], heads: Heads) -> GoldRow:
    votes: tuple[tuple[str, str], ...] = ()
    votes_trouble = ""
    try:
        votes = decode_gold_votes(row[13])
    except UNREADABLE as error:
        votes_trouble = str(error)
    value = GoldValue(
        kind=row[5],
        rule=row[6],
        heads=heads.marks.get(row[0], ()),
        relation=row[7],
        sort=row[8],
        noun=row[9],
        comment=row[10],
        by=row[2],
        at=row[11],
        batch=row[12],
        votes=votes,
    )
    said = Said(value, trouble=heads.trouble.get(row[0], ""))
    if not said.trouble:
        said.decode()
    return GoldRow(row[0], row[1], row[3], bool(row[4]), row[14], value, said, votes_trouble)


def _heads(connection: Connection, sql: str, ids: Sequence[int]) -> Heads:
    found = Heads()
    if not ids:
        return found
    made: dict[int, dict[int, list[tuple[Any, ...]]]] = {}
    for owner, head_id, position, place, *mark in connection.execute(
        sql, {"ids": json_of(ids)}
    ):
        heads = made.setdefault(owner, {})
        if head_id not in heads:
            if position != len(heads):
                found.trouble[owner] = (
                    f"head {head_id} has position {position}, not {len(heads)}"
                )
            heads[head_id] = []
        if place is None:
            continue
        if place != len(heads[head_id]):
            found.trouble[owner] = (
                f"a mention of head {head_id} has position {place}, not {len(heads[head_id])}"
            )
        heads[head_id].append(tuple(mark))
    for owner, heads in made.items():
        found.marks[owner] = tuple(tuple(marks) for marks in heads.values())
    return found


def _grouped(rows: Iterator[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found
