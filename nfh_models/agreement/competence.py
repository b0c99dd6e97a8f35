"""How far each annotator can be trusted: what each vote is measured by, collected once.

A vote is held against what an expert decided, where one did, and against the other votes.
The passages are not kept: a vote takes a few hundred bytes, so that a million fit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from nfh_models.agreement.judged import Judged, Timed
from nfh_models.agreement.tables import decision
from nfh_models.domain import Answer, Kind, compare
from nfh_models.domain.compare import same_head

Checks = Mapping[tuple[int, str], Answer]
"""The known answer of each check item, by the anchor's key and the name of who was asked."""


@dataclass(frozen=True, slots=True)
class Heads:
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
    heads: Heads | None


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
class Marks:
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


def collect(items: Iterable[Judged], checks: Checks | None = None) -> Marks:
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

    def add(self, item: Judged) -> None:
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
        item: Judged,
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
        self, item: Judged, expert: Answer | None, equal: Mapping[tuple[str, str], bool]
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

    def done(self) -> Marks:
        return Marks(
            {name: tuple(self.people[name]) for name in sorted(self.people)},
            {pair: Together(*counts) for pair, counts in sorted(self.together.items())},
            dict(self.own),
            self.items,
            self.decided,
            self.unanimous,
        )


def _equal(item: Judged, one: str, other: str) -> bool:
    return not _differs(item.votes[one].answer, item.votes[other].answer, item)


def _differs(left: Answer, right: Answer, item: Judged) -> bool:
    return compare(left, right, item.lemmas).blocking is not None


def _identical(left: Answer, right: Answer) -> bool:
    return left.without_comment() == right.without_comment()


def _against(vote: Answer, known: Answer | None, item: Judged) -> Against | None:
    """None, too, where either is NFH, which names no kind."""
    if known is None or Kind.NFH in (vote.kind, known.kind):
        return None
    equal = not _differs(vote, known, item)
    both = vote.kind is Kind.REFERENCE and known.kind is Kind.REFERENCE
    return Against(known.kind, equal, _heads(vote, known, item) if both else None)


def _heads(vote: Answer, known: Answer, item: Judged) -> Heads:
    same = [
        [same_head(mine, wanted, item.lemmas) for wanted in known.heads] for mine in vote.heads
    ]
    return Heads(
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
