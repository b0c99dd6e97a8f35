"""`bilstm` as the training loop takes it: examples, loss, and figures on dev."""

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import torch
from torch import Tensor, nn

from nfh_models.bilstm.featurising import Answered, Featuriser, answered, right_of
from nfh_models.bilstm.model import BiLstmResolver
from nfh_models.bilstm.network import BiLstm
from nfh_models.bilstm.settings import Settings
from nfh_models.bilstm.words import Vectors
from nfh_models.domain import paper_class
from nfh_models.errors import ModelsError
from nfh_models.resolution.item import ResolutionExample
from nfh_models.resolution.scoring import figures, judge
from nfh_models.training.learner import SCORE, Group
from nfh_models.training.targets import learnable

NEIGHBOURS = 20
"""Batches whose rows are sorted by length together: batches of about one length, in an order
that is still by chance (the release sorts all rows of an epoch in buckets)."""


class NoExamplesError(ModelsError):
    """There is nothing to learn from, or nothing to be judged on."""


class BiLstmLearner:
    """The network with its examples. notes: sentences about the examples, for a person.

    fingerprint: differs where settings, vectors or examples do.
    """

    def __init__(
        self,
        settings: Settings,
        featuriser: Featuriser,
        train: Sequence[Answered],
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
    def train_count(self) -> int:
        """Examples that are learnt from."""
        return len(self._train)

    @property
    def network(self) -> nn.Module:
        """What is trained."""
        return self._network

    def groups(self) -> Sequence[Group]:
        """All parameters alike: Adam has no decay."""
        return [Group(list(self._network.parameters()), self.settings.rate, 0.0)]

    def batches(self, epoch: int) -> Sequence[list[Answered]]:
        """The examples in a new order, those of about one length together."""
        order = list(range(len(self._train)))
        chance = random.Random(f"{self.settings.seed} {epoch}")  # noqa: S311 - no secret
        chance.shuffle(order)
        size = self.settings.batch
        together = size * NEIGHBOURS
        found: list[list[Answered]] = []
        for start in range(0, len(order), together):
            some = [self._train[place] for place in order[start : start + together]]
            some.sort(key=lambda one: len(one.row.words))
            found += [some[place : place + size] for place in range(0, len(some), size)]
        chance.shuffle(found)
        return found

    def loss(self, batch: Sequence[Answered], on: torch.device) -> Tensor:
        """Minus the logarithm of what the right candidates have together.

        Of several heads, the mean over them; then the mean over the rows.
        """
        scores = self._network(self.featuriser.batch([one.row for one in batch]).to(on))
        shares = torch.log_softmax(scores.float(), -1)
        masks, owners, weights = (one.to(on) for one in right_of(batch, scores.shape[1]))
        right = shares[owners].masked_fill(~masks, -torch.inf)
        return -(torch.logsumexp(right, -1) * weights).sum() / len(batch)

    def judge(self, on: torch.device) -> Mapping[str, float]:  # noqa: ARG002 - the network is there
        """The figures on dev; those of which there is no example are left out."""
        choices = self.resolver().resolve([one.item for one in self._dev])
        found = figures(judge(self._dev, choices))
        named = {
            SCORE: found.accuracy,
            "accuracy": found.accuracy,
            "accuracy_inclusive": found.accuracy_inclusive,
            "accuracy_nearest": found.accuracy_nearest,
            "reference": found.reference,
            "implicit": found.implicit,
            "binary": found.binary,
            "class_accuracy": found.class_accuracy,
        }
        return {name: figure for name, figure in named.items() if figure is not None}

    def resolver(self) -> BiLstmResolver:
        """The network as it is now."""
        return BiLstmResolver(self.settings, self.featuriser, self._network)


def learner_of(
    train_examples: Sequence[ResolutionExample],
    dev_examples: Sequence[ResolutionExample],
    settings: Settings,
    vectors: Vectors,
) -> BiLstmLearner:
    """A network to be trained, with its first weights, which the seed alone decides.

    Examples whose gold names no class (NOT_NFH, BROKEN, NFH) are left out, and those whose
    heads are all out of reach; the notes say how many, and where all are of one class.
    Raises NoExamplesError.
    """
    said = [one for one in train_examples if learnable(one)]
    made = [answered(one, settings.target) for one in said]
    train = [one for one in made if one is not None]
    dev = [one for one in dev_examples if learnable(one)]
    if not train:
        raise NoExamplesError(
            "There is nothing to train on: no example says what its number's head is"
        )
    if not dev:
        raise NoExamplesError(
            "There is nothing to judge the training on: no example that is kept out of it says "
            "what its number's head is"
        )
    letters = sorted({one for row in train for word in row.row.words for one in word})
    alphabet = "".join(one for one in letters if not "\ud800" <= one <= "\udfff")
    settings = msgspec.structs.replace(settings, vectors=vectors.source)
    notes = _notes(train_examples, said, made)
    return BiLstmLearner(settings, Featuriser(vectors, alphabet), train, dev, notes)


def _notes(
    given: Sequence[ResolutionExample],
    said: Sequence[ResolutionExample],
    made: Sequence[Answered | None],
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
            f"All {len(said):,} examples are {kind}: the model will know nothing else."
        )
    return tuple(found)


def make_model(learner: BiLstmLearner) -> BiLstmResolver:
    """The trained network, in main memory, as a resolver."""
    learner.network.to("cpu")
    return learner.resolver()
