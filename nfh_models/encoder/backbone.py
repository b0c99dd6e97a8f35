"""Pretrained encoders: loaded from a folder or by name for training, and built for use; an own
implementation of BERT, of several BERTs in parallel and of MPNet, which needs no
`transformers`; and tokenizers.

Only safetensors are read and no code of a model is run. The network is used only if the
settings allow it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, cast

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from nfh_models import ModelsError
from nfh_models.encoder.settings import may_be_a_name
from nfh_models.parsing.spacy_parser import first_line

if TYPE_CHECKING:
    from tokenizers import Tokenizer


# --- BERT and MPNet without `transformers`
# ---------------------------------------------------------------

BERT_KIND = "bert"
"""The `model_type` of architectures that `Bert` can run."""


Size = Annotated[int, msgspec.Meta(ge=1, le=2**31)]


class States(NamedTuple):
    """The states of the last layer, B x L x D."""

    last_hidden_state: Tensor


class _Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of an architecture that matter here; others are ignored."""

    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    intermediate_size: Size
    max_position_embeddings: Size
    type_vocab_size: Size = 2
    layer_norm_eps: float = 1e-12


class BertShape(_Sizes, frozen=True, kw_only=True):
    """The sizes of one BERT, and what else decides whether `Bert` can run it."""

    hidden_act: str = "gelu"
    position_embedding_type: str = "absolute"
    is_decoder: bool = False

    @property
    def can_run(self) -> bool:
        """Whether `Bert` implements such an architecture."""
        return (
            self.hidden_act == "gelu"
            and self.position_embedding_type == "absolute"
            and not self.is_decoder
            and self.hidden_size % self.num_attention_heads == 0
        )


class Bert(nn.Module):
    """BERT's encoder for inference, without dropout. words: whether it has a word table.

    Devlin et al. (2019), "BERT: Pre-training of Deep Bidirectional Transformers". Parameters
    are named as in Hugging Face's BertModel, and the results are the same.

    Layers read the pieces of all rows one after another, P x D, without padding; only attention
    takes each row by itself.
    """

    def __init__(self, shape: BertShape, *, words: bool = True) -> None:
        super().__init__()
        self.embeddings = _Embeddings(shape, words=words)
        self.encoder = _Layers(shape, _Attention)

    def get_input_embeddings(self) -> nn.Embedding:
        return self.embeddings.word_embeddings

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> States:
        """inputs_embeds: B x L x D. attention_mask: B x L, 0 at padding, which ends a row."""
        return self.encoder.read(self.embeddings(inputs_embeds), attention_mask)


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
    def __init__(self, shape: BertShape, attention: Callable[[BertShape], nn.Module]) -> None:
        super().__init__()
        layers = (_Layer(shape, attention(shape)) for _ in range(shape.num_hidden_layers))
        self.layer = nn.ModuleList(layers)

    def read(
        self, states: Tensor, attention_mask: Tensor, bias: Tensor | None = None
    ) -> States:
        """states: B x L x D. bias: heads x L x L, added to the attention of every row."""
        kept = attention_mask.bool()
        lengths = kept.sum(1).tolist()
        pieces = states[kept]
        for layer in self.layer:
            pieces = layer(pieces, lengths, bias)
        made = pieces.new_zeros(states.shape)
        made[kept] = pieces
        return States(made)


class _Layer(nn.Module):
    def __init__(self, shape: BertShape, attention: nn.Module) -> None:
        super().__init__()
        width = shape.hidden_size
        self.attention = attention
        self.intermediate = _Dense(width, shape.intermediate_size)
        self.output = _Closing(shape.intermediate_size, shape)

    def forward(self, states: Tensor, lengths: list[int], bias: Tensor | None) -> Tensor:
        states = self.attention(states, lengths, bias)
        wide = functional.gelu(self.intermediate.dense(states))
        return cast("Tensor", self.output(wide, states))


class _Attention(nn.Module):
    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.self = AttentionHeads(shape)
        self.output = _Closing(shape.hidden_size, shape)

    def forward(self, states: Tensor, lengths: list[int], bias: Tensor | None) -> Tensor:
        return cast("Tensor", self.output(self.self(states, lengths, bias), states))


