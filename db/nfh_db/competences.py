"""How far each annotator was found to be right: figures that somebody asked to be remembered.

They are kept whole, as one setting, so that an item is read with one look-up more, and are
replaced or forgotten whole.
"""

import json
from collections.abc import Sequence
from functools import lru_cache

from nfh_db import settings
from nfh_db.clock import now
from nfh_db.connection import Connection
from nfh_db.records import Vote
from nfh_db.trusted import Competence, Remembered

SETTING = "competence"
"""Name of the setting; its value is JSON, "" where nothing is remembered."""


def remember(connection: Connection, source: str, people: Sequence[Competence]) -> None:
    """Keep these figures in place of all that there were. source: what they were measured by.

    Raises ValueError for an accuracy that is not between 0 and 1.
    """
    for one in people:
        if not 0.0 <= one.accuracy <= 1.0:
            raise ValueError(f"an accuracy of {one.accuracy} is not between 0 and 1")
    told = {
        "source": source,
        "at": now(),
        "people": {one.annotator: [one.accuracy, one.answers] for one in people},
    }
    settings.write(connection, SETTING, json.dumps(told))


def forget(connection: Connection) -> bool:
    """Remember nothing any more; whether there was something."""
    if remembered(connection) is None:
        return False
    settings.write(connection, SETTING, "")
    return True


def remembered(connection: Connection) -> Remembered | None:
    """What is remembered; None for nothing, also where another program wrote what is none."""
    return _read(settings.read(connection, SETTING) or "")


def of_votes(connection: Connection, votes: Sequence[Vote]) -> tuple[Competence, ...]:
    """The figures of those who answered, as far as there are any."""
    found = remembered(connection) if votes else None
    if found is None:
        return ()
    names = {vote.annotator for vote in votes if vote.counts}
    return tuple(one for one in found.people if one.annotator in names)


@lru_cache(maxsize=4)
def _read(text: str) -> Remembered | None:
    if not text:
        return None
    try:
        told = json.loads(text)
        people = tuple(
            Competence(str(name), float(accuracy), int(answers))
            for name, (accuracy, answers) in sorted(told["people"].items())
            if 0.0 <= float(accuracy) <= 1.0
        )
        return Remembered(str(told["source"]), str(told["at"]), people)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
