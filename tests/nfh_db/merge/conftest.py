"""Databases that part and are merged again, and ways to compare them."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from nfh_db import event_log
from nfh_db.answers import recompute
from nfh_db.connection import Connection, connect
from nfh_db.doctor import examine
from nfh_db.import_run import IncomingFile
from nfh_db.merge.log_diff import MergeReport
from nfh_db.records import (
    FlagMark,
    Gold,
    ImportReport,
    IncomingAnchor,
    IncomingPassage,
    Role,
    Rule,
    Vote,
)
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)

AT = "2026-01-02T03:04:05.678Z"
WORDS = "the dogs saw one or two cats"

_numbers = count(1)


@dataclass(frozen=True)
class Kit:
    """Short names for what every test needs."""

    at: str = AT

    @staticmethod
    def passage(words: str) -> Passage:
        """A passage of one turn, its words parted by spaces."""
        tokens, place = [], 0
        for word in words.split():
            tokens.append(Token(place, place + len(word), word.lower()))
            place += len(word) + 1
        return Passage(words, tuple(tokens), (Turn(0, "Ann", 0, len(tokens)),))

    @staticmethod
    def said(answer: Answer | Kind | int) -> Answer:
        """An answer; a number is a Reference to that token."""
        if isinstance(answer, Answer):
            return answer
        if isinstance(answer, Kind):
            return class_answer(answer)
        return reference_answer([[Mention(answer, answer + 1, answer)]])

    def vote(
        self, name: str, answer: Answer | Kind | int, role: Role = Role.ANNOTATOR, at: str = AT
    ) -> Vote:
        """An answer as a file has it."""
        return Vote(name, role, self.said(answer), at)

    def gold(
        self, answer: Answer | Kind | int, rule: Rule = Rule.IMPORTED, by: str | None = None
    ) -> Gold:
        """A gold as a file has it."""
        return Gold(self.said(answer), rule, by, AT if by else None)

    def one(
        self,
        words: str = WORDS,
        at: int = 3,
        *,
        stop: int | None = None,
        gold: Gold | None = None,
        votes: Iterable[Vote] = (),
        flags: Iterable[FlagMark] = (),
        line: int = 1,
    ) -> IncomingPassage:
        """A passage with one anchor."""
        anchor = Anchor(at, at + 1 if stop is None else stop)
        row = IncomingAnchor(
            line, anchor, split="train", gold=gold, votes=tuple(votes), flags=tuple(flags)
        )
        return IncomingPassage(self.passage(words), "test 1", (row,))

    @staticmethod
    def load(
        store: Store,
        *passages: IncomingPassage,
        name: str | None = None,
        annotator: str | None = None,
        replace_gold: bool = False,
    ) -> ImportReport:
        """Import passages as a file; without a name as one that was never seen before."""
        name = name or f"file {next(_numbers)}"
        file = IncomingFile(name, f"sha of {name}", "gold", "train", annotator)
        return store.imports.load(file, passages, replace_gold=replace_gold)


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Short names for what every test needs."""
    return Kit()


