"""Writing assignments in short writes, and taking back those that nobody works at.

Each write looks again at what its anchors have by then, so that nothing is given once too
often where somebody answers meanwhile, or two people give out at once. Broken off, it has
given out a part; the same call again gives out the rest.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from nfh_db.assignments import Purpose
from nfh_db.connection import Connection
from nfh_db.distributing import Plan, Slot, known_of
from nfh_db.pace import next_stretch
from nfh_db.records import Annotator
from nfh_db.values import json_of

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

FIRST_STRETCH = 100
SMALLEST_STRETCH = 10
LARGEST_STRETCH = 2_000
WRITE_SECONDS = 0.015
"""What one write should take: a person's answer may have to wait for it."""

PAUSE_SECONDS = 0.001
"""Between two writes, so that somebody who waits gets in."""

Writing = Callable[[], AbstractContextManager[Connection]]
"""Begins a write of its own each time."""

T = TypeVar("T")


def give(writing: Writing, plan: Plan, tell: Callable[[int], None]) -> list[Slot]:
    """Write a plan, and give what was written of it. tell: is told how many so far."""
    done: list[Slot] = []

    def items(connection: Connection, some: Sequence[int]) -> None:
        done.extend(_give_items(connection, plan, some))
        tell(len(done))

    def checks(connection: Connection, some: Sequence[Slot]) -> None:
        done.extend(_give_checks(connection, plan, some))
        tell(len(done))

    # Doubles that everybody has already still have to be made such.
    in_stretches(writing, list(dict.fromkeys([*plan.slots, *sorted(plan.doubles)])), items)
    in_stretches(writing, plan.checks, checks)
    return done


def in_stretches(
    writing: Writing, things: Sequence[T], act: Callable[[Connection, Sequence[T]], None]
) -> None:
    """Act on things in writes of about WRITE_SECONDS each."""
    size, at = FIRST_STRETCH, 0
    while at < len(things):
        some = things[at : at + size]
        with writing() as connection:
            begun = time.perf_counter()
            act(connection, some)
        seconds = time.perf_counter() - begun
        at += len(some)
        size = next_stretch(
            size,
            seconds,
            wanted=WRITE_SECONDS,
            smallest=SMALLEST_STRETCH,
            largest=LARGEST_STRETCH,
        )
        time.sleep(PAUSE_SECONDS)


def _give_items(connection: Connection, plan: Plan, anchors: Sequence[int]) -> list[Slot]:
    """Give what these items lack by now, in place of what was abandoned of them."""
    known = known_of(connection, anchors, plan.role, plan.abandoned, plan.last)
    given: list[Slot] = []
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


def _give_checks(connection: Connection, plan: Plan, slots: Sequence[Slot]) -> list[Slot]:
    """Give those of these checks whose person has not come by them otherwise."""
    anchors = sorted({slot.anchor for slot in slots})
    known = known_of(connection, anchors, plan.role, plan.abandoned, plan.last)
    given = [slot for slot in slots if slot.person not in known[slot.anchor].have]
    _insert(connection, plan, given)
    return given


def _insert(connection: Connection, plan: Plan, slots: Iterable[Slot]) -> None:
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

    in_stretches(writing, ids, some_back)


def counted(slots: Iterable[Slot], people: Sequence[Annotator]) -> dict[str, dict[str, int]]:
    """How many of each purpose everybody was given, by name."""
    counts: dict[int, Counter[Purpose]] = {person.id: Counter() for person in people}
    for slot in slots:
        counts[slot.person][slot.purpose] += 1
    return {
        person.name: {purpose.value: counts[person.id][purpose] for purpose in Purpose}
        for person in people
    }
