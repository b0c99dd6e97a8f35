"""`nfh-tui doctor`, `backup` and `merge`: the database and its labels checked, copied, and
brought together with another copy.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.errors import StoreError
from nfh_db.merge.log_diff import REASONS, Conflict, ConflictSide, MergeReport
from nfh_db.messages import counted, visible
from nfh_db.query import Query
from nfh_tui import config
from nfh_tui.cli import options
from nfh_tui.cli.report import Steps

if TYPE_CHECKING:
    from nfh_db.doctor import CheckResult, DoctorFinding, DoctorReport, Repaired
    from nfh_db.store import Store
    from nfh_tui.cli.report import CommandReport
    from nfh_tui.cli.settle import SettleRequest
    from nfh_tui.services.label_checks import (
        AnchorLocation,
        Hit,
        LabelCheckResult,
        LabelProblems,
    )


SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


@click.command(cls=options.QueryCommand)
@click.argument("dest", type=click.Path())
@click.option("--data-only", is_flag=True, help="Leave out the models and the files of jobs.")
@options.on_database
def backup(dest: str, data_only: bool, db: Path | None, as_json: bool) -> None:
    """Copy the database to DEST: a new file, or a folder in which a file is made.

    The copy is of one moment, drafts included, and holds all that was saved before. Trained
    models and the files of jobs go along, into folders beside it. It is looked through before
    it gets its name; a file that is there is never replaced.
    """
    from nfh_db.database import back_up
    from nfh_tui.jobs.descriptions import copy_along

    if not dest:
        # A path of nothing is this folder: no place that anybody named.
        raise click.UsageError("DEST is empty: name a new file, or a folder")
    source = config.database(db)
    target = Path(dest)
    if dest.endswith(SEPARATORS) and not target.is_dir():
        # A path forgets the sign that says "a folder".
        raise StoreError(f"There is no folder {dest}: make it first, or leave out the last /")
    with Steps(source.name) as steps:
        copied = back_up(
            source,
            target,
            lambda done, total: steps.step("page", done, total),
            None if data_only else partial(copy_along, source),
        )
    along = copied.along
    for line in along.left_out:
        options.say(line)
    if as_json:
        told = asdict(copied)
        told |= told.pop("along") | {"folders": list(map(str, along.folders))}
        options.emit({"db": str(source)} | told | {"path": str(copied.path)})
        return
    options.echo(
        f"{visible(str(copied.path), 200)}: {counted(copied.anchors, 'item')}, "
        f"{counted(copied.answers, 'answer')}, {counted(copied.golds, 'gold')}, "
        f"{counted(copied.drafts, 'draft')}; {copied.bytes / 1e6:.1f} MB, looked through"
    )
    if along.folders:
        names = " and ".join(visible(folder.name, 200) for folder in along.folders)
        options.echo(
            f"{names} beside it: {counted(along.models, 'model')}, the files of "
            f"{counted(along.jobs, 'job')}"
        )


FINDINGS_SHOWN = 5
"""Findings of a check that are printed; --json has all."""
SHOWN_ROWS = 3
SHOWN_NOTE = 300
SHOWN_BEFORE, SHOWN_AFTER = 40, 24
LONGEST_QUERY = 72
"""Characters; a longer one finds the first anchor only, so that it fits on one line."""


def run_corpus(
    store: "Store", query: Query, as_json: bool, limit: int = FINDINGS_SHOWN
) -> None:
    """Run the label checks on what a query finds, and print their findings.

    limit: findings of each check that are printed, 0 for all; JSON has all of them. A finding
    is no failure: it is a place for a person to look at.
    """
    from nfh_tui.services.label_checks import find_trouble

    with Steps(store.path.name) as steps:
        tell = partial(steps.step, "looking at passages,")
        found = find_trouble(store, query, tell)
    if as_json:
        options.emit(_label_report(found))
    else:
        click.echo(_text(found, limit), nl=False)


# --- text --------------------------------------------------------------------------------


def _text(found: "LabelProblems", limit: int) -> str:
    from nfh_tui.cli.report import CommandReport

    page = CommandReport()
    where = f"{counted(found.anchors, 'item')} in {counted(found.passages, 'passage')}"
    by = f"parts of speech by {found.tagger}" if found.tagger else "no parts of speech"
    page.say(f"Labels of {where}; {by}.")
    told = [result for result in found.results if result.hits]
    for severity, meaning in MEANINGS.items():
        some = [result for result in told if result.check.severity.value == severity]
        if some:
            page.title(meaning)
            page.table(
                ("check", "findings:", "items:"),
                [(r.check.name, f"{len(r.hits):,}", f"{r.anchors:,}") for r in some],
            )
    for result in told:
        _tell_check(page, result, limit)
    _rest(page, found)
    return page.text()


MEANINGS = {
    "error": "Contradictions",
    "doubt": "Probably wrong",
    "note": "Worth a look",
}
"""Titles of the severities."""


def _tell_check(page: "CommandReport", result: "LabelCheckResult", limit: int) -> None:
    check = result.check
    page.title(f"{check.name}: {counted(len(result.hits), 'finding')}")
    page.say(check.sentence)
    shown = result.hits[:limit] if limit else result.hits
    for hit in shown:
        _tell_hit(page, hit)
    if len(shown) < len(result.hits):
        page.note(f"and {len(result.hits) - len(shown):,} more; --json lists all of them")


def _tell_hit(page: "CommandReport", hit: "Hit") -> None:
    who = f"{hit.who}: " if hit.who else ""
    note = visible(f"{who}{hit.note}", SHOWN_NOTE)
    if not hit.places:
        page.note(note)
        return
    first = hit.places[0]
    more = len(hit.places) - 1
    also = f", and {counted(more, 'other item')}" if more else ""
    page.note(f"item {first.anchor_id}, {_rows(first)}{also}: {note}")
    page.note(f"  {snippet(first)}")
    page.note(f"  {hit.query if len(hit.query) <= LONGEST_QUERY else first.query}")


def _rows(place: "AnchorLocation") -> str:
    if not place.rows:
        return "of no file"
    shown = [f"{row.file} line {row.line}" for row in place.rows[:SHOWN_ROWS]]
    return " and ".join(shown) + (" and more" if len(place.rows) > SHOWN_ROWS else "")


def snippet(place: "AnchorLocation") -> str:
    """The anchor in square brackets, with the text around it, on one line."""
    before = _line(place.before)
    after = _line(place.after)
    head = before[-SHOWN_BEFORE:]
    tail = after[:SHOWN_AFTER]
    lead = "\u2026" if len(head) < len(before) else ""
    trail = "\u2026" if len(tail) < len(after) else ""
    return visible(f"{lead}{head}[{_line(place.word)}]{tail}{trail}", SHOWN_NOTE)


def _line(text: str) -> str:
    return text.replace("\n", " / ")


def _rest(page: "CommandReport", found: "LabelProblems") -> None:
    clean = [r.check.name for r in found.results if not r.hits and not r.skipped]
    skipped = [r.check.name for r in found.results if r.skipped]
    page.title("Nothing found")
    page.say(f"{', '.join(clean)}." if clean else "Every check found something.")
    if skipped:
        page.title("Not checked, because there is no parser")
        page.say(f"{', '.join(skipped)}. {found.why or ''}")
    page.say("The query under each item finds it: type it after : in the workbench.")


# --- JSON --------------------------------------------------------------------------------


def _label_report(found: "LabelProblems") -> dict[str, object]:
    return options.picked(found, "passages anchors tagger why_no_tagger=why") | {
        "checks": [
            options.picked(one.check, "check=name severity sentence rule")
            | options.picked(one, "skipped anchors")
            | {"findings": list(map(_hit, one.hits))}
            for one in found.results
        ]
    }


def _hit(hit: "Hit") -> dict[str, object]:
    return options.picked(hit, "note who") | {
        "query": hit.query or None,
        "anchors": [
            options.picked(place, "anchor_id id=public_id before word after")
            | {"rows": [options.picked(row, "file line split") for row in place.rows]}
            | {"query": place.query}
            for place in hit.places
        ],
    }


SHOWN = 10
"""Findings of one check that are printed; --json has more of them."""

SHOWN_LENGTH = 400
"""Code points of a finding that are printed: names and queries in it may be long."""


@click.command(cls=options.QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--repair",
    "mend",
    is_flag=True,
    help="Repair what can be derived from other data, after making a copy beside the database.",
)
@click.option(
    "--corpus",
    is_flag=True,
    help="Find label problems instead, in what QUERY finds, else in all items.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help="With --corpus: how many findings of each check are printed; 0 for all.",
)
@options.on_database
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
    log. Others can work at the same time.
    """
    if corpus and mend:
        raise click.UsageError("--corpus finds label problems, which --repair cannot repair")
    if query and not corpus:
        raise click.UsageError("a QUERY belongs to --corpus; doctor checks the whole database")
    if limit is not None and not corpus:
        raise click.UsageError("--limit belongs to --corpus")
    path = config.database(db)
    if corpus:
        parsed = options.parse_query(query)
        with options.open_to_read(path) as store:
            run_corpus(store, parsed, as_json, FINDINGS_SHOWN if limit is None else limit)
        return
    report, repaired = _examine(path, mend=mend)
    if as_json:
        options.emit(_as_json(report, repaired))
    else:
        _tell(report, repaired)
    if report.broken:
        raise click.exceptions.Exit(1)


