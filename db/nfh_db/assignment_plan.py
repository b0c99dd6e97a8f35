"""Assignments: planning them, with hidden check items, writing them, and people's progress."""

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from nfh_db import answers, system
from nfh_db.anchors import VISIBLE
from nfh_db.assignments import OPEN_NOW, Purpose
from nfh_db.connection import Connection, WriteSize, write_in_steps
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Annotator, Role
from nfh_db.serialization import encode, json_of

# Gold of the kind NFH leaves the anchor open.
KNOWN = f"""
SELECT g.anchor_id, n.name
FROM gold AS g JOIN anchor AS a ON a.id = g.anchor_id
LEFT JOIN annotator AS n ON n.id = g.annotator_id
WHERE g.removed = 0 AND g.rule IN ('expert', 'imported') AND g.kind <> 'NFH' AND {VISIBLE}
ORDER BY g.anchor_id"""  # noqa: S608 - made of constants
ANSWERED = "SELECT anchor_id FROM answer WHERE annotator_id = :person AND removed = 0"
GIVEN_TO_PERSON = """
SELECT anchor_id, purpose, state, position FROM assignment
WHERE annotator_id = :person AND role = 'annotator' AND state <> 'returned'"""


@dataclass(frozen=True, slots=True)
class CheckItem:
    """What somebody was assigned as an annotator. positions: of the open assignments."""

    work: int
    checks: int
    positions: tuple[int, ...]


def known_golds(connection: Connection) -> dict[int, str | None]:
    """The anchors with expert or imported gold, and the name of who decided each."""
    return dict(connection.execute(KNOWN).fetchall())


def read_check_item(connection: Connection, person_id: int) -> CheckItem:
    rows = connection.execute(GIVEN_TO_PERSON, {"person": person_id}).fetchall()
    return CheckItem(
        sum(purpose == "work" for _, purpose, _, _ in rows),
        sum(purpose == "check" for _, purpose, _, _ in rows),
        tuple(position for _, _, state, position in rows if state == "open"),
    )


def draw(
    connection: Connection,
    golds: Mapping[int, str | None],
    person: Annotator,
    taken: Container[int],
    count: int,
    source: Random,
) -> list[tuple[int, str]]:
    """A random sample of at most `count` anchors, each with its gold encoded as in the log.

    Without anchors that the person answered in any role, decided, or was assigned, and without
    `taken`: nobody is checked against their own answer.
    """
    key = {"person": person.id}
    seen = {row[0] for row in connection.execute(ANSWERED, key)}
    seen.update(row[0] for row in connection.execute(GIVEN_TO_PERSON, key))
    could = [
        anchor
        for anchor, by in golds.items()
        if by != person.name and anchor not in seen and anchor not in taken
    ]
    drawn = source.sample(could, max(0, min(count, len(could))))
    values = answers.read_all_gold(connection, drawn)
    return [(anchor, encode(values[anchor]) or "") for anchor in drawn]


# The distribution of items: balanced, no item twice to one person, neighbours together.
#
# These functions are pure. People are indexes from 0.
#
# Balanced is what each person has to answer in the end: what was open before, and what is new.
# Items with the same candidates and the same number of missing answers form a pile. First the
# share of each person in each pile is computed: equal shares, then moved along augmenting paths
# from the person with most items to the one with least, until no path improves the balance.
# Then each pile is repeated once per missing answer, and cut into the shares in turn. No share
# is longer than the pile, so nobody gets an item twice, and neighbours are separated only at
# the end of a share (McNaughton's wrap-around rule).


@dataclass(frozen=True, slots=True)
class AssignmentShortfall:
    """The number of answers that an item lacks, and the people who may give one."""

    need: int
    may: frozenset[int]


@dataclass(slots=True)
class _Pile:
    """Items with the same shortfall. places: their indexes. shares: number by person."""

    places: list[int]
    need: int
    shares: dict[int, int]

    def room(self, person: int) -> int:
        return len(self.places) - self.shares[person]


