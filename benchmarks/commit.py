"""Answers committed: what a person waits for, alone and while an import runs beside.

Makes a database, commits 1,000 answers one after the other, and prints the median and the
99th percentile; the same again while a second process imports a file; and, in the same run,
one-row commits with the same pragmas, as the measure of the disk.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from data import number_at, sentences

from nfh_db.connection import connect, prepare_writer
from nfh_db.import_run import IncomingFile
from nfh_db.records import Annotator, Gold, IncomingAnchor, IncomingPassage, Role, Rule, Vote
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)

BUDGET_ALONE, BUDGET_BESIDE = 0.010, 0.050
"""Seconds, of the 99th percentile."""

AT = "2026-01-01T00:00:00.000Z"


def passages(count: int, seed: int) -> Iterator[IncomingPassage]:
    """Sentences with one anchor each; every third has two annotators' answers."""
    for line, words in enumerate(sentences(count, seed), start=1):
        tokens, place = [], 0
        for word in words:
            tokens.append(Token(place, place + len(word), word))
            place += len(word) + 1
        passage = Passage(" ".join(words), tuple(tokens), (Turn(0, None, 0, len(tokens)),))
        at = number_at(words)
        votes = tuple(
            Vote(name, Role.ANNOTATOR, class_answer(kind), AT)
            for name, kind in (("ann1", Kind.AGE), ("ann2", Kind.OTHER))
            if line % 3 == 0
        )
        gold = None if votes else Gold(class_answer(Kind.NFH), Rule.IMPORTED)
        anchor = IncomingAnchor(line, Anchor(at, at + 1), gold=gold, votes=votes)
        yield IncomingPassage(passage, "words", (anchor,))


def make(path: Path, anchors: int) -> None:
    """A database of made-up sentences."""
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("made up", "1", "gold"), passages(anchors, 1))


def timed(count: int, act: Callable[[int], object]) -> list[float]:
    """Seconds of each of `count` acts, ascending."""
    found = []
    for number in range(count):
        begun = time.perf_counter()
        act(number)
        found.append(time.perf_counter() - begun)
    return sorted(found)


def answers(store: Store, me: Annotator, first: int) -> Callable[[int], object]:
    """Commits an answer to one anchor after the other, a Reference and a class in turn."""
    reference = reference_answer([[Mention(0, 1, 0)]])
    given = (reference, class_answer(Kind.AGE, comment="as before"))

    def commit(number: int) -> object:
        return store.edits.commit_answer(first + number, me, Role.ANNOTATOR, given[number % 2])

    return commit


def bare(path: Path) -> Callable[[int], object]:
    """Commits one row of one table, with the pragmas that the store writes with."""
    connection = connect(path, "rwc")
    prepare_writer(connection, path)
    connection.execute("CREATE TABLE line (id INTEGER PRIMARY KEY, body TEXT) STRICT")

    def commit(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO line (body) VALUES (:body)", {"body": str(number)})
        connection.execute("COMMIT")

    return commit


def show(what: str, found: Sequence[float], budget: float | None = None) -> tuple[float, float]:
    """Print, and give, the median and the 99th percentile."""
    middle, late = found[len(found) // 2], found[int(len(found) * 0.99)]
    limit = "" if budget is None else f" (budget {budget * 1e3:.0f} ms)"
    print(
        f"{what}: p50 {middle * 1e3:.2f} ms, p99 {late * 1e3:.2f} ms{limit}, "
        f"longest {found[-1] * 1e3:.2f} ms, {len(found):,} commits"
    )
    return middle, late


def beside_an_import(path: Path, store: Store, me: Annotator, count: int) -> list[float]:
    """Seconds of each commit while another process imports."""
    importer = subprocess.Popen(
        [sys.executable, __file__, "--import-into", str(path)], stdout=subprocess.PIPE
    )
    assert importer.stdout is not None
    importer.stdout.readline()
    found = timed(count, answers(store, me, count + 1))
    if importer.poll() is not None:
        print("the import ended before the commits did: its figure says too little")
    importer.kill()
    importer.wait()
    return found


def import_into(path: Path) -> None:
    """Import for as long as it is let; says so once it is under way."""
    told: list[int] = []

    def progress(rows: int) -> None:
        if not told:
            print("running", flush=True)
        told[:] = [rows]

    with Store.open(path) as store:
        store.imports.load(
            IncomingFile("beside", "2", "gold"), passages(2_000_000, 2), progress=progress
        )


def measure(folder: Path, anchors: int, count: int) -> None:
    """Make the database, measure, print."""
    path = folder / "nfh.db"
    make(path, anchors)
    print(f"{anchors:,} anchors, {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} CPUs")
    middle, late = show("bare one-row commit", timed(count, bare(folder / "bare.db")))
    with Store.open(path) as store:
        me = store.people.ensure("eva")
        alone = show("answer, alone", timed(count, answers(store, me, 1)), BUDGET_ALONE)
        print(
            f"  ratio to the bare commit: p50 {alone[0] / middle:.1f}, "
            f"p99 {alone[1] / late:.1f}"
        )
        beside = show(
            "answer, beside an import",
            beside_an_import(path, store, me, count),
            BUDGET_BESIDE,
        )
        print(
            f"  ratio to the bare commit: p50 {beside[0] / middle:.1f}, "
            f"p99 {beside[1] / late:.1f}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anchors", type=int, default=20_000)
    parser.add_argument("--commits", type=int, default=1_000)
    parser.add_argument("--import-into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_into is not None:
        import_into(options.import_into)
        return
    if options.anchors < 2 * options.commits:
        parser.error("give at least twice as many anchors as commits")
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), options.anchors, options.commits)


if __name__ == "__main__":
    main()