class AttentionHeads(nn.Module):
    """Multi-head attention without its output layer."""

    projections: ClassVar[tuple[str, str, str]] = ("query", "key", "value")
    """The names of the layers that make queries, keys and values."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.heads = shape.num_attention_heads
        for name in self.projections:
            self.add_module(name, nn.Linear(width, width))
        self.joined: nn.Module | None = None

    def join(self, layer: nn.Module) -> None:
        """Replace the three projections by one layer: queries, then keys, then values."""
        self.joined = layer
        for name in self.projections:
            delattr(self, name)

    def forward(self, states: Tensor, lengths: list[int], bias: Tensor | None) -> Tensor:
        """states: P x D, the pieces of rows of these lengths. bias: heads x L x L, added to the
        scores of a row; L may be more than its length.
        """
        if self.joined is None:
            parts = [self.get_submodule(name)(states) for name in self.projections]
        else:
            parts = list(self.joined(states).chunk(3, -1))
        queries, keys, values = (torch.split(part, lengths) for part in parts)
        rows = zip(queries, keys, values, strict=True)
        return torch.cat([self._mixed(*row, bias) for row in rows])

    def _mixed(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
        """The values of one row, L x D, mixed by attention."""
        length = len(query)
        mask = None if bias is None else bias[None, :, :length, :length]
        query, key, value = map(self._apart, (query, key, value))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed[0].transpose(0, 1).flatten(1)

    def _apart(self, states: Tensor) -> Tensor:
        """L x D to 1 x heads x L x width of a head."""
        return states.view(1, len(states), self.heads, -1).transpose(1, 2)


class _Dense(nn.Module):
    def __init__(self, wide: int, narrow: int) -> None:
        super().__init__()
        self.dense = nn.Linear(wide, narrow)


class _Closing(nn.Module):
    """The output layer: back to the width, with the residual and layer norm."""

    def __init__(self, wide: int, shape: BertShape) -> None:
        super().__init__()
        self.dense = nn.Linear(wide, shape.hidden_size)
        self.LayerNorm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        return cast("Tensor", self.LayerNorm(self.dense(states) + before))


MPNET_KIND = "mpnet"
"""The `model_type` of architectures that `Mpnet` can run."""

PADDED_POSITIONS = 2
"""Rows of MPNet's position table before that of the first piece."""

FARTHEST = 128
"""Pieces of distance from which on MPNet has one bias for all."""


class MpnetShape(BertShape, frozen=True, kw_only=True):
    """The sizes of one MPNet. It has no token types."""

    relative_attention_num_buckets: Size = 32


class Mpnet(nn.Module):
    """MPNet's encoder for inference, without dropout.

    Song et al. (2020), "MPNet: Masked and Permuted Pre-training for Language Understanding":
    BERT's layers, with a bias for each head and each distance between two pieces that is added
    in all layers (Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified
    Text-to-Text Transformer", section 2.1). Parameters are named as in Hugging Face's
    MPNetModel, and the results are the same.
    """

    def __init__(self, shape: MpnetShape) -> None:
        super().__init__()
        self.embeddings = _MpnetEmbeddings(shape)
        self.encoder = _Layers(shape, _MpnetAttention)
        self.encoder.relative_attention_bias = nn.Embedding(
            shape.relative_attention_num_buckets, shape.num_attention_heads
        )

    def get_input_embeddings(self) -> nn.Embedding:
        return self.embeddings.word_embeddings

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> States:
        """inputs_embeds: B x L x D. attention_mask: B x L, 0 at padding, which ends a row."""
        table = cast("nn.Embedding", self.encoder.relative_attention_bias)
        places = _distance_buckets(inputs_embeds.shape[1], table.num_embeddings)
        # Contiguous, since every layer reads it.
        bias = table(places.to(inputs_embeds.device)).permute(2, 0, 1).contiguous()
        return self.encoder.read(self.embeddings(inputs_embeds), attention_mask, bias)


