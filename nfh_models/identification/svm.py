"""Recipe `svm`: the paper's linear support vector machine (section 4.2): features, settings,
training, cross-validation, files and card.

Fitted by scikit-learn, decided without it: a decision is the bias and the weights of the
features that a case has, summed. Importing this module, and deciding, loads no framework.
"""

import hashlib
import json
import random
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from nfh_models.errors import ModelsError
from nfh_models.identification.base import Decision, Example, SentenceNumber, parse_cases
from nfh_models.identification.recipes import SVM
from nfh_models.identification.scores import DecisionCounts, count
from nfh_models.model_files import (
    FORMAT_VERSION,
    SEED,
    VOCABULARY,
    WEIGHTS,
    ModelConfig,
    ModelFiles,
    damaged,
    read_arrays,
    read_config,
    read_settings,
    read_vocabulary,
    settings_of,
    write_model,
)
from nfh_models.parsing.base import Parsed, ParseLayer, Parser

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# The four features of the paper's learned identifier (section 4.2), as words.
#
# A feature is one string, "window:-1=the": what it is and where, and its value. Each is there
# or not, so that a case is the list of those it has. The words and parts of speech of the
# window are told apart by their distance from the anchor, as -1 just before it and 1 just
# behind.
#
# What the paper leaves open was chosen by cross-validation on the release's development rows:
# the anchor as it is written, universal parts of speech, and the sentence's ends in the
# window.


class Feature(StrEnum):
    """What the paper's identifier looks at."""

    ANCHOR = "anchor"
    WINDOW = "window"
    WINDOW_POS = "window-pos"
    HEAD_POS = "head-pos"


class PartOfSpeech(StrEnum):
    """Which inventory of parts of speech: universal ("NOUN") or Penn Treebank ("NNS")."""

    UNIVERSAL = "universal"
    PENN = "penn"


BEFORE_SENTENCE = "<s>"
BEHIND_SENTENCE = "</s>"
"""What stands in the window where the sentence does not: the first and the last place beyond
its ends; places further out have no feature."""

ROOT = "ROOT"
"""What an anchor hangs on that hangs on nothing."""

LAYERS = {
    Feature.ANCHOR: frozenset[ParseLayer](),
    Feature.WINDOW: frozenset[ParseLayer](),
    Feature.WINDOW_POS: frozenset({ParseLayer.POS}),
    Feature.HEAD_POS: frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY}),
}
"""The layers of a parse that each feature needs."""


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """Which features, and how."""

    features: tuple[Feature, ...] = tuple(Feature)
    """At least one."""
    window: int = 3
    """Words on each side, as in the paper 3."""
    pos: PartOfSpeech = PartOfSpeech.UNIVERSAL
    """The inventory of both features that have one."""
    ends: bool = True
    """Whether the window sees the sentence's ends."""

    def __post_init__(self) -> None:
        if not self.features:
            raise ValueError("no feature is left to decide by")

    @property
    def layers(self) -> frozenset[ParseLayer]:
        """The layers of a parse that these features need."""
        return frozenset[ParseLayer]().union(*(LAYERS[feature] for feature in self.features))


