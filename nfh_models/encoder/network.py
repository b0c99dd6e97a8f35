"""The network: an encoder over marked words, and what scores its candidates.

For each anchor a, and candidate c (six class vectors and each word's first piece), the score
is MLP([c; a; c*a]), as in the paper (section 6.1), with the bucket of the word's distance
added before the hidden layer's GELU. Into the encoder's word embeddings go a mark of the
anchor, the distance of the turn, and whether the anchor's speaker says it. From a alone come
the logit that the noun is missing, and those for one head, several by AND, several by OR.
"""

from dataclasses import dataclass
from typing import TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from nfh_models.encoder.rows import CLASSES, NO_DISTANCE, SPEAKERS, TURNS, Padded

M = TypeVar("M", bound=nn.Module)

SEVERAL = 3
"""One head, several joined by AND, several joined by OR."""

SHUT = -1e4
"""The score of what is no candidate: its probability is 0 in 32 bits."""


@dataclass(frozen=True, slots=True)
class Scored:
    """logits: B x C, SHUT where closed. nfh: B, above 0 for a missing noun. several: B x 3."""

    logits: Tensor
    nfh: Tensor
    several: Tensor


@dataclass(frozen=True, slots=True)
class Tensors:
    """A Padded on a device; the fields are its."""

    ids: Tensor
    attention: Tensor
    mark: Tensor
    turns: Tensor
    speakers: Tensor
    first: Tensor
    anchor: Tensor
    open: Tensor
    distance: Tensor

    @classmethod
    def of(cls, padded: Padded, on: torch.device | None = None) -> "Tensors":
        """Copied there."""
        names = cls.__slots__
        return cls(*(torch.from_numpy(getattr(padded, name)).to(on) for name in names))


class Network(nn.Module):
    """encoder: takes inputs_embeds (B x L x D) and attention_mask, gives last_hidden_state;
    knows its word table by get_input_embeddings. width: D. pair: of the hidden layer.
    """

    def __init__(
        self, encoder: nn.Module, width: int, pair: int, *, dropout: float, distance: bool
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.mark = nn.Parameter(_mark(encoder, width))
        self.turns = _zeros(nn.Embedding(TURNS, width))
        self.speakers = _zeros(nn.Embedding(SPEAKERS, width))
        # Of about the length of an encoder's states, halved: found to learn fastest.
        self.classes = nn.Parameter(torch.randn(CLASSES, width) * 0.01 * width**0.5)
        self.up = nn.Linear(3 * width, pair)
        self.distance = _zeros(nn.Embedding(NO_DISTANCE + 1, pair)) if distance else None
        self.out = nn.Linear(pair, 1)
        self.nfh = _head(width, 1)
        self.several = _head(width, SEVERAL)
        _zeros(self.several[2])
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Tensors) -> Scored:
        """Read, then score."""
        return self.score(self.read(batch), batch)

    def read(self, batch: Tensors) -> Tensor:
        """The state of each word: B x W x D. The one part that takes time."""
        table = cast("nn.Module", self.encoder.get_input_embeddings())  # type: ignore[operator]
        embedded = table(batch.ids)
        embedded = embedded + batch.mark.unsqueeze(-1) * self.mark
        embedded = embedded + self.turns(batch.turns) + self.speakers(batch.speakers)
        read = self.encoder(inputs_embeds=embedded, attention_mask=batch.attention)
        states = read.last_hidden_state.float()
        places = batch.first.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        return cast("Tensor", states.gather(1, places))

    def score(self, words: Tensor, batch: Tensors) -> Scored:
        """Of anchors whose words were read; `batch` says where they stand in them."""
        anchor = (words * batch.anchor.unsqueeze(-1)).sum(1)
        alone = self.dropout(anchor)
        classes = self.classes.unsqueeze(0).expand(len(words), -1, -1)
        hidden = self._paired(torch.cat([classes, words], 1), anchor)
        if self.distance is not None:
            hidden = hidden + self.distance(batch.distance)
        logits = self.out(self.dropout(functional.gelu(hidden))).squeeze(-1)
        return Scored(
            logits.masked_fill(~batch.open, SHUT),
            self.nfh(alone).squeeze(-1),
            self.several(alone),
        )

    def _paired(self, candidates: Tensor, anchor: Tensor) -> Tensor:
        """up([c; a; c*a]) of each candidate: B x C x pair."""
        beside = anchor.unsqueeze(1)
        if self.training:
            beside = beside.expand_as(candidates)
            pairs = torch.cat([candidates, beside, candidates * beside], -1)
            return cast("Tensor", self.up(self.dropout(pairs)))
        # The same with a third of the products: c meets one matrix for each anchor.
        own, other, both = self.up.weight.chunk(3, -1)
        matrix = own + beside * both
        shift = functional.linear(anchor, other, self.up.bias)
        return torch.baddbmm(shift.unsqueeze(1), candidates, matrix.transpose(1, 2))


def _head(width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, width // 2), nn.GELU(), nn.Linear(width // 2, outputs)
    )


def _zeros(module: M) -> M:
    for parameter in module.parameters():
        nn.init.zeros_(parameter)
    return module


def _mark(encoder: nn.Module, width: int) -> Tensor:
    """Where an encoder tells two kinds of text apart, what makes the second kind the second;
    else a small vector by chance."""
    embeddings = getattr(encoder, "embeddings", None)
    kinds = getattr(embeddings, "token_type_embeddings", None)
    if kinds is None or len(kinds.weight) < 2:
        return torch.randn(width) * 0.02
    return cast("Tensor", (kinds.weight[1] - kinds.weight[0]).detach().clone())
