"""Pretrained encoders: out of a folder or by name for training, and built anew for use.

Only safetensors are read and no code of a model is run. The network is not asked unless the
settings say so.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from torch import nn

from nfh_models.encoder import bert, columns
from nfh_models.encoder.bert import Bert, BertShape
from nfh_models.encoder.columns import Columns, ColumnsShape
from nfh_models.encoder.hub import may_be_a_name
from nfh_models.encoder.pieces import Pieces, Specials, TokenizerError
from nfh_models.errors import ModelsError

TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
"""Files of which a folder needs one, so that `transformers` can make a tokenizer."""

LEFT_OUT = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "auto_map")
"""Keys of an architecture that say where it came from, or name code to be run."""

MOST_LAYERS = 1_000
"""Of an encoder; the deepest that are known have some hundred."""

ROOM = 2
"""Positions that some architectures (RoBERTa, MPNet) keep for padding."""

OWN = (Bert, Columns)
"""The encoders that run without `transformers`."""

Architecture = Mapping[str, object]


class EncoderError(ModelsError):
    """An encoder that cannot be used; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Backbone:
    """A pretrained encoder. architecture: its config, with `model_type`. name: as given."""

    module: nn.Module
    architecture: Architecture
    pieces: Pieces
    name: str

    @property
    def width(self) -> int:
        """Of its states."""
        return width_of(self.architecture)

    @property
    def limit(self) -> int:
        """Pieces that it reads at most."""
        return limit_of(self.architecture)


def width_of(architecture: Architecture) -> int:
    """The width of an encoder's states. Raises EncoderError if it does not say."""
    width = architecture.get("hidden_size", architecture.get("dim"))
    if not isinstance(width, int) or width < 2:
        raise EncoderError("the encoder's config names no hidden_size")
    return width


def limit_of(architecture: Architecture) -> int:
    """Pieces that an encoder reads at most."""
    most = architecture.get("max_position_embeddings")
    if not isinstance(most, int) or most < 1:
        return 512
    whole = architecture.get("model_type") in (bert.KIND, columns.KIND)
    return max(8, most if whole else most - ROOM)


def pretrained(name: str, *, download: bool = False) -> Backbone:
    """An encoder by its folder or name, as it was trained by others.

    Raises EncoderError or TokenizerError for what is not there, has no tokenizer, no weights
    in safetensors, or weights of another shape.
    """
    if not name:
        raise EncoderError(
            "no encoder is named: give its folder, or its name on the Hugging Face hub, with "
            "the setting encoder=…"
        )
    folder = Path(name).expanduser()
    if folder.is_dir():
        _check_folder(folder)
        name = str(folder)
    elif not may_be_a_name(name):
        raise EncoderError(f"there is no folder {name}: wanted one with a Hugging Face encoder")
    with _quiet():
        module, architecture = _load(name, download=download)
        pieces = _pieces(name, download=download)
    rows = module.get_input_embeddings().weight.shape[0]  # type: ignore[operator]
    if pieces.size > rows:
        raise EncoderError(
            f"{name}: its tokenizer has {pieces.size:,} pieces, its weights have {rows:,}: "
            "they are not of one encoder"
        )
    return Backbone(module, architecture, pieces, name)


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise EncoderError(f"{folder} is no encoder: it has no config.json")
    if not any((folder / one).is_file() for one in TOKENIZERS):
        raise TokenizerError(
            f"{folder} has no tokenizer: wanted tokenizer.json, or one of "
            f"{', '.join(TOKENIZERS[1:])}, beside the weights"
        )
    if not any(folder.glob("*.safetensors")):
        pickled = any(folder.glob("*.bin")) or any(folder.glob("*.pt"))
        raise EncoderError(
            f"{folder} has its weights as a pickle only, which could run anything; wanted "
            "model.safetensors. Have `transformers` save it anew with save_pretrained"
            if pickled
            else f"{folder} has no weights: wanted model.safetensors"
        )


