"""Competence of annotators: against known answers and, without gold, by Dawid and Skene's model
and MACE.

Each vote is compared with the adjudicators' decision, where there is one, with check items and
with the other votes. Passages are not kept: a vote takes a few hundred bytes, so that a million
votes fit into memory.
"""

import io
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, cast

from nfh_models.agreement.audit import interval
from nfh_models.agreement.measure import AnsweredAnchor, Measure, Timed, undefined
from nfh_models.agreement.pairs import decision
from nfh_models.domain import Answer, Kind, compare, same_head
from nfh_models.domain.compare import components

if TYPE_CHECKING:
    import pandas as pd

    from nfh_models.agreement.bootstrap import Floats


Checks = Mapping[tuple[int, str], Answer]
"""The known answer of each check item, by the anchor's key and the annotator's name."""


@dataclass(frozen=True, slots=True)
class HeadPairCounts:
    """The heads of a vote and of a known answer, both REFERENCE, compared by noun."""

    mine: int
    wanted: int
    """Heads of the vote (`mine`) and of the known answer (`wanted`)."""
    right: int
    """Heads of the vote that are in the known answer."""
    found: int
    """Heads of the known answer that are in the vote."""

    @property
    def exact(self) -> bool:
        return self.right == self.mine and self.found == self.wanted


@dataclass(frozen=True, slots=True)
class AnswerMatch:
    """A vote compared with one known answer."""

    kind: Kind
    """Of the known answer."""
    equal: bool
    """Whether there is no blocking difference."""
    heads: HeadPairCounts | None
    """Only where both are REFERENCE."""


@dataclass(frozen=True, slots=True)
class JudgedVote:
    """One vote, compared with the known answers and with the other votes."""

    item: int
    """The anchor's key."""
    kind: Kind
    at: str
    seconds: float | None
    """`at` and `seconds` are as in Timed."""
    expert: AnswerMatch | None
    """Against the adjudicators' decision; None without one, or if the annotator made it."""
    check: AnswerMatch | None
    """Against the known answer of a check item."""
    majority: Kind | None
    """The kind of more than half of the other votes, of which there are two or more;
    else None.
    """
    agreeing: float | None
    """The share of other votes without a blocking difference; None without other votes."""


@dataclass(frozen=True, slots=True)
class PairOverlap:
    """Two annotators."""

    items: int
    """Items that both answered."""
    same: int
    """Of these, items with identical answers, mentions included."""
    unlike: int
    """Of the identical ones, items on which another annotator or an adjudicator differs."""


@dataclass(frozen=True, slots=True)
class PersonVotes:
    """All votes, by annotator."""

    people: Mapping[str, tuple[JudgedVote, ...]]
    together: Mapping[tuple[str, str], PairOverlap]
    own: Mapping[str, int]
    """Votes without `JudgedVote.expert`, since the annotator decided the item as
    adjudicator.
    """
    items: int
    """All items."""
    decided: int
    """Items that an adjudicator decided."""
    unanimous: int
    """Of the decided ones, items with two or more votes that do not differ."""


def collect(items: Iterable[AnsweredAnchor], checks: Checks | None = None) -> PersonVotes:
    """Compare every vote with what is known. Items are read one by one and not kept."""
    collected = _Collected(checks or {})
    for item in items:
        collected.add(item)
    return collected.done()


