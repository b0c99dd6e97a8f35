"""A process that writes or reads one large file and says how much memory that took.

    python weigh.py write|read FORMAT PATH [ITEMS]

Printed is a JSON object: rows, and in bytes the size of the file and by how much the most
memory held grew from when a small file of the format had been done with.
"""

import json
import resource
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

from nfh_db.formats import gold
from nfh_db.formats.base import Format
from nfh_db.formats.files import Source, replacing, write_members
from nfh_db.formats.registry import by_name, origin_of, reading
from nfh_db.formats.rows import RawPassage, Writing
from nfh_db.records import ExportRecord
from nfh_models.domain import Passage, Token, anchor_id
from nfh_tui.sample import corpus_path

FEW = 200


def records() -> Iterator[ExportRecord]:
    """The sample's records without end, under new names of speakers each time."""
    rows = list(gold.read(Source(corpus_path())))
    for rank in count():
        for row in rows:
            passage = _passage(row.passage, rank)
            id_ = anchor_id(passage.digest, row.anchor)
            yield ExportRecord(
                id_, passage, row.anchor, "train", row.gold, row.votes, row.flags
            )


def _passage(raw: RawPassage, rank: int) -> Passage:
    tokens = tuple(Token(a, b, "") for a, b in zip(raw.starts, raw.ends, strict=True))
    turns = tuple(replace(turn, speaker=f"{turn.speaker} {rank}") for turn in raw.turns)
    return Passage(raw.text, tokens, turns)


def write(format_: Format, path: Path, given: Iterable[ExportRecord]) -> None:
    """Write records as the export does."""
    how = Writing()
    one_file = (format_.chunks or format_.writer) and path.suffix in format_.extensions
    if format_.members is not None and not one_file:
        write_members(path, format_.members(how).members(given))
        return
    with replacing(path) as file:
        if format_.chunks is not None:
            file.writelines(format_.chunks(how).chunks(given))
        elif format_.writer is not None:
            writer = format_.writer(how)
            lines = (writer.line(record) for record in given)
            file.writelines(line.encode("utf-8") for line in lines if line is not None)


def read(format_: Format, path: Path) -> int:
    """Read all rows, and keep none."""
    return sum(1 for _ in format_.read(origin_of(path, format_.takes), reading()))


def peak() -> int:
    """The most memory that this process held, in bytes.

    Of this program alone where the system tells: the usual figure goes on from that of the
    process that started it, so that a large parent hides what a child takes.
    """
    status = Path("/proc/self/status")
    if status.exists():
        high = next(row for row in status.read_text().splitlines() if row.startswith("VmHWM"))
        return int(high.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def size(path: Path) -> int:
    """Bytes of a file, or of all members of a folder."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def main() -> None:
    """Do it, and say what it took."""
    what, name, place, *more = sys.argv[1:]
    format_, path = by_name(name), Path(place)
    small = path.parent / f"small{path.suffix}"
    if what == "write":
        write(format_, small, islice(records(), FEW))
        before = peak()
        rows = int(more[0])
        write(format_, path, islice(records(), rows))
    else:
        read(format_, small)
        before = peak()
        rows = read(format_, path)
    print(json.dumps({"rows": rows, "size": size(path), "grown": peak() - before}))  # noqa: T201


if __name__ == "__main__":
    main()