def _load(name: str, *, download: bool) -> tuple[nn.Module, Architecture]:
    from transformers import AutoConfig, AutoModel

    asked = {"local_files_only": not download, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(name, **asked)
        found, notes = AutoModel.from_pretrained(
            name,
            config=config,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            dtype="float32",
            **_no_pooling(config),
            **asked,
        )
    except Exception as error:
        raise EncoderError(_why(name, error, download=download)) from error
    missing = sorted(one for one in notes["missing_keys"] if "pooler" not in one)
    other = sorted(str(one[0]) for one in notes["mismatched_keys"])
    if missing or other:
        wrong = f"{missing[0]} is missing" if missing else f"{other[0]} has another shape"
        raise EncoderError(
            f"the weights of {name} are not those that its config.json describes: {wrong}"
        )
    _check_finite(name, found)
    if getattr(config, "is_encoder_decoder", False):
        raise EncoderError(f"{name} is an encoder with a decoder; wanted an encoder alone")
    kept = {key: value for key, value in config.to_dict().items() if key not in LEFT_OUT}
    return found, msgspec.json.decode(msgspec.json.encode(kept))


def _check_finite(name: str, module: nn.Module) -> None:
    """Raise EncoderError for weights that no training could do anything with."""
    for weight, tensor in module.named_parameters():
        if not tensor.isfinite().all():
            raise EncoderError(
                f"the weights of {name} are damaged: {weight} holds what is no finite number. "
                "Copy the encoder again, or take another"
            )


def _no_pooling(config: object) -> dict[str, object]:
    """add_pooling_layer=False, for the architectures that know it."""
    import inspect

    from transformers import AutoModel

    mapping: Any = AutoModel._model_mapping  # noqa: SLF001 - there is no public way to ask
    try:
        made = mapping[type(config)]
    except KeyError:
        return {}
    knows = "add_pooling_layer" in inspect.signature(made).parameters
    return {"add_pooling_layer": False} if knows else {}


def _pieces(name: str, *, download: bool) -> Pieces:
    from transformers import AutoTokenizer

    try:
        found = AutoTokenizer.from_pretrained(
            name, use_fast=True, local_files_only=not download, trust_remote_code=False
        )
        content = str(found.backend_tokenizer.to_str())
    except Exception as error:
        raise TokenizerError(
            f"{name} has no tokenizer that can be used: {_first(error)}"
        ) from error
    marks = {
        "cls": found.cls_token or found.bos_token,
        "sep": found.sep_token or found.eos_token,
        "pad": found.pad_token or found.unk_token,
        "unk": found.unk_token or found.pad_token,
    }
    for key, value in marks.items():
        if not value:
            raise TokenizerError(f"the tokenizer of {name} has no {key} piece")
    glue = " " if '"ByteLevel"' in content else ""
    return Pieces.of(content, Specials(**marks, glue=glue))


def _why(name: str, error: Exception, *, download: bool) -> str:
    if Path(name).is_dir():
        return f"the encoder in {name} cannot be loaded: {_first(error)}"
    if download:
        return f"the encoder {name!r} cannot be had: {_first(error)}"
    return (
        f"there is no folder {name!r}, and no encoder of that name on this machine; "
        "download=true lets it be fetched"
    )


def _first(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what `transformers` writes on the terminal; as it was before, afterwards."""
    from transformers.utils import logging as noise

    logging: Any = noise
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


# --- for use --------------------------------------------------------------------------------


def built(architecture: Architecture) -> nn.Module:
    """An encoder of that architecture without its weights. Raises EncoderError.

    BERTs, alone and several side by side, are our own, all others those of `transformers`.
    """
    _check_layers(architecture)
    shape = own_shape(architecture)
    if isinstance(shape, ColumnsShape):
        return Columns(shape)
    if shape is not None:
        return Bert(shape)
    from transformers import AutoConfig
    from transformers import AutoModel as Models

    models: Any = Models
    given = dict(architecture)
    kind = str(given.pop("model_type", ""))
    try:
        with _quiet():
            config = AutoConfig.for_model(kind, **given)
            made = models.from_config(config, trust_remote_code=False, **_no_pooling(config))
    except Exception as error:
        raise EncoderError(
            f"an encoder of kind {kind!r} cannot be built: {_first(error)}"
        ) from (error)
    assert isinstance(made, nn.Module)  # noqa: S101 - for mypy
    return made


def _check_layers(architecture: Architecture) -> None:
    """Raise EncoderError for more layers than anybody trained: each is made, if only to be
    compared with the weights.
    """
    for key, value in architecture.items():
        if "layers" in key and isinstance(value, int) and value > MOST_LAYERS:
            raise EncoderError(f"it names {value:,} {key}; wanted at most {MOST_LAYERS:,}")


def own_shape(architecture: Architecture) -> BertShape | ColumnsShape | None:
    """The shape of an encoder that runs without `transformers`; None for others."""
    kind, given = architecture.get("model_type"), dict(architecture)
    try:
        if kind == bert.KIND:
            shape = msgspec.convert(given, BertShape)
            return shape if shape.can_run else None
        if kind == columns.KIND:
            return msgspec.convert(given, ColumnsShape)
    except msgspec.ValidationError as error:
        raise EncoderError(f"the encoder's architecture does not hold: {error}") from error
    return None
