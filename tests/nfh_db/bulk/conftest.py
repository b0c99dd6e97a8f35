"""A database in which people agree, differ, and decided some; shared short names."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.event_log import present_state, replay
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import (
    Annotator,
    Gold,
    IncomingAnchor,
    IncomingPassage,
    Prediction,
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


def passage(words: str, speaker: str = "Ann") -> Passage:
    """A passage of one turn for each line, its words parted by spaces, each its own lemma."""
    tokens, turns, place = [], [], 0
    for number, line in enumerate(words.split("\n")):
        first = len(tokens)
        for word in line.split(" "):
            tokens.append(Token(place, place + len(word), word.lower().rstrip("s")))
            place += len(word) + 1
        turns.append(Turn(number, speaker, first, len(tokens)))
    return Passage(words, tuple(tokens), tuple(turns))


def to(*tokens: int) -> Answer:
    """A Reference to one noun, that stands at these tokens."""
    return reference_answer([[Mention(token, token + 1, token) for token in tokens]])


def given(answer: Answer | Kind) -> Answer:
    """A class where a kind is given."""
    return answer if isinstance(answer, Answer) else class_answer(answer)


def one(
    line: int, words: str, at: int, *votes: Answer | Kind, gold: Gold | None = None
) -> IncomingPassage:
    """A passage with an anchor of one token; the votes are of ann1, ann2 and so on."""
    said = tuple(
        Vote(f"ann{number}", Role.ANNOTATOR, given(answer), AT)
        for number, answer in enumerate(votes, 1)
    )
    anchor = IncomingAnchor(line, Anchor(at, at + 1), split="dev", gold=gold, votes=said)
    return IncomingPassage(passage(words), "words", (anchor,))


AGE, TIME, OTHER = Kind.AGE, Kind.TIME, Kind.OTHER
PASSAGES = (
    one(1, "She turned one last week", 2, AGE, AGE, AGE),
    one(2, "My pump leaks so bring one", 5, to(1), to(1), AGE),
    one(3, "Be there at one or so", 3, AGE, TIME, OTHER),
    one(4, "It was one then", 2, gold=Gold(given(TIME), Rule.IMPORTED)),
    one(5, "A pump and one more", 3, AGE),
    one(6, "Nobody said one here", 2),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's database is."""
    return tmp_path / "bulk.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """The passages above, open."""
    with Store.open(path, create=True) as opened:
        opened.imports.load(IncomingFile("bulk.gold.jsonl", "0" * 64, "gold"), PASSAGES)
        yield opened


@pytest.fixture
def me(store: Store) -> Annotator:
    """The one who does it."""
    return store.people.ensure("edith")


@pytest.fixture
def ids(store: Store, me: Annotator) -> list[int]:
    """The anchors in the order of the file."""
    return [anchor_id for chunk in store.queue.ids(parse(""), me) for anchor_id in chunk]


@pytest.fixture
def predicted(store: Store, ids: list[int]) -> None:
    """A model that says AGE of the first, a word of the second, nonsense of the third."""
    model = store.models.ensure("m", "resolution", "r", "1")
    said = [
        (anchor_id, Prediction("m", choice, None, 0.5, (0.5,)))
        for anchor_id, choice in zip(ids, ("AGE", "1", "99"), strict=False)
    ]
    store.predictions.save(model, said)


def check(path: Path) -> None:
    """Nothing is left to do, and the tables are what the log says."""
    reader = connect(path, "ro")
    unfinished = reader.execute("SELECT count(*) FROM batch WHERE state <> 'ready'").fetchone()
    assert unfinished[0] == 0
    replayed = replay(reader)
    assert (replayed.broken, replayed.state == present_state(reader)) == ([], True)
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
    reader.close()
