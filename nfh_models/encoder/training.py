"""Training of the encoder's network: training examples, losses, number augmentation,
distillation of states, evaluation on dev, and the generator that runs it.
"""

import hashlib
import json
import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import cast

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from nfh_models import ModelsError
from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, Relation, anchor_id, paper_class
from nfh_models.encoder.backbone import Backbone, pretrained
from nfh_models.encoder.features import (
    CLASSES,
    EncoderFeaturiser,
    EncoderRow,
    TokenWindow,
    pad,
    window_of,
    window_of_case,
)
from nfh_models.encoder.model import (
    SHUT,
    EncoderNetwork,
    ModelBundle,
    Scored,
    States,
    TeacherStates,
    Tensors,
    network_of,
    read,
    restrict,
    shift_to_paper,
)
from nfh_models.encoder.settings import Candidates, EncoderSettings, Priors, Task, Weights
from nfh_models.identification.base import Example, SentenceNumber
from nfh_models.identification.scores import count
from nfh_models.resolution.base import Choice, Item, ResolutionExample
from nfh_models.resolution.scoring import figures as scored
from nfh_models.resolution.scoring import judge_one
from nfh_models.statistics import share
from nfh_models.training.loop import (
    SCORE,
    ParameterGroup,
    StepReport,
    TrainingOutcome,
    mentions_of,
    train,
)
from nfh_models.training.plan import FLOOR

Soft = NDArray[np.float32]

NO_CLASS = "gold names no head"
OUTSIDE = "head outside the window"
NOBODY = "neither a pattern nor a teacher names its head"
"""Neither a pattern nor a teacher gives its head."""
OTHER_KIND = "of the kind that is left out"


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One anchor to learn from."""

    row: EncoderRow
    window: TokenWindow
    heads: tuple[tuple[int, ...], ...] = ()
    """For each distinct head the correct candidates, as candidate indices of the row; empty if
    unknown.
    """
    nfh: bool | None = None
    """Whether it is a fused head; None if unknown."""
    several: int | None = None
    """0 for one head, 1 for AND, 2 for OR."""
    several_weight: float = 0.0
    """The weight of `several` in the loss."""
    soft: Soft | None = None
    """A teacher's probabilities over the candidates of the row."""
    weight: float = 1.0
    """Of the choice of heads in the loss."""
    states: States | None = None
    """A teacher's states of the row's words, W x D."""

    @property
    def reference(self) -> bool | None:
        """Whether its heads are in the passage; None without heads."""
        return self.heads[0][0] >= CLASSES if self.heads else None