class Extractor:
    """Tells the features of cases. Raises ValueError for a case without the parse it needs."""

    def __init__(self, settings: FeatureSettings) -> None:
        self.settings = settings
        chosen = set(settings.features)
        self._anchor = Feature.ANCHOR in chosen
        self._words = Feature.WINDOW in chosen
        self._tags = Feature.WINDOW_POS in chosen
        self._head = Feature.HEAD_POS in chosen
        self._tags_of: Callable[[Parsed], Sequence[str]] = (
            _penn if settings.pos is PartOfSpeech.PENN else _universal
        )

    def features(self, case: SentenceNumber) -> list[str]:
        """The features of a case, the anchor's own first, then by distance to the left."""
        words = case.word_span.words
        start, end = case.start, case.end
        found = []
        if self._anchor:
            found.append(f"anchor={' '.join(words[start:end])}")
        tags: Sequence[str] = ()
        if self._tags or self._head:
            tags = self._parsed_tags(case)
        for offset, place in self._places(case):
            outside = self._outside(place, len(words))
            if outside == "":
                continue
            if self._words:
                found.append(f"window:{offset}={outside or words[place].lower()}")
            if self._tags:
                found.append(f"window-pos:{offset}={outside or tags[place]}")
        if self._head:
            found.append(f"head-pos={self._head_tag(case, tags)}")
        return found

    def _places(self, case: SentenceNumber) -> list[tuple[int, int]]:
        """Distance and place of the words of the window, from left to right."""
        width = self.settings.window
        before = [(-far, case.start - far) for far in range(width, 0, -1)]
        return before + [(far, case.end + far - 1) for far in range(1, width + 1)]

    def _outside(self, place: int, size: int) -> str | None:
        """What stands for a place outside the sentence, "" for nothing; None inside it."""
        if 0 <= place < size:
            return None
        if self.settings.ends and place == -1:
            return BEFORE_SENTENCE
        if self.settings.ends and place == size:
            return BEHIND_SENTENCE
        return ""

    def _parsed_tags(self, case: SentenceNumber) -> Sequence[str]:
        tags = () if case.parsed is None else self._tags_of(case.parsed)
        if len(tags) != len(case.word_span.words):
            raise ValueError("a case without the parts of speech that the features need")
        return tags

    def _head_tag(self, case: SentenceNumber, tags: Sequence[str]) -> str:
        """The part of speech of the word that the anchor hangs on."""
        heads = () if case.parsed is None else case.parsed.heads
        if len(heads) != len(tags):
            raise ValueError("a case without the dependencies that the features need")
        head = head_of(heads, case.start, case.end)
        return ROOT if head is None else tags[head]


def head_of(heads: Sequence[int], start: int, end: int) -> int | None:
    """The token outside tokens [start, end) that the first of them hangs on which hangs on
    any; None if none does."""
    for token in range(start, end):
        head = heads[token]
        if not start <= head < end:
            return head
    return None


def _penn(parsed: Parsed) -> Sequence[str]:
    return parsed.tags


def _universal(parsed: Parsed) -> Sequence[str]:
    return parsed.pos


VERSION = "svm/2"
"""Changes when the same model would decide otherwise."""

STRONGEST = 6
"""Weights that a decision names, the bias not among them."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SvmSettings:
    """How a support vector machine is made: which features, C, and the fitting's seed.

    c: the weight of errors against the size of the weights; scikit-learn's default is 1.
    """

    features: FeatureSettings = field(default_factory=FeatureSettings)
    c: float = 1.0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """The features of cases, as a sparse matrix of ones in rows.

    Case i has the features indices[starts[i]:starts[i + 1]], each once. 32-bit: LinearSVC
    refuses others. words: of each feature that is there, in the same order.
    """

    starts: Integers
    indices: Integers
    words: list[str]

    def matrix(self, columns: int) -> "csr_matrix":
        """The same for scikit-learn, as 64-bit floats."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.indices))
        return csr_matrix((ones, self.indices, self.starts), (len(self.starts) - 1, columns))


def rows_of(found: Sequence[Sequence[str]], places: Mapping[str, int]) -> FeatureRows:
    """The features of each case as rows; those without a place are left out."""
    indices: list[int] = []
    words: list[str] = []
    starts = np.zeros(len(found) + 1, np.int32)
    for number, features in enumerate(found, 1):
        for word in features:
            place = places.get(word)
            if place is not None:
                indices.append(place)
                words.append(word)
        starts[number] = len(indices)
    return FeatureRows(starts, np.array(indices, np.int32), words)