def _examine(path: Path, *, mend: bool) -> "tuple[DoctorReport, Repaired | None]":
    from nfh_db.doctor import examine, repair
    from nfh_tui.services.imports import rare_garbage_collection

    with Steps(path.name) as steps, rare_garbage_collection():

        def again() -> "DoctorReport":
            return examine(path, progress=steps.step, read_draft=_read_draft)

        report = again()
        repaired = repair(path, report, again) if mend else None
    return (report if repaired is None else repaired.report), repaired


def _read_draft(body: str) -> object:
    """Raise ValueError for a draft that the editor cannot read."""
    import msgspec

    from nfh_tui.editor.state import EditState

    try:
        return msgspec.json.decode(body, type=EditState)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


# --- words ----------------------------------------------------------------------------------


def _tell(report: "DoctorReport", repaired: "Repaired | None") -> None:
    options.echo(
        f"{visible(str(report.path), 200)}: {counted(report.anchors, 'item')}, "
        f"{counted(report.events, 'event')} in the log; SQLite {report.sqlite}, schema "
        f"{report.schema}; {report.seconds:.1f} s"
    )
    width = max(len(outcome.check.name) for outcome in report.outcomes)
    for outcome in report.outcomes:
        sign = "BROKEN" if outcome.broken else "ok"
        options.echo(f"{sign:<6}  {outcome.check.name:<{width}}  {outcome.check.promise}")
        if outcome.broken:
            _tell_findings(outcome, report)
    for note in report.notes:
        options.say(visible(note, SHOWN_LENGTH))
    _tell_end(report, repaired)


