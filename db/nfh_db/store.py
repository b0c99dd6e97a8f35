"""The store: everything that screens and commands ask of a database, by subject.

Any thread may call any method. Reading never waits for writing. A method that changes
something returns after its COMMIT; a person's decisions are on the disk by then.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.answers import Answers
from nfh_db.assignments import Assignments
from nfh_db.audits import Audits
from nfh_db.connection import Connection
from nfh_db.database import Database, Way
from nfh_db.edits import Edits, Workspace
from nfh_db.guidelines import Guidelines
from nfh_db.holdout import Holdout
from nfh_db.items import Items
from nfh_db.jobs import Jobs, Retraining
from nfh_db.models import Competences, Models
from nfh_db.passages import People, Settings
from nfh_db.predictions import Identifications, Predictions

if TYPE_CHECKING:
    from nfh_db.bulk_plan import Bulk
    from nfh_db.comparisons import Comparisons
    from nfh_db.history import History
    from nfh_db.import_run import Imports
    from nfh_db.merge.run import Merge
    from nfh_db.queue import Queue
    from nfh_db.settlement import Settlement
    from nfh_db.similar_items import SimilarItems


class Store(Database):
    """One open database. Use `Store.open`; close it, or use it as a context manager.

    The modules of some subjects are loaded when they are first asked for: most commands need
    few of them, and start faster without the rest.
    """

    def __init__(
        self, path: Path, connection: Connection, way: Way | None = None, read_only: str = ""
    ) -> None:
        super().__init__(path, connection, way, read_only)
        lines = self.connections
        self.people = People(lines)
        self.settings = Settings(lines)
        self.items = Items(lines)
        self.edits = Edits(lines)
        self.workspace = Workspace(lines)
        self.answers = Answers(lines)
        self.assignments = Assignments(lines)
        self.audits = Audits(lines)
        self.guidelines = Guidelines(lines)
        self.models = Models(lines)
        self.competences = Competences(lines)
        self.predictions = Predictions(lines)
        self.identifications = Identifications(lines)
        self.holdout = Holdout(lines)
        self.jobs = Jobs(lines)
        self.retraining = Retraining(lines)

    @cached_property
    def queue(self) -> "Queue":
        from nfh_db.queue import Queue

        return Queue(self.connections)

    @cached_property
    def similar(self) -> "SimilarItems":
        from nfh_db.similar_items import SimilarItems

        return SimilarItems(self.connections)

    @cached_property
    def bulk(self) -> "Bulk":
        from nfh_db.bulk_plan import Bulk

        return Bulk(self.connections)

    @cached_property
    def settlement(self) -> "Settlement":
        from nfh_db.settlement import Settlement

        return Settlement(self.connections)

    @cached_property
    def comparisons(self) -> "Comparisons":
        from nfh_db.comparisons import Comparisons

        return Comparisons(self.connections)

    @cached_property
    def history(self) -> "History":
        from nfh_db.history import History

        return History(self.connections)

    @cached_property
    def imports(self) -> "Imports":
        from nfh_db.import_run import Imports

        return Imports(self.connections)

    @cached_property
    def merge(self) -> "Merge":
        from nfh_db.merge.run import Merge

        return Merge(self.connections)
