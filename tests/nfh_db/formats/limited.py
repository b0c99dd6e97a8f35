"""A process that may take little memory, and reads files that say they are large.

    python limited.py FORMAT SMALL PATH...

SMALL, a file of the same kind, is read first, so that all libraries are loaded; from then on
the process may grow by ROOM bytes. Printed is what the reader says of each PATH, a line each.
The exit status is 3 where the memory did not suffice.
"""

import resource
import sys
from collections.abc import Callable
from pathlib import Path

from nfh_db.errors import FormatError
from nfh_db.formats.registry import opened, reading
from nfh_models import ModelsError

ROOM = 300 * 1024 * 1024


def read(path: Path, name: str | None) -> str:
    """How many rows a file has, or why it is refused."""
    try:
        found = opened(path, name)
        return str(sum(1 for _ in found.format.read(found.source, reading())))
    except FormatError as error:
        return str(error)


def vectors(path: Path, _: str | None) -> str:
    """The same of word vectors."""
    from nfh_models.resolution.word_vectors import read_vector_file

    try:
        return str(sum(1 for _ in read_vector_file(path, {"three"}, 10)))
    except ModelsError as error:
        return str(error)


def scanned(path: Path, _: str | None) -> str:
    """The same of a text that is scanned: how many blocks it has."""
    from nfh_tui.scanning.blocks import UnreadableError, blocks
    from nfh_tui.scanning.blocks import opened as opened_text

    try:
        with opened_text(str(path)) as reader:
            return str(sum(1 for _ in blocks(reader, per_line=False)))
    except UnreadableError as error:
        return str(error)


READERS: dict[str, Callable[[Path, str | None], str]] = {"vectors": vectors, "scan": scanned}


def main() -> None:
    """Do it."""
    name, small, *paths = sys.argv[1:]
    reader = READERS.get(name, read)
    sys.stderr.write(f"{reader(Path(small), name)}\n")
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    taken = next(int(row.split()[1]) for row in status if row.startswith("VmSize")) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, taken + ROOM))
    try:
        for path in map(Path, paths):
            # The content has to tell the format, too.
            asked = {name, name if name in READERS else None}
            said = {reader(path, one) for one in asked}
            print(" / ".join(sorted(said)), flush=True)  # noqa: T201
    except MemoryError:
        sys.exit(3)


if __name__ == "__main__":
    main()
