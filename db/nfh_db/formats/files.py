"""Safe reading and writing of files: texts in constant memory, folders and zip files, output
that replaces a file only when it is complete, limits of unpacked sizes, and splits in file
names.
"""

import codecs
import contextlib
import csv
import hashlib
import importlib
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import IO, Any, BinaryIO

from nfh_db.errors import ExportError, FormatError
from nfh_db.messages import reason_of, visible, write_reason
from nfh_db.system import path_beside, sweep, sync_folder

# --- reading ----------------------------------------------------------------------------------
#
# A text is read twice: the first pass hashes it and refuses what is not text, the second yields
# its lines. Lines end at "\n" or "\r\n" only.

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes of a line, its end included."""

CHUNK = 1 << 20
HEAD = 4096
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
PACKED = {
    re.compile(rb"\x1f\x8b"): "gzip",
    re.compile(rb"BZh[1-9]1AY&SY"): "bzip2",
    re.compile(rb"\xfd7zXZ\0"): "xz",
    re.compile(rb"\x28\xb5\x2f\xfd"): "zstd",
}
"""The first bytes of packed files, which no format reads; none of them is plausible UTF-8."""

JSON_START = re.compile(rb'\s*[\[{]\s*["{]')
"""The start of JSON, which is UTF-8 in all formats."""

NO_LINE_YET = "holds nothing but white space; wanted at least one row"


def optional_library(name: str, missing: Exception) -> ModuleType:
    """The library of that name. Raises `missing` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing from error


