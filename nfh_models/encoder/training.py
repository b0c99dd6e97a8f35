"""Training of the network: labelled examples, losses, number augmentation, distillation of a
teacher's states, figures on what is kept out, and the generator that drives it.
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
    shift_to_paper,
    shut,
)
from nfh_models.encoder.settings import Candidates, EncoderSettings, Priors, Task, Weights
from nfh_models.errors import ModelsError
from nfh_models.identification.base import Example, SentenceNumber
from nfh_models.identification.scores import count
from nfh_models.resolution.base import Choice, Item, ResolutionExample
from nfh_models.resolution.scoring import figures as scored
from nfh_models.resolution.scoring import judge_one, share
from nfh_models.training.loop import (
    SCORE,
    ParameterGroup,
    StepReport,
    TrainingOutcome,
    mentions_of,
    train,
)

Soft = NDArray[np.float32]

NO_CLASS = "gold says nothing of a head"
OUTSIDE = "head outside the window"
NOBODY = "neither a pattern nor a teacher says its head"
OTHER_KIND = "of the kind that is left out"


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One anchor to learn from."""

    row: EncoderRow
    window: TokenWindow
    heads: tuple[tuple[int, ...], ...] = ()
    """Of each different head the candidates that are right, the places of a EncoderRow; empty
    where nobody says."""
    nfh: bool | None = None
    """Whether the noun is missing; None teaches nothing."""
    several: int | None = None
    """0 one head, 1 AND, 2 OR; `several_weight` says how much it counts."""
    several_weight: float = 0.0
    soft: Soft | None = None
    """A teacher's probabilities over the candidates of the row."""
    weight: float = 1.0
    """Of the choice of heads."""
    states: States | None = None
    """Its states of the row's words, W x D."""

    @property
    def reference(self) -> bool | None:
        """Whether its heads stand in the passage; None without heads."""
        return self.heads[0][0] >= CLASSES if self.heads else None


@dataclass(slots=True)
class TrainingExamples:
    """What is learnt from. left_out: examples that teach nothing, by reason. lost: heads
    outside the window, of `heads` in all."""

    taught: list[TrainingExample] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    heads: int = 0
    lost: int = 0

    def leave(self, reason: str) -> None:
        """Count an example that is left out."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def key_of_item(item: Item) -> str:
    """What tells an anchor in its passage from all others: the public id of both."""
    return anchor_id(item.passage.digest, item.anchor)


def key_of_case(case: SentenceNumber) -> str:
    """The same for a number in its sentence: 32 hex digits of the words and the span."""
    spelled = json.dumps([list(case.word_span.words), case.start, case.end])
    return hashlib.sha256(spelled.encode("ascii")).hexdigest()[:32]


# --- resolution -----------------------------------------------------------------------------


def add_resolution(
    lessons: TrainingExamples,
    examples: Iterable[ResolutionExample],
    featuriser: EncoderFeaturiser,
    settings: EncoderSettings,
    soft: Mapping[str, Soft] | None = None,
    shown: Mapping[str, TeacherStates] | None = None,
) -> None:
    """Add examples whose head is known. soft, shown: a teacher's, by `key_of_item`.

    Every token with the lemma of a gold head is right, for files mark only one of them. Left
    out are examples whose heads all stand outside the window.
    """
    for example in examples:
        item = example.item
        kind = paper_class(example.gold.kind)
        if kind is None:
            lessons.leave(NO_CLASS)
            continue
        if not allowed(kind, settings.candidates):
            lessons.leave(OTHER_KIND)
            continue
        window = window_of(item.passage, item.anchor, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        heads = right_candidates(item, example.gold, kind, row)
        lessons.heads += len(heads)
        lessons.lost += sum(not one for one in heads)
        kept = tuple(one for one in heads if one)
        if not kept:
            lessons.leave(OUTSIDE)
            continue
        several, weight = _several(example.gold, len(kept), settings)
        lessons.taught.append(
            TrainingExample(
                row,
                window,
                kept,
                True if settings.passages else None,
                several,
                weight,
                _fitting(soft, key_of_item(item), row),
                states=_states(shown, key_of_item(item), row),
            )
        )


def allowed(kind: Kind, candidates: Candidates) -> bool:
    """Whether an oracle run with such candidates holds examples of that kind."""
    if candidates is Candidates.ALL:
        return True
    return (kind is Kind.REFERENCE) == (candidates is Candidates.REFERENCE)


def right_candidates(
    item: Item, gold: Answer, kind: Kind, row: EncoderRow
) -> list[tuple[int, ...]]:
    """Of each gold head the candidates of the row that are right, ascending; empty for a head
    that stands nowhere in it. kind: of the paper's seven."""
    if kind is not Kind.REFERENCE:
        return [(IMPLICIT_KINDS.index(kind),)]
    found = []
    for head in gold.heads:
        inside = (row.candidate(token) for token in mentions_of(head, item))
        found.append(tuple(sorted(one for one in inside if one is not None)))
    return found


