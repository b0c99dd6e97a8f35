"""Input and output of checks: a read-only snapshot of the database, chunks of passages with
all rows about them, and faults.
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

from nfh_db import answers, schema_parts, serialization
from nfh_db.anchors import Summary
from nfh_db.answers import Owner
from nfh_db.connection import (
    SCHEMA_VERSION,
    Connection,
    identify,
    is_without_log,
    last_id,
)
from nfh_db.database import MADE_BY_OLDER, at_one_moment, check_place
from nfh_db.errors import FullError, StoreError
from nfh_db.messages import reason_of
from nfh_db.records import PERSON, Role, Vote
from nfh_db.schema_parts import Part
from nfh_models.domain import Answer, AnswerError, Passage


class Repair(StrEnum):
    """Kinds of repair. None writes what people did: all results can be computed again."""

    PARTS = "foreign parts"
    WAL = "write-ahead log"
    INDEXES = "indexes"
    SUMMARIES = "summaries"
    ASSIGNMENTS = "assignments"
    IMPORTS = "imports"
    JOBS = "jobs"


REPAIR_WORDS: dict[Repair, str] = {
    Repair.PARTS: "--repair removes it and checks further; the copy keeps it",
    Repair.WAL: "--repair switches the write-ahead log on",
    Repair.INDEXES: "--repair builds the index from its table",
    Repair.SUMMARIES: "--repair computes it from the answers and the gold",
    Repair.ASSIGNMENTS: "--repair sets it by the answers",
    Repair.IMPORTS: "--repair removes it if nobody has seen it yet, else finishes it",
    Repair.JOBS: "--repair empties what cannot be read; a job without its arguments fails",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a fault."""

    table: str = ""
    row: int | str | None = None
    """The row's id, or its key with commas between the columns."""
    item: int | None = None
    """The anchor that the row is about."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What a check finds broken."""

    what: str
    """A description without the place."""
    where: Place = Place()
    repair: Repair | None = None
    target: str = ""
    """What to repair where that is no item: an index, a part of the schema or a job."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A fault as it is reported."""

    check: str
    what: str
    where: Place
    repairable: bool
    how: str
    """What to do about it."""
    public_id: str | None = None
    """The id of the item in files."""
    query: str | None = None
    """Finds the item in the workbench; None for no item or one that is not live."""


BACKUP = "go back to a copy made by `nfh-tui backup`"


@dataclass(frozen=True, slots=True)
class Check:
    """A promise of the store and the function that checks it, one of the two."""

    name: str
    promise: str
    check_database: "Callable[[DatabaseSnapshot], Iterator[Fault]] | None" = None
    check_chunk: "Callable[[PassageChunk], Iterator[Fault]] | None" = None
    remedy: str = f"a program other than nfh-tui wrote this: {BACKUP}"
    """What to do about a fault that cannot be repaired."""
    reads_no_tables: bool = False
    """It may run where the tables are not those of this program."""


COUNT_ANCHORS = "SELECT count(*) FROM anchor"
COUNT_EVENTS = "SELECT count(*) FROM event"

TIME_LIMIT = 10.0
"""Seconds that a check may take in a file with foreign parts, which may never end."""

COMPUTES = re.compile(r"^(?!CREATE TABLE )|\bAS\b|--|/\*", re.IGNORECASE)
"""Matches the statement of a table whose columns may be computed when they are read."""

STEPS_BETWEEN_CHECKS = 1_000
"""Instructions of SQLite's virtual machine between two looks at the clock."""


