"""The recipes of identification by name."""

from pathlib import Path

from nfh_models.errors import ModelsError
from nfh_models.identification.base import Identifier

RULES = "rules"
SVM = "svm"
ENCODER = "encoder"
SMALL = "small"

TRAINED = (SVM,)
"""Recipes that `retrain identification` can fit."""


class IdentificationRecipeError(ModelsError):
    """An unknown recipe, or one that cannot be used as requested; the message says what can."""


def load_identifier(recipe: str, folder: Path | None = None) -> Identifier:
    """An identifier ready to decide.

    folder: the model directory of a trained recipe; `small` without a folder is the bundled
    model. Raises IdentificationRecipeError for an unknown name, a trained recipe without a
    folder, and a network without torch; ModelFileError for a damaged folder.
    """
    if recipe == RULES:
        from nfh_models.identification.rules import Rules

        return Rules()
    if recipe == SVM and folder is not None:
        from nfh_models.identification.svm import load_svm

        return load_svm(folder)
    if recipe == SMALL or (recipe == ENCODER and folder is not None):
        return _network(recipe, folder)
    if recipe in (SVM, ENCODER):
        task = "identification" if recipe == SVM else "both"
        raise IdentificationRecipeError(
            f"the recipe {recipe} has no model yet: `nfh-tui retrain {task} --recipe {recipe}` "
            "makes one"
        )
    raise IdentificationRecipeError(
        f"{recipe!r} is no recipe of identification: use {RULES}, {SVM}, {ENCODER} or {SMALL}"
    )


def _network(recipe: str, folder: Path | None) -> Identifier:
    try:
        if folder is None:
            from nfh_models.small import load_small

            return load_small()
        from nfh_models.encoder import load_encoder

        return load_encoder(folder)
    except ModuleNotFoundError as error:
        raise IdentificationRecipeError(
            f"the recipe {recipe} needs {error.name}, which is not installed here; {RULES} "
            "works without"
        ) from error
