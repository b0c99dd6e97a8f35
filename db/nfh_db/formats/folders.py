"""What is read as bytes, and folders or zip files of members: whole projects of other tools."""

import hashlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import IO

from nfh_db.errors import FormatError
from nfh_db.formats.limits import (
    LimitError,
    check_held,
    check_lines,
    opened_zip,
    read_member,
)
from nfh_db.formats.reading import BYTE_ORDER_MARK, CHUNK, HEAD, Origin, Source
from nfh_db.formats.wording import visible

ZIP_MARK = b"PK\x03\x04"

DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, KeyError,
)  # fmt: skip
"""What the standard library raises of a zip that it cannot unpack."""


class Binary(Origin):
    """A file that is no text. Making one raises FormatError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        digest = hashlib.sha256()
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise self.error(None, "is no regular file; save its content to a file first")
            with path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise self.unreadable(error) from error
        self.sha256 = digest.hexdigest()

    def content(self) -> bytes:
        """All of it. Raises FormatError, also for more than may be held."""
        try:
            size = self.path.stat().st_size
            check_held(size, size)
            return self.path.read_bytes()
        except LimitError as error:
            raise self.error(None, str(error)) from error
        except OSError as error:
            raise self.unreadable(error) from error


class Folder(Origin):
    """A folder, or a zip file, with its members by name: "annotation/a.txt/eva.json".

    Names are sorted, use "/" and never lead out of the folder; hidden members and what a
    Mac adds to a zip are left out. Making one raises FormatError if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip: zipfile.ZipFile | None = None
        try:
            if path.is_dir():
                names = [p.relative_to(path).as_posix() for p in self._files(path)]
            else:
                self._zip = opened_zip(path.open("rb"))
                names = [i.filename for i in self._zip.infolist() if not i.is_dir()]
        except LimitError as error:
            raise self.error(None, str(error)) from error
        except zipfile.BadZipFile as error:
            raise self.error(None, f"is no zip file that can be read: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error
        self.names: tuple[str, ...] = tuple(sorted(name for name in names if _shown(name)))
        self._check_names()
        self.sha256 = self._digest()

    def _files(self, path: Path) -> Iterator[Path]:
        """The files of a folder and of those in it, but for hidden ones.

        Raises FormatError for a link that leads nowhere or to a folder: `rglob` passes over
        what is behind it, and it may lead around in a circle.
        """
        for one in path.rglob("*"):
            name = one.relative_to(path).as_posix()
            if one.is_symlink() and _shown(name) and not one.is_file():
                found = "a link to a folder" if one.is_dir() else "a link that leads nowhere"
                wanted = "wanted a file or folder itself: copy here what it stands for"
                raise self.error(None, f"{visible(name)}: found {found}, {wanted}")
            if one.is_file():
                yield one

    def named(self, *suffixes: str) -> Iterator[str]:
        """The members whose names end so, in order."""
        return (name for name in self.names if name.lower().endswith(suffixes))

    def read(self, name: str) -> bytes:
        """One member's bytes. Raises FormatError if it cannot be read or is too large."""
        try:
            if self._zip is not None:
                return read_member(self._zip, self._zip.getinfo(name))
            member = self.path / name
            size = member.stat().st_size
            check_held(size, size)
            return member.read_bytes()
        except LimitError as error:
            raise self.error(None, f"{visible(name)} {error}") from error
        except DAMAGED as error:
            raise self.error(None, f"{visible(name)} cannot be unpacked: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error

    def open(self, name: str) -> IO[bytes]:
        """One member to be read piece by piece, and sought in. Raises FormatError."""
        try:
            if self._zip is None:
                return (self.path / name).open("rb")
            return self._zip.open(name)
        except DAMAGED as error:
            raise self.error(None, f"{visible(name)} cannot be unpacked: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error

    def head(self, name: str, size: int = HEAD) -> bytes:
        """One member's first bytes. Raises FormatError if it cannot be read."""
        try:
            with self.open(name) as file:
                return file.read(size)
        except DAMAGED as error:
            raise self.error(None, f"{visible(name)} cannot be unpacked: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error

    def text(self, name: str) -> str:
        """One member's text, in UTF-8, line ends as they are, without a byte-order mark.

        Raises FormatError if it is no UTF-8, or has too many lines.
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
            content = self._content_digest(name)
            digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + content)
        return digest.hexdigest()

    def _content_digest(self, name: str) -> bytes:
        """Of one member. Raises FormatError where it cannot be read to its end."""
        content = hashlib.sha256()
        try:
            with self.open(name) as member:
                while chunk := member.read(CHUNK):
                    content.update(chunk)
        except DAMAGED as error:
            raise self.error(None, f"{visible(name)} cannot be unpacked: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error
        return content.digest()


class Member(Source):
    """A text in a folder or zip, read line by line as a file of its own would be.

    Its warnings and hash are the folder's.
    """

    def __init__(self, folder: Folder, name: str, encoding: str | None = None) -> None:
        Origin.__init__(self, folder.path / name)
        self.name = f"{folder.name}: {visible(name, 200)}"
        self.warnings = folder.warnings
        self.sha256 = folder.sha256
        self.encoding = encoding
        self._folder = folder
        self._member = name

    def lines(self) -> Iterator[tuple[int, str]]:
        """As those of a Source; that the file stays as it is, nobody looks at."""
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

    def start(self, size: int) -> str:
        """The text of the first `size` bytes, whatever of it can be read."""
        with self._folder.open(self._member) as file:
            raw = file.read(size).removeprefix(BYTE_ORDER_MARK)
        return raw.decode(self.encoding or "utf-8", "replace")


def _shown(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part == "__MACOSX" for part in parts)
