"""What `nfh-tui assign` says: sentences and a table, or plain data for JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from nfh_db.assigning_store import Dealt
from nfh_db.distributing import Wanted
from nfh_db.formats.wording import counted, visible
from nfh_db.progress import Progress
from nfh_db.records import Role

NAME_WIDTH = 40
"""Most code points of a name that a table shows."""

NOBODY = "Nobody has been given anything of this yet: nfh-tui assign --to NAME gives it out."
PURPOSES = {
    "work": ("item", "items"),
    "double": ("item to be decided by two", "items to be decided by two"),
    "check": ("hidden check", "hidden checks"),
}
HEADINGS = (
    "person",
    "role",
    "assigned",
    "done",
    "open",
    "returned",
    "checks right",
    "last answer",
    "abandoned",
)
WORDS = 2
"""So many columns hold words, and stand at the left."""


# --- what was given out ---------------------------------------------------------------------


def dealt_json(dealt: Dealt) -> dict[str, object]:
    """The report of what was given out."""
    return asdict(dealt)


def dealt_lines(dealt: Dealt, wanted: Wanted) -> list[str]:
    """What was given out, in sentences."""
    total = sum(sum(counts.values()) for counts in dealt.given.values())
    answers = counted(wanted.each, "answer")
    lack = dealt.items - dealt.filled
    lines = [f"{counted(dealt.items, 'item')} to have {answers} each; {lack:,} lacked some."]
    if total:
        many = "would be given" if dealt.dry_run else "given"
        lines.append(f"{counted(total, 'assignment')} {many} to these people:")
        lines += [
            f"  {visible(who, NAME_WIDTH)}: {_kinds(n)}" for who, n in dealt.given.items()
        ]
    else:
        lines.append("Nothing to give out.")
    if dealt.returned:
        lines.append(
            f"{counted(dealt.returned, 'assignment')} came back for it, abandoned by those who "
            "had them."
        )
    if dealt.short:
        lines.append(
            f"{counted(dealt.short, 'item')} will still lack answers: nobody named here could "
            "give them. Name more people with --to."
        )
    if dealt.checks_short:
        lines.append(
            f"{counted(dealt.checks_short, 'hidden check')} could not be had: there is too "
            "little gold by experts or from files that these people do not know."
        )
    if total and not dealt.dry_run:
        how = "adjudicate" if wanted.role is Role.ADJUDICATOR else "annotate"
        lines.append(f"They find theirs with nfh-tui {how} --as NAME.")
    return lines


def _kinds(counts: Mapping[str, int]) -> str:
    said = [counted(counts[what], *names) for what, names in PURPOSES.items() if counts[what]]
    return ", ".join(said) or "nothing"


def returned_lines(returned: Mapping[str, int], days: float, *, dry_run: bool) -> list[str]:
    """What was taken back, in sentences."""
    if not returned:
        if days == 0:
            return ["There is nothing to take back."]
        return [
            f"There is nothing to take back: nobody has been idle for {_days(days)}. "
            "--abandoned-after 0 takes back all that is open."
        ]
    many = "to be taken back" if dry_run else "taken back"
    return [
        f"{visible(who, NAME_WIDTH)}: {counted(number, 'item')} {many}."
        for who, number in returned.items()
    ]


def _days(days: float) -> str:
    number = int(days) if days == int(days) else days
    return f"{number} day" if number == 1 else f"{number} days"


# --- how far everybody is -------------------------------------------------------------------


def progress_json(one: Progress) -> dict[str, object]:
    """One person in one role, for programs. checks: right of those answered, and all given."""
    return {
        "person": one.name,
        "role": one.role.value,
        "assigned": one.assigned,
        "done": one.done,
        "open": one.open,
        "returned": one.returned,
        "checks": {"right": one.checks_right, "done": one.checks_done, "given": one.checks},
        "last": one.last,
        "abandoned": one.abandoned,
    }


def progress_lines(people: Sequence[Progress]) -> list[str]:
    """A table, a line a person and role."""
    if not people:
        return [NOBODY]
    rows = [HEADINGS, *map(_row, people)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return ["  ".join(_cells(row, widths)).rstrip() for row in rows]


def _row(one: Progress) -> tuple[str, ...]:
    checks = f"{one.checks_right:,} of {one.checks_done:,}" if one.checks_done else "–"
    return (
        visible(one.name, NAME_WIDTH),
        one.role.value,
        f"{one.assigned:,}",
        f"{one.done:,}",
        f"{one.open:,}",
        f"{one.returned:,}",
        checks,
        _when(one.last),
        f"{one.abandoned:,}",
    )


def _when(at: str | None) -> str:
    """A time of the store in the time of this place, to the minute; as it is if odd."""
    if at is None:
        return "–"
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return visible(at, 16)


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if column < WORDS else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
