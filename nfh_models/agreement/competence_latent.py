"""Competence without any gold: Dawid and Skene's model, and MACE, by crowd-kit.

Dawid and Skene 1979, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM
Algorithm", Journal of the Royal Statistical Society C 28:20-28: each person has a confusion
matrix, and the true kinds are estimated along with the matrices. Hovy, Berg-Kirkpatrick,
Vaswani and Hovy 2013, "Learning Whom to Trust with MACE", NAACL 1120-1130
(https://aclanthology.org/N13-1132): each person knows the answer, or spams by habit.

crowd-kit and what it needs are imported here only when something is estimated.
"""

import io
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from nfh_models.agreement.competence import Mark, Marks
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.domain import Kind

if TYPE_CHECKING:
    import pandas as pd

    from nfh_models.agreement.bootstrap import Floats

PACKAGE = "crowdkit"
MISSING = (
    "Dawid\u2013Skene and MACE need crowd-kit, which is not installed: "
    "pip install 'nfh-tui[agreement]'."
)

LEAST_PEOPLE = 3
"""With two people nothing tells who of them is wrong."""
LEAST_ITEMS = 30
"""Items with two votes and more. Fewer leave the matrices to chance; the bound is ours."""
LEAST_OWN = 10
"""Votes on such items by which one person is told a figure; the bound is ours, too."""

ROUNDS = 100
TOLERANCE = 1e-5
SEEDS = 3
"""Starts of MACE, of which the likeliest counts. crowd-kit's own restarts all begin at the
same place, since they share one seed."""
MACE_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Confusion:
    """A matrix of kinds. rows[i][j]: how often, or how probably, `kinds[i]` was said to be
    `kinds[j]`. weights: how many votes a row rests on, expected or counted."""

    kinds: tuple[Kind, ...]
    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LatentPerson:
    """What the models say of one person.

    votes: on items with two votes and more. accuracy: Dawid-Skene's expected share of
    right votes. spamming: MACE's probability that a vote is given without knowing.
    confusion: Dawid-Skene's, rows the true kinds; None where there is too little.
    """

    votes: int
    accuracy: Measure
    spamming: Measure
    confusion: Confusion | None


@dataclass(frozen=True, slots=True)
class Latent:
    """Both models over all people. why: why nothing was estimated; else None.

    priors: Dawid-Skene's share of each kind among the items. groups: names of people who
    are linked by common items; with more than one group, figures compare inside each only.
    """

    why: str | None
    items: int
    votes: int
    priors: Mapping[Kind, float]
    people: Mapping[str, LatentPerson]
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Votes:
    """Votes as columns of numbers: of items, people and kinds, numbered as they come.

    crowd-kit's MACE mixes rows up unless its own numbering and the sorted order are the
    same; they are for numbers given in the order of appearance.
    """

    items: list[int]
    people: list[int]
    kinds: list[int]
    names: list[str]
    labels: list[Kind]
    keys: list[int]


def estimate(marks: Marks) -> Latent:
    """Both models, or the sentence that says why there is none. The same votes give the
    same figures."""
    votes = _columns(marks)
    why = _too_little(votes)
    if why is None and find_spec(PACKAGE) is None:
        why = MISSING
    if why is not None:
        return Latent(why, len(votes.keys), len(votes.items), {}, {}, ())
    with _quietly():
        table = _table(votes)
        priors, accuracy, confusion = _dawid_skene(votes, table)
        spamming = _mace(votes, table)
    counts = Counter(votes.people)
    people = {
        name: _person(counts[i], accuracy[i], spamming[i], confusion[i])
        for i, name in sorted(enumerate(votes.names), key=lambda one: one[1])
    }
    return Latent(None, len(votes.keys), len(votes.items), priors, people, _groups(votes))


def _columns(marks: Marks) -> _Votes:
    by_item: dict[int, list[tuple[str, Mark]]] = defaultdict(list)
    for name, given in marks.people.items():
        for mark in given:
            if mark.kind is not Kind.NFH:
                by_item[mark.item].append((name, mark))
    votes = _Votes([], [], [], [], [], [])
    people: dict[str, int] = {}
    kinds: dict[Kind, int] = {}
    for key in sorted(by_item):
        if len(by_item[key]) < 2:
            continue
        for name, mark in by_item[key]:
            votes.items.append(len(votes.keys))
            votes.people.append(people.setdefault(name, len(people)))
            votes.kinds.append(kinds.setdefault(mark.kind, len(kinds)))
        votes.keys.append(key)
    votes.names.extend(people)
    votes.labels.extend(kinds)
    return votes


def _too_little(votes: _Votes) -> str | None:
    if len(votes.names) < LEAST_PEOPLE:
        return (
            f"Dawid\u2013Skene and MACE need {LEAST_PEOPLE} people who answered the same "
            f"items; here there are {len(votes.names)}."
        )
    if len(votes.keys) < LEAST_ITEMS:
        return (
            f"Dawid\u2013Skene and MACE need {LEAST_ITEMS} items with two votes; "
            f"here there are {len(votes.keys)}."
        )
    if len(votes.labels) < 2:
        return f"All votes are {votes.labels[0]}: with one kind, nobody can be told apart."
    return None


