"""What the store does about the guidelines; a part of `Store`."""

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nfh_db.opened import OpenDatabase
from nfh_db.records import Annotator

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline, Tagged


class GuidingStore(OpenDatabase):
    """The guidelines in their versions, and what was decided by which rule."""

    def guideline(self, version: int | None = None) -> "Guideline | None":
        """One version of the guidelines, or the one that holds; None if there is none."""
        from nfh_db import guidelines

        with self._readers.lend() as connection:
            return guidelines.read(connection, version)

    def guidelines(self) -> "tuple[Guideline, ...]":
        """All versions of the guidelines, the first one first."""
        from nfh_db import guidelines

        with self._readers.lend() as connection:
            return guidelines.everything(connection)

    def begin_guidelines(self, body: str) -> bool:
        """Make a text the first version, if there is none; whether it was.

        Raises FullError where nothing can be written.
        """
        from nfh_db import guidelines

        with self._readers.lend() as connection:
            if guidelines.read(connection) is not None:
                return False
        with self._deciding() as connection:
            return guidelines.begin(connection, body)

    def add_guideline(
        self, body: str, me: Annotator, after: int | None = None
    ) -> "tuple[Guideline, bool]":
        """Make a text hold from now on, and whether it is a new version: the same text is none.

        after: the version that it was made from, 0 for none. Raises ChangedSinceError if
        another one holds by now, StoreError for a text that cannot be kept.
        """
        from nfh_db import guidelines

        with self._deciding() as connection:
            return guidelines.add(connection, body, me, after)

    def tagged_items(
        self, only: Annotator | None = None, asks: Annotator | None = None
    ) -> dict[str, int]:
        """How many anchors have an answer with each tag, by the rule's id, or by the tag.

        only: an annotator, who is told of their own answers and nobody else's. asks: who is
        told nothing of what they have still to decide blind. So below.
        """
        from nfh_db import guidelines

        with self._readers.lend() as connection:
            return guidelines.items(connection, _id(only), _id(asks) or 0)

    def tagged_decisions(
        self, only: Annotator | None = None, asks: Annotator | None = None
    ) -> "tuple[Tagged, ...]":
        """How many decisions have each tag, version by version; those without a tag, too."""
        from nfh_db import guidelines

        with self._readers.lend() as connection:
            return guidelines.tagged(connection, _id(only), _id(asks) or 0)

    def tagged_anchors(
        self,
        wanted: Iterable[tuple[str, int | None]],
        only: Annotator | None = None,
        asks: Annotator | None = None,
    ) -> "array[int]":
        """The anchors whose decision has one of these rules under one of these versions.

        In the order of the passages. A rule is given by its id.
        """
        from nfh_db import guidelines

        with self._readers.lend() as connection:
            return guidelines.anchors_of(connection, wanted, _id(only), _id(asks) or 0)


def _id(somebody: Annotator | None) -> int | None:
    return None if somebody is None else somebody.id
