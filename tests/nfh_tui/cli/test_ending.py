"""SIGTERM and SIGHUP: what a command was writing is gone, and its exit status says which. One
that runs out of memory says so."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from nfh_tui.cli.options import reporting
from nfh_tui.process_signals import SIGNALS, EndedError, ended_by_signals

Make = Callable[..., Path]

IN_A_WRITER = """
import sys, time
from pathlib import Path
from nfh_db.database import atomic_file
from nfh_db.formats.files import replacing
from nfh_tui.cli.options import reporting

@reporting
def work():
    with {writer}(Path("made")) as out:
        if isinstance(out, Path):
            out.write_text("half")
        print("begun", flush=True)
        time.sleep(600)

try:
    work()
except BaseException as end:
    sys.exit(end.exit_code)
"""


def test_a_command_that_runs_out_of_memory_says_so() -> None:
    @reporting
    def work() -> None:
        raise MemoryError

    with pytest.raises(click.ClickException, match="there is not enough memory for this"):
        work()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def until(there: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Wait for something that a process does."""
    while not there():
        assert running.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
@pytest.mark.parametrize("writer", ["atomic_file", "replacing"])
def test_whatever_writes_beside_its_place_leaves_nothing(
    home: Path, writer: str, number: signal.Signals
) -> None:
    running = subprocess.Popen(
        [sys.executable, "-P", "-c", IN_A_WRITER.format(writer=writer)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    assert len(names(home)) == 1
    running.send_signal(number)
    _, told = running.communicate(timeout=120)
    assert (running.returncode, told) == (128 + number, "nfh-tui: stopped.\n")
    assert names(home) == []


@pytest.mark.long
def test_a_prediction_that_is_ended_leaves_the_old_file(home: Path, nfh_file: Make) -> None:
    rows = nfh_file().read_text()
    (home / "out.jsonl").write_text("old")
    before = names(home)
    running = subprocess.Popen(
        [sys.executable, "-P", "-m", "nfh_tui", "predict", "--file", "-", "--model", "cues",
         "--no-deterministic", "--out", "out.jsonl"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert running.stdin is not None
    running.stdin.write(rows)
    running.stdin.flush()
    until(lambda: len(names(home)) > len(before), running)
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=120) == 128 + signal.SIGTERM
    assert names(home) == before
    assert (home / "out.jsonl").read_text() == "old"


def test_signals_are_as_they_were_afterwards_and_what_is_ignored_stays_so() -> None:
    before = [signal.signal(one, signal.SIG_DFL) for one in SIGNALS]
    signal.signal(SIGNALS[-1], signal.SIG_IGN)  # as nohup does
    try:
        with pytest.raises(EndedError, match="SIGTERM") as ended, ended_by_signals():
            assert signal.getsignal(SIGNALS[-1]) is signal.SIG_IGN
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.status == 143
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        for one, handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)
