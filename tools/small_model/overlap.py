"""Texts that share words with the held-back tests, or with dev: nothing learns from them.

Two texts overlap where they have a run of RUN words alike, or a whole sentence of SHORT words.
Words are tokens in lower case, stripped to letters and digits; the list of hashes in the folder
of data is made in the same way.
"""

import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from nfh_models import ModelsError
from nfh_models.domain import Passage

HASHES = Path("held-out-hashes.txt.gz")
LINES = Path("held-out-overlap.json")

RUN = 8
SHORT = range(4, 8)
"""Words of a sentence that is compared whole: a shorter one stands everywhere."""

ENDS = frozenset((".", "?", "!", "..."))
DIGEST_BYTES = 6


class OverlapError(ModelsError):
    """A list of what is held out that cannot be read."""


def normalized(words: Iterable[str]) -> list[str]:
    """Words in lower case, stripped to [a-z0-9]; empty ones are dropped."""
    return [found for word in words if (found := re.sub(r"[^a-z0-9]+", "", word.lower()))]


def run_hashes(passage: Passage) -> Iterator[str]:
    """Of each run of RUN words, across turns too."""
    words = normalized(_words(passage))
    for start in range(len(words) - RUN + 1):
        yield _digest(words[start : start + RUN])


def sentence_hashes(passage: Passage) -> Iterator[str]:
    """Of each sentence of SHORT words; a turn ends one."""
    words = _words(passage)
    for turn in passage.turns:
        start = turn.start
        for place in range(turn.start, turn.end):
            if words[place] in ENDS or place == turn.end - 1:
                sentence = normalized(words[start : place + 1])
                start = place + 1
                if len(sentence) in SHORT:
                    yield _digest(sentence)


def _words(passage: Passage) -> list[str]:
    return [passage.word(place) for place in range(len(passage.tokens))]


def _digest(words: Sequence[str]) -> str:
    spelled = " ".join(words).encode("ascii")
    return hashlib.blake2b(spelled, digest_size=DIGEST_BYTES).hexdigest()


class Overlap:
    """What is held out, as hashes, and which lines of the data overlap with the tests.

    tests: hashes of the held-back tests. dev: the passages that models are chosen by. lines: of
    each file, by its path in the folder of data, line numbers from 1.
    """

    def __init__(
        self,
        tests: Iterable[str] = (),
        dev: Iterable[Passage] = (),
        lines: dict[str, frozenset[int]] | None = None,
    ) -> None:
        passages = list(dev)
        self._tests = frozenset(tests)
        self._runs = frozenset(one for passage in passages for one in run_hashes(passage))
        self._sentences = frozenset(
            one for passage in passages for one in sentence_hashes(passage)
        )
        self._lines = lines or {}

    @classmethod
    def read(cls, folder: Path, dev: Iterable[Passage] = ()) -> "Overlap":
        """From the two lists in a folder of data. Raises OverlapError for one that is missing
        or damaged: without them nobody knows what a figure on the tests would be worth.
        """
        return cls(_hashes(folder / HASHES), dev, _lines(folder / LINES))

    def of(self, passage: Passage, *, sentences: bool = True) -> str | None:
        """What a text overlaps with: "tests", "dev", or None.

        sentences: whether a short sentence is enough. Labelled dialogs are judged by runs
        alone: one in sixteen holds a sentence such as "What are you doing here?" that stands
        in a test.
        """
        runs = set(run_hashes(passage))
        short = set(sentence_hashes(passage)) if sentences else set()
        if not self._tests.isdisjoint(runs | short):
            return "tests"
        shared = not self._runs.isdisjoint(runs) or not self._sentences.isdisjoint(short)
        return "dev" if shared else None

    def of_line(self, path: Path, line: int) -> bool:
        """Whether a line of a file of the data is listed as overlapping with the tests."""
        return line in self._lines.get(path.as_posix(), ())


def _hashes(path: Path) -> list[str]:
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            found = file.read().split()
    except (OSError, EOFError, ValueError) as error:
        raise OverlapError(f"{path} cannot be read: {error}") from error
    for one in found:
        if not re.fullmatch(rf"[0-9a-f]{{{2 * DIGEST_BYTES}}}", one):
            raise OverlapError(f"{path} holds {one[:40]!r}, which is no hash")
    return found


def _lines(path: Path) -> dict[str, frozenset[int]]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, frozenset[int]])
    except (OSError, msgspec.DecodeError) as error:
        raise OverlapError(f"{path} cannot be read: {error}") from error
