"""BERT's forward pass, so that a model of that kind runs without `transformers`.

Devlin et al. (2019), "BERT: Pre-training of Deep Bidirectional Transformers"; parameters are
named as in Hugging Face's BertModel, and the numbers come out the same.
"""

from typing import Annotated, NamedTuple, cast

import msgspec
from torch import Tensor, nn
from torch.nn import functional

KIND = "bert"
"""The `model_type` of the architectures that this can run."""


Size = Annotated[int, msgspec.Meta(ge=1, le=2**31)]


class States(NamedTuple):
    """B x L x D, of the last layer."""

    last_hidden_state: Tensor


class BertShape(msgspec.Struct, frozen=True, kw_only=True):
    """What an architecture says that matters here; other keys of it are passed over."""

    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    intermediate_size: Size
    max_position_embeddings: Size
    type_vocab_size: Size = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    position_embedding_type: str = "absolute"
    is_decoder: bool = False

    @property
    def can_run(self) -> bool:
        """Whether this module knows such an architecture."""
        return (
            self.hidden_act == "gelu"
            and self.position_embedding_type == "absolute"
            and not self.is_decoder
            and self.hidden_size % self.num_attention_heads == 0
        )


class Bert(nn.Module):
    """The encoder, for use alone: it has no dropout. words: whether it has a word table."""

    def __init__(self, shape: BertShape, *, words: bool = True) -> None:
        super().__init__()
        self.embeddings = _Embeddings(shape, words=words)
        self.encoder = _Layers(shape)

    def get_input_embeddings(self) -> nn.Embedding:
        """The word table."""
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, table: nn.Embedding) -> None:
        """Put another word table in its place."""
        self.embeddings.word_embeddings = table

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> States:
        """inputs_embeds: B x L x D. attention_mask: B x L, 0 at what is not read."""
        mask = None
        if not bool(attention_mask.all()):
            mask = attention_mask[:, None, None, :].bool()
        states = self.embeddings(inputs_embeds)
        for layer in self.encoder.layer:
            states = layer(states, mask)
        return States(states)


class _Embeddings(nn.Module):
    def __init__(self, shape: BertShape, *, words: bool) -> None:
        super().__init__()
        width = shape.hidden_size
        if words:
            self.word_embeddings = nn.Embedding(shape.vocab_size, width)
        self.position_embeddings = nn.Embedding(shape.max_position_embeddings, width)
        self.token_type_embeddings = nn.Embedding(shape.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, eps=shape.layer_norm_eps)

    def forward(self, words: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: words.shape[1]]
        kind = self.token_type_embeddings.weight[0]
        return cast("Tensor", self.LayerNorm(words + kind + places))


class _Layers(nn.Module):
    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.layer = nn.ModuleList(_Layer(shape) for _ in range(shape.num_hidden_layers))


class _Layer(nn.Module):
    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.attention = _Attention(shape)
        self.intermediate = _Dense(width, shape.intermediate_size)
        self.output = _Closing(shape.intermediate_size, shape)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        states = self.attention(states, mask)
        wide = functional.gelu(self.intermediate.dense(states))
        return cast("Tensor", self.output(wide, states))


class _Attention(nn.Module):
    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.self = Heads(shape)
        self.output = _Closing(shape.hidden_size, shape)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        return cast("Tensor", self.output(self.self(states, mask), states))


class Heads(nn.Module):
    """Attention without what closes it."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.heads = shape.num_attention_heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.joined: nn.Module | None = None

    def join(self, layer: nn.Module) -> None:
        """Put one layer in place of the three: queries, then keys, then values."""
        self.joined = layer
        del self.query, self.key, self.value

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """states: B x L x D. mask: B x 1 x 1 x L, False at what is not read."""
        if self.joined is None:
            parts = [self.query(states), self.key(states), self.value(states)]
        else:
            parts = list(self.joined(states).chunk(3, -1))
        query, key, value = map(self._apart, parts)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed.transpose(1, 2).flatten(2)

    def _apart(self, states: Tensor) -> Tensor:
        """B x L x D to B x heads x L x width of a head."""
        batch, length, _ = states.shape
        return states.view(batch, length, self.heads, -1).transpose(1, 2)


class _Dense(nn.Module):
    def __init__(self, wide: int, narrow: int) -> None:
        super().__init__()
        self.dense = nn.Linear(wide, narrow)


class _Closing(nn.Module):
    """A layer's way back to the width, added to what went in."""

    def __init__(self, wide: int, shape: BertShape) -> None:
        super().__init__()
        self.dense = nn.Linear(wide, shape.hidden_size)
        self.LayerNorm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        return cast("Tensor", self.LayerNorm(self.dense(states) + before))
