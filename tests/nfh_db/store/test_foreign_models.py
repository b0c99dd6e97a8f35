"""A row of a database leads the program to no folder that this user did not choose."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.models import Model, NewModel
from nfh_db.store import Store
from nfh_models.identification.svm import Svm, SvmSettings, save_svm
from nfh_models.model_files import ModelFileError
from nfh_tui.jobs.predictor import LiveIdentifier
from nfh_tui.services.models import checked_folder, is_there, models_folder, stored_path

Call = Callable[..., Result]


@pytest.fixture
def database(home: Path) -> Path:
    """A database whose model svm-1 lies in its own folder of models."""
    path = home / "sent.db"
    svm = Svm(SvmSettings(), ["anchor=two"], np.array([1.5]), 0.25, "a parser 1")
    folder = models_folder(path) / "svm-1"
    digest = save_svm(svm, folder)
    with Store.open(path, create=True) as store:
        where = stored_path(path, folder)
        new = NewModel("svm-1", "identification", "svm", svm.version, where, digest)
        store.jobs.finish_training(store.jobs.begin("identification", {}), new)
    return path


def model_of(database: Path) -> Model:
    with Store.open(database) as store:
        found = store.models.named("svm-1")
    assert found is not None
    return found


def edit(database: Path, statement: str, **values: str) -> None:
    """What another program does to the rows."""
    connection = connect(database, "rw")
    connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize(
    "stored",
    [
        "{outside}/svm-1",
        "../outside/svm-1",
        "sent-models/../../outside/svm-1",
        "other-models/svm-1",
        "svm-1",
    ],
)
def test_a_row_leads_to_no_folder_outside_its_own(
    database: Path, home: Path, call: Call, stored: str
) -> None:
    outside = home.parent / "outside"
    own = models_folder(database) / "svm-1"
    for place in (outside / "svm-1", home / "other-models" / "svm-1", home / "svm-1"):
        shutil.copytree(own, place)
    shutil.rmtree(own)
    row = stored.format(outside=outside)
    edit(database, "UPDATE model SET path = :path", path=row)
    model = model_of(database)
    assert not is_there(database, model)
    with pytest.raises(ModelFileError, match=r"only what lies in .*sent-models is used"):
        checked_folder(database, model)
    told = call("models", "activate", "svm-1", "--db", database)
    assert told.exit_code == 1
    assert "copy it there" in told.stderr
    # Whose it is says so with a copy.
    shutil.copytree(outside / "svm-1", own)
    assert checked_folder(database, model) == own


@pytest.mark.parametrize("stored", ["", "..", "sent-models/..", "/", "a\0b", "x" * 5_000])
def test_a_row_that_names_no_folder_is_told_of(database: Path, call: Call, stored: str) -> None:
    edit(database, "UPDATE model SET path = :path", path=stored)
    for words in (("models",), ("models", "show", "svm-1"), ("models", "activate", "svm-1")):
        told = call(*words, "--db", database)
        assert told.exit_code in (0, 1)
    assert told.exit_code == 1
    with pytest.raises(ModelFileError):
        checked_folder(database, model_of(database))


def test_a_database_that_is_moved_with_its_models_keeps_them(
    database: Path, home: Path
) -> None:
    moved = home / "elsewhere"
    moved.mkdir()
    models_folder(database).rename(moved / "sent-models")
    database.rename(moved / "sent.db")
    found = checked_folder(moved / "sent.db", model_of(moved / "sent.db"))
    assert found == moved / "sent-models" / "svm-1"


def test_the_folder_of_a_parser_is_loaded_for_whom_asked_for_it(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(database) as store:
        store.identifications.decide_with(1, "stanza 1", "stanza:/some/folder")
        found = store.identifications.active()
        assert found is not None and found.own
    edit(database, "UPDATE setting SET value = 'stanza:/evil' WHERE value LIKE 'stanza:/%'")
    with Store.open(database) as store:
        found = store.identifications.active()
        assert found is not None and not found.own
        asked: list[str | None] = []
        monkeypatch.setattr(
            "nfh_tui.jobs.predictor.load_parser", lambda spec, _: asked.append(spec)
        )
        live = LiveIdentifier(store)
        live._load(found)
        assert f"nfh-tui identify --parser stanza:/evil --db {database}" in live.trouble
        assert asked == []
        store.identifications.decide_with(1, "stanza 1", "stanza:/some/folder")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "colleague"))
        found = store.identifications.active()
        assert found is not None and not found.own
        store.identifications.decide_with(1, "stanza 1")
        found = store.identifications.active()
        assert found is not None and found.own
