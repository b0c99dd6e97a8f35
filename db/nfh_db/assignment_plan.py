"""Assignments planned and written: who is given which anchors, hidden check items among
them, and how far people are with what they were given.
"""

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from nfh_db import answers, system
from nfh_db.anchors import VISIBLE
from nfh_db.assignments import Purpose
from nfh_db.connection import Connection, WriteSize, write_in_steps
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Annotator, Role
from nfh_db.serialization import encode, json_of

# NFH is no full answer: it leaves the anchor open.
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
    """What somebody has been given as an annotator. positions: of what is open."""

    work: int
    checks: int
    positions: tuple[int, ...]


def known_golds(connection: Connection) -> dict[int, str | None]:
    """The anchors whose gold can be counted on, each with the name of who decided it."""
    return dict(connection.execute(KNOWN).fetchall())


def standing(connection: Connection, person_id: int) -> CheckItem:
    """What somebody has, done or open."""
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
    """So many anchors, or all there are, with their gold as the log keeps it, at random.

    None that the person answered in any role, decided, has been given, or is given now
    (`taken`): nobody is checked by what they said themselves.
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


# Dealing items out to people: as evenly as can be, nobody twice, neighbours together.
#
# Nothing is read or written here. People are numbers from 0.
#
# Items that the same people may answer, and that lack as many answers, are one pile. How many
# of each pile a person gets is settled first: even shares, then moved along chains of people
# from whoever has most to whoever has least, until no chain makes them more even. Each pile is
# then laid around once for each answer that it lacks, and cut into the people's shares in
# turn; no share is longer than the pile, so that nobody gets an item twice, and neighbours
# are parted only where one share ends (McNaughton's wrap-around rule).


@dataclass(frozen=True, slots=True)
class AssignmentShortfall:
    """What an item lacks. need: answers; may: who could give one."""

    need: int
    may: frozenset[int]


@dataclass(slots=True)
class _Pile:
    """Items that lack the same. places: where they stand; shares: how many a person gets."""

    places: list[int]
    need: int
    shares: dict[int, int]

    def room(self, person: int) -> int:
        """How many more of the pile a person could get."""
        return len(self.places) - self.shares[person]


def deal(items: Sequence[AssignmentShortfall], people: int) -> list[list[int]]:
    """Who gets each item, each list by number.

    An item that lacks more answers than there are people who may give one goes to all of
    these. Neighbours in `items` go to the same people as far as that can be.
    """
    piles = _piles(items)
    loads = dict.fromkeys(range(people), 0)
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
    # The pile that fewest may answer leaves least choice.
    return sorted(found.values(), key=lambda pile: (len(pile.shares), min(pile.places)))


def _share_out(pile: _Pile, loads: dict[int, int]) -> None:
    """Even shares of one pile; what is left over goes to those who have least."""
    total = pile.need * len(pile.places)
    even, over = divmod(total, len(pile.shares))
    by_load = sorted(pile.shares, key=lambda person: (loads[person], person))
    for rank, person in enumerate(by_load):
        pile.shares[person] = even + (rank < over)
        loads[person] += pile.shares[person]


def _even_out(piles: Sequence[_Pile], loads: dict[int, int]) -> None:
    """Move items from those who have more to those who have less while that can be."""
    while True:
        for person in sorted(loads, key=lambda one: -loads[one]):
            if _unload(piles, loads, person):
                break
        else:
            return


def _unload(piles: Sequence[_Pile], loads: dict[int, int], person: int) -> bool:
    """Pass some of a person's items on to whoever has least of those whom a chain reaches."""
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
    """Everybody whom items could be passed on to, person to person, with who passes them."""
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
    """Place and person of each item given."""
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
LAST_DONE_IN_ROLE = """
SELECT annotator_id, max(finished_at) FROM assignment
WHERE role = :role AND state = 'done' GROUP BY annotator_id"""
LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM assignment
WHERE annotator_id = :person AND role = :role"""
STEP = 1_000
"""Between the positions of two items that one call gives: room for checks between them."""

READ_AT_ONCE = 20_000
BOTH = 2
"""Adjudicators of a double."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, or a share of something in percent."""

    number: float
    percent: bool = False

    def of(self, total: int) -> int:
        """How many that is; of a share the nearest number."""
        return round(total * self.number / 100) if self.percent else int(self.number)


