"""`times` of a `gold` line: when each turn is said, where the passage's file told it.

A list with one entry a turn, in the order of the turns, which are the runs of equal
`line_indices` and `speakers`. An entry is [begin, until] in milliseconds from the start of the
recording, either of them null where it is not known; null for a turn that has neither. A line
without any time has no such key.
"""

from collections.abc import Sequence
from dataclasses import replace

from nfh_db.formats.fields import Fields
from nfh_models.domain import Turn

TIMES = "times"

Time = tuple[int | None, int | None]


def times_of(turns: Sequence[Turn]) -> list[Time | None] | None:
    """What the line says of these turns; None where none of them has a time."""
    if all(turn.begin is None and turn.until is None for turn in turns):
        return None
    return list(map(_time, turns))


def with_times(fields: Fields, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns with the times that a line says, if it says any.

    Raises FormatError unless there is one entry a turn, and at least one time among them.
    """
    if TIMES not in fields.values:
        return turns
    entries = fields.items(TIMES)
    if len(entries) != len(turns):
        raise fields.refuse(TIMES, f"{len(turns)} entries, one a turn")
    times = [_checked(fields, entry) for entry in entries]
    if not any(times):
        raise fields.refuse(TIMES, "a time, or no such key")
    return tuple(
        turn if time is None else replace(turn, begin=time[0], until=time[1])
        for turn, time in zip(turns, times, strict=True)
    )


def _time(turn: Turn) -> Time | None:
    unknown = turn.begin is None and turn.until is None
    return None if unknown else (turn.begin, turn.until)


def _checked(fields: Fields, entry: object) -> Time | None:
    if entry is None:
        return None
    if not isinstance(entry, list) or len(entry) != 2 or entry == [None, None]:
        raise fields.refuse(TIMES, "pairs of milliseconds, or null", entry)
    for place in entry:
        if place is not None and (type(place) is not int or not 0 <= place < 1 << 53):
            raise fields.refuse(TIMES, "whole milliseconds from 0 on, or null", entry)
    begin, until = entry
    return begin, until
