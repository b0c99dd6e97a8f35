"""People, models and rules that answer."""

from nfh_db import clock
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.records import MODEL, PERSON, RULE, Annotator

FIND = "SELECT id, name, type FROM annotator WHERE name = :name"
ALL = "SELECT id, name, type FROM annotator ORDER BY name"
INSERT = """
INSERT INTO annotator (name, type, created_at) VALUES (:name, :type, :at)
ON CONFLICT (name) DO NOTHING"""

LONGEST_NAME = 100
TYPES = (PERSON, MODEL, RULE)


def check_name(name: str) -> None:
    """Raise StoreError unless `name` is a line that can stand in a list."""
    if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME:
        raise StoreError(
            f"{name!r} cannot be an annotator's name: it must hold 1 to {LONGEST_NAME} "
            "characters and neither begin nor end with a space"
        )
    if not name.isprintable():
        raise StoreError(f"{name!r} cannot be an annotator's name: it holds control characters")


def find(connection: Connection, name: str) -> Annotator | None:
    """Somebody by name."""
    row = connection.execute(FIND, {"name": name}).fetchone()
    return None if row is None else Annotator(*row)


def everybody(connection: Connection) -> tuple[Annotator, ...]:
    """All annotators, by name."""
    return tuple(Annotator(*row) for row in connection.execute(ALL))


def add(connection: Connection, name: str, type_: str = PERSON) -> Annotator:
    """Somebody by name, made if unknown.

    Raises StoreError for a name that cannot be one, or is that of another type.
    """
    check_name(name)
    if type_ not in TYPES:
        raise StoreError(f"{type_!r} is no type of annotator: use one of {', '.join(TYPES)}")
    connection.execute(INSERT, {"name": name, "type": type_, "at": clock.now()})
    found = Annotator(*connection.execute(FIND, {"name": name}).fetchone())
    check_type(found, type_)
    return found


def check_type(found: Annotator, wanted: str) -> None:
    """Raise StoreError where a name stands for something of another type."""
    if found.type != wanted:
        raise StoreError(
            f"{found.name!r} is the name of a {found.type} here, and cannot be that of a "
            f"{wanted}: take another name"
        )
