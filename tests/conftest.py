"""What every test may use."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from click.testing import Result

# For torch, here and in the processes that tests begin: the networks of tests are so small that
# a second thread costs more than it helps, twenty times as much where the machine is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is no error: tests assert structure, not clocks.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


# `tools` is in no wheel. The repository itself stays out of the search path, in which it would
# stand before the packages that are installed.
_TOOLS = ModuleType("tools")
_TOOLS.__path__ = [str(Path(__file__).parents[1] / "tools")]
sys.modules.setdefault("tools", _TOOLS)

ALONE = ("proof", "terminal", "serve/test_browser.py", "cli/test_ending.py")
"""Folders and files whose tests work real terminals, disks, browsers or clocks: with others
beside them they would wait longer than they do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that `make test` runs by themselves."""
    tests = Path(__file__).parent
    places = {tests / place for place in ALONE}
    for item in items:
        if places.intersection((item.path, *item.path.parents)):
            item.add_marker(pytest.mark.alone)


@pytest.fixture(scope="session", autouse=True)
def signals() -> Iterator[None]:
    """As in a terminal: children ignore what nohup, or a shell's background, ignores."""
    told = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    ignored = [one for one in told if signal.getsignal(one) is signal.SIG_IGN]
    for one in ignored:
        signal.signal(one, told[one])
    yield
    for one in ignored:
        signal.signal(one, signal.SIG_IGN)


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder of the tests' own: whoever queues a job keeps a secret there."""
    before = os.environ.get("XDG_DATA_HOME")
    folder = tmp_path_factory.mktemp("data-home")
    os.environ["XDG_DATA_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["XDG_DATA_HOME"]
    else:
        os.environ["XDG_DATA_HOME"] = before


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the releases' real files; the test is skipped where it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NFH_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"needs the releases' files: no folder {folder} (set NFH_DATA)")
    return folder


@pytest.fixture(autouse=True)
def packaged(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model in the package, so that tests are quick and of the recipes that they name."""
    from nfh_tui.services import models

    nowhere = tmp_path_factory.getbasetemp() / "no model in the package"
    monkeypatch.setattr(models, "packaged_folder", lambda: nowhere)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a data folder beside it; no database is named."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("NFH_TUI_DB", raising=False)
    return folder


@pytest.fixture
def call() -> "Callable[..., Result]":
    """Calls a command in this process; its arguments may be paths. input: of standard input."""
    from click.testing import CliRunner

    from nfh_tui.cli.main import commands

    def run(*arguments: object, input: str | None = None) -> "Result":  # noqa: A002
        texts = [str(argument) for argument in arguments]
        return CliRunner().invoke(
            commands, texts, input=input, prog_name="nfh-tui", catch_exceptions=False
        )

    return run
