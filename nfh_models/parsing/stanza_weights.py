"""What a stanza model file holds, read without running anything in it.

A .pt file is a pickle, which can run code when it is loaded. Each file is read here first by
torch's reader of weights, which builds tensors and plain containers and refuses anything else
(https://docs.pytorch.org/docs/stable/generated/torch.load.html, weights_only); only a folder
whose files all pass is given to stanza. Stanza 1.15 reads with the same reader; older ones
unpickled what it refused.
"""

import zipfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from nfh_models.parsing.parsed import ParserError
from nfh_models.parsing.pipelines import first_line

_PICKLED_DICTIONARY = 2
"""`dicts_version` of lemmatizers that hold a pickle inside their weights, as some older stanza
wrote them; stanza 1.15 refuses them too."""


class Part(StrEnum):
    """A kind of model file, by the name of its folder in stanza's layout."""

    POS = "pos"
    LEMMA = "lemma"
    DEPPARSE = "depparse"
    CONSTITUENCY = "constituency"
    PRETRAIN = "pretrain"
    FORWARD = "forward_charlm"
    BACKWARD = "backward_charlm"


def read_weights(path: Path) -> Mapping[str, Any]:
    """The tensors and plain values of a .pt file; nothing in it is run.

    Raises ParserError for a file that is damaged or holds more than that.
    """
    import pickle

    import torch

    _check_packed(path)
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ParserError(
            f"{path} is damaged or holds more than weights; it was not opened, since such a "
            "file can run code"
        ) from error
    except Exception as error:  # a damaged file makes the reader raise anything
        raise ParserError(
            f"{path} cannot be read as a model of stanza ({first_line(error)})"
        ) from error
    if not isinstance(weights, dict):
        raise ParserError(f"{path} is no model of stanza")
    return weights


def _check_packed(path: Path) -> None:
    """Raise ParserError for members that are packed: torch writes none, but unpacks them, to
    a thousand times of what they are.
    """
    try:
        with zipfile.ZipFile(path) as parts:
            packed = [
                one for one in parts.infolist() if one.compress_type != zipfile.ZIP_STORED
            ]
    except (zipfile.BadZipFile, OSError):
        return  # torch says what is wrong, or reads its form of old
    if packed:
        raise ParserError(
            f"{path} holds a packed part, which torch writes none of: copy or download it again"
        )


def kind_of(weights: Mapping[str, Any]) -> Part | None:
    """What a file of weights is; None for what is of no use here."""
    vocabulary = weights.get("vocab")
    keys = set(vocabulary) if isinstance(vocabulary, dict) else set()
    if "dicts" in weights:
        return Part.LEMMA
    if "deprel" in keys:
        return Part.DEPPARSE
    if "upos" in keys:
        return Part.POS
    if "emb" in weights:
        return Part.PRETRAIN
    params = weights.get("params")
    if isinstance(params, dict) and "transitions" in params:
        return Part.CONSTITUENCY
    inner = weights.get("model", weights)
    forward = weights.get("is_forward_lm", _get(inner, "is_forward_lm"))
    return None if forward is None else Part.FORWARD if forward else Part.BACKWARD


def _get(weights: object, key: str) -> object:
    return weights.get(key) if isinstance(weights, dict) else None


def config_of(weights: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = weights.get("params", weights)
    config = inner.get("config") if isinstance(inner, dict) else None
    return config if isinstance(config, dict) else {}


def needs(need: Part, part: Part, weights: Mapping[str, Any]) -> bool:
    """Whether a model cannot be loaded without word vectors or a character model.

    A lemmatizer may hold classifiers for words as 's, which have needs of their own.
    """
    config = config_of(weights)
    inner = [one.get("args", {}) for one in weights.get("contextual") or ()]
    if need is Part.PRETRAIN:
        if part is Part.LEMMA:
            return bool(inner)
        return bool(config.get("wordvec_pretrain_file")) and bool(config.get("pretrain", True))
    key = "charlm_forward_file" if need is Part.FORWARD else "charlm_backward_file"
    own = bool(config.get("charlm", part is Part.CONSTITUENCY)) and bool(config.get(key))
    return own or any(args.get("use_charlm") for args in inner)


def refuse_foreign(path: Path, weights: Mapping[str, Any]) -> None:
    """Raise ParserError for a model that reaches beyond its folder or hides a pickle."""
    transformer = _transformer(weights)
    if transformer is not None:
        raise ParserError(
            f"{path} needs the transformer {transformer}, which is in no file here: take the "
            "package of that model without a transformer"
        )
    if weights.get("dicts_version") == _PICKLED_DICTIONARY:
        raise ParserError(
            f"{path} keeps its dictionary as a pickle, which is not opened: get the lemmatizer "
            "of a newer stanza"
        )


def _transformer(part: object) -> str | None:
    """The transformer that a model, or one inside it, names; None if none does."""
    todo = [part]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            if one.get("bert_model"):
                return str(one["bert_model"])
            todo += [value for key, value in one.items() if key != "vocab"]
        elif isinstance(one, (list, tuple)) and one and isinstance(one[0], dict):
            todo += one
    return None
