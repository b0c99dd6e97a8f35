"""A database file as an older version made it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection

from sqlite_utils import Database

from nfh_db.connection import connect
from nfh_db.database import SET_APPLICATION_ID
from nfh_db.schema import MIGRATIONS, migrations


@contextmanager
def older_database(path: Path, version: int) -> Iterator[Connection]:
    """A new file that the first `version` migrations made, to be filled."""
    with closing(connect(path, "rwc")) as made:
        migrations.apply(Database(made), stop_before=list(MIGRATIONS)[version])
        yield made
        made.execute(SET_APPLICATION_ID)
        made.execute(f"PRAGMA user_version = {version}")