POINTER = re.compile(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/")
"""The start of what Git LFS leaves in the place of a large file."""

IS_POINTER = (
    "is a Git LFS pointer to a file that was not fetched; run git lfs pull in its repository"
)


class LimitError(ValueError):
    """A limit is exceeded; the message states the limit and what was found."""


class FileOrigin:
    """A file or folder that is read."""

    sha256: str
    """Of all its bytes, in hex."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = visible(str(path), limit=200)
        self.warnings: list[str] = []
        """Sentences that an import prints at its end."""

    def error(self, line: int | None, message: str) -> FormatError:
        """The refusal of this file. line: from 1."""
        return FormatError(self.name, line, message)

    @contextlib.contextmanager
    def refusing(self, *errors: type[Exception], line: int | None = None) -> Iterator[None]:
        """Raise FormatError, with the same message, for errors of these types in the block."""
        try:
            yield
        except errors as error:
            raise self.error(line, str(error)) from error

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Raise FormatError for a file that the operating system cannot open or read."""
        try:
            yield
        except OSError as error:
            raise self.unread(error) from error

    def unread(self, error: OSError) -> FormatError:
        """The refusal of what the operating system cannot open or read."""
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return self.error(None, "there is no such file")
        if isinstance(error, PermissionError):
            return self.error(None, "cannot be read: permission denied")
        return self.error(None, f"cannot be read: {error.strerror or error}")

    def check_pointer(self, start: bytes) -> None:
        """Raise FormatError for what Git LFS leaves in the place of a file that begins so."""
        if POINTER.match(start):
            raise self.error(None, IS_POINTER)


class Source(FileOrigin):
    """A text file, in UTF-8 or in a given encoding.

    Making one raises FormatError if the file is missing, cannot be read, is empty, or has NUL
    bytes.
    """

    encodable: bool | None = None
    """Its format is read in other encodings; None while the format is not known. A refusal
    recommends --encoding only if it would help."""

    def __init__(
        self, path: Path, encoding: str | None = None, encodable: bool | None = None
    ) -> None:
        super().__init__(path)
        self.encoding = encoding
        self.encodable = encodable
        self.sha256 = self._inspect()

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, without its end and without a byte-order mark.

        Raises FormatError for a line over LINE_LIMIT, for bytes that are invalid in the
        encoding, and at the end if the file changed since it was hashed.
        """
        if self.encoding is not None:
            yield from self._encoded_lines(self.encoding)
            return
        seen = hashlib.sha256()
        with self.reading(), self.path.open("rb", buffering=CHUNK) as file:
            for number, raw in enumerate(self._raw_lines(file), 1):
                seen.update(raw)
                yield number, self._decode(number, raw)
        if seen.hexdigest() != self.sha256:
            raise self.error(None, "changed while it was read; import it again")

    def rows(self) -> Iterator[tuple[int, str]]:
        """The lines of a file of rows.

        Raises FormatError for an empty line that is not at the end, and for a file without
        rows.
        """
        empty: int | None = None
        any_row = False
        for number, text in self.lines():
            if not text.strip():
                empty = empty or number
                continue
            if empty is not None:
                raise self.error(empty, "the line is empty; wanted one row on each line")
            any_row = True
            yield number, text
        if not any_row:
            raise self.error(None, NO_LINE_YET)

    def first_row(self) -> str:
        """The first line that is not empty; "" if there is none."""
        return next((text for _, text in self.lines() if text.strip()), "")

    def start(self, size: int) -> str:
        """The text of the first `size` bytes; invalid bytes are replaced."""
        with self.reading(), self._bytes() as file:
            raw = file.read(size).removeprefix(BYTE_ORDER_MARK)
        return raw.decode(self.encoding or "utf-8", "replace")

    def _encoded_lines(self, encoding: str) -> Iterator[tuple[int, str]]:
        """`lines` of a file in another encoding."""
        number = 0
        try:
            with self.reading(), self._text(encoding) as file:
                while text := file.readline(LINE_LIMIT + 1):
                    number += 1
                    if len(text) > LINE_LIMIT:
                        raise self.error(
                            number, f"the line is longer than {LINE_LIMIT:,} characters"
                        )
                    if "\0" in text:
                        raise self.error(
                            number, f"is not text in {encoding}: it holds NUL characters"
                        )
                    yield number, _ended(text.removeprefix("\ufeff") if number == 1 else text)
        except UnicodeError as error:
            raise self._misread(encoding, error) from error

    def _misread(self, encoding: str, error: UnicodeError) -> FormatError:
        """The refusal of a file that is not in an encoding, with the line of the first
        error.
        """
        line = 1
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            with self._bytes() as file:
                while some := file.read(CHUNK):
                    before = decoder.getstate()
                    try:
                        line += decoder.decode(some).count("\n")
                    except UnicodeError:
                        decoder.setstate(before)
                        for place in range(len(some)):
                            line += decoder.decode(some[place : place + 1]).count("\n")
        except UnicodeError:
            pass
        reason = getattr(error, "reason", None) or str(error)
        return self.error(
            line, f"is not text in {encoding} ({reason}); name its encoding with --encoding"
        )

    def _bytes(self) -> IO[bytes]:
        return self.path.open("rb")

    def _text(self, encoding: str) -> IO[str]:
        return self.path.open(encoding=encoding, newline="\n")

    def _raw_lines(self, file: IO[bytes]) -> Iterator[bytes]:
        number = 1
        while raw := file.readline(LINE_LIMIT + 1):
            if len(raw) > LINE_LIMIT:
                raise self.error(
                    number,
                    f"the line is {self._line_size(file, raw):,} bytes long; "
                    f"wanted at most {LINE_LIMIT:,}",
                )
            yield raw
            number += 1

    @staticmethod
    def _line_size(file: IO[bytes], raw: bytes) -> int:
        size = len(raw)
        while not raw.endswith(b"\n") and (raw := file.readline(CHUNK)):
            size += len(raw)
        return size

    def _decode(self, number: int, raw: bytes) -> str:
        if number == 1:
            self.check_pointer(raw)
            raw = raw.removeprefix(BYTE_ORDER_MARK)
        try:
            return _ended(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            hint = ", or name its encoding with --encoding" if self._encodable(raw) else ""
            raise self.error(
                number,
                f"byte {error.start + 1} of the line (0x{raw[error.start]:02X}) is not "
                f"UTF-8; save the file as UTF-8{hint}",
            ) from error

    def _encodable(self, raw: bytes) -> bool:
        """Whether --encoding would help: by the format, else by the first bytes."""
        return JSON_START.match(raw) is None if self.encodable is None else self.encodable

    def _inspect(self) -> str:
        """Refuse what is no text file; return the hash."""
        digest = hashlib.sha256()
        with self.reading():
            self._check_kind()
            with self.path.open("rb") as file:
                start = file.read(CHUNK)
                self._check_start(start)
                at = 0
                while start:
                    self._check_chunk(start, at)
                    digest.update(start)
                    at += len(start)
                    start = file.read(CHUNK)
        return digest.hexdigest()

    def _check_kind(self) -> None:
        mode = self.path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise self.error(None, "is a folder; name the files in it")
        if not stat.S_ISREG(mode):
            # A pipe could be read only once, and opening one may wait for ever.
            raise self.error(None, "is not a regular file; save its content to a file first")

    def _check_start(self, start: bytes) -> None:
        self.check_pointer(start)
        if not start.removeprefix(BYTE_ORDER_MARK):
            raise self.error(None, "is empty")
        packer = next((name for mark, name in PACKED.items() if mark.match(start)), None)
        if packer is not None:
            raise self.error(None, f"is packed with {packer}: unpack it first")
        if start.count(b"\r") > 1 and b"\n" not in start:
            raise self.error(
                None,
                "has lines that end in carriage returns alone, as on old Macs; save it with "
                "line feeds",
            )
        if self.encoding is not None:
            return
        encoding = wide_encoding(start[:HEAD])
        if encoding:
            codec = _codec(start, encoding)
            begins = start[:HEAD].decode(codec, "replace").lstrip("\ufeff").encode("utf-8")
            hint = f", or read it with --encoding {codec}" if self._encodable(begins) else ""
            raise self.error(None, f"is {encoding} text; save it as UTF-8{hint}")

    def _check_chunk(self, chunk: bytes, at: int) -> None:
        if self.encoding is not None:
            return
        place = chunk.find(b"\0")
        if place >= 0:
            raise self.error(
                None, f"is a binary file (NUL at byte {at + place + 1:,}); wanted UTF-8 text"
            )


COMPLAINTS = {
    "unexpected end of data": "a quote that opens in this row is never closed",
    "field larger": f"a field of this row is longer than {LINE_LIMIT:,} characters",
}
"""Messages of Python's csv module, and what they mean."""

CsvRecord = tuple[int, list[str]]
"""The line on which a record starts, and its fields."""


def csv_records(
    source: Source,
    lines: Iterable[str],
    first: int,
    complaints: Mapping[str, str],
    dialect: Mapping[str, Any] | None = None,
) -> Iterator[CsvRecord]:
    """The records of a CSV text, quoted by RFC 4180. first: the number of its first line.

    complaints: meanings of further messages of the csv module. Raises FormatError.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LINE_LIMIT))
    reader = csv.reader((text + "\n" for text in lines), strict=True, **(dialect or {}))
    line = first
    try:
        for record in reader:
            yield line, record
            line = first + reader.line_num
    except csv.Error as error:
        known = {**COMPLAINTS, **complaints}
        what = next((ours for theirs, ours in known.items() if theirs in str(error)), None)
        what = what or f"is not CSV ({error})"
        raise source.error(line, f"{what}; wanted fields quoted as in RFC 4180") from error


def _ended(text: str) -> str:
    """A line without its end."""
    if text.endswith("\n"):
        return text[:-2] if text.endswith("\r\n") else text[:-1]
    return text


def _codec(start: bytes, encoding: str) -> str:
    """Python's name of a wide encoding: by the mark, else by the positions of zero bytes."""
    if any(start.startswith(mark) for mark, _ in WIDE_MARKS):
        return encoding.lower()
    return "utf-16-be" if start[:HEAD:2].count(0) > start[1:HEAD:2].count(0) else "utf-16-le"


def wide_encoding(start: bytes) -> str | None:
    """The name of the wide encoding of a file's first bytes, if it is one."""
    for mark, name in WIDE_MARKS:
        if start.startswith(mark):
            return name
    # Without a mark: text of mostly ASCII has a NUL in every other byte.
    half = len(start) // 2
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if half >= 2 and max(even, odd) > 0.7 * half and min(even, odd) < 0.1 * half:
        return "UTF-16"
    return None


ZIP_MARK = b"PK\x03\x04"

DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, KeyError,
)  # fmt: skip
"""Errors of the standard library for a zip file that cannot be unpacked."""

