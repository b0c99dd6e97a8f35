"""The recipes of identification by name, and a model's folder made an identifier."""

from pathlib import Path

from nfh_models.errors import ModelsError
from nfh_models.identification.case import Identifier

RULES = "rules"
SVM = "svm"
ENCODER = "encoder"
SMALL = "small"

TRAINED = (SVM,)
"""Recipes that `retrain identification` can fit."""


class RecipeError(ModelsError):
    """A recipe that is none, or cannot be used as asked; the sentence says what can."""


def load_identifier(recipe: str, folder: Path | None = None) -> Identifier:
    """A recipe ready to decide; folder: the model directory of one that was trained.

    Raises RecipeError for a name that is none, ModelFileError for a folder that does not hold.
    """
    if recipe == RULES:
        from nfh_models.identification.rules import Rules

        return Rules()
    if recipe == SVM and folder is not None:
        from nfh_models.identification.svm_files import load_svm

        return load_svm(folder)
    if recipe == SVM:
        raise RecipeError(
            "the recipe svm has no model yet: `nfh-tui retrain identification --recipe svm` "
            "makes one"
        )
    raise RecipeError(f"{recipe!r} is no recipe of identification: use {RULES} or {SVM}")
