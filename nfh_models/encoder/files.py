"""A model of `encoder` or `small` as a model directory, and back.

Beside what every model directory has: tokenizer.json, as the `tokenizers` library reads it,
and for a model that is given away NOTICE, the licence of its base.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import nn

from nfh_models.encoder import kernels, packing
from nfh_models.encoder.backbone import (
    OWN,
    Architecture,
    EncoderError,
    built,
    own_shape,
    width_of,
)
from nfh_models.encoder.model import VERSION, EncoderModel, Whole
from nfh_models.encoder.network import Network
from nfh_models.encoder.pieces import Pieces, Specials, TokenizerError
from nfh_models.encoder.priors import NO_SHIFT
from nfh_models.encoder.settings import EncoderSettings, Weights
from nfh_models.model_files import (
    CONFIG,
    FORMAT_VERSION,
    WEIGHTS,
    Config,
    ModelFileError,
    ModelFiles,
    damaged,
    read_arrays,
    read_config,
    read_text,
    settings_of,
    write_model,
)
from nfh_models.training.devices import choose_device

ENCODER = "encoder"
SMALL = "small"

TOKENIZER = "tokenizer.json"
NOTICE = "NOTICE"

Array = NDArray[np.generic]

_Shift = Annotated[float, Meta(ge=-100, le=100)]


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings as config.json holds them.

    architecture: the encoder's own config. tokenizer: SHA-256 (hex) of tokenizer.json, for
    numbers of pieces mean nothing under another; None in what was saved without it.
    """

    base: str
    training: EncoderSettings
    architecture: dict[str, object]
    specials: Specials
    temperature: Annotated[float, Meta(gt=0, le=1_000)] = 1.0
    threshold: Annotated[float, Meta(ge=-1_000, le=1_000)] = 0.0
    shift: tuple[_Shift, _Shift, _Shift, _Shift, _Shift, _Shift] = NO_SHIFT
    tokenizer: str | None = None


# --- writing --------------------------------------------------------------------------------


def save(
    whole: Whole,
    folder: Path,
    *,
    recipe: str = ENCODER,
    name: str | None = None,
    created_at: str = "",
    metrics: dict[str, object] | None = None,
    card: str = "",
    notice: str = "",
) -> str:
    """Write a model directory, whole or not at all; its digest.

    Weights are kept as the settings say. Raises FolderTakenError where something is there
    already, OSError.
    """
    config = config_of(whole, recipe, name or folder.name, created_at)
    more = {TOKENIZER: whole.pieces.content} | ({NOTICE: notice} if notice else {})
    arrays = kept(whole.network, whole.settings.weights)
    return write_model(folder, ModelFiles(config, arrays, None, metrics or {}, card, more))


def config_of(whole: Whole, recipe: str, name: str, created_at: str) -> Config:
    """What config.json says of a model."""
    # A folder's path says nothing elsewhere, and may tell more than it should.
    training = msgspec.structs.replace(whole.settings, encoder=whole.base)
    stored = Stored(
        base=whole.base,
        training=training,
        architecture=dict(whole.architecture),
        specials=whole.pieces.specials,
        temperature=whole.temperature,
        threshold=whole.threshold,
        shift=whole.shift,
        tokenizer=_digest(whole.pieces.content),
    )
    return Config(
        format_version=FORMAT_VERSION,
        name=name,
        task=whole.settings.task.value,
        recipe=recipe,
        version=VERSION,
        created_at=created_at,
        parser=None,
        settings=msgspec.to_builtins(stored),
    )


def kept(network: nn.Module, weights: Weights) -> dict[str, Array]:
    """The numbers of a network as its directory has them."""
    arrays = {
        name: tensor.detach().float().cpu().numpy()
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }
    return packing.packed(arrays, weights)


# --- reading --------------------------------------------------------------------------------