def _distance_buckets(length: int, count: int) -> Tensor:
    """The row of the bias table for each pair of pieces, L x L.

    Half of the `count` rows are for pieces before, half for those after; of each half, half are
    for one distance each, the others for distances that grow like a logarithm up to FARTHEST.
    """
    place = torch.arange(length)
    distance = place[None, :] - place[:, None]
    half = count // 2
    single = half // 2
    far = distance.abs()
    logarithm = (far.clamp(min=single) / single).log() / math.log(FARTHEST / single)
    shared = (single + (logarithm * (half - single)).long()).clamp(max=half - 1)
    return (distance > 0) * half + torch.where(far < single, far, shared)


class _MpnetEmbeddings(nn.Module):
    def __init__(self, shape: MpnetShape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.word_embeddings = nn.Embedding(shape.vocab_size, width)
        self.position_embeddings = nn.Embedding(shape.max_position_embeddings, width)
        self.LayerNorm = nn.LayerNorm(width, eps=shape.layer_norm_eps)

    def forward(self, words: Tensor) -> Tensor:
        places = self.position_embeddings.weight[PADDED_POSITIONS:][: words.shape[1]]
        return cast("Tensor", self.LayerNorm(words + places))


class _MpnetAttention(nn.Module):
    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.attn = _MpnetHeads(shape)
        self.LayerNorm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)

    def forward(self, states: Tensor, lengths: list[int], bias: Tensor | None) -> Tensor:
        mixed = self.attn(states, lengths, bias)
        return cast("Tensor", self.LayerNorm(mixed + states))


class _MpnetHeads(AttentionHeads):
    """Multi-head attention with its output layer."""

    projections = ("q", "k", "v")

    def __init__(self, shape: BertShape) -> None:
        super().__init__(shape)
        self.o = nn.Linear(shape.hidden_size, shape.hidden_size)

    def forward(self, states: Tensor, lengths: list[int], bias: Tensor | None) -> Tensor:
        return cast("Tensor", self.o(super().forward(states, lengths, bias)))


COLUMNS_KIND = "bert-columns"
"""The `model_type` of architectures that `Columns` can run."""


