"""Recipe `svm`: the paper's linear support vector machine (section 4.2): features, settings,
training, cross-validation, files and card.

It is fitted by scikit-learn and decides without it: a score is the bias plus the weights of the
features that a case has. Importing this module, and deciding, loads no framework but numpy.
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
from operator import attrgetter
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Annotated, Unpack

import msgspec
import numpy as np
from numpy.typing import NDArray

from nfh_models import ModelsError, model_files
from nfh_models.identification.base import SVM, Decision, Example, SentenceNumber, parse_cases
from nfh_models.identification.scores import DecisionCounts, count
from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.training.plan import PhaseProgress

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# --- features: the four of the paper's learned identifier (section 4.2) -----------------------
#
# A feature is one string, "window:-1=the": its name, its place and its value. A case is the
# list of its features. Places in the window are distances from the anchor: -1 directly before
# it, 1 directly after.
#
# What the paper leaves open was chosen by cross-validation on the release's development rows:
# the anchor as it is written, universal parts of speech, and the sentence's ends in the window.


class Feature(StrEnum):
    """The features of the paper's identifier."""

    ANCHOR = "anchor"
    WINDOW = "window"
    WINDOW_POS = "window-pos"
    HEAD_POS = "head-pos"


class PartOfSpeech(StrEnum):
    """The inventory of parts of speech: universal ("NOUN") or Penn Treebank ("NNS")."""

    UNIVERSAL = "universal"
    PENN = "penn"


BEFORE_SENTENCE = "<s>"
BEHIND_SENTENCE = "</s>"
"""Window words beyond the ends of the sentence: only the first place before and after it has a
feature.
"""

ROOT = "ROOT"
"""The head of an anchor without a head."""

LAYERS = {
    Feature.ANCHOR: frozenset[ParseLayer](),
    Feature.WINDOW: frozenset[ParseLayer](),
    Feature.WINDOW_POS: frozenset({ParseLayer.POS}),
    Feature.HEAD_POS: frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY}),
}
"""The layers of a parse that each feature needs."""


WIDEST = 20
LARGEST_C = 1e6
MOST_FOLDS = 50


class SvmSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a support vector machine, also as config.json holds them."""

    features: Annotated[tuple[Feature, ...], msgspec.Meta(min_length=1)] = tuple(Feature)
    window: Annotated[int, msgspec.Meta(ge=0, le=WIDEST)] = 3
    """Words on each side; 3 in the paper."""
    pos: PartOfSpeech = PartOfSpeech.UNIVERSAL
    """The inventory of both features with parts of speech."""
    ends: bool = True
    """Whether the window includes the ends of the sentence."""
    c: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_C)] = 1.0
    """The weight of errors relative to the size of the weights; scikit-learn's default is 1."""
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)] = 1

    def __post_init__(self) -> None:
        if not self.features:
            raise ValueError("no feature is left")
        if len(set(self.features)) < len(self.features):
            raise ValueError("a feature is named twice")

    @property
    def layers(self) -> frozenset[ParseLayer]:
        """The layers of a parse that the features need."""
        return frozenset[ParseLayer]().union(*(LAYERS[feature] for feature in self.features))


class Extractor:
    """Extracts the features of cases. Raises ValueError for a case without the parse
    it needs.
    """

    def __init__(self, settings: SvmSettings) -> None:
        self.settings = settings
        chosen = set(settings.features)
        self._anchor = Feature.ANCHOR in chosen
        self._words = Feature.WINDOW in chosen
        self._tags = Feature.WINDOW_POS in chosen
        self._head = Feature.HEAD_POS in chosen

    def features(self, case: SentenceNumber) -> list[str]:
        """The features of a case: the anchor's, then those of the window from left to right,
        then the head's.
        """
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
        """Distance and token index of the words of the window, from left to right."""
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
        tags: Sequence[str] = ()
        if case.parsed is not None:
            penn = self.settings.pos is PartOfSpeech.PENN
            tags = case.parsed.tags if penn else case.parsed.pos
        if len(tags) != len(case.word_span.words):
            raise ValueError("a case without the parts of speech that the features need")
        return tags

    def _head_tag(self, case: SentenceNumber, tags: Sequence[str]) -> str:
        """The part of speech of the anchor's head."""
        heads = () if case.parsed is None else case.parsed.heads
        if len(heads) != len(tags):
            raise ValueError("a case without the dependencies that the features need")
        head = head_of(heads, case.start, case.end)
        return ROOT if head is None else tags[head]


