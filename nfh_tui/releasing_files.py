"""The folder of a release: written beside its place, hashed on the way, then given its name."""

import contextlib
import errno
import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from nfh_db.beside import path_beside, sweep
from nfh_db.disk import sync_folder
from nfh_db.errors import ExportError
from nfh_db.formats.wording import visible

SUMS = "SHA256SUMS"
GOLD_END = ".gold.jsonl"
NFH_END = ".nfh.jsonl"
WITHOUT_SPLIT = "unsplit"
"""What the files of items in no split are called after."""

MOST_OPEN = 32
"""Files open at a time; a split more closes them all, and each goes on at its end."""

LONGEST = 200
"""Characters of a file's name: file systems take 255 bytes."""

NAME_SHOWN = 200
BUFFER = 1 << 18


class NewFolder:
    """A folder in the making. rows: lines of each file."""

    def __init__(self, beside: Path) -> None:
        self._beside = beside
        self._hashes: dict[str, hashlib._Hash] = {}
        self._open: dict[str, BinaryIO] = {}
        self.rows: Counter[str] = Counter()

    def append(self, name: str, content: bytes) -> None:
        """Add to a file, which is made if it is not there; one line more."""
        file = self._open.get(name)
        if file is None:
            file = self._opened(name)
        file.write(content)
        self._hashes[name].update(content)
        self.rows[name] += 1

    def _opened(self, name: str) -> BinaryIO:
        if len(self._open) >= MOST_OPEN:
            self.close()
        file = (self._beside / name).open("ab", buffering=BUFFER)
        self._open[name] = file
        self._hashes.setdefault(name, hashlib.sha256())
        return file

    def sums(self) -> str:
        """A line of each file that was written, as `sha256sum` writes and checks them."""
        return "".join(
            f"{self._hashes[name].hexdigest()}  {name}\n" for name in sorted(self._hashes)
        )

    def close(self) -> None:
        """Have all that was written on the disk."""
        while self._open:
            _, file = self._open.popitem()
            with file:
                file.flush()
                os.fsync(file.fileno())


@contextlib.contextmanager
def new_folder(place: Path) -> Iterator[NewFolder]:
    """A folder to be filled, which gets the name `place` when the block ends well.

    Raises ExportError where something stands there already, or it cannot be written; nothing
    is left behind then.
    """
    target = Path(os.path.abspath(place))  # noqa: PTH100 - a link is not to be followed here
    _check_free(target)
    sweep(target.parent)
    beside = path_beside(target, "tmp")
    folder = NewFolder(beside)
    try:
        beside.mkdir()
        try:
            yield folder
            folder.close()
            sync_folder(beside)
            _check_free(target)
            beside.rename(target)
            sync_folder(target.parent)
        finally:
            with contextlib.suppress(OSError):
                folder.close()
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise ExportError(_sentence(target, error)) from error


def _check_free(target: Path) -> None:
    if os.path.lexists(target):
        raise ExportError(
            f"{visible(str(target), NAME_SHOWN)} is there already, and a release is never "
            "written over: name another folder"
        )


def _sentence(target: Path, error: OSError) -> str:
    reasons = {
        errno.ENOSPC: "the disk is full; make room or name another folder",
        errno.EDQUOT: "the disk quota is used up; make room or name another folder",
        errno.EROFS: "the file system is read-only; name another folder",
        errno.EACCES: "permission denied; name a place that you may write to",
        errno.EPERM: "permission denied; name a place that you may write to",
        errno.ENOENT: "there is no folder to make it in; make that first",
        errno.ENOTDIR: "there is no folder to make it in; make that first",
        errno.EEXIST: "something of that name was made just now; name another folder",
        errno.ENOTEMPTY: "something of that name was made just now; name another folder",
    }
    reason = reasons.get(error.errno or 0) or str(error.strerror or error)
    name = visible(str(target), NAME_SHOWN)
    return f"{name}: no release could be written: {reason}. Nothing was left behind."


class FileNames:
    """Names of the files of splits: letters, digits and "_.-~" as they are, %XX else."""

    def __init__(self) -> None:
        self._taken: dict[str, str | None] = {}

    def stem(self, split: str | None) -> str:
        """How the files of a split begin. Raises ExportError where two would be one file."""
        name = WITHOUT_SPLIT if split is None else quote(split, safe="")
        if name.startswith("."):
            name = f"%2E{name[1:]}"
        if len(name) > LONGEST:
            raise ExportError(
                f"the split {visible(split or '')} has too long a name for a file: release "
                "other splits with a query such as split:dev"
            )
        # Some systems take Dev and dev for one name.
        other = self._taken.setdefault(name.casefold(), split)
        if other != split:
            raise ExportError(
                f"the files of two splits would have one name, {visible(name)}: release one of "
                "them with a query such as split:dev"
            )
        return name
