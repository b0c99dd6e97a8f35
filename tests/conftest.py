"""What every test may use."""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from nfh_models import model_files
from nfh_models.parsing import spacy_parser

from . import frames, idle, styles

if TYPE_CHECKING:
    from click.testing import Result
    from spacy.language import Language

# For torch, here and in the processes that tests begin: the networks of tests are so small that
# a second thread costs more than it helps, twenty times as much where the machine is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests press keys without reading; those of the time before a key counts turn it on.
os.environ["NFH_TUI_GUARD"] = "off"

# pytest-xdist states a size of the terminal for its processes, which would hold before the size
# of each terminal that a test opens.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)

IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that must be free there."""

LONG = bool(os.environ.get("NFH_TEST_LONG"))
"""True for `make long`: property tests with all examples, and the tests marked so."""

LONGER = 4
LEAST = 10
"""By how much examples are fewer in `make test`, and how many there are at least."""

# A busy machine is no error: tests assert structure, not clocks.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


frames.install()
idle.install()
styles.install()

# `tools` is in no wheel. The repository itself stays out of the search path, in which it would
# stand before the packages that are installed.
_TOOLS = ModuleType("tools")
_TOOLS.__path__ = [str(Path(__file__).parents[1] / "tools")]
sys.modules.setdefault("tools", _TOOLS)

SLOWEST = (
    "test_structure.py",
    "nfh_tui/serving/test_roles.py",
    "pictures",
    "proof",
    "nfh_tui/live/test_terminal.py",
    "nfh_db/formats/test_memory.py",
    "nfh_db/formats/test_limits.py",
    "nfh_tui/cli/test_round_trip.py",
    "nfh_tui/cluster",
    "terminal",
    "nfh_tui/workbench",
)
"""What takes longest begins first, so that no process is left with a long file at the end."""


def pytest_configure() -> None:
    """Keep temporary files in memory, where there is room.

    Databases write through to the disk at each commit, which takes longer than most tests.
    """
    if "TMPDIR" in os.environ or not IN_MEMORY.is_dir():
        return
    for left in IN_MEMORY.glob("nfh-tests-*"):
        if not Path("/proc", left.name.rpartition("-")[2].lstrip("0")).exists():
            shutil.rmtree(left, ignore_errors=True)
    if shutil.disk_usage(IN_MEMORY).free < ROOM:
        return
    # As long for each process, since paths wrap in dialogs and are cut in lists.
    folder = IN_MEMORY / f"nfh-tests-{os.getpid():07}"
    folder.mkdir(mode=0o700)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    # Not at the end of the session: multiprocessing removes a folder of its own in it at exit.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the files, leave out what is long, and give property tests fewer examples."""
    tests = Path(__file__).parent
    ranks = {tests / place: rank for rank, place in enumerate(SLOWEST)}

    def rank(item: pytest.Item) -> int:
        places = (item.path, *item.path.parents)
        return min((ranks[place] for place in places if place in ranks), default=len(ranks))

    items.sort(key=rank)
    if LONG:
        for item in items:
            if hasattr(getattr(item, "obj", None), "hypothesis"):
                item.add_marker(pytest.mark.long)
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]
    # A function that takes parameters is the function of several items.
    for test in {getattr(item, "obj", None) for item in items}:
        wanted = getattr(test, "_hypothesis_internal_use_settings", None)
        if wanted is not None:
            few = max(wanted.max_examples // LONGER, min(wanted.max_examples, LEAST))
            test._hypothesis_internal_use_settings = settings(wanted, max_examples=few)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through all libraries again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Keep pytest's last look for garbage from going through all that the tests left."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def pipelines() -> Iterator[None]:
    """Load each installed spaCy pipeline once: that takes most of a command that parses."""
    load = spacy_parser.load_language
    shared = cache(load)

    def load_once(package: str, unneeded: tuple[str, ...]) -> "Language":
        spacy_parser.import_spacy()
        from spacy.util import get_package_path, is_package

        ours = is_package(package) and get_package_path(package).is_relative_to(sys.prefix)
        return (shared if ours else load)(package, unneeded)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spacy_parser, "load_language", load_once)
        yield


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
    """No models in the package, so that tests are quick and of the recipes that they name."""
    monkeypatch.setattr(model_files, "PACKAGE", tmp_path_factory.getbasetemp() / "no models")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiny model that stands for `small` of the package."""
    from .nfh_models.parsing.tiny_small import write_small

    monkeypatch.setattr(model_files, "PACKAGE", tmp_path / "package")
    return write_small(tmp_path / "package" / "small")


@pytest.fixture
def base(package: Path) -> Path:
    """The folder of a tiny model that stands for `base` of the package, beside `package`."""
    from .nfh_models.parsing.tiny_small import write_base

    return write_base(package.parent / "base")


Make = Callable[[Path], object]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Make, Path], Path]:
    """Copies a database to a path. The function that makes it is called once a session."""

    @cache
    def made(make: Make) -> Path:
        path = tmp_path_factory.mktemp("built") / "x.db"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model_files, "PACKAGE", path.parent / "no models")
            make(path)
        return path

    def copy(make: Make, path: Path) -> Path:
        return Path(shutil.copy(made(make), path))

    return copy


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