UNREADABLE = (OSError, LimitError, *DAMAGED)
"""Errors of opening or reading a member of a folder or zip file."""


class Binary(FileOrigin):
    """A binary file. Making one raises FormatError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.reading():
            if not stat.S_ISREG(path.stat().st_mode):
                raise self.error(
                    None, ("is not a regular file; save its content to a file first")
                )
            with path.open("rb") as file:
                self.check_pointer(file.read(HEAD))
                file.seek(0)
                self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()

    def content(self) -> bytes:
        """The whole file. Raises FormatError, also for more than MEMBER_LIMIT bytes."""
        with self.reading(), self.refusing(LimitError):
            return read_file(self.path)


class Folder(FileOrigin):
    """A folder or a zip file, with members such as "annotation/a.txt/eva.json".

    Names are sorted, use "/" and do not lead out of the folder; hidden members and those that
    macOS adds are left out. Making one raises FormatError if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip: zipfile.ZipFile | None = None
        try:
            with self.reading(), self.refusing(LimitError):
                if path.is_dir():
                    names = [p.relative_to(path).as_posix() for p in self._files(path)]
                else:
                    self._zip = opened_zip(path.open("rb"))
                    names = [i.filename for i in self._zip.infolist() if not i.is_dir()]
        except zipfile.BadZipFile as error:
            raise self.error(
                None, f"is not a zip file that can be read: copy it again ({reason_of(error)})"
            ) from error
        self.names: tuple[str, ...] = tuple(sorted(name for name in names if _shown(name)))
        self._check_names()
        self.sha256 = self._digest()

    def _files(self, path: Path) -> Iterator[Path]:
        """The files of a folder and its subfolders.

        Raises FormatError for a broken link, and for a link to a folder, which `rglob` does not
        follow and which may be circular.
        """
        for one in path.rglob("*"):
            name = one.relative_to(path).as_posix()
            if one.is_symlink() and _shown(name) and not one.is_file():
                found = "a link to a folder" if one.is_dir() else "a link that leads nowhere"
                wanted = "wanted a file or folder itself: copy its target here"
                raise self.error(None, f"{visible(name)}: found {found}, {wanted}")
            if one.is_file():
                yield one

    def named(self, *suffixes: str) -> Iterator[str]:
        """The members with these suffixes, in order."""
        return (name for name in self.names if name.lower().endswith(suffixes))

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises FormatError if it cannot be read or is too large."""
        try:
            if self._zip is not None:
                content = read_member(self._zip, self._zip.getinfo(name))
            else:
                content = read_file(self.path / name)
        except UNREADABLE as error:
            raise self._member_unread(name, error) from error
        if POINTER.match(content):
            raise self.member_error(name, None, IS_POINTER)
        return content

    def open(self, name: str) -> IO[bytes]:
        """A member opened for reading and seeking. Raises FormatError."""
        try:
            if self._zip is None:
                return (self.path / name).open("rb")
            return self._zip.open(name)
        except UNREADABLE as error:
            raise self._member_unread(name, error) from error

    def head(self, name: str, size: int = HEAD) -> bytes:
        """The first bytes of a member. Raises FormatError if it cannot be read."""
        try:
            with self.open(name) as file:
                return file.read(size)
        except UNREADABLE as error:
            raise self._member_unread(name, error) from error

    def text(self, name: str) -> str:
        """The text of a member, in UTF-8, line ends as they are, without a byte-order mark.

        Raises FormatError if it is not UTF-8, or has too many lines.
        """
        raw = self.read(name).removeprefix(BYTE_ORDER_MARK)
        try:
            check_lines(raw)
            return raw.decode("utf-8")
        except LimitError as error:
            raise self.member_error(name, None, str(error)) from error
        except UnicodeDecodeError as error:
            raise self.member_error(
                name, None, f"byte {error.start + 1:,} is not UTF-8; save the file as UTF-8"
            ) from error

    def member_error(self, name: str, line: int | None, message: str) -> FormatError:
        """The refusal of one member, at `line`, which counts from 1."""
        place = visible(name, 200) if line is None else f"{visible(name, 200)}, line {line}"
        return self.error(None, f"{place}: {message}")

    @contextlib.contextmanager
    def refusing_member(self, name: str, *errors: type[Exception]) -> Iterator[None]:
        """`refusing`, with the name of a member in the message."""
        try:
            yield
        except errors as error:
            raise self.member_error(name, None, str(error)) from error

    def _member_unread(self, name: str, error: Exception) -> FormatError:
        """The refusal of a member, for an error of UNREADABLE.

        No context manager: a folder has three files and more for each text.
        """
        if isinstance(error, OSError):
            return self.unread(error)
        if isinstance(error, LimitError):
            return self.error(None, f"{visible(name)} {error}")
        return self.error(None, f"{visible(name)} cannot be unpacked: {reason_of(error)}")

    def _check_names(self) -> None:
        if not self.names:
            raise self.error(None, "holds no files")
        for name in self.names:
            parts = PurePosixPath(name).parts
            if name.startswith("/") or ".." in parts or "\\" in name:
                raise self.error(
                    None, f"holds a member whose name leads out of it: {visible(name)}"
                )
        if len(set(self.names)) < len(self.names):
            raise self.error(None, "holds two members of one name")

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for name in self.names:
            content = hashlib.sha256()
            try:
                with self.open(name) as member:
                    while chunk := member.read(CHUNK):
                        content.update(chunk)
            except UNREADABLE as error:
                raise self._member_unread(name, error) from error
            digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + content.digest())
        return digest.hexdigest()


class FolderMember(Source):
    """A text in a folder or zip, read line by line as a file of its own would be.

    Its warnings and hash are the folder's.
    """

    def __init__(self, folder: Folder, name: str, encoding: str | None = None) -> None:
        FileOrigin.__init__(self, folder.path / name)
        self.name = f"{folder.name}: {visible(name, 200)}"
        self.warnings = folder.warnings
        self.sha256 = folder.sha256
        self.encoding = encoding
        self._folder = folder
        self._member = name

    def lines(self) -> Iterator[tuple[int, str]]:
        """As in Source, but without a check that the file did not change."""
        if self.encoding is not None:
            yield from self._encoded_lines(self.encoding)
            return
        with self._folder.open(self._member) as file:
            for number, raw in enumerate(self._raw_lines(file), 1):
                yield number, self._decode(number, raw)

    def _bytes(self) -> IO[bytes]:
        return self._folder.open(self._member)

    def _text(self, encoding: str) -> IO[str]:
        return TextIOWrapper(self._folder.open(self._member), encoding, newline="\n")


def _shown(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part == "__MACOSX" for part in parts)


SPLITS = ("train", "dev", "test")
"""Words in the name of a file that give the split of its rows."""


def split_of_name(stem: str) -> str | None:
    """The split in the name of a file ("nfh_dev" is dev); None if it has none, or two."""
    words = "".join(c.lower() if c.isalnum() else " " for c in stem).split()
    named = {word for word in words if word in SPLITS}
    return named.pop() if len(named) == 1 else None


# --- writing ----------------------------------------------------------------------------------

BUFFER = 1 << 20

Content = bytes | IO[bytes]
"""The bytes of a member, or an open file, which is read from its start."""


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write `lines`, each with its end, to `path` as UTF-8; return how many.

    The old file is replaced when the new one is complete and on disk. Raises ExportError if it
    cannot be written; the old file is then unchanged, and no temporary file remains.
    """
    count = 0
    with replacing(path) as file:
        for line in lines:
            file.write(line.encode("utf-8"))
            count += 1
    return count


