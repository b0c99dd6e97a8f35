"""Real terminals: a model put to use while one works, a training that comes round, and a
terminal that vanishes.
"""

import fcntl
import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.models import NewModel
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.model_files import digest_of
from nfh_tui.jobs.training import new_job, set_every
from nfh_tui.services.models import models_folder, stored_path
from tests.nfh_models.parsing.tiny_small import write_small
from tests.nfh_tui.retrain.conftest import add, path  # noqa: F401
from tests.nfh_tui.retrain.handmade import FAST
from tests.terminal.conftest import passages, terminal  # noqa: F401
from tests.terminal.tmux import Tmux

WAIT = 300.0
GONE = 129
"""Exit status of what a vanished terminal ended."""


@pytest.fixture
def database(path: Path, add: Callable[..., None]) -> Path:  # noqa: F811
    """Five items that are open, before forty with gold."""
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("open.jsonl", "0" * 64, "gold"), passages())
    add(40)
    return path


def put_in(database: Path, name: str) -> None:
    """A tiny model of one's own, registered."""
    folder = write_small(models_folder(database) / name, seed=3, recipe="encoder")
    with Store.open(database) as store:
        new = NewModel(
            *(name, "resolution", "encoder", "1"),
            stored_path(database, folder),
            digest_of(folder),
        )
        store.jobs.finish_training(store.jobs.begin("resolution", {}), new)


def tui(terminal: Tmux, arguments: str) -> str:  # noqa: F811
    """A command of the program in another process, as from another terminal."""
    done = subprocess.run(
        [*shlex.split(terminal.program), *shlex.split(arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=terminal._variables(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def adjudicate(terminal: Tmux, database: Path, with_: str) -> None:  # noqa: F811
    """Open the workbench. with_: "PREDICTOR" or "RUNNER", a real one."""
    terminal.type(f"NFH_TUI_{with_}=on ")
    terminal.start(f"adjudicate --db {database} --as edith")


@pytest.mark.long
def test_a_model_put_to_use_from_outside_answers_without_a_key(
    terminal: Tmux,  # noqa: F811
    database: Path,
) -> None:
    with Store.open(database) as store:
        small = store.models.ensure("small", "both", "small", "0")
        # Somebody chose it, so that base of the package does not take over.
        store.models.activate(store.models.ensure("cues", "resolution", "cues", "0"))
        store.models.activate(small)
    put_in(database, "encoder-1")
    adjudicate(terminal, database, "PREDICTOR")
    terminal.until("Item 1", "model small")
    terminal.until_true(lambda text: model_of(text) == "small", "what small says")
    terminal.press("y")
    terminal.until("Year", without="nothing chosen yet")
    tui(terminal, f"models activate encoder-1 --db {database}")
    terminal.until("encoder-1 now resolves in place of small", "model encoder-1")
    text = terminal.until_true(lambda text: model_of(text) == "encoder-1", "the new model")
    assert "Item 1" in text and "Year" in text


def model_of(text: str) -> str:
    """The name over what the model says of the item; "" while it says nothing."""
    for line in text.splitlines():
        words = line.split()
        if "Model" in words:
            return words[-1].strip("│")
    return ""


@pytest.mark.long
def test_decisions_have_a_model_trained_and_it_is_told_what_became_of_it(
    terminal: Tmux,  # noqa: F811
    database: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = write_small(tmp_path / "base", recipe="encoder")
    # Set by the same installation: what somebody else set queues nothing.
    monkeypatch.setenv("XDG_DATA_HOME", terminal._variables()["XDG_DATA_HOME"])
    with Store.open(database) as store:
        set_every(store, 2, new_job("resolution", "encoder", words=(f"base={base}", *FAST)))
    adjudicate(terminal, database, "RUNNER")
    terminal.until("Item 1")
    terminal.press("y", "Enter")
    terminal.until("saved", "Item 2")
    terminal.press("y", "Enter")
    terminal.until("job 1 is queued")
    told = terminal.until_true(
        lambda text: "encoder-1 is" in text or "encoder-1 now" in text or "failed" in text,
        "what became of the model",
    )
    assert "failed" not in told
    with Store.open(database) as store:
        (job, *_) = reversed(store.jobs.all())
        assert job.state == "done"
        assert "2 decisions" in job.asked_by


# --- a terminal that vanishes -----------------------------------------------------------------


@pytest.fixture
def vanishing(database: Path, tmp_path: Path) -> Iterator[tuple[int, int]]:
    """The workbench on a terminal of its own, the tour open; its process and our end."""
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("DATA", "CONFIG", "STATE")}
    variables = {"NFH_TUI_PREDICTOR": "off", "NFH_TUI_TOUR": "on", "TERM": "xterm-256color"}
    command = [sys.executable, "-P", "-m", "nfh_tui", "adjudicate", "--db", str(database)]
    pid, ours = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
        os.execve(sys.executable, command, {**os.environ, **folders, **variables})
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    yield pid, ours
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        return


def hear(ours: int, words: bytes) -> None:
    """Read what is drawn until these words are among it."""
    drawn, end = b"", time.monotonic() + WAIT
    while words not in drawn:
        assert time.monotonic() < end, drawn[-2000:]
        if select.select([ours], [], [], 0.1)[0]:
            drawn += os.read(ours, 1 << 16)


def test_the_workbench_ends_with_its_terminal_and_keeps_the_draft(
    vanishing: tuple[int, int], database: Path
) -> None:
    pid, ours = vanishing
    hear(ours, b"esc leaves")
    os.write(ours, b"y")
    # Not its name, which stands below the passage anyway.
    hear(ours, b"changed")
    os.close(ours)
    end = time.monotonic() + WAIT
    while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
        assert time.monotonic() < end, "the workbench goes on without a terminal"
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(ended[1]) == GONE
    with Store.open(database) as store:
        me = next(one for one in store.people.all() if one.type == "person")
        item = store.items.read(1, me, Role.ADJUDICATOR)
        assert item is not None and item.draft is not None
        assert "YEAR" in item.draft.body
