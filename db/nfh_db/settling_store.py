"""What the store does about gold that rules make of votes; a part of `Store`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nfh_db import acts
from nfh_db.acts import Done
from nfh_db.opened import OpenDatabase
from nfh_db.query import Query
from nfh_db.records import Annotator, Rule, Undone
from nfh_db.settle_report import SettleReport

if TYPE_CHECKING:
    from nfh_db.audits import Audit, Drawn, Sample


def untold(phase: str, done: int) -> None:
    """Progress that nobody asked for."""


class SettlingStore(OpenDatabase):
    """Settlements, taking them back, and audits of what they made."""

    def settle(
        self,
        query: Query,
        rule: Rule,
        me: Annotator,
        *,
        least: int = 2,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> SettleReport:
        """Make gold of the votes on what a query finds, as one act of this person's.

        rule: unanimous or majority. least: votes that an anchor needs. progress: called with
        what is being done and to how many anchors it was. Never changes what an expert
        decided, nor what a file said. Raises StoreError beside an import or a settlement.
        """
        from nfh_db import settlement

        return settlement.run(
            self.path,
            query,
            rule,
            me,
            least=least,
            dry_run=dry_run,
            progress=progress or untold,
        )

    def settlement_to_undo(self, me: Annotator) -> tuple[int, str] | None:
        """Number and words of the settlement that this person's next undo takes back whole.

        None if the next undo is of something else, or there is none.
        """
        with self._readers.lend() as connection:
            found = acts.newest_done(connection, me.id)
        return (found.id, found.summary) if found is not None and found.bulk else None

    def audit_frame(
        self,
        query: Query,
        me: Annotator,
        auditor: Annotator,
        settled: SettleReport | None = None,
    ) -> list[tuple[int, str]]:
        """What rules settled and this auditor can still judge: anchors with their strata.

        settled: only of what this settlement did.
        """
        from nfh_db import audits

        with self._readers.lend(one_state=True) as connection:
            return audits.frame(connection, query, me.id, auditor.id, settled)

    def assign_audit(
        self, sample: "Sample", auditor: Annotator, by: Annotator
    ) -> "tuple[str, Drawn]":
        """Give the auditor a sample to decide; the audit's name, and what was drawn."""
        from nfh_db import audits

        with self._deciding() as connection:
            return audits.assign(connection, sample, auditor, by)

    def audits(self) -> "tuple[Audit, ...]":
        """All audits, oldest first, with what their auditors say now."""
        from nfh_db import audits

        with self._readers.lend(one_state=True) as connection:
            return audits.audits(connection)

    def _turned(self, me: Annotator, kind: str, done: Undone | Done | None) -> Undone | None:
        """What came of an undo or a redo; a bulk act is done only now."""
        if not isinstance(done, Done):
            return done
        from nfh_db import bulk_undo

        return bulk_undo.turn(self.path, me, kind, done)
