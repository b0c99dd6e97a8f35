"""What a check works on and what it says: the database as of one moment, stretches of its
passages with the rows of their anchors, and findings.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from nfh_db import answers, schema_parts
from nfh_db.anchors import Summary
from nfh_db.connection import SCHEMA_VERSION, Connection, identify
from nfh_db.database import MADE_BY_OLDER, at_one_moment, check_place
from nfh_db.errors import FullError, StoreError
from nfh_db.records import PERSON, Role, Vote
from nfh_db.schema_parts import Part
from nfh_db.serialization import (
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


class Repair(StrEnum):
    """What a repair may write: things that follow from others, and nothing that people did."""

    PARTS = "foreign parts"
    WAL = "write-ahead log"
    INDEXES = "indexes"
    SUMMARIES = "summaries"
    ASSIGNMENTS = "assignments"
    IMPORTS = "imports"
    JOBS = "jobs"


HOW: dict[Repair, str] = {
    Repair.PARTS: "--repair takes it out, and looks further then; the copy keeps it",
    Repair.WAL: "--repair switches the write-ahead log on",
    Repair.INDEXES: "--repair builds the index from its table",
    Repair.SUMMARIES: "--repair computes it from the answers and the gold",
    Repair.ASSIGNMENTS: "--repair sets it by the answers that are there",
    Repair.IMPORTS: "--repair clears away what nobody saw yet, or finishes what is seen",
    Repair.JOBS: "--repair empties what cannot be read; without its arguments a job fails",
}


@dataclass(frozen=True, slots=True)
class Where:
    """The place of a fault. row: the row's id or key. item: the anchor that it is about."""

    table: str = ""
    row: int | str | None = None
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Something broken, as a check finds it. what: words that say it without the place.

    target: what the repair is to be done to, where that is no item: the name of an index.
    """

    what: str
    where: Where = Where()
    repair: Repair | None = None
    target: str = ""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """Something broken, as it is reported. check: the name of the check that found it.

    how: what to do about it. public_id: of the item, where it is about one. query: finds that
    item in the workbench; None where it is about none, or about one that nobody sees.
    """

    check: str
    what: str
    where: Where
    repairable: bool
    how: str
    public_id: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One promise, and how it is checked.

    promise: one sentence. remedy: what to do about what no repair can mend. whole: looks at
    the database at once. each: looks at a stretch of passages with all that is said of them.
    of_file: reads none of the tables.
    """

    name: str
    promise: str
    remedy: str
    whole: "Callable[[Patient], Iterator[Fault]] | None" = None
    each: "Callable[[PassageRange], Iterator[Fault]] | None" = None
    of_file: bool = False


COUNT_ANCHORS = "SELECT count(*) FROM anchor"
COUNT_EVENTS = "SELECT count(*) FROM event"

LIMIT = 10.0
"""Seconds that a check may take in a file with foreign parts: what they do may have no end."""

COMPUTES = re.compile(r"^(?!CREATE TABLE )|\bAS\b|--|/\*", re.IGNORECASE)
"""What a table's statement holds where reading a column may run something."""

BETWEEN = 1_000
"""Steps of SQLite's machine between two looks at the clock."""


@dataclass(slots=True)
class Patient:
    """An open database. connection: in a read transaction, so that nothing moves.

    mode: how it is opened, see `database`. read_draft: raises ValueError for a draft that
    the editor cannot read. tell: is given how many of the anchors a check has gone through.
    notes: what is worth knowing and no fault. foreign: the parts of its schema that nfh-tui did
    not make. version: of its schema; an older one only where there are foreign parts.
    """

    path: Path
    connection: Connection
    mode: str = "ro"
    read_draft: Callable[[str], object] | None = None
    tell: Callable[[int], None] = lambda _: None
    notes: list[str] = field(default_factory=list)
    foreign: tuple[Part, ...] = ()
    version: int = SCHEMA_VERSION
    _until: float = 0.0

    @property
    def tables_are_ours(self) -> bool:
        """Whether what checks read is there, and runs nothing: no view, no computed column."""
        if self.version < SCHEMA_VERSION:
            return False
        wanted = schema_parts.expected(self.version)
        ours = {part.name.casefold() for part in wanted.values() if part.type == "table"}
        return not any(
            part.name.casefold() in ours
            and (part.type == "view" or (part.type == "table" and COMPUTES.search(part.sql)))
            for part in self.foreign
        )

    @property
    def late(self) -> bool:
        """Whether a check in a file with foreign parts has taken longer than it may."""
        return bool(self._until) and monotonic() > self._until

    @contextmanager
    def limited(self) -> Iterator[None]:
        """A check: where there are foreign parts SQLite ends what takes longer than LIMIT."""
        if not self.foreign:
            yield
            return
        self._until = monotonic() + LIMIT
        self.connection.set_progress_handler(lambda: self.late, BETWEEN)
        try:
            yield
        finally:
            self.connection.set_progress_handler(None, 0)
            self._until = 0.0

    def counted(self, sql: str) -> int:
        """The one number that a statement gives."""
        number: int = self.connection.execute(sql).fetchone()[0]
        return number


