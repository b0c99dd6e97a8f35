"""A narrow encoder out of a trained model of MPNet: the heads and neurons that matter most.

What a head or a neuron matters is the change of the loss if it said nothing, to first order:
the absolute value of what it says times its gradient (Michel et al. 2019, "Are Sixteen Heads
Really Better than One?", section 4.1; Molchanov et al. 2017, "Pruning Convolutional Neural
Networks for Resource Efficient Inference", section 2.2), summed over examples. Each layer keeps
as many. What is left is no use before it is trained again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import torch
from torch import Tensor, nn

from nfh_models.encoder.backbone import Architecture, EncoderError, limit_of
from nfh_models.encoder.files import network_of
from nfh_models.encoder.four_bit import fits, rounded
from nfh_models.encoder.model import Whole
from nfh_models.encoder.mpnet import KIND, Mpnet, MpnetShape
from nfh_models.encoder.network import Network
from nfh_models.encoder.pruning import pruned_pieces

PADDING = 2
"""Positions of MPNet that stand before those of a text."""


@dataclass(frozen=True, slots=True)
class Narrow:
    """What is kept: heads and neurons of each layer, pieces that a text has at most, and the
    words whose pieces the table holds."""

    heads: int
    neurons: int
    length: int
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Importance:
    """Of each layer: heads, H numbers; neurons, F numbers."""

    heads: Sequence[Tensor]
    neurons: Sequence[Tensor]


def importance(network: Network, losses: Sequence[Callable[[], Tensor]]) -> Importance:
    """How much heads and neurons matter for some losses of the network.

    network: on the MPNet of `transformers`. Its gradients are cleared.
    """
    layers = _layers(network)
    made = Importance(
        [torch.zeros(layer.attention.attn.num_attention_heads) for layer in layers],
        [torch.zeros(layer.intermediate.dense.out_features) for layer in layers],
    )
    hooks = []
    for layer, heads, neurons in zip(layers, made.heads, made.neurons, strict=True):
        closing = layer.attention.attn.o
        hooks.append(closing.register_forward_pre_hook(_of_heads(heads)))
        hooks.append(layer.intermediate.register_forward_hook(_of_neurons(neurons)))
    try:
        for loss in losses:
            loss().backward()  # type: ignore[no-untyped-call]
    finally:
        for hook in hooks:
            hook.remove()
        network.zero_grad()
    return made


def _of_heads(found: Tensor) -> Callable[[nn.Module, tuple[Tensor]], None]:
    def hook(_: nn.Module, given: tuple[Tensor]) -> None:
        said = given[0]

        def add(gradient: Tensor) -> None:
            each = (said.detach() * gradient).float()
            parts = each.view(*each.shape[:2], len(found), -1).sum(-1)
            found.add_(parts.abs().sum((0, 1)))

        said.register_hook(add)  # type: ignore[no-untyped-call]

    return hook


def _of_neurons(found: Tensor) -> Callable[[nn.Module, tuple[Tensor], Tensor], None]:
    def hook(_: nn.Module, __: tuple[Tensor], said: Tensor) -> None:
        def add(gradient: Tensor) -> None:
            found.add_((said.detach() * gradient).float().abs().sum((0, 1)))

        said.register_hook(add)  # type: ignore[no-untyped-call]

    return hook


def narrowed(whole: Whole, matters: Importance, keep: Narrow) -> Whole:
    """The model with a narrow encoder; what stands on it as it was.

    Raises EncoderError for a model of another encoder than MPNet.
    """
    given = whole.network.encoder
    pieces, kept = pruned_pieces(whole.pieces, keep.words)
    architecture = _architecture(whole.architecture, keep, len(kept))
    shape = msgspec.convert(architecture, MpnetShape)
    made = Mpnet(shape)
    with torch.no_grad():
        _embeddings(made, given, torch.from_numpy(kept))
        _body(made, given, matters, shape)
    network = network_of(architecture, made, whole.settings)
    others = {
        name: values
        for name, values in whole.network.state_dict().items()
        if not name.startswith("encoder.")
    }
    network.load_state_dict(others, strict=False)
    return Whole(network, whole.settings, architecture, pieces, whole.base)


def _architecture(given: Architecture, keep: Narrow, words: int) -> dict[str, object]:
    if given.get("model_type") != "mpnet":
        raise EncoderError(
            f"an encoder of kind {given.get('model_type')!r} cannot be made narrow: "
            "wanted mpnet"
        )
    heads, width = given["num_attention_heads"], given["hidden_size"]
    assert isinstance(heads, int) and isinstance(width, int)  # noqa: S101 - for mypy
    return {
        "model_type": KIND,
        "vocab_size": words,
        "hidden_size": width,
        "num_hidden_layers": given["num_hidden_layers"],
        "num_attention_heads": keep.heads,
        "head_width": width // heads,
        "intermediate_size": keep.neurons,
        "max_position_embeddings": min(keep.length, limit_of(given)),
        "relative_attention_num_buckets": given["relative_attention_num_buckets"],
        "layer_norm_eps": given["layer_norm_eps"],
    }


def _layers(network: Network) -> list[Any]:
    encoder: Any = network.encoder
    return list(encoder.encoder.layer)


def _embeddings(made: Mpnet, given: nn.Module, kept: Tensor) -> None:
    own, theirs = made.embeddings, cast("Any", given).embeddings
    words = theirs.word_embeddings.weight[kept]
    if fits(tuple(words.shape)):
        # Rounded before anything is learnt, so that all else learns to live with it.
        words = torch.from_numpy(rounded(words.float().numpy()))
    own.word_embeddings.weight.copy_(words)
    length = len(own.position_embeddings.weight)
    places = theirs.position_embeddings.weight[PADDING : PADDING + length]
    own.position_embeddings.weight.copy_(places)
    own.LayerNorm.load_state_dict(theirs.LayerNorm.state_dict())


def _body(made: Mpnet, given: nn.Module, matters: Importance, shape: MpnetShape) -> None:
    theirs_all = cast("Any", given).encoder
    table = theirs_all.relative_attention_bias.weight
    for place, theirs in enumerate(theirs_all.layer):
        own: Any = made.encoder.layer[place]
        heads = _best(matters.heads[place], shape.num_attention_heads)
        neurons = _best(matters.neurons[place], shape.intermediate_size)
        width = shape.head_width
        rows = (heads[:, None] * width + torch.arange(width)).flatten()
        attention, inside = theirs.attention.attn, own.attention.self
        for target, source in (
            (inside.query, attention.q),
            (inside.key, attention.k),
            (inside.value, attention.v),
            (own.intermediate.dense, theirs.intermediate.dense),
        ):
            some = neurons if target is own.intermediate.dense else rows
            target.weight.copy_(source.weight[some])
            target.bias.copy_(source.bias[some])
        for target, source, some in (
            (own.attention.output.dense, attention.o, rows),
            (own.output.dense, theirs.output.dense, neurons),
        ):
            target.weight.copy_(source.weight[:, some])
            target.bias.copy_(source.bias)
        own.attention.output.LayerNorm.load_state_dict(theirs.attention.LayerNorm.state_dict())
        own.output.LayerNorm.load_state_dict(theirs.output.LayerNorm.state_dict())
        made.encoder.near[place] = table[:, heads]


def _best(matters: Tensor, count: int) -> Tensor:
    """The places of the largest, in their order."""
    return matters.topk(count).indices.sort().values
