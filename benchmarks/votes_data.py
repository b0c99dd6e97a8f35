"""A database of the release's size in which three people have answered every anchor."""

import random
from collections.abc import Iterator
from pathlib import Path

from data import number_at, sentences

from nfh_db.assignment_plan import AssignmentRequest
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingAnchor, IncomingPassage, Role, Vote
from nfh_db.store import Store
from nfh_models.domain import (
    IMPLICIT_KINDS,
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

ANCHORS = 184_507
"""Rows of the identification release."""

PEOPLE = ("ann1", "ann2", "ann3")
STRAYS = 0.12
"""How often a person says something else: three fourths of the items then are 3-0."""

AT = "2026-01-01T00:00:00.000Z"


def passages(count: int, seed: int) -> Iterator[IncomingPassage]:
    """One anchor a passage, answered by everybody; nothing is decided."""
    source = random.Random(seed)
    for line, words in enumerate(sentences(count, seed), 1):
        tokens, place = [], 0
        for word in words:
            tokens.append(Token(place, place + len(word), word))
            place += len(word) + 1
        at = number_at(words)
        others = [token for token in range(len(words)) if token != at]
        typical = _answer(source, others)
        votes = tuple(
            Vote(
                name,
                Role.ANNOTATOR,
                _answer(source, others) if source.random() < STRAYS else typical,
                AT,
                seconds=float(source.randint(2, 40)),
            )
            for name in PEOPLE
        )
        yield IncomingPassage(
            Passage(" ".join(words), tuple(tokens), (Turn(0, None, 0, len(tokens)),)),
            "words",
            (IncomingAnchor(line, Anchor(at, at + 1), split="train", votes=votes),),
        )


def _answer(source: random.Random, tokens: list[int]) -> Answer:
    """Six in ten a Reference to one word, the others a class or one of the ways out."""
    if source.random() < 0.6:
        token = source.choice(tokens)
        return reference_answer([[Mention(token, token + 1, token)]])
    if source.random() < 0.1:
        return class_answer(source.choice([Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN]))
    return class_answer(source.choice(IMPLICIT_KINDS))


def build(path: Path, count: int = ANCHORS, seed: int = 5) -> None:
    """Make the database, as an import of one file would: a minute for the release's size."""
    with Store.open(path, create=True) as store:
        store.imports.load(
            IncomingFile("three people", f"{seed:064d}", "gold"), passages(count, seed)
        )


def give_out(path: Path) -> None:
    """Give each anchor to one of the three, to be decided, as `nfh-tui assign` does."""
    with Store.open(path) as store:
        store.assignments.assign(
            parse(""), None, PEOPLE, AssignmentRequest(role=Role.ADJUDICATOR)
        )
