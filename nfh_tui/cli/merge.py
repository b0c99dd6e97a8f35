"""`nfh-tui merge`: what was done in another copy of the database comes in."""

from pathlib import Path

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    as_option,
    db_option,
    emit,
    json_option,
    open_to_read,
    reporting,
    tell,
    user,
)
from nfh_tui.cli.steps import Steps

PHASES = {
    "compared": "passages compared",
    "copied": "pages copied",
    "written": "changes written",
    "applied": "changes applied",
}


@click.command(short_help="Bring in what was done in another copy of the database.")
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would come in; store nothing.")
@as_option
@db_option
@json_option
@reporting
def merge(other: Path, dry_run: bool, me: str | None, db: Path | None, as_json: bool) -> None:
    """Bring in what was done in OTHER, a copy of the database that somebody worked on.

    Answers, decisions, flags, corrections of spans and imports come in with their persons
    and times. What both copies changed, each otherwise, stays as it is here and is listed.
    OTHER is only read. A copy of the database is made beside it before anything is written.
    """
    from nfh_db.store import Store
    from nfh_tui.cli.merge_text import merge_json, merge_lines
    from nfh_tui.cli.settle_text import Asked

    path = places.database(db)
    opened = open_to_read if dry_run else Store.open
    with opened(path) as store, Steps("merge") as steps:
        report = store.merge(
            other,
            me or user(),
            dry_run=dry_run,
            progress=lambda phase, done: steps.step(f"{done:,} {PHASES[phase]}", 0, 0),
        )
    if as_json:
        emit(merge_json(report, path))
        return
    for line in merge_lines(report, path, Asked(user(), db)):
        tell(line)
