"""How many anchors of the released development files the number grammar finds.

    python benchmarks/number_coverage.py [FOLDER] [--misses N]

FOLDER holds `identification/dev.tsv` and `resolution/nfh_dev.jsonl` (default: $NFH_DATA,
else ../shared/data beside the checkout). A span that the file gives is hit exactly, or
overlapped by a found one, or missed. The files cut and merge some numbers, and some of
their spans hold no number at all, so that 100 % is not to be had.
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from nfh_models.text.numbers import find_numbers

Span = tuple[int, int]
Row = tuple[int, list[str], list[int], Span]  # line, words, turn of each word, anchor


def identification(path: Path) -> Iterator[Row]:
    """The rows of the identification file: one turn each."""
    with path.open(encoding="utf-8", newline="") as lines:
        next(lines)
        for number, line in enumerate(lines, 2):
            text, start, end, _ = line.rstrip("\r\n").split("\t")
            words = text.split("_SEP_")
            yield number, words, [0] * len(words), (int(start), int(end))


def resolution(path: Path) -> Iterator[Row]:
    """The rows of the resolution file."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            anchor = row["anchors_indices"]
            yield number, row["tokens"], row["line_indices"], (anchor[0], anchor[-1] + 1)


def found(words: list[str], turns: list[int]) -> list[Span]:
    """What the grammar finds, turn by turn."""
    spans = []
    for _, members in groupby(range(len(words)), key=turns.__getitem__):
        places = list(members)
        turn = find_numbers(words[places[0] : places[-1] + 1])
        spans += [(places[0] + start, places[0] + end) for start, end in turn]
    return spans


def report(name: str, rows: list[Row], shown: int) -> None:
    """Print the figures of one file, and up to `shown` examples of each kind not hit."""
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {"overlaps": [], "missed": []}
    began = time.perf_counter()
    for row in rows:
        kind, ours = compare(row)
        counts[kind] += 1
        if kind in examples:
            examples[kind].append(example(row, ours))
    seconds = time.perf_counter() - began
    print(f"{name}: {len(rows):,} anchors in {seconds:.2f} s")
    for kind in ("exact", "overlaps", "missed"):
        print(f"  {kind:9} {counts[kind]:6,}  {counts[kind] / len(rows):7.2%}")
    for kind, lines in examples.items():
        for line in lines[:shown]:
            print(f"  {kind}, {line}")


def compare(row: Row) -> tuple[str, list[Span]]:
    """How the anchor of a row was hit, and the spans that touch it."""
    _, words, turns, (start, end) = row
    touching = [span for span in found(words, turns) if span[0] < end and span[1] > start]
    if (start, end) in touching:
        return "exact", touching
    return ("overlaps" if touching else "missed"), touching


def example(row: Row, ours: list[Span]) -> str:
    """A row in one line."""
    number, words, _, (start, end) = row
    release = " ".join(words[start:end])
    here = " | ".join(" ".join(words[a:b]) for a, b in ours)
    context = " ".join(words[max(0, start - 5) : end + 5])
    return f"line {number}: release '{release}', ours '{here}' in: {context}"


def main() -> None:
    """Print the figures of both files."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    default = os.environ.get("NFH_DATA", beside)
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--misses", type=int, default=0, help="how many of each kind to show")
    arguments = parser.parse_args()
    folder = Path(arguments.folder)
    tsv, jsonl = folder / "identification" / "dev.tsv", folder / "resolution" / "nfh_dev.jsonl"
    report("identification", list(identification(tsv)), arguments.misses)
    report("resolution", list(resolution(jsonl)), arguments.misses)


if __name__ == "__main__":
    main()
