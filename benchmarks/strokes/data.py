"""Databases in which everybody has answered and nothing is decided, and the gold kept aside."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import AnchorItem, IncomingAnchor, IncomingPassage, Role, Vote
from nfh_db.store import Store
from nfh_models.domain import Answer
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import ImportOptions, import_file
from nfh_tui.services.models import ensure_packaged
from strokes.simulated import NAMES, Simulation

ME = "editor"
AT = "2026-01-01T00:00:00.000Z"

Voting = Callable[[AnchorItem], tuple[Vote, ...]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A database to work on, and what is right, by public id. made_up: the votes are."""

    path: Path
    gold: dict[str, Answer]
    made_up: bool = False

    def items(self) -> Iterator[AnchorItem]:
        """All of it, in the order of the queue."""
        with Store.open(self.path) as store:
            yield from _items(store)


def sample(folder: Path) -> Corpus:
    """The decided items of the sample corpus, with their annotators' answers."""
    source = _imported(folder / "sample-source.db", corpus_path(), "gold")
    return _voted(folder / "sample.db", source, annotators)


def simulated(folder: Path, dev: Path, seed: int, *, hard: bool = False) -> Corpus:
    """The release's development file, answered by made-up annotators.

    hard: only its References, and nobody has marked a noun that the gold has.
    """
    source = _imported(folder / "dev-source.db", dev, "nfh")
    simulation = Simulation(seed, hard=hard)

    def voting(item: AnchorItem) -> tuple[Vote, ...]:
        gold = item.gold
        if gold is None or (hard and not gold.answer.heads):
            return ()
        found = simulation.answers(gold.answer, item.passage, item.anchor)
        pairs = zip(NAMES, found, strict=True)
        return tuple(Vote(name, Role.ANNOTATOR, one, AT, seconds=10.0) for name, one in pairs)

    voted = _voted(folder / ("hard.db" if hard else "dev.db"), source, voting)
    return replace(voted, made_up=True)


def annotators(item: AnchorItem) -> tuple[Vote, ...]:
    """The answers that annotators gave."""
    return tuple(vote for vote in item.votes if vote.role is Role.ANNOTATOR)


def predict(corpus: Corpus) -> None:
    """Have the small model of the package answer every item."""
    with Store.open(corpus.path) as store:
        ensure_packaged(store)
    command = [sys.executable, "-m", "nfh_tui", "predict", "--db", str(corpus.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"predicting failed:\n{done.stderr}")


def _items(store: Store) -> Iterator[AnchorItem]:
    me = store.people.ensure(ME)
    for chunk in store.queue.ids(parse(""), me):
        for anchor_id in chunk:
            item = store.items.read(anchor_id, me, Role.ADJUDICATOR)
            if item is not None:
                yield item


def _imported(path: Path, file: Path, name: str) -> Path:
    if not path.exists():
        with Store.open(path, create=True) as store:
            import_file(store, Source(file), by_name(name), ImportOptions())
    return path


def _voted(path: Path, source: Path, voting: Voting) -> Corpus:
    """A database of the decided items of another, without the gold."""
    with Store.open(source) as store:
        items = [item for item in _items(store) if item.gold is not None]
    voted = [(item, votes) for item in items if (votes := voting(item))]
    with Store.open(path, create=True) as store:
        store.imports.load(
            IncomingFile(path.name, f"{len(voted):064d}", "gold"), _passages(voted)
        )
    gold = {item.public_id: item.gold.answer for item, _ in voted if item.gold is not None}
    return Corpus(path, gold)


def _passages(
    voted: Iterable[tuple[AnchorItem, tuple[Vote, ...]]],
) -> Iterator[IncomingPassage]:
    for line, (item, votes) in enumerate(voted, 1):
        anchor = IncomingAnchor(line, item.anchor, split="dev", votes=votes)
        yield IncomingPassage(item.passage, "words", (anchor,))
