"""What every test may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the releases' real files; the test is skipped where it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NFH_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"needs the releases' files: no folder {folder} (set NFH_DATA)")
    return folder
