"""A file system whose mood can be changed while files are open on it (Linux, as root).

    python -m soak.moody FOLDER MOUNTPOINT

Mounts FOLDER a second time at MOUNTPOINT and speaks the kernel's FUSE protocol itself. Each
line on standard input is a mood, answered by "ok":

well        as the folder is
full        no file may grow: ENOSPC
read-only   nothing may be written: EROFS, as a disk does that the system has set read-only
failing     nothing can be written: EIO
unshared    files opened from now on cannot be mapped into memory that processes share, as
            on some network file systems: SQLite's write-ahead log does not work there

The end of standard input unmounts it. Real mounts do not let themselves be set read-only
while a file is open for writing, which is just what happens to a disk that fails.
"""

import ctypes
import errno
import os
import stat
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

HEADER = struct.Struct("<IIQQIIIHH")
ANSWER = struct.Struct("<IiQ")
ATTRIBUTES = struct.Struct("<6Q10I")
ENTRY = struct.Struct("<4Q2I")
SET_ATTRIBUTES = struct.Struct("<2I6Q8I")
READ = struct.Struct("<QQIIQII")
ROOT = 1
BUFFER = (1 << 20) + 4096
LONGEST_WRITE = 1 << 17
DIRECT_IO = 1
BIG_WRITES = 1 << 5
SET_MODE, SET_SIZE = 1, 8
DETACH = 2
NO_SUID_NO_DEVICES = 6

FORGET, INTERRUPT, FORGET_MANY = 2, 36, 42
UNANSWERED = {FORGET, INTERRUPT, FORGET_MANY}
WRITERS = {4, 8, 9, 10, 11, 12, 16, 20, 35, 43, 45}
"""Requests that change something: attributes, names, content, and syncing it."""


@dataclass
class Node:
    """A file that the kernel knows. open: descriptors of it, by themselves as handles."""

    path: str
    open: set[int] = field(default_factory=set)