def write_members(path: Path, members: Iterable[tuple[str, Content]]) -> int:
    """Write a folder, or a zip file if the name ends in .zip; return the number of members.

    An existing folder must be empty; an existing zip file is replaced. Raises ExportError if it
    cannot be written; nothing remains then.
    """
    if path.suffix.lower() == ".zip":
        with replacing(path) as file:
            return _pack(file, members)
    if path.is_symlink():
        raise ExportError(
            f"{_name(path)}: is a link; name the folder that it leads to, or a new one"
        )
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise ExportError(
                f"{_name(path)}: already exists and is not an empty folder; name another one"
            )
        return _fill(path, members)
    except OSError as error:
        raise ExportError(_sentence(path, error, existed=False)) from error


def _pack(file: BinaryIO, members: Iterable[tuple[str, Content]]) -> int:
    count = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            _check_member(name)
            # A fixed time, so that equal databases give equal bytes.
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with packed.open(info, "w", force_zip64=True) as member:
                _copy(content, member)
            count += 1
    return count


def _check_member(name: str) -> None:
    """Raise ExportError for a name that leads out of the folder."""
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise ExportError(
            f"{visible(name)} cannot be the name of a file; rename the split or text"
        )


def _copy(content: Content, file: IO[bytes]) -> None:
    if isinstance(content, bytes):
        file.write(content)
        return
    content.seek(0)
    shutil.copyfileobj(content, file, BUFFER)


