"""A vocabulary without the pieces that a text never needs, so that the table is smaller.

A word whose piece is gone is read in shorter ones, letter by letter at the worst, for all
single characters stay.
"""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from nfh_models.encoder.pieces import Pieces, TokenizerError

if TYPE_CHECKING:
    from nfh_models.encoder.backbone import Backbone

INSIDE = "##"
"""Before a WordPiece that does not begin a word."""

Ints = NDArray[np.int64]


def pruned_pieces(pieces: Pieces, words: Iterable[str]) -> tuple[Pieces, Ints]:
    """The tokenizer with the pieces of these words, all single characters and the specials;
    and of each new number the old one.

    Raises TokenizerError for a tokenizer that is no WordPiece.
    """
    spelled = json.loads(pieces.content)
    if spelled["model"].get("type") != "WordPiece":
        raise TokenizerError("only the vocabulary of a WordPiece tokenizer can be pruned")
    vocabulary: dict[str, int] = spelled["model"]["vocab"]
    needed = {one for cut in pieces.cut(list(set(words))) for one in cut}
    needed |= {pieces.cls, pieces.sep, pieces.pad, pieces.unk}
    needed |= {one["id"] for one in spelled["added_tokens"]}
    kept = sorted(
        number
        for piece, number in vocabulary.items()
        if number in needed or len(piece.removeprefix(INSIDE)) == 1
    )
    new = {old: place for place, old in enumerate(kept)}
    spelled["model"]["vocab"] = {
        piece: new[old]
        for piece, old in sorted(vocabulary.items(), key=lambda one: one[1])
        if old in new
    }
    for one in spelled["added_tokens"]:
        one["id"] = new[one["id"]]
    # It holds numbers of pieces, too, and is of no use where words are cut alone.
    spelled["post_processor"] = None
    return Pieces.of(json.dumps(spelled), pieces.specials), np.array(kept, np.int64)


def pruned(backbone: "Backbone", words: Iterable[str]) -> "Backbone":
    """The encoder with a table for the pieces of these words. Its module is changed."""
    import torch
    from torch import nn

    from nfh_models.encoder.backbone import Backbone

    pieces, kept = pruned_pieces(backbone.pieces, words)
    module = backbone.module
    table = cast("nn.Embedding", module.get_input_embeddings())  # type: ignore[operator]
    smaller = nn.Embedding(len(kept), table.embedding_dim)
    with torch.no_grad():
        smaller.weight.copy_(table.weight[torch.from_numpy(kept)])
    module.set_input_embeddings(smaller)  # type: ignore[operator]
    architecture = dict(backbone.architecture) | {
        "vocab_size": len(kept),
        "pad_token_id": pieces.pad,
    }
    return Backbone(module, architecture, pieces, backbone.name)
