"""A small database made by hand, with one anchor or two for each thing a query can ask."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest
import sqlite_utils

from nfh_db.connection import Connection, sqlite3
from nfh_db.passages import index_texts
from nfh_db.query import parse
from nfh_db.queue import queue_ids
from nfh_db.schema import migrations

ME, ANN2, ZOE, EVA = 1, 2, 3, 4
READY, LOADING = 1, 2

PASSAGES = {
    1: (1, READY, "I have one and you have Forty two here"),
    2: (1, READY, "Six months left , or seven ?"),
    3: (2, None, "It costs 100% of [red] a_b and 5 ; a\\b \x1b[31m tab\there"),
    4: (2, None, "ÉTÉ chaud à ten , 我们有三个 🙂 e\u0301 nine"),
    5: (1, LOADING, "hidden one"),
    6: (2, None, "nul \0 then eleven Straße"),
}

# id: passage, words, batch, and the summing-up columns that differ from the defaults
ANCHORS: dict[int, tuple[int, str, int | None, dict[str, object]]] = {
    1: (1, "one", READY, {"state": "decided", "kind": "AGE"}),
    2: (1, "Forty two", READY, {"state": "decided", "kind": "REFERENCE", "heads": 2}),
    3: (2, "Six", READY, {}),
    4: (
        2,
        "seven",
        READY,
        {
            "state": "disagree",
            "votes": 3,
            "strongest": "noun",
            "blocking": " noun partial ",
            "notes": " extent ",
            "pattern": "2-1",
        },
    ),
    5: (3, "100", None, {"state": "answered", "votes": 2, "pattern": "2-0", "notes": " text "}),
    6: (3, "5", None, {"state": "decided", "kind": "UNKNOWN"}),
    7: (4, "ten", None, {"state": "stale"}),
    8: (5, "one", LOADING, {}),
    9: (1, "you", READY, {"removed": 1}),
    10: (1, "two", READY, {"replaced_by": 2, "kind": "AGE"}),
    11: (6, "eleven", None, {"state": "decided", "kind": "NOT_NFH"}),
    12: (4, "chaud", None, {"state": "decided", "kind": "REFERENCE", "heads": 1}),
    13: (
        4,
        "nine",
        None,
        {
            "state": "disagree",
            "votes": 3,
            "strongest": "class",
            "blocking": " class ",
            "pattern": "1-1-1",
        },
    ),
    14: (1, "have", None, {"state": "decided", "kind": "OTHER"}),
}
IN_ORDER = [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11]
"""Every anchor that is seen, in passage order."""

SPLITS = [
    (READY, 1, 1, "dev"),
    (READY, 2, 2, "dev"),
    (READY, 3, 2, "train"),
    (READY, 4, 4, "test"),
    (READY, 5, 5, None),
    (LOADING, 1, 3, "dev"),
]
# anchor, annotator, role, batch, removed, kind
ANSWERS = [
    (4, ME, "annotator", None, 0, "REFERENCE"),
    (4, ANN2, "annotator", None, 0, "REFERENCE"),
    (4, ZOE, "annotator", READY, 0, "AGE"),
    (5, ANN2, "annotator", None, 0, "OTHER"),
    (6, ANN2, "annotator", None, 1, "BROKEN"),
    (7, ANN2, "annotator", LOADING, 0, "YEAR"),
    (13, ANN2, "adjudicator", None, 0, "UNKNOWN"),
]
# anchor, left, right, what blocks, notes
DIFFERENCES = [
    (4, ME, ANN2, "noun", " extent "),
    (4, ANN2, ZOE, "partial", ""),
    (4, ME, ZOE, None, " extent mention "),
    (5, ME, ANN2, None, " text "),
    (13, ME, ANN2, "class", ""),
]
EXPERT_DIFFERENCES = [(6, None), (13, "class")]
# anchor, annotator, what blocks between the answer and gold
GOLD_DIFFERENCES = [
    (1, ME, None),
    (1, ANN2, "class"),
    (2, ME, "noun"),
    (2, ANN2, "noun"),
    (6, ZOE, None),
]
# anchor, annotator, rule tag, version of the guidelines; adjudicators' answers
TAGGED = [(1, EVA, "R5", 1), (2, EVA, "12", 2), (12, EVA, None, 1)]
RULES = {1: "imported", 2: "expert", 6: "majority", 11: "unanimous", 12: "imported"}
"""Rules of golds by anchor; the others are an expert's."""