@dataclass(slots=True)
class TrainingExamples:
    """All training examples."""

    taught: list[TrainingExample] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    """Examples without any information, by reason."""
    heads: int = 0
    lost: int = 0
    """Of `heads`, those outside the window."""

    def leave_out(self, reason: str) -> None:
        """Count an example that is left out."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def key_of_item(item: Item) -> str:
    """The public id of the anchor, which identifies the passage, too."""
    return anchor_id(item.passage.digest, item.anchor)


def key_of_case(case: SentenceNumber) -> str:
    """The same for a number in its sentence: 32 hex digits of the words and the span."""
    spelled = json.dumps([list(case.word_span.words), case.start, case.end])
    return hashlib.sha256(spelled.encode("ascii")).hexdigest()[:32]


# --- resolution -----------------------------------------------------------------------------


def add_resolution(
    training_examples: TrainingExamples,
    examples: Iterable[ResolutionExample],
    featuriser: EncoderFeaturiser,
    settings: EncoderSettings,
    soft: Mapping[str, Soft] | None = None,
    states: Mapping[str, TeacherStates] | None = None,
) -> None:
    """Add examples with known heads. soft, states: of a teacher, by `key_of_item`.

    Every token with the lemma of a gold head is correct, since files mark only one of them.
    Examples whose heads are all outside the window are left out.
    """
    for example in examples:
        item = example.item
        kind = paper_class(example.gold.kind)
        if kind is None:
            training_examples.leave_out(NO_CLASS)
            continue
        if not includes_kind(kind, settings.candidates):
            training_examples.leave_out(OTHER_KIND)
            continue
        window = window_of(item.passage, item.anchor, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        heads = right_candidates(item, example.gold, kind, row)
        training_examples.heads += len(heads)
        training_examples.lost += sum(not one for one in heads)
        kept = tuple(one for one in heads if one)
        if not kept:
            training_examples.leave_out(OUTSIDE)
            continue
        several, weight = _several(example.gold, len(kept), settings)
        training_examples.taught.append(
            TrainingExample(
                row,
                window,
                kept,
                True if settings.passages else None,
                several,
                weight,
                _fitting(soft, key_of_item(item), row),
                states=_states(states, key_of_item(item), row),
            )
        )


def includes_kind(kind: Kind, candidates: Candidates) -> bool:
    """Whether an oracle run with such candidates includes examples of that kind."""
    if candidates is Candidates.ALL:
        return True
    return (kind is Kind.REFERENCE) == (candidates is Candidates.REFERENCE)


def right_candidates(
    item: Item, gold: Answer, kind: Kind, row: EncoderRow
) -> list[tuple[int, ...]]:
    """For each gold head the correct candidates of the row, ascending; empty for a head outside
    the row.

    kind: one of the paper's seven.
    """
    if kind is not Kind.REFERENCE:
        return [(IMPLICIT_KINDS.index(kind),)]
    found = []
    for head in gold.heads:
        inside = (row.candidate(token) for token in mentions_of(head, item))
        found.append(tuple(sorted(one for one in inside if one is not None)))
    return found


def _several(gold: Answer, heads: int, settings: EncoderSettings) -> tuple[int | None, float]:
    """The target of `several`, and its weight.

    Most files mark one head where there are two, so that "one" has a low weight; UNSTATED has
    none.
    """
    if len(gold.heads) > 1:
        if heads < len(gold.heads) or gold.relation is Relation.UNSTATED:
            return None, 0.0
        return (1 if gold.relation is Relation.AND else 2), 1.0
    return 0, settings.single


def _fitting(soft: Mapping[str, Soft] | None, key: str, row: EncoderRow) -> Soft | None:
    """A teacher's probabilities cut to a row; None where it has none.

    The teacher's are over the six classes and all tokens of the passage; those outside the row
    are distributed among the rest.
    """
    found = soft.get(key) if soft else None
    if found is None:
        return None
    first = CLASSES + row.offset
    cut = np.concatenate([found[:CLASSES], found[first : first + row.words]])
    total = float(cut.sum())
    return (cut / total).astype(np.float32) if total > 0 else None


def _states(
    states: Mapping[str, TeacherStates] | None, key: str, row: EncoderRow
) -> States | None:
    """A teacher's states of the words of a row; None unless its window was the same."""
    found = states.get(key) if states else None
    if found is None or (found.offset, len(found.states)) != (row.offset, row.words):
        return None
    return found.states


# --- silver ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Silver:
    """An unlabelled anchor."""

    item: Item
    gold: Answer | None = None
    """Where a pattern gives the head; else a teacher does."""
    nfh: bool | None = None
    """The target of identification; None to follow the setting `passages`."""


