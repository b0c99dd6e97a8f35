"""How far each annotator can be trusted: measured against what is known, and, without any
gold, by Dawid and Skene's model and MACE.

A vote is held against what an expert decided, where one did, and against the other votes.
The passages are not kept: a vote takes a few hundred bytes, so that a million fit.
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

if TYPE_CHECKING:
    import pandas as pd

    from nfh_models.agreement.bootstrap import Floats


Checks = Mapping[tuple[int, str], Answer]
"""The known answer of each check item, by the anchor's key and the name of who was asked."""


@dataclass(frozen=True, slots=True)
class HeadPairCounts:
    """Two answers that both say REFERENCE, head by head, by noun.

    mine, wanted: heads of the vote and of the decision. right: of mine, how many are
    wanted; found: of the wanted ones, how many are among mine.
    """

    mine: int
    wanted: int
    right: int
    found: int

    @property
    def exact(self) -> bool:
        """Whether all heads are the same."""
        return self.right == self.mine and self.found == self.wanted


@dataclass(frozen=True, slots=True)
class Against:
    """A vote against one known answer.

    kind: of the known answer. equal: nothing blocks between the two. heads: only where both
    say REFERENCE.
    """

    kind: Kind
    equal: bool
    heads: HeadPairCounts | None


@dataclass(frozen=True, slots=True)
class Mark:
    """One vote, and how it stands to what is known.

    item: the anchor's key. at, seconds: as in Timed. expert: against what an expert decided;
    None where none did, or the expert is this very person. check: against the known answer
    of a check item. majority: the kind that more than half of the others name, of two or
    more; agreeing: the share of the others that the vote differs from in nothing that
    blocks; both None without others. nearest: whether a REFERENCE names the closest noun;
    None where that was not looked for.
    """

    item: int
    kind: Kind
    at: str
    seconds: float | None
    expert: Against | None
    check: Against | None
    majority: Kind | None
    agreeing: float | None


@dataclass(frozen=True, slots=True)
class Together:
    """Two people: items that both answered, and on how many their answers are one and the
    same, mentions included. unlike: of those, items on which somebody else, or an expert,
    says another thing."""

    items: int
    same: int
    unlike: int


@dataclass(frozen=True, slots=True)
class PersonVotes:
    """All votes, by person.

    own: how many votes of each person are left out of `Mark.expert`, since that person
    decided the item as an expert. items: how many there are; decided: by an expert.
    unanimous: how many of the decided ones have two votes and more that do not differ.
    """

    people: Mapping[str, tuple[Mark, ...]]
    together: Mapping[tuple[str, str], Together]
    own: Mapping[str, int]
    items: int
    decided: int
    unanimous: int


def collect(items: Iterable[AnsweredAnchor], checks: Checks | None = None) -> PersonVotes:
    """Hold every vote against what is known. Items are looked at one by one, none is kept."""
    collected = _Collected(checks or {})
    for item in items:
        collected.add(item)
    return collected.done()


@dataclass(slots=True)
class _Collected:
    checks: Checks
    people: dict[str, list[Mark]] = field(default_factory=lambda: defaultdict(list))
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
            (one, other): _equal(item, one, other) for one, other in combinations(names, 2)
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
    ) -> Mark:
        vote = item.votes[name]
        others = [other for other in item.votes if other != name]
        agreeing = [equal[min(name, other), max(name, other)] for other in others]
        check = self.checks.get((item.key, name))
        return Mark(
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
            if not _identical(left, item.votes[other].answer):
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
            {pair: Together(*counts) for pair, counts in sorted(self.together.items())},
            dict(self.own),
            self.items,
            self.decided,
            self.unanimous,
        )


def _equal(item: AnsweredAnchor, one: str, other: str) -> bool:
    return not _differs(item.votes[one].answer, item.votes[other].answer, item)


def _differs(left: Answer, right: Answer, item: AnsweredAnchor) -> bool:
    return compare(left, right, item.lemmas).blocking is not None


def _identical(left: Answer, right: Answer) -> bool:
    return left.without_comment() == right.without_comment()


