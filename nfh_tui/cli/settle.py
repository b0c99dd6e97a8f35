"""`nfh-tui settle` and `nfh-tui audit`: gold from votes, and how far it can be trusted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.messages import command_line, counted, visible
from nfh_tui.cli import options
from nfh_tui.cli.report import RowCounter, aligned, wrapped
from nfh_tui.display_figures import NONE, interval, percentage

if TYPE_CHECKING:
    from nfh_db.batches import SettleReport
    from nfh_db.query import Query
    from nfh_db.records import Annotator
    from nfh_db.store import Store
    from nfh_tui.services.agreement import AuditReport, NewAudit, SettledStratum


RULES = ("unanimous", "majority", "weighted")
DEFAULT_AUDIT = 150
LARGEST_AUDIT = 2_000
"""Most items of an audit, which is drawn in one write."""

LARGEST_SEED = 2**31 - 1


class SettleCommand(options.QueryCommand):
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
    "--to", "to", callback=options.name, metavar="NAME", help="Who decides the audit; else you."
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    help="Seed of the sample: the same seed draws the same items; else random.",
)


# --- settle ---------------------------------------------------------------------------------


@click.command(cls=SettleCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--rule",
    type=click.Choice(RULES),
    required=True,
    help="unanimous: no two votes differ in anything that blocks; majority: more than half "
    "fall into one class, and no two that give heads differ in them; weighted: the same "
    "with each vote weighed by competence, as annotators --remember stores it.",
)
@click.option(
    "--least",
    type=click.IntRange(1),
    default=2,
    help="Votes that an item needs.",
)
@click.option(
    "--audit",
    "audit_size",
    type=click.IntRange(1, LARGEST_AUDIT),
    metavar="[N]",
    help=f"Draw a sample of the settled items, to be decided blind; {DEFAULT_AUDIT} without N.",
)
@options.as_option
@to_option
@seed_option
@click.option("--dry-run", is_flag=True, help="Show what would be settled; store nothing.")
@options.on_database
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
    """Make gold of the votes on the items that QUERY finds; without QUERY, on all.

    Gold of an adjudicator or of a file is never changed. It is one act: z in the workbench
    undoes it, except what somebody has changed since then.
    """
    from nfh_db.records import Annotator, Rule
    from nfh_tui.services.agreement import settled_strata

    parsed = options.parse_query(query)
    who = me or options.user()
    with options.open_database(db, writes=not dry_run) as store:
        if rule == "weighted" and store.competences.read() is None:
            raise click.UsageError(
                "no competences are stored to weigh votes by: nfh-tui annotators --remember "
                "stores them"
            )
        # A dry run creates nobody.
        person = (
            (options.known(store, who) or Annotator(0, who))
            if dry_run
            else store.people.ensure(who)
        )
        with RowCounter("settle") as counter:
            report = store.settlement.run(
                parsed,
                Rule(rule),
                person,
                least=least,
                dry_run=dry_run,
                progress=lambda what, done: counter.show(f"{done:,} items {what}"),
            )
        drawn, why_none = None, ""
        if audit_size is not None:
            drawn, why_none = _audit_of(store, parsed, audit_size, seed, person, to, report)
        strata = settled_strata(store.audits.all(), report.strata, parsed.text)
        rest = f"{parsed.text} state:disagree".strip()
        count = store.queue.count(options.parse_query([rest]), person)
    request = SettleRequest(options.user(), db)
    if as_json:
        options.emit(settlement_json(report, parsed.text, (rest, count), drawn, strata))
    else:
        options.tell_lines(settlement_lines(report, who))
        options.tell_lines(strata_lines(strata, request, waits=drawn is not None))
        if count:
            options.echo(f"{counted(count, 'item')} in disagreement left:")
            options.echo(f"  {request.command('adjudicate', f'{rest} sort:disagree')}")
        if drawn is not None:
            options.tell_lines(drawn_lines(drawn, request))
    if why_none:
        options.say(why_none)


def _audit_of(
    store: "Store",
    query: "Query",
    wanted: int,
    seed: int | None,
    person: "Annotator",
    to: str | None,
    report: "SettleReport",
) -> "tuple[NewAudit | None, str]":
    """A sample of what the settlement did, or why there is none."""
    from nfh_tui.services.agreement import draw_audit

    if report.dry_run:
        return None, (
            "No audit is drawn with --dry-run, which settles nothing: leave out --dry-run"
        )
    if report.act_id is None:
        return None, (
            "No audit was drawn, because nothing new was settled. nfh-tui audit --draw draws "
            "from everything that rules settled"
        )
    auditor = store.people.ensure(to) if to else person
    drawn = draw_audit(store, query, wanted, _seed(seed), person, auditor, report)
    if drawn is None:
        return None, "No audit was drawn, because nothing that was settled can be audited"
    return drawn, ""


def _seed(seed: int | None) -> int:
    if seed is not None:
        return seed
    import secrets

    return secrets.randbelow(LARGEST_SEED)


# --- audit ----------------------------------------------------------------------------------


@click.command(cls=SettleCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--draw",
    "size",
    type=click.IntRange(1, LARGEST_AUDIT),
    metavar="[N]",
    help="Draw this many items that rules settled and no adjudicator has decided since then; "
    f"{DEFAULT_AUDIT} without N.",
)
@options.as_option
@to_option
@seed_option
@options.on_database
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

    With --draw, first draw another from the items that QUERY finds. Its items are decided
    in the workbench like others, but gold and votes are hidden until then.
    """
    from nfh_db.records import Annotator
    from nfh_tui.services.agreement import report, settled_strata

    parsed = options.parse_query(query)
    if size is None and (parsed.text or to or seed is not None):
        raise click.UsageError("a query, --to and --seed are for a new audit: add --draw")
    with options.open_database(db, writes=size is not None) as store:
        drawn = None if size is None else _drawn(store, parsed, size, seed, me, to)
        audits = store.audits.all()
        found = [report(one) for one in audits]
        user = options.known(store, me or options.user()) or Annotator(0, options.user())
        strata = settled_strata(audits, store.audits.settled(parsed, user), parsed.text)
    if as_json:
        told = None if drawn is None else drawn_json(drawn)
        options.emit({"audits": found, "strata": strata, "drawn": told})
    else:
        _tell_audits(found, strata, drawn, SettleRequest(options.user(), db))
    if size is not None and drawn is None:
        options.say(
            "No audit was drawn: the query finds nothing that a rule settled and that is not "
            "audited yet"
        )