def _tell_findings(outcome: "CheckResult", report: "DoctorReport") -> None:
    found = [finding for finding in report.findings if finding.check == outcome.check.name]
    for finding in found[:SHOWN]:
        options.echo(f"        {place(finding)}{visible(finding.what, SHOWN_LENGTH)}")
    if outcome.broken > SHOWN:
        options.echo(
            f"        and {outcome.broken - SHOWN:,} more; --json lists 100 of a check"
        )
    for how in dict.fromkeys(finding.how for finding in found):
        options.echo(f"        What to do: {how}")


def place(finding: "DoctorFinding") -> str:
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


def _tell_end(report: "DoctorReport", repaired: "Repaired | None") -> None:
    if repaired is not None:
        done = ", ".join(repaired.kinds)
        kept = visible(str(repaired.backup), 200)
        options.echo(f"Repaired: {done}. The database as it was before is in {kept}")
        for sentence in repaired.failed:
            options.say(f"nfh-tui: {visible(sentence, SHOWN_LENGTH)}")
    if not report.broken:
        options.echo("Nothing is broken.")
        return
    end = f"{counted(report.broken, 'thing')} broken"
    if report.repairable:
        end += f"; `nfh-tui doctor --repair` repairs {report.repairable:,} of them"
    options.echo(f"{end}.")


# --- JSON -----------------------------------------------------------------------------------


def _as_json(report: "DoctorReport", repaired: "Repaired | None") -> dict[str, object]:
    return {
        "db": str(report.path),
        "ok": not report.broken,
        **options.picked(report, "broken repairable sqlite schema anchors events"),
        "seconds": round(report.seconds, 3),
        "checks": [
            options.picked(outcome, "name=check.name promise=check.promise broken repairable")
            for outcome in report.outcomes
        ],
        **options.picked(report, "findings notes"),
        "repaired": repaired
        and {"backup": str(repaired.backup), **options.picked(repaired, "kinds failed")},
    }


PHASES = {
    "compared": "passages compared",
    "copied": "pages copied",
    "written": "changes written",
    "applied": "changes applied",
}


@click.command(cls=options.QueryCommand)
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be merged; store nothing.")
@options.as_option
@options.on_database
def merge(other: Path, dry_run: bool, me: str | None, db: Path | None, as_json: bool) -> None:
    """Merge what was done in OTHER, a copy of the database that somebody worked on.

    Answers, decisions, flags, corrections of spans and imports come in with their persons
    and times. What both copies changed differently stays as it is here and is listed.
    OTHER is only read. A copy of the database is made beside it before anything is written.
    """
    from nfh_tui.cli.settle import SettleRequest

    path = config.database(db)
    with options.open_database(db, writes=not dry_run) as store, Steps("merge") as steps:
        report = store.merge.run(
            other,
            me or options.user(),
            dry_run=dry_run,
            progress=lambda phase, done: steps.step(f"{done:,} {PHASES[phase]}", 0, 0),
        )
    if as_json:
        options.emit(merge_json(report, path))
        return
    options.tell_lines(merge_lines(report, path, SettleRequest(options.user(), db)))


