"""Whether a release is whole: its sums, its files, and each line of them."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats import gold, nfh
from nfh_db.formats.reading import Source
from nfh_db.formats.wording import visible
from nfh_tui.releasing import SHEET
from nfh_tui.releasing_files import GOLD_END, NFH_END, SUMS

LINE = re.compile(r"([0-9a-f]{64}) [ *]([^/\\\n]+)")
CHUNK = 1 << 20
NAME_SHOWN = 200
LARGEST_SUMS = 10_000_000

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found. files: that the sums name. items: numbers in `gold` files that hold."""

    folder: str
    files: int
    items: int
    faults: tuple[str, ...]


def check(folder: Path, progress: Progress = lambda _: None) -> Checked:
    """Check a release: every fault is a sentence. ExportError for what is no release."""
    sums = _sums(folder)
    faults = list(_faults(folder, sums))
    items = 0
    seen: dict[str, str] = {}
    for name in sums:
        if not (name.endswith((GOLD_END, NFH_END)) and (folder / name).is_file()):
            continue
        try:
            for id_ in _ids(folder / name):
                if id_ is not None:
                    items += 1
                    progress(items)
                    other = seen.setdefault(id_, name)
                    if other != name:
                        faults.append(f"{visible(name)}: {id_} is also in {visible(other)}")
        except FormatError as error:
            faults.append(str(error))
    return Checked(str(folder), len(sums), items, tuple(faults))


def _sums(folder: Path) -> dict[str, str]:
    """The sums by name, in order. Raises ExportError where they cannot be read."""
    path = folder / SUMS
    shown = visible(str(folder), NAME_SHOWN)
    if not path.is_file():
        raise ExportError(f"{shown} is no release: wanted a folder with a file {SUMS} in it")
    if path.stat().st_size > LARGEST_SUMS:
        raise ExportError(f"{shown}: {SUMS} is larger than that of any release")
    found: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        match = LINE.fullmatch(line)
        if match is None or match[2] in found:
            raise ExportError(
                f'{shown}, {SUMS}, line {number}: found "{visible(line)}", wanted a SHA-256, '
                "two spaces and the name of a file, each once"
            )
        found[match[2]] = match[1]
    return found


def _faults(folder: Path, sums: dict[str, str]) -> Iterator[str]:
    """What is missing, changed, or too much."""
    if SHEET not in sums:
        yield f"{SUMS}: names no {SHEET}"
    if not any(name.endswith(GOLD_END) for name in sums):
        yield f"{SUMS}: names no file that ends in {GOLD_END}"
    for name, wanted in sums.items():
        path = folder / name
        if not path.is_file():
            yield f"{visible(name)}: is missing"
            continue
        found = _hash(path)
        if found != wanted:
            yield (
                f"{visible(name)}: was changed since: its SHA-256 is {found[:12]}…, wanted "
                f"{wanted[:12]}…"
            )
    for path in sorted(folder.iterdir()):
        if path.name not in sums and path.name != SUMS:
            yield f"{visible(path.name)}: is no file of this release"


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _ids(path: Path) -> Iterator[str | None]:
    """The id of each line of a `gold` file, None of each of `nfh`. Raises FormatError."""
    source = Source(path)
    if path.name.endswith(NFH_END):
        for _ in nfh.read(source):
            yield None
        return
    from nfh_tui.diffing_items import id_of

    for row in gold.read(source):
        yield id_of(row)
