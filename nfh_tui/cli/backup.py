"""`nfh-tui backup`: a copy of the database while others work in it."""

import os
from dataclasses import asdict
from pathlib import Path

import click

from nfh_db.errors import StoreError
from nfh_db.formats.wording import counted, visible
from nfh_tui import places
from nfh_tui.cli.common import db_option, emit, json_option, reporting, tell
from nfh_tui.cli.steps import Steps

SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


@click.command(short_help="Copy the database, also while others work in it.")
@click.argument("dest", type=click.Path())
@db_option
@json_option
@reporting
def backup(dest: str, db: Path | None, as_json: bool) -> None:
    """Copy the database to DEST: the name of a new file, or a folder to make one in.

    The copy is of one moment, drafts included, and holds all that was saved before. It is
    looked through before it gets its name; a file that is there is never replaced.
    """
    from nfh_db.backup import back_up

    if not dest:
        # A path of nothing is this folder: no place that anybody named.
        raise click.UsageError("DEST is empty: name a new file, or a folder")
    source = places.database(db)
    target = Path(dest)
    if dest.endswith(SEPARATORS) and not target.is_dir():
        # A path forgets the sign that says "a folder".
        raise StoreError(f"There is no folder {dest}: make it first, or leave the sign away")
    with Steps(source.name) as steps:
        copied = back_up(source, target, lambda done, total: steps.step("page", done, total))
    if as_json:
        emit({"db": str(source)} | asdict(copied) | {"path": str(copied.path)})
        return
    tell(
        f"{visible(str(copied.path), 200)}: {counted(copied.anchors, 'anchor')}, "
        f"{counted(copied.answers, 'answer')}, {counted(copied.golds, 'gold')}, "
        f"{counted(copied.drafts, 'draft')}; {copied.bytes / 1e6:.1f} MB, looked through"
    )