def assign(items: Sequence[AssignmentShortfall], open_before: Sequence[int]) -> list[list[int]]:
    """The people for each item, ascending.

    open_before: of each person, the number of items that they have not answered yet. An item
    that lacks more answers than it has candidates goes to all of them. Neighbours in `items` go
    to the same people where possible.
    """
    piles = _piles(items)
    loads = dict(enumerate(open_before))
    for pile in piles:
        _share_out(pile, loads)
    _even_out(piles, loads)
    given: list[list[int]] = [[] for _ in items]
    for pile in piles:
        for place, person in _cut(pile):
            given[place].append(person)
    return [sorted(one) for one in given]


def _piles(items: Sequence[AssignmentShortfall]) -> list[_Pile]:
    found: dict[tuple[frozenset[int], int], _Pile] = {}
    for place, item in enumerate(items):
        need = min(item.need, len(item.may))
        if need > 0:
            key = (item.may, need)
            if key not in found:
                found[key] = _Pile([], need, dict.fromkeys(sorted(item.may), 0))
            found[key].places.append(place)
    # Piles with the fewest candidates first: they leave the least choice.
    return sorted(found.values(), key=lambda pile: (len(pile.shares), min(pile.places)))


def _share_out(pile: _Pile, loads: dict[int, int]) -> None:
    """Equal shares of a pile; the remainder goes to the people with the lowest load."""
    total = pile.need * len(pile.places)
    even, over = divmod(total, len(pile.shares))
    by_load = sorted(pile.shares, key=lambda person: (loads[person], person))
    for rank, person in enumerate(by_load):
        pile.shares[person] = even + (rank < over)
        loads[person] += pile.shares[person]


def _even_out(piles: Sequence[_Pile], loads: dict[int, int]) -> None:
    """Move items along paths until no path improves the balance."""
    while True:
        for person in sorted(loads, key=lambda one: -loads[one]):
            if _unload(piles, loads, person):
                break
        else:
            return


def _unload(piles: Sequence[_Pile], loads: dict[int, int], person: int) -> bool:
    """Move items from a person to the reachable one with the lowest load; False if none."""
    came = _reached(piles, person)
    least = min(came, key=lambda one: (loads[one], one))
    surplus = (loads[person] - loads[least]) // 2
    if surplus < 1:
        return False
    chain = [least]
    while chain[-1] != person:
        chain.append(came[chain[-1]])
    links = [
        (giver, taker, max(piles, key=lambda pile: _could_pass(pile, giver, taker)))
        for taker, giver in pairwise(chain)
    ]
    moved = min(surplus, *(_could_pass(pile, giver, taker) for giver, taker, pile in links))
    for giver, taker, pile in links:
        pile.shares[giver] -= moved
        pile.shares[taker] += moved
    loads[person] -= moved
    loads[least] += moved
    return True


def _reached(piles: Sequence[_Pile], person: int) -> Mapping[int, int]:
    """The people whom items can be moved to along paths, each with the previous person."""
    came = {person: person}
    waiting = deque([person])
    while waiting:
        giver = waiting.popleft()
        for pile in piles:
            for taker in pile.shares:
                if taker not in came and _could_pass(pile, giver, taker):
                    came[taker] = giver
                    waiting.append(taker)
    return came


def _could_pass(pile: _Pile, giver: int, taker: int) -> int:
    if giver not in pile.shares or taker not in pile.shares:
        return 0
    return min(pile.shares[giver], pile.room(taker))


def _cut(pile: _Pile) -> Iterable[tuple[int, int]]:
    """Index and person of each assigned item."""
    at = 0
    for person, share in pile.shares.items():
        for step in range(at, at + share):
            yield pile.places[step % len(pile.places)], person
        at += share


PASSAGES = """
SELECT a.id, a.passage_id FROM json_each(:ids) AS j CROSS JOIN anchor AS a ON a.id = j.value"""
ANSWERS = """
SELECT w.anchor_id, w.annotator_id
FROM json_each(:ids) AS j CROSS JOIN answer AS w ON w.anchor_id = j.value
CROSS JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.role = :role AND n.type = 'person' AND w.removed = 0"""
GIVEN_OF_ANCHORS = """
SELECT s.anchor_id, s.annotator_id, s.id, s.purpose, s.state, s.assigned_at
FROM json_each(:ids) AS j CROSS JOIN assignment AS s ON s.anchor_id = j.value
WHERE s.role = :role"""
OPEN_OF_PEOPLE = f"""
SELECT annotator_id, count(*), sum(purpose = 'audit' OR assigned_at > :before) FROM assignment
WHERE role = :role AND {OPEN_NOW} AND purpose <> 'check' GROUP BY annotator_id"""  # noqa: S608
LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM assignment
WHERE annotator_id = :person AND role = :role"""
STEP = 1_000
"""Distance between the positions of two items: leaves room for checks between them."""

READ_AT_ONCE = 20_000
BOTH = 2
"""Adjudicators of an item that is decided twice."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, or a percentage of a total."""

    number: float
    percent: bool = False

    def of(self, total: int) -> int:
        """The number for a total; a percentage is rounded."""
        return round(total * self.number / 100) if self.percent else int(self.number)