class FileSystem:
    """Answers the kernel's requests from a folder."""

    def __init__(self, folder: str) -> None:
        self.mood = "well"
        self._folder = folder
        self._nodes = {ROOT: Node(folder)}
        self._by_path = {folder: ROOT}
        self._last = ROOT
        self._answers: dict[int, Callable[[int, bytes], bytes]] = {
            1: self._look_up, 3: self._attributes, 4: self._set_attributes,
            9: self._make_folder, 10: self._unlink, 11: self._remove_folder,
            12: self._rename, 14: self._open,
            15: self._read, 16: self._write, 17: self._size, 18: self._release, 20: self._sync,
            25: self._nothing, 26: self._begin, 27: self._nothing_open, 28: self._list,
            29: self._nothing, 30: self._nothing, 34: self._nothing, 35: self._create,
            38: self._nothing, 45: self._rename_2,
        }  # fmt: skip

    def change(self, mood: str) -> None:
        """Change the mood, from the next request on."""
        self.mood = mood

    def answer(self, request: bytes) -> bytes | None:
        """The answer to one request; None where none is wanted."""
        _, code, unique, node, *_ = HEADER.unpack_from(request)
        if code in UNANSWERED:
            return None
        body, error = b"", 0
        try:
            self._check_mood(code, request[HEADER.size :])
            if code not in self._answers:
                raise OSError(errno.ENOSYS, "")
            body = self._answers[code](node, request[HEADER.size :])
        except OSError as failed:
            error = -(failed.errno or errno.EIO)
        return ANSWER.pack(ANSWER.size + len(body), error, unique) + body

    def _check_mood(self, code: int, body: bytes) -> None:
        writes = code in WRITERS or (code == 14 and self._for_writing(body))
        if self.mood == "read-only" and writes and code != 20:
            raise OSError(errno.EROFS, "")
        if self.mood == "failing" and code in WRITERS:
            raise OSError(errno.EIO, "")
        if self.mood == "full" and code == 16:
            handle, offset, size, *_ = READ.unpack_from(body)
            if offset + size > os.fstat(handle).st_size:
                raise OSError(errno.ENOSPC, "")

    @staticmethod
    def _for_writing(body: bytes) -> bool:
        return bool(struct.unpack_from("<I", body)[0] & os.O_ACCMODE != os.O_RDONLY)

    # --- names ----------------------------------------------------------------------------

    def _path(self, node: int, name: bytes) -> str:
        return os.path.join(self._nodes[node].path, os.fsdecode(name.rstrip(b"\0")))  # noqa: PTH118

    def _node(self, path: str) -> int:
        if path not in self._by_path:
            self._last += 1
            self._by_path[path] = self._last
            self._nodes[self._last] = Node(path)
        return self._by_path[path]

    def _entry(self, path: str) -> bytes:
        found = os.lstat(path)
        node = self._node(path)
        return ENTRY.pack(node, 0, 0, 0, 0, 0) + _attributes(found, node)

    def _look_up(self, node: int, body: bytes) -> bytes:
        return self._entry(self._path(node, body))

    def _make_folder(self, node: int, body: bytes) -> bytes:
        mode, _ = struct.unpack_from("<II", body)
        path = self._path(node, body[8:])
        os.mkdir(path, mode)  # noqa: PTH102
        return self._entry(path)

    def _unlink(self, node: int, body: bytes) -> bytes:
        path = self._path(node, body)
        os.unlink(path)  # noqa: PTH108
        self._by_path.pop(path, None)
        return b""

    def _remove_folder(self, node: int, body: bytes) -> bytes:
        os.rmdir(self._path(node, body))  # noqa: PTH106
        return b""

    def _rename(self, node: int, body: bytes, skip: int = 8) -> bytes:
        (target,) = struct.unpack_from("<Q", body)
        old, new = body[skip:].split(b"\0")[:2]
        source, destination = self._path(node, old), self._path(target, new)
        os.rename(source, destination)  # noqa: PTH104
        moved = self._by_path.pop(source, None)
        self._by_path.pop(destination, None)
        if moved is not None:
            self._by_path[destination] = moved
            self._nodes[moved].path = destination
        return b""

    def _rename_2(self, node: int, body: bytes) -> bytes:
        return self._rename(node, body, 16)

    # --- files ----------------------------------------------------------------------------

    def _opened(self, node: int, flags: int, mode: int = 0o644) -> bytes:
        handle = os.open(self._nodes[node].path, flags & ~os.O_DIRECT, mode)
        self._nodes[node].open.add(handle)
        return struct.pack("<QII", handle, DIRECT_IO if self.mood == "unshared" else 0, 0)

    def _open(self, node: int, body: bytes) -> bytes:
        return self._opened(node, struct.unpack_from("<I", body)[0])

    def _create(self, node: int, body: bytes) -> bytes:
        flags, mode, _, _ = struct.unpack_from("<4I", body)
        path = self._path(node, body[16:])
        os.close(os.open(path, flags | os.O_CREAT, mode))
        return self._entry(path) + self._opened(self._node(path), flags & ~os.O_EXCL)

    def _release(self, node: int, body: bytes) -> bytes:
        (handle,) = struct.unpack_from("<Q", body)
        self._nodes[node].open.discard(handle)
        os.close(handle)
        return b""

    def _read(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        handle, offset, size, *_ = READ.unpack_from(body)
        return os.pread(handle, size, offset)

    def _write(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        handle, offset, size, *_ = READ.unpack_from(body)
        content = body[READ.size : READ.size + size]
        return struct.pack("<II", os.pwrite(handle, content, offset), 0)

    def _sync(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        os.fsync(struct.unpack_from("<Q", body)[0])
        return b""

    def _path_or_handle(self, node: int) -> str | int:
        """A handle of a file, which leads to it even where its name is gone; else its path."""
        known = self._nodes[node]
        return next(iter(known.open), known.path)

    def _stat(self, node: int) -> os.stat_result:
        return os.stat(self._path_or_handle(node))  # noqa: PTH116

    def _attributes(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        return struct.pack("<QII", 0, 0, 0) + _attributes(self._stat(node), node)

    def _set_attributes(self, node: int, body: bytes) -> bytes:
        valid, _, _, size, *others = SET_ATTRIBUTES.unpack_from(body)
        mode = others[7]
        if valid & SET_SIZE:
            os.truncate(self._path_or_handle(node), size)
        if valid & SET_MODE:
            os.chmod(self._nodes[node].path, stat.S_IMODE(mode))  # noqa: PTH101
        return self._attributes(node, b"")

    # --- the rest -------------------------------------------------------------------------

    def _begin(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        major, minor, ahead, flags = struct.unpack_from("<4I", body)
        answer = struct.pack("<4I", major, min(minor, 31), ahead, flags & BIG_WRITES)
        return answer + struct.pack("<2H2I2H8I", 16, 12, LONGEST_WRITE, 1, 0, 0, *[0] * 8)

    def _size(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        found = os.statvfs(self._folder)
        free = 0 if self.mood == "full" else found.f_bavail
        whole = (found.f_blocks, free, free, found.f_files, found.f_ffree)
        return struct.pack("<5Q4I6I", *whole, found.f_bsize, 255, found.f_frsize, 0, *[0] * 6)

    def _list(self, node: int, body: bytes) -> bytes:
        _, offset, size, *_ = READ.unpack_from(body)
        out = b""
        names = [b".", b"..", *sorted(map(os.fsencode, os.listdir(self._nodes[node].path)))]  # noqa: PTH208
        for place, name in enumerate(names[offset:], offset + 1):
            entry = struct.pack("<QQII", place, place, len(name), 0) + name
            entry += b"\0" * (-len(entry) % 8)
            if len(out) + len(entry) > size:
                break
            out += entry
        return out

    def _nothing(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        return b""

    def _nothing_open(self, node: int, body: bytes) -> bytes:  # noqa: ARG002
        return struct.pack("<QII", 0, 0, 0)


def _attributes(found: os.stat_result, node: int) -> bytes:
    times = [int(found.st_atime), int(found.st_mtime), int(found.st_ctime)]
    rest = [found.st_mode, found.st_nlink, found.st_uid, found.st_gid, 0, 4096, 0]
    return ATTRIBUTES.pack(node, found.st_size, found.st_blocks, *times, 0, 0, 0, *rest)


def serve(files: FileSystem, place: str) -> None:
    """Mount, answer until standard input ends, unmount. Raises OSError where it may not."""
    system = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if system.mount(b"moody", place.encode(), b"fuse.moody", NO_SUID_NO_DEVICES, options):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def answer() -> None:
        while True:
            try:
                request = os.read(device, BUFFER)
                answered = files.answer(request)
                if answered is not None:
                    os.write(device, answered)
            except OSError as error:
                # Asked for again where a request was interrupted; gone once unmounted.
                if error.errno == errno.ENODEV:
                    return

    threading.Thread(target=answer, daemon=True).start()
    try:
        sys.stdout.write("ok\n")
        sys.stdout.flush()
        for line in sys.stdin:
            files.change(line.strip())
            sys.stdout.write("ok\n")
            sys.stdout.flush()
    finally:
        system.umount2(place.encode(), DETACH)


if __name__ == "__main__":
    serve(FileSystem(sys.argv[1]), sys.argv[2])
