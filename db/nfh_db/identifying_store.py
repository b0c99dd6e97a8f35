"""What the store does about identification; a part of `Store`."""

import time
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nfh_db import identifications, models, settings
from nfh_db.opened import OpenDatabase
from nfh_db.pace import next_stretch
from nfh_db.query import Query
from nfh_db.records import Annotator, Identified, Identifying

if TYPE_CHECKING:
    from nfh_db.identifications import Numbered

WRITE_SECONDS = 0.012
"""What one write should take: a person's answer may have to wait for it."""

FIRST_STRETCH = 200
SMALLEST_STRETCH = 20
LARGEST_STRETCH = 2_000

FORGET_AT_ONCE = 2_000

SPEC_SETTING = "parser asked for by identification model {id}"
TASK = "identification"


class IdentifyingStore(OpenDatabase):
    """What models say of whether nouns are missing, and numbers that no file named."""

    def identifying(self) -> Identifying | None:
        """The active model of identification; None if there is none yet."""
        with self._readers.lend(one_state=True) as connection:
            found = models.active(connection, TASK)
            if found is None:
                return None
            known = models.find(connection, found[1])
            spec = settings.read(connection, SPEC_SETTING.format(id=found[0]))
            parser = identifications.read_parser(connection, found[0])
        version = known[3] if known is not None else ""
        return Identifying(found[0], found[1], version, spec or None, parser)

    def decide_with(self, model_id: int, parser: str, spec: str | None = None) -> str:
        """Note with which parser a model decides; what it decided with another is forgotten.

        parser: its name with its version, "" for none. spec: how it was asked for. Returns
        the model's version, which is to be named when decisions are saved.
        """
        before = self.decided_with(model_id)
        if before not in (None, parser):
            self._forget_identifications(model_id)
        with self._noting() as connection:
            if before not in (None, parser):
                # What another process may have saved since.
                identifications.delete_some(connection, model_id, FORGET_AT_ONCE)
            name = identifications.PARSER_SETTING.format(id=model_id)
            settings.write(connection, name, parser)
            settings.write(connection, SPEC_SETTING.format(id=model_id), spec or "")
            version = identifications.read_version(connection, model_id)
        return version or ""

    def decided_with(self, model_id: int) -> str | None:
        """The parser with which a model decides, "" for none; None if it has not yet."""
        with self._readers.lend() as connection:
            return identifications.read_parser(connection, model_id)

    def save_identifications(
        self,
        model_id: int,
        version: str,
        found: Sequence[tuple[int, Identified]],
        parser: str | None = None,
    ) -> None:
        """Keep decisions by anchor id, in place of this model's earlier ones, in short writes.

        parser: the one with which it decided; None if that is not to be looked at. Raises
        StoreError if the model is not of this version any more, or decides with another.
        """
        place, size = 0, FIRST_STRETCH
        while place < len(found):
            some = found[place : place + size]
            with self._noting() as connection:
                begun = time.perf_counter()
                identifications.save(connection, model_id, version, some, parser)
            place += len(some)
            size = next_stretch(
                size,
                time.perf_counter() - begun,
                wanted=WRITE_SECONDS,
                smallest=SMALLEST_STRETCH,
                largest=LARGEST_STRETCH,
            )

    def _forget_identifications(self, model_id: int) -> None:
        more = True
        while more:
            with self._noting() as connection:
                more = identifications.delete_some(connection, model_id, FORGET_AT_ONCE) > 0

    def passage_ids(self, query: Query, me: Annotator | None = None) -> "array[int]":
        """The passages in which a query finds something."""
        with self._readers.lend() as connection:
            return identifications.passage_ids(connection, query, me.id if me else 0)

    def numbered(
        self, passage_ids: Sequence[int], model_id: int | None = None
    ) -> "list[Numbered]":
        """These passages with all their numbers, and what a model has said of each."""
        with self._readers.lend(one_state=True) as connection:
            return identifications.numbered(connection, passage_ids, model_id)