@dataclass(frozen=True, slots=True)
class AssignmentRequest:
    """The options of an assignment run."""

    each: int = 1
    """Answers that an item is to have in total."""

    role: Role = Role.ANNOTATOR
    checks: Amount | None = None
    """Hidden check items; a percentage is of a person's own items."""

    doubles: Amount | None = None
    """Items to be decided by two; a percentage is of the query's items."""

    seed: int | None = None
    """Shuffles the passages; None keeps the order of the query."""

    abandoned: str = ""
    """A time. Assignments from before it, of people who have finished nothing since, are
    ignored."""


@dataclass(slots=True)
class AssignedItem:
    """The answers and assignments of an item."""

    have: set[int] = field(default_factory=set)
    """People who answered it, or have an open assignment that is not abandoned."""

    decided: set[int] = field(default_factory=set)
    """People who answered it."""

    abandoned: list[int] = field(default_factory=list)
    """Ids of abandoned assignments."""

    double: bool = False
    """Whether it was ever assigned to be decided by two."""


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """An assignment to be written. position: in the order of the person."""

    anchor: int
    person: int
    purpose: Purpose
    position: int
    expected: str | None = None


@dataclass(slots=True)
class AssignmentPlan:
    """The assignments to be written, with counts for the report."""

    run: str
    """The time of the plan; it identifies the run."""

    role: Role
    each: int
    abandoned: str
    last: Mapping[tuple[int, str], str]
    """As of `last_done`."""

    slots: dict[int, list[OpenSlot]] = field(default_factory=dict)
    """By item."""

    checks: list[OpenSlot] = field(default_factory=list)
    doubles: set[int] = field(default_factory=set)
    """Items to be decided by two."""

    filled: int = 0
    """Items that lack no answer."""

    short: int = 0
    """Items with fewer candidates than missing answers."""

    checks_short: int = 0
    """Checks that could not be assigned for want of known gold."""

    returned: int = 0
    """Abandoned assignments that are replaced by others."""

    def target(self, anchor: int) -> int:
        """The number of answers that an item is to have."""
        return max(self.each, BOTH) if anchor in self.doubles else self.each


def last_done(connection: Connection) -> dict[tuple[int, str], str]:
    """When each person last finished an assignment, by id and role."""
    return {(person, role): at for person, role, at in connection.execute(LAST_DONE)}


def known_of(
    connection: Connection, ids: Sequence[int], plan: AssignmentPlan
) -> dict[int, AssignedItem]:
    """The answers and assignments of items in the role of a plan."""
    found = {anchor: AssignedItem() for anchor in ids}
    role, before = plan.role, plan.abandoned
    for key in _keys(ids, role):
        for anchor, person in connection.execute(ANSWERS, key):
            found[anchor].have.add(person)
            found[anchor].decided.add(person)
        for anchor, person, id_, purpose, state, at in connection.execute(
            GIVEN_OF_ANCHORS, key
        ):
            known = found[anchor]
            known.double |= purpose == Purpose.DOUBLE
            if state != "open":
                continue
            gone = at <= before and plan.last.get((person, role.value), "") <= before
            if gone and purpose != Purpose.AUDIT:
                known.abandoned.append(id_)
            else:
                known.have.add(person)
    return found


def _keys(ids: Sequence[int], role: Role) -> Iterable[dict[str, str]]:
    for first in range(0, len(ids), READ_AT_ONCE):
        some = list(ids[first : first + READ_AT_ONCE])
        yield {"ids": json_of(some), "role": role.value}