def load(folder: Path, *, device: str | None = "cpu", bytes_: bool = True) -> EncoderModel:
    """A model out of its directory, ready to use.

    device: as `choose_device` has it. bytes_: weights in 8 and 4 bits stay so while they run,
    where the processor is faster so; False widens them first. Raises ModelFileError for a
    folder that does not hold, DeviceError.
    """
    config = read_config(folder)
    if config.recipe not in (ENCODER, SMALL):
        raise ModelFileError(
            f"{folder} is a model of {config.recipe!r}, not of {ENCODER!r} or {SMALL!r}"
        )
    stored = settings_of(folder, config, Stored)
    _check_task(folder, config, stored)
    on = choose_device(device)
    pieces = _pieces(folder, stored)
    try:
        network = _network(folder, stored)
    except (EncoderError, RuntimeError) as error:
        raise damaged(folder / CONFIG, error) from error
    arrays = _arrays(folder, network, stored.training.weights)
    _check_pieces(folder, pieces, network)
    own = isinstance(network.encoder, OWN)
    stay = bytes_ and own and on.type == "cpu"
    _fill(network, arrays, in_bytes=stay and kernels.fast())
    network.eval().requires_grad_(requires_grad=False)
    whole = Whole(
        network.to(on),
        stored.training,
        stored.architecture,
        pieces,
        stored.base,
        stored.temperature,
        stored.threshold,
        stored.shift,
    )
    return EncoderModel(whole, config.recipe, on, "fp32" if own else "auto")


def _check_task(folder: Path, config: Config, stored: Stored) -> None:
    own = stored.training.task.value
    if config.task != own:
        raise damaged(
            folder / CONFIG, f"it says the task {config.task!r}, and was trained for {own!r}"
        )


def _pieces(folder: Path, stored: Stored) -> Pieces:
    """The tokenizer, if it is the one that the model was trained with."""
    content = read_text(folder, TOKENIZER)
    if stored.tokenizer is not None and _digest(content) != stored.tokenizer:
        raise damaged(folder / TOKENIZER, "it is not the one that the model was trained with")
    try:
        return Pieces.of(content, stored.specials)
    except TokenizerError as error:
        raise damaged(folder / TOKENIZER, error) from error


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _network(folder: Path, stored: Stored) -> Network:
    """The network without its numbers."""
    own = own_shape(stored.architecture) is not None
    if not own:
        _check_size(folder, stored)
    # Without memory of its own where nothing but the numbers themselves is needed.
    with torch.device("meta" if own else "cpu"):
        return network_of(stored.architecture, built(stored.architecture), stored.training)


def _check_size(folder: Path, stored: Stored) -> None:
    """Raise EncoderError where config.json describes more numbers than the weights can hold,
    at two of them a byte, before there is memory for them.
    """
    with torch.device("meta"):
        described = sum(one.numel() for one in built(stored.architecture).parameters())
    path = folder / WEIGHTS
    there = path.stat().st_size if path.is_file() else 0
    if described > 2 * there:
        raise EncoderError(
            f"it describes {described:,} numbers, and {WEIGHTS} has {there:,} bytes"
        )


def network_of(
    architecture: Architecture, encoder: nn.Module, settings: EncoderSettings
) -> Network:
    """A network on an encoder; what stands on it is as chance has it."""
    return Network(
        encoder,
        width_of(architecture),
        settings.pair,
        dropout=settings.dropout,
        distance=settings.distance,
    )


def _arrays(folder: Path, network: Network, weights: Weights) -> dict[str, Array]:
    shapes = {
        name: tuple(tensor.shape)
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }
    wanted = packing.wanted(shapes, weights)
    found = read_arrays(folder, {name: kind for name, (kind, _) in wanted.items()})
    for name, (_, shape) in wanted.items():
        if found[name].shape != shape:
            raise damaged(
                folder / WEIGHTS,
                f"{name} has the shape {found[name].shape}, {CONFIG} describes {shape}",
            )
    return found


def _check_pieces(folder: Path, pieces: Pieces, network: Network) -> None:
    rows = network.encoder.get_input_embeddings().weight.shape[0]  # type: ignore[operator]
    if pieces.size > rows:
        raise damaged(
            folder / TOKENIZER, f"it has {pieces.size:,} pieces, the weights have {rows:,}"
        )


def _fill(network: Network, arrays: Mapping[str, Array], *, in_bytes: bool) -> None:
    """Put the numbers into a network; its shapes fit."""
    taken = kernels.kept_in_bytes(network, arrays) if in_bytes else frozenset()
    state = {
        name: torch.from_numpy(packing.widened(name, arrays))
        for name in arrays
        if not name.endswith(packing.SCALE) and name not in taken
    }
    network.load_state_dict(state, strict=False, assign=True)
