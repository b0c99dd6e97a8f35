"""The declaration of a format (`Format`), what its sniffing sees of a file (`First`), what it
can hold (`What`, `How`), and the protocols of its writers.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Protocol

from nfh_db.formats.fields import decode
from nfh_db.formats.files import Content, Folder, Source
from nfh_db.formats.rows import LineWriter, ReadOptions, Row, Writing
from nfh_db.records import ExportRecord

OBJECT = re.compile(r'\s*\{\s*("|\}|$)')
"""The start of a JSON object; "{hm} yes" is none."""

LISTED = re.compile(r"\s*\[\s*\{")
"""The start of a JSON list of objects, which may be a single line."""

LOOKED_AT = 64 * 1024
"""Bytes of a file that the sniffing may read besides the first line."""


class InputKind(StrEnum):
    """What a format is read from: a text, a binary file, or a folder or zip of members."""

    TEXT = "text"
    BYTES = "bytes"
    FOLDER = "folder"


class What(StrEnum):
    """What the workbench knows of an anchor, which a format may hold or lose."""

    KIND = "kinds"
    HEADS = "several heads"
    RELATION = "relations"
    ORIGIN = "marked, added and removed mentions"
    SORT = "sorts of OTHER"
    NOUN = "nouns in words"
    COMMENT = "comments"
    VOTES = "who answered"
    TIME = "when, and how long"
    SEEN = "what was in view"
    FLAGS = "flags"
    GOLD = "gold"
    RULE = "how gold came to count"
    SPLIT = "splits"
    SPEAKERS = "speakers and turns"
    SAID_AT = "when it was said"
    TOKENS = "tokens"


class How(StrEnum):
    """How a format holds something."""

    OWN = "own"
    """In the format's own terms: its tool displays and changes it."""
    BESIDE = "beside"
    """In the same file, under a key of ours that the tool preserves."""
    SIDE = "side file"
    """In a file of ours beside it."""
    NO = "no"


Holds = Mapping[What, How]


def holds(how: How, **exceptions: How) -> Holds:
    """All of What held `how`, except for the members of What that are named."""
    return {what: exceptions.get(what.name, how) for what in What}


def each(how: How, names: str) -> dict[str, How]:
    """Exceptions for `holds`: members of What by their names, separated by spaces."""
    return dict.fromkeys(names.split(), how)


@dataclass(frozen=True, slots=True)
class First:
    """What the sniffing sees of a file."""

    text: str
    """The first line that is not blank."""
    value: dict[str, object] | None
    """The JSON object of that line."""
    suffix: str
    """In lower case, with its dot."""
    start: str = ""
    """The first 64 KiB of a text."""
    head: bytes = b""
    """The first bytes of a binary file."""
    names: tuple[str, ...] = ()
    """The members of a folder or zip."""
    folder: Folder | None = None
    takes: InputKind = InputKind.TEXT

    @classmethod
    def of(cls, source: Source) -> "First":
        """Raises FormatError if the first line cannot be read."""
        start = source.start(LOOKED_AT)
        listed = LISTED.match(start)
        text = start.lstrip().partition("\n")[0] if listed else source.first_row()
        value: object = None
        if OBJECT.match(text):
            with suppress(ValueError):
                value = decode(text)
        own = value if isinstance(value, dict) else None
        return cls(text, own, source.path.suffix.lower(), start=start)

    @classmethod
    def of_bytes(cls, path: PurePath, head: bytes) -> "First":
        return cls("", None, path.suffix.lower(), head=head, takes=InputKind.BYTES)

    @classmethod
    def of_folder(cls, folder: Folder) -> "First":
        suffix = folder.path.suffix.lower()
        return cls("", None, suffix, names=folder.names, folder=folder, takes=InputKind.FOLDER)


class ChunkWriter(Protocol):
    """Makes one file of records, which come by passage and span, each anchor once."""

    left_out: Counter[str]
    """Records that the format has no form for, by reason."""

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """The file in pieces, with few records in memory at a time."""


class FolderWriter(Protocol):
    """Makes a folder or zip of records, which come by passage and span, each anchor once."""

    left_out: Counter[str]
    """Records that the format has no form for, by reason."""

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        """The path of each member, with "/", and its bytes or an open file; no path twice."""


Reader = Callable[[Any, ReadOptions], Iterator[Row]]
"""Yields the rows of a Source, Binary or Folder, as `Format.takes` declares."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format."""

    name: str
    extensions: tuple[str, ...]
    description: str
    example: str
    """A line of a file; "" for a format without lines."""
    read: Reader
    sniff: Callable[[First], str | None]
    """Why a file is of this format; None if it is not."""
    writer: Callable[[Writing], LineWriter] | None = None
    """As `chunks` and `members`: makes lines, a file, or a folder; None if it does not."""
    chunks: Callable[[Writing], ChunkWriter] | None = None
    members: Callable[[Writing], FolderWriter] | None = None
    labelled: bool = True
    """Rows have labels of anchors."""
    carries_split: bool = False
    """Rows have a split."""
    names_people: bool = False
    """Rows are answers of named annotators."""
    guess: bool = False
    """Its sniffing accepts files that no other format is sure of."""
    takes: tuple[InputKind, ...] = (InputKind.TEXT,)
    """What `read` accepts."""
    holds: Holds | None = None
    """None for a format without labels."""
    settings: frozenset[str] = field(default_factory=frozenset)
    """The settings of an import that it uses: columns, count-rejected, encoding, map, offsets,
    pause, window.
    """
    limits: str = ""
    """A sentence on what it writes in another form."""
    extra: str = ""
    """What to install for it besides this package."""

    @property
    def writable(self) -> bool:
        """It can be exported."""
        return any((self.writer, self.chunks, self.members))

    @property
    def direction(self) -> str:
        """Whether it can be imported and exported, in words."""
        return "import and export" if self.writable else "import only"