def plan(
    connection: Connection,
    ids: Sequence[int],
    people: Sequence[Annotator],
    wanted: AssignmentRequest,
) -> AssignmentPlan:
    """Plan the assignments of these items. Needs a connection in a read transaction."""
    last = last_done(connection)
    made = AssignmentPlan(system.now(), wanted.role, wanted.each, wanted.abandoned, last)
    known = known_of(connection, ids, made)
    numbers = [person.id for person in people]
    made.doubles = _doubles(ids, known, numbers, wanted)
    passage = dict(
        row for key in _keys(ids, wanted.role) for row in connection.execute(PASSAGES, key)
    )
    order = shuffled(ids, passage, wanted.seed or 0)
    lacking = [_lacking(made, anchor, known[anchor], numbers) for anchor in order]
    loads = _open_of(connection, made, numbers)
    dealt = dict(zip(order, assign(lacking, loads), strict=True))
    for place, anchor in enumerate(order):
        needs = lacking[place].need
        made.filled += not needs
        made.short += len(dealt[anchor]) < needs
        made.returned += len(known[anchor].abandoned) if dealt[anchor] else 0
    _place(connection, made, ids, passage, dealt, people, wanted)
    if wanted.checks is not None:
        _add_checks(connection, made, people, wanted.checks, wanted.seed or 0)
    return made


def _open_of(connection: Connection, made: AssignmentPlan, people: Sequence[int]) -> list[int]:
    """How many items each person was given in the plan's role, and has not answered.

    Not counted are hidden checks, which go by a person's items, and what is abandoned.
    """
    role, before = made.role.value, made.abandoned
    found = {
        person: recent if made.last.get((person, role), "") <= before else every
        for person, every, recent in connection.execute(
            OPEN_OF_PEOPLE, {"role": role, "before": before}
        )
    }
    return [found.get(person, 0) for person in people]


def _lacking(
    made: AssignmentPlan, anchor: int, known: AssignedItem, people: Sequence[int]
) -> AssignmentShortfall:
    need = max(0, made.target(anchor) - len(known.have))
    may = frozenset(number for number, person in enumerate(people) if person not in known.have)
    return AssignmentShortfall(need, may)


def _doubles(
    ids: Sequence[int],
    known: Mapping[int, AssignedItem],
    people: Sequence[int],
    wanted: AssignmentRequest,
) -> set[int]:
    """The items to be decided by two: the former ones, and a sample up to the amount."""
    found = {anchor for anchor in ids if known[anchor].double}
    more = (wanted.doubles.of(len(ids)) if wanted.doubles else 0) - len(found)
    could = [
        anchor
        for anchor in sorted(ids)
        if anchor not in found
        and len(known[anchor].decided) < BOTH
        and len(known[anchor].have.union(people)) >= BOTH
    ]
    source = seeded_random("double", wanted.seed or 0)
    return found.union(source.sample(could, max(0, min(more, len(could)))))


def seeded_random(*what: object) -> Random:
    """A random generator seeded by the given values."""
    return Random(repr(what))  # noqa: S311 - an order, no secret


def shuffled(ids: Sequence[int], passage: Mapping[int, int], seed: object) -> list[int]:
    """The items with the passages shuffled; the items of a passage keep their order."""
    groups: dict[int, list[int]] = {}
    for anchor in ids:
        groups.setdefault(passage[anchor], []).append(anchor)
    mixed = list(groups.values())
    seeded_random("order", seed).shuffle(mixed)
    return [anchor for group in mixed for anchor in group]


def _place(
    connection: Connection,
    made: AssignmentPlan,
    ids: Sequence[int],
    passage: Mapping[int, int],
    dealt: Mapping[int, Sequence[int]],
    people: Sequence[Annotator],
    wanted: AssignmentRequest,
) -> None:
    """Add the slots of each person, after the assignments that the person has."""
    for number, person in enumerate(people):
        order = ids
        if wanted.seed is not None:
            order = shuffled(ids, passage, (wanted.seed, person.name))
        key = {"person": person.id, "role": wanted.role.value}
        last = connection.execute(LAST_POSITION, key).fetchone()[0]
        position = last // STEP * STEP
        for anchor in order:
            if number in dealt[anchor]:
                position += STEP
                purpose = Purpose.DOUBLE if anchor in made.doubles else Purpose.WORK
                slot = OpenSlot(anchor, person.id, purpose, position)
                made.slots.setdefault(anchor, []).append(slot)


