"""The model of the recipes `encoder`, `base` and `small`: the network, class priors, scoring in
batches, and the model directory.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar, Unpack, cast

import msgspec
import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from nfh_models import ModelsError, model_files
from nfh_models.domain import IMPLICIT_KINDS, Kind, paper_class
from nfh_models.encoder import quantization
from nfh_models.encoder.backbone import (
    OWN,
    Architecture,
    Backbone,
    EncoderError,
    Pieces,
    Specials,
    TokenizerError,
    built,
    limit_of,
    own_shape,
    width_of,
)
from nfh_models.encoder.features import (
    CLASSES,
    NO_DISTANCE,
    SPEAKERS,
    TURNS,
    EncoderFeaturiser,
    EncoderRow,
    Padded,
    by_length,
    by_pieces,
    pad,
)
from nfh_models.encoder.settings import Candidates, EncoderSettings, Task, Weights
from nfh_models.identification.base import Decision, SentenceNumber
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution.base import Choice, Item, ResolutionExample, Several
from nfh_models.training.loop import autocast, choose_device, without_weights

M = TypeVar("M", bound=nn.Module)

SEVERAL = 3
"""Classes of the number of heads: one, several joined by AND, several joined by OR."""

SHUT = -1e4
"""The score of what is no candidate: its probability is 0 in 32 bits."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The output of the network."""

    logits: Tensor
    """B x C, SHUT where closed."""
    nfh: Tensor
    """B, above 0 for a fused head."""
    several: Tensor
    """B x 3."""


@dataclass(frozen=True, slots=True)
class Tensors:
    """A Padded on a device, with the same fields."""

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
        names = cls.__slots__
        return cls(*(torch.from_numpy(getattr(padded, name)).to(on) for name in names))

    def row(self, place: int, words: int) -> "Tensors":
        """One row with that many words alone."""
        alone = slice(place, place + 1)
        whole = (self.ids, self.attention, self.mark, self.turns, self.speakers)
        return Tensors(
            *(one[alone] for one in whole),
            *(one[alone, :words] for one in (self.first, self.anchor)),
            *(one[alone, : CLASSES + words] for one in (self.open, self.distance)),
        )


class EncoderNetwork(nn.Module):
    """The network: an encoder over marked words, and the scorer of its candidates.

    For an anchor a and a candidate c (six class vectors and each word's first piece) the score
    is MLP([c; a; c*a]), as in the paper (section 6.1), with an embedding of the word's distance
    bucket added before the hidden layer's GELU. Added to the encoder's word embeddings are a
    mark of the anchor, the turn distance, and whether the anchor's speaker says the word. From
    a alone come the logit of being a fused head, and the logits of one head, several by AND,
    several by OR.

    encoder: maps inputs_embeds (B x L x D) and attention_mask to last_hidden_state, and has
    get_input_embeddings. width: D. pair: width of the hidden layer.
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
        self.classes = nn.Parameter(_random(CLASSES, width, factors=(0.01, width**0.5)))
        self.up = nn.Linear(3 * width, pair)
        self.distance = _zeros(nn.Embedding(NO_DISTANCE + 1, pair)) if distance else None
        self.out = nn.Linear(pair, 1)
        self.nfh = _head(width, 1)
        self.several = _head(width, SEVERAL)
        _zeros(self.several[2])
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Tensors) -> Scored:
        return self.score(self.read(batch), batch)

    def read(self, batch: Tensors) -> Tensor:
        """The state of each word: B x W x D. Nearly all time is spent here."""
        table = cast("nn.Module", self.encoder.get_input_embeddings())  # type: ignore[operator]
        embedded = table(batch.ids)
        embedded = embedded + batch.mark.unsqueeze(-1) * self.mark
        embedded = embedded + self.turns(batch.turns) + self.speakers(batch.speakers)
        read = self.encoder(inputs_embeds=embedded, attention_mask=batch.attention)
        states = read.last_hidden_state.float()
        places = batch.first.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        return cast("Tensor", states.gather(1, places))

    def score(self, words: Tensor, batch: Tensors) -> Scored:
        """The scores of anchors whose words were read; `batch` has their positions."""
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
    """The difference of an encoder's two token type embeddings; else a small random vector."""
    embeddings = getattr(encoder, "embeddings", None)
    kinds = getattr(embeddings, "token_type_embeddings", None)
    if kinds is None or len(kinds.weight) < 2 or kinds.weight.is_meta:
        return _random(width, factors=(0.02,))
    return cast("Tensor", (kinds.weight[1] - kinds.weight[0]).detach().clone())


