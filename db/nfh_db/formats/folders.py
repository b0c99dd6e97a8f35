"""What is read as bytes, and folders or zip files of members: whole projects of other tools."""

import hashlib
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from nfh_db.errors import FormatError
from nfh_db.formats.reading import BYTE_ORDER_MARK, CHUNK, Origin
from nfh_db.formats.wording import visible

MEMBER_LIMIT = 256 * 1024 * 1024
"""Bytes that one member of a folder or zip may have, unpacked."""

ZIP_MARK = b"PK\x03\x04"


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
        """All of it. Raises FormatError."""
        try:
            return self.path.read_bytes()
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
                names = [p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file()]
            else:
                self._zip = zipfile.ZipFile(path)
                names = [i.filename for i in self._zip.infolist() if not i.is_dir()]
        except zipfile.BadZipFile as error:
            raise self.error(None, f"is no zip file that can be read: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error
        self.names: tuple[str, ...] = tuple(sorted(name for name in names if _shown(name)))
        self._check_names()
        self.sha256 = self._digest()

    def named(self, *suffixes: str) -> Iterator[str]:
        """The members whose names end so, in order."""
        return (name for name in self.names if name.lower().endswith(suffixes))

    def read(self, name: str) -> bytes:
        """One member's bytes. Raises FormatError if it cannot be read or is too large."""
        try:
            if self._zip is None:
                member = self.path / name
                size = member.stat().st_size
            else:
                size = self._zip.getinfo(name).file_size
            if size > MEMBER_LIMIT:
                wanted = f"wanted at most {MEMBER_LIMIT:,} bytes"
                raise self.error(None, f"{visible(name)} has {size:,} bytes; {wanted}")
            return member.read_bytes() if self._zip is None else self._zip.read(name)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, KeyError) as error:
            raise self.error(None, f"{visible(name)} cannot be unpacked: {error}") from error
        except OSError as error:
            raise self.unreadable(error) from error

    def text(self, name: str) -> str:
        """One member's text, in UTF-8, line ends as they are, without a byte-order mark.

        Raises FormatError if it is no UTF-8.
        """
        raw = self.read(name).removeprefix(BYTE_ORDER_MARK)
        try:
            return raw.decode("utf-8")
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
            content = hashlib.sha256(self.read(name)).digest()
            digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + content)
        return digest.hexdigest()


def _shown(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part == "__MACOSX" for part in parts)
