"""The log of one thing in two copies: where the two parted, and what becomes of it.

A thing is somebody's answer in a role, the gold, somebody's flag, or an anchor itself. Its
chain is its events, oldest first. Everything here is in the terms of this copy: ids of the
other one were mapped before.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import takewhile

from nfh_db.records import Rule
from nfh_db.values import AnchorValue, AnswerValue, FlagValue, GoldValue, Value, encode

BEGIN = "begin"
"""The kind of the step that an import makes by bringing an anchor: it is in no log."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a thing. by, at, kind, batch: of its act. raw: `after` as its copy says."""

    event: int
    act: int
    kind: str
    by: str | None
    at: str
    batch: int | None
    raw: str | None
    value: Value | None


Chain = Sequence[Step]


class Fate(Enum):
    """What becomes of a thing."""

    NOTHING = auto()
    """The other copy has nothing more of it."""
    TAKE = auto()
    """What the other copy has more comes in."""
    AGREED = auto()
    """Both changed it, to the same."""
    MOOT = auto()
    """The other copy changed it and changed it back."""
    CONFLICT = auto()
    """Both changed it, each otherwise."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a thing.

    tail: what the other copy has more. rebased: it is to follow what is here now, and not what
    it followed there. found: by what events of the common past found and left there, what
    they found and left here. alike: values that both hold, spelt otherwise, there and here.
    pairs: acts that are the same, there and here. skipped: acts there of the common past that
    this copy did not take.
    """

    fate: Fate
    tail: Chain = ()
    rebased: bool = False
    found: dict[str | None, str | None] = field(default_factory=dict)
    alike: tuple[tuple[Value | None, Value | None], ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    skipped: frozenset[int] = frozenset()


def content(value: Value | None) -> tuple[object, ...]:
    """What a value says, without who, when and how."""
    if isinstance(value, (AnswerValue, GoldValue)):
        return (
            value.kind,
            value.heads,
            value.relation,
            value.sort,
            value.noun,
            value.comment,
        )
    if isinstance(value, AnchorValue):
        return value.passage, value.start, value.stop, value.replaces, value.replaced_by
    return ("set", value.span) if isinstance(value, FlagValue) else ()


def _whole(value: Value | None) -> tuple[object, ...]:
    """What a value says and whose it is, without times: imports of one file differ there."""
    if isinstance(value, GoldValue):
        return *content(value), value.rule, value.by
    return content(value)


def _identity(step: Step) -> tuple[object, ...]:
    """Equal for one event that both copies hold."""
    if step.kind == "import":
        return "import", step.batch, _whole(step.value)
    return step.kind, step.by, step.at, _whole(step.value)


def compare(here: Chain, there: Chain) -> Verdict:
    """What becomes of a thing with these chains."""
    past = _past(here, there)
    mine, theirs = here[past.here :], there[past.there :]
    fate, rebased = _fate(_last(here[: past.here]), mine, there[: past.there], theirs)
    found = _found(here, there, past.pairs)
    alike = tuple((there[other].value, here[one].value) for one, other in past.pairs)
    pairs = tuple(
        (there[other].act, here[one].act)
        for one, other in past.pairs
        if here[one].kind != BEGIN
    )
    paired = {other for _, other in past.pairs}
    skipped = {there[place].act for place in range(past.there) if place not in paired}
    return Verdict(fate, theirs, rebased, found, alike, pairs, frozenset(skipped))


def _found(
    here: Chain, there: Chain, pairs: Sequence[tuple[int, int]]
) -> dict[str | None, str | None]:
    """What an event that both hold found and left, as either copy spells it.

    Its time may differ, where one file was imported to each, and what it found altogether.
    """
    found: dict[str | None, str | None] = {}
    for one, other in pairs:
        found[there[other - 1].raw if other else None] = here[one - 1].raw if one else None
        found[there[other].raw] = here[one].raw
    return found


def _last(chain: Chain) -> Value | None:
    return chain[-1].value if chain else None


# --- where the two parted ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Past:
    """How many steps of each chain are common past, and which of them are the same."""

    here: int
    there: int
    pairs: list[tuple[int, int]]


def _past(here: Chain, there: Chain) -> _Past:
    """The past that both have in common.

    It ends with the last event that both hold: what came before that in only one of them
    was settled when they were merged before.
    """
    mine, theirs = [_identity(step) for step in here], [_identity(step) for step in there]
    both = set(mine) & set(theirs)
    one = _up_to(mine, both)
    other = _up_to(theirs, both)
    if both and mine[one - 1] != theirs[other - 1]:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False))
        one = other = len(list(same))
    pairs = list(_pairs(mine[:one], theirs[:other]))
    return _Past(one, other, pairs)


def _up_to(keys: Sequence[tuple[object, ...]], both: set[tuple[object, ...]]) -> int:
    return max((place for place, key in enumerate(keys, 1) if key in both), default=0)


def _pairs(
    mine: Sequence[tuple[object, ...]], theirs: Sequence[tuple[object, ...]]
) -> Iterator[tuple[int, int]]:
    waiting: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for place, key in enumerate(mine):
        waiting[key].append(place)
    for place, key in enumerate(theirs):
        if waiting[key]:
            yield waiting[key].popleft(), place


# --- what becomes of it -----------------------------------------------------------------


def _fate(
    base: Value | None, mine: Chain, past_there: Chain, theirs: Chain
) -> tuple[Fate, bool]:
    """The fate, and whether what comes in follows what is here now."""
    if not theirs:
        return Fate.NOTHING, False
    if not mine:
        return Fate.TAKE, False
    now, then = _last(mine), _last(theirs)
    if _whole(now) == _whole(then):
        return Fate.AGREED, False
    if encode(now) == encode(base) and (theirs[0].kind != BEGIN or theirs[0].act):
        return Fate.TAKE, False
    if theirs[-1].raw == (past_there[-1].raw if past_there else None):
        return Fate.MOOT, False
    if BEGIN in (mine[0].kind, theirs[0].kind):
        # A file brought the span to one copy, and a person made it in the other.
        return Fate.CONFLICT, False
    if _outranks(then, now):
        return Fate.TAKE, True
    same = content(now) == content(then) or _outranks(now, then)
    return (Fate.AGREED if same else Fate.CONFLICT), False


def _outranks(one: Value | None, other: Value | None) -> bool:
    """True if one gold is an expert's and the other is not: in one copy it would have won."""
    return (
        isinstance(one, GoldValue)
        and isinstance(other, GoldValue)
        and one.rule == Rule.EXPERT
        and other.rule != Rule.EXPERT
    )
