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
    with pytest.raises(ModelFileError, match=r"only folders in .*sent-models are used"):
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


@pytest.mark.parametrize("name", ["other.db", "elsewhere/sent.db", "elsewhere/other.db"])
@pytest.mark.parametrize("along", [False, True])
def test_a_database_that_is_renamed_or_moved_finds_its_models(
    database: Path,
    home: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    along: bool,
) -> None:
    place = home / name
    place.parent.mkdir(exist_ok=True)
    database.rename(place)
    models = models_folder(database)
    if along:
        models = models.rename(place.parent / "sent-models")
    model = model_of(place)
    assert checked_folder(place, model) == models / "svm-1"
    assert call("models", "activate", "svm-1", "--db", place).exit_code == 0
    assert "!" not in call("models", "--db", place).stdout
    # To whom it is sent it may lead nowhere but into its own folder.
    monkeypatch.setenv("XDG_DATA_HOME", str(home.parent / "of somebody else"))
    assert is_there(place, model_of(place)) is (models == models_folder(place))


def test_a_folder_of_models_that_nobody_trained_into_is_not_used(
    database: Path, home: Path
) -> None:
    models_folder(database).rename(home / "other-models")
    other = str(home / "other-models")
    edit(
        database,
        "UPDATE setting SET value = replace(value, :old, :new) WHERE value LIKE '%-models%'",
        old=str(models_folder(database)),
        new=other,
    )
    model = model_of(database)
    assert (model.places, is_there(database, model)) == ((), False)


def test_a_backup_takes_models_along_and_finds_them_under_another_name(
    database: Path, home: Path, call: Call
) -> None:
    away = home / "away"
    away.mkdir()
    asked = ("backup", away / "copy.db", "--db", database)
    told = call(*asked)
    assert told.exit_code == 0, told.output
    assert "copy-models beside it: 1 model, the files of 0 jobs" in told.stdout
    copy = (away / "copy.db").rename(away / "renamed.db")
    folder = away / "copy-models" / "svm-1"
    assert checked_folder(copy, model_of(copy)) == folder
    assert call("doctor", "--db", copy).exit_code == 0
    # Nothing is replaced, and what is gone is said.
    again = call(*asked)
    assert again.exit_code == 1
    assert "copy-models already exists, and a backup never replaces anything" in again.stderr
    assert sorted(path.name for path in away.iterdir()) == ["copy-models", "renamed.db"]
    assert call(*asked, "--data-only").exit_code == 0
    assert (
        "copy-models" not in call("backup", "data.db", "--data-only", "--db", database).stdout
    )
    shutil.rmtree(models_folder(database))
    told = call("backup", away / "third.db", "--db", database)
    assert told.exit_code == 0
    assert "the model svm-1 is left out: the model svm-1 is missing: " in told.stderr
    assert not (away / "third-models").exists()


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