@dataclass(slots=True)
class DatabaseSnapshot:
    """An open database, in a read transaction."""

    path: Path
    connection: Connection
    mode: str = "ro"
    """How the file is opened, see `database.at_one_moment`."""
    read_draft: Callable[[str], object] | None = None
    """Raises ValueError for a draft that the editor cannot read."""
    on_progress: Callable[[int], None] = lambda _: None
    """Called with the number of anchors that a check has read."""
    notes: list[str] = field(default_factory=list)
    """Sentences about what is no fault."""
    foreign: tuple[Part, ...] = ()
    """Parts of the schema that the migrations did not make."""
    version: int = SCHEMA_VERSION
    """Schema version; an older one only where there are foreign parts."""
    log_gone: bool = False
    """Whether the index of the log counts changes, and the log is missing or empty."""
    _deadline: float = 0.0

    @property
    def tables_are_ours(self) -> bool:
        """Whether the tables exist, and none is a view or has computed columns."""
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
    def timed_out(self) -> bool:
        """Whether the check has taken longer than TIME_LIMIT in a file with foreign parts."""
        return bool(self._deadline) and monotonic() > self._deadline

    @contextmanager
    def time_limit(self) -> Iterator[None]:
        """Interrupt statements after TIME_LIMIT seconds in a file with foreign parts."""
        if not self.foreign:
            yield
            return
        self._deadline = monotonic() + TIME_LIMIT
        self.connection.set_progress_handler(lambda: self.timed_out, STEPS_BETWEEN_CHECKS)
        try:
            yield
        finally:
            self.connection.set_progress_handler(None, 0)
            self._deadline = 0.0

    def count(self, sql: str) -> int:
        number: int = self.connection.execute(sql).fetchone()[0]
        return number


@contextmanager
def open_snapshot(path: Path) -> Iterator[DatabaseSnapshot]:
    """Open a database read-only, without an upgrade.

    Raises a StoreError for a file that is no database of this version.
    """
    check_place(path, create=False)
    # To open it in another way would make an empty log, and an index that counts nothing.
    log_gone = is_without_log(path)
    with at_one_moment(path, any_text=True, still=log_gone) as (connection, mode):
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
                f"knows {SCHEMA_VERSION}). Open it once, for example with `nfh-tui browse`, "
                "which makes a copy beside it and upgrades it. Then run doctor again"
            )
        yield DatabaseSnapshot(
            path, connection, mode, foreign=foreign, version=version, log_gone=log_gone
        )


# The store's own functions are not used to read: they refuse rows that contradict themselves.

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
    w.rule_tag, w.batch_id, w.answered_at, w.in_sheet, w.timed, coalesce(n.type, 'person')
FROM answer AS w LEFT JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids))
ORDER BY w.anchor_id, n.name, w.role"""
GOLDS = """
SELECT g.anchor_id, g.annotator_id, g.answer_id, g.removed, b.format, g.kind, g.relation,
    g.sort, g.noun, g.comment, g.rule, n.name, g.decided_at, g.batch_id, g.votes
