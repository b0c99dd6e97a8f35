"""The recipes of resolution by name, and a model's folder made a resolver.

A recipe may be followed by a colon and its kind: "nearest-noun:first". Importing this module
loads no framework; a recipe that needs one loads it when it is made.
"""

from pathlib import Path

from nfh_models.errors import ModelsError
from nfh_models.resolution.item import Resolver

TASK = "resolution"

DETERMINISTIC = "deterministic"
NEAREST = "nearest-noun"
CUES = "cues"
LINEAR = "linear"
BILSTM = "bilstm"
ENCODER = "encoder"
SMALL = "small"

RECIPES = (DETERMINISTIC, NEAREST, CUES, LINEAR, BILSTM, ENCODER, SMALL)

TRAINED = (LINEAR, BILSTM, ENCODER)
"""Recipes that `retrain resolution` can fit; each of their models is a folder."""

NETWORKS = (BILSTM, ENCODER, SMALL)
"""Recipes that need torch."""


class RecipeError(ModelsError):
    """A recipe that is none, or cannot be used as asked; the sentence says what can."""


def split_spec(spec: str) -> tuple[str, str | None]:
    """A recipe and its kind: "nearest-noun:first" -> ("nearest-noun", "first").

    None for the kind where the words name none. Raises RecipeError for a recipe that is none,
    and for a kind behind a recipe that has none.
    """
    recipe, colon, kind = spec.partition(":")
    if recipe not in RECIPES:
        raise RecipeError(
            f"{spec!r} is no recipe of {TASK}: use one of {', '.join(RECIPES)}; "
            f"{NEAREST} may be followed by a colon and its kind"
        )
    if colon and recipe != NEAREST:
        raise RecipeError(f"{spec!r}: the recipe {recipe} has no kinds; write {recipe} alone")
    return recipe, kind if colon else None


def load_resolver(
    recipe: str, folder: Path | None = None, *, spec: str | None = None
) -> Resolver:
    """A recipe ready to answer.

    recipe: one of RECIPES, or with its kind as `split_spec` reads it. folder: the model
    directory of one that was trained; `small` without a folder is the model in the package.
    spec: the kind, where `recipe` does not say it: "first". Raises RecipeError for a name
    that is none, for a trained recipe without a folder, a folder with a recipe that has no
    model, and a network where torch is not installed; ModelFileError for a folder that does
    not hold.
    """
    name, kind = split_spec(f"{recipe}:{spec}" if spec is not None else recipe)
    if name in TRAINED or name == SMALL:
        return _network(name, folder) if name in NETWORKS else _linear(folder)
    if folder is not None:
        raise RecipeError(f"the recipe {name} is not trained, and has no model in {folder}")
    return _plain(name, kind)


def load_folder(folder: Path) -> Resolver:
    """The resolver in a model directory, whichever recipe made it.

    Raises ModelFileError for a folder that does not hold, RecipeError for a model that does
    not resolve.
    """
    from nfh_models.model_files import read_config

    config = read_config(folder)
    if config.task not in (TASK, "both"):
        raise RecipeError(f"{folder} is a model of {config.task}, not of {TASK}")
    if config.recipe not in TRAINED and config.recipe != SMALL:
        raise RecipeError(f"{folder} is a model of {config.recipe!r}, a recipe unknown here")
    return load_resolver(config.recipe, folder)


def _plain(name: str, kind: str | None) -> Resolver:
    if name == DETERMINISTIC:
        from nfh_models.resolution.deterministic_resolver import DeterministicResolver

        return DeterministicResolver()
    if name == CUES:
        from nfh_models.resolution.cues_resolver import CuesResolver

        return CuesResolver()
    from nfh_models.resolution.nearest_kinds import NearestResolver, NounChoice

    try:
        return NearestResolver(NounChoice.of(kind))
    except ValueError as error:
        raise RecipeError(f"{NEAREST}:{kind}: {error}") from error


def _linear(folder: Path | None) -> Resolver:
    from nfh_models.resolution.linear_files import load_linear

    return load_linear(_needed(LINEAR, folder))


def _network(name: str, folder: Path | None) -> Resolver:
    try:
        if name == BILSTM:
            from nfh_models.bilstm import load_bilstm

            return load_bilstm(_needed(name, folder))
        if name == SMALL and folder is None:
            from nfh_models.small import load_small

            return load_small()
        from nfh_models.encoder import load_encoder

        return load_encoder(_needed(name, folder))
    except ModuleNotFoundError as error:
        raise RecipeError(
            f"the recipe {name} needs {error.name}, which is not installed here; "
            f"{DETERMINISTIC}, {NEAREST}, {CUES} and {LINEAR} work without"
        ) from error


def _needed(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise RecipeError(
            f"the recipe {name} has no model yet: `nfh-tui retrain {TASK} --recipe {name}` "
            "makes one"
        )
    return folder
