"""Writing a file as a whole: beside its place, then renamed into it, or not at all."""

import contextlib
import errno
import os
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from nfh_db.beside import path_beside, sweep
from nfh_db.disk import sync_folder
from nfh_db.errors import ExportError
from nfh_db.formats.wording import visible

BUFFER = 1 << 20

Content = bytes | IO[bytes]
"""A member's bytes, or a file that holds them, which is read from its start."""


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write `lines`, each with its end, to `path` as UTF-8; return how many.

    The old file stands until the new one is complete and on disk. Raises ExportError if
    it cannot be written; the old file is then untouched and nothing is left beside it.
    """
    with replacing(path) as file:
        return pour(file, lines)


def pour(file: BinaryIO, lines: Iterable[str]) -> int:
    """Write `lines` to an open file as UTF-8; return how many."""
    count = 0
    for line in lines:
        file.write(line.encode("utf-8"))
        count += 1
    return count


def write_members(path: Path, members: Iterable[tuple[str, Content]]) -> int:
    """Write a folder, or a zip file where the name ends in .zip, as a whole; return how many.

    What stands there must be an empty folder, or for a zip a file, which it takes the place
    of. Raises ExportError if it cannot be written; nothing is left behind then.
    """
    if path.suffix.lower() == ".zip":
        with replacing(path) as file:
            return _pack(file, members)
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise ExportError(
                f"{_name(path)}: is there already and not an empty folder; name another one"
            )
        return _fill(path, members)
    except OSError as error:
        raise ExportError(_sentence(path, error, existed=False)) from error


def _pack(file: BinaryIO, members: Iterable[tuple[str, Content]]) -> int:
    count = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            _check_member(name)
            # A fixed time: the same database gives the same bytes.
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with packed.open(info, "w", force_zip64=True) as member:
                _copy(content, member)
            count += 1
    return count


def _check_member(name: str) -> None:
    """Raise ExportError for a name that would lead out of the folder."""
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
    """A file to write to that takes the place of `path` when the block ends well.

    A link keeps pointing where it did: the file it names is replaced. What is no regular
    file (a terminal, a pipe) is written to as it is. Raises ExportError.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    try:
        if mode is not None and stat.S_ISDIR(mode):
            raise ExportError(f"{_name(path)}: is a folder; wanted the name of a file")
        writer = _straight if mode is not None and not stat.S_ISREG(mode) else _beside
        with writer(target, mode) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportError(_sentence(path, error, existed=mode is not None)) from error


def _mode(target: Path) -> int | None:
    """The mode of what stands there; None if nothing does, or it may not be looked at."""
    try:
        return target.stat().st_mode
    except OSError:
        return None


@contextlib.contextmanager
def _straight(target: Path, mode: int | None) -> Iterator[BinaryIO]:  # noqa: ARG001
    with target.open("wb", buffering=BUFFER) as file:
        yield file


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
    left = "the file that stood there is unchanged" if existed else "nothing was left behind"
    reasons = {
        errno.ENOSPC: "the disk is full; make room or name another folder",
        errno.EDQUOT: "the disk quota is used up; make room or name another folder",
        errno.EROFS: "the file system is read-only; name another folder",
        errno.EACCES: "permission denied; name a folder that you may write to",
        errno.EPERM: "permission denied; name a folder that you may write to",
        errno.ENOENT: "there is no such folder; make it first",
        errno.ENOTDIR: "there is no such folder; make it first",
    }
    reason = reasons.get(error.errno or 0) or str(error.strerror or error)
    return f"{_name(path)}: cannot be written: {reason}. {left.capitalize()}."
