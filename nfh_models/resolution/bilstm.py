"""Recipe `bilstm`: the paper's network (section 6.1): features, network, training, resolver and
files.

    settings = settings_of(["preset=paper", "vectors=file:vectors.txt", "epochs=30"])
    vectors = vectors_of(settings, train_examples)
    learner = learner_of(train_examples, dev_examples, settings, vectors)
    learner.notes                                     sentences about the examples, for people
    outcome = yield from train(learner, plan_of(settings), folder, choose_device("cpu"))
    model = make_model(learner)                       a Resolver
    save_bilstm(model, folder, created_at=at, metrics=metrics, card=card)
    model = load_bilstm(folder)

`settings_of` and `plan_of` are in `bilstm_settings`, which loads no framework, `vectors_of` is
in `word_vectors`. Importing this module loads torch.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Unpack

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nfh_models import ModelsError, model_files
from nfh_models.domain import IMPLICIT_KINDS, paper_class
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution.base import Choice, Item, ResolutionExample, choice_of
from nfh_models.resolution.bilstm_settings import (
    BilstmNetworkSettings,
    BilstmSettings,
    BilstmTarget,
)
from nfh_models.resolution.recipes import BILSTM, TASK
from nfh_models.resolution.scoring import figures, judge
from nfh_models.resolution.word_vectors import Vectors
from nfh_models.training import loop

# --- features
# ----------------------------------------------------------------------------------
#
# Candidates are the six classes in the order of IMPLICIT_KINDS, then the words of the row. A
# row is a part of the passage, usually all of it.

CLASSES = len(IMPLICIT_KINDS)

REACH = 1_000
"""Words on either side of the anchor that are read. A passage may be a whole film, and the
farthest head that the releases mark is 151 tokens away.
"""

LONGEST_SPELLING = 40
"""Characters of a word that are read, from its end: the last LSTM state depends most
on them.
"""

UNKNOWN_WORD = -1
NO_LETTER, UNKNOWN_LETTER = 0, 1
FIRST_LETTER = 2
"""The number of the first character of the alphabet."""


@dataclass(frozen=True, slots=True)
class BilstmRow:
    """The words around an anchor."""

    words: tuple[str, ...]
    """As they stand."""
    start: int
    end: int
    """`start` and `end`: the anchor, as word indices of the row."""
    offset: int
    """Of the first word in the passage."""


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row with the correct candidates: for each distinct head, or the class, the indices of
    which any one is correct. Indices are those of the six classes, then those of the row's
    words.
    """

    row: BilstmRow
    right: tuple[tuple[int, ...], ...]


def row_of(item: Item) -> BilstmRow:
    """The words around an anchor. Raises PassageError for an anchor outside its passage."""
    passage, anchor = item.passage, item.anchor
    anchor.check(passage)
    low = max(0, anchor.start - REACH)
    high = min(len(passage.tokens), anchor.end + REACH)
    words = tuple(passage.word(place) for place in range(low, high))
    return BilstmRow(words, anchor.start - low, anchor.end - low, low)


def answered(example: ResolutionExample, target: BilstmTarget) -> TrainingRow | None:
    """An example for training; None where no head is in reach of its anchor."""
    row = row_of(example.item)
    place = loop.right_class(example)
    if place is not None:
        return TrainingRow(row, ((place,),))
    heads = loop.right_tokens(example)
    if target is BilstmTarget.NEAREST:
        nearest = loop.nearest_token(example)
        heads = [] if nearest is None else [[nearest]]
    reached = [
        tuple(
            CLASSES + token - row.offset
            for token in head
            if row.offset <= token < row.offset + len(row.words)
        )
        for head in heads
    ]
    right = tuple(head for head in reached if head)
    return TrainingRow(row, right) if right else None