class Svm:
    """A fitted machine, ready to decide.

    vocabulary: the features, no two alike. weights: one a feature. parser: the name of the
    one that parsed what it was fitted on; another may tag otherwise, and then it decides worse.
    converged: whether the fitting came to its end, rather than to its last allowed step.
    """

    recipe = SVM

    def __init__(
        self,
        settings: SvmSettings,
        vocabulary: Sequence[str],
        weights: Floats,
        bias: float,
        parser: str | None = None,
        *,
        converged: bool = True,
    ) -> None:
        if len(vocabulary) != len(weights):
            raise ValueError(f"{len(vocabulary)} features with {len(weights)} weights")
        self.settings = settings
        self.vocabulary = tuple(vocabulary)
        self.weights = weights
        self.bias = bias
        self.parser = parser
        self.converged = converged
        self.needs: frozenset[ParseLayer] = settings.features.layers
        self.uses: frozenset[ParseLayer] = self.needs
        self.version = f"{VERSION} {self._fingerprint()}"
        self._extractor = Extractor(settings.features)
        self._places = {word: place for place, word in enumerate(self.vocabulary)}

    def _fingerprint(self) -> str:
        """Twelve hexadecimal digits of what decisions depend on."""
        features = self.settings.features
        settings = [features.features, features.window, features.pos, features.ends]
        spelled = json.dumps([*settings, self.bias, self.vocabulary], separators=(",", ":"))
        hashed = hashlib.sha256(spelled.encode("ascii"))
        hashed.update(np.ascontiguousarray(self.weights, "<f8").tobytes())
        return hashed.hexdigest()[:12]

    def featurise(self, cases: Sequence[SentenceNumber]) -> FeatureRows:
        """The features of cases that have a weight. ValueError for one without its parse."""
        return rows_of([self._extractor.features(case) for case in cases], self._places)

    def score(self, rows: FeatureRows) -> Floats:
        """One score a case, above 0 for a fused head: the distance from the plane, unscaled."""
        case_of = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        weights = self.weights[rows.indices]
        sums = np.bincount(case_of, weights=weights, minlength=len(rows.starts) - 1)
        return np.asarray(sums + self.bias, dtype=np.float64)

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        """A decision a case, with its score and its strongest weights."""
        return decisions(self.featurise(cases), self)


def decisions(rows: FeatureRows, svm: Svm) -> list[Decision]:
    """What a machine says of cases whose features are told already."""
    weights = svm.weights[rows.indices].tolist()
    bounds = rows.starts.tolist()
    made = []
    for place, score in enumerate(svm.score(rows).tolist()):
        own = slice(bounds[place], bounds[place + 1])
        made.append(Decision(score > 0, SVM, score, strongest(rows.words[own], weights[own])))
    return made


