"""The desk of the workbench's own tests serves here too, and a text of a few rules."""

from pathlib import Path

import pytest

from nfh_db.store import Store
from tests.nfh_tui.workbench.conftest import database, open_desk, read, surroundings

__all__ = ["database", "open_desk", "read", "surroundings"]

TEXT = """\
# Few rules

Read these.

## R1 Answer for all

Widen it.

## R5 Age and money

Say AGE, or *CURRENCY*.

## R12 One of them

Join them by OR.

# At the end

Thank you.
"""


@pytest.fixture
def text() -> str:
    """Guidelines with the rules R1, R5 and R12."""
    return TEXT


@pytest.fixture
def guided(database: Path, text: str) -> Path:
    """The small database, with that text as its first version."""
    with Store.open(database) as store:
        store.guidelines.add_first(text)
    return database


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own editor is opened."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
