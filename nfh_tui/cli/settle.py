"""`nfh-tui settle` and `nfh-tui audit`: gold from votes, and how far it can be trusted."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    QueryCommand,
    as_option,
    db_option,
    emit,
    json_option,
    known,
    name,
    open_to_read,
    reporting,
    say,
    tell,
    user,
)
from nfh_tui.cli.progress import RowCounter

if TYPE_CHECKING:
    from nfh_db.query import Query
    from nfh_db.records import Annotator
    from nfh_db.settle_report import SettleReport
    from nfh_db.store import Store
    from nfh_tui.auditing import AuditReport, NewAudit
    from nfh_tui.cli.settle_text import Asked

RULES = ("unanimous", "majority")
DEFAULT_AUDIT = 150
LARGEST_AUDIT = 2_000
"""More than this is no sample to be looked at in one go; and it is drawn in one write."""

LARGEST_SEED = 2**31 - 1


class SettleCommand(QueryCommand):
    """A command with `--audit` or `--draw`, whose number may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with the number where it was left out."""
        full = []
        for place, arg in enumerate(args):
            following = args[place + 1] if place + 1 < len(args) else ""
            bare = arg in ("--audit", "--draw") and not following.lstrip("-").isdigit()
            full.append(f"{arg}={DEFAULT_AUDIT}" if bare else arg)
        return super().parse_args(ctx, full)


to_option = click.option(
    "--to", "to", callback=name, metavar="NAME", help="Who decides the audit; else you."
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    help="Of the sample: the same seed draws the same of the same gold. Else by chance.",
)


class AnchorCounter(RowCounter):
    """Shows what is being done, and to how many anchors it was."""

    def phase(self, what: str, done: int) -> None:
        """Show the count, at most ten times a second."""
        self.show(f"{done:,} anchors {what}")


# --- settle ---------------------------------------------------------------------------------


@click.command(cls=SettleCommand, short_help="Make gold of the annotators' votes, by a rule.")
@click.argument("query", nargs=-1)
@click.option(
    "--rule",
    type=click.Choice(RULES),
    required=True,
    help="unanimous: no two votes differ in what blocks; majority: more than half fall into "
    "one class, and no two that give heads differ in them.",
)
@click.option(
    "--least",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Votes that an anchor needs.",
)
@click.option(
    "--audit",
    "audit_size",
    type=click.IntRange(1, LARGEST_AUDIT),
    metavar="[N]",
    help=f"Draw a sample of what was settled, to be decided blind; {DEFAULT_AUDIT} without N.",
)
@as_option
@to_option
@seed_option
@click.option("--dry-run", is_flag=True, help="Say what would be settled; store nothing.")
@db_option
@json_option
@reporting
def settle(
    query: tuple[str, ...],
    rule: str,
    least: int,
    audit_size: int | None,
    me: str | None,
    to: str | None,
    seed: int | None,
    dry_run: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Make gold of the votes on the anchors that QUERY finds, of all without one.

    Never of what an expert decided or a file said. It is one act: z in the workbench takes
    it back, but for what somebody changed since.
    """
    from nfh_db.query import parse
    from nfh_db.records import Rule
    from nfh_db.store import Store
    from nfh_tui.cli.settle_text import Asked, settlement_json, settlement_lines

    parsed = parse(" ".join(query))
    who = me or user()
    opened = open_to_read if dry_run else Store.open
    with opened(places.database(db)) as store:
        person = _known(store, who) if dry_run else store.annotator(who)
        with AnchorCounter("settle") as counter:
            report = store.settle(
                parsed,
                Rule(rule),
                person,
                least=least,
                dry_run=dry_run,
                progress=counter.phase,
            )
        drawn = None
        if audit_size is not None:
            drawn = _audit_of(store, parsed, audit_size, seed, person, to, report)
        rest = f"{parsed.text} state:disagree".strip()
        count = store.queue_count(parse(rest), person)
    if as_json:
        emit(settlement_json(report, parsed.text, (rest, count), drawn))
        return
    for line in settlement_lines(report, who):
        tell(line)
    _say_what_next(rest, count, drawn, Asked(user(), db))


