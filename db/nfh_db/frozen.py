"""A database as it is at one moment, to be frozen: items, people, sources, models."""

from collections.abc import Iterator
from dataclasses import dataclass

from nfh_db import activations, audits, ballots, batches, guidelines, models, outgoing
from nfh_db.activations import Activation
from nfh_db.anchors import VISIBLE
from nfh_db.audits import Audit
from nfh_db.connection import SCHEMA_VERSION, Connection
from nfh_db.guidelines import Guideline
from nfh_db.models import Model
from nfh_db.query import Query
from nfh_db.records import Annotator, Ballot, ExportRecord
from nfh_db.values import json_of

COUNT_ANCHORS = f"SELECT count(*) FROM anchor AS a WHERE {VISIBLE}"  # noqa: S608 - constants
# What people did to the data, and what else a release tells of: audits drawn, guidelines.
LAST_CHANGE = """
SELECT max(at) FROM (
    SELECT max(acted_at) AS at FROM act
    UNION ALL SELECT max(assigned_at) FROM assignment
    UNION ALL SELECT max(created_at) FROM guideline WHERE annotator_id IS NOT NULL)"""
# In the order in which they came to this database, which no later act changes.
PEOPLE = "SELECT id, name, type FROM annotator ORDER BY id"
IMPORTS = """
SELECT b.id, b.name, b.format, b.sha256, b.rows, n.name FROM batch AS b
LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.state = 'ready' AND b.format NOT IN (SELECT value FROM json_each(:bulk))
ORDER BY b.id"""
TEXTS_OF = """
SELECT d.batch_id, a.id FROM anchor AS a
JOIN passage AS p ON p.id = a.passage_id JOIN document AS d ON d.id = p.document_id
WHERE d.batch_id IS NOT NULL"""
GOLD_OF = "SELECT batch_id, anchor_id FROM gold WHERE batch_id IS NOT NULL AND removed = 0"
ANSWERS_OF = "SELECT batch_id, anchor_id FROM answer WHERE batch_id IS NOT NULL AND removed = 0"


@dataclass(frozen=True, slots=True)
class Imported:
    """A file that came in. annotator: whose answers its labels are; None where they are gold,
    or each row names its own.
    """

    id: int
    name: str
    format: str
    sha256: str
    rows: int
    annotator: str | None


class Frozen:
    """What a connection in a read transaction sees: all of one moment, whoever writes."""

    schema = SCHEMA_VERSION

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ballots(self, query: Query) -> Iterator[Ballot]:
        """Everything said of each anchor of a query, by passage and span."""
        return ballots.ballots(self._connection, query, 0)

    def rows(self, query: Query) -> Iterator[ExportRecord]:
        """What an export to `nfh` writes of a query; see `nfh_db.outgoing`."""
        return outgoing.records(self._connection, query, 0, "nfh")

    def anchors(self) -> int:
        """How many anchors there are to be found."""
        return int(self._connection.execute(COUNT_ANCHORS).fetchone()[0])

    def stale_gold(self) -> int:
        """How many anchors lost their gold with their span; see `nfh_db.outgoing`."""
        return outgoing.count_stale_gold(self._connection)

    def people(self) -> tuple[Annotator, ...]:
        """All annotators, in the order in which they came to be here."""
        return tuple(Annotator(*row) for row in self._connection.execute(PEOPLE))

    def guidelines(self) -> tuple[Guideline, ...]:
        """All versions of the guidelines, the first one first."""
        return guidelines.everything(self._connection)

    def audits(self) -> tuple[Audit, ...]:
        """All audits, oldest first, with what their auditors say now."""
        return audits.audits(self._connection)

    def models(self) -> tuple[Model, ...]:
        """All models, in the order in which they were registered."""
        return models.read_all(self._connection)

    def activations(self) -> tuple[Activation, ...]:
        """Each time that a task came to use another model, the oldest first."""
        return activations.read_all(self._connection)

    def imports(self) -> tuple[Imported, ...]:
        """The files that came in, in order."""
        bulk = json_of(sorted(batches.BULK_FORMATS))
        rows = self._connection.execute(IMPORTS, {"bulk": bulk})
        return tuple(Imported(*row) for row in rows)

    def texts_of(self) -> Iterator[tuple[int, int]]:
        """File and anchor, of each anchor that stands in a text of a file."""
        yield from self._connection.execute(TEXTS_OF)

    def gold_of(self) -> Iterator[tuple[int, int]]:
        """File and anchor, of each gold that came with a file and counts still."""
        yield from self._connection.execute(GOLD_OF)

    def answers_of(self) -> Iterator[tuple[int, int]]:
        """File and anchor, of each answer that came with a file and stands still."""
        yield from self._connection.execute(ANSWERS_OF)

    def last_change(self) -> str | None:
        """When anybody last changed anything; None where nobody ever did."""
        found: str | None = self._connection.execute(LAST_CHANGE).fetchone()[0]
        return found
