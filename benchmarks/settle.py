"""Votes settled, and a settlement taken back, while somebody answers beside it.

Makes a database of 184,507 anchors with three annotators' answers each, and prints seconds
and memory of a process that settles them all by majority and undoes that, with the 50th and
99th percentile of the commits of another store on the same file meanwhile; and the same
commits alone, as the measure.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from commit import AT, answers, show, timed
from data import number_at, sentences

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import Annotator, IncomingAnchor, IncomingPassage, Role, Rule, Vote
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

ANCHORS = 184_507
"""Rows of the identification release."""

BUDGET_BESIDE = 0.050
"""Seconds, of the 99th percentile of commits."""

CLASSES = [Kind.AGE, Kind.YEAR, Kind.CURRENCY, Kind.PEOPLE, Kind.TIME, Kind.OTHER]
DISSENT = 0.13
"""How often an annotator says something else: the paper's pairs agree in 82 of 100 cases."""

RESERVED = 2_000
"""Anchors, the last ones, that somebody answers meanwhile; not among those settled."""


def passages(count: int, seed: int = 1) -> Iterator[IncomingPassage]:
    """Sentences with one anchor and three answers each, nearly half of them References."""
    source = random.Random(seed)
    for line, words in enumerate(sentences(count, seed), start=1):
        tokens, place = [], 0
        for word in words:
            tokens.append(Token(place, place + len(word), word))
            place += len(word) + 1
        passage = Passage(" ".join(words), tuple(tokens), (Turn(0, None, 0, len(tokens)),))
        at = number_at(words)
        nouns = [token for token in range(len(words)) if token != at]
        usual = _answer(source, nouns)
        votes = tuple(
            Vote(
                f"ann{number}",
                Role.ANNOTATOR,
                _answer(source, nouns) if source.random() < DISSENT else usual,
                AT,
            )
            for number in (1, 2, 3)
        )
        yield IncomingPassage(
            passage, "words", (IncomingAnchor(line, Anchor(at, at + 1), votes=votes),)
        )


def _answer(source: random.Random, nouns: list[int]) -> Answer:
    if source.random() < 0.45:
        token = source.choice(nouns)
        return reference_answer([[Mention(token, token + 1, token)]])
    return class_answer(source.choice(CLASSES))


def work(path: Path) -> None:
    """Settle and undo, and print what each took; for a process of its own."""
    with Store.open(path) as store:
        me = store.people.ensure("settler")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        begun = time.perf_counter()
        report = store.settlement.run(parse("-by:eva"), Rule.MAJORITY, me)
        settled = time.perf_counter() - begun
        begun = time.perf_counter()
        undone = store.edits.undo(me)
        assert undone is not None
        seconds = time.perf_counter() - begun
    print(
        f"settled {report.new:,} of {report.anchors:,} anchors in {settled:.1f} s, "
        f"{report.changed} changed meanwhile; undone in {seconds:.1f} s, "
        f"{undone.skipped} skipped; processor time {time.process_time():.1f} s; "
        f"peak memory {_peak_memory():.0f} MB"
    )


def _peak_memory() -> float:
    """Of this process, in MB; what resource.getrusage tells counts its parent's, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def beside(path: Path, store: Store, me: Annotator, first: int) -> None:
    """Commits, a hundred a second at most, for as long as the other process works."""
    child = subprocess.Popen(
        [sys.executable, __file__, "--work", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    commit = answers(store, me, first)
    child.stdin.write("\n")
    child.stdin.flush()
    found = []
    while child.poll() is None:
        begun = time.perf_counter()
        commit(len(found) % RESERVED)
        found.append(time.perf_counter() - begun)
        time.sleep(0.01)
    print(child.stdout.read().strip())
    show("answer, beside it", sorted(found), BUDGET_BESIDE)


def measure(folder: Path, anchors: int) -> None:
    """Make the database, measure, print."""
    path = folder / "nfh.db"
    with Store.open(path, create=True) as store:
        begun = time.perf_counter()
        store.imports.load(IncomingFile("made up", "1", "gold"), passages(anchors))
        print(
            f"{anchors:,} anchors with three answers each: made in "
            f"{time.perf_counter() - begun:.0f} s, {path.stat().st_size / 1e6:.0f} MB, "
            f"{os.cpu_count()} CPUs"
        )
        me = store.people.ensure("eva")
        first = anchors - RESERVED + 1
        show("answer, alone", timed(RESERVED, answers(store, me, first)))
        beside(path, store, me, first)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anchors", type=int, default=ANCHORS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        work(options.work)
        return
    if options.anchors <= RESERVED:
        parser.error(f"give more than {RESERVED:,} anchors")
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), options.anchors)


if __name__ == "__main__":
    main()
