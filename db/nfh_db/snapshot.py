"""The schema as one readable file, `schema.sql`: what the migrations build, for review.

`python -m nfh_db.snapshot` writes it anew after a migration was added.
"""

import tempfile
from contextlib import closing
from pathlib import Path

from nfh_db.connection import Connection
from nfh_db.upgrade import open_writer

READ = """
SELECT sql FROM sqlite_schema
WHERE sql IS NOT NULL AND tbl_name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
ORDER BY tbl_name, type DESC, name"""

HEADING = "-- What the migrations build. Written by `python -m nfh_db.snapshot`; not read.\n"


def text(connection: Connection) -> str:
    """The statements that make the schema of an open database, table by table."""
    statements = (row[0].strip() + ";\n" for row in connection.execute(READ))
    return HEADING + "\n" + "\n".join(statements)


def text_from_zero() -> str:
    """The schema of a database made now."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_writer(Path(folder) / "new.db", create=True)) as connection,
    ):
        return text(connection)


def main() -> None:
    """Write `schema.sql` beside this file."""
    Path(__file__).with_name("schema.sql").write_text(text_from_zero(), encoding="utf-8")


if __name__ == "__main__":
    main()