SHOWN_ITEMS = 20
NAMES_SHOWN = 10
LINE_SHOWN = 300
PATH_SHOWN = 200

BY_VOTES = {"unanimous", "majority", "weighted"}
BETWEEN_EXPERTS = "experts:differ"
"""Finds items on which experts differ."""


def merge_json(report: MergeReport, path: Path) -> dict[str, object]:
    content = asdict(report)
    content["conflicts"] = [
        asdict(one) | {"reason": REASONS[one.why]} for one in report.conflicts
    ]
    return {"db": str(path), "changed": report.changes and not report.dry_run} | content


def merge_lines(report: MergeReport, path: Path, request: "SettleRequest") -> Iterator[str]:
    other = visible(report.other, PATH_SHOWN)
    if not report.changes:
        yield f"{other}: nothing new"
    else:
        yield f"{other}: {_came(report)}"
        yield from _new(report)
    yield from _same(report)
    for sentence in report.left:
        yield f"Left there: {visible(sentence, LINE_SHOWN)}"
    yield from _conflicts(report.conflicts, request)
    if report.dry_run:
        yield "Nothing was stored"
    elif report.backup is not None:
        yield f"As it was before: {visible(report.backup, PATH_SHOWN)}"
        yield f"  to go back, close nfh-tui and put that file in place of {visible(str(path))}"


def _came(report: MergeReport) -> str:
    changes = counted(report.events, "change")
    items = counted(report.items, "item")
    acts = counted(report.acts, "act")
    verb = "would come in" if report.dry_run else "came in"
    return f"{changes} of {items} {verb}, in {acts}"


def _new(report: MergeReport) -> Iterator[str]:
    things = [
        counted(number, thing, plural)
        for number, thing, plural in (
            (report.passages_new, "passage", None),
            (report.anchors_new, "number", None),
            (report.assignments_new, "assignment", None),
            (report.drafts_new, "draft", None),
            (report.places_new, "place where somebody stood", "places where people stood"),
            (report.views_new, "saved view", None),
            (report.guidelines_new, "version of the guidelines", "versions of the guidelines"),
        )
        if number
    ]
    if report.people_new:
        yield f"People new: {_names(report.people_new)}"
    if report.imports_new:
        yield f"Files new: {_names(report.imports_new)}"
    if things:
        yield f"Also new: {', '.join(things)}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(visible(name) for name in names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def _same(report: MergeReport) -> Iterator[str]:
    if report.agreed:
        yield (
            f"{counted(report.agreed, 'thing')} changed in both to the same, or decided here: "
            "unchanged here"
        )
    if report.taken_back:
        yield (
            f"{counted(report.taken_back, 'thing')} changed there and changed back: "
            "unchanged here"
        )


def _conflicts(conflicts: Sequence[Conflict], request: "SettleRequest") -> Iterator[str]:
    if not conflicts:
        return
    items = [list(group) for _, group in groupby(conflicts, lambda one: one.public_id)]
    yield f"{counted(len(items), 'item')} unchanged here, for you to decide:"
    for group in items[:SHOWN_ITEMS]:
        for one in group:
            yield f"  {_conflict(one)}"
        yield f"    {request.command('adjudicate', group[0].query)}"
    if len(items) > SHOWN_ITEMS:
        yield f"  and {len(items) - SHOWN_ITEMS:,} more; --json lists them all"
    golds = [{one.here.rule, one.there.rule} for one in conflicts if one.what == "gold"]
    if {"expert"} in golds:
        yield "Items that adjudicators decided differently, now that both decisions are here:"
        yield f"  {request.command('adjudicate', BETWEEN_EXPERTS)}"
    if any(rules <= BY_VOTES for rules in golds):
        yield "Where a rule made both golds, nfh-tui settle makes gold again from all votes"


def _conflict(one: Conflict) -> str:
    whose = f" of {visible(one.whose)}" if one.whose else ""
    text = (
        f"{one.what}{whose} for “{one.word}”: here {_side(one.here)}; there "
        f"{_side(one.there)}; {REASONS[one.why]}"
    )
    return visible(text, LINE_SHOWN)


def _side(side: ConflictSide) -> str:
    """The value in one copy, by whom and when (UTC, to the minute)."""
    by = f" by {side.by}" if side.by else ""
    at = f" at {side.at[:16].replace('T', ' ')}" if side.at else ""
    return f"{side.said}{by}{at}"