def _random(*shape: int, factors: Sequence[float]) -> Tensor:
    """Normally distributed numbers, multiplied by the factors; none on the meta device, where
    arithmetic loads torch's compiler.
    """
    made = torch.empty(*shape)
    if not made.is_meta:
        made.normal_()
        for factor in factors:
            made *= factor
    return made


# --- class priors
# -------------------------------------------------------------------------------

PAPER = {
    Kind.REFERENCE: 4_237,
    Kind.YEAR: 485,
    Kind.AGE: 1_081,
    Kind.CURRENCY: 386,
    Kind.PEOPLE: 799,
    Kind.TIME: 216,
    Kind.OTHER: 2_208,
}
"""Examples of each class in the paper's whole annotated corpus (section 5, 9,412)."""


Shift = tuple[float, float, float, float, float, float]
"""Added to the logits of the six classes, in the order of IMPLICIT_KINDS."""

NO_SHIFT: Shift = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def shift_to_paper(examples: Iterable[ResolutionExample]) -> Shift:
    """The shift for a network that was trained on these examples.

    A network learns the class distribution of its examples. Where another one is met, the
    logits of the classes are shifted by the logarithm of the ratio of shares, relative to that
    of the words (Saerens et al. 2002, "Adjusting the Outputs of a Classifier to New a Priori
    Probabilities"). It is 0 for a class without examples, and for all of them without a
    Reference.
    """
    counted = Counter(paper_class(example.gold.kind) for example in examples)
    words = counted[Kind.REFERENCE]
    if not words:
        return NO_SHIFT
    base = math.log(PAPER[Kind.REFERENCE] / words)

    def of(kind: Kind) -> float:
        return round(math.log(PAPER[kind] / counted[kind]) - base, 4) if counted[kind] else 0.0

    year, age, currency, people, time, other = map(of, IMPLICIT_KINDS)
    return year, age, currency, people, time, other


Floats = NDArray[np.float32]
States = NDArray[np.float16]

PIECES = 512
"""Pieces at a time for our own encoders on a CPU: fewer make products slower, more do not fit
into its cache.
"""

MANY = 32
"""Rows at a time on other devices, and for encoders of `transformers`, whose weights are
converted again for each batch.
"""


@dataclass(frozen=True, slots=True)
class TeacherStates:
    """An encoder's states of the words of a row, W x D. offset: of its first word in the
    passage.
    """

    offset: int
    states: States


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """The output for each row, in order."""

    logits: list[Floats]
    """One for each candidate of the row, SHUT where closed."""
    nfh: Floats
    """A logit."""
    several: Floats
    """Three probabilities."""
    states: list[TeacherStates]
    """Where requested."""


