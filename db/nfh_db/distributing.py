"""Giving anchors out to people: who is to get what; `giving` writes it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from nfh_db import checking, clock
from nfh_db.assignments import Purpose
from nfh_db.connection import Connection
from nfh_db.dealing import Lacking, deal
from nfh_db.records import Annotator, Role
from nfh_db.values import json_of

PASSAGES = """
SELECT a.id, a.passage_id FROM json_each(:ids) AS j CROSS JOIN anchor AS a ON a.id = j.value"""
ANSWERS = """
SELECT w.anchor_id, w.annotator_id
FROM json_each(:ids) AS j CROSS JOIN answer AS w ON w.anchor_id = j.value
CROSS JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.role = :role AND n.type = 'person' AND w.removed = 0"""
GIVEN = """
SELECT s.anchor_id, s.annotator_id, s.id, s.purpose, s.state, s.assigned_at
FROM json_each(:ids) AS j CROSS JOIN assignment AS s ON s.anchor_id = j.value
WHERE s.role = :role"""
LAST_DONE = """
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
class Wanted:
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
class Known:
    """What is known of one item.

    have: who answered it, or was given it and may be waited for. abandoned: rows of those
    who were given it and are not waited for any more. double: it was once given to two.
    """

    have: set[int] = field(default_factory=set)
    decided: set[int] = field(default_factory=set)
    abandoned: list[int] = field(default_factory=list)
    double: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """An item that somebody is to be given. position: in that person's order."""

    anchor: int
    person: int
    purpose: Purpose
    position: int
    expected: str | None = None


@dataclass(slots=True)
class Plan:
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
    slots: dict[int, list[Slot]] = field(default_factory=dict)
    checks: list[Slot] = field(default_factory=list)
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
    return dict(connection.execute(LAST_DONE, {"role": role.value}).fetchall())


def known_of(
    connection: Connection,
    ids: Sequence[int],
    role: Role,
    abandoned: str,
    last: Mapping[int, str],
) -> dict[int, Known]:
    """What is known of each of these items."""
    found = {anchor: Known() for anchor in ids}
    for key in _keys(ids, role):
        for anchor, person in connection.execute(ANSWERS, key):
            found[anchor].have.add(person)
            found[anchor].decided.add(person)
        for anchor, person, id_, purpose, state, at in connection.execute(GIVEN, key):
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
    connection: Connection, ids: Sequence[int], people: Sequence[Annotator], wanted: Wanted
) -> Plan:
    """Who gets what of these items, on a connection that is in a read transaction."""
    last = last_done(connection, wanted.role)
    made = Plan(clock.now(), wanted.role, wanted.each, wanted.abandoned, last)
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


def _lacking(made: Plan, anchor: int, known: Known, people: Sequence[int]) -> Lacking:
    need = max(0, made.target(anchor) - len(known.have))
    may = frozenset(number for number, person in enumerate(people) if person not in known.have)
    return Lacking(need, may)


def _doubles(
    ids: Sequence[int], known: Mapping[int, Known], people: Sequence[int], wanted: Wanted
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
    made: Plan,
    ids: Sequence[int],
    passage: Mapping[int, int],
    dealt: Mapping[int, Sequence[int]],
    people: Sequence[Annotator],
    wanted: Wanted,
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
                slot = Slot(anchor, person.id, purpose, position)
                made.slots.setdefault(anchor, []).append(slot)


def _add_checks(
    connection: Connection, made: Plan, people: Sequence[Annotator], amount: Amount, seed: int
) -> None:
    """Give everybody as many hidden checks as they still lack, among what they have to do."""
    mine: dict[int, dict[int, int]] = {person.id: {} for person in people}
    for slots in made.slots.values():
        for slot in slots:
            mine[slot.person][slot.anchor] = slot.position
    golds = checking.known_golds(connection)
    for person in people:
        new = mine[person.id]
        there = checking.standing(connection, person.id)
        work = there.work + len(new)
        # Among nothing a check would be no hidden one.
        lacks = amount.of(work) - there.checks if work else 0
        source = chance("check", seed, person.name)
        drawn = checking.draw(connection, golds, person, new, lacks, source)
        made.checks_short += max(0, lacks) - len(drawn)
        among = [*there.positions, *new.values()]
        for anchor, expected in drawn:
            position = source.choice(among) + source.randrange(1, STEP) if among else STEP
            made.checks.append(Slot(anchor, person.id, Purpose.CHECK, position, expected))
