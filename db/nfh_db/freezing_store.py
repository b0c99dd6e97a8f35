"""What the store gives to whoever freezes it or compares it; a part of `Store`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nfh_db.opened import OpenDatabase

if TYPE_CHECKING:
    from nfh_db.frozen import Frozen


class FreezingStore(OpenDatabase):
    """The database as it is at one moment."""

    @contextmanager
    def frozen(self) -> Iterator["Frozen"]:
        """All that is read in this block is of one moment; others may write meanwhile."""
        from nfh_db.frozen import Frozen

        with self._readers.lend(one_state=True) as connection:
            yield Frozen(connection)
