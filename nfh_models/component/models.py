"""The models of the spaCy component: recipes by name, model folders, or files kept of one."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

from nfh_models.component.files import Files, Settings, write_files
from nfh_models.identification import recipes as identification
from nfh_models.identification.case import Identifier
from nfh_models.model_files import ModelFileError, read_config
from nfh_models.resolution import recipes as resolution
from nfh_models.resolution.item import Resolver

RULES = identification.RULES
SMALL = resolution.SMALL
CUES = resolution.CUES
NONE = "none"

IDENTIFIERS = (RULES, SMALL)
RESOLVERS = (CUES, NONE, SMALL)
"""Settings that are no folder."""

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Kept:
    """The files of a model that a saved component brought. origin: where from, in words."""

    files: Files = field(default_factory=dict)
    origin: str = ""


NOTHING = Kept()


@dataclass(frozen=True, slots=True)
class Models:
    """What decides and what resolves, loaded in process `pid`.

    resolver: None for NONE, and for CUES, which look at the Doc itself.
    """

    identifier: Identifier
    resolver: Resolver | None
    pid: int

    @property
    def here(self) -> bool:
        """Whether they were loaded in this process: what a network of torch did before a
        fork may leave it without its threads."""
        return self.pid == os.getpid()


def load(name: str, settings: Settings, identifier: Kept, resolver: Kept) -> Models:
    """The models that a component's settings name; one that does both is loaded once.

    name: of the component, for the sentence. identifier, resolver: files that take the place
    of the folders that the settings name. Raises ModelFileError, or RecipeError.
    """
    _spare_threads(settings)
    if settings.resolver == NONE or (settings.resolver == CUES and not resolver.files):
        resolves = None
    else:
        kept = identifier if settings.resolver == settings.identifier else resolver
        resolves = _model(
            name, "resolver", settings.resolver, RESOLVERS, kept, _resolver_of, _small_resolver
        )
    if resolves is not None and settings.resolver == settings.identifier:
        return Models(_both(resolves, name), resolves, os.getpid())
    identifies = _model(
        name,
        "identifier",
        settings.identifier,
        IDENTIFIERS,
        identifier,
        _identifier_of,
        lambda: identification.load_identifier(settings.identifier),
    )
    return Models(identifies, resolves, os.getpid())


def _both(model: Resolver, name: str) -> Identifier:
    if not hasattr(model, "decide"):
        raise identification.RecipeError(
            f"the component {name!r} has a model of {model.recipe} as its identifier, and that "
            "one resolves only"
        )
    return cast("Identifier", model)


def _spare_threads(settings: Settings) -> None:
    """One thread for torch in a worker of several: `nlp.pipe(n_process=2)`."""
    networks = {settings.identifier, settings.resolver} - {RULES, CUES, NONE}
    if networks and parent_process() is not None:
        import torch

        torch.set_num_threads(1)


def _model(
    name: str,
    what: str,
    setting: str,
    recipes: tuple[str, ...],
    kept: Kept,
    from_folder: Callable[[Path], Model],
    by_name: Callable[[], Model],
) -> Model:
    """A recipe by name, a model of the files that were kept, or of the folder."""
    if kept.files:
        return _of_files(kept, from_folder)
    if setting in recipes:
        return by_name()
    folder = Path(setting)
    if not _is_folder(folder):
        raise ModelFileError(
            f"the {what} {setting!r} of the component {name!r} is neither "
            f"{' nor '.join(recipes)} nor a model's folder: there is no such folder, seen from "
            f"{Path.cwd()}"
        )
    return from_folder(folder)


def _of_files(kept: Kept, from_folder: Callable[[Path], Model]) -> Model:
    with TemporaryDirectory(prefix="nfh-") as above:
        folder = Path(above) / "model"
        write_files(folder, kept.files)
        try:
            return from_folder(folder)
        except ModelFileError as error:
            # That folder is gone when the sentence is read.
            raise ModelFileError(str(error).replace(str(folder), kept.origin)) from error


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # as of a name that is longer than names may be
        return False


def _identifier_of(folder: Path) -> Identifier:
    config = read_config(folder)
    if config.task not in ("identification", "both"):
        raise identification.RecipeError(
            f"{folder} is a model of {config.task}, not of identification"
        )
    return identification.load_identifier(config.recipe, folder)


def _resolver_of(folder: Path) -> Resolver:
    return resolution.load_folder(folder)


def _small_resolver() -> Resolver:
    return resolution.load_resolver(SMALL)
