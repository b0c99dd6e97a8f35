"""How long formats take to read and write, beside json.loads and json.dumps of the same bytes.

    python benchmarks/formats.py [--items 100000] [--format prodigy ...]

The items are those of the sample corpus, each with its votes, flags and gold, under ever new
names of speakers, so that no two passages are the same. Of each format: its file is written,
then read to rows; what the corpus takes to be made, and the disk, are not counted. Then the
bytes are given to json.loads, item by item, and what comes of it to json.dumps. Printed is the
processor's time of each, and how often the one goes into the other. Formats that are no JSON
have times and no ratio.
"""

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count, groupby, islice
from pathlib import Path

from nfh_db.formats.base import Format
from nfh_db.formats.files import replacing, write_members
from nfh_db.formats.registry import by_name, formats, origin_of, reading
from nfh_db.formats.rows import Writing
from nfh_db.records import ExportRecord
from nfh_models.domain import Passage, anchor_id
from nfh_tui.sample import corpus_path

JSON = (".json", ".jsonl")


class Items:
    """Records to write, made while nobody's clock runs. seconds: what making them took."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seconds = 0.0
        sys.path.append(str(Path(__file__).parents[1]))
        from tools.sample_corpus import corpus_records

        found = corpus_records(corpus_path().parent / "dialogs")
        self._sample = [
            list(group)
            for _, group in groupby((r for _, r in found), key=lambda r: r.passage.digest)
        ]

    def __iter__(self) -> Iterator[ExportRecord]:
        endless = self._endless()
        for _ in range(self.number):
            began = time.process_time()
            record = next(endless)
            self.seconds += time.process_time() - began
            yield record

    def _endless(self) -> Iterator[ExportRecord]:
        for rank in count():
            for group in self._sample:
                passage = _renamed(group[0].passage, rank)
                digest = passage.digest
                for record in group:
                    public_id = anchor_id(digest, record.anchor)
                    yield replace(record, passage=passage, public_id=public_id, split="train")


def _renamed(passage: Passage, rank: int) -> Passage:
    turns = tuple(
        replace(turn, speaker=f"{turn.speaker or 'Nobody'} {rank}") for turn in passage.turns
    )
    return Passage(passage.text, passage.tokens, turns)


@dataclass
class Times:
    """Seconds. loads, dumps: of json alone; None where the file is no JSON."""

    written: float
    read: float
    rows: int
    size: int
    loads: float | None = None
    dumps: float | None = None

    def told(self, name: str) -> str:
        """One line."""
        line = (
            f"{name:16} {self.rows:>9,} rows {self.size / 1e6:>8.1f} MB   "
            f"in {self.read:>7.2f} s   out {self.written:>7.2f} s"
        )
        if self.loads is None or self.dumps is None:
            return line
        return (
            f"{line}   loads {self.loads:>6.2f} s, {self.read / self.loads:>5.2f} times   "
            f"dumps {self.dumps:>6.2f} s, {self.written / self.dumps:>5.2f} times"
        )


def measured(format_: Format, items: Items, folder: Path) -> Times:
    """Write and read one format."""
    path = folder / f"file{format_.extensions[0] if _is_one_file(format_) else ''}"
    items.seconds = 0.0
    began = time.process_time()
    _write(format_, items, path)
    written = time.process_time() - began - items.seconds
    if format_.members is not None and not path.exists():
        write_members(path, format_.members(Writing()).members(items))
    source = origin_of(path, format_.takes)
    gc.collect()
    gc.freeze()
    began = time.process_time()
    rows = sum(1 for _ in format_.read(source, reading()))
    read = time.process_time() - began
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    times = Times(written, read, rows, sum(file.stat().st_size for file in files))
    if any(file.suffix in JSON for file in files):
        times.loads, times.dumps = alone(_pieces(files))
    return times


def _is_one_file(format_: Format) -> bool:
    return format_.writer is not None or format_.chunks is not None


def _write(format_: Format, items: Iterable[ExportRecord], path: Path) -> None:
    how = Writing()
    if format_.chunks is not None:
        with replacing(path) as file:
            file.writelines(format_.chunks(how).chunks(items))
    elif format_.writer is not None:
        writer = format_.writer(how)
        with replacing(path) as file:
            for record in items:
                line = writer.line(record)
                if line is not None:
                    file.write(line.encode("utf-8"))
    elif format_.members is not None:
        for _ in format_.members(how).members(items):
            pass  # What a file system takes for ten thousand of them is not the format's.


def _pieces(files: Iterable[Path]) -> Iterator[str]:
    """The JSON values of files: their lines, the items of an array with an item a line, or
    each file as a whole."""
    for path in sorted(path for path in files if path.suffix in JSON):
        with path.open(encoding="utf-8", newline="\n") as file:
            first = file.readline()
            if not (_item(first) in ("", "[") or _is_json(_item(first))):
                yield first + file.read()
                continue
            yield from filter(None, map(_item, chain((first,), file)))


def _item(line: str) -> str:
    piece = line.strip().rstrip(",")
    piece = piece.removeprefix("[") if piece.startswith("[{") else piece
    return "" if piece in ("[", "]") else piece


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def alone(pieces: Iterator[str]) -> tuple[float, float]:
    """Seconds of json.loads and json.dumps, a thousand values at a time."""
    loads = dumps = 0.0
    while word_span := list(islice(pieces, 1000)):
        began = time.process_time()
        values = [json.loads(piece) for piece in word_span]
        between = time.process_time()
        for value in values:
            json.dumps(value)
        loads += between - began
        dumps += time.process_time() - between
    return loads, dumps


def main() -> None:
    """Measure, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--items", type=int, default=100_000)
    options.add_argument("--format", nargs="*", default=[])
    given = options.parse_args()
    names = given.format or [f.name for f in formats() if f.writable]
    items = Items(given.items)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            print(measured(by_name(name), items, Path(folder)).told(name), flush=True)


if __name__ == "__main__":
    main()