FROM gold AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id
LEFT JOIN batch AS b ON b.id = g.batch_id
WHERE g.anchor_id IN (SELECT value FROM json_each(:ids))"""
HEADS = """
SELECT h.{owner}, h.id, h.position, m.position, m.start, m.stop, m.token, m.origin
FROM head AS h LEFT JOIN mention AS m ON m.head_id = h.id
WHERE h.{owner} IN (SELECT value FROM json_each(:ids))
ORDER BY h.{owner}, h.position, h.id, m.position"""
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

READ_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
    msgspec.MsgspecError,
)
"""What decoding a damaged row may raise."""


@dataclass(slots=True)
class CheckedPassage:
    """A row of a passage."""

    id: int
    digest: bytes
    text: str
    passage: Passage | None = None
    """None where it cannot be decoded."""
    trouble: str = ""
    """Why it cannot."""


@dataclass(frozen=True, slots=True)
class CheckedAnchor:
    """A row of an anchor."""

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
    """The columns from `state` on."""

    @property
    def live(self) -> bool:
        return not self.removed and self.replaced_by is None


@dataclass(slots=True)
class CheckedAnswer:
    """The value of an answer or of gold, decoded."""

    value: serialization.AnswerValue | serialization.GoldValue
    answer: Answer | None = None
    """None where `trouble` says why it is no answer."""
    trouble: str = ""
    fit_checked: bool = False
    """Whether `trouble` also says why the answer does not fit its passage."""

    def decode(self) -> None:
        """Set `answer`, or `trouble`."""
        if self.trouble:
            return
        try:
            self.answer = serialization.answer_of(self.value)
        except READ_ERRORS as error:
            self.trouble = reason_of(error)


@dataclass(slots=True)
class AnswerRow:
    """An answer with its key."""

    id: int
    anchor_id: int
    annotator_id: int
    name: str | None
    """None where the annotator is missing."""
    role: str
    removed: bool
    value: serialization.AnswerValue
    checked: CheckedAnswer
    type: str

    @property
    def counts(self) -> bool:
        """Whether it is compared with others and gold is made of it; see `Vote`."""
        return self.role == Role.ANNOTATOR and self.type == PERSON

    def vote(self, answer: Answer) -> Vote:
        role = Role(self.role)
        return Vote(self.name or "", role, answer, self.value.at, type=self.type)


@dataclass(slots=True)
class CheckedGold:
    """A row of gold."""

    anchor_id: int
    annotator_id: int | None
    answer_id: int | None
    removed: bool
    format: str | None
    value: serialization.GoldValue
    checked: CheckedAnswer
    votes_trouble: str = ""


@dataclass(slots=True)
class CheckedHeads:
    """Heads by answer or anchor, and what is wrong with their positions."""

    marks: dict[int, serialization.Marks] = field(default_factory=dict)
    trouble: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class PassageChunk:
    """Some passages with all rows about their anchors, except those of unfinished imports."""

    connection: Connection
    passages: dict[int, CheckedPassage]
    anchors: list[CheckedAnchor]
    answers: dict[int, list[AnswerRow]]
    golds: dict[int, CheckedGold]
    differences: dict[int, list[tuple[Any, ...]]]
    experts: dict[int, list[tuple[Any, ...]]]
    by_gold: dict[int, list[tuple[Any, ...]]]
    _repair_summaries: dict[int, Summary | None] = field(default_factory=dict)

    def passage_of(self, anchor: CheckedAnchor) -> Passage | None:
        return self.passages[anchor.passage_id].passage

    def votes_of(self, anchor: CheckedAnchor) -> list[AnswerRow]:
        """The answers that are not removed, by name and role."""
        return [row for row in self.answers.get(anchor.id, ()) if not row.removed]

    def trouble_of(self, checked: CheckedAnswer, anchor: CheckedAnchor) -> str:
        """Why it is no answer or does not fit its passage; "" if it is valid."""
        passage = self.passage_of(anchor)
        if not checked.fit_checked and checked.answer is not None and passage is not None:
            try:
                checked.answer.check(len(passage.tokens), anchor.start, anchor.stop)
            except AnswerError as error:
                checked.trouble = str(error)
        checked.fit_checked = True
        return checked.trouble

    def valid_answer(self, checked: CheckedAnswer, anchor: CheckedAnchor) -> Answer | None:
        return None if self.trouble_of(checked, anchor) else checked.answer

    def summary_of(self, anchor: CheckedAnchor) -> Summary | None:
        """The summary computed again; None where something that it needs is broken."""
        if anchor.id not in self._repair_summaries:
            self._repair_summaries[anchor.id] = self._summarise(anchor)
        return self._repair_summaries[anchor.id]

    def _summarise(self, anchor: CheckedAnchor) -> Summary | None:
        rows = self.votes_of(anchor)
        gold = self.golds.get(anchor.id)
        passage = self.passage_of(anchor)
        decided = None if gold is None or gold.removed else gold
        votes = [
            row.vote(answer)
            for row in rows
            if (answer := self.valid_answer(row.checked, anchor)) is not None
        ]
        broken = decided is not None and self.valid_answer(decided.checked, anchor) is None
        nobodys = any(row.name is None for row in rows)
        if passage is None or broken or nobodys or len(votes) < len(rows):
            # Another check reports it.
            return None
        stale = False
        if anchor.replaces is not None:
            try:
                stale = answers.predecessor(self.connection, anchor.id) is not None
            except READ_ERRORS:
                return None
        return answers.summarise(
            votes,
            decided.value if decided is not None else None,
            lambda: [token.lemma for token in passage.tokens],
            stale=stale,
        )


def read(connection: Connection, after: int, limit: int) -> tuple[PassageChunk, int | None]:
    """Up to `limit` passages with ids above `after`, and the last id; None at the end."""
    found = connection.execute(PASSAGES, {"after": after, "limit": limit}).fetchall()
    passages = {row[0]: _passage(*row) for row in found}
    rows = connection.execute(
        ANCHORS, {"ids": serialization.json_of(list(passages))}
    ).fetchall()
    anchors = [CheckedAnchor(*(*row[:9], bool(row[9]), row[10:])) for row in rows]
    ids = {"ids": serialization.json_of([anchor.id for anchor in anchors])}
    chunk = PassageChunk(
        connection,
        passages,
        anchors,
        _answers(connection, ids),
        _golds(connection, ids),
        _grouped(connection.execute(DIFFERENCES, ids)),
        _grouped(connection.execute(EXPERTS, ids)),
        _grouped(connection.execute(BY_GOLD, ids)),
    )
    return chunk, last_id(found, after) if found else None


def _passage(
    id_: int, digest: bytes, text: str, offsets: bytes | None, lemmas: str, turns: str
) -> CheckedPassage:
    row = CheckedPassage(id_, digest, text)
    if offsets is None:
        row.trouble = "it has no row in passage_token, so no words"
        return row
    try:
        words = len(serialization.decode_lemmas(lemmas))
        if len(offsets) != 8 * words:
            row.trouble = f"it has {words} lemmas for {len(offsets) / 8:g} words"
        else:
            row.passage = serialization.decode_passage(text, offsets, lemmas, turns)
    except READ_ERRORS as error:
        row.trouble = reason_of(error)
    return row


def _answers(connection: Connection, ids: dict[str, str]) -> dict[int, list[AnswerRow]]:
    rows = connection.execute(ANSWERS, ids).fetchall()
    heads = _heads(connection, "answer_id", [row[0] for row in rows])
    found: dict[int, list[AnswerRow]] = {}
    for row in rows:
        value = answers.value_from(row[6:20], heads.marks.get(row[0], ()))
        checked = CheckedAnswer(value, trouble=heads.trouble.get(row[0], ""))
        checked.decode()
        answer = AnswerRow(*(*row[:5], bool(row[5]), value, checked, row[20]))
        found.setdefault(answer.anchor_id, []).append(answer)
    return found


def _golds(connection: Connection, ids: dict[str, str]) -> dict[int, CheckedGold]:
    rows = connection.execute(GOLDS, ids).fetchall()
    heads = _heads(connection, "gold_id", [row[0] for row in rows])
    return {row[0]: _gold(row, heads) for row in rows}


def _gold(row: tuple[Any, ...], heads: CheckedHeads) -> CheckedGold:
    votes: tuple[tuple[str, str], ...] = ()
    votes_trouble = ""
    try:
        votes = serialization.decode_gold_votes(row[14])
    except READ_ERRORS as error:
        votes_trouble = reason_of(error)
    value = answers.gold_from(row[5:14], heads.marks.get(row[0], ()), votes)
    checked = CheckedAnswer(value, trouble=heads.trouble.get(row[0], ""))
    checked.decode()
    return CheckedGold(*(*row[:3], bool(row[3]), row[4], value, checked, votes_trouble))


def _heads(connection: Connection, owner: Owner, ids: Sequence[int]) -> CheckedHeads:
    found = CheckedHeads()
    if not ids:
        return found
    made: dict[int, dict[int, list[tuple[Any, ...]]]] = {}
    for id_, head_id, position, place, *mark in connection.execute(
        HEADS.format(owner=owner), {"ids": serialization.json_of(ids)}
    ):
        heads = made.setdefault(id_, {})
        if head_id not in heads:
            if position != len(heads):
                found.trouble[id_] = f"head {head_id} has position {position}, not {len(heads)}"
            heads[head_id] = []
        if place is None:
            continue
        if place != len(heads[head_id]):
            found.trouble[id_] = (
                f"a mention of head {head_id} has position {place}, not {len(heads[head_id])}"
            )
        heads[head_id].append(tuple(mark))
    for id_, heads in made.items():
        found.marks[id_] = tuple(tuple(marks) for marks in heads.values())
    return found


def _grouped(rows: Iterator[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found
