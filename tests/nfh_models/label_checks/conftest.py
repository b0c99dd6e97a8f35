"""Passages for the checks, written as one line each."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

import pytest

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
from nfh_models.label_checks.base import (
    CheckContext,
    CheckedNumber,
    ImportedRow,
    LabelFinding,
    StatedAnswer,
)
from nfh_models.label_checks.checks import find_all
from nfh_models.text.tokens import lemmas


@dataclass(frozen=True)
class Kit:
    """What the tests build from."""

    @staticmethod
    def scene(
        line: str,
        *says: Kind | Answer,
        key: int = 1,
        rows: tuple[ImportedRow, ...] = (),
        who: str | None = None,
        noun: str | None = None,
        glue: str = " ",
    ) -> CheckContext:
        """A passage: "I saw a _dog_|NOUN / Buy *two*": turns parted by a slash.

        Words in asterisks are anchors (neighbours make one, unless a dot follows: *one*.),
        underscores mark heads of the last anchor, |TAG is a part of speech; one tag for any
        word means that a parser was there, and the rest is X. says: the answer of each
        anchor; REFERENCE takes the heads marked. noun: the free noun of the classes.
        """
        turns = [turn.split() for turn in line.split(" / ")]
        words, tags, marked, heads, text = [], [], [], [], ""
        tokens: list[tuple[int, int]] = []
        for turn in turns:
            for raw in turn:
                word, _, tag = raw.partition("|")
                if word.startswith("*") and word.rstrip(".").endswith("*") and len(word) > 2:
                    marked.append((len(words), word.endswith("*.")))
                    word = word.rstrip(".").strip("*")
                elif word.startswith("_") and word.endswith("_") and len(word) > 2:
                    heads.append(len(words))
                    word = word.strip("_")
                text += glue if text else ""
                tokens.append((len(text), len(text) + len(word)))
                text += word
                words.append(word)
                tags.append(tag)
        places = [
            Token(*place, lemma) for place, lemma in zip(tokens, lemmas(words), strict=True)
        ]
        spans, at = [], 0
        for number, turn in enumerate(turns):
            spans.append(Turn(number, None, at, at + len(turn)))
            at += len(turn)
        cases = []
        for anchor, said in zip(_spans(marked), says, strict=True):
            if said is Kind.REFERENCE:
                said = _reference(heads, words)
            elif isinstance(said, Kind):
                said = class_answer(said, noun=noun)
            cases.append(
                CheckedNumber(key * 100 + len(cases), anchor, (StatedAnswer(who, said),), rows)
            )
        passage = Passage(text, tuple(places), tuple(spans))
        known = [tag or "X" for tag in tags] if any(tags) else None
        return CheckContext(key, passage, tuple(cases), known)

    def found(self, line: str, *says: Kind | Answer, **more: object) -> dict[str, str]:
        """What all checks find in a passage: notes by the names of the checks."""
        return {one.check: one.note for one in self.findings(line, *says, **more)}

    def findings(self, line: str, *says: Kind | Answer, **more: object) -> list[LabelFinding]:
        """What all checks find in a passage."""
        return list(find_all(self.scene(line, *says, **more)))  # type: ignore[arg-type]


def _spans(marked: list[tuple[int, bool]]) -> list[Anchor]:
    spans: list[Anchor] = []
    ended = True
    for place, ends in marked:
        if not ended and spans and spans[-1].end == place:
            spans[-1] = Anchor(spans[-1].start, place + 1)
        else:
            spans.append(Anchor(place, place + 1))
        ended = ends
    return spans


def _reference(heads: list[int], words: list[str]) -> Answer:
    names = dict(zip(heads, lemmas([words[i] for i in heads]), strict=True))
    ordered = sorted(heads, key=lambda place: names[place])
    return reference_answer(
        [Mention(i, i + 1, i) for i in some]
        for _, some in groupby(ordered, key=lambda place: names[place])
    )


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Short names for what every test needs."""
    return Kit()


Found = Callable[..., dict[str, str]]


@pytest.fixture(scope="session")
def found(kit: Kit) -> Found:
    """What all checks find in one passage."""
    return kit.found
