"""The sample corpus, copied to the user's data folder, where it can be worked on."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from nfh_db import system
from nfh_db.errors import NoFileError
from nfh_db.messages import quoted
from nfh_tui import config

DEMO_NAME = "demo.db"

SUFFIXES = ("-wal", "-shm", "")
"""Suffixes of the database's files; the database itself is renamed last."""


def demo_database() -> Path:
    """The path of the demo's database."""
    return system.data_folder() / DEMO_NAME


def hint_of(error: Exception) -> str:
    """A hint at the demo's database to append to `error`; "" where it does not help.

    It helps where no database is named, the default one does not exist, and the demo does.
    """
    if not isinstance(error, NoFileError):
        return ""
    with suppress(OSError):
        if error.path == config.database(None) and demo_database().is_file():
            return f". The demo has its own database: --db {quoted(str(demo_database()))}"
    return ""


def set_aside(path: Path) -> Path | None:
    """Rename the demo's database, so that a new one can be made; None if there is none.

    Returns the new path. Raises OSError.
    """
    if not path.exists():
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    number = 1
    kept = path.with_name(f"{path.stem}-{stamp}{path.suffix}")
    while any(os.path.lexists(f"{kept}{suffix}") for suffix in SUFFIXES):
        # Renaming would replace the copy that was set aside in the same second.
        number += 1
        kept = path.with_name(f"{path.stem}-{stamp}-{number}{path.suffix}")
    for suffix in SUFFIXES:
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(kept.with_name(kept.name + suffix))
    return kept


def ensure_demo(path: Path) -> None:
    """Create the demo's database where there is none, or where an earlier copy is incomplete.

    Raises StoreError, FormatError or OSError.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.services.models import set_up

    config.make_folder_for(path)
    with Store.open(path, create=True) as store:
        if next(iter(store.queue.ids(parse(""), store.people.ensure("editor"))), None):
            return
        set_up(store)
        from nfh_db.formats.files import Source
        from nfh_db.formats.registry import GOLD
        from nfh_tui.sample import corpus_path
        from nfh_tui.services.imports import ImportOptions, import_file

        import_file(store, Source(corpus_path()), GOLD, ImportOptions())


def first_query(path: Path, name: str) -> str | None:
    """The query for who opens the demo for the first time: undecided items.

    None for others, who return to their last position.
    """
    from nfh_db.records import QueuePosition
    from nfh_db.store import Store

    with Store.open(path) as store:
        place = store.workspace.position(store.people.ensure(name), "adjudicate")
    return "-state:decided" if place == QueuePosition() else None
