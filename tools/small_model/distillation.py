"""Distillation: a teacher's output for anchors, and several models merged into one whose logits
are the means of theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from nfh_models import ModelsError
from nfh_models.encoder import backbone, quantization
from nfh_models.encoder.model import (
    EncoderModel,
    EncoderNetwork,
    ModelBundle,
    TeacherStates,
    network_of,
)
from nfh_models.encoder.quantization import ArrayEncoding, form_of
from nfh_models.encoder.training import Soft
from nfh_models.resolution.base import Choice, Item, Resolver

SIZES = (
    "vocab_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
)
"""Keys of a BERT's architecture that all columns have in common."""

WORDS = "encoder.words.word_embeddings.weight"
"""The name of the word table."""

LAST = ("out", "nfh.2", "several.2")
"""The layers that give logits."""


class JoinError(ModelsError):
    """Models that cannot be merged."""


def joined(bundles: Sequence[ModelBundle]) -> ModelBundle:
    """One model out of several with BERTs of one size, one tokenizer and one window.

    Only the word table is an average, since several would be too large; tables of models that
    were fine-tuned from the same encoder differ little. All other matrices become blocks on the
    diagonal, vectors are concatenated, and layers that give logits are divided by the number of
    models. The result is an ordinary network on `Columns`.

    Temperature and threshold have to be fitted again. Raises JoinError for models that do not
    fit.
    """
    first = bundles[0]
    _check(bundles)
    architecture = _architecture(bundles)
    pair = sum(one.settings.pair for one in bundles)
    settings = msgspec.structs.replace(first.settings, pair=pair)
    network = network_of(architecture, backbone.built(architecture), settings)
    with torch.no_grad():
        _fill_encoder(cast("backbone.Columns", network.encoder), bundles)
        _fill_scorer(network, [one.network for one in bundles])
    return replace(
        first,
        network=network,
        settings=settings,
        architecture=architecture,
        temperature=1.0,
        threshold=0.0,
    )


def between(before: Mapping[str, Tensor], after: ModelBundle) -> ModelBundle:
    """The average of a model before and after a training; the network of `after` is changed.

    before: the state of its network. It loses less of its former knowledge than by the
    training, and keeps most of what that added (Wortsman et al. 2022, "Robust fine-tuning of
    zero-shot models", with the alpha of 0.5 that they recommend).
    """
    now = after.network.state_dict()
    after.network.load_state_dict(
        {name: (before[name] + now[name]) / 2 for name in now if name in before}
    )
    return after


def _check(bundles: Sequence[ModelBundle]) -> None:
    first = bundles[0]
    for one in bundles:
        if one.architecture.get("model_type") != backbone.BERT_KIND:
            raise JoinError(f"{one.base} is not a BERT: only models on BERTs can be joined")
        if one.pieces.content != first.pieces.content:
            raise JoinError("models with different tokenizers cannot be joined")
        for key in (*SIZES, "hidden_size"):
            if one.architecture.get(key) != first.architecture.get(key):
                raise JoinError(f"models whose {key} differs cannot be joined")
        for key in ("task", "window", "before", "distance", "candidates"):
            if getattr(one.settings, key) != getattr(first.settings, key):
                raise JoinError(f"models whose setting {key} differs cannot be joined")


def _architecture(bundles: Sequence[ModelBundle]) -> dict[str, object]:
    given = bundles[0].architecture
    return {key: given[key] for key in SIZES if key in given} | {
        "model_type": backbone.COLUMNS_KIND,
        "columns": len(bundles),
        "hidden_size": sum(backbone.width_of(one.architecture) for one in bundles),
    }


def _fill_encoder(made: backbone.Columns, bundles: Sequence[ModelBundle]) -> None:
    encoders: list[Any] = [one.network.encoder for one in bundles]
    tables = [cast("Tensor", one.get_input_embeddings().weight) for one in encoders]
    table = torch.stack(tables).mean(0)
    if form_of(WORDS, tuple(table.shape), bundles[0].settings.weights) is ArrayEncoding.PAIRS:
        # Before it is trained further, so that all else learns to live with the rounding.
        table = torch.from_numpy(quantization.rounded(table.float().cpu().numpy()))
    made.words.weight.copy_(table)
    for column, one in zip(made.columns, encoders, strict=True):
        wanted = column.state_dict()
        given = one.state_dict()
        column.load_state_dict({name: given[name] for name in wanted})


def _fill_scorer(made: EncoderNetwork, networks: Sequence[EncoderNetwork]) -> None:
    for name in ("mark", "classes"):
        getattr(made, name).copy_(torch.cat([getattr(one, name) for one in networks], -1))
    for name in ("turns", "speakers", "distance"):
        table = getattr(made, name)
        if table is not None:
            table.weight.copy_(torch.cat([getattr(one, name).weight for one in networks], -1))
    for name in ("nfh.0", "several.0"):
        _blocks(made, networks, name)
    # The layer over [c; a; c*a] has blocks in each of its thirds.
    thirds = zip(*(one.up.weight.chunk(3, -1) for one in networks), strict=True)
    made.up.weight.copy_(torch.cat([_diagonal(some) for some in thirds], -1))
    made.up.bias.copy_(torch.cat([one.up.bias for one in networks]))
    for name in LAST:
        _mean(made, networks, name)


def _blocks(made: EncoderNetwork, networks: Sequence[EncoderNetwork], name: str) -> None:
    """A layer of each network as blocks of one layer."""
    layer = cast("nn.Linear", made.get_submodule(name))
    parts = [cast("nn.Linear", one.get_submodule(name)) for one in networks]
    layer.weight.copy_(_diagonal([part.weight for part in parts]))
    layer.bias.copy_(torch.cat([part.bias for part in parts]))


def _diagonal(blocks: Sequence[Tensor]) -> Tensor:
    return cast("Tensor", torch.block_diag(*blocks))  # type: ignore[no-untyped-call]


def _mean(made: EncoderNetwork, networks: Sequence[EncoderNetwork], name: str) -> None:
    layer = cast("nn.Linear", made.get_submodule(name))
    parts = [cast("nn.Linear", one.get_submodule(name)) for one in networks]
    layer.weight.copy_(torch.cat([part.weight for part in parts], -1) / len(parts))
    layer.bias.copy_(torch.stack([part.bias for part in parts]).mean(0))


def soft_targets(teacher: Resolver, items: Sequence[Item]) -> list[Soft]:
    """For each item the teacher's probabilities, over the six classes and all tokens of its
    passage; 0 for what is no candidate. Raises ValueError for a teacher whose scores are no
    probabilities.
    """
    if not teacher.probabilities:
        raise ValueError("a teacher has to give probabilities")
    return [_soft(choice) for choice in teacher.resolve(items)]


def teacher_output(
    teacher: EncoderModel, items: Sequence[Item]
) -> tuple[list[Soft], list[TeacherStates]]:
    """The same, and the teacher's states of the words that it read."""
    choices, states = teacher.read(items)
    return [_soft(choice) for choice in choices], states


def _soft(choice: Choice | None) -> Soft:
    scores = () if choice is None else choice.scores
    return np.array([one or 0.0 for one in scores], np.float32)
