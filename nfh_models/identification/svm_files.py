"""A support vector machine as a model directory, and back."""

from pathlib import Path

import msgspec
import numpy as np

from nfh_models.identification.recipes import SVM
from nfh_models.identification.svm import Svm
from nfh_models.identification.svm_settings import Stored
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

TASK = "identification"

ARRAYS = {"weights": "float64", "bias": "float64"}
"""weights: one a feature. bias: one number."""


def save_svm(
    svm: Svm,
    folder: Path,
    *,
    name: str | None = None,
    created_at: str = "",
    metrics: dict[str, object] | None = None,
    card: str = "",
) -> str:
    """Write a machine as a model directory; its digest. name: the folder's by default.

    Raises FolderTakenError where something is there already, OSError.
    """
    config = config_of(svm, name or folder.name, created_at)
    arrays = {"weights": svm.weights, "bias": np.array([svm.bias], np.float64)}
    files = ModelFiles(config, arrays, svm.vocabulary, metrics or {}, card)
    return write_model(folder, files)


def config_of(svm: Svm, name: str, created_at: str) -> Config:
    """What config.json says of a machine."""
    settings = msgspec.to_builtins(Stored.of(svm.settings))
    return Config(
        format_version=FORMAT_VERSION,
        name=name,
        task=TASK,
        recipe=SVM,
        version=svm.version,
        created_at=created_at,
        parser=svm.parser,
        settings=settings,
    )


def load_svm(folder: Path) -> Svm:
    """A machine out of its directory, without scikit-learn. Raises ModelFileError."""
    config = read_config(folder, SVM)
    stored = settings_of(folder, config, Stored)
    vocabulary = read_vocabulary(folder)
    arrays = read_arrays(folder, ARRAYS)
    weights, bias = arrays["weights"], arrays["bias"]
    if weights.shape != (len(vocabulary),):
        raise damaged(
            folder / WEIGHTS,
            f"the weights have the shape {weights.shape}, {VOCABULARY} has "
            f"{len(vocabulary):,} features",
        )
    if bias.shape != (1,):
        raise damaged(folder / WEIGHTS, f"the bias has the shape {bias.shape}, wanted (1,)")
    with np.errstate(over="ignore"):
        largest = np.abs(weights).sum() + abs(bias[0])
    if not np.isfinite(largest):
        raise damaged(folder / WEIGHTS, "the weights are too large to be summed")
    return Svm(
        stored.settings(),
        vocabulary,
        weights.astype(np.float64, copy=False),
        float(bias[0]),
        config.parser,
    )