class Copies:
    """Databases in one folder. Each is opened for one thing at a time."""

    def __init__(self, folder: Path, kit: Kit) -> None:
        self.folder = folder
        self.kit = kit

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    def open(self, name: str) -> Store:
        return Store.open(self.path(name), create=True)

    def made(self, name: str, *passages: IncomingPassage) -> None:
        """A database with what one file holds."""
        with self.open(name) as store:
            self.kit.load(store, *(passages or [self.kit.one()]), name="first")

    def copy(self, name: str, *names: str) -> None:
        """Copies of a database, as somebody would make them."""
        for new in names:
            shutil.copyfile(self.path(name), self.path(new))

    def answer(
        self,
        name: str,
        who: str,
        said: Answer | Kind | int,
        anchor: int = 1,
        role: Role = Role.ANNOTATOR,
    ) -> None:
        with self.open(name) as store:
            me = store.people.ensure(who)
            store.edits.commit_answer(anchor, me, role, self.kit.said(said))

    def decide(self, name: str, who: str, said: Answer | Kind | int, anchor: int = 1) -> None:
        self.answer(name, who, said, anchor, Role.ADJUDICATOR)

    def merge(self, name: str, other: str, *, dry_run: bool = False) -> MergeReport:
        """Merge `other` into `name`, and check both."""
        before = files(self.folder, other)
        with self.open(name) as store:
            report = store.merge.run(self.path(other), "merger", dry_run=dry_run)
        assert files(self.folder, other) == before
        check(self.path(name))
        return report

    def said(self, name: str, anchor: int = 1) -> dict[str, str]:
        """Kinds of the answers and the gold of an anchor; adjudicators' names in capitals."""
        with self.open(name) as store:
            item = store.items.read(anchor, store.people.ensure("eva"), Role.ANNOTATOR)
        assert item is not None
        found = {
            vote.annotator.upper() if vote.role is Role.ADJUDICATOR else vote.annotator: str(
                vote.answer.kind
            )
            for vote in item.votes
        }
        return found | ({"gold": str(item.gold.answer.kind)} if item.gold else {})


def files(folder: Path, name: str) -> dict[str, bytes]:
    """A database's files, byte for byte."""
    return {found.name: found.read_bytes() for found in folder.glob(f"{name}.db*")}


@pytest.fixture
def copies(tmp_path: Path, kit: Kit) -> Copies:
    """Databases in a folder."""
    return Copies(tmp_path, kit)


@pytest.fixture
def reading() -> Callable[[Path], "closing[Connection]"]:
    """Opens a connection that only reads."""
    return lambda path: closing(connect(path, "ro"))


# --- what must always hold --------------------------------------------------------------

SUMMARIES = """
SELECT id, state, kind, heads, votes, strongest, blocking, notes, pattern
FROM anchor WHERE removed = 0 AND replaced_by IS NULL ORDER BY id"""
PAIRS = "SELECT * FROM difference ORDER BY 1, 2, 3"
EXPERTS = "SELECT * FROM expert_difference ORDER BY 1"
WAITING = "SELECT count(*) FROM batch WHERE state <> 'ready'"
STAND_INS = """
SELECT count(*) FROM act AS c LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE c.kind = 'merge' AND (b.format IS NOT 'merge' OR c.target IS NOT NULL)"""
# What a doctor asks of undo: an act is undone if the last act about it took it back.
UNDONE = """
SELECT count(*) FROM act AS c WHERE c.undone <> coalesce((SELECT u.kind = 'undo' FROM act AS u
    WHERE u.target = c.id AND u.kind IN ('undo', 'redo') ORDER BY u.id DESC LIMIT 1), 0)"""
TARGETS = "SELECT count(*) FROM act WHERE (kind IN ('undo', 'redo')) <> (target IS NOT NULL)"
EMPTY = """
SELECT count(*) FROM act AS c WHERE c.kind = 'do'
    AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.act_id = c.id)"""
NOT_TURNED = """
SELECT count(*) FROM event AS e JOIN act AS u ON u.id = e.act_id
WHERE u.kind IN ('undo', 'redo') AND NOT EXISTS (
    SELECT 1 FROM event AS t WHERE t.anchor_id = e.anchor_id AND t.act_id = u.target
        AND t.entity = e.entity AND t.annotator_id IS e.annotator_id AND t.name = e.name
        AND t.before IS CASE u.kind WHEN 'undo' THEN e.after ELSE e.before END
        AND t.after IS CASE u.kind WHEN 'undo' THEN e.before ELSE e.after END)"""
WITHOUT_BATCH = """
SELECT count(*) FROM act WHERE kind IN ('import', 'settle') AND batch_id IS NULL"""


