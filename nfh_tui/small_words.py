"""Words that can stand for others in copies of examples: neighbours in an encoder's word table.

As the augmentation of Jiao et al. (2020), "TinyBERT: Distilling BERT for Natural Language
Understanding" (section 3.3), with one word for all mentions of another, since mentions are
what heads are found by.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nfh_models.encoder.pieces import Pieces

NEAREST = 12
"""Neighbours that are drawn from."""

COMMON = 150
"""The commonest words stay: what they do for a sentence no other word does."""

LEAST = 3
"""Letters of a word that is replaced, and of one that replaces it."""

Table = NDArray[np.float32]
Neighbours = Mapping[str, Sequence[str]]


def neighbours_of(base: str, words: Iterable[str]) -> Neighbours:
    """Of each word, in lower case, that an encoder has in one piece, those of the words that
    are nearest to it in its word table. base: the encoder's folder or name.

    Raises what `pretrained` raises.
    """
    from nfh_models.encoder.backbone import pretrained

    backbone = pretrained(base)
    table = backbone.module.get_input_embeddings().weight  # type: ignore[operator]
    return near(_replaceable(words), backbone.pieces, table.detach().numpy())


def _replaceable(words: Iterable[str]) -> list[str]:
    counted = Counter(word.lower() for word in words)
    common = {word for word, _ in counted.most_common(COMMON)}
    return sorted(
        word
        for word in counted
        if len(word) >= LEAST and word.isascii() and word.isalpha() and word not in common
    )


def near(words: Sequence[str], pieces: "Pieces", table: Table) -> Neighbours:
    """The neighbours of each word by cosine among those that are one piece."""
    cut = pieces.cut(words)
    whole = [word for word, own in zip(words, cut, strict=True) if len(own) == 1]
    if len(whole) < 2:
        return {}
    vectors = table[[own[0] for own in cut if len(own) == 1]]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    most = min(NEAREST, len(whole) - 1)
    found: dict[str, list[str]] = {}
    for start in range(0, len(whole), 512):
        likeness = vectors[start : start + 512] @ vectors.T
        likeness[np.arange(len(likeness)), np.arange(start, start + len(likeness))] = -np.inf
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :most]
        for place, row in enumerate(best):
            found[whole[start + place]] = [whole[other] for other in row]
    return found


def replaced(
    words: Sequence[str], share: float, neighbours: Neighbours, rng: random.Random
) -> list[str]:
    """The words with a share of the different ones among them replaced, each everywhere by
    the same; capitals stay."""
    drawn: dict[str, str] = {}
    made: list[str] = []
    for word in words:
        lower = word.lower()
        if lower not in drawn:
            others = neighbours.get(lower, ())
            swap = bool(others) and rng.random() < share
            drawn[lower] = rng.choice(others) if swap else lower
        other = drawn[lower]
        made.append(word if other == lower else _like(other, word))
    return made


def _like(word: str, other: str) -> str:
    """The word with the capitals of another."""
    if len(other) > 1 and other.isupper():
        return word.upper()
    return word.capitalize() if other[0].isupper() else word
