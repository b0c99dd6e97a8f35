"""What the tests of the store build their databases from: small dialogs, real files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.records import (
    FlagMark,
    FlagName,
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
IRREGULAR = {"dogs": "dog", "cats": "cat"}


@dataclass(frozen=True)
class Kit:
    """Short names for what every test needs."""

    at: str = AT

    @staticmethod
    def passage(words: str, speaker: str | None = "Ann") -> Passage:
        """A passage of one turn, its words parted by spaces."""
        tokens, place = [], 0
        for word in words.split():
            lemma = IRREGULAR.get(word.lower(), word.lower())
            tokens.append(Token(place, place + len(word), lemma))
            place += len(word) + 1
        return Passage(words, tuple(tokens), (Turn(0, speaker, 0, len(tokens)),))

    @staticmethod
    def to(*heads: int | Sequence[int]) -> Answer:
        """A Reference: each head a token, or its mentions' tokens."""
        tokens = [[head] if isinstance(head, int) else head for head in heads]
        return reference_answer([[Mention(t, t + 1, t) for t in head] for head in tokens])

    @staticmethod
    def vote(name: str, answer: Answer | Kind, role: Role = Role.ANNOTATOR) -> Vote:
        """An answer as a file has it."""
        given = answer if isinstance(answer, Answer) else class_answer(answer)
        return Vote(name, role, given, AT)

    @staticmethod
    def gold(answer: Answer | Kind, rule: Rule = Rule.IMPORTED, by: str | None = None) -> Gold:
        """A gold as a file has it."""
        given = answer if isinstance(answer, Answer) else class_answer(answer)
        return Gold(given, rule, by, AT if by else None)

    @staticmethod
    def flag(name: FlagName, annotator: str) -> FlagMark:
        """A flag as a file has it."""
        return FlagMark(name, annotator, AT)

    def one(
        self,
        words: str,
        at: int = 0,
        *,
        gold: Gold | None = None,
        votes: Iterable[Vote] = (),
        flags: Iterable[FlagMark] = (),
        line: int = 1,
        labels: str | None = None,
        split: str | None = None,
        stop: int | None = None,
    ) -> IncomingPassage:
        """A passage with one anchor, of one token unless `stop` says otherwise."""
        anchor = IncomingAnchor(
            line,
            Anchor(at, at + 1 if stop is None else stop),
            labels,
            split,
            gold,
            tuple(votes),
            tuple(flags),
        )
        return IncomingPassage(self.passage(words), "test 1", (anchor,))

    @staticmethod
    def file(
        name: str = "some.jsonl", sha256: str | None = None, format_: str = "gold"
    ) -> IncomingFile:
        """A file; its content is taken to be its name."""
        return IncomingFile(name, sha256 or f"sha of {name}", format_)

    def load(
        self, store: Store, *passages: IncomingPassage, name: str | None = None, **options: bool
    ) -> ImportReport:
        """Import passages as a file that was never seen before."""
        return store.imports.load(
            self.file(name or f"file {next(_numbers)}"), passages, **options
        )


_numbers = count(1)


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Short names for what every test needs."""
    return Kit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's database is."""
    return tmp_path / "nfh.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A new database, open."""
    with closing(Store.open(path, create=True)) as opened:
        yield opened


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Stops the store's clock at a time of day."""

    def stop(time: str) -> None:
        monkeypatch.setattr("nfh_db.system.now", lambda: f"2026-05-06T{time}:00.000Z")

    stop("12:00")
    return stop