# anchor, annotator, role, purpose, state, position, verdict
ASSIGNMENTS = [
    (3, ME, "annotator", "work", "open", 20, None),
    (4, ME, "annotator", "work", "done", 10, None),
    (13, ME, "adjudicator", "work", "open", 15, None),
    (12, ME, "annotator", "check", "returned", 1, None),
    (5, ANN2, "annotator", "check", "returned", 1, None),
    (7, ANN2, "annotator", "work", "open", 2, None),
    (6, ZOE, "adjudicator", "audit", "open", 1, None),
    (11, ZOE, "adjudicator", "audit", "done", 2, "right"),
    (14, ZOE, "adjudicator", "audit", "done", 3, "wrong"),
    (14, ANN2, "annotator", "check", "done", 3, "right"),
    (1, ZOE, "adjudicator", "audit", "returned", 4, None),
]
# anchor, annotator, name, batch, removed
FLAGS = [
    (3, ME, "skip", None, 0),
    (5, ANN2, "guideline", None, 0),
    (5, ME, "anchor", None, 0),
    (6, ME, "skip", None, 0),
    (7, ANN2, "skip", None, 0),
    (7, ME, "ambiguous", None, 1),
    (12, ANN2, "guideline", LOADING, 0),
    (13, ME, "skip", LOADING, 0),
    (4, ME, "skip", None, 1),
]
# anchor, model, choice, margin, confidence, entropy; of the models, 2 counts
PREDICTIONS = [
    (1, 2, "AGE", 0.5, 0.7, 0.4),
    (2, 2, "0", 0.1, 0.4, 0.8),
    (3, 1, "AGE", 0.0, 0.5, 0.9),
    (1, 4, "YEAR", 0.0, 0.2, 0.5),
    (5, 2, "AGE", 0.3, 0.6, 0.6),
    (6, 2, "OTHER", 0.7, 0.8, 0.1),
    (11, 2, "AGE", 0.2, 0.5, 0.5),
    (12, 2, "9", None, None, None),
    (14, 2, "YEAR", 0.4, 0.55, 0.2),
    (14, 1, "OTHER", 0.4, 0.9, 0.1),
]
# anchor, choice, how likely its gold, margin
DOUBTS = [(1, "YEAR", 0.05, 0.8), (6, "OTHER", 0.9, 0.8), (14, "YEAR", 0.1, 0.3)]
# anchor, model, nfh, rule, score; of the models, 3 counts
IDENTIFICATIONS = [
    (1, 3, 1, "no-one", None),
    (2, 3, 0, "counts-a-noun", None),
    (3, 3, 1, "svm", 0.2),
    (4, 1, 1, "no-one", None),
    (6, 3, 1, "svm", 1.5),
    (11, 3, 1, "svm", 0.1),
    (12, 3, 0, "svm", -0.3),
    (14, 3, 1, "No-one", None),
    (14, 1, 0, "svm", -0.01),
]
# head, gold's anchor, mentions: position, token, origin
HEADS = [
    (1, 2, [(0, 4, "marked")]),
    (2, 2, [(0, 1, "marked"), (1, 0, "added")]),
    (3, 12, [(0, 0, "marked"), (1, 9, "removed")]),
]


def fill(connection: Connection) -> None:
    """Write the rows above."""
    connection.executemany(
        "INSERT INTO batch (id, name, sha256, format, state, created_at) VALUES (?,?,?,?,?,'')",
        [(READY, "ready", "a", "nfh", "ready"), (LOADING, "loading", "b", "nfh", "loading")],
    )
    connection.executemany(
        "INSERT INTO document VALUES (?,?,?)",
        [(1, "nfh_DEV.jsonl", READY), (2, "Talk É.txt", None), (3, "coming.txt", LOADING)],
    )
    connection.executemany(
        "INSERT INTO annotator (id, name, created_at) VALUES (?,?,'')",
        [(ME, "me"), (ANN2, "Ann2"), (ZOE, "Zoë"), (EVA, "Eva")],
    )
    for passage, (document, batch, text) in PASSAGES.items():
        connection.execute(
            "INSERT INTO passage VALUES (?,?,?,?,?)",
            (passage, document, batch, passage.to_bytes(32), text),
        )
    for anchor, (passage, words, batch, more) in ANCHORS.items():
        add_anchor(connection, anchor, passage, words, batch, more)
    connection.executemany(
        "INSERT INTO source_row (batch_id, line, anchor_id, split) VALUES (?,?,?,?)", SPLITS
    )
    connection.executemany(
        "INSERT INTO answer (anchor_id, annotator_id, role, batch_id, removed, kind, "
        "answered_at) VALUES (?,?,?,?,?,?,'')",
        ANSWERS,
    )
    connection.executemany("INSERT INTO difference VALUES (?,?,?,?,?)", DIFFERENCES)
    connection.executemany("INSERT INTO expert_difference VALUES (?,?)", EXPERT_DIFFERENCES)
    connection.executemany("INSERT INTO gold_difference VALUES (?,?,?)", GOLD_DIFFERENCES)
    connection.executemany(
        "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, state, position, "
        "verdict, run, assigned_at) VALUES (?,?,?,?,?,?,?,'','')",
        ASSIGNMENTS,
    )
    connection.executemany(
        "INSERT INTO flag (anchor_id, annotator_id, name, batch_id, removed, flagged_at) "
        "VALUES (?,?,?,?,?,'')",
        FLAGS,
    )
    add_model_and_heads(connection)


