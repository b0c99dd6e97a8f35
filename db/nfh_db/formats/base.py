"""What a format is: how it is told from others, read and written, and what it can hold."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Protocol

from nfh_db.formats.fields import decode
from nfh_db.formats.files import Content, Folder, Source
from nfh_db.formats.rows import LineWriter, ReadOptions, Row, Writing
from nfh_db.records import ExportRecord

OBJECT = re.compile(r'\s*\{\s*("|\}|$)')
"""How a line starts that means to be a JSON object; "{hm} yes" does not."""

LISTED = re.compile(r"\s*\[\s*\{")
"""How a JSON list of objects starts, which may be one line as long as the file."""

LOOKED_AT = 64 * 1024
"""Bytes of a file that the sniffing may look at besides its first line."""


class InputKind(StrEnum):
    """What a format comes as: a text file, a file of bytes, or a folder or zip of members."""

    TEXT = "text"
    BYTES = "bytes"
    FOLDER = "folder"


class What(StrEnum):
    """What the workbench knows of an anchor, and a file may hold or lose."""

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
    """How a format holds something.

    OWN: in its own terms, so that its tool shows and changes it. BESIDE: in the same file,
    under a key of ours that the tool hands on. SIDE: in a file of ours beside it. NO: not.
    """

    OWN = "own"
    BESIDE = "beside"
    SIDE = "side file"
    NO = "no"


Holds = Mapping[What, How]


def holds(how: How, **exceptions: How) -> Holds:
    """All of What is held `how`, but for the exceptions, named as the members of What."""
    return {what: exceptions.get(what.name, how) for what in What}


@dataclass(frozen=True, slots=True)
class First:
    """What the sniffing sees of a file: the first line with something in it, and its suffix.

    value: the line's JSON object, None where it holds none. suffix: ".tsv", lower case.
    start: the first 64 KiB of a text. head: the first bytes, of a file of bytes. names: the
    members, of a folder or zip, which `folder` opens. takes: which of the three it is.
    """

    text: str
    value: dict[str, object] | None
    suffix: str
    start: str = ""
    head: bytes = b""
    names: tuple[str, ...] = ()
    folder: Folder | None = None
    takes: InputKind = InputKind.TEXT

    @classmethod
    def of(cls, source: Source) -> "First":
        """Of a text. Raises FormatError if the first line cannot be read."""
        start = source.start(LOOKED_AT)
        listed = LISTED.match(start)
        text = start.lstrip().partition("\n")[0] if listed else source.first_row()
        value: object = None
        if OBJECT.match(text):
            try:
                value = decode(text)
            except ValueError:
                value = None
        return cls(
            text,
            value if isinstance(value, dict) else None,
            source.path.suffix.lower(),
            start=start,
        )

    @classmethod
    def of_bytes(cls, path: PurePath, head: bytes) -> "First":
        """Of a file of bytes that begins so."""
        return cls("", None, path.suffix.lower(), head=head, takes=InputKind.BYTES)

    @classmethod
    def of_folder(cls, folder: Folder) -> "First":
        """Of a folder or zip."""
        suffix = folder.path.suffix.lower()
        return cls("", None, suffix, names=folder.names, folder=folder, takes=InputKind.FOLDER)


class ChunkWriter(Protocol):
    """Makes one file of records. left_out: records it has no form for, by reason.

    Records come by passage and span, each anchor once.
    """

    left_out: Counter[str]

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """The file, piece by piece; as few records as can be are held at a time."""


class FolderWriter(Protocol):
    """Makes a folder or zip of records. left_out: records it has no form for, by reason."""

    left_out: Counter[str]

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        """Each member's name, with "/" in it for folders, and its bytes, or an open file that
        holds them; no name twice.
        """


Reader = Callable[[Any, ReadOptions], Iterator[Row]]
"""Yields the rows of a Source, Binary or Folder: what the format says that it takes."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    example: one line of it, "" where it is no lines. read: yields the rows of a file. sniff:
    why a file looks like this format, None if it does not. guess: its sniffing takes what no
    other format is sure of. writer, chunks, members: makes lines, a file, or a folder of
    records; none where the format can only be imported. takes: what `read` is given.
    labelled: rows say something of their anchors. carries_split: rows name their own split.
    names_people: rows are answers, and say whose. holds: what it can hold; None where it has
    no labels. settings: which of the settings of an import it heeds: columns, encoding, map,
    offsets, pause, window. limits: what it writes otherwise, a sentence; "" for nothing.
    extra: what to install for it besides this package; "" for nothing.
    """

    name: str
    extensions: tuple[str, ...]
    description: str
    example: str
    read: Reader
    sniff: Callable[[First], str | None]
    writer: Callable[[Writing], LineWriter] | None = None
    chunks: Callable[[Writing], ChunkWriter] | None = None
    members: Callable[[Writing], FolderWriter] | None = None
    labelled: bool = True
    carries_split: bool = False
    names_people: bool = False
    guess: bool = False
    takes: tuple[InputKind, ...] = (InputKind.TEXT,)
    holds: Holds | None = None
    settings: frozenset[str] = field(default_factory=frozenset)
    limits: str = ""
    extra: str = ""

    @property
    def writable(self) -> bool:
        """It can be exported."""
        return any((self.writer, self.chunks, self.members))

    @property
    def direction(self) -> str:
        """Which way it goes, in words."""
        return "import and export" if self.writable else "import only"
