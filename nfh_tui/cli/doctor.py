"""`nfh-tui doctor`: is everything there, and as it should be?"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import counted, visible
from nfh_tui import places
from nfh_tui.cli.common import (
    QueryCommand,
    db_option,
    emit,
    json_option,
    open_to_read,
    reporting,
    say,
    tell,
)
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_db.doctor import Finding, Outcome, Repaired, Report

SHOWN = 10
"""Findings of one check that are printed; --json has more of them."""

SHOWN_LENGTH = 400
"""Code points of a finding that are printed: names and queries in it may be long."""


@click.command(cls=QueryCommand, short_help="Check the database, or the labels in it.")
@click.argument("query", nargs=-1)
@click.option(
    "--repair",
    "mend",
    is_flag=True,
    help="Mend what follows from something else, after a copy was made beside the database.",
)
@click.option(
    "--corpus",
    is_flag=True,
    help="Look for trouble in the labels instead: of what QUERY finds, else of all.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help="With --corpus: findings of each check that are printed; 0 for all of them.",
)
@db_option
@json_option
@reporting
def doctor(
    query: Sequence[str],
    mend: bool,
    corpus: bool,
    limit: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Check that the database keeps its promises: exit status 0 if it does, 1 if not.

    Nothing is written without --repair, and that never touches an answer, a gold, or the
    log. Others may work meanwhile.
    """
    if corpus and mend:
        raise click.UsageError("--corpus finds labels to look at; there is nothing to --repair")
    if query and not corpus:
        raise click.UsageError("a QUERY belongs to --corpus; doctor checks the whole database")
    if limit is not None and not corpus:
        raise click.UsageError("--limit belongs to --corpus")
    path = places.database(db)
    if corpus:
        _corpus(path, " ".join(query), as_json=as_json, limit=limit)
        return
    report, repaired = _examine(path, mend=mend)
    if as_json:
        emit(_as_json(report, repaired))
    else:
        _tell(report, repaired)
    if report.broken:
        raise click.exceptions.Exit(1)


def _corpus(path: Path, text: str, *, as_json: bool, limit: int | None) -> None:
    from nfh_db.query import parse
    from nfh_tui.cli.corpus import SHOWN as SHOWN_OF_CORPUS
    from nfh_tui.cli.corpus import run_corpus

    query = parse(text)
    with open_to_read(path) as store:
        run_corpus(store, query, as_json, SHOWN_OF_CORPUS if limit is None else limit)


def _examine(path: Path, *, mend: bool) -> "tuple[Report, Repaired | None]":
    from nfh_db.doctor import examine, repair
    from nfh_tui.importing import collecting_rarely

    with Steps(path.name) as steps, collecting_rarely():

        def again() -> "Report":
            return examine(path, progress=steps.step, read_draft=_read_draft)

        report = again()
        repaired = repair(path, report, again) if mend else None
    return (report if repaired is None else repaired.report), repaired


def _read_draft(body: str) -> object:
    """Raise ValueError for a draft that the editor cannot read."""
    import msgspec

    from nfh_tui.editing import EditState

    try:
        return msgspec.json.decode(body, type=EditState)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


# --- words ----------------------------------------------------------------------------------


def _tell(report: "Report", repaired: "Repaired | None") -> None:
    tell(
        f"{visible(str(report.path), 200)}: {counted(report.anchors, 'anchor')}, "
        f"{counted(report.events, 'event')} in the log; SQLite {report.sqlite}, schema "
        f"{report.schema}; {report.seconds:.1f} s"
    )
    width = max(len(outcome.check.name) for outcome in report.outcomes)
    for outcome in report.outcomes:
        sign = "BROKEN" if outcome.broken else "ok"
        tell(f"{sign:<6}  {outcome.check.name:<{width}}  {outcome.check.promise}")
        if outcome.broken:
            _tell_findings(outcome, report)
    for note in report.notes:
        say(visible(note, SHOWN_LENGTH))
    _tell_end(report, repaired)


def _tell_findings(outcome: "Outcome", report: "Report") -> None:
    found = [finding for finding in report.findings if finding.check == outcome.check.name]
    for finding in found[:SHOWN]:
        tell(f"        {place(finding)}{visible(finding.what, SHOWN_LENGTH)}")
    if outcome.broken > SHOWN:
        tell(f"        and {outcome.broken - SHOWN:,} more; --json lists 100 of a check")
    for how in dict.fromkeys(finding.how for finding in found):
        tell(f"        What to do: {how}")


def place(finding: "Finding") -> str:
    """Where something is, in words: table, row, and the item that it is about."""
    where = finding.where
    said = where.table
    if where.row is not None:
        said += f" {visible(str(where.row))}"
    if where.item is not None:
        told = f"item {finding.public_id}" if finding.public_id else "item"
        found = finding.query or (f"anchor {where.item}" if where.row != where.item else "")
        said += f" ({told}, {found})" if found else f" ({told})"
    return f"{said}: " if said else ""


def _tell_end(report: "Report", repaired: "Repaired | None") -> None:
    if repaired is not None:
        done = ", ".join(repaired.kinds)
        kept = visible(str(repaired.backup), 200)
        tell(f"Repaired: {done}. As it was before, it lies in {kept}")
        for sentence in repaired.failed:
            say(f"nfh-tui: {visible(sentence, SHOWN_LENGTH)}")
    if not report.broken:
        tell("Nothing is broken.")
        return
    end = f"{counted(report.broken, 'thing')} broken"
    if report.repairable:
        end += f"; `nfh-tui doctor --repair` mends {report.repairable:,} of them"
    tell(f"{end}.")


# --- JSON -----------------------------------------------------------------------------------


def _as_json(report: "Report", repaired: "Repaired | None") -> dict[str, object]:
    return {
        "db": str(report.path),
        "ok": not report.broken,
        "broken": report.broken,
        "repairable": report.repairable,
        "sqlite": report.sqlite,
        "schema": report.schema,
        "anchors": report.anchors,
        "events": report.events,
        "seconds": round(report.seconds, 3),
        "checks": [
            {
                "name": outcome.check.name,
                "promise": outcome.check.promise,
                "broken": outcome.broken,
                "repairable": outcome.repairable,
            }
            for outcome in report.outcomes
        ],
        "findings": [asdict(finding) for finding in report.findings],
        "notes": list(report.notes),
        "repaired": None
        if repaired is None
        else {
            "backup": str(repaired.backup),
            "kinds": list(repaired.kinds),
            "failed": list(repaired.failed),
        },
    }
