"""A moody file system (`soak.moody`) that loses what was not synced when the power is cut.

    python -m soak.forgetful FOLDER MOUNTPOINT

One more mood: cut. Of each file, what was written since it was last synced is then there,
or not, or in part, write by write and at random, as on a disk that had not got round to it;
and nothing is answered any more. Names count as on the disk at once.
"""

import os
import random
import struct
import sys
import threading
from dataclasses import dataclass, field

from soak.moody import READ, SET_ATTRIBUTES, SET_SIZE, FileSystem, serve

SECTOR = 512


@dataclass
class Unsynced:
    """A file since its last sync. base: what it held then. writes: of what, and where."""

    handle: int
    base: bytes
    writes: list[tuple[int, bytes]] = field(default_factory=list)


class Forgetful(FileSystem):
    """Keeps apart what the disk would have for certain."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._unsynced: dict[int, Unsynced] = {}
        self._lock = threading.Lock()

    def answer(self, request: bytes) -> bytes | None:
        """The answer to one request, while there is power; an error would be one, too."""
        with self._lock:
            return None if self.mood == "cut" else super().answer(request)

    def change(self, mood: str) -> None:
        """Change the mood; cut loses what is not synced."""
        with self._lock:
            if mood == "cut":
                for one in self._unsynced.values():
                    _lose(one)
                self._unsynced.clear()
            super().change(mood)

    def _of(self, handle: int) -> Unsynced:
        inode = os.fstat(handle).st_ino
        if inode not in self._unsynced:
            mine = os.open(f"/proc/self/fd/{handle}", os.O_RDWR)
            base = os.pread(mine, os.fstat(mine).st_size, 0)
            self._unsynced[inode] = Unsynced(mine, base)
        return self._unsynced[inode]

    def _write(self, node: int, body: bytes) -> bytes:
        handle, offset, size, *_ = READ.unpack_from(body)
        self._of(handle).writes.append((offset, body[READ.size : READ.size + size]))
        return super()._write(node, body)

    def _set_attributes(self, node: int, body: bytes) -> bytes:
        valid, *_ = SET_ATTRIBUTES.unpack_from(body)
        if valid & SET_SIZE:
            # A file's length counts at once, as its name does.
            self._forget(self._stat(node).st_ino)
        return super()._set_attributes(node, body)

    def _sync(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        (handle,) = struct.unpack_from("<Q", body)
        self._forget(os.fstat(handle).st_ino)
        return b""

    def _forget(self, inode: int) -> None:
        known = self._unsynced.pop(inode, None)
        if known is not None:
            os.close(known.handle)


def _lose(file: Unsynced) -> None:
    """Let some of the writes not have reached the disk."""
    os.ftruncate(file.handle, 0)
    os.pwrite(file.handle, file.base, 0)
    for offset, content in file.writes:
        draw = random.random()
        if draw < 0.4:
            continue
        part = len(content)
        if draw < 0.6:
            part = SECTOR * random.randint(0, part // SECTOR)
        os.pwrite(file.handle, content[:part], offset)
    os.close(file.handle)


if __name__ == "__main__":
    serve(Forgetful(sys.argv[1]), sys.argv[2])
