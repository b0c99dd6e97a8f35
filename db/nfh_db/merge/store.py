"""What the store does about other copies of its database; a part of `Store`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.opened import OpenDatabase

if TYPE_CHECKING:
    from nfh_db.merge.report import MergeReport


def _untold(phase: str, done: int) -> None:
    """Progress that nobody asked for."""


class MergingStore(OpenDatabase):
    """Merging."""

    def merge(
        self,
        source: Path,
        me: str,
        *,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> "MergeReport":
        """Bring in what was done in another copy of this database, or of its files.

        me: the name of who merges, made if unknown. Each act that comes in keeps its person,
        words and time. What both copies changed, each otherwise, stays as it is here and is
        listed. Wholly or not at all, once more without effect, and after a copy of this
        database beside it. progress: called with what is being done and how far it is.
        Raises StoreError and its kinds; the other file is never written.
        """
        from nfh_db.merge import run

        return run.merge(self.path, source, me, dry_run=dry_run, progress=progress or _untold)