def add_silver(
    training_examples: TrainingExamples,
    silver: Iterable[Silver],
    featuriser: EncoderFeaturiser,
    settings: EncoderSettings,
    soft: Mapping[str, Soft],
    states: Mapping[str, TeacherStates] | None = None,
) -> None:
    """Add unlabelled anchors; left out are those for which neither pattern nor teacher gives
    anything in the window.
    """
    for one in silver:
        item, gold = one.item, one.gold
        window = window_of(item.passage, item.anchor, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        kind = None if gold is None else paper_class(gold.kind)
        heads: tuple[tuple[int, ...], ...] = ()
        if gold is not None and kind is not None and includes_kind(kind, settings.candidates):
            heads = tuple(right for right in right_candidates(item, gold, kind, row) if right)
        taught = _fitting(soft, key_of_item(item), row)
        own = _states(states, key_of_item(item), row)
        nfh = True if one.nfh is None and settings.passages else one.nfh
        if not heads and taught is None and nfh is None:
            training_examples.leave_out(NOBODY)
            continue
        training_examples.taught.append(
            TrainingExample(row, window, heads, nfh, soft=taught, states=own)
        )


# --- identification -------------------------------------------------------------------------


def add_identification(
    training_examples: TrainingExamples,
    examples: Iterable[Example],
    featuriser: EncoderFeaturiser,
    soft: Mapping[str, Soft] | None = None,
) -> None:
    """Add numbers that are known to be fused heads or not.

    soft: a teacher's probabilities of heads by `key_of_case`, as silver labels of resolution.
    """
    for example in examples:
        case = example.case
        window = window_of_case(case, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        silver = _fitting(soft, key_of_case(case), row) if example.nfh else None
        training_examples.taught.append(
            TrainingExample(row, window, nfh=example.nfh, soft=silver)
        )


# --- weights --------------------------------------------------------------------------------


def balanced(
    training_examples: Sequence[TrainingExample], share: float
) -> list[TrainingExample]:
    """The examples weighted so that References have the share `share` of those with heads; 0
    changes nothing.

    The mean weight stays 1.
    """
    references = sum(one.reference is True for one in training_examples)
    others = sum(one.reference is False for one in training_examples)
    if not share or not references or not others:
        return list(training_examples)
    total = references + others
    weights = {True: share * total / references, False: (1 - share) * total / others}
    return [
        one if one.reference is None else replace(one, weight=weights[one.reference])
        for one in training_examples
    ]


def uses_task(task: Task, of: Task) -> bool:
    """Whether a training for `task` uses examples of the task `of`."""
    return task in (Task.BOTH, of)


# --- distillation of states
# ---------------------------------------------------------------------

SAMPLE = 2_000
"""Examples from which mean and standard deviation of the teacher's dimensions are computed."""

LEAST = 1e-6
"""The least standard deviation of a dimension, so that nothing is divided by 0."""


class Student(nn.Module):
    """A network with a projection to its teacher's states.

    As in Jiao et al. (2020), "TinyBERT: Distilling BERT for Natural Language Understanding"
    (section 3), for the last layer alone: the projection of the student's state of each word is
    trained to be near the teacher's. The teacher's dimensions are standardised, since a few of
    them are much larger than the others. The projection is used only in training. mean, spread:
    of the teacher's dimensions, D each.
    """

    mean: Tensor
    spread: Tensor

    def __init__(
        self, network: EncoderNetwork, width: int, mean: Tensor, spread: Tensor
    ) -> None:
        super().__init__()
        self.network = network
        self.projection = nn.Linear(width, len(mean))
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    def distance(self, words: Tensor, wanted: "StateTargets") -> Tensor:
        """The mean squared difference to a teacher's states, in standard deviations of its
        dimensions; 1 is chance. words: B x W x D of the network's own width.
        """
        own = self.projection(words[wanted.known]).float()
        theirs = (wanted.states.float() - self.mean) / self.spread
        return cast("Tensor", (own - theirs).square().mean())


@dataclass(frozen=True, slots=True)
class StateTargets:
    """A teacher's states for B examples of W words.

    known: B x W, where there is a state. states: N x D, of those words in their order.
    """

    known: Tensor
    states: Tensor

    @classmethod
    def of(
        cls, training_examples: Sequence[TrainingExample], on: torch.device
    ) -> "StateTargets | None":
        """None where no example has any."""
        found = [one.states for one in training_examples if one.states is not None]
        if not found:
            return None
        known = np.zeros(
            (len(training_examples), max(one.row.words for one in training_examples)), np.bool_
        )
        for place, one in enumerate(training_examples):
            if one.states is not None:
                known[place, : one.row.words] = True
        states = torch.from_numpy(np.concatenate(found))
        return cls(torch.from_numpy(known).to(on), states.to(on))


def student_of(
    network: EncoderNetwork, training_examples: Sequence[TrainingExample]
) -> Student | None:
    """The network with a projection to the states of its examples; None where none has any."""
    found = [one.states for one in training_examples if one.states is not None]
    if not found:
        return None
    step = max(1, len(found) // SAMPLE)
    some = np.concatenate(found[::step]).astype(np.float32)
    mean = torch.from_numpy(some.mean(0))
    spread = torch.from_numpy(some.std(0)).clamp(min=LEAST)
    return Student(network, network.up.in_features // 3, mean, spread)


Scores = NDArray[np.float32]

COUNTED = ("accuracy", "accuracy_inclusive", "binary", "reference", "implicit")
"""The figures of resolution that a training reports."""


@dataclass(frozen=True, slots=True)
class Question:
    """A dev example of resolution. lost: gold heads outside the row."""

    row: EncoderRow
    example: ResolutionExample
    lost: int = 0


@dataclass(frozen=True, slots=True)
class DevExamples:
    """Dev examples. nfh: the labels of the numbers in `rows`."""

    questions: Sequence[Question] = ()
    rows: Sequence[EncoderRow] = ()
    nfh: Sequence[bool] = ()


def dev_examples_of(
    featuriser: EncoderFeaturiser,
    resolution: Iterable[ResolutionExample] = (),
    identification: Iterable[Example] = (),
    candidates: Candidates = Candidates.ALL,
) -> DevExamples:
    questions = [
        question(one, featuriser)
        for one in resolution
        if (kind := paper_class(one.gold.kind)) is not None and includes_kind(kind, candidates)
    ]
    labelled = list(identification)
    rows = [featuriser.case_row(one.case) for one in labelled]
    return DevExamples(questions, rows, [one.nfh for one in labelled])


def question(example: ResolutionExample, featuriser: EncoderFeaturiser) -> Question:
    row = featuriser.row(example.item.passage, example.item.anchor)
    lost = sum(
        all(row.candidate(mention.head) is None for mention in head.live)
        for head in example.gold.heads
    )
    return Question(row, example, lost)


def figures(
    dev: DevExamples, scores: Sequence[Scores], nfh: Sequence[float], threshold: float = 0.0
) -> dict[str, float]:
    """The figures on dev, fractions, SCORE among them.

    scores: of the candidates of each question. nfh: a logit for each row. SCORE:
    accuracy_inclusive, or identification's F1, or the mean of both. lost: the share of gold
    heads outside windows.
    """
    found = choices(dev.questions, scores) if dev.questions else {}
    main = [found["accuracy_inclusive"]] if found else []
    if dev.rows:
        counts = count(zip(dev.nfh, (logit > threshold for logit in nfh), strict=True))
        found |= {
            "identification_precision": counts.precision or 0.0,
            "identification_recall": counts.recall or 0.0,
            "identification_f1": counts.f1 or 0.0,
        }
        main.append(found["identification_f1"])
    return found | {SCORE: sum(main) / len(main) if main else 0.0}


def choices(questions: Sequence[Question], scores: Sequence[Scores]) -> dict[str, float]:
    """The figures of resolution (paper section 6.3)."""
    judged = [
        judge_one(one.example, Choice(one.row.name(int(own.argmax())), None, None, ()))
        for one, own in zip(questions, scores, strict=True)
    ]
    found = scored(judged)
    heads = sum(len(one.example.gold.heads) for one in questions)
    lost = share(sum(one.lost for one in questions), heads)
    return {name: getattr(found, name) or 0.0 for name in COUNTED} | {"lost": lost or 0.0}


# --- losses
# -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of B examples; H: the largest number of heads, C: of candidates."""

    heads: Tensor
    """B x H x C, True at correct candidates."""
    headed: Tensor
    """B x H, 1 for each head."""
    weight: Tensor
    """B."""
    soft: Tensor
    """B x C."""
    taught: Tensor
    """B, 1 where there is a teacher."""
    nfh: Tensor
    nfh_known: Tensor
    """`nfh` and `nfh_known`: B."""
    several: Tensor
    several_weight: Tensor
    """`several` and `several_weight`: B."""

    @classmethod
    def of(cls, training_examples: Sequence[TrainingExample], on: torch.device) -> "Targets":
        count = len(training_examples)
        wide = CLASSES + max(one.row.words for one in training_examples)
        most = max(1, *(len(one.heads) for one in training_examples))
        heads = np.zeros((count, most, wide), np.bool_)
        soft = np.zeros((count, wide), np.float32)
        for place, one in enumerate(training_examples):
            for number, right in enumerate(one.heads):
                heads[place, number, list(right)] = True
            if one.soft is not None:
                soft[place, : len(one.soft)] = one.soft
        marks = torch.from_numpy(heads).to(on)

        def of(values: Iterable[float]) -> Tensor:
            return torch.tensor([float(value) for value in values], device=on)

        return cls(
            heads=marks,
            headed=marks.any(-1).float(),
            weight=of(one.weight for one in training_examples),
            soft=torch.from_numpy(soft).to(on),
            taught=of(one.soft is not None for one in training_examples),
            nfh=of(one.nfh is True for one in training_examples),
            nfh_known=of(one.nfh is not None for one in training_examples),
            several=torch.tensor([one.several or 0 for one in training_examples], device=on),
            several_weight=of(one.several_weight for one in training_examples),
        )


def loss_of(scored: Scored, targets: Targets, settings: EncoderSettings) -> Tensor:
    """The mean loss of a batch. Unknown targets have no loss.

    For the choice of a head: -log of the summed probability of the correct candidates (marginal
    over mentions), the mean over distinct heads; for a teacher's probabilities their divergence
    (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", at temperature 1).
    """
    logs = torch.log_softmax(scored.logits.float(), -1)
    count = len(logs)
    total = resolution(logs, targets, settings.soft).sum() / count
    if settings.identification:
        cost = functional.binary_cross_entropy_with_logits(
            scored.nfh.float(), targets.nfh, reduction="none"
        )
        total = total + settings.identification * (cost * targets.nfh_known).sum() / count
    if settings.several:
        cost = functional.cross_entropy(
            scored.several.float(), targets.several, reduction="none"
        )
        total = total + settings.several * (cost * targets.several_weight).sum() / count
    return total


def resolution(logs: Tensor, targets: Targets, share: float) -> Tensor:
    """The loss of each choice, B. share: the teacher's weight where there is gold, too."""
    hidden = logs.unsqueeze(1).masked_fill(~targets.heads, SHUT)
    each = -torch.logsumexp(hidden, -1) * targets.headed
    heads = targets.headed.sum(-1)
    hard = each.sum(-1) / heads.clamp(min=1)
    known = (heads > 0).float()
    apart = (targets.soft * ((targets.soft + 1e-9).log() - logs)).sum(-1)
    own = known * (1 - share * targets.taught)
    teacher = targets.taught * torch.where(known > 0, share, 1.0)
    return targets.weight * (own * hard + teacher * apart)


def difference(one: Scored, other: Scored) -> Tensor:
    """R-Drop: the mean of both divergences of two passes over a batch.

    Liang et al. (2021), "R-Drop: Regularized Dropout for Neural Networks".
    """
    first = torch.log_softmax(one.logits.float(), -1)
    second = torch.log_softmax(other.logits.float(), -1)
    forth = functional.kl_div(first, second, log_target=True, reduction="batchmean")
    back = functional.kl_div(second, first, log_target=True, reduction="batchmean")
    return (forth + back) / 2


WORDS = "two three four five six seven eight nine ten".split()
"""Interchangeable before a plural noun; "one" is not."""


def swap_number(
    example: TrainingExample, featuriser: EncoderFeaturiser, draw: int
) -> TrainingExample:
    """A Reference to a word in the passage with its number, one of WORDS, replaced by another;
    other examples unchanged. draw: selects the number, any integer from 0.
    """
    window = example.window
    word = window.words[window.start]
    alone = window.end - window.start == 1
    if not example.reference or not alone or word.lower() not in WORDS:
        return example
    others = [one for one in WORDS if one != word.lower()]
    other = others[draw % len(others)]
    if word[0].isupper():
        other = other.capitalize()
    words = [*window.words[: window.start], other, *window.words[window.start + 1 :]]
    changed = replace(window, words=words)
    row = featuriser.of_window(changed)
    if (row.offset, row.words) != (example.row.offset, example.row.words):
        return example  # more pieces than fit: the places of the heads would be others
    return replace(example, row=row, window=changed)


COLUMNS = "columns"
"""Before the number of a column in a parameter's name."""

POOL = 40
"""Batches whose examples are sorted by length together, so that there is little padding."""

Batch = tuple[int, ...]


class NoTrainingExamplesError(ModelsError):
    """Nothing to learn from."""


class EncoderLearner:
    """A network with its training and dev examples.

    The batches of an epoch depend on seed and epoch alone. Raises NoTrainingExamplesError
    without an example, or where all examples have one answer.
    """

    def __init__(
        self,
        network: EncoderNetwork,
        featuriser: EncoderFeaturiser,
        settings: EncoderSettings,
        training_examples: Sequence[TrainingExample],
        dev: DevExamples,
    ) -> None:
        _check(training_examples, settings.candidates)
        self._network = network
        self._featuriser = featuriser
        self._settings = settings
        self._examples = balanced(training_examples, settings.reference_share)
        self._student = student_of(network, training_examples) if settings.states else None
        self._dev = dev

    @property
    def network(self) -> EncoderNetwork | Student:
        """The network, with its projection if it learns states."""
        return self._student or self._network

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of settings and examples."""
        hashed = hashlib.sha256(msgspec.json.encode(self._settings))
        for one in self._examples:
            told = (one.row.ids, one.row.mark, one.heads, one.nfh, one.several, one.weight)
            hashed.update(repr(told).encode("ascii"))
            if one.soft is not None:
                hashed.update(one.soft.tobytes())
            if one.states is not None:
                hashed.update(np.ascontiguousarray(one.states[:1]).tobytes())
        return hashed.hexdigest()

    def groups(self) -> list[ParameterGroup]:
        """By layer and by weight decay.

        The encoder's lowest layer has the lowest rate (as in Howard and Ruder 2018, "Universal
        Language Model Fine-tuning"); the scorer has a rate of its own. Vectors, biases and
        norms do not decay.
        """
        layers = _layers(self._network.encoder)
        found: dict[tuple[float, float], list[nn.Parameter]] = {}
        for name, parameter in self.network.named_parameters():
            if not parameter.requires_grad:
                continue
            decay = 0.0 if parameter.dim() < 2 else self._settings.weight_decay
            found.setdefault((self._rate(name, layers), decay), []).append(parameter)
        return [ParameterGroup(those, rate, decay) for (rate, decay), those in found.items()]

    def _rate(self, name: str, layers: int) -> float:
        settings = self._settings
        name = name.removeprefix("network.")
        if not name.startswith("encoder."):
            return settings.head_rate
        return settings.rate * settings.layer_decay ** (layers - _layer(name, layers))

    def batches(self, epoch: int) -> list[Batch]:
        """Indices of examples; those of similar length are together."""
        rng = random.Random(f"{self._settings.seed} {epoch}")  # noqa: S311 - no secret
        places = list(range(len(self._examples)))
        rng.shuffle(places)
        size = self._settings.batch
        made: list[Batch] = []
        for start in range(0, len(places), size * POOL):
            pool = sorted(
                places[start : start + size * POOL],
                key=lambda place: len(self._examples[place].row.ids),
            )
            made += [tuple(pool[at : at + size]) for at in range(0, len(pool), size)]
        rng.shuffle(made)
        return made

    def loss(self, batch: Batch, on: torch.device) -> Tensor:
        training_examples = [self._drawn(self._examples[place]) for place in batch]
        inputs = Tensors.of(
            pad([one.row for one in training_examples], self._featuriser.pieces.pad), on
        )
        targets = Targets.of(training_examples, on)
        words = self._network.read(inputs)
        scored = self._scored(words, inputs)
        total = loss_of(scored, targets, self._settings)
        if self._settings.rdrop:
            again = self._scored(self._network.read(inputs), inputs)
            total = (total + loss_of(again, targets, self._settings)) / 2
            total = total + self._settings.rdrop * difference(scored, again)
        wanted = StateTargets.of(training_examples, on) if self._student is not None else None
        if self._student is not None and wanted is not None:
            total = total + self._settings.states * self._student.distance(words, wanted)
        return total

    def _scored(self, words: Tensor, inputs: Tensors) -> Scored:
        scored = self._network.score(words, inputs)
        return replace(scored, logits=restrict(scored.logits, self._settings.candidates))

    def _drawn(self, example: TrainingExample) -> TrainingExample:
        """The example, its number replaced at random with the probability `swap`."""
        # From torch's generator, which the loop saves and restores.
        share = self._settings.swap
        if not share or float(torch.rand(())) >= share:
            return example
        return swap_number(example, self._featuriser, int(torch.randint(1 << 30, ())))

    def judge(self, on: torch.device) -> Mapping[str, float]:
        return judge(self._network, self._featuriser, self._dev, self._settings, on=on)


def judge(
    network: EncoderNetwork,
    featuriser: EncoderFeaturiser,
    dev: DevExamples,
    settings: EncoderSettings,
    *,
    on: torch.device | None = None,
) -> dict[str, float]:
    """The figures of a network on dev examples."""
    empty = featuriser.pieces.pad
    precision = settings.precision
    rows = [one.row for one in dev.questions]
    candidates = settings.candidates
    read_rows = read(network, rows, empty, on=on, precision=precision, candidates=candidates)
    logits = read_rows.logits
    nfh = read(network, dev.rows, empty, on=on, precision=precision).nfh
    return figures(dev, logits, nfh.tolist())


def _layers(encoder: nn.Module) -> int:
    """The number of layers of an encoder, at least 1."""
    numbers = [_number(name) for name, _ in encoder.named_parameters()]
    return max((number + 1 for number in numbers if number is not None), default=1)


def _layer(name: str, layers: int) -> int:
    """0 for the embeddings, then from 1; parameters of no layer have the rate of the
    last one.
    """
    number = _number(name)
    if number is not None:
        return number + 1
    return 0 if ".embeddings." in name else layers


def _number(name: str) -> int | None:
    """The layer in a parameter's name: "encoder.layer.3.output.dense.weight" has 3, in any
    column.
    """
    parts = name.split(".")
    found = [
        part
        for before, part in pairwise(["", *parts])
        if part.isascii() and part.isdigit() and before != COLUMNS
    ]
    return int(found[0]) if found else None


def _check(training_examples: Sequence[TrainingExample], candidates: Candidates) -> None:
    if not training_examples:
        raise NoTrainingExamplesError(
            "there is nothing to learn from: no example has an answer to learn from"
        )
    headed = [one for one in training_examples if one.heads]
    labels = {one.nfh for one in training_examples if one.nfh is not None}
    classes = {_answer(one) for one in headed}
    # Among words alone there is a choice to learn, although all words are one class.
    alike = len(classes) < 2 and candidates is not Candidates.REFERENCE
    if headed and alike and len(labels) < 2:
        raise NoTrainingExamplesError(
            f"all {len(headed):,} examples have the same class; learning needs at least two "
            "classes"
        )
    if (
        not headed
        and len(labels) < 2
        and not any(one.soft is not None for one in training_examples)
    ):
        raise NoTrainingExamplesError(
            f"all {len(training_examples):,} numbers have the same label; learning needs both "
            "fused heads and others"
        )


def _answer(example: TrainingExample) -> int:
    """The class of an answer; all words are one class."""
    return CLASSES if example.reference else example.heads[0][0]


class StartError(ModelsError):
    """A model that cannot be the start of a training."""


@dataclass(frozen=True, slots=True)
class Material:
    """The data of a training."""

    resolution: Sequence[ResolutionExample] = ()
    identification: Sequence[Example] = ()
    dev_resolution: Sequence[ResolutionExample] = ()
    dev_identification: Sequence[Example] = ()
    silver: Sequence[Silver] = ()
    """Unlabelled anchors."""
    soft: Mapping[str, Soft] = field(default_factory=dict)
    """A teacher's probabilities, over the six classes and all tokens, by `key_of_item` or
    `key_of_case`.
    """
    states: Mapping[str, TeacherStates] = field(default_factory=dict)
    """A teacher's states of words, by `key_of_item`."""


@dataclass(frozen=True, slots=True)
class PreparedTraining:
    """A network and its examples, ready for training."""

    learner: EncoderLearner
    training_examples: TrainingExamples
    dev: DevExamples
    bundle: ModelBundle


def prepare(
    material: Material,
    settings: EncoderSettings,
    backbone: Backbone | None = None,
    start: ModelBundle | None = None,
) -> PreparedTraining:
    """Load the encoder and make all rows.

    backbone: in place of the one in the settings. start: a model of the same encoder and sizes
    whose weights are the initial ones. Raises EncoderError, TokenizerError,
    NoTrainingExamplesError where nothing can be learnt, and StartError for a model of other
    sizes.
    """
    torch.manual_seed(settings.seed)
    own = backbone or pretrained(settings.encoder, download=settings.download)
    network = network_of(own.architecture, own.module, settings)
    if start is not None:
        begin_with(start.network, network)
    if settings.weights is Weights.MIXED:
        # A step of the training is smaller than one of 4 bits, and would be lost.
        table = cast("nn.Module", own.module.get_input_embeddings())  # type: ignore[operator]
        table.requires_grad_(requires_grad=False)
    featuriser = EncoderFeaturiser(own.pieces, settings.window, settings.before, own.limit)
    training_examples = training_examples_of(material, featuriser, settings)
    dev = dev_examples_of(
        featuriser,
        material.dev_resolution if uses_task(settings.task, Task.RESOLUTION) else (),
        material.dev_identification if uses_task(settings.task, Task.IDENTIFICATION) else (),
        settings.candidates,
    )
    learner = EncoderLearner(network, featuriser, settings, training_examples.taught, dev)
    bundle = ModelBundle(network, settings, own.architecture, own.pieces, Path(own.name).name)
    if settings.priors is Priors.PAPER:
        bundle = replace(bundle, shift=shift_to_paper(material.resolution))
    return PreparedTraining(learner, training_examples, dev, bundle)


def begin_with(trained: EncoderNetwork, network: EncoderNetwork) -> None:
    """Copy the weights of one network into another. Raises StartError if they do not fit."""
    try:
        network.load_state_dict(trained.state_dict())
    except RuntimeError as error:
        raise StartError(
            "the model to start from has another encoder or other sizes: "
            + str(error).splitlines()[-1].strip()
        ) from error


def training_examples_of(
    material: Material, featuriser: EncoderFeaturiser, settings: EncoderSettings
) -> TrainingExamples:
    """The training examples of the material, for the task of the settings."""
    training_examples = TrainingExamples()
    if uses_task(settings.task, Task.RESOLUTION):
        taught = material.soft, material.states
        add_resolution(training_examples, material.resolution, featuriser, settings, *taught)
        add_silver(training_examples, material.silver, featuriser, settings, *taught)
    if uses_task(settings.task, Task.IDENTIFICATION):
        silver = material.soft if settings.task is Task.BOTH else None
        add_identification(training_examples, material.identification, featuriser, silver)
    return training_examples


def training(
    prepared: PreparedTraining,
    folder: Path,
    *,
    on: torch.device | None = None,
    checkpoint_every: int | None = None,
    judge_first: bool = False,
    floor: float = FLOOR,
) -> Generator[StepReport, None, TrainingOutcome]:
    """Train, with a report after each step; resumes the same training in `folder`.

    At the end the bundle has the weights of the best evaluation. judge_first: the initial
    weights are those of a trained model, and are kept if no epoch is better. floor: the share
    of the rate that remains at the end. Raises as `nfh_models.training.loop.train`.
    """
    plan = prepared.bundle.settings.plan(checkpoint_every)
    plan = replace(plan, judge_first=judge_first, floor=floor)
    outcome = yield from train(prepared.learner, plan, folder, on)
    prepared.bundle.network.cpu()
    return outcome
