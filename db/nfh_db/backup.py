"""A copy of a database while others work in it: of one moment, complete, and looked through.

SQLite's backup copies page by page. The source's connection is held in one read
transaction meanwhile: with the write-ahead log that keeps nobody from writing, and the
copy never has to begin again, as it would have to whenever somebody wrote between two
steps. VACUUM INTO would be as consistent, but cannot be followed while it works, builds
everything anew, and so cannot copy a file in which something is broken.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from nfh_db import clock
from nfh_db.beside import path_beside, sweep
from nfh_db.connection import STILL, Connection, connect, identify, sqlite3
from nfh_db.disk import sync_folder
from nfh_db.errors import FullError, StoreError
from nfh_db.moment import BESIDE, at_one_moment
from nfh_db.open_files import beside
from nfh_db.upgrade import check_place

QUICK_CHECK = "PRAGMA quick_check(1)"
COUNTS = """
SELECT (SELECT count(*) FROM passage), (SELECT count(*) FROM anchor),
    (SELECT count(*) FROM answer), (SELECT count(*) FROM gold),
    (SELECT count(*) FROM event), (SELECT count(*) FROM draft)"""

REASONS = {
    "database or disk is full": errno.ENOSPC,
    "unable to open database file": errno.EACCES,
    "attempt to write a readonly database": errno.EACCES,
}
"""What SQLite says of a copy that cannot be written; its backup gives no code."""

PAGES_AT_ONCE = 2_000
"""Pages copied between two calls of `progress`: some 8 MB."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that was made. bytes: its size. answers: removed ones, too."""

    path: Path
    bytes: int
    passages: int
    anchors: int
    answers: int
    golds: int
    events: int
    drafts: int


Progress = Callable[[int, int], None]
"""Told the pages copied, and how many there are."""


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


def back_up(source: Path, target: Path, progress: Progress = _silent) -> Copied:
    """Copy the database `source` to `target`: a new file, or a folder to make one in.

    The copy holds all that was committed before the call, drafts too; it is written beside
    its place, checked, and then given its name. Raises StoreError and its kinds: for a name
    that is taken, a full disk, and a source that is no database of ours, or a damaged one.
    """
    check_place(source, create=False)
    place = target_of(source, target)
    with at_one_moment(source) as (reader, _):
        identify(reader, source)
        return copy_of(reader, source, place, progress)


def copy_of(
    reader: Connection, source: Path, place: Path, progress: Progress = _silent
) -> Copied:
    """Copy what a connection in a transaction sees to a new file, as `back_up` does."""
    counts = reader.execute(COUNTS).fetchone()
    with written(place) as partial:
        copy_pages(reader, partial, place, progress)
        _check_copy(partial, source, counts)
        size = partial.stat().st_size
    return Copied(place, size, *counts)


def target_of(source: Path, target: Path) -> Path:
    """The file that a copy will be: in a folder it is named after the database and the time.

    Raises StoreError where something stands there already, or there is no folder.
    """
    if target.is_dir():
        target /= dated_name(source)
    real = Path(os.path.realpath(source))
    taken = {real, *(beside(source, end) for end in BESIDE)}
    if Path(os.path.realpath(target)) in taken:
        raise StoreError(f"{target} is the database itself; name another file for the copy")
    if os.path.lexists(target):
        raise StoreError(
            f"{target} is there already; a backup never replaces a file. Name another"
        )
    if not target.parent.is_dir():
        raise StoreError(f"There is no folder {target.parent}: make it first")
    return target


def dated_name(source: Path, what: str = "backup") -> str:
    """A name for a copy made now, as in nfh-backup-20260131T120000123Z.db."""
    stamp = clock.now().replace(":", "").replace("-", "").replace(".", "")
    return f"{source.stem}-{what}-{stamp}{source.suffix}"


@contextlib.contextmanager
def written(place: Path) -> Iterator[Path]:
    """A file to be written beside `place`, which gets that name when the block ends well."""
    sweep(place.parent)
    partial = path_beside(place, "partial")
    try:
        yield partial
        _sync(partial)
        _give_name(partial, place)
    except OSError as error:
        raise FullError(_sentence(place, error)) from error
    finally:
        for file in (partial, *(beside(partial, end) for end in (*BESIDE, "-journal"))):
            with contextlib.suppress(OSError):
                file.unlink()
    sync_folder(place.parent)


def copy_pages(
    reader: Connection, partial: Path, place: Path, progress: Progress = _silent
) -> None:
    """Copy all pages that a reading connection sees into a new file.

    place: what the file is going to be called, for the sentences of the errors.
    """
    try:
        with closing(connect(partial, "rwc")) as writer:
            reader.backup(
                writer,
                pages=PAGES_AT_ONCE,
                progress=lambda _, remaining, total: progress(total - remaining, total),
            )
    except sqlite3.Error as error:
        raise _copy_error(error, place) from error


def _copy_error(error: sqlite3.Error, place: Path) -> StoreError:
    """What an error of the copying means; the backup does not say on which side it arose."""
    reason = REASONS.get(str(error))
    if reason is not None:
        return FullError(_sentence(place, OSError(reason, "")))
    return StoreError(
        f"No copy was made at {place}: the database cannot be read, or the copy not be written "
        f"({error}). Nothing was left behind; `nfh-tui doctor` tells whether the database is "
        "damaged"
    )


def _check_copy(partial: Path, source: Path, counts: tuple[int, ...]) -> None:
    """Open the copy, have SQLite look through it, and count what is in it."""
    try:
        with closing(connect(partial, STILL)) as copy:
            said = copy.execute(QUICK_CHECK).fetchone()[0]
            found = copy.execute(COUNTS).fetchone()
    except sqlite3.Error as error:
        said, found = str(error), None
    if said != "ok":
        raise StoreError(
            f"No copy was kept: what was copied from {source} is damaged ({said}), and so is "
            "the database. `nfh-tui doctor` says where; go back to an earlier backup"
        )
    if found != counts:
        raise StoreError(
            f"No copy was kept: it holds other numbers of rows than {source} does "
            f"({found} instead of {counts}). Check the disk, and try again"
        )


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _give_name(partial: Path, place: Path) -> None:
    """Name a file; a file of this name that came meanwhile stays."""
    try:
        os.link(partial, place)
    except FileExistsError as error:
        raise StoreError(f"{place} is there already; it was made just now") from error
    except OSError:
        # Some file systems have no second names: the name is taken first.
        try:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise StoreError(f"{place} is there already; it was made just now") from None
        partial.replace(place)


def _sentence(place: Path, error: OSError) -> str:
    reasons = {
        errno.ENOSPC: "the disk is full; make room or name another folder",
        errno.EDQUOT: "the disk quota is used up; make room or name another folder",
        errno.EROFS: "the file system is read-only; name another folder",
        errno.EACCES: "the folder or the disk cannot be written; name a folder that you may "
        "write to",
    }
    reason = reasons.get(error.errno or 0) or str(error.strerror or error)
    return f"No copy was made at {place}: {reason}. Nothing was left behind"