def head_of(heads: Sequence[int], start: int, end: int) -> int | None:
    """The first head of tokens [start, end) that lies outside of them; None without one."""
    for token in range(start, end):
        head = heads[token]
        if not start <= head < end:
            return head
    return None


VERSION = "svm/2"
"""Changes when the same model would decide otherwise."""

STRONGEST = 6
"""Weights that a decision reports, the bias not included."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """The features of cases, as the rows of a sparse matrix of ones."""

    starts: Integers
    indices: Integers
    """Case i has the features indices[starts[i]:starts[i + 1]], each once. LinearSVC accepts
    only 32-bit indices.
    """
    words: list[str]
    """The feature of each index."""

    def matrix(self, columns: int) -> "csr_matrix":
        """The same for scikit-learn, as 64-bit floats."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.indices))
        return csr_matrix((ones, self.indices, self.starts), (len(self.starts) - 1, columns))


def rows_of(found: Sequence[Sequence[str]], places: Mapping[str, int]) -> FeatureRows:
    """The features of each case as rows; features without a place are left out."""
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

    vocabulary: the distinct features. weights: one for each feature. parser: the name of the
    parser of the training sentences; with another one, decisions may be worse. converged:
    whether fitting converged before its last allowed iteration.
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
        self.needs: frozenset[ParseLayer] = settings.layers
        self.uses: frozenset[ParseLayer] = self.needs
        self.version = f"{VERSION} {self._fingerprint()}"
        self._extractor = Extractor(settings)
        self._places = {word: place for place, word in enumerate(self.vocabulary)}

    def _fingerprint(self) -> str:
        """Twelve hexadecimal digits of everything that decisions depend on."""
        own = self.settings
        said = [own.features, own.window, own.pos, own.ends, self.bias, self.vocabulary]
        spelled = json.dumps(said, separators=(",", ":"))
        hashed = hashlib.sha256(spelled.encode("ascii"))
        hashed.update(np.ascontiguousarray(self.weights, "<f8").tobytes())
        return hashed.hexdigest()[:12]

    def featurise(self, cases: Sequence[SentenceNumber]) -> FeatureRows:
        """The features of cases that have a weight. Raises ValueError for a case without its
        parse.
        """
        return rows_of([self._extractor.features(case) for case in cases], self._places)

    def score(self, rows: FeatureRows) -> Floats:
        """One score for each case, above 0 for a fused head: the unscaled distance from the
        hyperplane.
        """
        case_of = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        weights = self.weights[rows.indices]
        sums = np.bincount(case_of, weights=weights, minlength=len(rows.starts) - 1)
        return np.asarray(sums + self.bias, dtype=np.float64)

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        """A decision for each case, with its score and its largest weights."""
        return decisions(self.featurise(cases), self)


def decisions(rows: FeatureRows, svm: Svm) -> list[Decision]:
    """The decisions of a machine on cases whose features are extracted already."""
    weights = svm.weights[rows.indices].tolist()
    bounds = rows.starts.tolist()
    made = []
    for place, score in enumerate(svm.score(rows).tolist()):
        own = slice(bounds[place], bounds[place + 1])
        made.append(Decision(score > 0, SVM, score, strongest(rows.words[own], weights[own])))
    return made


def strongest(words: Sequence[str], weights: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """The features with the largest absolute weights, largest first."""
    order = sorted(range(len(words)), key=lambda place: -abs(weights[place]))
    return tuple((words[place], weights[place]) for place in order[:STRONGEST])


# --- fitting --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SvmTable:
    """Examples with their features, extracted once for all fits.

    rows[i], labels[i] and groups[i] belong together; the matrix has a column for each feature.
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
    """The features of parsed examples. Raises ValueError for an example without its parse."""
    extractor = Extractor(settings)
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
    """A table of extracted features, a list for each example."""
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
    """A machine fitted on the chosen rows of a table, by default all.

    LinearSVC as in the paper, with scikit-learn's defaults except C and the seed. Raises
    ValueError if one of the labels is missing.
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
    examples: Sequence[Example], settings: SvmSettings | None = None, parser: str | None = None
) -> Svm:
    """A machine fitted on parsed examples. parser: the name of the parser.

    The same examples in the same order give the same machine. Raises ValueError where a parse
    or one of the two labels is missing.
    """
    return fit(table_of(examples, settings or SvmSettings(), parser))