def _against(vote: Answer, known: Answer | None, item: AnsweredAnchor) -> Against | None:
    """None, too, where either is NFH, which names no kind."""
    if known is None or Kind.NFH in (vote.kind, known.kind):
        return None
    equal = not _differs(vote, known, item)
    both = vote.kind is Kind.REFERENCE and known.kind is Kind.REFERENCE
    return Against(known.kind, equal, _heads(vote, known, item) if both else None)


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
class KindConfusion:
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
    confusion: KindConfusion | None


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


def estimate(marks: PersonVotes) -> Latent:
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


def _columns(marks: PersonVotes) -> _Votes:
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
) -> tuple[dict[Kind, float], list[float], list[KindConfusion]]:
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
            KindConfusion(
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


def _person(
    votes: int, accuracy: float, spamming: float, confusion: KindConfusion
) -> LatentPerson:
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


@dataclass(frozen=True, slots=True)
class HeadAccuracy:
    """Heads by noun, where the decision and the vote both say REFERENCE.

    exact: all heads the same; n counts votes. precision, recall, f1: over heads; n counts
    heads of the votes, of the decisions, of both. overall: of all decisions REFERENCE, how
    many got REFERENCE with exactly these heads; n counts decisions.
    """

    exact: Measure
    precision: Measure
    recall: Measure
    f1: Measure
    overall: Measure


@dataclass(frozen=True, slots=True)
class KnownAnswerScore:
    """One person against known answers.

    equal: whole answers that differ in nothing that blocks. kind: the same kind. Both with
    an exact interval. confusion: rows the known kinds, columns what the person said.
    """

    votes: int
    equal: Measure
    kind: Measure
    heads: HeadAccuracy
    confusion: KindConfusion | None


def against_known(
    marks: Iterable[Mark], known: Callable[[Mark], Against | None], nothing: str
) -> KnownAnswerScore:
    """One person's votes against what `known` gives for them; `nothing` says why, if none."""
    held = [(mark, answer) for mark in marks if (answer := known(mark)) is not None]
    return KnownAnswerScore(
        len(held),
        exact_share(sum(answer.equal for _, answer in held), len(held), nothing),
        exact_share(sum(m.kind is a.kind for m, a in held), len(held), nothing),
        _head_accuracy([answer for _, answer in held], nothing),
        confusion((answer.kind, mark.kind) for mark, answer in held),
    )


def against_others(marks: Iterable[Mark]) -> KindConfusion | None:
    """One person's kinds against the majority of the others, where no expert decided."""
    return confusion(
        (mark.majority, mark.kind)
        for mark in marks
        if mark.expert is None and mark.majority is not None and mark.kind is not Kind.NFH
    )


def exact_share(right: int, n: int, nothing: str) -> Measure:
    """A share with its exact interval, that of Clopper and Pearson."""
    if not n:
        return undefined(nothing)
    return Measure(right / n, *interval(right, n), n, None)


def confusion(pairs: Iterable[tuple[Kind, Kind]]) -> KindConfusion | None:
    """Counts of (known kind, kind said); only kinds that occur. None for no pairs."""
    counts = Counter(pairs)
    if not counts:
        return None
    met = {kind for pair in counts for kind in pair}
    kinds = tuple(kind for kind in Kind if kind in met)
    rows = tuple(tuple(float(counts[known, said]) for said in kinds) for known in kinds)
    return KindConfusion(kinds, rows, tuple(map(sum, rows)))


def _head_accuracy(answers: Sequence[Against], nothing: str) -> HeadAccuracy:
    wanted = [answer for answer in answers if answer.kind is Kind.REFERENCE]
    both = [answer.heads for answer in wanted if answer.heads is not None]
    exact = sum(heads.exact for heads in both)
    lack = nothing if not answers else "No decision on these votes is REFERENCE."
    overlap = lack if not wanted else "None of the decisions REFERENCE got a vote REFERENCE."
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
    no_interval = "Heads of one answer hang together: no exact interval."
    return Measure(sum(map(part, both)) / total, None, None, total, no_interval)