@contextmanager
def opened(path: Path) -> Iterator[Patient]:
    """Open a database without changing it, not even an older one, nor a read-only one.

    Raises StoreError and its kinds, with a sentence, for what is no database of this version.
    """
    check_place(path, create=False)
    with at_one_moment(path, any_text=True) as (connection, mode):
        version = identify(connection, path, any_parts=True)
        if version == 0:
            raise StoreError(f"{path} is empty: there is nothing to check")
        foreign = schema_parts.foreign(connection, version)
        ours = schema_parts.expected(SCHEMA_VERSION)
        if version < SCHEMA_VERSION and all(part.key in ours for part in foreign):
            if mode != "ro" or not os.access(path, os.W_OK):
                raise FullError(MADE_BY_OLDER.format(path=path))
            raise StoreError(
                f"{path} has the schema of an older nfh-tui (version {version}; this program "
                f"knows {SCHEMA_VERSION}). Open it once, as with `nfh-tui browse`: it is "
                "upgraded after a copy was made beside it. Then run doctor again"
            )
        yield Patient(path, connection, mode, foreign=foreign, version=version)


# A stretch of passages with everything that is said of their anchors, as the rows have it.
#
# Read without the store's own reading: a row that contradicts itself has to be looked at, too.

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
class CheckedPassage:
    """A passage. passage: None where `trouble` says why it is none."""

    id: int
    digest: bytes
    text: str
    passage: Passage | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class CheckedAnchor:
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
class CheckedAnswer:
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
    said: CheckedAnswer
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
class CheckedGold:
    """A gold with what it points to. format: of the batch that it names, if that is there."""

    anchor_id: int
    annotator_id: int | None
    answer_id: int | None
    removed: bool
    format: str | None
    value: GoldValue
    said: CheckedAnswer
    votes_trouble: str = ""


@dataclass(slots=True)
class CheckedHeads:
    """Heads by owner, and what is wrong with how they are numbered."""

    marks: dict[int, Marks] = field(default_factory=dict)
    trouble: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class PassageRange:
    """Some passages, and all of their anchors but those of an import under way."""

    connection: Connection
    passages: dict[int, CheckedPassage]
    anchors: list[CheckedAnchor]
    answers: dict[int, list[AnswerRow]]
    golds: dict[int, CheckedGold]
    differences: dict[int, list[tuple[Any, ...]]]
    experts: dict[int, list[tuple[Any, ...]]]
    by_gold: dict[int, list[tuple[Any, ...]]]
    _summaries: dict[int, Summary | None] = field(default_factory=dict)

    def passage_of(self, anchor: CheckedAnchor) -> Passage | None:
        """The passage of an anchor; None if it cannot be read."""
        return self.passages[anchor.passage_id].passage

    def votes_of(self, anchor: CheckedAnchor) -> list[AnswerRow]:
        """The answers that are not removed, by name and role."""
        return [row for row in self.answers.get(anchor.id, ()) if not row.removed]

    def trouble_of(self, said: CheckedAnswer, anchor: CheckedAnchor) -> str:
        """Why an answer is none, or does not fit its passage; "" if it does."""
        passage = self.passage_of(anchor)
        if not said.looked_at and said.answer is not None and passage is not None:
            try:
                said.answer.check(len(passage.tokens), anchor.start, anchor.stop)
            except AnswerError as error:
                said.trouble = str(error)
        said.looked_at = True
        return said.trouble

    def sound(self, said: CheckedAnswer, anchor: CheckedAnchor) -> Answer | None:
        """An answer that can be compared: it is one, and lies in its passage; else None."""
        return None if self.trouble_of(said, anchor) else said.answer

    def summary_of(self, anchor: CheckedAnchor) -> Summary | None:
        """What an anchor's summary should be; None where something it needs is broken."""
        if anchor.id not in self._summaries:
            self._summaries[anchor.id] = self._summarise(anchor)
        return self._summaries[anchor.id]

    def _summarise(self, anchor: CheckedAnchor) -> Summary | None:
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
                stale = answers.predecessor(self.connection, anchor.id) is not None
            except UNREADABLE:
                return None
        return answers.summarise(
            votes,
            decided.value if decided is not None else None,
            lambda: [token.lemma for token in passage.tokens],
            stale=stale,
        )


def read(connection: Connection, after: int, limit: int) -> tuple[PassageRange, int | None]:
    """Up to `limit` passages behind `after`, and the id of the last; None if there is none."""
    found = connection.execute(PASSAGES, {"after": after, "limit": limit}).fetchall()
    passages = {row[0]: _passage(*row) for row in found}
    rows = connection.execute(ANCHORS, {"ids": json_of(list(passages))}).fetchall()
    anchors = [CheckedAnchor(*(*row[:9], bool(row[9]), row[10:])) for row in rows]
    ids = {"ids": json_of([anchor.id for anchor in anchors])}
    stretch = PassageRange(
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
) -> CheckedPassage:
    row = CheckedPassage(id_, digest, text)
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
        said = CheckedAnswer(value, trouble=heads.trouble.get(row[0], ""))
        if not said.trouble:
            said.decode()
        answer = AnswerRow(
            row[0], row[1], row[2], row[3], row[4], bool(row[5]), value, said, row[18]
        )
        found.setdefault(answer.anchor_id, []).append(answer)
    return found


def _golds(connection: Connection, ids: dict[str, str]) -> dict[int, CheckedGold]:
    rows = connection.execute(GOLDS, ids).fetchall()
    heads = _heads(connection, HEADS_OF_GOLDS, [row[0] for row in rows])
    return {row[0]: _gold(row, heads) for row in rows}


def _gold(row: tuple[Any, ...], heads: CheckedHeads) -> CheckedGold:
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
    said = CheckedAnswer(value, trouble=heads.trouble.get(row[0], ""))
    if not said.trouble:
        said.decode()
    return CheckedGold(
        row[0], row[1], row[3], bool(row[4]), row[14], value, said, votes_trouble
    )


def _heads(connection: Connection, sql: str, ids: Sequence[int]) -> CheckedHeads:
    found = CheckedHeads()
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
