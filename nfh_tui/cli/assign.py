"""`nfh-tui assign`: who answers what, and how far everybody is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from nfh_db.assignment_plan import Amount, AssignmentRequest, PersonProgress, days_ago
from nfh_db.assignments import AssignmentCounts
from nfh_db.messages import counted, visible
from nfh_db.records import Role
from nfh_tui.cli import options
from nfh_tui.cli.report import RowCounter, aligned

TAKE_BACK = "--take-back"
DAYS = 14
"""Days without an answer after which assignments count as abandoned."""

MOST_DAYS = 36_500
MOST_EACH = 1_000
MOST_ITEMS = 10**9
LARGEST_SEED = 2**31 - 1


class AssignCommand(options.QueryCommand):
    """A command with `--take-back`, whose name may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with an empty name after `--take-back` where it has none."""
        full = []
        for place, arg in enumerate(args):
            following = args[place + 1] if place + 1 < len(args) else "-"
            bare = arg == TAKE_BACK and (following.startswith("-") or ":" in following)
            full.append(f"{TAKE_BACK}=" if bare else arg)
        return super().parse_args(ctx, full)


class DaysType(click.FloatRange):
    """A number of days; "nan", which no range excludes, is refused."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        days = float(super().convert(value, param, ctx))  # type: ignore[arg-type]  # takes text, too
        if math.isnan(days):
            self.fail(f"{str(value)!r} is not a number of days", param, ctx)
        return days


class AmountType(click.ParamType):  # type: ignore[type-arg]  # generic in new clicks only
    """A number, or a share in percent."""

    name = "amount"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Amount:
        text = str(value)
        digits = text.removesuffix("%")
        percent = digits != text
        try:
            number = float(digits) if percent else int(digits)
        except ValueError:
            number = -1
        if not 0 <= number <= (100 if percent else 10**9):
            self.fail(f"{text!r}: wanted a number, as 20, or a share, as 5%", param, ctx)
        return Amount(number, percent)


@click.command(cls=AssignCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--to",
    "to",
    multiple=True,
    metavar="NAME",
    help=("Assign to this person; repeat it for more people."),
)
@click.option(
    "--each",
    type=click.IntRange(1, MOST_EACH),
    metavar="N",
    help="Answers that each item should have in all, including those that it has; else 1.",
)
@click.option(
    "--role",
    type=click.Choice(["annotator", "adjudicator"]),
    default="annotator",
    help="The role in which they answer.",
)
@click.option(
    "--limit", type=click.IntRange(1, MOST_ITEMS), metavar="N", help="Only the first N items."
)
@click.option(
    "--check",
    "checks",
    type=AmountType(),
    metavar="N|P%",
    help="Hidden checks for each person in all: items with known gold, mixed in at random. "
    "P% is a share of the person's items.",
)
@click.option(
    "--double",
    "doubles",
    type=AmountType(),
    metavar="N|P%",
    help="Assign this many of the items to two adjudicators, each blind to the other.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    metavar="S",
    help="Shuffle the items, differently for each person; the same seed gives the same order.",
)
@click.option(
    TAKE_BACK,
    "take_back",
    metavar="[NAME]",
    help="Take back abandoned assignments, of everybody or of this person.",
)
@click.option(
    "--abandoned-after",
    "days",
    type=DaysType(0, MOST_DAYS),
    default=DAYS,
    metavar="DAYS",
    help="Days without an answer after which an assignment counts as abandoned.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; store nothing.")