# --- cross-validation: each example is decided by a machine that has not seen its group -----
#
# Groups are assigned to the folds at random, those of each label separately, so that every fold
# has both labels in similar shares (stratified grouped k-fold, as in scikit-learn).

FOLDS = 5
LEAST_GROUPS = 2
"""Of each label; with one group, some fold would be decided by a machine that never saw that
label.
"""


class TooFewError(ModelsError):
    """Too few examples to learn from; the message says of what."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a figure over the folds that have it."""

    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Spread":
        """The deviation is that of a sample (n - 1); None for fewer than two values."""
        there = [value for value in values if value is not None]
        return cls(fmean(there) if there else None, stdev(there) if len(there) > 1 else None)


@dataclass(frozen=True, slots=True)
class FoldResults:
    """The result of cross-validation."""

    said: tuple[bool, ...]
    """The decision on each example, in order."""
    folds: tuple[DecisionCounts, ...]
    """The counts of each fold."""

    @property
    def counts(self) -> DecisionCounts:
        """Those of all folds together."""
        return sum(self.folds, DecisionCounts())

    def spread(self, figure: Callable[[DecisionCounts], float | None]) -> Spread:
        """The spread of a figure over the folds."""
        return Spread.of([figure(counts) for counts in self.folds])


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold: indices of its examples, in order, and the decisions on them."""

    number: int
    places: tuple[int, ...]
    decisions: tuple[Decision, ...]


def folds_of(
    labels: Sequence[bool], groups: Sequence[str], folds: int = FOLDS, seed: int = 1
) -> list[int]:
    """The fold of each example, from 0: stratified grouped k-fold.

    The examples of one group are in one fold, and every fold has both labels. There are at most
    as many folds as groups of the rarer label. Raises TooFewError where a label has fewer than
    two groups.
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
    """Raise TooFewError unless each label has two groups."""
    folds_of([one.nfh for one in examples], [one.group for one in examples])


def _too_few(labels: Sequence[bool], seen: dict[str, set[bool]]) -> str:
    if not labels:
        return (
            "there is nothing to learn from: no number here has gold that says whether it is "
            "a fused head"
        )
    yes = sum(labels)
    passages = [sum(label in found for found in seen.values()) for label in (True, False)]
    return (
        f"too few labels to learn from: {yes:,} of {len(labels):,} numbers are fused heads, "
        f"in {passages[0]:,} {'passage' if passages[0] == 1 else 'passages'}, and "
        f"{len(labels) - yes:,} are not, in {passages[1]:,}; each must occur in at least "
        f"{LEAST_GROUPS} passages, so that a model of some can be tested on others"
    )


def run_folds(table: SvmTable, folds: int = FOLDS, seed: int = 1) -> Iterator[Fold]:
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
    """A decision on each parsed example by a machine that has not seen its group.

    Raises TooFewError where a label has fewer than two groups, ValueError for an example
    without its parse.
    """
    table = table_of(examples, settings or SvmSettings())
    made: dict[int, Decision] = {}
    for fold in run_folds(table, folds, seed):
        made.update(zip(fold.places, fold.decisions, strict=True))
    return [made[place] for place in range(len(examples))]


@dataclass(frozen=True, slots=True)
class SvmPlan:
    """How to train: the settings, and the number of folds of the cross-validation before."""

    settings: SvmSettings = field(default_factory=SvmSettings)
    folds: int = FOLDS


class _Given(SvmSettings, frozen=True, forbid_unknown_fields=True):
    """Settings and folds, as a command line gives them."""

    folds: Annotated[int, msgspec.Meta(ge=2, le=MOST_FOLDS)] = FOLDS


WANTED = {
    "features": f"one or more of {', '.join(Feature)}, joined by commas",
    "window": f"the number of words on each side, 0 to {WIDEST}",
    "pos": " or ".join(PartOfSpeech),
    "ends": "true or false: whether the window includes the sentence's ends",
    "c": f"a number above 0 and up to {LARGEST_C:,.0f}",
    "seed": model_files.SEED,
    "folds": f"a number of parts, 2 to {MOST_FOLDS}",
}
"""Each setting with its possible values."""


