"""A path opened as what it is: a text, bytes, or a folder; and what format that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfh_db.formats.folders import ZIP_MARK, Binary, Folder
from nfh_db.formats.format import First, Format, Takes
from nfh_db.formats.reading import Origin, Source
from nfh_db.formats.registry import check_choice, recognise, sniffed
from nfh_tui.formats.registry import by_name, formats
from nfh_tui.formats.third_party import taken_troubles

HEAD = 4096
"""Bytes that tell a binary file from a text."""

ZLIB_MARK = b"x\x9c"
"""How what zlib packed begins, which is no UTF-8; a small one may hold no NUL."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was looked at: it can be read, and its format is known.

    reason: why it is of that format; "" where somebody named it.
    """

    source: Origin
    format: Format
    reason: str = ""


def opened(path: Path, name: str | None = None, encoding: str | None = None) -> Opened:
    """A path with its format: that of a name, or the one that its content shows.

    Raises FormatError where it cannot be read, or has no format that is known.
    """
    if name is None:
        found = _told(path, formats(), encoding)
        found.source.warnings.extend(taken_troubles())
        return found
    format_ = by_name(name)
    source = origin_of(path, format_.takes, encoding, "encoding" in format_.settings)
    if isinstance(source, Source):
        check_choice(source, format_)
    return Opened(source, format_)


def origin_of(
    path: Path,
    takes: Sequence[Takes] = tuple(Takes),
    encoding: str | None = None,
    encodable: bool | None = None,
) -> Origin:
    """A path opened as one of what a format takes. Raises FormatError.

    encodable: whether the format is read in other encodings than UTF-8.
    """
    kind = _kind(path, encoding)
    if kind is Takes.FOLDER and Takes.FOLDER in takes:
        return Folder(path)
    if Takes.BYTES in takes and (kind is Takes.BYTES or Takes.TEXT not in takes):
        return Binary(path)
    source = Source(path, encoding, encodable)
    if Takes.TEXT not in takes:
        raise source.error(None, "is neither a folder nor a zip file; wanted one of them")
    return source


def _kind(path: Path, encoding: str | None) -> Takes:
    """What a path is, as far as its first bytes tell; a text where they cannot be read, or an
    encoding was named.
    """
    if path.is_dir():
        return Takes.FOLDER
    head = _head(path)
    if head.startswith(ZIP_MARK):
        return Takes.FOLDER
    if encoding is not None:
        return Takes.TEXT
    binary = b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return Takes.BYTES if binary or head.startswith(ZLIB_MARK) else Takes.TEXT


def _head(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def _told(path: Path, among: Sequence[Format], encoding: str | None) -> Opened:
    kind = _kind(path, encoding)
    if kind is Takes.TEXT:
        source = Source(path, encoding)
        format_, reason = recognise(source, among)
        source.encodable = "encoding" in format_.settings
        return Opened(source, format_, reason)
    head = _head(path)
    is_folder = kind is Takes.FOLDER
    origin = Folder(path) if is_folder else Binary(path)
    first = (
        First.of_folder(origin) if isinstance(origin, Folder) else First.of_bytes(path, head)
    )
    found = sniffed(origin, first, among)
    if found is None:
        if kind is Takes.BYTES:
            Source(path, encoding)  # which says where the NUL bytes are
        fit = ", ".join(one.name for one in among if kind in one.takes)
        what, hint = (
            ("folder or zip", "; or name the files in it") if is_folder else ("file", "")
        )
        raise origin.error(
            None,
            f"its format is not known; a {what} can be, with --format: {fit}{hint}",
        )
    return Opened(origin, *found)