class ColumnsShape(_Sizes, frozen=True, kw_only=True):
    """`hidden_size` is that of all columns together; `num_attention_heads` and
    `intermediate_size` are those of each column.
    """

    columns: Annotated[int, msgspec.Meta(ge=1, le=64)]

    def __post_init__(self) -> None:
        if self.hidden_size % (self.columns * self.num_attention_heads):
            raise ValueError(
                f"a width of {self.hidden_size} cannot be divided among {self.columns} "
                f"columns of {self.num_attention_heads} heads"
            )

    @property
    def each(self) -> BertShape:
        """The shape of one column."""
        own = msgspec.structs.asdict(self)
        columns = own.pop("columns")
        return BertShape(**own | {"hidden_size": self.hidden_size // columns})


class SharedWordTable(nn.Module):
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
        """ids: B x L. Returns B x L x D, the same numbers for each column."""
        found = cast("Tensor", self.word_embeddings(ids))
        return found.repeat(*(1 for _ in ids.shape), self._columns)


class Columns(nn.Module):
    """Several BERTs in parallel as one encoder, without dropout: all read the same word
    vectors, and their states are concatenated.

    It represents an ensemble of models as one model whose logits are the means of theirs
    (Hansen and Salamon 1990, "Neural Network Ensembles"), and which can be trained further.
    """

    def __init__(self, shape: ColumnsShape) -> None:
        super().__init__()
        each = shape.each
        self.words = SharedWordTable(shape.vocab_size, each.hidden_size, shape.columns)
        self.columns = nn.ModuleList(Bert(each, words=False) for _ in range(shape.columns))

    def get_input_embeddings(self) -> SharedWordTable:
        return self.words

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> States:
        """inputs_embeds: B x L x D. attention_mask: B x L, 0 at padding, which ends a row."""
        shares = inputs_embeds.chunk(len(self.columns), -1)
        states = [
            column(share.contiguous(), attention_mask).last_hidden_state
            for column, share in zip(self.columns, shares, strict=True)
        ]
        return States(torch.cat(states, -1))


MOST = 8
"""Pieces of one word. The first one represents the word, the others only inform attention."""

LONGEST = 200
"""Characters of a word that are used."""

REMEMBERED = 100_000
"""Words whose pieces are cached."""


class TokenizerError(ModelsError):
    """A tokenizer that cannot be used; the message says why."""


class Specials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The special pieces.

    cls begins the text, sep stands between turns and ends it, unk stands for unknown pieces.
    glue: put before each word ("" or a space).
    """

    cls: str
    sep: str
    pad: str
    unk: str
    glue: str = ""


class Pieces:
    """Splits words into pieces; each word alone, so that its neighbours do not matter."""

    def __init__(self, tokenizer: "Tokenizer", specials: Specials) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.specials = specials
        self.cls = _place(tokenizer, specials.cls)
        self.sep = _place(tokenizer, specials.sep)
        self.pad = _place(tokenizer, specials.pad)
        self.unk = _place(tokenizer, specials.unk)
        self._reserved = frozenset((self.cls, self.sep, self.pad))
        _check_special(tokenizer, (specials.cls, specials.sep, specials.pad))
        self._known: dict[str, tuple[int, ...]] = {}

    @classmethod
    def of(cls, content: str, specials: Specials) -> "Pieces":
        """From the content of a tokenizer.json. Raises TokenizerError."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_str(content)
        except Exception as error:  # the library raises bare Exception
            raise TokenizerError(
                f"this tokenizer cannot be read: copy the folder again ({first_line(error)})"
            ) from error
        return cls(tokenizer, specials)

    @property
    def size(self) -> int:
        """The largest number of a piece, plus 1."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values()) + 1

    @property
    def content(self) -> str:
        """The tokenizer as tokenizer.json has it."""
        return str(self._tokenizer.to_str())

    def cut(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The pieces of each word, at least one and at most MOST."""
        known = self._known
        new = list({word for word in words if word not in known})
        if new:
            if len(known) > REMEMBERED:
                known.clear()
                new = list(set(words))
            known.update(zip(new, self._cut(new), strict=True))
        return [known[word] for word in words]

    def _cut(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        glue = self.specials.glue
        given = [glue + _sound(word[:LONGEST]) for word in words]
        found = self._tokenizer.encode_batch(given, add_special_tokens=False)
        return [self._plain(one.ids) for one in found]

    def _plain(self, ids: Sequence[int]) -> tuple[int, ...]:
        """A word that spells a special piece gets unk for it, as does a word without pieces."""
        reserved, unk = self._reserved, self.unk
        return tuple(unk if one in reserved else one for one in ids[:MOST]) or (unk,)


def _sound(word: str) -> str:
    """The word with lone surrogates replaced, which no tokenizer accepts."""
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return word.encode("utf-8", "replace").decode("utf-8")
    return word


def _place(tokenizer: "Tokenizer", piece: str) -> int:
    found = tokenizer.token_to_id(piece)
    if found is None:
        raise TokenizerError(f"the tokenizer has no piece {piece!r}")
    return int(found)


def _check_special(tokenizer: "Tokenizer", pieces: Sequence[str]) -> None:
    """Raise TokenizerError for a piece that ordinary words contain, too."""
    added = tokenizer.get_added_tokens_decoder().values()
    special = {one.content for one in added if one.special}
    for piece in pieces:
        if piece not in special:
            raise TokenizerError(
                f"the piece {piece!r} is a word, and cannot begin, separate or pad a text"
            )


TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
"""Files of which a folder needs one, so that `transformers` can create a tokenizer."""

LEFT_OUT = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "auto_map")
"""Keys of an architecture that tell its origin, or name code to be run."""

MOST_LAYERS = 1_000
"""Of an encoder; the deepest known ones have some hundred."""

ROOM = 2
"""Positions that some architectures (RoBERTa, MPNet) reserve for padding."""

OWN = (Bert, Columns, Mpnet)
"""The encoders that run without `transformers`."""

Architecture = Mapping[str, object]


class EncoderError(ModelsError):
    """An encoder that cannot be used; the message says why."""


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
        """The largest number of pieces."""
        return limit_of(self.architecture)


def width_of(architecture: Architecture) -> int:
    """The width of an encoder's states. Raises EncoderError if the config does not have it."""
    width = architecture.get("hidden_size", architecture.get("dim"))
    if not isinstance(width, int) or width < 2:
        raise EncoderError("the encoder's config names no hidden_size")
    return width


def limit_of(architecture: Architecture) -> int:
    """The largest number of pieces of an encoder."""
    most = architecture.get("max_position_embeddings")
    if not isinstance(most, int) or most < 1:
        return 512
    whole = architecture.get("model_type") in (BERT_KIND, COLUMNS_KIND)
    return max(8, most if whole else most - ROOM)


def pretrained(name: str, *, download: bool = False) -> Backbone:
    """A pretrained encoder by its folder or name.

    Raises EncoderError or TokenizerError for one that does not exist, has no tokenizer, no
    weights in safetensors, or weights of another shape.
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
            "they belong to different encoders"
        )
    return Backbone(module, architecture, pieces, name)


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise EncoderError(f"{folder} is not an encoder: it has no config.json")
    if not any((folder / one).is_file() for one in TOKENIZERS):
        raise TokenizerError(
            f"{folder} has no tokenizer: wanted tokenizer.json, or one of "
            f"{', '.join(TOKENIZERS[1:])}, beside the weights"
        )
    if not any(folder.glob("*.safetensors")):
        pickled = any(folder.glob("*.bin")) or any(folder.glob("*.pt"))
        raise EncoderError(
            f"{folder} has its weights only as a pickle, which can run code; wanted "
            "model.safetensors. Save it again with save_pretrained of `transformers`"
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
        raise EncoderError(f"the weights of {name} do not match its config.json: {wrong}")
    _check_finite(name, found)
    if getattr(config, "is_encoder_decoder", False):
        raise EncoderError(f"{name} is an encoder with a decoder; wanted an encoder alone")
    kept = {key: value for key, value in config.to_dict().items() if key not in LEFT_OUT}
    return found, msgspec.json.decode(msgspec.json.encode(kept))


def _check_finite(name: str, module: nn.Module) -> None:
    """Raise EncoderError for weights that are not finite."""
    for weight, tensor in module.named_parameters():
        if not tensor.isfinite().all():
            raise EncoderError(
                f"the weights of {name} are damaged: {weight} has a value that is not a "
                "finite number. Copy the encoder again, or use another"
            )


def _no_pooling(config: object) -> dict[str, object]:
    """add_pooling_layer=False, for the architectures that have it."""
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
            f"{name} has no tokenizer that can be used: choose another encoder, or get this "
            f"one again ({first_line(error)})"
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
        return f"the encoder in {name} cannot be loaded: copy it again ({first_line(error)})"
    if download:
        return (
            f"the encoder {name!r} cannot be fetched: see its name and the network "
            f"({first_line(error)})"
        )
    return (
        f"there is no folder {name!r}, and no encoder of that name on this machine; "
        "download=true fetches it"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence `transformers`; its log settings are restored afterwards."""
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

    Our own where they can run it, else `transformers`.
    """
    # More layers than anybody trained would all be allocated, if only to compare their shapes.
    for key, value in architecture.items():
        if "layers" in key and isinstance(value, int) and value > MOST_LAYERS:
            raise EncoderError(f"it names {value:,} {key}; wanted at most {MOST_LAYERS:,}")
    shape = own_shape(architecture)
    if isinstance(shape, ColumnsShape):
        return Columns(shape)
    if isinstance(shape, MpnetShape):
        return Mpnet(shape)
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
            f"an encoder of kind {kind!r} cannot be built: {first_line(error)}"
        ) from (error)
    assert isinstance(made, nn.Module)  # noqa: S101 - for mypy
    return made


def own_shape(architecture: Architecture) -> BertShape | ColumnsShape | None:
    """The shape of an encoder that runs without `transformers`; None for others."""
    kind, given = architecture.get("model_type"), dict(architecture)
    try:
        if kind in (BERT_KIND, MPNET_KIND):
            shape = msgspec.convert(given, BertShape if kind == BERT_KIND else MpnetShape)
            return shape if shape.can_run else None
        if kind == COLUMNS_KIND:
            return msgspec.convert(given, ColumnsShape)
    except msgspec.ValidationError as error:
        raise EncoderError(
            f"the encoder's architecture is invalid: copy its folder again ({error})"
        ) from error
    return None