def read(
    network: EncoderNetwork,
    rows: Sequence[EncoderRow],
    empty: int,
    *,
    on: torch.device | None = None,
    precision: str = "fp32",
    candidates: Candidates = Candidates.ALL,
    states: bool = False,
) -> NetworkOutput:
    """Score all candidates of some rows. The network must be in eval mode, on that device.

    On a CPU each row that our own encoders have read is scored by itself: products of several
    rows are added up in another order. With weights in 8 bits, whose products are whole
    numbers, a row's scores are then the same bit by bit whatever is read with it.
    """
    device = on or torch.device("cpu")
    own = isinstance(network.encoder, OWN)
    alone = own and device.type == "cpu"
    logits: list[Floats] = [np.empty(0, np.float32)] * len(rows)
    nfh = np.zeros(len(rows), np.float32)
    several = np.zeros((len(rows), 3), np.float32)
    seen = [TeacherStates(row.offset, np.empty(0, np.float16)) for row in rows if states]

    def score(places: list[int]) -> None:
        some = [rows[place] for place in places]
        with torch.inference_mode(), autocast(device, precision):
            inputs = Tensors.of(pad(some, empty), device)
            words = network.read(inputs)
            if alone:
                for number, row in enumerate(some):
                    states_of = words[number : number + 1, : row.words]
                    keep(places[number : number + 1], states_of, inputs.row(number, row.words))
            else:
                keep(places, words, inputs)

    def keep(places: list[int], words: Tensor, inputs: Tensors) -> None:
        scored = network.score(words, inputs)
        found = restrict(scored.logits.float(), candidates).cpu().numpy()
        nfh[places] = scored.nfh.float().cpu().numpy()
        several[places] = scored.several.float().softmax(-1).cpu().numpy()
        for number, place in enumerate(places):
            logits[place] = found[number, : CLASSES + rows[place].words].copy()
            if states:
                kept = words[number, : rows[place].words]
                seen[place] = TeacherStates(
                    rows[place].offset, kept.to(torch.float16).cpu().numpy().copy()
                )

    # The longest first: what is left for the end is short, and no thread waits long.
    batches = (by_pieces(rows, PIECES) if alone else by_length(rows, MANY))[::-1]
    if device.type == "cpu" and (own or len(batches) > 1):
        _side_by_side(score, batches)
    else:
        for places in batches:
            score(places)
    return NetworkOutput(logits, nfh, several, seen)


def _side_by_side(score: Callable[[list[int]], None], batches: Sequence[list[int]]) -> None:
    """Batches in as many threads as torch has, one core each.

    Threads that share one product wait for each other many times a batch, and spin while they
    do: beside another busy process that made a batch ten times as slow (measured on 2 cores).
    One batch is scored here: a new thread would have to plan each product anew.
    """
    threads = torch.get_num_threads()
    # The setting is per thread, but threads that are created later inherit it.
    torch.set_num_threads(1)
    try:
        if len(batches) == 1:
            score(batches[0])
            return
        with ThreadPoolExecutor(
            threads, initializer=torch.set_num_threads, initargs=(1,)
        ) as pool:
            for _ in pool.map(score, batches):
                pass
    finally:
        torch.set_num_threads(threads)


def restrict(logits: torch.Tensor, candidates: Candidates) -> torch.Tensor:
    """The scores without the candidates that an oracle run leaves out."""
    if candidates is Candidates.ALL:
        return logits
    words = torch.arange(logits.shape[-1], device=logits.device) >= CLASSES
    closed = words if candidates is Candidates.IMPLICIT else ~words
    return logits.masked_fill(closed, SHUT)


VERSION = "1"
"""Of the processing of the network's output; the weights are the directory's."""

AT_ONCE = 4_096
"""Rows made before they are scored, sorted by length together."""

LEAST = 1e-30
"""The least probability of an open candidate."""


class TaskError(ModelsError):
    """A model used for a task that it was not trained for."""


@dataclass(frozen=True, slots=True)
class ModelBundle:
    """A model with all its parts."""

    network: EncoderNetwork
    settings: EncoderSettings
    architecture: Architecture
    pieces: Pieces
    base: str = ""
    """The name of its encoder."""
    temperature: float = 1.0
    """The divisor of logits."""
    threshold: float = 0.0
    """The logit above which a number is a fused head."""
    shift: Shift = NO_SHIFT
    """Added to the logits of the six classes; see `shift_to_paper`."""

    @property
    def backbone(self) -> Backbone:
        """Its encoder, as the start of another model."""
        return Backbone(self.network.encoder, self.architecture, self.pieces, self.base)

    @property
    def featuriser(self) -> EncoderFeaturiser:
        settings = self.settings
        return EncoderFeaturiser(
            self.pieces, settings.window, settings.before, limit_of(self.architecture)
        )


