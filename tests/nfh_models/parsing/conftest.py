"""The releases' development files as rows, and passages made of words."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

from nfh_models.domain import Anchor, Passage, Token, Turn


@dataclass(frozen=True)
class ReleaseRow:
    """A row of a release file. turns: one number a word. head: None in identification."""

    words: list[str]
    turns: list[int]
    anchor: tuple[int, int]
    head: list[int] | list[str] | None = None


@pytest.fixture(scope="session")
def identification_rows(data_dir: Path) -> list[ReleaseRow]:
    """The identification release's development rows."""
    path = data_dir / "identification" / "dev.tsv"
    rows = []
    for line in path.read_text("utf-8").split("\n")[1:]:
        if line:
            text, start, end, _ = line.split("\t")
            words = text.split("_SEP_")
            rows.append(ReleaseRow(words, [0] * len(words), (int(start), int(end))))
    return rows


@pytest.fixture(scope="session")
def resolution_rows(data_dir: Path) -> list[ReleaseRow]:
    """The resolution release's development rows."""
    path = data_dir / "resolution" / "nfh_dev.jsonl"
    rows = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        anchor = row["anchors_indices"]
        span = (anchor[0], anchor[-1] + 1)
        rows.append(ReleaseRow(row["tokens"], row["line_indices"], span, row["head"]))
    return rows


PassageMaker = Callable[[list[str], list[int]], Passage]


@pytest.fixture(scope="session")
def make_passage() -> PassageMaker:
    """Makes a passage of words and their turn numbers, one space between words."""

    def make(words: list[str], turns: list[int]) -> Passage:
        tokens = []
        place = 0
        for word in words:
            tokens.append(Token(place, place + len(word), word.lower()))
            place += len(word) + 1
        spans = []
        for number, members in groupby(range(len(words)), key=turns.__getitem__):
            places = list(members)
            spans.append(Turn(number, None, places[0], places[-1] + 1))
        return Passage(" ".join(words), tuple(tokens), tuple(spans))

    return make


@pytest.fixture(scope="session")
def anchored(make_passage: PassageMaker) -> Callable[[str], tuple[Passage, Anchor]]:
    """Makes a passage of one turn; the anchor is the word in asterisks."""

    def make(sentence: str) -> tuple[Passage, Anchor]:
        words = sentence.split()
        at = next(i for i, word in enumerate(words) if word.startswith("*"))
        words[at] = words[at].strip("*")
        return make_passage(words, [0] * len(words)), Anchor(at, at + 1)

    return make
