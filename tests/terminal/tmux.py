"""tmux as a terminal for tests: a server of its own, a shell in it, keys in and text out."""

import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LIMIT = 300.0
"""Seconds to wait for anything: a busy machine is no error."""

PROMPT = "ready$"


class Tmux:
    """One session with a plain shell. program: the command line that starts nfh-tui."""

    def __init__(self, folder: Path, width: int = 120, height: int = 40) -> None:
        self._socket = folder / "tmux"
        self._folder = folder
        self.program = shlex.join([sys.executable, "-P", "-m", "nfh_tui"])
        shell = f"env PS1='{PROMPT} ' ENV= HISTFILE= sh"
        size = ("-x", str(width), "-y", str(height))
        self.do("new-session", "-d", "-s", "test", *size, "-c", str(folder), shell)
        self.until(PROMPT)

    @property
    def data_folder(self) -> Path:
        """Where the session's programs keep their files."""
        return self._folder / "DATA"

    def do(self, *arguments: str) -> str:
        """A command of tmux; what it prints."""
        command = ["tmux", "-S", str(self._socket), "-f", os.devnull, *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self._variables()
        )
        if done.returncode:
            raise AssertionError(f"tmux {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def _variables(self) -> dict[str, str]:
        """Of the shell: a data folder of its own, no predictor, no tour, colours."""
        without = {name: value for name, value in os.environ.items() if name != "TMUX"}
        folders = {
            f"XDG_{kind}_HOME": str(self._folder / kind) for kind in ("DATA", "CONFIG", "STATE")
        }
        return (
            without
            | folders
            | {
                "NFH_TUI_PREDICTOR": "off",
                "NFH_TUI_TOUR": "off",
                "TERM": "xterm-256color",
                "LC_ALL": "C.UTF-8",
            }
        )

    # --- keys in, text out --------------------------------------------------------------

    def start(self, arguments: str) -> None:
        """Start nfh-tui from the shell."""
        self.type(f"{self.program} {arguments}")
        self.press("Enter")

    def type(self, text: str) -> None:
        """Type characters as they are."""
        self.do("send-keys", "-t", "test", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: Enter, Escape, Tab, C-p, or a letter."""
        self.do("send-keys", "-t", "test", *keys)

    def text(self) -> str:
        """What stands on the screen."""
        return self.do("capture-pane", "-p", "-t", "test")

    def looks(self) -> str:
        """The same with the codes of colours and styles, which say where the cursor is."""
        return self.do("capture-pane", "-p", "-e", "-t", "test")

    def until(self, *words: str, without: str = "") -> str:
        """The screen's text once all of these stand on it, and `without` does not."""
        return self.until_true(
            lambda text: (
                all(word in text for word in words) and not (without and without in text)
            ),
            f"{words}",
        )

    def until_true(self, shows: Callable[[str], bool], what: str) -> str:
        """The screen's text once it shows what is waited for."""
        deadline = time.monotonic() + LIMIT
        while not shows(text := self.text()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} is not on the screen:\n{text}")
            time.sleep(0.05)
        return text

    def told(self, what: str) -> str:
        """A variable of tmux about the pane, e.g. mouse_any_flag."""
        return self.do("display-message", "-p", "-t", "test", f"#{{{what}}}").strip()

    def size(self) -> tuple[int, int]:
        """Columns and lines of the pane."""
        return int(self.told("pane_width")), int(self.told("pane_height"))

    def resize(self, width: int, height: int) -> None:
        """Give the window another size, without a client."""
        self.do("resize-window", "-t", "test", "-x", str(width), "-y", str(height))

    # --- processes ----------------------------------------------------------------------

    def kill_program(self) -> None:
        """End nfh-tui at once, as a crash does, and set the terminal right, as `reset` does."""
        os.kill(self._child(int(self.told("pane_pid"))), signal.SIGKILL)
        self.until(PROMPT)
        # The terminal is still raw: enter is not the end of a line there.
        self.type("stty sane; printf '\\033c'; echo back-$((40+2))")
        self.press("C-j")
        self.until("back-42")

    def _child(self, pid: int) -> int:
        """The process that the shell runs in front."""
        shown = subprocess.run(
            ["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=True
        )
        found = re.findall(r"\d+", shown.stdout)
        assert len(found) == 1, shown.stdout
        return int(found[0])

    @contextmanager
    def attached(self, width: int, height: int) -> Iterator[None]:
        """A client that looks at the session from a terminal of this size; then detached."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        client = subprocess.Popen(
            ["tmux", "-S", str(self._socket), "attach-session", "-t", "test"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=self._variables(),
            start_new_session=True,
        )
        os.close(theirs)
        os.set_blocking(ours, False)
        try:
            self._until_drained(ours, lambda: bool(self.do("list-clients")))
            yield
            self.do("detach-client", "-s", "test")
            self._until_drained(ours, lambda: client.poll() is not None)
        finally:
            client.kill()
            client.wait()
            os.close(ours)

    def _until_drained(self, file: int, done: Callable[[], bool]) -> None:
        """Read what the client draws, so that it can go on, until something is done."""
        deadline = time.monotonic() + LIMIT
        while not done():
            assert time.monotonic() < deadline, "the client neither comes nor goes"
            try:
                os.read(file, 1 << 16)
            except (BlockingIOError, OSError):
                time.sleep(0.05)

    def close(self) -> None:
        """End the server and all in it."""
        subprocess.run(
            ["tmux", "-S", str(self._socket), "kill-server"], capture_output=True, check=False
        )


def there() -> bool:
    """True where tmux is installed."""
    return shutil.which("tmux") is not None
