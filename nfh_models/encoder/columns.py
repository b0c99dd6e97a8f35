"""Several BERTs side by side as one encoder: all read the same word vectors, each with marks of
its own, and their states stand beside each other.

So two models that were trained apart become one (`joining`), whose logits are the means of
theirs (Hansen and Salamon 1990, "Neural Network Ensembles"); and one that can be trained
further like any other.
"""

from typing import Annotated, cast

import msgspec
import torch
from torch import Tensor, nn

from nfh_models.encoder.bert import Bert, BertShape, Size, States

KIND = "bert-columns"
"""The `model_type` of the architectures that this can run."""


class ColumnsShape(msgspec.Struct, frozen=True, kw_only=True):
    """What an architecture says that matters here; other keys of it are passed over.

    hidden_size: of all columns together. num_attention_heads, intermediate_size: of each.
    """

    columns: Annotated[int, msgspec.Meta(ge=1, le=64)]
    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    intermediate_size: Size
    max_position_embeddings: Size
    type_vocab_size: Size = 2
    layer_norm_eps: float = 1e-12

    def __post_init__(self) -> None:
        if self.hidden_size % (self.columns * self.num_attention_heads):
            raise ValueError(
                f"a width of {self.hidden_size} cannot be shared out among {self.columns} "
                f"columns of {self.num_attention_heads} heads"
            )

    @property
    def each(self) -> BertShape:
        """Of one column."""
        return BertShape(
            vocab_size=self.vocab_size,
            hidden_size=self.hidden_size // self.columns,
            num_hidden_layers=self.num_hidden_layers,
            num_attention_heads=self.num_attention_heads,
            intermediate_size=self.intermediate_size,
            max_position_embeddings=self.max_position_embeddings,
            type_vocab_size=self.type_vocab_size,
            layer_norm_eps=self.layer_norm_eps,
        )


class Words(nn.Module):
    """One word table for all columns."""

    def __init__(self, count: int, width: int, columns: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(count, width)
        self._columns = columns

    @property
    def weight(self) -> Tensor:
        """The table, as each column reads it."""
        return self.word_embeddings.weight

    def forward(self, ids: Tensor) -> Tensor:
        """ids: B x L. Gives B x L x D, the same numbers for each column."""
        found = cast("Tensor", self.word_embeddings(ids))
        return found.repeat(*(1 for _ in ids.shape), self._columns)


class Columns(nn.Module):
    """The encoder; it has no dropout."""

    def __init__(self, shape: ColumnsShape) -> None:
        super().__init__()
        each = shape.each
        self.words = Words(shape.vocab_size, each.hidden_size, shape.columns)
        self.columns = nn.ModuleList(Bert(each, words=False) for _ in range(shape.columns))

    def get_input_embeddings(self) -> Words:
        """The word table."""
        return self.words

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> States:
        """inputs_embeds: B x L x D. attention_mask: B x L, 0 at what is not read."""
        shares = inputs_embeds.chunk(len(self.columns), -1)
        states = [
            column(share.contiguous(), attention_mask).last_hidden_state
            for column, share in zip(self.columns, shares, strict=True)
        ]
        return States(torch.cat(states, -1))