def _add_checks(
    connection: Connection,
    made: AssignmentPlan,
    people: Sequence[Annotator],
    amount: Amount,
    seed: int,
) -> None:
    """Add the hidden checks that each person lacks, between their open items."""
    mine: dict[int, dict[int, int]] = {person.id: {} for person in people}
    for slots in made.slots.values():
        for slot in slots:
            mine[slot.person][slot.anchor] = slot.position
    golds = known_golds(connection)
    for person in people:
        new = mine[person.id]
        there = read_check_item(connection, person.id)
        work = there.work + len(new)
        # Without other items a check would not be hidden.
        lacks = amount.of(work) - there.checks if work else 0
        source = seeded_random("check", seed, person.name)
        drawn = draw(connection, golds, person, new, lacks, source)
        made.checks_short += max(0, lacks) - len(drawn)
        among = [*there.positions, *new.values()]
        for anchor, expected in drawn:
            position = source.choice(among) + source.randrange(1, STEP) if among else STEP
            made.checks.append(OpenSlot(anchor, person.id, Purpose.CHECK, position, expected))


# Writing assignments, and returning abandoned ones, in short transactions.
#
# Each transaction reads the present answers and assignments of its anchors, so that no item is
# assigned once too often if somebody answers, or another run assigns, at the same time. An
# interrupted run has written a part; the same call again writes the rest.

RETURN = """
UPDATE assignment SET state = 'returned'
WHERE id IN (SELECT value FROM json_each(:ids)) AND state = 'open'"""
MAKE_DOUBLE = """
UPDATE assignment SET purpose = 'double'
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND role = 'adjudicator'
    AND state = 'open' AND purpose = 'work'"""
GIVE = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, expected, run,
    assigned_at)
VALUES (:anchor, :person, :role, :purpose, :position, :expected, :run, :run)
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    purpose = excluded.purpose, state = 'open', position = excluded.position,
    expected = excluded.expected, verdict = NULL, stratum = NULL, run = excluded.run,
    assigned_at = excluded.assigned_at, finished_at = NULL
WHERE state = 'returned'"""

WRITE_SIZE = WriteSize(first=100, smallest=10, largest=2_000, seconds=0.015)
"""Items, checks or assignments."""

Writing = Callable[[], AbstractContextManager[Connection]]
"""Begins a new transaction at each call."""


def give(writing: Writing, plan: AssignmentPlan, tell: Callable[[int], None]) -> list[OpenSlot]:
    """Write a plan; the slots written. tell: called with their number so far."""
    done: list[OpenSlot] = []

    def items(connection: Connection, some: Sequence[int]) -> None:
        done.extend(_give_items(connection, plan, some))
        tell(len(done))

    def checks(connection: Connection, some: Sequence[OpenSlot]) -> None:
        done.extend(_give_checks(connection, plan, some))
        tell(len(done))

    # Doubles that lack nobody still have to be marked as such.
    anchors = list(dict.fromkeys([*plan.slots, *sorted(plan.doubles)]))
    write_in_steps(writing, anchors, items, WRITE_SIZE)
    write_in_steps(writing, plan.checks, checks, WRITE_SIZE)
    return done


def _give_items(
    connection: Connection, plan: AssignmentPlan, anchors: Sequence[int]
) -> list[OpenSlot]:
    """Assign what these items lack now, and return their abandoned assignments."""
    known = known_of(connection, anchors, plan)
    given: list[OpenSlot] = []
    back: list[int] = []
    for anchor in anchors:
        have = known[anchor].have
        before = len(given)
        for slot in plan.slots.get(anchor, ()):
            if slot.person not in have and len(have) < plan.target(anchor):
                have.add(slot.person)
                given.append(slot)
        if len(given) > before:
            back += known[anchor].abandoned
    connection.execute(RETURN, {"ids": json_of(back)})
    doubles = [anchor for anchor in anchors if anchor in plan.doubles]
    connection.execute(MAKE_DOUBLE, {"ids": json_of(doubles)})
    _insert(connection, plan, given)
    return given


def _give_checks(
    connection: Connection, plan: AssignmentPlan, slots: Sequence[OpenSlot]
) -> list[OpenSlot]:
    """Assign the checks whose person has not got the item otherwise."""
    anchors = sorted({slot.anchor for slot in slots})
    known = known_of(connection, anchors, plan)
    given = [slot for slot in slots if slot.person not in known[slot.anchor].have]
    _insert(connection, plan, given)
    return given


def _insert(connection: Connection, plan: AssignmentPlan, slots: Iterable[OpenSlot]) -> None:
    of_all = {"role": plan.role, "run": plan.run}
    connection.executemany(GIVE, [asdict(slot) | of_all for slot in slots])


def take_back(writing: Writing, ids: Sequence[int]) -> None:
    """Mark open assignments as returned."""

    def some_back(connection: Connection, some: Sequence[int]) -> None:
        connection.execute(RETURN, {"ids": json_of(list(some))})

    write_in_steps(writing, ids, some_back, WRITE_SIZE)


def counted(
    slots: Iterable[OpenSlot], people: Sequence[Annotator]
) -> dict[str, dict[str, int]]:
    """The number of slots by person's name and purpose."""
    counts: dict[int, Counter[Purpose]] = {person.id: Counter() for person in people}
    for slot in slots:
        counts[slot.person][slot.purpose] += 1
    return {
        person.name: {purpose.value: counts[person.id][purpose] for purpose in Purpose}
        for person in people
    }