@dataclass(frozen=True, slots=True)
class AssignmentRequest:
    """What a call gives out.

    each: answers that an item gets in all. checks: of each person's own. doubles: of the
    query's items. seed: shuffles; None keeps the query's order. abandoned: a time; what was
    given before it, to somebody who has finished nothing since, counts as given to nobody.
    """

    each: int = 1
    role: Role = Role.ANNOTATOR
    checks: Amount | None = None
    doubles: Amount | None = None
    seed: int | None = None
    abandoned: str = ""


@dataclass(slots=True)
class AssignedItem:
    """What is known of one item.

    have: who answered it, or was given it and may be waited for. abandoned: rows of those
    who were given it and are not waited for any more. double: it was once given to two.
    """

    have: set[int] = field(default_factory=set)
    decided: set[int] = field(default_factory=set)
    abandoned: list[int] = field(default_factory=list)
    double: bool = False


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """An item that somebody is to be given. position: in that person's order."""

    anchor: int
    person: int
    purpose: Purpose
    position: int
    expected: str | None = None


@dataclass(slots=True)
class AssignmentPlan:
    """What to write.

    run: names the call, as a time. last: when everybody finished something last. slots: by
    item. checks: hidden ones. doubles: items to be decided by two. filled: items that lack
    nothing; short: that lack answers which nobody named could give. checks_short: checks
    that there is no known gold for. returned: abandoned assignments that others are given.
    """

    run: str
    role: Role
    each: int
    abandoned: str
    last: Mapping[int, str]
    slots: dict[int, list[OpenSlot]] = field(default_factory=dict)
    checks: list[OpenSlot] = field(default_factory=list)
    doubles: set[int] = field(default_factory=set)
    filled: int = 0
    short: int = 0
    checks_short: int = 0
    returned: int = 0

    def target(self, anchor: int) -> int:
        """How many answers an item is to have."""
        return max(self.each, BOTH) if anchor in self.doubles else self.each


def last_done(connection: Connection, role: Role) -> dict[int, str]:
    """When everybody finished something last that they had been given, by id."""
    return dict(connection.execute(LAST_DONE_IN_ROLE, {"role": role.value}).fetchall())


def known_of(
    connection: Connection,
    ids: Sequence[int],
    role: Role,
    abandoned: str,
    last: Mapping[int, str],
) -> dict[int, AssignedItem]:
    """What is known of each of these items."""
    found = {anchor: AssignedItem() for anchor in ids}
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
            gone = at <= abandoned and last.get(person, "") <= abandoned
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
    """Who gets what of these items, on a connection that is in a read transaction."""
    last = last_done(connection, wanted.role)
    made = AssignmentPlan(system.now(), wanted.role, wanted.each, wanted.abandoned, last)
    known = known_of(connection, ids, wanted.role, wanted.abandoned, last)
    numbers = [person.id for person in people]
    made.doubles = _doubles(ids, known, numbers, wanted)
    passage = dict(
        row for key in _keys(ids, wanted.role) for row in connection.execute(PASSAGES, key)
    )
    order = shuffled(ids, passage, wanted.seed or 0)
    lacking = [_lacking(made, anchor, known[anchor], numbers) for anchor in order]
    dealt = dict(zip(order, deal(lacking, len(people)), strict=True))
    for place, anchor in enumerate(order):
        needs = lacking[place].need
        made.filled += not needs
        made.short += len(dealt[anchor]) < needs
        made.returned += len(known[anchor].abandoned) if dealt[anchor] else 0
    _place(connection, made, ids, passage, dealt, people, wanted)
    if wanted.checks is not None:
        _add_checks(connection, made, people, wanted.checks, wanted.seed or 0)
    return made


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
    """The items to be decided by two: those that were, and as many more as are wanted."""
    found = {anchor for anchor in ids if known[anchor].double}
    more = (wanted.doubles.of(len(ids)) if wanted.doubles else 0) - len(found)
    could = [
        anchor
        for anchor in sorted(ids)
        if anchor not in found
        and len(known[anchor].decided) < BOTH
        and len(known[anchor].have.union(people)) >= BOTH
    ]
    source = chance("double", wanted.seed or 0)
    return found.union(source.sample(could, max(0, min(more, len(could)))))