def _fill(path: Path, members: Iterable[tuple[str, Content]]) -> int:
    target = Path(os.path.abspath(path))  # noqa: PTH100 - a link is not to be followed here
    beside = path_beside(target, "tmp")
    count = 0
    beside.mkdir()
    try:
        for name, content in members:
            _check_member(name)
            member = beside / name
            member.parent.mkdir(parents=True, exist_ok=True)
            with member.open("xb", buffering=BUFFER) as file:
                _copy(content, file)
            count += 1
        beside.replace(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    sync_folder(target.parent)
    return count


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which replaces `path` when the block ends without an error.

    If `path` is a link, the file that it leads to is replaced. What is no regular file (a
    terminal, a pipe) is written to directly. Raises ExportError.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise ExportError(f"{_name(path)}: is a link that leads to itself; name a file")
    try:
        mode = target.stat().st_mode
    except OSError:
        mode = None  # Nothing is there, or it cannot be read.
    try:
        if mode is not None and stat.S_ISDIR(mode):
            raise ExportError(f"{_name(path)}: is a folder; wanted the name of a file")
        if mode is None or stat.S_ISREG(mode):
            writing: AbstractContextManager[BinaryIO] = _beside(target, mode)
        else:
            writing = target.open("wb", buffering=BUFFER)
        with writing as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportError(_sentence(path, error, existed=mode is not None)) from error


@contextlib.contextmanager
def _beside(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    sweep(target.parent)
    beside = path_beside(target, "tmp")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb", buffering=BUFFER) as file:
            if mode is not None:
                beside.chmod(stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    sync_folder(target.parent)


def _name(path: Path) -> str:
    return visible(str(path), limit=200)


def _sentence(path: Path, error: OSError, *, existed: bool) -> str:
    left = "the file that was there is unchanged" if existed else "nothing was left behind"
    return f"{_name(path)}: cannot be written: {write_reason(error)}. {left.capitalize()}."


# --- limits -----------------------------------------------------------------------------------
#
# Sizes are checked before anything is unpacked, since a few thousand packed bytes can expand to
# gigabytes. All readers of packed files use these limits; each refusal states what was found.

MEMBER_LIMIT = 256 * 1024 * 1024
"""Unpacked bytes of a file, or of a member, that is held in memory."""

SMALL = 64 * 1024 * 1024
"""Bytes to which any file may unpack."""

RATIO = 100
"""Unpacked bytes for each packed byte, beyond SMALL. Texts, tables and annotations have 5 to
30; the maximum of deflate is 1,032, for zeros.
"""

OBJECTS = 1_000_000
"""Values of a structure that is held in memory, nested ones included: about 250 MB, at 60 to
250 bytes for each in Python and spaCy.
"""

TOKENS = 1_000_000
"""Tokens of one passage. spaCy itself takes no text of more characters (`nlp.max_length`)."""

DIRECTORY = 32 * 1024 * 1024
"""Bytes of the directory of a zip file: 300,000 members with names of 60 bytes."""

UNPACKERS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of members. Python unpacks others without a limit on the result of a
block of 4 KB, which bzip2 expands to as much as 5 GB.
"""

_END = b"PK\x05\x06"
_END_64 = b"PK\x06\x06"
_LONGEST_END = 22 + 65_535
_COMMENT = "pack it again without padding, or import the files themselves"


def check_count(found: int, most: int, what: str) -> None:
    """Raise LimitError for more than `most` things. what: their name, in the plural."""
    if found > most:
        raise LimitError(f"has {found:,} {what}; wanted at most {most:,}: split it")


def unpacked_limit(packed: int) -> int:
    """Bytes to which `packed` bytes may unpack, if they are not held in memory at once."""
    return max(SMALL, RATIO * packed)


def held_limit(packed: int, most: int = MEMBER_LIMIT) -> int:
    """Bytes to which `packed` bytes may unpack, if they are held in memory at once."""
    return min(most, unpacked_limit(packed))


def check_rows(unpacked: int, packed: int) -> None:
    """Raise LimitError if the rows of a file of `packed` bytes come to too many bytes.

    The limit is at least MEMBER_LIMIT, not SMALL: a format that stores each word once may
    repeat it in many rows, as a passage is in the row of each of its numbers. 3,000 rows of
    5,000 words are 190 MB, which zstd packs 280 times.
    """
    limit = max(MEMBER_LIMIT, unpacked_limit(packed))
    if unpacked > limit:
        raise LimitError(
            f"unpacks to {unpacked:,} bytes or more from {packed:,}; wanted at most {limit:,}: "
            "split it into several files"
        )


def check_held(unpacked: int, packed: int) -> None:
    """Raise LimitError unless `packed` bytes may become `unpacked` bytes that are held at
    once.
    """
    limit = held_limit(packed)
    if unpacked > limit:
        packed_in = "" if packed == unpacked else f" packed in {packed:,}"
        raise LimitError(f"has {unpacked:,} bytes{packed_in}; wanted at most {limit:,}")


def read_file(path: Path) -> bytes:
    """A whole file. Raises LimitError for more than may be held, and OSError."""
    size = path.stat().st_size
    check_held(size, size)
    return path.read_bytes()


# --- zip ------------------------------------------------------------------------------------


def opened_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """A zip file that can be unpacked within the limits.

    Raises LimitError for too many members, for too much unpacked content in all, and for a
    member with a compression method not in UNPACKERS; also what `zipfile` raises.
    """
    size = file.seek(0, os.SEEK_END)
    directory = _directory_size(file, size)
    if directory > DIRECTORY:
        raise LimitError(
            f"has a list of members of {directory:,} bytes; wanted at most {DIRECTORY:,}: "
            "make several zip files of it"
        )
    file.seek(0)
    packed = zipfile.ZipFile(file)
    infos = packed.infolist()
    for info in infos:
        if info.compress_type not in UNPACKERS:
            raise LimitError(
                f"holds {visible(info.filename)}, packed by a method that is not read "
                f"({info.compress_type}); wanted deflate, as usual: pack it again"
            )
    total = sum(info.file_size for info in infos)
    limit = unpacked_limit(size)
    if total > limit:
        raise LimitError(
            f"unpacks to {total:,} bytes from {size:,}; wanted at most {limit:,}: {_COMMENT}"
        )
    return packed


def _directory_size(file: IO[bytes], size: int) -> int:
    """The size of the directory that a zip file states; 0 if it states none."""
    start = max(0, size - _LONGEST_END - 20 - 56)
    file.seek(start)
    tail = file.read(size - start)
    end = tail.rfind(_END)
    if end < 0 or len(tail) < end + 16:
        return 0
    found: int = struct.unpack_from("<L", tail, end + 12)[0]
    wide = tail.rfind(_END_64, 0, end)
    if wide >= 0 and len(tail) >= wide + 48:
        found = max(found % 0xFFFFFFFF, struct.unpack_from("<Q", tail, wide + 40)[0])
    return found


def read_member(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a member. Raises LimitError if it is too large."""
    check_held(info.file_size, info.compress_size)
    return packed.read(info)


# --- JSON -----------------------------------------------------------------------------------


def check_json(content: bytes | str) -> None:
    """Raise LimitError for JSON with more objects and lists than OBJECTS.

    They need most memory for a byte: a pair of brackets becomes 72 bytes. Brackets in strings
    count, too, so that nothing has to be parsed.
    """
    if len(content) < 2 * OBJECTS:
        return
    if isinstance(content, str):
        found = content.count("[") + content.count("{")
    else:
        found = content.count(b"[") + content.count(b"{")
    check_count(found, OBJECTS, "lists and objects")


# --- text -----------------------------------------------------------------------------------


def check_lines(content: bytes) -> None:
    """Raise LimitError for a text with more lines than OBJECTS."""
    check_count(content.count(b"\n"), OBJECTS, "lines")
