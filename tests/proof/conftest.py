"""The soak scripts' modules, which the short forms share, and disks that can be spoilt."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
if str(BENCHMARKS) not in sys.path:
    sys.path.append(str(BENCHMARKS))


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of its own and no predictor child, also for the processes started."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "off")
    monkeypatch.delenv("NFH_TUI_DB", raising=False)


@pytest.fixture
def mounts() -> Iterator[Callable[..., object]]:
    """Mounts a disk of a class of `soak.disks`; the test is skipped where it may not."""
    from soak.disks import NotPermittedError

    with ExitStack() as stack:

        def mount(kind: Callable[..., object], *arguments: object) -> object:
            try:
                return stack.enter_context(kind(*arguments))
            except NotPermittedError as reason:
                pytest.skip(f"needs to mount a file system of its own: {reason}")

        yield mount