@dataclass(frozen=True, slots=True)
class BilstmBatch:
    """Rows side by side: B rows of at most W words, U distinct words, L characters."""

    words: Tensor
    """(B, W), indices of the distinct words, 0 for padding."""
    vectors: Tensor
    """(U,), rows of the table, UNKNOWN_WORD for a word without a vector."""
    letters: Tensor
    """(U, L), the characters of each word."""
    letter_counts: Tensor
    """(U,)."""
    counts: Tensor
    """(B,), words of each row."""
    anchors: Tensor
    """(B, W), 1 / length of the anchor at its words, else 0."""
    candidates: Tensor
    """(B, 6 + W), true for a class and for a word outside the anchor."""

    def to(self, on: torch.device) -> "BilstmBatch":
        """The batch on a device, except the counts, which packing needs in main memory."""
        moved = ("words", "vectors", "letters", "anchors", "candidates")
        return replace(self, **{name: getattr(self, name).to(on) for name in moved})


class BilstmFeaturiser:
    """Makes batches. alphabet: the characters that have a vector, each once."""

    def __init__(self, vectors: Vectors, alphabet: str) -> None:
        self.vectors = vectors
        self.alphabet = alphabet
        self._letters = {one: place for place, one in enumerate(alphabet, FIRST_LETTER)}

    def batch(self, rows: Sequence[BilstmRow]) -> BilstmBatch:
        """Rows as tensors. Raises ValueError for none."""
        if not rows:
            raise ValueError("no rows")
        different = {
            word: place
            for place, word in enumerate(
                dict.fromkeys(word for row in rows for word in row.words)
            )
        }
        width = max(len(row.words) for row in rows)
        words = torch.zeros(len(rows), width, dtype=torch.long)
        anchors = torch.zeros(len(rows), width)
        candidates = torch.zeros(len(rows), CLASSES + width, dtype=torch.bool)
        for place, row in enumerate(rows):
            size = len(row.words)
            words[place, :size] = torch.tensor([different[word] for word in row.words])
            anchors[place, row.start : row.end] = 1 / (row.end - row.start)
            candidates[place, : CLASSES + size] = True
            candidates[place, CLASSES + row.start : CLASSES + row.end] = False
        spelled = [self._spelled(word) for word in different]
        letters = torch.zeros(len(spelled), max(map(len, spelled)), dtype=torch.long)
        for place, own in enumerate(spelled):
            letters[place, : len(own)] = torch.tensor(own)
        places = (self.vectors.place(word) for word in different)
        return BilstmBatch(
            words=words,
            vectors=torch.tensor([UNKNOWN_WORD if one is None else one for one in places]),
            letters=letters,
            letter_counts=torch.tensor([len(own) for own in spelled]),
            counts=torch.tensor([len(row.words) for row in rows]),
            anchors=anchors,
            candidates=candidates,
        )

    def _spelled(self, word: str) -> list[int]:
        return [self._letters.get(one, UNKNOWN_LETTER) for one in word[-LONGEST_SPELLING:]]


def right_of(rows: Sequence[TrainingRow], width: int) -> tuple[Tensor, Tensor, Tensor]:
    """What is correct in a batch of `width` candidates a row.

    Returns masks (H, width), one for each head; the row of each, (H,); and its weight, (H,), so
    that the heads of a row have the weight 1 together.
    """
    flat = [(place, head) for place, one in enumerate(rows) for head in one.right]
    masks = torch.zeros(len(flat), width, dtype=torch.bool)
    for number, (_, head) in enumerate(flat):
        masks[number, list(head)] = True
    owners = torch.tensor([place for place, _ in flat])
    weights = torch.tensor([1 / len(rows[place].right) for place, _ in flat])
    return masks, owners, weights


MASKED = -1e4
"""The score of what is no candidate: its probability is 0 in 32 bits, and nothing overflows in
16.
"""