def chance(*what: object) -> Random:
    """Chance that falls out alike for the same thing each time."""
    return Random(repr(what))  # noqa: S311 - an order, no secret


def shuffled(ids: Sequence[int], passage: Mapping[int, int], seed: object) -> list[int]:
    """The items with their passages in another order; those of one stay as they are."""
    groups: dict[int, list[int]] = {}
    for anchor in ids:
        groups.setdefault(passage[anchor], []).append(anchor)
    mixed = list(groups.values())
    chance("order", seed).shuffle(mixed)
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
    """Give everybody their items in their order, behind those that they have."""
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
    """Give everybody as many hidden checks as they still lack, among what they have to do."""
    mine: dict[int, dict[int, int]] = {person.id: {} for person in people}
    for slots in made.slots.values():
        for slot in slots:
            mine[slot.person][slot.anchor] = slot.position
    golds = known_golds(connection)
    for person in people:
        new = mine[person.id]
        there = standing(connection, person.id)
        work = there.work + len(new)
        # Among nothing a check would be no hidden one.
        lacks = amount.of(work) - there.checks if work else 0
        source = chance("check", seed, person.name)
        drawn = draw(connection, golds, person, new, lacks, source)
        made.checks_short += max(0, lacks) - len(drawn)
        among = [*there.positions, *new.values()]
        for anchor, expected in drawn:
            position = source.choice(among) + source.randrange(1, STEP) if among else STEP
            made.checks.append(OpenSlot(anchor, person.id, Purpose.CHECK, position, expected))


# Writing assignments in short writes, and taking back those that nobody works at.
#
# Each write looks again at what its anchors have by then, so that nothing is given once too
# often where somebody answers meanwhile, or two people give out at once. Broken off, it has
# given out a part; the same call again gives out the rest.

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
VALUES (:anchor, :person, :role, :purpose, :position, :expected, :run, :at)
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    purpose = excluded.purpose, state = 'open', position = excluded.position,
    expected = excluded.expected, verdict = NULL, stratum = NULL, run = excluded.run,
    assigned_at = excluded.assigned_at, finished_at = NULL