@contextmanager
def _quietly() -> Iterator[None]:
    """Progress bars and warnings of the libraries stay off the terminal."""
    before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        if before is None:
            del os.environ["TQDM_DISABLE"]
        else:
            os.environ["TQDM_DISABLE"] = before


def _table(votes: _Votes) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame({"task": votes.items, "worker": votes.people, "label": votes.kinds})


def _dawid_skene(
    votes: _Votes, table: "pd.DataFrame"
) -> tuple[dict[Kind, float], list[float], list[Confusion]]:
    """The share of each kind, and each person's accuracy and confusion, people by number."""
    import numpy as np
    from crowdkit.aggregation import DawidSkene

    model = DawidSkene(n_iter=ROUNDS, tol=TOLERANCE).fit(table)
    size = range(len(votes.labels))
    probable = (
        cast("pd.DataFrame", model.probas_)
        .reindex(range(len(votes.keys)), columns=size)
        .to_numpy()
    )
    priors = cast("pd.Series[float]", model.priors_).reindex(size).to_numpy()
    errors = cast("pd.DataFrame", model.errors_).reindex(columns=size)
    items, people, kinds = (np.array(c) for c in (votes.items, votes.people, votes.kinds))
    accuracy, confusion = [], []
    order = sorted(size, key=lambda i: list(Kind).index(votes.labels[i]))
    for person in range(len(votes.names)):
        own = people == person
        accuracy.append(float(probable[items[own], kinds[own]].mean()))
        said = errors.loc[person].reindex(size, fill_value=0.0).to_numpy()
        weights = probable[items[own]].sum(axis=0)
        confusion.append(
            Confusion(
                tuple(votes.labels[i] for i in order),
                tuple(tuple(float(said[j, i]) for j in order) for i in order),
                tuple(float(weights[i]) for i in order),
            )
        )
    return {votes.labels[i]: float(priors[i]) for i in order}, accuracy, confusion


def _mace(votes: _Votes, table: "pd.DataFrame") -> list[float]:
    """Each person's probability of spamming, by the likeliest of several starts."""
    from crowdkit.aggregation import MACE

    models = [
        MACE(n_restarts=1, n_iter=MACE_ROUNDS, random_state=seed).fit(table)
        for seed in range(SEEDS)
    ]
    best = max(models, key=lambda model: _likelihood(votes, model.spamming_, model.thetas_))
    # Under variational Bayes the two do not quite sum to one.
    return [float(row[0] / row.sum()) for row in best.spamming_]


def _likelihood(votes: _Votes, spamming: "Floats", thetas: "Floats") -> float:
    """The logarithm of the votes' marginal likelihood, as MACE's paper has it (equation 1)."""
    import numpy as np

    items, people, kinds = (np.array(c) for c in (votes.items, votes.people, votes.kinds))
    shape = (len(votes.keys), len(votes.labels))
    logs = np.zeros(shape)
    by_habit = spamming[people, 0] * thetas[people, kinds]
    for label in range(shape[1]):
        said = np.log(by_habit + spamming[people, 1] * (kinds == label))
        np.add.at(logs[:, label], items, said)
    highest = logs.max(axis=1, keepdims=True)
    sums = np.exp(logs - highest).sum(axis=1) / shape[1]
    return float((np.log(sums) + highest[:, 0]).sum())


def _person(votes: int, accuracy: float, spamming: float, confusion: Confusion) -> LatentPerson:
    if votes < LEAST_OWN:
        why = f"Only {votes} of their votes are on items that others answered, too."
        return LatentPerson(votes, undefined(why, votes), undefined(why, votes), None)
    no_interval = "The model gives no interval."
    return LatentPerson(
        votes,
        Measure(accuracy, None, None, votes, no_interval),
        Measure(spamming, None, None, votes, no_interval),
        confusion,
    )


def _groups(votes: _Votes) -> tuple[tuple[str, ...], ...]:
    """People linked by common items, largest group first."""
    leader = list(range(len(votes.names)))

    def find(person: int) -> int:
        while leader[person] != person:
            leader[person] = leader[leader[person]]
            person = leader[person]
        return person

    first: dict[int, int] = {}
    for item, person in zip(votes.items, votes.people, strict=True):
        leader[find(person)] = find(first.setdefault(item, person))
    groups: dict[int, list[str]] = defaultdict(list)
    for person, name in enumerate(votes.names):
        groups[find(person)].append(name)
    return _sorted_groups(list(groups.values()))


def _sorted_groups(groups: Sequence[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(sorted(group)) for group in sorted(groups, key=lambda g: (-len(g), sorted(g)))
    )
