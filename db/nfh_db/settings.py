"""Settings of a database, and which guideline holds."""

from nfh_db.connection import Connection

READ = "SELECT value FROM setting WHERE name = :name"
UPSERT = """
INSERT INTO setting (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value"""
GUIDELINE_VERSION = "SELECT max(version) FROM guideline"


def read(connection: Connection, name: str, default: str | None = None) -> str | None:
    """A setting's value, or `default`."""
    row = connection.execute(READ, {"name": name}).fetchone()
    return default if row is None else row[0]


def write(connection: Connection, name: str, value: str) -> None:
    """Set a setting."""
    connection.execute(UPSERT, {"name": name, "value": value})


def guideline_version(connection: Connection) -> int | None:
    """The version of the guideline that holds now; None if there is none."""
    version: int | None = connection.execute(GUIDELINE_VERSION).fetchone()[0]
    return version
