"""Ways for a process to die at a place of one's choosing: no chance to tidy anything up.

Beside SIGKILL at a time, which its parent sends, a process can be made to die inside an SQL
statement (SIGKILL to itself after so many steps of SQLite's machine), with a half-written
page on its way to the disk (the file may not grow any further: SIGXFSZ), or as it asks the
system to write, sync, cut or rename a file (a filter in the kernel: SIGSYS).
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Callable
from itertools import count

STEPS = 20
"""Steps of SQLite's machine between two looks at the count."""

CALLS = {
    "x86_64": {
        "pwrite": (18,),
        "fsync": (74,),
        "ftruncate": (77,),
        "rename": (82, 264, 316),
        "unlink": (87, 263),
    },
    "aarch64": {
        "pwrite": (68,),
        "fsync": (82,),
        "ftruncate": (46,),
        "rename": (38, 276),
        "unlink": (35,),
    },
}
"""Numbers of the system calls that change files, by machine."""

LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
KILL_PROCESS, ALLOW = 0x80000000, 0x7FFF0000
NO_NEW_PRIVILEGES, SECCOMP_MODE, FILTER, ALL_THREADS = 38, 22, 1, 1
SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}


def after_steps(steps: int) -> None:
    """Die by SIGKILL once SQLite has made so many steps, on whatever connections."""
    from nfh_db.connection import sqlite3

    connect, left = sqlite3.connect, count(steps // STEPS, -1)

    def step() -> int:
        if next(left) <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def watched(*args: object, **kwargs: object) -> object:
        connection = connect(*args, **kwargs)  # type: ignore[call-overload]  # passed on
        connection.set_progress_handler(step, STEPS)
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]  # for this process only


def beyond_size(size: int) -> None:
    """Die in the write that would take any file past so many bytes, after a part of it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def can_filter() -> bool:
    """True where `at_call` works."""
    return sys.platform == "linux" and platform.machine() in CALLS


def at_call(name: str) -> None:
    """Die as soon as any thread asks the system for a call of CALLS."""
    refuse(CALLS[platform.machine()][name], KILL_PROCESS)


def refuse(numbers: tuple[int, ...], verdict: int) -> None:
    """Let the kernel answer some system calls of this process with a verdict from now on."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rules = [struct.pack("HBBI", LOAD, 0, 0, 0)]
    rules += [
        struct.pack("HBBI", JUMP_EQUAL, len(numbers) - rank, 0, number)
        for rank, number in enumerate(numbers)
    ]
    rules.append(struct.pack("HBBI", RETURN, 0, 0, ALLOW))
    rules.append(struct.pack("HBBI", RETURN, 0, 0, verdict))
    install(b"".join(rules))


def install(program: bytes) -> None:
    """Install a filter of system calls for all threads of this process, for good."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_void_p))

    system = ctypes.CDLL(None, use_errno=True)
    rules = ctypes.create_string_buffer(program)
    made = Program(len(program) // 8, ctypes.cast(rules, ctypes.c_void_p))
    if system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    call = SECCOMP_CALL[platform.machine()]
    if system.syscall(call, FILTER, ALL_THREADS, ctypes.byref(made)):
        raise OSError(ctypes.get_errno(), "seccomp")


Death = Callable[[], None]