@dataclass(frozen=True, slots=True)
class EncoderModel:
    """A Resolver and an Identifier. An anchor gets the same scores whatever batch it is in;
    see `read` for where that holds exactly, and where up to rounding.
    """

    bundle: ModelBundle
    recipe: str
    """`encoder`, or one of the package."""
    on: torch.device = field(default_factory=lambda: torch.device("cpu"))
    """The device of its network."""
    precision: str = "fp32"
    """See `kind_of`."""

    version = VERSION
    needs = uses = frozenset[ParseLayer]()
    probabilities = True

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice for each item; None only where an oracle run leaves no candidate.

        Raises TaskError for a model that was trained only for identification, PassageError for
        an anchor outside its passage.
        """
        self._check(Task.RESOLUTION)
        made: list[Choice | None] = []
        for start in range(0, len(items), AT_ONCE):
            made += self._resolved(items[start : start + AT_ONCE])[0]
        return made

    def read(self, items: Sequence[Item]) -> tuple[list[Choice | None], list[TeacherStates]]:
        """A choice for each item as from `resolve`, and the states of the words that
        were read.
        """
        self._check(Task.RESOLUTION)
        return self._resolved(items, states=True)

    def anchor_states(self, items: Sequence[Item]) -> list[Floats]:
        """The network's state of each item's anchor, as in `EncoderNetwork.score`."""
        return [
            seen.states[item.anchor.start - seen.offset : item.anchor.end - seen.offset]
            .astype(np.float32)
            .sum(0)
            for item, seen in zip(items, self.read(items)[1], strict=True)
        ]

    def _resolved(
        self, items: Sequence[Item], *, states: bool = False
    ) -> tuple[list[Choice | None], list[TeacherStates]]:
        bundle, featuriser = self.bundle, self.bundle.featuriser
        rows = [featuriser.row(item.passage, item.anchor) for item in items]
        found = read(
            bundle.network,
            rows,
            bundle.pieces.pad,
            on=self.on,
            precision=self.precision,
            candidates=bundle.settings.candidates,
            states=states,
        )
        both = bundle.settings.task is Task.BOTH
        logits = (found.nfh - bundle.threshold).astype(np.float64) if both else np.zeros(0)
        nfh = 1 / (1 + np.exp(-logits))
        choices = [
            choice_of(
                row,
                len(item.passage.tokens),
                probabilities(found.logits[place], bundle.temperature, bundle.shift),
                Several(*found.several[place].tolist()) if bundle.settings.several else None,
                float(nfh[place]) if both else None,
            )
            for place, (row, item) in enumerate(zip(rows, items, strict=True))
        ]
        return choices, found.states

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        """A decision for each case; its score is the logit minus the threshold.

        Raises TaskError for a model that was trained only for resolution.
        """
        self._check(Task.IDENTIFICATION)
        bundle, featuriser = self.bundle, self.bundle.featuriser
        made: list[Decision] = []
        for start in range(0, len(cases), AT_ONCE):
            rows = [featuriser.case_row(case) for case in cases[start : start + AT_ONCE]]
            found = read(
                bundle.network, rows, bundle.pieces.pad, on=self.on, precision=self.precision
            )
            scores = (found.nfh - bundle.threshold).tolist()
            made += [Decision(score > 0, self.recipe, score) for score in scores]
        return made

    def _check(self, task: Task) -> None:
        own = self.bundle.settings.task
        if own not in (Task.BOTH, task):
            raise TaskError(f"this model was trained only for {own}, and cannot do {task}")


def probabilities(logits: Floats, temperature: float, shift: Shift = NO_SHIFT) -> Floats:
    """Of all candidates of a row; 0 only for those that are closed."""
    open_ = logits > SHUT
    if not open_.any():
        return np.zeros(len(logits), np.float32)
    scaled = logits.astype(np.float64)
    scaled[:CLASSES] += shift
    scaled /= temperature
    raised = np.where(open_, np.exp(scaled - scaled[open_].max()), 0.0)
    shares = np.where(open_, np.maximum(raised / raised.sum(), LEAST), 0.0)
    return shares.astype(np.float32)


def choice_of(
    row: EncoderRow, tokens: int, found: Floats, several: Several | None, nfh: float | None
) -> Choice | None:
    """The best candidate, the second best, and all scores laid out over the passage.

    found: probabilities of the row's candidates, 0 for no candidate. None without any.
    """
    ranked = np.argsort(-found, kind="stable")[:2].tolist()
    if not found[ranked[0]] > 0:
        return None
    laid_out: list[float | None] = [None] * (CLASSES + tokens)
    values = [value if value > 0 else None for value in found.tolist()]
    laid_out[:CLASSES] = values[:CLASSES]
    first = CLASSES + row.offset
    laid_out[first : first + row.words] = values[CLASSES:]
    best, second = map(row.name, ranked)
    if not found[ranked[1]] > 0:
        return Choice(best, None, None, tuple(laid_out), several, nfh)
    margin = float(found[ranked[0]] - found[ranked[1]])
    return Choice(best, second, margin, tuple(laid_out), several, nfh)


# --- files
# --------------------------------------------------------------------------------------

ENCODER = "encoder"

TOKENIZER = "tokenizer.json"
"""As the `tokenizers` library reads it."""
NOTICE = "NOTICE"
"""The licence of the encoder, of a model that is distributed."""

Array = NDArray[np.generic]

_Shift = Annotated[float, Meta(ge=-100, le=100)]


class StoredEncoderSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """The settings as config.json holds them."""

    base: str
    training: EncoderSettings
    architecture: dict[str, object]
    """The encoder's own config."""
    specials: Specials
    temperature: Annotated[float, Meta(gt=0, le=1_000)] = 1.0
    threshold: Annotated[float, Meta(ge=-1_000, le=1_000)] = 0.0
    shift: tuple[_Shift, _Shift, _Shift, _Shift, _Shift, _Shift] = NO_SHIFT
    tokenizer: str | None = None
    """SHA-256 (hex) of tokenizer.json, since numbers of pieces depend on it; None in older
    models.
    """


