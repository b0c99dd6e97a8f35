"""Errors of the data layer: each is a sentence that says what, where, and what to do."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_db.records import StaleLabels


SHOWN_OF_A_CELL = 200
"""Characters of what stands in a row that a sentence repeats at most."""


class StoreError(Exception):
    """Something about the database file. The message is meant for the person."""


class NoFileError(StoreError):
    """There is no database at `path`, and none may be made."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"There is no database at {path}. Make one with `nfh-tui init` or "
            "`nfh-tui import FILE`, or name another with --db"
        )
        self.path = path


class NotOurFileError(StoreError):
    """The file is no database, or another program's."""


class DamagedFileError(StoreError):
    """SQLite cannot make sense of the pages of a database."""


class ForeignPartsError(StoreError):
    """The database holds triggers, views or other programs that nfh-tui did not make."""


class UnreadableError(StoreError):
    """A row holds what nfh-tui does not write: no JSON, no class, no such marks."""

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(
            f"{path} holds a row that cannot be read: {str(error)[:SHOWN_OF_A_CELL]}. "
            "`nfh-tui doctor` says which; a backup may have it as it was"
        )


class NewerFileError(StoreError):
    """The database was written by a newer version of nfh-tui."""


class BusyError(StoreError):
    """Another process holds the file for longer than we wait."""


class FullError(StoreError):
    """The disk is full, or the file cannot be written."""


class ReadOnlyError(FullError):
    """The database was opened where nothing can be written."""


class GoneError(StoreError):
    """An open file has been moved, deleted or replaced: what is written would be lost.

    rescue: what became of writing all of it to another file, in a sentence.
    """

    rescue = ""

    def __str__(self) -> str:
        """Both sentences."""
        return ". ".join(filter(None, [super().__str__(), self.rescue]))


class ChangedSinceError(StoreError):
    """An undo or redo meets a state that somebody changed since."""


class StaleLabelsError(StoreError):
    """Replacing an anchor would make labels stale that nobody was asked about."""

    def __init__(self, labels: "StaleLabels") -> None:
        super().__init__(
            f"{labels} by another span, and nobody was asked. Nothing was replaced: look at "
            "the item again, and give its number another span if you still want to"
        )
        self.labels = labels


class NotAllowedError(StoreError):
    """Somebody asks to change what they were not invited to change."""


class FormatError(Exception):
    """A file that cannot be imported: names file, line, column or field, found, wanted."""

    def __init__(self, name: str, line: int | None, message: str) -> None:
        place = f"{name}, line {line}" if line is not None else name
        super().__init__(f"{place}: {message}")
        self.name = name
        self.line = line


class QueryError(Exception):
    """A queue query that cannot be understood. position: code points into the query."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


class ExportError(Exception):
    """A file that cannot be written. What stood in its place is untouched."""