def plan_of(given: Iterable[str]) -> SvmPlan:
    """A plan from "key=value" words; settings not given have their defaults.

    Raises SettingError for a malformed word, and for a value that its key cannot have.
    """
    made = msgspec.structs.asdict(
        model_files.read_settings(given, _Given, SVM, WANTED, {}, _value)
    )
    folds = made.pop("folds")
    return SvmPlan(SvmSettings(**made), folds)


def _value(key: str, value: str) -> object:
    if key != "features":
        return value
    named = dict.fromkeys(part.strip() for part in value.split(","))
    return sorted(named, key=_place)


def _place(name: str) -> int:
    """The rank of a feature name, so that the order given makes no difference."""
    names = [feature.value for feature in Feature]
    return names.index(name) if name in names else len(names)


TASK = "identification"

ARRAYS = {"weights": "float64", "bias": "float64"}
"""weights: one for each feature. bias: one number."""


def save_svm(svm: Svm, folder: Path, **about: Unpack[model_files.ModelNotes]) -> str:
    """Write a machine as a model directory; returns its digest. See `save_model`."""
    arrays = {"weights": svm.weights, "bias": np.array([svm.bias], np.float64)}
    return model_files.save_model(
        folder,
        TASK,
        SVM,
        svm.version,
        svm.settings,
        arrays,
        svm.vocabulary,
        parser=svm.parser,
        **about,
    )


def load_svm(folder: Path) -> Svm:
    """A machine from its directory, without scikit-learn. Raises ModelFileError."""
    config = model_files.read_config(folder, SVM)
    settings = model_files.settings_of(folder, config, SvmSettings, complete=True)
    vocabulary = model_files.read_vocabulary(folder)
    arrays = model_files.read_arrays(folder, ARRAYS)
    weights, bias = arrays["weights"], arrays["bias"]
    if weights.shape != (len(vocabulary),):
        raise model_files.damaged(
            folder / model_files.WEIGHTS,
            f"the weights have the shape {weights.shape}, {model_files.VOCABULARY} has "
            f"{len(vocabulary):,} features",
        )
    if bias.shape != (1,):
        raise model_files.damaged(
            folder / model_files.WEIGHTS, f"the bias has the shape {bias.shape}, wanted (1,)"
        )
    model_files.check_summable(folder, (weights, bias), "the weights")
    return Svm(
        settings,
        vocabulary,
        weights.astype(np.float64, copy=False),
        float(bias[0]),
        config.parser,
    )


BATCH = 256
"""Sentences parsed between two reports; some tenths of a second."""


@dataclass(frozen=True, slots=True)
class FittedSvm:
    """A machine fitted on all examples, and the result of cross-validation."""

    svm: Svm
    plan: SvmPlan
    crossed: FoldResults
    groups: int
    """Passages of the examples."""
    snapshot: str
    """See `snapshot_of`."""


def training(
    examples: Sequence[Example], plan: SvmPlan, parser: Parser | None
) -> Generator[PhaseProgress, None, FittedSvm]:
    """Parse, extract features, cross-validate, and fit on all; a report after each part.

    parser: None where the features need none. Examples that have a parse keep it. The same
    examples in the same order give the same machine. Raises TooFewError before anything is
    parsed, ParserError, and ValueError where a parse is missing.
    """
    labels = [example.nfh for example in examples]
    groups = [example.group for example in examples]
    folds_of(labels, groups, plan.folds, plan.settings.seed)
    found: list[list[str]] = []
    extractor = Extractor(plan.settings)
    name = parser.name if parser is not None and plan.settings.layers else None
    for start in range(0, len(examples), BATCH):
        batch = [example.case for example in examples[start : start + BATCH]]
        if name is not None and parser is not None:
            batch = parse_cases(batch, parser)
        found.extend(extractor.features(case) for case in batch)
        yield PhaseProgress("parsing", len(found), len(examples))
    yield PhaseProgress("features", 0, len(found))
    table = table_from(found, labels, groups, plan.settings, name)
    yield PhaseProgress("features", len(found), len(found))
    tried = yield from _folds(examples, table, plan)
    yield PhaseProgress("fitting", 0, 1)
    svm = fit(table)
    yield PhaseProgress("fitting", 1, 1)
    return FittedSvm(svm, plan, tried, len(set(groups)), snapshot_of(examples))


