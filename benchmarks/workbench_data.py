"""A database for the benchmarks of the screen: made once, kept where asked to."""

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from data import number_at, sentences

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingAnchor, IncomingPassage, Prediction, Role, Vote
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Passage, Token, Turn, class_answer

ANCHORS = 184_507
"""Rows of the identification release."""

PREDICTED = 2_000
"""Anchors, from the first, that have a prediction to draw as a heat map."""

SPEAKERS = ("Ann", "Bo", "Cy")


def passages(count: int, seed: int) -> Iterator[IncomingPassage]:
    """One anchor a passage, of one to three turns; every fifth has three answers."""
    source = random.Random(seed)
    for line, words in enumerate(sentences(count, seed), 1):
        tokens = []
        place = 0
        for word in words:
            tokens.append(Token(place, place + len(word), word))
            place += len(word) + 1
        cuts = sorted({0, len(words), *(source.randrange(1, len(words)) for _ in range(2))})
        turns = tuple(
            Turn(rank, SPEAKERS[rank % len(SPEAKERS)], start, end)
            for rank, (start, end) in enumerate(pairwise(cuts))
        )
        at = number_at(words)
        votes = _votes(source) if line % 5 == 0 else ()
        yield IncomingPassage(
            Passage(" ".join(words), tuple(tokens), turns),
            "words",
            (IncomingAnchor(line, Anchor(at, at + 1), split="train", votes=votes),),
        )


def _votes(source: random.Random) -> tuple[Vote, ...]:
    kinds = source.choices((Kind.AGE, Kind.TIME, Kind.OTHER), k=3)
    return tuple(
        Vote(f"ann{n}", Role.ANNOTATOR, class_answer(kind), "2025-01-01T00:00:00.000Z")
        for n, kind in enumerate(kinds, 1)
    )


def ready(path: Path, count: int = ANCHORS, seed: int = 3) -> Path:
    """The database, made if it is not there: half a minute for the release's size."""
    if path.exists():
        return path
    made = path.with_suffix(".part")
    made.unlink(missing_ok=True)
    with Store.open(made, create=True) as store:
        store.imports.load(IncomingFile("made", f"{seed:064d}", "gold"), passages(count, seed))
        predict(store, seed)
    made.rename(path)
    return path


def predict(store: Store, seed: int) -> None:
    """Give the first PREDICTED anchors a prediction, made up."""
    source = random.Random(seed)
    me = store.people.ensure("bench")
    model = store.models.ensure("made", "resolution", "nearest-noun", "1")
    ids = list(next(store.queue.ids(parse(""), me)))
    ids = [*ids, *range(ids[-1] + 1, ids[0] + PREDICTED)]
    found = []
    for anchor_id, (passage, _) in store.items.passages(ids).items():
        size = len(passage.tokens) + 6
        scores = tuple(source.random() if source.random() < 0.6 else None for _ in range(size))
        found.append((anchor_id, Prediction("made", "0", "1", 0.1, scores)))
    for start in range(0, len(found), 500):
        store.predictions.save(model, found[start : start + 500])
