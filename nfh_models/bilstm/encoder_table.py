"""Word vectors out of a pretrained encoder: the mean of a word's pieces in its own table."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from nfh_models.bilstm.vector_files import VectorError
from nfh_models.bilstm.words import Floats

TOKENIZER = "tokenizer.json"

TABLES = (
    "word_embeddings.weight",
    "embed_tokens.weight",
    "wte.weight",
    "shared.weight",
    "tok_embeddings.weight",
)
"""How the names of tables of pieces end: BERT and its kin, Llama and BART, GPT-2, T5,
ModernBERT."""

MOST_PIECES = 8
"""Pieces of a word that are looked at, as the recipe `encoder` does."""


def read_encoder_table(
    folder: Path, wanted: set[str], extra: int
) -> Iterator[tuple[str, Floats]]:
    """A vector for each word that is wanted, and for the first `extra` whole words of the
    table.

    folder: of a Hugging Face model with its tokenizer.json and safetensors. The table is
    centred, and scaled so that its numbers have the deviation 1: encoders tell words apart
    behind a layer that does that for each word. Raises VectorError.
    """
    from tokenizers import Tokenizer

    if not folder.is_dir():
        raise VectorError(f"There is no folder {folder}: wanted one of a Hugging Face model")
    if not (folder / TOKENIZER).is_file():
        raise VectorError(f"{folder} holds no {TOKENIZER}: the words cannot be cut into pieces")
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # tokenizers raises plain Exception
        raise VectorError(f"{folder / TOKENIZER} cannot be read: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = _scaled(_table(folder))
    unknown = _unknown(tokenizer)
    if tokenizer.get_vocab_size() > len(table):
        raise VectorError(
            f"{folder}: the tokenizer knows {tokenizer.get_vocab_size():,} pieces, the table "
            f"of the weights {len(table):,}"
        )
    words = sorted(wanted)
    # The space in front is what stands before a word in text; byte-level pieces have it in.
    cut = tokenizer.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    for word, pieces in zip(words, cut, strict=True):
        ids = [one for one in pieces.ids[:MOST_PIECES] if one not in unknown]
        if ids:
            yield word, table[ids].mean(0)
    yield from islice(_whole(tokenizer, table), extra)


def _whole(tokenizer: object, table: Floats) -> Iterator[tuple[str, Floats]]:
    """The pieces that are words by themselves, in the table's order."""
    from tokenizers import Tokenizer

    assert isinstance(tokenizer, Tokenizer)  # noqa: S101 - for the type checker
    special = set(tokenizer.get_added_tokens_decoder())
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda one: one[1])
    words = [tokenizer.decode([place]).strip() for _, place in pieces]
    cut = tokenizer.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    for (_, place), word, found in zip(pieces, words, cut, strict=True):
        if word and place not in special and found.ids == [place]:
            yield word, table[place]


def _unknown(tokenizer: object) -> set[int]:
    from tokenizers import Tokenizer

    assert isinstance(tokenizer, Tokenizer)  # noqa: S101 - for the type checker
    named = (tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>"))
    return {one for one in named if one is not None}


def _table(folder: Path) -> Floats:
    from safetensors import SafetensorError, safe_open

    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise VectorError(
            f"{folder} holds no .safetensors file; weights of other formats are not opened, "
            "since they may run code"
        )
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                for name in sorted(file.keys()):
                    if name.endswith(TABLES):
                        return np.asarray(file.get_tensor(name).float().numpy(), np.float32)
        except (OSError, SafetensorError) as error:
            raise VectorError(f"{path} cannot be read: {error}") from error
    raise VectorError(f"{folder} holds no table of word pieces that is known here")


def _scaled(table: Floats) -> Floats:
    if table.ndim != 2 or not np.isfinite(table).all():
        raise VectorError("The encoder's table of word pieces is no table of finite numbers")
    centred = table - table.mean(0)
    deviation = float(centred.std())
    return np.asarray(centred / (deviation or 1.0), np.float32)