def check(path: Path) -> None:
    """The log gives the tables, the summaries follow, and nothing half done is left."""
    with closing(connect(path, "rw")) as writer:
        writer.execute("BEGIN IMMEDIATE")
        before = [writer.execute(sql).fetchall() for sql in (SUMMARIES, PAIRS, EXPERTS)]
        for row in before[0]:
            recompute(writer, row[0])
        after = [writer.execute(sql).fetchall() for sql in (SUMMARIES, PAIRS, EXPERTS)]
        writer.execute("ROLLBACK")
    assert before == after
    with closing(connect(path, "ro")) as reader:
        replayed = event_log.replay(reader)
        assert replayed.broken == []
        assert replayed.state == event_log.present_state(reader)
        assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
        for sql in (
            WAITING,
            STAND_INS,
            UNDONE,
            TARGETS,
            EMPTY,
            NOT_TURNED,
            WITHOUT_BATCH,
        ):
            assert reader.execute(sql).fetchone()[0] == 0, sql
    assert [(one.check, one.what) for one in examine(path).findings] == []


# --- content, whatever the ids ----------------------------------------------------------

PASSAGES = "SELECT hex(digest) FROM passage ORDER BY 1"
ANCHORS = """
SELECT hex(p.digest), a.start, a.stop, r.start, r.stop, s.start, s.stop, a.state, a.kind,
    a.votes, a.strongest, a.blocking, a.notes, a.pattern
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
LEFT JOIN anchor AS r ON r.id = a.replaces LEFT JOIN anchor AS s ON s.id = a.replaced_by
WHERE a.removed = 0"""
HEADS = """
(SELECT json_group_array(json_array(h.position, m.start, m.stop, m.token, m.origin))
 FROM head AS h JOIN mention AS m ON m.head_id = h.id WHERE {owner}
 ORDER BY h.position, m.position)"""
ANSWERS = f"""
SELECT hex(p.digest), a.start, a.stop, n.name, w.role, w.kind, w.relation, w.sort, w.noun,
    w.comment, {HEADS.format(owner="h.answer_id = w.id")}
FROM answer AS w JOIN anchor AS a ON a.id = w.anchor_id
JOIN passage AS p ON p.id = a.passage_id JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.removed = 0"""
GOLDS = f"""
SELECT hex(p.digest), a.start, a.stop, g.kind, g.relation, g.sort, g.noun, g.comment,
    g.rule = 'expert', {HEADS.format(owner="h.gold_id = g.anchor_id")}
FROM gold AS g JOIN anchor AS a ON a.id = g.anchor_id
JOIN passage AS p ON p.id = a.passage_id WHERE g.removed = 0"""
FLAGS = """
SELECT hex(p.digest), a.start, a.stop, n.name, f.name
FROM flag AS f JOIN anchor AS a ON a.id = f.anchor_id
JOIN passage AS p ON p.id = a.passage_id JOIN annotator AS n ON n.id = f.annotator_id
WHERE f.removed = 0"""
SOURCES = """
SELECT hex(p.digest), a.start, a.stop, b.sha256, s.line, s.split, s.labels
FROM source_row AS s JOIN anchor AS a ON a.id = s.anchor_id
JOIN passage AS p ON p.id = a.passage_id JOIN batch AS b ON b.id = s.batch_id"""

Content = dict[str, set[tuple[object, ...]]]


def content(path: Path, leave: Sequence[str] = ()) -> Content:
    """What a database says, in no terms of its own; `leave` are digests of passages."""
    with closing(connect(path, "ro")) as reader:
        return {
            name: {row for row in reader.execute(sql) if row[0].lower() not in leave}
            for name, sql in (
                ("passages", PASSAGES),
                ("anchors", ANCHORS),
                ("answers", ANSWERS),
                ("golds", GOLDS),
                ("flags", FLAGS),
                ("sources", SOURCES),
            )
        }


TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"


def dump(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a database holds, table by table."""
    with closing(connect(path, "ro")) as reader:
        return {
            name: reader.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall()
            for (name,) in reader.execute(TABLES).fetchall()
        }


@pytest.fixture
def whole() -> Callable[[Path], dict[str, list[tuple[object, ...]]]]:
    """Reads everything that a database holds."""
    return dump


@pytest.fixture
def saying() -> Callable[..., Content]:
    """Reads what a database says, whatever its ids."""
    return content


@pytest.fixture
def sound() -> Callable[[Path], None]:
    """Checks what must always hold of a database."""
    return check
