"""Where the models of a database are, and whether they still are what was registered."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models.model_files import CONFIG, ModelFileError, digest_of

if TYPE_CHECKING:
    from nfh_db.models import Model


def checked_folder(database: Path, model: "Model") -> Path:
    """The folder of a model that still holds what it held when it was registered.

    Raises ModelFileError where it does not, or is gone.
    """
    if model.path is None:
        raise ModelFileError(f"the model {model.name} has no folder; train it anew")
    folder = folder_of(database, model.path)
    try:
        return _checked(model, folder)
    except OSError as error:
        raise ModelFileError(
            f"the model {model.name} cannot be read: {error.filename or folder}: "
            f"{error.strerror or error}"
        ) from error


def _checked(model: "Model", folder: Path) -> Path:
    again = f"train another: nfh-tui retrain {model.task} --recipe {model.recipe}"
    if not (folder / CONFIG).is_file():
        raise ModelFileError(
            f"the model {model.name} is gone: {folder} is not there. Put the folder back, or "
            f"{again}"
        )
    if digest_of(folder) != model.digest:
        raise ModelFileError(
            f"the model {model.name} is not what it was: the files in {folder} have changed "
            f"since it was trained. Put them back, or {again}"
        )
    return folder


def is_there(database: Path, model: "Model") -> bool:
    """Whether a model has all its folder still, by a glance; one without a folder has."""
    if model.path is None:
        return True
    try:
        return (folder_of(database, model.path) / CONFIG).is_file()
    except OSError:
        return False


def models_folder(database: Path) -> Path:
    """The folder for the models of a database, beside it; not made yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-models"


def folder_of(database: Path, stored: str) -> Path:
    """The folder that a model's row names, whole.

    Where nothing is there any more, the one of that name in the database's own folder of
    models, if there is one: both were given another name, or moved here.
    """
    named = Path(os.path.realpath(database)).parent / stored
    if not named.is_dir():
        own = models_folder(database) / named.name
        if own.is_dir():
            return own
    return named


def stored_path(database: Path, folder: Path) -> str:
    """A model's folder as its row names it: below the database's own folder where it is."""
    home = Path(os.path.realpath(database)).parent
    real = Path(os.path.realpath(folder))
    return real.relative_to(home).as_posix() if real.is_relative_to(home) else str(real)
