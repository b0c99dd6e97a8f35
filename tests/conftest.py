"""What every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no error: tests assert structure, not clocks.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


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
    from nfh_tui import packaged

    nowhere = tmp_path_factory.getbasetemp() / "no model in the package"
    monkeypatch.setattr(packaged, "packaged_folder", lambda: nowhere)