def _tell_audits(
    found: "Sequence[AuditReport]",
    strata: "Sequence[SettledStratum]",
    drawn: "NewAudit | None",
    request: "SettleRequest",
) -> None:
    if drawn is None and found:
        waits = any(one.left for one in found)
        options.tell_lines(strata_lines(strata, request, waits=waits))
    for one in found:
        if drawn is None or one.run != drawn.run:
            options.tell_lines(audit_lines(one, request))
    if any(one.wrong for one in found):
        options.echo(f"What was found wrong: {request.command('browse', 'audit:wrong')}")
    if drawn is not None:
        options.tell_lines(drawn_lines(drawn, request))
    elif not found:
        options.echo("There is no audit yet: nfh-tui audit --draw, or nfh-tui settle --audit")


def _drawn(
    store: "Store", query: "Query", size: int, seed: int | None, me: str | None, to: str | None
) -> "NewAudit | None":
    """A sample of all that rules settled; None if there is nothing to draw from."""
    from nfh_tui.services.agreement import draw_audit

    person = store.people.ensure(me or options.user())
    auditor = store.people.ensure(to) if to else person
    return draw_audit(store, query, size, _seed(seed), person, auditor)


NAME_SHOWN = 100
COMMAND_SHOWN = 5_000
CONFIDENCE = "95 %"
TIED = "\xa0"
"""A no-break space between a name and its number."""


# --- settlements ----------------------------------------------------------------------------


def settlement_lines(report: "SettleReport", me: str) -> Iterator[str]:
    yield (
        f"{counted(report.anchors, 'item')} checked by rule {report.rule}, "
        f"{counted(report.least, 'vote')} or more"
    )
    yield (
        f"  gold: {report.new:,} new, {report.same:,} the same as before, "
        f"{report.replaced:,} replaced, {report.taken_back:,} taken back"
    )
    settled = report.new + report.same + report.replaced
    for title, found in (
        (f"in all {settled:,} settled, by class", report.classes),
        ("by votes", report.patterns),
        (f"{sum(report.skipped.values()):,} not settled", report.skipped),
    ):
        if found:
            yield from _wrapped(f"{title}: {_listed(found)}")
    if report.changed:
        yield from _wrapped(
            f"{counted(report.changed, 'item')} unchanged, because somebody changed gold, "
            "votes or span in the meantime. Settle again to include them"
        )
    if report.dry_run:
        yield "Nothing was stored"
    elif report.act_id is None:
        yield "Nothing had to be changed"
    else:
        who = visible(me, NAME_SHOWN)
        yield f"One act of {who}: z in the workbench as {who} undoes it"


def _wrapped(sentence: str) -> list[str]:
    """A sentence indented under the line before; TIED blanks do not break."""
    return [line.replace(TIED, " ") for line in wrapped(sentence, "  ", "    ", cuts=True)]


def _listed(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name}{TIED}{count:,}" for name, count in found.items())


def settlement_json(
    report: "SettleReport",
    query: str,
    rest: tuple[str, int],
    audit: "NewAudit | None",
    strata: "Sequence[SettledStratum]",
) -> dict[str, object]:
    """The settlement as JSON. rest: query and number of the anchors still in disagreement."""
    return {
        "query": query,
        **asdict(report),
        "strata": strata,
        "rest": {"query": rest[0], "anchors": rest[1]},
        "audit": None if audit is None else drawn_json(audit),
    }


