"""A database with gold, and a model so small that it learns in no time."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db.import_run import IncomingFile
from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.cli.main import commands
from tests.nfh_models.encoder.handmade import item, reference
from tests.nfh_models.parsing.tiny_small import write_small

from .handmade import Add, texts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.db"


@pytest.fixture
def add(path: Path) -> Add:
    """Adds so many examples to the database. split, only: as their rows have it."""

    def load(
        count: int,
        name: str = "a",
        *,
        split: str | None = None,
        start: int = 0,
        only: Kind | None = None,
    ) -> None:
        passages = []
        for line, (text, answer) in enumerate(texts(count, start), 1):
            one = item(text)
            if answer.kind is Kind.NFH:
                answer = reference(one, "dogs").gold
            if only is not None:
                answer = class_answer(only)
            gold = Gold(answer, Rule.IMPORTED)
            anchor = IncomingAnchor(line, one.anchor, split=split, gold=gold)
            passages.append(IncomingPassage(one.passage, "test", (anchor,)))
        with Store.open(path, create=True) as store:
            store.imports.load(IncomingFile(name, name * 64, "test"), passages)

    return load


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A model to start from, so small that it learns in no time."""
    return write_small(tmp_path / "base", recipe="encoder")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that waits for its job does it itself."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NFH_TUI_RUNNER", "here")


@pytest.fixture
def call(path: Path) -> Callable[..., Result]:
    def run(*arguments: object) -> Result:
        texts = ["retrain", *map(str, arguments), "--db", str(path)]
        return CliRunner().invoke(commands, texts, prog_name="nfh-tui", catch_exceptions=False)

    return run
