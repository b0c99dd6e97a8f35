"""Errors of the store. Each message is a sentence: the fault, its place, and what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.messages import quoted, reason_of

if TYPE_CHECKING:
    from nfh_db.records import StaleLabels


@contextmanager
def raised_as(kind: type[Exception], *errors: type[Exception]) -> Iterator[None]:
    """Raise `kind`, with the same message, for errors of these types in the block."""
    try:
        yield
    except errors as error:
        raise kind(str(error)) from error


class StoreError(Exception):
    """The database cannot do what was asked. The message is shown to the user."""


class LikeNameError(StoreError):
    """A new name differs from known ones only by case, accents, width or white space."""

    def __init__(self, name: str, alike: Sequence[str]) -> None:
        from nfh_db.records import likeness

        known = " and ".join(
            f"{'' if likeness(one) == likeness(name) else 'a former name of '}{one!r}"
            for one in alike
        )
        super().__init__(
            f"{name!r} is new here and differs from {known} only by case, accents, width or "
            f"white space. If it is the same person, write {alike[0]!r}; if it is somebody "
            f"else, add that person first: nfh-tui people add {quoted(name)} --new-person. "
            "(import --new-person accepts the names of a file; nfh-tui people merge makes "
            "one person of two)"
        )
        self.name = name
        self.alike = alike


class NoFileError(StoreError):
    """There is no database at `path`, and the caller does not allow to create one."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"There is no database at {path}. Make one with `nfh-tui init` or "
            "`nfh-tui import FILE`, or name another with --db"
        )
        self.path = path


class NotOurFileError(StoreError):
    """The file is not an SQLite database, or a database of another program."""


class DamagedFileError(StoreError):
    """SQLite reports that the database is corrupt."""


class ForeignPartsError(StoreError):
    """The schema has triggers, views or other code that nfh-tui did not create."""


class UnreadableRowError(StoreError):
    """A row has content that nfh-tui never writes, such as invalid JSON or an unknown kind."""

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(
            f"{path} holds a row that cannot be read: {reason_of(error)}. `nfh-tui doctor` "
            "says which; a backup may have it intact"
        )


class NewerFileError(StoreError):
    """The database was written by a newer version of nfh-tui."""


class BusyError(StoreError):
    """Another process locked the database for longer than the timeout."""


class FullError(StoreError):
    """The disk is full, or writing to the file failed."""


class ReadOnlyError(FullError):
    """The database was opened for reading only. The message says why."""


class GoneError(StoreError):
    """The open database was moved, deleted or replaced: what is written would be lost."""

    rescue = ""
    """Outcome of saving the open database to another file, a sentence; "" if not tried."""

    def __str__(self) -> str:
        return ". ".join(filter(None, [super().__str__(), self.rescue]))


class ChangedSinceError(StoreError):
    """The data that this operation would change has been changed by somebody since."""


class StaleLabelsError(StoreError):
    """Replacing an anchor would make labels stale that the user has not confirmed."""

    def __init__(self, labels: "StaleLabels") -> None:
        super().__init__(
            f"{labels} by another span, without a question to you. Nothing was replaced: read "
            "the item again, and correct its span if you still want to"
        )
        self.labels = labels


class NotAllowedError(StoreError):
    """The person may change only their own answers and flags, and this act changed more."""


class FormatError(Exception):
    """A file cannot be imported. The message names file, line, field, value and expectation."""

    mapping = ""
    """Lines of a file for --map, of which the message speaks."""

    def __init__(self, name: str, line: int | None, message: str) -> None:
        place = f"{name}, line {line}" if line is not None else name
        super().__init__(f"{place}: {message}")
        self.name = name
        self.line = line


class QueryError(Exception):
    """A query is invalid, or not allowed in the role."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position
        """Code points from the start of the query."""


class ExportError(Exception):
    """An export failed. A file that existed under the name is unchanged."""