# --- writing --------------------------------------------------------------------------------


def save(
    bundle: ModelBundle,
    folder: Path,
    *,
    recipe: str = ENCODER,
    notice: str = "",
    **about: Unpack[model_files.ModelNotes],
) -> str:
    """Write a model directory; returns its digest. See `save_model`.

    Weights are stored as the settings say.
    """
    stored = StoredEncoderSettings(
        base=bundle.base,
        # A folder's path says nothing elsewhere, and may tell more than it should.
        training=msgspec.structs.replace(bundle.settings, encoder=bundle.base),
        architecture=dict(bundle.architecture),
        specials=bundle.pieces.specials,
        temperature=bundle.temperature,
        threshold=bundle.threshold,
        shift=bundle.shift,
        tokenizer=_digest(bundle.pieces.content),
    )
    arrays = stored_arrays(bundle.network, bundle.settings.weights)
    more = {TOKENIZER: bundle.pieces.content} | ({NOTICE: notice} if notice else {})
    task = bundle.settings.task.value
    return model_files.save_model(
        folder, task, recipe, VERSION, stored, arrays, more=more, **about
    )


def stored_arrays(network: nn.Module, weights: Weights) -> dict[str, Array]:
    """The arrays of a network as they are stored."""
    arrays = {
        name: tensor.detach().float().cpu().numpy()
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }
    return quantization.pack_arrays(arrays, weights)


# --- reading --------------------------------------------------------------------------------


def load(folder: Path, *, device: str | None = "cpu", bytes_: bool = True) -> EncoderModel:
    """A model from its directory, ready to use.

    device: as in `choose_device`. bytes_: compute with weights in 8 and 4 bits where the CPU is
    faster with them; False widens them first. Raises ModelFileError for a damaged folder,
    DeviceError.
    """
    config = model_files.read_config(folder)
    if config.recipe not in (known := (ENCODER, *model_files.PACKAGED)):
        raise model_files.ModelFileError(
            f"{folder} is a model of {config.recipe!r}, not of {' or '.join(map(repr, known))}"
        )
    stored = model_files.settings_of(folder, config, StoredEncoderSettings)
    _check_task(folder, config, stored)
    on = choose_device(device)
    pieces = _pieces(folder, stored)
    try:
        network = _network(folder, stored)
    except (EncoderError, RuntimeError) as error:
        raise model_files.damaged(folder / model_files.CONFIG, error) from error
    arrays = _arrays(folder, network, stored.training.weights)
    _check_pieces(folder, pieces, network)
    own = isinstance(network.encoder, OWN)
    stay = bytes_ and own and on.type == "cpu"
    _fill(network, arrays, in_bytes=stay and quantization.has_fast_int8())
    network.eval().requires_grad_(requires_grad=False)
    bundle = ModelBundle(
        network.to(on),
        stored.training,
        stored.architecture,
        pieces,
        stored.base,
        stored.temperature,
        stored.threshold,
        stored.shift,
    )
    return EncoderModel(bundle, config.recipe, on, "fp32" if own else "auto")


