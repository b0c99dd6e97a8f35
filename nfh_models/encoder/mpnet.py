"""MPNet's forward pass with fewer heads and neurons than it was trained with.

Song et al. (2020), "MPNet: Masked and Permuted Pre-training for Language Understanding".
Beside BERT it has no kinds of text, and adds to each score of attention a number that depends
on the distance of the two pieces (as Raffel et al. 2020, "Exploring the Limits of Transfer
Learning", section 2.1). Each layer has kept its own few heads here, and so a table of its own
for them. Layers are BERT's, parameters named as there.
"""

import math
from typing import Annotated, cast

import msgspec
import torch
from torch import Tensor, nn

from nfh_models.encoder.bert import Layer, Size, States

KIND = "narrow-mpnet"
"""The `model_type` of the architectures that this can run."""

FARTHEST = 128
"""The distance, in pieces, from which all are in the last bucket."""

CLOSED = -1e4
"""Added to the score of what is not read."""


class MpnetShape(msgspec.Struct, frozen=True, kw_only=True):
    """What an architecture says that matters here; other keys of it are passed over.

    max_position_embeddings: pieces that can be read; none is kept for padding.
    """

    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    head_width: Size
    intermediate_size: Size
    max_position_embeddings: Size
    relative_attention_num_buckets: Annotated[int, msgspec.Meta(ge=4, le=1_024)] = 32
    layer_norm_eps: float = 1e-5


class Mpnet(nn.Module):
    """The encoder; it has no dropout."""

    def __init__(self, shape: MpnetShape) -> None:
        super().__init__()
        self.embeddings = _Embeddings(shape)
        self.encoder = _Layers(shape)

    def get_input_embeddings(self) -> nn.Embedding:
        """The word table."""
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, table: nn.Embedding) -> None:
        """Put another word table in its place."""
        self.embeddings.word_embeddings = table

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> States:
        """inputs_embeds: B x L x D. attention_mask: B x L, 0 at what is not read."""
        states = self.embeddings(inputs_embeds)
        closed = (1 - attention_mask[:, None, None, :].to(states.dtype)) * CLOSED
        layers = self.encoder
        buckets = buckets_of(states.shape[1], layers.near.shape[1]).to(states.device)
        for layer, near in zip(layers.layer, layers.near, strict=True):
            states = layer(states, near[buckets].permute(2, 0, 1) + closed)
        return States(states)


class _Embeddings(nn.Module):
    def __init__(self, shape: MpnetShape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.word_embeddings = nn.Embedding(shape.vocab_size, width)
        self.position_embeddings = nn.Embedding(shape.max_position_embeddings, width)
        self.LayerNorm = nn.LayerNorm(width, eps=shape.layer_norm_eps)

    def forward(self, words: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: words.shape[1]]
        return cast("Tensor", self.LayerNorm(words + places))


class _Layers(nn.Module):
    """near: what heads add by distance, layers x buckets x heads. It stays as it was before
    the encoder was made narrow, and is not learnt."""

    near: Tensor

    def __init__(self, shape: MpnetShape) -> None:
        super().__init__()
        count = shape.num_hidden_layers
        sizes = count, shape.relative_attention_num_buckets, shape.num_attention_heads
        self.layer = nn.ModuleList(Layer(shape) for _ in range(count))
        self.register_buffer("near", torch.zeros(sizes))


def buckets_of(length: int, buckets: int) -> Tensor:
    """The bucket of each piece's distance from each, L x L: rows look, columns are looked at.

    Half of the buckets are for what stands behind. Of each half the nearer half holds one
    distance a bucket, the other grows by equal factors up to FARTHEST.
    """
    places = torch.arange(length)
    away = places[None, :] - places[:, None]
    side = buckets // 2
    single = side // 2
    far = away.abs()
    share = torch.log(far.clamp(min=1) / single) / math.log(FARTHEST / single)
    grown = (single + (share * (side - single)).long()).clamp(max=side - 1)
    return torch.where(away > 0, side, 0) + torch.where(far < single, far, grown)
