"""The store: every operation of screens and commands on a database, grouped by subject.

All methods are thread-safe. Readers never wait for writers. A method that writes returns after
its COMMIT; the decisions of a person have been synced to the disk by then.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.answers import Answers
from nfh_db.assignments import Assignments
from nfh_db.audits import Audits
from nfh_db.connection import Connection
from nfh_db.database import Database, ReadAccess
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

    Some subjects are imported at first use: most commands need few of them and start faster.
    """

    def __init__(
        self,
        path: Path,
        connection: Connection,
        access: ReadAccess | None = None,
        read_only: str = "",
    ) -> None:
        super().__init__(path, connection, access, read_only)
        connections = self.connections
        self.people = People(connections)
        self.settings = Settings(connections)
        self.items = Items(connections)
        self.edits = Edits(connections)
        self.workspace = Workspace(connections)
        self.answers = Answers(connections)
        self.assignments = Assignments(connections)
        self.audits = Audits(connections)
        self.guidelines = Guidelines(connections)
        self.models = Models(connections)
        self.competences = Competences(connections)
        self.predictions = Predictions(connections)
        self.identifications = Identifications(connections)
        self.holdout = Holdout(connections)
        self.jobs = Jobs(connections)
        self.retraining = Retraining(connections)

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
