"""How large what a file holds may become: bytes and objects, counted before they are made.

A few thousand packed bytes can say gigabytes, so what a file says of itself is added up first.
Every reader of packed files goes by these numbers; each refusal says what was found.
"""

import os
import struct
import zipfile
from typing import IO

from nfh_db.messages import visible

MEMBER_LIMIT = 256 * 1024 * 1024
"""Bytes that may be held of one file, or one member of a folder or zip, unpacked."""

SMALL = 64 * 1024 * 1024
"""Bytes that anything may become, however little it is when packed."""

RATIO = 100
"""Bytes that a packed byte may become, beyond SMALL. Texts, tables and annotations come to 5 to
30; deflate can do 1,032, and needs zeros for it.
"""

OBJECTS = 1_000_000
"""Values, nested ones among them, that a structure held as a whole may have: at the 60 to 250
bytes that Python and spaCy take for each, some 250 MB.
"""

TOKENS = 1_000_000
"""Tokens of one passage. spaCy itself takes no text of more characters (`nlp.max_length`)."""

DIRECTORY = 32 * 1024 * 1024
"""Bytes of a zip file's directory: 300,000 members with names of 60 bytes."""

UNPACKERS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How members of a zip may be packed. Python unpacks the others without a bound on what comes
of the 4 KB that it reads at a time: bzip2 makes 5 GB of them.
"""

_END = b"PK\x05\x06"
_END_64 = b"PK\x06\x06"
_LONGEST_END = 22 + 65_535
_COMMENT = "pack it anew without what only fills it up, or take the files themselves"


class LimitError(ValueError):
    """What a file holds is more than may be held; the message says what, and how much is."""


def unpacked_limit(packed: int) -> int:
    """The bytes that so many packed ones may become, of what is not held at once."""
    return max(SMALL, RATIO * packed)


def held_limit(packed: int, most: int = MEMBER_LIMIT) -> int:
    """The bytes that so many packed ones may become, of what is held at once."""
    return min(most, unpacked_limit(packed))


def check_held(unpacked: int, packed: int) -> None:
    """Raise LimitError unless so many packed bytes may be so many when unpacked, and held."""
    limit = held_limit(packed)
    if unpacked > limit:
        raise LimitError(
            f"has {unpacked:,} bytes{_packed_in(packed, unpacked)}; wanted at most {limit:,}"
        )


def _packed_in(packed: int, unpacked: int) -> str:
    return "" if packed == unpacked else f" packed in {packed:,}"


# --- zip ------------------------------------------------------------------------------------


def opened_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """A zip file that may be unpacked, member by member.

    Raises LimitError for one with too many members, or that unpacks to too much in all, and
    for a member packed in another way than UNPACKERS; else what `zipfile` raises.
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
                f"({info.compress_type}); wanted a zip file as usual (deflate): pack it anew"
            )
    total = sum(info.file_size for info in infos)
    limit = unpacked_limit(size)
    if total > limit:
        raise LimitError(
            f"unpacks to {total:,} bytes from {size:,}; wanted at most {limit:,}: {_COMMENT}"
        )
    return packed


def _directory_size(file: IO[bytes], size: int) -> int:
    """What a zip file says its directory takes; 0 where it says nothing of the kind."""
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
    """A member as a whole. Raises LimitError for one that is too large; see `opened_zip`."""
    check_held(info.file_size, info.compress_size)
    return packed.read(info)


# --- JSON -----------------------------------------------------------------------------------


def check_json(content: bytes | str) -> None:
    """Raise LimitError for JSON with more objects and lists than may be held.

    They are what takes most memory for a byte: a pair of brackets becomes 72 bytes. Those in
    strings count, too, so that nothing has to be parsed.
    """
    if len(content) < 2 * OBJECTS:
        return
    if isinstance(content, str):
        found = content.count("[") + content.count("{")
    else:
        found = content.count(b"[") + content.count(b"{")
    if found > OBJECTS:
        raise LimitError(
            f"has {found:,} lists and objects; wanted at most {OBJECTS:,}: split it"
        )


# --- text -----------------------------------------------------------------------------------


def check_lines(content: bytes) -> None:
    """Raise LimitError for a text with more lines than may be held: an empty one takes a byte
    of the text, and some ten of memory.
    """
    found = content.count(b"\n")
    if found > OBJECTS:
        raise LimitError(f"has {found:,} lines; wanted at most {OBJECTS:,}: split it")
