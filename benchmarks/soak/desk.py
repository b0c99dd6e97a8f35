"""The real workbench in a real terminal, worked by keys and read off its screen."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from soak.screen import Screen

WIDTH, HEIGHT = 120, 40


FRAME = re.compile(r"[│╭╮╰╯─\s]+")
FRAMED = re.compile(r"│([^│\n]*)│")


def said(text: str) -> str:
    """The words of a screen on one line, frames left out."""
    return FRAME.sub(" ", text)


class Desk:
    """A running program. written: every byte of it so far."""

    def __init__(
        self, arguments: Sequence[str], environment: dict[str, str] | None = None
    ) -> None:
        self.screen = Screen(WIDTH, HEIGHT)
        self.written = b""
        variables = {
            "TERM": "xterm-256color",
            "NFH_TUI_PREDICTOR": "off",
            "NFH_TUI_TOUR": "off",
            "NFH_TUI_GUARD": "off",
            **(environment or {}),
        }
        command = [sys.executable, "-P", "-m", "nfh_tui", *arguments]
        self._file, terminal = pty.openpty()
        size = struct.pack("HHHH", HEIGHT, WIDTH, 0, 0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
        self._process = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=os.environ | variables,
            start_new_session=True,
        )
        os.close(terminal)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._file, keys.encode())

    def read(self, seconds: float) -> bool:
        """Follow what is drawn within so many seconds; False if nothing was."""
        if not select.select([self._file], [], [], seconds)[0]:
            return False
        try:
            drawn = os.read(self._file, 1 << 16)
        except OSError:  # the program has ended
            return False
        self.written += drawn
        self.screen.feed(drawn)
        return bool(drawn)

    def until(self, shows: Callable[[str], bool], what: str, limit: float = 300.0) -> str:
        """The screen's text once it shows what is waited for. Raises TimeoutError."""
        deadline = time.monotonic() + limit
        while not shows(self.screen.text()):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{what} is not on the screen:\n{self.screen.text()}")
            self.read(min(left, 0.5))
        return self.screen.text()

    def until_said(self, *sentences: str, limit: float = 300.0) -> str:
        """The screen's words, on one line, once all of these stand on it, wrapped or not.

        Spaces do not count: a terminal without a program wraps lines within words. What
        stands in a frame may go on in its next line, past what stands beside the frame.
        """
        bare = [FRAME.sub("", one) for one in sentences]

        def shows(text: str) -> bool:
            drawn = (text, "".join(FRAMED.findall(text)))
            return all(any(one in FRAME.sub("", part) for part in drawn) for one in bare)

        self.until(shows, str(sentences), limit)
        return said(self.screen.text())

    def until_text(self, words: str, limit: float = 300.0) -> str:
        """The screen's text once these words stand on it."""
        return self.until(lambda text: words in text, f"“{words}”", limit)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self._process.kill()
        self._wait()

    def quit(self, limit: float = 300.0) -> int:
        """Press q and wait until the program has ended; its exit status."""
        self.press("q")
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if not self.read(0.1) and self._process.poll() is not None:
                return self._wait()
        raise TimeoutError(f"the workbench does not end:\n{self.screen.text()}")

    def _wait(self) -> int:
        status = self._process.wait()
        os.close(self._file)
        self._file = -1
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file >= 0:
            self.kill()
