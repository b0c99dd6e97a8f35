"""`nfh-tui init`."""

from pathlib import Path

import click

from nfh_db.formats.wording import visible
from nfh_tui import places
from nfh_tui.cli.common import db_option, emit, json_option, reporting, tell


@click.command(short_help="Make a new, empty database.")
@db_option
@json_option
@reporting
def init(db: Path | None, as_json: bool) -> None:
    """Make a new, empty database: at --db, else at $NFH_TUI_DB, else nfh.db here.

    The small model that comes with the program is active in it, and the guidelines begin
    with the text that comes with it. A database that is there already is left as it is.
    """
    from nfh_db.store import Store
    from nfh_tui.guidelines import first_text
    from nfh_tui.packaged import ensure_small

    path = places.new_database(db)
    existed = path.exists()
    with Store.open(path, create=True) as store:
        if not existed:
            ensure_small(store)
            store.begin_guidelines(first_text())
    if as_json:
        emit({"db": str(path), "created": not existed})
    else:
        shown = visible(str(path), 200)
        tell(f"{shown} is there already" if existed else f"Made {shown}")