@options.as_option
@options.on_database
def assign(
    query: Sequence[str],
    to: Sequence[str],
    each: int | None,
    role: str,
    limit: int | None,
    checks: Amount | None,
    doubles: Amount | None,
    seed: int | None,
    take_back: str | None,
    days: float,
    dry_run: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Assign the items that QUERY finds to people; without --to, show everybody's progress.

    Only answers that are still missing are assigned, evenly, and no item twice to a person.
    The same call again assigns what was taken back. People find their items with
    `nfh-tui annotate`, and as adjudicators with `nfh-tui adjudicate`.
    """

    names = [_name(one) for one in to]
    _check(names, role, each, limit, checks, doubles, seed)
    parsed = options.parse_query(query)
    writes = not dry_run and (bool(names) or take_back is not None)
    with options.open_database(db, writes=writes) as store:
        who = options.known(store, me or options.user())
        report: dict[str, object] = {}
        lines: list[str] = []
        if take_back is not None:
            only = _name(take_back) if take_back else None
            returned = store.assignments.take_back(
                parsed, who, days_ago(days), only, dry_run=dry_run
            )
            report["taken_back"] = returned
            lines += returned_lines(returned, days, dry_run=dry_run)
        if names:
            wanted = AssignmentRequest(
                each or 1, Role(role), checks, doubles, seed, days_ago(days)
            )
            with RowCounter("assign") as counter:
                dealt = store.assignments.assign(
                    parsed, who, names, wanted, limit=limit, dry_run=dry_run, tell=counter
                )
            report |= asdict(dealt)
            lines += dealt_lines(dealt, wanted)
        if not report:
            people = store.assignments.progress(parsed, who, days_ago(days))
            report = {"people": list(map(progress_json, people))}
            lines = progress_lines(people)
    if as_json:
        options.emit(report)
    else:
        options.echo("\n".join(lines))


def _name(given: str) -> str:
    cleaned = options.name(click.get_current_context(), click.Option(["--to"]), given)
    if cleaned is None:
        raise click.BadParameter("wanted a name")
    return cleaned


def _check(
    names: Sequence[str],
    role: str,
    each: int | None,
    limit: int | None,
    checks: Amount | None,
    doubles: Amount | None,
    seed: int | None,
) -> None:
    """Raise UsageError for options that do not go together."""
    given = {"--each": each, "--limit": limit, "--check": checks, "--double": doubles}
    if not names:
        for option, value in (given | {"--seed": seed}).items():
            if value is not None:
                raise click.UsageError(
                    f"{option} needs people to assign to: name them with --to NAME"
                )
    if checks is not None and role != "annotator":
        raise click.UsageError("--check is for annotators: an adjudicator sees the gold")
    if doubles is not None and role != "adjudicator":
        raise click.UsageError("--double is for adjudicators: add --role adjudicator")
    if doubles is not None and len(set(names)) < 2:
        raise click.UsageError("--double gives an item to two people: name two with --to")


NAME_WIDTH = 40
"""Code points of a name that are shown."""

NOBODY = "Nothing of this is assigned yet: nfh-tui assign --to NAME assigns it."
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
"""Columns of words, which are left-aligned."""


# --- what was given out ---------------------------------------------------------------------


def dealt_lines(dealt: AssignmentCounts, wanted: AssignmentRequest) -> list[str]:
    total = sum(sum(counts.values()) for counts in dealt.given.values())
    answers = counted(wanted.each, "answer")
    lack = dealt.items - dealt.filled
    lines = [
        f"{counted(dealt.items, 'item')} to have {answers} each, open assignments included; "
        f"{lack:,} had fewer."
    ]
    if total:
        many = "would be given" if dealt.dry_run else "given"
        lines.append(f"{counted(total, 'assignment')} {many} to these people:")
        lines += [
            f"  {visible(who, NAME_WIDTH)}: {_kinds(n)}" for who, n in dealt.given.items()
        ]
    else:
        lines.append("There is nothing to assign.")
    if dealt.returned:
        lines.append(
            f"{counted(dealt.returned, 'assignment')} were abandoned, and are assigned again."
        )
    if dealt.short:
        lines.append(
            f"{counted(dealt.short, 'item')} will still lack answers, because nobody named "
            "here can give them. Name more people with --to."
        )
    if dealt.checks_short:
        lines.append(
            f"{counted(dealt.checks_short, 'hidden check')} could not be added: there is too "
            "little gold by adjudicators or from files that these people do not know."
        )
    if total and not dealt.dry_run:
        how = "adjudicate" if wanted.role is Role.ADJUDICATOR else "annotate"
        lines.append(f"They find theirs with nfh-tui {how} --as NAME.")
    return lines


def _kinds(counts: Mapping[str, int]) -> str:
    said = [counted(counts[what], *names) for what, names in PURPOSES.items() if counts[what]]
    return ", ".join(said) or "nothing"


def returned_lines(returned: Mapping[str, int], days: float, *, dry_run: bool) -> list[str]:
    if not returned:
        if days == 0:
            return ["There is nothing to take back."]
        return [
            f"There is nothing to take back: nobody was idle for {_days(days)}. "
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


# --- progress ------------------------------------------------------------------------------


def progress_json(one: PersonProgress) -> dict[str, object]:
    """One person in one role. checks: hidden ones; right of those done, and all given."""
    return {
        **options.picked(one, "person=name role assigned done open returned"),
        "checks": options.picked(one, "right=checks_right done=checks_done given=checks"),
        **options.picked(one, "last abandoned"),
    }


def progress_lines(people: Sequence[PersonProgress]) -> list[str]:
    """A table with a line for each person and role."""
    if not people:
        return [NOBODY]
    return aligned([HEADINGS, *map(_row, people)], WORDS)


def _row(one: PersonProgress) -> tuple[str, ...]:
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
    """A time of the store as local time, to the minute; unchanged if it cannot be parsed."""
    if at is None:
        return "–"
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return visible(at, 16)