@dataclass(slots=True)
class _Collected:
    checks: Checks
    people: dict[str, list[JudgedVote]] = field(default_factory=lambda: defaultdict(list))
    together: dict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0, 0])
    )
    own: Counter[str] = field(default_factory=Counter)
    items: int = 0
    decided: int = 0
    unanimous: int = 0

    def add(self, item: AnsweredAnchor) -> None:
        self.items += 1
        expert = decision(item)
        names = sorted(item.votes)
        equal = {
            (one, other): not _differs(item.votes[one].answer, item.votes[other].answer, item)
            for one, other in combinations(names, 2)
        }
        if expert is not None:
            self.decided += 1
            self.unanimous += len(names) > 1 and all(equal.values())
        for name in names:
            mine = expert
            if expert is not None and name in item.experts:
                self.own[name] += 1
                mine = None
            self.people[name].append(self._mark(item, name, mine, equal))
        self._add_pairs(item, expert, equal)

    def _mark(
        self,
        item: AnsweredAnchor,
        name: str,
        expert: Answer | None,
        equal: Mapping[tuple[str, str], bool],
    ) -> JudgedVote:
        vote = item.votes[name]
        others = [other for other in item.votes if other != name]
        agreeing = [equal[min(name, other), max(name, other)] for other in others]
        check = self.checks.get((item.key, name))
        return JudgedVote(
            item.key,
            vote.answer.kind,
            vote.at,
            vote.seconds,
            _against(vote.answer, expert, item),
            _against(vote.answer, check, item),
            _majority(item.votes[other] for other in others),
            sum(agreeing) / len(agreeing) if agreeing else None,
        )

    def _add_pairs(
        self, item: AnsweredAnchor, expert: Answer | None, equal: Mapping[tuple[str, str], bool]
    ) -> None:
        for one, other in equal:
            counts = self.together[one, other]
            counts[0] += 1
            left = item.votes[one].answer
            if left.without_comment() != item.votes[other].answer.without_comment():
                continue
            counts[1] += 1
            known = [
                vote.answer for name, vote in item.votes.items() if name not in (one, other)
            ]
            known += [expert] if expert is not None else []
            counts[2] += any(_differs(left, answer, item) for answer in known)

    def done(self) -> PersonVotes:
        return PersonVotes(
            {name: tuple(self.people[name]) for name in sorted(self.people)},
            {pair: PairOverlap(*counts) for pair, counts in sorted(self.together.items())},
            dict(self.own),
            self.items,
            self.decided,
            self.unanimous,
        )


def _differs(left: Answer, right: Answer, item: AnsweredAnchor) -> bool:
    return compare(left, right, item.lemmas).blocking is not None


def _against(vote: Answer, known: Answer | None, item: AnsweredAnchor) -> AnswerMatch | None:
    """None without a known answer, and where either is NFH, which names no kind."""
    if known is None or Kind.NFH in (vote.kind, known.kind):
        return None
    equal = not _differs(vote, known, item)
    both = vote.kind is Kind.REFERENCE and known.kind is Kind.REFERENCE
    return AnswerMatch(known.kind, equal, _heads(vote, known, item) if both else None)


def _heads(vote: Answer, known: Answer, item: AnsweredAnchor) -> HeadPairCounts:
    same = [
        [same_head(mine, wanted, item.lemmas) for wanted in known.heads] for mine in vote.heads
    ]
    return HeadPairCounts(
        len(vote.heads),
        len(known.heads),
        sum(map(any, same)),
        sum(map(any, zip(*same, strict=True))),
    )


def _majority(others: Iterable[Timed]) -> Kind | None:
    kinds = [vote.answer.kind for vote in others if vote.answer.kind is not Kind.NFH]
    if len(kinds) < 2:
        return None
    kind, times = Counter(kinds).most_common(1)[0]
    return kind if 2 * times > len(kinds) else None


# Competence without any gold: Dawid and Skene's model, and MACE, by crowd-kit.
#
# Dawid and Skene 1979, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM
# Algorithm", Journal of the Royal Statistical Society C 28:20-28: each person has a confusion
# matrix, and the true kinds are estimated along with the matrices. Hovy, Berg-Kirkpatrick,
# Vaswani and Hovy 2013, "Learning Whom to Trust with MACE", NAACL 1120-1130
# (https://aclanthology.org/N13-1132): each person knows the answer, or spams by habit.
#
# crowd-kit and what it needs are imported here only when something is estimated.

PACKAGE = "crowdkit"
MISSING = (
    "Dawid\u2013Skene and MACE need crowd-kit, which is not installed: "
    "pip install 'nfh-tui[agreement]'."
)

LEAST_PEOPLE = 3
"""With two people, the data cannot tell who of them is wrong."""
LEAST_ITEMS = 30
"""Items with two or more votes; our own bound, since fewer leave the matrices to chance."""
LEAST_OWN = 10
"""Votes on such items that a person's figures must rest on; our own bound."""

