"""The recipe `svm`: the paper's linear support vector machine (section 4.2).

Fitted by scikit-learn, decided without it: a decision is the bias and the weights of the
features that a case has, summed. Importing this module, and deciding, loads no framework.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nfh_models.identification.case import Case, Decision
from nfh_models.identification.example import Example
from nfh_models.identification.features import Extractor, FeatureSettings
from nfh_models.identification.recipes import SVM
from nfh_models.parsing.parsed import Layer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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
class Rows:
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


def rows_of(found: Sequence[Sequence[str]], places: Mapping[str, int]) -> Rows:
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
    return Rows(starts, np.array(indices, np.int32), words)


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
        self.needs: frozenset[Layer] = settings.features.layers
        self.uses: frozenset[Layer] = self.needs
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

    def featurise(self, cases: Sequence[Case]) -> Rows:
        """The features of cases that have a weight. ValueError for one without its parse."""
        return rows_of([self._extractor.features(case) for case in cases], self._places)

    def score(self, rows: Rows) -> Floats:
        """One score a case, above 0 for a fused head: the distance from the plane, unscaled."""
        case_of = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        weights = self.weights[rows.indices]
        sums = np.bincount(case_of, weights=weights, minlength=len(rows.starts) - 1)
        return np.asarray(sums + self.bias, dtype=np.float64)

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """A decision a case, with its score and its strongest weights."""
        return decisions(self.featurise(cases), self)


def decisions(rows: Rows, svm: Svm) -> list[Decision]:
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
class Table:
    """Examples with their features, told once for all fits.

    rows[i] is of labels[i] and groups[i]; the matrix has a column for each of the vocabulary.
    """

    settings: SvmSettings
    vocabulary: tuple[str, ...]
    rows: Rows
    matrix: "csr_matrix"
    labels: NDArray[np.bool_]
    groups: tuple[str, ...]
    parser: str | None


def table_of(
    examples: Sequence[Example], settings: SvmSettings, parser: str | None = None
) -> Table:
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
) -> Table:
    """A table of features that are told already, a list for each example."""
    vocabulary = sorted(set().union(*found))
    rows = rows_of(found, {word: place for place, word in enumerate(vocabulary)})
    return Table(
        settings,
        tuple(vocabulary),
        rows,
        rows.matrix(len(vocabulary)),
        np.array(labels, np.bool_),
        tuple(groups),
        parser,
    )


def fit(table: Table, chosen: Integers | None = None) -> Svm:
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