def _folds(
    examples: Sequence[Example], table: SvmTable, plan: SvmPlan
) -> Generator[PhaseProgress, None, FoldResults]:
    said = [False] * len(examples)
    counts = []
    total = max(folds_of(table.labels.tolist(), table.groups, plan.folds, plan.settings.seed))
    for fold in run_folds(table, plan.folds, plan.settings.seed):
        own = [decision.nfh for decision in fold.decisions]
        for place, nfh in zip(fold.places, own, strict=True):
            said[place] = nfh
        labels = [examples[place].nfh for place in fold.places]
        counts.append(count(zip(labels, own, strict=True)))
        f1 = counts[-1].f1
        metrics = {} if f1 is None else {"f1": f1}
        yield PhaseProgress(f"fold {fold.number + 1}", fold.number + 1, total + 1, metrics)
    return FoldResults(tuple(said), tuple(counts))


def snapshot_of(examples: Sequence[Example]) -> str:
    """The digest of sentences, spans and labels, whatever their order."""
    return model_files.digest_of_examples(
        [list(case.word_span.words), case.start, case.end, nfh]
        for case, nfh in ((example.case, example.nfh) for example in examples)
    )


LABELS = ("NFH", "NOT_NFH")

WORST = 15
"""Anchor words listed in figures and card."""

MOST_PLAIN = 60
"""Characters kept of a word from the data."""

MARKUP = re.compile(r"[<&`|*\[\]\\~]|(?<!\w)_|_(?!\w)|\A\s*(?:>|[#+-]+(?=\s))")
"""What Markdown or HTML takes for markup; an underscore within a word is none."""

FIGURES: dict[str, Callable[[DecisionCounts], float | None]] = {
    name: attrgetter(name) for name in ("precision", "recall", "f1", "accuracy")
}


def metrics_of(trained: FittedSvm, examples: Sequence[Example]) -> dict[str, object]:
    """The figures of cross-validation for JSON: fractions, null where undefined.

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
    """The anchor words, in lower case, with most errors in the folds."""
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

This model says whether the noun of a number in an English sentence is missing (a numeric
fused head). It is a linear support vector machine, as in Elazar and Goldberg (2019), "Where's
My Head? Definition, Data Set, and Models for Numeric Fused-Head Identification and Resolution",
section 4.2.

- Made {at} from {n:,} labelled numbers in {groups:,} passages.
- Of these numbers {nfh:,} are fused heads and {other:,} are not.
- {parsed}
- Features: {features}.
- Settings: {settings}.

## Accuracy

Measured in {folds} folds: each number was decided by a machine that had not seen its passage.
The model itself learned from all of them. The deviation is between folds.

| figure | all folds | mean of folds | deviation |
|---|---|---|---|
{figures}

| label | said NFH | said NOT_NFH |
|---|---|---|
| NFH | {hit:,} | {missed:,} |
| NOT_NFH | {false:,} | {passed:,} |

These figures say how well the model repeats the labels that it learned from, on text of the
same kind. If rules made those labels, they say how well it repeats the rules.

## Errors

The anchors with most errors in the folds.

| anchor | numbers | fused heads missed | others called fused heads |
|---|---|---|---|
{worst}
"""


def card_of(trained: FittedSvm, examples: Sequence[Example], name: str, at: str) -> str:
    """The model card in Markdown; no word from the data is markup in it."""
    counts = trained.crossed.counts
    hit, missed = counts.rows[0]
    false, passed = counts.rows[1]
    features = trained.svm.settings.features
    parser = trained.svm.parser
    return CARD.format(
        name=name,
        at=at,
        features=", ".join(features),
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
    stored = msgspec.to_builtins(trained.svm.settings)
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
    """Text from the data, escaped for Markdown.

    Markup and unprintable characters become numeric character references. most: characters
    kept, cut at the end of a word where possible; None for all.
    """
    cut = text if most is None or len(text) <= most else _cut(text, most)
    safe = MARKUP.sub(lambda found: "".join(map(_by_number, found[0])), cut)
    return "".join(c if c.isprintable() else _by_number(c) for c in safe)


def _by_number(character: str) -> str:
    return f"&#{ord(character)};"


def _cut(text: str, most: int) -> str:
    whole = text[: most + 1].rpartition(" ")[0]
    return f"{(whole or text[:most]).rstrip()}…"