ROUNDS = 100
TOLERANCE = 1e-5
SEEDS = 3
"""Starts of MACE, of which the likeliest is used. The restarts of crowd-kit share one seed, and
all begin at the same point.
"""
MACE_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class KindConfusion:
    """A confusion matrix of kinds."""

    kinds: tuple[Kind, ...]
    rows: tuple[tuple[float, ...], ...]
    """rows[i][j]: count or probability that true kind `kinds[i]` was answered as `kinds[j]`."""
    weights: tuple[float, ...]
    """Votes that each row rests on, expected or counted."""


@dataclass(frozen=True, slots=True)
class LatentPerson:
    """The estimates of both models for one annotator."""

    votes: int
    """On items with two or more votes."""
    accuracy: Measure
    """Dawid and Skene: expected share of correct votes."""
    spamming: Measure
    """MACE: probability that a vote is given without knowing the answer."""
    confusion: KindConfusion | None
    """Dawid and Skene: rows are the true kinds. None with fewer than LEAST_OWN votes."""


@dataclass(frozen=True, slots=True)
class Latent:
    """The estimates of both models for all annotators."""

    why: str | None
    """Why nothing was estimated; else None."""
    items: int
    votes: int
    priors: Mapping[Kind, float]
    """Dawid and Skene: share of each kind among the items."""
    people: Mapping[str, LatentPerson]
    groups: tuple[tuple[str, ...], ...]
    """Names of annotators connected by common items; figures compare only inside a group."""


@dataclass(frozen=True, slots=True)
class _Votes:
    """Votes as columns of numbers; items, people and kinds are numbered in the order of
    appearance.

    crowd-kit's MACE mixes up rows unless its own numbering equals the sorted order, which holds
    for numbers assigned in the order of appearance.
    """

    items: list[int]
    people: list[int]
    kinds: list[int]
    names: list[str]
    labels: list[Kind]
    keys: list[int]


def estimate(collected: PersonVotes) -> Latent:
    """The estimates of both models, or the reason why there are none. The result is
    deterministic.
    """
    votes = _columns(collected)
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


def _columns(collected: PersonVotes) -> _Votes:
    by_item: dict[int, list[tuple[str, JudgedVote]]] = defaultdict(list)
    for name, given in collected.people.items():
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
        return f"All votes are {votes.labels[0]}: with one kind, people cannot be compared."
    return None


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence the progress bars and warnings of the libraries."""
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
) -> tuple[dict[Kind, float], list[float], list[KindConfusion]]:
    """The share of each kind, and the accuracy and confusion of each person, by number."""
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
            KindConfusion(
                tuple(votes.labels[i] for i in order),
                tuple(tuple(float(said[j, i]) for j in order) for i in order),
                tuple(float(weights[i]) for i in order),
            )
        )
    return {votes.labels[i]: float(priors[i]) for i in order}, accuracy, confusion


def _mace(votes: _Votes, table: "pd.DataFrame") -> list[float]:
    """The spamming probability of each person, from the likeliest of several starts."""
    from crowdkit.aggregation import MACE

    models = [
        MACE(n_restarts=1, n_iter=MACE_ROUNDS, random_state=seed).fit(table)
        for seed in range(SEEDS)
    ]
    best = max(models, key=lambda model: _likelihood(votes, model.spamming_, model.thetas_))
    # Under variational Bayes the two do not quite sum to one.
    return [float(row[0] / row.sum()) for row in best.spamming_]


def _likelihood(votes: _Votes, spamming: "Floats", thetas: "Floats") -> float:
    """The marginal log-likelihood of the votes (MACE paper, equation 1)."""
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


def _person(
    votes: int, accuracy: float, spamming: float, confusion: KindConfusion
) -> LatentPerson:
    if votes < LEAST_OWN:
        why = f"Only {votes} of their votes are on items that others answered too."
        return LatentPerson(votes, undefined(why, votes), undefined(why, votes), None)
    no_interval = "The model gives no interval."
    return LatentPerson(
        votes,
        Measure(accuracy, None, None, votes, no_interval),
        Measure(spamming, None, None, votes, no_interval),
        confusion,
    )


def _groups(votes: _Votes) -> tuple[tuple[str, ...], ...]:
    """People connected by common items, the largest group first."""
    first: dict[int, int] = {}
    cells = zip(votes.items, votes.people, strict=True)
    pairs = ((first.setdefault(item, person), person) for item, person in cells)
    people = components(len(votes.names), pairs)
    found = (tuple(sorted(votes.names[person] for person in group)) for group in people)
    return tuple(sorted(found, key=lambda group: (-len(group), group)))


@dataclass(frozen=True, slots=True)
class HeadAccuracy:
    """Heads by noun, where the known answer and the vote are both REFERENCE."""

    exact: Measure
    """All heads are the same; n counts votes."""
    precision: Measure
    recall: Measure
    f1: Measure
    """Over heads: n counts heads of the votes (`precision`), of the known answers (`recall`),
    of both.
    """
    overall: Measure
    """Of all known answers REFERENCE, the share of votes REFERENCE with exactly their heads."""


@dataclass(frozen=True, slots=True)
class KnownAnswerScore:
    """One annotator against known answers."""

    votes: int
    equal: Measure
    """Whole answers without a blocking difference, with an exact interval."""
    kind: Measure
    """Equal kinds, with an exact interval."""
    heads: HeadAccuracy
    confusion: KindConfusion | None
    """Rows: the known kinds. Columns: the annotator's."""


