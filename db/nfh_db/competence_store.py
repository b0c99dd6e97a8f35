"""What the store remembers of annotators' competence; a part of `Store`."""

from collections.abc import Sequence

from nfh_db import competences
from nfh_db.opened import OpenDatabase
from nfh_db.trusted import Competence, Remembered


class CompetenceStore(OpenDatabase):
    """Figures by which votes weigh more or less in what is proposed."""

    def competences(self) -> Remembered | None:
        """What is remembered of everybody; None where nothing is."""
        with self._readers.lend() as connection:
            return competences.remembered(connection)

    def remember_competences(self, source: str, people: Sequence[Competence]) -> None:
        """Keep these figures in place of all that there were.

        Raises ValueError for an accuracy that is not between 0 and 1.
        """
        with self._deciding() as connection:
            competences.remember(connection, source, people)

    def forget_competences(self) -> bool:
        """Remember nothing any more; whether there was something."""
        with self._deciding() as connection:
            return competences.forget(connection)