def strongest(words: Sequence[str], weights: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """The features that weigh most, in either direction, strongest first."""
    order = sorted(range(len(words)), key=lambda place: -abs(weights[place]))
    return tuple((words[place], weights[place]) for place in order[:STRONGEST])


# --- fitting --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SvmTable:
    """Examples with their features, told once for all fits.

    rows[i] is of labels[i] and groups[i]; the matrix has a column for each of the vocabulary.
    """

    settings: SvmSettings
    vocabulary: tuple[str, ...]
    rows: FeatureRows
    matrix: "csr_matrix"
    labels: NDArray[np.bool_]
    groups: tuple[str, ...]
    parser: str | None


def table_of(
    examples: Sequence[Example], settings: SvmSettings, parser: str | None = None
) -> SvmTable:
    """The features of parsed examples. ValueError for one without the parse that it needs."""
    extractor = Extractor(settings.features)
    found = [extractor.features(example.case) for example in examples]
    labels = [example.nfh for example in examples]
    groups = [example.group for example in examples]
    return table_from(found, labels, groups, settings, parser)


def table_from(
    found: Sequence[Sequence[str]],
    labels: Sequence[bool],
    groups: Sequence[str],
    settings: SvmSettings,
    parser: str | None = None,
) -> SvmTable:
    """A table of features that are told already, a list for each example."""
    vocabulary = sorted(set().union(*found))
    rows = rows_of(found, {word: place for place, word in enumerate(vocabulary)})
    return SvmTable(
        settings,
        tuple(vocabulary),
        rows,
        rows.matrix(len(vocabulary)),
        np.array(labels, np.bool_),
        tuple(groups),
        parser,
    )


def fit(table: SvmTable, chosen: Integers | None = None) -> Svm:
    """A machine fitted on the chosen rows of a table; on all of them by default.

    LinearSVC as the paper has it, with scikit-learn's defaults but for C and the seed. Both
    labels must be there: ValueError otherwise.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    matrix, labels = table.matrix, table.labels
    if chosen is not None:
        matrix, labels = matrix[chosen], labels[chosen]
    machine = LinearSVC(C=table.settings.c, random_state=table.settings.seed)
    with warnings.catch_warnings():
        # Said by `converged` instead.
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(matrix, labels)
    weights = np.asarray(machine.coef_[0], np.float64)
    bias = float(machine.intercept_[0])
    converged = bool(np.max(machine.n_iter_) < machine.max_iter)
    return Svm(
        table.settings, table.vocabulary, weights, bias, table.parser, converged=converged
    )


def train_svm(
    examples: Sequence[Example],
    settings: SvmSettings | None = None,
    parser: str | None = None,
) -> Svm:
    """A machine fitted on parsed examples. parser: the name of what parsed them.

    The same examples in the same order give the same machine. ValueError where a parse or
    one of the two labels is missing.
    """
    return fit(table_of(examples, settings or SvmSettings(), parser))


# Cross-validation: each example decided by a machine that has not seen its group.
#
# Groups are dealt to the folds by chance, those of each label apart, so that every fold has
# both labels in about the same shares (stratified grouped k-fold, as in scikit-learn).

FOLDS = 5
LEAST_GROUPS = 2
"""Of each label: with one, some fold would be decided by what has never seen that label."""


class TooFewError(ModelsError):
    """Too few examples to learn from; the sentence says of what."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a figure over the folds that have it."""

    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Spread":
        """The deviation is that of a sample (n - 1), None of fewer than two."""
        there = [value for value in values if value is not None]
        return cls(fmean(there) if there else None, stdev(there) if len(there) > 1 else None)


@dataclass(frozen=True, slots=True)
class Crossed:
    """What cross-validation found. said: of each example, in order. folds: counts of each."""

    said: tuple[bool, ...]
    folds: tuple[DecisionCounts, ...]

    @property
    def counts(self) -> DecisionCounts:
        """Those of all folds together."""
        return sum(self.folds, DecisionCounts())

    def spread(self, figure: Callable[[DecisionCounts], float | None]) -> Spread:
        """How far a figure differs from fold to fold."""
        return Spread.of([figure(counts) for counts in self.folds])


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold: places of its examples, in order, and the decisions on them."""

    number: int
    places: tuple[int, ...]
    decisions: tuple[Decision, ...]


def folds_of(
    labels: Sequence[bool], groups: Sequence[str], folds: int = FOLDS, seed: int = 1
) -> list[int]:
    """The fold of each example, from 0; no group is in two, every fold has both labels.

    There are as many folds as asked, or as groups of the rarer label where those are fewer.
    Raises TooFewError where a label has fewer than two groups.
    """
    seen: dict[str, set[bool]] = {}
    for group, label in zip(groups, labels, strict=True):
        seen.setdefault(group, set()).add(label)
    rarer = min(sum(label in found for found in seen.values()) for label in (True, False))
    if rarer < LEAST_GROUPS:
        raise TooFewError(_too_few(labels, seen))
    shuffled = sorted(seen)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a draw, no secret
    # Groups with both labels stand between the others: so the groups of each label are
    # neighbours, and dealing them in turn gives some of it to every fold.
    shuffled.sort(key=lambda group: (True not in seen[group]) - (False not in seen[group]))
    count = min(folds, rarer)
    dealt = {group: place % count for place, group in enumerate(shuffled)}
    return [dealt[group] for group in groups]


def check_enough(examples: Sequence[Example]) -> None:
    """Raise TooFewError unless each label has two groups: there is something to learn."""
    folds_of([one.nfh for one in examples], [one.group for one in examples])


def _too_few(labels: Sequence[bool], seen: dict[str, set[bool]]) -> str:
    if not labels:
        return (
            "there is nothing to learn from: no number found here has gold that says whether "
            "it is a fused head"
        )
    yes = sum(labels)
    passages = [sum(label in found for found in seen.values()) for label in (True, False)]
    return (
        f"too few labels to learn from: {yes:,} of {len(labels):,} numbers are fused heads, in "
        f"{passages[0]:,} {'passage' if passages[0] == 1 else 'passages'}, and "
        f"{len(labels) - yes:,} are not, in {passages[1]:,}; "
        f"each has to stand in {LEAST_GROUPS} passages at least, so that what is learnt on "
        "some can be tried on others"
    )


def crossed(table: SvmTable, folds: int = FOLDS, seed: int = 1) -> Iterator[Fold]:
    """Fit and decide fold by fold. Raises TooFewError before the first."""
    fold_of = np.array(folds_of(table.labels.tolist(), table.groups, folds, seed), np.int32)
    for number in range(int(fold_of.max()) + 1):
        inside = np.flatnonzero(fold_of == number).astype(np.int32)
        outside = np.flatnonzero(fold_of != number).astype(np.int32)
        svm = fit(table, outside)
        made = decisions(_chosen(table.rows, inside.tolist()), svm)
        yield Fold(number, tuple(inside.tolist()), tuple(made))


def _chosen(rows: FeatureRows, places: Sequence[int]) -> FeatureRows:
    """Some of the rows, in the order given."""
    bounds = rows.starts.tolist()
    spans = [(bounds[place], bounds[place + 1]) for place in places]
    starts = np.cumsum([0, *(end - start for start, end in spans)], dtype=np.int32)
    indices = [rows.indices[start:end] for start, end in spans]
    words = [word for start, end in spans for word in rows.words[start:end]]
    return FeatureRows(starts, np.concatenate(indices), words)


def cross_validate(
    examples: Sequence[Example],
    settings: SvmSettings | None = None,
    folds: int = FOLDS,
    seed: int = 1,
) -> list[Decision]:
    """A decision on each parsed example, in their order, by what has not seen its group.

    Raises TooFewError where a label has fewer than two groups, ValueError for an example
    without the parse that it needs.
    """
    table = table_of(examples, settings or SvmSettings())
    made: dict[int, Decision] = {}
    for fold in crossed(table, folds, seed):
        made.update(zip(fold.places, fold.decisions, strict=True))
    return [made[place] for place in range(len(examples))]


WIDEST = 20
LARGEST_C = 1e6
MOST_FOLDS = 50


class StoredSvmSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings as config.json holds them."""

    features: Annotated[tuple[Feature, ...], msgspec.Meta(min_length=1)]
    window: Annotated[int, msgspec.Meta(ge=0, le=WIDEST)]
    pos: PartOfSpeech
    ends: bool
    c: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_C)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]

    def __post_init__(self) -> None:
        if len(set(self.features)) < len(self.features):
            raise ValueError("a feature is named twice")

    @classmethod
    def of(cls, settings: SvmSettings) -> "StoredSvmSettings":
        """As it is to be stored."""
        features = settings.features
        return cls(
            features=features.features,
            window=features.window,
            pos=features.pos,
            ends=features.ends,
            c=settings.c,
            seed=settings.seed,
        )

    def settings(self) -> SvmSettings:
        """As the machine takes them."""
        features = FeatureSettings(self.features, self.window, self.pos, self.ends)
        return SvmSettings(features, self.c, self.seed)