def _several(gold: Answer, heads: int, settings: EncoderSettings) -> tuple[int | None, float]:
    """The target of `several`, and what it counts. Most files mark one head where there are
    two, so that "one" is worth little; of UNSTATED nobody knows what it is."""
    if len(gold.heads) > 1:
        if heads < len(gold.heads) or gold.relation is Relation.UNSTATED:
            return None, 0.0
        return (1 if gold.relation is Relation.AND else 2), 1.0
    return 0, settings.single


def _fitting(soft: Mapping[str, Soft] | None, key: str, row: EncoderRow) -> Soft | None:
    """A teacher's probabilities cut to a row; None where it has none.

    The teacher's are over the six classes and all tokens of the passage; what of them lies
    outside the row is shared out among the rest.
    """
    whole = soft.get(key) if soft else None
    if whole is None:
        return None
    first = CLASSES + row.offset
    cut = np.concatenate([whole[:CLASSES], whole[first : first + row.words]])
    total = float(cut.sum())
    return (cut / total).astype(np.float32) if total > 0 else None


def _states(
    shown: Mapping[str, TeacherStates] | None, key: str, row: EncoderRow
) -> States | None:
    """A teacher's states of the words of a row; None unless its window was the same."""
    found = shown.get(key) if shown else None
    if found is None or (found.offset, len(found.states)) != (row.offset, row.words):
        return None
    return found.states


# --- silver ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Silver:
    """An anchor that nobody labelled by hand. gold: where a pattern says what its head is;
    else a teacher does. nfh: what it teaches of identification; None leaves it to the
    setting `passages`."""

    item: Item
    gold: Answer | None = None
    nfh: bool | None = None