@dataclass(frozen=True, slots=True)
class SettleRequest:
    """The user of a command, and the value of --db."""

    user: str
    db: Path | None = None

    def command(self, name: str, query: str, who: str | None = None) -> str:
        """A command line to type, quoted for a shell. who: the value of --as."""
        as_who = [] if who is None or who == self.user else ["--as", who]
        db = [] if self.db is None else ["--db", str(self.db)]
        return visible(command_line(["nfh-tui", name, *db, *as_who, query]), COMMAND_SHOWN)

    def todo(self, auditor: str) -> str:
        """The command that opens the rest of an audit, in the order drawn."""
        return self.command("adjudicate", "todo:me/adjudicator sort:assigned", auditor)


def strata_lines(
    strata: "Sequence[SettledStratum]", request: SettleRequest, *, waits: bool = False
) -> Iterator[str]:
    """What audits found in each stratum, and which ones to decide by hand.

    waits: an audit that is to be decided is reported below.
    """
    from nfh_models.agreement.audit import TOLERATED, Advice

    if not any(one.audited for one in strata):
        if strata and not waits:
            yield from _wrapped(
                "How often the rules are wrong is not known: no audit of these is finished. "
                "nfh-tui audit --draw draws one; nfh-tui audit shows those that are open"
            )
        return
    yield f"What audits found wrong ({CONFIDENCE} interval), by class and votes"
    rows = [
        (
            one.name,
            *(f"{count:,}" for count in (one.golds, one.audited, one.wrong)),
            NONE if one.interval is None else f"{interval(*one.interval)} %",
            one.advice.value,
        )
        for one in strata
    ]
    titles = ("stratum", "golds", "audited", "wrong", "interval", "advice")
    yield from aligned([titles, *rows], indent="  ")
    wrong = [one for one in strata if one.advice is Advice.BY_HAND]
    if wrong:
        yield f"More than {100 * TOLERATED:.0f} % is wrong; decide by hand:"
    for one in wrong:
        yield f"  {request.command('adjudicate', one.find)}"


# --- audits ---------------------------------------------------------------------------------


def drawn_lines(audit: "NewAudit", request: SettleRequest) -> Iterator[str]:
    yield (
        f"Audit {audit.run}: {counted(audit.items, 'item')} of {audit.frame:,} drawn with seed "
        f"{audit.seed}, for {visible(audit.auditor, NAME_SHOWN)}"
    )
    rows = [(name, f"{size:,}", f"{drawn:,}") for name, (size, drawn) in audit.strata.items()]
    if rows:
        titles = ("stratum", "golds", "drawn")
        yield from aligned([titles, *rows], indent="  ")
    if audit.voted:
        yield from _wrapped(
            f"{visible(audit.auditor, NAME_SHOWN)} voted on {audit.voted:,} of these: "
            "an auditor who did not vote is better"
        )
    yield f"Decide them: {request.todo(audit.auditor)}"


def drawn_json(audit: "NewAudit") -> dict[str, object]:
    strata = {
        name: {"size": size, "drawn": drawn} for name, (size, drawn) in audit.strata.items()
    }
    return {**asdict(audit), "strata": strata}


def audit_lines(audit: "AuditReport", request: SettleRequest) -> Iterator[str]:
    of = "" if audit.frame is None else f" of {audit.frame:,}"
    seed = "" if audit.seed is None else f", seed {audit.seed}"
    yield (
        f"Audit {audit.run} by {visible(audit.auditor, NAME_SHOWN)}: "
        f"{counted(audit.drawn, 'item')}{of} that rules settled{seed}"
    )
    so_far = " so far" if audit.left else ""
    kinds = f" ({_listed(audit.kinds)})" if audit.kinds else ""
    parts = [f"{audit.left:,} left"] if audit.left else []
    if audit.returned:
        parts.append(f"{audit.returned:,} given back")
    if audit.gone:
        parts.append(f"{audit.gone:,} with a span corrected since then")
    lost = f" ({', '.join(parts)})" if parts else ""
    yield from _wrapped(
        f"{audit.decided:,} decided{lost}, {audit.wrong:,} wrong{so_far}{kinds}"
    )
    if audit.why is not None:
        yield from _wrapped(f"No error rate yet: {audit.why}")
        if audit.left:
            yield f"  Continue: {request.todo(audit.auditor)}"
        return
    rows = [
        (name, *(f"{count:,}" for count in (one.size, one.drawn, one.decided, one.wrong)))
        for name, one in audit.strata.items()
    ]
    if rows:
        titles = ("stratum", "golds", "drawn", "decided", "wrong")
        yield from aligned([titles, *rows], indent="  ")
    # Last: it is what the reader came for, and the end of a long output stays in view.
    yield from _rates(audit)


def _rates(audit: "AuditReport") -> Iterator[str]:
    if audit.interval is None or audit.bound is None or audit.share is None:
        return
    low, high = audit.interval
    if audit.rate is not None:
        whole = audit.covered == audit.frame
        seen = "" if whole else f" (of the strata looked at: {audit.covered:,} golds)"
        yield from _wrapped(
            f"Error rate {percentage(audit.rate)}, strata weighted by their sizes{seen}"
        )
    yield from _wrapped(
        f"{percentage(audit.share)} of those decided are wrong, {CONFIDENCE} interval "
        f"{percentage(low)} to {percentage(high)}; at most {percentage(audit.bound)} with "
        f"{CONFIDENCE} confidence"
    )