@dataclass(frozen=True, slots=True)
class SvmPlan:
    """How to train: the settings, and in how many folds to try them before."""

    settings: SvmSettings = field(default_factory=SvmSettings)
    folds: int = 5


class _Given(StoredSvmSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings and the folds, as a command line gives them."""

    folds: Annotated[int, msgspec.Meta(ge=2, le=MOST_FOLDS)]


WANTED = {
    "features": f"one or more of {', '.join(Feature)}, joined by commas",
    "window": f"the number of words on each side, 0 to {WIDEST}",
    "pos": " or ".join(PartOfSpeech),
    "ends": "true or false: does the window see the sentence's ends?",
    "c": f"a number above 0 and up to {LARGEST_C:,.0f}",
    "seed": SEED,
    "folds": f"a number of parts, 2 to {MOST_FOLDS}",
}
"""Each setting with what it may be."""


def plan_of(given: Iterable[str]) -> SvmPlan:
    """A plan out of "key=value" words; what they leave out is as by default.

    Raises SettingError for a word that is none, or a value that its key cannot have.
    """
    defaults = msgspec.to_builtins(StoredSvmSettings.of(SvmSettings())) | {
        "folds": SvmPlan().folds
    }
    made = read_settings(given, _Given, "svm", WANTED, defaults, _value)
    return SvmPlan(made.settings(), made.folds)


def _value(key: str, value: str) -> object:
    if key != "features":
        return value
    named = dict.fromkeys(part.strip() for part in value.split(","))
    return sorted(named, key=_place)


def _place(name: str) -> int:
    """The place of a feature among all, so that their order given makes no difference."""
    names = [feature.value for feature in Feature]
    return names.index(name) if name in names else len(names)


TASK = "identification"

ARRAYS = {"weights": "float64", "bias": "float64"}
"""weights: one a feature. bias: one number."""


def save_svm(
    svm: Svm,
    folder: Path,
    *,
    name: str | None = None,
    created_at: str = "",
    metrics: dict[str, object] | None = None,
    card: str = "",
) -> str:
    """Write a machine as a model directory; its digest. name: the folder's by default.

    Raises FolderTakenError where something is there already, OSError.
    """
    config = config_of(svm, name or folder.name, created_at)
    arrays = {"weights": svm.weights, "bias": np.array([svm.bias], np.float64)}
    files = ModelFiles(config, arrays, svm.vocabulary, metrics or {}, card)
    return write_model(folder, files)


def config_of(svm: Svm, name: str, created_at: str) -> ModelConfig:
    """What config.json says of a machine."""
    settings = msgspec.to_builtins(StoredSvmSettings.of(svm.settings))
    return ModelConfig(
        format_version=FORMAT_VERSION,
        name=name,
        task=TASK,
        recipe=SVM,
        version=svm.version,
        created_at=created_at,
        parser=svm.parser,
        settings=settings,
    )


def load_svm(folder: Path) -> Svm:
    """A machine out of its directory, without scikit-learn. Raises ModelFileError."""
    config = read_config(folder, SVM)
    stored = settings_of(folder, config, StoredSvmSettings)
    vocabulary = read_vocabulary(folder)
    arrays = read_arrays(folder, ARRAYS)
    weights, bias = arrays["weights"], arrays["bias"]
    if weights.shape != (len(vocabulary),):
        raise damaged(
            folder / WEIGHTS,
            f"the weights have the shape {weights.shape}, {VOCABULARY} has "
            f"{len(vocabulary):,} features",
        )
    if bias.shape != (1,):
        raise damaged(folder / WEIGHTS, f"the bias has the shape {bias.shape}, wanted (1,)")
    with np.errstate(over="ignore"):
        largest = np.abs(weights).sum() + abs(bias[0])
    if not np.isfinite(largest):
        raise damaged(folder / WEIGHTS, "the weights are too large to be summed")
    return Svm(
        stored.settings(),
        vocabulary,
        weights.astype(np.float64, copy=False),
        float(bias[0]),
        config.parser,
    )


BATCH = 256
"""Sentences parsed between two reports; some tenths of a second."""


@dataclass(frozen=True, slots=True)
class SvmProgress:
    """How far training is. phase: "parsing", "features", "fold 2", "fitting"."""

    phase: str
    done: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FittedSvm:
    """A machine fitted on all examples, and how well machines like it did in the folds.

    groups: passages that the examples are of. snapshot: see `snapshot_of`.
    """

    svm: Svm
    plan: SvmPlan
    crossed: Crossed
    groups: int
    snapshot: str


def training(
    examples: Sequence[Example], plan: SvmPlan, parser: Parser | None
) -> Generator[SvmProgress, None, FittedSvm]:
    """Parse, tell the features, try fold by fold, and fit on all; a report after each part.

    parser: None where the features need none. Examples that carry a parse keep it. The same
    examples in the same order give the same machine. Raises TooFewError before anything is
    parsed, ParserError, and ValueError where a parse is missing.
    """
    labels = [example.nfh for example in examples]
    groups = [example.group for example in examples]
    folds_of(labels, groups, plan.folds, plan.settings.seed)
    found: list[list[str]] = []
    extractor = Extractor(plan.settings.features)
    for start in range(0, len(examples), BATCH):
        batch = [example.case for example in examples[start : start + BATCH]]
        cases = _parsed(batch, plan, parser)
        found.extend(extractor.features(case) for case in cases)
        yield SvmProgress("parsing", len(found), len(examples))
    yield SvmProgress("features", 0, len(found))
    name = parser.name if parser is not None and plan.settings.features.layers else None
    table = table_from(found, labels, groups, plan.settings, name)
    yield SvmProgress("features", len(found), len(found))
    tried = yield from _folds(examples, table, plan)
    yield SvmProgress("fitting", 0, 1)
    svm = fit(table)
    yield SvmProgress("fitting", 1, 1)
    return FittedSvm(svm, plan, tried, len(set(groups)), snapshot_of(examples))


def _parsed(
    cases: list[SentenceNumber], plan: SvmPlan, parser: Parser | None
) -> list[SentenceNumber]:
    if parser is None or not plan.settings.features.layers:
        return cases
    return parse_cases(cases, parser)


def _folds(
    examples: Sequence[Example], table: SvmTable, plan: SvmPlan
) -> Generator[SvmProgress, None, Crossed]:
    said = [False] * len(examples)
    counts = []
    total = max(folds_of(table.labels.tolist(), table.groups, plan.folds, plan.settings.seed))
    for fold in crossed(table, plan.folds, plan.settings.seed):
        own = [decision.nfh for decision in fold.decisions]
        for place, nfh in zip(fold.places, own, strict=True):
            said[place] = nfh
        labels = [examples[place].nfh for place in fold.places]
        counts.append(count(zip(labels, own, strict=True)))
        f1 = counts[-1].f1
        metrics = {} if f1 is None else {"f1": f1}
        yield SvmProgress(f"fold {fold.number + 1}", fold.number + 1, total + 1, metrics)
    return Crossed(tuple(said), tuple(counts))


def snapshot_of(examples: Sequence[Example]) -> str:
    """SHA-256 (hex) of sentences, spans and labels, whatever their order: what was learnt from.

    Hashed are the sorted SHA-256 of each as JSON, [words, start, end, label].
    """
    each = sorted(
        hashlib.sha256(
            json.dumps([list(case.word_span.words), case.start, case.end, nfh]).encode("ascii")
        ).digest()
        for case, nfh in ((example.case, example.nfh) for example in examples)
    )
    return hashlib.sha256(b"".join(each)).hexdigest()


LABELS = ("NFH", "NOT_NFH")

WORST = 15
"""Anchor words that figures and card list."""

MOST_PLAIN = 60
"""Characters that are kept of a word out of the data."""

MARKUP = re.compile(r"[<&`|*\[\]\\~]|(?<!\w)_|_(?!\w)|\A\s*(?:>|[#+-]+(?=\s))")
"""What Markdown or HTML takes for markup; an underscore within a word is none."""

FIGURES: dict[str, Callable[[DecisionCounts], float | None]] = {
    "precision": lambda counts: counts.precision,
    "recall": lambda counts: counts.recall,
    "f1": lambda counts: counts.f1,
    "accuracy": lambda counts: counts.accuracy,
}


def metrics_of(trained: FittedSvm, examples: Sequence[Example]) -> dict[str, object]:
    """The figures of cross-validation as JSON has them: fractions, null where there is none.

    Figures are those of all folds together; per_fold has mean and standard deviation.
    """
    crossed = trained.crossed
    counts = crossed.counts
    return {
        "examples": counts.n,
        "nfh": counts.nfh,
        "passages": trained.groups,
        "folds": len(crossed.folds),
        **{name: figure(counts) for name, figure in FIGURES.items()},
        "per_fold": {name: _spread(crossed.spread(one)) for name, one in FIGURES.items()},
        "confusion": {"labels": list(LABELS), "rows": [list(row) for row in counts.rows]},
        "worst": [
            {"anchor": word, "n": own.n, "missed": own.missed, "false": own.false}
            for word, own in worst_words(trained, examples)
        ],
        "features": len(trained.svm.vocabulary),
        "converged": trained.svm.converged,
    }


def _spread(spread: Spread) -> dict[str, float | None]:
    return {"mean": spread.mean, "deviation": spread.deviation}


def worst_words(
    trained: FittedSvm, examples: Sequence[Example]
) -> list[tuple[str, DecisionCounts]]:
    """The anchor words, in lower case, with most errors in the folds; only those with any."""
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for example, said in zip(examples, trained.crossed.said, strict=True):
        case = example.case
        word = " ".join(case.word_span.words[case.start : case.end]).lower()
        pairs[word].append((example.nfh, said))
    counted = [(word, count(own)) for word, own in pairs.items()]
    wrong = [one for one in counted if one[1].wrong]
    return sorted(wrong, key=lambda one: (-one[1].wrong, one[0]))[:WORST]


# --- the card -------------------------------------------------------------------------------

CARD = """\
# {name}

Says of a number in an English sentence whether its noun is missing (a numeric fused head).
A linear support vector machine, as in Elazar and Goldberg (2019), "Where's My Head?
Definition, Data Set, and Models for Numeric Fused-Head Identification and Resolution",
section 4.2.

- Made {at} of {n:,} labelled numbers in {groups:,} passages.
- Of these numbers {nfh:,} are fused heads and {other:,} are not.
- {parsed}
- Features: {features}.
- Settings: {settings}.

## How good it is

In {folds} folds, each number decided by a machine that had not seen its passage; the model
itself is fitted on all of them. The deviation is that between folds.

| figure | all folds | mean of folds | deviation |
|---|---|---|---|
{figures}

| label | said NFH | said NOT_NFH |
|---|---|---|
| NFH | {hit:,} | {missed:,} |
| NOT_NFH | {false:,} | {passed:,} |

These figures tell how well it repeats the labels it learnt from, on text of the same kind. If
rules made those labels, they tell how well it repeats the rules.

## Where it fails

The anchors with most errors in the folds.

| anchor | numbers | fused heads missed | others called fused heads |
|---|---|---|---|
{worst}
"""


def card_of(trained: FittedSvm, examples: Sequence[Example], name: str, at: str) -> str:
    """The card, in Markdown; no word out of the data is markup in it."""
    counts = trained.crossed.counts
    hit, missed = counts.rows[0]
    false, passed = counts.rows[1]
    features = trained.svm.settings.features
    parser = trained.svm.parser
    return CARD.format(
        name=name,
        at=at,
        features=", ".join(features.features),
        n=counts.n,
        groups=trained.groups,
        nfh=counts.nfh,
        other=counts.n - counts.nfh,
        parsed=f"Sentences were parsed by {parser}." if parser else "No parser was needed.",
        settings=", ".join(_settings(trained)),
        folds=len(trained.crossed.folds),
        figures="\n".join(_figure(trained, name) for name in FIGURES),
        hit=hit,
        missed=missed,
        false=false,
        passed=passed,
        worst="\n".join(_worst(*one) for one in worst_words(trained, examples))
        or "| none | | | |",
    )


def _settings(trained: FittedSvm) -> list[str]:
    stored = msgspec.to_builtins(StoredSvmSettings.of(trained.svm.settings))
    return [f"{key} {_said(value)}" for key, value in stored.items() if key != "features"]


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _figure(trained: FittedSvm, name: str) -> str:
    figure = FIGURES[name]
    spread = trained.crossed.spread(figure)
    values = (figure(trained.crossed.counts), spread.mean, spread.deviation)
    shown = " | ".join("none" if value is None else f"{value:.4f}" for value in values)
    return f"| {name} | {shown} |"


def _worst(word: str, counts: DecisionCounts) -> str:
    return f"| {plain(word)} | {counts.n:,} | {counts.missed:,} | {counts.false:,} |"


def plain(text: str, most: int | None = MOST_PLAIN) -> str:
    """Words out of the data as Markdown shows them.

    What would be markup, or cannot be printed, is given by number. All else stays as it is,
    for whoever reads the card as text. most: characters that are kept, to the end of a word
    where one ends; None for all.
    """
    cut = text if most is None or len(text) <= most else _cut(text, most)
    safe = MARKUP.sub(lambda found: "".join(map(_by_number, found[0])), cut)
    return "".join(c if c.isprintable() else _by_number(c) for c in safe)


def _by_number(character: str) -> str:
    return f"&#{ord(character)};"


def _cut(text: str, most: int) -> str:
    whole = text[: most + 1].rpartition(" ")[0]
    return f"{(whole or text[:most]).rstrip()}…"