WHERE state = 'returned'"""

WRITE_SIZE = WriteSize(first=100, smallest=10, largest=2_000, seconds=0.015)
"""Items, checks or assignments."""

Writing = Callable[[], AbstractContextManager[Connection]]
"""Begins a write of its own each time."""


def give(writing: Writing, plan: AssignmentPlan, tell: Callable[[int], None]) -> list[OpenSlot]:
    """Write a plan, and give what was written of it. tell: is told how many so far."""
    done: list[OpenSlot] = []

    def items(connection: Connection, some: Sequence[int]) -> None:
        done.extend(_give_items(connection, plan, some))
        tell(len(done))

    def checks(connection: Connection, some: Sequence[OpenSlot]) -> None:
        done.extend(_give_checks(connection, plan, some))
        tell(len(done))

    # Doubles that everybody has already still have to be made such.
    anchors = list(dict.fromkeys([*plan.slots, *sorted(plan.doubles)]))
    write_in_steps(writing, anchors, items, WRITE_SIZE)
    write_in_steps(writing, plan.checks, checks, WRITE_SIZE)
    return done


def _give_items(
    connection: Connection, plan: AssignmentPlan, anchors: Sequence[int]
) -> list[OpenSlot]:
    """Give what these items lack by now, in place of what was abandoned of them."""
    known = known_of(connection, anchors, plan.role, plan.abandoned, plan.last)
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
    """Give those of these checks whose person has not come by them otherwise."""
    anchors = sorted({slot.anchor for slot in slots})
    known = known_of(connection, anchors, plan.role, plan.abandoned, plan.last)
    given = [slot for slot in slots if slot.person not in known[slot.anchor].have]
    _insert(connection, plan, given)
    return given


def _insert(connection: Connection, plan: AssignmentPlan, slots: Iterable[OpenSlot]) -> None:
    connection.executemany(
        GIVE,
        [
            {
                "anchor": slot.anchor,
                "person": slot.person,
                "role": plan.role.value,
                "purpose": slot.purpose.value,
                "position": slot.position,
                "expected": slot.expected,
                "run": plan.run,
                "at": plan.run,
            }
            for slot in slots
        ],
    )


def take_back(writing: Writing, ids: Sequence[int]) -> None:
    """Mark assignments that are open as returned."""

    def some_back(connection: Connection, some: Sequence[int]) -> None:
        connection.execute(RETURN, {"ids": json_of(list(some))})

    write_in_steps(writing, ids, some_back, WRITE_SIZE)


def counted(
    slots: Iterable[OpenSlot], people: Sequence[Annotator]
) -> dict[str, dict[str, int]]:
    """How many of each purpose everybody was given, by name."""
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
WHERE s.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where})
GROUP BY s.annotator_id, s.role ORDER BY n.name, s.role"""
LAST_DONE_BY_ROLE = """
SELECT annotator_id, role, max(finished_at) FROM assignment
WHERE state = 'done' GROUP BY annotator_id, role"""
# An audit is a sample: it is drawn anew, not given to somebody else.
OPEN = """
SELECT s.id, n.name, s.annotator_id, s.role
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
WHERE s.state = 'open' AND s.purpose <> 'audit' AND s.assigned_at <= :before
    AND s.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where})
ORDER BY n.name, s.id"""


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """How far one person is in one role.

    assigned: given and not returned, so done or open. checks: hidden ones among these;
    checks_done of them are answered, and checks_right so that nothing blocks. last: when
    something given was finished last. abandoned: open for too long.
    """

    name: str
    role: Role
    assigned: int
    done: int
    open: int
    returned: int
    checks: int
    checks_done: int
    checks_right: int
    last: str | None
    abandoned: int


def days_ago(days: float) -> str:
    """The time so many days before now, as the store writes it."""
    past = datetime.fromisoformat(system.now()) - timedelta(days=days)
    return past.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def everybody(
    connection: Connection, query: Query, me_id: int, before: str
) -> tuple[PersonProgress, ...]:
    """Everybody who was given any of the anchors of a query, by name and role."""
    last = _last_done(connection)
    compiled = compile_query(query, me_id)
    statement = PEOPLE.format(where=compiled.where)
    rows = connection.execute(statement, compiled.parameters | {"before": before})
    found = []
    for name, role, person, *counts, waiting in rows:
        at = last.get((person, role))
        gone = waiting if (at or "") <= before else 0
        found.append(PersonProgress(*(name, Role(role), *counts, at, gone)))
    return tuple(found)


def _last_done(connection: Connection) -> dict[tuple[int, str], str]:
    return {(person, role): at for person, role, at in connection.execute(LAST_DONE_BY_ROLE)}


def abandoned(
    connection: Connection, query: Query, me_id: int, before: str, name: str | None = None
) -> dict[str, list[int]]:
    """Assignments given before a time to people who finished nothing since, by name.

    name: of this person only.
    """
    last = _last_done(connection)
    compiled = compile_query(query, me_id)
    statement = OPEN.format(where=compiled.where)
    found: dict[str, list[int]] = {}
    for id_, who, person, role in connection.execute(
        statement, compiled.parameters | {"before": before}
    ):
        if name in (None, who) and last.get((person, role), "") <= before:
            found.setdefault(who, []).append(id_)
    return found
