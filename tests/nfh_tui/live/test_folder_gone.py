"""A model whose folder is deleted under the predictor: it says so, answers on, comes back."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_models.model_files import ModelFileError, digest_of
from nfh_tui.jobs.predictor import Predictor
from nfh_tui.jobs.protocol import Ask, Notice
from nfh_tui.services.models import checked_folder, is_there, models_folder, stored_path
from tests.nfh_models.parsing.tiny_small import write_small
from tests.nfh_tui.jobs.conftest import database  # noqa: F401
from tests.nfh_tui.jobs.test_live_models import asked, said


@pytest.fixture
def store(database: Path, package: Path) -> Iterator[Store]:  # noqa: F811
    # Only closed: a test moves the database, and leaving it open to its end would tell of that.
    with closing(Store.open(database)) as store:
        yield store


@pytest.fixture
def folder(store: Store) -> Path:
    """A model of one's own for both tasks, in use."""
    made = write_small(models_folder(store.path) / "encoder-1", seed=3, recipe="encoder")
    new = NewModel(
        *("encoder-1", "both", "encoder", "1"), stored_path(store.path, made), digest_of(made)
    )
    model = store.jobs.finish_training(store.jobs.begin("both", {}), new)
    store.models.activate(model.id)
    return made


def asides(heard: list[object]) -> list[str]:
    return [one.message for one in heard if isinstance(one, Notice)]


def test_what_is_loaded_answers_on_and_it_is_said_once(store: Store, folder: Path) -> None:
    predictor = Predictor(store)
    asked(predictor, Ask(1, [1]))
    shutil.rmtree(folder)
    told = asides(asked(predictor, Ask(2, [2, 3])))
    assert said(store, 3) == ("encoder-1", "encoder-1")
    assert [one.partition(".")[0] for one in told] == [
        "The folder of the model encoder-1 is missing"
    ]
    assert asides(asked(predictor, Ask(3, [4]))) == []
    assert said(store, 4) == ("encoder-1", "encoder-1")


def test_what_could_not_be_loaded_answers_once_its_folder_is_back(
    store: Store, folder: Path
) -> None:
    away = folder.with_name("away")
    folder.rename(away)
    predictor = Predictor(store)
    told = asides(asked(predictor, Ask(1, [1])))
    assert told[0].startswith("No prediction: the model encoder-1 is missing")
    assert said(store, 1) == (None, None)
    away.rename(folder)
    heard = asked(predictor, Ask(2, [1]))
    assert asides(heard) == []
    assert said(store, 1) == ("encoder-1", "encoder-1")


def test_another_that_is_put_to_use_answers(store: Store, folder: Path) -> None:
    predictor = Predictor(store)
    asked(predictor, Ask(1, [1]))
    shutil.rmtree(folder)
    asked(predictor, Ask(2, [2]))
    small = store.models.named("small")
    assert small is not None
    store.models.activate(small.id)
    assert asides(asked(predictor, Ask(3, [2]))) == []
    assert said(store, 2) == ("small", "small")


def test_a_database_and_its_models_may_be_called_otherwise_together(
    store: Store, folder: Path
) -> None:
    model = store.models.active("resolution")
    assert model is not None and checked_folder(store.path, model) == folder
    moved = store.path.parent / "moved"
    moved.mkdir()
    other = moved / "other.db"
    store.path.rename(other)
    assert checked_folder(other, model) == folder
    folder.parent.rename(models_folder(other))
    found = checked_folder(other, model)
    assert found == models_folder(other) / folder.name and is_there(other, model)
    # Another model of that name is not taken for it.
    shutil.rmtree(found)
    write_small(found, seed=4, recipe="encoder")
    with pytest.raises(ModelFileError, match="has changed"):
        checked_folder(other, model)
    shutil.rmtree(found)
    with pytest.raises(ModelFileError, match="is missing"):
        checked_folder(other, model)
