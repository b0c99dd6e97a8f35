"""A linear model as a model directory, and back."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from nfh_models.model_files import (
    FORMAT_VERSION,
    VOCABULARY,
    WEIGHTS,
    Config,
    ModelFiles,
    damaged,
    read_arrays,
    read_config,
    read_vocabulary,
    settings_of,
    write_model,
)
from nfh_models.resolution.linear import CLASSES, Linear, Weights
from nfh_models.resolution.linear_settings import Stored
from nfh_models.resolution.recipes import LINEAR, TASK

if TYPE_CHECKING:
    from nfh_models.model_files import Array

ARRAYS = {"classes": "float64", "heads": "float64"}
"""classes: [anchor features, 6]. heads: one a token feature. The vocabulary has the names of
the former, then those of the latter."""

OF_ANCHOR = "anchor "
OF_TOKEN = "token "  # noqa: S105 # no password: the kind of token that text has
"""What stands before a feature's name in the vocabulary."""


def save_linear(
    model: Linear,
    folder: Path,
    *,
    name: str | None = None,
    created_at: str = "",
    metrics: Mapping[str, object] | None = None,
    card: str = "",
) -> str:
    """Write a model as a model directory; its digest. name: the folder's by default.

    Raises FolderTakenError where something is there already, OSError.
    """
    config = Config(
        format_version=FORMAT_VERSION,
        name=name or folder.name,
        task=TASK,
        recipe=LINEAR,
        version=model.version,
        created_at=created_at,
        parser=model.parser,
        settings=msgspec.to_builtins(Stored.of(model.settings)),
    )
    weights = model.weights
    arrays = {"classes": weights.classes, "heads": weights.heads}
    vocabulary = [
        *(OF_ANCHOR + feature for feature in weights.anchors),
        *(OF_TOKEN + feature for feature in weights.tokens),
    ]
    return write_model(folder, ModelFiles(config, arrays, vocabulary, metrics or {}, card))


def load_linear(folder: Path) -> Linear:
    """A model out of its directory, without scikit-learn. Raises ModelFileError."""
    config = read_config(folder, LINEAR)
    stored = settings_of(folder, config, Stored)
    vocabulary = read_vocabulary(folder)
    arrays = read_arrays(folder, ARRAYS)
    anchors = [word for word in vocabulary if word.startswith(OF_ANCHOR)]
    tokens = [word for word in vocabulary if word.startswith(OF_TOKEN)]
    if vocabulary != anchors + tokens:
        raise damaged(
            folder / VOCABULARY, "wanted the anchor's features, then those of the tokens"
        )
    _check_shape(folder, "classes", arrays["classes"], (len(anchors), CLASSES))
    _check_shape(folder, "heads", arrays["heads"], (len(tokens),))
    weights = Weights(
        tuple(word.removeprefix(OF_ANCHOR) for word in anchors),
        tuple(word.removeprefix(OF_TOKEN) for word in tokens),
        arrays["classes"].astype(np.float64, copy=False),
        arrays["heads"].astype(np.float64, copy=False),
    )
    return Linear(stored.settings(), weights, config.parser)


def _check_shape(folder: Path, name: str, array: "Array", wanted: tuple[int, ...]) -> None:
    if array.shape != wanted:
        raise damaged(
            folder / WEIGHTS,
            f"{name} has the shape {array.shape}, {VOCABULARY} wants {wanted}",
        )
    with np.errstate(over="ignore"):
        largest = np.abs(array.astype(np.float64)).sum()
    if not np.isfinite(largest):
        raise damaged(folder / WEIGHTS, f"the weights of {name} are too large to be summed")
