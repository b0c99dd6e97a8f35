"""A database that lies where nothing can be written is read by what only reads."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db import connection, database
from nfh_db.errors import FullError
from nfh_db.store import Store
from nfh_models.parsing.base import load_parser
from nfh_models.parsing.spacy_parser import installed_pipelines
from nfh_tui.cli import evaluate_identification

Call = Callable[..., Result]
ROWS = "text\tind_s\tind_e\ty\n" + "".join(
    f"I_SEP_saw_SEP_two{word}\t2\t3\t{label}\n"
    for word, label in (("_SEP_dogs", 0), ("", 1), ("_SEP_cats", 0), ("_SEP_.", 1))
)
EVALUATE = ("evaluate", "identification", "--model", "rules", "--resamples", 0, "--json")


_loaded = lru_cache(load_parser)


@pytest.fixture(autouse=True)
def parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real parser, loaded once for all of these tests."""
    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")
    monkeypatch.setattr("nfh_models.parsing.base.load_parser", _loaded)
    monkeypatch.setattr(evaluate_identification, "load_parser", _loaded)


@pytest.fixture
def db(call: Call, home: Path) -> Path:
    (home / "rows.tsv").write_text(ROWS, encoding="utf-8")
    assert call("import", "rows.tsv", "--db", "my.db").exit_code == 0
    return home / "my.db"


@pytest.fixture(params=["ro", connection.STILL])
def shut(db: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As it is where nobody may write: tests may run as somebody who may everywhere."""

    def refuse(path: Path, *, create: bool) -> None:
        raise FullError(f"{path} cannot be written")

    real = database.read_access

    def place(path: Path) -> database.ReadAccess:
        return database.ReadAccess(request.param, real(path).version)

    monkeypatch.setattr(database, "open_writer", refuse)
    monkeypatch.setattr(database, "read_access", place)
    return db


def test_reading_commands_work(shut: Path, call: Call, dump: Callable[[Path], object]) -> None:
    before = dump(shut)
    assert json.loads(call("models", "--db", shut, "--json").stdout) == {"models": []}
    shown = call("models", "show", "rules", "--db", shut)
    assert (shown.exit_code, "there are: none yet" in shown.stderr) == (1, True)
    assert json.loads(call(*EVALUATE, "--db", shut).stdout)["n"] == 4
    assert json.loads(call("jobs", "--db", shut, "--json").stdout) == {"jobs": []}
    told = json.loads(call("identify", "--db", shut, "--dry-run", "--json").stdout)
    assert (told["numbers"], told["decided"], told["active"]) == (4, 4, True)
    assert call("identify", "--file", "rows.tsv", "--db", shut).exit_code == 0
    assert dump(shut) == before


@pytest.mark.parametrize(
    "command",
    [("identify",), ("retrain", "identification"), ("models", "activate", "rules")],
)
def test_what_writes_says_that_it_cannot(shut: Path, call: Call, command: tuple[str]) -> None:
    result = call(*command, "--db", shut)
    assert result.exit_code == 1
    assert result.stderr == f"nfh-tui: {shut} cannot be written\n"


def test_a_store_opened_to_read_refuses_to_write(shut: Path) -> None:
    with Store.open_to_read(shut) as store:
        assert len(store.people.all()) >= 0
        with pytest.raises(FullError):
            store.settings.write("a", "b")


def test_an_older_one_cannot_be_brought_up_to_date_there(
    shut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "read_access", lambda _: database.ReadAccess("ro", 1))
    with pytest.raises(FullError, match=r"an older nfh-tui .* Copy it to a folder of yours"):
        Store.open_to_read(shut)


def test_measuring_and_looking_write_nothing(
    db: Path, call: Call, dump: Callable[[Path], object]
) -> None:
    before = dump(db)
    for command in (
        (*EVALUATE, "--db", db),
        ("identify", "--db", db, "--dry-run"),
        ("identify", "--file", "rows.tsv", "--db", db),
    ):
        assert call(*command).exit_code == 0
        assert dump(db) == before
