"""A model with two layers of 16, as a model directory."""

from pathlib import Path

import torch

from nfh_models.encoder.model import ModelBundle, network_of, save
from nfh_models.encoder.settings import EncoderSettings, Task, Weights
from tests.nfh_models.encoder.handmade import backbone


def write_small(
    folder: Path,
    *,
    seed: int = 0,
    recipe: str = "small",
    made: str = "2026-01-01",
    task: Task = Task.BOTH,
) -> Path:
    """Write the model; other seeds give other weights. made: when, as its config says."""
    torch.set_num_threads(1)  # so small a network only waits for a second one
    settings = EncoderSettings(pair=8, weights=Weights.BYTE, task=task)
    own = backbone(seed)
    network = network_of(own.architecture, own.module, settings).eval()
    whole = ModelBundle(network, settings, own.architecture, own.pieces, "tiny")
    metrics: dict[str, object] = {"f1": 0.97, "accuracy_inclusive": 0.82}
    save(whole, folder, recipe=recipe, created_at=made, metrics=metrics, card="# tiny\n")
    return folder


def write_base(folder: Path, *, made: str = "2026-01-01") -> Path:
    """Write a model that stands for `base` of the package."""
    return write_small(folder, seed=5, recipe="base", made=made, task=Task.RESOLUTION)


def damage(folder: Path) -> None:
    """Cut the weights short."""
    weights = folder / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
