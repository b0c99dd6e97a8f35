"""A trained network as a model directory, and back.

The word vectors lie in the weights, so that loading needs no file of vectors; in 16 bits,
which is what the network was trained with.
"""

from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import torch

from nfh_models.bilstm.featurising import Featuriser
from nfh_models.bilstm.model import BiLstmResolver
from nfh_models.bilstm.network import BiLstm
from nfh_models.bilstm.settings import Settings
from nfh_models.bilstm.words import Vectors
from nfh_models.model_files import (
    CONFIG,
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
from nfh_models.resolution.recipes import BILSTM, TASK

TABLE = "vectors"
"""The array of word vectors, a row for each word of the vocabulary."""

WIDEST = 4_096


class Stored(Settings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings as config.json holds them. width: of a word vector. alphabet: the
    characters that have a vector of their own."""

    width: Annotated[int, msgspec.Meta(ge=1, le=WIDEST)]
    alphabet: Annotated[str, msgspec.Meta(max_length=100_000)]

    def __post_init__(self) -> None:
        if len(set(self.alphabet)) < len(self.alphabet):
            raise ValueError("a character stands twice in the alphabet")


def save_bilstm(
    model: BiLstmResolver,
    folder: Path,
    *,
    name: str | None = None,
    created_at: str = "",
    metrics: dict[str, object] | None = None,
    card: str = "",
) -> str:
    """Write a model directory; its digest. name: the folder's by default.

    Raises FolderTakenError where something is there already, OSError.
    """
    vectors = model.featuriser.vectors
    arrays = {
        f"network.{key}": np.ascontiguousarray(tensor.detach().cpu().numpy())
        for key, tensor in model.network.state_dict().items()
    }
    arrays[TABLE] = vectors.table.astype(np.float16)
    config = config_of(model, name or folder.name, created_at)
    return write_model(folder, ModelFiles(config, arrays, vectors.words, metrics or {}, card))


def config_of(model: BiLstmResolver, name: str, created_at: str) -> Config:
    """What config.json says of a model."""
    stored = {
        **msgspec.to_builtins(model.settings),
        "width": model.featuriser.vectors.width,
        "alphabet": model.featuriser.alphabet,
    }
    return Config(
        format_version=FORMAT_VERSION,
        name=name,
        task=TASK,
        recipe=BILSTM,
        version=model.version,
        created_at=created_at,
        parser=None,
        settings=stored,
    )


def load(folder: Path) -> BiLstmResolver:
    """A network out of its directory. Raises ModelFileError."""
    config = read_config(folder, BILSTM)
    stored = settings_of(folder, config, Stored)
    words = read_vocabulary(folder)
    # Weights without storage: what is read takes their place.
    with torch.device("meta"):
        network = BiLstm(stored, torch.empty(len(words), stored.width), len(stored.alphabet))
    shapes = {f"network.{name}": one.shape for name, one in network.state_dict().items()}
    arrays = read_arrays(folder, {**dict.fromkeys(shapes, "float32"), TABLE: "float16"})
    shapes[TABLE] = torch.Size([len(words), stored.width])
    for name, shape in shapes.items():
        if arrays[name].shape != tuple(shape):
            raise damaged(
                folder / WEIGHTS,
                f"{name} has the shape {arrays[name].shape}, wanted {tuple(shape)} after "
                f"{CONFIG} and {VOCABULARY}",
            )
    vectors = Vectors(tuple(words), arrays.pop(TABLE).astype(np.float32), stored.vectors)
    network.load_state_dict(
        {name.removeprefix("network."): torch.from_numpy(one) for name, one in arrays.items()},
        assign=True,
    )
    network.table = torch.from_numpy(vectors.table)
    own = {name: getattr(stored, name) for name in Settings.__struct_fields__}
    return BiLstmResolver(Settings(**own), Featuriser(vectors, stored.alphabet), network)
