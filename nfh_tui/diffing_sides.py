"""What can be compared: a release, a `gold` or `nfh` file, a database; and its items."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from nfh_db.errors import StoreError
from nfh_db.formats import gold, nfh
from nfh_db.formats.format import First
from nfh_db.formats.reading import Origin, Source
from nfh_db.formats.registry import GOLD, NFH, sniffed
from nfh_db.formats.wording import shown, visible
from nfh_db.pairing import Entry
from nfh_tui.diffing_items import (
    Item,
    form_of_label,
    form_of_record,
    form_of_row,
    of_ballot,
    of_row,
)
from nfh_tui.formats.registry import formats
from nfh_tui.releasing_files import GOLD_END, NFH_END

if TYPE_CHECKING:
    from nfh_db.store import Store

SQLITE = b"SQLite format 3\0"
"""How a database's file begins (https://www.sqlite.org/fileformat.html)."""

WHAT = "wanted the folder of a release, a gold or nfh file, or a database"

Sort = Literal["release", "gold", "nfh", "database"]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two. name: as it is shown. files: of a release, or the one file."""

    path: Path
    name: str
    sort: Sort
    files: tuple[Path, ...] = ()


def side_of(path: Path) -> Side:
    """What a path is. Raises FormatError for what cannot be compared."""
    origin = Origin(path)
    if path.is_dir():
        files = sorted(path.glob(f"*{GOLD_END}"))
        if not files:
            raise origin.error(None, f"is a folder without any file *{GOLD_END}; {WHAT}")
        return Side(path, origin.name, "release", tuple(files))
    if _is_database(path):
        return Side(path, origin.name, "database")
    return Side(path, origin.name, _sort_of(Source(path)), (path,))


def _is_database(path: Path) -> bool:
    """True for a file of SQLite; what cannot be read is refused by whoever reads it as text."""
    try:
        # Only of a file: a pipe could be read once, and opening one may wait for ever.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def rules_of(side: Side) -> tuple[int, str] | None:
    """Version and text of the guidelines that a side names; None where it names none."""
    if side.sort == "database":
        with _whole(side.path) as store:
            held = store.guideline()
        return None if held is None else (held.version, held.body)
    if side.sort != "release":
        return None
    found = {}
    for path in side.path.glob("guidelines-v*.md"):
        number = path.stem.removeprefix("guidelines-v")
        if number.isascii() and number.isdigit():
            found[int(number)] = path
    if not found:
        return None
    last = max(found)
    return last, found[last].read_bytes().decode("utf-8", "replace")


def _sort_of(source: Source) -> Literal["gold", "nfh"]:
    """Which of the two formats a file is of. Raises FormatError."""
    first = First.of(source)
    found = sniffed(source, first, formats())
    if found is None:
        raise source.error(None, f"it starts with {shown(first.text)}; {WHAT}")
    format_, _ = found
    if format_ not in (GOLD, NFH):
        raise source.error(
            None,
            f"is of the format {format_.name}; {WHAT}. Import it, and compare the database",
        )
    return "gold" if format_ is GOLD else "nfh"


def in_form(left: Side, right: Side) -> bool:
    """True where no more can be compared than the release's form has."""
    return "nfh" in (left.sort, right.sort)


def entries(side: Side, *, form: bool, progress: Progress) -> Iterator[Entry]:
    """The items of a side, to be paired. form: only what the release's form has.

    Raises FormatError for a line that does not hold, StoreError for a database that cannot
    be read.
    """
    encoder = msgspec.msgpack.Encoder()
    for number, item in enumerate(_items(side, form=form), 1):
        progress(number)
        yield Entry(
            item.key,
            item.passage,
            item.start,
            item.stop,
            item.spot,
            encoder.encode(item.body),
            encoder.encode(item.look),
        )


def _items(side: Side, *, form: bool) -> Iterator[Item]:
    if side.sort == "database":
        yield from _of_database(side.path, form=form)
        return
    files = _forms(side) if form else side.files
    for path in files:
        # In a release a file is known by its own name; else by what was typed.
        place = visible(path.name) if side.sort == "release" else side.name
        yield from _of_file(path, place, form=form)


def _forms(side: Side) -> tuple[Path, ...]:
    """The files of a side that has a form of its own: of a release those of `nfh`."""
    if side.sort != "release":
        return side.files
    return tuple(sorted(side.path.glob(f"*{NFH_END}")))


def _of_file(path: Path, place: str, *, form: bool) -> Iterator[Item]:
    source = Source(path)
    if form and (path.name.endswith(NFH_END) or _sort_of(source) == "nfh"):
        for label in nfh.read(source):
            yield form_of_label(label, place)
        return
    for row in gold.read(source):
        if not form:
            yield of_row(row, place)
            continue
        item = form_of_row(row, place)
        if item is not None:
            yield item


def _whole(path: Path) -> "Store":
    """A database of which all is seen: what is not would be told as a change."""
    from nfh_db.store import Store

    store = Store.open_to_read(path)
    if store.unseen:
        store.close()
        raise StoreError(store.unseen)
    return store


def _of_database(path: Path, *, form: bool) -> Iterator[Item]:
    from nfh_db.query import parse

    with _whole(path) as store, store.frozen() as frozen:
        if not form:
            for ballot in frozen.ballots(parse("")):
                yield of_ballot(ballot)
            return
        for number, record in enumerate(frozen.rows(parse("")), 1):
            item = form_of_record(record, number, visible(path.name))
            if item is not None:
                yield item