def add_anchor(
    connection: Connection,
    anchor: int,
    passage: int,
    words: str,
    batch: int | None,
    more: dict[str, object],
) -> None:
    """An anchor where its words first stand; a token is what spaces separate."""
    text = PASSAGES[passage][2]
    place = text.index(words)
    start = text[:place].count(" ")
    columns: dict[str, object] = {
        "id": anchor,
        "passage_id": passage,
        "start": start,
        "stop": start + 1 + words.count(" "),
        "text_start": place,
        "text_stop": place + len(words),
        "word": words,
        "batch_id": batch,
        **more,
    }
    connection.execute(
        f"INSERT INTO anchor ({', '.join(columns)}) "
        f"VALUES ({', '.join(f':{name}' for name in columns)})",
        columns,
    )


def add_model_and_heads(connection: Connection) -> None:
    """Four models, of which the newest active one counts; predictions; gold's heads."""
    connection.executemany(
        "INSERT INTO model (id, name, task, recipe, version, state, created_at) "
        "VALUES (?,?,?,'r','1',?,'')",
        [
            (1, "old", "both", "active"),
            (2, "new", "resolution", "active"),
            (3, "other task", "identification", "active"),
            (4, "put away", "resolution", "retired"),
        ],
    )
    connection.executemany(
        "INSERT INTO prediction VALUES (?,?,?,NULL,?,x'','',?,?)", PREDICTIONS
    )
    connection.execute(
        "INSERT INTO job (id, kind, task, created_at) VALUES (1, 'check', 'resolution', '')"
    )
    connection.executemany("INSERT INTO doubt VALUES (?,1,?,?,?)", DOUBTS)
    connection.executemany(
        "INSERT INTO identification VALUES (?,?,?,?,?,'','')", IDENTIFICATIONS
    )
    for anchor, (_, _, _, more) in ANCHORS.items():
        if "kind" in more:
            connection.execute(
                "INSERT INTO gold (anchor_id, kind, rule) VALUES (?,?,?)",
                (anchor, more["kind"], RULES.get(anchor, "expert")),
            )
    connection.execute(
        "INSERT INTO gold (anchor_id, kind, rule, removed) VALUES (3, 'AGE', 'majority', 1)"
    )
    for anchor, annotator, tag, version in TAGGED:
        connection.execute(
            "INSERT INTO answer (anchor_id, annotator_id, role, kind, rule_tag, "
            "guideline_version, answered_at) VALUES (?,?,'adjudicator','AGE',?,?,'')",
            (anchor, annotator, tag, version),
        )
    # Of the three, gold of the second one is an expert's.
    connection.execute(
        "UPDATE gold SET answer_id = (SELECT id FROM answer WHERE anchor_id = gold.anchor_id "
        "AND role = 'adjudicator') WHERE anchor_id IN (1, 2)"
    )
    for head, anchor, mentions in HEADS:
        connection.execute("INSERT INTO head VALUES (?,NULL,?,0)", (head, anchor))
        connection.executemany(
            "INSERT INTO mention VALUES (?,?,?,?,?,?)",
            [(head, at, token, token + 1, token, origin) for at, token, origin in mentions],
        )


def make(path: Path) -> Connection:
    """An open connection to a new database with the schema only."""
    connection = sqlite3.connect(path, isolation_level=None, factory=Connection)
    migrations.apply(sqlite_utils.Database(connection))
    return connection


@pytest.fixture(scope="session")
def hand_made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The hand-made database, opened read-only: tests share it."""
    path = tmp_path_factory.mktemp("query") / "hand.db"
    writer = make(path)
    fill(writer)
    writer.close()
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, factory=Connection)
    yield connection
    connection.close()


@pytest.fixture
def own(hand_made: Connection) -> Iterator[Connection]:
    """A copy of the hand-made database in memory, for a test that writes to it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    hand_made.backup(connection)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def indexed(hand_made: Connection) -> Iterator[Connection]:
    """A copy of the hand-made database in memory, with all texts in their index."""
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    hand_made.backup(connection)
    index_texts(connection)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def empty_database() -> Iterator[Connection]:
    """The schema without any row."""
    connection = make(Path(":memory:"))
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def found(hand_made: Connection) -> Callable[[str], list[int]]:
    """The ids that a query gives, asked by annotator "me"."""

    def ask(text: str) -> list[int]:
        return list(chain.from_iterable(queue_ids(hand_made, parse(text), ME)))

    return ask


@pytest.fixture(scope="session")
def in_order() -> list[int]:
    """Every anchor that anybody sees, in passage order."""
    return IN_ORDER


@pytest.fixture(scope="session")
def own_text() -> Iterator[Callable[[str], Connection]]:
    """A function that gives a database whose one anchor stands in the given text."""
    connection = make(Path(":memory:"))
    connection.execute("INSERT INTO document VALUES (1, 'd', NULL)")
    connection.execute("INSERT INTO passage VALUES (1, 1, NULL, x'dd', '')")
    connection.execute(
        "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
        "VALUES (1, 1, 0, 1, 0, 1, 'x')"
    )

    def with_text(text: str) -> Connection:
        connection.execute("UPDATE passage SET text = ?", (text,))
        return connection

    yield with_text
    connection.close()
