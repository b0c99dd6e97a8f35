"""What the store counts and compares for the screens of figures; a part of `Store`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.opened import OpenDatabase
from nfh_db.query import Query
from nfh_db.records import Annotator

if TYPE_CHECKING:
    from nfh_db.comparisons import Compared, Side, Stopped
    from nfh_db.confusions import Confusions
    from nfh_db.earlier_gold import Changes


class ComparingStore(OpenDatabase):
    """Who says what where others say what."""

    def answers_version(self) -> tuple[int, int]:
        """Changes whenever an answer, a gold, a flag or an anchor may have."""
        from nfh_db import confusions

        with self._readers.lend() as connection:
            return confusions.version(connection)

    def predictions_version(self) -> tuple[tuple[object, ...], ...]:
        """Changes whenever what models say may have."""
        from nfh_db import comparisons

        with self._readers.lend() as connection:
            return comparisons.version(connection)

    def confusions(self, query: Query, me: Annotator) -> "Confusions":
        """Counts of annotators' answers among the anchors of a query, of one moment."""
        from nfh_db import confusions

        with self._readers.lend(one_state=True) as connection:
            return confusions.read(connection, query, me.id)

    def models_with_predictions(self) -> tuple[tuple[int, str], ...]:
        """Id and name of each model that says something; the active one first."""
        from nfh_db import comparisons

        with self._readers.lend() as connection:
            return comparisons.with_predictions(connection)

    def people_with_answers(self) -> tuple[str, ...]:
        """The names of those who answered anything as annotators."""
        from nfh_db import comparisons

        with self._readers.lend() as connection:
            return comparisons.with_answers(connection)

    def compared(
        self, left: "Side", right: "Side", query: Query, me: Annotator, stopped: "Stopped"
    ) -> "Compared":
        """A model against gold or another model, or a person against gold, of one moment.

        stopped: asked now and then whether nobody waits any more; NoLongerWantedError then.
        Raises ValueError for other sides.
        """
        from nfh_db import comparisons

        with self._readers.lend(one_state=True) as connection:
            match left.what, right.what:
                case "model", "gold":
                    return comparisons.model_gold(
                        connection, left.model_id, query, me.id, stopped
                    )
                case "model", "model":
                    return comparisons.model_model(
                        connection, left.model_id, right.model_id, query, me.id, stopped
                    )
                case "person", "gold":
                    return comparisons.person_gold(connection, left.name, query, me.id)
        raise ValueError(f"{left.what} is not compared with {right.what}")

    def changes_since(
        self,
        path: Path,
        query: Query,
        me: Annotator,
        stopped: "Stopped",
        progress: Callable[[int], None],
    ) -> "Changes":
        """Gold here against a `gold` file, of one moment. Raises FormatError."""
        from nfh_db import earlier_gold

        with self._readers.lend(one_state=True) as connection:
            return earlier_gold.changes(connection, path, query, me.id, stopped, progress)