class BiLstm(nn.Module):
    """Scores of the six classes and of each word, for one anchor a row.

    A word is its fixed vector and the last state of an LSTM over its characters. An anchor is
    the mean of its words' states. A pair of candidate c and anchor a is [c; a; c*a].
    """

    table: Tensor

    def __init__(self, sizes: BilstmNetworkSettings, table: Tensor, letters: int) -> None:
        """table: (words, width), of the word vectors. letters: size of the alphabet."""
        super().__init__()
        # Not among the weights that checkpoints hold: it is no secret of the training, and
        # may be larger than all of them.
        self.register_buffer("table", table, persistent=False)
        width = int(table.shape[1])
        both = 2 * sizes.state
        self.unknown = nn.Parameter(torch.zeros(width))
        self.letters = nn.Embedding(FIRST_LETTER + letters, sizes.letters, NO_LETTER)
        self.spelling = nn.LSTM(sizes.letters, sizes.letter_state, batch_first=True)
        self.reading = nn.LSTM(
            width + sizes.letter_state, sizes.state, batch_first=True, bidirectional=True
        )
        self.classes = nn.Parameter(nn.init.xavier_uniform_(torch.empty(CLASSES, both)))
        self.hidden = nn.Linear(3 * both, sizes.hidden)
        self.score = nn.Linear(sizes.hidden, 1)
        self.drop_tokens = nn.Dropout(sizes.drop_tokens)
        self.drop_states = nn.Dropout(sizes.drop_states)
        self.drop_hidden = nn.Dropout(sizes.drop_hidden)
        self.drop_scores = nn.Dropout(sizes.drop_scores)

    def forward(self, batch: BilstmBatch) -> Tensor:
        """Scores (B, 6 + W); MASKED where there is no candidate."""
        states = self.drop_states(self._states(self.drop_tokens(self._words(batch)), batch))
        anchor = (states * batch.anchors.unsqueeze(-1)).sum(1)
        classes = self.classes.expand(len(states), *self.classes.shape)
        scores = self._scores(torch.cat([classes, states], 1), anchor)
        return scores.masked_fill(~batch.candidates, MASKED)

    def _words(self, batch: BilstmBatch) -> Tensor:
        """(B, W, width + letter state)."""
        known = self.table[batch.vectors.clamp(min=0)]
        vectors = torch.where((batch.vectors < 0).unsqueeze(-1), self.unknown, known)
        spelled = pack_padded_sequence(
            self.letters(batch.letters), batch.letter_counts, True, enforce_sorted=False
        )
        _, (last, _) = self.spelling(spelled)
        return torch.cat([vectors, last[0]], -1)[batch.words]

    def _states(self, words: Tensor, batch: BilstmBatch) -> Tensor:
        """(B, W, 2 * state)."""
        packed = pack_padded_sequence(words, batch.counts, True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.reading(packed)[0], True, total_length=words.shape[1]
        )
        return states

    def _scores(self, candidates: Tensor, anchor: Tensor) -> Tensor:
        """(B, C). [c; a; c*a] W = c W1 + a W2 + (c*a) W3; the second term is computed once a
        row.
        """
        first, second, third = self.hidden.weight.chunk(3, 1)
        product = candidates * anchor.unsqueeze(1)
        own = nn.functional.linear(anchor, second, self.hidden.bias)
        hidden = (
            nn.functional.linear(candidates, first)
            + nn.functional.linear(product, third)
            + own.unsqueeze(1)
        )
        scores: Tensor = self.score(self.drop_hidden(torch.tanh(hidden))).squeeze(-1)
        dropped: Tensor = self.drop_scores(scores)
        return dropped


VERSION = "bilstm/1"
"""Changes when the same weights would choose otherwise."""

MOST_ROWS = 64
MOST_WORDS = 8_192
"""Of a batch, padding included, so that memory is bounded."""


