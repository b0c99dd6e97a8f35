"""A database, and models that answer as their cards say."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.store import Store
from nfh_tui.jobs import promotion
from nfh_tui.services import models

from .handmade import incoming, load_oracle


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A database without labels: nothing is known of what its models learnt from."""
    with Store.open(path, create=True) as opened:
        yield opened


@pytest.fixture
def load(store: Store) -> Callable[..., None]:
    """Adds so many labels, numbers 0 on."""

    def add(count: int, name: str = "a", **more: object) -> None:
        found = incoming(count, **more)  # type: ignore[arg-type]
        store.imports.load(IncomingFile(name, f"{name:0<64}", "test"), found)

    return add


@pytest.fixture
def oracles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models' folders are loaded as those of oracles."""
    for module, name, local in (
        (models, "IDENTIFICATION", "IDENTIFIERS"),
        (models, "RESOLUTION", "RESOLVERS"),
    ):
        changed = replace(getattr(module, name), make=load_oracle)
        monkeypatch.setattr(module, name, changed)
        monkeypatch.setattr(promotion, local, changed)
