"""Folders on their way between machines: all files in one piece of bytes, with their hash.

Nothing in a parcel is run, and nothing of it is written outside the folder that it is for.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from nfh_db.beside import path_beside
from nfh_models.errors import ModelsError


class ParcelError(ModelsError):
    """A parcel that does not hold; the sentence says what is wrong with it."""


class _Parcel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """files: contents by path below the folder, with / in it. digest: of them all."""

    files: dict[str, bytes]
    digest: str


def pack(folder: Path, patterns: Iterable[str] = ("*",)) -> bytes:
    """The files of a folder that the patterns match, but hidden ones.

    Raises OSError, and ParcelError for a link, which no other machine could follow.
    """
    files: dict[str, bytes] = {}
    for path in sorted(one for pattern in patterns for one in folder.rglob(pattern)):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in PurePosixPath(name).parts):
            continue
        if path.is_symlink():
            raise ParcelError(f"{path} is a link, which no other machine could follow")
        if path.is_file():
            files[name] = path.read_bytes()
    return msgspec.msgpack.encode(_Parcel(files, _digest(files)))


def unpack(parcel: bytes, folder: Path) -> None:
    """Write the files of a parcel into a folder that is new, whole or not at all.

    Raises OSError, and ParcelError for one that does not hold.
    """
    files = _files(parcel)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = path_beside(folder, "tmp")
    beside.mkdir()
    try:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _files(parcel: bytes) -> dict[str, bytes]:
    try:
        found = msgspec.msgpack.decode(parcel, type=_Parcel)
    except msgspec.MsgspecError as error:
        raise ParcelError(f"the files came damaged: {error}") from error
    if found.digest != _digest(found.files):
        raise ParcelError("the files came damaged: their hash is another")
    for name in found.files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or any(one.startswith(".") for one in parts):
            raise ParcelError(f"{name!r} cannot be the name of a file that was sent")
        if "\\" in name or ":" in name or "\0" in name:
            raise ParcelError(f"{name!r} cannot be the name of a file that was sent")
    return found.files


def _digest(files: dict[str, bytes]) -> str:
    """SHA-256 (hex) of names, lengths and contents, in the order of the names."""
    hashed = hashlib.sha256()
    for name in sorted(files):
        hashed.update(f"{name}\0{len(files[name])}\0".encode("utf-8", "surrogateescape"))
        hashed.update(files[name])
    return hashed.hexdigest()