def against_known(
    votes: Iterable[JudgedVote], known: Callable[[JudgedVote], AnswerMatch | None], nothing: str
) -> KnownAnswerScore:
    """One annotator's votes against the known answers that `known` selects.

    nothing: the reason given where there is none.
    """
    held = [(mark, answer) for mark in votes if (answer := known(mark)) is not None]
    return KnownAnswerScore(
        len(held),
        exact_share(sum(answer.equal for _, answer in held), len(held), nothing),
        exact_share(sum(m.kind is a.kind for m, a in held), len(held), nothing),
        _head_accuracy([answer for _, answer in held], nothing),
        confusion((answer.kind, mark.kind) for mark, answer in held),
    )


def against_others(votes: Iterable[JudgedVote]) -> KindConfusion | None:
    """One person's kinds against the majority of the others, where no expert decided."""
    return confusion(
        (mark.majority, mark.kind)
        for mark in votes
        if mark.expert is None and mark.majority is not None and mark.kind is not Kind.NFH
    )


def exact_share(right: int, n: int, nothing: str) -> Measure:
    """A share with the exact interval of Clopper and Pearson."""
    if not n:
        return undefined(nothing)
    return Measure(right / n, *interval(right, n), n, None)


def confusion(pairs: Iterable[tuple[Kind, Kind]]) -> KindConfusion | None:
    """Counts of (known kind, answered kind), for the kinds that occur. None without pairs."""
    counts = Counter(pairs)
    if not counts:
        return None
    met = {kind for pair in counts for kind in pair}
    kinds = tuple(kind for kind in Kind if kind in met)
    rows = tuple(tuple(float(counts[known, said]) for said in kinds) for known in kinds)
    return KindConfusion(kinds, rows, tuple(map(sum, rows)))


def _head_accuracy(answers: Sequence[AnswerMatch], nothing: str) -> HeadAccuracy:
    wanted = [answer for answer in answers if answer.kind is Kind.REFERENCE]
    both = [answer.heads for answer in wanted if answer.heads is not None]
    exact = sum(heads.exact for heads in both)
    lack = nothing if not answers else "No decision on these votes is REFERENCE."
    overlap = lack if not wanted else "No decision REFERENCE has a vote REFERENCE."
    return HeadAccuracy(
        exact_share(exact, len(both), overlap),
        _ratio(both, lambda one: one.right, lambda one: one.mine, overlap),
        _ratio(both, lambda one: one.found, lambda one: one.wanted, overlap),
        _ratio(
            both, lambda one: one.right + one.found, lambda one: one.mine + one.wanted, overlap
        ),
        exact_share(exact, len(wanted), lack),
    )


def _ratio(
    both: Sequence[HeadPairCounts],
    part: Callable[[HeadPairCounts], int],
    whole: Callable[[HeadPairCounts], int],
    why: str,
) -> Measure:
    total = sum(map(whole, both))
    if not total:
        return undefined(why)
    no_interval = "Heads of one answer depend on each other, so there is no exact interval."
    return Measure(sum(map(part, both)) / total, None, None, total, no_interval)