class BiLstmResolver:
    """A trained network with its words and alphabet; it needs no parser.

    Words farther from the anchor than REACH are no candidates.
    """

    recipe = BILSTM
    needs: frozenset[ParseLayer] = frozenset()
    probabilities = True

    def __init__(
        self, settings: BilstmSettings, featuriser: BilstmFeaturiser, network: BiLstm
    ) -> None:
        self.settings = settings
        self.featuriser = featuriser
        self.network = network.eval()

    @cached_property
    def version(self) -> str:
        """Computed once: valid for a network that is not trained any more."""
        return f"{VERSION} {self._fingerprint()}"

    def _fingerprint(self) -> str:
        """Twelve hexadecimal digits of everything that choices depend on."""
        vectors = self.featuriser.vectors
        spelled = [msgspec.to_builtins(self.settings), vectors.words, self.featuriser.alphabet]
        hashed = hashlib.sha256(msgspec.json.encode(spelled))
        hashed.update(vectors.table.tobytes())
        for name, tensor in self.network.state_dict().items():
            hashed.update(name.encode())
            hashed.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return hashed.hexdigest()[:12]

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice for each item. Raises PassageError for an anchor outside its passage."""
        rows = [row_of(item) for item in items]
        choices: list[Choice | None] = [None] * len(items)
        for places in batches_by_size([len(row.words) for row in rows]):
            found = self.probabilities_of([rows[place] for place in places])
            for place, own in zip(places, found, strict=True):
                choices[place] = decide(own, rows[place], len(items[place].passage.tokens))
        return choices

    @torch.no_grad()
    def probabilities_of(self, rows: Sequence[BilstmRow]) -> list[list[float]]:
        """For each row, those of the six classes and its words; they sum to 1."""
        on = self.network.unknown.device
        scores = self.network(self.featuriser.batch(rows).to(on)).double()
        shares = torch.softmax(scores, -1).tolist()
        return [own[: CLASSES + len(row.words)] for own, row in zip(shares, rows, strict=True)]


def batches_by_size(sizes: Sequence[int]) -> list[list[int]]:
    """Indices in groups of similar size, so that there is little padding."""
    order = sorted(range(len(sizes)), key=lambda place: sizes[place])
    groups: list[list[int]] = []
    for place in order:
        full = not groups or len(groups[-1]) >= MOST_ROWS
        if full or (len(groups[-1]) + 1) * sizes[place] > MOST_WORDS:
            groups.append([])
        groups[-1].append(place)
    return groups


def decide(shares: Sequence[float], row: BilstmRow, tokens: int) -> Choice:
    """The most probable candidate, the second, and the probabilities of all.

    shares: of the classes and the row's words. tokens: of the passage. Of equals the first
    wins.
    """
    scores = {
        place if place < CLASSES else place + row.offset: share
        for place, share in enumerate(shares)
        if not row.start <= place - CLASSES < row.end
    }
    return choice_of(scores, tokens)


# --- files
# -------------------------------------------------------------------------------------
#
# The word vectors are stored with the weights, so that loading needs no file of vectors; in 16
# bits, with which the network was trained.

TABLE = "vectors"
"""The array of word vectors, one row for each word of the vocabulary."""

WIDEST = 4_096


class StoredBilstmSettings(
    BilstmSettings, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """The settings as config.json holds them."""

    width: Annotated[int, msgspec.Meta(ge=1, le=WIDEST)]
    """Of a word vector."""
    alphabet: Annotated[str, msgspec.Meta(max_length=100_000)]
    """The characters that have a vector."""

    def __post_init__(self) -> None:
        if len(set(self.alphabet)) < len(self.alphabet):
            raise ValueError("a character occurs twice in the alphabet")


def save_bilstm(
    model: BiLstmResolver, folder: Path, **about: Unpack[model_files.ModelNotes]
) -> str:
    """Write a model directory; returns its digest. See `save_model`."""
    vectors = model.featuriser.vectors
    arrays: dict[str, NDArray[np.generic]] = {
        f"network.{key}": np.ascontiguousarray(tensor.detach().cpu().numpy())
        for key, tensor in model.network.state_dict().items()
    }
    arrays[TABLE] = vectors.table.astype(np.float16)
    settings = {
        **msgspec.to_builtins(model.settings),
        "width": vectors.width,
        "alphabet": model.featuriser.alphabet,
    }
    return model_files.save_model(
        folder, TASK, BILSTM, model.version, settings, arrays, vectors.words, **about
    )


def load_bilstm(folder: Path) -> BiLstmResolver:
    """A network from its model directory. Raises ModelFileError."""
    config = model_files.read_config(folder, BILSTM)
    stored = model_files.settings_of(folder, config, StoredBilstmSettings)
    words = model_files.read_vocabulary(folder)
    with loop.without_weights():
        network = BiLstm(stored, torch.empty(len(words), stored.width), len(stored.alphabet))
    shapes = {f"network.{name}": one.shape for name, one in network.state_dict().items()}
    arrays = model_files.read_arrays(
        folder, {**dict.fromkeys(shapes, "float32"), TABLE: "float16"}
    )
    shapes[TABLE] = torch.Size([len(words), stored.width])
    for name, shape in shapes.items():
        if arrays[name].shape != tuple(shape):
            raise model_files.damaged(
                folder / model_files.WEIGHTS,
                f"{name} has the shape {arrays[name].shape}, wanted {tuple(shape)} after "
                f"{model_files.CONFIG} and {model_files.VOCABULARY}",
            )
    vectors = Vectors(tuple(words), arrays.pop(TABLE).astype(np.float32), stored.vectors)
    network.load_state_dict(
        {name.removeprefix("network."): torch.from_numpy(one) for name, one in arrays.items()},
        assign=True,
    )
    network.table = torch.from_numpy(vectors.table)
    own = {name: getattr(stored, name) for name in BilstmSettings.__struct_fields__}
    return BiLstmResolver(
        BilstmSettings(**own), BilstmFeaturiser(vectors, stored.alphabet), network
    )


JUDGED = (
    "accuracy", "accuracy_inclusive", "accuracy_nearest", "reference", "implicit", "binary",
    "class_accuracy",
)  # fmt: skip
"""The figures of an evaluation on the dev examples."""

NEIGHBOURS = 20
"""Batches whose rows are sorted by length together: similar lengths in a batch, in an order
that is still random (the release sorts all rows of an epoch in buckets).
"""


class NoExamplesError(ModelsError):
    """Nothing to learn from, or nothing to evaluate on."""


class BiLstmLearner:
    """The network with its examples.

    notes: sentences about the examples, for people. fingerprint: differs where settings,
    vectors or examples do.
    """

    def __init__(
        self,
        settings: BilstmSettings,
        featuriser: BilstmFeaturiser,
        train: Sequence[TrainingRow],
        dev: Sequence[ResolutionExample],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.settings, self.featuriser, self.notes = settings, featuriser, notes
        self._train, self._dev = train, dev
        table = torch.from_numpy(featuriser.vectors.table)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self._network = BiLstm(settings, table, len(featuriser.alphabet))
        self.fingerprint = self._fingerprint()

    def _fingerprint(self) -> str:
        told = [msgspec.to_builtins(self.settings), self.featuriser.vectors.words]
        hashed = hashlib.sha256(msgspec.json.encode(told))
        hashed.update(self.featuriser.vectors.table.tobytes())
        for one in self._train:
            hashed.update(repr((one.row, one.right)).encode("utf-8", "surrogatepass"))
        for example in self._dev:
            item = example.item
            told = [item.passage.digest, item.anchor.start, item.anchor.end]
            hashed.update(repr((told, example.gold)).encode("utf-8", "surrogatepass"))
        return hashed.hexdigest()

    @property
    def network(self) -> nn.Module:
        return self._network

    def groups(self) -> Sequence[loop.ParameterGroup]:
        """All parameters in one group: Adam has no weight decay."""
        return [loop.ParameterGroup(list(self._network.parameters()), self.settings.rate, 0.0)]

    def batches(self, epoch: int) -> Sequence[list[TrainingRow]]:
        """The examples in a new order, those of similar length together."""
        order = list(range(len(self._train)))
        chance = random.Random(f"{self.settings.seed} {epoch}")  # noqa: S311 - no secret
        chance.shuffle(order)
        size = self.settings.batch
        together = size * NEIGHBOURS
        found: list[list[TrainingRow]] = []
        for start in range(0, len(order), together):
            some = [self._train[place] for place in order[start : start + together]]
            some.sort(key=lambda one: len(one.row.words))
            found += [some[place : place + size] for place in range(0, len(some), size)]
        chance.shuffle(found)
        return found

    def loss(self, batch: Sequence[TrainingRow], on: torch.device) -> Tensor:
        """-log of the summed probability of the correct candidates.

        It is the mean over the heads of a row, then over the rows.
        """
        scores = self._network(self.featuriser.batch([one.row for one in batch]).to(on))
        shares = torch.log_softmax(scores.float(), -1)
        masks, owners, weights = (one.to(on) for one in right_of(batch, scores.shape[1]))
        right = shares[owners].masked_fill(~masks, -torch.inf)
        return -(torch.logsumexp(right, -1) * weights).sum() / len(batch)

    def judge(self, on: torch.device) -> Mapping[str, float]:  # noqa: ARG002 - the network is there
        """The figures on dev; those without examples are left out."""
        choices = self.resolver().resolve([one.item for one in self._dev])
        found = figures(judge(self._dev, choices))
        named = {loop.SCORE: found.accuracy} | {name: getattr(found, name) for name in JUDGED}
        return {name: figure for name, figure in named.items() if figure is not None}

    def resolver(self) -> BiLstmResolver:
        """The network in its current state."""
        return BiLstmResolver(self.settings, self.featuriser, self._network)


def learner_of(
    train_examples: Sequence[ResolutionExample],
    dev_examples: Sequence[ResolutionExample],
    settings: BilstmSettings,
    vectors: Vectors,
) -> BiLstmLearner:
    """A network with its initial weights, which depend only on the seed, ready for training.

    Examples whose gold names no class (NOT_NFH, BROKEN, NFH) are left out, and those whose
    heads are all out of reach; the notes give their numbers, and say where all examples are of
    one class. Raises NoExamplesError.
    """
    said = [one for one in train_examples if loop.learnable(one)]
    made = [answered(one, settings.target) for one in said]
    train = [one for one in made if one is not None]
    dev = [one for one in dev_examples if loop.learnable(one)]
    if not train:
        raise NoExamplesError(
            "There is nothing to train on: no example names its number's head"
        )
    if not dev:
        raise NoExamplesError(
            "There is nothing to judge the training on: no example kept out of it names its "
            "number's head"
        )
    letters = sorted({one for row in train for word in row.row.words for one in word})
    alphabet = "".join(one for one in letters if not "\ud800" <= one <= "\udfff")
    settings = msgspec.structs.replace(settings, vectors=vectors.source)
    notes = _notes(train_examples, said, made)
    return BiLstmLearner(settings, BilstmFeaturiser(vectors, alphabet), train, dev, notes)


def _notes(
    given: Sequence[ResolutionExample],
    said: Sequence[ResolutionExample],
    made: Sequence[TrainingRow | None],
) -> tuple[str, ...]:
    found = []
    if len(said) < len(given):
        found.append(
            f"{len(given) - len(said):,} examples name no head and no class; left out."
        )
    if None in made:
        found.append(f"{made.count(None):,} examples have no head in reach; left out.")
    kinds = Counter(paper_class(one.gold.kind) for one in said)
    if len(kinds) == 1:
        (kind,) = kinds
        found.append(
            f"All {len(said):,} examples are {kind}: the model cannot answer anything else."
        )
    return tuple(found)


def make_model(learner: BiLstmLearner) -> BiLstmResolver:
    """The trained network, in main memory, as a resolver."""
    learner.network.to("cpu")
    return learner.resolver()
