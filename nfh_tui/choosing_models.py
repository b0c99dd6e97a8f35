"""Which model: what a person asks for made one that decides."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models.identification.case import Identifier
from nfh_models.identification.recipes import (
    RULES,
    SVM,
    TRAINED,
    RecipeError,
    load_identifier,
)
from nfh_models.model_files import CONFIG, ModelFileError, digest_of, read_config

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

TASK = "identification"
RECIPES = (RULES, SVM)

OUT_OF_USE = "rejected"
"""The state of models that no recipe's name stands for."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An identifier, ready to decide.

    name: what it is called. model_id: of its registration in the store; None without one.
    """

    identifier: Identifier
    name: str
    model_id: int | None = None


def identifier_for(
    store: "Store | None", spec: str | None = None, *, register: bool = True
) -> Chosen:
    """The identifier that `spec` names; the task's active model by default, else the rules.

    spec: a model's number or name, a recipe (its active model, else its newest), or the path
    of a model directory. store: None where there is no database. register: note in the
    store the rules, which have no number before, and a version that decides otherwise than
    the one that is registered; without it nothing is written. Raises RecipeError for what
    names none, ModelFileError for a model that is gone, damaged, or not what was registered.
    """
    if store is None:
        return _without_store(spec)
    found = named(store, spec)
    if found is not None:
        return Chosen(load(store, found, register=register), found.name, found.id)
    if spec is None or spec == RULES:
        rules = load_identifier(RULES)
        return Chosen(rules, RULES, ensure_rules(store) if register else None)
    return _without_store(spec)


def ensure_rules(store: "Store") -> int:
    """The number of the registered rules: they are a model, too, and can be activated.

    What rules of another version identified is forgotten.
    """
    return store.ensure_model(RULES, TASK, RULES, load_identifier(RULES).version)


def _without_store(spec: str | None) -> Chosen:
    """An identifier that no database knows: the rules, or a model's directory."""
    if spec is None or spec == RULES:
        return Chosen(load_identifier(RULES), RULES)
    folder = Path(spec)
    if spec in RECIPES and not folder.is_dir():
        return Chosen(load_identifier(spec), spec)
    if not folder.is_dir():
        raise RecipeError(
            f"{spec!r} names no model of {TASK}: wanted, with --db, a model's number or name "
            f"as `nfh-tui models` lists them, a recipe ({', '.join(RECIPES)}) that has one, or "
            "a model's folder"
        )
    config = read_config(folder)
    check_task(config.task, str(folder))
    return Chosen(load_identifier(config.recipe, folder), config.name)


def named(store: "Store", spec: str | None) -> "Model | None":
    """The registered model of identification that `spec` names; None if none.

    Raises RecipeError for one of another task.
    """
    known = store.models()
    ours = [model for model in known if model.task in (TASK, "both")]
    if spec is None:
        return next((model for model in reversed(ours) if model.state == "active"), None)
    by_name = next((model for model in known if spec in (str(model.id), model.name)), None)
    if by_name is not None:
        check_task(by_name.task, by_name.name)
        return by_name
    of_recipe = [m for m in ours if m.recipe == spec and m.state != OUT_OF_USE]
    of_recipe.sort(key=lambda model: (model.state == "active", model.id))
    return of_recipe[-1] if of_recipe else None


def check_task(task: str, what: str) -> None:
    """Raise RecipeError unless a model of this task identifies."""
    if task not in (TASK, "both"):
        raise RecipeError(f"{what} is a model of {task}, not of {TASK}")


def load(store: "Store", model: "Model", *, register: bool = True) -> Identifier:
    """A registered model, ready to decide.

    register: where this program's decisions differ from those of the version that is
    registered, note its own; what the other one decided is forgotten. Raises ModelFileError
    if the model is not what it was, RecipeError if this program cannot use it.
    """
    folder = checked_folder(store.path, model) if model.recipe in TRAINED else None
    identifier = load_identifier(model.recipe, folder)
    if register and identifier.version != model.version:
        store.ensure_model(model.name, model.task, model.recipe, identifier.version)
    return identifier


def check_usable(store: "Store", model: "Model") -> None:
    """Raise ModelsError unless a model can be used, as far as this program knows its task."""
    if model.task in (TASK, "both"):
        load(store, model, register=False)
    elif model.path is not None:
        checked_folder(store.path, model)


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
    if not (folder / CONFIG).is_file():
        raise ModelFileError(
            f"the model {model.name} is gone: {folder} is not there. Put the folder back, or "
            f"train another: nfh-tui retrain {TASK} --recipe {model.recipe}"
        )
    if digest_of(folder) != model.digest:
        raise ModelFileError(
            f"the model {model.name} is not what it was: the files in {folder} have changed "
            "since it was trained. Put them back, or train another: nfh-tui retrain "
            f"{TASK} --recipe {model.recipe}"
        )
    return folder


# --- where models are -----------------------------------------------------------------------


def models_folder(database: Path) -> Path:
    """The folder for the models of a database, beside it; not made yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-models"


def folder_of(database: Path, stored: str) -> Path:
    """The folder that a model's row names, whole."""
    return Path(os.path.realpath(database)).parent / stored


def stored_path(database: Path, folder: Path) -> str:
    """A model's folder as its row names it: below the database's own folder where it is."""
    home = Path(os.path.realpath(database)).parent
    real = Path(os.path.realpath(folder))
    return real.relative_to(home).as_posix() if real.is_relative_to(home) else str(real)