def _check_task(
    folder: Path, config: model_files.ModelConfig, stored: StoredEncoderSettings
) -> None:
    own = stored.training.task.value
    if config.task != own:
        raise model_files.damaged(
            folder / model_files.CONFIG,
            f"it says the task {config.task!r}, and was trained for {own!r}",
        )


def _pieces(folder: Path, stored: StoredEncoderSettings) -> Pieces:
    """The tokenizer, if it is the one that the model was trained with."""
    content = model_files.read_text(folder, TOKENIZER)
    if stored.tokenizer is not None and _digest(content) != stored.tokenizer:
        raise model_files.damaged(
            folder / TOKENIZER, "it is not the one that the model was trained with"
        )
    try:
        return Pieces.of(content, stored.specials)
    except TokenizerError as error:
        raise model_files.damaged(folder / TOKENIZER, error) from error


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _network(folder: Path, stored: StoredEncoderSettings) -> EncoderNetwork:
    """The network without its weights."""
    own = own_shape(stored.architecture) is not None
    if not own:
        _check_size(folder, stored)
    with without_weights() if own else torch.device("cpu"):
        return network_of(stored.architecture, built(stored.architecture), stored.training)


def _check_size(folder: Path, stored: StoredEncoderSettings) -> None:
    """Raise EncoderError where config.json describes more numbers than the weights file can
    hold, at two numbers a byte, before memory is allocated for them.
    """
    with without_weights():
        described = sum(one.numel() for one in built(stored.architecture).parameters())
    path = folder / model_files.WEIGHTS
    there = path.stat().st_size if path.is_file() else 0
    if described > 2 * there:
        raise EncoderError(
            f"it describes {described:,} numbers, and {model_files.WEIGHTS} has {there:,} bytes"
        )


def network_of(
    architecture: Architecture, encoder: nn.Module, settings: EncoderSettings
) -> EncoderNetwork:
    """A network on an encoder, with random initial weights of the scorer."""
    return EncoderNetwork(
        encoder,
        width_of(architecture),
        settings.pair,
        dropout=settings.dropout,
        distance=settings.distance,
    )


def _arrays(folder: Path, network: EncoderNetwork, weights: Weights) -> dict[str, Array]:
    shapes = {
        name: tuple(tensor.shape)
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }
    wanted = quantization.packed_shapes(shapes, weights)
    found = model_files.read_arrays(folder, {name: kind for name, (kind, _) in wanted.items()})
    for name, (_, shape) in wanted.items():
        if found[name].shape != shape:
            raise model_files.damaged(
                folder / model_files.WEIGHTS,
                f"{name} has the shape {found[name].shape}, "
                f"{model_files.CONFIG} describes {shape}",
            )
    return found


def _check_pieces(folder: Path, pieces: Pieces, network: EncoderNetwork) -> None:
    rows = network.encoder.get_input_embeddings().weight.shape[0]  # type: ignore[operator]
    if pieces.size > rows:
        raise model_files.damaged(
            folder / TOKENIZER, f"it has {pieces.size:,} pieces, the weights have {rows:,}"
        )


def _fill(network: EncoderNetwork, arrays: Mapping[str, Array], *, in_bytes: bool) -> None:
    """Set the weights of a network; their shapes are checked."""
    taken = quantization.kept_in_bytes(network, arrays) if in_bytes else frozenset()
    state = {
        name: torch.from_numpy(quantization.widened_array(name, arrays))
        for name in arrays
        if not name.endswith(quantization.SCALE) and name not in taken
    }
    network.load_state_dict(state, strict=False, assign=True)