PEOPLE = """
SELECT n.name, s.role, s.annotator_id,
    sum(s.state <> 'returned'), sum(s.state = 'done'), sum(s.state = 'open'),
    sum(s.state = 'returned'),
    sum(s.purpose = 'check' AND s.state <> 'returned'),
    sum(s.purpose = 'check' AND s.state = 'done'),
    sum(s.purpose = 'check' AND s.state = 'done' AND s.verdict = 'right'),
    sum(s.state = 'open' AND s.purpose <> 'audit' AND s.assigned_at <= :before)
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
WHERE s.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where}) AND n.merged_into IS NULL
GROUP BY s.annotator_id, s.role ORDER BY n.name, s.role"""
LAST_DONE = """
SELECT annotator_id, role, max(finished_at) FROM assignment
WHERE state = 'done' GROUP BY annotator_id, role"""
# An audit is a sample: it is drawn again, and not reassigned.
OPEN = """
SELECT s.id, n.name, s.annotator_id, s.role
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
WHERE s.state = 'open' AND s.purpose <> 'audit' AND s.assigned_at <= :before
    AND s.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where})
ORDER BY n.name, s.id"""


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """The progress of one person in one role."""

    name: str
    role: Role
    assigned: int
    """Done or open, not returned."""

    done: int
    open: int
    returned: int
    checks: int
    """Hidden checks among the assigned ones."""

    checks_done: int
    checks_right: int
    """Answered without a blocking difference from gold."""

    last: str | None
    """When an assignment was last finished."""

    abandoned: int
    """Open for too long."""


def days_ago(days: float) -> str:
    """The time `days` before now, in the format of the store."""
    past = datetime.fromisoformat(system.now()) - timedelta(days=days)
    return past.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_progress(
    connection: Connection, query: Query, me_id: int, before: str
) -> tuple[PersonProgress, ...]:
    """The progress of everybody who was assigned anchors of a query, by name and role."""
    last = last_done(connection)
    compiled = compile_query(query, me_id)
    statement = PEOPLE.format(where=compiled.where)
    rows = connection.execute(statement, compiled.parameters | {"before": before})
    found = []
    for name, role, person, *counts, waiting in rows:
        at = last.get((person, role))
        gone = waiting if (at or "") <= before else 0
        found.append(PersonProgress(*(name, Role(role), *counts, at, gone)))
    return tuple(found)


def read_abandoned(
    connection: Connection, query: Query, me_id: int, before: str, name: str | None = None
) -> dict[str, list[int]]:
    """Assignments from before a time of people who have finished nothing since, by name.

    name: only those of this person.
    """
    last = last_done(connection)
    compiled = compile_query(query, me_id)
    statement = OPEN.format(where=compiled.where)
    found: dict[str, list[int]] = {}
    for id_, who, person, role in connection.execute(
        statement, compiled.parameters | {"before": before}
    ):
        if name in (None, who) and last.get((person, role), "") <= before:
            found.setdefault(who, []).append(id_)
    return found
