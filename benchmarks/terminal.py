"""A terminal for the benchmarks: starts a program in it and waits for what it draws."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class Terminal:
    """A program running in a pseudo-terminal of its own, 120 columns by 40 lines.

    seen: all that the program has written so far.
    """

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self.seen = b""
        self.began = time.perf_counter()
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.environ.update(
                {
                    "TERM": "xterm-256color",
                    "NFH_TUI_TOUR": "off",
                    "NFH_TUI_GUARD": "off",
                    **environment,
                }
            )
            os.execv(sys.executable, [sys.executable, *arguments])
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def wait_for(self, words: str, limit: float = 30.0) -> float:
        """Seconds since the start until the program has drawn these words."""
        wanted = words.encode()
        while wanted not in self.seen:
            left = self.began + limit - time.perf_counter()
            if left <= 0 or not select.select([self._file], [], [], left)[0]:
                end = self.seen[-300:]
                raise SystemExit(f"“{words}” was not drawn within {limit} s; last: {end!r}")
            self.seen += os.read(self._file, 65536)
        return time.perf_counter() - self.began

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._file, keys.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.press("q")
        end = time.perf_counter() + 10
        while time.perf_counter() < end:
            try:
                if select.select([self._file], [], [], 0.1)[0] and not os.read(
                    self._file, 65536
                ):
                    break
            except OSError:  # the other end is closed
                break
        os.waitpid(self.pid, 0)
        os.close(self._file)