def _known(store: "Store", who: str) -> "Annotator":
    """Somebody who may never have been here; a trial run makes nobody."""
    from nfh_db.records import Annotator

    return known(store, who) or Annotator(0, who)


def _audit_of(
    store: "Store",
    query: "Query",
    wanted: int,
    seed: int | None,
    person: "Annotator",
    to: str | None,
    report: "SettleReport",
) -> "NewAudit | None":
    """A sample of what the settlement did; where it did nothing, that is said."""
    from nfh_tui.auditing import draw_audit

    if report.dry_run:
        say("No audit is drawn on a trial run, which settles nothing: leave --dry-run out")
        return None
    if report.act_id is None:
        say(
            "No audit was drawn, since nothing was settled anew. nfh-tui audit --draw draws of "
            "all that rules settled"
        )
        return None
    auditor = store.annotator(to) if to else person
    drawn = draw_audit(store, query, wanted, _seed(seed), person, auditor, report)
    if drawn is None:
        say("No audit was drawn, since nothing of what was settled can be audited")
    return drawn


def _seed(seed: int | None) -> int:
    if seed is not None:
        return seed
    import secrets

    return secrets.randbelow(LARGEST_SEED)


def _say_what_next(rest: str, count: int, drawn: "NewAudit | None", asked: "Asked") -> None:
    from nfh_db.formats.wording import counted
    from nfh_tui.cli.settle_text import drawn_lines

    if count:
        tell(f"{counted(count, 'anchor')} in disagreement left:")
        tell(f"  {asked.command('adjudicate', f'{rest} sort:disagree')}")
    if drawn is not None:
        for line in drawn_lines(drawn, asked):
            tell(line)


# --- audit ----------------------------------------------------------------------------------


@click.command(
    cls=SettleCommand, short_help="Draw a sample of what rules settled, or report it."
)
@click.argument("query", nargs=-1)
@click.option(
    "--draw",
    "size",
    type=click.IntRange(1, LARGEST_AUDIT),
    metavar="[N]",
    help="Draw so many of what rules settled and no expert decided since; "
    f"{DEFAULT_AUDIT} without N.",
)
@as_option
@to_option
@seed_option
@db_option
@json_option
@reporting
def audit(
    query: tuple[str, ...],
    size: int | None,
    me: str | None,
    to: str | None,
    seed: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Report each audit: how many of the golds that rules made are wrong.

    With --draw first draw another, of the anchors that QUERY finds. Its items are decided
    in the workbench like others, but neither gold nor votes are shown there before.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.auditing import draw_audit, report
    from nfh_tui.cli.settle_text import Asked, audits_json

    parsed = parse(" ".join(query))
    if size is None and (parsed.text or to or seed is not None):
        raise click.UsageError("a query, --to and --seed are for a new audit: add --draw")
    opened = open_to_read if size is None else Store.open
    with opened(places.database(db)) as store:
        drawn = None
        if size is not None:
            person = store.annotator(me or user())
            auditor = store.annotator(to) if to else person
            drawn = draw_audit(store, parsed, size, _seed(seed), person, auditor)
            if drawn is None:
                say(
                    "No audit was drawn: the query finds nothing that a rule settled and that "
                    "is not audited yet"
                )
        found = [report(one) for one in store.audits()]
    if as_json:
        emit(audits_json(found, drawn))
        return
    _say_audits(found, drawn, Asked(user(), db))


def _say_audits(
    found: "Sequence[AuditReport]", drawn: "NewAudit | None", asked: "Asked"
) -> None:
    from nfh_tui.cli.settle_text import audit_lines, drawn_lines

    for one in found:
        if drawn is None or one.run != drawn.run:
            for line in audit_lines(one, asked):
                tell(line)
    if any(one.wrong for one in found):
        tell(f"What was found wrong: {asked.command('browse', 'audit:wrong')}")
    if drawn is not None:
        for line in drawn_lines(drawn, asked):
            tell(line)
    elif not found:
        tell("There is no audit yet: nfh-tui audit --draw, or nfh-tui settle --audit")