def add_silver(
    lessons: TrainingExamples,
    silver: Iterable[Silver],
    featuriser: EncoderFeaturiser,
    settings: EncoderSettings,
    soft: Mapping[str, Soft],
    shown: Mapping[str, TeacherStates] | None = None,
) -> None:
    """Add such anchors; left out are those of which neither pattern nor teacher says a thing
    that stands in the window."""
    for one in silver:
        item, gold = one.item, one.gold
        window = window_of(item.passage, item.anchor, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        kind = None if gold is None else paper_class(gold.kind)
        heads: tuple[tuple[int, ...], ...] = ()
        if gold is not None and kind is not None and allowed(kind, settings.candidates):
            heads = tuple(right for right in right_candidates(item, gold, kind, row) if right)
        taught = _fitting(soft, key_of_item(item), row)
        states = _states(shown, key_of_item(item), row)
        nfh = True if one.nfh is None and settings.passages else one.nfh
        if not heads and taught is None and nfh is None:
            lessons.leave(NOBODY)
            continue
        lessons.taught.append(
            TrainingExample(row, window, heads, nfh, soft=taught, states=states)
        )


# --- identification -------------------------------------------------------------------------


def add_identification(
    lessons: TrainingExamples,
    examples: Iterable[Example],
    featuriser: EncoderFeaturiser,
    soft: Mapping[str, Soft] | None = None,
) -> None:
    """Add numbers of which it is known whether they are fused heads. soft: probabilities of
    heads by `key_of_case`, from a teacher: silver labels of resolution."""
    for example in examples:
        case = example.case
        window = window_of_case(case, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        silver = _fitting(soft, key_of_case(case), row) if example.nfh else None
        lessons.taught.append(TrainingExample(row, window, nfh=example.nfh, soft=silver))


# --- weights --------------------------------------------------------------------------------


def balanced(lessons: Sequence[TrainingExample], share: float) -> list[TrainingExample]:
    """The lessons weighted so that References count as `share` of those with heads; 0 leaves
    them as they are. The mean weight stays 1."""
    references = sum(one.reference is True for one in lessons)
    others = sum(one.reference is False for one in lessons)
    if not share or not references or not others:
        return list(lessons)
    total = references + others
    weights = {True: share * total / references, False: (1 - share) * total / others}
    return [
        one if one.reference is None else replace(one, weight=weights[one.reference])
        for one in lessons
    ]


def wanted(task: Task, of: Task) -> bool:
    """Whether a training for `task` has examples of resolution, or of identification."""
    return task in (Task.BOTH, of)


# Learning the states of a teacher's words, and not only what it chooses.
#
# As in Jiao et al. (2020), "TinyBERT: Distilling BERT for Natural Language Understanding"
# (section 3), of the last layer alone: a projection of the student's state of each word is to
# be near the teacher's. The teacher's dimensions are standardised first, since a few of them
# are many times as large as the others. The projection is of use in training alone.

SAMPLE = 2_000
"""Lessons from which the mean and the spread of the teacher's dimensions are taken."""

LEAST = 1e-6
"""The least spread of a dimension: one that never changes is not divided by 0."""


class Student(nn.Module):
    """A network with the projection to its teacher's states. mean, spread: of the teacher's
    dimensions, D each."""

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
        """The mean squared difference of words that a teacher knows, in standard deviations
        of its dimensions: 1 says nothing. words: B x W x D of the network's own width."""
        own = self.projection(words[wanted.known]).float()
        theirs = (wanted.states.float() - self.mean) / self.spread
        return cast("Tensor", (own - theirs).square().mean())


@dataclass(frozen=True, slots=True)
class StateTargets:
    """Of B lessons with W words: known, B x W, where a teacher's state is; states, N x D, of
    those words in their order."""

    known: Tensor
    states: Tensor

    @classmethod
    def of(cls, lessons: Sequence[TrainingExample], on: torch.device) -> "StateTargets | None":
        """Of some lessons, on a device; None where no teacher knows any."""
        found = [one.states for one in lessons if one.states is not None]
        if not found:
            return None
        known = np.zeros((len(lessons), max(one.row.words for one in lessons)), np.bool_)
        for place, one in enumerate(lessons):
            if one.states is not None:
                known[place, : one.row.words] = True
        states = torch.from_numpy(np.concatenate(found))
        return cls(torch.from_numpy(known).to(on), states.to(on))


def student_of(network: EncoderNetwork, lessons: Sequence[TrainingExample]) -> Student | None:
    """The network with a projection to the states that lessons have; None where none has."""
    found = [one.states for one in lessons if one.states is not None]
    if not found:
        return None
    step = max(1, len(found) // SAMPLE)
    some = np.concatenate(found[::step]).astype(np.float32)
    mean = torch.from_numpy(some.mean(0))
    spread = torch.from_numpy(some.std(0)).clamp(min=LEAST)
    return Student(network, network.up.in_features // 3, mean, spread)


Scores = NDArray[np.float32]

COUNTED = ("accuracy", "accuracy_inclusive", "binary", "reference", "implicit")
"""Those of the figures of resolution that a training tells."""


@dataclass(frozen=True, slots=True)
class Question:
    """An example to be judged on. lost: gold heads that stand outside the row."""

    row: EncoderRow
    example: ResolutionExample
    lost: int = 0


@dataclass(frozen=True, slots=True)
class DevExamples:
    """Dev examples. nfh: the labels of the numbers in `rows`."""

    questions: Sequence[Question] = ()
    rows: Sequence[EncoderRow] = ()
    nfh: Sequence[bool] = ()


def asked(
    featuriser: EncoderFeaturiser,
    resolution: Iterable[ResolutionExample] = (),
    identification: Iterable[Example] = (),
    candidates: Candidates = Candidates.ALL,
) -> DevExamples:
    """Dev examples made ready, once."""
    questions = [
        question(one, featuriser)
        for one in resolution
        if (kind := paper_class(one.gold.kind)) is not None and allowed(kind, candidates)
    ]
    labelled = list(identification)
    rows = [featuriser.case_row(one.case) for one in labelled]
    return DevExamples(questions, rows, [one.nfh for one in labelled])


def question(example: ResolutionExample, featuriser: EncoderFeaturiser) -> Question:
    """One example made ready."""
    row = featuriser.row(example.item.passage, example.item.anchor)
    lost = sum(
        all(row.candidate(mention.head) is None for mention in head.live)
        for head in example.gold.heads
    )
    return Question(row, example, lost)


def figures(
    asked: DevExamples, scores: Sequence[Scores], nfh: Sequence[float], threshold: float = 0.0
) -> dict[str, float]:
    """Fractions, SCORE among them: of all that there are examples for.

    scores: of the candidates of each question. nfh: a logit a row. SCORE: accuracy_inclusive,
    or identification's F1, or the mean of both. lost: the share of gold heads outside windows.
    """
    found = choices(asked.questions, scores) if asked.questions else {}
    main = [found["accuracy_inclusive"]] if found else []
    if asked.rows:
        counts = count(zip(asked.nfh, (logit > threshold for logit in nfh), strict=True))
        found |= {
            "identification_precision": counts.precision or 0.0,
            "identification_recall": counts.recall or 0.0,
            "identification_f1": counts.f1 or 0.0,
        }
        main.append(found["identification_f1"])
    return found | {SCORE: sum(main) / len(main) if main else 0.0}


def choices(questions: Sequence[Question], scores: Sequence[Scores]) -> dict[str, float]:
    """The figures of resolution (paper section 6.3), as they are counted of any recipe."""
    judged = [
        judge_one(one.example, Choice(one.row.name(int(own.argmax())), None, None, ()))
        for one, own in zip(questions, scores, strict=True)
    ]
    found = scored(judged)
    heads = sum(len(one.example.gold.heads) for one in questions)
    lost = share(sum(one.lost for one in questions), heads)
    return {name: getattr(found, name) or 0.0 for name in COUNTED} | {"lost": lost or 0.0}


# What a batch of lessons costs.
#
# Of the choice of a head: -log of the summed probability of the right candidates (marginal
# over mentions), the mean over different heads; a teacher's probabilities by their divergence
# (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", at temperature 1).
# R-Drop is of Liang et al. (2021), "R-Drop: Regularized Dropout for Neural Networks".


@dataclass(frozen=True, slots=True)
class Targets:
    """What B lessons want; H: the most heads of one."""

    heads: Tensor
    """B x H x C, True at what is right."""
    headed: Tensor
    """B x H, which heads there are."""
    weight: Tensor
    """B."""
    soft: Tensor
    """B x C."""
    taught: Tensor
    """B, 1 where there is a teacher."""
    nfh: Tensor
    nfh_known: Tensor
    """`nfh` and `nfh_known`: B. several, B, with several_weight."""
    several: Tensor
    several_weight: Tensor

    @classmethod
    def of(cls, lessons: Sequence[TrainingExample], on: torch.device) -> "Targets":
        """Of some lessons, in their order, on a device."""
        count = len(lessons)
        wide = CLASSES + max(one.row.words for one in lessons)
        most = max(1, *(len(one.heads) for one in lessons))
        heads = np.zeros((count, most, wide), np.bool_)
        soft = np.zeros((count, wide), np.float32)
        for place, one in enumerate(lessons):
            for number, right in enumerate(one.heads):
                heads[place, number, list(right)] = True
            if one.soft is not None:
                soft[place, : len(one.soft)] = one.soft
        floats = np.array(
            [
                [
                    one.weight,
                    one.soft is not None,
                    one.nfh is True,
                    one.nfh is not None,
                    one.several_weight,
                ]
                for one in lessons
            ],
            np.float32,
        ).T
        weight, taught, nfh, known, several_weight = (
            torch.from_numpy(part.copy()).to(on) for part in floats
        )
        several = torch.tensor([one.several or 0 for one in lessons], device=on)
        marks = torch.from_numpy(heads).to(on)
        return cls(
            marks,
            marks.any(-1).float(),
            weight,
            torch.from_numpy(soft).to(on),
            taught,
            nfh,
            known,
            several,
            several_weight,
        )


def loss_of(scored: Scored, targets: Targets, settings: EncoderSettings) -> Tensor:
    """The mean loss of a batch. What a lesson does not say costs nothing."""
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
    """The cost of each choice, B. share: the teacher's part where there is gold, too."""
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
    """How far two readings of a batch are apart: the mean divergence both ways, halved."""
    first = torch.log_softmax(one.logits.float(), -1)
    second = torch.log_softmax(other.logits.float(), -1)
    forth = functional.kl_div(first, second, log_target=True, reduction="batchmean")
    back = functional.kl_div(second, first, log_target=True, reduction="batchmean")
    return (forth + back) / 2


WORDS = "two three four five six seven eight nine ten".split()
"""Any of them may stand for another before a noun in the plural; "one" may not."""


def swapped(
    lesson: TrainingExample, featuriser: EncoderFeaturiser, draw: int
) -> TrainingExample:
    """A Reference to a word in the passage whose number is one of WORDS, with another of
    them; other lessons as they are. draw: which one, any whole number from 0 on."""
    window = lesson.window
    word = window.words[window.start]
    alone = window.end - window.start == 1
    if not lesson.reference or not alone or word.lower() not in WORDS:
        return lesson
    others = [one for one in WORDS if one != word.lower()]
    other = others[draw % len(others)]
    if word[0].isupper():
        other = other.capitalize()
    words = [*window.words[: window.start], other, *window.words[window.start + 1 :]]
    changed = replace(window, words=words)
    row = featuriser.of_window(changed)
    if (row.offset, row.words) != (lesson.row.offset, lesson.row.words):
        return lesson  # more pieces than fit: the places of the heads would be others
    return replace(lesson, row=row, window=changed)


COLUMNS = "columns"
"""Before the number of a column in a parameter's name."""

POOL = 40
"""Batches whose examples are sorted by length together, so that little is padding."""

Batch = tuple[int, ...]


class NoLessonsError(ModelsError):
    """Nothing to learn from."""


class EncoderLearner:
    """A network with its lessons and dev examples.

    The batches of an epoch depend on seed and epoch alone. Raises NoLessonsError without a
    lesson, or where all lessons have one answer.
    """

    def __init__(
        self,
        network: EncoderNetwork,
        featuriser: EncoderFeaturiser,
        settings: EncoderSettings,
        lessons: Sequence[TrainingExample],
        dev: DevExamples,
    ) -> None:
        _check(lessons, settings.candidates)
        self._network = network
        self._featuriser = featuriser
        self._settings = settings
        self._lessons = balanced(lessons, settings.reference_share)
        self._student = student_of(network, lessons) if settings.states else None
        self._dev = dev

    @property
    def network(self) -> EncoderNetwork | Student:
        """What is trained: the network, with its projection where it learns states."""
        return self._student or self._network

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of settings and lessons: differs where the training would."""
        hashed = hashlib.sha256(msgspec.json.encode(self._settings))
        for one in self._lessons:
            told = (one.row.ids, one.row.mark, one.heads, one.nfh, one.several, one.weight)
            hashed.update(repr(told).encode("ascii"))
            if one.soft is not None:
                hashed.update(one.soft.tobytes())
            if one.states is not None:
                hashed.update(np.ascontiguousarray(one.states[:1]).tobytes())
        return hashed.hexdigest()

    def groups(self) -> list[ParameterGroup]:
        """By layer and by what decays. The encoder's lowest layer learns slowest (as in
        Howard and Ruder 2018, "Universal Language Model Fine-tuning"); what stands on the
        encoder has a rate of its own. Vectors, biases and norms do not decay."""
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
        """Places of lessons; examples of about one length stand together."""
        rng = random.Random(f"{self._settings.seed} {epoch}")  # noqa: S311 - no secret
        places = list(range(len(self._lessons)))
        rng.shuffle(places)
        size = self._settings.batch
        made: list[Batch] = []
        for start in range(0, len(places), size * POOL):
            pool = sorted(places[start : start + size * POOL], key=self._length)
            made += [tuple(pool[at : at + size]) for at in range(0, len(pool), size)]
        rng.shuffle(made)
        return made

    def _length(self, place: int) -> int:
        return len(self._lessons[place].row.ids)

    def loss(self, batch: Batch, on: torch.device) -> Tensor:
        """The mean loss of some lessons."""
        lessons = [self._drawn(self._lessons[place]) for place in batch]
        inputs = Tensors.of(pad([one.row for one in lessons], self._featuriser.pieces.pad), on)
        targets = Targets.of(lessons, on)
        words = self._network.read(inputs)
        scored = self._scored(words, inputs)
        total = loss_of(scored, targets, self._settings)
        if self._settings.rdrop:
            again = self._scored(self._network.read(inputs), inputs)
            total = (total + loss_of(again, targets, self._settings)) / 2
            total = total + self._settings.rdrop * difference(scored, again)
        wanted = StateTargets.of(lessons, on) if self._student is not None else None
        if self._student is not None and wanted is not None:
            total = total + self._settings.states * self._student.distance(words, wanted)
        return total

    def _scored(self, words: Tensor, inputs: Tensors) -> Scored:
        scored = self._network.score(words, inputs)
        return replace(scored, logits=shut(scored.logits, self._settings.candidates))

    def _drawn(self, lesson: TrainingExample) -> TrainingExample:
        """The lesson, its number now and then another."""
        # From torch's generator, which the loop saves and restores.
        share = self._settings.swap
        if not share or float(torch.rand(())) >= share:
            return lesson
        return swapped(lesson, self._featuriser, int(torch.randint(1 << 30, ())))

    def judge(self, on: torch.device) -> Mapping[str, float]:
        """The figures on dev."""
        return judge(
            self._network,
            self._featuriser,
            self._dev,
            self._settings,
            on=on,
        )


def judge(
    network: EncoderNetwork,
    featuriser: EncoderFeaturiser,
    dev: DevExamples,
    settings: EncoderSettings,
    *,
    on: torch.device | None = None,
) -> dict[str, float]:
    """The figures of a network on some examples."""
    empty = featuriser.pieces.pad
    asked = [one.row for one in dev.questions]
    logits = read(
        network,
        asked,
        empty,
        on=on,
        precision=settings.precision,
        candidates=settings.candidates,
    ).logits
    nfh = read(network, dev.rows, empty, on=on, precision=settings.precision).nfh
    return figures(dev, logits, nfh.tolist())


def _layers(encoder: nn.Module) -> int:
    """How many layers an encoder has, one at least."""
    numbers = [_number(name) for name, _ in encoder.named_parameters()]
    return max((number + 1 for number in numbers if number is not None), default=1)


def _layer(name: str, layers: int) -> int:
    """0 for the embeddings, then from 1; what is of no layer learns as the last one does."""
    number = _number(name)
    if number is not None:
        return number + 1
    return 0 if ".embeddings." in name else layers


def _number(name: str) -> int | None:
    """The layer in a parameter's name: "encoder.layer.3.output.dense.weight" is of 3, whatever
    column it stands in."""
    parts = name.split(".")
    found = [
        part
        for before, part in pairwise(["", *parts])
        if part.isascii() and part.isdigit() and before != COLUMNS
    ]
    return int(found[0]) if found else None


def _check(lessons: Sequence[TrainingExample], candidates: Candidates) -> None:
    if not lessons:
        raise NoLessonsError(
            "there is nothing to learn from: no example has an answer that can be learnt"
        )
    headed = [one for one in lessons if one.heads]
    labels = {one.nfh for one in lessons if one.nfh is not None}
    classes = {_answer(one) for one in headed}
    # Among words alone there is a choice to learn, although all words are one class.
    alike = len(classes) < 2 and candidates is not Candidates.REFERENCE
    if headed and alike and len(labels) < 2:
        raise NoLessonsError(
            f"all {len(headed):,} examples have the same class; to learn to choose takes two "
            "classes at least"
        )
    if not headed and len(labels) < 2 and not any(one.soft is not None for one in lessons):
        raise NoLessonsError(
            f"all {len(lessons):,} numbers have the same label; to learn to tell fused heads "
            "takes some that are and some that are not"
        )


def _answer(lesson: TrainingExample) -> int:
    """The class of an answer; all words are one."""
    return CLASSES if lesson.reference else lesson.heads[0][0]


class StartError(ModelsError):
    """A model that another cannot begin with."""


@dataclass(frozen=True, slots=True)
class Material:
    """What is learnt from, and what it is judged on."""

    resolution: Sequence[ResolutionExample] = ()
    identification: Sequence[Example] = ()
    dev_resolution: Sequence[ResolutionExample] = ()
    dev_identification: Sequence[Example] = ()
    silver: Sequence[Silver] = ()
    """Anchors that nobody labelled by hand."""
    soft: Mapping[str, Soft] = field(default_factory=dict)
    """A teacher's probabilities, over the six classes and all tokens, by `key_of_item` or
    `key_of_case`."""
    shown: Mapping[str, TeacherStates] = field(default_factory=dict)
    """Its states of words, by `key_of_item`."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A network with its lessons. lessons: what is learnt from, and what is left out."""

    learner: EncoderLearner
    lessons: TrainingExamples
    dev: DevExamples
    whole: ModelBundle


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """What a training made. whole: with the weights of the best judgement."""

    whole: ModelBundle
    outcome: TrainingOutcome
    lessons: TrainingExamples
    dev: DevExamples


def prepare(
    material: Material,
    settings: EncoderSettings,
    backbone: Backbone | None = None,
    start: ModelBundle | None = None,
) -> Prepared:
    """Load the encoder and make all rows. backbone: in place of the one that settings name.
    start: a model of the same encoder and sizes whose weights are begun with.

    Raises EncoderError, TokenizerError, NoLessonsError where nothing can be learnt, and
    StartError for a model of other sizes.
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
    lessons = lessons_of(material, featuriser, settings)
    dev = asked(
        featuriser,
        material.dev_resolution if wanted(settings.task, Task.RESOLUTION) else (),
        material.dev_identification if wanted(settings.task, Task.IDENTIFICATION) else (),
        settings.candidates,
    )
    learner = EncoderLearner(network, featuriser, settings, lessons.taught, dev)
    whole = ModelBundle(network, settings, own.architecture, own.pieces, Path(own.name).name)
    if settings.priors is Priors.PAPER:
        whole = replace(whole, shift=shift_to_paper(material.resolution))
    return Prepared(learner, lessons, dev, whole)


def begin_with(trained: EncoderNetwork, network: EncoderNetwork) -> None:
    """Put the weights of one network into another. Raises StartError if they do not fit."""
    try:
        network.load_state_dict(trained.state_dict())
    except RuntimeError as error:
        raise StartError(
            "the model that is begun with has another encoder or other sizes: "
            + str(error).splitlines()[-1].strip()
        ) from error


def lessons_of(
    material: Material, featuriser: EncoderFeaturiser, settings: EncoderSettings
) -> TrainingExamples:
    """What the examples teach, for the task of the settings."""
    lessons = TrainingExamples()
    if wanted(settings.task, Task.RESOLUTION):
        taught = material.soft, material.shown
        add_resolution(lessons, material.resolution, featuriser, settings, *taught)
        add_silver(lessons, material.silver, featuriser, settings, *taught)
    if wanted(settings.task, Task.IDENTIFICATION):
        silver = material.soft if settings.task is Task.BOTH else None
        add_identification(lessons, material.identification, featuriser, silver)
    return lessons


def training(
    prepared: Prepared,
    folder: Path,
    *,
    on: torch.device | None = None,
    checkpoint_every: int | None = None,
    judge_first: bool = False,
) -> Generator[StepReport, None, TrainedEncoder]:
    """Train, and report each step; goes on from what `folder` holds of the same training.

    judge_first: what is begun with is a trained model, and is kept where no epoch does better.

    Raises what `nfh_models.training.loop.train` raises.
    """
    plan = replace(prepared.whole.settings.plan(checkpoint_every), judge_first=judge_first)
    outcome = yield from train(prepared.learner, plan, folder, on)
    prepared.whole.network.cpu()
    return TrainedEncoder(prepared.whole, outcome, prepared.lessons, prepared.dev)
